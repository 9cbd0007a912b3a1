//go:build race

package parser

// randomPrograms is smaller under the race detector, which has little to find in
// what runs alone and makes it ten times slower.
const randomPrograms = 10_000

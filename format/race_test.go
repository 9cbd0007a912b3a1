//go:build race

package format

// scatterings is smaller under the race detector, which has little to find in
// what runs alone and makes it ten times slower.
const scatterings = 2

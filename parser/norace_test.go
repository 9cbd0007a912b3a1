//go:build !race

package parser

// randomPrograms is how many programs the tests of random text parse.
const randomPrograms = 100_000

//go:build !race

package format

// scatterings is how often comments are strewn into each script of the corpus.
const scatterings = 15

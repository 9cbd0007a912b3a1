//go:build !race

package sense_test

// raceDetector says whether the tests run under it.
const raceDetector = false

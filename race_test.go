//go:build race

package sense_test

// raceDetector says that the tests run under it. What they start is built without
// it, so that it has nothing to find in a test of the binary.
const raceDetector = true

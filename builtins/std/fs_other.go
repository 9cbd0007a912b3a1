//go:build !unix

package std

// noWait has no meaning here: there are no named pipes among files.
const noWait = 0

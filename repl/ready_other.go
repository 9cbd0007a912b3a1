//go:build !unix

package repl

import "os"

// FileReady gives an Options.Ready for a file or pipe. This system cannot tell,
// so that an empty line inside a block waits for the line after it.
func FileReady(*os.File) func() bool { return func() bool { return true } }

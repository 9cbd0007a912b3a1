//go:build !linux

package repl

// runOnTerminal is for the test of a terminal, which only Linux has.
func runOnTerminal() {}

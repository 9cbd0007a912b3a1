// Package repl is the interactive session: it reads inputs, decides where each
// of them ends, gives them to an [Engine] and goes on after every error.
//
// # Where an input ends
//
// A line that ends in ":" (a comment may follow) opens a block, which an empty
// line closes. On a terminal a pasted text is one input, empty lines and all.
// Where the input comes from a pipe or a file, an empty line inside a block does
// not close it when the next line that is not empty is indented: that line
// belongs to the block. Open brackets and open """ strings go on over any lines.
// What is left of an unfinished block at the end of the input is dropped.
//
// "exit", "quit" and the end of the input leave. Lines that begin with ":" are
// commands of the session; :help lists them.
package repl

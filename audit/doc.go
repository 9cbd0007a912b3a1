// Package audit records what a program did, was refused and was asked.
//
// A [Log] keeps the entries of a run in memory. [Log.Lines] gives them in the
// form of the builtin audit_log(); the richer [Entry] behind it is what audit(),
// the console and the file show. Into a [Sink] such as the one that [OpenFile]
// gives, every entry is written before the effect it speaks of is reported, and
// where it cannot be written, the effect does not happen.
//
// A file is a chain of JSON lines, each of which carries the hash of the one
// before. [Verify] tells whether one was changed, left out or moved, and where
// the log ends. A chain shows tampering to whom keeps its last hash elsewhere;
// it cannot stop the owner of the disk from cutting off its end.
//
// What a program's surroundings must not tell is taken out by a [Redactor]
// before it is kept anywhere.
package audit

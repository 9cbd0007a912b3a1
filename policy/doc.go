// Package policy decides which capabilities a running program may use.
//
// A capability is a dotted name such as "email.send" or "mcp.github". Scopes of
// the program hold rules that allow or deny capabilities by pattern; [Decide]
// combines the rules around the place that asks with those around every active
// call on the way there, under a [Ceiling] that comes from outside the program
// and that no rule of the program can lift.
//
// # Names and patterns
//
// Names compare exactly, case included, and segment by segment. In a pattern a
// "*" stands for one whole segment or, as the last segment, for one or more:
// "mcp.*" covers "mcp.github" and "mcp.github.create_issue", not "mcp". Inside
// the last segment a "*" stands for any run of characters, so that the tools of
// one connection can be named together: "mcp.github.delete_*".
//
// A segment that holds a dot, a quote or anything unprintable is written in
// double quotes: net.http."127.0.0.1". [Normal] gives the one spelling that this
// package compares; [Join] appends a segment of foreign text safely.
//
// # Which rule decides
//
// Within a scope an exact rule beats one with a wildcard, a longer pattern beats
// a shorter one, and of two equally long ones a deny beats an allow. Of the
// scopes around a place the nearest one with a rule for the capability decides.
// A deny found around a caller holds too, unless its scope also encloses the
// place that asks, where a nearer rule has then lifted it. Where nothing is
// said, a capability is allowed, or denied in strict mode.
package policy

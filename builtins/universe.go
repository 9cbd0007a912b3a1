// Package builtins holds the functions that every Sense program can call, and
// the values of models, MCP servers and memories that they give. It adapts the
// packages model, mcp and memory, which speak plain Go, to the evaluator.
package builtins

import (
	"github.com/sense-lang/sense/eval"
)

// Universe gives the builtins of the original language by name. The table is
// made anew for each program: a program may assign the names.
func Universe(d *Deps) map[string]eval.Value {
	out := map[string]eval.Value{}
	for _, bs := range [][]eval.Builtin{core(), agents(), d.worldly()} {
		documented(out, bs)
	}
	return out
}

// core lists the builtins of plain programs.
func core() []eval.Builtin {
	const newMock = `mock_model(...) has been replaced -- use inference("mock", ...) instead (e.g. inference("mock", "demo", response_template: "..."))`
	const newStep = "<f>(action) has been replaced -- use action.<f>() instead"
	return []eval.Builtin{
		{Name: "print", Max: -1, Fn: builtinPrint},
		{Name: "len", Min: 1, Max: 1, Fn: builtinLen, Intrinsic: eval.IntrinsicLen},
		{Name: "range", Min: 1, Max: 3, Usage: "range() expects 1 to 3 arguments", Fn: builtinRange, Intrinsic: eval.IntrinsicRange},
		{Name: "str", Min: 1, Max: 1, Fn: builtinStr, Intrinsic: eval.IntrinsicStr},
		{Name: "int", Min: 1, Max: 1, Fn: builtinInt},
		{Name: "float", Min: 1, Max: 1, Fn: builtinFloat},
		{Name: "type_of", Min: 1, Max: 1, Fn: builtinTypeOf},
		{Name: "push", Min: 2, Max: 2, Fn: builtinPush, Intrinsic: eval.IntrinsicPush},
		{Name: "assert", Min: 1, Max: 2, Usage: "assert() expects 1 or 2 arguments", Fn: builtinAssert},
		{Name: "mock_model", Max: -1, Labels: true, Fn: removed(newMock)},
		{Name: "verify", Max: -1, Fn: removed(newStep)},
		{Name: "approve", Max: -1, Fn: removed(newStep)},
		{Name: "rollback", Max: -1, Fn: removed(newStep)},
		{Name: "audit_log", Fn: builtinAuditLog},
	}
}

// agents lists the builtins of agents and of the human beside them.
func agents() []eval.Builtin {
	return []eval.Builtin{
		{Name: "start", Min: 1, Max: 1, Fn: builtinStart},
		{Name: "resume", Min: 1, Max: 2, Usage: "resume() expects 1 or 2 arguments (agent, value?)", Fn: builtinResume},
		{Name: "pause", Max: 1, Usage: "pause() expects 0 or 1 arguments (an optional reason)", Fn: builtinPause},
		{Name: "await", Min: 1, Max: 1, Fn: builtinAwait},
		{Name: "send", Min: 2, Max: 2, Fn: builtinSend},
		{Name: "receive", Max: 1, Usage: "receive() expects 0 or 1 arguments (an optional timeout in seconds)", Fn: builtinReceive},
		{Name: "ask_human", Min: 1, Max: 1, Fn: builtinAskHuman},
	}
}

// Command star runs a Starlark script with starlark-go, with the options that the
// benchmark programs need.
package main

import (
	"fmt"
	"os"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"
)

func main() {
	thread := &starlark.Thread{Print: func(_ *starlark.Thread, msg string) { fmt.Println(msg) }}
	options := &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}
	env := starlark.StringDict{"module": starlark.NewBuiltin("module", makeModule)}
	if _, err := starlark.ExecFileOptions(options, thread, os.Args[1], nil, env); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func makeModule(_ *starlark.Thread, _ *starlark.Builtin, _ starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	members := starlark.StringDict{}
	for _, kv := range kwargs {
		members[string(kv[0].(starlark.String))] = kv[1]
	}
	return &starlarkstruct.Module{Name: "module", Members: members}, nil
}

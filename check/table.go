package check

import (
	"slices"
	"strings"
	"sync"

	"github.com/sense-lang/sense/builtins"
	"github.com/sense-lang/sense/builtins/std"
	"github.com/sense-lang/sense/eval"
)

// table is what every program finds: the builtins, the methods of the core
// types and the standard modules.
type table struct {
	builtins map[string]eval.Signature
	// assigned are the builtins that an assignment rebinds; the others it passes.
	assignable map[string]bool
	methods    map[string]map[string]eval.Signature
	lib        *std.Library
}

// shared is the table of all checks: nothing in it changes.
var shared = sync.OnceValue(newTable)

func newTable() *table {
	t := &table{builtins: map[string]eval.Signature{}, assignable: map[string]bool{}, methods: map[string]map[string]eval.Signature{}, lib: std.New(std.Options{})}
	deps := &builtins.Deps{}
	t.add(builtins.Extra(deps))
	for name := range t.add(builtins.Universe(deps)) {
		t.assignable[name] = true
	}
	for typ, ms := range builtins.TypeMethods() {
		t.methods[typ] = map[string]eval.Signature{}
		for name, m := range ms {
			t.methods[typ][name] = m.Signature(typ)
		}
	}
	return t
}

func (t *table) add(values map[string]eval.Value) map[string]eval.Value {
	for name, v := range values {
		t.builtins[name], _ = eval.SignatureOf(v)
	}
	return values
}

func (t *table) builtin(name string) bool {
	_, ok := t.builtins[name]
	return ok
}

// names lists the builtins, and what a candidate for a misspelt name may be.
func (t *table) names() []string {
	var out []string
	for n := range t.builtins {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// standard gives a standard module's members.
func (t *table) standard(path string) (map[string]eval.Value, bool) { return t.lib.Module(path) }

// results are the types of what builtins give, where it is always the same.
var results = sync.OnceValue(func() map[string]types {
	return map[string]types{
		"print": {"Nil"}, "len": {"Int"}, "range": {"Array"}, "str": {"String"}, "int": {"Int"}, "float": {"Float"},
		"type_of": {"String"}, "push": {"Array"}, "assert": {"Nil"}, "audit_log": {"Array"},
		"ask": {"Answer"}, "ask_with_memory": {"Answer"}, "ask_with_tools": {"Answer"}, "inference": {"Model"},
		"skill": {"Skill"}, "connect_mcp": {"McpServer"}, "input": {"String"},
		"sorted": {"Array"}, "enumerate": {"Array"}, "zip": {"Array"}, "any": {"Bool"}, "all": {"Bool"},
	}
})

// methodResults are the same for methods, by type and name.
var methodResults = sync.OnceValue(func() map[string]types {
	return map[string]types{
		"String.upper": {"String"}, "String.lower": {"String"}, "String.trim": {"String"}, "String.replace": {"String"},
		"String.repeat": {"String"}, "String.pad_left": {"String"}, "String.pad_right": {"String"},
		"String.split": {"Array"}, "String.lines": {"Array"}, "String.find": {"Int"},
		"String.contains": {"Bool"}, "String.starts_with": {"Bool"}, "String.ends_with": {"Bool"},
		"Array.push": {"Array"}, "Array.insert": {"Array"}, "Array.sort": {"Array"}, "Array.reverse": {"Array"},
		"Array.map": {"Array"}, "Array.filter": {"Array"}, "Array.slice": {"Array"}, "Array.copy": {"Array"},
		"Array.contains": {"Bool"}, "Array.find": {"Int"}, "Array.join": {"String"},
		"Map.keys": {"Array"}, "Map.values": {"Array"}, "Map.items": {"Array"}, "Map.has": {"Bool"},
		"Map.merge": {"Map"}, "Map.copy": {"Map"},
	}
})

// stdNeeds gives the capability that a function of a standard module asks for,
// "" for none.
func stdNeeds(path, member string) string {
	switch path {
	case "std.fs":
		switch member {
		case "write", "append", "mkdir", "remove", "move", "copy":
			return "fs.write"
		}
		return "fs.read"
	case "std.env":
		if member == "args" {
			return ""
		}
		return "env.read"
	case "std.http":
		return "net.http"
	case "std.process":
		return "process.run"
	}
	return ""
}

// alsoReads are the functions of std.fs that need fs.read besides fs.write.
var alsoReads = []string{"copy", "move"}

// capabilities lists what builtins and standard modules ask for, for rules that
// a program makes as a precaution.
func (t *table) capabilities() []string {
	out := append(std.Capabilities(), "mcp.connect", "python", "python.*", "model.*")
	for _, p := range builtins.Providers() {
		out = append(out, "model."+p)
	}
	return out
}

// isStd reports whether a dotted path is that of a standard module or looks
// like one.
func isStd(path string) bool { return strings.HasPrefix(path, "std.") }

// modules lists the standard modules.
func (t *table) modules() []string { return std.Names() }

package std_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sense-lang/sense/builtins/std"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
)

func TestArguments(t *testing.T) {
	new(program).check(t, []row{
		{code: `json.dump([1], 2)`, want: "[\n  1\n]"},
		{code: `json.dump([1], indent: 2)`, want: "[\n  1\n]"},
		{code: `json.dump(indent: nil, value: [1])`, want: "[1]"},
		{code: `json.dump()`, fails: "'std.json.dump' expects 1 to 2 argument(s), got 0"},
		{code: `json.parse("1", "2")`, fails: "'std.json.parse' expects 1 argument(s), got 2"},
		{code: `json.dump(1, value: 2)`, fails: "'std.json.dump' got more than one value for 'value'"},
		{code: `json.dump(indent: 2)`, fails: "'std.json.dump' needs a value for 'value'"},
		{code: `json.dump(1, depth: 2)`, fails: "'std.json.dump' has no parameter 'depth'"},
		{code: `json.dump(1, 2, indent: 3)`, fails: "'std.json.dump' expects 1 to 2 argument(s), got 3"},
		{code: `json.parse(1)`, fails: "std.json.parse() expects a String for 'text', got Int"},
		{code: `json.parse(nil)`, fails: "std.json.parse() expects a String for 'text', got Nil"},
		{code: `json.dump(1, "2")`, fails: "std.json.dump() expects an Int for 'indent', got String"},
		{code: `json.dump(1, 17)`, fails: "std.json.dump: 'indent' must be from 0 to 16, got 17"},
		{code: `json.dump(1, 2 ** 70)`, fails: "std.json.dump: 'indent' is too large"},
		{code: `csv.parse("a", 1)`, fails: "std.csv.parse() expects a Bool for 'header', got Int"},
		{code: `math.sqrt("4")`, fails: "std.math.sqrt() expects a number for 'x', got String"},
		{code: `math.sqrt(10 ** 400)`, fails: "std.math.sqrt: 'x' is too large"},
		{code: `time.sleep(-1)`, fails: "std.time.sleep: 'seconds' must be above 0 and at most 31622400 seconds, got -1"},
		{code: `time.sleep(math.nan)`, fails: "std.time.sleep: 'seconds' must be above 0 and at most 31622400 seconds, got nan"},
		{code: `process.run("x", "y")`, fails: "std.process.run() expects an Array of Strings for 'args', got String"},
		{code: `process.run("x", ["y", 1])`, fails: "std.process.run() expects an Array of Strings for 'args', but [1] is Int"},
		{code: `process.run("x", env: [1])`, fails: "std.process.run() expects a Map of Strings for 'env', got Array"},
		{code: `process.run("x", env: {"A": 1})`, fails: "std.process.run() expects a Map of Strings for 'env', but 'A' is Int"},
	})
}

func TestModulesAreDocumented(t *testing.T) {
	lib := std.New(std.Options{})
	defer lib.Close()
	for _, path := range std.Names() {
		members, ok := lib.Module(path)
		if !ok || len(members) == 0 {
			t.Errorf("%s has no members", path)
		}
		for name, v := range members {
			if _, constant := v.AsFloat(); constant {
				continue
			}
			if doc := eval.Describe(v); !strings.Contains(doc, path+"."+name+"(") || strings.Count(doc, "\n") < 1 {
				t.Errorf("%s.%s is described as %q", path, name, doc)
			}
		}
	}
}

func TestNoSuchModule(t *testing.T) {
	lib := std.New(std.Options{})
	defer lib.Close()
	for _, path := range []string{"", "std", "std.", "std.jso", "json", "std.json.parse", "STD.json"} {
		if _, ok := lib.Module(path); ok {
			t.Errorf("there is a module %q", path)
		}
	}
	_, err := new(program).run("import std.jsn")
	wantKind(t, err, diag.Import)
	if m := message(err); !strings.HasPrefix(m, "module not found: 'std.jsn' (there are std.base64, std.csv, ") {
		t.Error(m)
	}
	_, err = new(program).run("from std.json import pars")
	if m := message(err); m != "module 'std.json' has no member 'pars'" {
		t.Error(m)
	}
}

func TestModuleNamesAreSorted(t *testing.T) {
	lib := std.New(std.Options{})
	defer lib.Close()
	members, _ := lib.Module("std.fs")
	names := eval.NewGoModule("std.fs", members).Names()
	if !slices.IsSorted(names) || len(names) != len(members) {
		t.Errorf("completion offers %v", names)
	}
}

func TestCapabilitiesAreNames(t *testing.T) {
	for _, c := range std.Capabilities() {
		if !regexp.MustCompile(`^[a-z]+\.[a-z]+(\.\*)?$`).MatchString(c) {
			t.Errorf("odd capability %q", c)
		}
	}
}

package sense_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/sense-lang/sense"

// mayImport says which packages of the module each of them may import. A
// pattern that ends in "/..." covers what is below a folder. What only tests
// import is not looked at.
var mayImport = map[string][]string{
	"diag":   {},
	"ast":    {"diag"},
	"lexer":  {"diag"},
	"parser": {"ast", "diag", "lexer"},
	"format": {"ast", "diag", "lexer", "parser"},
	"policy": {"diag"},
	"audit":  {"diag", "policy"},
	"eval":   {"ast", "audit", "diag", "policy"},

	// A generator of code of eval.
	"eval/internal/...": {},
	// Test code, and a line of documentation.
	"eval/reftest": {},

	"model":     {},
	"model/...": {"model", "model/..."},
	"mcp":       {"mcp/..."},
	"mcp/...":   {"mcp", "mcp/..."},
	"memory":    {},
	"pybridge":  {},
	"tape":      {"diag", "model"},

	"builtins":     {"ast", "audit", "diag", "eval", "mcp", "mcp/config", "memory", "model", "model/...", "policy", "pybridge", "tape", "builtins/..."},
	"builtins/std": {"ast", "diag", "eval", "mcp", "mcp/config", "policy", "tape"},
	"builtins/...": {"ast", "audit", "diag", "eval", "mcp", "memory", "model", "model/...", "policy", "pybridge", "builtins/..."},

	// The root wires everything but the commands' own packages.
	"": {"ast", "audit", "builtins", "builtins/...", "diag", "eval", "lexer", "mcp", "mcp/...", "memory", "model", "model/...", "parser", "policy", "pybridge", "tape"},

	"check":     {"ast", "builtins", "builtins/...", "diag", "eval", "parser", "policy"},
	"testrun":   {"", "ast", "audit", "diag", "eval", "parser"},
	"repl":      {"", "ast", "audit", "diag", "eval", "lexer", "parser", "policy"},
	"inspect":   {"", "ast", "audit", "builtins", "diag", "eval", "memory", "parser", "policy"},
	"cmd/...":   {"...", ""},
	"tools/...": {"...", ""},
	"bench/...": {"...", ""},
}

// onlyIn says which packages may import a library.
var onlyIn = map[string][]string{
	"github.com/alecthomas/participle/v2":    {"lexer", "parser"},
	"github.com/mark3labs/mcp-go":            {"mcp", "mcp/..."},
	"github.com/modelcontextprotocol/go-sdk": {"mcp", "mcp/..."},
	"github.com/sashabaranov/go-openai":      {"model/openai"},
	"github.com/anthropics/anthropic-sdk-go": {"model/anthropic"},
	"github.com/zalando/go-keyring":          {"mcp/keyring"},
	"modernc.org/sqlite":                     {"memory"},
	"github.com/spf13/cobra":                 {"cmd/..."},
	"github.com/reeflective/readline":        {"repl"},
	"github.com/rogpeppe/go-internal":        {"cmd/..."},
}

func covers(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if below, ok := strings.CutSuffix(p, "/..."); ok {
			return strings.HasPrefix(pkg, below+"/")
		}
		return p == pkg || p == "..."
	})
}

// allowed finds the row of a package: its own, else that of a folder above it.
func allowed(pkg string) ([]string, bool) {
	if row, ok := mayImport[pkg]; ok {
		return row, true
	}
	for dir := pkg; strings.Contains(dir, "/"); {
		dir = dir[:strings.LastIndex(dir, "/")]
		if row, ok := mayImport[dir+"/..."]; ok {
			return row, true
		}
	}
	return nil, false
}

// listImports gives every package of the module with what it imports.
func listImports(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	imports := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		imports[strings.TrimPrefix(strings.TrimPrefix(f[0], module), "/")] = f[1:]
	}
	return imports
}

func TestArchitectureDirections(t *testing.T) {
	for pkg, imports := range listImports(t) {
		if strings.HasPrefix(pkg, "internal/") {
			continue // helpers; what they import is checked below
		}
		row, ok := allowed(pkg)
		if !ok {
			t.Errorf("package %q has no row in mayImport: say what it may import", pkg)
			continue
		}
		for _, path := range imports {
			if path != module && !strings.HasPrefix(path, module+"/") {
				continue
			}
			dep := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
			if !covers(row, dep) && !strings.HasPrefix(dep, "internal/") {
				t.Errorf("%q imports %q, which the architecture does not allow", pkg, dep)
			}
		}
	}
}

func TestArchitectureInternalHelpersAreLeaves(t *testing.T) {
	for pkg, imports := range listImports(t) {
		if !strings.HasPrefix(pkg, "internal/") {
			continue
		}
		for _, path := range imports {
			dep, ours := strings.CutPrefix(path, module)
			if ours && !strings.HasPrefix(dep, "/internal/") && dep != "/model/modeltest" {
				t.Errorf("%q imports %q: a helper must not carry packages past the table", pkg, path)
			}
		}
	}
}

func TestArchitectureLibraries(t *testing.T) {
	for pkg, imports := range listImports(t) {
		for _, path := range imports {
			for lib, where := range onlyIn {
				if (path == lib || strings.HasPrefix(path, lib+"/")) && !covers(where, pkg) {
					t.Errorf("%q imports %s, which belongs to %v", pkg, path, where)
				}
			}
		}
	}
}

// TestArchitectureNoExitNoPrint looks for calls that end the process or print to
// its standard streams outside commands.
func TestArchitectureNoExitNoPrint(t *testing.T) {
	fset := token.NewFileSet()
	seen := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			skip := path != "." && strings.HasPrefix(d.Name(), ".")
			if skip || slices.Contains([]string{"cmd", "internal/cmd", "testdata", "bench", "node_modules"}, filepath.ToSlash(path)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		seen++
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && endsOrPrints(call) {
				t.Errorf("%s: only commands end the process or print", fset.Position(call.Pos()))
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Fatal("no Go file was looked at")
	}
}

func endsOrPrints(call *ast.CallExpr) bool {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name == "print" || f.Name == "println"
	case *ast.SelectorExpr:
		x, ok := f.X.(*ast.Ident)
		if !ok {
			return false
		}
		switch x.Name {
		case "fmt":
			return strings.HasPrefix(f.Sel.Name, "Print")
		case "os":
			return f.Sel.Name == "Exit"
		case "log":
			return strings.HasPrefix(f.Sel.Name, "Fatal") || strings.HasPrefix(f.Sel.Name, "Print") || strings.HasPrefix(f.Sel.Name, "Panic")
		}
	}
	return false
}

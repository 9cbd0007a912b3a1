package std_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/sense-lang/sense/builtins/std"
	"github.com/sense-lang/sense/eval"
)

const docPath = "../../docs/language/std.md"

// TestDocumentListsEveryFunction sees to it that the document says of every
// function what the function says of itself.
func TestDocumentListsEveryFunction(t *testing.T) {
	doc := content(t, docPath)
	lib := std.New(std.Options{})
	defer lib.Close()
	for _, path := range std.Names() {
		members, _ := lib.Module(path)
		example := strings.SplitAfter(doc, "## "+path+"\n")[1]
		example, _, _ = strings.Cut(example, "\n## ")
		for name, v := range members {
			if _, constant := v.AsFloat(); constant {
				if !strings.Contains(doc, "`"+name+"`") {
					t.Errorf("%s.%s is not mentioned", path, name)
				}
				continue
			}
			head, about, _ := strings.Cut(eval.Describe(v), ", a builtin\n")
			if row := "| `" + head + "` | " + about + " |\n"; !strings.Contains(doc, row) {
				t.Errorf("the document lacks\n%s", row)
			}
			if call := strings.TrimPrefix(path, "std.") + "." + name + "("; !strings.Contains(example, "\n"+call) && !strings.Contains(strings.ReplaceAll(example, "std."+call, ""), call) {
				t.Errorf("no example calls %s", call)
			}
		}
	}
}

// TestDocumentExamples runs the examples. A line `x  # => y` prints x, which
// must give y; so must what a block prints of itself before a line `# => y`.
func TestDocumentExamples(t *testing.T) {
	doc := content(t, docPath)
	site := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.Method {
		case "GET":
			fmt.Fprint(w, `{"orders": [{"id": 7}]}`)
		case "DELETE":
			w.WriteHeader(http.StatusNoContent)
		default:
			_, _ = w.Write([]byte(`{"sku": "A-1"}`))
		}
	})
	_, p := folder(t, nil)
	p.o.Getenv, p.o.Environ = os.Getenv, os.Environ
	blocks := strings.Split(doc, "```sense\n")[1:]
	for _, b := range blocks {
		code, _, _ := strings.Cut(b, "```")
		var src, want strings.Builder
		for line := range strings.Lines(strings.ReplaceAll(code, "https://api.example.com", site.URL)) {
			x, y, shown := strings.Cut(strings.TrimSuffix(line, "\n"), "# => ")
			switch x = strings.TrimSpace(x); {
			case !shown:
				_, _ = io.WriteString(&src, line)
				continue
			case x != "":
				fmt.Fprintf(&src, "print(%s)\n", x)
			}
			want.WriteString(strings.ReplaceAll(y, `\n`, "\n") + "\n")
		}
		got, err := p.run(src.String())
		if err != nil || got != strings.TrimSuffix(want.String(), "\n") {
			t.Errorf("%s\ngives %v\n%s\nwant\n%s", code, err, got, want.String())
		}
	}
	if len(blocks) < len(std.Names()) {
		t.Errorf("only %d examples", len(blocks))
	}
}

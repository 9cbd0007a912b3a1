package conform_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sense-lang/sense/internal/conform"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestParse(t *testing.T) {
	c := conform.Parse("What it shows\n-- cmd --\nrun a.sns\n-- a.sns --  \nprint(1)\n-- not a marker\n-- stdout --\n1\n-- a.sns --\r\nprint(2)\n")
	if c.Head != "What it shows" {
		t.Errorf("head %q", c.Head)
	}
	if got := c.Sections["a.sns"]; got != "print(2)\n" {
		t.Errorf("a section that comes twice reads %q, want its last text", got)
	}
	if got := strings.Join(c.Files(), " "); got != "a.sns" {
		t.Errorf("files %q", got)
	}
	if c.Has("stderr") || !c.Has("stdout") {
		t.Error("Has is wrong")
	}
}

func TestSame(t *testing.T) {
	tests := []struct {
		want, got string
		same      bool
	}{
		{"", "", true},
		{"a\n", "a", true},
		{"a", "a\n\n\n", true},
		{"a", "b", false},
		{"a", "a\nb", false},
		{"a\nb", "a", false},
		{"x <ANY> z", "x y z", true},
		{"x <ANY> z", "x  z", true},
		{"x <ANY> z", "x z", false},
		{"<ANY>", "", true},
		{"a<ANY>b<ANY>c", "a-b-b-c", true},
		{"a<ANY>b<ANY>c", "a-c", false},
		{"ab<ANY>ba", "aba", false},
		{"(.*) [x]", "(.*) [x]", true},
		{"(.*)", "anything", false},
		{"error here", "[line 12] error here", true},
		{"SenseError: error here", "SenseError: [line 12] error here", true},
		{"[line 3] error", "[line 12] error", false},
		{"[line 3] error", "[line 3] error", true},
		{"error", "[line x] error", false},
		{"a\n<LINES>\nd", "a\nb\nc\nd", true},
		{"a\n<LINES>\nd", "a\nd", true},
		{"a\n<LINES>", "a", true},
		{"a\n<LINES>\nd\n<LINES>\nf", "a\nd\ne\nd\nf", true},
		{"a\n<LINES>\nd", "a\nb\nc", false},
	}
	for _, tt := range tests {
		if got := conform.Same(tt.want, tt.got); got != tt.same {
			t.Errorf("Same(%q, %q) = %v", tt.want, tt.got, got)
		}
	}
}

func TestNeedsPython(t *testing.T) {
	tests := []struct{ text, want string }{
		{`-- script.sns --` + "\n" + `s = connect_mcp("kit", "$PY", ["$DIR/stub_mcp.py", "--only", "a"])`, ""},
		{`-- script.sns --` + "\n" + `s = connect_mcp("kit", "$PY", ["stub_mcp.py"])`, ""},
		{"-- .mcp.json --\n{\"command\": \"$PY\", \"args\": [\"$DIR/stub_mcp.py\"]}", ""},
		{"-- cmd --\nmcp add kit -- $PY $DIR/stub_mcp.py", ""},
		{"-- stdout --\nimport python \"x\"", ""},
		{`-- script.sns --` + "\n" + `s = connect_mcp("kit", "$PY", ["-c", "print()"])`, "it starts Python itself"},
		{"-- server.py --\n", "it brings server.py"},
		{"-- a.sns --\nif true:\n    import python \"math\"", "it imports Python modules"},
		{"-- a.sns --\nfrom python math import sqrt", "it imports Python modules"},
		{"-- after.sh --\npython3 -c 1", "its script uses python3"},
	}
	for _, tt := range tests {
		if got := conform.Parse(tt.text).NeedsPython(); got != tt.want {
			t.Errorf("%s\ngives %q, want %q", tt.text, got, tt.want)
		}
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "helper.py"), "")
	write(t, filepath.Join(dir, "stub_mcp.py"), "")
	write(t, filepath.Join(dir, "a.txtar"), "-- stdout --\n")
	c, err := conform.Load(filepath.Join(dir, "a.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.NeedsPython(); got != "it has Python files beside it" {
		t.Errorf("a Python file beside gives %q", got)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// runner uses sh in the place of sense: command lines are then "-c '...'".
func runner(t *testing.T) *conform.Runner {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh")
	}
	return &conform.Runner{Sense: sh, Python: "the-python"}
}

func runCase(t *testing.T, r *conform.Runner, text string) (*conform.Case, *conform.Result) {
	t.Helper()
	c := conform.Parse(text)
	res, err := r.Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return c, res
}

func TestRunPasses(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "must not pass")
	c, res := runCase(t, runner(t), `Everything a case can say
-- cmd --
-c "cat; pwd; echo $DIR \"$WHO\" [$ANTHROPIC_API_KEY] $NO_COLOR"
-c 'cat a/file.txt >&2; exit 3'
-c 'printf "one\r\ntwo\rthree\377\n"; test $HOME = $DIR && test -z "$ANTHROPIC_API_KEY"'
-- env --
WHO=in $DIR
-- stdin --
from $PY
-- a/file.txt --
$DIR/x
second line
-- stdout --
from the-python
$DIR
$DIR in $DIR [] 1
one
two
three`+"\uFFFD"+`
-- stderr --
$DIR/x
-- absent --
must not pass
-- exit --
0
`)
	for _, d := range c.Check(res) {
		t.Error(d)
	}
}

func TestRunAfter(t *testing.T) {
	c, res := runCase(t, runner(t), "-- cmd --\n-c 'echo hi > made'\n-- after.sh --\ncat made; exit 4\n-- stdout --\nhi\n-- exit --\n4\n")
	for _, d := range c.Check(res) {
		t.Error(d)
	}
	c, res = runCase(t, runner(t), "-- cmd --\n-c 'exit 2'\n-- after.sh --\necho must not run\n-- exit --\n2\n")
	for _, d := range c.Check(res) {
		t.Error(d)
	}
}

func TestRunAsksStubs(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl")
	}
	const head = "-- cmd --\n-c 'curl -s -X POST -H content-type:application/json -d @q.json $OPENAI_BASE_URL/chat/completions -H \"Authorization: Bearer $OPENAI_API_KEY\"'\n" +
		"-- q.json --\n{\"model\": \"m\", \"tools\": [{\"function\": {\"name\": \"f\", \"parameters\": {\"type\": \"object\", \"properties\": {}}}}], \"messages\": [{\"role\": \"user\", \"content\": \"in $DIR\"}]}\n" +
		"-- openai.json --\n[{\"raw\": \"ok $DIR\"}]\n-- stdout --\nok $DIR\n"
	c, res := runCase(t, runner(t), head+"-- requests --\ntools=f user:in $DIR\n-- sent --\nopenai /v1/chat/completions model=m key=test-key\n-- schemas --\nf null {\"type\": \"object\"}\n")
	for _, d := range c.Check(res) {
		t.Error(d)
	}
	c, res = runCase(t, runner(t), head+"-- requests --\nx\n-- sent --\nx\n-- schemas --\nx\n-- absent --\nuser:in\n")
	var what []string
	for _, d := range c.Check(res) {
		what = append(what, d.What)
	}
	if got := strings.Join(what, " "); got != "requests sent schemas absent" {
		t.Errorf("wrong answers give %q", got)
	}
}

func TestRunTimeout(t *testing.T) {
	r := runner(t)
	r.Timeout = time.Hour
	_, res := runCase(t, r, "-- cmd --\n-c 'echo lost; sleep 600 & sleep 600'\n-- limit --\n0.2\n")
	if res.Exit != 124 || res.First != "TIMEOUT" || res.Stdout != "" {
		t.Errorf("got %+v", res)
	}
}

func TestRunExitStatuses(t *testing.T) {
	_, res := runCase(t, runner(t), "-- cmd --\n-c 'kill -9 $$'\n")
	if res.Exit != -9 {
		t.Errorf("a killed command gives %d, want -9", res.Exit)
	}
	_, res = runCase(t, &conform.Runner{Sense: "/no/such/sense"}, "-- stdout --\n")
	if res.Exit != 127 || !strings.Contains(res.Stderr, "no such file") {
		t.Errorf("a missing binary gives %+v", res)
	}
}

func TestRunRefusesBrokenCases(t *testing.T) {
	for _, text := range []string{
		"-- cmd --\nrun 'x\n", "-- cmd --\nrun \"x\n", "-- cmd --\nrun \\\n", "-- limit --\nsoon\n",
		"-- openai.json --\n[\n", "-- openai.json --\n[]\n-- anthropic.json --\n{\n",
	} {
		if res, err := runner(t).Run(context.Background(), conform.Parse(text)); err == nil {
			t.Errorf("%q gives %+v, want an error", text, res)
		}
	}
	if _, err := (&conform.Runner{StubMCP: "/no/such/file"}).Run(context.Background(), conform.Parse("")); err == nil {
		t.Error("a missing stub server gives no error")
	}
	if _, err := conform.Load("/no/such/case"); err == nil {
		t.Error("a missing case gives no error")
	}
}

func TestCheckDefaults(t *testing.T) {
	check := func(text string, r conform.Result) int { return len(conform.Parse(text).Check(&r)) }
	tests := []struct {
		text string
		res  conform.Result
		want int
	}{
		{"", conform.Result{}, 0},
		{"", conform.Result{Stdout: "x"}, 1},
		{"", conform.Result{First: "x"}, 1},
		{"", conform.Result{Exit: 1}, 1},
		{"-- stdout --\n*\n-- stderr --\n*\n", conform.Result{Stdout: "x", First: "y"}, 0},
		{"-- stderr --\none\n", conform.Result{First: "one\ntwo"}, 0},
		{"-- stderr --\none\ntwo\n", conform.Result{First: "one"}, 1},
		{"-- exit --\n 1 \n", conform.Result{Exit: 1}, 0},
		{"-- absent --\nno\n", conform.Result{Stdout: "yes"}, 1},
	}
	for _, tt := range tests {
		if got := check(tt.text, tt.res); got != tt.want {
			t.Errorf("%q against %+v: %d differences, want %d", tt.text, tt.res, got, tt.want)
		}
	}
}

func TestFindCorpus(t *testing.T) {
	paths, err := conform.Find("../../testdata/conformance")
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) < 321 {
		t.Errorf("%d cases, the corpus has 321", len(paths))
	}
	for _, p := range paths {
		c, err := conform.Load(p)
		if err != nil {
			t.Fatal(err)
		}
		if c.Head == "" || !c.Has("stdout") {
			t.Errorf("%s: no head or no stdout", p)
		}
	}
}

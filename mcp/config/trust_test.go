package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var monday = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

func loadTrust(t *testing.T, path string) *Trust {
	t.Helper()
	tr, err := LoadTrust(path)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestTrust(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "sense", "trust.json")
	e := &Entry{Name: "fs", File: "/p/.mcp.json", Command: "npx", Args: []string{"-y", "srv"}, Env: map[string]string{"K": "v"}}
	tr := loadTrust(t, path)
	if tr.Has(e) {
		t.Fatal("trusted before it was asked for")
	}
	other := loadTrust(t, path)
	if err := tr.Add(e, monday); err != nil {
		t.Fatal(err)
	}
	if err := other.Add(&Entry{Name: "b", File: "/p/.mcp.json", Command: "b"}, monday); err != nil {
		t.Fatal(err)
	}
	if tr = loadTrust(t, path); !tr.Has(e) || len(tr.entries) != 2 {
		t.Errorf("not kept: %+v", tr.entries)
	}
	if err := tr.Add(e, monday); err != nil || len(tr.entries) != 2 {
		t.Errorf("added twice: %v, %+v", err, tr.entries)
	}
	st, err := os.Stat(path)
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	text, _ := os.ReadFile(path)
	if !strings.Contains(string(text), `"command": "npx -y srv"`) || !strings.Contains(string(text), `"since": "2026-01-05T09:00:00Z"`) {
		t.Errorf("%s", text)
	}
	if err := tr.Forget(e); err != nil || loadTrust(t, path).Has(e) {
		t.Errorf("not forgotten: %v", err)
	}
	if err := tr.Forget(e); err != nil {
		t.Error(err)
	}
}

func TestTrustCoversWhatWouldStart(t *testing.T) {
	base := func() *Entry {
		return &Entry{
			Name: "s", File: "/p/.mcp.json", Command: "node", Args: []string{"a", "b"},
			Env: map[string]string{"K": "v", "NODE_OPTIONS": "--x"}, Headers: map[string]string{"H": "1"},
		}
	}
	path := filepath.Join(t.TempDir(), "trust.json")
	tr := loadTrust(t, path)
	if err := tr.Add(base(), monday); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		change func(*Entry)
		has    bool
	}{
		"nothing":        {func(e *Entry) {}, true},
		"name":           {func(e *Entry) { e.Name = "t" }, true},
		"value":          {func(e *Entry) { e.Env["K"] = "w" }, true},
		"tools":          {func(e *Entry) { e.Tools = []string{"x"} }, true},
		"folder":         {func(e *Entry) { e.File = "/q/.mcp.json" }, false},
		"command":        {func(e *Entry) { e.Command = "nod" }, false},
		"argument":       {func(e *Entry) { e.Args = []string{"a b"} }, false},
		"variable":       {func(e *Entry) { e.Env["L"] = "" }, false},
		"code variable":  {func(e *Entry) { e.Env["NODE_OPTIONS"] = "--require evil" }, false},
		"folder to be":   {func(e *Entry) { e.Cwd = "x" }, false},
		"variables file": {func(e *Entry) { e.EnvFile = "x" }, false},
	} {
		e := base()
		tt.change(e)
		if got := tr.Has(e); got != tt.has {
			t.Errorf("%s: trusted %v", name, got)
		}
	}
}

func TestHashOfNothing(t *testing.T) {
	a := Entry{Command: "x", Args: []string{}, Env: map[string]string{}}
	b := Entry{Command: "x"}
	if a.hash() != b.hash() {
		t.Error("an empty list counts as another command")
	}
}

func TestNeeds(t *testing.T) {
	for _, tt := range []struct {
		e    Entry
		want bool
	}{
		{Entry{Command: "x"}, true},
		{Entry{Command: "x", User: true}, false},
		{Entry{URL: "https://x"}, false},
		{Entry{URL: "https://x/${KEY}"}, true},
		{Entry{URL: "https://x", Headers: map[string]string{"A": "literal"}}, false},
		{Entry{URL: "https://x", Headers: map[string]string{"A": "Bearer ${T}"}}, true},
	} {
		if tt.e.Needs() != tt.want {
			t.Errorf("%+v: %v", tt.e, !tt.want)
		}
	}
	tr := loadTrust(t, "")
	if !tr.Has(&Entry{URL: "https://x"}) || tr.Has(&Entry{Command: "x"}) {
		t.Error("an empty trust")
	}
	if err := tr.Add(&Entry{Command: "x"}, monday); err == nil || err.Error() != "there is no home folder to keep the answer in" {
		t.Error(err)
	}
	a := Entry{URL: "https://x", Headers: map[string]string{"A": "${T}"}}
	b := Entry{URL: "https://x", Headers: map[string]string{"A": "${U}"}}
	if a.hash() == b.hash() {
		t.Error("another variable is sent under the same agreement")
	}
}

func TestTrustErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := LoadTrust(writeFile(t, filepath.Join(dir, "trust.json"), "{")); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Error(err)
	}
	if _, err := LoadTrust(dir); err == nil || !strings.Contains(err.Error(), "cannot read") {
		t.Error(err)
	}
	file := writeFile(t, filepath.Join(dir, "file"), "")
	tr := &Trust{path: filepath.Join(file, "trust.json")}
	if err := tr.Add(&Entry{Command: "x"}, monday); err == nil || !strings.Contains(err.Error(), "cannot make the folder") {
		t.Error(err)
	}
}

func TestShown(t *testing.T) {
	for _, tt := range []struct {
		e    Entry
		want string
	}{
		{Entry{Command: "npx", Args: []string{"-y", "@a/b", "."}}, `npx -y @a/b .`},
		{Entry{Command: "sh", Args: []string{"-c", "rm -rf /", ""}}, `sh -c "rm -rf /" ""`},
		{Entry{Command: "a\x1b[2K\u202eb"}, `"a\x1b[2K\u202eb"`},
		{Entry{Command: "größe", Args: []string{`"q"`}}, `größe "\"q\""`},
		{Entry{URL: "https://x/y"}, `https://x/y`},
	} {
		if got := tt.e.Shown(); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

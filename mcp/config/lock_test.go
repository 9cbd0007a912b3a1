package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/sense-lang/sense/mcp"
)

func lockTools() []*mcp.Tool {
	return []*mcp.Tool{
		{Name: "a", Description: "A", Schema: json.RawMessage(`{"type":"object"}`)},
		{Name: "b", Description: "B", Schema: json.RawMessage(`{}`), OutputSchema: json.RawMessage(`{}`)},
	}
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), LockFile)
	l, err := LoadLock(path)
	if err != nil || l.Has("s") || len(l.Compare("s", lockTools())) != 2 {
		t.Fatalf("%v %v", l, err)
	}
	l.Set("s", lockTools())
	if err := l.Save(); err != nil {
		t.Fatal(err)
	}
	if l, err = LoadLock(path); err != nil || !l.Has("s") || l.Path() != path {
		t.Fatalf("%v %v", l, err)
	}
	if c := l.Compare("s", lockTools()); c != nil {
		t.Errorf("changed: %v", c)
	}
	yes := true
	for name, tt := range map[string]struct {
		change func(ts []*mcp.Tool) []*mcp.Tool
		want   []Change
	}{
		"name":          {func(ts []*mcp.Tool) []*mcp.Tool { ts[0].Name = "c"; return ts }, []Change{{"a", "gone"}, {"c", "new"}}},
		"description":   {func(ts []*mcp.Tool) []*mcp.Tool { ts[0].Description += " "; return ts }, []Change{{"a", "description"}}},
		"schema":        {func(ts []*mcp.Tool) []*mcp.Tool { ts[1].Schema = json.RawMessage(`{"x":1}`); return ts }, []Change{{"b", "inputSchema"}}},
		"output schema": {func(ts []*mcp.Tool) []*mcp.Tool { ts[1].OutputSchema = nil; return ts }, []Change{{"b", "outputSchema"}}},
		"hint":          {func(ts []*mcp.Tool) []*mcp.Tool { ts[1].Annotations.Destructive = &yes; return ts }, []Change{{"b", "annotations"}}},
		"title":         {func(ts []*mcp.Tool) []*mcp.Tool { ts[1].Annotations.Title = "T"; return ts }, []Change{{"b", "annotations"}}},
		"one less":      {func(ts []*mcp.Tool) []*mcp.Tool { return ts[:1] }, []Change{{"b", "gone"}}},
	} {
		if got := l.Compare("s", tt.change(lockTools())); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestFindLock(t *testing.T) {
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "sense.toml"), "")
	deep := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := FindLock(deep); got != "" {
		t.Errorf("found %q", got)
	}
	want := writeFile(t, filepath.Join(root, LockFile), "{}")
	if got := FindLock(deep); got != want {
		t.Errorf("found %q", got)
	}
}

func TestLockErrors(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{"{": "is damaged", `{"version": 9}`: "has version 9, which this sense does not know"} {
		if _, err := LoadLock(writeFile(t, filepath.Join(dir, LockFile), text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := LoadLock(dir); err == nil {
		t.Error("a folder was read")
	}
	l := &Lock{path: filepath.Join(dir, "none", LockFile)}
	if err := l.Save(); err == nil {
		t.Error("saved into nothing")
	}
}

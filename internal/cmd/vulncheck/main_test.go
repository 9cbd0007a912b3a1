package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestMakeDatabase(t *testing.T) {
	osv, dir := t.TempDir(), filepath.Join(t.TempDir(), "db")
	put(t, filepath.Join(osv, "GO-1.json"), `{"id": "GO-1", "modified": "2026-01-02T03:04:05Z", "affected": [
		{"package": {"name": "a.example/m"}, "ranges": [{"events": [{"introduced": "0"}, {"fixed": "1.2.0"}]}]},
		{"package": {"name": "a.example/m"}, "ranges": [{"events": [{"introduced": "2.0.0"}]}]}]}`)
	put(t, filepath.Join(osv, "GO-2.json"), `{"id": "GO-2", "affected": [{"package": {"name": "a.example/m"}, "ranges": [{"events": [{"introduced": "0"}]}]}, {"package": {"name": "b.example"}}]}`)
	n, err := makeDatabase(osv, dir)
	if err != nil || n != 2 {
		t.Fatalf("%d, %v", n, err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "index", "modules.json"))
	if err != nil {
		t.Fatal(err)
	}
	var modules []moduleVulns
	if err := json.Unmarshal(data, &modules); err != nil {
		t.Fatal(err)
	}
	if len(modules) != 2 || modules[0].Path != "a.example/m" || len(modules[0].Vulns) != 2 || modules[0].Vulns[0].Fixed != "1.2.0" || modules[0].Vulns[1].Fixed != "" {
		t.Errorf("%+v", modules)
	}
	for _, name := range []string{"index/db.json", "index/vulns.json", "ID/GO-1.json", "ID/GO-2.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestMakeDatabaseRefuses(t *testing.T) {
	if _, err := makeDatabase(t.TempDir(), t.TempDir()); err == nil {
		t.Error("no reports, no error")
	}
	osv := t.TempDir()
	put(t, filepath.Join(osv, "GO-1.json"), `{`)
	if _, err := makeDatabase(osv, t.TempDir()); err == nil || !strings.Contains(err.Error(), "GO-1.json") {
		t.Errorf("a broken report gives %v", err)
	}
}

func TestFindings(t *testing.T) {
	stream := `{"config": {}}
{"finding": {"osv": "GO-1", "trace": [{"module": "m"}]}}
{"finding": {"osv": "GO-2", "fixed_version": "v1.1.0", "trace": [{"module": "m", "version": "v1.0.0", "package": "m/p", "function": "F"}]}}
{"finding": {"osv": "GO-2", "trace": [{"module": "m", "version": "v1.0.0", "package": "m/p", "function": "G"}]}}
{"finding": {"osv": "GO-3", "trace": [{"module": "stdlib", "version": "v1.26.8", "package": "net/http", "function": "Get"}]}}`
	found, err := readFindings([]byte(stream))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if bad := report(found, &out); bad != 1 {
		t.Errorf("%d findings fail, want 1", bad)
	}
	want := "FAIL GO-2 m@v1.0.0 m/p.F, fixed in v1.1.0\nnote GO-3 stdlib@v1.26.8 net/http.Get, no fix yet\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	if _, err := readFindings([]byte(`{"finding": `)); err == nil {
		t.Error("a cut stream gives no error")
	}
}

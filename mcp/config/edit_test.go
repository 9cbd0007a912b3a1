package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const fsBody = `{
      "command": "npx",
      "args": ["-y", "a <b>"],
      "env": {"K": "v"}
    }`

func fsEntry() *Entry {
	return &Entry{Name: "fs", Command: "npx", Args: []string{"-y", "a <b>"}, Env: map[string]string{"K": "v"}}
}

func TestInsert(t *testing.T) {
	for name, tt := range map[string]struct{ src, want string }{
		"empty":    {"{}\n", "{\n  \"mcpServers\": {\n    \"fs\": " + fsBody + "\n  }\n}\n"},
		"comment":  {"{\n  // mine\n}\n", "{\n  // mine\n  \"mcpServers\": {\n    \"fs\": " + fsBody + "\n  }\n}\n"},
		"one line": {`{"mcpServers":{"a":{"command":"b"}}}`, "{\"mcpServers\":{\"a\":{\"command\":\"b\"},\n    \"fs\": " + fsBody + "\n  }}"},
		"trailing comma and remark": {
			"{\n  \"mcpServers\": {\n    \"a\": {\"url\": \"https://x\"}, // why\n  },\n}\n",
			"{\n  \"mcpServers\": {\n    \"a\": {\"url\": \"https://x\"}, // why\n    \"fs\": " + fsBody + ",\n  },\n}\n",
		},
		"remark without comma": {
			"{\n  \"servers\": {\n    \"a\": {\"url\": \"https://x\"} // why\n  }\n}\n",
			"{\n  \"servers\": {\n    \"a\": {\"url\": \"https://x\"}, // why\n    \"fs\": " + fsBody + "\n  }\n}\n",
		},
		"other keys": {
			"{\n  \"inputs\": [],\n  \"mcpServers\": {}\n}\n",
			"{\n  \"inputs\": [],\n  \"mcpServers\": {\n    \"fs\": " + fsBody + "\n  }\n}\n",
		},
	} {
		got, err := Insert("f", []byte(tt.src), fsEntry(), false)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}

func TestInsertKeepsIndentAndLineEnds(t *testing.T) {
	got, err := Insert("f", []byte("{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {\"command\": \"b\"}\r\n\t}\r\n}\r\n"), fsEntry(), false)
	want := "{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {\"command\": \"b\"},\r\n\t\t\"fs\": {\r\n\t\t\t\"command\": \"npx\",\r\n\t\t\t\"args\": [\"-y\", \"a <b>\"],\r\n\t\t\t\"env\": {\"K\": \"v\"}\r\n\t\t}\r\n\t}\r\n}\r\n"
	if err != nil || string(got) != want {
		t.Errorf("%v\n%q", err, got)
	}
}

func TestInsertReplaces(t *testing.T) {
	src := "{\n  \"mcpServers\": {\n    \"fs\": {\"command\": \"old\"}, // kept\n    \"b\": {\"command\": \"b\"}\n  }\n}\n"
	if _, err := Insert("f", []byte(src), fsEntry(), false); err == nil || err.Error() != `f has a server "fs" already` {
		t.Error(err)
	}
	got, err := Insert("f", []byte(src), fsEntry(), true)
	if want := strings.Replace(src, `{"command": "old"}`, fsBody, 1); err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
}

// Every field that is written is read again.
func TestInsertEveryField(t *testing.T) {
	e := &Entry{
		Name: "r \"q\"", Transport: "sse", URL: "https://x", Headers: map[string]string{"A": "1", "B": "${C}"}, EnvFile: "e", Cwd: "c",
		Timeout: 2 * time.Second, Disabled: true, AlwaysLoad: true, Capability: "mcp.x", Tools: []string{"a", "b*"},
		OAuth: &OAuth{"id", "secret", 7, "https://m", []string{"x", "y"}},
	}
	out, err := Insert("f", []byte("{}"), e, false)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Parse("", out)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Insert("f", []byte("{}"), f.Entries[0], false)
	if err != nil || string(again) != string(out) {
		t.Errorf("%v %q\n%s\n%s", err, f.Warnings, out, again)
	}
	port, err := Insert("f", []byte("{}"), &Entry{Name: "p", URL: "https://x", OAuth: &OAuth{CallbackPort: 1}}, false)
	if err != nil || !strings.Contains(string(port), `"oauth": {"callbackPort": 1}`) {
		t.Errorf("%v %s", err, port)
	}
}

func TestCut(t *testing.T) {
	for name, tt := range map[string]struct{ src, cut, want string }{
		"only":              {"{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}\n  }\n}\n", "a", "{\n  \"mcpServers\": {\n  }\n}\n"},
		"first":             {"{\n \"servers\": {\n  \"a\": {\"command\": \"x\"}, // gone\n  \"b\": {\"command\": \"y\"}\n }\n}\n", "a", "{\n \"servers\": {\n  \"b\": {\"command\": \"y\"}\n }\n}\n"},
		"last":              {"{\n \"servers\": {\n  \"a\": {\"command\": \"x\"}, // kept\n  \"b\": {\"command\": \"y\"}\n }\n}\n", "b", "{\n \"servers\": {\n  \"a\": {\"command\": \"x\"} // kept\n }\n}\n"},
		"middle":            {`{"servers":{"a":{"command":"x"},"b":{"command":"y"},"c":{"command":"z"}}}`, "b", `{"servers":{"a":{"command":"x"},"c":{"command":"z"}}}`},
		"end":               {`{"servers":{"a":{"command":"x"},"b":{"command":"y"}}}`, "b", `{"servers":{"a":{"command":"x"}}}`},
		"comma in a remark": {"{\"servers\":{\"a\":{\"command\":\"x\"} /* , */, \"b\":{\"command\":\"y\"}}}", "b", "{\"servers\":{\"a\":{\"command\":\"x\"} /* , */ }}"},
	} {
		got, err := Cut("f", []byte(tt.src), tt.cut)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	if _, err := Cut("f", []byte("{}"), "a"); err == nil || err.Error() != `f has no server "a"` {
		t.Error(err)
	}
	if _, err := Cut("f", []byte("{"), "a"); err == nil {
		t.Error("no error")
	}
}

func TestAddAndRemove(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new", ProjectFile)
	if err := Add(path, fsEntry(), false); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink(path, link); err != nil {
		t.Skip("no symbolic links here")
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := Add(link, &Entry{Name: "b", Command: "x"}, false); err != nil {
		t.Fatal(err)
	}
	if st, _ := os.Lstat(link); st.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is a file now")
	}
	if st, _ := os.Stat(path); st.Mode().Perm() != 0o640 {
		t.Errorf("mode %v", st.Mode())
	}
	if err := Remove(path, "fs"); err != nil {
		t.Fatal(err)
	}
	if f, err := Load(path); err != nil || len(f.Entries) != 1 || f.Entries[0].Name != "b" {
		t.Errorf("%+v %v", f, err)
	}
	empty := writeFile(t, filepath.Join(dir, "empty.json"), " \n")
	if err := Add(empty, fsEntry(), false); err != nil {
		t.Error(err)
	}
	broken := writeFile(t, filepath.Join(dir, "broken.json"), "{,")
	for _, err := range []error{
		Add(broken, fsEntry(), false), Remove(broken, "a"), Remove(filepath.Join(dir, "none"), "a"),
		Add(filepath.Join(empty, "x"), fsEntry(), false), Add(dir, fsEntry(), false),
	} {
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v", err)
		}
	}
	if text, _ := os.ReadFile(broken); string(text) != "{," {
		t.Errorf("a broken file was changed: %q", text)
	}
}

// FuzzParse: no text makes the reader panic, every error is one line, and what
// is read can be added to and cut again without changing the other servers.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "{}", "{/*", "\ufeff{\"mcpServers\": {\"a\": {\"command\": \"x\",},},}", `{"servers": {"a": {"url": "https://x", "env": {"A": null}}}}`,
		"{\r\n\"mcpServers\": { // c\r\n} /* d */ }", `{"mcpServers": {"fs": {"command": "x"}, "b": {"command": "y"} /* , */ }}`,
		`{"mcpServers": null}`, `{"a": "\"", "mcpServers": {"\u0066s": {"command": "x"}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := Parse("f", src)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Fatalf("not one line: %q", err)
			}
			return
		}
		out, err := Insert("f", src, fsEntry(), true)
		if err != nil {
			t.Fatalf("insert: %v", err)
		}
		out, err = Cut("f", out, "fs")
		if err != nil {
			t.Fatalf("cut: %v", err)
		}
		after, err := Parse("f", out)
		if err != nil {
			t.Fatalf("after: %v\n%s", err, out)
		}
		var want, got []string
		for _, e := range file.Entries {
			if e.Name != "fs" {
				want = append(want, e.Name+e.hash())
			}
			_, _ = e.Resolve(env("A=1"))
		}
		for _, e := range after.Entries {
			got = append(got, e.Name+e.hash())
		}
		if strings.Join(want, "\n") != strings.Join(got, "\n") {
			t.Fatalf("others changed: %q -> %q", want, got)
		}
	})
}

package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// env makes an Environment of NAME=value pairs.
func env(pairs ...string) Environment {
	m := map[string]string{}
	for _, p := range pairs {
		k, v, _ := strings.Cut(p, "=")
		m[k] = v
	}
	return func(name string) (string, bool) {
		v, ok := m[name]
		return v, ok
	}
}

func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func parse(t *testing.T, text string) *File {
	t.Helper()
	f, err := Parse("f.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestParseEverything(t *testing.T) {
	f := parse(t, "\ufeff"+`{
	// servers of this project
	"$schema": "x",
	"mcpServers": {
		"fs": {"type": "stdio", "command": "npx", "args": ["-y", "srv", 8080, true], "cwd": "sub", "envFile": ".env",
			"env": {"A": "x", "N": 5, "B": false, "GONE": null}, "timeout": 1500, "disabled": true,
			"alwaysLoad": true, "capability": "mcp.fs", "tools": ["read_*", "list",],},
		/* a remote one */
		"gh": {"type": "streamable-http", "url": "https://x.example/mcp", "headers": {"Authorization": "Bearer ${T}"},
			"oauth": {"clientId": "id", "clientSecret": "s", "callbackPort": 3118, "authServerMetadataUrl": "https://a", "scopes": "a b"}},
	},
}`)
	want := []*Entry{
		{
			Name: "fs", File: "f.json", Transport: "stdio", Command: "npx", Args: []string{"-y", "srv", "8080", "true"}, Cwd: "sub",
			EnvFile: ".env", Env: map[string]string{"A": "x", "N": "5", "B": "false"}, Timeout: 1500 * time.Millisecond,
			Disabled: true, AlwaysLoad: true, Capability: "mcp.fs", Tools: []string{"read_*", "list"},
		},
		{
			Name: "gh", File: "f.json", Transport: "http", URL: "https://x.example/mcp",
			Headers: map[string]string{"Authorization": "Bearer ${T}"},
			OAuth:   &OAuth{"id", "s", 3118, "https://a", []string{"a", "b"}},
		},
	}
	if !reflect.DeepEqual(f.Entries, want) {
		t.Errorf("got %+v %+v", f.Entries[0], f.Entries[1])
	}
	if len(f.Warnings) != 1 || !strings.HasSuffix(f.Warnings[0], `server "gh": oauth.authServerMetadataUrl is not used; the server itself is asked`) {
		t.Errorf("warnings %q", f.Warnings)
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{``, `f.json:1:1: the file is empty`},
		{`[]`, `f.json:1:1: here must stand an object in braces`},
		{`{"mcpServers": []}`, `f.json:1:16: here must stand an object in braces`},
		{`{"mcpServers": {"a": 1}}`, `f.json:1:22: here must stand an object in braces`},
		{"{\n  \"mcpServers\": {\n    \"a\" {}\n", `f.json:3:9: here must stand ':', not '{'`},
		{`{`, `f.json:1:1: the file ends in the middle: a bracket or a quote is not closed`},
		{"{\"a\": [1, 2\n", `f.json:1:11: the file ends in the middle: a bracket or a quote is not closed`},
		{`{"a": }`, `f.json:1:7: here must stand a value, not '}'`},
		{`{'a': 1}`, `f.json:1:2: here must stand a name in double quotes, not '\''`},
		{`{"a": 1 "b": 2}`, `f.json:1:9: here must stand ',' or '}', not '"'`},
		{`{"a": [1 2]}`, `f.json:1:10: here must stand ',' or ']', not '2'`},
		{`{"a": 1} x`, `f.json:1:10: here must stand the end of the file, not 'x'`},
		{"{\"a\": \"x\ny\"}", `f.json:1:9: here must stand a text without line ends and control characters, not '\n'`},
		{`{"a": "\x"}`, `f.json:1:9: here must stand one of ", \, /, b, f, n, r, t, u after a backslash, not 'x'`},
		{`{"a": "\u12g4"}`, `f.json:1:12: here must stand four hexadecimal digits, not 'g'`},
		{`{"a": tru}`, `f.json:1:10: '}' does not belong into a number, true, false or null`},
		{`{"mcpServers": {"a": {"comand": "x"}}}`, `f.json:1:17: server "a": it needs a "command" to start or a "url" to reach, and "comand" is neither (did you mean "command"?)`},
		{"{\n/* never closed", `f.json:2:1: a comment that is opened here is not closed`},
		{"{\"a\xff\": 1}", `f.json:1:4: the text is no valid UTF-8`},
		{`{"mcpServers": {"": {"command": "x"}}}`, `f.json:1:17: a server must have a name`},
		{`{"mcpServers": {"a": {}}}`, `f.json:1:17: server "a": it needs a "command" to start or a "url" to reach`},
		{`{"mcpServers": {"a": {"command": "x", "url": "https://y"}}}`, `server "a": it has both a "command" and a "url"; take one out`},
		{`{"mcpServers": {"a": {"command": "x", "type": "sse"}}}`, `the type "sse" needs a "url" in place of a "command"`},
		{`{"mcpServers": {"a": {"url": "https://x", "type": "stdio"}}}`, `the type "stdio" needs a "command" in place of a "url"`},
		{`{"mcpServers": {"a": {"type": "pigeon"}}}`, `f.json:1:31: server "a": type must be stdio, http or sse, not "pigeon"`},
		{`{"mcpServers": {"a": {"command": ["x"]}}}`, `server "a": command must be a text in quotes, not a list`},
		{`{"mcpServers": {"a": {"command": null}}}`, `command must be a text in quotes, not null`},
		{`{"mcpServers": {"a": {"command": "a\u0000b"}}}`, `command must not hold a zero byte`},
		{`{"mcpServers": {"a": {"args": "x"}}}`, `args must be a list of texts, not a text`},
		{`{"mcpServers": {"a": {"args": null}}}`, `args must be a list of texts, not null`},
		{`{"mcpServers": {"a": {"args": [{}]}}}`, `args [0] must be a text in quotes, not an object`},
		{`{"mcpServers": {"a": {"env": ["A=b"]}}}`, `env must be names with texts in braces, not a list`},
		{`{"mcpServers": {"a": {"env": {"A=B": "x"}}}}`, `env has the name "A=B", which is not possible`},
		{`{"mcpServers": {"a": {"env": {"A": {}}}}}`, `env .A must be a text in quotes, not an object`},
		{`{"mcpServers": {"a": {"timeout": "5s"}}}`, `timeout must be a number of milliseconds above 0 and up to a day, not a text`},
		{`{"mcpServers": {"a": {"timeout": 0}}}`, `timeout must be a number of milliseconds above 0 and up to a day, not 0`},
		{`{"mcpServers": {"a": {"disabled": "yes"}}}`, `disabled must be true or false, not a text`},
		{`{"mcpServers": {"a": {"tools": "x"}}}`, `tools must be a list of names or patterns, not a text`},
		{`{"mcpServers": {"a": {"tools": [5]}}}`, `tools [0] must be a text in quotes, not 5`},
		{`{"mcpServers": {"a": {"oauth": true}}}`, `oauth must be an object, not true`},
		{`{"mcpServers": {"a": {"oauth": {"callbackPort": 70000}}}}`, `oauth .callbackPort must be a port, not 70000`},
		{`{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}`, `f.json:1:40: the key "a" stands here a second time`},
		{`{"mcpServers": {"a": {"command": "x"}}, "servers": {"a": {"command": "y"}}}`, `the server "a" stands here a second time`},
	} {
		_, err := Parse("f.json", []byte(tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s\n got %v\nwant %s", tt.text, err, tt.want)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("%s: not one line: %q", tt.text, err)
		}
	}
}

func TestParseWarnings(t *testing.T) {
	f := parse(t, `{"inputs": [], "mcp_servers": {}, "servers": {"a": {"command": "x", "comand": "y", "enviroment": 1,
		"tools": [{"name": "t"}], "oauth": {"audience": 1}}}}`)
	want := []string{
		`f.json: unknown key "inputs" is not used`,
		`f.json: unknown key "mcp_servers" is not used (did you mean "mcpServers"?)`,
		`f.json: server "a": unknown key "comand" is not used (did you mean "command"?)`,
		`f.json: server "a": unknown key "enviroment" is not used`,
		`f.json: server "a": permissions in "tools" are not used; write rules in the program's policy`,
		`f.json: server "a": unknown key "audience" of oauth is not used`,
	}
	if !reflect.DeepEqual(f.Warnings, want) {
		t.Errorf("got %s", strings.Join(f.Warnings, "\n"))
	}
	for name, known := range map[string]string{"timeuot": "timeout", "arg": "args", "Header": "headers", "always_load": "alwaysLoad", "disabler": "disabled"} {
		if got := near(name, fieldNames); !strings.Contains(got, `"`+known+`"`) {
			t.Errorf("near %s: %q", name, got)
		}
	}
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	home := filepath.Join(root, "home")
	user := writeFile(t, filepath.Join(home, ".config", "sense", "mcp.json"), `{"mcpServers": {"u": {"command": "u"}, "a": {"command": "user's"}}}`)
	project := filepath.Join(root, "project")
	writeFile(t, filepath.Join(root, ProjectFile), `{"mcpServers": {"outside": {"command": "x"}}}`)
	top := writeFile(t, filepath.Join(project, ProjectFile), `{"mcpServers": {"a": {"command": "top"}, "b": {"command": "top"}}}`)
	near := writeFile(t, filepath.Join(project, "x", "y", ProjectFile), `{"mcpServers": {"a": {"command": "near"}}}`)
	deep := filepath.Dir(near)
	e := env("HOME=" + home)

	if got := Find(deep, e); !reflect.DeepEqual(got, []string{near, user}) {
		t.Errorf("without a root: %q", got)
	}
	if err := os.Mkdir(filepath.Join(project, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := Find(deep, e); !reflect.DeepEqual(got, []string{near, top, user}) {
		t.Errorf("with a root: %q", got)
	}
	s, err := LoadAll(deep, e)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range s.Entries() {
		got = append(got, x.Name+"="+x.Command)
	}
	if want := []string{"a=near", "b=top", "u=u"}; !reflect.DeepEqual(got, want) {
		t.Errorf("entries %q", got)
	}
	if s.Entry("a").User || !s.Entry("u").User || s.Entry("outside") != nil {
		t.Error("whose entries")
	}
	if want := near + ", " + top + ", " + user; s.Paths() != want {
		t.Errorf("paths %q", s.Paths())
	}
	writeFile(t, filepath.Join(root, "y", "sense.toml"), "")
	if got := Find(filepath.Join(root, "y"), env()); got != nil {
		t.Errorf("nothing there: %q", got)
	}
}

func TestUserFiles(t *testing.T) {
	for _, tt := range []struct {
		env          Environment
		user, trust_ string
	}{
		{env(), "", ""},
		{env("HOME=/h"), "/h/.config/sense/mcp.json", "/h/.local/state/sense/trust.json"},
		{env("USERPROFILE=/u"), "/u/.config/sense/mcp.json", "/u/.local/state/sense/trust.json"},
		{env("HOME=/h", "XDG_CONFIG_HOME=/c", "XDG_STATE_HOME=/s"), "/c/sense/mcp.json", "/s/sense/trust.json"},
		{env("HOME=/h", "XDG_CONFIG_HOME=rel"), "/h/.config/sense/mcp.json", "/h/.local/state/sense/trust.json"},
	} {
		if got := filepath.ToSlash(UserFile(tt.env)); got != tt.user {
			t.Errorf("user file %q, want %q", got, tt.user)
		}
		if got := filepath.ToSlash(TrustFile(tt.env)); got != tt.trust_ {
			t.Errorf("trust file %q, want %q", got, tt.trust_)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	big := writeFile(t, filepath.Join(dir, "big.json"), strings.Repeat(" ", maxFile+1))
	for path, want := range map[string]string{
		filepath.Join(dir, "none.json"): "there is no file ",
		dir:                             "is no regular file",
		big:                             "is too large (1048577 bytes, limit 1048576)",
	} {
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	writeFile(t, filepath.Join(dir, ProjectFile), `{`)
	if _, err := LoadAll(dir, env()); err == nil || !strings.Contains(err.Error(), ".mcp.json:1:1: the file ends in the middle") {
		t.Errorf("got %v", err)
	}
}

package config

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestExpand(t *testing.T) {
	e := env("A=one", "B_2=two", "EMPTY=", "HOME=/h")
	for _, tt := range []struct{ in, want, err string }{
		{"plain", "plain", ""},
		{"$A", "$A", ""},
		{"${A}", "one", ""},
		{"<${A}-${B_2}>", "<one-two>", ""},
		{"${env:A}", "one", ""},
		{"${NO:-x y}", "x y", ""},
		{"${NO:-}", "", ""},
		{"${EMPTY}", "", ""},
		{"${EMPTY:-d}", "d", ""},
		{"${env:NO:-d}", "d", ""},
		{"${A:-d}", "one", ""},
		{"${workspaceFolder}/x", "/ws/x", ""},
		{"${userHome}", "/h", ""},
		{"${NO}", "", "needs the environment variable NO, which is not set"},
		{"${env:NO}", "", "needs the environment variable NO, which is not set"},
		{"${A", "", "has ${ without a closing }"},
		{"${}", "", "has ${}, which is no name of a variable; possible are ${NAME}, ${NAME:-default} and ${env:NAME}"},
		{"${1A}", "", "has ${1A}, which is no name"},
		{"${a b}", "", "has ${a b}, which is no name"},
		{"${" + strings.Repeat("é\x1b", 50) + "}", "", "..."},
		{"${input:key}", "", "asks for input with ${input:key}, which sense does not do"},
	} {
		x := &Expander{Env: e, Folder: "/ws"}
		got, err := x.Expand(tt.in)
		if tt.err == "" && (err != nil || got != tt.want) || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%q: %q, %v", tt.in, got, err)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Errorf("%q: raw %q", tt.in, err)
		}
	}
}

func TestResolve(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "more.env"), "\ufeff# comment\n\nexport FROM_FILE='x y'\nBOTH=file\r\nQ=\"q\"\n")
	e := &Entry{
		Name: "s", File: filepath.Join(dir, ProjectFile), Command: "./bin/${PROG}", Args: []string{"--key", "${KEY}"},
		Env: map[string]string{"BOTH": "own", "API_TOKEN": "literal-token", "H": "${HOST:-local}"}, EnvFile: "more.env",
		Cwd: "sub", Tools: []string{"a*"},
	}
	r, err := e.Resolve(env("PROG=srv", "KEY=sesame"))
	if err != nil {
		t.Fatal(err)
	}
	c := r.Config
	if c.Command != filepath.Join(dir, "bin", "srv") || !slices.Equal(c.Args, []string{"--key", "sesame"}) || c.Dir != filepath.Join(dir, "sub") {
		t.Errorf("%q %q %q", c.Command, c.Args, c.Dir)
	}
	if want := map[string]string{"BOTH": "own", "API_TOKEN": "literal-token", "H": "local", "FROM_FILE": "x y", "Q": "q"}; !reflect.DeepEqual(c.Env, want) {
		t.Errorf("env %v", c.Env)
	}
	for _, secret := range []string{"srv", "sesame", "literal-token"} {
		if !slices.Contains(r.Secrets, secret) {
			t.Errorf("secrets %q lack %q", r.Secrets, secret)
		}
	}
	remote := &Entry{Name: "r", File: "x/.mcp.json", URL: "https://${HOST}/mcp", Headers: map[string]string{"Authorization": "Bearer abc"}}
	r, err = remote.Resolve(env("HOST=h.example"))
	if err != nil || r.Config.URL != "https://h.example/mcp" || !slices.Contains(r.Secrets, "abc") {
		t.Errorf("%+v, %v", r, err)
	}
	remote.OAuth = &OAuth{ClientID: "id", ClientSecret: "${S}", Scopes: []string{"a"}, CallbackPort: 7}
	r, err = remote.Resolve(env("HOST=h.example", "S=confidential"))
	if o := r.Config.OAuth; err != nil || o == nil || o.ClientID != "id" || o.ClientSecret != "confidential" || o.CallbackPort != 7 || !slices.Contains(r.Secrets, "confidential") {
		t.Errorf("%+v, %v", o, err)
	}
	plain := &Entry{Name: "p", File: "x/.mcp.json", Command: "npx"}
	if r, err = plain.Resolve(env()); err != nil || r.Config.Command != "npx" || r.Config.Dir != "" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestResolveErrors(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "bad.env"), "A=1\nnot a pair\n")
	file := filepath.Join(dir, ProjectFile)
	for _, tt := range []struct {
		e    Entry
		want string
	}{
		{Entry{Command: "${NO}"}, `server "s": command needs the environment variable NO, which is not set`},
		{Entry{Command: "x", Args: []string{"a", "${NO}"}}, `server "s": args[1] needs the environment variable NO, which is not set`},
		{Entry{Command: "x", Env: map[string]string{"K": "${NO}"}}, `server "s": env.K needs the environment variable NO, which is not set`},
		{Entry{Command: "x", Cwd: "${NO}"}, `server "s": cwd needs`},
		{Entry{Command: "x", EnvFile: "${NO}"}, `server "s": envFile needs`},
		{Entry{Command: "x", EnvFile: "none.env"}, `server "s": envFile: there is no file ` + filepath.Join(dir, "none.env")},
		{Entry{Command: "x", EnvFile: "bad.env"}, `bad.env:2: this line is not NAME=value`},
		{Entry{URL: "https://${NO}"}, `server "s": url needs the environment variable NO`},
		{Entry{URL: "ftp://x"}, `url must begin with https:// or http://, not "ftp://x"`},
		{Entry{URL: "https:///x"}, `url has no host`},
		{Entry{URL: "http://[::1"}, `url is no address`},
		{Entry{URL: "https://x", Headers: map[string]string{"Authorization": "Bearer ${NO}"}}, `server "s": headers.Authorization needs the environment variable NO, which is not set`},
	} {
		tt.e.Name, tt.e.File = "s", file
		_, err := tt.e.Resolve(env())
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), file+": ") {
			t.Errorf("%+v: %v", tt.e, err)
		}
	}
}

func TestSecretName(t *testing.T) {
	for name, want := range map[string]bool{
		"API_KEY": true, "x-api-key": true, "GITHUB_TOKEN": true, "Authorization": true, "DB_PASSWORD": true, "client_secret": true,
		"Cookie": true, "PATH": false, "Accept": false,
	} {
		if SecretName(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

package std_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sense-lang/sense/builtins/std"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/policy"
)

// gated has a call of every function that policy is asked about, with what it
// needs.
var gated = []struct{ code, who, capability string }{
	{`fs.read("x")`, "std.fs.read", "fs.read"},
	{`fs.lines("x")`, "std.fs.lines", "fs.read"},
	{`fs.list()`, "std.fs.list", "fs.read"},
	{`fs.glob("*")`, "std.fs.glob", "fs.read"},
	{`fs.exists("x")`, "std.fs.exists", "fs.read"},
	{`fs.stat("x")`, "std.fs.stat", "fs.read"},
	{`fs.write("x", "")`, "std.fs.write", "fs.write"},
	{`fs.append("x", "")`, "std.fs.append", "fs.write"},
	{`fs.mkdir("x")`, "std.fs.mkdir", "fs.write"},
	{`fs.remove("x")`, "std.fs.remove", "fs.write"},
	{`fs.copy("x", "y")`, "std.fs.copy", "fs.read"},
	{`fs.copy("x", "y")`, "std.fs.copy", "fs.write"},
	{`fs.move("x", "y")`, "std.fs.move", "fs.read"},
	{`fs.move("x", "y")`, "std.fs.move", "fs.write"},
	{`env.get("HOME")`, "std.env.get", "env.read"},
	{`env.names()`, "std.env.names", "env.read"},
	{`http.get("http://localhost:1/")`, "std.http.get", "net.http"},
	{`http.post("http://localhost:1/")`, "std.http.post", "net.http"},
	{`http.request("PUT", "http://localhost:1/")`, "std.http.request", "net.http"},
	{`http.get("http://localhost:1/")`, "std.http.get", "net.http.localhost"},
	{`http.get("http://127.0.0.1:1/")`, "std.http.get", `net.http."127.0.0.1"`},
	{`http.get("http://[::FFFF:127.0.0.1]:1/")`, "std.http.get", `net.http."127.0.0.1"`},
	{`http.get("http://[::1]:1/")`, "std.http.get", `net.http."::1"`},
	{`http.get("http://LocalHost.:1/")`, "std.http.get", "net.http.localhost"},
	{`process.run("touch", ["x"])`, "std.process.run", "process.run"},
}

const imports = "import std.fs\nimport std.env\nimport std.http\nimport std.process\n"

func TestPolicyDenies(t *testing.T) {
	_, p := folder(t, nil)
	for _, g := range gated {
		want := g.who + " requires capability '" + g.capability + "', which is denied by policy"
		for how, src := range map[string]string{
			"own":    "policy: deny " + g.capability + "\n" + g.code,
			"caller": "def f(): return " + g.code + "\ndef g():\n    policy: deny " + g.capability + "\n    return f()\ng()",
			"alias":  "policy: deny " + g.capability + "\nf = lambda x: " + g.code + "\n[1].map(f)",
		} {
			_, err := p.run(imports + src)
			wantKind(t, err, diag.Policy)
			if message(err) != want {
				t.Errorf("%s, %s: %s", g.code, how, message(err))
			}
		}
		p.ceiling = &policy.Ceiling{}
		if err := p.ceiling.Deny("--deny", g.capability); err != nil {
			t.Fatal(err)
		}
		_, err := p.run(imports + "policy: allow " + g.capability + "\n" + g.code)
		wantKind(t, err, diag.Policy)
		p.ceiling = nil
		if lines := p.log.Lines(); !slices.ContainsFunc(lines, func(l string) bool {
			return strings.Contains(l, "std '"+g.who+"' -> denied (capability '"+g.capability+"' denied by policy)")
		}) {
			t.Errorf("the denial of %s is not in the audit: %v", g.code, lines)
		}
	}
	p.check(t, []row{{code: `fs.list()`, want: "[]"}})
}

func TestPolicyStrict(t *testing.T) {
	_, p := folder(t, nil)
	p.ceiling = &policy.Ceiling{}
	p.ceiling.SetStrict()
	_, err := p.run(imports + "fs.list()")
	wantKind(t, err, diag.Policy)
	if out, err := p.run(imports + "policy: allow fs.read\nprint(fs.list())"); err != nil || out != "[]" {
		t.Errorf("%s %v", out, err)
	}
}

func TestPolicyOfHosts(t *testing.T) {
	s := newSite(t, echo)
	const only = "policy:\n    allow net.http\n    deny net.http.*\n    allow net.http.\"127.0.0.1\"\n"
	if out, err := new(program).run(imports + only + "print(http.get(\"" + s.URL + "\")[\"status\"])"); err != nil || out != "200" {
		t.Errorf("%s %v", out, err)
	}
	_, err := new(program).run(imports + only + "http.get(\"" + strings.Replace(s.URL, "127.0.0.1", "localhost", 1) + "\")")
	if m := message(err); m != "std.http.get requires capability 'net.http.localhost', which is denied by policy" {
		t.Error(m)
	}
}

func TestCeilingOfHosts(t *testing.T) {
	s := newSite(t, echo)
	p := &program{ceiling: &policy.Ceiling{}}
	if err := p.ceiling.Allow("--allow", "net.http", `net.http."127.0.0.1"`); err != nil {
		t.Fatal(err)
	}
	if out, err := p.run(imports + "print(http.get(\"" + s.URL + "\")[\"status\"])"); err != nil || out != "200" {
		t.Errorf("%s %v", out, err)
	}
	_, err := p.run(imports + "http.get(\"" + strings.Replace(s.URL, "127.0.0.1", "localhost", 1) + "\")")
	if m := message(err); m != "std.http.get requires capability 'net.http.localhost', which is denied by policy" {
		t.Error(m)
	}
}

// TestPolicyOfRedirects sees to it that a redirect is asked of policy as well.
func TestPolicyOfRedirects(t *testing.T) {
	_, p := folder(t, nil)
	s := newSite(t, redirectTo("http://elsewhere.example/"))
	_, err := p.run(imports + "policy: deny net.http.\"elsewhere.example\"\nhttp.get(\"" + s.URL + "\")")
	wantKind(t, err, diag.Policy)
	if m := message(err); m != `std.http.get requires capability 'net.http."elsewhere.example"', which is denied by policy` {
		t.Error(m)
	}
}

func TestPurePartsAskNothing(t *testing.T) {
	c := &policy.Ceiling{}
	if err := c.Allow("--allow", "nothing"); err != nil {
		t.Fatal(err)
	}
	p := &program{ceiling: c, o: std.Options{Args: []string{"a"}}}
	p.check(t, []row{
		{code: `json.parse("1"), text.split(",", "a"), math.floor(1.5), random.int(1, 1), env.args(), csv.parse("a"), hash.md5("")[:4], base64.encode("a"), time.iso(0)`,
			want: "1 [a] 1 1 [a] [[a]] d41d YQ== 1970-01-01T00:00:00Z"},
	})
}

func TestEffectsAreAudited(t *testing.T) {
	s := newSite(t, redirectTo("/there"))
	_, p := folder(t, nil)
	_, err := p.run(imports + `
fs.write("a", "text")
fs.copy("a", "b")
try:
    fs.read("nope\n[line 1] forged")
catch e:
    print(e.kind)
process.run("echo", ["a b", "c"])
env.get("SECRET")
http.get("` + strings.Replace(s.URL, "//", "//user:pass@", 1) + `/here?token=t")`)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"[line 6] std 'std.fs.write' -> called (a)",
		"[line 7] std 'std.fs.copy' -> called ('a' to 'b')",
		`[line 9] std 'std.fs.read' -> failed (std.fs.read: no such file or folder: 'nope\n[line 1] forged')`,
		"[line 12] std 'std.process.run' -> called (echo 'a b' c)",
		"[line 13] std 'std.env.get' -> called (SECRET)",
		"[line 14] std 'std.http.get' -> called (GET " + s.URL + "/here?… -> 302)",
		"[line 14] std 'std.http.get' -> called (GET " + s.URL + "/there -> 200)",
	}
	if got := p.log.Lines(); !slices.Equal(got, want) {
		t.Errorf("the audit holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSecretsAreTold(t *testing.T) {
	s := newSite(t, echo)
	var told []string
	_, p := folder(t, nil)
	p.o.Secret = func(v string) { told = append(told, v) }
	p.o.Getenv = func(n string) string { return "value of " + n }
	_, err := p.run(imports + `
env.get("HOME")
env.get("API_TOKEN")
process.run("true", env: {"DB_PASSWORD": "pw", "STAGE": "test"})
http.get("` + strings.Replace(s.URL, "//", "//user:in-url@", 1) + `", headers: {"X-Api-Key": "key", "Accept": "*/*"})
http.get("` + s.URL + `", headers: {"Authorization": "Bearer abc"})`)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(told)
	want := []string{"API_TOKEN", "Basic dXNlcjppbi11cmw=", "Bearer abc", "abc", "dXNlcjppbi11cmw=", "in-url", "key", "pw", "value of API_TOKEN"}
	if !slices.Equal(told, want) {
		t.Errorf("told of %q, want %q", told, want)
	}
}

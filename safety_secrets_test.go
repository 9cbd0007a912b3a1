package sense_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// plantedSecrets makes 200 secrets, of plain characters, with characters that
// encodings change, and of other scripts.
func plantedSecrets() []string {
	r := rand.New(rand.NewPCG(11, 12))
	alphabets := []string{"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "abcXYZ0189+/=&?%#@!$;:,~^*()", "äöüßéñ日本語кириллица0123456789"}
	var out []string
	for i := range 200 {
		alphabet := []rune(alphabets[i%len(alphabets)])
		s := make([]rune, 0, 40)
		for range 12 + r.IntN(24) {
			s = append(s, alphabet[r.IntN(len(alphabet))])
		}
		out = append(out, string(s))
	}
	return out
}

// spellings are the ways in which a secret may appear in text.
func spellings(s string) []string {
	quoted, _ := json.Marshal(s) // a string always can be
	return []string{s, base64.StdEncoding.EncodeToString([]byte(s)), base64.URLEncoding.EncodeToString([]byte(s)),
		base64.StdEncoding.EncodeToString([]byte("user:" + s)), url.QueryEscape(s), url.PathEscape(s), hex.EncodeToString([]byte(s)), string(quoted[1 : len(quoted)-1])}
}

// leaky does everything with each text of a file that leaves a trace.
const leaky = `import std.json
import std.fs
import std.env
texts = json.parse(fs.read("texts.json"))
planted = env.get("S0", "")
tool t(s: String) "fails with it":
    raise "tool failed with " + s
irreversible action act(s: String) requires approval:
    raise "body failed with " + s
persistent memory m: "m.db"
model bad = inference("openai-compatible", "x", base_url: env.get("BASE", ""), api_key_env: "S1", retries: 0)
set delegation = bad
for i in range(0, len(texts), 9):
    s = texts[i]
    try:
        t(s)
    catch e:
        pass
    a = act(s)
    a.verify()
    a.approve(by: s, reason: s)
    try:
        a.commit()
    catch e:
        pass
    m.remember(s, 1)
for i in range(0, len(texts), 40):
    try:
        ask(texts[i:i + 40].join(" "))
    catch e:
        t2 = e.message
    try:
        kit.tools[0](x: texts[i:i + 40].join(" "))
    catch e:
        t2 = e.message
try:
    x = ask_human("a question: ")
catch e:
    t2 = e.message
m2 = audit()
raise "ended with " + texts.join(" ")
`

// TestNoSecretInAnySink plants 200 secrets, lets a program fail with each of
// them in every spelling, and looks for them in all that a run leaves behind:
// the audit, what shows it, errors with their excerpts, remarks, a tape, a plan,
// what a model's and a server's failures say. The console is
// inspect.TestSecretsAreInNoAnswer, chunks audit.TestWriterChunks.
func TestNoSecretInAnySink(t *testing.T) {
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"error":{"message":%q}}`, "refused, with "+r.Header.Get("Authorization")+": "+string(body))
	}))
	defer vendor.Close()
	secrets := plantedSecrets()
	var texts, names, env []string
	for i, s := range secrets {
		texts = append(texts, spellings(s)...)
		names = append(names, fmt.Sprintf("\"${S%d}\"", i))
		env = append(env, fmt.Sprintf("S%d=%s", i, s))
	}
	list, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := map[string]string{"texts.json": string(list), "sense.toml": "secrets = [" + strings.Join(names, ", ") + "]\n",
		"main.sns": hostile("kit", "leak") + leaky, "shows.sns": "x = 1 / 0  # " + secrets[0] + " " + secrets[3] + "\n"}
	env = append(env, "BASE="+vendor.URL)
	sinks := map[string]string{}
	run := func(name string, args ...string) {
		r := runWith(t, dir, files, env, args...)
		sinks[name+", standard error"], sinks[name+", standard output"] = r.err, r.out
	}
	run("a run", "run", "--verbose", "--usage", "--audit", "a.jsonl", "--record", "t.tape", "main.sns")
	run("a dry run", "run", "--dry-run", "--plan", "plan.json", "main.sns")
	run("an excerpt", "run", "shows.sns")
	run("a test", "test", "main.sns")
	run("show", "audit", "show", "a.jsonl")
	for _, f := range []string{"a.jsonl", "t.tape"} {
		sinks[f] = readFile(t, filepath.Join(dir, f))
	}
	if plan, err := exec.Command("cat", filepath.Join(dir, "plan.json")).Output(); err == nil {
		sinks["the plan"] = string(plan)
	}
	found := 0
	for name, text := range sinks {
		for i, s := range secrets {
			for _, form := range spellings(s) {
				if strings.Contains(text, form) {
					if found++; found <= 10 {
						at := strings.Index(text, form)
						t.Errorf("secret %d as %q is in %s: ...%q", i, form, name, text[max(0, at-80):at])
					}
				}
			}
		}
	}
	for _, name := range []string{"a run, standard error", "an excerpt, standard error", "a.jsonl", "t.tape", "show, standard output"} {
		if !strings.Contains(sinks[name], "‹redacted:") {
			t.Errorf("nothing was redacted in %s: %.600s", name, sinks[name])
		}
	}
	t.Logf("200 secrets in %d spellings, %d sinks: %d found", len(texts), len(sinks), found)
}

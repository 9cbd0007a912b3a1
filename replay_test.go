package sense_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/model/modeltest"
	"github.com/sense-lang/sense/tape"
)

// worldly is a program that reaches out in every way that a tape covers.
const worldly = `import std.env
import std.http
import std.process
import std.random
import std.time

policy:
    allow mcp.kit
    allow net.http
    allow process.run
    allow env.read

started = time.monotonic()
kit = connect_mcp("kit", "stubmcp", ["--only", "echo"], "mcp.kit")
model m = inference("auto")
set delegation = m
print(ask_with_tools("echo something", kit.tools).value)
print(kit.call("echo", text: "by hand"))
kit.close()

token = env.get("SERVICE_TOKEN")
base = env.get("SERVICE_URL")
answer = http.post(base + "/login", {"user": "ann"}, headers: {"Authorization": "Bearer " + token})
print(answer["status"], answer["json"]["name"], answer["headers"]["x-served"])
again = http.get(base + "/items?since=" + answer["json"]["access_token"])
print(again["json"], len(env.names()) > 0, env.get("NOT_SET", "nothing"))
try:
    http.get(base + "/drop")
catch e:
    print(e.kind, e.message.replace(base, "BASE").split(": ")[0])
try:
    process.run("sh", ["-c", "sleep 60"], timeout: 0.05)
catch e:
    print(e.kind, e.message)
ran = process.run("sh", ["-c", "cat; echo $$; echo oops >&2; exit 3"], input: "fed ", env: {"MY_TOKEN": token})
print(ran["status"], ran["output"].trim(), ran["error"].trim())
print(random.int(1, 1000000000), time.now(), time.monotonic() - started)
print(input("who? "))
`

const (
	serviceToken = "svc-0123456789abcdef"
	handedToken  = "handed-out-9876543210"
)

// service is the HTTP side of the program's world.
func service(asked *atomic.Int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		n := asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Served", fmt.Sprint(n, " ", time.Now().UnixNano()))
		switch {
		case r.URL.Path == "/drop":
			panic(http.ErrAbortHandler)
		case r.URL.Path == "/login" && r.Header.Get("Authorization") == "Bearer "+serviceToken:
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: "cookie-5555555555"})
			fmt.Fprintf(w, `{"name": "Ann", "access_token": %q}`, handedToken)
		case r.URL.Path == "/items" && r.URL.Query().Get("since") == handedToken:
			fmt.Fprint(w, `[1, {"big": 9007199254740993}]`)
		default:
			w.WriteHeader(http.StatusForbidden)
		}
	}
}

// recordWorldly records a run of the program and gives its folder and what it
// printed. All servers are gone when it returns.
func recordWorldly(t *testing.T) (folder, printed string) {
	t.Helper()
	var asked atomic.Int64
	site := httptest.NewServer(service(&asked))
	defer site.Close()
	vendor := modeltest.New(modeltest.OpenAI,
		modeltest.Calls(modeltest.CallOf("kit.echo", `{"text": "from the model"}`)), modeltest.Text("@results"))
	defer vendor.Close()
	folder = t.TempDir()
	writeFile(t, filepath.Join(folder, "run.sns"), worldly)
	printed = runWorldly(t, folder, "--record",
		"SERVICE_TOKEN="+serviceToken, "SERVICE_URL="+site.URL, "OPENAI_API_KEY=key-0123456789", "OPENAI_BASE_URL="+vendor.URL)
	if n := asked.Load(); n != 3 && n != 4 { // a dropped connection may be tried again
		t.Errorf("the service was asked %d times\n%s", n, printed)
	}
	return folder, printed
}

// runWorldly runs the program with a tape and no more of the environment than it
// says.
func runWorldly(t *testing.T, folder, flag string, env ...string) string {
	t.Helper()
	sense := binary(t, "sense")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, sense, "run", "run.sns", flag, "run.tape")
	cmd.Dir = folder
	cmd.Env = append([]string{"HOME=" + folder, "TMPDIR=" + os.TempDir(), "PATH=" + os.Getenv("PATH")}, env...)
	if flag == "--replay" { // nothing can be started either
		cmd.Env = []string{"HOME=" + folder, "PATH="}
	}
	cmd.Stdin = strings.NewReader("bob\n")
	if flag == "--replay" {
		cmd.Stdin = nil
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", flag, err, stdout.String(), stderr.String())
	}
	return stdout.String()
}

// TestReplayWithTheWorldGone records a program that asks a model, an MCP server,
// a service, commands, the environment, the clock, chance and a person, and plays
// it with all of them gone: once by the command, 100 times within this process.
func TestReplayWithTheWorldGone(t *testing.T) {
	folder, printed := recordWorldly(t)
	for _, want := range []string{"from the model", "by hand", "200 Ann", "[1, {big: 9007199254740993}]", "runtime std.http.get",
		`timeout std.process.run: 'sh' did not end within 0.05 seconds`, "3 fed ", "oops", "who? bob"} {
		if !strings.Contains(printed, want) {
			t.Errorf("the run did not print %s\n%s", want, printed)
		}
	}
	text := readFile(t, filepath.Join(folder, "run.tape"))
	for _, secret := range []string{serviceToken, handedToken, "cookie-5555555555", "key-0123456789"} {
		if strings.Contains(text, secret) {
			t.Errorf("the tape holds the secret %s", secret)
		}
	}
	for _, kind := range []string{"model", "mcp.connect", "mcp.call", "http", "process", "env", "human", "clock", "random"} {
		if !strings.Contains(text, "\n{\"kind\":\""+kind+"\"") {
			t.Errorf("no exchange of kind %s is on the tape", kind)
		}
	}
	if got := runWorldly(t, folder, "--replay"); got != printed {
		t.Errorf("played differently:\n%s", diffText("out", printed, got))
	}
	for i := range 100 {
		if got := playWorldly(t, text); got != printed {
			t.Fatalf("run %d played differently:\n%s", i, diffText("out", printed, got))
		}
	}
}

// playWorldly plays the program within this process.
func playWorldly(t *testing.T, text string) string {
	t.Helper()
	tp, err := tape.Play(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	r := sense.New(t.Context(), sense.Options{Stdout: &out, Tape: tp})
	defer r.Close()
	if err := r.RunSource("run.sns", worldly); err != nil {
		t.Fatal(err)
	}
	if n := tp.Left(); n != 0 {
		t.Errorf("%d exchanges were not played", n)
	}
	return out.String()
}

// TestReplayOfAMock holds that a mock's exchanges are on the tape as any model's.
func TestReplayOfAMock(t *testing.T) {
	t.Parallel()
	const program = `model m = inference("mock", "demo", script: ["one", "two words"])
set delegation = m
print(ask("a").value, ask("b").usage)
`
	run := func(tp *tape.Tape, program string) (string, error) {
		var out bytes.Buffer
		r := sense.New(t.Context(), sense.Options{Stdout: &out, Tape: tp})
		defer r.Close()
		err := r.RunSource("m.sns", program)
		return out.String(), err
	}
	play := func(text string) *tape.Tape {
		tp, err := tape.Play(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return tp
	}
	var text strings.Builder
	rec, err := tape.Record(&text)
	if err != nil {
		t.Fatal(err)
	}
	printed, err := run(rec, program)
	if err != nil || !strings.Contains(printed, "output_tokens: 2") {
		t.Fatalf("printed %q, %v", printed, err)
	}
	if got, err := run(play(text.String()), program); err != nil || got != printed {
		t.Errorf("played %q, %v; want %q", got, err, printed)
	}
	const want = `the exchange with model 'demo' differs from line 3 of the tape at messages[0].text: the tape has "b", the program has "c"`
	if _, err := run(play(text.String()), strings.Replace(program, `"b"`, `"c"`, 1)); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("another prompt: %v", err)
	}
}

// TestReplayOfAnotherProgram holds that a program that asks something else fails,
// with the nearest exchange and the first difference, even where it catches that.
func TestReplayOfAnotherProgram(t *testing.T) {
	t.Parallel()
	const text = `{"sense_tape":1}
{"kind":"http","who":"a.example","ask":{"method":"GET","url":"https://a.example/other"},"answer":{"status":200,"body":"far"}}
{"kind":"http","who":"a.example","ask":{"method":"POST","url":"https://a.example/x","headers":{"Content-Type":"application/json"},"body":"{\"n\": 1}"},"answer":{"status":200,"body":"near"}}
{"kind":"process","who":"ls","ask":{"command":"ls","args":["-l"]},"answer":{"status":0,"output":"a"}}
`
	tests := []struct{ program, want string }{
		{`http.post("https://a.example/x", {"n": 2})`,
			`std.http.post: the exchange with http 'a.example' differs from line 3 of the tape at body: the tape has "{\"n\": 1}", the program has "{\"n\": 2}"`},
		{`http.get("https://b.example/x")`,
			`std.http.get: the tape has no further exchange with http 'b.example'; line 2 is one with http 'a.example'`},
		{`process.run("ls", ["-a"])`,
			`std.process.run: the exchange with process 'ls' differs from line 4 of the tape at args[0]: the tape has "-l", the program has "-a"`},
		{"try:\n    process.run(\"ls\")\ncatch e:\n    print(\"caught\")",
			`the exchange with process 'ls' differs from line 4 of the tape at args: the tape has ["-l"], the program has nothing`},
	}
	for _, tt := range tests {
		tp, err := tape.Play(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		r := sense.New(t.Context(), sense.Options{Tape: tp})
		err = r.RunSource("run.sns", "import std.http\nimport std.process\n"+tt.program)
		r.Close()
		if err == nil || !strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("%s:\n got %v\nwant %s", tt.program, err, tt.want)
		}
	}
}

package sense_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// inspected is a running `sense inspect`.
type inspected struct {
	cmd    *exec.Cmd
	banner []string
	base   string
	token  string
	stderr bytes.Buffer
	rest   *bufio.Reader
}

// startInspect starts the command on a script and reads n lines.
func startInspect(t *testing.T, script string, n int, flags ...string) *inspected {
	t.Helper()
	p := &inspected{cmd: exec.Command(binary(t, "sense"), append([]string{"inspect", script, "--port", "0"}, flags...)...)}
	p.cmd.Stderr = &p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // gone, where the test went well
	})
	p.rest = bufio.NewReader(out)
	for range n {
		line, err := p.rest.ReadString('\n')
		if err != nil {
			t.Fatalf("%v; standard error: %s", err, p.stderr.String())
		}
		p.banner = append(p.banner, strings.TrimSuffix(line, "\n"))
	}
	m := regexp.MustCompile(`(http://127\.0\.0\.1:\d+)/#token=([A-Z2-7]{26,})`).FindStringSubmatch(strings.Join(p.banner, "\n"))
	if m == nil {
		t.Fatalf("no address in %q", p.banner)
	}
	p.base, p.token = m[1], m[2]
	return p
}

func (p *inspected) post(t *testing.T, path, body string) string {
	t.Helper()
	q, err := http.NewRequest("POST", p.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+p.token)
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Prefer", "wait=0")
	resp, err := http.DefaultTransport.RoundTrip(q)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// end sends a signal and wants an exit status.
func (p *inspected) end(t *testing.T, sig os.Signal, status int) {
	t.Helper()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	if err := p.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	rest, _ := io.ReadAll(p.rest)
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != status {
		t.Errorf("ended with %v, want %d; standard error: %s", err, status, p.stderr.String())
	}
	if strings.Contains(string(rest)+p.stderr.String(), p.token) || p.stderr.Len() > 0 {
		t.Errorf("at the end it said %q and %q", rest, p.stderr.String())
	}
	t.Logf("ended after %s", time.Since(start))
}

// The banner is as documented, the address works, and a signal ends the console
// with the server that the script started, also while a call waits.
func TestInspectServesAndEnds(t *testing.T) {
	for sig, status := range map[os.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		mark := fmt.Sprintf("inspect-mark-%d-%d", os.Getpid(), status)
		script := filepath.Join(t.TempDir(), "x.sns")
		writeFile(t, script, `print("from the script")
s = connect_mcp("st", "`+binary(t, "stubmcp")+`", ["--hang-on", "echo", "--extra", "`+mark+`"])
tool t(x):
    print("called", x)
    return x
`)
		p := startInspect(t, script, 4)
		if p.banner[0] != "from the script" || p.banner[1] != "Sense Inspector — "+script || p.banner[2] != "  "+p.base+"/#token="+p.token || p.banner[3] != "  (Ctrl+C to stop)" {
			t.Errorf("the banner is %q", p.banner)
		}
		if s := p.post(t, "/api/tool/t/call", `{"args":[5]}`); !strings.Contains(s, `"ok":true`) {
			t.Errorf("the call gave %s", s)
		}
		if s := p.post(t, "/api/tool/st.echo/call", `{"args":[{"text":"x"}]}`); !strings.Contains(s, `"pending":true`) {
			t.Errorf("the call that waits gave %s", s)
		}
		p.end(t, sig, status)
		nothingLeft(t, mark)
	}
}

func TestInspectDryRun(t *testing.T) {
	script := filepath.Join(t.TempDir(), "x.sns")
	writeFile(t, script, "irreversible action a():\n    print(\"never\")\n")
	p := startInspect(t, script, 4, "--dry-run")
	if p.banner[2] != "  DRY RUN — commits/rollbacks clicked in the console are simulated, not executed" {
		t.Errorf("the banner is %q", p.banner)
	}
	p.end(t, syscall.SIGINT, 130)
}

// What cannot be served is one line and an exit status; the script does not run
// where the port is taken.
func TestInspectRefuses(t *testing.T) {
	dir := t.TempDir()
	good, bad, wrong := filepath.Join(dir, "good.sns"), filepath.Join(dir, "bad.sns"), filepath.Join(dir, "wrong.sns")
	writeFile(t, good, "print(\"ran\")\n")
	writeFile(t, bad, "print(1 / 0)\n")
	writeFile(t, wrong, "print(\n")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	for _, x := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"nowhere.sns"}, 1, "no such file or directory: nowhere.sns"},
		{[]string{bad, "--port", "0"}, 1, "division by zero"},
		{[]string{wrong, "--port", "0"}, 1, "unexpected token"},
		{[]string{good, "--port", taken}, 1, "cannot listen on 127.0.0.1:" + taken + ": address already in use"},
		{[]string{good, "--port", "70000"}, 2, "--port"},
		{[]string{good, "--port", "x"}, 2, "--port"},
		{[]string{}, 2, "needs a path"},
		{[]string{good, good}, 2, "takes one path"},
	} {
		out, err := exec.Command(binary(t, "sense"), append([]string{"inspect"}, x.args...)...).CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != x.status || !strings.Contains(string(out), x.says) || strings.Contains(string(out), "ran\n") {
			t.Errorf("%v: %v, %s", x.args, err, out)
		}
	}
}

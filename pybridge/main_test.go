package pybridge

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv("SENSE_TEST_ORPHAN") != "" {
		orphan()
	}
	goleak.VerifyTestMain(m)
}

// orphan plays a program that starts Python, tells its number, and is killed while a call runs.
func orphan() {
	ctx := context.Background()
	p, err := Start(ctx, Options{Stdout: os.Stdout})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	module, _ := p.Import(ctx, "time")
	sleep, _ := p.Attr(ctx, module.(Handle), "sleep")
	fmt.Println(p.cmd.Process.Pid)
	_, _ = p.Call(ctx, sleep.(Handle), []Value{600})
	os.Exit(0)
}

var bg = context.Background()

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(text)
}

// take gives what was written since the last call.
func (b *buffer) take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.b.Reset()
	return b.b.String()
}

// python is a running Python with the module "helper" that a test wrote.
type python struct {
	*Proc
	t        *testing.T
	out, err *buffer
	module   Handle
}

// start starts Python and imports code as the module "helper".
func start(t *testing.T, code string) *python {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "helper.py"), code)
	p := &python{t: t, out: new(buffer), err: new(buffer)}
	var err error
	p.Proc, err = Start(bg, Options{Stdout: p.out, Stderr: p.err, Env: append(os.Environ(), "PYTHONPATH="+dir), Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	module, err := p.Import(bg, "helper")
	if err != nil {
		t.Fatal(err)
	}
	p.module = module.(Handle)
	return p
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// get reads a member of the helper.
func (p *python) get(name string) Value {
	p.t.Helper()
	value, err := p.Attr(bg, p.module, name)
	if err != nil {
		p.t.Fatal(err)
	}
	return value
}

// try calls a function of the helper.
func (p *python) try(ctx context.Context, name string, args ...Value) (Value, error) {
	p.t.Helper()
	return p.Call(ctx, p.get(name).(Handle), args)
}

func (p *python) call(name string, args ...Value) Value {
	p.t.Helper()
	value, err := p.try(bg, name, args...)
	if err != nil {
		p.t.Fatal(err)
	}
	return value
}

func (p *python) str(value Value) string {
	p.t.Helper()
	text, err := p.Str(bg, value.(Handle))
	if err != nil {
		p.t.Fatal(err)
	}
	return text
}

// gone tells whether a process has ended, giving it a moment; what has ended but was not waited for counts as there.
func gone(pid string) bool {
	for range 2000 {
		state, err := os.ReadFile("/proc/" + strings.TrimSpace(pid) + "/stat")
		if err != nil {
			return true
		}
		if fields := strings.Fields(string(state)); len(fields) > 2 && fields[2] == "Z" {
			return true // a child of somebody who does not wait
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

//go:build linux

package mcp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// The fault server: this test binary, started with faultVariable set, is an
// MCP server that has the fault the variable names. It serves the tools below
// in the plainest way; a fault replaces one piece of that.

const (
	faultVariable = "SENSE_TEST_FAULT"
	argVariable   = "SENSE_TEST_ARG"
)

// rpc is a message as the fault server reads it.
type rpc struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
	raw    string
}

// peer is the fault server's state.
type peer struct {
	in      *bufio.Reader
	out     io.Writer
	arg     string
	fault   fault
	calls   int      // tools/call seen
	seen    []string // every line read
	answers map[string]rpc
}

// fault is one way to go wrong. Nil pieces behave well.
type fault struct {
	start func(*peer)
	// on replaces the answer to a method; true means it is dealt with.
	on  map[string]func(*peer, rpc) bool
	end func(*peer) // after the end of the input
}

const serverTools = `{"name":"echo","description":"Gives its text back","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}},` +
	`{"name":"seen","description":"What was read so far","inputSchema":{"type":"object"}},` +
	`{"name":"args","description":"Its arguments as they came","inputSchema":{"type":"object"}}`

func serveFault(mode string) {
	f, ok := faults[mode]
	if !ok {
		fmt.Fprintln(os.Stderr, "no such fault:", mode)
		os.Exit(64)
	}
	p := &peer{in: bufio.NewReaderSize(os.Stdin, 1<<20), out: os.Stdout, arg: os.Getenv(argVariable), fault: f, answers: map[string]rpc{}}
	if f.start != nil {
		f.start(p)
	}
	for {
		r, err := p.read()
		if err != nil {
			break
		}
		p.handle(r)
	}
	if f.end != nil {
		f.end(p)
	}
}

func (p *peer) read() (rpc, error) {
	line, err := p.in.ReadString('\n')
	if err != nil {
		return rpc{}, err
	}
	line = strings.TrimSuffix(line, "\n")
	p.seen = append(p.seen, line)
	var r rpc
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		fmt.Fprintln(os.Stderr, "client sent no JSON:", line)
		os.Exit(65)
	}
	r.raw = line
	return r, nil
}

func (p *peer) handle(r rpc) {
	if on := p.fault.on[r.Method]; on != nil && on(p, r) {
		return
	}
	switch r.Method {
	case "initialize":
		p.result(r, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"fault","version":"1"},"instructions":"be kind"}`)
	case "tools/list":
		p.result(r, `{"tools":[`+serverTools+`]}`)
	case "tools/call":
		p.calls++
		p.call(r)
	case "":
		p.answers[string(r.ID)] = r
	default:
		if r.ID != nil {
			p.line(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, r.ID)
		}
	}
}

// callParams are those of tools/call.
type callParams struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Meta      struct {
		ProgressToken json.RawMessage `json:"progressToken"`
	} `json:"_meta"`
}

func (r rpc) call() callParams {
	var c callParams
	_ = json.Unmarshal(r.Params, &c)
	return c
}

func (p *peer) call(r rpc) {
	c := r.call()
	switch c.Name {
	case "echo":
		var a struct{ Text string }
		_ = json.Unmarshal(c.Arguments, &a)
		p.text(r, a.Text)
	case "seen":
		p.text(r, strings.Join(p.seen, "\n"))
	case "args":
		p.text(r, string(c.Arguments))
	default:
		p.text(r, "called "+c.Name)
	}
}

func (p *peer) line(format string, args ...any) { fmt.Fprintf(p.out, format+"\n", args...) }

func (p *peer) result(r rpc, result string) {
	p.line(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.ID, result)
}

func (p *peer) text(r rpc, text string) {
	p.result(r, `{"content":[{"type":"text","text":`+jsonString(text)+`}]}`)
}

func jsonString(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// waitAnswer reads on until the client has answered the request with this id.
func (p *peer) waitAnswer(id string) (rpc, bool) {
	for {
		if r, ok := p.answers[id]; ok {
			return r, true
		}
		r, err := p.read()
		if err != nil {
			return rpc{}, false
		}
		p.handle(r)
	}
}

// onCall is a fault in the answer to tools/call alone, the tools "seen" and
// "args" excepted.
func onCall(f func(*peer, rpc)) fault {
	return fault{on: map[string]func(*peer, rpc) bool{"tools/call": func(p *peer, r rpc) bool {
		if name := r.call().Name; name == "seen" || name == "args" {
			return false
		}
		p.calls++
		f(p, r)
		return true
	}}}
}

func onMethod(method string, f func(*peer, rpc)) fault {
	return fault{on: map[string]func(*peer, rpc) bool{method: func(p *peer, r rpc) bool { f(p, r); return true }}}
}

// onResult answers tools/call with the result in SENSE_TEST_ARG.
func onResult(p *peer, r rpc) { p.result(r, p.arg) }

// forever sleeps: a program without cgo that waits for nothing at all is ended by the
// runtime as a deadlock.
func forever() {
	for {
		time.Sleep(time.Hour)
	}
}

func ignoreTerm() { signal.Ignore(syscall.SIGTERM) }

// respawn starts this binary again with another fault, and does not wait.
func respawn(mode string, attr *syscall.SysProcAttr, env []string, files bool) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(env, faultVariable+"="+mode)
	cmd.SysProcAttr = attr
	if files {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "respawn:", err)
		os.Exit(66)
	}
	return cmd
}

var faults map[string]fault

// setFaults fills the table; it cannot be a plain variable since faults refer
// to it by starting others.
func setFaults() {
	faults = map[string]fault{
		"none":   {},
		"tiny":   {start: tiny},
		"client": {start: func(p *peer) { beClient(p.arg); os.Exit(0) }},
		"meet":   {start: func(p *peer) { meet(p.arg); os.Exit(0) }},
		// starting
		"exit3": {start: func(p *peer) {
			fmt.Fprintln(os.Stderr, "loading\nfatal: missing TOKEN")
			os.Exit(3)
		}},
		"startsunless": {start: func(p *peer) {
			if _, err := os.Stat(p.arg); err == nil {
				fmt.Fprintln(os.Stderr, "still broken")
				os.Exit(3)
			}
		}},
		"selfkill": {start: func(*peer) { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); forever() }},
		"mute":     {start: func(p *peer) { _, _ = io.Copy(io.Discard, p.in); forever() }},
		"hanginit": {on: map[string]func(*peer, rpc) bool{"initialize": func(*peer, rpc) bool { return true }}},
		"hanglist": {on: map[string]func(*peer, rpc) bool{"tools/list": func(*peer, rpc) bool { return true }}},
		"protocol": onMethod("initialize", func(p *peer, r rpc) {
			p.result(r, `{"protocolVersion":`+jsonString(p.arg)+`,"capabilities":{},"serverInfo":{"name":"f","version":"1"}}`)
		}),
		"refuseinit": onMethod("initialize", func(p *peer, r rpc) {
			p.line(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"licence expired"}}`, r.ID)
		}),
		"emptyinit": onMethod("initialize", func(p *peer, r rpc) { p.result(r, `{}`) }),
		"badinit":   onMethod("initialize", func(p *peer, r rpc) { p.result(r, `[1,2]`) }),
		"closeout":  {start: func(*peer) { os.Stdout.Close(); forever() }},
		"closein":   {start: func(*peer) { os.Stdin.Close(); forever() }},
		"modern":    modernFault(),
		"yesman": {on: map[string]func(*peer, rpc) bool{
			"initialize": func(p *peer, r rpc) bool {
				p.line(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, r.ID)
				return true
			},
			"server/discover": func(p *peer, r rpc) bool { p.result(r, `{}`); return true },
		}},
		"deaf": {on: map[string]func(*peer, rpc) bool{
			"server/discover": func(*peer, rpc) bool { return true },
			"ping":            func(*peer, rpc) bool { return true },
		}},
		"agreeable": {on: map[string]func(*peer, rpc) bool{
			"server/discover": func(p *peer, r rpc) bool { p.result(r, `{}`); return true },
			"ping":            func(p *peer, r rpc) bool { p.result(r, `{}`); return true },
		}},
		// framing
		"banner":  {start: func(p *peer) { fmt.Fprint(p.out, "Server starting...\n\n{not json\n[1,2]\nnull\n42\n") }},
		"glued":   {start: func(p *peer) { fmt.Fprint(p.out, "mode: STDIO \U0001f680 ") }},
		"chatter": {start: func(p *peer) { p.out = &prefixWriter{p.out, "log line\n"} }},
		"endlessjunk": {start: func(p *peer) {
			for {
				if _, err := fmt.Fprintln(p.out, "this is no message"); err != nil {
					os.Exit(0)
				}
			}
		}},
		"halfline": onCall(func(p *peer, r rpc) { fmt.Fprintf(p.out, `{"jsonrpc":"2.0","id":%s,"res`, r.ID); os.Exit(0) }),
		"nolineend": onCall(func(p *peer, r rpc) {
			fmt.Fprintf(p.out, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"last words"}]}}`, r.ID)
			os.Exit(0)
		}),
		"flushes": {start: func(p *peer) { p.out = dripWriter{p.out, 40} }},
		"bytes":   {start: func(p *peer) { p.out = dripWriter{p.out, 1} }},
		"crlf":    {start: func(p *peer) { p.out = crlfWriter{p.out} }},
		"pretty":  {start: func(p *peer) { p.out = prettyWriter{p.out} }},
		"batch": onCall(func(p *peer, r rpc) {
			p.line(`[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}},{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"batched"}]}}]`, r.ID)
		}),
		"badutf8": onCall(func(p *peer, r rpc) {
			p.line(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"a`+"\xff\xfe"+`b"}]}}`, r.ID)
		}),
		"huge": onCall(func(p *peer, r rpc) { p.huge(r) }),
		"noline": {start: func(p *peer) {
			block := []byte(strings.Repeat("x", 1<<20))
			for {
				if _, err := p.out.Write(block); err != nil {
					os.Exit(0)
				}
			}
		}},
		"biglist": onMethod("tools/list", func(p *peer, r rpc) {
			p.result(r, `{"tools":[{"name":"echo","description":"`+strings.Repeat("d", 500_000)+`","inputSchema":{"type":"object"}}]}`)
		}),
		"deep": onCall(func(p *peer, r rpc) {
			p.result(r, `{"content":[],"structuredContent":{"a":`+strings.Repeat("[", 12000)+strings.Repeat("]", 12000)+`}}`)
		}),
		// ids
		"stringid": onCall(func(p *peer, r rpc) {
			p.line(`{"jsonrpc":"2.0","id":"%s","result":{"content":[{"type":"text","text":"s"}]}}`, r.ID)
		}),
		"floatid": onCall(func(p *peer, r rpc) {
			p.line(`{"jsonrpc":"2.0","id":%s.0,"result":{"content":[{"type":"text","text":"f"}]}}`, r.ID)
		}),
		"nullid": onCall(func(p *peer, r rpc) {
			p.line(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"could not parse"}}`)
		}),
		"wrongid": onCall(func(p *peer, r rpc) {
			p.line(`{"jsonrpc":"2.0","id":999999,"result":{"content":[{"type":"text","text":"not yours"}]}}`)
			p.line(`{"jsonrpc":"2.0","id":{"a":1},"result":{}}`)
		}),
		"duplicate": onCall(func(p *peer, r rpc) {
			p.call(r)
			p.call(r)
			p.line(`{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"again"}}`, r.ID)
		}),
		"late": onCall(func(p *peer, r rpc) { // answers each call when the next one comes
			if p.calls > 1 {
				p.line(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"late"}]}}`, p.arg)
				p.call(r)
			}
			p.arg = string(r.ID)
		}),
		// answers
		"result": onCall(onResult),
		"both": onCall(func(p *peer, r rpc) {
			p.line(`{"jsonrpc":"2.0","id":%s,"result":{},"error":{"code":5,"message":"no"}}`, r.ID)
		}),
		"neither":  onCall(func(p *peer, r rpc) { p.line(`{"jsonrpc":"2.0","id":%s}`, r.ID) }),
		"rpcerror": onCall(func(p *peer, r rpc) { p.line(`{"jsonrpc":"2.0","id":%s,"error":%s}`, r.ID, p.arg) }),
		"badjson":  onCall(func(p *peer, r rpc) { p.line(`{"jsonrpc":"2.0","id":%s,"result":{"content":[tru]}}`, r.ID) }),
		"reverse":  reverseFault(),
		// calls
		"die": onCall(func(p *peer, r rpc) { fmt.Fprintln(os.Stderr, "panic: out of cheese"); os.Exit(9) }),
		"countdie": onCall(func(p *peer, r rpc) {
			f, err := os.OpenFile(p.arg, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err == nil {
				_, _ = f.WriteString("x")
			}
			os.Exit(9)
		}),
		"hangcall": onCall(func(p *peer, r rpc) {}),
		"hangonce": onCall(func(p *peer, r rpc) {
			if p.calls > 1 {
				p.call(r)
			}
		}),
		"cancels": onCall(func(p *peer, r rpc) {
			p.line(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"quota used up"}}`, r.ID)
		}),
		"progress": onCall(func(p *peer, r rpc) { p.progress(r) }),
		"noread":   onCall(func(p *peer, r rpc) { forever() }),
		"stderr": onCall(func(p *peer, r rpc) {
			w := bufio.NewWriterSize(os.Stderr, 1<<16)
			for i := range 200_000 {
				fmt.Fprintln(w, "debug line", i)
			}
			w.Flush()
			p.call(r)
		}),
		// the server asks
		"ping": {start: func(p *peer) { p.line(`{"jsonrpc":"2.0","id":"p-0","method":"ping"}`) },
			on: map[string]func(*peer, rpc) bool{"tools/call": func(p *peer, r rpc) bool { p.askAll(r); return true }}},
		"pingflood": {start: func(p *peer) {
			go func() {
				for i := 0; ; i++ {
					if _, err := fmt.Fprintf(os.Stdout, `{"jsonrpc":"2.0","id":"f%d","method":"ping"}`+"\n", i); err != nil {
						os.Exit(0)
					}
				}
			}()
			forever()
		}},
		"asks": onCall(func(p *peer, r rpc) {
			p.line(`{"jsonrpc":"2.0","id":"q","method":%s,"params":%s}`, jsonString(strings.SplitN(p.arg, " ", 2)[0]), strings.SplitN(p.arg, " ", 2)[1])
			a, _ := p.waitAnswer(`"q"`)
			p.text(r, a.raw)
		}),
		"listchanged": onMethod("tools/list", func(p *peer, r rpc) {
			p.calls++
			p.result(r, fmt.Sprintf(`{"tools":[{"name":"gen%d","inputSchema":{"type":"object"}}]}`, p.calls))
			if p.calls == 1 {
				p.line(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
				p.line(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"l","data":{"k":1}}}`)
			}
		}),
		// lists
		"tools":        onMethod("tools/list", func(p *peer, r rpc) { p.result(r, `{"tools":`+p.arg+`}`) }),
		"pages":        onMethod("tools/list", func(p *peer, r rpc) { p.page(r, func(n int) string { return strconv.Itoa(n + 1) }, 3) }),
		"repeatcursor": onMethod("tools/list", func(p *peer, r rpc) { p.page(r, func(int) string { return "again" }, -1) }),
		"endlesspages": onMethod("tools/list", func(p *peer, r rpc) { p.page(r, func(n int) string { return "c" + strconv.Itoa(n) }, -1) }),
		"many": onMethod("tools/list", func(p *peer, r rpc) {
			var list []string
			for i := range 20_000 {
				list = append(list, fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object"}}`, i))
			}
			p.result(r, `{"tools":[`+strings.Join(list, ",")+`]}`)
		}),
		// closing
		"marker": {end: func(p *peer) {
			time.Sleep(200 * time.Millisecond)
			_ = os.WriteFile(p.arg, []byte("tidy"), 0o600)
		}},
		"noeof":   {end: func(*peer) { forever() }},
		"sigign":  {start: func(*peer) { ignoreTerm() }, end: func(*peer) { forever() }},
		"orphan":  {start: func(*peer) { respawn("sleeper", nil, os.Environ(), true) }},
		"setsid":  {start: func(*peer) { respawn("sleeper", &syscall.SysProcAttr{Setsid: true}, os.Environ(), false) }},
		"daemon":  {start: func(*peer) { respawn("fork", &syscall.SysProcAttr{Setsid: true}, os.Environ(), false) }},
		"hidden":  {start: func(*peer) { _ = respawn("fork", &syscall.SysProcAttr{Setsid: true}, nil, false).Wait() }},
		"fork":    {start: func(*peer) { respawn("sleeper", nil, os.Environ(), false); os.Exit(0) }},
		"sleeper": {start: func(*peer) { ignoreTerm(); forever() }},
		"breed":   {start: func(*peer) { breed(5) }},
		"breeder": {start: func(p *peer) {
			ignoreTerm()
			time.Sleep(10 * time.Millisecond)
			n, _ := strconv.Atoi(os.Getenv(argVariable))
			breed(n - 1)
			forever()
		}},
		"look": onCall(func(p *peer, r rpc) { p.text(r, look()) }),
	}
}

// breed starts two processes that start two each, n generations deep.
func breed(n int) {
	for range 2 {
		if n > 0 {
			respawn("breeder", nil, append(os.Environ(), argVariable+"="+strconv.Itoa(n)), false)
		}
	}
}

// look tells what the server sees of its surroundings.
func look() string {
	fds, _ := os.ReadDir("/proc/self/fd")
	var open []string
	for _, f := range fds {
		if target, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil && !strings.HasPrefix(target, "anon_inode") && !strings.Contains(target, "/proc/") && !strings.Contains(target, "/cgroup/") {
			open = append(open, target)
		}
	}
	dir, _ := os.Getwd()
	return fmt.Sprintf("files %d\ndir %s\n%s\n%s", len(open), dir, strings.Join(os.Environ(), "\n"), open)
}

// huge answers with SENSE_TEST_ARG megabytes of text.
func (p *peer) huge(r rpc) {
	n, _ := strconv.Atoi(p.arg)
	w := bufio.NewWriterSize(os.Stdout, 1<<20)
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, r.ID)
	block := strings.Repeat("0123456789abcdef", 1<<16)
	for range n {
		_, _ = w.WriteString(block)
	}
	_, _ = w.WriteString(`"}]}}` + "\n")
	_ = w.Flush()
}

// page answers one page of one tool; last is the number of pages.
func (p *peer) page(r rpc, next func(int) string, last int) {
	p.calls++
	cursor := ""
	if p.calls != last {
		cursor = `,"nextCursor":` + jsonString(next(p.calls))
	}
	p.result(r, fmt.Sprintf(`{"tools":[{"name":"t%d","inputSchema":{"type":"object"}}]%s}`, p.calls, cursor))
}

// progress reports progress SENSE_TEST_ARG times, a quarter of a second apart,
// before it answers.
func (p *peer) progress(r rpc) {
	n, _ := strconv.Atoi(p.arg)
	token := r.call().Meta.ProgressToken
	for i := range n {
		time.Sleep(250 * time.Millisecond)
		p.line(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":%d,"message":"step"}}`, token, i+1, n)
	}
	p.text(r, "done")
}

// askAll asks the client what it must answer and gives the answers.
func (p *peer) askAll(r rpc) {
	p.line(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
	p.line(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, r.ID) // an id of ours
	p.line(`{"jsonrpc":"2.0","id":"u","method":"unknown/thing","params":{}}`)
	p.line(`{"jsonrpc":"2.0","id":"r","method":"roots/list"}`)
	var all []string
	for _, id := range []string{`"p-0"`, `7`, string(r.ID), `"u"`, `"r"`} {
		a, ok := p.waitAnswer(id)
		if !ok {
			return
		}
		all = append(all, a.raw)
	}
	p.text(r, strings.Join(all, "\n"))
}

// reverseFault answers calls in the opposite order, SENSE_TEST_ARG at a time.
func reverseFault() fault {
	var waiting []rpc
	var mu sync.Mutex
	return onCall(func(p *peer, r rpc) {
		mu.Lock()
		defer mu.Unlock()
		waiting = append(waiting, r)
		if n, _ := strconv.Atoi(p.arg); len(waiting) < n {
			return
		}
		for i := len(waiting) - 1; i >= 0; i-- {
			p.call(waiting[i])
		}
		waiting = nil
	})
}

// modernFault is a server of revision 2026-07-28 only.
func modernFault() fault {
	return fault{on: map[string]func(*peer, rpc) bool{
		"initialize": func(p *peer, r rpc) bool {
			p.line(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, r.ID)
			return true
		},
		"server/discover": func(p *peer, r rpc) bool {
			p.result(r, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"instructions":"modern"}`)
			return true
		},
	}}
}

type prefixWriter struct {
	io.Writer
	prefix string
}

func (w *prefixWriter) Write(b []byte) (int, error) {
	_, err := w.Writer.Write(append([]byte(w.prefix), b...))
	return len(b), err
}

type dripWriter struct {
	io.Writer
	size int
}

func (w dripWriter) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		n := min(w.size, len(rest))
		if _, err := w.Writer.Write(rest[:n]); err != nil {
			return 0, err
		}
		rest = rest[n:]
	}
	return len(b), nil
}

type crlfWriter struct{ io.Writer }

func (w crlfWriter) Write(b []byte) (int, error) {
	_, err := io.WriteString(w.Writer, strings.ReplaceAll(string(b), "\n", "\r\n"))
	return len(b), err
}

type prettyWriter struct{ io.Writer }

func (w prettyWriter) Write(b []byte) (int, error) {
	var v any
	_ = json.Unmarshal(b, &v)
	out, _ := json.MarshalIndent(v, "", "  ")
	_, err := w.Writer.Write(append(out, '\n'))
	return len(b), err
}

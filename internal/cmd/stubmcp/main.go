// Command stubmcp is a small MCP server over stdio with faults to order. It is
// the Go twin of testdata/conformance/stub_mcp.py and takes the same options; a
// first argument that names that file is passed over, so that it can stand in
// the place of "python3 stub_mcp.py".
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/sense-lang/sense/internal/pyjson"
)

func main() {
	args := os.Args[1:]
	if len(args) > 0 && strings.HasSuffix(args[0], "stub_mcp.py") {
		args = args[1:]
	}
	os.Exit(run(args, os.Stdin, os.Stdout, os.Stderr))
}

// options are the command line; see stub_mcp.py for what each does.
type options struct {
	only, bare, dieOn, hangOn, rpcError, protocol             string
	extra                                                     []string
	rich, pages, askClient, chatter, listEmpty, noInit, noise bool
	slow, stay                                                float64
	exitNow                                                   int
	given                                                     map[string]bool
}

func parseOptions(args []string, stderr io.Writer) (*options, error) {
	o := &options{given: map[string]bool{}}
	f := flag.NewFlagSet("stubmcp", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.only, "only", "", "offers these tools alone, comma-separated")
	f.Func("extra", "offers one more tool of that name", func(s string) error { o.extra = append(o.extra, s); return nil })
	f.StringVar(&o.bare, "bare", "", "offers a tool without description and properties")
	f.BoolVar(&o.rich, "rich", false, "offers a tool with a rich schema")
	f.BoolVar(&o.pages, "pages", false, "lists two tools a page")
	f.StringVar(&o.dieOn, "die-on", "", "ends when that tool is called")
	f.StringVar(&o.hangOn, "hang-on", "", "never answers a call of that tool")
	f.StringVar(&o.rpcError, "rpc-error", "", "answers that tool with a JSON-RPC error")
	f.BoolVar(&o.askClient, "ask-client", false, "pings the client before each answer of a tool")
	f.BoolVar(&o.chatter, "chatter", false, "writes a line that is no JSON before each answer")
	f.BoolVar(&o.listEmpty, "list-empty", false, "offers no tool of its own")
	f.BoolVar(&o.noInit, "no-init", false, "never answers initialize")
	f.StringVar(&o.protocol, "protocol", "", "answers initialize with this version")
	f.BoolVar(&o.noise, "noise", false, "writes a line to standard error at the start")
	f.Float64Var(&o.slow, "slow", 0, "seconds to wait before each answer")
	f.IntVar(&o.exitNow, "exit-now", 0, "ends at once with this status")
	f.Float64Var(&o.stay, "stay", 0, "seconds to live on after the input ended, SIGTERM ignored")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		fmt.Fprintln(stderr, "stubmcp: unexpected argument", f.Arg(0))
		return nil, errors.New("unexpected argument")
	}
	f.Visit(func(fl *flag.Flag) { o.given[fl.Name] = true })
	return o, nil
}

// run serves until the input ends and gives the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return 2
	}
	if o.given["exit-now"] {
		fmt.Fprintln(stderr, "stub: refusing to start")
		return o.exitNow
	}
	if o.given["stay"] {
		signal.Ignore(syscall.SIGTERM)
	}
	if o.noise {
		fmt.Fprintln(stderr, "stub: this line goes to standard error")
	}
	s := &server{options: o, in: bufio.NewReader(stdin), out: stdout, tools: toolsFor(o)}
	code := s.serve()
	if o.given["stay"] && code == 0 {
		time.Sleep(seconds(o.stay))
	}
	return code
}

func seconds(f float64) time.Duration { return time.Duration(f * float64(time.Second)) }

type object = map[string]any

type server struct {
	*options
	in    *bufio.Reader
	out   io.Writer
	tools []object
}

// read gives the next JSON object of the input, or false where it ends. Lines
// that are none are passed over.
func (s *server) read() (object, bool) {
	for {
		line, err := s.in.ReadString('\n')
		if line != "" {
			d := json.NewDecoder(strings.NewReader(line))
			d.UseNumber()
			var msg object
			if d.Decode(&msg) == nil && msg != nil {
				return msg, true
			}
		}
		if err != nil {
			return nil, false
		}
	}
}

func (s *server) send(msg object) {
	if s.chatter {
		fmt.Fprintln(s.out, "stub: not a JSON-RPC message")
	}
	msg["jsonrpc"] = "2.0"
	fmt.Fprintln(s.out, pyjson.Dumps(msg, pyjson.Options{}))
}

func (s *server) result(id any, result object) { s.send(object{"id": id, "result": result}) }

func (s *server) fail(id any, code int, message string) {
	s.send(object{"id": id, "error": object{"code": code, "message": message}})
}

// serve answers requests until the input ends (0) or a tool ends the server (3).
func (s *server) serve() int {
	for {
		req, ok := s.read()
		if !ok {
			return 0
		}
		id, method := req["id"], req["method"]
		if id == nil || method == nil {
			continue
		}
		time.Sleep(seconds(s.slow))
		params, _ := req["params"].(object)
		switch method {
		case "initialize":
			s.initialize(id, params)
		case "tools/list":
			s.list(id, params)
		case "tools/call":
			if !s.call(id, params) {
				return 3
			}
		case "ping":
			s.result(id, object{})
		default:
			s.fail(id, -32601, "Method not found")
		}
	}
}

func (s *server) initialize(id any, params object) {
	if s.noInit {
		return
	}
	version, ok := params["protocolVersion"].(string)
	if !ok {
		version = "2025-06-18"
	}
	if s.protocol != "" {
		version = s.protocol
	}
	s.result(id, object{"protocolVersion": version, "capabilities": object{"tools": object{}},
		"serverInfo": object{"name": "stub", "version": "1"}})
}

func (s *server) list(id any, params object) {
	if !s.pages {
		s.result(id, object{"tools": anys(s.tools)})
		return
	}
	at := 0
	if cursor, ok := params["cursor"].(string); ok {
		_, _ = fmt.Sscan(cursor, &at) // else from the start
	}
	at = min(max(at, 0), len(s.tools))
	end := min(at+2, len(s.tools))
	page := object{"tools": anys(s.tools[at:end])}
	if end < len(s.tools) {
		page["nextCursor"] = fmt.Sprint(end)
	}
	s.result(id, page)
}

func anys(tools []object) []any {
	list := make([]any, len(tools))
	for i, t := range tools {
		list[i] = t
	}
	return list
}

// call answers a call and reports whether the server lives on.
func (s *server) call(id any, params object) bool {
	name, _ := params["name"].(string)
	args, _ := params["arguments"].(object)
	switch {
	case s.given["hang-on"] && name == s.hangOn:
		return true
	case s.given["rpc-error"] && name == s.rpcError:
		s.fail(id, -32000, "the stub's backend is gone")
		return true
	}
	result, lives := s.perform(name, args)
	if !lives {
		return false
	}
	if s.askClient && !s.clientAnswers() {
		result = text(true, "the client did not answer a ping")
	}
	if result == nil {
		s.fail(id, -32602, "Unknown tool: "+name)
	} else {
		s.result(id, result)
	}
	return true
}

// clientAnswers logs to the client, pings it and reads on until the answer.
func (s *server) clientAnswers() bool {
	s.send(object{"method": "notifications/message", "params": object{"level": "info", "data": "about to answer"}})
	s.send(object{"id": "ping-1", "method": "ping"})
	for {
		msg, ok := s.read()
		if !ok {
			return false
		}
		if msg["id"] == "ping-1" {
			_, answered := msg["result"]
			return answered
		}
	}
}

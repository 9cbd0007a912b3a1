package builtins_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sense-lang/sense/model/modeltest"
)

// A44: a request to the model that is sent again does not have the tools run
// again that ran before it.
func TestModelRetryRunsNoToolAgain(t *testing.T) {
	var p program
	busy := modeltest.Turn{
		Status: http.StatusTooManyRequests, Header: map[string]string{"Retry-After": "0"},
		Body: []byte(`{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`),
	}
	asked := asks(t, &p, askTest+`print(ask_with_tools("go", s.tools).value)`,
		modeltest.Calls(modeltest.CallOf("srv.args", `{"n":9007199254740993}`)), busy, modeltest.Text("done"))
	if n := strings.Count(p.audit, "tool 'srv.args' -> called"); n != 1 || len(asked) != 3 {
		t.Errorf("%d calls, %d requests\n%s", n, len(asked), p.audit)
	}
	if got := results(t, asked[2]); len(got) != 1 || got[0] != `{"n":9007199254740993}` {
		t.Errorf("results %q", got)
	}
}

// A55: positional commands and arguments are taken as they stand.
func TestPositionalArgumentsAreLiteral(t *testing.T) {
	p := program{env: map[string]string{"HOME": "/elsewhere"}}
	p.prints(t, `s = connect_mcp("srv", "sh", ["-c", "test \"$1\" = '${HOME}' && test \"$2\" = '~/$X' && exec EXE serve-mcp", "sh", "${HOME}", "~/$X"], "mcp.srv")
print(s.call("echo", text: "${HOME}"))`, "${HOME}")
}

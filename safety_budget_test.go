package sense_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// modelServer answers the requests of openai-compatible models; answer is given
// the number of each, from 1.
func modelServer(t *testing.T, answer func(w http.ResponseWriter, n int)) (script string, asked func() int) {
	t.Helper()
	var mu sync.Mutex
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		n++
		this := n
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		answer(w, this)
	}))
	t.Cleanup(s.Close)
	asked = func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
	return "model m = inference(\"openai-compatible\", \"x\", base_url: \"" + s.URL + "\", retries: 0)\nset delegation = m\n", asked
}

func answerOf(tokens int) string {
	return fmt.Sprintf(`{"choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": %d, "completion_tokens": 0}}`, tokens)
}

// TestBreakBudgets asks beyond a budget: side by side, where every request fails,
// and of a server that counts backwards.
func TestBreakBudgets(t *testing.T) {
	const loop = "said = []\nfor i in range(6):\n    try:\n        ask(\"q\")\n        said.push(\"ok\")\n    catch e: said.push(\"no\")\nprint(said)\n"
	both := make(chan struct{})
	tests := []struct {
		name, program, want string
		asked               int
		answer              func(w http.ResponseWriter, n int)
	}{
		{"side by side", "set budget = {\"calls\": 2}\nsaid = []\ndef make(i):\n    async agent a:\n        try:\n            ask(\"q\")\n            said.push(\"ok\")\n" +
			"        catch e: said.push(\"no\")\n    start(a)\n    return a\nfor a in range(6).map(make): await(a)\nprint(sorted(said))\n",
			"[no, no, no, no, ok, ok]\n", 2, func(w http.ResponseWriter, n int) {
				if n == 2 {
					close(both)
				}
				<-both
				fmt.Fprint(w, answerOf(1))
			}},
		{"that fail", "set budget = {\"calls\": 2}\n" + loop + "ask(\"q\")\n", "[no, no, no, no, no, no]\n", 2,
			func(w http.ResponseWriter, _ int) { http.Error(w, "{}", http.StatusInternalServerError) }},
		{"backwards", "set budget = {\"tokens\": 100}\n" + loop, "[ok, ok, ok, no, no, no]\n", 3,
			func(w http.ResponseWriter, n int) { fmt.Fprint(w, answerOf([]int{60, -1000, 60, 60, 60, 60}[n-1])) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			script, asked := modelServer(t, tt.answer)
			r := runIn(t, t.TempDir(), map[string]string{"main.sns": script + tt.program}, "run", "main.sns")
			if r.out != tt.want || asked() != tt.asked || strings.HasSuffix(tt.program, "ask(\"q\")\n") != strings.Contains(r.err, "the budget is used up") {
				t.Errorf("%d requests, %+v", asked(), r)
			}
		})
	}
}

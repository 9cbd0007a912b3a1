package main

import (
	"strings"
	"testing"
	"time"
)

func TestMarks(t *testing.T) {
	us := func(n float64) time.Duration { return time.Duration(n * float64(time.Microsecond)) }
	best := table{}
	for client, c := range map[string]cost{"hand-written": {us(10), us(5)}, "mcp-go": {us(15), us(8)}, "sense": {us(20), us(9)}, "Python SDK": {us(300), us(200)}} {
		best.note("tiny", client, cost{c.alone * 2, c.together * 2})
		best.note("tiny", client, c)
	}
	text, missed := best.marks()
	if missed || strings.Count(text, "holds") != 3 {
		t.Errorf("missed %v:\n%s", missed, text)
	}
	best.note("everything", "hand-written", cost{us(100), us(50)})
	best.note("everything", "mcp-go", cost{us(110), us(50)})
	best.note("everything", "sense", cost{us(131), us(63)})
	text, missed = best.marks()
	if !missed || strings.Count(text, "MISSED") != 2 || !strings.Contains(text, "1.31  mark  1.3  MISSED") {
		t.Errorf("missed %v:\n%s", missed, text)
	}
}

func TestBetween(t *testing.T) {
	line := []byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hello"}}}`)
	if id, text := between(line, `"id":`, ",}"), between(line, `"message":"`, `"`); id != "7" || text != "hello" || between(line, "no", "x") != "" {
		t.Errorf("id %q, text %q", id, text)
	}
}

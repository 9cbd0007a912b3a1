package model

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// L1: a name that only resembles an offered one stands for nothing.
func TestNearMissNames(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	n := NewNames([]ToolName{{"fs", "read_file"}, {"fs", "read.file"}, {"", "delete_all"}, {"a-server-with-quite-a-long-name-of-its-own", "and-a-tool-with-quite-a-long-name-as-well"}})
	var real []string
	for w := range n.tool {
		real = append(real, w)
	}
	for range 1000 {
		name := []rune(real[r.IntN(len(real))])
		i := r.IntN(len(name))
		switch r.IntN(5) {
		case 0:
			name = append(name[:i:i], name[i+1:]...)
		case 1:
			name[i] = []rune("аоxX_-. ")[r.IntN(8)]
		case 2:
			name = append(name, []rune{' ', '_', 0x200b, '.'}[r.IntN(4)])
		case 3:
			name = []rune(strings.ToUpper(string(name)))
		case 4:
			name = name[:i]
		}
		if _, offered := n.tool[string(name)]; offered {
			continue
		}
		if tool, ok := n.Tool(string(name)); ok {
			t.Fatalf("%q stands for %v", string(name), tool)
		}
	}
}

// L2: over random values and schemas of types, CheckArgs says what a checker of
// a few lines says, and never breaks.
func TestCheckArgsAgainstReference(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range times(t, "SENSE_ARGS", 20_000) {
		schema, value := randomSchema(r, 3), randomValue(r, 3)
		whole := map[string]any{"type": "object", "properties": map[string]any{"x": schema}, "required": []any{"x"}}
		args := map[string]any{"x": value}
		if r.IntN(10) == 0 {
			args = map[string]any{"y": value}
		}
		s, _ := json.Marshal(whole)
		a, _ := json.Marshal(args)
		err := CheckArgs(s, a)
		v, given := args["x"]
		if want := given && fits(schema, v); want != (err == nil) {
			t.Fatalf("schema %s, arguments %s: got %v, want accepted: %v", s, a, err, want)
		}
		broken := mutate(r, a)
		if err := CheckArgs(s, broken); err == nil && !json.Valid(broken) {
			t.Fatalf("schema %s: accepted %q, which is no JSON", s, broken)
		}
	}
}

// times gives how often a test repeats: as a variable says, else n.
func times(t *testing.T, variable string, n int) int {
	t.Helper()
	if more, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		n = more
	}
	t.Logf("%d times", n)
	return n
}

// mutate breaks a text in one place.
func mutate(r *rand.Rand, text []byte) []byte {
	b := append([]byte(nil), text...)
	i := r.IntN(len(b))
	switch r.IntN(4) {
	case 0:
		return append(b[:i], b[i+1:]...)
	case 1:
		b[i] = "{}[]\",:0e-\x00\xff"[r.IntN(12)]
	case 2:
		return b[:i]
	case 3:
		return append(b, b[i:]...)
	}
	return b
}

func randomSchema(r *rand.Rand, depth int) map[string]any {
	types := []string{"string", "integer", "number", "boolean", "null", "array", "object"}
	name := types[r.IntN(len(types))]
	s := map[string]any{"type": name}
	switch {
	case name == "array" && depth > 0:
		s["items"] = randomSchema(r, depth-1)
	case name == "object" && depth > 0:
		s["properties"] = map[string]any{"a": randomSchema(r, depth-1), "b": randomSchema(r, depth-1)}
		if r.IntN(2) == 0 {
			s["required"] = []any{"a"}
		}
		if r.IntN(2) == 0 {
			s["additionalProperties"] = false
		}
	}
	return s
}

func randomValue(r *rand.Rand, depth int) any {
	switch n := r.IntN(8); {
	case n == 0:
		return "s"
	case n == 1:
		return json.Number(fmt.Sprint(r.IntN(100)))
	case n == 2:
		return json.Number("2.50")
	case n == 3:
		return r.IntN(2) == 0
	case n == 4:
		return nil
	case n == 5 && depth > 0:
		list := make([]any, r.IntN(3))
		for i := range list {
			list[i] = randomValue(r, depth-1)
		}
		return list
	case depth > 0:
		o := map[string]any{}
		for _, k := range []string{"a", "b", "c"} {
			if r.IntN(2) == 0 {
				o[k] = randomValue(r, depth-1)
			}
		}
		return o
	}
	return "leaf"
}

// fits is the reference.
func fits(s map[string]any, v any) bool {
	switch v := v.(type) {
	case string:
		return s["type"] == "string"
	case json.Number:
		return s["type"] == "number" || s["type"] == "integer" && !strings.Contains(string(v), ".")
	case bool:
		return s["type"] == "boolean"
	case nil:
		return s["type"] == "null"
	case []any:
		items, ok := s["items"].(map[string]any)
		for _, e := range v {
			if ok && !fits(items, e) {
				return false
			}
		}
		return s["type"] == "array"
	}
	o := v.(map[string]any)
	properties, _ := s["properties"].(map[string]any)
	for k, e := range o {
		sub, known := properties[k].(map[string]any)
		if known && !fits(sub, e) || !known && s["additionalProperties"] == false {
			return false
		}
	}
	if _, there := o["a"]; s["required"] != nil && !there {
		return false
	}
	return s["type"] == "object"
}

package pyjson_test

import (
	"math"
	"testing"

	"github.com/sense-lang/sense/internal/pyjson"
)

func TestParseAndDumpsAsPython(t *testing.T) {
	tests := []struct{ in, want, sorted string }{
		{`null`, `null`, `null`},
		{` [ 1,2 , [] ] `, `[1, 2, []]`, `[1, 2, []]`},
		{`{"b":1,"a":{"d":true,"c":false}}`, `{"b": 1, "a": {"d": true, "c": false}}`, `{"a": {"c": false, "d": true}, "b": 1}`},
		{`{"a":1,"b":2,"a":3}`, `{"a": 3, "b": 2}`, `{"a": 3, "b": 2}`},
		{`{}`, `{}`, `{}`},
		{`"é😀\u007f\u0001\"\\\/\n\r\t\f\b"`, `"\u00e9\ud83d\ude00\u007f\u0001\"\\/\n\r\t\f\b"`, `"\u00e9\ud83d\ude00\u007f\u0001\"\\/\n\r\t\f\b"`},
		{`-0`, `0`, `0`},
		{`123456789012345678901234567890`, `123456789012345678901234567890`, `123456789012345678901234567890`},
		{`[1.0,1e3,1E16,1e15,1.5e-7,0.0001,-0.0,1e999,-1e999]`,
			`[1.0, 1000.0, 1e+16, 1000000000000000.0, 1.5e-07, 0.0001, -0.0, Infinity, -Infinity]`,
			`[1.0, 1000.0, 1e+16, 1000000000000000.0, 1.5e-07, 0.0001, -0.0, Infinity, -Infinity]`},
	}
	for _, tt := range tests {
		v, err := pyjson.Parse([]byte(tt.in))
		if err != nil {
			t.Errorf("Parse(%s): %v", tt.in, err)
			continue
		}
		if got := pyjson.Dumps(v, pyjson.Options{}); got != tt.want {
			t.Errorf("Dumps(%s) = %s, want %s", tt.in, got, tt.want)
		}
		if got := pyjson.Dumps(v, pyjson.Options{SortKeys: true}); got != tt.sorted {
			t.Errorf("Dumps(%s) sorted = %s, want %s", tt.in, got, tt.sorted)
		}
	}
}

func TestDumpsUnicode(t *testing.T) {
	got := pyjson.Dumps(map[string]any{"b": "é😀\n\x7f", "a": []any{1, 2.5, nil}}, pyjson.Options{Unicode: true})
	if want := "{\"a\": [1, 2.5, null], \"b\": \"é😀\\n\x7f\"}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, in := range []string{``, `{`, `[1`, `[1 2]`, `{"a"}`, `{"a":}`, `{1:2}`, `1 2`, `tru`, `{"a":1,`, `[1,]x`} {
		if v, err := pyjson.Parse([]byte(in)); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", in, v)
		}
	}
}

func TestFloatSpecials(t *testing.T) {
	for f, want := range map[float64]string{0.1: "0.1", 1e22: "1e+22", 5e-324: "5e-324", 100: "100.0", 0: "0.0"} {
		if got := pyjson.Float(f); got != want {
			t.Errorf("Float(%v) = %s, want %s", f, got, want)
		}
	}
	if got := pyjson.Float(math.NaN()); got != "NaN" {
		t.Errorf("Float(NaN) = %s", got)
	}
}

func TestDumpsPanicsOnForeignTypes(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Dumps(struct{}{}) did not panic")
		}
	}()
	pyjson.Dumps(struct{}{}, pyjson.Options{})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.5,"x",null,true]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := pyjson.Parse(data)
		if err != nil {
			return
		}
		once := pyjson.Dumps(v, pyjson.Options{})
		w, err := pyjson.Parse([]byte(once))
		if err != nil {
			return // Infinity and NaN are Python's alone
		}
		if again := pyjson.Dumps(w, pyjson.Options{}); again != once {
			t.Errorf("%s then %s", once, again)
		}
	})
}

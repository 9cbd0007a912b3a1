package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"testing"
)

// plain turns what decodeJSON gives into what encoding/json gives.
func plain(v any) any {
	switch v := v.(type) {
	case []any:
		out := []any{}
		for _, x := range v {
			out = append(out, plain(x))
		}
		return out
	case *object:
		out := map[string]any{}
		for _, k := range v.keys {
			out[k] = plain(v.values[k])
		}
		return out
	}
	return v
}

func FuzzDecodeJSON(f *testing.F) {
	for _, s := range []string{
		`{}`, ` [ ] `, `"a\"b\\"`, `"\u00e4\ud83d\ude00\ud800"`, "\"\xff\x80\"", "\"caf\u00e9\"", `[1, -0, 1.50, 1e+9, 12345678901234567890]`,
		"{\r\n\t\"a\" : { \"b\" : [ true , false , null , \"\" ] } , \"\\u0061b\" : 2 }", `{"a":1,"a":2}`, `[[[[]]]]`, `{"":{"":{}}}`, `01`, `"a`, `[1,]`, `{"a"}`, ` `, `nul`, `1 2`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := decodeJSON(raw)
		if err != nil {
			return // twice the same key, too deep, or not valid
		}
		var want any
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if err := dec.Decode(&want); err != nil {
			t.Fatalf("%q is read, encoding/json says %v", raw, err)
		}
		if !reflect.DeepEqual(plain(got), want) {
			t.Errorf("%q gives %#v, want %#v", raw, plain(got), want)
		}
	})
}

// One check may be used by many at once, and what one found is not another's.
func TestArgsCheckIsShared(t *testing.T) {
	check := NewArgsCheck(json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"#/$defs/word"}},"$defs":{"word":{"type":"string","pattern":"^[a-z]+$"}}}`))
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for range 50 {
				args := json.RawMessage(fmt.Sprintf(`{"a":%q}`, []string{"good", "BAD"}[i%2]))
				if err := check.Check(args); (err != nil) != (i%2 == 1) {
					t.Errorf("%s: %v", args, err)
				}
			}
		})
	}
	all.Wait()
}

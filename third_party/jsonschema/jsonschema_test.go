package jsonschema

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestUnmarshalJSON(t *testing.T) {
	v, err := UnmarshalJSON(strings.NewReader(` {"n": 12345678901234567890} `))
	if err != nil {
		t.Fatal(err)
	}
	if n := v.(map[string]any)["n"]; n != json.Number("12345678901234567890") {
		t.Errorf("a number lost digits: %v", n)
	}
	for text, want := range map[string]string{"": "EOF", "{} {}": "text after the JSON value", "{": "unexpected EOF"} {
		if _, err := UnmarshalJSON(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestNothingIsEverValid(t *testing.T) {
	c := NewCompiler()
	if err := c.AddResource("mem:///a", map[string]any{}); err != nil {
		t.Error(err)
	}
	if s, err := c.Compile("mem:///a"); s != nil || !errors.Is(err, ErrNotSupported) || !strings.HasPrefix(err.Error(), "mem:///a: ") {
		t.Errorf("%v %v", s, err)
	}
	if err := (&Schema{}).Validate(1); !errors.Is(err, ErrNotSupported) {
		t.Error(err)
	}
	if got := (&ValidationError{InstanceLocation: []string{"a", "0"}}).Error(); got != "value at '/a/0' does not match its schema" {
		t.Error(got)
	}
}

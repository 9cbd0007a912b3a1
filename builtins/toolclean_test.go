package builtins

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sense-lang/sense/mcp"
)

func TestCleanJSON(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{"a": 1.0, "b":"x"}`, `{"a": 1.0, "b":"x"}`},
		{`{"a": "\u00e9 \n"}`, `{"a": "\u00e9 \n"}`},
		{`{"a":"x\u202ey"}`, `{"a":"xy"}`},
		{`{"a\u200b":["x\u001b",{"b":"\u2066"}],"n":9007199254740993}`, `{"a":["x",{"b":""}],"n":9007199254740993}`},
		{"{\"a\":\"x\u202ey\"}", `{"a":"xy"}`},
		{`{"a":"x\u202ey"`, `{"a":"x\u202ey"`},
	} {
		if got := string(cleanJSON(json.RawMessage(tt.in))); got != tt.want {
			t.Errorf("%s: %s", tt.in, got)
		}
	}
}

func TestCleanSpec(t *testing.T) {
	big := json.RawMessage(`{"type":"object","description":"` + strings.Repeat("x", maxSchema) + `"}`)
	spec, warning := cleanSpec("s.t", strings.Repeat("ü", 4000), big)
	if len(spec.Schema) > 100 || !strings.Contains(warning, "the schema of mcp tool 's.t' is too large for a model (65") {
		t.Errorf("%s %q", spec.Schema, warning)
	}
	if len(spec.Description) > maxDescription || !utf8.ValidString(spec.Description) || !strings.HasSuffix(spec.Description, "too large to be shown.)") {
		t.Errorf("%d %q", len(spec.Description), spec.Description)
	}
	if spec, warning = cleanSpec("s.t", "plain", json.RawMessage(`{}`)); spec.Description != "plain" || string(spec.Schema) != "{}" || warning != "" {
		t.Errorf("%+v %q", spec, warning)
	}
}

func TestFolded(t *testing.T) {
	long := strings.Repeat("é", foldBytes)
	got := folded("a\n" + long + "\nb")
	if len(got) != 4 || got[0] != "a" || got[3] != "b" || got[1]+got[2] != long {
		t.Errorf("%d lines", len(got))
	}
	if n := len(folded(strings.Repeat("\xff", 3*foldBytes))); n < 3 {
		t.Errorf("%d lines of what is no text", n)
	}
}

func TestLimitOf(t *testing.T) {
	d := &Deps{}
	for _, tt := range []struct {
		meta string
		want int
	}{
		{"", 100_000},
		{`{}`, 100_000},
		{`{"anthropic/maxResultSizeChars": 5}`, 100_000},
		{`{"anthropic/maxResultSizeChars": 200000}`, 200_000},
		{`{"anthropic/maxResultSizeChars": 9000000}`, 500_000},
		{`{"anthropic/maxResultSizeChars": "x"}`, 100_000},
	} {
		if got := d.limitOf(&mcp.Tool{Meta: json.RawMessage(tt.meta)}); got != tt.want {
			t.Errorf("%s: %d", tt.meta, got)
		}
	}
	d.Getenv = func(string) string { return "7" }
	if got := d.outputLimit(); got != 28 {
		t.Errorf("%d", got)
	}
}

func TestDidYouMean(t *testing.T) {
	many := strings.Split("aaaa bbbb cccc dddd eeee ffff gggg hhhh iiii jjjj kkkk", " ")
	for _, tt := range []struct {
		name  string
		known []string
		want  string
	}{
		{"read_fil", []string{"read_file", "write"}, " -- did you mean 'read_file'?"},
		{"list_dir", []string{"list_directory", "write"}, " -- did you mean 'list_directory'?"},
		{"zzzz", []string{"a", "b"}, " -- there are: a, b"},
		{"zzzz", nil, " -- there is none"},
		{"zzzz", many, ""},
		{strings.Repeat("z", 200), []string{"a"}, " -- there are: a"},
	} {
		if got := didYouMean(tt.name, tt.known); got != tt.want {
			t.Errorf("%.20s: %q", tt.name, got)
		}
	}
}

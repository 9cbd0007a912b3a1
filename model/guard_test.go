package model

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestGuardsEdges reaches what ordinary schemas and arguments do not: numbers
// whose exponents no machine holds, anchors inside of lists, long numbers in
// messages, lists that nest too deeply, and many patterns for many names.
func TestGuardsEdges(t *testing.T) {
	var patterns, names []string
	for i := range 400 {
		patterns = append(patterns, `"^p`+itoa(i)+`":{}`)
		names = append(names, `"n`+itoa(i)+`":1`)
	}
	tests := []struct{ schema, args, want string }{
		{`{"properties":{"x":{"const":0}}}`, `{"x":1e-99999999999999999999}`, "x"},
		{`{"properties":{"x":{"const":1e99999999999999999999}}}`, `{"x":1e-99999999999999999999}`, "x"},
		{`{"allOf":[{"$anchor":"a","properties":{"y":{"type":"string"}}}],"properties":{"x":{"$ref":"#a"}}}`, `{"x":{"y":1}}`, "y"},
		{`{"properties":{"x":{"const":"s"}}}`, `{"x":` + strings.Repeat("7", 50) + `}`, "x"},
		{`{"properties":{"x":{"const":` + strings.Repeat("7", 50) + `}}}`, `{"x":1}`, strings.Repeat("7", 40) + "…"},
		{`{}`, `{"x":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, "deep"},
		{`{"properties":{"x":{"properties":{"y":{"$ref":"#/nowhere"}}}}}`, `{}`, "#/nowhere"},
		{`{"patternProperties":{` + strings.Join(patterns, ",") + `}}`, `{` + strings.Join(names, ",") + `}`, "too long to check"},
	}
	for _, tt := range tests {
		err := CheckArgs(json.RawMessage(tt.schema), json.RawMessage(tt.args))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.60s with %.60s: %v", tt.schema, tt.args, err)
		}
	}
}

package model

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestCheckArgs(t *testing.T) {
	const add = `{"type":"object","properties":{"a":{"type":"integer"},"s":{"type":"string"}},"required":["a"]}`
	const tree = `{"type":"object","properties":{"t":{"$ref":"#/$defs/node"}},"$defs":{"node":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/node"}}},"required":["kids"]}}}`
	of := func(s string) string { return `{"properties":{"x":` + s + `}}` }
	tests := []struct {
		name, schema, args, want string // want "" is no error
	}{
		// B01, B03, B23 and L2: what models write.
		{"fits", add, `{"a":1}`, ""},
		{"cut JSON", add, `{"a": `, "the arguments are not usable: not valid JSON: unexpected end of JSON input"},
		{"no JSON", add, `a=1`, "not valid JSON: invalid character 'a'"},
		{"NaN", add, `{"a":NaN}`, "not valid JSON"},
		{"two values", add, `{"a":1}{"a":2}`, "not valid JSON"},
		{"nothing", add, ``, "there is nothing, not even {}"},
		{"array", add, `[1]`, "the arguments must be a JSON object, not an array"},
		{"null", add, `null`, "the arguments must be a JSON object, not null"},
		{"text", add, `"a"`, "the arguments must be a JSON object, not a string"},
		{"true", add, `true`, "the arguments must be a JSON object, not true or false"},
		{"missing", add, `{}`, "argument 'a' is missing"},
		{"null for a type", add, `{"a":null}`, "argument 'a' must be an integer, not null"},
		{"text for a number", add, `{"a":"5"}`, `argument 'a' must be an integer, not the string "5"`},
		{"whole float", add, `{"a":5.0}`, ""},
		{"whole by exponent", add, `{"a":5e2}`, ""},
		{"fraction", add, `{"a":5.5}`, "argument 'a' must be an integer, not the number 5.5"},
		{"object for a text", add, `{"a":1,"s":{"deep":1}}`, "argument 's' must be a string, not an object"},
		{"bool for a text", add, `{"a":1,"s":true}`, "argument 's' must be a string, not true"},
		{"extra", add, `{"a":1,"zz":2}`, ""},
		{"twice", add, `{"a":1,"a":2}`, `the key "a" stands there twice`},
		{"key of two lines", `{"additionalProperties":{"type":"string"}}`, `{"a\nb\u001b[0m":1}`, `argument 'a\nb\x1b[0m' must be a string`},
		{"twice, deeper", "", `{"o":{"a":1,"a":2}}`, `the key "a" stands there twice`},
		{"too deep", "", strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), "nested over 64 deep"},
		{"deep enough", "", strings.Repeat(`{"a":`, 63) + "1" + strings.Repeat("}", 63), ""},
		{"no schema", "", `{"any":[1,null]}`, ""},
		{"several faults", `{"required":["a","b"]}`, `{}`, "argument 'a' is missing; argument 'b' is missing"},
		{"many faults", `{"required":["a","b","c","d","e","f","g"]}`, `{}`, "argument 'e' is missing; and more"},

		// Types.
		{"list of types", of(`{"type":["string","null"]}`), `{"x":1}`, "argument 'x' must be a string or null, not the number 1"},
		{"list of types fits", of(`{"type":["string","null"]}`), `{"x":null}`, ""},
		{"nullable", of(`{"type":"string","nullable":true}`), `{"x":null}`, ""},
		{"integer is a number", of(`{"type":"number"}`), `{"x":3}`, ""},
		{"list is no object", of(`{"type":"object"}`), `{"x":[]}`, "argument 'x' must be an object, not an array"},
		{"false", of(`false`), `{"x":1}`, "argument 'x' may not be given"},
		{"true accepts", of(`true`), `{"x":1}`, ""},
		{"long string is cut", of(`{"type":"null"}`), `{"x":"` + strings.Repeat("é", 80) + `"}`, strings.Repeat("é", 60) + "…"},

		// Choice.
		{"enum", of(`{"enum":["C","F",1.0]}`), `{"x":"K"}`, `argument 'x' must be one of "C", "F", 1`},
		{"enum fits, number written otherwise", of(`{"enum":[1.0]}`), `{"x":1}`, ""},
		{"long enum", of(`{"enum":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21]}`), `{"x":0}`, "19, 20, …"},
		{"const", of(`{"const":{"a":[1,true]}}`), `{"x":{"a":[1,false]}}`, "argument 'x' must be "},
		{"const fits in any order", of(`{"const":{"a":1,"b":2}}`), `{"x":{"b":2,"a":1}}`, ""},

		// Text.
		{"minLength", of(`{"minLength":2}`), `{"x":"é"}`, "argument 'x' must have at least 2 characters, not 1"},
		{"maxLength counts characters", of(`{"maxLength":2}`), `{"x":"éé"}`, ""},
		{"maxLength", of(`{"maxLength":2}`), `{"x":"abc"}`, "argument 'x' must have at most 2 characters, not 3"},
		{"pattern", of(`{"pattern":"^a+$"}`), `{"x":"b"}`, `argument 'x' must match the pattern "^a+$"`},
		{"pattern of another dialect", of(`{"pattern":"(?<=a)b"}`), `{"x":"c"}`, ""},

		// Numbers, exactly.
		{"minimum", of(`{"minimum":-1.5}`), `{"x":-1.6}`, "argument 'x' must be at least -1.5"},
		{"minimum fits", of(`{"minimum":-1.5}`), `{"x":-1.50}`, ""},
		{"maximum beyond a float", of(`{"maximum":9007199254740992}`), `{"x":9007199254740993}`, "argument 'x' must be at most 9007199254740992"},
		{"exclusiveMinimum", of(`{"exclusiveMinimum":0}`), `{"x":0}`, "argument 'x' must be more than 0"},
		{"exclusiveMaximum", of(`{"exclusiveMaximum":10}`), `{"x":1e1}`, "argument 'x' must be less than 10"},
		{"multipleOf", of(`{"multipleOf":0.01}`), `{"x":0.015}`, "argument 'x' must be a multiple of 0.01"},
		{"multipleOf fits", of(`{"multipleOf":0.01}`), `{"x":19.99}`, ""},
		{"huge exponent", of(`{"maximum":5}`), `{"x":1e999999999999999999999}`, "argument 'x' must be at most 5"},
		{"tiny exponent", of(`{"minimum":0,"multipleOf":3}`), `{"x":1e-999999999999}`, ""},

		// Arrays.
		{"items", of(`{"items":{"type":"integer"}}`), `{"x":[1,"2"]}`, `argument 'x[1]' must be an integer, not the string "2"`},
		{"nested place", of(`{"items":{"properties":{"y":{"type":"null"}}}}`), `{"x":[{"y":1}]}`, "argument 'x[0].y' must be null"},
		{"minItems", of(`{"minItems":1}`), `{"x":[]}`, "argument 'x' must have at least 1 items, not 0"},
		{"maxItems", of(`{"maxItems":1}`), `{"x":[1,2]}`, "argument 'x' must have at most 1 items, not 2"},
		{"uniqueItems", of(`{"uniqueItems":true}`), `{"x":[1,1.0]}`, "argument 'x[1]' is there already"},
		{"prefixItems", of(`{"prefixItems":[{"type":"string"}],"items":false}`), `{"x":["a",1]}`, "argument 'x[1]' may not be given"},
		{"items as a list", of(`{"items":[{"type":"string"}]}`), `{"x":[1]}`, "argument 'x[0]' must be a string"},
		{"contains", of(`{"contains":{"const":1}}`), `{"x":[2]}`, "argument 'x' lacks an item of the form it must contain"},
		{"contains fits", of(`{"contains":{"const":1}}`), `{"x":[2,1]}`, ""},
		{"minContains 0", of(`{"contains":{"const":1},"minContains":0}`), `{"x":[2]}`, ""},

		// Objects.
		{"additionalProperties", of(`{"properties":{"a":{}},"additionalProperties":false}`), `{"x":{"a":1,"b":2}}`, "argument 'x.b' is unknown"},
		{"additionalProperties of the arguments themselves", `{"properties":{"a":{}},"additionalProperties":false}`, `{"a":1,"b":2}`, ""},
		{"additionalProperties as a schema", `{"additionalProperties":{"type":"string"}}`, `{"b":2}`, "argument 'b' must be a string"},
		{"patternProperties", `{"patternProperties":{"^n_":{"type":"integer"}},"additionalProperties":false}`, `{"n_a":"x"}`, "argument 'n_a' must be an integer"},
		{"patternProperties of another dialect", `{"patternProperties":{"(?<=a)":{}},"additionalProperties":false}`, `{"b":1}`, ""},
		{"propertyNames", `{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, `the arguments may not have an entry "ab"`},
		{"minProperties", `{"minProperties":1}`, `{}`, "the arguments must have at least 1 entries, not 0"},
		{"maxProperties", `{"maxProperties":0}`, `{"a":1}`, "the arguments must have at most 0 entries, not 1"},
		{"dependentRequired", `{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, "argument 'b' is missing, which 'a' needs"},
		{"dependentRequired fits", `{"dependentRequired":{"a":["b"]}}`, `{"c":1}`, ""},

		// Unions.
		{"anyOf", of(`{"anyOf":[{"type":"string","minLength":3},{"type":"null"}]}`), `{"x":"ab"}`, "argument 'x' must have one of the allowed forms (argument 'x' must have at least 3 characters"},
		{"anyOf of other types", of(`{"anyOf":[{"type":"string"},{"type":"null"}]}`), `{"x":1}`, "argument 'x' must have one of the allowed forms"},
		{"anyOf fits", of(`{"anyOf":[{"type":"string"},{"type":"null"}]}`), `{"x":null}`, ""},
		{"anyOf at the root", `{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, "the arguments must have one of the allowed forms (argument 'a' is missing)"},
		{"oneOf none", of(`{"oneOf":[{"const":1},{"const":2}]}`), `{"x":3}`, "must have one of the allowed forms"},
		{"oneOf two", of(`{"oneOf":[{"minimum":1},{"minimum":2}]}`), `{"x":3}`, "must have exactly one of the allowed forms, not 2"},
		{"oneOf fits", of(`{"oneOf":[{"minimum":1},{"minimum":5}]}`), `{"x":3}`, ""},
		{"allOf", of(`{"allOf":[{"minimum":1},{"maximum":2}]}`), `{"x":3}`, "argument 'x' must be at most 2"},
		{"not", of(`{"not":{"type":"string"}}`), `{"x":"a"}`, "argument 'x' may not have this form"},
		{"if then", `{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{"a":1}`, "argument 'b' is missing"},
		{"if else", `{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{}`, "argument 'c' is missing"},

		// References.
		{"A29 recursive", tree, `{"t":{"kids":[{"kids":[]},{}]}}`, "argument 't.kids[1].kids' is missing"},
		{"A29 fits", tree, `{"t":{"kids":[{"kids":[]}]}}`, ""},
		{"anchor", `{"properties":{"x":{"$ref":"#a"}},"$defs":{"q":{"$anchor":"a","type":"null"}}}`, `{"x":1}`, "must be null"},
		{"escaped pointer", `{"properties":{"x":{"$ref":"#/$defs/a~1b%20c"}},"$defs":{"a/b c":{"type":"null"}}}`, `{"x":1}`, "must be null"},
		{"reference into a list", `{"properties":{"x":{"$ref":"#/anyOf/0"}},"anyOf":[{"type":"object"}]}`, `{"x":1}`, "must be an object"},
		{"format and unknown words are ignored", of(`{"format":"date","x-foo":{"$ref":"#"}}`), `{"x":"no date"}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := CheckArgs(json.RawMessage(tt.schema), json.RawMessage(tt.args))
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want != "" && err == nil:
				t.Errorf("accepted, want %q", tt.want)
			case tt.want != "" && !strings.Contains(err.Error(), tt.want):
				t.Errorf("got %q, want %q in it", err, tt.want)
			}
		})
	}
}

func TestCheckSchemaRefuses(t *testing.T) {
	deep := strings.Repeat(`{"not":`, 70) + `{}` + strings.Repeat("}", 70)
	tests := []struct{ name, schema, want string }{
		{"itself", `{"$ref":"#"}`, "refers to itself without end"},
		{"each other", `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"properties":{"x":{"$ref":"#/$defs/a"}}}`, "refers to itself without end"},
		{"unused circle", `{"$defs":{"a":{"$ref":"#/$defs/a"}}}`, "refers to itself without end"},
		{"through allOf", `{"allOf":[{"$ref":"#"}]}`, "refers to itself without end"},
		{"through if", `{"if":{"not":{"$ref":"#"}}}`, "refers to itself without end"},
		{"file", `{"$ref":"file:///etc/passwd"}`, `refers to another document, "file:///etc/passwd"`},
		{"net", `{"properties":{"x":{"items":{"$ref":"http://h/x"}}}}`, `refers to another document`},
		{"nothing", `{"$ref":"#/$defs/none"}`, `refers to "#/$defs/none", which it does not have`},
		{"no anchor", `{"$ref":"#none"}`, "which it does not have"},
		{"no such element", `{"$ref":"#/anyOf/7","anyOf":[{}]}`, "which it does not have"},
		{"into a text", `{"$ref":"#/title/x","title":"t"}`, "which it does not have"},
		{"bad escape", `{"$ref":"#/%zz"}`, "which it does not have"},
		{"deep", deep, "nested over 64 deep"},
		{"no object", `[1]`, "it must be a JSON object, not an array"},
		{"true", `true`, "it must be a JSON object, not true or false"},
		{"no JSON", `{"type":`, "not valid JSON"},
		{"twice", `{"type":"object","type":"string"}`, `the key "type" stands there twice`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := CheckSchema(json.RawMessage(tt.schema))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("CheckSchema: %v, want %q in it", err, tt.want)
			}
			err = CheckArgs(json.RawMessage(tt.schema), json.RawMessage(`{"x":1}`))
			if err == nil || !strings.Contains(err.Error(), "the tool's schema is not usable: ") {
				t.Errorf("CheckArgs: %v", err)
			}
		})
	}
	if err := CheckSchema(nil); err != nil {
		t.Errorf("no schema: %v", err)
	}
}

// A schema that doubles the work at each level ends by the bound on steps.
func TestCheckArgsBoundsWork(t *testing.T) {
	defs := []string{`"d0":{"minimum":0}`}
	for i := 1; i < 30; i++ {
		prev := `{"$ref":"#/$defs/d` + itoa(i-1) + `"}`
		defs = append(defs, `"d`+itoa(i)+`":{"allOf":[`+prev+`,`+prev+`]}`)
	}
	schema := `{"properties":{"x":{"$ref":"#/$defs/d29"}},"$defs":{` + strings.Join(defs, ",") + `}}`
	start := time.Now()
	err := CheckArgs(json.RawMessage(schema), json.RawMessage(`{"x":1}`))
	if err == nil || err.Error() != "the arguments take too long to check against the tool's schema" {
		t.Errorf("got %v", err)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("took %v", d)
	}
}

func itoa(i int) string { b, _ := json.Marshal(i); return string(b) }

func FuzzCheckArgs(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`, `{"a":1}`)
	f.Add(`{"$ref":"#"}`, `{}`)
	f.Add(`{"anyOf":[{"required":["a"]}],"patternProperties":{"^a":{"multipleOf":0.1}}}`, `{"a":1e400}`)
	f.Add(`{"items":[{}],"prefixItems":[false],"uniqueItems":true}`, `{"a":[1,1]}`)
	f.Add(`{"enum":[null,-0.0,"é"]}`, `[[[`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		err := CheckArgs(json.RawMessage(schema), json.RawMessage(args))
		if err == nil && !json.Valid([]byte(args)) {
			t.Errorf("accepted what is no JSON: %q", args)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("more than one line: %q", err)
		}
	})
}

func TestDecimal(t *testing.T) {
	order := []string{"-1e30", "-10", "-9.99", "-0.5", "-1e-9", "0", "1e-9", "0.1", "0.10000000000000000001", "1", "9.99", "10", "9007199254740992", "9007199254740993", "1e30"}
	for i, a := range order {
		for j, b := range order {
			got := parseDecimal(a).compare(parseDecimal(b))
			if (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("compare(%s, %s) = %d", a, b, got)
			}
		}
	}
	for _, same := range [][2]string{{"1", "1.0"}, {"100", "1e2"}, {"0", "-0.0"}, {"0.5", "5e-1"}, {"-120", "-1.2E+2"}, {"0e99999999999999999999", "0"}} {
		a, b := parseDecimal(same[0]), parseDecimal(same[1])
		if a.compare(b) != 0 || a.String() != b.String() {
			t.Errorf("%s and %s differ: %v %v", same[0], same[1], a, b)
		}
	}
	for in, want := range map[string]string{"1e3": "1000", "0.05": "0.05", "-12.5": "-12.5", "1e25": "1e25", "-0": "0", "1e-9": "1e-9"} {
		if got := parseDecimal(in).plain(); got != want {
			t.Errorf("plain(%s) = %s, want %s", in, got, want)
		}
	}
}

package std_test

import (
	"strings"
	"testing"
)

func TestJSONParse(t *testing.T) {
	new(program).check(t, []row{
		{code: `json.parse('{"a": 1, "b": [1, 2.5, null, true, false]}')`, want: "{a: 1, b: [1, 2.5, nil, true, false]}"},
		{code: `json.parse(" [ ] ")`, want: "[]"},
		{code: `json.parse("{ }")`, want: "{}"},
		{code: `json.parse("12345678901234567890123") + 1`, want: "12345678901234567890124"},
		{code: `json.parse("-0")`, want: "0"},
		{code: `json.parse("1.0")`, want: "1.0"},
		{code: `json.parse("1e2")`, want: "100.0"},
		{code: `json.parse("1E-2")`, want: "0.01"},
		{code: `json.parse("1e-999")`, want: "0.0"},
		{code: `json.parse('{"a": 1, "b": 2, "a": 3}')`, want: "{a: 3, b: 2}"},
		{code: `json.parse('"\\u00e9\\ud83d\\ude00\\n\\/\\"\\\\"')`, want: "é😀\n/\"\\"},
		{code: `json.parse('"\\ud83dx"')`, want: "\uFFFDx"},
		{code: `json.parse('"\\ud83d\\u0041"')`, want: "\uFFFDA"},
		{code: `len(json.parse("[" * 0 + "1"))`, fails: "'*' requires numeric operands, got String and Int"},
		{code: `json.parse("")`, fails: "std.json.parse: line 1, column 1: expected a value, got the end of the text"},
		{code: `json.parse("[1,")`, fails: "std.json.parse: line 1, column 4: expected a value, got the end of the text"},
		{code: `json.parse("[1, ]")`, fails: "std.json.parse: line 1, column 5: expected a value, got ']'"},
		{code: `json.parse("[1 2]")`, fails: "std.json.parse: line 1, column 4: expected ',' or ']', got '2'"},
		{code: `json.parse('{"a": 1,}')`, fails: "std.json.parse: line 1, column 9: expected a key in double quotes, got '}'"},
		{code: `json.parse('{a: 1}')`, fails: "std.json.parse: line 1, column 2: expected a key in double quotes, got 'a'"},
		{code: `json.parse('{"a" 1}')`, fails: "std.json.parse: line 1, column 6: expected ':' after the key, got '1'"},
		{code: `json.parse('{"a": 1 "b"}')`, fails: `std.json.parse: line 1, column 9: expected ',' or '}', got '"'`},
		{code: `json.parse("{\n  \"é\": tru\n}")`, fails: "std.json.parse: line 2, column 8: expected a value, got 't'"},
		{code: `json.parse("1 2")`, fails: "std.json.parse: line 1, column 3: more text after the value: '2'"},
		{code: `json.parse("01")`, fails: "std.json.parse: line 1, column 1: a number must not begin with 0"},
		{code: `json.parse("-")`, fails: "std.json.parse: line 1, column 2: expected a digit, got the end of the text"},
		{code: `json.parse("1.")`, fails: "std.json.parse: line 1, column 3: expected a digit, got the end of the text"},
		{code: `json.parse("1ex")`, fails: "std.json.parse: line 1, column 3: expected a digit, got 'x'"},
		{code: `json.parse("1e999")`, fails: "std.json.parse: line 1, column 1: the number is too large for a Float"},
		{code: `json.parse("1".repeat(100001))`, fails: "std.json.parse: line 1, column 1: the number has over 100000 digits"},
		{code: `json.parse('"abc')`, fails: "std.json.parse: line 1, column 1: the string is not closed"},
		{code: `json.parse("\"a\nb\"")`, fails: `std.json.parse: line 1, column 3: a control character in a string must be written as an escape, got '\n'`},
		{code: `json.parse('"\\x"')`, fails: `std.json.parse: line 1, column 3: unknown escape after '\': 'x'`},
		{code: `json.parse('"\\u12"')`, fails: `std.json.parse: line 1, column 3: '\u' needs four hexadecimal digits`},
		{code: `json.parse('"\\ud83d\\u"')`, fails: `std.json.parse: line 1, column 9: '\u' needs four hexadecimal digits`},
		{code: `json.parse("NaN")`, fails: "std.json.parse: line 1, column 1: expected a value, got 'N'"},
		{code: `json.parse("[".repeat(501))`, fails: "std.json.parse: line 1, column 501: nested over 500 deep"},
		{code: `len(json.parse("[".repeat(500) + "]".repeat(500)))`, want: "1"},
	})
}

func TestJSONDump(t *testing.T) {
	new(program).check(t, []row{
		{code: `json.dump({"a": 1, "b": [1, 2]})`, want: `{"a": 1, "b": [1, 2]}`},
		{code: `json.dump([])`, want: "[]"},
		{code: `json.dump({}, 2)`, want: "{}"},
		{code: `json.dump([nil, true, false, 1.5, 2 ** 80])`, want: "[null, true, false, 1.5, 1208925819614629174706176]"},
		{code: `json.dump(1e300)`, want: "1e+300"},
		{code: `json.dump("é\"\\\n\t\r<&>")`, want: `"é\"\\\n\t\r<&>"`},
		{code: `json.dump(json.parse('"\\u0001\\u007f\\b\\f"'))`, want: `"\u0001\u007f\b\f"`},
		{code: `json.dump({"a": [1, {"b": 2}]}, indent: 1)`, want: "{\n \"a\": [\n  1,\n  {\n   \"b\": 2\n  }\n ]\n}"},
		{code: `json.dump([1, 2], 0)`, want: "[\n1,\n2\n]"},
		{code: `json.dump(math.inf)`, fails: "std.json.dump: JSON has no number inf"},
		{code: `json.dump([math.nan])`, fails: "std.json.dump: JSON has no number nan"},
		{code: `json.dump({"f": print})`, fails: "std.json.dump: JSON has nothing for a Function"},
	})
}

func TestJSONDumpOfEndlessValues(t *testing.T) {
	for name, src := range map[string]string{
		"holds itself": "a = []\na.push(a)\nprint(json.dump(a))",
		"map in map":   "a = {}\na[\"a\"] = a\nprint(json.dump(a, 2))",
	} {
		_, err := new(program).run("import std.json\n" + src)
		if m := message(err); m != "std.json.dump: the value nests over 500 deep, or holds itself" {
			t.Errorf("%s: %s", name, m)
		}
	}
	shared := "import std.json\na = [\"" + strings.Repeat("x", 1000) + "\"]\nfor i in range(60):\n    a = [a, a]\njson.dump(a)"
	_, err := new(program).run(shared)
	if m := message(err); m != "std.json.dump: the text would be over 256 MiB" {
		t.Errorf("shared parts: %s", m)
	}
}

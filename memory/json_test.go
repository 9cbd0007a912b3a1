package memory

import (
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"
)

func bigInt(text string) *big.Int {
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		panic(text)
	}
	return n
}

// pairs are values and the text that Python's json.dumps writes for them.
var pairs = []struct {
	value any
	text  string
}{
	{nil, `null`}, {true, `true`}, {false, `false`},
	{int64(0), `0`}, {int64(-7), `-7`}, {int64(math.MaxInt64), `9223372036854775807`}, {int64(math.MinInt64), `-9223372036854775808`},
	{bigInt("9223372036854775808"), `9223372036854775808`}, {bigInt("-123456789012345678901234567890"), `-123456789012345678901234567890`},
	{0.0, `0.0`}, {math.Copysign(0, -1), `-0.0`}, {1.0, `1.0`}, {-2.5, `-2.5`}, {0.1, `0.1`}, {1e15, `1000000000000000.0`}, {1e16, `1e+16`}, {1.5e-7, `1.5e-07`},
	{0.0001, `0.0001`}, {0.00001, `1e-05`}, {123456789012345680.0, `1.2345678901234568e+17`}, {9007199254740993.0, `9007199254740992.0`}, {math.MaxFloat64, `1.7976931348623157e+308`},
	{math.SmallestNonzeroFloat64, `5e-324`}, {1e22, `1e+22`}, {1e100, `1e+100`}, {math.Inf(1), `Infinity`}, {math.Inf(-1), `-Infinity`}, {math.NaN(), `NaN`},
	{"", `""`}, {"plain", `"plain"`}, {"\"\\/", `"\"\\/"`}, {"\n\r\t\b\f", `"\n\r\t\b\f"`}, {"\x00\x07\x1f\x7f", `"\u0000\u0007\u001f\u007f"`},
	{"ü日本😀", `"\u00fc\u65e5\u672c\ud83d\ude00"`}, {"\u2028\uffff\U0010ffff", `"\u2028\uffff\udbff\udfff"`}, {"<&>'", `"<&>'"`}, {"null", `"null"`},
	{[]any{}, `[]`}, {[]any{int64(1), 2.5, "x", nil, false, []any{[]any{}}}, `[1, 2.5, "x", null, false, [[]]]`},
	{Map{}, `{}`}, {Map{{"b", int64(1)}, {"a", []any{Map{{"ü", nil}}}}, {"", "x"}}, `{"b": 1, "a": [{"\u00fc": null}], "": "x"}`},
}

// same is reflect.DeepEqual where not-a-number equals itself and zeros keep their sign.
func same(a, b any) bool {
	x, ok := a.(float64)
	if !ok {
		return reflect.DeepEqual(a, b)
	}
	y, ok := b.(float64)
	return ok && (math.Float64bits(x) == math.Float64bits(y) || math.IsNaN(x) && math.IsNaN(y))
}

func TestEncodeAndDecode(t *testing.T) {
	for _, pair := range pairs {
		text, err := EncodeJSON(pair.value)
		if err != nil || text != pair.text {
			t.Errorf("%#v is written %s, %v; want %s", pair.value, text, err, pair.text)
		}
		value, err := DecodeJSON(pair.text)
		if err != nil || !same(value, pair.value) {
			t.Errorf("%s is read %#v, %v; want %#v", pair.text, value, err, pair.value)
		}
	}
	if text, err := EncodeJSON(42); err != nil || text != "42" {
		t.Errorf("an int is written %s, %v", text, err)
	}
	if text, err := EncodeJSON("a\xffb"); err != nil || text != `"a\ufffdb"` {
		t.Errorf("bad UTF-8 is written %s, %v", text, err)
	}
}

func TestDecodeTakesWhatPythonTakes(t *testing.T) {
	for text, want := range map[string]any{
		" [ 1 ,\t2\r\n] ": []any{int64(1), int64(2)}, "-0": int64(0), "1E5": 1e5, "1e-400": 0.0, "1e999": math.Inf(1), "-1e999": math.Inf(-1), "0e0": 0.0,
		`"\/\u00e9\uD83D\uDE00"`: "/é😀", `"\ud83d"`: "\ufffd", `"\ud83dx"`: "\ufffdx", `"\ud83d\u0041"`: "\ufffdA", `"\ude00\ud83d"`: "\ufffd\ufffd", `"ü"`: "ü", "\"\xff\"": "\ufffd",
		`{"a":1,"b":2,"a":3}`: Map{{"a", int64(3)}, {"b", int64(2)}},
	} {
		if got, err := DecodeJSON(text); err != nil || !same(got, want) {
			t.Errorf("%s is read %#v, %v; want %#v", text, got, err, want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"": "no value at byte 0", "  ": "no value at byte 2", "nul": "no value at byte 0", "nulls": "there is more behind the value at byte 4", "01": "no value at byte 0", "-": "no value at byte 0", "+1": "no value at byte 0",
		"1.": "no digit behind the point at byte 2", ".5": "no value at byte 0", "1e": "no digit in the exponent at byte 2", "1e+": "no digit in the exponent at byte 3", "1 2": "there is more behind the value at byte 2",
		"[": "no value at byte 1", "[1": "',' or ']' is missing at byte 2", "[1,]": "no value at byte 3", "[1 2]": "',' or ']' is missing at byte 3", "]": "no value at byte 0",
		"{": "a key is missing at byte 1", "{1:2}": "a key is missing at byte 1", `{"a"}`: "':' is missing at byte 4", `{"a":}`: "no value at byte 5", `{"a":1`: "',' or '}' is missing at byte 6", `{"a":1,}`: "a key is missing at byte 7",
		`"`: "the string has no end at byte 1", `"\`: "the string has no end at byte 1", `"\x"`: "an unknown escape at byte 1", `"\u12"`: "an incomplete escape at byte 1", `"\u+123"`: "an incomplete escape at byte 1",
		"\"\n\"": "a control character in a string at byte 1", `{"a`: "the string has no end at byte 3", "'a'": "no value at byte 0", strings.Repeat("[", 2000): "it is nested too deep at byte 1001", "-Inf": "no value at byte 0",
	} {
		value, err := DecodeJSON(text)
		if err == nil || err.Error() != "the stored value is damaged: "+want {
			t.Errorf("%.20q is read %v, %v; want %s", text, value, err, want)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	cycle := []any{nil}
	cycle[0] = cycle
	deep := any(nil)
	for range maxNesting + 1 {
		deep = []any{deep}
	}
	for _, test := range []struct {
		value any
		want  string
	}{
		{struct{}{}, "a struct {} can not be stored"}, {[]any{[]any{uint8(1)}}, "a uint8 can not be stored"}, {Map{{"k", func() {}}}, "a func() can not be stored"},
		{cycle, "the value is nested more than 1000 deep or contains itself"}, {deep, "the value is nested more than 1000 deep or contains itself"},
	} {
		if text, err := EncodeJSON(test.value); err == nil || err.Error() != test.want {
			t.Errorf("%T is written %.20s, %v; want %s", test.value, text, err, test.want)
		}
	}
	if text, err := EncodeJSON(deep.([]any)[0]); err != nil {
		t.Error(err)
	} else if _, err := DecodeJSON(text); err != nil {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, pair := range pairs {
		f.Add(pair.text)
	}
	for _, text := range []string{`{"a":1,"b":[2,{"c":"\ud83d\ude00"}]}`, "[[[]]]", "1e5", "-0.0", "{}x", `"\u0000`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, err := DecodeJSON(text)
		if err != nil {
			return
		}
		again, err := EncodeJSON(value)
		if err != nil {
			t.Fatalf("%q is read but not written: %v", text, err)
		}
		back, err := DecodeJSON(again)
		if err != nil {
			t.Fatalf("%q becomes %q: %v", text, again, err)
		}
		if third, err := EncodeJSON(back); err != nil || third != again {
			t.Fatalf("%q becomes %q, then %q, %v", text, again, third, err)
		}
		if !strings.Contains(again, "NaN") && !strings.Contains(again, "Infinity") && !json.Valid([]byte(again)) {
			t.Fatalf("%q becomes %q, which is no JSON", text, again)
		}
	})
}

func FuzzStrings(f *testing.F) {
	for _, s := range []string{"", "a\"\\\n", "ü😀\x00", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, err := EncodeJSON([]any{s})
		if err != nil {
			t.Fatal(err)
		}
		var standard []string
		if err := json.Unmarshal([]byte(text), &standard); err != nil || standard[0] != strings.ToValidUTF8(s, "\ufffd") && len(s) == len(strings.ToValidUTF8(s, "")) {
			t.Fatalf("%q is written %s, which means %q, %v", s, text, standard, err)
		}
		back, err := DecodeJSON(text)
		if err != nil || back.([]any)[0] != standard[0] {
			t.Fatalf("%s is read %q, %v", text, back, err)
		}
	})
}

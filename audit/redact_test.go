package audit

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

var markRE = regexp.MustCompile(`‹redacted:[0-9a-f]{8}›`)

func TestRedactRegistered(t *testing.T) {
	const secret = "pa ss/wö?rd+1"
	var r Redactor
	r.Add(secret, "short", secret)
	mark := Mark(secret)
	if !markRE.MatchString(mark) {
		t.Fatalf("mark %s", mark)
	}
	quoted, _ := json.Marshal(secret)
	cases := map[string]string{
		"x " + secret + " y":          "x " + mark + " y",
		secret:                        mark,
		secret + secret:               mark + mark,
		"short":                       "short",
		"pa ss/wö":                    "pa ss/wö",
		"":                            "",
		url.QueryEscape(secret) + "&": mark + "&",
		"/" + url.PathEscape(secret):  "/" + mark,
		"%70%61%20%73%73%2F%77%C3%B6%3F%72%64%2B%31": mark,
		"%70%61%20%73%73%2f%77%c3%b6%3f%72%64%2b%31": mark,
		hex.EncodeToString([]byte(secret)):           mark,
		`{"k":` + string(quoted) + `}`:               `{"k":"` + mark + `"}`,
	}
	for in, want := range cases {
		if got := r.Redact(in); got != want {
			t.Errorf("Redact(%q) = %q, want %q", in, got, want)
		}
	}
	if lower := strings.ToLower(url.QueryEscape(secret)); strings.Contains(r.Redact(lower), "%2f") {
		t.Errorf("escapes in small letters: %s", r.Redact(lower))
	}
}

// A tape gives marks in the place of secrets: they stay as they are when the
// program registers them again.
func TestRedactLeavesMarks(t *testing.T) {
	var r Redactor
	mark := Mark("the secret value")
	r.Add(mark, "Bearer "+mark, "the secret value")
	if got := r.Redact("Bearer " + mark + " the secret value"); got != "Bearer "+mark+" "+mark {
		t.Errorf("got %s", got)
	}
}

func TestRedactQuotesInSecrets(t *testing.T) {
	var r Redactor
	r.Add(`a"b\c"d\e`)
	quoted, _ := json.Marshal(`a"b\c"d\e`)
	if got := r.Redact(string(quoted)); got != `"`+Mark(`a"b\c"d\e`)+`"` {
		t.Error(got)
	}
}

// Wherever in a longer text a secret stands, and whatever stands around it,
// the base64 of the whole does not give it away.
func TestRedactBase64(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 3000 {
		secret := randomText(rnd, MinSecret+rnd.IntN(30))
		var r Redactor
		r.Add(secret)
		before, after := randomText(rnd, rnd.IntN(12)), randomText(rnd, rnd.IntN(12))
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
			got := r.Redact(enc.EncodeToString([]byte(before + secret + after)))
			if !strings.Contains(got, Mark(secret)) {
				t.Fatalf("%q between %q and %q: %s", secret, before, after, got)
			}
			// What is left tells no more than two bits of a byte at each end.
			if left := markRE.ReplaceAllString(got, ""); len(left) > len(enc.EncodeToString([]byte(before+after)))+4 {
				t.Fatalf("%q: too much is left: %s", secret, got)
			}
		}
	}
}

func randomText(rnd *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(' ' + rnd.IntN(95))
	}
	return string(b)
}

func TestRedactLongestFirst(t *testing.T) {
	var r Redactor
	r.Add("12345678", "1234567890", "123456789")
	if got := r.Redact("1234567890 123456789 12345678"); got != Mark("1234567890")+" "+Mark("123456789")+" "+Mark("12345678") {
		t.Error(got)
	}
}

const pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----"

var keys = []string{
	"sk-abcdefghij1234567890", "sk-ant-api03-AbC_dEf-0123456789abcdefgh", "sk-proj-ABCDEFGH12345678x",
	"sk_live_abcdefghijklmnop", "rk_live_abcdefghijklmnop", "sk_test_abcdefghijklmnop", "sk_live_51abcdefghijklmnopqr_s", "Bearer 1.20345x.abcdefghijklmno1", "Bearer v1.abcdefghijklmno1",
	"ghp_abcdefghijklmnopqrstuvwxyz0123456789", "github_pat_11ABCDEFG0abcdefghijkl_x", "glpat-abcdefgh12345678",
	"xoxb-123456789012-abcdef", "AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE", "AIzaSyA-1234567890abcdefghijklmnopqrstu",
	"hf_abcdefghijklmnopqrstuvwxyzABCD12", "npm_abcdefghijklmnopqrstuvwxyzABCDEF12",
	"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
	"Bearer abcdefghijklmnop1234", "bearer abc.defghijklmno01+x/y~z=", "Basic dXNlcjpwYXNzd29yZA==",
	"pypi-AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDAtMDAwMC0wMDAw", pem,
}

func TestRedactShapes(t *testing.T) {
	var r Redactor
	for _, key := range keys {
		for _, around := range [][2]string{{"", ""}, {"key=", " end"}, {"(", ")"}, {"\n", "\n"}, {`"`, `"`}} {
			got := r.Redact(around[0] + key + around[1])
			if want := around[0] + Mark(key) + around[1]; got != want {
				t.Errorf("%q: got %q, want %q", around[0]+key+around[1], got, want)
			}
		}
	}
}

func TestRedactSparesOrdinaryText(t *testing.T) {
	var r Redactor
	for _, s := range []string{
		"", "a", "sk-", "sk-learn-is-a-nice-library", "risk-abcdefghij1234567890", "task-abcdefghij1234567890",
		"ghp_short", "AKIA", "AKIAlowercaseletters", "AKIAIOSFODNN7EXAMPLEX", "eyJ", "eyJabc.def", "eyJhbGciOiJIUzI1NiJ9 and so on",
		"eyJhbGciOiJIUzI1NiJ9.short.x", "keyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3",
		"bearer of extraordinarily-good-news", "basic", "basic introduction-to-programming", "abearer abcdefghijklmnop1234",
		"-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----", "----- a line", "github_pat_", "the tokens are 1234567890",
		"AIzaTooShort", "AIzaSyA-1234567890abcdefghijklmnopqrstuvw", "error: no such file or directory", "sk_test_the_whole_pipeline", "rk_live_migration_of_volumes", "example.org/bearer v0.0.0-20260490341596-a7b96eb8f182",
		"basic react-abcdefghijklmno12", "‹redacted:12345678›",
	} {
		if got := r.Redact(s); got != s {
			t.Errorf("Redact(%q) = %q", s, got)
		}
	}
}

func TestRedactPEMWithoutEnd(t *testing.T) {
	var r Redactor
	for _, s := range []string{
		"-----BEGIN PRIVATE KEY-----\nMII", "-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIV",
	} {
		if got := r.Redact("x " + s); got != "x "+Mark(s) {
			t.Error(got)
		}
	}
}

// 10,000 ordinary strings: at most one in a thousand may be taken for a secret.
func TestFalsePositives(t *testing.T) {
	var r Redactor
	rnd := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		r.Add(randomText(rnd, 8+rnd.IntN(40)))
	}
	words := strings.Fields("the bearer of basic sk-learn task risk token key secret action denied by policy mcp.github create_issue " +
		"https://example.org/a?b=c 2026-01-02T03:04:05Z eyeJ 0xdeadbeef 123e4567-e89b-12d3-a456-426614174000 AKITA ghost_town " +
		"9f86d081884c npm_modules hf_transfer x-request-id ---- — /usr/lib/python3.12/site-packages/x.py é 日本")
	wrong := 0
	for range 10_000 {
		var parts []string
		for range 1 + rnd.IntN(12) {
			parts = append(parts, words[rnd.IntN(len(words))])
		}
		s := strings.Join(parts, []string{" ", "-", "_", ", "}[rnd.IntN(4)])
		if r.Redact(s) != s {
			wrong++
			t.Logf("taken for a secret: %s -> %s", s, r.Redact(s))
		}
	}
	if wrong > 10 {
		t.Errorf("%d of 10,000", wrong)
	}
}

func TestNilRedactor(t *testing.T) {
	var r *Redactor
	if got := r.Redact(keys[0]); got != keys[0] {
		t.Error(got)
	}
	if got := r.Value("password", "x"); got != "x" {
		t.Error(got)
	}
	var b bytes.Buffer
	w := r.Writer(&b)
	fmt.Fprint(w, keys[0])
	if b.String() != keys[0] {
		t.Error(b.String())
	}
}

func TestRedactValue(t *testing.T) { // D13
	var r Redactor
	r.Add("hunter2hunter2")
	in := map[string]any{
		"headers": map[string]any{"Authorization": "x", "Accept": "text/plain", "X-Api-Key": "abc"},
		"list":    []any{"a hunter2hunter2 b", 5, nil, []any{map[string]any{"password": "p", "max_tokens": 10, "empty_token": ""}}},
		"tokens":  []any{"one"}, "cookies": "c", "hunter2hunter2": true,
	}
	want := map[string]any{
		"headers": map[string]any{"Authorization": Mark("x"), "Accept": "text/plain", "X-Api-Key": Mark("abc")},
		"list": []any{"a " + Mark("hunter2hunter2") + " b", 5, nil, []any{
			map[string]any{"password": Mark("p"), "max_tokens": 10, "empty_token": ""}}},
		"tokens": []any{"one"}, "cookies": "c", Mark("hunter2hunter2"): true,
	}
	if got := r.Value("", in); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if got := r.Value("api_token", []any{"x"}); !reflect.DeepEqual(got, []any{Mark("x")}) {
		t.Errorf("a list under a secret name: %v", got)
	}
	deep := any("hunter2hunter2")
	for range 300 {
		deep = []any{deep}
	}
	if got := fmt.Sprint(r.Value("", deep)); strings.Contains(got, "hunter2") || !strings.Contains(got, "…") {
		t.Errorf("a deep value: %s", got)
	}
}

// A stream gives the same text as the whole, however it is cut.
func TestWriterChunks(t *testing.T) {
	const secret = "correct horse battery"
	var r Redactor
	r.Add(secret, "abcabcabd1")
	rnd := rand.New(rand.NewPCG(5, 5))
	pieces := append([]string{secret, "abcabcabd1", "abcabcabcabd1", "correct horse", " ", "\n", "sk-", "--", "eyJ", "Bearer ", "é", "x",
		base64.StdEncoding.EncodeToString([]byte(secret)), url.QueryEscape(secret)}, keys...)
	for range 4000 {
		var whole strings.Builder
		for range 1 + rnd.IntN(5) {
			whole.WriteString(pieces[rnd.IntN(len(pieces))])
			whole.WriteString([]string{"", " ", "\n"}[rnd.IntN(3)])
		}
		text := whole.String()
		var out bytes.Buffer
		w := r.Writer(&out)
		for rest := text; rest != ""; {
			n := 1 + rnd.IntN(min(len(rest), 9))
			if m, err := w.Write([]byte(rest[:n])); m != n || err != nil {
				t.Fatal(m, err)
			}
			rest = rest[n:]
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if want := r.Redact(text); out.String() != want {
			t.Fatalf("text %q\n got %q\nwant %q", text, out.String(), want)
		}
	}
}

// What cannot be part of a secret is not held back.
func TestWriterHoldsLittle(t *testing.T) {
	var r Redactor
	r.Add("correct horse battery")
	cases := []struct{ in, out string }{
		{"hello world", "hello world"},
		{"hello co", "hello "},
		{".sk-a.", ".sk-a."},
		{"x sk-abc", "x "},
		{"x sk-abc .", "x sk-abc ."},
		{"-", ""},
		{"-----BEGIN C", ""},
		{"-----BEGIN CERTIFICATE-----" + strings.Repeat("\n.", 40), "-----BEGIN CERTIFICATE-----" + strings.Repeat("\n.", 40)},
		{"so be", "so "},
		{"so bet", "so bet"},
		{"so bearer abc", "so "},
		{"ey", ""},
		{"eyJ.a", ""},
		{"eyes", "eyes"},
		{"gh", ""},
		{"ghost", "ghost"},
	}
	for _, c := range cases {
		var out bytes.Buffer
		w := r.Writer(&out)
		fmt.Fprint(w, c.in)
		if out.String() != c.out {
			t.Errorf("%q: passed on %q, want %q", c.in, out.String(), c.out)
		}
	}
}

func TestWriterIsBounded(t *testing.T) {
	var r Redactor
	var out bytes.Buffer
	w := r.Writer(&out)
	for range 100 {
		fmt.Fprint(w, "sk-"+strings.Repeat("a", 2000))
		if len(w.held) > maxHeld+2003 {
			t.Fatalf("%d bytes held", len(w.held))
		}
	}
	if out.Len() == 0 {
		t.Error("nothing passed on")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestWriterError(t *testing.T) {
	var r Redactor
	w := r.Writer(broken{})
	if _, err := w.Write([]byte("hello")); err == nil || err.Error() != "no room" {
		t.Error(err)
	}
}

func FuzzRedact(f *testing.F) {
	for _, k := range keys {
		f.Add(k, "secret-value", 3)
	}
	f.Fuzz(func(t *testing.T, text, secret string, cut int) {
		var r Redactor
		r.Add(secret)
		got := r.Redact(text)
		if len(secret) >= MinSecret && strings.Contains(got, secret) && !strings.Contains(Mark(secret), secret) {
			if !strings.Contains(markRE.ReplaceAllString(got, "\x00"), secret) {
				return // made up of a mark and what stands around it
			}
			t.Fatalf("%q still holds %q", got, secret)
		}
		var out bytes.Buffer
		w := r.Writer(&out)
		cut = min(max(cut, 0), len(text))
		fmt.Fprint(w, text[:cut])
		fmt.Fprint(w, text[cut:])
		if _ = w.Flush(); out.String() != got {
			t.Fatalf("in two pieces %q, whole %q", out.String(), got)
		}
	})
}

func BenchmarkRedactPlain(b *testing.B) {
	var r Redactor
	rnd := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		r.Add(randomText(rnd, 20))
	}
	text := strings.Repeat("the tool said that nothing was found in the folder\n", 2000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Redact(text)
	}
}

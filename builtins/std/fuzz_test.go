package std

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sense-lang/sense/eval"
)

// FuzzJSON holds the reader against the one of the Go library, and what is
// written against what was read.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"a": [1, 2.5e3, -0, null, true, "\u00e9\ud83d\ude00\n"]}`, `[1,]`, `"\ud800"`, `01`, `1e999`, `{"a":1,"a":2}`, ` [ ] `, "\"\x01\"", `[[[[`, `"\u12`, `-`, `1.e1`, ``,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return // a String never is
		}
		v, err := parseJSON(s)
		valid := json.Valid([]byte(s))
		if err != nil {
			if valid && !strings.Contains(err.Error(), "too large") && !strings.Contains(err.Error(), "nested over") && !strings.Contains(err.Error(), "digits") {
				t.Fatalf("%q is refused: %v", s, err)
			}
			return
		}
		if !valid {
			t.Fatalf("%q is accepted", s)
		}
		w := jsonWriter{stopped: func() error { return nil }}
		if err := w.value(v, 0); err != nil {
			t.Fatalf("%q cannot be written: %v", s, err)
		}
		again, err := parseJSON(w.b.String())
		if err != nil {
			t.Fatalf("%q was written as %q: %v", s, w.b.String(), err)
		}
		if same, err := eval.Equal(v, again); !same || err != nil {
			t.Fatalf("%q was written as %q (%v)", s, w.b.String(), err)
		}
	})
}

// FuzzURL looks for a host that is taken for a name and yet is an address.
func FuzzURL(f *testing.F) {
	for _, s := range []string{"http://127.0.0.1/", "http://2130706433", "https://u:p@[::ffff:7f00:1]:80/?q", "http://１２７.１", "http://a.example.", "http://0x7f.1", "http:///x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, host, err := parseURL(s)
		if err != nil {
			return
		}
		if again, err := canonicalHost(host); err != nil || again != host {
			t.Fatalf("%q: the host %q is not canonical: %q, %v", s, host, again, err)
		}
		if u.Hostname() != host || u.Scheme != "http" && u.Scheme != "https" {
			t.Fatalf("%q goes to %q, not to %q", s, u, host)
		}
		if ip, err := netip.ParseAddr(host); err == nil && ip.Is4In6() {
			t.Fatalf("%q keeps an address within an address: %q", s, host)
		}
		_ = shownURL(u)
		_ = shortened(s)
	})
}

func FuzzGlobPattern(f *testing.F) {
	for _, s := range []string{"*.txt", "**/x", "[a-", "../*", "/", "a//b", "\\", "**/**/**"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		base, segs, err := splitPattern(s)
		if err != nil {
			return
		}
		if strings.ContainsAny(base, "*?[\\") {
			t.Fatalf("%q begins with %q", s, base)
		}
		for i, seg := range segs {
			if seg == "" || len(segs) > 1 && seg == ".." || i > 0 && seg == "**" && segs[i-1] == "**" {
				t.Fatalf("%q has the segments %q", s, segs)
			}
		}
	})
}

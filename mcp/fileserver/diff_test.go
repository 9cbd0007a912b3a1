package fileserver

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

func TestUnifiedDiff(t *testing.T) {
	var long []string
	for i := range 40 {
		long = append(long, fmt.Sprintf("%d\n", i))
	}
	at := func(places ...int) string {
		lines := append([]string{}, long...)
		for _, p := range places {
			lines[p] = "x\n"
		}
		return strings.Join(lines, "")
	}
	whole := strings.Join(long, "")
	for _, test := range []struct{ name, before, after, want string }{
		{"same", "a\n", "a\n", ""},
		{"empty to text", "", "a\nb", "@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"},
		{"text to empty", "a\n", "", "@@ -1,1 +0,0 @@\n-a\n"},
		{"newline added", "a", "a\n", "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{"one line", whole, at(20), "@@ -17,9 +17,9 @@\n 16\n 17\n 18\n 19\n-20\n+x\n 21\n 22\n 23\n 24\n"},
		{"contexts touch", whole, at(10, 19), "@@ -7,18 +7,18 @@\n 6\n 7\n 8\n 9\n-10\n+x\n 11\n 12\n 13\n 14\n 15\n 16\n 17\n 18\n-19\n+x\n 20\n 21\n 22\n 23\n"},
		{"contexts apart", whole, at(10, 20), "@@ -7,9 +7,9 @@\n 6\n 7\n 8\n 9\n-10\n+x\n 11\n 12\n 13\n 14\n@@ -17,9 +17,9 @@\n 16\n 17\n 18\n 19\n-20\n+x\n 21\n 22\n 23\n 24\n"},
		{"ends", whole, at(0, 39), "@@ -1,5 +1,5 @@\n-0\n+x\n 1\n 2\n 3\n 4\n@@ -36,5 +36,5 @@\n 35\n 36\n 37\n 38\n-39\n+x\n"},
	} {
		head := "Index: p\n" + strings.Repeat("=", 67) + "\n--- p\toriginal\n+++ p\tmodified\n"
		if got := unifiedDiff("p", test.before, test.after); got != head+test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, head+test.want)
		}
	}
}

// replay gives the two texts that a difference was made from.
func replay(changes []change) (before, after string) {
	var a, b strings.Builder
	for _, c := range changes {
		if c.op != '+' {
			a.WriteString(c.text)
		}
		if c.op != '-' {
			b.WriteString(c.text)
		}
	}
	return a.String(), b.String()
}

func randomLines(r *rand.Rand, n, words int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("%d\n", r.IntN(words))
	}
	return lines
}

func TestDiffLeadsFromOneTextToTheOther(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		a, b := randomLines(r, r.IntN(30), 5), randomLines(r, r.IntN(30), 5)
		changes := diffLines(a, b)
		if before, after := replay(changes); before != strings.Join(a, "") || after != strings.Join(b, "") {
			t.Fatalf("%q to %q: %v", a, b, changes)
		}
		if kept, longest := len(a)+len(b)-len(changes), commonLines(a, b); kept != longest {
			t.Fatalf("%q to %q keeps %d lines, %d are common", a, b, kept, longest)
		}
	}
	a, b := randomLines(r, 5000, 1<<30), randomLines(r, 5000, 1<<30) // beyond maxDiff
	if before, after := replay(diffLines(a, b)); before != strings.Join(a, "") || after != strings.Join(b, "") {
		t.Error("a big difference is wrong")
	}
}

// commonLines is the length of the longest common subsequence, by the textbook.
func commonLines(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			up := row[j+1]
			if x == y {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(up, row[j])
			}
			diagonal = up
		}
	}
	return row[len(b)]
}

func TestGlob(t *testing.T) {
	paths := []string{"a.txt", "b.txt", ".hid", ".hid/z.txt", "sub", "sub/x.py", "sub/deep", "sub/deep/y.txt", "a-b", "[x]", "a+b", "ü", "a{b}", "a,b", "B2", "x)y"}
	for pattern, want := range map[string]string{
		"*": "a.txt b.txt .hid sub a-b [x] a+b ü a{b} a,b B2 x)y", "**": strings.Join(paths, " "), "*.txt": "a.txt b.txt",
		"**/*.txt": "a.txt b.txt .hid/z.txt sub/deep/y.txt", "sub/**": "sub/x.py sub/deep sub/deep/y.txt", "sub/*": "sub/x.py sub/deep", "sub/**/y.txt": "sub/deep/y.txt",
		"?.txt": "a.txt b.txt", "[ab].txt": "a.txt b.txt", "[!a].txt": "b.txt", "[^a].txt": "b.txt", "[a-c]*": "a.txt b.txt a-b a+b a{b} a,b", "[[]x[]]": "[x]",
		"{a,b}.txt": "a.txt b.txt", "{a,{b,c}}.txt": "a.txt b.txt", "a{b}": "a{b}", "a{b": "", "{,sub/}x.py": "sub/x.py", "a\\{b}": "a{b}", "a[,]b": "a,b",
		"!*": ".hid/z.txt sub/x.py sub/deep sub/deep/y.txt", "!!sub": "sub", "#x": "", "": "", "a+b": "a+b", "?": "ü", "[[:upper:]]?": "B2",
		"@(a|b).txt": "a.txt b.txt", "+(a).txt": "a.txt", "?(a).txt": "a.txt", "*(a|b).txt": "a.txt b.txt", "x)y": "x)y", "@(a": "", "@(@(a)).txt": "",
		"sub//x.py": "sub/x.py", "[": "", "[]": "", "[!]": "", "[z-a]": "", "a**": "a.txt a-b a+b a{b} a,b", "\\a.txt": "a.txt", "a.txt\\": "",
	} {
		test, err := glob(pattern)
		if err != nil {
			t.Errorf("%q: %v", pattern, err)
			continue
		}
		var got []string
		for _, p := range paths {
			if test(p) {
				got = append(got, p)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q matches %q, want %q", pattern, got, want)
		}
	}
}

func FuzzGlob(f *testing.F) {
	for _, p := range []string{"**/*.{a,b}", "[!a-z]?", "@(a|b)+(c)", "{a,{b,c}}{,d}", "\\", "[[:alpha:]", "!#", "é[é-ü]"} {
		f.Add(p, "a/b.c")
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		test, err := glob(pattern)
		if err != nil {
			return
		}
		matched := test(path)
		plain := !regexp.MustCompile(`[*?\[\]{}()\\!#+@/|]`).MatchString(pattern)
		if plain && matched != (pattern == path) {
			t.Errorf("%q against %q: %v", pattern, path, matched)
		}
	})
}

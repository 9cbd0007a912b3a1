package repl

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sense-lang/sense/lexer"
)

// completions are the candidates at the end of a text.
type completions struct {
	// typed is what of the text they complete.
	typed string
	// before is the part of typed that their names leave out, such as "kit.".
	before string
	list   []Candidate
}

// complete finds what may follow at the end of what was typed so far.
func (s *session) complete(sofar string) completions {
	if word, arg, isArg := strings.Cut(sofar, " "); strings.HasPrefix(sofar, ":") {
		switch {
		case !isArg:
			return completions{typed: word, list: beginning(word, commands)}
		case word == ":load":
			return completions{typed: sofar, before: ":load ", list: files(strings.TrimLeft(arg, " "))}
		}
	}
	if pieces, open := scan(sofar); open != "" || len(pieces) > 0 && inText(sofar, pieces[len(pieces)-1]) {
		return completions{}
	}
	dotted := lastName(sofar)
	if dotted == "" {
		return completions{}
	}
	before := dotted[:strings.LastIndexByte(dotted, '.')+1]
	prefix := dotted[len(before):]
	list := slices.Clone(s.Engine.Complete(dotted))
	if before == "" {
		list = append(list, keywords()...)
	}
	list = beginning(prefix, list)
	slices.SortStableFunc(list, func(a, b Candidate) int { return strings.Compare(a.Name, b.Name) })
	list = slices.CompactFunc(list, func(a, b Candidate) bool { return a.Name == b.Name })
	return completions{typed: dotted, before: before, list: list}
}

// inText reports whether the end of the text is inside a string or comment.
func inText(sofar string, last piece) bool {
	if last.end < len(sofar) && last.kind != comment {
		return false
	}
	t := sofar[last.start:last.end]
	switch last.kind {
	case comment:
		return !strings.ContainsAny(sofar[last.end:], "\r\n")
	case text:
		return len(t) < 2 || !strings.HasSuffix(t, t[:1]) || strings.HasSuffix(t, `\`+t[:1])
	}
	return false
}

// lastName gives the dotted name at the end of a text.
func lastName(sofar string) string {
	i := len(sofar)
	for i > 0 {
		r, size := utf8.DecodeLastRuneInString(sofar[:i])
		if r != '_' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		i -= size
	}
	found := sofar[i:]
	if found == "" || found[0] == '.' || unicode.IsDigit(rune(found[0])) {
		return ""
	}
	return found
}

// beginning gives the candidates that begin with prefix.
func beginning(prefix string, list []Candidate) []Candidate {
	var out []Candidate
	for _, c := range list {
		if strings.HasPrefix(c.Name, prefix) {
			out = append(out, c)
		}
	}
	return out
}

// keywords are the reserved words of the language.
func keywords() []Candidate {
	var list []Candidate
	for k := lexer.KwDef; k <= lexer.KwNot; k++ {
		list = append(list, Candidate{Name: strings.ToLower(k.String()), Detail: "keyword"})
	}
	for _, w := range lexer.SoftWords() {
		list = append(list, Candidate{Name: w, Detail: "keyword"})
	}
	return list
}

// files gives the folders and scripts whose paths begin with what was typed.
func files(typed string) []Candidate {
	dir, base := filepath.Split(typed)
	entries, err := os.ReadDir(filepath.Clean(dir)) // of "" that is "."
	if err != nil {
		return nil
	}
	var list []Candidate
	for _, e := range entries {
		n := e.Name()
		switch {
		case !strings.HasPrefix(n, base) || base == "" && n[0] == '.':
		case e.IsDir():
			list = append(list, Candidate{Name: dir + n + "/"})
		case strings.HasSuffix(n, ".sns"):
			list = append(list, Candidate{Name: dir + n})
		}
	}
	return list
}

package fileserver

import (
	"fmt"
	"regexp"
	"strings"
)

const (
	maxPattern    = 1024      // bytes of a glob pattern
	maxExpansions = 256       // alternatives that its braces may make
	maxExpanded   = 16 * 1024 // bytes of all of them together
)

// glob compiles a pattern that is matched against slash-separated relative paths. As in the npm server: "*" and "?"
// stay within one element of the path and also match leading dots, "**" stands for any number of elements, "[a-z]"
// and "[!a-z]" for one character, "{a,b}" for alternatives, and a leading "!" turns the meaning round. A "#" at the
// start makes a comment, which matches nothing. Matching takes time linear in the path, whatever the pattern.
func glob(pattern string) (func(string) bool, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("The pattern is longer than %d bytes", maxPattern)
	}
	if strings.HasPrefix(pattern, "#") {
		return func(string) bool { return false }, nil
	}
	plain := strings.TrimLeft(pattern, "!")
	negated := (len(pattern)-len(plain))%2 == 1
	alternatives, err := expandBraces(plain, maxExpansions)
	if err != nil {
		return nil, err
	}
	parts, size := make([]string, len(alternatives)), 0
	for i, alternative := range alternatives {
		if size += len(alternative); size > maxExpanded {
			return nil, fmt.Errorf("The braces of the pattern stand for more than %d bytes", maxExpanded)
		}
		parts[i] = pathExpr(alternative)
	}
	expr, err := regexp.Compile(`(?s)^(?:` + strings.Join(parts, "|") + `)$`)
	if err != nil {
		return nil, fmt.Errorf("The pattern %q is too big or not valid", pattern)
	}
	return func(path string) bool { return expr.MatchString(path) != negated }, nil
}

// anyGlob matches what at least one of the patterns matches.
func anyGlob(patterns []string) (func(string) bool, error) {
	tests := make([]func(string) bool, len(patterns))
	for i, p := range patterns {
		test, err := glob(p)
		if err != nil {
			return nil, err
		}
		tests[i] = test
	}
	return func(path string) bool {
		for _, test := range tests {
			if test(path) {
				return true
			}
		}
		return false
	}, nil
}

// expandBraces replaces "{a,b}" by its alternatives, nested ones too. Braces without a comma stand for themselves.
func expandBraces(pattern string, limit int) ([]string, error) {
	start, commas, end := findBraces(pattern)
	if end < 0 {
		return []string{pattern}, nil
	}
	tails, err := expandBraces(pattern[end+1:], limit)
	if err != nil {
		return nil, err
	}
	var all []string
	from := start + 1
	for _, to := range append(commas, end) {
		middles, err := expandBraces(pattern[from:to], limit)
		if err != nil {
			return nil, err
		}
		if len(all)+len(middles)*len(tails) > limit {
			return nil, fmt.Errorf("The braces of the pattern stand for more than %d patterns", limit)
		}
		for _, middle := range middles {
			for _, tail := range tails {
				all = append(all, pattern[:start]+middle+tail)
			}
		}
		from = to + 1
	}
	return all, nil
}

// findBraces gives the places of the first "{", its commas and its "}" where there is a comma between; end is -1
// where there are no such braces.
func findBraces(pattern string) (start int, commas []int, end int) {
	for start = 0; start < len(pattern); start++ {
		if pattern[start] == '\\' {
			start++
			continue
		}
		if pattern[start] != '{' {
			continue
		}
		if commas, end = braceParts(pattern, start); end >= 0 && len(commas) > 0 {
			return start, commas, end
		}
	}
	return 0, nil, -1
}

func braceParts(pattern string, start int) (commas []int, end int) {
	depth := 0
	for i := start; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '{':
			depth++
		case ',':
			if depth == 1 {
				commas = append(commas, i)
			}
		case '}':
			if depth--; depth == 0 {
				return commas, i
			}
		}
	}
	return nil, -1
}

// pathExpr writes a pattern without braces as a regular expression.
func pathExpr(pattern string) string {
	var expr strings.Builder
	for strings.Contains(pattern, "//") {
		pattern = strings.ReplaceAll(pattern, "//", "/")
	}
	elements := strings.Split(pattern, "/")
	for i, element := range elements {
		last := i == len(elements)-1
		switch {
		case element == "**" && last:
			expr.WriteString(`[^/]+(?:/[^/]+)*`)
		case element == "**":
			expr.WriteString(`(?:[^/]+/)*`)
		case last:
			expr.WriteString(elementExpr(element))
		default:
			expr.WriteString(elementExpr(element) + "/")
		}
	}
	return expr.String()
}

// elementExpr writes the pattern of one element of a path as a regular expression.
func elementExpr(element string) string {
	if strings.Trim(element, "*") == "" && element != "" {
		return `[^/]+`
	}
	var expr strings.Builder
	for i := 0; i < len(element); {
		piece, length := pieceExpr(element[i:])
		expr.WriteString(piece)
		i += length
	}
	return expr.String()
}

// pieceExpr writes what stands at the start of text and gives its length in text.
func pieceExpr(text string) (expr string, length int) {
	if group, length := groupExpr(text); length > 0 {
		return group, length
	}
	switch c := text[0]; {
	case c == '*':
		return `[^/]*`, 1
	case c == '?':
		return `[^/]`, 1
	case c == '[':
		return classExpr(text)
	case c == '\\' && len(text) > 1:
		return regexp.QuoteMeta(text[1:2]), 2
	case c >= 0x80:
		return text[:1], 1
	}
	return regexp.QuoteMeta(text[:1]), 1
}

// groupExpr writes a group such as "+(a|b)" at the start of text: "@" one, "?" none or one, "*" any number, "+" at
// least one of the alternatives. The length is 0 where no group stands.
func groupExpr(text string) (expr string, length int) {
	if len(text) < 2 || text[1] != '(' || !strings.Contains("@?*+", text[:1]) {
		return "", 0
	}
	end := strings.IndexAny(text[2:], "()")
	if end < 0 || text[2+end] == '(' {
		return "", 0 // groups do not nest
	}
	var parts []string
	for _, part := range strings.Split(text[2:2+end], "|") {
		parts = append(parts, elementExpr(part))
	}
	expr = "(?:" + strings.Join(parts, "|") + ")"
	if text[0] != '@' {
		expr += text[:1]
	}
	return expr, 2 + end + 1
}

// classExpr writes the class at the start of text, "[a-z]" say, as a regular expression and gives its length in text.
// A "[" that begins no valid class stands for itself.
func classExpr(text string) (expr string, length int) {
	end := classEnd(text)
	if end < 0 {
		return `\[`, 1
	}
	inner, not := text[1:end], ""
	if inner[0] == '!' || inner[0] == '^' {
		inner, not = inner[1:], "^"
	}
	quoted := strings.NewReplacer(`\`, `\\`, "[:", "[:", ":]", ":]", `[`, `\[`, `]`, `\]`, `^`, `\^`, `&`, `\&`).Replace(inner)
	expr = "[" + not + quoted + "]"
	if _, err := regexp.Compile(expr); err != nil || inner == "" {
		return `\[`, 1
	}
	return expr, end + 1
}

// classEnd finds the bracket that closes the class at the start of text; -1 for none. One that stands first belongs to
// the class, and so does a name such as [:alpha:].
func classEnd(text string) int {
	i := 1
	if i < len(text) && (text[i] == '!' || text[i] == '^') {
		i++
	}
	for i++; i < len(text); i++ {
		name := strings.Index(text[i:], ":]")
		switch {
		case text[i-1] == '[' && text[i] == ':' && name > 0:
			i += name + 1
		case text[i] == ']':
			return i
		}
	}
	return -1
}

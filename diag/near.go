package diag

import (
	"strings"
	"unicode/utf8"
)

// Near gives the candidate that was probably meant by a misspelt name, "" where
// none is near enough. Of several as near the first is given.
func Near(name string, candidates []string) string {
	best, distance := "", 0
	for _, c := range candidates {
		if c == name || c == "" {
			continue
		}
		limit := nearLimit(name, c)
		d := edits(strings.ToLower(name), strings.ToLower(c), limit)
		if d <= limit && (best == "" || d < distance) {
			best, distance = c, d
		}
	}
	return best
}

// DidYouMean adds to an error of a misspelt name the candidate that was probably
// meant, if there is one, and gives the error back.
func (e *Error) DidYouMean(name string, candidates []string) *Error {
	if near := Near(name, candidates); near != "" {
		e.Notes = append(e.Notes, "did you mean '"+near+"'?")
	}
	return e
}

// nearLimit is how many edits two names may be apart: a third of the shorter
// one, so that short names are near only to themselves in another case, and
// never above three.
func nearLimit(a, b string) int {
	return min(3, min(utf8.RuneCountInString(a), utf8.RuneCountInString(b))/3)
}

// edits gives the number of characters to insert, delete, replace or swap with
// their neighbour that turns a into b, or limit+1 where that takes more than
// limit.
func edits(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) > limit || len(y)-len(x) > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return min(last[len(y)], limit+1)
}

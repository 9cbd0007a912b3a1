package fileserver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	diffContext = 4     // unchanged lines shown around a change
	maxDiff     = 1_500 // changed lines up to which the shortest difference is looked for
)

// change is a line of a difference: ' ' kept, '-' removed, '+' added. The text includes its newline.
type change struct {
	op   byte
	text string
}

// unifiedDiff writes the difference between two texts in the unified format, headed by the file's path.
func unifiedDiff(path, before, after string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Index: %s\n%s\n", path, strings.Repeat("=", 67))
	fmt.Fprintf(&b, "--- %s\toriginal\n+++ %s\tmodified\n", path, path)
	changes := diffLines(splitLines(before), splitLines(after))
	for from := 0; ; {
		start, end := nextHunk(changes, from)
		if start < 0 {
			return b.String()
		}
		writeHunk(&b, changes, start, end)
		from = end
	}
}

// splitLines cuts a text behind each newline.
func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// nextHunk finds the next group of changes at or after from, with its context. Groups whose contexts would touch are
// one. start is -1 when no change is left.
func nextHunk(changes []change, from int) (start, end int) {
	first := from
	for first < len(changes) && changes[first].op == ' ' {
		first++
	}
	if first == len(changes) {
		return -1, -1
	}
	last := first
	for i := first; i < len(changes) && i-last <= 2*diffContext+1; i++ {
		if changes[i].op != ' ' {
			last = i
		}
	}
	return max(from, first-diffContext), min(len(changes), last+1+diffContext)
}

func writeHunk(b *strings.Builder, changes []change, start, end int) {
	oldAt, newAt := count(changes[:start], '+')+1, count(changes[:start], '-')+1
	oldLen, newLen := count(changes[start:end], '+'), count(changes[start:end], '-')
	if oldLen == 0 {
		oldAt--
	}
	if newLen == 0 {
		newAt--
	}
	fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n", oldAt, oldLen, newAt, newLen)
	for _, c := range changes[start:end] {
		b.WriteByte(c.op)
		b.WriteString(c.text)
		if !strings.HasSuffix(c.text, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// count counts the changes other than those of kind without.
func count(changes []change, without byte) int {
	n := 0
	for _, c := range changes {
		if c.op != without {
			n++
		}
	}
	return n
}

// diffLines gives a shortest way from a to b, removals before additions, by Myers' algorithm. Where more than maxDiff
// lines differ, all lines between the first and the last difference are replaced.
func diffLines(a, b []string) []change {
	prefix := 0
	for prefix < len(a) && prefix < len(b) && a[prefix] == b[prefix] {
		prefix++
	}
	changes := appendAll(nil, ' ', a[:prefix])
	a, b = a[prefix:], b[prefix:]
	if steps, ok := myers(a, b); ok {
		return append(changes, removalsFirst(steps)...)
	}
	suffix := 0
	for suffix < len(a) && suffix < len(b) && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		suffix++
	}
	changes = appendAll(changes, '-', a[:len(a)-suffix])
	changes = appendAll(changes, '+', b[:len(b)-suffix])
	return appendAll(changes, ' ', a[len(a)-suffix:])
}

func appendAll(changes []change, op byte, lines []string) []change {
	for _, line := range lines {
		changes = append(changes, change{op, line})
	}
	return changes
}

// removalsFirst sorts every run of changed lines, as readers expect it.
func removalsFirst(changes []change) []change {
	for from := 0; from < len(changes); {
		to := from
		for to < len(changes) && changes[to].op != ' ' {
			to++
		}
		slices.SortStableFunc(changes[from:to], func(x, y change) int { return cmp.Compare(y.op, x.op) })
		from = to + 1
	}
	return changes
}

// myers follows the furthest reaching paths of d changes for growing d and then walks back along the one that arrived.
// reach[d][k+d] is how far in a the path with d changes is on diagonal k (lines of a less lines of b).
func myers(a, b []string) ([]change, bool) {
	reach := make([][]int32, 0, 16)
	for d := 0; d <= min(maxDiff, len(a)+len(b)); d++ {
		row := make([]int32, 2*d+1)
		for k := -d; k <= d; k += 2 {
			x := 0
			if d > 0 {
				x = step(reach[d-1], d-1, k)
			}
			for y := x - k; x < len(a) && y < len(b) && y >= 0 && a[x] == b[y]; y++ {
				x++
			}
			row[k+d] = int32(x)
			if x >= len(a) && x-k >= len(b) {
				return walkBack(a, b, append(reach, row)), true
			}
		}
		reach = append(reach, row)
	}
	return nil, false
}

// step is where a path of d+1 changes enters diagonal k: one line added from the diagonal above, or one removed from
// the diagonal below, whichever is further.
func step(row []int32, d, k int) int {
	add, remove := -1, -1
	if k+1 <= d {
		add = int(row[k+1+d])
	}
	if k-1 >= -d {
		remove = int(row[k-1+d]) + 1
	}
	return max(add, remove)
}

func walkBack(a, b []string, reach [][]int32) []change {
	var changes []change
	x, y := len(a), len(b)
	for d := len(reach) - 1; d >= 0; d-- {
		k, enter := x-y, 0
		if d > 0 {
			enter = step(reach[d-1], d-1, k)
		}
		for ; x > enter && y > enter-k; x, y = x-1, y-1 {
			changes = append(changes, change{' ', a[x-1]})
		}
		if d == 0 {
			break
		}
		if added := k+1 <= d-1 && int(reach[d-1][k+1+d-1]) == enter; added {
			y--
			changes = append(changes, change{'+', b[y]})
		} else {
			x--
			changes = append(changes, change{'-', a[x]})
		}
	}
	slices.Reverse(changes)
	return changes
}

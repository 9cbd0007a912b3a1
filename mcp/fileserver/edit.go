package fileserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxEdit is how many bytes a file may have to be edited.
const maxEdit = 16 << 20

func editFile(_ context.Context, f *folder, a args) (string, error) {
	name, err := f.resolve(a.text("path"))
	if err != nil {
		return "", err
	}
	data, err := f.content(name, maxEdit)
	if err != nil {
		return "", err
	}
	before := unixLines(string(data))
	edits, _ := a["edits"].([]edit)
	after, err := applyEdits(before, edits)
	if err != nil {
		return "", err
	}
	if !a.flag("dryRun") {
		if err := f.replace(name, []byte(sameLineEnds(after, string(data)))); err != nil {
			return "", err
		}
	}
	return fenced(unifiedDiff(f.abs(name), before, after)), nil
}

// sameLineEnds ends lines as they did in original: with CR LF when all of them did.
func sameLineEnds(text, original string) string {
	pairs := strings.Count(original, "\r\n")
	if pairs == 0 || pairs != strings.Count(original, "\n") {
		return text
	}
	return strings.ReplaceAll(text, "\n", "\r\n")
}

// fenced puts a difference in a block of Markdown whose fence it does not contain.
func fenced(diff string) string {
	fence := "```"
	for strings.Contains(diff, fence) {
		fence += "`"
	}
	return fence + "diff\n" + diff + fence + "\n\n"
}

// applyEdits makes the edits one after the other. Each replaces the first place where its old text stands, or else the
// first lines that differ from it only in the space around them.
func applyEdits(text string, edits []edit) (string, error) {
	for _, e := range edits {
		old, replacement := unixLines(e.old), unixLines(e.new)
		if strings.Contains(text, old) {
			text = strings.Replace(text, old, replacement, 1)
		} else {
			changed, ok := replaceLines(text, old, replacement)
			if !ok {
				return "", fmt.Errorf("Could not find exact match for edit:\n%s", e.old)
			}
			text = changed
		}
		if len(text) > 4*maxEdit {
			return "", errors.New("The edits make the file too large")
		}
	}
	return text, nil
}

// replaceLines replaces the first lines of text that equal those of old but for the space around each.
func replaceLines(text, old, replacement string) (string, bool) {
	lines, wanted := strings.Split(text, "\n"), strings.Split(old, "\n")
	at := indexLines(lines, wanted)
	if at < 0 {
		return "", false
	}
	fresh := indented(strings.Split(replacement, "\n"), wanted, indent(lines[at]))
	return strings.Join(slices.Concat(lines[:at], fresh, lines[at+len(wanted):]), "\n"), true
}

// indexLines finds the first place of wanted in lines, the space around each line aside; -1 for none. It searches in
// the joined text, which takes linear time.
func indexLines(lines, wanted []string) int {
	text := joinTrimmed(lines)
	at := strings.Index(text, joinTrimmed(wanted))
	if at < 0 {
		return -1
	}
	return strings.Count(text[:at+1], "\n") - 1
}

// joinTrimmed puts each line, trimmed, between newlines.
func joinTrimmed(lines []string) string {
	var b strings.Builder
	b.WriteByte('\n')
	for _, line := range lines {
		b.WriteString(strings.TrimSpace(line))
		b.WriteByte('\n')
	}
	return b.String()
}

// indented moves new lines to where the old ones stood: the first gets the indent found there, and a further one that
// was indented keeps what it had more than its old line.
func indented(fresh, old []string, base string) []string {
	moved := make([]string, len(fresh))
	for i, line := range fresh {
		text, own, was := strings.TrimLeft(line, " \t\r\f\v"), indent(line), ""
		if i < len(old) {
			was = indent(old[i])
		}
		switch {
		case i == 0:
			moved[i] = base + text
		case own != "" && was != "":
			moved[i] = base + strings.Repeat(" ", max(0, len(own)-len(was))) + text
		default:
			moved[i] = line
		}
	}
	return moved
}

// indent gives the white space a line begins with.
func indent(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t\r\f\v"))] }

package conform

import (
	"errors"
	"strings"
)

// splitWords takes a command line apart as a POSIX shell does: blanks separate,
// quotes and backslashes join. Nothing is expanded.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord := false
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch c {
		case ' ', '\t', '\n', '\r':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
			continue
		case '\'':
			end := strings.IndexByte(line[i+1:], '\'')
			if end < 0 {
				return nil, errors.New("no closing quotation")
			}
			word.WriteString(line[i+1 : i+1+end])
			i += end + 1
		case '"':
			n, err := doubleQuoted(&word, line[i+1:])
			if err != nil {
				return nil, err
			}
			i += n
		case '\\':
			if i++; i == len(line) {
				return nil, errors.New("no escaped character")
			}
			word.WriteByte(line[i])
		default:
			word.WriteByte(c)
		}
		inWord = true
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

// doubleQuoted writes what stands before the closing quote and gives how many
// bytes that took, the quote included. Only \" and \\ are escapes.
func doubleQuoted(word *strings.Builder, s string) (int, error) {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return i + 1, nil
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
		}
		word.WriteByte(s[i])
	}
	return 0, errors.New("no closing quotation")
}

package ast

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// Format is a format specification of an FString, as in Python: what stands
// after the ":" in {x:>10}, {x:.2f} or {x:,}.
type Format struct {
	Fill  rune // what pads the text to Width: ' ' where nothing is said
	Align byte // '<', '>', '^', or 0 for numbers to the right, all else to the left
	Sign  byte // '+' or ' ' for what stands before a number that is not negative, '-' or 0 for nothing
	Zero  bool // pad with zeros between the sign and the digits: {x:05}
	Width int  // the least number of characters, 0 for any
	Comma bool // a comma between thousands
	// Precision is the number of digits after the point, -1 where nothing is
	// said.
	Precision int
	// Verb is 'd' (Int), 'f', 'e' or '%' (number), 'x' (Int in hexadecimal), 's'
	// (anything), or 0 for the value as it prints.
	Verb byte
}

// maxWidth bounds Width and Precision, so that a specification alone cannot ask
// for more memory than it is worth.
const maxWidth = 10_000

var errFormat = errors.New("unknown format")

// ParseFormat reads a specification: [[fill]align][sign][0][width][,][.precision][verb].
// Its error says nothing but that there is no such format.
func ParseFormat(spec string) (Format, error) {
	f := Format{Fill: ' ', Precision: -1}
	rest := f.align(spec)
	filled := len(spec)-len(rest) > 1 // with a character of its own
	spec = rest
	if spec != "" && strings.IndexByte("+- ", spec[0]) >= 0 {
		f.Sign, spec = spec[0], spec[1:]
	}
	spec, f.Zero = strings.CutPrefix(spec, "0")
	if f.Zero && f.Align != 0 && !filled {
		f.Fill = '0'
	}
	var ok, precise bool
	if f.Width, spec, ok = number(spec); !ok {
		return Format{}, errFormat
	}
	spec, f.Comma = strings.CutPrefix(spec, ",")
	if spec, precise = strings.CutPrefix(spec, "."); precise {
		digits := len(spec)
		if f.Precision, spec, ok = number(spec); !ok || len(spec) == digits {
			return Format{}, errFormat
		}
	}
	if spec != "" && strings.IndexByte("dfe%xs", spec[0]) >= 0 {
		f.Verb, spec = spec[0], spec[1:]
	}
	if spec != "" || !f.sensible() {
		return Format{}, errFormat
	}
	return f, nil
}

// align reads what stands before the width.
func (f *Format) align(spec string) string {
	r, size := utf8.DecodeRuneInString(spec)
	isAlign := func(s string) bool { return s != "" && strings.IndexByte("<>^", s[0]) >= 0 }
	switch {
	case isAlign(spec[size:]):
		f.Fill, f.Align = r, spec[size]
		return spec[size+1:]
	case isAlign(spec):
		f.Align = spec[0]
		return spec[1:]
	}
	return spec
}

// sensible reports whether the parts go together.
func (f *Format) sensible() bool {
	switch f.Verb {
	case 's':
		return f.Sign == 0 && !f.Comma && !f.Zero
	case 'd':
		return f.Precision < 0
	case 'x':
		return f.Precision < 0 && !f.Comma
	}
	return true
}

// number reads the digits that spec begins with.
func number(spec string) (n int, rest string, ok bool) {
	for spec != "" && spec[0] >= '0' && spec[0] <= '9' && n <= maxWidth {
		n = n*10 + int(spec[0]-'0')
		spec = spec[1:]
	}
	return n, spec, n <= maxWidth
}

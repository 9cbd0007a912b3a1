package builtins

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sense-lang/sense/eval"
)

// onText makes a method of a function on the text.
func onText(name string, least, most int, f func(c *eval.Call, s string) (eval.Value, error)) eval.Method {
	return eval.Method{Name: name, Min: least, Max: most, Leaf: true, Fn: func(c *eval.Call, o eval.Object) (eval.Value, error) {
		s, _ := self(o).AsString()
		return f(c, s)
	}}
}

// plainText makes a method without arguments whose result is no longer than
// the text.
func plainText(name string, f func(s string) eval.Value) eval.Method {
	return onText(name, 0, 0, func(c *eval.Call, s string) (eval.Value, error) {
		if err := c.Thread.Reserve(int64(len(s))); err != nil {
			return eval.Value{}, err
		}
		return f(s), nil
	})
}

// partRoom is the room of one String of many, in bytes, without its text.
const partRoom = 64

// parts asks for room for n parts of a text.
func parts(c *eval.Call, n int) error { return c.Thread.Reserve(int64(n) * partRoom) }

// withText makes a method with one String argument.
func withText(name string, f func(s, t string) eval.Value) eval.Method {
	return onText(name, 1, 1, func(c *eval.Call, s string) (eval.Value, error) {
		t, err := textArg(c, 0, name)
		if err != nil {
			return eval.Value{}, err
		}
		return f(s, t), nil
	})
}

func textMethods() []eval.Method {
	return []eval.Method{
		plainText("upper", func(s string) eval.Value { return eval.String(upperText(s)) }),
		plainText("lower", func(s string) eval.Value { return eval.String(lowerText(s)) }),
		plainText("trim", func(s string) eval.Value { return eval.String(strings.TrimSpace(s)) }),
		onText("lines", 0, 0, func(c *eval.Call, s string) (eval.Value, error) {
			if err := parts(c, strings.Count(s, "\n")+strings.Count(s, "\r")); err != nil {
				return eval.Value{}, err
			}
			return eval.Strings(textLines(s)), nil
		}),
		withText("contains", func(s, t string) eval.Value { return eval.Bool(strings.Contains(s, t)) }),
		withText("starts_with", func(s, t string) eval.Value { return eval.Bool(strings.HasPrefix(s, t)) }),
		withText("ends_with", func(s, t string) eval.Value { return eval.Bool(strings.HasSuffix(s, t)) }),
		withText("find", func(s, t string) eval.Value { return eval.Int(findText(s, t)) }),
		onText("split", 0, 1, textSplit),
		onText("replace", 2, 2, textReplace),
		onText("repeat", 1, 1, textRepeat),
		onText("pad_left", 1, 2, func(c *eval.Call, s string) (eval.Value, error) { return textPad(c, s, "pad_left") }),
		onText("pad_right", 1, 2, func(c *eval.Call, s string) (eval.Value, error) { return textPad(c, s, "pad_right") }),
	}
}

// textLines splits at line ends of any kind; a last line end opens no line.
func textLines(s string) []string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// findText gives the place of t in s in code points, -1 where it is not there.
func findText(s, t string) int64 {
	i := strings.Index(s, t)
	if i < 0 {
		return -1
	}
	return int64(utf8.RuneCountInString(s[:i]))
}

// countWords gives how many words a text has.
func countWords(s string) (n int) {
	between := true
	for _, r := range s {
		space := unicode.IsSpace(r)
		if between && !space {
			n++
		}
		between = space
	}
	return n
}

func textSplit(c *eval.Call, s string) (eval.Value, error) {
	if len(c.Args) == 0 || c.Args[0].IsNil() {
		if err := parts(c, countWords(s)); err != nil {
			return eval.Value{}, err
		}
		return eval.Strings(strings.FieldsFunc(s, unicode.IsSpace)), nil
	}
	sep, err := textArg(c, 0, "split")
	if err != nil {
		return eval.Value{}, err
	}
	if sep == "" {
		return eval.Value{}, fail("split() needs a separator that is not empty")
	}
	if err := parts(c, strings.Count(s, sep)); err != nil {
		return eval.Value{}, err
	}
	return eval.Strings(strings.Split(s, sep)), nil
}

func textReplace(c *eval.Call, s string) (eval.Value, error) {
	from, err := textArg(c, 0, "replace")
	if err != nil {
		return eval.Value{}, err
	}
	to, err := textArg(c, 1, "replace")
	if err != nil {
		return eval.Value{}, err
	}
	if n := strings.Count(s, from); len(to) > len(from) && n > maxText/(len(to)-len(from)) {
		return eval.Value{}, fail("replace() would make a text of over %d bytes", maxText)
	}
	if err := c.Thread.Reserve(int64(len(s) + max(0, strings.Count(s, from)*(len(to)-len(from))))); err != nil {
		return eval.Value{}, err
	}
	return eval.String(strings.ReplaceAll(s, from, to)), nil
}

// maxText bounds the text that one call makes.
const maxText = 1 << 30

func textRepeat(c *eval.Call, s string) (eval.Value, error) {
	n, err := intArg(c, 0, "repeat")
	if err != nil {
		return eval.Value{}, err
	}
	if n <= 0 || s == "" {
		return eval.String(""), nil
	}
	if n > int64(maxText/len(s)) {
		return eval.Value{}, fail("repeat() would make a text of over %d bytes", maxText)
	}
	if err := c.Thread.Reserve(int64(len(s)) * n); err != nil {
		return eval.Value{}, err
	}
	return eval.String(strings.Repeat(s, int(n))), nil
}

func textPad(c *eval.Call, s, name string) (eval.Value, error) {
	n, err := intArg(c, 0, name)
	if err != nil {
		return eval.Value{}, err
	}
	fill := " "
	if len(c.Args) == 2 {
		if fill, err = textArg(c, 1, name); err != nil {
			return eval.Value{}, err
		}
		if utf8.RuneCountInString(fill) != 1 {
			return eval.Value{}, fail("%s() fills with one character, got %s", name, eval.Quote(fill))
		}
	}
	n -= int64(utf8.RuneCountInString(s))
	if n <= 0 {
		return eval.String(s), nil
	}
	if n > maxText/4 {
		return eval.Value{}, fail("%s() would make a text of over %d bytes", name, maxText)
	}
	if err := c.Thread.Reserve(n * int64(len(fill)) * 2); err != nil {
		return eval.Value{}, err
	}
	pad := strings.Repeat(fill, int(n))
	if name == "pad_left" {
		return eval.String(pad + s), nil
	}
	return eval.String(s + pad), nil
}

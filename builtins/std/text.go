package std

import (
	"context"
	"regexp"
	"strings"
	"sync"

	"github.com/sense-lang/sense/eval"
)

func textMembers(l *Library) []member {
	return []member{
		{"match(pattern, text)", "the first match anywhere in the text as an Array: the whole of it, then its groups; nil where there is none", l.textMatch},
		{"find_all(pattern, text)", "every match: its text, or where the pattern has groups an Array as match gives", l.textFindAll},
		{"replace(pattern, text, by)", "the text with every match replaced: by a String, in which $1 or ${name} stand for groups, or by what a function gives for the match", l.textReplace},
		{"split(pattern, text)", "the parts of the text between the matches", l.textSplit},
		{"escape(text)", "a pattern that matches exactly this text", textEscape},
	}
}

const (
	maxPatterns   = 64      // compiled ones that are kept
	maxPatternLen = 1 << 16 // bytes
	maxMatches    = 1 << 20 // of one call
)

// patterns keeps compiled patterns.
type patterns struct {
	mu   sync.Mutex
	kept map[string]*regexp.Regexp
}

// get compiles a pattern, or gives the one that was compiled before.
func (p *patterns) get(text string) (*regexp.Regexp, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if re := p.kept[text]; re != nil {
		return re, nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	if p.kept == nil || len(p.kept) >= maxPatterns {
		p.kept = map[string]*regexp.Regexp{}
	}
	p.kept[text] = re
	return re, nil
}

// patternText reads the two arguments that all functions begin with.
func (l *Library) patternText(a *args) (*regexp.Regexp, string, error) {
	p, err := a.text(0)
	if err != nil {
		return nil, "", err
	}
	s, err := a.text(1)
	if err != nil {
		return nil, "", err
	}
	if len(p) > maxPatternLen {
		return nil, "", a.fail("the pattern is longer than %d bytes", maxPatternLen)
	}
	re, err := l.regexp.get(p)
	if err != nil {
		return nil, "", a.fail("%s", strings.Replace(err.Error(), "error parsing regexp: ", "bad pattern: ", 1))
	}
	return re, s, nil
}

// matches finds up to n matches (n < 0: all) while others run, as the places of
// the match and its groups in the text.
func matches(a *args, re *regexp.Regexp, s string, n int) (found [][]int, err error) {
	if n < 0 {
		n = maxMatches + 1
	}
	a.Thread.Blocking(func(ctx context.Context) { found = search(ctx, re, s, n) })
	if len(found) > maxMatches {
		return nil, a.fail("there are over %d matches", maxMatches)
	}
	return found, a.stopped()
}

// shortText is up to where a search is over before anybody could wait for it.
const shortText = 4 << 10

// search gives the matches, nil where ctx ended first: a search in a long text
// may take minutes. It then comes to its end unheard.
func search(ctx context.Context, re *regexp.Regexp, s string, n int) [][]int {
	if len(s) <= shortText {
		return re.FindAllStringSubmatchIndex(s, n)
	}
	found := make(chan [][]int, 1)
	go func() { found <- re.FindAllStringSubmatchIndex(s, n) }()
	select {
	case f := <-found:
		return f
	case <-ctx.Done():
		return nil
	}
}

// groups makes the value of a match: the whole and its groups, nil for those
// that took no part.
func groups(s string, at []int) eval.Value {
	out := eval.NewArray(len(at) / 2)
	for i := 0; i < len(at); i += 2 {
		if at[i] < 0 {
			out.Push(eval.Nil())
		} else {
			out.Push(eval.String(s[at[i]:at[i+1]]))
		}
	}
	return out.Value()
}

func (l *Library) textMatch(a *args) (eval.Value, error) {
	re, s, err := l.patternText(a)
	if err != nil {
		return eval.Value{}, err
	}
	found, err := matches(a, re, s, 1)
	if err != nil || len(found) == 0 {
		return eval.Nil(), err
	}
	return groups(s, found[0]), nil
}

func (l *Library) textFindAll(a *args) (eval.Value, error) {
	re, s, err := l.patternText(a)
	if err != nil {
		return eval.Value{}, err
	}
	found, err := matches(a, re, s, -1)
	if err != nil {
		return eval.Value{}, err
	}
	out := eval.NewArray(len(found))
	for _, at := range found {
		if len(at) == 2 {
			out.Push(eval.String(s[at[0]:at[1]]))
		} else {
			out.Push(groups(s, at))
		}
	}
	return out.Value(), nil
}

func (l *Library) textReplace(a *args) (eval.Value, error) {
	re, s, err := l.patternText(a)
	if err != nil {
		return eval.Value{}, err
	}
	found, err := matches(a, re, s, -1)
	if err != nil {
		return eval.Value{}, err
	}
	by, plain := a.vals[2].AsString()
	var out []byte
	end, room := 0, 1<<20
	for _, at := range found {
		out = append(out, s[end:at[0]]...)
		end = at[1]
		if plain {
			out = re.ExpandString(out, by, s, at)
		} else if out, err = replacement(a, out, s, at); err != nil {
			return eval.Value{}, err
		}
		if len(out) > maxDump {
			return eval.Value{}, a.fail("the text would be over %d MiB", maxDump>>20)
		}
		if len(out) > room {
			room = len(out) / 2 * 3
			if err := a.Thread.Reserve(int64(len(out)) * 3); err != nil { // as it grows it stands there twice
				return eval.Value{}, err
			}
		}
	}
	return eval.String(string(append(out, s[end:]...))), nil
}

// replacement appends what a function gives for a match.
func replacement(a *args, out []byte, s string, at []int) ([]byte, error) {
	arg := eval.String(s[at[0]:at[1]])
	if len(at) > 2 {
		arg = groups(s, at)
	}
	v, err := a.Thread.Call(a.vals[2], arg)
	if err != nil {
		return nil, err
	}
	text, ok := v.AsString()
	if !ok {
		return nil, a.fail("the function for 'by' must give a String, got %s", v.TypeName())
	}
	return append(out, text...), nil
}

func (l *Library) textSplit(a *args) (eval.Value, error) {
	re, s, err := l.patternText(a)
	if err != nil {
		return eval.Value{}, err
	}
	found, err := matches(a, re, s, -1)
	if err != nil {
		return eval.Value{}, err
	}
	out := eval.NewArray(len(found) + 1)
	end := 0
	for _, at := range found {
		if at[1] == 0 || at[0] == at[1] && at[0] == len(s) {
			continue // an empty match at either end parts nothing
		}
		out.Push(eval.String(s[end:at[0]]))
		end = at[1]
	}
	out.Push(eval.String(s[end:]))
	return out.Value(), nil
}

func textEscape(a *args) (eval.Value, error) {
	s, err := a.text(0)
	return eval.String(regexp.QuoteMeta(s)), err
}

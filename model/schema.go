package model

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxSteps bounds the work of one check, in pairs of a schema and a value.
const maxSteps = 100_000

// checker checks a value against a guarded schema and collects the faults.
type checker struct {
	*checking
	faults []string
}

// checking is what the checkers of one check share.
type checking struct {
	root     any
	steps    int
	refs     map[string]any
	patterns map[string]*regexp.Regexp
}

func newChecker(root any) *checker {
	return &checker{checking: &checking{root: root, refs: map[string]any{}, patterns: map[string]*regexp.Regexp{}}}
}

// sub gives a checker whose faults are its own.
func (c *checker) sub() *checker { return &checker{checking: c.checking} }

// step counts a piece of work; false where there has been too much.
func (c *checking) step() bool {
	c.steps++
	return c.steps <= maxSteps
}

// target gives what a reference points to; nil, which accepts all, where that
// is nothing.
func (c *checking) target(ref string) any {
	found, ok := c.refs[ref]
	if !ok {
		found, _ = resolve(c.root, ref)
		c.refs[ref] = found
	}
	return found
}

// pattern gives a compiled pattern; nil for one in another dialect than Go's.
func (c *checking) pattern(p string) *regexp.Regexp {
	re, ok := c.patterns[p]
	if !ok {
		re, _ = regexp.Compile(p)
		c.patterns[p] = re
	}
	return re
}

func (c *checker) fault(path, format string, args ...any) {
	c.faults = append(c.faults, label(path)+" "+fmt.Sprintf(format, args...))
}

// label names a place in the arguments.
func label(path string) string {
	if path == "" {
		return "the arguments"
	}
	quoted := strconv.Quote(shorten(path))
	return "argument '" + quoted[1:len(quoted)-1] + "'"
}

// shorten cuts a text to 60 characters.
func shorten(s string) string {
	r := []rune(strings.ToValidUTF8(s, "�"))
	if len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return string(r)
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// accepts reports whether a value satisfies a schema, without telling faults.
func (c *checker) accepts(schema, value any) bool {
	sub := c.sub()
	sub.check(schema, value, "")
	return len(sub.faults) == 0
}

// check tells the faults of a value. A path is empty for the arguments as a
// whole.
func (c *checker) check(schema, value any, path string) {
	if !c.step() {
		return
	}
	s, ok := schema.(*object)
	if !ok {
		if schema == false {
			c.fault(path, "may not be given")
		}
		return
	}
	if nullable, _ := s.get("nullable"); nullable == true && value == nil {
		return
	}
	if ref, ok := s.values["$ref"].(string); ok {
		c.check(c.target(ref), value, path)
	}
	if !c.checkType(s, value, path) {
		return
	}
	c.checkChoice(s, value, path)
	c.checkUnions(s, value, path)
	switch v := value.(type) {
	case string:
		c.checkString(s, v, path)
	case json.Number:
		c.checkNumber(s, parseDecimal(string(v)), path)
	case []any:
		c.checkArray(s, v, path)
	case *object:
		c.checkObject(s, v, path)
	}
}

// checkType reports whether a value has a type that the schema allows.
func (c *checker) checkType(s *object, value any, path string) bool {
	var names []string
	switch t := s.values["type"].(type) {
	case string:
		names = []string{t}
	case []any:
		for _, e := range t {
			if name, ok := e.(string); ok {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return true
	}
	kind := kindOf(value)
	words := make([]string, len(names))
	for i, name := range names {
		if name == kind || name == "number" && kind == "integer" {
			return true
		}
		words[i] = typeWords(name)
	}
	c.fault(path, "must be %s, not %s", strings.Join(words, " or "), describe(value))
	return false
}

// describe says what a value is, and which it is where that is short.
func describe(v any) string {
	switch v := v.(type) {
	case string:
		return "the string " + shortQuote(v)
	case json.Number:
		return "the number " + shortNumber(string(v))
	case bool:
		return strconv.FormatBool(v)
	}
	return kindWords(v)
}

func shortNumber(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

func (c *checker) checkChoice(s *object, value any, path string) {
	if list, ok := s.values["enum"].([]any); ok {
		var shown []string
		got := canonical(value)
		for _, e := range list {
			if !c.step() || canonical(e) == got {
				return
			}
			if len(shown) < 20 {
				shown = append(shown, plainJSON(e))
			}
		}
		if len(list) > len(shown) {
			shown = append(shown, "…")
		}
		c.fault(path, "must be one of %s", strings.Join(shown, ", "))
	}
	if want, ok := s.get("const"); ok && canonical(want) != canonical(value) {
		c.fault(path, "must be %s", plainJSON(want))
	}
}

// plainJSON writes a value for a message.
func plainJSON(v any) string {
	switch v := v.(type) {
	case json.Number:
		return shortNumber(string(v))
	case string:
		return shortQuote(v)
	}
	return shortNumber(canonical(v))
}

func (c *checker) checkUnions(s *object, value any, path string) {
	for _, sub := range listOf(s, "allOf") {
		c.check(sub, value, path)
	}
	if list := listOf(s, "anyOf"); list != nil && c.count(list, value) == 0 {
		c.noMatch(list, value, path)
	}
	if list := listOf(s, "oneOf"); list != nil {
		switch n := c.count(list, value); {
		case n == 0:
			c.noMatch(list, value, path)
		case n > 1:
			c.fault(path, "must have exactly one of the allowed forms, not %d", n)
		}
	}
	if not, ok := s.get("not"); ok && c.accepts(not, value) {
		c.fault(path, "may not have this form")
	}
	if cond, ok := s.get("if"); ok {
		branch := "else"
		if c.accepts(cond, value) {
			branch = "then"
		}
		if sub, ok := s.get(branch); ok {
			c.check(sub, value, path)
		}
	}
}

func (c *checker) count(list []any, value any) int {
	n := 0
	for _, sub := range list {
		if c.accepts(sub, value) {
			n++
		}
	}
	return n
}

// noMatch tells what the first form that allows the value's type lacks.
func (c *checker) noMatch(list []any, value any, path string) {
	for _, sub := range list {
		s, ok := sub.(*object)
		if !ok || !c.sub().checkType(s, value, path) {
			continue
		}
		try := c.sub()
		try.check(sub, value, path)
		if len(try.faults) > 0 {
			c.fault(path, "must have one of the allowed forms (%s)", try.faults[0])
			return
		}
	}
	c.fault(path, "must have one of the allowed forms")
}

func (c *checker) checkString(s *object, v, path string) {
	n := utf8.RuneCountInString(v)
	if min, ok := limit(s, "minLength"); ok && sizeBelow(n, min) {
		c.fault(path, "must have at least %s characters, not %d", min.plain(), n)
	}
	if max, ok := limit(s, "maxLength"); ok && sizeAbove(n, max) {
		c.fault(path, "must have at most %s characters, not %d", max.plain(), n)
	}
	if pattern, ok := s.values["pattern"].(string); ok {
		if re := c.pattern(pattern); re != nil && !re.MatchString(v) {
			c.fault(path, "must match the pattern %s", shortQuote(pattern))
		}
	}
}

func (c *checker) checkNumber(s *object, v decimal, path string) {
	if min, ok := limit(s, "minimum"); ok && v.compare(min) < 0 {
		c.fault(path, "must be at least %s", min.plain())
	}
	if max, ok := limit(s, "maximum"); ok && v.compare(max) > 0 {
		c.fault(path, "must be at most %s", max.plain())
	}
	if min, ok := limit(s, "exclusiveMinimum"); ok && v.compare(min) <= 0 {
		c.fault(path, "must be more than %s", min.plain())
	}
	if max, ok := limit(s, "exclusiveMaximum"); ok && v.compare(max) >= 0 {
		c.fault(path, "must be less than %s", max.plain())
	}
	if of, ok := limit(s, "multipleOf"); ok && !v.isMultipleOf(of) {
		c.fault(path, "must be a multiple of %s", of.plain())
	}
}

func (c *checker) checkArray(s *object, v []any, path string) {
	if min, ok := limit(s, "minItems"); ok && sizeBelow(len(v), min) {
		c.fault(path, "must have at least %s items, not %d", min.plain(), len(v))
	}
	if max, ok := limit(s, "maxItems"); ok && sizeAbove(len(v), max) {
		c.fault(path, "must have at most %s items, not %d", max.plain(), len(v))
	}
	first := listOf(s, "prefixItems")
	rest, hasRest := s.get("items")
	if list, ok := rest.([]any); ok { // the older form of prefixItems
		first, hasRest = list, false
	}
	seen := map[string]bool{}
	unique := s.values["uniqueItems"] == true
	contains, wanted := s.get("contains")
	for i, e := range v {
		at := path + "[" + strconv.Itoa(i) + "]"
		switch {
		case i < len(first):
			c.check(first[i], e, at)
		case hasRest:
			c.check(rest, e, at)
		}
		if unique {
			key := canonical(e)
			if seen[key] {
				c.fault(at, "is there already; the items must differ")
			}
			seen[key] = true
		}
		wanted = wanted && !c.accepts(contains, e)
	}
	if wanted {
		if least, ok := limit(s, "minContains"); !ok || least.sign() > 0 {
			c.fault(path, "lacks an item of the form it must contain")
		}
	}
}

func (c *checker) checkObject(s *object, v *object, path string) {
	for _, r := range listOf(s, "required") {
		if key, ok := r.(string); ok {
			if _, there := v.get(key); !there {
				c.fault(join(path, key), "is missing")
			}
		}
	}
	if min, ok := limit(s, "minProperties"); ok && sizeBelow(len(v.keys), min) {
		c.fault(path, "must have at least %s entries, not %d", min.plain(), len(v.keys))
	}
	if max, ok := limit(s, "maxProperties"); ok && sizeAbove(len(v.keys), max) {
		c.fault(path, "must have at most %s entries, not %d", max.plain(), len(v.keys))
	}
	for _, key := range v.keys {
		c.checkEntry(s, v, key, path)
	}
	for _, key := range objectOf(s, "dependentRequired").keys {
		if _, there := v.get(key); !there {
			continue
		}
		for _, r := range listOf(objectOf(s, "dependentRequired"), key) {
			if other, ok := r.(string); ok {
				if _, there := v.get(other); !there {
					c.fault(join(path, other), "is missing, which '%s' needs", key)
				}
			}
		}
	}
}

// checkEntry checks one entry of an object by its name, by the patterns its
// name matches, or else as an additional one.
func (c *checker) checkEntry(s, v *object, key, path string) {
	at, value, known := join(path, key), v.values[key], false
	if names, ok := s.get("propertyNames"); ok && !c.accepts(names, key) {
		c.fault(path, "may not have an entry %s", shortQuote(key))
	}
	if sub, ok := objectOf(s, "properties").get(key); ok {
		known = true
		c.check(sub, value, at)
	}
	patterns := objectOf(s, "patternProperties")
	for _, p := range patterns.keys {
		if !c.step() {
			return
		}
		re := c.pattern(p)
		if re == nil {
			known = true // it may match
		} else if re.MatchString(key) {
			known = true
			c.check(patterns.values[p], value, at)
		}
	}
	extra, ok := s.get("additionalProperties")
	switch {
	case known || !ok:
	case extra == false && path == "":
		// An argument more than the tool knows is passed on: the server, which
		// may know better than its schema, says what it thinks of it.
	case extra == false:
		c.fault(at, "is unknown")
	default:
		c.check(extra, value, at)
	}
}

// listOf gives a keyword's list; nil where it has none.
func listOf(s *object, key string) []any {
	list, _ := s.values[key].([]any)
	return list
}

// objectOf gives a keyword's object; an empty one where it has none.
func objectOf(s *object, key string) *object {
	if o, ok := s.values[key].(*object); ok {
		return o
	}
	return &object{}
}

func limit(s *object, key string) (decimal, bool) {
	n, ok := s.values[key].(json.Number)
	return parseDecimal(string(n)), ok
}

func sizeBelow(n int, min decimal) bool { return parseDecimal(strconv.Itoa(n)).compare(min) < 0 }
func sizeAbove(n int, max decimal) bool { return parseDecimal(strconv.Itoa(n)).compare(max) > 0 }

// plain writes a number as people do where that is short.
func (d decimal) plain() string {
	end := int64(len(d.digits)) + d.exp // the place of the point
	sign := ""
	if d.negative {
		sign = "-"
	}
	switch {
	case d.digits == "":
		return "0"
	case d.exp >= 0 && end <= 20:
		return sign + d.digits + strings.Repeat("0", int(d.exp))
	case d.exp < 0 && end > 0 && end <= 20:
		return sign + d.digits[:end] + "." + d.digits[end:]
	case d.exp < 0 && end <= 0 && end > -6:
		return sign + "0." + strings.Repeat("0", int(-end)) + d.digits
	}
	return shortNumber(d.String())
}

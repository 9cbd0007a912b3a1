package model

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// guardSchema refuses references that a check could not follow: to another
// document, to nothing, and round in a circle without going deeper into the
// value. A schema that refers to itself for the value's children, such as that
// of a tree, is fine.
func guardSchema(root any) error {
	g := &guard{root: root, state: map[*object]int{}, seen: map[*object]bool{}}
	return g.reach(root)
}

type guard struct {
	root  any
	state map[*object]int // 1: being followed, 2: ends
	seen  map[*object]bool
}

// reach visits every schema that can be got to.
func (g *guard) reach(schema any) error {
	s, ok := schema.(*object)
	if !ok || g.seen[s] {
		return nil
	}
	g.seen[s] = true
	if err := g.ends(s); err != nil {
		return err
	}
	next, _ := g.same(s) // what is wrong with it ends has found
	for _, n := range append(next, deeper(s)...) {
		if err := g.reach(n); err != nil {
			return err
		}
	}
	return nil
}

// ends follows the schemas that apply to the same value.
func (g *guard) ends(s *object) error {
	switch g.state[s] {
	case 1:
		return errors.New("it refers to itself without end")
	case 2:
		return nil
	}
	g.state[s] = 1
	next, err := g.same(s)
	if err != nil {
		return err
	}
	for _, n := range next {
		if o, ok := n.(*object); ok {
			if err := g.ends(o); err != nil {
				return err
			}
		}
	}
	g.state[s] = 2
	return nil
}

// same gives the schemas that apply to the same value as s.
func (g *guard) same(s *object) ([]any, error) {
	var out []any
	if ref, ok := s.values["$ref"].(string); ok {
		target, err := resolve(g.root, ref)
		if err != nil {
			return nil, err
		}
		out = append(out, target)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		out = append(out, listOf(s, key)...)
	}
	for _, key := range []string{"not", "if", "then", "else"} {
		if sub, ok := s.get(key); ok {
			out = append(out, sub)
		}
	}
	return out, nil
}

// deeper gives the schemas that apply to the children of the value.
func deeper(s *object) []any {
	var out []any
	for _, key := range []string{"properties", "patternProperties", "$defs", "definitions"} {
		o := objectOf(s, key)
		for _, k := range o.keys {
			out = append(out, o.values[k])
		}
	}
	out = append(out, listOf(s, "prefixItems")...)
	out = append(out, listOf(s, "items")...)
	for _, key := range []string{"items", "contains", "additionalProperties", "propertyNames"} {
		if sub, ok := s.get(key); ok {
			out = append(out, sub)
		}
	}
	return out
}

// resolve finds what a reference points to within root.
func resolve(root any, ref string) (any, error) {
	fragment, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, fmt.Errorf("it refers to another document, %s", shortQuote(ref))
	}
	fragment, err := url.PathUnescape(fragment)
	if err != nil {
		return nil, lost(ref)
	}
	if fragment != "" && fragment[0] != '/' {
		if found := anchor(root, fragment); found != nil {
			return found, nil
		}
		return nil, lost(ref)
	}
	at := root
	for _, part := range strings.Split(fragment, "/")[1:] {
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		switch v := at.(type) {
		case *object:
			if at, ok = v.get(part); !ok {
				return nil, lost(ref)
			}
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(v) {
				return nil, lost(ref)
			}
			at = v[i]
		default:
			return nil, lost(ref)
		}
	}
	return at, nil
}

func lost(ref string) error {
	return fmt.Errorf("it refers to %s, which it does not have", shortQuote(ref))
}

// anchor finds the schema with the given $anchor; nil where none has it.
func anchor(at any, name string) any {
	var inner []any
	switch v := at.(type) {
	case *object:
		if v.values["$anchor"] == name {
			return v
		}
		for _, k := range v.keys {
			inner = append(inner, v.values[k])
		}
	case []any:
		inner = v
	}
	for _, e := range inner {
		if found := anchor(e, name); found != nil {
			return found
		}
	}
	return nil
}

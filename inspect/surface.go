package inspect

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
)

// Bounds of what is kept of a program that declares without end.
const (
	maxPerPlace = 100
	maxDeclared = 5_000
)

// Surface collects what a program declares: give its Declare to the program as
// OnDeclare before it runs. The zero Surface is empty. It may be used by several
// goroutines.
type Surface struct {
	mu      sync.Mutex
	list    []eval.Declared
	perSite map[place]int
	omitted int
}

// place is where something is declared.
type place struct {
	kind, file string
	pos        diag.Pos
}

// Declare takes what came into being. What a loop declares more than a hundred
// times in one place is left out and counted.
func (s *Surface) Declare(d eval.Declared) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.perSite == nil {
		s.perSite = map[place]int{}
	}
	at := place{d.Kind, d.File, d.Pos}
	if len(s.list) >= maxDeclared || s.perSite[at] >= maxPerPlace {
		s.omitted++
		return
	}
	s.perSite[at]++
	s.list = append(s.list, d)
}

// item is something declared under the key that routes name it by.
type item struct {
	eval.Declared
	key string
}

// of lists what was declared of a kind, grouped by name, each group where its
// name came first. A name that was declared more than once gives the keys
// name#1, name#2.
func (s *Surface) of(kind string) []item {
	s.mu.Lock()
	defer s.mu.Unlock()
	byName := map[string][]eval.Declared{}
	var names []string
	for _, d := range s.list {
		if d.Kind != kind {
			continue
		}
		if byName[d.Name] == nil {
			names = append(names, d.Name)
		}
		byName[d.Name] = append(byName[d.Name], d)
	}
	var out []item
	for _, n := range names {
		for i, d := range byName[n] {
			key := n
			if len(byName[n]) > 1 {
				key = n + "#" + strconv.Itoa(i+1)
			}
			out = append(out, item{d, key})
		}
	}
	return out
}

// left gives how much was left out.
func (s *Surface) left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.omitted
}

// find gives what a route's key names. A name that got a second declaration
// meanwhile still means its first.
func (s *Surface) find(kind, word, key string) (item, error) {
	for _, it := range s.of(kind) {
		if it.key == key || it.key == key+"#1" {
			return it, nil
		}
	}
	return item{}, diag.New(diag.Runtime, "no %s named '%s'", word, key)
}

// findTool gives the tool of a route's key: one of the program, or server.tool
// of a connection.
func (s *Surface) findTool(key string) (eval.Value, error) {
	it, err := s.find("tool", "tool", key)
	if err == nil {
		return it.Value, nil
	}
	for _, sv := range s.of("mcp") {
		name, ok := strings.CutPrefix(key, sv.key+".")
		if !ok {
			continue
		}
		for _, v := range serverTools(sv.Value) {
			if t, ok := asMCPTool(v); ok && t.Name() == name {
				return v, nil
			}
		}
	}
	return eval.Value{}, err
}

// where says where something was declared, "" where that is unknown.
func (it item) where() string {
	if it.File == "" || !it.Pos.IsValid() {
		return ""
	}
	return fmt.Sprintf("%s:%d", it.File, it.Pos.Line)
}

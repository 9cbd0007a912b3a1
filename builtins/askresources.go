package builtins

import (
	"fmt"
	"strings"

	"github.com/sense-lang/sense/eval"
)

// givenTexts gives what stands before a prompt: the resources of
// ask_with_tools, each a Map of .resources(), a Map of .prompt(), or a text.
func (d *Deps) givenTexts(th *eval.Thread, given *eval.Array) (string, error) {
	if given == nil {
		return "", nil
	}
	var b strings.Builder
	for _, v := range given.Values() {
		text, err := d.givenText(th, v)
		if err != nil {
			return "", err
		}
		b.WriteString(text + "\n\n")
	}
	return b.String(), nil
}

func (d *Deps) givenText(th *eval.Thread, v eval.Value) (string, error) {
	if s, ok := v.AsString(); ok {
		return d.outputs().bounded(s, d.outputLimit()), nil
	}
	m, ok := v.AsMap()
	if !ok {
		return "", fail("ask_with_tools()'s resources must be Maps of .resources() or .prompt(), or Strings, got %s", v.TypeName())
	}
	if text, ok := mapText(m, "text"); ok {
		return d.outputs().bounded(text, d.outputLimit()), nil
	}
	uri, hasURI := mapText(m, "uri")
	name, hasServer := mapText(m, "server")
	if !hasURI || !hasServer {
		return "", fail("ask_with_tools()'s resources must be Maps with 'server' and 'uri', as .resources() gives them, or with 'text'")
	}
	s := d.serverNamed(name)
	if s == nil {
		return "", fail("ask_with_tools()'s resource '%s' is of a server '%s' that is not connected", uri, name)
	}
	text, err := s.read(th, uri)
	if err != nil {
		return "", err
	}
	text = d.outputs().bounded(text, d.outputLimit())
	return fmt.Sprintf("Resource %s of %s (%d characters):\n%s", cleanText(uri), name, len(text), text), nil
}

func mapText(m *eval.Map, key string) (string, bool) {
	v, ok := m.Get(key)
	if !ok {
		return "", false
	}
	return v.AsString()
}

// serverNamed finds the latest connection of a name.
func (d *Deps) serverNamed(name string) *MCPServer {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := len(d.servers) - 1; i >= 0; i-- {
		if d.servers[i].cfg.Name == name {
			return d.servers[i]
		}
	}
	return nil
}

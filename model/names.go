package model

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxWireName is the longest tool name that all vendors accept.
const maxWireName = 64

// ToolName identifies a tool. Server is the MCP server's name, empty for a tool
// declared in Sense.
type ToolName struct {
	Server, Tool string
}

// String gives the name as Sense writes it: "tool" or "server.tool".
func (t ToolName) String() string {
	if t.Server == "" {
		return t.Tool
	}
	return t.Server + "." + t.Tool
}

// Names is a bijection between the tools of one request and their names on the
// wire, where vendors allow only [a-zA-Z0-9_-]{1,64}. A Sense tool keeps its
// name where that is legal; an MCP tool becomes mcp__<server>__<tool>. Every
// other character is replaced by '_'; a name that is too long, or that another
// tool has already, is shortened and ends in a hash of the tool's identity.
// The zero value knows no tool.
type Names struct {
	wire map[ToolName]string
	tool map[string]ToolName
}

// NewNames names the tools of a request. A tool that occurs twice has one name.
// Names do not depend on the order of the tools except where a hash collides.
func NewNames(tools []ToolName) *Names {
	n := &Names{wire: map[ToolName]string{}, tool: map[string]ToolName{}}
	count := map[string]int{}
	seen := map[ToolName]bool{}
	for _, t := range tools {
		if !seen[t] {
			seen[t] = true
			count[foldName(t)]++
		}
	}
	// Legal names of Sense tools are taken first: they must not change because
	// another tool's folded name happens to be the same.
	for _, t := range tools {
		if t.Server == "" && legalName(t.Tool) {
			n.bind(t, t.Tool)
		}
	}
	for _, t := range tools {
		if _, done := n.wire[t]; done {
			continue
		}
		w := foldName(t)
		if _, taken := n.tool[w]; taken || count[w] > 1 || len(w) > maxWireName {
			w = n.hashed(t, w)
		}
		n.bind(t, w)
	}
	return n
}

func (n *Names) bind(t ToolName, w string) {
	n.wire[t] = w
	n.tool[w] = t
}

// hashed shortens w and makes it unique by a hash of the tool's identity.
func (n *Names) hashed(t ToolName, w string) string {
	sum := sha256.Sum256([]byte(t.Server + "\x00" + t.Tool))
	digits := hex.EncodeToString(sum[:])
	for size := 8; ; size++ {
		tail := "_" + digits[:size]
		got := w[:min(len(w), maxWireName-len(tail))] + tail
		if _, taken := n.tool[got]; !taken {
			return got
		}
	}
}

// Wire gives a tool's name on the wire; empty for a tool that was not given to
// NewNames.
func (n *Names) Wire(t ToolName) string { return n.wire[t] }

// Tool gives the tool that a name on the wire stands for; false where no tool
// has that name.
func (n *Names) Tool(wire string) (ToolName, bool) {
	t, ok := n.tool[wire]
	return t, ok
}

// foldName spells a tool's name with the characters that vendors allow.
func foldName(t ToolName) string {
	s := t.Tool
	if t.Server != "" {
		s = "mcp__" + t.Server + "__" + t.Tool
	}
	s = strings.Map(func(r rune) rune {
		if wireRune(r) {
			return r
		}
		return '_'
	}, s)
	if s == "" {
		return "_"
	}
	return s
}

// legalName reports whether vendors accept s as it is.
func legalName(s string) bool {
	if s == "" || len(s) > maxWireName {
		return false
	}
	for _, r := range s {
		if !wireRune(r) {
			return false
		}
	}
	return true
}

func wireRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

package builtins

import (
	"maps"
	"slices"
)

// What each value offers after a dot, for completion. A method that exists only
// in a table is taken from there.

// MemberNames lists the members.
func (m *Memory) MemberNames() []string {
	return append([]string{"name", "kind"}, slices.Collect(maps.Keys(memoryMethods))...)
}

// MemberNames lists the members.
func (m *Persistent) MemberNames() []string {
	return append([]string{"name", "path"}, slices.Collect(maps.Keys(persistentMethods))...)
}

// MemberNames lists the members.
func (m *Model) MemberNames() []string { return []string{"name", "ask"} }

// MemberNames lists the members.
func (a *Answer) MemberNames() []string {
	return []string{"value", "confidence", "source", "actions", "usage", "truncated"}
}

// MemberNames lists the members.
func (s *Skill) MemberNames() []string { return []string{"name", "description", "tools"} }

// MemberNames lists the members.
func (s *MCPServer) MemberNames() []string {
	names := []string{"name", "tools", "status", "error", "instructions"}
	for i := range serverMethods {
		names = append(names, serverMethods[i].Name)
	}
	return names
}

// MemberNames lists the members.
func (t *MCPTool) MemberNames() []string {
	return []string{"name", "description", "schema", "server", "annotations"}
}

package ast

import "strings"

// BoundName is the name that the statement binds: its alias, or the last part
// of its path, without the extension where it is a file's.
func (s *ImportStmt) BoundName() string {
	if s.Alias != "" {
		return s.Alias
	}
	path := s.Path
	if s.Dotted || s.Python {
		return path[strings.LastIndexByte(path, '.')+1:]
	}
	path = path[strings.LastIndexAny(path, `/\`)+1:]
	if i := strings.LastIndexByte(path, '.'); i > 0 {
		path = path[:i]
	}
	return path
}

// BoundName is the name that the import binds: its alias, or the member's own.
func (n *ImportName) BoundName() string {
	if n.Alias != "" {
		return n.Alias
	}
	return n.Name
}

package builtins

import (
	"strings"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/mcp"
	"github.com/sense-lang/sense/mcp/config"
)

// What a server says of its tools is pinned in sense.lock, and noted when it is
// first read: what it says later must be the same.

// lock gives the lock that counts for a program in a folder, nil where there is
// none.
func (d *Deps) lock(folder string) (*config.Lock, error) {
	path := config.FindLock(folder)
	if path == "" {
		if d.MCP.Locked {
			return nil, fail("with --locked there must be a %s that pins the tools; make one with: sense mcp pin", config.LockFile)
		}
		return nil, nil
	}
	l, err := config.LoadLock(path)
	if err != nil {
		return nil, fail("%v", err)
	}
	return l, nil
}

// notice shows a line that the user must see.
func (d *Deps) notice(line string) {
	if d.MCP.Notice != nil {
		d.MCP.Notice(diag.Visible(line))
		return
	}
	d.warn(line)
}

// inspect compares a tool that was just listed with what is pinned and with
// what it was before. The error says why it must not be used.
func (s *MCPServer) inspect(t *mcp.Tool) error {
	now := config.PinOf(t)
	before := s.seen[t.Name]
	s.seen[t.Name] = now
	name := s.cfg.Name + "." + t.Name
	if before != nil {
		if parts := before.Changed(now); parts != nil {
			return s.suspect("mcp tool '" + name + "' changed its " + strings.Join(parts, " and ") + " while the program runs")
		}
	}
	if s.pins == nil {
		return nil
	}
	pinned := s.pins.Pinned(s.cfg.Name, t.Name)
	if pinned == nil {
		if s.pins.Has(s.cfg.Name) || s.deps.MCP.Locked {
			return s.suspect("mcp tool '" + name + "' is not in " + s.pins.Path())
		}
		return nil
	}
	if parts := pinned.Changed(now); parts != nil {
		return s.suspect("mcp tool '" + name + "' changed its " + strings.Join(parts, " and ") + " since it was pinned in " + s.pins.Path())
	}
	return nil
}

// suspect shows what is odd about a tool; with --locked it is an error.
func (s *MCPServer) suspect(what string) error {
	what += "; look at it with: sense mcp tools " + s.cfg.Name + ", and pin it with: sense mcp pin " + s.cfg.Name
	s.deps.notice(what)
	if !s.deps.MCP.Locked {
		return nil
	}
	return fail("%s (--locked)", what)
}

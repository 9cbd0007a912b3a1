package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"time"

	gomcp "github.com/mark3labs/mcp-go/mcp"
)

// Limits of a list of tools. A server beyond them is faulty or hostile.
const (
	maxPages       = 100
	maxTools       = 10_000
	maxSchemaDepth = 64
)

// pages reads all pages of a list method and gives the raw elements of the
// member named key.
func (s *session) pages(ctx context.Context, limit time.Duration, method, key string) ([]json.RawMessage, error) {
	var all []json.RawMessage
	seen := map[string]bool{}
	cursor := ""
	for range maxPages {
		var p params
		if cursor != "" {
			p.members = append([]byte(`"cursor":`), quote(cursor)...)
		}
		raw, err := s.request(ctx, limit, method, p)
		if err != nil {
			return nil, err
		}
		var page map[string]json.RawMessage
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &page); err != nil {
			return nil, badAnswer(err)
		}
		if list := notNull(page[key]); list != nil {
			if err := json.Unmarshal(list, &items); err != nil {
				return nil, badAnswer(err)
			}
		}
		if all = append(all, items...); len(all) > maxTools {
			return nil, fmt.Errorf("the server lists more than %d %s", maxTools, key)
		}
		if cursor = nextCursor(page["nextCursor"]); cursor == "" {
			return all, nil
		}
		if seen[cursor] {
			return nil, fmt.Errorf("the server's %s repeats the cursor '%s'", method, clean(cursor, 60))
		}
		seen[cursor] = true
	}
	return nil, fmt.Errorf("the server's %s has more than %d pages", method, maxPages)
}

// nextCursor reads a cursor; "" ends the list. Cursors are strings, but some
// servers send numbers.
func nextCursor(raw json.RawMessage) string {
	if raw = notNull(raw); raw == nil {
		return ""
	}
	return plain(raw)
}

// listTools reads the list of tools. A tool that is not usable is left out with a
// warning and never costs the others.
func (s *session) listTools(ctx context.Context, owner *Server) ([]*Tool, error) {
	if s.init.Capabilities.Tools == nil && !s.modern() {
		// Old servers forget to declare what they have, so ask, but do not insist.
		items, err := s.pages(ctx, s.cfg.callTimeout(), string(gomcp.MethodToolsList), "tools")
		var refused *RPCError
		if errors.As(err, &refused) {
			return nil, nil
		}
		return s.readTools(items, owner), err
	}
	items, err := s.pages(ctx, untilContext, string(gomcp.MethodToolsList), "tools")
	return s.readTools(items, owner), err
}

func (s *session) readTools(items []json.RawMessage, owner *Server) []*Tool {
	var tools []*Tool
	taken := map[string]bool{}
	for i, raw := range items {
		t, err := parseTool(raw)
		if err == nil && taken[t.Name] {
			err = fmt.Errorf("its name '%s' is listed twice", clean(t.Name, 100))
		}
		if err == nil {
			err = s.checkHeaders(t)
		}
		if err != nil {
			s.warn(fmt.Sprintf("leaves out tool %d of %d: %s", i+1, len(items), err))
			continue
		}
		taken[t.Name] = true
		if !s.cfg.offers(t.Name) {
			continue
		}
		t.Server = owner
		tools = append(tools, t)
	}
	return tools
}

// parseTool reads one element of a list of tools.
func parseTool(raw json.RawMessage) (*Tool, error) {
	if depth := jsonDepth(raw); depth > maxSchemaDepth {
		return nil, fmt.Errorf("its schema is nested %d deep, more than %d", depth, maxSchemaDepth)
	}
	var w map[string]json.RawMessage
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, badAnswer(err)
	}
	var t Tool
	if json.Unmarshal(w["name"], &t.Name) != nil || t.Name == "" {
		return nil, fmt.Errorf("it has no name")
	}
	if desc := notNull(w["description"]); desc != nil {
		t.Description = plain(desc)
	}
	t.Schema = notNull(w["inputSchema"])
	if t.Schema == nil {
		t.Schema = json.RawMessage(`{"type":"object"}`)
	}
	if t.Schema[0] != '{' {
		return nil, fmt.Errorf("the input schema of '%s' is no object", clean(t.Name, 100))
	}
	t.OutputSchema, t.Meta = notNull(w["outputSchema"]), notNull(w["_meta"])
	_ = json.Unmarshal(w["annotations"], &t.Annotations) // hints, so odd ones count as none
	return &t, nil
}

// offers says whether the allow-list lets a tool through.
func (c *Config) offers(tool string) bool {
	if len(c.Tools) == 0 {
		return true
	}
	for _, glob := range c.Tools {
		if ok, err := path.Match(glob, tool); ok && err == nil || glob == tool {
			return true
		}
	}
	return false
}

package stubs

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var wireNameForm = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Refusal says why the vendor would refuse a request, or "".
func Refusal(kind Kind, body map[string]any) string {
	if why := refuseTools(kind, body); why != "" {
		return why
	}
	if n, ok := body["max_tokens"].(json.Number); kind == Anthropic && (!ok || n == "0") {
		return "max_tokens: Field required"
	}
	return refuseMessages(kind, list(body["messages"]))
}

func refuseTools(kind Kind, body map[string]any) string {
	tools, given := body["tools"].([]any)
	if given && len(tools) == 0 {
		return "tools: [] is too short"
	}
	seen := map[string]bool{}
	for _, t := range tools {
		t, _ := t.(object)
		name := str(t["name"])
		if kind == OpenAI {
			f, _ := t["function"].(object)
			name = str(f["name"])
		}
		if !wireNameForm.MatchString(name) {
			return fmt.Sprintf("tools: name '%s' does not match '^[a-zA-Z0-9_-]{1,64}$'", name)
		}
		if seen[name] {
			return "tools: tool names must be unique"
		}
		seen[name] = true
	}
	return ""
}

type set map[string]bool

func (s set) String() string {
	ids := slices.Sorted(maps.Keys(s))
	for i, id := range ids {
		ids[i] = "'" + id + "'"
	}
	return "[" + strings.Join(ids, ", ") + "]"
}

// refuseMessages checks that every tool call is answered in the next turn and
// that no result stands without its call. OpenAI's results are messages of their
// own; Anthropic's are blocks of one.
func refuseMessages(kind Kind, messages []any) string {
	open := set{}
	for _, m := range messages {
		m, _ := m.(object)
		done, orphans := answered(m), set{}
		for id := range done {
			if !open[id] {
				orphans[id] = true
			}
		}
		if len(orphans) > 0 {
			return fmt.Sprintf("messages: no tool call for the result(s) %v", orphans)
		}
		if len(open) > 0 && len(done) == 0 {
			return fmt.Sprintf("messages: tool call(s) %v have no result", open)
		}
		for id := range done {
			delete(open, id)
		}
		if len(open) > 0 && kind == Anthropic {
			return fmt.Sprintf("messages: tool call(s) %v have no result", open)
		}
		maps.Copy(open, called(m))
		if m["content"] == nil && len(list(m["tool_calls"])) == 0 {
			return "messages: content is missing"
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("messages: tool call(s) %v have no result", open)
	}
	return ""
}

func answered(m object) set {
	ids := set{}
	for _, b := range list(m["content"]) {
		if b, _ := b.(object); b["type"] == "tool_result" {
			ids[str(b["tool_use_id"])] = true
		}
	}
	if m["role"] == "tool" {
		ids[str(m["tool_call_id"])] = true
	}
	return ids
}

func called(m object) set {
	ids := set{}
	for _, b := range list(m["content"]) {
		if b, _ := b.(object); b["type"] == "tool_use" {
			ids[str(b["id"])] = true
		}
	}
	for _, c := range list(m["tool_calls"]) {
		c, _ := c.(object)
		ids[str(c["id"])] = true
	}
	return ids
}

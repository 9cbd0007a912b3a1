package modeltest

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
	"sync"
)

var legalTool = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`) })

// Refusal says why a vendor would refuse a request's body; empty where it
// would not.
func Refusal(w Wire, body map[string]any) string {
	checks := []func(Wire, map[string]any) string{refuseOptions, refuseTools, refuseMessages}
	for _, check := range checks {
		if why := check(w, body); why != "" {
			return why
		}
	}
	return ""
}

func refuseOptions(w Wire, body map[string]any) string {
	if name, _ := body["model"].(string); name == "" {
		return "you must provide a model parameter"
	}
	if w == Anthropic {
		if body["max_tokens"] == nil {
			return "max_tokens: Field required"
		}
		return refuseFormat(get(body, "output_config", "format", "schema"))
	}
	if get(body, "response_format", "json_schema", "strict") == true {
		return refuseFormat(get(body, "response_format", "json_schema", "schema"))
	}
	return ""
}

// refuseFormat refuses the schema of a structured answer with an object that
// is open to other properties.
func refuseFormat(schema any) string {
	s, ok := schema.(obj)
	if !ok {
		return ""
	}
	if s["type"] == "object" && s["additionalProperties"] == nil {
		return "schema: for 'object' type, 'additionalProperties' must be explicitly set to false"
	}
	for _, v := range s {
		for _, sub := range append(list(v), v) {
			if why := refuseFormat(sub); why != "" {
				return why
			}
		}
	}
	return ""
}

func refuseTools(w Wire, body map[string]any) string {
	tools, given := body["tools"]
	if given && tools != nil && len(list(tools)) == 0 {
		return "tools: [] is too short"
	}
	seen := map[string]bool{}
	for _, t := range list(tools) {
		name := toolName(t)
		if !legalTool().MatchString(name) {
			return fmt.Sprintf("tools: name '%s' does not match '^[a-zA-Z0-9_-]{1,64}$'", name)
		}
		if seen[name] {
			return "tools: tool names must be unique"
		}
		seen[name] = true
		if why := refuseSchema(w, t.(obj)); why != "" {
			return fmt.Sprintf("invalid schema for function '%s': %s", name, why)
		}
	}
	return ""
}

func refuseSchema(w Wire, tool obj) string {
	schema, ok := tool["input_schema"].(obj)
	if w == OpenAI {
		schema, ok = get(tool, "function", "parameters").(obj)
	}
	switch {
	case !ok || schema["type"] != "object":
		return "schema must be of type 'object'"
	case w == OpenAI && schema["properties"] == nil:
		return "object schema missing properties"
	}
	if w == Anthropic {
		for _, union := range []string{"anyOf", "oneOf", "allOf"} {
			if schema[union] != nil {
				return "input_schema does not support oneOf, allOf, or anyOf at the top level"
			}
		}
	}
	return refuseArrays(schema)
}

func refuseArrays(schema any) string {
	s, ok := schema.(obj)
	if !ok {
		return ""
	}
	if s["type"] == "array" && s["items"] == nil && s["prefixItems"] == nil {
		return "array schema missing items"
	}
	for _, v := range s {
		for _, sub := range append(list(v), v) {
			if why := refuseArrays(sub); why != "" {
				return why
			}
		}
	}
	return ""
}

// refuseMessages demands that every call is answered, in the very next message
// on Anthropic's wire, that no result lacks its call, and that no text is
// empty.
func refuseMessages(w Wire, body map[string]any) string {
	messages := list(body["messages"])
	if len(messages) == 0 {
		return "messages: at least one message is required"
	}
	open, used := map[string]bool{}, map[string]bool{}
	for i, raw := range messages {
		m, _ := raw.(obj)
		if why := refuseMessage(w, i, m, open, used); why != "" {
			return why
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("messages: tool call(s) %v have no result", names(open))
	}
	return ""
}

func refuseMessage(w Wire, i int, m obj, open, used map[string]bool) string {
	role, _ := m["role"].(string)
	if w == Anthropic && (role != "user" && role != "assistant" || i == 0 && role != "user") {
		return fmt.Sprintf("messages.%d: unexpected role %q", i, role)
	}
	if why := refuseContent(w, m); why != "" {
		return fmt.Sprintf("messages.%d: %s", i, why)
	}
	done := resultIDs(m)
	for id := range done {
		if !open[id] {
			return fmt.Sprintf("messages.%d: no tool call for the result %s", i, id)
		}
	}
	if len(open) > 0 && (len(done) == 0 || w == Anthropic && len(done) < len(open)) {
		return fmt.Sprintf("messages.%d: tool call(s) %v have no result", i, names(open))
	}
	for id := range done {
		delete(open, id)
	}
	for _, id := range callIDs(m) {
		if id == "" || used[id] {
			return fmt.Sprintf("messages.%d: the tool call id %q is empty or not unique", i, id)
		}
		open[id], used[id] = true, true
	}
	return ""
}

func refuseContent(w Wire, m obj) string {
	content := m["content"]
	calls := len(list(m["tool_calls"])) > 0
	if content == nil && !calls || content == "" && (!calls || m["role"] == "tool") {
		return "content is missing"
	}
	if w == OpenAI {
		return ""
	}
	if l, ok := content.([]any); ok && len(l) == 0 {
		return "content is missing"
	}
	for _, b := range blocks(m) {
		if s, ok := b["text"].(string); b["type"] == "text" && (!ok || strings.TrimSpace(s) == "") {
			return "text content blocks must contain non-whitespace text"
		}
		if _, ok := b["input"].(obj); b["type"] == "tool_use" && !ok {
			return "tool_use.input: Input should be a valid dictionary"
		}
		if why := refuseContent(w, obj{"content": b["content"]}); b["type"] == "tool_result" && b["content"] != nil && why != "" {
			return "tool_result: " + why
		}
	}
	return ""
}

func resultIDs(m obj) map[string]bool {
	out := map[string]bool{}
	if id, ok := m["tool_call_id"].(string); ok && m["role"] == "tool" {
		out[id] = true
	}
	for _, b := range blocks(m) {
		if id, ok := b["tool_use_id"].(string); ok && b["type"] == "tool_result" {
			out[id] = true
		}
	}
	return out
}

func callIDs(m obj) []string {
	var out []string
	for _, b := range blocks(m) {
		if b["type"] == "tool_use" {
			id, _ := b["id"].(string)
			out = append(out, id)
		}
	}
	for _, c := range list(m["tool_calls"]) {
		call, _ := c.(obj)
		id, _ := call["id"].(string)
		out = append(out, id)
	}
	return out
}

func names(set map[string]bool) []string {
	var out []string
	for s := range set {
		out = append(out, s)
	}
	sort.Strings(out)
	return out
}

// get follows keys into nested objects; nil where one is missing.
func get(v any, keys ...string) any {
	for _, k := range keys {
		m, ok := v.(obj)
		if !ok {
			return nil
		}
		v = m[k]
	}
	return v
}

package stubs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sense-lang/sense/internal/pyjson"
)

// Results gives the texts of the tool results in a request's last turn.
func Results(body map[string]any) []string {
	var out []string
	messages := list(body["messages"])
	for _, m := range slices.Backward(messages) {
		m, _ := m.(object)
		if m["role"] != "tool" {
			if m["role"] == "user" {
				out = append(out, blockResults(m)...)
			}
			return out
		}
		out = slices.Insert(out, 0, plain(m["content"]))
	}
	return out
}

func blockResults(m object) []string {
	var out []string
	for _, b := range list(m["content"]) {
		if b, _ := b.(object); b["type"] == "tool_result" {
			out = append(out, plain(b["content"]))
		}
	}
	return out
}

// plain gives a content that is a string, or the texts of its blocks.
func plain(content any) string {
	if s, ok := content.(string); ok {
		return s
	}
	var b strings.Builder
	for _, x := range list(content) {
		x, _ := x.(object)
		b.WriteString(str(x["text"]))
	}
	return b.String()
}

// Requests gives one line for each request: the offered tools by folded name, then
// each message as role:text.
func (s *Stub) Requests() string {
	var b strings.Builder
	for _, a := range s.Asked() {
		names := toolNames(a.Body)
		for i, n := range names {
			names[i] = foldedName(n)
		}
		slices.Sort(names)
		var messages []string
		for _, m := range list(a.Body["messages"]) {
			messages = append(messages, message(m.(object)))
		}
		line := "tools=" + strings.Join(names, ",") + " " + strings.Join(messages, " | ")
		quoted := pyjson.Dumps(countRuns(line), pyjson.Options{})
		b.WriteString(strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`) + "\n")
	}
	return b.String()
}

// foldedName shows a wire name as Sense names the tool.
func foldedName(wire string) string {
	return strings.TrimPrefix(strings.ReplaceAll(wire, "__", "."), "mcp.")
}

func message(m object) string {
	text := "None" // as the corpus shows an absent content
	if m["content"] != nil {
		text = content(m["content"])
	} else if len(list(m["tool_calls"])) > 0 {
		text = ""
	}
	for _, c := range list(m["tool_calls"]) {
		c, _ := c.(object)
		f, _ := c["function"].(object)
		text += "call(" + sortedJSON(str(f["arguments"])) + ")"
	}
	return str(m["role"]) + ":" + text
}

func content(c any) string {
	if s, ok := c.(string); ok {
		return s
	}
	var parts []string
	for _, b := range list(c) {
		b, _ := b.(object)
		switch b["type"] {
		case "text":
			parts = append(parts, str(b["text"]))
		case "tool_use":
			parts = append(parts, "call("+pyjson.Dumps(b["input"], pyjson.Options{SortKeys: true})+")")
		case "tool_result":
			parts = append(parts, "result("+plain(b["content"])+")")
		}
	}
	return strings.Join(parts, " ")
}

// sortedJSON writes JSON text with sorted keys, and broken JSON as it is.
func sortedJSON(text string) string {
	if text == "" {
		text = "{}"
	}
	v, err := pyjson.Parse([]byte(text))
	if err != nil {
		return text
	}
	return pyjson.Dumps(v, pyjson.Options{SortKeys: true})
}

// countRuns writes a run of 200 or more of one character as c*N.
func countRuns(s string) string {
	var b strings.Builder
	runes := []rune(s)
	for i := 0; i < len(runes); {
		j := i
		for j < len(runes) && runes[j] == runes[i] {
			j++
		}
		if j-i >= 200 && runes[i] != '\n' {
			fmt.Fprintf(&b, "%c*%d", runes[i], j-i)
		} else {
			b.WriteString(string(runes[i:j]))
		}
		i = j
	}
	return b.String()
}

// Sent gives one line for each request: where it went, the model, the sampling
// options, the API key.
func (s *Stub) Sent() string {
	var b strings.Builder
	for _, a := range s.Asked() {
		fmt.Fprintf(&b, "%s %s model=%s", s.kind, a.Path, modelName(a.Body["model"]))
		for _, k := range []string{"temperature", "max_tokens", "max_completion_tokens"} {
			if n, ok := a.Body[k].(json.Number); ok {
				f, _ := n.Float64() // the vendor's client wrote it
				fmt.Fprintf(&b, " %s=%s", k, strconv.FormatFloat(f, 'g', 6, 64))
			}
		}
		fmt.Fprintf(&b, " key=%s\n", a.Key)
	}
	return b.String()
}

func modelName(v any) string {
	if v == nil {
		return "None"
	}
	return fmt.Sprint(v)
}

// Schemas gives one line for each tool of the first request that offers any: its
// name, description and JSON schema without empty parts, sorted.
func (s *Stub) Schemas() string {
	for _, a := range s.Asked() {
		var rows []string
		for _, t := range list(a.Body["tools"]) {
			t, _ := t.(object)
			f, ok := t["function"].(object)
			if !ok {
				f = t
			}
			schema, ok := f["parameters"]
			if !ok {
				schema = f["input_schema"]
			}
			rows = append(rows, fmt.Sprintf("%s %s %s\n", foldedName(str(f["name"])),
				pyjson.Dumps(f["description"], pyjson.Options{}),
				pyjson.Dumps(withoutEmpty(schema), pyjson.Options{SortKeys: true})))
		}
		if len(rows) > 0 {
			slices.Sort(rows)
			return strings.Join(rows, "")
		}
	}
	return ""
}

var mayBeEmpty = []string{"properties", "required", "items"}

// withoutEmpty leaves out empty "properties", "required" and "items": a vendor's
// client may add them.
func withoutEmpty(schema any) any {
	switch v := schema.(type) {
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = withoutEmpty(x)
		}
		return out
	case object:
		out := object{}
		for k, x := range v {
			if !slices.Contains(mayBeEmpty, k) || !isEmpty(x) {
				out[k] = withoutEmpty(x)
			}
		}
		return out
	}
	return schema
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) == 0
	case object:
		return len(v) == 0
	}
	return false
}

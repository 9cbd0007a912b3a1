package modeltest

import (
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Summary writes one line for each request as the conformance corpus does in
// its section "requests": the offered tools by folded name, then each message
// as role:text.
func Summary(asked []Request) string {
	var out strings.Builder
	for _, a := range asked {
		names := offered(a.Body)
		for i, n := range names {
			names[i] = foldedName(n)
		}
		sort.Strings(names)
		var parts []string
		for _, raw := range list(a.Body["messages"]) {
			m, _ := raw.(obj)
			parts = append(parts, messageLine(m))
		}
		line := foldRuns("tools=" + strings.Join(names, ",") + " " + strings.Join(parts, " | "))
		quoted := ascii(line)
		out.WriteString(strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`) + "\n")
	}
	return out.String()
}

func foldedName(n string) string {
	return strings.TrimPrefix(strings.ReplaceAll(n, "__", "."), "mcp.")
}

// foldRuns writes 200 or more of one character as c*N.
func foldRuns(s string) string {
	var out strings.Builder
	r := []rune(s)
	for i := 0; i < len(r); {
		j := i
		for j < len(r) && r[j] == r[i] && r[i] != '\n' {
			j++
		}
		if j-i >= 200 {
			fmt.Fprintf(&out, "%c*%d", r[i], j-i)
			i = j
			continue
		}
		out.WriteRune(r[i])
		i++
	}
	return out.String()
}

func messageLine(m obj) string {
	text, isText := m["content"].(string)
	if _, isList := m["content"].([]any); isList {
		var parts []string
		for _, b := range blocks(m) {
			switch b["type"] {
			case "text":
				parts = append(parts, fmt.Sprint(b["text"]))
			case "tool_use":
				parts = append(parts, "call("+dumps(b["input"])+")")
			case "tool_result":
				parts = append(parts, "result("+plainText(b["content"])+")")
			}
		}
		text, isText = strings.Join(parts, " "), true
	}
	for _, raw := range list(m["tool_calls"]) {
		given, _ := get(raw, "function", "arguments").(string)
		shown := given
		if given == "" {
			given = "{}"
		}
		if v, err := loads(given); err == nil {
			shown = dumps(v)
		}
		text, isText = text+"call("+shown+")", true
	}
	if !isText {
		text = "None"
	}
	return fmt.Sprint(m["role"]) + ":" + text
}

// Sent writes one line for each request as the corpus does in its section
// "sent": path, model, sampling options and key.
func Sent(w Wire, asked []Request) string {
	var out strings.Builder
	for _, a := range asked {
		fmt.Fprintf(&out, "%s %s model=%v", w, a.Path, a.Body["model"])
		for _, k := range []string{"temperature", "max_tokens", "max_completion_tokens"} {
			if n, ok := a.Body[k].(json.Number); ok {
				f, _ := n.Float64()
				rounded, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'f', 6, 64), 64)
				fmt.Fprintf(&out, " %s=%s", k, strconv.FormatFloat(rounded, 'g', -1, 64))
			}
		}
		fmt.Fprintf(&out, " key=%s\n", a.Key)
	}
	return out.String()
}

// Schemas writes one line for each tool of the first request that offers any,
// as the corpus does in its section "schemas": name, description and schema.
func Schemas(asked []Request) string {
	for _, a := range asked {
		var rows []string
		for _, t := range list(a.Body["tools"]) {
			f, _ := t.(obj)
			if inner, ok := f["function"].(obj); ok {
				f = inner
			}
			schema := f["parameters"]
			if schema == nil {
				schema = f["input_schema"]
			}
			rows = append(rows, foldedName(toolName(t))+" "+dumps(f["description"])+" "+dumps(withoutEmpty(schema))+"\n")
		}
		if rows != nil {
			sort.Strings(rows)
			return strings.Join(rows, "")
		}
	}
	return ""
}

// withoutEmpty leaves out empty "properties", "required" and "items".
func withoutEmpty(schema any) any {
	switch v := schema.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = withoutEmpty(e)
		}
		return out
	case obj:
		out := obj{}
		for k, e := range v {
			m, isMap := e.(obj)
			l, isList := e.([]any)
			empty := isMap && len(m) == 0 || isList && len(l) == 0
			if !empty || k != "properties" && k != "required" && k != "items" {
				out[k] = withoutEmpty(e)
			}
		}
		return out
	}
	return schema
}

func loads(s string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, fmt.Errorf("more than one value")
	}
	return v, nil
}

// dumps writes a value as Python's json.dumps with sorted keys does.
func dumps(v any) string {
	switch v := v.(type) {
	case string:
		return ascii(v)
	case json.Number:
		if !strings.ContainsAny(string(v), ".eE") {
			return string(v)
		}
		f, _ := v.Float64()
		return pyFloat(f)
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = dumps(e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case obj:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for i, k := range keys {
			keys[i] = ascii(k) + ": " + dumps(v[k])
		}
		return "{" + strings.Join(keys, ", ") + "}"
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

// pyFloat writes a float as Python prints it.
func pyFloat(f float64) string {
	if a := abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func abs(f float64) float64 {
	if f < 0 {
		return -f
	}
	return f
}

// ascii quotes a text with \u escapes for all but ASCII.
func ascii(s string) string {
	var out strings.Builder
	for _, r := range string(encode(s)) {
		switch {
		case r < 0x7f:
			out.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, hi, lo)
		case r == 0x7f:
			out.WriteRune(r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

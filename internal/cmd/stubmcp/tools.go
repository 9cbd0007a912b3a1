package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"

	"github.com/sense-lang/sense/internal/pyjson"
)

// param is a declared parameter of a tool.
type param struct{ name, kind string }

func tool(name, description string, params ...param) object {
	props, required := object{}, []any{}
	for _, p := range params {
		props[p.name] = object{"type": p.kind}
		required = append(required, p.name)
	}
	return object{"name": name, "description": description,
		"inputSchema": object{"type": "object", "properties": props, "required": required}}
}

func toolsFor(o *options) []object {
	var tools []object
	if !o.listEmpty {
		tools = []object{
			tool("echo", "Returns its text", param{"text", "string"}),
			tool("add", "Adds two numbers", param{"a", "number"}, param{"b", "number"}),
			tool("fail", "Always fails"),
			tool("big", "Returns n characters", param{"n", "integer"}),
			tool("unicode", "Returns text in several scripts"),
			tool("pwd", "Returns the working folder"),
			tool("getenv", "Returns an environment variable", param{"name", "string"}),
			tool("multi", "Returns two text blocks"),
			tool("image", "Returns an image and a text"),
			tool("structured", "Returns structured content"),
			tool("die", "Ends the server before answering"),
		}
	}
	if o.given["only"] {
		only := strings.Split(o.only, ",")
		tools = slices.DeleteFunc(tools, func(t object) bool { return !slices.Contains(only, t["name"].(string)) })
	}
	for _, name := range o.extra {
		tools = append(tools, tool(name, "An extra tool"))
	}
	if o.given["bare"] {
		tools = append(tools, object{"name": o.bare, "inputSchema": object{"type": "object"}})
	}
	if o.rich {
		tools = append(tools, richTool())
	}
	return tools
}

func richTool() object {
	return object{
		"name": "rich", "title": "Rich", "description": "Line one.\n\"Line\" two <b>&</b> é.",
		"inputSchema": object{
			"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "additionalProperties": false,
			"properties": object{
				"unit": object{"type": "string", "enum": []any{"C", "F"}, "default": "C", "description": "which scale"},
				"when": object{"anyOf": []any{object{"type": "string", "format": "date"}, object{"type": "null"}}},
				"list": object{"type": "array", "minItems": 1, "items": object{"$ref": "#/$defs/point"}},
			},
			"$defs": object{"point": object{"type": "object",
				"properties": object{"x": object{"type": "number", "minimum": -1.5}}, "required": []any{"x"}}},
			"required": []any{"unit"},
		},
	}
}

func text(isError bool, parts ...string) object {
	content := []any{}
	for _, p := range parts {
		content = append(content, object{"type": "text", "text": p})
	}
	return object{"content": content, "isError": isError}
}

// invalid says what is wrong with the arguments of a declared tool, or "".
func (s *server) invalid(name string, args object) string {
	for _, t := range s.tools {
		if t["name"] != name || name == "rich" {
			continue
		}
		schema := t["inputSchema"].(object)
		required, _ := schema["required"].([]any)
		for _, k := range required {
			key := k.(string)
			kind := schema["properties"].(object)[key].(object)["type"].(string)
			v, given := args[key]
			if !given {
				return fmt.Sprintf("Input validation error: '%s' is a required property", key)
			}
			if !isKind(v, kind) {
				return fmt.Sprintf("Input validation error: '%s' is not of type '%s'", key, kind)
			}
		}
	}
	return ""
}

func isKind(v any, kind string) bool {
	switch v := v.(type) {
	case string:
		return kind == "string"
	case json.Number:
		return kind == "number" || kind == "integer" && !strings.ContainsAny(v.String(), ".eE")
	}
	return false
}

// perform runs a tool. It gives nil for one that nobody offers, and false where
// the tool ends the server.
func (s *server) perform(name string, args object) (result object, lives bool) {
	if why := s.invalid(name, args); why != "" {
		return text(true, why), true
	}
	switch {
	case s.given["die-on"] && name == s.dieOn, name == "die":
		return nil, false
	case s.rich && name == "rich":
		if args == nil {
			args = object{}
		}
		return text(false, pyjson.Dumps(args, pyjson.Options{SortKeys: true, Unicode: true})), true
	case slices.Contains(s.extra, name), s.given["bare"] && name == s.bare:
		return text(false, "extra "+name), true
	}
	return builtin(name, args), true
}

func builtin(name string, args object) object {
	switch name {
	case "echo":
		return text(false, fmt.Sprint(args["text"]))
	case "add":
		return text(false, add(args["a"], args["b"]))
	case "fail":
		return text(true, "the stub was asked to fail")
	case "big":
		n, _ := args["n"].(json.Number)
		count, _ := n.Int64() // checked against the schema
		return text(false, strings.Repeat("x", int(max(count, 0))))
	case "unicode":
		return text(false, "naïve 日本語 🦊 Ελλάδα")
	case "pwd":
		dir, err := os.Getwd()
		if err != nil {
			return text(true, err.Error())
		}
		return text(false, dir)
	case "getenv":
		key, _ := args["name"].(string)
		if v, ok := os.LookupEnv(key); ok {
			return text(false, v)
		}
		return text(false, "(unset)")
	case "multi":
		return text(false, "one", "two")
	case "image":
		return object{"content": []any{
			object{"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
			object{"type": "text", "text": "a picture"}}, "isError": false}
	case "structured":
		r := text(false, `{"n": 3}`)
		r["structuredContent"] = object{"n": 3}
		return r
	}
	return nil
}

// add gives the sum as Python prints it, a whole one without a fraction.
func add(a, b any) string {
	x, y := fmt.Sprint(a), fmt.Sprint(b)
	i, ok1 := new(big.Int).SetString(x, 10)
	j, ok2 := new(big.Int).SetString(y, 10)
	if ok1 && ok2 {
		return i.Add(i, j).String()
	}
	f, _ := json.Number(x).Float64()
	g, _ := json.Number(y).Float64()
	sum := f + g
	if sum == math.Trunc(sum) && !math.IsInf(sum, 0) {
		whole, _ := big.NewFloat(sum).Int(nil)
		return whole.String()
	}
	return pyjson.Float(sum)
}

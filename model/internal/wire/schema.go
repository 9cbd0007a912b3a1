package wire

import (
	"encoding/json"
	"slices"
	"strings"
)

// maxSchemaDepth is how deep a schema is repaired; what lies deeper stays as it
// is.
const maxSchemaDepth = 100

// emptySchema is the schema of a tool without parameters.
const emptySchema = `{"type":"object","properties":{}}`

// keywords of a schema whose values hold schemas.
var (
	oneSchema   = []string{"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems", "additionalItems"}
	listSchemas = []string{"anyOf", "oneOf", "allOf", "prefixItems", "items"}
	mapSchemas  = []string{"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"}
)

// ToolSchema gives a tool's schema as vendors demand it: an object at the root,
// with properties, and items for every array. The rest stays as it is, digits
// and order included; the given bytes are never changed.
func ToolSchema(raw json.RawMessage) json.RawMessage {
	root, ok := members(raw)
	if !ok {
		return json.RawMessage(emptySchema)
	}
	root = rewrite(root, 0, addItems)
	if !has(root, "type") {
		root = append([]member{{"type", json.RawMessage(`"object"`)}}, root...)
	}
	if !has(root, "properties") {
		root = append(root, member{"properties", json.RawMessage("{}")})
	}
	return object(root)
}

// WithoutUnions takes anyOf, oneOf and allOf off the root of a schema, where
// Anthropic refuses them, and gives what was taken as a sentence for the
// tool's description; empty where nothing was.
func WithoutUnions(schema json.RawMessage) (json.RawMessage, string) {
	root, ok := members(schema)
	if !ok {
		return schema, ""
	}
	var told []string
	root = slices.DeleteFunc(root, func(m member) bool {
		if m.key != "anyOf" && m.key != "oneOf" && m.key != "allOf" {
			return false
		}
		told = append(told, `"`+m.key+`": `+string(m.value))
		return true
	})
	if len(told) == 0 {
		return schema, ""
	}
	return object(root), "The arguments must also satisfy this JSON Schema: {" + strings.Join(told, ", ") + "}"
}

// AnswerSchema gives the schema of a structured answer as vendors demand it:
// objects take no other properties than those named, unless the schema says
// so. strict reports whether every property is also required, which OpenAI
// wants of a schema it is to enforce.
func AnswerSchema(raw json.RawMessage) (schema json.RawMessage, strict bool) {
	root, ok := members(raw)
	if !ok {
		return json.RawMessage(emptySchema), false
	}
	strict = true
	root = rewrite(root, 0, func(s []member) []member {
		s = addItems(s)
		if !isType(s, "object") {
			return s
		}
		if !has(s, "additionalProperties") {
			s = append(s, member{"additionalProperties", json.RawMessage("false")})
		}
		strict = strict && isClosed(s)
		return s
	})
	return object(root), strict
}

// isClosed reports whether an object's schema requires all it names and allows
// nothing else.
func isClosed(s []member) bool {
	if string(get(s, "additionalProperties")) != "false" {
		return false
	}
	var required []string
	if json.Unmarshal(get(s, "required"), &required) != nil {
		required = nil
	}
	properties, _ := members(get(s, "properties"))
	for _, p := range properties {
		if !slices.Contains(required, p.key) {
			return false
		}
	}
	return true
}

func addItems(s []member) []member {
	if isType(s, "array") && !has(s, "items") && !has(s, "prefixItems") {
		return append(s, member{"items", json.RawMessage("{}")})
	}
	return s
}

// rewrite applies change to a schema and every schema in it, innermost first.
func rewrite(s []member, depth int, change func([]member) []member) []member {
	if depth >= maxSchemaDepth {
		return s
	}
	inner := func(raw json.RawMessage) json.RawMessage {
		if m, ok := members(raw); ok {
			return object(rewrite(m, depth+1, change))
		}
		return raw
	}
	for i, m := range s {
		switch {
		case slices.Contains(mapSchemas, m.key):
			if named, ok := members(m.value); ok {
				for j := range named {
					named[j].value = inner(named[j].value)
				}
				s[i].value = object(named)
			}
		case slices.Contains(listSchemas, m.key) || slices.Contains(oneSchema, m.key):
			if list, ok := List(m.value); ok {
				for j := range list {
					list[j] = inner(list[j])
				}
				s[i].value = array(list)
			} else {
				s[i].value = inner(m.value)
			}
		}
	}
	return change(s)
}

func has(s []member, key string) bool { return get(s, key) != nil }

func get(s []member, key string) json.RawMessage {
	for _, m := range s {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// isType reports whether a schema's type is, or may be, the given one.
func isType(s []member, name string) bool {
	raw := get(s, "type")
	if Text(raw) == name {
		return true
	}
	var names []string
	return json.Unmarshal(raw, &names) == nil && slices.Contains(names, name)
}

package model

import "encoding/json"

// CheckArgs reports, in words a model can act on, why args is not a JSON object
// that satisfies schema; nil where it is. A nil schema accepts any object.
// It understands the part of JSON Schema draft 2020-12 that tools use, compares
// numbers exactly and ignores what it does not know. A schema that refers to
// itself without end, refers elsewhere or nests over 64 deep is refused.
func CheckArgs(schema, args json.RawMessage) error {
	return checkArgs(schema, args)
}

package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// maxFaults is how many faults of one call are told.
const maxFaults = 5

// CheckArgs reports, in words a model can act on, why args is not a JSON object
// that satisfies schema; nil where it is. A nil schema accepts any object. An
// argument given twice is a fault, as readers disagree on which counts.
//
// It understands the part of JSON Schema draft 2020-12 that tools use, compares
// numbers exactly and ignores keywords it does not know, among them format. A
// schema that CheckSchema refuses accepts nothing.
func CheckArgs(schema, args json.RawMessage) error {
	value, err := decodeJSON(args)
	if err != nil {
		return fmt.Errorf("the arguments are not usable: %w", err)
	}
	if _, ok := value.(*object); !ok {
		return fmt.Errorf("the arguments must be a JSON object, not %s", kindWords(value))
	}
	if len(schema) == 0 {
		return nil
	}
	root, err := usableSchema(schema)
	if err != nil {
		return fmt.Errorf("the tool's schema is not usable: %w", err)
	}
	c := newChecker(root)
	c.check(root, value, "")
	if c.steps > maxSteps {
		return errors.New("the arguments take too long to check against the tool's schema")
	}
	if len(c.faults) == 0 {
		return nil
	}
	if len(c.faults) > maxFaults {
		c.faults = append(c.faults[:maxFaults], "and more")
	}
	return errors.New(strings.Join(c.faults, "; "))
}

// CheckSchema is the error of a tool's schema that CheckArgs cannot use: it is
// no JSON object, nests over 64 deep, refers to itself without end, to what it
// does not have or to another document. Nil is a schema that accepts anything.
func CheckSchema(schema json.RawMessage) error {
	if len(schema) == 0 {
		return nil
	}
	_, err := usableSchema(schema)
	return err
}

func usableSchema(schema json.RawMessage) (any, error) {
	root, err := decodeJSON(schema)
	if err != nil {
		return nil, err
	}
	if _, ok := root.(*object); !ok {
		return nil, fmt.Errorf("it must be a JSON object, not %s", kindWords(root))
	}
	return root, guardSchema(root)
}

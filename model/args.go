package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
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
	return NewArgsCheck(schema).Check(args)
}

// ArgsCheck is a tool's schema made ready for many checks, which may be made
// from many goroutines. NewArgsCheck makes one.
type ArgsCheck struct {
	root any   // nil accepts any object
	err  error // why the schema is not usable

	mu     sync.Mutex
	shared *checking
}

// NewArgsCheck reads a schema. One that is not usable makes every check fail.
func NewArgsCheck(schema json.RawMessage) *ArgsCheck {
	a := &ArgsCheck{}
	if len(schema) == 0 {
		return a
	}
	if a.root, a.err = usableSchema(schema); a.err == nil {
		a.shared = newChecker(a.root).checking
	}
	return a
}

// Check does what CheckArgs does with the schema.
func (a *ArgsCheck) Check(args json.RawMessage) error {
	value, err := decodeJSON(args)
	if err != nil {
		return fmt.Errorf("the arguments are not usable: %w", err)
	}
	if _, ok := value.(*object); !ok {
		return fmt.Errorf("the arguments must be a JSON object, not %s", kindWords(value))
	}
	if a.err != nil {
		return fmt.Errorf("the tool's schema is not usable: %w", a.err)
	}
	if a.root == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.shared.steps = 0
	c := &checker{checking: a.shared}
	c.check(a.root, value, "")
	if c.steps > maxSteps {
		return errors.New("the arguments take too long to check against the tool's schema")
	}
	return c.told()
}

// told gives the faults as one error.
func (c *checker) told() error {
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

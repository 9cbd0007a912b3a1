// Package jsonschema stands in for github.com/santhosh-tekuri/jsonschema/v6 when
// this repository is built. The MCP library's server package imports that one
// for two options that nothing here uses, and its package variables compile every
// draft of JSON Schema at the start of every program: four milliseconds and
// 1.7 MB of a start-up that may take ten. This package has what the importer
// needs to compile, does nothing at start, and compiles no schema. The importer
// takes a schema that does not compile as one that is not checked.
// docs/adr/0050-jsonschema-stand-in.md says more.
package jsonschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrNotSupported is what Compile and Validate give: this build checks no
// schemas in the MCP library.
var ErrNotSupported = errors.New("schemas are not checked by the MCP library in this build")

// UnmarshalJSON reads exactly one JSON value. Numbers come as json.Number.
func UnmarshalJSON(r io.Reader) (any, error) {
	d := json.NewDecoder(r)
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text after the JSON value")
	}
	return v, nil
}

// Compiler makes schemas; the zero value is ready.
type Compiler struct{}

// NewCompiler gives a Compiler.
func NewCompiler() *Compiler { return &Compiler{} }

// AddResource takes a document and forgets it.
func (c *Compiler) AddResource(url string, doc any) error { return nil }

// Compile gives ErrNotSupported.
func (c *Compiler) Compile(url string) (*Schema, error) {
	return nil, fmt.Errorf("%s: %w", url, ErrNotSupported)
}

// Schema is a compiled schema; there is none in this build.
type Schema struct{}

// Validate gives ErrNotSupported: a value that nothing checked is never said to
// be valid.
func (s *Schema) Validate(v any) error { return ErrNotSupported }

// ErrorKind says which rule a value broke.
type ErrorKind interface{ KeywordPath() []string }

// ValidationError is a value that does not match; Causes are the parts of it.
type ValidationError struct {
	InstanceLocation []string
	ErrorKind        ErrorKind
	Causes           []*ValidationError
}

// Error gives the place in the value, as a JSON pointer.
func (e *ValidationError) Error() string {
	return "value at '/" + strings.Join(e.InstanceLocation, "/") + "' does not match its schema"
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sense-lang/sense/builtins"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/mcp"
	"github.com/sense-lang/sense/model"
)

func mcpCallCommand() *cobra.Command {
	var args string
	var asJSON bool
	c := &cobra.Command{
		Use:   "call NAME TOOL [key=value ...]",
		Short: "Call a tool of a server",
		Long: `Call a tool of a server and print what it gives. A value is read as the type that
the tool's schema gives the argument: text as it is, everything else as JSON.
--args takes all arguments as one JSON object, @FILE reads it from a file and -
from standard input.`,
		Example: `  sense mcp call fs list_directory path=.
  sense mcp call fs read_multiple_files 'paths=["a.txt", "b.txt"]'
  sense mcp call db read_query --args '{"query": "select 1"}'`,
		Args: func(c *cobra.Command, words []string) error {
			if len(words) < 2 {
				return fmt.Errorf("'%s' needs the name of a server and of a tool\n'sense mcp tools NAME' shows them.", c.CommandPath())
			}
			return nil
		},
	}
	c.Flags().StringVar(&args, "args", "", "all arguments as one JSON object; @FILE or - read it")
	c.Flags().BoolVar(&asJSON, "json", false, "print the whole result as JSON")
	return withServer(c, func(ctx context.Context, s *mcp.Server, words []string) error {
		t, err := toolOf(s, words[0])
		if err != nil {
			return err
		}
		raw, err := callArgs(t, args, words[1:])
		if err != nil {
			return err
		}
		if err := model.CheckArgs(t.Schema, raw); err != nil {
			return mcpError("%v -- it takes %s%s%s", err, t.Name, signature(t.Schema), strangers(t.Schema, raw))
		}
		r, err := s.Call(ctx, t.Name, raw)
		if err != nil {
			return &diag.Error{Kind: diag.MCP, Msg: "mcp tool '" + s.Name() + "." + t.Name + "' failed: " + err.Error(), Cause: err}
		}
		return printResult(s, t, r, asJSON)
	})
}

func toolOf(s *mcp.Server, name string) (*mcp.Tool, error) {
	var names []string
	for _, t := range s.Tools() {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return nil, mcpError("'%s' has no tool '%s'%s", s.Name(), name, builtins.DidYouMean(name, names))
}

// callArgs makes the arguments of a call out of the command line.
func callArgs(t *mcp.Tool, whole string, words []string) (json.RawMessage, error) {
	if whole != "" {
		if len(words) > 0 {
			return nil, mcpError("give either --args or key=value, not both")
		}
		return wholeArgs(whole)
	}
	schema, _ := builtins.FromJSON(t.Schema)
	out := eval.NewMap()
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		if !ok || key == "" {
			return nil, mcpError("'%s' is no key=value; %s takes %s", w, t.Name, signature(t.Schema))
		}
		if _, twice := out.Get(key); twice {
			return nil, mcpError("'%s' is given twice", key)
		}
		v, err := argument(schema, key, value)
		if err != nil {
			return nil, err
		}
		out.Set(key, v)
	}
	return builtins.ToJSON(out.Value())
}

func wholeArgs(text string) (json.RawMessage, error) {
	raw := []byte(text)
	var err error
	if text == "-" {
		raw, err = io.ReadAll(os.Stdin)
	} else if path, ok := strings.CutPrefix(text, "@"); ok {
		raw, err = readInput(path)
	}
	if err != nil {
		return nil, mcpError("cannot read the arguments: %v", err)
	}
	raw = bytes.TrimSpace(raw)
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, mcpError("--args is no valid JSON: %v (at byte %d)", err, syntax.Offset)
		}
		return nil, mcpError(`--args must be a JSON object, such as {"path": "."}`)
	}
	return raw, nil
}

// argument reads one value as its schema says: text as it is, all else as JSON.
func argument(schema eval.Value, key, value string) (eval.Value, error) {
	kind := eval.Nil()
	if m, ok := schema.AsMap(); ok {
		if props, ok := member(m, "properties").AsMap(); ok {
			if p, ok := member(props, key).AsMap(); ok {
				kind = member(p, "type")
			}
		}
	}
	name, _ := kind.AsString()
	if name == "string" {
		return eval.String(value), nil
	}
	v, err := builtins.FromJSON([]byte(value))
	switch {
	case err == nil:
		return v, nil
	case name == "":
		return eval.String(value), nil // nothing says that it is no text
	}
	return eval.Value{}, mcpError("%s must be %s, which '%s' is not; write it as JSON%s", key, article(name), value, jsonExample[name])
}

// jsonExample shows how a value of a type is written.
var jsonExample = map[string]string{"array": `, such as '["a", "b"]'`, "object": `, such as '{"a": 1}'`}

func article(kind string) string {
	if strings.ContainsAny(kind[:1], "aio") {
		return "an " + kind
	}
	return "a " + kind
}

// strangers names arguments that are given and that a schema does not know.
func strangers(schema, args json.RawMessage) string {
	known, given := builtins.ArgumentNames(schema), map[string]json.RawMessage{}
	if len(known) == 0 || json.Unmarshal(args, &given) != nil {
		return ""
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(known, name) {
			out.WriteString("; it has no '" + name + "'" + builtins.DidYouMean(name, known))
		}
	}
	return out.String()
}

func printResult(s *mcp.Server, t *mcp.Tool, r *mcp.Result, asJSON bool) error {
	if asJSON {
		if err := printJSON(resultJSON(r)); err != nil {
			return err
		}
	} else if !r.IsError {
		printForeign(r.Text)
	}
	if !r.IsError {
		return nil
	}
	if asJSON {
		return exitError(exitFailed)
	}
	return mcpError("mcp tool '%s.%s' failed: %s", s.Name(), t.Name, r.Text)
}

// resultJSON is a result as --json prints it.
func resultJSON(r *mcp.Result) any {
	blocks := []map[string]any{}
	for _, b := range r.Blocks {
		m := map[string]any{"type": b.Type}
		for k, v := range map[string]string{"text": b.Text, "mimeType": b.MIMEType, "uri": b.URI, "name": b.Name} {
			if v != "" {
				m[k] = v
			}
		}
		if b.Data != nil {
			m["data"] = b.Data
		}
		blocks = append(blocks, m)
	}
	out := map[string]any{"content": blocks, "isError": r.IsError}
	if r.Structured != nil {
		out["structuredContent"] = r.Structured
	}
	if r.Meta != nil {
		out["_meta"] = r.Meta
	}
	return out
}

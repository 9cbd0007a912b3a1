package std

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/mcp"
)

// capSample is asked for before the client's model is.
const capSample = "serve.sample"

// Client is whom a tool works for while `sense mcp serve` offers it to others, as
// eval.Thread.WorkFor notes it. All of its functions must be set.
type Client struct {
	// Form asks the client's user to fill in a form of a JSON Schema.
	Form func(ctx context.Context, message string, schema map[string]any) (map[string]any, error)
	// Sample asks the client's model; system may be "".
	Sample func(ctx context.Context, prompt, system string, maxTokens int) (string, error)
	// Progress tells how far the work is; total may be nil and message "".
	Progress func(done float64, total *float64, message string)
	// Log sends a line of a level to the client's log.
	Log func(level, text string)
}

func serveMembers(*Library) []member {
	return []member{
		{"progress(done, total?, message?)", "tells the client of a served tool how far its call is", serveProgress},
		{"log(message, level?)", "sends a line to the client's log, of level \"info\" unless another is named", serveLog},
		{"form(message, fields)", "asks the client's user to fill in a form and gives a Map of the fields", serveForm},
		{"sample(prompt, max_tokens?, system?)", "asks the client's model and gives its words", serveSample},
	}
}

// client gives whom the program works for.
func (a *args) client() (c Client, ok bool) {
	c, ok = a.Thread.Client().(Client)
	return c, ok
}

// nobody says that a function needs a client.
func (a *args) nobody() error {
	return a.fail("only a tool that `sense mcp serve` offers has a client to ask")
}

func serveProgress(a *args) (eval.Value, error) {
	done, err := a.number(0)
	if err != nil {
		return eval.Value{}, err
	}
	var total *float64
	if a.has(1) {
		n, err := a.number(1)
		if err != nil {
			return eval.Value{}, err
		}
		total = &n
	}
	message, err := a.textOr(2, "")
	if err != nil {
		return eval.Value{}, err
	}
	if c, ok := a.client(); ok {
		a.Thread.Blocking(func(context.Context) { c.Progress(done, total, message) })
	}
	return eval.Nil(), nil
}

func serveLog(a *args) (eval.Value, error) {
	message, err := a.text(0)
	if err != nil {
		return eval.Value{}, err
	}
	level, err := a.textOr(1, "info")
	if err != nil {
		return eval.Value{}, err
	}
	if levels := mcp.LogLevels(); !slices.Contains(levels, level) {
		return eval.Value{}, a.fail("there is no level '%s' (there are %s)", level, strings.Join(levels, ", "))
	}
	if c, ok := a.client(); ok {
		a.Thread.Blocking(func(context.Context) { c.Log(level, message) })
	}
	return eval.Nil(), nil
}

func serveForm(a *args) (eval.Value, error) {
	message, err := a.text(0)
	if err != nil {
		return eval.Value{}, err
	}
	fields, ok := a.vals[1].AsMap()
	if !ok {
		return eval.Value{}, a.wrong(1, "a Map")
	}
	schema, err := formSchema(a, fields)
	if err != nil {
		return eval.Value{}, err
	}
	c, ok := a.client()
	if !ok {
		return eval.Value{}, a.nobody()
	}
	var content map[string]any
	a.Thread.Blocking(func(ctx context.Context) { content, err = c.Form(ctx, message, schema) })
	if stop := a.stopped(); stop != nil {
		return eval.Value{}, stop
	}
	if err != nil {
		return eval.Value{}, a.fail("%v", err)
	}
	raw, err := json.Marshal(content)
	if err != nil {
		return eval.Value{}, a.fail("the answer cannot be read: %v", err)
	}
	return parseJSON(string(raw))
}

// formSchema makes the schema of a form from its fields: each has the name of a
// type, or the JSON Schema of a field as a Map. One without a default is required.
func formSchema(a *args, fields *eval.Map) (map[string]any, error) {
	properties, required := map[string]any{}, []string{}
	for name, v := range fields.All() {
		field, err := formField(a, name, v)
		if err != nil {
			return nil, err
		}
		properties[name] = field
		if m, ok := v.AsMap(); !ok || !hasKey(m, "default") {
			required = append(required, name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}, nil
}

func hasKey(m *eval.Map, key string) bool {
	_, ok := m.Get(key)
	return ok
}

var fieldTypes = map[string]string{"String": "string", "Int": "integer", "Float": "number", "Bool": "boolean"}

func formField(a *args, name string, v eval.Value) (any, error) {
	if s, ok := v.AsString(); ok {
		kind, ok := fieldTypes[s]
		if !ok {
			return nil, a.fail("the field '%s' has the unknown type '%s' (there are String, Int, Float, Bool)", name, s)
		}
		return map[string]any{"type": kind}, nil
	}
	if _, ok := v.AsMap(); !ok {
		return nil, a.fail("the field '%s' must be the name of a type or a Map, got %s", name, v.TypeName())
	}
	w := jsonWriter{stopped: a.stopped}
	if err := w.value(v, 0); err != nil {
		return nil, a.fail("the field '%s': %v", name, err)
	}
	return json.RawMessage(w.b.String()), nil
}

func serveSample(a *args) (eval.Value, error) {
	prompt, err := a.text(0)
	if err != nil {
		return eval.Value{}, err
	}
	most, err := a.intOr(1, 1024, 1, 1<<20)
	if err != nil {
		return eval.Value{}, err
	}
	system, err := a.textOr(2, "")
	if err != nil {
		return eval.Value{}, err
	}
	if err := a.require(capSample); err != nil {
		return eval.Value{}, err
	}
	c, ok := a.client()
	if !ok {
		return eval.Value{}, a.nobody()
	}
	var text string
	a.Thread.Blocking(func(ctx context.Context) { text, err = c.Sample(ctx, prompt, system, int(most)) })
	if stop := a.stopped(); stop != nil {
		return eval.Value{}, stop
	}
	if err != nil {
		return eval.Value{}, a.note("sampling", a.fail("%v", err))
	}
	return eval.String(strings.ToValidUTF8(text, "\uFFFD")), a.note("sampling", nil)
}

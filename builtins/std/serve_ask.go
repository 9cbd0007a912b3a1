package std

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/mcp"
)

// maxQuestions is how many questions may be put at once.
const maxQuestions = 32

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
	return a.putOne(mcp.Question{Name: "answer", Message: message, Form: schema})
}

func serveSample(a *args) (eval.Value, error) {
	prompt, err := a.text(0)
	if err != nil {
		return eval.Value{}, err
	}
	most, err := a.intOr(1, defaultTokens, 1, maxTokens)
	if err != nil {
		return eval.Value{}, err
	}
	system, err := a.textOr(2, "")
	if err != nil {
		return eval.Value{}, err
	}
	return a.putOne(mcp.Question{Name: "answer", Prompt: prompt, System: system, MaxTokens: int(most)})
}

func serveRoots(a *args) (eval.Value, error) { return a.putOne(mcp.Question{Name: "answer"}) }

func serveAsk(a *args) (eval.Value, error) {
	list, ok := a.vals[0].AsMap()
	if !ok {
		return eval.Value{}, a.wrong(0, "a Map")
	}
	if n := list.Len(); n == 0 || n > maxQuestions {
		return eval.Value{}, a.fail("'questions' must hold 1 to %d questions, got %d", maxQuestions, n)
	}
	var questions []mcp.Question
	for name, v := range list.All() {
		q, err := questionOf(a, name, v)
		if err != nil {
			return eval.Value{}, err
		}
		questions = append(questions, q)
	}
	answers, err := a.put(questions)
	if err != nil {
		return eval.Value{}, err
	}
	out := eval.NewMap()
	for i, q := range questions {
		out.Set(q.Name, answers[i])
	}
	return out.Value(), nil
}

func serveClient(a *args) (eval.Value, error) {
	c, ok := a.client()
	if !ok {
		return eval.Nil(), nil
	}
	return newMap("name", eval.String(strings.ToValidUTF8(c.Name, "\uFFFD")), "elicitation", eval.Bool(c.Can.Elicitation),
		"sampling", eval.Bool(c.Can.Sampling), "roots", eval.Bool(c.Can.Roots)), nil
}

// putOne puts one question and gives its answer.
func (a *args) putOne(q mcp.Question) (eval.Value, error) {
	answers, err := a.put([]mcp.Question{q})
	if err != nil {
		return eval.Value{}, err
	}
	return answers[0], nil
}

// put puts questions to the client. That its model is asked must be allowed, and is
// in the audit.
func (a *args) put(questions []mcp.Question) ([]eval.Value, error) {
	samples := false
	for _, q := range questions {
		samples = samples || q.MaxTokens > 0
	}
	if samples {
		if err := a.require(capSample); err != nil {
			return nil, err
		}
	}
	c, ok := a.client()
	if !ok {
		return nil, a.nobody()
	}
	var answers []mcp.Answer
	var err error
	a.Thread.Blocking(func(ctx context.Context) { answers, err = c.Put(ctx, questions) })
	if stop := a.stopped(); stop != nil {
		return nil, stop
	}
	out := make([]eval.Value, len(questions))
	for i := 0; err == nil && i < len(questions); i++ {
		out[i], err = answerValue(&answers[i], questions[i])
	}
	if err != nil {
		err = a.fail("%v", err)
	}
	if samples {
		err = a.note("sampling", err)
	}
	return out, err
}

// answerValue gives the answer to a question as the program has it.
func answerValue(x *mcp.Answer, q mcp.Question) (eval.Value, error) {
	switch {
	case x.Err != nil:
		return eval.Value{}, x.Err
	case q.MaxTokens > 0:
		return eval.String(strings.ToValidUTF8(x.Text, "\uFFFD")), nil
	case q.Form != nil:
		raw, err := json.Marshal(x.Fields)
		if err != nil {
			return eval.Value{}, err
		}
		return parseJSON(string(raw))
	}
	roots := eval.NewArray(len(x.Roots))
	for _, r := range x.Roots {
		roots.Push(newMap("uri", eval.String(strings.ToValidUTF8(r.URI, "\uFFFD")), "name", eval.String(strings.ToValidUTF8(r.Name, "\uFFFD"))))
	}
	return roots.Value(), nil
}

const (
	defaultTokens = 1024
	maxTokens     = 1 << 20
)

// questionOf reads one of several questions: a Map with message and form, with
// prompt, max_tokens and system, or with roots.
func questionOf(a *args, name string, v eval.Value) (mcp.Question, error) {
	m, ok := v.AsMap()
	if !ok {
		return mcp.Question{}, a.fail("the question '%s' must be a Map, got %s", name, v.TypeName())
	}
	r := questionReader{a: a, name: name, left: m.Copy()}
	q := mcp.Question{Name: name}
	switch {
	case hasKey(m, "form"):
		q.Message = r.text("message")
		fields, isMap := r.take("form").AsMap()
		if !isMap {
			return q, a.fail("the form of the question '%s' must be a Map", name)
		}
		var err error
		if q.Form, err = formSchema(a, fields); err != nil {
			return q, err
		}
	case hasKey(m, "prompt"):
		q.Prompt, q.System, q.MaxTokens = r.text("prompt"), r.text("system"), r.tokens()
	case hasKey(m, "roots"):
		if yes, isBool := r.take("roots").AsBool(); !isBool || !yes {
			return q, a.fail("'roots' of the question '%s' must be true", name)
		}
	default:
		return q, a.fail("the question '%s' needs a form, a prompt or roots: true", name)
	}
	return q, r.end()
}

// questionReader takes the parts of a question out of its Map.
type questionReader struct {
	a    *args
	name string
	left *eval.Map
	err  error
}

func (r *questionReader) take(key string) eval.Value {
	v, _ := r.left.Remove(key)
	return v
}

// text takes a String that may be left out.
func (r *questionReader) text(key string) string {
	v := r.take(key)
	s, ok := v.AsString()
	if v.IsSet() && !ok {
		r.fail("'%s' of the question '%s' must be a String, got %s", key, r.name, v.TypeName())
	}
	return s
}

func (r *questionReader) tokens() int {
	v := r.take("max_tokens")
	if !v.IsSet() {
		return defaultTokens
	}
	n, ok := v.AsInt()
	if !ok || n < 1 || n > maxTokens {
		r.fail("'max_tokens' of the question '%s' must be an Int from 1 to %d, got %s", r.name, maxTokens, v.String())
	}
	return int(n)
}

func (r *questionReader) fail(format string, list ...any) {
	if r.err == nil {
		r.err = r.a.fail(format, list...)
	}
}

// end gives what was wrong, or that something is left that no question has.
func (r *questionReader) end() error {
	for _, key := range r.left.Keys() {
		r.fail("the question '%s' has '%s', which does not belong there", r.name, key)
	}
	return r.err
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

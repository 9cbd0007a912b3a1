package builtins

import (
	"slices"
	"strings"
	"sync"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/model"
	"github.com/sense-lang/sense/model/anthropic"
	"github.com/sense-lang/sense/model/mock"
	"github.com/sense-lang/sense/model/openai"
	"github.com/sense-lang/sense/tape"
)

const inferenceUsage = `inference() expects (provider: String, model_id: String = default), plus optional temperature:/max_tokens:/api_key_env: (real providers) or response_template:/confidence: ("mock")`

// provider is a service that inference can name. One without keyVar needs no
// key; baseVar is the variable that holds its address.
type provider struct {
	name, modelID, keyVar, baseVar string
	needsURL                       bool
	make                           func(model.Options) model.Client
}

var providers = []provider{
	{"anthropic", "claude-sonnet-5", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", false, func(o model.Options) model.Client { return anthropic.New(o) }},
	{"openai", "gpt-4o", "OPENAI_API_KEY", "OPENAI_BASE_URL", false, func(o model.Options) model.Client { return openai.New(o) }},
	{"ollama", openai.DefaultOllamaModel, "", "OLLAMA_HOST", false, func(o model.Options) model.Client { return openai.NewOllama(o) }},
	{"openai-compatible", "default", "", "", true, func(o model.Options) model.Client { return openai.NewCompatible(o) }},
}

// Providers lists the names that inference() takes, sorted.
func Providers() []string {
	out := []string{"auto", "mock"}
	for _, p := range providers {
		out = append(out, p.name)
	}
	slices.Sort(out)
	return out
}

// auto gives the first provider that the environment configures.
func (d *Deps) auto() (provider, error) {
	for _, p := range providers {
		if v := p.keyVar; v != "" && d.getenv(v) != "" || p.name == "ollama" && d.getenv(p.baseVar) != "" {
			return p, nil
		}
	}
	return provider{}, fail(`inference("auto") found no model: set ANTHROPIC_API_KEY, OPENAI_API_KEY or OLLAMA_HOST, or name a provider: inference("mock"), inference("openai-compatible", "model", base_url: "...")`)
}

func (d *Deps) inference(c *eval.Call) (eval.Value, error) {
	if len(c.Args) < 1 || len(c.Args) > 2 {
		return eval.Value{}, fail("%s", inferenceUsage)
	}
	name, ok := c.Args[0].AsString()
	if !ok {
		return eval.Value{}, fail("inference()'s provider argument must be a String")
	}
	if name == "mock" {
		return d.mockModel(c)
	}
	if name == "auto" {
		p, err := d.taped(d.auto)
		if err != nil {
			return eval.Value{}, err
		}
		return d.realModel(c, p)
	}
	for _, p := range providers {
		if p.name == name {
			return d.realModel(c, p)
		}
	}
	return eval.Value{}, fail("inference(): unknown provider '%s' -- supported: anthropic, auto, mock, ollama, openai, openai-compatible", name)
}

// taped passes the choice of a provider through the tape, so that it is made
// again where the environment is another.
func (d *Deps) taped(choose func() (provider, error)) (provider, error) {
	name, err := tape.Through(d.Tape, tape.Env, `inference("auto")`, nil, func() (string, error) {
		p, err := choose()
		return p.name, err
	})
	if err != nil {
		return provider{}, err
	}
	i := slices.IndexFunc(providers, func(p provider) bool { return p.name == name })
	if i < 0 {
		return provider{}, fail("the tape names an unknown provider '%s'", diag.Visible(name))
	}
	return providers[i], nil
}

// unknownOptions refuses labels that a provider does not know.
func unknownOptions(c *eval.Call, who string, known ...string) error {
	var bad []string
	for _, l := range c.Labels {
		if !slices.Contains(known, l.Name) {
			bad = append(bad, l.Name)
		}
	}
	if bad == nil {
		return nil
	}
	slices.Sort(bad)
	return fail("%s: unknown option(s) %s -- supported: %s", who, strings.Join(bad, ", "), strings.Join(known, ", "))
}

// realModel makes a model of a service. Its client is made at the first
// request: a vendor's library costs time that a program may never need.
func (d *Deps) realModel(c *eval.Call, p provider) (eval.Value, error) {
	o := model.Options{ModelID: p.modelID, HTTPClient: d.HTTPClient}
	if len(c.Args) == 2 {
		id, ok := c.Args[1].AsString()
		if !ok {
			return eval.Value{}, fail("inference()'s model_id argument must be a String")
		}
		o.ModelID = id
	}
	if err := unknownOptions(c, "inference()", realOptions...); err != nil {
		return eval.Value{}, err
	}
	r := optionReader{keyVar: p.keyVar, o: &o}
	for _, l := range c.Labels {
		if err := r.read(l); err != nil {
			return eval.Value{}, err
		}
	}
	if r.keyVar != "" {
		if o.APIKey = d.getenv(r.keyVar); o.APIKey == "" && !d.Tape.Playing() {
			return eval.Value{}, fail("inference() needs the '%s' environment variable set to a real API key", r.keyVar)
		}
		d.secret(o.APIKey)
	}
	if o.BaseURL == "" && p.baseVar != "" {
		o.BaseURL = d.getenv(p.baseVar)
	}
	if o.BaseURL == "" && p.needsURL && !d.Tape.Playing() {
		return eval.Value{}, fail("inference(\"%s\") needs base_url: the address of the server", p.name)
	}
	m := &Model{deps: d, name: o.ModelID, provider: p.name, maxTurns: r.maxTurns, fallback: r.fallback}
	m.client = sync.OnceValue(func() model.Client {
		return d.client(p.name, o.ModelID, func() model.Client { return p.make(o) })
	})
	return eval.Obj(m), nil
}

// client makes a model's client, whose exchanges go through the tape if there is
// one.
func (d *Deps) client(provider, id string, make func() model.Client) model.Client {
	if d.Tape != nil {
		return d.Tape.Client(provider, id, make)
	}
	return make()
}

var realOptions = []string{"api_key_env", "base_url", "fallback", "max_tokens", "max_turns", "retries", "system", "temperature", "timeout"}

// optionReader reads the labeled arguments of inference.
type optionReader struct {
	keyVar   string
	o        *model.Options
	maxTurns int
	fallback *Model
}

func (r *optionReader) read(l eval.Label) error {
	switch l.Name {
	case "api_key_env", "base_url", "system":
		return r.text(l)
	case "max_tokens", "retries", "max_turns":
		return r.count(l)
	case "fallback":
		m, ok := l.Value.AsObject().(*Model)
		if !ok {
			return fail("inference()'s fallback option must be a Model")
		}
		r.fallback = m
		return nil
	}
	f, ok := l.Value.AsNumber()
	switch {
	case !ok:
		return fail("inference()'s %s option must be a number", l.Name)
	case l.Name == "temperature":
		r.o.Temperature = &f
	case f <= 0:
		return fail("inference()'s timeout option must be above 0")
	default:
		r.o.Timeout = seconds(f)
	}
	return nil
}

func (r *optionReader) text(l eval.Label) error {
	s, ok := l.Value.AsString()
	if !ok {
		return fail("inference()'s %s option must be a String", l.Name)
	}
	switch l.Name {
	case "api_key_env":
		r.keyVar = s
	case "base_url":
		r.o.BaseURL = s
	default:
		r.o.System = s
	}
	return nil
}

func (r *optionReader) count(l eval.Label) error {
	n, ok := l.Value.AsInt()
	if !ok {
		return fail("inference()'s %s option must be an Int", l.Name)
	}
	switch l.Name {
	case "max_tokens":
		r.o.MaxTokens = &n
	case "retries":
		if n < 0 || n > 100 {
			return fail("inference()'s retries option must be from 0 to 100")
		}
		k := int(n)
		r.o.Retries = &k
	default:
		if n < 1 || n > 1000 {
			return fail("inference()'s max_turns option must be from 1 to 1000")
		}
		r.maxTurns = int(n)
	}
	return nil
}

func (d *Deps) mockModel(c *eval.Call) (eval.Value, error) {
	o := mock.Options{}
	if len(c.Args) == 2 {
		s, ok := c.Args[1].AsString()
		if !ok {
			return eval.Value{}, fail(`inference("mock")'s name argument must be a String`)
		}
		o.Name = s
	}
	if err := unknownOptions(c, `inference("mock")`, "confidence", "fallback", "max_turns", "response_template", "script"); err != nil {
		return eval.Value{}, err
	}
	r := optionReader{}
	for _, l := range c.Labels {
		err := mockOption(&o, l)
		if l.Name == "max_turns" || l.Name == "fallback" {
			err = r.read(l)
		}
		if err != nil {
			return eval.Value{}, err
		}
	}
	played := mock.New(o)
	client := d.client("mock", played.ModelID(), func() model.Client { return played })
	m := &Model{deps: d, name: client.ModelID(), provider: "mock", maxTurns: r.maxTurns, fallback: r.fallback, client: func() model.Client { return client }}
	return eval.Obj(m), nil
}

func mockOption(o *mock.Options, l eval.Label) error {
	switch l.Name {
	case "response_template":
		s, ok := l.Value.AsString()
		if !ok {
			return fail(`inference("mock")'s response_template option must be a String`)
		}
		o.Template = &s
	case "confidence":
		f, ok := l.Value.AsNumber()
		if !ok {
			return fail(`inference("mock")'s confidence option must be a number`)
		}
		o.Confidence = &f
	case "script":
		turns, err := mockScript(l.Value)
		if err != nil {
			return err
		}
		o.Script = turns
	}
	return nil
}

// mockScript reads the turns of a scripted mock: a String is an answer, or a
// call as `call server.tool {"a": 1}`; a Map is a call, an Array several.
func mockScript(v eval.Value) ([]mock.Turn, error) {
	a, ok := v.AsArray()
	if !ok {
		return nil, fail(`inference("mock")'s script option must be an Array of turns`)
	}
	turns := []mock.Turn{}
	for i, e := range a.Values() {
		t, err := mockTurn(e)
		if err != nil {
			return nil, fail(`inference("mock")'s script, turn %d: %v`, i+1, err)
		}
		turns = append(turns, t)
	}
	return turns, nil
}

func mockTurn(v eval.Value) (mock.Turn, error) {
	if s, ok := v.AsString(); ok {
		return mock.ParseTurn(s)
	}
	if m, ok := v.AsMap(); ok {
		call, err := mockCall(m)
		return mock.Turn{Calls: []mock.Call{call}}, err
	}
	a, ok := v.AsArray()
	if !ok {
		return mock.Turn{}, fail("expected a String, a Map or an Array of Maps, got %s", v.TypeName())
	}
	var t mock.Turn
	for _, e := range a.Values() {
		m, ok := e.AsMap()
		if !ok {
			s, isText := e.AsString()
			p, err := mock.ParseTurn(s)
			if !isText || err != nil || len(p.Calls) == 0 {
				return mock.Turn{}, fail("expected calls, got %s", e.TypeName())
			}
			t.Calls = append(t.Calls, p.Calls...)
			continue
		}
		call, err := mockCall(m)
		if err != nil {
			return mock.Turn{}, err
		}
		t.Calls = append(t.Calls, call)
	}
	return t, nil
}

func mockCall(m *eval.Map) (mock.Call, error) {
	name, _ := m.Get("call")
	s, ok := name.AsString()
	if !ok {
		return mock.Call{}, fail("a call needs the key 'call' with the tool's name")
	}
	c := mock.Call{Name: s}
	for _, k := range m.Keys() {
		v, _ := m.Get(k)
		switch k {
		case "call":
		case "args":
			if _, ok := v.AsMap(); !ok {
				return mock.Call{}, fail("'args' of a call must be a Map, got %s", v.TypeName())
			}
			raw, err := ToJSON(v)
			if err != nil {
				return mock.Call{}, err
			}
			c.Args = raw
		default:
			return mock.Call{}, fail("unknown key '%s' in a call", k)
		}
	}
	return c, nil
}

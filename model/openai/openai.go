// Package openai asks models over OpenAI's chat-completions wire, which OpenAI
// and many local servers and gateways speak, through the library
// github.com/sashabaranov/go-openai.
//
// The library refuses some requests itself, by the model's name, and drops
// fields that are zero. Here the service decides what it takes: the request
// goes through the library under a name it has no opinion on, and the true
// model and options are put into the body on its way out.
package openai

import (
	"context"
	"encoding/json"
	"net"
	"net/url"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"github.com/sense-lang/sense/model"
	"github.com/sense-lang/sense/model/internal/wire"
)

// The defaults of Options for each provider.
const (
	DefaultModel         = "gpt-4o"
	DefaultBaseURL       = "https://api.openai.com/v1"
	DefaultOllamaModel   = "llama3.2"
	DefaultOllamaBaseURL = "http://127.0.0.1:11434/v1"
)

// neutral is the model name that the library sees.
const neutral = "model"

// Client is a model behind OpenAI's wire. It is a model.Client.
type Client struct {
	provider  string
	options   model.Options
	maxTokens string // the wire's name for Options.MaxTokens
}

// New gives a client of OpenAI; the empty Options.ModelID is DefaultModel.
func New(o model.Options) *Client {
	return newClient("openai", o, DefaultModel, DefaultBaseURL, "max_completion_tokens")
}

// NewOllama gives a client of an Ollama server. Options.BaseURL may be what
// OLLAMA_HOST holds: a host, a host and port, or a URL with or without /v1.
func NewOllama(o model.Options) *Client {
	o.BaseURL = ollamaURL(o.BaseURL)
	return newClient("ollama", o, DefaultOllamaModel, DefaultOllamaBaseURL, "max_tokens")
}

// NewCompatible gives a client of any other server that speaks the wire, for
// the provider "openai-compatible". Options.BaseURL says where it is; the
// empty Options.ModelID is "default".
func NewCompatible(o model.Options) *Client {
	return newClient("openai-compatible", o, "default", "", "max_tokens")
}

func newClient(provider string, o model.Options, id, base, maxTokens string) *Client {
	if o.ModelID == "" {
		o.ModelID = id
	}
	if o.BaseURL == "" {
		o.BaseURL = base
	}
	o.APIKey = strings.TrimSpace(o.APIKey)
	return &Client{provider, o, maxTokens}
}

// Provider is "openai", "ollama" or "openai-compatible".
func (c *Client) Provider() string { return c.provider }

// ModelID is the model's name as the server knows it.
func (c *Client) ModelID() string { return c.options.ModelID }

// Complete asks the model for one turn; see model.Client.
func (c *Client) Complete(ctx context.Context, req *model.Request) (*model.Turn, error) {
	return wire.Complete(ctx, &c.options, req, c.whole, c.stream)
}

// library gives the library a client whose requests go through call.
func (c *Client) library(call *wire.Call) *openai.Client {
	cfg := openai.DefaultConfig(c.options.APIKey)
	cfg.BaseURL = c.options.BaseURL
	cfg.HTTPClient = call
	return openai.NewClientWithConfig(cfg)
}

// edit puts into the body what the library would refuse, round or leave out.
func (c *Client) edit(body map[string]json.RawMessage) error {
	id, err := json.Marshal(c.options.ModelID)
	if err != nil {
		return err
	}
	body["model"] = id
	if t := c.options.Temperature; t != nil {
		body["temperature"] = wire.Number(*t)
	}
	if n := c.options.MaxTokens; n != nil {
		body[c.maxTokens], err = json.Marshal(*n)
	}
	return err
}

func (c *Client) whole(ctx context.Context, req *model.Request) (*model.Turn, error) {
	call := &wire.Call{Options: &c.options, Edit: c.edit, Answer: wholeAnswer}
	res, err := c.library(call).CreateChatCompletion(ctx, c.request(req))
	if err != nil {
		return nil, err
	}
	choice := res.Choices[0] // wholeAnswer has seen to it
	t := &turn{stop: string(choice.FinishReason), refusal: choice.Message.Refusal}
	t.text.WriteString(choice.Message.Content)
	for _, tc := range choice.Message.ToolCalls {
		t.calls = append(t.calls, newCall(tc))
	}
	t.usage = usage(&res.Usage)
	return t.finish(req)
}

func (c *Client) stream(ctx context.Context, req *model.Request) (*model.Turn, error) {
	state := &streamState{}
	call := &wire.Call{Options: &c.options, Edit: c.edit,
		Stream: &wire.Stream{Event: state.event, Whole: wholeAsStream, End: state.end}}
	r := c.request(req)
	r.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	s, err := c.library(call).CreateChatCompletionStream(ctx, r)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return collect(s, req)
}

// ollamaURL completes what OLLAMA_HOST may hold to a base URL.
func ollamaURL(host string) string {
	host = strings.TrimSpace(host)
	if host == "" {
		return ""
	}
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	u, err := url.Parse(host)
	if err != nil || u.Hostname() == "" {
		return host
	}
	name, port := u.Hostname(), u.Port()
	if name == "0.0.0.0" || name == "::" {
		name = "127.0.0.1" // where a server listens to all, a client asks this one
	}
	if port == "" && u.Scheme == "http" {
		port = "11434"
	}
	u.Host = name
	if port != "" {
		u.Host = net.JoinHostPort(name, port)
	} else if strings.Contains(name, ":") {
		u.Host = "[" + name + "]"
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1"
	}
	return u.String()
}

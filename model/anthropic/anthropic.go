// Package anthropic asks models over Anthropic's messages wire, through the
// library github.com/anthropics/anthropic-sdk-go/v2.
//
// The library reads nothing of the environment here, sends no traces and
// repeats no request: package wire does that alike for all vendors. It refuses
// large answers without streaming and has no field for the temperature, so the
// true limits are put into the body on its way out.
package anthropic

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/sense-lang/sense/model"
	"github.com/sense-lang/sense/model/internal/wire"
)

// The defaults of Options.
const (
	DefaultModel     = "claude-sonnet-5"
	DefaultBaseURL   = "https://api.anthropic.com"
	DefaultMaxTokens = 1024
)

// Client is a model behind Anthropic's wire. It is a model.Client.
type Client struct {
	options model.Options
}

// New gives a client; the empty Options.ModelID is DefaultModel and a nil
// Options.MaxTokens is DefaultMaxTokens.
func New(o model.Options) *Client {
	if o.ModelID == "" {
		o.ModelID = DefaultModel
	}
	if o.BaseURL == "" {
		o.BaseURL = DefaultBaseURL
	}
	if o.MaxTokens == nil {
		n := int64(DefaultMaxTokens)
		o.MaxTokens = &n
	}
	o.APIKey = strings.TrimSpace(o.APIKey)
	// The library adds /v1 itself; an address that has it already means the same.
	o.BaseURL = strings.TrimSuffix(strings.TrimRight(o.BaseURL, "/"), "/v1")
	return &Client{o}
}

// Provider is "anthropic".
func (c *Client) Provider() string { return "anthropic" }

// ModelID is the model's name as the service knows it.
func (c *Client) ModelID() string { return c.options.ModelID }

// Complete asks the model for one turn; see model.Client.
func (c *Client) Complete(ctx context.Context, req *model.Request) (*model.Turn, error) {
	return wire.Complete(ctx, &c.options, req, c.turn, c.turn)
}

func (c *Client) turn(ctx context.Context, req *model.Request) (*model.Turn, error) {
	msg, err := c.ask(ctx, req)
	if err != nil {
		return nil, err
	}
	return finish(msg, req)
}

func (c *Client) ask(ctx context.Context, req *model.Request) (*anthropic.Message, error) {
	call := &wire.Call{Options: &c.options, Edit: c.edit, Answer: wholeAnswer}
	if req.Stream == nil {
		messages := c.messages(call)
		return messages.New(ctx, c.params(req))
	}
	state := &streamState{}
	call.Stream = &wire.Stream{Event: state.event, Whole: wholeAsStream, End: state.end}
	messages := c.messages(call)
	s := messages.NewStreaming(ctx, c.params(req))
	defer s.Close()
	return collect(s, req.Stream)
}

// messages gives the library's service whose requests go through call.
func (c *Client) messages(call *wire.Call) anthropic.MessageService {
	options := []option.RequestOption{
		option.WithoutEnvironmentDefaults(),
		option.WithEnvironmentProduction(),
		option.WithoutOpenTelemetry(),
		option.WithBaseURL(c.options.BaseURL),
		option.WithMaxRetries(0),
		option.WithHTTPClient(call),
	}
	if key := c.options.APIKey; key != "" {
		options = append(options, option.WithAPIKey(key))
		if c.options.BaseURL != DefaultBaseURL {
			// The library sends the key as a bearer token; gateways that know
			// the wire from before look for it in its old place.
			options = append(options, option.WithHeader("X-Api-Key", key))
		}
	}
	return anthropic.NewMessageService(options...)
}

// edit puts into the body what the library would refuse or leave out.
func (c *Client) edit(body map[string]json.RawMessage) error {
	var err error
	if body["max_tokens"], err = json.Marshal(*c.options.MaxTokens); err != nil {
		return err
	}
	if t := c.options.Temperature; t != nil {
		body["temperature"] = wire.Number(*t)
	}
	return nil
}

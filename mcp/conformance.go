package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// RunConformance plays the client in one scenario of the official conformance
// suite for clients, whose server is at url. Which scenario that is, and what
// it gives to work with, is in the variables that getenv reads:
// MCP_CONFORMANCE_SCENARIO, MCP_CONFORMANCE_PROTOCOL_VERSION and
// MCP_CONFORMANCE_CONTEXT.
func RunConformance(ctx context.Context, url string, getenv func(string) string) error {
	r := &conformance{scenario: getenv("MCP_CONFORMANCE_SCENARIO"), cfg: Config{Name: "conformance", URL: url}}
	if text := getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &r.given); err != nil {
			return fmt.Errorf("MCP_CONFORMANCE_CONTEXT is not valid: %w", err)
		}
	}
	m := NewManager()
	defer m.CloseAll()
	r.cfg.Handlers.Elicit = acceptDefaults
	if strings.HasPrefix(r.scenario, "auth/") {
		m.Browser = follow
		r.cfg.OAuth = r.oauth()
	}
	s, err := m.Connect(ctx, r.cfg)
	if err != nil {
		return err
	}
	return r.play(ctx, s)
}

// conformance is one scenario.
type conformance struct {
	scenario string
	cfg      Config
	given    struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
		PrivateKey   string `json:"private_key_pem"`
		JWT          string `json:"valid_jwt"`
		IDClient     string `json:"idp_client_id"`
		IDToken      string `json:"idp_id_token"`
		IDIssuer     string `json:"idp_issuer"`
		ToolCalls    []struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"toolCalls"`
	}
}

// acceptDefaults accepts a form with the defaults of its schema.
func acceptDefaults(_ context.Context, r *ElicitRequest) (*ElicitResult, error) {
	var schema struct {
		Properties map[string]struct {
			Default json.RawMessage `json:"default"`
			Type    string          `json:"type"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(r.Schema, &schema); err != nil {
		return nil, err
	}
	content := map[string]json.RawMessage{}
	for name, p := range schema.Properties {
		switch {
		case p.Default != nil:
			content[name] = p.Default
		case p.Type == "boolean":
			content[name] = json.RawMessage("true")
		}
	}
	raw, err := encode(content)
	return &ElicitResult{Action: "accept", Content: raw}, err
}

// follow is a browser whose user agrees to everything at once.
func follow(ctx context.Context, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	t := newTransport()
	defer t.CloseIdleConnections()
	resp, err := (&http.Client{Transport: t}).Do(req)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxErrorBody))
	return resp.Body.Close()
}

// oauth gives how to log in, from what the scenario gives to work with.
func (r *conformance) oauth() *OAuth {
	g := &r.given
	o := &OAuth{
		ClientID: g.ClientID, ClientSecret: g.ClientSecret, PrivateKey: []byte(g.PrivateKey),
		ClientMetadataURL: "https://conformance-test.local/client-metadata.json",
	}
	switch {
	case strings.HasPrefix(r.scenario, "auth/client-credentials"):
		o.Grant = "client_credentials"
	case g.JWT != "":
		o.Grant = "jwt_bearer"
		o.Assertion = func(context.Context, string) (string, error) { return g.JWT, nil }
	case g.IDToken != "":
		o.Grant, o.IdentityServer, o.IdentityClient = "enterprise", g.IDIssuer, g.IDClient
		o.IdentityToken = func(context.Context) (string, error) { return g.IDToken, nil }
	}
	return o
}

// play does what a scenario wants done once there is a connection.
func (r *conformance) play(ctx context.Context, s *Server) error {
	switch r.scenario {
	case "tools_call":
		return callAll(ctx, s, "add_numbers", `{"a":5,"b":3}`)
	case "sse-retry":
		return callAll(ctx, s, "test_reconnection", "")
	case "elicitation-sep1034-client-defaults":
		return callAll(ctx, s, "test_client_elicitation_defaults", "")
	case "sep-2322-client-request-state":
		return callAll(ctx, s, "test_mrtr_echo_state", "", "test_mrtr_no_state", "", "test_mrtr_unrelated", "", "test_mrtr_no_result_type", "")
	case "http-standard-headers":
		return r.useAll(ctx, s)
	case "http-custom-headers":
		for _, c := range r.given.ToolCalls {
			if err := callAll(ctx, s, c.Name, string(c.Arguments)); err != nil {
				return err
			}
		}
	case "http-invalid-tool-headers":
		for _, t := range s.Tools() {
			if err := callAll(ctx, s, t.Name, `{"region":"us-west1"}`); err != nil {
				return err
			}
		}
	case "json-schema-2020-12-preservation":
		for _, t := range s.Tools() {
			if t.Name == "json_schema_2020_12_tool" {
				return callAll(ctx, s, "json_schema_echo", `{"schema":`+string(t.Schema)+`}`)
			}
		}
		return errors.New("the server has no tool 'json_schema_2020_12_tool'")
	}
	if strings.HasPrefix(r.scenario, "auth/") {
		return callAll(ctx, s, "test-tool", "")
	}
	return nil
}

// callAll makes calls, given as pairs of a tool and its arguments.
func callAll(ctx context.Context, s *Server, calls ...string) error {
	for i := 0; i+1 < len(calls); i += 2 {
		if _, err := s.Call(ctx, calls[i], json.RawMessage(calls[i+1])); err != nil {
			return fmt.Errorf("%s: %w", calls[i], err)
		}
	}
	return nil
}

// useAll uses one of everything that a server has.
func (r *conformance) useAll(ctx context.Context, s *Server) error {
	if tools := s.Tools(); len(tools) > 0 {
		if err := callAll(ctx, s, tools[0].Name, ""); err != nil {
			return err
		}
	}
	resources, err := s.Resources(ctx)
	if err == nil && len(resources) > 0 {
		_, err = s.Read(ctx, resources[0].URI)
	}
	if err != nil {
		return err
	}
	prompts, err := s.Prompts(ctx)
	if err == nil && len(prompts) > 0 {
		_, err = s.Prompt(ctx, prompts[0].Name, nil)
	}
	return err
}

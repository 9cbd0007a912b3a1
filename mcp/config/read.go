package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	names "github.com/sense-lang/sense/internal/near"
)

// Parse reads the text of a file; path is for messages and for what the text
// names relative to it.
func Parse(path string, src []byte) (*File, error) {
	root, err := parseText(src)
	if err != nil {
		return nil, placed(path, src, err)
	}
	r := &reader{file: &File{Path: path}, seen: map[string]bool{}}
	for _, m := range root.members {
		if err := r.top(root, m); err != nil {
			return nil, placed(path, src, err)
		}
	}
	return r.file, nil
}

// reader reads one file.
type reader struct {
	file *File
	seen map[string]bool // names of servers
}

func (r *reader) warn(format string, args ...any) {
	r.file.Warnings = append(r.file.Warnings, r.file.Path+": "+fmt.Sprintf(format, args...))
}

func (r *reader) top(root *object, m member) error {
	switch m.key {
	case "mcpServers", "servers":
		return r.servers(root, m)
	case "$schema":
		return nil
	}
	r.warn("unknown key %q is not used%s", m.key, near(m.key, []string{"mcpServers", "servers"}))
	return nil
}

func (r *reader) servers(root *object, m member) error {
	list, err := root.within(m)
	if err != nil {
		return err
	}
	for _, s := range list.members {
		if r.seen[s.key] {
			return &syntaxError{s.keyAt, fmt.Sprintf("the server %q stands here a second time", s.key)}
		}
		e, err := r.entry(list, s)
		if err != nil {
			return err
		}
		r.seen[s.key] = true
		r.file.Entries = append(r.file.Entries, e)
	}
	return nil
}

func (r *reader) entry(list *object, m member) (*Entry, error) {
	if strings.TrimSpace(m.key) == "" {
		return nil, &syntaxError{m.keyAt, "a server must have a name"}
	}
	o, err := list.within(m)
	if err != nil {
		return nil, err
	}
	e := &Entry{Name: m.key, File: r.file.Path}
	for _, f := range o.members {
		if err := r.field(e, f.key, o.value(f)); err != nil {
			return nil, &syntaxError{f.start, fmt.Sprintf("server %q: %s %v", m.key, f.key, err)}
		}
	}
	if err := e.check(); err != nil {
		return nil, &syntaxError{m.keyAt, fmt.Sprintf("server %q: %v%s", m.key, err, e.misspelt(o))}
	}
	return e, nil
}

// check finds what is wrong with an entry as a whole.
func (e *Entry) check() error {
	switch {
	case e.Command == "" && e.URL == "":
		return errors.New(`it needs a "command" to start or a "url" to reach`)
	case e.Command != "" && e.URL != "":
		return errors.New(`it has both a "command" and a "url"; take one out`)
	case e.Command != "" && e.Transport != "" && e.Transport != "stdio":
		return fmt.Errorf("the type %q needs a \"url\" in place of a \"command\"", e.Transport)
	case e.URL != "" && e.Transport == "stdio":
		return errors.New(`the type "stdio" needs a "command" in place of a "url"`)
	}
	return nil
}

// misspelt says which key may have been meant for what an entry lacks.
func (e *Entry) misspelt(o *object) string {
	for _, f := range o.members {
		if e.Command == "" && e.URL == "" && !slices.Contains(fieldNames, f.key) {
			if hint := near(f.key, []string{"command", "url"}); hint != "" {
				return fmt.Sprintf(", and %q is neither%s", f.key, hint)
			}
		}
	}
	return ""
}

var fieldNames = []string{
	"type", "command", "args", "env", "envFile", "cwd", "url", "headers", "timeout", "disabled", "alwaysLoad",
	"oauth", "capability", "tools",
}

// field reads one field of a server. Errors read on after its name.
//
//nolint:funlen // one case a field
func (r *reader) field(e *Entry, key string, raw json.RawMessage) (err error) {
	switch key {
	case "type", "transport":
		e.Transport, err = transportOf(raw)
	case "command":
		e.Command, err = text(raw)
	case "args":
		e.Args, err = texts(raw)
	case "env":
		e.Env, err = table(raw)
	case "envFile":
		e.EnvFile, err = text(raw)
	case "cwd":
		e.Cwd, err = text(raw)
	case "url":
		e.URL, err = text(raw)
	case "headers":
		e.Headers, err = table(raw)
	case "timeout":
		e.Timeout, err = milliseconds(raw)
	case "disabled":
		e.Disabled, err = boolean(raw)
	case "alwaysLoad":
		e.AlwaysLoad, err = boolean(raw)
	case "oauth":
		e.OAuth, err = r.oauth(e, raw)
	case "capability":
		e.Capability, err = text(raw)
	case "tools":
		e.Tools, err = r.tools(e, raw)
	default:
		r.warn("server %q: unknown key %q is not used%s", e.Name, key, near(key, fieldNames))
	}
	return err
}

// Transport gives the transport a name of it means: "stdio", "http" or "sse".
// Names of other clients ("streamable-http", "streamableHttp") are taken.
func Transport(name string) (string, error) {
	switch strings.ToLower(name) {
	case "stdio", "local":
		return "stdio", nil
	case "http", "streamable-http", "streamablehttp", "remote":
		return "http", nil
	case "sse":
		return "sse", nil
	}
	return "", fmt.Errorf("must be stdio, http or sse, not %q", name)
}

func transportOf(raw json.RawMessage) (string, error) {
	s, err := text(raw)
	if err != nil {
		return "", err
	}
	return Transport(s)
}

func text(raw json.RawMessage) (string, error) {
	var s *string
	if json.Unmarshal(raw, &s) != nil || s == nil {
		return "", fmt.Errorf("must be a text in quotes, not %s", shape(raw))
	}
	if strings.ContainsRune(*s, 0) {
		return "", errors.New("must not hold a zero byte")
	}
	return *s, nil
}

func texts(raw json.RawMessage) ([]string, error) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || string(raw) == "null" {
		return nil, fmt.Errorf("must be a list of texts, not %s", shape(raw))
	}
	out := make([]string, 0, len(list))
	for i, one := range list {
		s, err := scalar(one)
		if err != nil {
			return nil, fmt.Errorf("[%d] %w", i, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// scalar reads a text; numbers and truth values, which some files have in a
// text's place, count as they are written.
func scalar(raw json.RawMessage) (string, error) {
	switch c := raw[0]; {
	case c == '-' || c >= '0' && c <= '9' || c == 't' || c == 'f':
		return string(raw), nil
	}
	return text(raw)
}

// table reads names with texts; a null leaves its name out.
func table(raw json.RawMessage) (map[string]string, error) {
	o, err := readObject(raw, 0, len(raw))
	if err != nil {
		return nil, fmt.Errorf("must be names with texts in braces, not %s", shape(raw))
	}
	out := map[string]string{}
	for _, m := range o.members {
		v := o.value(m)
		if string(v) == "null" {
			continue
		}
		if m.key == "" || strings.ContainsAny(m.key, "\x00=\r\n") {
			return nil, fmt.Errorf("has the name %q, which is not possible", m.key)
		}
		s, err := scalar(v)
		if err != nil {
			return nil, fmt.Errorf(".%s %w", m.key, err)
		}
		out[m.key] = s
	}
	return out, nil
}

func boolean(raw json.RawMessage) (bool, error) {
	switch string(raw) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("must be true or false, not %s", shape(raw))
}

func milliseconds(raw json.RawMessage) (time.Duration, error) {
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || n <= 0 || n > float64(24*time.Hour/time.Millisecond) {
		return 0, fmt.Errorf("must be a number of milliseconds above 0 and up to a day, not %s", shape(raw))
	}
	return time.Duration(n * float64(time.Millisecond)), nil
}

// tools reads the allow-list. The objects that another client has there say
// what a policy says, so they are not used.
func (r *reader) tools(e *Entry, raw json.RawMessage) ([]string, error) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || string(raw) == "null" {
		return nil, fmt.Errorf("must be a list of names or patterns, not %s", shape(raw))
	}
	var out []string
	for i, one := range list {
		if one[0] == '{' {
			r.warn(`server %q: permissions in "tools" are not used; write rules in the program's policy`, e.Name)
			continue
		}
		s, err := text(one)
		if err != nil {
			return nil, fmt.Errorf("[%d] %w", i, err)
		}
		out = append(out, s)
	}
	return out, nil
}

func (r *reader) oauth(e *Entry, raw json.RawMessage) (*OAuth, error) {
	o, err := readObject(raw, 0, len(raw))
	if err != nil {
		return nil, fmt.Errorf("must be an object, not %s", shape(raw))
	}
	var out OAuth
	for _, m := range o.members {
		v := o.value(m)
		switch m.key {
		case "clientId":
			out.ClientID, err = text(v)
		case "clientSecret":
			out.ClientSecret, err = text(v)
		case "callbackPort":
			out.CallbackPort, err = port(v)
		case "authServerMetadataUrl":
			out.MetadataURL, err = text(v)
			r.warn("server %q: oauth.authServerMetadataUrl is not used; the server itself is asked", e.Name)
		case "scopes":
			out.Scopes, err = scopes(v)
		default:
			r.warn("server %q: unknown key %q of oauth is not used", e.Name, m.key)
		}
		if err != nil {
			return nil, fmt.Errorf(".%s %w", m.key, err)
		}
	}
	return &out, nil
}

func port(raw json.RawMessage) (int, error) {
	n, err := strconv.Atoi(string(raw))
	if err != nil || n < 0 || n > 65535 {
		return 0, fmt.Errorf("must be a port, not %s", shape(raw))
	}
	return n, nil
}

// scopes reads one text with spaces between, or a list.
func scopes(raw json.RawMessage) ([]string, error) {
	if raw[0] == '[' {
		return texts(raw)
	}
	s, err := text(raw)
	return strings.Fields(s), err
}

// shape names what a value is.
func shape(raw json.RawMessage) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	}
	if len(raw) > 20 {
		return "a number"
	}
	return string(raw)
}

// near proposes a known name for an unknown one.
func near(name string, known []string) string {
	plain := func(s string) string { return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)) }
	for _, k := range known {
		a, b := plain(name), plain(k)
		if limit := min(2, len(a)/2, len(b)/2); names.Edits(a, b, limit) <= limit {
			return fmt.Sprintf(" (did you mean %q?)", k)
		}
	}
	return ""
}

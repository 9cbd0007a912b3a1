package config

import (
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sense-lang/sense/mcp"
)

// Resolved is an entry with the environment's values in it.
type Resolved struct {
	// Config is what to connect with; limits and handlers are the caller's.
	Config mcp.Config
	// Secrets are values that must not be shown: those that came from the
	// environment, and those of variables and headers whose names say so.
	Secrets []string
}

// Resolve expands an entry. Its error is one line that names the file, the
// server and the field.
func (e *Entry) Resolve(env Environment) (*Resolved, error) {
	x := &Expander{Env: env, Folder: e.absDir()}
	r := &Resolved{Config: mcp.Config{Name: e.Name, Transport: e.Transport, CallTimeout: e.Timeout, Tools: e.Tools}}
	if err := e.expand(x, &r.Config); err != nil {
		return nil, fmt.Errorf("%s: server %q: %w", e.File, e.Name, err)
	}
	r.Secrets = x.Secrets
	if r.Config.OAuth != nil {
		r.Secrets = append(r.Secrets, r.Config.OAuth.ClientSecret)
	}
	for _, values := range []map[string]string{r.Config.Env, r.Config.Headers} {
		for _, k := range slices.Sorted(maps.Keys(values)) {
			if SecretName(k) {
				r.Secrets = append(r.Secrets, SecretParts(values[k])...)
			}
		}
	}
	return r, nil
}

// SecretParts gives a secret value and, of one like "Bearer x", the x.
func SecretParts(v string) []string {
	if scheme, rest, ok := strings.Cut(v, " "); ok && len(scheme) < 12 {
		return []string{v, strings.TrimSpace(rest)}
	}
	return []string{v}
}

func (e *Entry) absDir() string {
	if abs, err := filepath.Abs(e.Dir()); err == nil {
		return abs
	}
	return e.Dir()
}

func (e *Entry) expand(x *Expander, c *mcp.Config) (err error) {
	if c.Command, err = x.field("command", e.Command); err != nil {
		return err
	}
	// A program given by a relative path lies beside the file, wherever sense
	// is run from.
	if strings.ContainsRune(filepath.ToSlash(c.Command), '/') {
		c.Command = join(x.Folder, c.Command, x.Env)
	}
	for i, a := range e.Args {
		if a, err = x.field(fmt.Sprintf("args[%d]", i), a); err != nil {
			return err
		}
		c.Args = append(c.Args, a)
	}
	if err := e.expandEnv(x, c); err != nil {
		return err
	}
	if e.Cwd != "" {
		if c.Dir, err = x.field("cwd", e.Cwd); err != nil {
			return err
		}
		c.Dir = join(x.Folder, c.Dir, x.Env)
	}
	if c.URL, err = x.field("url", e.URL); err != nil {
		return err
	}
	if e.URL != "" {
		if err := CheckURL(c.URL); err != nil {
			return fmt.Errorf("url %w", err)
		}
	}
	if c.Headers, err = x.table("headers", e.Headers); err != nil || e.OAuth == nil {
		return err
	}
	c.OAuth = &mcp.OAuth{ClientID: e.OAuth.ClientID, Scopes: e.OAuth.Scopes, CallbackPort: e.OAuth.CallbackPort}
	c.OAuth.ClientSecret, err = x.field("oauth.clientSecret", e.OAuth.ClientSecret)
	return err
}

func (e *Entry) expandEnv(x *Expander, c *mcp.Config) error {
	own, err := x.table("env", e.Env)
	if err != nil || e.EnvFile == "" {
		c.Env = own
		return err
	}
	path, err := x.field("envFile", e.EnvFile)
	if err != nil {
		return err
	}
	if c.Env, err = readEnvFile(join(x.Folder, path, x.Env)); err != nil {
		return fmt.Errorf("envFile: %w", err)
	}
	maps.Copy(c.Env, own)
	return nil
}

func (x *Expander) field(name, s string) (string, error) {
	out, err := x.Expand(s)
	if err != nil {
		return "", fmt.Errorf("%s %w", name, err)
	}
	return out, nil
}

// table expands the values of a table; nil stays nil.
func (x *Expander) table(name string, in map[string]string) (map[string]string, error) {
	if in == nil {
		return nil, nil
	}
	out := make(map[string]string, len(in))
	for _, k := range slices.Sorted(maps.Keys(in)) {
		v, err := x.field(name+"."+k, in[k])
		if err != nil {
			return nil, err
		}
		out[k] = v
	}
	return out, nil
}

// CheckURL says what is wrong with an address of a server, fit to follow the
// word url; nil is nothing.
func CheckURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case strings.HasPrefix(s, "‹redacted:"):
		return nil // what a tape has in the place of an address that was taken out
	case err != nil:
		return fmt.Errorf("is no address: %q", clip(s))
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("must begin with https:// or http://, not %q", clip(s))
	case u.Host == "":
		return fmt.Errorf("has no host: %q", clip(s))
	}
	return nil
}

// SecretName reports whether the name of a variable or header says that its
// value is secret.
func SecretName(name string) bool {
	n := strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	for _, word := range []string{"KEY", "TOKEN", "SECRET", "PASS", "_PWD", "AUTHORIZATION", "_AUTH", "COOKIE", "CREDENTIAL"} {
		if strings.Contains(n, word) {
			return true
		}
	}
	return false
}

package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Expander puts values in the place of ${VAR}, ${VAR:-default} and ${env:VAR}.
// An empty default is possible; $VAR without braces stays as it is.
type Expander struct {
	// Env looks up variables.
	Env Environment
	// Folder is what ${workspaceFolder} stands for; "" knows none.
	Folder string
	// Secrets collects the values that came from the environment.
	Secrets []string
}

// Expand gives s with every reference replaced. The error says what is wrong,
// fit to follow the name of a field.
func (x *Expander) Expand(s string) (string, error) {
	if !strings.Contains(s, "${") {
		return s, nil
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "${")
		b.WriteString(before)
		if !ok {
			return b.String(), nil
		}
		name, after, ok := strings.Cut(rest, "}")
		if !ok {
			return "", fmt.Errorf("has ${ without a closing }")
		}
		v, err := x.value(name)
		if err != nil {
			return "", err
		}
		b.WriteString(v)
		s = after
	}
}

func (x *Expander) value(ref string) (string, error) {
	name, fallback, hasFallback := strings.Cut(ref, ":-")
	if rest, ok := strings.CutPrefix(name, "env:"); ok {
		name = rest
	}
	switch {
	case name == "workspaceFolder" && x.Folder != "":
		return x.Folder, nil
	case name == "userHome":
		name = "HOME"
	case strings.HasPrefix(name, "input:"):
		return "", fmt.Errorf("asks for input with ${%s}, which sense does not do; set a variable and write ${NAME}", name)
	case !isVariable(name):
		return "", fmt.Errorf("has ${%s}, which is no name of a variable; possible are ${NAME}, ${NAME:-default} and ${env:NAME}", clip(ref))
	}
	if v, ok := x.Env(name); ok && (v != "" || !hasFallback) {
		x.Secrets = append(x.Secrets, v)
		return v, nil
	}
	if hasFallback {
		return fallback, nil
	}
	return "", fmt.Errorf("needs the environment variable %s, which is not set", name)
}

func isVariable(name string) bool {
	for i, r := range name {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// references reports whether a text names a variable.
func references(s string) bool { return strings.Contains(s, "${") }

func clip(s string) string {
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "..."
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

// readEnvFile reads lines of NAME=value: blank lines and those that begin with
// # are passed over, "export " before a name too, quotes around a value are
// taken off.
func readEnvFile(path string) (map[string]string, error) {
	src, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(string(src), "\ufeff")) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || !isVariable(name) || strings.ContainsRune(value, 0) {
			return nil, fmt.Errorf("%s:%d: this line is not NAME=value", path, n)
		}
		if len(value) >= 2 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
			value = value[1 : len(value)-1]
		}
		out[name] = value
	}
	return out, nil
}

// join makes a path of a file absolute; ~/ is the user's home.
func join(folder, path string, env Environment) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, ok := env("HOME"); ok && home != "" {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// OSEnvironment looks variables up in the process's own environment.
func OSEnvironment(name string) (string, bool) { return os.LookupEnv(name) }

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/sense-lang/sense/policy"
)

// settings are what a sense.toml says. There are two: the user's own, below
// XDG_CONFIG_HOME, which may allow, and the project's, the nearest one from the
// program's folder upward, which can only tighten.
type settings struct {
	Allow     []string `toml:"allow"`
	Deny      []string `toml:"deny"`
	Strict    bool     `toml:"strict"`
	Secrets   []string `toml:"secrets"`
	Audit     string   `toml:"audit"`
	MaxSteps  int64    `toml:"max_steps"`
	MaxDepth  int      `toml:"max_depth"`
	MaxMemory string   `toml:"max_memory"`
	MaxOutput string   `toml:"max_output"`
	Timeout   string   `toml:"timeout"`
	Untrusted []string `toml:"untrusted"`
	AskAfter  []string `toml:"ask_after_untrusted"`

	path    string
	timeout time.Duration
	memory  int64
	output  int64
}

const settingsName = "sense.toml"

// maxSettings bounds the size of a sense.toml, in bytes.
const maxSettings = 1 << 20

// readSettings reads a file; a missing one says nothing.
func readSettings(path string) (*settings, error) {
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &settings{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	if !st.Mode().IsRegular() || st.Size() > maxSettings {
		return nil, fmt.Errorf("%s is no ordinary file of at most %d bytes", path, maxSettings)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	s, err := parseSettings(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s.path = path
	return s, nil
}

func parseSettings(text string) (*settings, error) {
	s := &settings{}
	meta, err := toml.Decode(text, s)
	var bad toml.ParseError
	if errors.As(err, &bad) {
		return nil, fmt.Errorf("line %d: %s", bad.Position.Line, firstOf(bad.Message, bad.Error()))
	}
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "toml: "))
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, fmt.Errorf("unknown key '%s' -- known: allow, ask_after_untrusted, audit, deny, max_depth, max_memory, max_output, max_steps, secrets, strict, timeout, untrusted", unknown[0])
	}
	return s, s.complete()
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			line, _, _ := strings.Cut(t, "\n")
			return line
		}
	}
	return ""
}

// complete reads the texts among the values.
func (s *settings) complete() (err error) {
	if s.MaxSteps < 0 || s.MaxDepth < 0 {
		return errors.New("a limit must not be negative")
	}
	if s.Timeout != "" {
		if s.timeout, err = time.ParseDuration(s.Timeout); err != nil || s.timeout < 0 {
			return fmt.Errorf("timeout: '%s' is no time; write it as 30s or 5m", s.Timeout)
		}
	}
	if s.MaxMemory != "" {
		if s.memory, err = parseSize(s.MaxMemory); err != nil {
			return fmt.Errorf("max_memory: %w", err)
		}
	}
	if s.MaxOutput != "" {
		if s.output, err = parseSize(s.MaxOutput); err != nil {
			return fmt.Errorf("max_output: %w", err)
		}
	}
	if strings.HasPrefix(s.Audit, "sqlite:") {
		return errors.New("audit: a database is not supported, name a file")
	}
	return nil
}

// userSettings reads the user's own file.
func userSettings() (*settings, error) {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return &settings{}, nil // nobody's configuration
		}
		dir = filepath.Join(home, ".config")
	}
	return readSettings(filepath.Join(dir, "sense", settingsName))
}

// liesBelow reports whether a relative path leads to a place below a folder,
// also by the symbolic links on its way that are there already.
func liesBelow(dir, path string) bool {
	if !filepath.IsLocal(path) {
		return false
	}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(filepath.Join(dir, path)))
	if err != nil {
		return os.IsNotExist(err) // nothing is made there
	}
	rel, err := filepath.Rel(root, folder)
	return err == nil && filepath.IsLocal(rel)
}

// projectSettings reads the nearest file from the program's folder upward.
func projectSettings(program string) (*settings, error) {
	dir := "."
	if program != "" && program != "-" {
		dir = filepath.Dir(program)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return &settings{}, nil //nolint:nilerr // without a working folder there is no project
	}
	for {
		path := filepath.Join(dir, settingsName)
		if _, err := os.Lstat(path); err == nil {
			s, err := readSettings(path)
			if err == nil && s.Audit != "" && !liesBelow(dir, s.Audit) {
				err = fmt.Errorf("%s: audit: a project's file can name a path below its own folder only", path)
			}
			return s, err
		}
		up := filepath.Dir(dir)
		if up == dir {
			return &settings{}, nil
		}
		dir = up
	}
}

// projectFolder gives the folder of the program's project: that of its
// sense.toml, else the program's own.
func (f *runFlags) projectFolder() string {
	switch {
	case f.project != nil && f.project.path != "":
		return filepath.Dir(f.project.path)
	case f.program == "" || f.program == "-":
		return "."
	}
	return filepath.Dir(f.program)
}

// moduleRoots gives the folders that imports come from under a ceiling.
func (f *runFlags) moduleRoots() []string { return append([]string{f.projectFolder()}, f.modules...) }

// configure adds what the files say to what the flags say.
func (f *runFlags) configure() error {
	user, err := userSettings()
	if err != nil {
		return err
	}
	project, err := projectSettings(f.program)
	if err != nil {
		return err
	}
	f.user, f.project = user, project
	f.strict = f.strict || user.Strict || project.Strict
	switch {
	case f.audit != "":
	case user.Audit != "":
		f.audit = beside(user.path, user.Audit)
	case project.Audit != "":
		f.audit = beside(project.path, project.Audit)
	}
	f.steps = tighter(or(f.steps, user.MaxSteps), project.MaxSteps)
	f.timeout = tighter(or(f.timeout, user.timeout), project.timeout)
	f.depth = tighter(or(f.depth, user.MaxDepth), project.MaxDepth)
	return nil
}

// beside gives a path that a file names, which starts at the file's folder.
func beside(file, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(file), path)
}

// or gives a unless it is zero, which says nothing.
func or[T int | int64 | time.Duration](a, b T) T {
	if a != 0 {
		return a
	}
	return b
}

// tighter gives the smaller limit, where zero is none.
func tighter[T int | int64 | time.Duration](a, b T) T {
	switch {
	case a == 0:
		return b
	case b == 0:
		return a
	}
	return min(a, b)
}

// bound adds the rules of the files to a ceiling.
func (f *runFlags) bound(c *policy.Ceiling) error {
	if f.user == nil {
		return nil
	}
	if len(f.user.Allow) > 0 {
		if err := c.Allow(f.user.path, f.user.Allow...); err != nil {
			return err
		}
	}
	if len(f.project.Allow) > 0 {
		if err := c.Restrict(f.project.path, f.project.Allow...); err != nil {
			return err
		}
	}
	for _, s := range []*settings{f.user, f.project} {
		if err := c.Deny(s.path, s.Deny...); err != nil {
			return err
		}
		if err := c.Untrusted(s.path, s.Untrusted...); err != nil {
			return err
		}
		if err := c.AskAfterUntrusted(s.path, s.AskAfter...); err != nil {
			return err
		}
	}
	return nil
}

// hasRules reports whether a file bounds what policy may allow.
func (f *runFlags) hasRules() bool {
	rules := func(s *settings) int { return len(s.Allow) + len(s.Deny) + len(s.Untrusted) + len(s.AskAfter) }
	return f.user != nil && rules(f.user)+rules(f.project) > 0
}

// secretValues gives the secrets that the files name: "${NAME}" is the value of
// a variable, anything else the secret itself.
func (f *runFlags) secretValues() []string {
	var out []string
	for _, s := range []*settings{f.user, f.project} {
		if s == nil {
			continue
		}
		for _, v := range s.Secrets {
			if name, ok := strings.CutPrefix(v, "${"); ok && strings.HasSuffix(name, "}") {
				v = os.Getenv(strings.TrimSuffix(name, "}"))
			}
			if v != "" {
				out = append(out, v)
			}
		}
	}
	return out
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/term"

	"github.com/sense-lang/sense/builtins"
	"github.com/sense-lang/sense/mcp"
	"github.com/sense-lang/sense/mcp/config"
	"github.com/sense-lang/sense/mcp/keyring"
)

// mcp says how the programs of a command connect to servers.
func (f *runFlags) mcp() builtins.MCPOptions {
	o := builtins.MCPOptions{Yes: f.yes, Interactive: interactive(), Roots: f.fsRoots, Tokens: tokens(), Locked: f.locked}
	o.Notice = f.say
	if f.verbose {
		o.Verbose = f.say
	}
	if interactive() && term.IsTerminal(int(os.Stderr.Fd())) {
		o.Progress = (&progressLine{}).show
	}
	return o
}

// tokens gives the store of what logins gave; nil where there is no home.
func tokens() mcp.TokenStore {
	if s := logins(); s != nil {
		return s
	}
	return nil
}

func logins() *keyring.Store {
	trust := config.TrustFile(environment)
	if trust == "" {
		return nil
	}
	return keyring.New(filepath.Join(filepath.Dir(trust), "tokens.json"))
}

// interactive reports whether somebody can be asked.
func interactive() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
}

// progressLine is a line on the terminal that is written over.
type progressLine struct {
	mu    sync.Mutex
	shown bool
}

// show writes the line, or takes it away where s is empty.
func (p *progressLine) show(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s == "" && !p.shown {
		return
	}
	p.shown = s != ""
	const width = 78
	if r := []rune(s); len(r) > width {
		s = string(r[:width])
	}
	fmt.Fprintf(flushed{os.Stderr}, "\r\x1b[K%s", s)
}

// environment looks variables up; an empty one counts as not set.
func environment(name string) (string, bool) {
	v, ok := config.OSEnvironment(name)
	return v, ok && v != ""
}

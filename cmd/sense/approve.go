package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/user"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
)

// approver asks a person on the terminal for approvals.
type approver struct {
	// question is what is asked, such as "Commit it?".
	question string

	mu   sync.Mutex
	all  map[string]bool // actions that every further commit is approved of
	none bool            // no to everything from here on
}

// ask asks until there is an answer. Where there is no terminal the answer is
// never yes.
func (p *approver) ask(ctx context.Context, name, what string) eval.Approval {
	p.mu.Lock()
	defer p.mu.Unlock()
	by := person()
	if p.none || p.all[name] {
		return eval.Approval{Yes: p.all[name] && !p.none, By: by}
	}
	tty, err := openTerminal()
	if err != nil {
		return eval.Approval{By: "nobody: there is no terminal"}
	}
	defer tty.Close()
	_ = stdout.Flush() // an error shows at the end
	answers := make(chan string, 1)
	go readAnswers(tty, p.question, name, what, answers)
	select {
	case a := <-answers:
		return eval.Approval{Yes: p.take(a, name), By: by}
	case <-ctx.Done():
		return eval.Approval{By: "nobody: interrupted"}
	}
}

func (p *approver) take(answer, name string) bool {
	switch answer {
	case "y":
		return true
	case "all":
		if p.all == nil {
			p.all = map[string]bool{}
		}
		p.all[name] = true
		return true
	case "none":
		p.none = true
	}
	return false
}

// readAnswers shows what is to be approved and reads until an answer is one.
func readAnswers(tty *os.File, question, name, what string, answers chan<- string) {
	r := bufio.NewReader(tty)
	for {
		for _, line := range strings.Split(what, "\n") {
			fmt.Fprintln(tty, diag.Visible(line))
		}
		fmt.Fprintf(tty, "%s [y]es, [n]o, [all] of '%s', [none] from here on: ", question, diag.Visible(name))
		line, err := r.ReadString('\n')
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			answers <- "y"
			return
		case "n", "no":
			answers <- "n"
			return
		case "all", "none":
			answers <- strings.ToLower(strings.TrimSpace(line))
			return
		}
		if err != nil {
			answers <- "n"
			return
		}
	}
}

// openTerminal opens the terminal itself: standard input may be a file.
func openTerminal() (*os.File, error) {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if !term.IsTerminal(int(f.Fd())) {
		f.Close()
		return nil, fmt.Errorf("no terminal")
	}
	return f, nil
}

// person names who sits at the terminal.
func person() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "terminal"
}

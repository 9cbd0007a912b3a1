// Command mcp measures what a call of an MCP tool costs: through a Sense script with
// policy and audit, through a client written by hand, through mcp-go's client and
// through the official Python SDK, against the same two servers by turns.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// atOnce is how many calls are under way together in the second measurement.
const atOnce = 16

// segment is how many calls alone are timed together. The median of the segments counts,
// and of the rounds the best: what is timed for long on a busy machine is the machine.
const segment = 10

// server is a command that speaks MCP over stdio and has a tool echo(message).
type server struct {
	name  string
	argv  []string
	calls int // to measure with
}

// cost is what a call takes, alone and with others under way.
type cost struct{ alone, together time.Duration }

// contestant is a client; measure starts the server, calls and stops it.
type contestant struct {
	name    string
	measure func(s server) (cost, error)
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == tinyArg {
		tiny()
		return
	}
	sense := flag.String("sense", "bin/sense", "the sense binary")
	everything := flag.String("everything", "", "the main file of server-everything; without it that server is left out")
	python := flag.String("python", "", "a Python that has the SDK (package mcp); without it that client is left out")
	rounds := flag.Int("n", 5, "rounds; the best of each counts")
	calls := flag.Int("calls", 4000, "calls to measure with in a round")
	flag.Parse()
	if err := bench(*sense, *everything, *python, *rounds, *calls); err != nil {
		fmt.Fprintln(os.Stderr, "bench-mcp:", err)
		os.Exit(1)
	}
}

func bench(sense, everything, python string, rounds, calls int) error {
	servers, err := findServers(everything, calls)
	if err != nil {
		return err
	}
	list, err := contestants(sense, python)
	if err != nil {
		return err
	}
	best := table{}
	for range rounds {
		for _, s := range servers {
			for _, c := range list {
				got, err := c.measure(s)
				if err != nil {
					return fmt.Errorf("%s on %s: %w", c.name, s.name, err)
				}
				best.note(s.name, c.name, got)
			}
			fmt.Fprint(os.Stderr, ".")
		}
	}
	fmt.Fprintln(os.Stderr)
	fmt.Print(best.text(servers, list))
	text, missed := best.marks()
	fmt.Print(text)
	if missed {
		return errors.New("a mark is missed")
	}
	return nil
}

func findServers(everything string, calls int) ([]server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	list := []server{{"tiny", []string{self, tinyArg}, calls}}
	node, err := exec.LookPath("node")
	if everything == "" || err != nil {
		fmt.Fprintln(os.Stderr, "bench-mcp: server-everything is not there and left out")
		return list, nil
	}
	if everything, err = filepath.Abs(everything); err != nil {
		return nil, err
	}
	return append(list, server{"everything", []string{node, everything, "stdio"}, calls}), nil
}

func contestants(sense, python string) ([]contestant, error) {
	sense, err := filepath.Abs(sense)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(sense); err != nil {
		return nil, err
	}
	list := []contestant{
		{"hand-written", byHand},
		{"mcp-go", byMCPGo},
		{"sense", func(s server) (cost, error) { return byScript(sense, s) }},
		{"sense --audit", func(s server) (cost, error) { return byScript(sense, s, "--audit") }},
	}
	if python == "" {
		fmt.Fprintln(os.Stderr, "bench-mcp: no Python SDK, it is left out")
		return list, nil
	}
	return append(list, contestant{"Python SDK", func(s server) (cost, error) { return byPython(python, s) }}), nil
}

// table has the best cost of each client by server.
type table map[[2]string]cost

func (t table) note(server, client string, c cost) {
	key := [2]string{server, client}
	old := t[key]
	t[key] = cost{min(c.alone, cmp.Or(old.alone, c.alone)), min(c.together, cmp.Or(old.together, c.together))}
}

func (t table) text(servers []server, list []contestant) string {
	var b strings.Builder
	for _, s := range servers {
		fmt.Fprintf(&b, "\n%-14s  %12s  %12s  %15s\n", s.name, "us a call", "of by hand", fmt.Sprintf("calls/s, %d at once", atOnce))
		hand := t[[2]string{s.name, "hand-written"}]
		for _, c := range list {
			got := t[[2]string{s.name, c.name}]
			fmt.Fprintf(&b, "%-14s  %12.1f  %12.2f  %15.0f\n", c.name, micros(got.alone), ratio(got.alone, hand.alone), float64(time.Second)/float64(got.together))
		}
	}
	return b.String()
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

// marks compares with what a call may cost.
func (t table) marks() (text string, missed bool) {
	var b strings.Builder
	b.WriteString("\n")
	say := func(what string, got, mark float64, holds bool) {
		word := "holds"
		if !holds {
			word, missed = "MISSED", true
		}
		fmt.Fprintf(&b, "%-66s %6.2f  mark %4.1f  %s\n", what, got, mark, word)
	}
	for _, s := range []struct {
		name string
		most float64
	}{{"tiny", 2.5}, {"everything", 1.3}} {
		of := func(client string) (cost, bool) { c, ok := t[[2]string{s.name, client}]; return c, ok }
		sense, ok := of("sense")
		if !ok {
			continue
		}
		hand, _ := of("hand-written")
		r := ratio(sense.alone, hand.alone)
		say(s.name+": time of a call through a script, of that by hand", r, s.most, r <= s.most)
		plain, _ := of("mcp-go")
		r = ratio(plain.together, sense.together)
		say(fmt.Sprintf("%s: calls/s with %d at once, of mcp-go's", s.name, atOnce), r, 0.8, r >= 0.8)
		if python, ok := of("Python SDK"); ok && s.name == "tiny" {
			r = ratio(python.alone, sense.alone)
			say(s.name+": how many times faster than the Python SDK", r, 7, r >= 7)
		}
	}
	return b.String(), missed
}

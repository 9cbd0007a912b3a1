package main

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"text/tabwriter"
)

// table shows CPU seconds by program and engine, with sense's memory and its ratio
// to CPython, to Lua and to the best of the Go interpreters.
func table(engines []engine, rows []row) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "CPU s\t")
	for _, e := range engines {
		fmt.Fprintf(w, "%s\t", e.name)
	}
	fmt.Fprint(w, "MB\t/python\t/lua\tpeer/\t\n")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t", r.program)
		for _, e := range engines {
			fmt.Fprintf(w, "%s\t", cell(r, e.name))
		}
		fmt.Fprintf(w, "%.0f\t%s\t%s\t%s\t\n", float64(r.results["sense"].rss)/1024,
			ratio(r.ratio("sense", "python")), ratio(r.ratio("sense", "lua5.4")), ratio(r.peerRatio()))
	}
	_ = w.Flush() // into memory
	return b.String()
}

func cell(r row, engine string) string {
	res, ok := r.results[engine]
	switch {
	case !ok:
		return "-"
	case res.failed != "":
		return "failed"
	}
	return fmt.Sprintf("%.3f", res.cpu.Seconds())
}

func ratio(f float64) string {
	if f == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", f)
}

// ratio divides the CPU times of two engines; 0 where one has none.
func (r row) ratio(a, b string) float64 {
	x, y := r.results[a], r.results[b]
	if x.cpu == 0 || y.cpu == 0 {
		return 0
	}
	return x.cpu.Seconds() / y.cpu.Seconds()
}

// peerRatio says how many times as long the best Go interpreter takes as sense.
func (r row) peerRatio() float64 {
	best := 0.0
	for _, p := range peers {
		if f := r.ratio(p.name, "sense"); f > 0 && (best == 0 || f < best) {
			best = f
		}
	}
	return best
}

// geomean is the geometric mean of what is above 0, and 0 of nothing.
func geomean(values []float64) float64 {
	sum, n := 0.0, 0
	for _, v := range values {
		if v > 0 {
			sum += math.Log(v)
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return math.Exp(sum / float64(n))
}

// summary gives the geometric means over the programs proper: hello measures the
// start and parse20k the parser, so they stand alone.
func summary(rows []row) string {
	means := map[string][]float64{}
	for _, r := range rows {
		if r.program == "hello" || r.program == "parse20k" {
			continue
		}
		means["sense / python"] = append(means["sense / python"], r.ratio("sense", "python"))
		means["sense / lua5.4"] = append(means["sense / lua5.4"], r.ratio("sense", "lua5.4"))
		means["best Go peer / sense"] = append(means["best Go peer / sense"], r.peerRatio())
		means["original / sense"] = append(means["original / sense"], r.ratio("original", "sense"))
	}
	var b strings.Builder
	for _, line := range []struct{ name, goal string }{
		{"sense / python", "at most 0.45"}, {"sense / lua5.4", "at most 1.0"}, {"best Go peer / sense", "at least 4"}, {"original / sense", "at least 20"},
	} {
		if m := geomean(means[line.name]); m > 0 {
			fmt.Fprintf(&b, "geometric mean %s: %.2f (goal: %s)\n", line.name, m, line.goal)
		}
	}
	return b.String()
}

// disagreement is an error where an engine failed or printed something else than
// sense.
func disagreement(rows []row) error {
	var errs []error
	for _, r := range rows {
		want := r.results["sense"]
		if want.failed != "" {
			errs = append(errs, fmt.Errorf("%s: sense: %s", r.program, want.failed))
			continue
		}
		for name, got := range r.results {
			switch {
			case strings.HasPrefix(got.failed, "over "): // too slow is an answer
			case got.failed != "":
				errs = append(errs, fmt.Errorf("%s: %s: %s", r.program, name, got.failed))
			case got.output != want.output:
				errs = append(errs, fmt.Errorf("%s: %s prints %q, sense %q", r.program, name, short(got.output), short(want.output)))
			}
		}
	}
	return errors.Join(errs...)
}

func short(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}

package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

func times(ms map[string]int) row {
	r := row{program: "p", results: map[string]result{}}
	for name, n := range ms {
		r.results[name] = result{cpu: time.Duration(n) * time.Millisecond, output: "1"}
	}
	return r
}

func TestRatios(t *testing.T) {
	r := times(map[string]int{"sense": 100, "python": 400, "gopher-lua": 500, "goja": 300})
	if got := r.ratio("sense", "python"); got != 0.25 {
		t.Errorf("sense / python = %v", got)
	}
	if got := r.peerRatio(); math.Abs(got-3) > 1e-9 {
		t.Errorf("best peer / sense = %v", got)
	}
	if got := r.ratio("sense", "lua5.4"); got != 0 {
		t.Errorf("ratio to what did not run = %v", got)
	}
}

func TestGeomean(t *testing.T) {
	if got := geomean([]float64{2, 0, 8}); math.Abs(got-4) > 1e-9 {
		t.Errorf("got %v", got)
	}
	if got := geomean(nil); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestDisagreement(t *testing.T) {
	good := times(map[string]int{"sense": 1, "python": 2})
	if err := disagreement([]row{good}); err != nil {
		t.Error(err)
	}
	bad := times(map[string]int{"sense": 1, "python": 2, "goja": 3})
	bad.results["python"] = result{output: strings.Repeat("2", 100)}
	bad.results["goja"] = result{failed: "over 1m0s"}
	bad.results["tengo"] = result{failed: "exit status 1"}
	err := disagreement([]row{bad})
	if err == nil || !strings.Contains(err.Error(), "python prints") || !strings.Contains(err.Error(), "tengo: exit status 1") || strings.Contains(err.Error(), "goja") {
		t.Errorf("got %v", err)
	}
	bad.results["sense"] = result{failed: "exit status 2"}
	if err := disagreement([]row{bad}); err == nil || !strings.Contains(err.Error(), "sense: exit status 2") {
		t.Errorf("got %v", err)
	}
}

func TestTableAndSummary(t *testing.T) {
	r := times(map[string]int{"sense": 100, "python": 400, "lua5.4": 50, "tengo": 1000})
	r.results["goja"] = result{failed: "over 1m"}
	engines := []engine{{name: "sense"}, {name: "python"}, {name: "lua5.4"}, {name: "tengo"}, {name: "goja"}, {name: "starlark"}}
	got := table(engines, []row{r}) + summary([]row{r, {program: "hello"}})
	for _, want := range []string{"0.100", "0.400", "failed", "0.25", "2.00", "10.00", "sense / python: 0.25", "sense / lua5.4: 2.00", "best Go peer / sense: 10.00"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nlacks %s", got, want)
		}
	}
	if strings.Contains(got, "original") {
		t.Errorf("a mean of nothing is shown:\n%s", got)
	}
}

func TestFindPrograms(t *testing.T) {
	all, err := findPrograms("")
	if err != nil || all[0] != "hello" || len(all) < 17 {
		t.Errorf("%v %v", all, err)
	}
	if got, err := findPrograms("fib,loop"); err != nil || strings.Join(got, " ") != "fib loop" {
		t.Errorf("%v %v", got, err)
	}
	if _, err := findPrograms("nope"); err == nil {
		t.Error("an unknown program gives no error")
	}
}

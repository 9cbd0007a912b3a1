package parser

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestGrammarIsDocumented(t *testing.T) {
	const file = "../docs/grammar.ebnf"
	if *update {
		if err := os.WriteFile(file, []byte(Grammar()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := Grammar(); got != string(want) {
		t.Errorf("%s is out of date; run go test ./parser -run Grammar -update\n%s", file, got)
	}
}

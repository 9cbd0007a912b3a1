package main

import (
	"bytes"
	"os"
	"testing"
)

func TestGeneratedCodeIsCurrent(t *testing.T) {
	for name, source := range files {
		want, err := generate(source)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the generator writes: go generate ./eval", name)
		}
	}
}

package main

import (
	"bytes"
	"os"
	"testing"
)

func TestGeneratedCodeIsCurrent(t *testing.T) {
	want, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../ops_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("ops_gen.go is not what the generator writes: go generate ./eval")
	}
}

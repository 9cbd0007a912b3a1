package main

import (
	"io"
	"log"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheLogOfTheHostIsNotShown(t *testing.T) {
	defer log.SetOutput(log.Writer())
	silenceLog()
	if log.Writer() != io.Discard {
		t.Error("the log goes somewhere")
	}
}

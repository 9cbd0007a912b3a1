package mcp

import "testing"

// TestEarlyExitText: whether the request was still written when the server
// ended is chance, and the text does not tell of it.
func TestEarlyExitText(t *testing.T) {
	early := &ExitError{Status: "exited with status 0", Early: true}
	const want = "the server exited with status 0 before it answered"
	for _, unsent := range []bool{false, true} {
		if got := (&LostError{Cause: early, Method: "initialize", Unsent: unsent}).Error(); got != want {
			t.Errorf("unsent %v: got %q, want %q", unsent, got, want)
		}
	}
	late := &LostError{Cause: &ExitError{Status: "exited with status 0"}, Method: methodCall, Unsent: true}
	if got, want := late.Error(), "the connection is lost: the server exited with status 0"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

package model

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestTurnMessage(t *testing.T) {
	turn := &Turn{Text: "t", Calls: []ToolCall{{ID: "1", Name: "n", Args: json.RawMessage(`{}`)}}, Stop: "tool_use", Raw: 7}
	want := Message{Role: RoleAssistant, Text: "t", Calls: turn.Calls, Raw: 7}
	if got := turn.Message(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestUsageAdd(t *testing.T) {
	if got := (Usage{1, 2}).Add(Usage{30, 40}); got != (Usage{31, 42}) {
		t.Errorf("got %+v", got)
	}
}

func TestError(t *testing.T) {
	if got := (&Error{Status: 500, Kind: KindServer, Msg: "it burns"}).Error(); got != "it burns" {
		t.Errorf("got %q", got)
	}
}

func TestUsageBounded(t *testing.T) {
	if got := (Usage{-5, 1 << 62}).Bounded(); got != (Usage{0, maxTokens}) {
		t.Errorf("got %v", got)
	}
	if got := (Usage{5, 7}).Bounded(); got != (Usage{5, 7}) {
		t.Errorf("got %v", got)
	}
}

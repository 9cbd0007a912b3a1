package anthropic

import (
	"bytes"
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/ssestream"

	"github.com/sense-lang/sense/model/internal/wire"
)

// streamState checks the events of one stream.
type streamState struct {
	begun    bool // message_start has come
	complete bool // a stop_reason has come
}

// counts reports whether an event is one that the library adds up; it is given
// no others.
func counts(name string) bool {
	switch name {
	case "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop":
		return true
	}
	return false
}

// event gives an event as the library reads it. The name is taken from the
// data, which always has it; some servers leave it out before.
func (s *streamState) event(_ string, data []byte) ([]byte, error) {
	if len(bytes.TrimSpace(data)) == 0 || string(data) == wire.Done {
		return nil, nil
	}
	m, ok := wire.Object(data)
	if !ok {
		return nil, wire.Garbled()
	}
	if err := wire.ErrorIn(m); err != nil {
		return nil, err
	}
	name := wire.Text(m["type"])
	if !counts(name) {
		return nil, nil
	}
	if err := s.check(name, m); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString("event: " + name + "\ndata: ")
	if err := json.Compact(&out, data); err != nil {
		return nil, err
	}
	out.WriteString("\n\n")
	return out.Bytes(), nil
}

func (s *streamState) check(name string, m map[string]json.RawMessage) error {
	switch name {
	case "message_start":
		if _, ok := wire.Object(m["message"]); !ok {
			return wire.Nonsense("the answer begins without a message")
		}
		s.begun = true
	case "content_block_start":
		if _, err := readBlock(m["content_block"]); err != nil {
			return err
		}
	case "message_delta":
		delta, _ := wire.Object(m["delta"])
		s.complete = s.complete || wire.Text(delta["stop_reason"]) != ""
	}
	if !s.begun {
		return wire.Nonsense("the answer does not begin with a message")
	}
	return nil
}

func (s *streamState) end() error {
	if s.begun && s.complete {
		return nil
	}
	return wire.CutOff()
}

// collect reads a stream to its end and shows its text as it comes.
func collect(s *ssestream.Stream[anthropic.MessageStreamEventUnion], show func(string)) (*anthropic.Message, error) {
	msg := &anthropic.Message{}
	// The library makes {} of arguments that were cut off, which would run the
	// tool with none; so they are kept here as the model wrote them.
	inputs := map[int64]json.RawMessage{}
	for s.Next() {
		e := s.Current()
		if err := msg.Accumulate(e); err != nil {
			return nil, wire.Nonsense("the pieces of the answer do not fit together")
		}
		if e.Type != "content_block_delta" {
			continue
		}
		switch e.Delta.Type {
		case "text_delta":
			if e.Delta.Text != "" {
				show(e.Delta.Text)
			}
		case "input_json_delta":
			inputs[e.Index] = append(inputs[e.Index], e.Delta.PartialJSON...)
		}
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	for i, in := range inputs {
		if len(in) > 0 {
			msg.Content[i].Input = in
		}
	}
	return msg, nil
}

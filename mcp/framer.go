package mcp

import "bytes"

// framer turns lines into messages. Beside one message a line it takes what
// servers in the wild write: batches, messages over several lines, and
// messages behind other text on the same line.
type framer struct {
	part []byte // a message that began on an earlier line
	junk int    // how many lines in a row were no message
}

// feed gives the messages that line completes. bad says that the line, which
// is not blank, is no part of any.
func (f *framer) feed(line []byte) (msgs []message, bad bool) {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil, false
	}
	if msgs = parseLine(line); msgs != nil {
		f.part, f.junk = nil, 0
		return msgs, false
	}
	if f.part != nil && len(f.part)+len(line) < maxMessage {
		f.part = append(append(f.part, line...), '\n')
		if line[0] != '}' {
			return nil, false
		}
		msgs = parseLine(f.part)
		f.part, f.junk = nil, 0
		return msgs, msgs == nil
	}
	f.part = nil
	if unfinished(line) {
		f.part = append(bytes.Clone(line), '\n')
		return nil, false
	}
	f.junk++
	return nil, true
}

// parseLine gives the message or the batch of messages in line, or what can be
// saved of it, nil when that is nothing.
func parseLine(line []byte) []message {
	if m, err := splitMessage(line); err == nil {
		return []message{m}
	}
	if batch := splitBatch(line); batch != nil {
		msgs := make([]message, 0, len(batch))
		for _, one := range batch {
			if m, err := splitMessage(one); err == nil {
				msgs = append(msgs, m)
			}
		}
		if len(msgs) > 0 {
			return msgs
		}
		return nil
	}
	if rest := salvage(line); rest != nil {
		m, _ := splitMessage(rest)
		return []message{m}
	}
	return nil
}

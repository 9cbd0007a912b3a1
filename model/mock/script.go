package mock

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sense-lang/sense/model"
)

// ParseTurn reads a turn written as text: one line
//
//	call filesystem.list_directory {"path": "."}
//
// for each call, or else the answer. Only lines of that form throughout, with
// an object at the end of each, are calls; an object that is not valid JSON is
// an error, and so is a JSON array in its place.
func ParseTurn(s string) (Turn, error) {
	var calls []Call
	for _, line := range strings.Split(strings.TrimSpace(s), "\n") {
		line = strings.TrimSpace(line)
		if line == "" && calls != nil {
			continue
		}
		name, args, ok := callLine(line)
		if !ok {
			return Turn{Text: s}, nil
		}
		if args[0] == '[' {
			return Turn{}, scriptError("the arguments of '%s' in the script must be a JSON object", name)
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(args), &object); err != nil {
			return Turn{}, scriptError("the arguments of '%s' in the script are not valid JSON: %v", name, err)
		}
		calls = append(calls, Call{Name: name, Args: json.RawMessage(args)})
	}
	return Turn{Calls: calls}, nil
}

// callLine takes a line apart that has the form of a call, or was meant to: no
// prose goes on with {" or a JSON array.
func callLine(line string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(line, "call ")
	if !ok {
		return "", "", false
	}
	name, args, ok = strings.Cut(strings.TrimSpace(rest), " ")
	args = strings.TrimSpace(args)
	object := strings.HasPrefix(args, "{") && strings.HasSuffix(args, "}") || strings.HasPrefix(args, `{"`)
	array := strings.HasPrefix(args, "[") && json.Valid([]byte(args))
	return name, args, ok && (object || array)
}

func callID(turn, call int) string { return fmt.Sprintf("call_%d_%d", turn+1, call+1) }

func scriptError(format string, args ...any) error {
	return &model.Error{Kind: model.KindScript, Msg: fmt.Sprintf(format, args...)}
}

func plural(n int) string {
	if n == 1 {
		return "1 turn"
	}
	return fmt.Sprintf("%d turns", n)
}

package model

import (
	"encoding/json"
	"errors"
)

func checkArgs(schema, args json.RawMessage) error {
	var m map[string]json.RawMessage
	if json.Unmarshal(args, &m) != nil || m == nil {
		return errors.New("the arguments are not a JSON object")
	}
	return nil
}

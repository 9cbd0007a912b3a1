package model_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sense-lang/sense/model"
	"github.com/sense-lang/sense/model/mock"
)

// A tool loop is a loop around Complete.
func ExampleClient() {
	var client model.Client = mock.New(mock.Options{Script: []mock.Turn{
		{Calls: []mock.Call{{Name: "add", Args: json.RawMessage(`{"a":1,"b":"2"}`)}}},
		{Calls: []mock.Call{{Name: "add", Args: json.RawMessage(`{"a":1,"b":2}`)}}},
		{Text: "The sum is {result}."},
	}})
	add := model.ToolSpec{Name: "add", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}`)}
	req := &model.Request{Messages: []model.Message{{Role: model.RoleUser, Text: "1 + 2?"}}, Tools: []model.ToolSpec{add}}
	for {
		turn, err := client.Complete(context.Background(), req)
		if err != nil {
			fmt.Println(err)
			return
		}
		if len(turn.Calls) == 0 {
			fmt.Println(turn.Text)
			return
		}
		results := model.Message{Role: model.RoleTool}
		for _, call := range turn.Calls {
			text := "3"
			if err := model.CheckArgs(add.Schema, call.Args); err != nil {
				text = "error: " + err.Error()
				fmt.Println(text)
			}
			results.Results = append(results.Results, model.ToolResult{CallID: call.ID, Name: call.Name, Text: text})
		}
		req.Messages = append(req.Messages, turn.Message(), results)
	}
	// Output:
	// error: argument 'b' must be an integer, not the string "2"
	// The sum is 3.
}

func ExampleNames() {
	fs, own := model.ToolName{Server: "my files", Tool: "read.file"}, model.ToolName{Tool: "add"}
	names := model.NewNames([]model.ToolName{fs, own})
	fmt.Println(names.Wire(fs), names.Wire(own))
	tool, known := names.Tool("mcp__my_files__read_file")
	fmt.Println(tool, known)
	// Output:
	// mcp__my_files__read_file add
	// my files.read.file true
}

package fileserver

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// tool is one entry of the table: what clients are told of it and what it does.
type tool struct {
	name, title, about string
	params             []param
	changes            bool // changes something in the folder
	destroys           bool // may overwrite or move what was there
	repeatable         bool // a second call with the same arguments changes nothing more
	output             json.RawMessage
	run                func(context.Context, *folder, args) (*mcp.CallToolResult, error)
}

// textTool adapts a function that gives text.
func textTool(run func(context.Context, *folder, args) (string, error)) func(context.Context, *folder, args) (*mcp.CallToolResult, error) {
	return func(ctx context.Context, f *folder, a args) (*mcp.CallToolResult, error) {
		text, err := run(ctx, f, a)
		if err != nil {
			return nil, err
		}
		result := mcp.NewToolResultText(text)
		result.StructuredContent = map[string]any{"content": text}
		return result, nil
	}
}

// textOutput is the schema of the structured content of a tool that gives text.
const textOutput = `{"type":"object","properties":{"content":{"type":"string"}},"required":["content"],"additionalProperties":false}`

// register adds the tools to srv and gives the names of those that change something. With readOnly those are left out.
func register(srv *server.MCPServer, f *folder, readOnly bool) map[string]bool {
	changes := map[string]bool{}
	for _, t := range table() {
		if t.changes && readOnly {
			continue
		}
		if t.changes {
			changes[t.name] = true
		}
		srv.AddTool(t.definition(), t.handler(f))
	}
	return changes
}

func (t tool) definition() mcp.Tool {
	output := t.output
	if output == nil {
		output = json.RawMessage(textOutput)
	}
	notes := mcp.ToolAnnotation{ReadOnlyHint: new(!t.changes), OpenWorldHint: new(false)}
	if t.changes {
		notes.DestructiveHint, notes.IdempotentHint = new(t.destroys), new(t.repeatable)
	}
	return mcp.Tool{
		Name: t.name, Title: t.title, Description: t.about,
		RawInputSchema: schema(t.params), RawOutputSchema: output, Annotations: notes,
	}
}

// handler makes the function mcp-go calls: a failure is a result marked as error, which the model gets to read.
func (t tool) handler(f *folder) server.ToolHandlerFunc {
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		a, err := check(t.name, t.params, request.Params.RawArguments)
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		if t.changes {
			f.edits.Lock()
			defer f.edits.Unlock()
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		result, err := t.run(ctx, f, a)
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		return result, nil
	}
}

// table lists the tools in the order clients see them described in.
func table() []tool { return append(readers(), writers()...) }

func readers() []tool {
	pathOnly := []param{{name: "path", required: true}}
	lines := []param{
		{name: "path", required: true},
		{name: "tail", kind: kindCount, about: "Give only the last N lines"},
		{name: "head", kind: kindCount, about: "Give only the first N lines"},
	}
	exclude := param{name: "excludePatterns", kind: kindStrings, def: []string{}}
	return []tool{
		{name: "read_file", title: "Read File (Deprecated)", params: lines, run: textTool(readText),
			about: "Read a text file. Kept for old clients; use read_text_file."},
		{name: "read_text_file", title: "Read Text File", params: lines, run: textTool(readText),
			about: "Read a text file whole, or with head or tail its first or last lines. Path relative to the served folder, or absolute within it."},
		{name: "read_media_file", title: "Read Media File", params: pathOnly, run: readMedia, output: json.RawMessage(mediaOutput),
			about: "Read a file that is no text: images and audio as such, anything else as a base64 resource."},
		{name: "read_multiple_files", title: "Read Multiple Files", run: textTool(readMany),
			params: []param{{name: "paths", kind: kindStrings, required: true, min: 1, about: "The files to read"}},
			about:  "Read several text files in one call. A file that can not be read is reported in its place and does not stop the others."},
		{name: "list_directory", title: "List Directory", params: pathOnly, run: textTool(list),
			about: "List a folder, one entry a line, marked [DIR] or [FILE]."},
		{name: "list_directory_with_sizes", title: "List Directory with Sizes", run: textTool(listSizes),
			params: []param{{name: "path", required: true},
				{name: "sortBy", def: "name", choices: []string{"name", "size"}, about: "Order of the entries"}},
			about: "List a folder with the size of each file and the totals."},
		{name: "directory_tree", title: "Directory Tree", run: textTool(tree),
			params: []param{{name: "path", required: true}, exclude},
			about:  "Show a folder and all below it as JSON: name, type (file or directory) and, for directories, children."},
		{name: "search_files", title: "Search Files", run: textTool(search),
			params: []param{{name: "path", required: true}, {name: "pattern", required: true}, exclude},
			about:  "Find files and folders below a folder by a glob pattern of their path relative to it: '*.txt' in the folder itself, '**/*.txt' at any depth. Gives full paths."},
		{name: "get_file_info", title: "Get File Info", params: pathOnly, run: textTool(info),
			about: "Show size, times, permissions and type of a file or folder."},
		{name: "list_allowed_directories", title: "List Allowed Directories", run: textTool(allowed),
			about: "Show the folder that this server gives access to."},
	}
}

func writers() []tool {
	return []tool{
		{name: "write_file", title: "Write File", changes: true, destroys: true, repeatable: true, run: textTool(write),
			params: []param{{name: "path", required: true}, {name: "content", required: true}},
			about:  "Create a text file or replace all of an existing one."},
		{name: "edit_file", title: "Edit File", changes: true, destroys: true, run: textTool(editFile),
			params: []param{{name: "path", required: true}, {name: "edits", kind: kindEdits, required: true},
				{name: "dryRun", kind: kindBool, def: false, about: "Only show the difference, change nothing"}},
			about: "Replace passages of a text file, each the first place where its old text stands; lines are also found when only their indentation differs. Gives the difference."},
		{name: "create_directory", title: "Create Directory", changes: true, repeatable: true, run: textTool(makeFolder),
			params: []param{{name: "path", required: true}},
			about:  "Create a folder and those above it. One that exists already is fine."},
		{name: "move_file", title: "Move File", changes: true, destroys: true, run: textTool(move),
			params: []param{{name: "source", required: true}, {name: "destination", required: true}},
			about:  "Move or rename a file or folder. Fails when the destination exists."},
	}
}

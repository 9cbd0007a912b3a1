package std

import (
	"context"
	"slices"
	"strings"

	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/mcp"
)

// capSample is asked for before the client's model is.
const capSample = "serve.sample"

// Client is whom a tool works for while `sense mcp serve` offers it to others, as
// eval.Thread.WorkFor notes it. All of its functions must be set.
type Client struct {
	// Name is what the client calls itself, "" where it does not.
	Name string
	// Can says what the client can be asked for.
	Can mcp.CanAsk
	// Put puts several questions at once and gives an answer to each, in their order.
	Put func(ctx context.Context, questions []mcp.Question) ([]mcp.Answer, error)
	// Progress tells how far the work is; total may be nil and message "".
	Progress func(done float64, total *float64, message string)
	// Log sends a line of a level to the client's log.
	Log func(level, text string)
}

func serveMembers(l *Library) []member {
	return []member{
		{"progress(done, total?, message?)", "tells the client of a served tool how far its call is", serveProgress},
		{"log(message, level?)", "sends a line to the client's log, of level \"info\" unless another is named", serveLog},
		{"form(message, fields)", "asks the client's user to fill in a form and gives a Map of the fields", serveForm},
		{"sample(prompt, max_tokens?, system?)", "asks the client's model and gives its words", serveSample},
		{"roots()", "the folders that the client works in: an Array of Maps of uri and name", serveRoots},
		{"ask(questions)", "puts several questions to the client at once and gives a Map of the answers", serveAsk},
		{"client()", "who calls, as a Map of name and of what can be asked: elicitation, sampling and roots; nil where nobody does", serveClient},
		{"resource(uri, read, name?, description?, mime?, complete?)", "offers a resource, or with {name} in its URI a template of resources, whose content a function gives", l.serveResource},
		{"prompt(name, messages, description?, complete?)", "offers a prompt, whose messages a function gives; its parameters are the prompt's arguments", l.servePrompt},
		{"updated(uri)", "tells clients that a resource they follow has changed", l.serveUpdated},
	}
}

// client gives whom the program works for.
func (a *args) client() (c Client, ok bool) {
	c, ok = a.Thread.Client().(Client)
	return c, ok
}

// nobody says that a function needs a client.
func (a *args) nobody() error {
	return a.fail("only a tool that `sense mcp serve` offers has a client to ask")
}

func serveProgress(a *args) (eval.Value, error) {
	done, err := a.number(0)
	if err != nil {
		return eval.Value{}, err
	}
	var total *float64
	if a.has(1) {
		n, err := a.number(1)
		if err != nil {
			return eval.Value{}, err
		}
		total = &n
	}
	message, err := a.textOr(2, "")
	if err != nil {
		return eval.Value{}, err
	}
	if c, ok := a.client(); ok {
		a.Thread.Blocking(func(context.Context) { c.Progress(done, total, message) })
	}
	return eval.Nil(), nil
}

func serveLog(a *args) (eval.Value, error) {
	message, err := a.text(0)
	if err != nil {
		return eval.Value{}, err
	}
	level, err := a.textOr(1, "info")
	if err != nil {
		return eval.Value{}, err
	}
	if levels := mcp.LogLevels(); !slices.Contains(levels, level) {
		return eval.Value{}, a.fail("there is no level '%s' (there are %s)", level, strings.Join(levels, ", "))
	}
	if c, ok := a.client(); ok {
		a.Thread.Blocking(func(context.Context) { c.Log(level, message) })
	}
	return eval.Nil(), nil
}

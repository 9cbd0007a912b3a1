package builtins

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/model"
)

const (
	searchToolsName = "search_tools"
	// autoSearch is the part of a model's context, in percent, from which on
	// tools are searched for in place of being sent whole.
	autoSearch = 10
	// largeContext and smallContext are what models are taken to hold, in
	// tokens: those of the large services and all others.
	largeContext = 200_000
	smallContext = 32_000
	// maxFound is how many tools one search brings.
	maxFound = 10
)

// searchMode says when tools are searched for.
type searchMode struct {
	off, on bool
	percent float64 // of the model's context; 0 is autoSearch
}

// readSearch reads tool_search: true, false or "auto:N".
func readSearch(v eval.Value) (searchMode, error) {
	if b, ok := v.AsBool(); ok {
		return searchMode{off: !b, on: b}, nil
	}
	if s, ok := v.AsString(); ok {
		if s == "auto" {
			return searchMode{}, nil
		}
		rest, ok := strings.CutPrefix(s, "auto:")
		n, err := strconv.ParseFloat(rest, 64)
		if ok && err == nil && n > 0 && n <= 100 {
			return searchMode{percent: n}, nil
		}
	}
	return searchMode{}, fail(`ask_with_tools()'s tool_search option must be true, false or "auto:N" with N percent from above 0 to 100`)
}

// wanted reports whether the tools offered are too much for the model.
func (s searchMode) wanted(m *Model, offers []*offer) bool {
	if s.off || s.on {
		return s.on
	}
	context := smallContext
	switch m.provider {
	case "anthropic", "openai", "mock":
		context = largeContext
	}
	percent := s.percent
	if percent == 0 {
		percent = autoSearch
	}
	size := 0
	for _, o := range offers {
		size += len(o.spec.Name) + len(o.spec.Description) + len(o.spec.Schema)
	}
	return float64(size)/tokenBytes > float64(context)*percent/100
}

// deferred reports whether a tool may be left to be searched for.
func (o *offer) deferred() bool { return o.mcp != nil && !o.mcp.server.always }

// searching holds back what may be searched for and offers the search. Nothing
// changes where there is nothing to hold back.
func (l *toolLoop) searching() {
	if !l.o.search.wanted(l.m, l.offers) {
		return
	}
	var held []*offer
	for _, o := range l.offers {
		if o.deferred() {
			held = append(held, o)
		}
	}
	if len(held) == 0 || l.find(searchToolsName) != nil {
		return
	}
	l.req.Tools = nil
	for _, o := range l.offers {
		if !o.deferred() {
			l.show(o)
		}
	}
	search := l.searchOffer(held)
	l.offers = append(l.offers, search)
	l.show(search)
}

// show sends a tool's description from the next turn on.
func (l *toolLoop) show(o *offer) {
	if !slices.ContainsFunc(l.req.Tools, func(s model.ToolSpec) bool { return s.Name == o.spec.Name }) {
		l.req.Tools = append(l.req.Tools, o.spec)
	}
}

func (l *toolLoop) searchOffer(held []*offer) *offer {
	var names []string
	for _, o := range held {
		names = append(names, o.spec.Name)
	}
	o := &offer{name: model.ToolName{Tool: searchToolsName}}
	o.spec = model.ToolSpec{
		Name: searchToolsName, SenseName: searchToolsName,
		Description: "Find tools by words of their names, descriptions and arguments. Those found can be called afterwards. All tools by name: " + strings.Join(names, ", "),
		Schema:      json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"words to look for, or the name of a tool"}},"required":["query"]}`),
	}
	o.call = func(_ *eval.Thread, args json.RawMessage) (string, []model.Image, error) {
		if err := model.CheckArgs(o.spec.Schema, args); err != nil {
			return "", nil, err
		}
		var a struct{ Query string }
		if err := json.Unmarshal(args, &a); err != nil {
			return "", nil, fail("the arguments are not usable: %v", err)
		}
		return l.found(searchOffers(held, a.Query)), nil, nil
	}
	return o
}

// found offers the tools found and says which.
func (l *toolLoop) found(list []*offer) string {
	if len(list) == 0 {
		return "No tool fits these words. Try others, or the name of a tool."
	}
	var b strings.Builder
	b.WriteString("These tools can be called now:\n")
	for _, o := range list {
		l.show(o)
		desc, _, _ := strings.Cut(o.spec.Description, "\n")
		fmt.Fprintf(&b, "- %s: %s\n", o.spec.Name, cutText(desc, 300))
	}
	return b.String()
}

// searchOffers ranks tools by how many words of a query they have: in the name
// before the arguments before the description.
func searchOffers(offers []*offer, query string) []*offer {
	words := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return strings.ContainsRune(" \t\n,.;:/()\"'", r) })
	type hit struct {
		o     *offer
		score int
	}
	var hits []hit
	for _, o := range offers {
		if n := o.score(words, strings.ToLower(query)); n > 0 {
			hits = append(hits, hit{o, n})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return b.score - a.score })
	var out []*offer
	for _, h := range hits[:min(len(hits), maxFound)] {
		out = append(out, h.o)
	}
	return out
}

func (o *offer) score(words []string, whole string) int {
	name, desc := strings.ToLower(o.name.String()), strings.ToLower(o.spec.Description)
	args := strings.ToLower(strings.Join(ArgumentNames(o.spec.Schema), " "))
	score := 0
	if whole == name || whole == strings.ToLower(o.spec.Name) || whole == strings.ToLower(o.name.Tool) {
		score = 1000
	}
	for _, w := range words {
		switch {
		case strings.Contains(name, w):
			score += 10
		case strings.Contains(args, w):
			score += 4
		case strings.Contains(desc, w):
			score += 2
		}
	}
	return score
}

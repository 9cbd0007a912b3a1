package std

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/eval"
)

const (
	// maxOffers bounds the resources, and the prompts, of a program.
	maxOffers = 10_000
	// maxURI bounds a URI in bytes.
	maxURI = 2048
)

// Offer is a resource or a prompt that a program offers besides its tools.
type Offer struct {
	// Name is what clients call it.
	Name, Description string
	// URI is that of a resource, or a template with {name} in it; "" makes the
	// offer a prompt.
	URI string
	// MIME is the type of a resource's content, "" where nothing says.
	MIME string
	// Give gives the content or the messages; Params are its parameters.
	Give   eval.Value
	Params []*ast.Param
	// Complete has for a parameter its possible values, an Array, or the function
	// that gives them for what is typed already.
	Complete map[string]eval.Value
}

// Template reports whether the offer stands for many resources.
func (o *Offer) Template() bool { return strings.Contains(o.URI, "{") }

// offers are what a program offers by std.serve. The zero offers is ready.
type offers struct {
	mu      sync.Mutex
	list    []*Offer
	closed  bool
	updated func(uri string)
}

// Offers gives what the program offers, in order; from then on it can offer nothing
// more, and updated is told of resources that change.
func (l *Library) Offers(updated func(uri string)) []*Offer {
	l.offers.mu.Lock()
	defer l.offers.mu.Unlock()
	l.offers.closed, l.offers.updated = true, updated
	return l.offers.list
}

func (l *Library) serveResource(a *args) (eval.Value, error) {
	o, err := a.offer(2, 3, 5)
	if err != nil {
		return eval.Value{}, err
	}
	if o.URI, err = a.text(0); err != nil {
		return eval.Value{}, err
	}
	if o.MIME, err = a.textOr(4, ""); err != nil {
		return eval.Value{}, err
	}
	names, err := templateNames(a, o.URI)
	if err != nil {
		return eval.Value{}, err
	}
	if o.Name == "" {
		o.Name = o.URI
	}
	if err := fits(a, o, names); err != nil {
		return eval.Value{}, err
	}
	return eval.Nil(), l.add(a, o, "the resource '"+o.URI+"'")
}

func (l *Library) servePrompt(a *args) (eval.Value, error) {
	o, err := a.offer(0, 2, 3)
	if err != nil {
		return eval.Value{}, err
	}
	if o.Name == "" || len(o.Name) > 128 || strings.ContainsFunc(o.Name, control) {
		return eval.Value{}, a.fail("'name' must be 1 to 128 bytes without control characters")
	}
	return eval.Nil(), l.add(a, o, "the prompt '"+o.Name+"'")
}

func (l *Library) serveUpdated(a *args) (eval.Value, error) {
	uri, err := a.text(0)
	if err != nil {
		return eval.Value{}, err
	}
	l.offers.mu.Lock()
	tell := l.offers.updated
	l.offers.mu.Unlock()
	if tell != nil {
		tell(uri)
	}
	return eval.Nil(), nil
}

// offer reads what a resource and a prompt have in common: the arguments at these
// places and the function, which is the second.
func (a *args) offer(name, description, complete int) (*Offer, error) {
	s, ok := eval.HeaderOf(a.vals[1])
	if !ok {
		return nil, a.wrong(1, "a function or a tool of the program")
	}
	o := &Offer{Give: a.vals[1], Params: s.Params}
	var err error
	if o.Name, err = a.textOr(name, ""); err != nil {
		return nil, err
	}
	if o.Description, err = a.textOr(description, strings.TrimSpace(s.Doc)); err != nil {
		return nil, err
	}
	o.Complete, err = a.completions(complete, s.Params)
	return o, err
}

// completions reads the Map of what completes parameters.
func (a *args) completions(i int, params []*ast.Param) (map[string]eval.Value, error) {
	if !a.has(i) {
		return nil, nil
	}
	m, ok := a.vals[i].AsMap()
	if !ok {
		return nil, a.wrong(i, "a Map")
	}
	out := maps.Collect(m.All())
	for name, v := range out {
		if !slices.ContainsFunc(params, func(p *ast.Param) bool { return p.Name == name }) {
			return nil, a.fail("'complete' speaks of '%s', which is no parameter of the function", name)
		}
		_, list := v.AsArray()
		if _, function := eval.HeaderOf(v); !list && !function {
			return nil, a.fail("'complete' needs an Array or a function for '%s', got %s", name, v.TypeName())
		}
	}
	return out, nil
}

// add takes an offer.
func (l *Library) add(a *args, o *Offer, what string) error {
	l.offers.mu.Lock()
	defer l.offers.mu.Unlock()
	switch {
	case l.offers.closed:
		return a.fail("the program serves already, so %s comes too late", what)
	case len(l.offers.list) >= maxOffers:
		return a.fail("a program offers %d resources and prompts at most", maxOffers)
	case slices.ContainsFunc(l.offers.list, func(x *Offer) bool { return x.URI == o.URI && (o.URI != "" || x.Name == o.Name) }):
		return a.fail("%s is offered already", what)
	}
	l.offers.list = append(l.offers.list, o)
	return nil
}

var (
	templatePart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{([^{}]*)\}`) })
	templateName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\+?[A-Za-z_][A-Za-z0-9_]*$`) })
)

// templateNames gives the names in braces of a resource's URI.
func templateNames(a *args, uri string) (names []string, err error) {
	for _, m := range templatePart().FindAllStringSubmatch(uri, -1) {
		name := strings.TrimPrefix(m[1], "+")
		switch {
		case !templateName().MatchString(m[1]):
			return nil, a.fail("the template '%s' has '%s': only {name} and {+name} are known", uri, m[0])
		case slices.Contains(names, name):
			return nil, a.fail("the template '%s' has '%s' twice", uri, name)
		}
		names = append(names, name)
	}
	plain := templatePart().ReplaceAllString(uri, "x")
	u, perr := url.Parse(plain)
	if perr != nil || u.Scheme == "" || len(uri) > maxURI || strings.ContainsAny(plain, "{} ") {
		return nil, a.fail("'%s' is no URI such as notes://today or notes://{day}", uri)
	}
	return names, nil
}

// fits says why the function does not take what the template gives.
func fits(a *args, o *Offer, names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(o.Params, func(p *ast.Param) bool { return p.Name == name }) {
			return a.fail("the template has {%s}, but the function has no parameter '%s'", name, name)
		}
	}
	for _, p := range o.Params {
		if p.Default == nil && !slices.Contains(names, p.Name) {
			return a.fail("the function needs '%s', but the URI has no {%s}", p.Name, p.Name)
		}
	}
	return nil
}

func control(r rune) bool { return r < ' ' || r == 0x7f }

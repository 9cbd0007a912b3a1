package eval

import (
	"slices"
	"strings"

	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/diag"
)

// Builtin is a function written in Go.
type Builtin struct {
	hdr
	Name     string
	Min, Max int // arguments; Max < 0: any number
	// Labels lets it take labeled arguments.
	Labels bool
	// Usage is the error of a wrong number of arguments, where it is not the
	// usual one.
	Usage string
	// Doc begins with a head, "name(a, b?)", and goes on with what it does.
	Doc string
	// Named lets labeled arguments take the places that the head of Doc names.
	Named bool
	Fn    func(c *Call) (Value, error)
	// Intrinsic names a builtin whose calls the compiler knows.
	Intrinsic Intrinsic
	// Member marks a method or the like that is read as a member.
	Member bool
	// Leaf says that Fn calls nothing of the program and asks for no place, so
	// that it needs no frame.
	Leaf bool
}

// Intrinsic is a builtin that is compiled in place while its name has not been
// bound to something else.
type Intrinsic uint8

// The intrinsics.
const (
	NotIntrinsic Intrinsic = iota
	IntrinsicLen
	IntrinsicPush
	IntrinsicStr
	IntrinsicRange
)

// NewBuiltin makes a builtin's value.
func NewBuiltin(b Builtin) Value {
	b.hdr = hdr{KBuiltin}
	return mkBuiltin(&b)
}

// Label is a labeled argument.
type Label struct {
	Name  string
	Value Value
}

// Call is one call of a builtin, a method or a Callable. It and its Args are
// valid until the call returns.
type Call struct {
	Thread *Thread
	Args   []Value
	Labels []Label
	// Name is the callee's name as messages show it.
	Name string

	recv receiver // of a method of a type of the core
	room [4]Value // for Args, where there is no frame
}

// Label gives the labeled argument name.
func (c *Call) Label(name string) (Value, bool) {
	for _, l := range c.Labels {
		if l.Name == name {
			return l.Value, true
		}
	}
	return Value{}, false
}

// call compiles a call.
func (c *compiler) call(e *ast.CallExpr) expr {
	labels := labelsOf(e.Args)
	if m, ok := e.Fun.(*ast.MemberExpr); ok {
		return c.methodCall(m, e, labels)
	}
	if x := c.assertCall(e, labels); x != nil {
		return x
	}
	if x := c.intrinsic(e, labels); x != nil {
		return x
	}
	id, _ := e.Fun.(*ast.Ident)
	f := c.expr(e.Fun)
	args := c.args(e.Args)
	s := c.site(&e.P)
	if labels != nil {
		return labeledCall(f, args, labels, s)
	}
	if allSimple(e.Args) && len(args) >= 3 && len(args) <= 8 {
		return simpleCall(f, c.simpleArgs(e.Args), args, s)
	}
	if id != nil {
		if bs, certain := c.candidates(id.Name); len(bs) == 1 && (certain || c.in.builtin(id.Name) == nil) {
			if l := c.locOf(bs[0]); l.kind == locGlobal {
				return globalCall(l.g, f, args, s)
			}
		}
	}
	return plainCall(f, args, s)
}

func labelsOf(args []ast.Arg) []string {
	var out []string
	for _, a := range args {
		if a.Label != "" {
			out = append(out, a.Label)
		}
	}
	return out
}

func (c *compiler) args(args []ast.Arg) []expr {
	out := make([]expr, len(args))
	for i, a := range args {
		out[i] = c.expr(a.Value)
	}
	return out
}

// globalCall calls what a name of the module holds. member takes 1.34 times as long
// without.
func globalCall(g *Global, f expr, args []expr, s *site) expr {
	switch len(args) {
	case 1:
		return globalCall1(g, f, args[0], s)
	case 2:
		return globalCall2(g, f, args[0], args[1], s)
	}
	return plainCall(f, args, s)
}

//go:noinline
func globalCall1(g *Global, f, a expr, s *site) expr {
	return func(fr fp) Value {
		if v := g.v; isFunc(v) {
			if fn := toFunc(v); fn.arity == 1 {
				x := a(fr)
				nf, th := window(fr, s.off), threadOf(fr)
				d := depthOf(fr) + fn.weight
				if addr(nf) > th.end.Load() || d > th.max {
					return th.deep(fr, fn, s, x)
				}
				setHead(nf, th, d, fn, s.id)
				setSlot(&nf[slotArgs], x)
				return fn.body(nf)
			}
		}
		v := f(fr)
		return callN(fr, v, s, a(fr))
	}
}

//go:noinline
func globalCall2(g *Global, f, a, b expr, s *site) expr {
	return func(fr fp) Value {
		if v := g.v; isFunc(v) {
			if fn := toFunc(v); fn.arity == 2 {
				x := a(fr)
				y := b(fr)
				nf, th := window(fr, s.off), threadOf(fr)
				d := depthOf(fr) + fn.weight
				if addr(nf) > th.end.Load() || d > th.max {
					return th.deep(fr, fn, s, x, y)
				}
				setHead(nf, th, d, fn, s.id)
				setSlot(&nf[slotArgs], x)
				setSlot(&nf[slotArgs+1], y)
				return fn.body(nf)
			}
		}
		v := f(fr)
		x := a(fr)
		return callN(fr, v, s, x, b(fr))
	}
}

// plainCall calls any value with positional arguments.
func plainCall(f expr, args []expr, s *site) expr {
	switch {
	case len(args) == 0:
		return call0(f, s)
	case len(args) == 1:
		return call1(f, args[0], s)
	case len(args) <= 8:
		return callFew(f, args, s)
	}
	return func(fr fp) Value {
		v := f(fr)
		return callN(fr, v, s, evalArgs(fr, args)...)
	}
}

func evalArgs(fr fp, args []expr) []Value {
	out := make([]Value, len(args))
	for i, a := range args {
		out[i] = a(fr)
	}
	return out
}

//go:noinline
func call0(f expr, s *site) expr {
	return func(fr fp) Value {
		v := f(fr)
		if isFunc(v) {
			if fn := toFunc(v); fn.arity == 0 {
				nf, th := window(fr, s.off), threadOf(fr)
				d := depthOf(fr) + fn.weight
				if addr(nf) > th.end.Load() || d > th.max {
					return th.deep(fr, fn, s)
				}
				setHead(nf, th, d, fn, s.id)
				return fn.body(nf)
			}
		}
		return callN(fr, v, s)
	}
}

//go:noinline
func call1(f, a expr, s *site) expr {
	return func(fr fp) Value {
		v := f(fr)
		x := a(fr)
		if isFunc(v) {
			if fn := toFunc(v); fn.arity == 1 {
				nf, th := window(fr, s.off), threadOf(fr)
				d := depthOf(fr) + fn.weight
				if addr(nf) > th.end.Load() || d > th.max {
					return th.deep(fr, fn, s, x)
				}
				setHead(nf, th, d, fn, s.id)
				setSlot(&nf[slotArgs], x)
				return fn.body(nf)
			}
		}
		return callN(fr, v, s, x)
	}
}

//go:noinline
func callFew(f expr, args []expr, s *site) expr {
	n := len(args)
	return func(fr fp) Value {
		v := f(fr)
		var tmp [8]Value
		for i, a := range args {
			tmp[i&7] = a(fr)
		}
		if isFunc(v) {
			if fn := toFunc(v); int(fn.arity) == n {
				nf, th := window(fr, s.off), threadOf(fr)
				d := depthOf(fr) + fn.weight
				if addr(nf) <= th.end.Load() && d <= th.max {
					setHead(nf, th, d, fn, s.id)
					for i := range args {
						setSlot(&nf[uint8(slotArgs+i)], tmp[i&7])
					}
					return fn.body(nf)
				}
			}
		}
		return callN(fr, v, s, tmp[:n]...)
	}
}

// allSimple reports whether no argument can run anything that needs a frame, so
// that they may be put into the callee's one by one.
func allSimple(args []ast.Arg) bool {
	return !slices.ContainsFunc(args, func(a ast.Arg) bool { return !isSimple(a.Value, 8) })
}

func isSimple(e ast.Expr, depth int) bool {
	switch e := e.(type) {
	case *ast.Ident, *ast.IntLit, *ast.FloatLit, *ast.StringLit, *ast.BoolLit, *ast.NilLit:
		return true
	case *ast.BinaryExpr:
		return depth > 0 && (hasShapes(e.Op) || e.Op == ast.OpDiv) && isSimple(e.X, depth-1) && isSimple(e.Y, depth-1)
	}
	return false
}

// simpleArg is a simple argument; the two frequent shapes need no call.
type simpleArg struct {
	x      expr
	k      Value // a constant, where it is set
	isSlot bool
	slot   uint8
}

func (c *compiler) simpleArgs(args []ast.Arg) []simpleArg {
	out := make([]simpleArg, len(args))
	for i, a := range args {
		o := c.operand(a.Value)
		out[i] = simpleArg{x: o.x, isSlot: o.isSlot, slot: o.slot}
		if o.isInt {
			out[i].k = mkInt(o.n)
		}
	}
	return out
}

// simpleCall is callFew for simple arguments. calls(6M): 0.27 s without, 0.21 s
// with it.
//
//go:noinline
func simpleCall(f expr, simple []simpleArg, args []expr, s *site) expr {
	return func(fr fp) Value {
		v := f(fr)
		if isFunc(v) {
			if fn := toFunc(v); int(fn.arity) == len(simple) {
				if nf := enterSimple(fr, fn, simple, s); nf != nil {
					return fn.body(nf)
				}
			}
		}
		return callN(fr, v, s, evalArgs(fr, args)...)
	}
}

// enterSimple makes the callee's frame; nil where that is not so simple.
func enterSimple(fr fp, fn *Func, args []simpleArg, s *site) fp {
	nf, th := window(fr, s.off), threadOf(fr)
	d := depthOf(fr) + fn.weight
	if addr(nf) > th.end.Load() || d > th.max {
		return nil
	}
	for i := range args {
		to := &nf[uint8(slotArgs+i)]
		switch a := &args[i]; {
		case a.isSlot:
			setSlot(to, fr[a.slot])
		case a.k.p != nil:
			setSlot(to, a.k)
		default:
			setSlot(to, a.x(fr))
		}
	}
	setHead(nf, th, d, fn, s.id)
	return nf
}

//go:noinline
func labeledCall(f expr, args []expr, labels []string, s *site) expr {
	n := len(args) - len(labels)
	return func(fr fp) Value {
		v := f(fr)
		vals := evalArgs(fr, args)
		ls := make([]Label, len(labels))
		for i, l := range labels {
			ls[i] = Label{l, vals[n+i]}
		}
		return threadOf(fr).invoke(fr, s, v, vals[:n:n], ls)
	}
}

// callN is the way of every call that is not a plain function of that arity.
//
//go:noinline
func callN(fr fp, v Value, s *site, args ...Value) Value {
	return threadOf(fr).invoke(fr, s, v, args, nil)
}

// invoke calls v from compiled code.
func (th *Thread) invoke(fr fp, s *site, v Value, args []Value, labels []Label) Value {
	if isFunc(v) {
		fn := toFunc(v)
		full, err := fn.proto.arrange(args, labels)
		if err != nil {
			fail(fr, s.pos, err)
		}
		return th.run(fr, s.off, s.id, fn, full)
	}
	r, err := th.callGo(fr, s.off, s.id, v, args, labels)
	if err != nil {
		fail(fr, s.pos, err)
	}
	return r
}

// arrange checks a call's arguments against the parameters and puts labeled
// ones in their places; a place left to its default is unset.
func (p *proto) arrange(args []Value, labels []Label) ([]Value, error) {
	n := len(p.params)
	if len(labels) == 0 {
		if len(args) > n || len(args) < p.min {
			return nil, countError(p.name, p.min, n, len(args))
		}
		if len(args) < n {
			args = append(append(make([]Value, 0, n), args...), make([]Value, n-len(args))...)
		}
		return args, nil
	}
	return p.arrangeLabels(args, labels)
}

func (p *proto) arrangeLabels(args []Value, labels []Label) ([]Value, error) {
	if !p.takesLabels() {
		return nil, diag.New(diag.Runtime, "labeled arguments are only supported for a handful of builtins (e.g. inference(...)) -- not %s", "Function")
	}
	n := len(p.params)
	if len(args)+len(labels) > n {
		return nil, countError(p.name, p.min, n, len(args)+len(labels))
	}
	full := append(append(make([]Value, 0, n), args...), make([]Value, n-len(args))...)
	for _, l := range labels {
		i := p.paramIndex(l.Name)
		switch {
		case i < 0:
			return nil, diag.New(diag.Runtime, "'%s' has no parameter '%s'", p.name, l.Name).DidYouMean(l.Name, p.paramNames())
		case full[i].IsSet():
			return nil, diag.New(diag.Runtime, "'%s' got more than one value for '%s'", p.name, l.Name)
		}
		full[i] = l.Value
	}
	for i := range p.params {
		if q := &p.params[i]; q.def == nil && isUnset(full[i]) {
			return nil, diag.New(diag.Runtime, "'%s' needs a value for '%s'", p.name, q.name)
		}
	}
	return full, nil
}

func (p *proto) takesLabels() bool { return labelsEverywhere }

// labelsEverywhere lets functions, tools and actions take labeled arguments.
const labelsEverywhere = true

func (p *proto) paramNames() []string {
	var out []string
	for i := range p.params {
		out = append(out, p.params[i].name)
	}
	return out
}

func (p *proto) paramIndex(name string) int {
	for i := range p.params {
		if p.params[i].name == name {
			return i
		}
	}
	return -1
}

func countError(name string, least, most, got int) error {
	want := plainCount(least)
	switch {
	case most < 0:
		want = "at least " + want
	case most != least:
		want += " to " + plainCount(most)
	}
	return diag.New(diag.Runtime, "'%s' expects %s argument(s), got %d", name, want, got)
}

func plainCount(n int) string { return text(mkInt(int64(n))) }

// run runs a function in the frame off slots above fr.
func (th *Thread) run(fr fp, off int, word uint64, fn *Func, args []Value) Value {
	d := depthOf(fr) + fn.weight
	if d > th.max {
		panic(&thrown{th.locatedCall(fr, word, diag.New(diag.Runtime, "maximum recursion depth exceeded"))})
	}
	nf := window(fr, off)
	if end := th.end.Load(); addr(nf) > end {
		if end == 0 {
			th.poll(fr)
		}
		if addr(nf) > th.limit {
			return th.runSegment(fr, d, word, fn, args)
		}
	}
	setHead(nf, th, d, fn, word)
	copy(nf[slotArgs:], args)
	return fn.body(nf)
}

func (th *Thread) runSegment(fr fp, d uint64, word uint64, fn *Func, args []Value) Value {
	n := len(th.segs)
	nf := th.grow(fr)
	setHead(nf, th, d, fn, word|siteSegment)
	copy(nf[slotArgs:], args)
	v := fn.body(nf)
	th.shrink(n)
	return v
}

// deep is a call that ran into the end of a segment, the limit of depth, or a
// request to look up.
//
//go:noinline
func (th *Thread) deep(fr fp, fn *Func, s *site, args ...Value) Value {
	return th.run(fr, s.off, s.id, fn, args)
}

// locatedCall gives err the place of a call that did not get a frame.
func (th *Thread) locatedCall(fr fp, word uint64, err error) *diag.Error {
	if id := word & siteIDMask; id != 0 {
		return th.located(fr, *th.in.sites[id].pos, err)
	}
	return th.located(fr, diag.Pos{}, err)
}

// The second header slot's word: the site's index, and for calls that builtins
// make the size of the builtin's frame.
const (
	siteIDMask   = 1<<32 - 1
	siteOffShift = 32
	siteOffMask  = 1<<16 - 1
	siteSegment  = 1 << 62
	siteNative   = 1 << 63
)

// callGo calls a value that is no function of the program. args may be on the
// caller's stack: they are copied into the frame.
func (th *Thread) callGo(fr fp, off int, word uint64, v Value, args []Value, labels []Label) (Value, error) {
	if kindOf(v) == KBuiltin && len(labels) == 0 && len(args) <= 4 {
		if b := toBuiltin(v); b.Leaf {
			return th.callLeaf(fr, b, args)
		}
	}
	c := th.newCall()
	c.Labels = labels
	r, err := th.inNative(fr, off, word, func() (Value, error) {
		c.Args = th.keepArgs(args)
		return th.dispatch(v, c)
	})
	th.freeCall(c)
	return r, err
}

// callLeaf calls a builtin that needs no frame. palin: 0.070 s with a frame,
// 0.062 s without.
func (th *Thread) callLeaf(fr fp, b *Builtin, args []Value) (Value, error) {
	c, err := th.newLeaf(fr, args)
	if err != nil {
		return Value{}, err
	}
	c.Name = b.Name
	if err := b.check(c); err != nil {
		return Value{}, err
	}
	r, err := b.Fn(c)
	th.freeLeaf(c)
	return r, err
}

// newLeaf gives a Call for what needs no frame. It counts as deep as one that
// does.
func (th *Thread) newLeaf(fr fp, args []Value) (*Call, error) {
	if depthOf(fr)+1 > th.max {
		return nil, diag.New(diag.Runtime, "maximum recursion depth exceeded")
	}
	if th.end.Load() == 0 {
		th.poll(fr)
	}
	c := th.newCall()
	c.Args = c.room[:copy(c.room[:], args)]
	return c, nil
}

// freeLeaf takes a Call back.
func (th *Thread) freeLeaf(c *Call) {
	clear(c.Args)
	c.Args, c.recv.Value, c.Name = nil, Value{}, ""
	th.calls = append(th.calls, c)
}

// inNative runs Go code in a frame of its own, so that calls it makes back into
// the program know where they come from.
func (th *Thread) inNative(fr fp, off int, word uint64, f func() (Value, error)) (Value, error) {
	nf := window(fr, off)
	d := depthOf(fr) + 1
	if d > th.max {
		return Value{}, diag.New(diag.Runtime, "maximum recursion depth exceeded")
	}
	segs := len(th.segs)
	if end := th.end.Load(); addr(nf) > end {
		if end == 0 {
			th.poll(fr)
		}
		if addr(nf) > th.limit {
			nf = th.grow(fr)
			word |= siteSegment
		}
	}
	setHead(nf, th, d, nil, word)
	native, used := th.native, th.used
	th.native, th.used = nf, slotArgs
	r, err := f()
	th.native, th.used = native, used
	th.shrink(segs)
	return r, err
}

// dispatch runs the Go side of a call.
func (th *Thread) dispatch(v Value, c *Call) (Value, error) {
	switch kindOf(v) {
	case KBuiltin:
		b := toBuiltin(v)
		c.Name = b.Name
		if err := b.check(c); err != nil {
			return Value{}, err
		}
		return b.Fn(c)
	case KObject:
		if k, ok := toBox(v).o.(Callable); ok {
			return k.CallWith(c)
		}
	}
	if len(c.Labels) > 0 {
		return Value{}, noLabels(v)
	}
	return Value{}, diag.New(diag.Runtime, "value of type %s is not callable", typeName(v))
}

func noLabels(v Value) error {
	return diag.New(diag.Runtime, "labeled arguments are only supported for a handful of builtins (e.g. inference(...)) -- not %s", typeName(v))
}

// check tests a call's labels and number of arguments.
func (b *Builtin) check(c *Call) error {
	if len(c.Labels) > 0 && b.Named && !b.Labels {
		if err := b.place(c); err != nil {
			return err
		}
	}
	if len(c.Labels) > 0 && !b.Labels {
		return diag.New(diag.Runtime, "'%s' does not accept labeled arguments (%s)", b.Name, labelList(c.Labels))
	}
	n := len(c.Args)
	if n >= b.Min && (b.Max < 0 || n <= b.Max) {
		return nil
	}
	if b.Usage != "" {
		return diag.New(diag.Runtime, "%s", b.Usage)
	}
	return countError(b.Name, b.Min, b.Max, n)
}

func labelList(ls []Label) string {
	names := make([]string, len(ls))
	for i, l := range ls {
		names[i] = l.Name
	}
	return strings.Join(names, ", ")
}

// Call calls any value from Go: a builtin's callback, a tool that a model asked
// for. Errors come back, they do not unwind the caller.
func (th *Thread) Call(v Value, args ...Value) (Value, error) {
	return th.CallLabeled(v, args, nil)
}

// CallLabeled is Call with labeled arguments.
func (th *Thread) CallLabeled(v Value, args []Value, labels []Label) (r Value, err error) {
	m := th.mark()
	defer func() { err = th.caught(m, recover(), err) }()
	fr := th.native
	word := siteOf(fr)&siteIDMask | uint64(th.used)<<siteOffShift | siteNative
	if isFunc(v) {
		fn := toFunc(v)
		full, err := fn.proto.arrange(args, labels)
		if err != nil {
			return Value{}, err
		}
		return th.run(fr, th.used, word, fn, full), nil
	}
	r, err = th.callGo(fr, th.used, word, v, args, labels)
	return r, th.Located(err)
}

// Located gives err the place of the running builtin's call, unless it has one.
func (th *Thread) Located(err error) error {
	if err == nil {
		return nil
	}
	w := th.walk(th.native)
	if s, ok := w.up(); ok {
		return th.located(w.fr, *s.pos, err)
	}
	return err
}

// caught turns what a recover gave into an error and puts the thread back to m.
func (th *Thread) caught(m mark, p any, err error) error {
	if p == nil {
		return err
	}
	th.restore(m)
	return asError(p)
}

// asError gives the error a panic carried. A panic of Go itself is a fault of
// ours; the user still gets one line.
func asError(p any) error {
	if t, ok := p.(*thrown); ok {
		return t.err
	}
	if e, ok := p.(error); ok {
		return diag.New(diag.Runtime, "internal error: %v (this is a fault of sense, please report it)", e)
	}
	return diag.New(diag.Runtime, "internal error: %v (this is a fault of sense, please report it)", p)
}

package repl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv("REPL_TEST_TERMINAL") != "" {
		runOnTerminal()
		return
	}
	goleak.VerifyTestMain(m)
}

// fake is an Engine that says what it was given.
type fake struct {
	out io.Writer
	ran []string
	// running gets a value when an input with "loop" has begun.
	running chan struct{}
	// in is what the program reads.
	in io.Reader
}

func (f *fake) Run(ctx context.Context, src string, echo bool) error {
	f.ran = append(f.ran, src)
	switch {
	case strings.Contains(src, "stubborn"):
		f.running <- struct{}{}
		f.running <- struct{}{} // whatever ctx says
	case strings.Contains(src, "loop"):
		f.running <- struct{}{}
		<-ctx.Done()
		return fmt.Errorf("SenseError: %w", context.Cause(ctx))
	case src == "ask" && f.in != nil:
		fmt.Fprintln(f.out, "name?")
		go f.in.Read(make([]byte, 1))
		<-ctx.Done()
		return fmt.Errorf("SenseError: %w", context.Cause(ctx))
	case strings.Contains(src, "limit"):
		return Stop(errors.New("SenseError: out of steps"))
	case strings.Contains(src, "nope"):
		return errors.New("SenseError: [line 1] undefined variable 'nope'")
	case echo:
		fmt.Fprintf(f.out, "=> %q\n", src)
	case strings.HasPrefix(src, "print"):
		fmt.Fprintln(f.out, src)
	}
	return nil
}

func (f *fake) Complete(prefix string) []Candidate {
	if strings.HasPrefix(prefix, "kit.") {
		return []Candidate{{"work", "Function"}, {"word", "String"}, {"other", "Int"}}
	}
	return []Candidate{{"print", "Function"}, {"kit", "Module"}, {"policy_of", "Function"}, {"print", "twice"}}
}

func (f *fake) Doc(name string) (string, error) {
	if name == "nope" {
		return "", errors.New("SenseError: nothing is known about 'nope'")
	}
	return "about " + name + "\n", nil
}

func (f *fake) TypeOf(_ context.Context, src string) (string, error) {
	if src == "nope" {
		return "", errors.New("SenseError: undefined variable 'nope'")
	}
	return "Int", nil
}

func (f *fake) Load(_ context.Context, path string) error {
	f.ran = append(f.ran, "load "+path)
	return nil
}

// talk runs a session on a text and gives what it printed.
func talk(in string, change func(*Options)) (out, errs string, f *fake, err error) {
	var o, e bytes.Buffer
	f = &fake{out: &o, running: make(chan struct{})}
	opts := Options{Engine: f, Version: "1.2", In: NewInput(strings.NewReader(in)), Out: &o, Err: &e}
	if change != nil {
		change(&opts)
	}
	err = Run(context.Background(), opts)
	return strings.TrimPrefix(o.String(), "Sense 1.2 — interactive REPL ('exit' to quit)\n"), e.String(), f, err
}

func TestPiped(t *testing.T) {
	cases := []struct {
		name, in, out, errs string
		ran                 []string
	}{
		{"end of input", "print(1)\n", "sense> print(1)\nsense> \n", "", []string{"print(1)"}},
		{"nothing", "", "sense> \n", "", nil},
		{"no line end", "print(1)", "sense> print(1)\nsense> \n", "", []string{"print(1)"}},
		{"exit", "x\n\n   exit\nprint(2)\n", "sense> sense> sense> ", "", []string{"x"}},
		{"quit", "quit\n", "sense> ", "", nil},
		{"CRLF", "if x:\r\n    y\r\n\r\nprint(1)\r\n", "sense> ...    ...    sense> print(1)\nsense> \n", "", []string{"if x:\n    y\n", "print(1)"}},
		{"exit is a name in a block", "if x:\n    exit\n\nexit\n", "sense> ...    ...    sense> ", "", []string{"if x:\n    exit\n"}},
		{"block", "for i in x:\n    a\n    b\n\nprint(1)\n", "sense> ...    ...    ...    sense> print(1)\nsense> \n", "",
			[]string{"for i in x:\n    a\n    b\n", "print(1)"}},
		{"empty block", "while x:\n\nprint(1)\n", "sense> ...    sense> print(1)\nsense> \n", "", []string{"while x:\n", "print(1)"}},
		{"a block inline is none", "if x: y\n", "sense> sense> \n", "", []string{"if x: y"}},
		{"a line of spaces closes", "if x:\n  y\n   \nprint(1)\n", "sense> ...    ...    sense> print(1)\nsense> \n", "", []string{"if x:\n  y\n   ", "print(1)"}},
		{"else in a block", "if x:\n  y\nelse:\n  z\n\n", "sense> ...    ...    ...    ...    sense> \n", "", []string{"if x:\n  y\nelse:\n  z\n"}},
		{"C21: an empty line inside", "def f():\n    return 1\n\n    return 2\n\nprint(f())\n",
			"sense> ...    ...    ...    ...    sense> print(f())\nsense> \n", "", []string{"def f():\n    return 1\n\n    return 2\n", "print(f())"}},
		{"C21: several", "def f():\n  a\n\n\n \n  b\n\n\nprint(1)\n",
			"sense> ...    ...    ...    ...    ...    ...    sense> sense> print(1)\nsense> \n", "", []string{"def f():\n  a\n\n\n \n  b\n", "print(1)"}},
		{"C22: brackets", "x = [1,\n2]\nprint(x)\n", "sense> ...    sense> print(x)\nsense> \n", "", []string{"x = [1,\n2]", "print(x)"}},
		{"C22: a string", "x = \"\"\"a\n\nb: # \" ]\"\"\"\nprint(x)\n", "sense> ...    ...    sense> print(x)\nsense> \n", "",
			[]string{"x = \"\"\"a\n\nb: # \" ]\"\"\"", "print(x)"}},
		{"C22: a comment after the colon", "if true: # c\n    print(1)\n\n", "sense> ...    ...    sense> \n", "", []string{"if true: # c\n    print(1)\n"}},
		{"a comment with a colon", "# so:\nprint(1)\n", "sense> sense> print(1)\nsense> \n", "", []string{"# so:", "print(1)"}},
		{"a string with a colon", "\"so:\"\nprint(1) # [\n", "sense> sense> print(1) # [\nsense> \n", "", []string{`"so:"`, "print(1) # ["}},
		{"a bracket in a header", "if f(1,\n  2):\n  y\n\nprint(1)\n", "sense> ...    ...    ...    sense> print(1)\nsense> \n", "",
			[]string{"if f(1,\n  2):\n  y\n", "print(1)"}},
		{"an empty line in a bracket in a block", "if x:\n  y = [\n\n1]\n\nprint(1)\n",
			"sense> ...    ...    ...    ...    sense> print(1)\nsense> \n", "", []string{"if x:\n  y = [\n\n1]\n", "print(1)"}},
		{"an unclosed string is an error of its own", "s = \"open\nprint(1)\n", "sense> sense> print(1)\nsense> \n", "", []string{"s = \"open", "print(1)"}},
		{"a bracket too many", "x = 1)\nprint(1)\n", "sense> sense> print(1)\nsense> \n", "", []string{"x = 1)", "print(1)"}},
		{"a block without its end is dropped", "if x:\n    y\n", "sense> ...    ...    \n", "", nil},
		{"a bracket without its end runs into its error", "print([1,\n", "sense> ...    print([1,\n\n\n", "", []string{"print([1,\n"}},
		{"errors", "nope\nprint(1)\n", "sense> sense> print(1)\nsense> \n", "SenseError: [line 1] undefined variable 'nope'\n", []string{"nope", "print(1)"}},
		{"commands", ":type 1\n:doc print\n:load a b.sns\n:quit\n", "sense> Int\nsense> about print\nsense> sense> ", "", []string{"load a b.sns"}},
		{"commands that fail", ":type nope\n:doc nope\n:type\n:doc\n:load\n:what\n", "sense> sense> sense> sense> sense> sense> sense> \n",
			"SenseError: undefined variable 'nope'\nSenseError: nothing is known about 'nope'\n" +
				"SenseError: :type needs an expression, as in ':type 1 + 2'\nSenseError: :doc needs a name, as in ':doc print'\n" +
				"SenseError: :load needs a file, as in ':load file.sns'\nSenseError: unknown command ':what' — :help lists them\n", nil},
		{"help", ":help\n", "sense> " + helpText + "sense> \n", "", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			out, errs, f, err := talk(c.in, nil)
			if err != nil {
				t.Error(err)
			}
			if out != c.out {
				t.Errorf("out  %q\nwant %q", out, c.out)
			}
			if errs != c.errs {
				t.Errorf("errors %q\nwant   %q", errs, c.errs)
			}
			if fmt.Sprintf("%q", f.ran) != fmt.Sprintf("%q", c.ran) {
				t.Errorf("ran  %q\nwant %q", f.ran, c.ran)
			}
		})
	}
}

// Where a pipe is silent after an empty line, the block ends there.
func TestSilentPipe(t *testing.T) {
	out, _, f, err := talk("def f():\n    return 1\n\n    return 2\n\n", func(o *Options) {
		o.In = NewInput(&slowly{lines: strings.SplitAfter("def f():\n    return 1\n\n    return 2\n\n", "\n")})
		o.In.ready = func() bool { return false }
	})
	if err != nil || len(f.ran) != 2 || f.ran[0] != "def f():\n    return 1\n" {
		t.Errorf("ran %q, out %q, %v", f.ran, out, err)
	}
}

// slowly gives one line a read.
type slowly struct{ lines []string }

func (s *slowly) Read(p []byte) (int, error) {
	if len(s.lines) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.lines[0])
	s.lines = s.lines[1:]
	return n, nil
}

// The program's own reading takes the lines after the one that is running.
func TestProgramReadsTheSameInput(t *testing.T) {
	in := NewInput(strings.NewReader("ask\nthe answer\nprint(1)\n"))
	var o bytes.Buffer
	e := &reader{fake: fake{out: &o}, lines: in.Program()}
	if err := Run(context.Background(), Options{Engine: e, In: in, Out: &o, Err: &o}); err != nil {
		t.Fatal(err)
	}
	if e.answer != "the answer\n" || !strings.HasSuffix(o.String(), "sense> print(1)\nsense> \n") {
		t.Errorf("answer %q, out %q", e.answer, o.String())
	}
}

type reader struct {
	fake
	lines  io.Reader
	answer string
}

func (r *reader) Run(ctx context.Context, src string, echo bool) (err error) {
	if src == "ask" {
		for b := make([]byte, 1); !strings.HasSuffix(r.answer, "\n") && err == nil; {
			_, err = r.lines.Read(b) // no more than its line
			r.answer += string(b)
		}
		return err
	}
	return r.fake.Run(ctx, src, echo)
}

func TestEcho(t *testing.T) {
	out, _, _, _ := talk("1\n", func(o *Options) { o.Echo = true })
	if out != "sense> => \"1\"\nsense> \n" {
		t.Errorf("%q", out)
	}
}

func TestStop(t *testing.T) {
	out, errs, f, err := talk("limit\nprint(1)\n", nil)
	if err == nil || err.Error() != "SenseError: out of steps" || errs != "SenseError: out of steps\n" || len(f.ran) != 1 {
		t.Errorf("%q %q %v", out, errs, err)
	}
}

func TestTooLong(t *testing.T) {
	long := strings.Repeat("x", maxInput)
	out, errs, f, err := talk("x = 1 +"+long+"\nprint([\n"+long+"\nprint(1)\n", nil)
	if err != nil || strings.Count(errs, "the input is longer than 16777216 bytes") != 2 {
		t.Errorf("%q %v", errs, err)
	}
	if len(f.ran) != 1 || !strings.HasSuffix(out, "sense> print(1)\nsense> \n") {
		t.Errorf("%d ran, out %q", len(f.ran), out)
	}
}

// A long block takes time in proportion to its length.
func TestLongBlock(t *testing.T) {
	in := "if x:\n" + strings.Repeat("    y = [1, 2]\n", 200_000) + "\n"
	_, _, f, err := talk(in, func(o *Options) { o.Out = io.Discard })
	if err != nil || len(f.ran) != 1 {
		t.Error(len(f.ran), err)
	}
}

func TestFailingStreams(t *testing.T) {
	gone := errors.New("broken pipe")
	for n := range 4 {
		_, _, _, err := talk("print(1)\nnope\n:type\n:help\n", func(o *Options) {
			o.Out = &failing{left: n, err: gone}
		})
		if !errors.Is(err, gone) {
			t.Errorf("after %d writes: %v", n, err)
		}
	}
	for _, in := range []string{"nope\n", ":type\n", strings.Repeat("x", maxInput+1) + "\n"} {
		_, _, _, err := talk(in, func(o *Options) { o.Err = &failing{err: gone} })
		if !errors.Is(err, gone) {
			t.Errorf("%.10s: %v", in, err)
		}
	}
	for n := range 3 {
		_, _, _, err := talk("nope\n:type\n", func(o *Options) { o.Out = &failing{left: 99, flushes: n, err: gone} })
		if !errors.Is(err, gone) {
			t.Errorf("flush %d: %v", n, err)
		}
	}
	_, _, _, err := talk("", func(o *Options) { o.In = NewInput(io.MultiReader(strings.NewReader("x\n"), badInput{gone})) })
	if !errors.Is(err, gone) {
		t.Errorf("input: %v", err)
	}
}

// failing fails after some writes, or flushes.
type failing struct {
	left, flushes int
	err           error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, f.err
	}
	return len(p), nil
}

func (f *failing) Flush() error {
	if f.left < 50 {
		return nil
	}
	if f.flushes--; f.flushes < 0 {
		return f.err
	}
	return nil
}

type badInput struct{ err error }

func (b badInput) Read([]byte) (int, error) { return 0, b.err }

// listener is an Out that says when a prompt was printed.
type listener struct {
	text    bytes.Buffer
	prompts chan string
}

func (l *listener) String() string { return l.text.String() }

func (l *listener) Write(p []byte) (int, error) {
	n, err := l.text.Write(p)
	if s := string(p); s == prompt || s == morePrompt {
		l.prompts <- s
	}
	return n, err
}

// start starts a session with a pipe for its input.
func start(t *testing.T, ctx context.Context) (f *fake, in io.WriteCloser, out *listener, interrupts chan os.Signal, done chan error) {
	t.Helper()
	pr, pw := io.Pipe()
	out = &listener{prompts: make(chan string, 100)}
	f = &fake{out: out, running: make(chan struct{})}
	interrupts, done = make(chan os.Signal), make(chan error, 1)
	go func() {
		done <- Run(ctx, Options{Engine: f, In: NewInput(pr), Out: out, Err: out, Interrupts: interrupts})
	}()
	return f, pw, out, interrupts, done
}

func TestC23InterruptDropsABlock(t *testing.T) {
	f, in, out, interrupts, done := start(t, context.Background())
	fmt.Fprint(in, "if x:\n    y\n")
	for range 3 {
		<-out.prompts
	}
	interrupts <- os.Interrupt
	if p := <-out.prompts; p != prompt {
		t.Errorf("prompt %q", p)
	}
	fmt.Fprint(in, "print(1)\n")
	_ = in.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if !strings.HasSuffix(out.String(), "sense> ...    ...    \nsense> print(1)\nsense> \n") || len(f.ran) != 1 {
		t.Errorf("out %q, ran %q", out.String(), f.ran)
	}
}

func TestC23InterruptStopsALoop(t *testing.T) {
	f, in, out, interrupts, done := start(t, context.Background())
	fmt.Fprint(in, "loop\n")
	<-f.running
	interrupts <- os.Interrupt
	fmt.Fprint(in, "print(1)\n")
	_ = in.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if !strings.HasSuffix(out.String(), "sense> SenseError: interrupted\nsense> print(1)\nsense> \n") {
		t.Errorf("out %q", out.String())
	}
}

func TestSecondInterruptEnds(t *testing.T) {
	f, in, _, interrupts, done := start(t, context.Background())
	fmt.Fprint(in, "stubborn\n")
	<-f.running
	interrupts <- os.Interrupt
	interrupts <- os.Interrupt
	if err := <-done; !errors.Is(err, ErrInterrupted) {
		t.Error(err)
	}
	<-f.running
}

func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	_, in, out, _, done := start(t, ctx)
	<-out.prompts
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	_ = in.Close()
	ctx, cancel = context.WithCancel(context.Background())
	f, in, _, _, done := start(t, ctx)
	fmt.Fprint(in, "loop\n")
	<-f.running
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestAnOldInterruptStopsNothing(t *testing.T) {
	c := make(chan os.Signal, 1)
	c <- os.Interrupt
	s := &session{Options{Interrupts: c}}
	err := s.guard(context.Background(), func(ctx context.Context) error { return ctx.Err() })
	if err != nil || len(c) != 0 {
		t.Error(err)
	}
}

func TestFileReady(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ready := fileReady(r)
	if ready() {
		t.Error("an empty pipe is ready")
	}
	fmt.Fprint(w, "x")
	if !ready() {
		t.Error("a pipe with something in it is not ready")
	}
	_, _ = r.Read(make([]byte, 1))
	_ = w.Close()
	if !ready() {
		t.Error("a closed pipe is not ready")
	}
}

// A read that an interrupted program left waiting takes no line from the session.
func TestInterruptedReadTakesNothing(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	in := NewInput(r)
	got := make(chan string)
	go func() {
		b := make([]byte, 1)
		_, _ = in.Program().Read(b)
		got <- string(b)
	}()
	in.give(true)
	in.give(false) // interrupted, or before the read began: the same
	fmt.Fprint(w, "s")
	if b, err := in.br.ReadByte(); b != 's' || err != nil {
		t.Errorf("the session read %q, %v", b, err)
	}
	in.give(true)
	fmt.Fprint(w, "p")
	if b := <-got; b != "p" {
		t.Errorf("the program read %q", b)
	}
	_ = w.Close()
}

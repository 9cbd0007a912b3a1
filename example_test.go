package sense_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/eval"
	"github.com/sense-lang/sense/policy"
)

func Example() {
	r := sense.New(context.Background(), sense.Options{Stdout: os.Stdout})
	defer r.Close()
	if err := r.RunSource("hello.sns", `print("hello", 6 * 7)`); err != nil {
		fmt.Println(err)
	}
	// Output: hello 42
}

// A ceiling bounds what a program's own policy can allow.
func Example_ceiling() {
	c := &policy.Ceiling{}
	if err := c.Deny("host", "mail.send"); err != nil {
		fmt.Println(err)
	}
	r := sense.New(context.Background(), sense.Options{Stdout: os.Stdout, Ceiling: c})
	defer r.Close()
	err := r.RunSource("mail.sns", `
tool send(to: String) requires mail.send: print("sent to", to)
policy: allow mail.send
send("ann")
`)
	fmt.Println(diag.KindOf(err), "-", err)
	// Output: policy - [line 4] tool 'send' requires capability 'mail.send', which is denied by policy
}

// Limits end a program that would never end by itself.
func Example_limits() {
	r := sense.New(context.Background(), sense.Options{Limits: eval.Limits{Steps: 1000, Time: time.Minute}})
	defer r.Close()
	err := r.RunSource("loop.sns", "while true: x = 1\n")
	fmt.Println(diag.KindOf(err), "-", strings.TrimPrefix(err.Error(), "[line 1] "))
	// Output: limit - limit of 1000 steps reached
}

// A session keeps its names from one input to the next.
func ExampleSession() {
	r := sense.New(context.Background(), sense.Options{Stdout: os.Stdout})
	defer r.Close()
	s := r.NewSession(os.Stdout)
	for _, input := range []string{"x = 20", "x + 1", "y +", "x * 2"} {
		if err := s.Run(context.Background(), input, true); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// 21
	// [line 1] unexpected token NEWLINE ''
	// 40
}

// Go code calls a tool of the program; its checks hold.
func ExampleRuntime_Interp() {
	var double eval.Value
	r := sense.New(context.Background(), sense.Options{OnDeclare: func(d eval.Declared) {
		if d.Name == "double" {
			double = d.Value
		}
	}})
	defer r.Close()
	if err := r.RunSource("tools.sns", "tool double(n: Int) returns Int \"Doubles\": return n * 2\n"); err != nil {
		fmt.Println(err)
	}
	v, err := r.Interp().Do(func(t *eval.Thread) (eval.Value, error) { return t.Call(double, eval.Int(21)) })
	fmt.Println(v, err)
	_, err = r.Interp().Do(func(t *eval.Thread) (eval.Value, error) { return t.Call(double, eval.String("x")) })
	fmt.Println(err)
	// Output:
	// 42 <nil>
	// argument 'n' of 'double' expects Int, got String
}

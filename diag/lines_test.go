package diag

import (
	"fmt"
	"strings"
	"testing"
)

// A printer for many errors shows what one for each shows, in whatever order.
func TestForMany(t *testing.T) {
	files := map[string]string{"a": "one\r\ntwo\nthree\rfour\n\nsix", "b": "", "c": "x\n"}
	reads := 0
	p := Printer{Source: func(file string) (string, bool) { reads++; s, ok := files[file]; return s, ok }}
	many := p.ForMany()
	for _, file := range []string{"a", "b", "a", "none", "c"} {
		for _, line := range []int32{1, 6, 2, 4, 3, 5, 7, 8, 1} {
			var want, got strings.Builder
			e := &Error{File: file, Pos: Pos{Line: line, Col: 1}, Msg: "m"}
			p.PrintAs(&want, "error:", e)
			many.PrintAs(&got, "error:", e)
			if want.String() != got.String() {
				t.Errorf("%s:%d: %q, want %q", file, line, got.String(), want.String())
			}
		}
	}
	if got := fmt.Sprintln(Printer{Source: p.Source}.line("a", 4)); got != "four true\n" {
		t.Error(got)
	}
	reads = 0
	for line := range 100 {
		many.PrintAs(&strings.Builder{}, "error:", &Error{File: "a", Pos: Pos{Line: int32(line + 1), Col: 1}})
	}
	if reads != 1 {
		t.Errorf("one file was read %d times", reads)
	}
}

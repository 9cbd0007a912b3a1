package pybridge

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestErrorsAreTheOriginals has the original implementation, named by SENSE_ORACLE, make the same mistakes.
func TestErrorsAreTheOriginals(t *testing.T) {
	sense := os.Getenv("SENSE_ORACLE")
	if sense == "" {
		t.Skip("SENSE_ORACLE is not set to the command of the original implementation")
	}
	p := start(t, helper)
	k, tuple := p.call("K", 3).(Handle), p.get("T").(Handle)
	for code, do := range map[string]func() error{
		"m.nope":              func() error { _, err := p.Attr(bg, p.module, "nope"); return err },
		"m.K(3).nope":         func() error { _, err := p.Attr(bg, k, "nope"); return err },
		"m.T.nope":            func() error { _, err := p.Attr(bg, tuple, "nope"); return err },
		"m.sub.nope":          func() error { _, err := p.Attr(bg, p.get("sub").(Handle), "nope"); return err },
		"m.boom()":            func() error { _, err := p.try(bg, "boom"); return err },
		"m.key()":             func() error { _, err := p.try(bg, "key"); return err },
		"m.empty()":           func() error { _, err := p.try(bg, "empty"); return err },
		"m.two()":             func() error { _, err := p.try(bg, "two"); return err },
		"m.rec()":             func() error { _, err := p.try(bg, "rec"); return err },
		"m.boom(1)":           func() error { _, err := p.try(bg, "boom", 1); return err },
		"m.D[\"zz\"]":         func() error { _, err := p.Index(bg, p.get("D").(Handle), "zz"); return err },
		"m.T[5]":              func() error { _, err := p.Index(bg, tuple, 5); return err },
		"m.T[0] = 1":          func() error { return p.SetIndex(bg, tuple, 0, 1) },
		"import python \"x\"": func() error { _, err := p.Import(bg, "x"); return err },
	} {
		file := filepath.Join(p.cmd.Dir, "program.sns")
		write(t, file, "import python \"helper\" as m\n"+code+"\n")
		cmd := exec.Command(sense, "run", file)
		cmd.Env = p.cmd.Env
		var text strings.Builder
		cmd.Stderr = &text
		_ = cmd.Run() // fails, that is the point
		got := do()
		if want := "SenseError: [line 2] "; got == nil || strings.TrimSpace(text.String()) != strings.TrimSpace(want+got.Error()) {
			t.Errorf("%s:\n%v\nthe original says\n%s", code, got, text.String())
		}
	}
}

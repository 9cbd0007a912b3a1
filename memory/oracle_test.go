package memory

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// original runs a program with the original implementation, named by SENSE_ORACLE, in a folder and gives its output.
func original(t *testing.T, dir, program string) string {
	t.Helper()
	sense := os.Getenv("SENSE_ORACLE")
	if sense == "" {
		t.Skip("SENSE_ORACLE is not set to the command of the original implementation")
	}
	file := filepath.Join(dir, "program.sns")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(sense, "run", file)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// literals are values as a Sense program writes them and as they are stored.
var literals = []struct{ key, literal, text string }{
	{"int", "1", "1"}, {"one", "1.0", "1.0"}, {"tenth", "0.1", "0.1"}, {"large", "10000000000000000.0", "1e+16"}, {"small", "0.00000015", "1.5e-07"}, {"minus", "-0.0", "-0.0"},
	{"big", "123456789012345678901234567890", "123456789012345678901234567890"}, {"inf", `float("inf")`, "Infinity"}, {"ninf", `float("-inf")`, "-Infinity"}, {"nan", `float("nan")`, "NaN"},
	{"text", `"ü日本😀\"\\\n\t/"`, `"\u00fc\u65e5\u672c\ud83d\ude00\"\\\n\t/"`}, {"", `"empty"`, `"empty"`}, {"ключ😀'", "nil", "null"}, {"bool", "true", "true"},
	{"list", `[1, 2.5, "x", nil, false, []]`, `[1, 2.5, "x", null, false, []]`},
}

func TestOriginalThenOurs(t *testing.T) {
	dir := t.TempDir()
	program := "persistent memory m: \"p.db\"\n"
	for _, l := range literals {
		program += "m.remember(\"" + l.key + "\", " + l.literal + ")\n"
	}
	original(t, dir, program+"m.forget(\"int\")\nm.forget(\"never\")\n")
	s := open(t, filepath.Join(dir, "p.db"))
	for i, l := range literals {
		expect(t, s, l.key, int64(len(literals)), l.text)
		history, err := s.History(bg, l.key)
		if err != nil || len(history) == 0 || history[0].Version != int64(i+1) || history[0].Time.Year() < 2020 {
			t.Errorf("history of %s: %v, %v", l.key, history, err)
		}
		if value, err := DecodeJSON(l.text); err != nil {
			t.Error(err)
		} else if text, err := EncodeJSON(value); err != nil || text != l.text {
			t.Errorf("%s is written %s, %v", l.text, text, err)
		}
	}
	expect(t, s, "int", math.MaxInt64, "-")
	if n, err := s.Len(bg); err != nil || n != len(literals)-1 {
		t.Errorf("%d keys, %v", n, err)
	}
	remember(t, s, "ours", `"added"`)
	if got := original(t, dir, "persistent memory m: \"p.db\"\nprint(m.recall(\"ours\"), m.recall(\"text\"), m.recall(\"int\"), m.as_of(\"int\", 1))\n"); got != "added ü日本😀\"\\\n\t/ nil 1\n" {
		t.Errorf("the original reads %q", got)
	}
}

func TestOursThenOriginal(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "p.db"))
	program, want := "persistent memory m: \"p.db\"\n", ""
	for _, l := range literals {
		remember(t, s, l.key, l.text)
		if l.key == "nan" || l.key == "int" {
			continue // unlike itself; forgotten below
		}
		program += "print(m.recall(\"" + l.key + "\") == " + l.literal + ", type_of(m.recall(\"" + l.key + "\")) == type_of(" + l.literal + "))\n"
		want += "true true\n"
	}
	forget(t, s, "int")
	program += "print(m.recall(\"int\"), len(m.history(\"int\")), m.as_of(\"int\", 1))\nm.remember(\"theirs\", 2.0)\n"
	if got := original(t, dir, program); got != want+"nil 2 1\n" { // while ours is open
		t.Errorf("the original reads\n%s", got)
	}
	expect(t, s, "theirs", int64(len(literals)+2), "2.0")
	keys, err := s.Keys(bg)
	if err != nil || len(keys) != len(literals) || keys[len(keys)-1] != "theirs" {
		t.Errorf("keys %q, %v", keys, err)
	}
}

func TestOriginalAndOursAtTheSameTime(t *testing.T) {
	dir := t.TempDir()
	original(t, dir, "print(1)\n") // skips early
	cmd, out := startWriter(t, filepath.Join(dir, "p.db"), "ours", 200)
	got := original(t, dir, "persistent memory m: \"p.db\"\nfor i in range(0, 200):\n    m.remember(\"theirs\" + str(i), i)\nprint(\"done\")\n")
	for out.Scan() {
	}
	if err := cmd.Wait(); err != nil || !strings.HasSuffix(got, "done\n") {
		t.Errorf("%v, the original says %s", err, got)
	}
	s := open(t, filepath.Join(dir, "p.db"))
	if n, err := s.Len(bg); n != 400 || err != nil {
		t.Errorf("%d keys, %v", n, err)
	}
}

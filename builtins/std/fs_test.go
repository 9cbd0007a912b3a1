package std_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sense-lang/sense/builtins/std"
	"github.com/sense-lang/sense/diag"
)

// folder makes a folder with files in it and a program that works in it.
func folder(t *testing.T, files map[string]string) (dir string, p *program) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "in")
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	return dir, &program{o: std.Options{FSRoots: []string{"."}}}
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFSReads(t *testing.T) {
	dir, p := folder(t, map[string]string{
		"a.txt": "one\r\ntwo\rthree\nfour", "empty": "", "end": "x\n", "bin": "\xff\xfe", "sub/b.txt": "b", "é.txt": "é",
	})
	p.check(t, []row{
		{code: `fs.read("sub/b.txt"), fs.read("./sub/../sub//b.txt"), fs.read("é.txt")`, want: "b b é"},
		{code: `fs.lines("a.txt"), fs.lines("empty"), fs.lines("end")`, want: "[one, two, three, four] [] [x]"},
		{code: `fs.read("` + dir + `/sub/b.txt")`, want: "b"},
		{code: `fs.list(), fs.list("sub"), fs.list(".")`, want: "[a.txt, bin, empty, end, sub, é.txt] [b.txt] [a.txt, bin, empty, end, sub, é.txt]"},
		{code: `fs.exists("a.txt"), fs.exists("sub"), fs.exists("nope"), fs.exists("a.txt/x")`, want: "true true false false"},
		{code: `fs.stat("sub")["kind"], fs.stat("sub/b.txt")["name"], fs.stat("bin")["size"], fs.stat("end")["modified"] > 1700000000`, want: "folder b.txt 2 true"},
		{code: `fs.read("nope")`, fails: "std.fs.read: no such file or folder: 'nope'"},
		{code: `fs.read("sub")`, fails: "std.fs.read: 'sub' is a folder"},
		{code: `fs.read("a.txt/x")`, fails: "std.fs.read: 'a.txt/x' is not a folder, or not in one"},
		{code: `fs.read("bin")`, fails: "std.fs.read: 'bin': it is not UTF-8 text"},
		{code: `fs.read("")`, fails: "std.fs.read: the path is empty"},
		{code: `fs.read(json.parse('"a\\u0000b"'))`, fails: `std.fs.read: the path 'a\x00b' holds a zero byte`},
		{code: `fs.read(1)`, fails: "std.fs.read() expects a String for 'path', got Int"},
		{code: `fs.list("a.txt")`, fails: "std.fs.list: 'a.txt' is not a folder, or not in one"},
		{code: `fs.list("nope")`, fails: "std.fs.list: no such file or folder: 'nope'"},
		{code: `fs.stat("nope")`, fails: "std.fs.stat: no such file or folder: 'nope'"},
	})
}

func TestFSWrites(t *testing.T) {
	dir, p := folder(t, map[string]string{"old": "old", "dir/x": "x", "run": "#!"})
	if err := os.Chmod("run", 0o750); err != nil {
		t.Fatal(err)
	}
	p.check(t, []row{
		{code: `fs.write("new", "text"), fs.read("new")`, want: "nil text"},
		{code: `fs.write("old", ["a", "b"]), fs.read("old")`, want: "nil a\nb\n"},
		{code: `fs.write("old", []), fs.read("old")`, want: "nil "},
		{code: `fs.append("log", "1\n"), fs.append("log", ["2", "3"]), fs.read("log")`, want: "nil nil 1\n2\n3\n"},
		{code: `fs.mkdir("m/n/o"), fs.mkdir("m/n/o"), fs.exists("m/n/o")`, want: "nil nil true"},
		{code: `fs.write("run", "#!new"), fs.copy("run", "m/run"), fs.read("m/run")`, want: "nil nil #!new"},
		{code: `fs.move("m/run", "m/walk"), fs.list("m")`, want: "nil [n, walk]"},
		{code: `fs.move("m/n", "n2"), fs.exists("n2/o")`, want: "nil true"},
		{code: `fs.remove("log"), fs.exists("log")`, want: "nil false"},
		{code: `fs.remove("n2", recursive: true), fs.exists("n2")`, want: "nil false"},
		{code: `fs.write("nope/x", "")`, fails: "std.fs.write: no such file or folder: 'nope/x'"},
		{code: `fs.write("dir", "")`, fails: "std.fs.write: 'dir' is a folder"},
		{code: `fs.write("x", 1)`, fails: "std.fs.write() expects a String or an Array of Strings for 'text', got Int"},
		{code: `fs.write("x", [1])`, fails: "std.fs.write() expects an Array of Strings for 'text', but [0] is Int"},
		{code: `fs.append("dir", "")`, fails: "std.fs.append: 'dir' is a folder"},
		{code: `fs.mkdir("old")`, fails: "std.fs.mkdir: 'old' is there already"},
		{code: `fs.remove("dir")`, fails: "std.fs.remove: the folder 'dir' is not empty (recursive: true removes it with all in it)"},
		{code: `fs.remove("nope")`, fails: "std.fs.remove: no such file or folder: 'nope'"},
		{code: `fs.remove("nope", true)`, fails: "std.fs.remove: no such file or folder: 'nope'"},
		{code: `fs.remove(".", true)`, fails: "std.fs.remove: '.': it is a folder that std.fs works in"},
		{code: `fs.copy("nope", "x")`, fails: "std.fs.copy: no such file or folder: 'nope'"},
		{code: `fs.copy("old", "nope/x")`, fails: "std.fs.copy: no such file or folder: 'nope/x'"},
		{code: `fs.copy("dir", "x")`, fails: "std.fs.copy: 'dir' is a folder"},
		{code: `fs.copy("old", "dir")`, fails: "std.fs.copy: 'dir' is a folder"},
		{code: `fs.move("old", "dir")`, fails: "std.fs.move: 'dir' is a folder"},
		{code: `fs.move("old", "nope/x")`, fails: "std.fs.move: no such file or folder: 'nope/x'"},
		{code: `fs.move(".", "x")`, fails: "std.fs.move: '.': it is a folder that std.fs works in"},
	})
	for name, mode := range map[string]fs.FileMode{"run": 0o750, "m/walk": 0o750} {
		if st, err := os.Stat(name); err != nil || st.Mode().Perm() != mode {
			t.Errorf("%s has permissions %v, want %v (%v)", name, st.Mode(), mode, err)
		}
	}
	left, _ := filepath.Glob(filepath.Join(dir, ".sense-*"))
	if len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}

func TestFSGlob(t *testing.T) {
	dir, p := folder(t, map[string]string{
		"a.txt": "", "b.md": "", ".hidden.txt": "", "s/c.txt": "", "s/t/d.txt": "", "s/t/.e.txt": "", "s/.h/f.txt": "", "[x]": "",
	})
	p.check(t, []row{
		{code: `fs.glob("*.txt")`, want: "[a.txt]"},
		{code: `fs.glob("?.*")`, want: "[a.txt, b.md]"},
		{code: `fs.glob("[ab].*")`, want: "[a.txt, b.md]"},
		{code: `fs.glob("**/*.txt")`, want: "[a.txt, s/c.txt, s/t/d.txt]"},
		{code: `fs.glob("**/**/*.txt")`, want: "[a.txt, s/c.txt, s/t/d.txt]"},
		{code: `fs.glob("s/**")`, want: "[s/c.txt, s/t, s/t/d.txt]"},
		{code: `fs.glob("./s/*")`, want: "[./s/c.txt, ./s/t]"},
		{code: `fs.glob("*/t/*.txt")`, want: "[s/t/d.txt]"},
		{code: `fs.glob("*/t")`, want: "[s/t]"},
		{code: `fs.glob(".h*")`, want: "[.hidden.txt]"},
		{code: `fs.glob("a.txt"), fs.glob("nope"), fs.glob("nope/*"), fs.glob("a.txt/*")`, want: "[a.txt] [] [] []"},
		{code: `fs.glob("\\[x]")`, want: "[[x]]"},
		{code: `fs.glob("` + dir + `/s/*.txt")`, want: "[" + dir + "/s/c.txt]"},
		{code: `fs.glob("[a")`, fails: `std.fs.glob: '[a' is no pattern: a '[' is not closed, or a '\' ends it`},
		{code: `fs.glob("*/../x")`, fails: "std.fs.glob: '*/../x' has '..' after a wildcard"},
		{code: `fs.glob("../*")`, fails: "std.fs.glob: '..' is outside the folders that may be used (" + dir + ")"},
		{code: `fs.glob("/etc/*")`, fails: "std.fs.glob: '/etc' is outside the folders that may be used (" + dir + ")"},
		{code: `fs.glob("")`, want: "[]"},
		{code: `fs.glob(nil)`, fails: "std.fs.glob() expects a String for 'pattern', got Nil"},
	})
}

// TestFSStaysInside tries the ways out of a root. Beside it lies a file with a
// secret, which no answer may hold and nothing may change.
func TestFSStaysInside(t *testing.T) {
	dir, p := folder(t, map[string]string{"ok.txt": "fine", "sub/x": "x"})
	outside := filepath.Join(filepath.Dir(dir), "secret")
	if err := os.WriteFile(outside, []byte("hidden"), 0o644); err != nil {
		t.Fatal(err)
	}
	links := map[string]string{
		"abs": outside, "rel": "../secret", "up": "..", "deep": "sub/../../secret", "chain": "rel", "loop": "loop",
		"etc": "/etc", "root": "/", "within": "ok.txt", "subup": "sub/../ok.txt", "proc": "/proc/self/cwd",
	}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	paths := []string{
		"../secret", "..", "sub/../../secret", "./../secret", outside, "/etc/passwd", "/", "//etc/passwd", "../in/../secret",
		"abs", "rel", "up/secret", "deep", "chain", "loop", "etc/passwd", "root/etc/passwd", "up/in/../secret",
		"../in2/x", dir + "2/x", dir + "/../secret", "sub/../up/secret", "proc/secret", "etc", "up", "root",
	}
	calls := []string{
		"fs.read(%q)", "fs.lines(%q)", "fs.write(%q, \"gone\")", "fs.append(%q, \"gone\")", "fs.mkdir(%q)", "fs.list(%q)",
		"fs.copy(%q, \"stolen\")", "fs.copy(\"ok.txt\", %q)", "fs.exists(%q)",
	}
	for _, path := range paths {
		for _, call := range calls {
			code := fmt.Sprintf(call, path)
			out, err := p.run("import std.fs\nprint(" + code + ")")
			if err == nil {
				t.Errorf("%s gives %s", code, out)
			} else if strings.Contains(err.Error(), "hidden") {
				t.Errorf("%s tells %v", code, err)
			}
		}
	}
	if content(t, outside) != "hidden" || content(t, filepath.Join(dir, "ok.txt")) != "fine" || content(t, filepath.Join(dir, "sub/x")) != "x" {
		t.Error("a file was changed")
	}
	if names, _ := os.ReadDir(filepath.Dir(dir)); len(names) != 2 {
		t.Errorf("something was made outside: %v", names)
	}
	for _, path := range []string{"../stolen", "up/stolen", outside, "etc/stolen", dir + "2"} {
		code := fmt.Sprintf("fs.move(\"sub/x\", %q)", path)
		if _, err := p.run("import std.fs\n" + code); err == nil || content(t, filepath.Join(dir, "sub/x")) != "x" {
			t.Errorf("%s works", code)
		}
	}
	p.check(t, []row{
		{code: `fs.read("within"), fs.write("within", "new"), fs.read("ok.txt"), fs.stat("within")["kind"]`, want: "fine nil new file"},
		{code: `fs.read("subup")`, want: "new"},
		{code: `fs.stat("rel")["kind"]`, want: "link"},
		{code: `fs.remove("abs"), fs.exists("ok.txt")`, want: "nil true"},
		{code: `fs.read("rel")`, fails: "std.fs.read: 'rel' leads out of the folders that may be used (" + dir + ")"},
		{code: `fs.read("loop")`, fails: "std.fs.read: 'loop' goes through too many symbolic links"},
		{code: `fs.glob("*/passwd")`, want: "[]"},
		{code: `fs.glob("up/*")`, want: "[]"},
	})
	if st, err := os.Lstat(filepath.Join(dir, "within")); err != nil || st.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("writing through a link replaced the link: %v %v", st, err)
	}
}

// TestFSSwappedLink writes and reads through a name that is now a folder and
// now a link to the outside.
func TestFSSwappedLink(t *testing.T) {
	dir, p := folder(t, map[string]string{"d/f": "inside"})
	out := filepath.Join(filepath.Dir(dir), "out")
	if err := os.MkdirAll(out, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(out, "f"), []byte("hidden"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(out, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		d, link, spare := filepath.Join(dir, "d"), filepath.Join(dir, "link"), filepath.Join(dir, "spare")
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = errors.Join(os.Rename(d, spare), os.Rename(link, d), os.Rename(d, link), os.Rename(spare, d))
		}
	}()
	got, err := p.run(`import std.fs
seen = {}
for i in range(3000):
    try:
        seen[fs.read("d/f")] = true
        fs.write("d/f", "inside")
    catch e:
        seen["error"] = true
print(seen.has("hidden"))`)
	close(stop)
	<-stopped
	if err != nil || got != "false" {
		t.Errorf("what lies outside was read: %s (%v)", got, err)
	}
	if content(t, filepath.Join(out, "f")) != "hidden" {
		t.Error("what lies outside was written")
	}
}

func TestFSSizes(t *testing.T) {
	dir, p := folder(t, nil)
	if err := os.Truncate(create(t, filepath.Join(dir, "big")), 64<<20+1); err != nil {
		t.Fatal(err)
	}
	p.check(t, []row{{code: `fs.read("big")`, fails: "std.fs.read: 'big': it is too large (over 64 MiB)"}})
}

func create(t *testing.T, path string) string {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFSRoots(t *testing.T) {
	dir, _ := folder(t, map[string]string{"a/x": "ax", "b/y": "by", "c/z": "cz"})
	p := &program{o: std.Options{FSRoots: []string{"a", filepath.Join(dir, "b")}}}
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	p.check(t, []row{
		{code: `fs.read("a/x"), fs.read("b/y")`, want: "ax by"},
		{code: `fs.copy("a/x", "b/x"), fs.move("b/x", "a/x2"), fs.read("a/x2"), fs.exists("b/x")`, want: "nil nil ax false"},
		{code: `fs.mkdir("a/d"), fs.move("a/d", "b/d")`, fails: "std.fs.move: 'a/d' is a folder"},
		{code: `fs.read("c/z")`, fails: "std.fs.read: 'c/z' is outside the folders that may be used (" + a + ", " + b + ")"},
		{code: `fs.list()`, fails: "std.fs.list: '.' is outside the folders that may be used (" + a + ", " + b + ")"},
	})
	new(program).check(t, []row{{code: `fs.read("a/x")`, fails: "std.fs.read: there is no folder that may be used"}})
	(&program{o: std.Options{FSRoots: []string{"nope"}}}).check(t, []row{
		{code: `fs.read("a/x")`, fails: "std.fs.read: the folder 'nope' cannot be used: no such file or directory"},
	})
}

func TestFSPermissions(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("nothing is forbidden to root")
	}
	dir, p := folder(t, map[string]string{"secret": "x"})
	if err := os.Chmod(filepath.Join(dir, "secret"), 0); err != nil {
		t.Fatal(err)
	}
	p.check(t, []row{{code: `fs.read("secret")`, fails: "std.fs.read: permission denied: 'secret'"}})
}

func TestFSKeepsTheOldFileWhenWritingFails(t *testing.T) {
	dir, p := folder(t, map[string]string{"f": "old"})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p.ctx = ctx
	_, err := p.run("import std.fs\nfs.copy(\"f\", \"g\")")
	wantKind(t, err, diag.Interrupt)
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("an interrupted copy leaves %v", names)
	}
}

package sense_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sense-lang/sense/eval"
)

// opens watches folders, and tells which of the files in them were opened.
type opens struct {
	fd    int
	names map[int32]string
}

func watchOpens(t *testing.T, dirs ...string) *opens {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Skip("no inotify: ", err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	w := &opens{fd: fd, names: map[int32]string{}}
	for _, dir := range dirs {
		wd, err := unix.InotifyAddWatch(fd, dir, unix.IN_OPEN|unix.IN_ACCESS)
		if err != nil {
			t.Fatal(err)
		}
		w.names[int32(wd)] = dir
	}
	return w
}

// seen gives what was opened since the last call.
func (w *opens) seen() (found []string) {
	buf := make([]byte, 64<<10)
	for {
		n, err := unix.Read(w.fd, buf)
		if err != nil || n <= 0 {
			return found
		}
		for at := 0; at < n; {
			e := (*unix.InotifyEvent)(unsafe.Pointer(&buf[at]))
			name := strings.TrimRight(string(buf[at+unix.SizeofInotifyEvent:at+unix.SizeofInotifyEvent+int(e.Len)]), "\x00")
			found = append(found, filepath.Join(w.names[e.Wd], name))
			at += unix.SizeofInotifyEvent + int(e.Len)
		}
	}
}

// outside lays out a project and, beside it, files that its programs must not
// read: their text is "SECRETWORD".
func outside(t *testing.T) (project, away string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project, away = filepath.Join(base, "project"), filepath.Join(base, "away")
	for _, dir := range []string{project, away} {
		for _, name := range []string{"lib.sns", "secret.txt", "sub/deep.sns"} {
			writeFile(t, filepath.Join(dir, name), "print(\"in "+filepath.Base(dir)+"\")\n")
		}
	}
	writeFile(t, filepath.Join(away, "bad.sns"), "SECRETWORD is = not a program\n")
	links := map[string]string{
		"link.sns": "../away/lib.sns", "abs.sns": away + "/lib.sns", "dir": "../away", "absdir": away, "hop.sns": "link.sns", "bad.sns": "../away/bad.sns",
		"sub/up.sns": "../../away/lib.sns", "sub/dir": "../../away/sub", "loop.sns": "loop.sns", "proc.sns": "/proc/self/environ", "zero.sns": "/dev/zero",
		"inner.sns": "sub/deep.sns",
	}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(project, name)); err != nil {
			t.Fatal(err)
		}
	}
	return project, away
}

// outsideImports are imports that lead out of the project in every way.
var outsideImports = []string{
	`"../away/lib.sns"`, `"../away/bad.sns"`, `"AWAY/lib.sns"`, `"AWAY/bad.sns"`, `"../../../../../../../../etc/hostname"`, `"/etc/passwd"`, `"/etc/hostname"`, `"./../away/lib.sns"`,
	`"sub/../../away/lib.sns"`, `"sub/./../.././away/lib.sns"`, `"..//away//lib.sns"`, `"//AWAY/lib.sns"`, `"link.sns"`, `"abs.sns"`, `"hop.sns"`, `"bad.sns"`, `"dir/lib.sns"`, `"absdir/lib.sns"`,
	`"sub/up.sns"`, `"sub/dir/deep.sns"`, `"dir/../away/lib.sns"`, `"loop.sns"`, `"proc.sns"`, `"zero.sns"`, `"/proc/self/cwd/../away/lib.sns"`, `"/proc/self/environ"`, `"/dev/stdin"`, `"/dev/fd/0"`,
	`"secret.txt"`, `"../away/secret.txt"`, `"lib.sns/../../away/lib.sns"`, `".."`, `"."`, `""`, `"sub"`, `dir.lib`, `absdir.lib`, `sub.dir.deep`,
}

// TestImportsStayInside imports every path under a ceiling and under --strict:
// none opens a file outside the project, and no message quotes one.
func TestImportsStayInside(t *testing.T) {
	project, away := outside(t)
	watch := watchOpens(t, away, filepath.Join(away, "sub"))
	for i, imp := range outsideImports {
		name := fmt.Sprintf("main%d.sns", i)
		writeFile(t, filepath.Join(project, name), "import "+strings.ReplaceAll(imp, "AWAY", away)+" as m\n")
		for _, flag := range [][]string{{"--strict"}, {"--deny", "x"}, {"--allow", "x"}} {
			r := runIn(t, project, nil, append(append([]string{"run"}, flag...), name)...)
			if r.code != 1 || strings.Contains(r.out+r.err, "in away") || strings.Contains(r.err, "SECRETWORD") || strings.Contains(r.err, "root:") {
				t.Errorf("import %s under %v: %+v", imp, flag, r)
			}
		}
	}
	for i := range outsideImports {
		if r := runIn(t, project, nil, "permissions", "--strict", fmt.Sprintf("main%d.sns", i)); strings.Contains(r.out+r.err, "SECRETWORD") {
			t.Errorf("permissions shows what is outside: %+v", r)
		}
	}
	if got := watch.seen(); len(got) > 0 {
		t.Errorf("opened outside: %v", got)
	}
	// What is inside works, also by another way, and what --module-path names.
	for _, imp := range []string{`"lib.sns"`, `"sub/deep.sns"`, `sub.deep`, `"inner.sns"`, `"sub/../lib.sns"`, `"` + project + `/lib.sns"`} {
		writeFile(t, filepath.Join(project, "in.sns"), "import "+imp+" as m\n")
		if r := runIn(t, project, nil, "run", "--strict", "in.sns"); r.code != 0 || r.out != "in project\n" {
			t.Errorf("import %s: %+v", imp, r)
		}
	}
	writeFile(t, filepath.Join(project, "in.sns"), "import \"../away/lib.sns\" as m\n")
	if r := runIn(t, project, nil, "run", "--strict", "--module-path", "../away", "in.sns"); r.code != 0 || r.out != "in away\n" {
		t.Errorf("a module path: %+v", r)
	}
	if got := watch.seen(); len(got) == 0 {
		t.Error("the watch sees nothing")
	}
	if r := runIn(t, project, nil, "run", "in.sns"); r.code != 0 || r.out != "in away\n" {
		t.Errorf("without a ceiling it is as in the original: %+v", r)
	}
}

// TestSwappedLinks swaps a module for a symbolic link that leads out, and back,
// while it is read: it is read from inside or refused.
func TestSwappedLinks(t *testing.T) {
	project, away := outside(t)
	watch := watchOpens(t, away)
	read := eval.ReadWithin([]string{project})
	path := filepath.Join(project, "swap.sns")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			next := filepath.Join(project, "next")
			if i%2 == 0 {
				_ = os.Symlink("../away/lib.sns", next)
			} else {
				_ = os.WriteFile(next, []byte("inside"), 0o600)
			}
			_ = os.Rename(next, path) // a swap at once
		}
	})
	inside, refused := 0, 0
	for range 10_000 {
		switch b, err := read(path); {
		case err != nil:
			refused++
		case string(b) == "inside":
			inside++
		default:
			t.Fatalf("read %q", b)
		}
	}
	close(stop)
	wg.Wait()
	if got := watch.seen(); len(got) > 0 {
		t.Errorf("opened outside: %d times", len(got))
	}
	t.Logf("10,000 reads: %d from inside, %d refused", inside, refused)
}

// TestMemoriesStayInside opens persistent memories in every place under a
// ceiling: outside nothing is made or opened.
func TestMemoriesStayInside(t *testing.T) {
	project, away := outside(t)
	if err := os.Symlink(away, filepath.Join(project, "memlink")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(away, "new.db"), filepath.Join(project, "dangling.db")); err != nil {
		t.Fatal(err)
	}
	watch := watchOpens(t, away)
	use := func(path string, args ...string) result {
		src := "persistent memory m: \"" + path + "\"\nm.remember(\"k\", 1)\nprint(m.recall(\"k\"))\n"
		return runIn(t, project, map[string]string{"main.sns": src}, append(append([]string{"run"}, args...), "main.sns")...)
	}
	for _, path := range []string{away + "/m.db", "../away/m.db", "memlink/m.db", "memlink/new/m.db", "dangling.db", "sub/../../away/m.db", "/proc/self/cwd/../away/m.db", "link.sns", "absdir/m.db"} {
		for _, flag := range [][]string{{"--strict"}, {"--deny", "x"}} {
			if r := use(path, flag...); r.code != 1 || strings.Contains(r.out, "1") || !strings.Contains(r.err, "persistent memory") {
				t.Errorf("%s under %v: %+v", path, flag, r)
			}
		}
	}
	if got := watch.seen(); len(got) > 0 {
		t.Errorf("opened outside: %v", got)
	}
	for _, path := range []string{"m.db", "new/folder/m.db", "sub/m.db", project + "/abs.db", ":memory:"} {
		if r := use(path, "--strict"); r.code != 0 || r.out != "1\n" {
			t.Errorf("%s: %+v", path, r)
		}
	}
	if r := use(away+"/m.db", "--strict", "--fs-root", away); r.code != 0 {
		t.Errorf("a folder of --fs-root: %+v", r)
	}
	if r := use("../away/n.db"); r.code != 0 || r.out != "1\n" {
		t.Errorf("without a ceiling it is as in the original: %+v", r)
	}
	src := map[string]string{"default.sns": "persistent memory m\nm.remember(\"k\", 1)\nprint(m.recall(\"k\"))\n"}
	if r := runIn(t, project, src, "run", "--strict", "default.sns"); r.code != 0 {
		t.Errorf("the default place: %+v", r)
	}
	if r := runWith(t, project, src, []string{"SENSE_MEMORY_DIR=" + away}, "run", "--strict", "default.sns"); r.code != 0 {
		t.Errorf("SENSE_MEMORY_DIR: %+v", r)
	}
}

// TestMessagesQuoteNoForeignFile imports files that are no programs by their
// names, without a ceiling: whatever fails in them, no message shows their text.
func TestMessagesQuoteNoForeignFile(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(t.TempDir(), "id_rsa")
	for i, text := range []string{"SECRETWORD\n", "x = SECRETWORD\n", "\"SECRETWORD\n", "SECRETWORD: x y\n", "def SECRETWORD(:\n", "raise \"SECRETWORD\"\n",
		"a = 1\nb = a.SECRETWORD\n", "import SECRETWORD\n", "def f(x):\n    return x\nf(SECRETWORD: 1)\n", "\tSECRETWORD\n"} {
		writeFile(t, secret, text)
		writeFile(t, filepath.Join(dir, "main.sns"), "import \""+secret+"\" as m\n")
		writeFile(t, filepath.Join(dir, "catches.sns"), "try:\n    import \""+secret+"\" as m\ncatch e:\n    print(e)\n    print(e.message)\n    raise\n")
		for _, args := range [][]string{{"run", "main.sns"}, {"run", "--verbose", "catches.sns"}, {"check", "main.sns"}, {"check", "--json", "main.sns"},
			{"permissions", "main.sns"}, {"test", "main.sns"}} {
			if r := runIn(t, dir, nil, args...); strings.Contains(r.out+r.err, "SECRETWORD") {
				t.Errorf("text %d, %v: %s%s", i, args, r.out, r.err)
			}
		}
	}
}

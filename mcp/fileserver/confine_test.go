package fileserver

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// outsidePaths lead out of the folder of sample in every way known; %s stands for the folder.
var outsidePaths = []string{
	"..", "../", "../outside.txt", "../dir2/x.txt", "sub/../../outside.txt", "./../outside.txt", "sub/deep/../../../outside.txt",
	"../dir/../outside.txt", "/", "/etc/passwd", "/etc", "//etc/passwd", "%s/../outside.txt", "%s2/x.txt", "%s/../dir2/x.txt", "%s/..",
	"out", "out/outside.txt", "out/dir2/x.txt", "outf", "absout", "absout/outside.txt", "absout/dir2", "sub/relout", "twostep",
	"linkdir/relout", "linkdir/../../outside.txt", "abslink/relout", "out/dir/../outside.txt", "newout", "newout/x", "out/none", "out/../..",
	"~", "~/outside.txt", "..\x00", "a.txt\x00", "../outside.txt\x00", "C:\\outside.txt", "C:/outside.txt", "c:", "/proc/self/root/etc/passwd",
}

// insidePaths stay in the folder though they look odd.
var insidePaths = []string{
	".", "", "a.txt", "./a.txt", "sub/../a.txt", "../dir/a.txt", "%s", "%s/", "%s/a.txt", "%s//a.txt", "%s/../dir/a.txt", "link", "linkdir",
	"linkdir/x.py", "abslink/deep/y.txt", "linkdir/../a.txt", "..a", "...", "~x", "C", "C:x", "ünï.txt", "none", "none/../a.txt", "dangling", " a.txt", "a\nb",
}

func TestResolveStaysInside(t *testing.T) {
	t.Setenv("HOME", "/nonexistent-home")
	dir := sample(t)
	f, err := openFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	for _, p := range outsidePaths {
		asked := strings.ReplaceAll(p, "%s", dir)
		if name, err := f.resolve(asked); err == nil || !strings.HasPrefix(err.Error(), "Access denied - ") {
			t.Errorf("%q resolves to %q, %v", asked, name, err)
		}
	}
	for _, p := range insidePaths {
		asked := strings.ReplaceAll(p, "%s", dir)
		if name, err := f.resolve(asked); err != nil || !fs.ValidPath(name) {
			t.Errorf("%q resolves to %q, %v", asked, name, err)
		}
	}
}

// TestNoToolReachesOutside calls every tool with every outside path and looks at what came back and what changed.
func TestNoToolReachesOutside(t *testing.T) {
	t.Setenv("HOME", "/nonexistent-home")
	dir := sample(t)
	before := listing(t, filepath.Dir(dir))
	c := serve(t, dir, false)
	for _, p := range outsidePaths {
		p = strings.ReplaceAll(p, "%s", dir)
		for tool, arguments := range map[string]m{
			"read_file": {"path": p}, "read_text_file": {"path": p, "head": 5}, "read_media_file": {"path": p},
			"list_directory": {"path": p}, "list_directory_with_sizes": {"path": p}, "directory_tree": {"path": p}, "get_file_info": {"path": p},
			"search_files": {"path": p, "pattern": "**"}, "write_file": {"path": p, "content": "x"}, "create_directory": {"path": p + "/new"},
			"edit_file": {"path": p, "edits": []m{{"oldText": secret, "newText": "x"}}}, "move_file": {"source": p, "destination": "stolen"},
		} {
			if text := c.bad(tool, arguments); strings.Contains(text, secret) || !strings.HasPrefix(text, "Access denied - ") {
				t.Errorf("%s %q: %q", tool, p, text)
			}
		}
		if text := c.bad("move_file", m{"source": "a.txt", "destination": p}); !strings.HasPrefix(text, "Access denied - ") {
			t.Errorf("move_file to %q: %q", p, text)
		}
		if text := c.good("read_multiple_files", m{"paths": []string{p}}); !strings.HasPrefix(text, p+": Error - Access denied - ") {
			t.Errorf("read_multiple_files %q: %q", p, text)
		}
	}
	for _, tool := range []string{"directory_tree", "search_files"} {
		if text := c.good(tool, m{"path": ".", "pattern": "**"}); strings.Contains(text, "dir2") || strings.Contains(text, "outside.txt\n") {
			t.Errorf("%s walks outside: %s", tool, text)
		}
	}
	if after := listing(t, filepath.Dir(dir)); after != before {
		t.Errorf("something changed:\n%s\nbefore:\n%s", after, before)
	}
}

// listing writes down a tree with the content of its files.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		b.WriteString(name + " " + entry.Type().String() + "\n")
		if entry.Type().IsRegular() {
			data, err := os.ReadFile(name)
			b.Write(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestSwappedLinkNeverLeadsOutside swaps a folder for a link to the outside while calls go through it.
func TestSwappedLinkNeverLeadsOutside(t *testing.T) {
	dir := sample(t)
	f, err := openFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	put(t, filepath.Join(dir, "swap", "outside.txt"), "harmless")
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		swap, real := filepath.Join(dir, "swap"), filepath.Join(dir, "real")
		for {
			_ = os.Rename(swap, real)
			_ = os.Symlink("..", swap)
			_ = os.Remove(swap)
			_ = os.Rename(real, swap)
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	ctx := context.Background()
	for range 3000 {
		if text, err := readText(ctx, f, args{"path": "swap/outside.txt"}); err == nil && text != "harmless" {
			t.Fatalf("read %q", text)
		}
		_, _ = write(ctx, f, args{"path": "swap/planted.txt", "content": "x"})
		if text, err := list(ctx, f, args{"path": "swap"}); err == nil && strings.Contains(text, "dir2") {
			t.Fatalf("listed %q", text)
		}
	}
	close(stop)
	swapping.Wait()
	if _, err := os.Lstat(filepath.Join(filepath.Dir(dir), "planted.txt")); err == nil {
		t.Error("a file was planted outside")
	}
}

func TestServesAFolderThatIsALink(t *testing.T) {
	dir := sample(t)
	link := filepath.Join(t.TempDir(), "served")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	c := serve(t, link, false)
	if got, want := c.good("list_allowed_directories", nil), "Allowed directories:\n"+link+"\n"+dir; got != want {
		t.Errorf("allowed: %q, want %q", got, want)
	}
	for _, p := range []string{"b.txt", link + "/b.txt", dir + "/b.txt"} {
		if got := c.good("read_text_file", m{"path": p}); got != "no newline" {
			t.Errorf("%s: %q", p, got)
		}
	}
	if got, want := c.bad("read_text_file", m{"path": "/x"}), "Access denied - path outside allowed directories: /x not in "+link+", "+dir; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestHomeFolder(t *testing.T) {
	dir := sample(t)
	t.Setenv("HOME", dir)
	if got := serve(t, dir, true).good("read_text_file", m{"path": "~/b.txt"}); got != "no newline" {
		t.Errorf("got %q", got)
	}
}

func TestUnicodeSpelling(t *testing.T) {
	dir := sample(t)
	composed, decomposed := "caf\u00e9.txt", "cafe\u0301.txt"
	put(t, filepath.Join(dir, decomposed), "mac")
	c := serve(t, dir, false)
	if got := c.good("read_text_file", m{"path": composed}); got != "mac" {
		t.Errorf("the other spelling gives %q", got)
	}
	c.good("write_file", m{"path": composed, "content": "new"})
	if got := get(t, filepath.Join(dir, decomposed)); got != "new" {
		t.Errorf("writing by the other spelling leaves %q", got)
	}
	if text := c.bad("read_text_file", m{"path": "th\u00e9.txt"}); !strings.HasPrefix(text, "ENOENT: ") {
		t.Errorf("a missing name gives %q", text)
	}
}

func FuzzPaths(f *testing.F) {
	for _, p := range append(outsidePaths, insidePaths...) {
		f.Add(p)
	}
	dir := sample(f)
	folder, err := openFolder(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(folder.close)
	f.Fuzz(func(t *testing.T, p string) {
		p = strings.ReplaceAll(p, "%s", dir)
		if text, err := readText(context.Background(), folder, args{"path": p}); err == nil && strings.Contains(text, secret) {
			t.Fatalf("%q reads the outside", p)
		}
		name, err := folder.resolve(p)
		if err != nil {
			if strings.ContainsRune(err.Error(), 0) && !strings.ContainsRune(p, 0) {
				t.Fatalf("%q: odd error %q", p, err)
			}
			return
		}
		if !filepath.IsLocal(name) {
			t.Fatalf("%q resolves to %q", p, name)
		}
		if real, err := filepath.EvalSymlinks(folder.abs(name)); err == nil && real != folder.real && !strings.HasPrefix(real, folder.real+"/") {
			t.Fatalf("%q resolves to %q, which is %q", p, name, real)
		}
	})
}

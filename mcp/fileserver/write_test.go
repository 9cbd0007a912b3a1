package fileserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWriting(t *testing.T) {
	dir := sample(t)
	if err := os.Chmod(filepath.Join(dir, "a.txt"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := serve(t, dir, false)
	for _, test := range []struct{ path, file string }{
		{"new.txt", "new.txt"}, {"a.txt", "a.txt"}, {"linkdir/n.txt", "sub/n.txt"}, {dir + "/abslink/n2.txt", "sub/n2.txt"},
		{"ünï2.txt", "ünï2.txt"}, {strings.Repeat("n", 255), strings.Repeat("n", 255)}, {"b.txt", "b.txt"}, {" spaces ", " spaces "},
	} {
		content := "hello ü\r\n\x00" + test.path
		if got := c.good("write_file", m{"path": test.path, "content": content}); got != "Successfully wrote to "+test.path {
			t.Errorf("%s: %q", test.path, got)
		}
		if got := get(t, filepath.Join(dir, test.file)); got != content {
			t.Errorf("%s holds %q", test.file, got)
		}
	}
	if target, err := os.Readlink(filepath.Join(dir, "link")); err != nil || target != "a.txt" {
		t.Errorf("link became %q, %v", target, err)
	}
	for name, want := range map[string]os.FileMode{"a.txt": 0o600, "b.txt": 0o644} {
		if stat, err := os.Stat(filepath.Join(dir, name)); err != nil || stat.Mode() != want {
			t.Errorf("%s has mode %v, %v", name, stat.Mode(), err)
		}
	}
	for path, want := range map[string]string{
		"none/x": "ENOENT: no such file or directory, open '" + dir + "/none/x'",
		"sub":    "EISDIR: illegal operation on a directory, open '" + dir + "/sub'",
		".":      "EISDIR: illegal operation on a directory, open '" + dir + "'",
		"b.txt/": "",
		"_u/x":   "ENOTDIR: not a directory, realpath '" + dir + "/_u/x'",
	} {
		got, bad := c.call("write_file", m{"path": path, "content": "x"})
		if bad != (want != "") || bad && got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".sense-*")); len(left) > 0 {
		t.Errorf("temporary files left: %v", left)
	}
}

func TestWritingWithoutPermission(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write anywhere")
	}
	dir := sample(t)
	if err := os.Chmod(filepath.Join(dir, "sub"), 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "sub"), 0o700) })
	c := serve(t, dir, false)
	if got, want := c.bad("write_file", m{"path": "sub/n", "content": ""}), "EACCES: permission denied, open '"+dir+"/sub/n'"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFolders(t *testing.T) {
	dir := sample(t)
	c := serve(t, dir, false)
	for _, path := range []string{"n1", "n2/n3/n4", "sub", ".", dir + "/n5", "linkdir/n6"} {
		if got := c.good("create_directory", m{"path": path}); got != "Successfully created directory "+path {
			t.Errorf("%s: %q", path, got)
		}
	}
	for _, name := range []string{"n1", "n2/n3/n4", "n5", "sub/n6"} {
		if stat, err := os.Stat(filepath.Join(dir, name)); err != nil || !stat.IsDir() {
			t.Errorf("%s: %v, %v", name, stat, err)
		}
	}
	for path, want := range map[string]string{
		"a.txt":   "EEXIST: file already exists, mkdir '" + dir + "/a.txt'",
		"a.txt/b": "ENOTDIR: not a directory, realpath '" + dir + "/a.txt/b'",
	} {
		if got := c.bad("create_directory", m{"path": path}); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestMoving(t *testing.T) {
	dir := sample(t)
	c := serve(t, dir, false)
	for _, test := range []struct{ from, to, want string }{
		{"b.txt", "moved.txt", ""},
		{"moved.txt", dir + "/sub/moved.txt", ""},
		{"empty", "sub/empty", ""},
		{"a.txt", "sub/moved.txt", "Destination already exists: " + dir + "/sub/moved.txt"},
		{"a.txt", "sub", "Destination already exists: " + dir + "/sub"},
		{"a.txt", "a.txt", "Destination already exists: " + dir + "/a.txt"},
		{"none", "q", "ENOENT: no such file or directory, rename '" + dir + "/none' -> '" + dir + "/q'"},
		{"a.txt", "none/q", "ENOENT: no such file or directory, rename '" + dir + "/a.txt' -> '" + dir + "/none/q'"},
		{"sub", "sub/in", "EINVAL: invalid argument, rename '" + dir + "/sub' -> '" + dir + "/sub/in'"},
	} {
		got, bad := c.call("move_file", m{"source": test.from, "destination": test.to})
		want := test.want
		if want == "" {
			want = "Successfully moved " + test.from + " to " + test.to
		}
		if got != want || bad != (test.want != "") {
			t.Errorf("%s to %s: %q, want %q", test.from, test.to, got, want)
		}
	}
	if got := get(t, filepath.Join(dir, "sub/moved.txt")); got != "no newline" {
		t.Errorf("moved file holds %q", got)
	}
	if got := c.bad("move_file", m{"source": ".", "destination": "q"}); got == "" {
		t.Error("the folder itself was moved")
	}
}

func TestEditing(t *testing.T) {
	dir := sample(t)
	c := serve(t, dir, false)
	edits := []m{{"oldText": "two", "newText": "2"}, {"oldText": "2\nthree", "newText": "$& three"}}
	want := "```diff\nIndex: " + dir + "/a.txt\n===================================================================\n--- " + dir + "/a.txt\toriginal\n+++ " + dir + "/a.txt\tmodified\n" +
		"@@ -1,3 +1,2 @@\n one\n-two\n-three\n+$& three\n```\n\n"
	if got := c.good("edit_file", m{"path": "link", "edits": edits, "dryRun": true}); got != want {
		t.Errorf("dry run:\n%s\nwant\n%s", got, want)
	}
	if got := get(t, filepath.Join(dir, "a.txt")); got != "one\ntwo\nthree\n" {
		t.Errorf("a dry run wrote %q", got)
	}
	if got := c.good("edit_file", m{"path": "a.txt", "edits": edits}); got != want {
		t.Errorf("edit:\n%s", got)
	}
	if got := get(t, filepath.Join(dir, "a.txt")); got != "one\n$& three\n" {
		t.Errorf("the edit wrote %q", got)
	}
	if got := c.good("edit_file", m{"path": "code.md", "edits": []m{{"oldText": "b", "newText": "````"}}}); !strings.HasPrefix(got, "`````diff\n") || !strings.HasSuffix(got, "`````\n\n") {
		t.Errorf("fence: %q", got)
	}
	c.good("edit_file", m{"path": "crlf.txt", "edits": []m{{"oldText": "b\nc", "newText": "B\nC"}}})
	if got := get(t, filepath.Join(dir, "crlf.txt")); got != "a\r\nB\r\nC\r\n" {
		t.Errorf("line ends are now %q", got)
	}
	if got := c.bad("edit_file", m{"path": "b.txt", "edits": []m{{"oldText": "no", "newText": "x"}, {"oldText": "not\nthere", "newText": ""}}}); got != "Could not find exact match for edit:\nnot\nthere" {
		t.Errorf("no match: %q", got)
	}
	if got := get(t, filepath.Join(dir, "b.txt")); got != "no newline" {
		t.Errorf("a failed edit wrote %q", got)
	}
	if got := c.bad("edit_file", m{"path": "none", "edits": edits}); got != "ENOENT: no such file or directory, open '"+dir+"/none'" {
		t.Errorf("no file: %q", got)
	}
}

func TestApplyEdits(t *testing.T) {
	python := "def f():\n    return 1\n\ndef g():\n\treturn 2\n"
	for _, test := range []struct{ text, old, new, want string }{
		{"abcabc", "b", "X", "aXcabc"},
		{"abc", "", "X", "Xabc"},
		{"abc", "abc", "", ""},
		{"a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"},
		{python, "return 1 ", "return 3", "def f():\n    return 3\n\ndef g():\n\treturn 2\n"},
		{python, "def g():\n  return 2", "def h():\n  x = 1\n  return x", "def f():\n    return 1\n\ndef h():\nx = 1\n  return x\n"},
		{"  a\n    b\n", "a\n  b", "c\n    d\n  e", "  c\n    d\n  e\n"},
		{"x\n\n\ny", " \n ", "-", "x\n-\ny"},
	} {
		if got, err := applyEdits(test.text, []edit{{test.old, test.new}}); err != nil || got != test.want {
			t.Errorf("%q: %q for %q gives %q, %v; want %q", test.text, test.new, test.old, got, err, test.want)
		}
	}
	grow := make([]edit, 40)
	for i := range grow {
		grow[i] = edit{"", strings.Repeat("x", 2<<20)}
	}
	if _, err := applyEdits("", grow); err == nil || err.Error() != "The edits make the file too large" {
		t.Errorf("growing edits: %v", err)
	}
}

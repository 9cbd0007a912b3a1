package fileserver

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestReading(t *testing.T) {
	dir := sample(t)
	var long strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&long, "line %d\n", i)
	}
	put(t, filepath.Join(dir, "long.txt"), long.String())
	put(t, filepath.Join(dir, "wide.txt"), strings.Repeat("w", 200_000)+"\nend")
	c := serve(t, dir, true)
	for _, test := range []struct {
		arguments m
		want      string
	}{
		{m{"path": "a.txt"}, "one\ntwo\nthree\n"},
		{m{"path": "link"}, "one\ntwo\nthree\n"},
		{m{"path": dir + "/abslink/deep/y.txt"}, "y"},
		{m{"path": "B2"}, ""},
		{m{"path": "ünï.txt"}, "ü\n日本\n"},
		{m{"path": "a.txt", "head": 0}, "one\ntwo\nthree\n"},
		{m{"path": "a.txt", "head": 1}, "one"},
		{m{"path": "a.txt", "head": 2.0}, "one\ntwo"},
		{m{"path": "a.txt", "head": 3}, "one\ntwo\nthree"},
		{m{"path": "a.txt", "head": 1e300}, "one\ntwo\nthree"},
		{m{"path": "a.txt", "tail": 1}, ""},
		{m{"path": "a.txt", "tail": 2}, "three\n"},
		{m{"path": "a.txt", "tail": 9}, "one\ntwo\nthree\n"},
		{m{"path": "b.txt", "tail": 1}, "no newline"},
		{m{"path": "b.txt", "head": 1}, "no newline"},
		{m{"path": "crlf.txt", "head": 2}, "a\r\nb\r"},
		{m{"path": "crlf.txt", "tail": 2}, "c\n"},
		{m{"path": "long.txt", "head": 2, "tail": 0}, "line 0\nline 1"},
		{m{"path": "long.txt", "tail": 2}, "line 19999\n"},
		{m{"path": "wide.txt", "head": 1}, strings.Repeat("w", 200_000)},
		{m{"path": "wide.txt", "tail": 2}, strings.Repeat("w", 200_000) + "\nend"},
	} {
		for _, tool := range []string{"read_text_file", "read_file"} {
			if got := c.good(tool, test.arguments); got != test.want {
				t.Errorf("%s %v: %.80q, want %.80q", tool, test.arguments, got, test.want)
			}
		}
	}
	if got := c.good("read_text_file", m{"path": "long.txt", "tail": 15_001}); strings.Count(got, "\n") != 15_000 || !strings.HasPrefix(got, "line 5000\n") {
		t.Errorf("a long tail has %d lines and begins %.20q", strings.Count(got, "\n"), got)
	}
}

func TestErrorsOfReading(t *testing.T) {
	dir := sample(t)
	c := serve(t, dir, true)
	for _, test := range []struct {
		tool      string
		arguments m
		want      string
	}{
		{"read_text_file", m{"path": "none"}, "ENOENT: no such file or directory, open '" + dir + "/none'"},
		{"read_text_file", m{"path": "none/x"}, "ENOENT: no such file or directory, open '" + dir + "/none/x'"},
		{"read_text_file", m{"path": "dangling"}, "ENOENT: no such file or directory, open '" + dir + "/nowhere'"},
		{"read_text_file", m{"path": "sub"}, "EISDIR: illegal operation on a directory, read"},
		{"read_text_file", m{"path": "a.txt/x"}, "ENOTDIR: not a directory, realpath '" + dir + "/a.txt/x'"},
		{"read_text_file", m{"path": "loop"}, "ELOOP: too many symbolic links encountered, realpath '" + dir + "/loop'"},
		{"read_text_file", m{"path": strings.Repeat("x", 300)}, "ENAMETOOLONG: name too long, realpath '" + dir + "/" + strings.Repeat("x", 300) + "'"},
		{"read_text_file", m{"path": "a.txt", "head": 1, "tail": 1}, "Cannot specify both head and tail parameters simultaneously"},
		{"read_text_file", m{"path": "/x"}, "Access denied - path outside allowed directories: /x not in " + dir},
		{"read_text_file", m{"path": "out/x"}, "Access denied - symlink target outside allowed directories: " + filepath.Dir(dir) + "/x not in " + dir},
		{"read_text_file", m{"path": "absout/x"}, "Access denied - symlink target outside allowed directories: " + filepath.Dir(dir) + "/x not in " + dir},
		{"read_text_file", m{"path": `D:\x`}, `Access denied - Windows-style path received on a POSIX host: D:\x`},
		{"list_directory", m{"path": "none"}, "ENOENT: no such file or directory, scandir '" + dir + "/none'"},
		{"list_directory", m{"path": "a.txt"}, "ENOTDIR: not a directory, scandir '" + dir + "/a.txt'"},
		{"get_file_info", m{"path": "none"}, "ENOENT: no such file or directory, stat '" + dir + "/none'"},
		{"search_files", m{"path": ".", "pattern": strings.Repeat("a", 5000)}, "The pattern is longer than 1024 bytes"},
		{"search_files", m{"path": ".", "pattern": strings.Repeat("{a,b}", 8) + strings.Repeat("?", 900)}, "The braces of the pattern stand for more than 16384 bytes"},
		{"search_files", m{"path": ".", "pattern": strings.Repeat("{a,b}", 20)}, "The braces of the pattern stand for more than 256 patterns"},
	} {
		if got := c.bad(test.tool, test.arguments); got != test.want {
			t.Errorf("%s %v: %q, want %q", test.tool, test.arguments, got, test.want)
		}
	}
}

func TestErrorsOfArguments(t *testing.T) {
	c := serve(t, sample(t), false)
	prefix := func(tool string) string {
		return "MCP error -32602: Input validation error: Invalid arguments for tool " + tool + ": "
	}
	for _, test := range []struct {
		tool      string
		arguments any
		want      string
	}{
		{"read_text_file", nil, "Invalid input: expected string, received undefined at path"},
		{"read_text_file", m{}, "Invalid input: expected string, received undefined at path"},
		{"read_text_file", m{"path": nil}, "Invalid input: expected string, received null at path"},
		{"read_text_file", m{"path": 1.5}, "Invalid input: expected string, received number at path"},
		{"read_text_file", m{"path": true}, "Invalid input: expected string, received boolean at path"},
		{"read_text_file", m{"path": m{}}, "Invalid input: expected string, received object at path"},
		{"read_text_file", m{"path": []int{}}, "Invalid input: expected string, received array at path"},
		{"read_text_file", m{"path": "a", "head": "3"}, "Invalid input: expected number, received string at head"},
		{"read_text_file", m{"path": "a", "head": 2.5}, "Invalid input: expected a whole number at head"},
		{"read_text_file", m{"path": "a", "tail": -1}, "Too small: expected number to be >=0 at tail"},
		{"read_text_file", m{"path": "a", "tail": 1e301}, "Invalid input: number out of range at tail"},
		{"write_file", m{"path": "x", "content": 5}, "Invalid input: expected string, received number at content"},
		{"write_file", m{"path": 1}, "Invalid input: expected string, received number at path\nInvalid input: expected string, received undefined at content"},
		{"read_multiple_files", m{"paths": []string{}}, "Too small: expected array to have >=1 items at paths"},
		{"read_multiple_files", m{"paths": "a"}, "Invalid input: expected array, received string at paths"},
		{"read_multiple_files", m{"paths": []any{"a", 1}}, "Invalid input: expected string, received number at paths[1]"},
		{"list_directory_with_sizes", m{"path": ".", "sortBy": "x"}, `Invalid option: expected one of "name"|"size" at sortBy`},
		{"edit_file", m{"path": "a", "edits": 5}, "Invalid input: expected array, received number at edits"},
		{"edit_file", m{"path": "a", "edits": []any{5}}, "Invalid input: expected object, received number at edits[0]"},
		{"edit_file", m{"path": "a", "edits": []any{m{"oldText": 1}}},
			"Invalid input: expected string, received number at edits[0].oldText\nInvalid input: expected string, received undefined at edits[0].newText"},
		{"edit_file", m{"path": "a", "edits": []any{}, "dryRun": "x"}, "Invalid input: expected boolean, received string at dryRun"},
		{"search_files", m{"path": ".", "pattern": "*", "excludePatterns": []any{nil}}, "Invalid input: expected string, received null at excludePatterns[0]"},
	} {
		if got, want := c.bad(test.tool, test.arguments), prefix(test.tool)+test.want; got != want {
			t.Errorf("%s %v:\n%q, want\n%q", test.tool, test.arguments, got, want)
		}
	}
	if got := c.bad("list_directory", []int{1}); got != "MCP error -32602: Input validation error: the arguments are no JSON object" {
		t.Errorf("arguments that are no object: %q", got)
	}
}

func TestReadingSeveral(t *testing.T) {
	dir := sample(t)
	c := serve(t, dir, true)
	want := "a.txt:\none\ntwo\nthree\n\n\n---\nnone: Error - ENOENT: no such file or directory, open '" + dir + "/none'\n---\nb.txt:\nno newline\n"
	if got := c.good("read_multiple_files", m{"paths": []string{"a.txt", "none", "b.txt"}}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReadingMedia(t *testing.T) {
	dir := sample(t)
	c := serve(t, dir, true)
	for name, want := range map[string]string{
		"pic.PNG": `"type":"image","data":"` + base64.StdEncoding.EncodeToString([]byte("\x89PNG")) + `","mimeType":"image/png"`,
		"s.mp3":   `"type":"audio","data":"YWJj","mimeType":"audio/mpeg"`,
		"ünï.txt": `"resource":{"uri":"file://` + dir + `/%C3%BCn%C3%AF.txt","mimeType":"application/octet-stream","blob":"w7wK5pel5pysCg=="}`,
	} {
		r := c.request("tools/call", m{"name": "read_media_file", "arguments": m{"path": name}})
		if got := string(r.Result); strings.Count(got, want) != 2 { // as content and as structured content
			t.Errorf("%s gives %s, want twice %s", name, got, want)
		}
	}
	for _, ext := range []string{".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".svg", ".wav", ".ogg", ".flac"} {
		if got := mediaType("x" + ext); !strings.HasPrefix(got, "image/") && !strings.HasPrefix(got, "audio/") {
			t.Errorf("%s is %s", ext, got)
		}
	}
}

func TestListing(t *testing.T) {
	dir := sample(t)
	c := serve(t, dir, true)
	want := "[FILE] 9n\n[FILE] B2\n[FILE] Big.txt\n[FILE] _u\n[FILE] a.txt\n[FILE] abslink\n[FILE] absout\n[FILE] b.txt\n[FILE] code.md\n[FILE] crlf.txt\n" +
		"[FILE] dangling\n[DIR] empty\n[FILE] link\n[FILE] linkdir\n[FILE] loop\n[FILE] newout\n[FILE] out\n[FILE] outf\n[FILE] pic.PNG\n[FILE] s.mp3\n[DIR] sub\n[FILE] twostep\n[FILE] ünï.txt"
	if got := c.good("list_directory", m{"path": "."}); got != "[DIR] .hid\n"+want {
		t.Errorf("list_directory:\n%s", got)
	}
	if got := c.good("list_directory", m{"path": "empty"}); got != "" {
		t.Errorf("empty: %q", got)
	}
	rows := strings.Split(c.good("list_directory_with_sizes", m{"path": "."}), "\n")
	if got := strings.Join(rows[:4], "\n"); got != "[FILE] _u                                    1 B\n"+
		"[DIR] .hid                           \n[FILE] 9n                                1.46 KB\n[FILE] a.txt                                14 B" {
		t.Errorf("by name:\n%s", got)
	}
	if got := rows[len(rows)-2:]; got[0] != "Total: 21 files, 3 directories" || !strings.HasPrefix(got[1], "Combined size: ") {
		t.Errorf("totals: %q", got)
	}
	if got := c.good("list_directory_with_sizes", m{"path": ".", "sortBy": "size"}); strings.Index(got, "Big.txt") > strings.Index(got, "9n") {
		t.Errorf("by size:\n%s", got)
	}
}

func TestSizesAndNames(t *testing.T) {
	for size, want := range map[int64]string{0: "0 B", -1: "0 B", 1: "1 B", 1023: "1023 B", 1024: "1.00 KB", 1536: "1.50 KB", 1 << 20: "1.00 MB", 5 << 30: "5.00 GB", 1 << 40: "1.00 TB", 1 << 50: "1024.00 TB"} {
		if got := formatSize(size); got != want {
			t.Errorf("formatSize(%d) = %q, want %q", size, got, want)
		}
	}
	names := []string{"b", "B", "a", "_x", "-x", "10", "9", ".x", "ä", "ab", "z"}
	slices.SortFunc(names, compareNames)
	if got := strings.Join(names, " "); got != "_x -x .x 10 9 a ab b B z ä" {
		t.Errorf("order %s", got)
	}
}

func TestTree(t *testing.T) {
	c := serve(t, sample(t), true)
	want := "[\n  {\n    \"name\": \"deep\",\n    \"type\": \"directory\",\n    \"children\": [\n      {\n        \"name\": \"y.txt\",\n        \"type\": \"file\"\n      }\n    ]\n  },\n" +
		"  {\n    \"name\": \"relout\",\n    \"type\": \"file\"\n  },\n  {\n    \"name\": \"x.py\",\n    \"type\": \"file\"\n  }\n]"
	if got := c.good("directory_tree", m{"path": "sub"}); got != want {
		t.Errorf("tree:\n%s", got)
	}
	if got := c.good("directory_tree", m{"path": "empty"}); got != "[]" {
		t.Errorf("empty: %s", got)
	}
	for _, test := range []struct{ exclude, gone, there string }{
		{"deep", `"deep"`, `"x.py"`}, {"y.txt", `"y.txt"`, `"deep"`}, {"*.py", `"x.py"`, `"y.txt"`}, {"deep/*", `"y.txt"`, `"deep"`}, {"*.txt", `"none"`, `"y.txt"`},
	} {
		got := c.good("directory_tree", m{"path": "sub", "excludePatterns": []string{test.exclude}})
		if strings.Contains(got, test.gone) || !strings.Contains(got, test.there) {
			t.Errorf("without %s:\n%s", test.exclude, got)
		}
	}
}

func TestSearch(t *testing.T) {
	dir := sample(t)
	c := serve(t, dir, true)
	for _, test := range []struct {
		path, pattern string
		exclude       []string
		want          string
	}{
		{".", "*.txt", nil, "Big.txt a.txt b.txt crlf.txt ünï.txt"},
		{".", "**/*.txt", nil, ".hid/z.txt Big.txt a.txt b.txt crlf.txt sub/deep/y.txt ünï.txt"},
		{".", "**/*.txt", []string{"sub/**", "?.txt"}, ".hid/z.txt Big.txt crlf.txt ünï.txt"},
		{"sub", "*", nil, "sub/deep sub/x.py"},
		{"linkdir", "**", nil, "sub/deep sub/deep/y.txt sub/x.py"},
		{dir + "/sub", "deep", nil, "sub/deep"},
		{".", "{a,b}.txt", nil, "a.txt b.txt"},
		{".", "link*", nil, "link linkdir"},
		{".", "*out*", nil, ""},
		{"empty", "**", nil, ""},
	} {
		want := "No matches found"
		if test.want != "" {
			want = dir + "/" + strings.ReplaceAll(test.want, " ", "\n"+dir+"/")
		}
		arguments := m{"path": test.path, "pattern": test.pattern}
		if test.exclude != nil {
			arguments["excludePatterns"] = test.exclude
		}
		if got := c.good("search_files", arguments); got != want {
			t.Errorf("%v:\n%s\nwant\n%s", arguments, got, want)
		}
	}
}

func TestInfo(t *testing.T) {
	dir := sample(t)
	if err := os.Chmod(filepath.Join(dir, "a.txt"), 0o640); err != nil {
		t.Fatal(err)
	}
	when := time.Date(2024, 2, 29, 12, 30, 1, 0, time.Local)
	if err := os.Chtimes(filepath.Join(dir, "a.txt"), when, when); err != nil {
		t.Fatal(err)
	}
	c := serve(t, dir, true)
	got := c.good("get_file_info", m{"path": "link"})
	shape := regexp.MustCompile(`^size: 14\ncreated: \w{3} \w{3} \d\d \d{4} \d\d:\d\d:\d\d GMT[+-]\d{4} \(.+\)\nmodified: Thu Feb 29 2024 12:30:01 GMT[+-]\d{4} \(.+\)\n` +
		`accessed: Thu Feb 29 2024 12:30:01 GMT.*\nisDirectory: false\nisFile: true\npermissions: 640$`)
	if !shape.MatchString(got) {
		t.Errorf("info:\n%s", got)
	}
	if got := c.good("get_file_info", m{"path": "sub"}); !strings.Contains(got, "isDirectory: true\nisFile: false\npermissions: 755") {
		t.Errorf("info of a folder:\n%s", got)
	}
	if got := date(time.Unix(0, 0).UTC()); got != "Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)" {
		t.Errorf("date: %s", got)
	}
}

func TestLimits(t *testing.T) {
	dir := sample(t)
	huge := filepath.Join(dir, "huge")
	put(t, huge, "first\n")
	if err := os.Truncate(huge, maxRead+1); err != nil { // sparse
		t.Fatal(err)
	}
	c := serve(t, dir, false)
	tooLarge := "File too large: " + huge + " has 67108865 bytes, more than the limit of "
	for tool, arguments := range map[string]m{
		"read_text_file": {"path": "huge"}, "read_media_file": {"path": "huge"}, "edit_file": {"path": "huge", "edits": []any{}},
	} {
		if got := c.bad(tool, arguments); !strings.HasPrefix(got, tooLarge) {
			t.Errorf("%s: %.200q", tool, got)
		}
	}
	for _, arguments := range []m{{"path": "huge", "head": 2}, {"path": "huge", "tail": 1}} {
		if got := c.bad("read_text_file", arguments); !strings.HasPrefix(got, tooLarge) {
			t.Errorf("%v: %.200q", arguments, got)
		}
	}
	if got := c.good("read_text_file", m{"path": "huge", "head": 1}); got != "first" {
		t.Errorf("head of a huge file: %.200q", got)
	}
	if got := c.good("read_multiple_files", m{"paths": []string{"huge", "b.txt"}}); !strings.HasPrefix(got, "huge: Error - "+tooLarge) || !strings.HasSuffix(got, "\n---\nb.txt:\nno newline\n") {
		t.Errorf("several: %.200q", got)
	}
}

func TestBigFolders(t *testing.T) {
	dir := sample(t)
	for i := range maxEntries + 1 {
		name := fmt.Sprintf("%s/many/%05d", dir, i)
		if i == 0 {
			put(t, name, "")
		} else if err := os.Link(dir+"/many/00000", name); err != nil { // cheaper than a file
			put(t, name, "")
		}
	}
	deep := dir + "/deep" + strings.Repeat("/d", maxDepth+3)
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	c := serve(t, dir, true)
	for _, tool := range []string{"list_directory", "list_directory_with_sizes"} {
		if got := c.good(tool, m{"path": "many"}); strings.Count(got, "[FILE]") != maxEntries || !strings.Contains(got, "\n... more than 20000 entries, the rest is not shown") {
			t.Errorf("%s: %d entries, ends %q", tool, strings.Count(got, "[FILE]"), got[len(got)-100:])
		}
	}
	for _, p := range []string{"many", "deep", "."} {
		if got := c.bad("directory_tree", m{"path": p}); !strings.HasPrefix(got, "The tree is too big at "+dir) {
			t.Errorf("tree of %s: %.200q", p, got)
		}
	}
	got := c.good("search_files", m{"path": ".", "pattern": "many/*"})
	if strings.Count(got, "\n") != maxMatches || !strings.HasSuffix(got, "\n... more than 10000 matches, the rest is not shown") {
		t.Errorf("search: %d lines", strings.Count(got, "\n"))
	}
	if got := c.good("search_files", m{"path": ".", "pattern": "many/19999"}); got != dir+"/many/19999" {
		t.Errorf("search for one: %.200q", got)
	}
	f, err := openFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	s := &searcher{folder: f, match: func(string) bool { return false }, exclude: func(string) bool { return false }, left: 30}
	found, _, err := f.entries(context.Background(), ".", maxEntries)
	if err == nil {
		err = s.each(context.Background(), ".", "", found, 0)
	}
	if err != nil || s.cut == "" {
		t.Errorf("a search over its bound: cut %q, error %v", s.cut, err)
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := search(canceled, f, args{"path": ".", "pattern": "**"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled search: %v", err)
	}
	if _, err := tree(canceled, f, args{"path": "."}); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled tree: %v", err)
	}
}

package fileserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

const (
	maxEntries = 20_000 // entries of a folder that a listing shows, and nodes of a tree
	maxDepth   = 100    // folders within each other that a tree or a search enters
)

// entries reads a folder in the order of its names' bytes. When it has more than limit entries, limit of them are
// given and more is true.
func (f *folder) entries(ctx context.Context, name string, limit int) (found []fs.DirEntry, more bool, err error) {
	dir, err := f.root.Open(name)
	if err != nil {
		return nil, false, f.failed("scandir", name, err)
	}
	defer func() { _ = dir.Close() }()
	for err == nil && len(found) <= limit {
		if err = ctx.Err(); err != nil {
			return nil, false, err
		}
		var part []fs.DirEntry
		part, err = dir.ReadDir(1000)
		found = append(found, part...)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, f.failed("scandir", name, err)
	}
	if len(found) > limit {
		found, more = found[:limit], true
	}
	slices.SortFunc(found, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return found, more, nil
}

// tooMany is the last line of a listing that was cut.
func tooMany(limit int) string {
	return fmt.Sprintf("... more than %d entries, the rest is not shown", limit)
}

func mark(dir bool) string {
	if dir {
		return "[DIR]"
	}
	return "[FILE]"
}

func list(ctx context.Context, f *folder, a args) (string, error) {
	name, err := f.resolve(a.text("path"))
	if err != nil {
		return "", err
	}
	found, more, err := f.entries(ctx, name, maxEntries)
	if err != nil {
		return "", err
	}
	lines := make([]string, 0, len(found)+1)
	for _, entry := range found {
		lines = append(lines, mark(entry.IsDir())+" "+entry.Name())
	}
	if more {
		lines = append(lines, tooMany(maxEntries))
	}
	return strings.Join(lines, "\n"), nil
}

// sized is an entry of a listing with sizes.
type sized struct {
	name string
	dir  bool
	size int64
}

func listSizes(ctx context.Context, f *folder, a args) (string, error) {
	name, err := f.resolve(a.text("path"))
	if err != nil {
		return "", err
	}
	found, more, err := f.entries(ctx, name, maxEntries)
	if err != nil {
		return "", err
	}
	entries, total, dirs := make([]sized, len(found)), int64(0), 0
	for i, entry := range found {
		entries[i] = sized{entry.Name(), entry.IsDir(), f.size(path.Join(name, entry.Name()))}
		if entry.IsDir() {
			dirs++
		} else {
			total += entries[i].size
		}
	}
	sortSized(entries, a.text("sortBy") == "size")
	lines := make([]string, 0, len(found)+4)
	for _, e := range entries {
		size := ""
		if !e.dir {
			size = fmt.Sprintf("%10s", formatSize(e.size))
		}
		lines = append(lines, mark(e.dir)+" "+padded(e.name, 30)+" "+size)
	}
	if more {
		lines = append(lines, tooMany(maxEntries))
	}
	lines = append(lines, "",
		fmt.Sprintf("Total: %d files, %d directories", len(entries)-dirs, dirs),
		"Combined size: "+formatSize(total))
	return strings.Join(lines, "\n"), nil
}

// size gives the bytes of what a name stands for, following links within the folder; 0 where that leads nowhere.
func (f *folder) size(name string) int64 {
	target, err := f.follow(name)
	if err != nil {
		return 0
	}
	stat, err := f.root.Stat(target)
	if err != nil {
		return 0
	}
	return stat.Size()
}

func sortSized(entries []sized, bySize bool) {
	slices.SortStableFunc(entries, func(a, b sized) int {
		if bySize {
			return cmp.Compare(b.size, a.size)
		}
		return compareNames(a.name, b.name)
	})
}

// dictionary is the order in which Unicode collation puts the printable ASCII characters that are no letters or digits.
const dictionary = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"

// compareNames orders names as people expect: marks, digits, letters; capitals count only between equal words.
func compareNames(a, b string) int {
	if c := slices.CompareFunc([]rune(strings.ToLower(a)), []rune(strings.ToLower(b)), func(x, y rune) int {
		return cmp.Compare(rank(x), rank(y))
	}); c != 0 {
		return c
	}
	return cmp.Compare(b, a)
}

func rank(r rune) int {
	if i := strings.IndexRune(dictionary, r); i >= 0 {
		return i
	}
	return len(dictionary) + int(r)
}

// padded fills a name up with spaces to a width counted in UTF-16 units, as the npm server does.
func padded(name string, width int) string {
	return name + strings.Repeat(" ", max(0, width-len(utf16.Encode([]rune(name)))))
}

// formatSize writes a number of bytes with the unit that leaves it above 1.
func formatSize(bytes int64) string {
	units := []string{"B", "KB", "MB", "GB", "TB"}
	size, unit := float64(bytes), 0
	for size >= 1024 && unit < len(units)-1 {
		size, unit = size/1024, unit+1
	}
	if unit == 0 {
		return strconv.FormatInt(max(0, bytes), 10) + " B"
	}
	return strconv.FormatFloat(size, 'f', 2, 64) + " " + units[unit]
}

// node is an entry of a directory tree; Children is nil for a file.
type node struct {
	Name     string  `json:"name"`
	Type     string  `json:"type"`
	Children *[]node `json:"children,omitempty"`
}

func tree(ctx context.Context, f *folder, a args) (string, error) {
	name, err := f.resolve(a.text("path"))
	if err != nil {
		return "", err
	}
	exclude, err := excluded(a.strings("excludePatterns"))
	if err != nil {
		return "", err
	}
	b := &treeBuilder{folder: f, exclude: exclude, left: maxEntries}
	nodes, err := b.below(ctx, name, "", 0)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(nodes); err != nil {
		return "", err
	}
	return strings.TrimSuffix(text.String(), "\n"), nil
}

type treeBuilder struct {
	*folder
	exclude func(string) bool
	left    int // nodes that may still be added
}

// below lists a folder; rel is its path relative to where the tree begins. A symbolic link counts as a file.
func (b *treeBuilder) below(ctx context.Context, name, rel string, depth int) ([]node, error) {
	found, more, err := b.entries(ctx, name, maxEntries)
	if err != nil {
		return nil, err
	}
	if more || depth > maxDepth {
		return nil, b.tooBig(name)
	}
	nodes := []node{}
	for _, entry := range found {
		at := path.Join(rel, entry.Name())
		if b.exclude(at) {
			continue
		}
		if b.left--; b.left < 0 {
			return nil, b.tooBig(name)
		}
		n := node{Name: entry.Name(), Type: "file"}
		if entry.IsDir() {
			children, err := b.below(ctx, path.Join(name, entry.Name()), at, depth+1)
			if err != nil {
				return nil, err
			}
			n.Type, n.Children = "directory", &children
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

func (b *treeBuilder) tooBig(name string) error {
	return fmt.Errorf("The tree is too big at %s (limits: %d entries, %d folders deep); "+
		"ask for a folder further down or leave some out with excludePatterns", b.abs(name), maxEntries, maxDepth)
}

// excluded makes the test of directory_tree: a pattern without "*" also matches any one element of the path.
func excluded(patterns []string) (func(string) bool, error) {
	var all []string
	for _, p := range patterns {
		all = append(all, p)
		if !strings.Contains(p, "*") {
			all = append(all, "**/"+p, "**/"+p+"/**")
		}
	}
	return anyGlob(all)
}

package std

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/sense-lang/sense/eval"
)

// folders are the opened roots of std.fs.
type folders struct {
	mu     sync.Mutex
	list   []*folder
	kept   []string // see Options.FSKept
	work   string   // where relative paths start
	opened bool
	err    error
}

// folder is one root. Everything below it is reached through root, which lets
// no name and no symbolic link lead out.
type folder struct {
	abs, real string // real has no symbolic link in it
	root      *os.Root
	kept      []string
}

// open opens the roots, once.
func (f *folders) open(paths []string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.opened {
		return f.err
	}
	f.opened = true
	if f.work, f.err = os.Getwd(); f.err != nil {
		return f.err
	}
	for _, p := range paths {
		abs, err := filepath.Abs(p)
		if err == nil {
			err = f.add(abs)
		}
		if err != nil {
			f.err = fail("the folder %s cannot be used: %v", eval.Quote(p), bare(err))
			return f.err
		}
	}
	if len(f.list) == 0 {
		f.err = fail("there is no folder that may be used")
	}
	return f.err
}

func (f *folders) add(abs string) error {
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return err
	}
	f.list = append(f.list, &folder{abs: abs, real: real, root: root, kept: f.kept})
	return nil
}

func (f *folders) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.list {
		_ = r.root.Close()
	}
	f.list, f.opened, f.err = nil, true, fail("the program has ended")
}

// place is a path within a root.
type place struct {
	*folder
	rel   string // "." is the root itself
	given string // as the program wrote it
}

// errOutside says that a path is in no root.
var errOutside = errors.New("outside")

// find gives the place of a path.
func (f *folders) find(path string) (place, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	abs := filepath.FromSlash(path)
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(f.work, abs)
	}
	for _, r := range f.list {
		for _, base := range []string{r.abs, r.real} {
			if rel, err := filepath.Rel(base, abs); err == nil && filepath.IsLocal(rel) {
				return place{r, rel, path}, nil
			}
		}
	}
	return place{}, errOutside
}

// realPaths gives absolute paths without symbolic links, where they lead
// somewhere.
func realPaths(paths []string) (out []string) {
	for _, p := range paths {
		if abs, err := filepath.Abs(p); err == nil {
			if real, err := filepath.EvalSymlinks(abs); err == nil {
				abs = real
			}
			out = append(out, abs)
		}
	}
	return out
}

// free refuses a file that must stay as it is, by whatever name, and a folder
// above one.
func (p place) free() error {
	if len(p.kept) == 0 {
		return nil
	}
	st, err := p.root.Lstat(p.rel)
	if err != nil {
		return nil //nolint:nilerr // what is not there is none of them
	}
	return p.freeOf(st)
}

// freeOf is free for what is known of a file.
func (p place) freeOf(st fs.FileInfo) error {
	for _, path := range p.kept {
		for {
			if k, err := os.Stat(path); err == nil && os.SameFile(k, st) {
				return errKept
			}
			up := filepath.Dir(path)
			if up == path || !st.IsDir() {
				break
			}
			path = up
		}
	}
	return nil
}

// names lists the roots for messages.
func (f *folders) names() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for _, r := range f.list {
		out = append(out, r.abs)
	}
	return strings.Join(out, ", ")
}

// place reads a path argument and finds its place.
func (l *Library) place(a *args, i int) (place, error) {
	path, err := a.text(i)
	if err != nil {
		return place{}, err
	}
	return l.placeOf(a, path)
}

func (l *Library) placeOf(a *args, path string) (place, error) {
	switch {
	case path == "":
		return place{}, a.fail("the path is empty")
	case strings.ContainsRune(path, 0):
		return place{}, a.fail("the path %s holds a zero byte", eval.Quote(path))
	}
	if err := l.roots.open(l.o.FSRoots); err != nil {
		return place{}, a.fail("%v", err)
	}
	p, err := l.roots.find(path)
	if err != nil {
		return place{}, l.fsFault(a, path, err)
	}
	return p, nil
}

var (
	errFolder  = errors.New("it is a folder")
	errSpecial = errors.New("it is no regular file")
	errLarge   = errors.New("it is too large")
	errNotText = errors.New("it is not UTF-8 text")
	errKept    = errors.New("the audit of this run is there")
	errRoot    = errors.New("it is a folder that std.fs works in")
)

// fsFault words what went wrong with a path.
func (l *Library) fsFault(a *args, path string, err error) error {
	shown := eval.Quote(path)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errOutside):
		return a.fail("%s is outside the folders that may be used (%s)", shown, l.roots.names())
	case escapes(err):
		return a.fail("%s leads out of the folders that may be used (%s)", shown, l.roots.names())
	case errors.Is(err, fs.ErrNotExist):
		return a.fail("no such file or folder: %s", shown)
	case errors.Is(err, fs.ErrExist) && !errors.Is(err, syscall.ENOTEMPTY):
		return a.fail("%s is there already", shown)
	case errors.Is(err, fs.ErrPermission):
		return a.fail("permission denied: %s", shown)
	case errors.Is(err, errFolder), errors.Is(err, syscall.EISDIR):
		return a.fail("%s is a folder", shown)
	case errors.Is(err, syscall.ENOTDIR):
		return a.fail("%s is not a folder, or not in one", shown)
	case errors.Is(err, syscall.ELOOP):
		return a.fail("%s goes through too many symbolic links", shown)
	case errors.Is(err, syscall.ENOTEMPTY):
		return a.fail("the folder %s is not empty (recursive: true removes it with all in it)", shown)
	}
	return a.fail("%s: %v", shown, bare(err))
}

// escapes recognises the error of os.Root for a name that leads out of it,
// which has no value of its own.
func escapes(err error) bool {
	return err != nil && strings.Contains(bare(err).Error(), "path escapes from parent")
}

// bare takes the operation and the path off an error of the system.
func bare(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}

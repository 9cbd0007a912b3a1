package std

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/sense-lang/sense/eval"
)

func fsMembers(l *Library) []member {
	return []member{
		{"read(path)", "the text of a file", l.fsRead},
		{"lines(path)", "the lines of a file, without their ends", l.fsLines},
		{"write(path, text)", "makes a String, or the lines of an Array, the content of a file, at once or not at all", l.fsWrite},
		{"append(path, text)", "adds a String, or the lines of an Array, at the end of a file", l.fsAppend},
		{"list(path?)", "the names in a folder, sorted", l.fsList},
		{"glob(pattern)", "the paths that a pattern of *, ?, [a-z] and ** covers, sorted", l.fsGlob},
		{"exists(path)", "whether there is such a file or folder", l.fsExists},
		{"stat(path)", "a Map of name, kind (file, folder, link or other), size in bytes and modified in seconds since 1970", l.fsStat},
		{"mkdir(path)", "makes a folder, and those above it; one that is there already is no error", l.fsMkdir},
		{"remove(path, recursive?)", "removes a file or an empty folder; with recursive: true a folder with all in it", l.fsRemove},
		{"copy(source, target)", "copies a file", l.fsCopy},
		{"move(source, target)", "moves or renames a file or folder", l.fsMove},
	}
}

const (
	maxFile    = 64 << 20 // bytes of a file that is read
	maxEntries = 100_000  // of a folder that is listed, or that a glob looks at
)

// fsDo does something with files while other threads run, and notes it.
func (l *Library) fsDo(a *args, path string, f func(ctx context.Context) error) error {
	var err error
	a.Thread.Blocking(func(ctx context.Context) { err = f(ctx) })
	err = a.note(path, l.fsFault(a, path, err))
	if stop := a.stopped(); stop != nil {
		return stop
	}
	return err
}

// toRead gives the place of the first argument, which is going to be read.
func (l *Library) toRead(a *args) (place, error) { return l.allowed(a, 0, capRead) }

// toWrite gives the place of the first argument, which is going to be written.
func (l *Library) toWrite(a *args) (place, error) { return l.allowed(a, 0, capWrite) }

func (l *Library) allowed(a *args, i int, capability string) (place, error) {
	if _, err := a.text(i); err != nil {
		return place{}, err
	}
	if err := a.require(capability); err != nil {
		return place{}, err
	}
	return l.place(a, i)
}

// regular opens a regular file. One that is none is never waited for.
func (p place) regular(flag int) (*os.File, fs.FileInfo, error) {
	f, err := p.root.OpenFile(p.rel, flag|noWait, 0o666)
	if err != nil {
		return nil, nil, err
	}
	st, err := f.Stat()
	switch {
	case err != nil:
	case st.IsDir():
		err = errFolder
	case !st.Mode().IsRegular():
		err = errSpecial
	default:
		return f, st, nil
	}
	_ = f.Close() // it was only looked at
	return nil, nil, err
}

// content reads a whole file.
func (p place) content() (string, error) {
	f, st, err := p.regular(os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer f.Close()
	tooLarge := fmt.Errorf("%w (over %d MiB)", errLarge, maxFile>>20)
	if st.Size() > maxFile {
		return "", tooLarge
	}
	var b strings.Builder
	b.Grow(int(st.Size()) + 1)
	n, err := io.Copy(&b, io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return "", err
	case n > maxFile:
		return "", tooLarge
	case !utf8.ValidString(b.String()):
		return "", errNotText
	}
	return b.String(), nil
}

func (l *Library) readText(a *args) (s string, err error) {
	p, err := l.toRead(a)
	if err != nil {
		return "", err
	}
	err = l.fsDo(a, p.given, func(context.Context) error {
		var err error
		s, err = p.content()
		return err
	})
	return s, err
}

func (l *Library) fsRead(a *args) (eval.Value, error) {
	s, err := l.readText(a)
	return eval.String(s), err
}

func (l *Library) fsLines(a *args) (eval.Value, error) {
	s, err := l.readText(a)
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	if s == "" {
		return eval.Strings(nil), err
	}
	return eval.Strings(strings.Split(strings.TrimSuffix(s, "\n"), "\n")), err
}

// names lists a folder, sorted.
func (p place) names() ([]string, error) {
	f, err := p.root.OpenFile(p.rel, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.IsDir() {
		return nil, cmpErr(err, syscall.ENOTDIR)
	}
	names, err := f.Readdirnames(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(names) > maxEntries {
		return nil, fmt.Errorf("the folder has over %d entries", maxEntries)
	}
	slices.Sort(names)
	return names, nil
}

// cmpErr gives the first error that there is.
func cmpErr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

func (l *Library) fsList(a *args) (eval.Value, error) {
	if !a.has(0) {
		a.vals = []eval.Value{eval.String(".")}
	}
	p, err := l.toRead(a)
	if err != nil {
		return eval.Value{}, err
	}
	var names []string
	err = l.fsDo(a, p.given, func(context.Context) error {
		var err error
		names, err = p.names()
		return err
	})
	return texts(names), err
}

// texts makes an Array of names, which need not be text.
func texts(names []string) eval.Value {
	for i, n := range names {
		names[i] = strings.ToValidUTF8(n, "\uFFFD")
	}
	return eval.Strings(names)
}

func (l *Library) fsExists(a *args) (eval.Value, error) {
	p, err := l.toRead(a)
	if err != nil {
		return eval.Value{}, err
	}
	there := false
	err = l.fsDo(a, p.given, func(context.Context) error {
		_, err := p.root.Stat(p.rel)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return nil
		}
		there = err == nil
		return err
	})
	return eval.Bool(there), err
}

func (l *Library) fsStat(a *args) (eval.Value, error) {
	p, err := l.toRead(a)
	if err != nil {
		return eval.Value{}, err
	}
	var st fs.FileInfo
	err = l.fsDo(a, p.given, func(context.Context) error {
		var err error
		if st, err = p.root.Lstat(p.rel); err == nil && st.Mode()&fs.ModeSymlink != 0 {
			if behind, err := p.root.Stat(p.rel); err == nil {
				st = behind
			}
		}
		return err
	})
	if err != nil {
		return eval.Value{}, err
	}
	return newMap(
		"name", eval.String(strings.ToValidUTF8(st.Name(), "\uFFFD")), "kind", eval.String(kindOf(st.Mode())),
		"size", eval.Int(st.Size()), "modified", eval.Float(seconds(st.ModTime())),
	), nil
}

func kindOf(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "file"
	case m.IsDir():
		return "folder"
	case m&fs.ModeSymlink != 0:
		return "link"
	}
	return "other"
}

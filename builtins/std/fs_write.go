package std

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/sense-lang/sense/eval"
)

// content reads the second argument: a String, or the lines of an Array.
func (a *args) content() (string, error) {
	if _, ok := a.vals[1].AsArray(); !ok {
		if s, ok := a.vals[1].AsString(); ok {
			return s, nil
		}
		return "", a.wrong(1, "a String or an Array of Strings")
	}
	lines, err := a.strings(1)
	if err != nil || len(lines) == 0 {
		return "", err
	}
	return strings.Join(lines, "\n") + "\n", nil
}

func (l *Library) fsWrite(a *args) (eval.Value, error) {
	text, err := a.content()
	if err != nil {
		return eval.Value{}, err
	}
	p, err := l.toWrite(a)
	if err != nil {
		return eval.Value{}, err
	}
	return eval.Nil(), l.fsDo(a, p.given, func(ctx context.Context) error {
		return p.replace(0o666, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
	})
}

// behind follows symbolic links to the name that a file's new content must get,
// as the links themselves stay.
func (p place) behind() (place, error) {
	for range 40 {
		st, err := p.root.Lstat(p.rel)
		if errors.Is(err, fs.ErrNotExist) || err == nil && st.Mode()&fs.ModeSymlink == 0 {
			return p, nil
		}
		if err != nil {
			return p, err
		}
		to, err := p.root.Readlink(p.rel)
		if err != nil {
			return p, err
		}
		if p.rel = filepath.Join(filepath.Dir(p.rel), to); filepath.IsAbs(to) || !filepath.IsLocal(p.rel) {
			return p, errOutside
		}
	}
	return p, syscall.ELOOP
}

// replace gives a file new content, which fill writes: into a file beside it
// that then takes its place. A file that is replaced keeps its permissions, a
// new one gets perm, less what the user's mask takes away.
func (p place) replace(perm fs.FileMode, fill func(w io.Writer) error) (err error) {
	if p, err = p.behind(); err != nil {
		return err
	}
	if err := p.free(); err != nil {
		return err
	}
	old, err := p.root.Lstat(p.rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case old.IsDir():
		return errFolder
	case !old.Mode().IsRegular():
		return errSpecial
	}
	if old != nil {
		perm = 0o600 // until it has the right ones
	}
	temp := filepath.Join(filepath.Dir(p.rel), ".sense-"+rand.Text())
	f, err := p.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = p.root.Remove(temp) // the first error counts
		}
	}()
	if err = fillFile(f, old, fill); err != nil {
		return err
	}
	return p.root.Rename(temp, p.rel)
}

// fillFile writes a file, gives it the permissions of the old one, brings it to
// the disk and closes it.
func fillFile(f *os.File, old fs.FileInfo, fill func(w io.Writer) error) error {
	err := fill(f)
	if err == nil && old != nil {
		err = f.Chmod(old.Mode().Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

func (l *Library) fsAppend(a *args) (eval.Value, error) {
	text, err := a.content()
	if err != nil {
		return eval.Value{}, err
	}
	p, err := l.toWrite(a)
	if err != nil {
		return eval.Value{}, err
	}
	return eval.Nil(), l.fsDo(a, p.given, func(context.Context) error {
		f, st, err := p.regular(os.O_WRONLY | os.O_APPEND | os.O_CREATE)
		if err != nil {
			return err
		}
		if err = p.freeOf(st); err == nil {
			_, err = io.WriteString(f, text)
		}
		if e := f.Close(); err == nil {
			err = e
		}
		return err
	})
}

func (l *Library) fsMkdir(a *args) (eval.Value, error) {
	p, err := l.toWrite(a)
	if err != nil {
		return eval.Value{}, err
	}
	return eval.Nil(), l.fsDo(a, p.given, func(context.Context) error {
		return p.root.MkdirAll(p.rel, 0o777)
	})
}

func (l *Library) fsRemove(a *args) (eval.Value, error) {
	all, err := a.bool(1)
	if err != nil {
		return eval.Value{}, err
	}
	p, err := l.toWrite(a)
	if err != nil {
		return eval.Value{}, err
	}
	return eval.Nil(), l.fsDo(a, p.given, func(context.Context) error {
		if p.rel == "." {
			return errRoot
		}
		if _, err := p.root.Lstat(p.rel); err != nil {
			return err
		}
		if err := p.free(); err != nil {
			return err
		}
		if all {
			return p.root.RemoveAll(p.rel)
		}
		return p.root.Remove(p.rel)
	})
}

// pair gives the places of a source and a target. Policy must let both be read
// and written.
func (l *Library) pair(a *args) (from, to place, err error) {
	if from, err = l.allowed(a, 0, capRead); err == nil {
		to, err = l.allowed(a, 1, capWrite)
	}
	return from, to, err
}

// copyTo copies a regular file.
func (p place) copyTo(ctx context.Context, to place) error {
	f, st, err := p.regular(os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	err = to.replace(st.Mode().Perm(), func(w io.Writer) error {
		_, err := io.Copy(w, untilDone{ctx, f})
		return err
	})
	return onTarget(err)
}

// untilDone reads until its context ends.
type untilDone struct {
	ctx context.Context
	r   io.Reader
}

func (u untilDone) Read(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(b)
}

func (l *Library) fsCopy(a *args) (eval.Value, error) {
	from, to, err := l.pair(a)
	if err != nil {
		return eval.Value{}, err
	}
	return eval.Nil(), l.transfer(a, from, to, func(ctx context.Context) error { return from.copyTo(ctx, to) })
}

func (l *Library) fsMove(a *args) (eval.Value, error) {
	from, to, err := l.pair(a)
	if err != nil {
		return eval.Value{}, err
	}
	return eval.Nil(), l.transfer(a, from, to, func(ctx context.Context) error { return from.moveTo(ctx, to) })
}

// transfer is fsDo for something with two places. An error names the one that
// it is about.
func (l *Library) transfer(a *args, from, to place, f func(ctx context.Context) error) error {
	var err error
	a.Thread.Blocking(func(ctx context.Context) { err = f(ctx) })
	path := from.given
	var about *aboutTarget
	if errors.As(err, &about) {
		path = to.given
	}
	fault := l.fsFault(a, path, err)
	fault = a.note(eval.Quote(from.given)+" to "+eval.Quote(to.given), fault)
	if stop := a.stopped(); stop != nil {
		return stop
	}
	return fault
}

// aboutTarget marks an error that is about the target.
type aboutTarget struct{ err error }

func onTarget(err error) error {
	if err == nil {
		return nil
	}
	return &aboutTarget{err}
}

func (e *aboutTarget) Error() string { return e.err.Error() }
func (e *aboutTarget) Unwrap() error { return e.err }

// moveTo moves a file or folder; between two roots only files.
func (p place) moveTo(ctx context.Context, to place) error {
	if p.rel == "." {
		return errRoot
	}
	if _, err := p.root.Lstat(p.rel); err != nil {
		return err
	}
	if err := p.free(); err != nil {
		return err
	}
	if err := to.free(); err != nil {
		return onTarget(err)
	}
	if st, err := to.root.Lstat(to.rel); err == nil && st.IsDir() {
		return onTarget(errFolder)
	}
	if p.folder == to.folder {
		return onTarget(p.root.Rename(p.rel, to.rel))
	}
	if err := p.copyTo(ctx, to); err != nil {
		return err
	}
	return p.root.Remove(p.rel)
}

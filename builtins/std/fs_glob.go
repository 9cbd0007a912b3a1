package std

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/sense-lang/sense/eval"
)

func (l *Library) fsGlob(a *args) (eval.Value, error) {
	pattern, err := a.text(0)
	if err != nil {
		return eval.Value{}, err
	}
	if err := a.require(capRead); err != nil {
		return eval.Value{}, err
	}
	base, segs, err := splitPattern(pattern)
	if err != nil {
		return eval.Value{}, a.fail("%s %v", eval.Quote(pattern), err)
	}
	from := base
	if from == "" {
		from = "."
	}
	p, err := l.placeOf(a, from)
	if err != nil {
		return eval.Value{}, err
	}
	g := &globber{root: p.folder, base: base}
	err = l.fsDo(a, pattern, func(ctx context.Context) error {
		g.ctx = ctx
		return g.walk(p.rel, "", segs)
	})
	slices.Sort(g.found)
	return texts(slices.Compact(g.found)), err
}

// splitPattern parts the folders a pattern begins with from its segments, the
// first of which has a wildcard unless none has.
func splitPattern(pattern string) (base string, segs []string, err error) {
	segs = strings.Split(filepath.ToSlash(pattern), "/")
	wild := slices.IndexFunc(segs, func(s string) bool { return strings.ContainsAny(s, "*?[\\") })
	if wild < 0 {
		wild = len(segs) - 1
	}
	base = strings.Join(segs[:wild], "/")
	if wild > 0 && base == "" {
		base = "/"
	}
	segs = slices.DeleteFunc(slices.Clone(segs[wild:]), func(s string) bool { return s == "" })
	segs = slices.CompactFunc(segs, func(a, b string) bool { return a == "**" && b == "**" })
	for _, s := range segs {
		if _, err := path.Match(s, ""); err != nil {
			return "", nil, errors.New("is no pattern: a '[' is not closed, or a '\\' ends it")
		}
		if s == ".." && len(segs) > 1 {
			return "", nil, errors.New("has '..' after a wildcard")
		}
	}
	return base, segs, nil
}

// globber looks for the paths that a pattern covers.
type globber struct {
	ctx   context.Context
	root  *folder
	base  string // what the paths begin with, as the program wrote it
	found []string
	seen  int
}

// add notes a path below the base.
func (g *globber) add(rel string) {
	switch {
	case g.base == "":
	case strings.HasSuffix(g.base, "/"):
		rel = g.base + rel
	default:
		rel = g.base + "/" + rel
	}
	g.found = append(g.found, rel)
}

// walk looks in a folder; rel is its path below the base.
func (g *globber) walk(dir, rel string, segs []string) error {
	if len(segs) == 0 {
		return nil
	}
	if !strings.ContainsAny(segs[0], "*?[\\") {
		return g.plain(dir, rel, segs)
	}
	if err := g.ctx.Err(); err != nil {
		return err
	}
	names, err := place{folder: g.root, rel: dir}.names()
	if err != nil {
		return ignorable(err)
	}
	if g.seen += len(names); g.seen > maxEntries {
		return fmt.Errorf("the pattern would look at over %d entries", maxEntries)
	}
	if segs[0] == "**" {
		return g.deep(dir, rel, segs, names)
	}
	for _, n := range names {
		ok, _ := path.Match(segs[0], n) // it was tried before
		if !ok || n[0] == '.' && segs[0][0] != '.' {
			continue
		}
		if err := g.matched(dir, rel, n, segs[1:]); err != nil {
			return err
		}
	}
	return nil
}

// matched goes on below a name that the first segment covers.
func (g *globber) matched(dir, rel, name string, rest []string) error {
	if len(rest) == 0 {
		g.add(path.Join(rel, name))
		return nil
	}
	return g.walk(filepath.Join(dir, name), path.Join(rel, name), rest)
}

// plain goes on along a segment without a wildcard.
func (g *globber) plain(dir, rel string, segs []string) error {
	if _, err := g.root.root.Lstat(filepath.Join(dir, segs[0])); err != nil {
		return ignorable(err)
	}
	return g.matched(dir, rel, segs[0], segs[1:])
}

// deep is "**": any number of folders. Symbolic links are not followed, so
// that there is an end.
func (g *globber) deep(dir, rel string, segs, names []string) error {
	rest := segs[1:]
	if len(rest) == 0 {
		rest = []string{"*"}
	}
	if err := g.walk(dir, rel, rest); err != nil {
		return err
	}
	for _, n := range names {
		if n[0] == '.' {
			continue
		}
		st, err := g.root.root.Lstat(filepath.Join(dir, n))
		if err != nil || !st.IsDir() {
			continue
		}
		if err := g.walk(filepath.Join(dir, n), path.Join(rel, n), segs); err != nil {
			return err
		}
	}
	return nil
}

// ignorable drops the errors of places that simply do not match.
func ignorable(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) || escapes(err) {
		return nil
	}
	return err
}

package fileserver

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

const (
	maxVisited = 1_000_000 // entries that one search looks at
	maxMatches = 10_000    // results that one search gives
)

func search(ctx context.Context, f *folder, a args) (string, error) {
	name, err := f.resolve(a.text("path"))
	if err != nil {
		return "", err
	}
	match, err := glob(a.text("pattern"))
	if err != nil {
		return "", err
	}
	exclude, err := anyGlob(a.strings("excludePatterns"))
	if err != nil {
		return "", err
	}
	s := &searcher{folder: f, match: match, exclude: exclude, left: maxVisited}
	found, _, err := f.entries(ctx, name, maxVisited)
	if err != nil {
		return "", err
	}
	if err := s.each(ctx, name, "", found, 0); err != nil {
		return "", err
	}
	return s.result(), nil
}

// searcher walks a folder and collects the paths that match.
type searcher struct {
	*folder
	match, exclude func(string) bool
	left           int // entries that may still be looked at
	matches        []string
	cut            string // why the search ended early
}

// each looks at the entries of a folder and goes on into those that are folders. Folders that can not be read are
// passed over.
func (s *searcher) each(ctx context.Context, name, rel string, found []fs.DirEntry, depth int) error {
	for _, entry := range found {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.left--; s.left < 0 {
			s.cut = fmt.Sprintf("... search ended after looking at %d entries", maxVisited)
		}
		if s.cut != "" {
			return nil
		}
		full, at := path.Join(name, entry.Name()), path.Join(rel, entry.Name())
		if s.exclude(at) || entry.Type()&fs.ModeSymlink != 0 && !s.inside(full) {
			continue
		}
		if s.match(at) {
			s.add(full)
		}
		if !entry.IsDir() || depth >= maxDepth {
			continue
		}
		below, more, err := s.entries(ctx, full, s.left)
		if err != nil {
			continue
		}
		if more {
			s.left = len(below) - 1 // so that this folder ends the search
		}
		if err := s.each(ctx, full, at, below, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// inside tells whether a link leads to something in the folder.
func (s *searcher) inside(name string) bool {
	target, err := s.follow(name)
	if err != nil {
		return false
	}
	_, err = s.root.Lstat(target)
	return err == nil
}

func (s *searcher) add(name string) {
	if len(s.matches) == maxMatches {
		s.cut = fmt.Sprintf("... more than %d matches, the rest is not shown", maxMatches)
		return
	}
	s.matches = append(s.matches, s.abs(name))
}

func (s *searcher) result() string {
	lines := s.matches
	if s.cut != "" {
		lines = append(lines, s.cut)
	}
	if len(lines) == 0 {
		return "No matches found"
	}
	return strings.Join(lines, "\n")
}

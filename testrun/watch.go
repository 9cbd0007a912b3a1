package testrun

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// watchEvery is how often files are looked at.
const watchEvery = 300 * time.Millisecond

// Watch runs the tests of a path, and again whenever a program there or beside
// it changes, until ctx ends. tick gives the moments to look at the files; nil
// is several times a second.
func Watch(ctx context.Context, path string, o Options, tick <-chan time.Time) error {
	if tick == nil {
		t := time.NewTicker(watchEvery)
		defer t.Stop()
		tick = t.C
	}
	for {
		seen := stamp(path)
		if _, err := Run(path, o); err != nil {
			return err
		}
		if !o.JSON {
			fmt.Fprintf(o.Stdout, "\nwatching %s; Ctrl-C ends\n", path)
		}
		if f, ok := o.Stdout.(interface{ Flush() error }); ok {
			_ = f.Flush() // an error shows at the next write
		}
		for stamp(path) == seen {
			select {
			case <-ctx.Done():
				return nil
			case <-tick:
			}
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

// stamp tells one state of the programs of a path from another: those below a
// folder, or beside a file.
func stamp(path string) string {
	root := path
	if st, err := os.Stat(path); err == nil && !st.IsDir() {
		root = filepath.Dir(path)
	}
	var b strings.Builder
	_ = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil: // gone meanwhile
			return nil
		case d.IsDir() && p != root && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(p, ".sns"):
			return nil
		}
		if st, err := d.Info(); err == nil {
			fmt.Fprintln(&b, p, st.Size(), st.ModTime().UnixNano())
		}
		return nil
	})
	return b.String()
}

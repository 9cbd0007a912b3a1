package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/sense-lang/sense/diag"
	"github.com/sense-lang/sense/format"
	"github.com/sense-lang/sense/internal/regular"
)

// formatter is one run of `sense fmt`.
type formatter struct {
	write, check, diff bool
	many               bool // several files: each is printed under its name
	failed             bool
}

func fmtCommand() *cobra.Command {
	f := &formatter{}
	c := &cobra.Command{
		Use:   "fmt PATH",
		Short: "Format programs in the one canonical form",
		Long: `Print a program, or every .sns file of a folder, in the one canonical form. No
comment and no meaning is lost. PATH may be -, which formats standard input.`,
		Example: `  sense fmt script.sns            print it formatted
  sense fmt --write .             rewrite what would change, and name it
  sense fmt --check .             name what would change; exit status 1 if any
  sense fmt --diff script.sns     show what would change`,
		Args: pathArg,
		RunE: func(c *cobra.Command, args []string) error { return f.path(args[0]) },
	}
	c.Flags().BoolVarP(&f.write, "write", "w", false, "rewrite files that change, and name them")
	c.Flags().BoolVar(&f.check, "check", false, "only name files that would change; exit status 1 if any (wins over --write)")
	c.Flags().BoolVar(&f.diff, "diff", false, "show what would change")
	return c
}

func (f *formatter) path(path string) error {
	if path == "-" {
		b, err := io.ReadAll(os.Stdin)
		if err != nil {
			return f.end(fmt.Errorf("cannot read standard input: %w", err))
		}
		f.write = false
		f.source("<stdin>", b)
		return f.end(nil)
	}
	files, folder, err := senseFiles(path)
	if err != nil {
		return f.end(err)
	}
	if len(files) == 0 {
		fmt.Fprintf(stdout, "no .sns files found under %s\n", path)
	}
	f.many = folder && len(files) > 1
	for _, name := range files {
		b, err := regular.Read(name, maxProgram)
		if err != nil {
			f.fail(name, err)
			continue
		}
		f.source(name, b)
	}
	return f.end(nil)
}

// maxProgram bounds the text of a program, in bytes.
const maxProgram = 64 << 20

// senseFiles lists the programs of a path, in order.
func senseFiles(path string) (files []string, folder bool, err error) {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, diag.New(diag.Runtime, "no such file or directory: %s", path)
	case err != nil:
		return nil, false, err
	case !st.IsDir():
		return []string{path}, false, nil
	}
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(p, ".sns") {
			files = append(files, p)
		}
		return err
	})
	slices.Sort(files)
	return files, true, err
}

func (f *formatter) source(name string, src []byte) {
	out, err := format.Source(name, src)
	if err != nil {
		f.fail(name, err)
		return
	}
	changed := string(out) != string(src)
	switch {
	case f.diff:
		f.failed = f.failed || changed && f.check
		_, _ = stdout.Write(diff.Diff(name, src, name+" (formatted)", out)) // an error shows at the end
	case f.check:
		if changed {
			f.failed = true
			fmt.Fprintln(stdout, name)
		}
	case f.write:
		if changed {
			f.rewrite(name, out)
		}
	default:
		if f.many {
			fmt.Fprintf(stdout, "# ----- %s -----\n", name)
		}
		_, _ = stdout.Write(out) // an error shows at the end
	}
}

// rewrite replaces a file whole: a crash leaves the old one or the new one.
func (f *formatter) rewrite(name string, out []byte) {
	if err := replaceFile(name, out); err != nil {
		f.fail(name, err)
		return
	}
	fmt.Fprintln(stdout, name)
}

func replaceFile(name string, data []byte) error {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	st, err := os.Stat(name)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), ".sense-fmt-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err = tmp.Write(data); err == nil {
		err = tmp.Chmod(st.Mode().Perm())
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	return err
}

func (f *formatter) fail(name string, err error) {
	f.failed = true
	fmt.Fprintf(flushed{os.Stderr}, "%s: SenseError: %v\n", name, err)
}

func (f *formatter) end(err error) error {
	flushErr := stdout.Flush()
	if err != nil {
		errPrinter(nil).Print(os.Stderr, err)
	}
	if err != nil || f.failed || flushErr != nil {
		return exitError(exitFailed)
	}
	return nil
}

package builtins

import (
	"fmt"
	"os"
	"path/filepath"
)

// mayLie says why a persistent memory must not lie at a path. Symbolic links on
// the way to it count as what they lead to; the file itself is never one.
func (d *Deps) mayLie(path string) error {
	if d.MemoryRoots == nil || path == ":memory:" {
		return nil
	}
	roots := d.MemoryRoots
	if dir := d.getenv("SENSE_MEMORY_DIR"); dir != "" {
		roots = append([]string{dir}, roots...)
	}
	real, err := realPath(path)
	if err != nil {
		return err
	}
	for _, root := range roots {
		if dir, err := realPath(root); err == nil {
			if rel, err := filepath.Rel(dir, real); err == nil && filepath.IsLocal(rel) {
				return nil
			}
		}
	}
	return fmt.Errorf("'%s' is outside: under a ceiling or --strict a memory lies in the program's folder, the working folder or those of --fs-root, or SENSE_MEMORY_DIR", path)
}

// realPath gives a path without symbolic links; what does not exist yet stays
// as it is written.
func realPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rest := ""
	for {
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			return filepath.Join(real, rest), nil
		}
		if _, err := os.Lstat(abs); err == nil {
			return "", fmt.Errorf("'%s' leads nowhere", abs) // a link without an end
		}
		up := filepath.Dir(abs)
		if up == abs {
			return filepath.Join(abs, rest), nil
		}
		abs, rest = up, filepath.Join(filepath.Base(abs), rest)
	}
}

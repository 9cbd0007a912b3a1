package eval

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"github.com/sense-lang/sense/internal/regular"
)

// errOutside says why a confined program cannot import a file.
var errOutside = errors.New("under a ceiling or --strict imports are .sns files in the program's own folder or one of --module-path")

// ReadWithin gives a Config.ReadFile that reads .sns files in the folders given
// and nothing else: no symbolic link leads out of them, not even one that
// changes meanwhile. It opens nothing outside.
func ReadWithin(folders []string) func(path string) ([]byte, error) {
	var roots []string
	for _, dir := range folders {
		if abs, err := filepath.Abs(dir); err == nil {
			roots = append(roots, abs)
		}
	}
	return func(path string) ([]byte, error) {
		if filepath.Ext(path) != sourceExt {
			return nil, errOutside
		}
		for _, root := range roots {
			if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
				return readBelow(root, rel)
			}
		}
		return nil, errOutside
	}
}

// readBelow reads a regular file below a folder.
func readBelow(folder, name string) ([]byte, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would be waited for
	if err != nil {
		return nil, leaving(err)
	}
	defer f.Close()
	return regular.All(f, maxModule)
}

// leaving tells a path that leads out of a folder from other failures, which
// are those of the system.
func leaving(err error) error {
	var number syscall.Errno
	if errors.As(err, &number) {
		return err
	}
	return errOutside
}

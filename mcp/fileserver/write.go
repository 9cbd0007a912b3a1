package fileserver

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"
)

func write(_ context.Context, f *folder, a args) (string, error) {
	name, err := f.resolve(a.text("path"))
	if err != nil {
		return "", err
	}
	if err := f.replace(name, []byte(a.text("content"))); err != nil {
		return "", err
	}
	return "Successfully wrote to " + a.text("path"), nil
}

// replace gives a file new content in one step: whoever reads it sees all of the old or all of the new, also after a
// crash. An existing file keeps its permissions.
func (f *folder) replace(name string, data []byte) error {
	var mode fs.FileMode
	switch stat, err := f.root.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return f.failed("open", name, err)
	case stat.IsDir():
		return f.failed("open", name, syscall.EISDIR)
	case !stat.Mode().IsRegular():
		return fmt.Errorf("not a regular file: %s", f.abs(name))
	default:
		mode = stat.Mode().Perm()
	}
	temp := path.Join(path.Dir(name), tempName())
	if err := f.writeTemp(temp, name, data, mode); err != nil {
		_ = f.root.Remove(temp)
		return err
	}
	if err := f.root.Rename(temp, name); err != nil {
		_ = f.root.Remove(temp)
		return f.failed("rename", name, err)
	}
	return nil
}

// writeTemp writes data to the new file temp and waits until it is on the disk. mode 0 leaves the permissions to the
// user's mask. Errors name the file that temp is going to be.
func (f *folder) writeTemp(temp, name string, data []byte, mode fs.FileMode) error {
	file, err := f.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return f.failed("open", name, err)
	}
	_, err = file.Write(data)
	if err == nil && mode != 0 {
		err = file.Chmod(mode)
	}
	if err == nil {
		err = file.Sync()
	}
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return f.failed("write", name, err)
	}
	return nil
}

// tempName makes a short name that nobody has, so that names of any length can be replaced.
func tempName() string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	return ".sense-" + hex.EncodeToString(random[:]) + ".tmp"
}

func makeFolder(_ context.Context, f *folder, a args) (string, error) {
	name, err := f.resolve(a.text("path"))
	if err != nil {
		return "", err
	}
	if err := f.root.MkdirAll(name, 0o777); err != nil {
		return "", f.failed("mkdir", name, err)
	}
	if stat, err := f.root.Stat(name); err == nil && !stat.IsDir() {
		return "", f.failed("mkdir", name, syscall.EEXIST)
	}
	return "Successfully created directory " + a.text("path"), nil
}

func move(_ context.Context, f *folder, a args) (string, error) {
	from, err := f.resolve(a.text("source"))
	if err != nil {
		return "", err
	}
	to, err := f.resolve(a.text("destination"))
	if err != nil {
		return "", err
	}
	switch _, err := f.root.Lstat(to); {
	case err == nil:
		return "", fmt.Errorf("Destination already exists: %s", f.abs(to))
	case !errors.Is(err, fs.ErrNotExist):
		return "", f.failed("lstat", to, err)
	}
	if err := f.root.Rename(from, to); err != nil {
		return "", fmt.Errorf("%w -> '%s'", f.failed("rename", from, err), f.abs(to))
	}
	return fmt.Sprintf("Successfully moved %s to %s", a.text("source"), a.text("destination")), nil
}

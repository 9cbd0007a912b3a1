package fileserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxLinks is how many symbolic links one path may pass, as on Linux.
const maxLinks = 40

// folder is the one directory tree a server gives access to.
type folder struct {
	root  *os.Root
	given string     // absolute path as the user named it
	real  string     // the same with symbolic links resolved
	edits sync.Mutex // held by calls that change something
}

// openFolder opens dir, which must be an existing folder.
func openFolder(dir string) (*folder, error) {
	given, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot serve %s: %w", dir, err)
	}
	real, err := filepath.EvalSymlinks(given)
	if err != nil {
		return nil, fmt.Errorf("cannot serve %s: %s", dir, reason(err))
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, fmt.Errorf("cannot serve %s: %s", dir, reason(err))
	}
	return &folder{root: root, given: given, real: real}, nil
}

func (f *folder) close() { _ = f.root.Close() }

// names lists the absolute paths under which the folder is known.
func (f *folder) names() []string {
	if f.given == f.real {
		return []string{f.real}
	}
	return []string{f.given, f.real}
}

// abs gives the absolute path of a name below the folder, for messages and results.
func (f *folder) abs(name string) string { return filepath.Join(f.real, filepath.FromSlash(name)) }

// drivePath tells whether a path begins with a drive of Windows, as "C:\x" does.
func drivePath(name string) bool {
	if len(name) < 2 || name[1] != ':' || len(name) > 2 && name[2] != '/' && name[2] != '\\' {
		return false
	}
	letter := name[0] | 0x20
	return 'a' <= letter && letter <= 'z'
}

// resolve turns a path from a client into a name below the folder: slash-separated, relative, and free of symbolic
// links at the time of the call (what changes afterwards is caught by os.Root). A relative path starts at the folder,
// an absolute one must lie in it. The last elements need not exist.
func (f *folder) resolve(requested string) (string, error) {
	expanded := expandHome(requested)
	if runtime.GOOS != "windows" && drivePath(expanded) {
		return "", fmt.Errorf("Access denied - Windows-style path received on a POSIX host: %s", requested)
	}
	full := expanded
	if !filepath.IsAbs(full) {
		full = filepath.Join(f.given, full)
	}
	full = filepath.Clean(full)
	name, ok := f.within(full)
	if !ok || strings.ContainsRune(full, 0) {
		return "", fmt.Errorf("Access denied - path outside allowed directories: %s not in %s",
			full, strings.Join(f.names(), ", "))
	}
	return f.follow(name)
}

// within gives the name below the folder of an absolute, clean path.
func (f *folder) within(full string) (string, bool) {
	for _, dir := range f.names() {
		rel, err := filepath.Rel(dir, full)
		if err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), true
		}
	}
	return "", false
}

// follow replaces every symbolic link in name by what it points to, as long as that lies in the folder.
func (f *folder) follow(name string) (string, error) {
	at, rest, links, leads := ".", strings.Split(name, "/"), 0, ""
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		switch {
		case part == "" || part == ".":
			continue
		case part == ".." && at == ".":
			return "", f.linkLeaves(leads)
		case part == "..":
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, part)
		info, err := f.root.Lstat(next)
		if errors.Is(err, fs.ErrNotExist) {
			if next = f.spelled(at, part); next == "" {
				return f.missing(path.Join(at, part), rest, leads)
			}
			info, err = f.root.Lstat(next)
		}
		switch {
		case err != nil:
			return "", f.failed("realpath", next, err)
		case info.Mode()&fs.ModeSymlink == 0:
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", f.fail("ELOOP", "too many symbolic links encountered", "realpath", name)
		}
		var target string
		if at, target, err = f.target(at, next, rest); err != nil {
			return "", err
		}
		rest = append(strings.Split(target, "/"), rest...)
		leads = filepath.Join(f.abs(at), filepath.FromSlash(strings.Join(rest, "/")))
	}
	return at, nil
}

// spelled looks in dir for the one name that differs from part only in how Unicode composes its characters, as names
// from macOS often do; it gives the empty string where there is none.
func (f *folder) spelled(dir, part string) string {
	composed := norm.NFC.String(part)
	if !utf8.ValidString(part) || composed == part && norm.NFD.IsNormalString(part) {
		return ""
	}
	entries, _, err := f.entries(context.Background(), dir, maxEntries)
	if err != nil {
		return ""
	}
	found := ""
	for _, entry := range entries {
		if norm.NFC.String(entry.Name()) != composed {
			continue
		}
		if found != "" {
			return ""
		}
		found = path.Join(dir, entry.Name())
	}
	return found
}

// target reads the symbolic link name in dir and tells from which folder on which path is to be followed. rest is what
// follows the link, for the message.
func (f *folder) target(dir, name string, rest []string) (from, target string, err error) {
	target, err = f.root.Readlink(name)
	if err != nil {
		return "", "", f.failed("readlink", name, err)
	}
	if !filepath.IsAbs(target) {
		return dir, filepath.ToSlash(target), nil
	}
	inside, ok := f.within(filepath.Clean(target))
	if !ok {
		return "", "", f.linkLeaves(filepath.Join(target, filepath.FromSlash(strings.Join(rest, "/"))))
	}
	return ".", inside, nil
}

// missing joins the elements that follow one that does not exist: no link can stand below it.
func (f *folder) missing(name string, rest []string, leads string) (string, error) {
	for _, part := range rest {
		if part == ".." && name == "." {
			return "", f.linkLeaves(leads)
		}
		name = path.Join(name, part)
	}
	return name, nil
}

func (f *folder) linkLeaves(target string) error {
	return fmt.Errorf("Access denied - symlink target outside allowed directories: %s not in %s",
		filepath.Clean(target), strings.Join(f.names(), ", "))
}

// expandHome replaces a leading "~" as a shell would.
func expandHome(name string) string {
	if name != "~" && !strings.HasPrefix(name, "~/") {
		return name
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return name
	}
	return filepath.Join(home, name[1:])
}

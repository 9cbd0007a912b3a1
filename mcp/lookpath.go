package mcp

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// finder looks commands up the way a shell of the system does. Its fields
// stand in for the system in tests.
type finder struct {
	windows bool
	path    string // the value of PATH
	pathExt string // the value of PATHEXT, Windows only
	dir     string // where a relative path starts; "" is the working folder
	stat    func(string) (fs.FileInfo, error)
}

func systemFinder(env map[string]string, dir string) finder {
	value := func(name string) string {
		if v, ok := env[name]; ok {
			return v
		}
		return os.Getenv(name)
	}
	return finder{windows: runtime.GOOS == "windows", path: value("PATH"), pathExt: value("PATHEXT"), dir: dir, stat: os.Stat}
}

// find gives the program file of command. A command with a path separator is
// taken as it is; any other is looked for in the absolute folders of PATH.
func (f finder) find(command string) (string, error) {
	if command == "" {
		return "", fmt.Errorf("the command is empty")
	}
	if strings.ContainsRune(command, 0) {
		return "", fmt.Errorf("the command %q holds a zero byte", command)
	}
	if strings.Contains(command, "/") || f.windows && strings.ContainsAny(command, `\:`) {
		return f.explicit(command)
	}
	relative := ""
	for _, folder := range f.folders() {
		found, _ := f.program(filepath.Join(folder, command))
		if found == "" {
			continue
		}
		if filepath.IsAbs(folder) {
			return found, nil
		}
		relative = folder
	}
	if relative != "" {
		return "", fmt.Errorf("command '%s' was found on PATH only through its relative entry '%s', which is not safe to start; write '.%c%s'",
			clean(command, 200), clean(relative, 200), filepath.Separator, filepath.ToSlash(filepath.Join(relative, clean(command, 200))))
	}
	return "", fmt.Errorf("command '%s' was not found on PATH", clean(command, 200))
}

// explicit checks a command given as a path.
func (f finder) explicit(command string) (string, error) {
	path := command
	if !filepath.IsAbs(path) && f.dir != "" {
		path = filepath.Join(f.dir, path)
	}
	found, why := f.program(path)
	if found == "" {
		return "", fmt.Errorf("command '%s' %s", clean(command, 200), why)
	}
	if abs, err := filepath.Abs(found); err == nil {
		found = abs
	}
	return found, nil
}

func (f finder) folders() []string {
	if f.windows {
		return strings.Split(f.path, ";")
	}
	folders := filepath.SplitList(f.path)
	for i, folder := range folders {
		if folder == "" { // an empty entry means the working folder
			folders[i] = "."
		}
	}
	return folders
}

// program gives the file to start for path, "" and the reason when there is
// none. On Windows it tries the endings of PATHEXT.
func (f finder) program(path string) (found, why string) {
	if !f.windows {
		why := f.runnable(path)
		if why != "" {
			return "", why
		}
		return path, ""
	}
	endings := strings.Split(f.pathExt, ";")
	if f.pathExt == "" {
		endings = []string{".com", ".exe", ".bat", ".cmd"}
	}
	for _, e := range endings {
		if strings.HasSuffix(strings.ToLower(path), strings.ToLower(e)) && f.runnable(path) == "" {
			return path, ""
		}
	}
	for _, e := range endings {
		if f.runnable(path+strings.ToLower(e)) == "" {
			return path + strings.ToLower(e), ""
		}
	}
	return "", "does not exist"
}

// runnable gives "" for a file that may be started, else why not.
func (f finder) runnable(path string) string {
	info, err := f.stat(path)
	switch {
	case err != nil:
		return "does not exist"
	case info.IsDir():
		return "is a folder"
	case !f.windows && info.Mode()&0o111 == 0:
		return "is not executable"
	}
	return ""
}

// checkBatch refuses arguments that the command interpreter of Windows would
// not hand to a batch file as they are.
func checkBatch(program string, args []string) error {
	lower := strings.ToLower(program)
	if !strings.HasSuffix(lower, ".bat") && !strings.HasSuffix(lower, ".cmd") {
		return nil
	}
	for _, a := range args {
		if strings.ContainsAny(a, "\"%!^&|<>\r\n") {
			return fmt.Errorf("argument '%s' cannot be handed safely to the batch file '%s'", clean(a, 200), clean(program, 200))
		}
	}
	return nil
}

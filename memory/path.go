package memory

import "path/filepath"

// Why a memory lies where DefaultPath puts it, in the words of `sense memory-path`.
const (
	WhyEnvironment = "default -- via SENSE_MEMORY_DIR"
	WhyBeside      = "default -- next to this file"
	WhyWorking     = "default -- in the working folder"
)

// DefaultPath says where the persistent memory called name lies when its declaration gives no path, and why there: in
// the folder SENSE_MEMORY_DIR, as it stands in the environment; else in the folder .sense_memory beside declaringFile,
// absolute; else, when declaringFile is empty because there is none, in the working folder. getenv is os.Getenv but in
// tests.
func DefaultPath(name, declaringFile string, getenv func(string) string) (path, why string) {
	base := name + ".sense_memory.db"
	if dir := getenv("SENSE_MEMORY_DIR"); dir != "" {
		return joinAsIs(dir, base), WhyEnvironment
	}
	if declaringFile == "" {
		return base, WhyWorking
	}
	beside := filepath.Join(filepath.Dir(declaringFile), ".sense_memory", base)
	if full, err := filepath.Abs(beside); err == nil {
		beside = full
	}
	return beside, WhyBeside
}

// joinAsIs puts a name into a folder without tidying the folder's path up, so that it is shown as the user wrote it.
func joinAsIs(dir, name string) string {
	if len(dir) > 0 && !isSeparator(dir[len(dir)-1]) {
		dir += string(filepath.Separator)
	}
	return dir + name
}

func isSeparator(c byte) bool { return c == '/' || c == filepath.Separator }

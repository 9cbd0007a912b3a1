package mcp

import (
	"os"
	"runtime"
	"sort"
	"strings"
)

// inherited names the variables a server gets from us, besides all LC_*.
// Everything else, keys above all, has to be given by name.
func inherited(goos string) []string {
	if goos == "windows" {
		return []string{"APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "LANG", "NUMBER_OF_PROCESSORS", "OS", "PATH", "PATHEXT",
			"PROCESSOR_ARCHITECTURE", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP",
			"USERDOMAIN", "USERNAME", "USERPROFILE", "WINDIR"}
	}
	return []string{"HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"}
}

// serverEnv builds a server's environment: the inherited variables of ours,
// then the given ones.
func serverEnv(goos string, ours []string, given map[string]string) []string {
	fold := func(name string) string {
		if goos == "windows" {
			return strings.ToUpper(name)
		}
		return name
	}
	allowed := map[string]bool{}
	for _, name := range inherited(goos) {
		allowed[name] = true
	}
	env := map[string]string{}
	for _, pair := range ours {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || strings.HasPrefix(value, "()") { // an exported shell function
			continue
		}
		if key := fold(name); allowed[key] || strings.HasPrefix(key, "LC_") {
			env[key] = value
		}
	}
	for name, value := range given {
		env[fold(name)] = value
	}
	list := make([]string, 0, len(env))
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	sort.Strings(list)
	return list
}

func systemEnv(given map[string]string) []string { return serverEnv(runtime.GOOS, os.Environ(), given) }

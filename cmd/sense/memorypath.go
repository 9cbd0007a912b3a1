package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/ast"
	"github.com/sense-lang/sense/memory"
	"github.com/sense-lang/sense/parser"
)

func memoryPathCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "memory-path [FILE]",
		Short: "Show where persistent memories are stored",
		Long:  "Show, without running it, where each persistent memory of a program would be stored; without FILE, what decides that.",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				fmt.Fprint(stdout, memoryDefaults(os.Getenv("SENSE_MEMORY_DIR")))
				return stdout.Flush()
			}
			return memoryPaths(args[0])
		},
	}
}

func memoryPaths(path string) error {
	src, err := sense.ReadSource(path)
	if err != nil {
		errPrinter(nil).Print(os.Stderr, err)
		return exitError(exitFailed)
	}
	f, err := parser.Parse(path, src)
	if err != nil {
		errPrinter(nil).Print(os.Stderr, err)
		return exitError(exitFailed)
	}
	n := 0
	ast.Walk(f, func(node ast.Node) bool {
		if m, ok := node.(*ast.MemoryDecl); ok && m.Persistent {
			n++
			printMemoryPath(m, path)
		}
		return true
	})
	if n == 0 {
		fmt.Fprintf(stdout, "%s declares no 'persistent memory'.\n", path)
	}
	return stdout.Flush()
}

func printMemoryPath(m *ast.MemoryDecl, file string) {
	if m.HasText {
		fmt.Fprintf(stdout, "%s: %s  (explicit path)\n", m.Name, m.Text)
		return
	}
	path, why := memory.DefaultPath(m.Name, file, os.Getenv)
	fmt.Fprintf(stdout, "%s: %s  (%s)\n", m.Name, path, why)
}

const memoryHelp = `
Pass a file to see the exact resolved path(s) for what it declares:
  sense memory-path <file.sns>

To change the default, set SENSE_MEMORY_DIR (PowerShell):
  $env:SENSE_MEMORY_DIR = "C:\path\to\wherever"          # this session only
  [Environment]::SetEnvironmentVariable("SENSE_MEMORY_DIR", "C:\path\to\wherever", "User")
                                                          # persists across sessions
`

func memoryDefaults(dir string) string {
	if dir == "" {
		return `SENSE_MEMORY_DIR is not set.
A persistent memory declared with no explicit path resolves to a
'.sense_memory/' folder next to whichever .sns file declares it:
  <that file's own directory>/.sense_memory/<name>.sense_memory.db
` + memoryHelp
	}
	return fmt.Sprintf(`SENSE_MEMORY_DIR is set: %s
Every persistent memory declared with no explicit path resolves
flat under this directory: %s
`, dir, filepath.Join(dir, "<name>.sense_memory.db")) + memoryHelp
}

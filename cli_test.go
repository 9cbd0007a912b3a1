package sense_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sense-lang/sense/model/modeltest"
)

// TestCLI runs testdata/cli/*.txtar. sense and stubmcp are in PATH; there are two
// commands of our own:
//
//	status N PROGRAM ARGS...  runs it and wants exactly this exit status
//	vendor KIND FILE          starts a strict stub of openai or anthropic with the
//	                          turns of FILE and sets the key and the base URL
func TestCLI(t *testing.T) {
	sense := binary(t, "sense")
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/cli",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(sense)+string(os.PathListSeparator)+os.Getenv("PATH"))
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("NO_COLOR", "1")
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, ".state"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, ".config"))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status": cmdStatus,
			"vendor": cmdVendor,
		},
	})
}

func cmdStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

func cmdVendor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: vendor openai|anthropic FILE")
	}
	turns, err := modeltest.ParseTurns([]byte(ts.ReadFile(args[1])))
	ts.Check(err)
	vendor := modeltest.New(modeltest.Wire(args[0]), turns...)
	ts.Defer(vendor.Close)
	prefix := strings.ToUpper(args[0])
	ts.Setenv(prefix+"_API_KEY", "test-key")
	ts.Setenv(prefix+"_BASE_URL", vendor.URL)
}

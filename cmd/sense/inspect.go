package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/sense-lang/sense"
	"github.com/sense-lang/sense/inspect"
)

func inspectCommand() *cobra.Command {
	f := &runFlags{}
	var port uint16
	c := &cobra.Command{
		Use:   "inspect FILE [--port 4300] [--dry-run]",
		Short: "Run a program and look into it in the browser",
		Long: `Run a program, then serve a console for it on this machine only: tools, actions,
agents, memories, skills, MCP servers, policy and audit, each usable from the
page. Open the address that is printed; it holds the token that the console
asks for. Ctrl+C ends it and all that the program started.`,
		Args: pathArg,
		RunE: func(c *cobra.Command, args []string) error {
			return inspectFile(c.Context(), args[0], port, f)
		},
	}
	c.Flags().Uint16Var(&port, "port", 4300, "the port to listen on; 0 takes a free one")
	f.registerWorld(c)
	c.Flags().BoolVar(&f.dry, "dry-run", false, "simulate what commit and rollback would do")
	return c
}

func inspectFile(ctx context.Context, path string, port uint16, f *runFlags) error {
	f.program = path
	o, err := f.options()
	if err != nil {
		return err
	}
	src, err := sense.ReadSource(path)
	if err != nil {
		errPrinter(nil).Print(os.Stderr, err)
		return exitError(exitFailed)
	}
	l, err := inspect.Listen(strconv.Itoa(int(port)))
	if err != nil {
		return report(ctx, fmt.Errorf("cannot listen on 127.0.0.1:%d: %w", port, bareNet(err)), nil, nil, f.redactor)
	}
	defer l.Close()
	flushCtx, stopFlush := context.WithCancel(ctx)
	defer stopFlush()
	go stdout.flushSoon(flushCtx)
	declared := &inspect.Surface{}
	o.OnDeclare = declared.Declare
	r := sense.New(ctx, o)
	current.Store(r)
	if err = r.RunSource(path, src); err == nil {
		err = serveConsole(ctx, l, inspect.New(r.Interp(), declared, inspect.Options{Path: path, DryRun: f.dry}), path, f.dry)
	}
	err = report(ctx, err, finish(ctx, r), nil, f.redactor)
	if n := signalStatus(ctx); err == nil && n != 0 {
		return exitError(n)
	}
	return err
}

// serveConsole says where the console is and serves it until ctx ends.
func serveConsole(ctx context.Context, l net.Listener, c *inspect.Console, path string, dry bool) error {
	fmt.Fprintf(stdout, "Sense Inspector — %s\n  %s\n", path, c.URL(l))
	if dry {
		fmt.Fprint(stdout, "  DRY RUN — commits/rollbacks clicked in the console are simulated, not executed\n")
	}
	fmt.Fprint(stdout, "  (Ctrl+C to stop)\n")
	if err := stdout.Flush(); err != nil {
		return err
	}
	err := c.Serve(ctx, l)
	c.Settle(2 * time.Second)
	return err
}

// bareNet gives what went wrong without the address, which is said before.
func bareNet(err error) error {
	var sys *os.SyscallError
	if errors.As(err, &sys) {
		return sys.Err
	}
	return err
}

// Package run holds the commands that bridge this terminal, or a pipe, to one program on a
// pseudo-terminal of its own: run, and record, which keeps what it shows or has a server keep a
// session. [Commands] makes both.
//
// One goroutine copies the program's output, one waits for its end and one types the input; the
// last ends with the process, since a read of a terminal cannot be cancelled. The caller of bridge
// waits for the other two, signals and resizes, and ends whatever the program started.
package run

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/ending"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/serve"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/redact"
)

// Commands are run and record.
func Commands(std cli.Stdio) []*cobra.Command {
	return []*cobra.Command{runCommand(std), recordCommand(std)}
}

func runCommand(std cli.Stdio) *cobra.Command {
	var rows, cols uint16
	c := &cobra.Command{
		Use:   "run [flags] [--] PROGRAM [ARGUMENT...]",
		Short: "Run one program on a pseudo-terminal",
		Long: `Run one program on its own pseudo-terminal, bridged to this terminal or to a pipe.

On a terminal, input is raw, the program follows the window's size, and the terminal is restored at
the end. With a pipe the program still sees a terminal, with echo off; the end of input is sent as
Ctrl-D, repeatedly while the program runs. Programs that flush input before prompting (getpass and
friends) discard anything piped in earlier: use a session and wait for the prompt.

When the program ends, everything it started is ended too. The exit code is the program's, or 128
plus the signal; 127 if the program was not found, 126 if it cannot be executed.`,
		Example: `  ptywright run -- vim notes.txt
  echo 'print(6*7)' | ptywright run python3 -q`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return bridge(c.Context(), std, args, pty.Size{Rows: rows, Cols: cols}, nil)
		},
	}
	cli.FlagsFirst(c) // flags after the program are the program's
	c.Flags().Uint16Var(&rows, "rows", 0,
		"rows of the terminal (default: this terminal's, else 24)")
	c.Flags().Uint16Var(&cols, "cols", 0,
		"columns of the terminal (default: this terminal's, else 80)")
	return c
}

// bridge runs one program and returns its exit code as an error, nil for 0. rec, which may be nil,
// records it.
func bridge(ctx context.Context, std cli.Stdio, args []string, fixed pty.Size,
	rec *recorder) (err error) {
	pty.DefaultSignals()
	in := int(std.In.Fd())
	terminal := term.IsTerminal(in)
	// Before there is a program that could be left behind or a terminal that could be left raw.
	told := make(chan os.Signal, 4)
	signal.Notify(told, ending.Signals...)
	defer signal.Stop(told)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // so a write fails instead
	resized := make(chan os.Signal, 1)
	cli.NotifyResize(resized)
	defer signal.Stop(resized)
	watch := &serve.Watcher{Log: serve.NewLogger(std.Err, redact.Default)}
	if err := pty.AdoptOrphans(); err != nil {
		watch.Log.Warn("descendants that leave their session may outlive it", "error", err)
	}
	if err := rec.begin(std.WindowSize(fixed)); err != nil { // before the program starts
		return err
	}
	p, err := pty.Start(pty.Command{
		Path: args[0], Args: args[1:], Env: os.Environ(), Size: std.WindowSize(fixed),
		Mark: "PTYWRIGHT_SESSION=run-" + rand.Text(),
	})
	if err != nil {
		rec.discard()
		return cli.NotStarted(err)
	}
	watch.Add(p)
	defer func() {
		rec.end(nil) // if it has not been: closing twice does no harm
		whole := context.WithoutCancel(ctx)
		kill := errors.Join(p.Kill(whole), pty.KillAdopted(whole))
		watch.Remove(p)
		p.Close()
		if kill = errors.Join(kill, watch.Close()); kill != nil && err == nil {
			err = kill
		}
	}()
	if terminal {
		state, err := term.MakeRaw(in)
		if err != nil {
			return fmt.Errorf("make the terminal raw: %w", err)
		}
		defer term.Restore(in, state)
	}
	output := make(chan error, 1)
	drain := pty.NewDrain(p)
	go func() { output <- copyOutput(rec.tee(std.Out, p), p, drain) }()
	ended := make(chan pty.Exit, 1)
	go func() { ended <- p.Wait() }()
	input := make(chan error, 1) // ends with the process: reads cannot be cancelled
	if terminal {
		go func() { _, _ = io.Copy(rec.typed(p), std.In) }()
	} else {
		if err := p.SetEcho(false); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
		over := make(chan struct{})
		defer close(over)
		go func() { input <- typePipe(p, rec.read(std.In), over) }()
	}
	for {
		select {
		case exit := <-ended:
			drain.Begin()
			if output != nil {
				<-output
			}
			rec.end(&exit)
			return cli.CodeOf(exit)
		case err := <-output:
			if err != nil { // such as a reader that went away: Ctrl-C in a pipeline, or `head`
				return err
			}
			output = nil // the program closed its terminal; its end is yet to come
		case err := <-input:
			if err != nil {
				return err
			}
		case s := <-told:
			return cli.ExitCode(ending.Code(s))
		case <-resized:
			size := std.WindowSize(fixed)
			rec.resized(size)
			if err := p.Resize(size); err != nil && !errors.Is(err, os.ErrClosed) {
				return err
			}
		}
	}
}

// copyOutput returns nil at the end of the program's output, and an error when ours cannot be
// written. Output that exists when the program has ended is still copied, however slow our reader,
// but it does not wait for more.
func copyOutput(w io.Writer, p *pty.PTY, drain *pty.Drain) error {
	for {
		b, err := p.Next()
		if errors.Is(err, os.ErrDeadlineExceeded) && !drain.Expired() {
			continue
		}
		if err != nil {
			return nil
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
		if drain.Read(len(b)) {
			return nil
		}
	}
}

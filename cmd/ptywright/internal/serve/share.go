package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"golang.org/x/term"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/mcp/terminalmcp"
	"github.com/ptywright/ptywright/redact"
)

// share gives the person at this terminal a shell, which it shares on the socket until the shell
// ends.
func (f *sharedFlags) share(ctx context.Context, std cli.Stdio) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	size := std.WindowSize(pty.Size{Rows: uint16(f.rows), Cols: uint16(f.cols)})
	o.Rows, o.Cols = int(size.Rows), int(size.Cols)
	l, err := protocol.Listen(f.socket)
	if err != nil {
		return err
	}
	defer l.Close()
	var code error
	err = Hosted(ctx, std, true, defaultHost(), func(ctx context.Context, h *Service) error {
		o.Raw = f.raw
		o.RecordDir, o.Limits = f.recordDir, &f.limits
		o.Taps, o.Attended = []engine.Tap{&shown{out: std.Out}}, true
		fmt.Fprintf(std.Out,
			"[terminal-mcp] This terminal is shared on %s. Exit the shell to end it.\n",
			cli.OneLine(f.socket))
		state, err := term.MakeRaw(int(std.In.Fd()))
		if err != nil {
			return fmt.Errorf("make the terminal raw: %w", err)
		}
		s, err := terminalmcp.New(h.Host, o)
		if err != nil {
			term.Restore(int(std.In.Fd()), state)
			return err
		}
		saved, exit := f.bridge(ctx, std, s,
			func(ctx context.Context) error { return terminalmcp.ServeProxy(ctx, l, s) })
		term.Restore(int(std.In.Fd()), state)
		if exit == nil { // asked to end
			return nil
		}
		fmt.Fprintf(std.Out, "\n[terminal-mcp] Shell exited with code %d\n", exit.Status())
		if saved != "" {
			fmt.Fprintf(std.Out, "\nRecordings saved:\n  %s\n\nPlay with: asciinema play <file>\n",
				cli.OneLine(saved))
		}
		code = cli.CodeOf(exit.Exit)
		return nil
	})
	return errors.Join(err, code)
}

// bridge connects this terminal with the shell until that ends, and returns where its recording is,
// if it was kept.
func (f *sharedFlags) bridge(ctx context.Context, std cli.Stdio, s *terminalmcp.Server,
	serve func(context.Context) error) (saved string, exit *engine.Exit) {
	defer s.Close()
	session := s.Default()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- serve(ctx) }()
	defer func() {
		cancel()
		<-served
	}()
	if f.record != "off" {
		path, err := s.Record(session,
			terminalmcp.RecordingRequest{Mode: f.record, Limits: f.limits, Shell: f.shellName()})
		if err != nil {
			fmt.Fprintf(std.Err, "[terminal-mcp] The terminal is not recorded: %s\r\n",
				cli.OneLine(redact.Default.String(err.Error())))
		}
		defer func() { // the session's end has completed it
			if path != "" {
				if _, err := os.Stat(path); err == nil {
					saved = path
				}
			}
		}()
	}
	go func() { // ends with the process: a terminal read cannot be cancelled
		_, _ = io.Copy(cli.WriterFunc(func(p []byte) (int, error) {
			_, err := session.Do(ctx, engine.Text(p), engine.Within(time.Hour))
			if errors.Is(err, engine.ErrEnded) || errors.Is(err, engine.ErrClosed) ||
				ctx.Err() != nil {
				return 0, err
			}
			return len(p), nil // a line that is too long, or the like: later input may succeed
		}), std.In)
	}()
	resized := make(chan os.Signal, 1)
	cli.NotifyResize(resized)
	defer signal.Stop(resized)
	for {
		changed := session.Changed()
		if v := session.View(); v.Ended || v.Exit != nil && v.Exit.Draining {
			return "", v.Exit
		}
		select {
		case <-changed:
		case <-resized:
			_ = session.Resize(std.WindowSize(pty.Size{})) // an ended session is noticed next
		case <-ctx.Done():
			return "", nil
		}
	}
}

func (f *sharedFlags) shellName() string {
	if f.shell != "" {
		return f.shell
	}
	return terminalmcp.DefaultShell()
}

// shown is the tap that shows a session on this terminal.
type shown struct{ out io.Writer }

// Output writes what the program wrote.
func (s *shown) Output(_ time.Time, p []byte) error {
	_, err := s.out.Write(p)
	return err
}

// Resize does nothing: the session gets this terminal's size.
func (*shown) Resize(time.Time, int, int) error { return nil }

// Close does nothing.
func (*shown) Close() error { return nil }

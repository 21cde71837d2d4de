package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/redact"
)

func recordCommand(std stdio) *cobra.Command {
	var rec recorder
	var format string
	var rows, cols uint16
	c := &cobra.Command{
		Use:   "record [flags] [--] PROGRAM [ARGUMENT...]",
		Short: "Run one program as run does, and keep what it shows",
		Long: `Run one program on a pseudo-terminal of its own, bridged to this terminal or to a pipe as by
"ptywright run", and record it as an asciicast. Secrets are hidden in the recording, not on
this terminal: keys and tokens that are known by their shape or place, the values of environment
variables whose names say that they are secret, and what is typed while the program does not echo
it, which is in no recording. What comes from a pipe never echoes: with --input it is kept as it
comes, but for the secrets that are known. The file is FILE.part until the program has ended, and a valid recording of
what happened so far at every moment. A recording that fails does not end the program.`,
		Example: `  ptywright record -o demo.cast -- bash
  ptywright play demo.cast`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			rec.opts.Format = record.Format("asciicast-" + format)
			if rec.opts.Format != record.AsciicastV2 && rec.opts.Format != record.AsciicastV3 {
				return usageError{fmt.Errorf("--format is %q: give v2 or v3", format)}
			}
			rec.opts.Command = strings.Join(args, " ")
			rec.err = std.err
			rec.known.AddEnv(os.Environ())
			rec.opts.Redactor = redact.Default.With(&rec.known)
			return bridge(c.Context(), std, args, pty.Size{Rows: rows, Cols: cols}, &rec)
		},
	}
	fs := c.Flags()
	fs.SetInterspersed(false) // flags after the program are the program's
	fs.StringVarP(&rec.path, "output", "o", "", "`FILE` to write; it must not exist (required)")
	fs.StringVar(&format, "format", "v2", "asciicast version: v2 or v3")
	fs.BoolVar(&rec.opts.Input, "input", false, "keep what is typed, too")
	fs.BoolVar(&rec.opts.Raw, "raw", false, "hide no secrets")
	fs.StringVar(&rec.opts.Title, "title", "", "`TITLE` of the recording")
	fs.DurationVar(&rec.opts.IdleLimit, "idle-limit", 0, "pauses are to be played no longer than this")
	fs.Uint16Var(&rows, "rows", 0, "rows of the terminal (default: this terminal's, else 24)")
	fs.Uint16Var(&cols, "cols", 0, "columns of the terminal (default: this terminal's, else 80)")
	_ = c.MarkFlagRequired("output") // it is there
	return c
}

// A recorder is what bridge shows a recording. A nil one records nothing.
type recorder struct {
	path string
	opts record.CastOptions
	err  io.Writer // is told when the recording fails

	known  redact.Known // what is secret whatever it looks like
	cast   *record.Cast
	failed sync.Once
}

// begin makes the file.
func (r *recorder) begin(size pty.Size) (err error) {
	if r == nil {
		return nil
	}
	r.opts.Rows, r.opts.Cols = int(size.Rows), int(size.Cols)
	r.cast, err = record.NewCast(r.path, r.opts)
	return err
}

// discard takes the file away again.
func (r *recorder) discard() {
	if r != nil {
		r.check(r.cast.Discard())
	}
}

// check tells once that the recording has failed: the program goes on.
func (r *recorder) check(err error) {
	if err != nil {
		r.failed.Do(func() { complain(r.err, fmt.Errorf("the recording ended early: %w", err)) })
	}
}

// tee returns a writer that also records.
func (r *recorder) tee(w io.Writer) io.Writer {
	if r == nil {
		return w
	}
	return writerFunc(func(p []byte) (int, error) {
		r.check(r.cast.Output(time.Now(), p))
		return w.Write(p)
	})
}

// typed returns a writer of what a person types to p. It is recorded when that is wanted, but for what is typed where the
// program asks for a secret: that is known from then on.
func (r *recorder) typed(p *pty.PTY) io.Writer {
	if r == nil {
		return p
	}
	var line engine.SecretLine
	asked, asking := 0, false
	return writerFunc(func(b []byte) (int, error) {
		mode, err := p.LineMode()
		was := asking
		if asking = err == nil && mode.Secret(); asking {
			if !was {
				asked++
			}
			line.Type(b, mode, asked, func(secret string) { r.known.Add(secret) })
		} else {
			line.Reset()
			r.keep(b)
		}
		return p.Write(b)
	})
}

// read returns a reader of a pipe's input that also records it.
func (r *recorder) read(from io.Reader) io.Reader {
	if r == nil {
		return from
	}
	return io.TeeReader(from, writerFunc(func(b []byte) (int, error) {
		r.keep(b)
		return len(b), nil
	}))
}

// keep records input, when that is wanted.
func (r *recorder) keep(b []byte) {
	if r.opts.Input {
		r.check(r.cast.Input(time.Now(), b))
	}
}

func (r *recorder) resized(size pty.Size) {
	if r != nil {
		r.check(r.cast.Resize(time.Now(), int(size.Rows), int(size.Cols)))
	}
}

// end completes the file; exit is nil when the program's end is not known.
func (r *recorder) end(exit *pty.Exit) {
	if r == nil || r.cast == nil {
		return
	}
	if exit != nil {
		r.check(r.cast.Exit(time.Now(), exit.Status()))
	}
	if err := r.cast.Close(); err != nil && !errors.Is(err, record.ErrEnded) {
		r.check(err)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

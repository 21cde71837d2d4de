package run

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/redact"
)

func recordCommand(std cli.Stdio) *cobra.Command {
	var rec recorder
	var of sessionTake
	var format string
	var rows, cols uint16
	c := &cobra.Command{
		Use:   "record [flags] (-- PROGRAM [ARGUMENT...] | --session ID FILE)",
		Short: "Record a program or a session",
		Long: `Run one program on its own pseudo-terminal, bridged to this terminal or to a pipe as "ptywright run"
does, and record it as an asciicast or a Markdown document.

Secrets are hidden in the recording, not on this terminal: keys and tokens recognised by their shape
or place, values of environment variables with secret names, and what is typed where the program
asks for a secret or turns echo off for a line. Input from a pipe never echoes: --input records it,
without the secrets that are known.

The file is called FILE.part until the program ends, and is a valid recording at every moment. A
recording that fails does not end the program.

With --session the server records a running session, from its present screen until the program ends,
--for has passed, or you press Ctrl-C (exit code 0): the file is then complete. If this command is
killed outright, the recording continues until the session ends.`,
		Example: `  ptywright record -o demo.cast -- bash
  ptywright play demo.cast
  ptywright record --session s1 --for 30s s1.cast`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if err := of.check(c, &rec, args); err != nil {
				return err
			}
			if rec.path == "" { // from -o, or the argument
				rec.path = args[0]
			}
			if err := rec.setFormat(format); err != nil {
				return cli.Usagef("%w", err)
			}
			if of.session != "" {
				return of.record(c.Context(), std, &rec)
			}
			rec.err = std.Err
			rec.known.AddEnv(os.Environ())
			rec.opts.Redactor = redact.Default.With(&rec.known).For(recorded)
			hide := rec.opts.Redactor
			if rec.opts.Raw {
				hide = nil
			}
			rec.opts.Command = record.CommandLine(args, hide)
			return bridge(c.Context(), std, args, pty.Size{Rows: rows, Cols: cols}, &rec)
		},
	}
	fs := c.Flags()
	cli.FlagsFirst(c) // flags after the program are the program's
	fs.StringVarP(&rec.path, "output", "o", "",
		"`FILE` to write; it must not exist (required, but with --session)")
	fs.StringVar(&format, "format", "",
		"v2 or v3 (asciicast), or markdown (default: markdown for a FILE that ends in .md, else v2)")
	fs.BoolVar(&rec.opts.Input, "input", false, "keep what is typed, too")
	fs.BoolVar(&rec.opts.Raw, "raw", false, "hide no secrets")
	fs.StringVar(&rec.opts.Title, "title", "", "`TITLE` of the recording")
	fs.DurationVar(&rec.opts.IdleLimit, "idle-limit", 0,
		"players shorten longer pauses to this")
	fs.Uint16Var(&rows, "rows", 0, "rows of the terminal (default: this terminal's, else 24)")
	fs.Uint16Var(&cols, "cols", 0, "columns of the terminal (default: this terminal's, else 80)")
	of.add(c)
	return c
}

// A recorder records what bridge passes to it. A nil recorder records nothing.
type recorder struct {
	path string
	opts record.CastOptions
	err  io.Writer // gets a message when the recording fails

	known  redact.Known  // secrets, whatever they look like
	over   chan struct{} // never closed: known secrets stay known while we run
	cast   tape
	input  func(at time.Time, p []byte) error // records what is typed, in an asciicast
	failed sync.Once

	mu sync.Mutex
	// protects the fields below
	screen  *vt.Terminal // the program's screen: it may ask for a secret
	secrets engine.SecretInput
}

// recorded is the session name that secrets are known under: there is no other.
const recorded = "recorded"

// A tape is a [record.Cast] or a [record.Transcript].
type tape interface {
	Output(at time.Time, p []byte) error
	Resize(at time.Time, rows, cols int) error
	Exit(at time.Time, code int) error
	Close() error
	Discard() error
}

// setFormat takes the format by its name here or on the wire, or else from the file's name.
func (r *recorder) setFormat(name string) error {
	ext := strings.ToLower(filepath.Ext(r.path))
	document := ext == ".md" || ext == ".markdown"
	switch name {
	case "":
		if r.opts.Format = record.AsciicastV2; document {
			r.opts.Format = record.MarkdownDoc
		}
	case "v2", string(record.AsciicastV2):
		r.opts.Format = record.AsciicastV2
	case "v3", string(record.AsciicastV3):
		r.opts.Format = record.AsciicastV3
	case string(record.MarkdownDoc):
		r.opts.Format = record.MarkdownDoc
	default:
		return fmt.Errorf("--format is %s: give v2, v3 or markdown", engine.Quote(name))
	}
	switch {
	case r.opts.Format != record.MarkdownDoc && document:
		return fmt.Errorf("-o %s is named as a Markdown document: leave --format out, or give a name that ends in .cast", pty.QuotePath(r.path))
	case r.opts.Format == record.MarkdownDoc &&
		(r.opts.Input || r.opts.Title != "" || r.opts.IdleLimit != 0):
		return errors.New("--input, --title and --idle-limit are for an asciicast: a Markdown document has no input, title or pauses")
	}
	return nil
}

// begin creates the file.
func (r *recorder) begin(size pty.Size) error {
	if r == nil {
		return nil
	}
	r.opts.Rows, r.opts.Cols = int(size.Rows), int(size.Cols)
	r.over = make(chan struct{})
	r.screen = vt.New(max(r.opts.Rows, 1), max(r.opts.Cols, 1), vt.Options{Scrollback: -1})
	r.secrets.Asks = redact.Asks
	r.secrets.Tell = func(line string,
		is engine.Standing) {
		reading.Note(&r.known, recorded, r.over, line, is)
	}
	if r.opts.Format != record.MarkdownDoc {
		c, err := record.NewCast(r.path, r.opts)
		if err == nil {
			r.cast, r.input = c, c.Input
		}
		return err
	}
	dir, _ := os.Getwd() // left out if unknown
	t, err := record.NewTranscript(r.path, record.TranscriptOptions{
		Program: r.opts.Command, Dir: dir, Rows: r.opts.Rows, Cols: r.opts.Cols,
		Redactor: r.opts.Redactor, Raw: r.opts.Raw,
	})
	if err == nil {
		r.cast = t
	}
	return err
}

// discard removes the file.
func (r *recorder) discard() {
	if r != nil {
		r.check(r.cast.Discard())
	}
}

// check reports once that the recording failed: the program continues.
func (r *recorder) check(err error) {
	if err != nil {
		r.failed.Do(func() {
			cli.Complain(r.err,
				fmt.Errorf("the recording ended early: %w", err))
		})
	}
}

// tee returns a writer for the output of p's program, which also records it.
func (r *recorder) tee(w io.Writer, p *pty.PTY) io.Writer {
	if r == nil {
		return w
	}
	return cli.WriterFunc(func(b []byte) (int, error) {
		r.mu.Lock()
		r.screen.Feed(b)
		if mode, err := p.LineMode(); err == nil {
			r.secrets.Look(mode, true)
		}
		r.mu.Unlock()
		r.check(r.cast.Output(time.Now(), b))
		return w.Write(b)
	})
}

// typed returns a writer for what a person types to p. It records the input if requested, except
// while the program asks for a secret, or may: that input is then known as a secret.
func (r *recorder) typed(p *pty.PTY) io.Writer {
	if r == nil {
		return p
	}
	return cli.WriterFunc(func(b []byte) (int, error) {
		if !r.secret(p, b) {
			r.keep(b)
		}
		return p.Write(b)
	})
}

// secret reports whether the next input is, or may be, part of a secret.
func (r *recorder) secret(p *pty.PTY, b []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	mode, err := p.LineMode()
	if err != nil {
		return false
	}
	r.secrets.Look(mode, false)
	return r.secrets.Type(b, mode, r.screen.Snapshot)
}

// read returns a reader of a pipe's input that also records it.
func (r *recorder) read(from io.Reader) io.Reader {
	if r == nil {
		return from
	}
	return io.TeeReader(from, cli.WriterFunc(func(b []byte) (int, error) {
		r.keep(b)
		return len(b), nil
	}))
}

// keep records input, if requested.
func (r *recorder) keep(b []byte) {
	if r.opts.Input {
		r.check(r.input(time.Now(), b))
	}
}

func (r *recorder) resized(size pty.Size) {
	if r != nil {
		r.mu.Lock()
		r.screen.Resize(max(int(size.Rows), 1), max(int(size.Cols), 1), 0, 0)
		r.mu.Unlock()
		r.check(r.cast.Resize(time.Now(), int(size.Rows), int(size.Cols)))
	}
}

// end completes the file; exit is nil if the program's end is unknown.
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

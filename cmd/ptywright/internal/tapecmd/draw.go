package tapecmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/progress"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/serve"
	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/tuitest/script"
	"github.com/ptywright/ptywright/tuitest/tape"
)

// A drawer draws a tape.
type drawer struct {
	*flags
	std   cli.Stdio
	file  string
	files []string // that were read last: the tape, and those it names
	guard *serve.Watcher
	// scratch is the folder for what is not to be left: the recording, the programs' home.
	scratch string
	noted   map[string]bool // what was said of a tape already
}

// draw runs the tape once and writes its files. When ctx ends nothing is written.
func (d *drawer) draw(ctx context.Context) error {
	t, err := d.read()
	if err != nil {
		return d.unread(err)
	}
	l, notes := lookOf(t)
	lacking := new(picture.Lacking)
	l.options.Missing = lacking.Add
	files := newTargets(d.files)
	outs, outErr := outputs(t, d.outputs, files)
	s, err := script.FromTape(t, l.size)
	if err := d.unread(join(err, outErr)); err != nil {
		return err
	}
	if err := d.unread(files.check()); err != nil {
		return err
	}
	for _, n := range append(notes, files.notes...) {
		d.note(n)
	}
	dir, err := os.MkdirTemp(d.scratch, "run-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	rec, result, err := d.play(ctx, s, l, dir)
	if err != nil {
		return err
	}
	f := &film{scratch: dir, rec: rec, pieces: result.Film.Pieces, speed: l.speed}
	err = d.write(ctx, f, l, outs)
	for _, line := range lacking.Advice() {
		d.note(note{tape.Command{File: t.File, Line: 1, Col: 1}, line})
	}
	return err
}

// join joins the errors of a tape, which are one error then.
func join(errs ...error) error {
	var all tape.ErrorList
	for _, err := range errs {
		own := (*tape.Error)(nil)
		if err != nil && !errors.As(err, &own) {
			return err
		}
		all.Add(own)
	}
	return all.Err()
}

// unread tells the errors of a tape, a line each.
func (d *drawer) unread(err error) error {
	first := (*tape.Error)(nil)
	if err == nil || !errors.As(err, &first) {
		return err
	}
	return cli.ComplainAll(d.std.Err, first.Errors())
}

// note says what is not as in VHS, once.
func (d *drawer) note(n note) {
	if d.noted == nil {
		d.noted = map[string]bool{}
	}
	if text := n.String(); !d.noted[text] {
		d.noted[text] = true
		fmt.Fprintf(d.std.Err, "note  %s\n", cli.OneLine(text))
	}
}

// play runs the tape and returns its recording.
func (d *drawer) play(ctx context.Context, s *script.Script, l *look,
	dir string) (*record.Recording, *script.Result, error) {
	o := script.Options{Size: l.size, Dir: dir, WorkDir: ".", Watch: d.guard}
	if l.options.Theme != nil {
		o.Theme = l.options.Theme.Terminal
	}
	if !d.hermit {
		o.Env = engine.Inherited(os.Environ())
		o.Env["TERM"], o.Env["COLORTERM"] = "xterm-256color", "truecolor"
	}
	bar := progress.New(d.std.Err, len(s.Steps), "run "+cli.OneLine(s.Path))
	defer bar.Done()
	o.Step = func() { bar.Add(1) }
	result, _ := script.Run(ctx, s, o)
	bar.Done()
	switch {
	case result.Outcome == script.Interrupted || ctx.Err() != nil:
		return nil, nil, cli.ExitCode(cli.ExitInterrupted)
	case result.Outcome == script.Failed:
		d.failed(result)
		return nil, nil, cli.ExitCode(cli.ExitError)
	}
	file, err := os.Open(result.Recording)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	rec, err := record.Load(file)
	return rec, result, err
}

// failed tells which command failed, with the evidence and what to do.
func (d *drawer) failed(r *script.Result) {
	f, where := r.Failure, r.Script
	for _, s := range r.Steps {
		if s.Failure != nil {
			f, where = s.Failure, fmt.Sprintf("%s:%d:%d", s.File, s.Line, s.Col)
		}
	}
	if f == nil {
		return
	}
	w := d.std.Err
	fmt.Fprintf(w, "ptywright: %s: %s: %s\n", cli.OneLine(where), cli.OneLine(f.Doing),
		cli.OneLine(f.Why))
	for line := range strings.Lines(cli.Clean(f.Evidence)) {
		fmt.Fprintln(w, strings.TrimRight("  "+line, " \n"))
	}
	if f.Next != "" {
		fmt.Fprintf(w, "  what to do: %s\n", cli.OneLine(f.Next))
	}
}

// write draws all files and writes them, all or none, and says so.
func (d *drawer) write(ctx context.Context, f *film, l *look, outs []output) error {
	var all []record.Named
	keep := func(path string, data []byte) error {
		id := identity(path)
		all = slices.DeleteFunc(all, func(x record.Named) bool { return identity(x.Path) == id })
		all = append(all, record.Named{Path: path, Data: data})
		return ctx.Err()
	}
	cast, err := f.cast()
	if err != nil {
		return err
	}
	if err := l.shots(f, keep); err != nil {
		return err
	}
	var long time.Duration
	switch {
	case cast != nil:
		rec, err := record.Load(bytes.NewReader(cast))
		if err != nil {
			return err
		}
		long = rec.Duration()
		for _, o := range outs {
			data, err := d.output(ctx, f, cast, rec, l, o)
			if err != nil {
				return fmt.Errorf("draw %s: %w", cli.OneLine(o.path), err)
			}
			if err := keep(o.path, data); err != nil {
				return err
			}
		}
	case len(all) == 0:
		return errNothing
	}
	undo, err := makeFolders(all)
	if err == nil {
		err = record.WriteTogether(all)
	}
	if err != nil {
		undo()
		return err
	}
	for _, x := range all {
		fmt.Fprintf(d.std.Out, "wrote %s (%s)\n", cli.OneLine(x.Path), size(len(x.Data)))
	}
	_, err = fmt.Fprintf(d.std.Out, "%.1f s, %d rows, %d columns\n", long.Seconds(), l.size.Rows, l.size.Cols)
	return err
}

// output draws an output, with a bar on a terminal.
func (d *drawer) output(ctx context.Context, f *film, cast []byte, rec *record.Recording, l *look,
	o output) ([]byte, error) {
	bar := progress.New(d.std.Err, int(rec.Duration().Seconds()), "draw "+cli.OneLine(o.path))
	defer bar.Done()
	own := *l
	own.drawn = func(at time.Duration) { bar.Set(int(at.Seconds())) }
	own.goesOn = func() bool { return ctx.Err() == nil }
	data, err := own.draw(f, cast, rec, o)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return data, err
}

// size is a number of bytes for people.
func size(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

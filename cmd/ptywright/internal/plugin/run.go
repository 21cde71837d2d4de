package plugin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/internal/lazy"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/plugins"
	"github.com/ptywright/ptywright/redact"
)

// RunOptions say how to run a plugin's program on this terminal, or for a pipe.
type RunOptions struct {
	Args     []string // nil: the manifest's
	Size     pty.Size // zero: the manifest's
	In       io.Reader
	Out      io.Writer
	Terminal bool // In is a person's terminal in raw mode: input is passed on as it arrives
	Resized  <-chan pty.Size
	States   io.Writer          // gets a line for each change of state; nil: none
	Record   string             // the name of a case to record; "": none
	Cast     record.CastOptions // of the recording, except for its size
	Patience time.Duration      // how long a line from a pipe waits until the program takes it
}

// maxChanges bounds the changes of state that are reported at the end.
const maxChanges = 1000

// A Change is a change of state.
type Change struct {
	At       time.Duration // since the program started
	From, To string
	Rule     string // the one that decided; "" when another state came too soon to ask
}

// String is a line for people.
func (c Change) String() string {
	rule := ""
	if c.Rule != "" {
		rule = " (rule " + c.Rule + ")"
	}
	return cli.OneLine(fmt.Sprintf("%9.3fs  %s > %s%s", c.At.Seconds(), c.From, c.To, rule))
}

// Ran is the result of a run.
type Ran struct {
	Exit    *engine.Exit // nil: we ended it
	Changes []Change     // the first maxChanges
	Dropped int          // further ones
	Cast    string       // the recording
}

// A NotReadyError says that the plugin did not recognise that its program takes a line, so no more
// of the pipe was typed.
type NotReadyError struct {
	Line    int           // the line of the pipe, from 1, that was not typed; 0: all were
	Typed   int           // how many lines were typed
	Matcher string        // the one that did not hold
	Waited  time.Duration // how long
	State   *plugins.State
	Row     string // where the cursor is, redacted
}

// Error reports the wait, the state, and what other rules lacked.
func (e *NotReadyError) Error() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d was not typed: ", e.Line)
	} else {
		fmt.Fprintf(&b, "all %d lines were typed, but behind the last ", e.Typed)
	}
	fmt.Fprintf(&b, "%s did not hold within %v; the state was %s", e.Matcher, e.Waited,
		e.State.State)
	if e.State.Rule != "" {
		fmt.Fprintf(&b, " (rule %s)", e.State.Rule)
	}
	fmt.Fprintf(&b, "; the cursor's row is %q", e.Row)
	for _, n := range e.State.Nearly {
		fmt.Fprintf(&b, "; rule %s (%s) lacks: %s", n.Rule, n.State, n.Lacks)
	}
	return cli.OneLine(b.String())
}

// pace is how long the screen is stable before a line of a pipe is typed, so that the plugin, and a
// person who watches, see each state. The host looks at most every 25 ms.
const pace = 100 * time.Millisecond

// paceBound is how long a line waits for a stable screen: some programs, such as a clock, are ready
// and draw all the time.
const paceBound = 2 * time.Second

// caseName matches allowed names of cases: file names on every system.
var caseName = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Run starts the folder's plugin, which catalog has loaded, with its program here, and returns when
// the program has ended, or its input is a pipe that has ended. Lines from a pipe are typed one at
// a time, each when the plugin's wait_ready_matcher holds. When that times out, no more is typed:
// the error is a *[NotReadyError], and a recording ends there.
func (f *Folder) Run(ctx context.Context, catalog *plugins.Catalog, o RunOptions) (*Ran, error) {
	name := f.Source.Manifest.Name
	start := plugins.StartOptions{Args: o.Args, Size: o.Size, Attended: o.Terminal,
		Taps: []engine.Tap{shown{o.Out}}}
	ran := &Ran{}
	var cast *record.Cast
	if o.Record != "" {
		var err error
		if cast, err = f.record(o); err != nil {
			return nil, err
		}
		ran.Cast = filepath.Join(f.Dir, filepath.FromSlash(casesDir), o.Record+castExt)
		start.Taps = append(start.Taps, cast)
	}
	a, err := catalog.Start(ctx, name, start)
	if err != nil {
		for _, t := range start.Taps { // nobody else closes them
			if c, ok := t.(*record.Cast); ok {
				_ = c.Discard()
			}
		}
		return nil, err
	}
	if cast != nil && o.Cast.Redactor != nil { // typed secrets are known by session
		_ = cast.SetRedactor(o.Cast.Redactor.For(string(a.Session().ID()))) // one that has failed or ended needs none
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	began := time.Now()
	input := make(chan error, 1) // ends with the process: reads cannot be cancelled
	go func() {
		if o.Terminal {
			input <- pass(ctx, a.Session(), o.In)
			return
		}
		input <- lines(ctx, a, o)
	}()
	var since uint64
	typed := input
	for {
		changed := catalog.Changed()
		over := a.Session().Changed()
		v := a.Session().View()
		since = ran.note(a, since, began, o.States)
		if v.Ended {
			a.Look(ctx, v)
			ran.note(a, since, began, o.States)
			ran.Exit = v.Exit
			return ran, a.Close(context.WithoutCancel(ctx))
		}
		select {
		case <-changed:
		case <-over:
		case size := <-o.Resized:
			if err := a.Session().Resize(size); err != nil && !errors.Is(err, engine.ErrEnded) {
				return ran, errors.Join(err, a.Close(context.WithoutCancel(ctx)))
			}
		case err := <-typed:
			if unready := (*NotReadyError)(nil); errors.As(err, &unready) { // Ctrl-D might be an answer
				ran.note(a, since, began, o.States)
				return ran, errors.Join(err, a.Close(context.WithoutCancel(ctx)))
			}
			if typed = nil; err != nil || !o.Terminal {
				return ran, errors.Join(err, f.finish(ctx, a, ran, since, began, o))
			}
		case <-ctx.Done():
			return ran, a.Close(context.WithoutCancel(ctx))
		}
	}
}

// finish ends a program whose input pipe has ended.
func (f *Folder) finish(ctx context.Context, a *plugins.Adapter, ran *Ran, since uint64,
	began time.Time, o RunOptions) error {
	const patience = 5 * time.Second // until Ctrl-D is read
	if _, err := a.Session().Do(ctx, engine.EOF{}); err == nil {
		_, _ = a.Session().Wait(ctx, ended, engine.Within(patience))
	}
	v := a.Session().View()
	a.Look(ctx, v)
	ran.note(a, since, began, o.States)
	ran.Exit = v.Exit
	return a.Close(context.WithoutCancel(ctx))
}

// ended matches the program's end.
var ended engine.Func = func(v *engine.View) bool { return v.Ended }

// note reports the states since an event, and returns the number of the last.
func (r *Ran) note(a *plugins.Adapter, since uint64, began time.Time, to io.Writer) uint64 {
	events, next, _ := a.Events(since)
	now := a.State()
	for i, e := range events {
		if e.Kind != "state" {
			continue
		}
		c := Change{At: e.At.Sub(began), From: e.Previous, To: e.State}
		if !slices.ContainsFunc(events[i+1:],
			func(l plugins.Event) bool { return l.Kind == "state" }) && now.State == e.State {
			c.Rule = now.Rule
		}
		if c.From == "" {
			c.From = "-"
		}
		if c.At < 0 {
			c.At = 0
		}
		if len(r.Changes) < maxChanges {
			r.Changes = append(r.Changes, c)
		} else {
			r.Dropped++
		}
		if to != nil {
			fmt.Fprintln(to, c)
		}
	}
	return next
}

// record starts a case.
func (f *Folder) record(o RunOptions) (*record.Cast, error) {
	if !caseName().MatchString(o.Record) || strings.HasSuffix(o.Record, castExt) {
		return nil, fmt.Errorf("%q is not a name for a case: use letters, digits, dots, hyphens and underscores, without %s", o.Record, castExt)
	}
	dir := filepath.Join(f.Dir, filepath.FromSlash(casesDir))
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := root.MkdirAll(casesDir, 0o777); err != nil { // fails if a link leads out of the folder
		return nil, fmt.Errorf("make %s: %w", dir, bare(err))
	}
	path := filepath.Join(dir, o.Record+castExt)
	for _, ext := range []string{castExt, screenExt, expectedExt} {
		if exists(filepath.Join(dir, o.Record+ext)) {
			return nil,
				fmt.Errorf("there is a case %s already: give --record another name, or remove %s",
					o.Record, filepath.Join(dir, o.Record+ext))
		}
	}
	c := o.Cast
	c.Rows, c.Cols = int(o.Size.Rows), int(o.Size.Cols)
	return record.NewCast(path, c)
}

// shown is a tap that writes output to a terminal, or a pipe.
type shown struct{ w io.Writer }

func (s shown) Output(_ time.Time, p []byte) error {
	_, err := s.w.Write(p)
	return err
}
func (shown) Resize(time.Time, int, int) error { return nil }
func (shown) Close() error                     { return nil }

// pass types a person's input as it arrives.
func pass(ctx context.Context, s *engine.Session, in io.Reader) error {
	b := make([]byte, 4<<10)
	for {
		n, err := in.Read(b)
		if n > 0 {
			if _, err := s.Do(ctx, engine.Text(b[:n])); err != nil {
				return nil // the program's end is reported elsewhere
			}
		}
		if err != nil {
			return nil
		}
	}
}

// lines types a pipe's lines, each when the plugin says that the program takes one, and returns
// when it does so again after the last.
func lines(ctx context.Context, a *plugins.Adapter, o RunOptions) error {
	r := bufio.NewScanner(o.In)
	r.Buffer(nil, 64<<10)
	var since *engine.Position
	typed := 0
	for more := true; more; {
		more = r.Scan()
		if !more && typed == 0 { // an empty pipe: give the program time before its end
			_ = ready(ctx, a, nil, o.Patience)
			break
		}
		err := ready(ctx, a, since, o.Patience)
		if unready := (*NotReadyError)(nil); errors.As(err, &unready) {
			if unready.Typed = typed; more {
				unready.Line = typed + 1
			}
		}
		switch {
		case errors.Is(err, engine.ErrEnded), errors.Is(err, engine.ErrClosed), ctx.Err() != nil: // reported elsewhere
			return nil
		case err != nil:
			return err
		case !more:
			return r.Err()
		}
		_, _ = a.Session().Wait(ctx, matchers.Any(matchers.Stable(pace), matchers.Exited()),
			engine.Within(paceBound))
		done, err := a.Session().Do(ctx, engine.Text(r.Text()+"\r"))
		if err != nil {
			return nil
		}
		since = engine.After(done.Sequence)
		typed++
	}
	return r.Err()
}

// ready waits until the plugin says that the program takes a line, or, if it does not report that,
// until its turn is over. If the plugin reports neither, ready does not wait.
func ready(ctx context.Context, a *plugins.Adapter, since *engine.Position,
	patience time.Duration) error {
	for _, name := range []string{"wait_ready_matcher", plugins.DefaultMatcher} {
		m, err := a.Matcher(ctx, name, nil)
		if err != nil {
			continue
		}
		out, err := a.Session().Wait(ctx, m, since, engine.Within(patience))
		if !errors.Is(err, engine.ErrTimeout) {
			return err
		}
		state, failed := a.Explain(ctx, out.View)
		if failed != nil {
			state = a.State()
		}
		row := redact.Default.String(out.View.Screen.Lines()[out.View.Screen.Cursor.Row])
		return &NotReadyError{Matcher: name, Waited: patience, State: state, Row: row}
	}
	return nil
}

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

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/internal/lazy"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/plugins"
	"github.com/ptywright/ptywright/redact"
)

// RunOptions say how a plugin's program is run on this terminal, or for a pipe.
type RunOptions struct {
	Args     []string // nil: the manifest's
	Size     pty.Size // zero: the manifest's
	In       io.Reader
	Out      io.Writer
	Terminal bool // In is a person's terminal, made raw: what is typed is passed on as it comes
	Resized  <-chan pty.Size
	States   io.Writer          // gets a line for each change of state; nil: nobody does
	Record   string             // the name of a case to be made of it; "": none
	Cast     record.CastOptions // of the recording, but for its size
	Patience time.Duration      // how long a line from a pipe waits for the plugin to say that one can be taken
}

// maxChanges bounds the changes of state that are told in the end.
const maxChanges = 1000

// A Change is a change of state.
type Change struct {
	At       time.Duration // since the program was started
	From, To string
	Rule     string // that decided; "" when another state came too soon to ask
}

// String is a line for people.
func (c Change) String() string {
	rule := ""
	if c.Rule != "" {
		rule = " (rule " + c.Rule + ")"
	}
	return oneLine(fmt.Sprintf("%9.3fs  %s > %s%s", c.At.Seconds(), c.From, c.To, rule))
}

// Ran is what came of it.
type Ran struct {
	Exit    *engine.Exit // nil: it was ended from here
	Changes []Change     // the first maxChanges
	Dropped int          // further ones
	Cast    string       // that was recorded
}

// A NotReadyError says that a plugin did not recognise that its program takes a line, so that nothing more of a pipe was typed.
type NotReadyError struct {
	Line    int           // of the pipe, from 1, that was not typed; 0: all were
	Typed   int           // how many lines were typed
	Matcher string        // that did not hold
	Waited  time.Duration // so long
	State   *plugins.State
	Row     string // where the cursor is, without secrets
}

// Error tells the wait, the state, and what other rules lacked.
func (e *NotReadyError) Error() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d was not typed: ", e.Line)
	} else {
		fmt.Fprintf(&b, "all %d lines were typed, but behind the last ", e.Typed)
	}
	fmt.Fprintf(&b, "%s did not hold within %v; the state was %s", e.Matcher, e.Waited, e.State.State)
	if e.State.Rule != "" {
		fmt.Fprintf(&b, " (rule %s)", e.State.Rule)
	}
	fmt.Fprintf(&b, "; the cursor's row is %q", e.Row)
	for _, n := range e.State.Nearly {
		fmt.Fprintf(&b, "; rule %s (%s) lacks: %s", n.Rule, n.State, n.Lacks)
	}
	return oneLine(b.String())
}

// pace is how long the screen stands still before a line of a pipe is typed: a plugin sees each state, and so does who watches. The
// host looks every 25 ms at most.
const pace = 100 * time.Millisecond

// paceBound is how long a line waits for the screen to stand still: some programs are ready and draw all the time, such as a clock.
const paceBound = 2 * time.Second

// caseName is what a case may be called: a file's name on every system.
var caseName = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Run starts the folder's plugin, which catalog has, with its program here, and returns when the program has ended, or its input is a
// pipe that has. What comes from a pipe is typed a line at a time, when the plugin's wait_ready_matcher holds. When it does not in time, nothing more is
// typed: the error is a *[NotReadyError], and a recording ends there.
func (f *Folder) Run(ctx context.Context, catalog *plugins.Catalog, o RunOptions) (*Ran, error) {
	name := f.Source.Manifest.Name
	start := plugins.StartOptions{Args: o.Args, Size: o.Size, Attended: o.Terminal, Taps: []engine.Tap{shown{o.Out}}}
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
	if cast != nil && o.Cast.Redactor != nil { // what is typed where the program asks for a secret is known of its session
		_ = cast.SetRedactor(o.Cast.Redactor.For(string(a.Session().ID()))) // one that has failed or ended needs none
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	began := time.Now()
	input := make(chan error, 1) // its goroutine ends with the process: a read of a terminal cannot be taken back
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
			if unready := (*NotReadyError)(nil); errors.As(err, &unready) { // Ctrl-D might answer what the program asks
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

// finish ends a program whose pipe has ended.
func (f *Folder) finish(ctx context.Context, a *plugins.Adapter, ran *Ran, since uint64, began time.Time, o RunOptions) error {
	const patience = 5 * time.Second // for Ctrl-D to be taken
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

// note tells of the states since an event, and returns the number of the last.
func (r *Ran) note(a *plugins.Adapter, since uint64, began time.Time, to io.Writer) uint64 {
	events, next, _ := a.Events(since)
	now := a.State()
	for i, e := range events {
		if e.Kind != "state" {
			continue
		}
		c := Change{At: e.At.Sub(began), From: e.Previous, To: e.State}
		if !slices.ContainsFunc(events[i+1:], func(l plugins.Event) bool { return l.Kind == "state" }) && now.State == e.State {
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

// record begins a case.
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
	if err := root.MkdirAll(casesDir, 0o777); err != nil { // an error, too, where a link leads out of the folder
		return nil, fmt.Errorf("make %s: %w", dir, bare(err))
	}
	path := filepath.Join(dir, o.Record+castExt)
	for _, ext := range []string{castExt, screenExt, expectedExt} {
		if exists(filepath.Join(dir, o.Record+ext)) {
			return nil, fmt.Errorf("there is a case %s already: give --record another name, or remove %s", o.Record, filepath.Join(dir, o.Record+ext))
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

// pass types what a person types, as it comes.
func pass(ctx context.Context, s *engine.Session, in io.Reader) error {
	b := make([]byte, 4<<10)
	for {
		n, err := in.Read(b)
		if n > 0 {
			if _, err := s.Do(ctx, engine.Text(b[:n])); err != nil {
				return nil // the program's end is told elsewhere
			}
		}
		if err != nil {
			return nil
		}
	}
}

// lines types a pipe's lines, each when the plugin says that one can be taken, and returns when it does again after the last.
func lines(ctx context.Context, a *plugins.Adapter, o RunOptions) error {
	r := bufio.NewScanner(o.In)
	r.Buffer(nil, 64<<10)
	var since *engine.Position
	typed := 0
	for more := true; more; {
		more = r.Scan()
		if !more && typed == 0 { // nothing to type: the program has its time before the pipe's end is its own
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
		case errors.Is(err, engine.ErrEnded), errors.Is(err, engine.ErrClosed), ctx.Err() != nil: // that is told elsewhere
			return nil
		case err != nil:
			return err
		case !more:
			return r.Err()
		}
		_, _ = a.Session().Wait(ctx, matchers.Any(matchers.Stable(pace), matchers.Exited()), engine.Within(paceBound))
		done, err := a.Session().Do(ctx, engine.Text(r.Text()+"\r"))
		if err != nil {
			return nil
		}
		since = engine.After(done.Sequence)
		typed++
	}
	return r.Err()
}

// ready waits until the plugin says that a line can be taken, or its turn is over when it does not tell the former. Of a plugin that
// tells neither nothing is waited for.
func ready(ctx context.Context, a *plugins.Adapter, since *engine.Position, patience time.Duration) error {
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

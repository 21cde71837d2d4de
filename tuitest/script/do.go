package script

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/engine/locate"
	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/redact"
	"github.com/ptywright/ptywright/tuitest/internal/driver"
)

// The actions of the verbs.
type (
	setSizes    struct{}
	setEnv      []word
	setTimeout  time.Duration
	setMask     golden.Mask
	unmask      []string
	allowResize struct{}
	skip        string
	execute     struct {
		words []word
		not   bool
	}
	shot     struct{ path, format string }
	spawn    []word
	typeText struct {
		text  word
		enter bool
	}
	typeSecret struct {
		name  string
		enter bool
	}
	press []vt.Key
	paste struct{ text word }
	click struct {
		at     locate.Locator
		words  string
		button vt.MouseButtonCode
		times  int
		within time.Duration // 0: the script's
	}
	drag struct {
		from, to           locate.Locator
		fromWords, toWords string
		within             time.Duration // 0: the script's
	}
	scroll struct {
		at     locate.Locator
		words  string // "": the middle of the screen
		button vt.MouseButtonCode
		times  int
		within time.Duration // 0: the script's
	}
	resize     Size
	sendSignal string
	stop       struct{}
)

func (setSizes) do(_ context.Context, p *player, r *StepResult) error {
	if size := p.o.Size; size.Rows > size.Cols {
		r.Note = fmt.Sprintf("rows come before columns: did you mean %v?", Size{size.Cols, size.Rows})
	}
	return nil
}

func (a setEnv) do(_ context.Context, p *player, _ *StepResult) error {
	for _, w := range a {
		name, value, _ := strings.Cut(w.expand(p.value), "=")
		p.env[name] = value
	}
	p.knowEnv()
	return nil
}

func (a setTimeout) do(_ context.Context, p *player, _ *StepResult) error {
	p.timeout = time.Duration(a)
	return nil
}

func (a setMask) do(_ context.Context, p *player, _ *StepResult) error {
	p.masks = append(without(p.masks, a.Name), golden.Mask(a)) // the newest of a name counts
	return nil
}

func (a unmask) do(_ context.Context, p *player, _ *StepResult) error {
	p.masks = without(p.masks, a...)
	return nil
}

// without returns masks but for those of some names.
func without(masks []golden.Mask, names ...string) []golden.Mask {
	return slices.DeleteFunc(slices.Clone(masks), func(m golden.Mask) bool { return slices.Contains(names, m.Name) })
}

func (allowResize) do(_ context.Context, p *player, _ *StepResult) error {
	p.shake = true
	return nil
}

// A skipError ends a script that does not apply here.
type skipError struct{ why string }

func (e *skipError) Error() string { return "skipped: " + e.why }

func (a skip) do(context.Context, *player, *StepResult) error { return &skipError{string(a)} }

const (
	// maxPrinted bounds what of a command's output is kept as evidence, in bytes.
	maxPrinted = 64 << 10
	// mostBefore is how much is kept before that, since what begins there may be a secret's end: no
	// secret that is looked for is longer.
	mostBefore = 64 << 10
)

// A tailWriter keeps the end of what is written.
type tailWriter struct {
	data []byte
	cut  bool // something before data is gone
}

func (w *tailWriter) Write(p []byte) (int, error) {
	w.data = append(w.data, p...)
	const most = maxPrinted + mostBefore
	if over := len(w.data) - most; over > most {
		w.data, w.cut = append(w.data[:0], w.data[over:]...), true
	}
	return len(p), nil
}

// text returns the end, hidden before it is cut: half a secret is not recognised.
func (w *tailWriter) text(hide func(string) string) string {
	text := hide(string(bytes.ToValidUTF8(w.data, []byte("\uFFFD"))))
	if w.cut {
		text = text[min(len(text), mostBefore):]
	}
	return strings.ToValidUTF8(text[max(0, len(text)-maxPrinted):], "")
}

// drainBound is how long a command's output is read when it has ended and something that it started
// holds it open.
const drainBound = 2 * time.Second

func (a *execute) do(ctx context.Context, p *player, r *StepResult) error {
	argv := p.expand(a.words)
	p.ran = true
	r.Note = shellNote(a.words)
	path, err := p.lookPath(argv[0])
	if err != nil {
		return p.missing(argv[0], err, "exec")
	}
	bound := p.bound(0)
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	var out tailWriter
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Args[0], cmd.Dir, cmd.Env = argv[0], p.dir, p.environ()
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, drainBound
	err = cmd.Run()
	var ended *exec.ExitError
	switch {
	case err == nil && !a.not, errors.As(err, &ended) && a.not && ctx.Err() == nil:
		return nil
	case err == nil:
		return &Failure{Why: "it succeeded, and has to fail", Reason: "exec", Evidence: out.text(p.hide),
			Next: "read what it printed"}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &Failure{Why: fmt.Sprintf("it did not end within %v", bound), Reason: "timeout",
			Evidence: out.text(p.hide), Next: "timeout 2m before it gives it longer; a program with a screen is for spawn"}
	}
	return &Failure{Why: err.Error(), Reason: "exec", Evidence: out.text(p.hide), Next: "read what it printed"}
}

func (a *shot) do(_ context.Context, p *player, r *StepResult) error {
	s, err := p.running()
	if err != nil {
		return err
	}
	view := reading.New(s.View(), p.drive.Hide)
	data, err := picture.Draw(view.Screen(), a.format, picture.Options{Clean: view.Clean})
	if err != nil {
		return err
	}
	path := a.path
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.env["SCRIPT_DIR"], path)
	}
	r.Note = "wrote " + a.path
	return os.WriteFile(path, data, 0o666)
}

func pictureFormat(path string) (string, error) { return picture.FormatFor("", path) }

func (a spawn) do(ctx context.Context, p *player, r *StepResult) error {
	if s := p.drive.Session; s != nil && s.View().Exit == nil {
		return &Failure{Why: "a program is still running", Reason: "start",
			Next: "one runs at a time: say exit or stop before, or run the other with exec"}
	}
	argv := p.expand(a)
	p.ran = true
	r.Note = shellNote(a)
	if p.reel == nil {
		reel, err := newReel(p.castPath(), p.result.Name, p.o.Size, p.began, p.drive.Hide)
		if err != nil {
			return err
		}
		p.reel = reel
		p.mark(time.Now(), p.current)
	} else if err := p.reel.again(p.o.Size); err != nil {
		return err
	}
	err := p.drive.Spawn(ctx, engine.Config{
		Program: argv[0], Args: argv[1:], Dir: p.dir, ClearEnv: true, Env: p.env,
		Size: driver.SizeOf(p.o.Size.Rows, p.o.Size.Cols), Theme: p.o.Theme, Taps: []engine.Tap{p.reel},
	})
	if start := (*pty.StartError)(nil); errors.As(err, &start) && start.Op == "lookup" {
		return p.missing(argv[0], err, "start")
	}
	if err != nil {
		return err
	}
	p.typed, p.output = true, 0
	// Typed secrets are known by session. A recording that has failed says so at its end.
	_ = p.reel.SetRedactor(p.drive.Hide.For(string(p.drive.Session.ID())))
	return nil
}

// input does something to the program.
func (p *player) input(ctx context.Context, r *StepResult, make func(s *engine.Session) (engine.Action, error),
	options ...engine.DoOption) error {
	s, err := p.running()
	if err != nil {
		return err
	}
	a, err := make(s)
	if err != nil {
		return err
	}
	if err := p.drive.Do(ctx, a, options...); err != nil {
		return err
	}
	p.typed = true
	if since := p.drive.Since(); since != nil {
		r.Sequence = since.Seq
	}
	return p.o.Stress.resizes(ctx, p)
}

// known makes an action that does not depend on the session.
func known(a engine.Action) func(*engine.Session) (engine.Action, error) {
	return func(*engine.Session) (engine.Action, error) { return a, nil }
}

const enterKey = "\r"

func (a *typeText) do(ctx context.Context, p *player, r *StepResult) error {
	text := driver.Typed(a.text.expand(p.value))
	if a.enter {
		text += enterKey
	}
	return p.input(ctx, r, known(text))
}

func (a *typeSecret) do(ctx context.Context, p *player, r *StepResult) error {
	value := os.Getenv(a.name)
	if value == "" {
		return &Failure{Why: fmt.Sprintf("the variable %s is not set where ptywright runs", a.name),
			Reason: "secret", Next: fmt.Sprintf("set it, or begin the script with [!env:%s] skip", a.name)}
	}
	if len(value) < redact.MinKnown {
		return &Failure{Why: fmt.Sprintf("the value of %s has fewer than %d bytes: so short a text cannot be hidden", a.name, redact.MinKnown),
			Reason: "secret", Next: "use a longer one"}
	}
	p.drive.Known.Add(value)
	text := driver.Typed(value)
	if a.enter {
		text += enterKey
	}
	return p.input(ctx, r, known(text))
}

func (a press) do(ctx context.Context, p *player, r *StepResult) error {
	return p.input(ctx, r, known(driver.Keys(a...)))
}

func (a *paste) do(ctx context.Context, p *player, r *StepResult) error {
	return p.input(ctx, r, func(*engine.Session) (engine.Action, error) {
		return p.drive.Paste(a.text.expand(p.value)), nil
	})
}

func (a resize) do(ctx context.Context, p *player, r *StepResult) error {
	return p.input(ctx, r, known(engine.Resize(driver.SizeOf(a.Rows, a.Cols))))
}

func (a sendSignal) do(ctx context.Context, p *player, r *StepResult) error {
	return p.input(ctx, r, known(engine.Signal(pty.Signal(a))))
}

func (stop) do(ctx context.Context, p *player, _ *StepResult) error {
	s, err := p.running()
	if err != nil {
		return err
	}
	return s.Kill(ctx)
}

// errMoved: what was to be pressed on has moved since it was found.
var errMoved = errors.New("it moved")

// maxMoves bounds how often a place is looked for again because it moved.
const maxMoves = 20

// at waits until a locator means one place, and does what act makes of its middle while it is still
// there.
func (p *player) at(ctx context.Context, r *StepResult, l locate.Locator, words string, within time.Duration,
	act func(row, col int) (engine.Action, error)) error {
	if _, err := p.running(); err != nil {
		return err
	}
	for range maxMoves {
		bound := p.bound(within)
		m := p.drive.Place(l, words)
		out, err := p.drive.Wait(ctx, m, engine.Within(bound))
		if err != nil {
			return p.unplaced(l, words, out, m, err, bound)
		}
		place, err := l.One(out.View.Screen)
		if err != nil { // it held for that view
			return err
		}
		row, col := place.Center()
		a, err := act(row, col)
		if err != nil {
			return err
		}
		err = p.input(ctx, r, known(a), engine.Only(func(v *engine.View) error {
			now, err := l.One(v.Screen)
			if err != nil || !now.Has(row, col) {
				return errMoved
			}
			return nil
		}))
		if !errors.Is(err, errMoved) {
			return err
		}
	}
	return &Failure{Why: fmt.Sprintf("%s moved each of %d times before it could be pressed", words, maxMoves),
		Reason: "input", Next: "wait until the screen is still: wait stable 200ms"}
}

func (a *click) do(ctx context.Context, p *player, r *StepResult) error {
	return p.at(ctx, r, a.at, a.words, a.within, func(row, col int) (engine.Action, error) {
		return driver.Click(row, col, a.button, a.times), nil
	})
}

func (a *drag) do(ctx context.Context, p *player, r *StepResult) error {
	s, err := p.running()
	if err != nil {
		return err
	}
	bound := p.bound(a.within)
	m := p.drive.Place(a.to, a.toWords)
	if out, err := p.drive.Wait(ctx, m, engine.Within(bound)); err != nil {
		return p.unplaced(a.to, a.toWords, out, m, err, bound)
	}
	return p.at(ctx, r, a.from, a.fromWords, a.within, func(row, col int) (engine.Action, error) {
		to, err := a.to.One(s.View().Screen)
		if err != nil {
			return nil, &Failure{Why: err.Error(), Reason: "input",
				Next: "wait until the screen is still: wait stable 200ms"}
		}
		return driver.Drag(row, col, to, s.View().Screen.Modes.Mouse), nil
	})
}

func (a *scroll) do(ctx context.Context, p *player, r *StepResult) error {
	wheel := func(row, col int) (engine.Action, error) {
		return driver.Wheel(row, col, a.button, a.times), nil
	}
	if a.words != "" {
		return p.at(ctx, r, a.at, a.words, a.within, wheel)
	}
	return p.input(ctx, r, func(s *engine.Session) (engine.Action, error) {
		screen := s.View().Screen
		return wheel(screen.Rows/2, screen.Cols/2)
	})
}

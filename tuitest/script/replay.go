package script

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/tuitest/internal/driver"
)

// ErrNoMarks: a recording has no markers of the script's steps.
var ErrNoMarks = errors.New("the recording has no markers of this script's steps: judge one that " +
	"ptywright test has kept of it")

// Judge holds a script against a recording that an earlier run of it has left, without a program: each
// wait, expectation, golden screen and exit against what was shown between its own marker and the
// next step's. Steps that do something are taken as done. Lines may have been added or changed
// since. Of o only Size and CI count; no golden screen is written, but those that differ are noted for
// a review. The error is [ErrNoMarks], the recording's, or the cause of ctx's end.
func Judge(ctx context.Context, s *Script, rec *record.Recording, o Options) (*Result, Goldens, error) {
	o.Update = golden.UpdateNone
	p := newPlayer(s, o)
	p.drive = driver.New(engine.Options{})
	defer p.drive.Close(ctx)
	scenes, err := p.cut(ctx, rec)
	if err != nil {
		return nil, p.keep, err
	}
	if len(scenes) == 0 {
		return nil, p.keep, ErrNoMarks
	}
	begun, lacks := false, 0
	for _, st := range s.Steps {
		sc := scenes[st]
		r, err := p.judge(ctx, st, sc)
		begun = begun || sc != nil
		if begun && sc == nil && st.Kind != Setting { // what came before the first program was not recorded
			r.Outcome, r.Note = Skipped, "the recording does not have this step"
			lacks++
		}
		if err != nil {
			r.Outcome, r.Failure = Failed, p.failure(err, r.Text)
			p.result.Outcome = Failed
		}
		p.result.Steps = append(p.result.Steps, r)
		if err != nil {
			break
		}
	}
	if p.result.Outcome == Passed && lacks > 0 {
		p.result.Why = fmt.Sprintf("the recording does not have %d of its steps", lacks)
	}
	p.result.Took = Millis(rec.Duration())
	return p.result, p.keep, nil
}

// judge judges one step; sc is nil for one that the recording does not have.
func (p *player) judge(ctx context.Context, st *Step, sc *scene) (r StepResult, err error) {
	r = StepResult{Line: st.Line, Col: st.Col, Text: p.hide(st.Text), Verb: st.Verb, Kind: st.Kind,
		Outcome: Passed}
	switch a := st.does.(type) {
	case setMask, unmask:
		return r, a.do(ctx, p, &r)
	}
	if sc == nil {
		return r, nil
	}
	r.Began, r.Took = Millis(sc.from), Millis(sc.to-sc.from)
	if last := sc.last(); last != nil {
		r.Sequence, r.Screen = last.Sequence, p.drive.Shown(last).Text()
	}
	if j, ok := st.does.(judged); ok {
		err = j.judge(p, sc)
	}
	return r, err
}

// judged actions say something about what was shown.
type judged interface {
	action
	judge(p *player, sc *scene) error
}

// A scene is what a recording shows while a step lasted.
type scene struct {
	from, to time.Duration
	// views are what was shown, in order; the first is what the step found.
	views []*engine.View
	since *engine.Position // the last input; nil: there was none
	exit  *int             // of the program, when it had ended by then
}

func (s *scene) last() *engine.View {
	if len(s.views) == 0 {
		return nil
	}
	return s.views[len(s.views)-1]
}

// maxViews bounds the views that are kept of one step: of a flood the newest are.
const maxViews = 50_000

func (s *scene) add(v *engine.View) {
	if len(s.views) == maxViews {
		s.views = append(s.views[:0], s.views[maxViews/2:]...)
	}
	s.views = append(s.views, v)
}

// replayed is when a replayed program started: see package record.
func replayed(t time.Time) time.Duration { return t.Sub(time.Unix(0, 0)) }

// cut cuts a recording into the scenes of the script's steps.
func (p *player) cut(ctx context.Context, rec *record.Recording) (map[*Step]*scene, error) {
	marks := p.marks(rec)
	scenes := map[*Step]*scene{}
	replay := record.NewReplay(rec)
	var before *engine.View
	var since *engine.Position
	var exit *int
	current := new(scene)
	pass := func(until time.Duration) { // the markers up to a time
		for len(marks) > 0 && marks[0].at <= until {
			m := marks[0]
			marks = marks[1:]
			if m.step == nil {
				exit = &m.exit
				current.exit = exit
				continue
			}
			current.to = m.at
			switch m.step.Kind {
			case Start:
				since, exit = nil, nil
			case Input:
				if before != nil {
					since = engine.After(before.Sequence)
				}
			}
			current = &scene{from: m.at, to: rec.Duration(), since: since, exit: exit}
			if before != nil {
				current.add(before)
			}
			scenes[m.step] = current
		}
	}
	for v := range replay.Views() {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		pass(replayed(v.At)) // of one microsecond the marker came first
		current.add(v)
		before = v
	}
	pass(rec.Duration())
	return scenes, replay.Err()
}

// A mark is a marker of a recording: a step began, or without one the program ended.
type mark struct {
	at   time.Duration
	step *Step
	exit int
}

// marks returns the recording's markers, with the steps that they belong to. Those that only change
// settings do not count. A step is found by its text, and where that was changed by its verb.
func (p *player) marks(rec *record.Recording) (out []mark) {
	var steps []*Step
	for _, st := range p.script.Steps {
		if st.Kind != Setting {
			steps = append(steps, st)
		}
	}
	for e := range rec.Events() {
		if e.Kind != record.EventMarker {
			continue
		}
		if code, ok := strings.CutPrefix(e.Text, exitMark); ok {
			if n, err := strconv.Atoi(code); err == nil {
				out = append(out, mark{at: e.At, exit: n})
			}
			continue
		}
		label, ok := labelOf(e.Text)
		if !ok {
			continue
		}
		i := find(steps, func(st *Step) bool { return p.label(st) == label })
		if i < 0 {
			verb := verbOf(label)
			i = find(steps, func(st *Step) bool { return st.Verb == verb })
		}
		if i >= 0 {
			out = append(out, mark{at: e.At, step: steps[i]})
			steps = steps[i+1:]
		}
	}
	return out
}

func find(steps []*Step, is func(*Step) bool) int {
	for i, st := range steps {
		if is(st) {
			return i
		}
	}
	return -1
}

// verbOf is the verb of a step's text.
func verbOf(text string) string {
	for _, w := range strings.Fields(text) {
		if !strings.HasPrefix(w, "[") && w != "!" {
			return w
		}
	}
	return ""
}

// held reports whether a matcher held at some time of a scene.
func (s *scene) held(m matchers.Matcher, event bool) bool {
	for i, v := range s.views {
		if event && s.since != nil {
			c := *v
			c.Since = engine.Since{Position: *s.since, Set: true}
			v = &c
		}
		until := s.to
		if i+1 < len(s.views) {
			until = replayed(s.views[i+1].At)
		}
		for {
			r := m.Check(v)
			if r.Match != nil {
				return true
			}
			if r.Recheck <= 0 || replayed(v.At)+r.Recheck > until {
				break
			}
			c := *v // time alone may change the answer
			c.At = c.At.Add(r.Recheck)
			v = &c
		}
	}
	return false
}

// unshown is the failure of a step that nothing in its scene meets.
func (p *player) unshown(m matchers.Matcher, sc *scene) error {
	f := &Failure{Why: fmt.Sprintf("nothing that the recording shows from %v to %v meets it",
		Millis(sc.from), Millis(sc.to)), Reason: "timeout", Next: "see it with ptywright play"}
	if last := sc.last(); last != nil {
		shown := p.drive.Shown(last)
		e := m.Explain(last, matchers.Shown{Screen: shown, Title: p.hide(last.Screen.Title)})
		f.Evidence = fmt.Sprintf("%s: %s\nthe last screen:\n%s\n", e.Type, e.Why, shown.Text())
	}
	return f
}

func (a *wait) judge(p *player, sc *scene) error {
	if m := a.look.make(p, true); !sc.held(m, true) {
		return p.unshown(m, sc)
	}
	return nil
}

func (a *expect) judge(p *player, sc *scene) error {
	m := a.look.make(p, false)
	if a.not {
		m = matchers.Not(m)
	}
	if !sc.held(m, false) {
		return p.unshown(m, sc)
	}
	return nil
}

func (a *exit) judge(p *player, sc *scene) error {
	last := sc.last()
	if sc.exit == nil || last == nil {
		return &Failure{Why: "the recording does not show that the program ended", Reason: "exit",
			Next: "see it with ptywright play"}
	}
	end := &engine.Exit{Exit: pty.Exit{Code: *sc.exit}}
	if a.signal != "" && end.Code > 128 { // a recording has the code that shells give a signal
		end.Signal = a.signal
	}
	return a.met(end, p.drive.Shown(last))
}

func (a *screen) judge(p *player, sc *scene) error {
	want, section := p.script.golden(a.name, p.o.Size)
	if want == nil {
		return &Failure{Why: fmt.Sprintf("the script has no section %s", section),
			Reason: "missing_golden", Next: "run the script with --update missing"}
	}
	want = a.narrowed(want, p)
	g := driver.NewGolden(want, section, p.drive.Shown)
	m := g.Matcher()
	last := sc.last()
	switch {
	case sc.held(m, false):
		return nil
	case last == nil:
		return p.unshown(m, sc)
	}
	f := a.differs(p, g, want, section, last)
	if f.Golden.Nearest != nil {
		f.Why = "no frame of the recording equals it; the nearest differs: " + f.Golden.differing()
		f.Next = "correct the golden screen or its masks and judge it again, or mend the program"
	}
	return f
}

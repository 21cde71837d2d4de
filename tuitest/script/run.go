package script

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/tuitest/internal/driver"
)

// Options say how a script is run.
type Options struct {
	Size Size // one of the script's
	// Dir is an empty folder for this run alone: the program's home, its working folder when the
	// script has files, and the recording are made in it.
	Dir string
	// Update says which golden screens are to be written; see [Goldens].
	Update golden.Update
	// CI: nothing is written for a review either.
	CI bool
	// Strict makes vacuous and suspicious steps failures.
	Strict bool
	// Timeout bounds each step that says nothing else; 0: [engine.DefaultWait].
	Timeout time.Duration
	// Inherit names variables that the programs get from this process's environment, besides PATH.
	Inherit []string
	// Env is the environment of the programs; nil: one of their own, see Inherit.
	Env map[string]string
	// WorkDir is their working folder; "": the script's.
	WorkDir string
	// Theme is what the terminal tells programs of its colours.
	Theme vt.Theme
	// Step is called after each step; it may be nil.
	Step func()
	// Watch ends the programs when this process is killed outright; it may be nil.
	Watch engine.Watcher
	// Stress disturbs the run; nil: not at all.
	Stress *Stress
}

// Goldens are the golden screens that a run is to keep.
type Goldens struct {
	Write   []Golden // into the script: [Script.Keep]
	Pending []Golden // beside it, for a review: [Script.KeepPending]
}

// closeBound is how long the programs of a script may take to end, even when the run is cancelled.
const closeBound = 10 * time.Second

// Run runs a script once, at one size. It ends the programs that it has started, and leaves the
// recording in o.Dir. When ctx ends the rest of the script is not run, and the result says so; what
// went wrong is in the result.
func Run(ctx context.Context, s *Script, o Options) (*Result, Goldens) {
	p := newPlayer(s, o)
	p.began = p.result.Began
	p.drive = driver.New(engine.Options{Watch: o.Watch, Start: o.Stress.start(o.Watch)})
	if err := p.prepare(); err != nil {
		p.fail(&Failure{Doing: "prepare the run", Why: err.Error(), Reason: "failed",
			Next: "see that the temporary folder can be written: TMPDIR names another"})
	} else {
		p.steps(ctx)
	}
	if p.result.Outcome == Passed && !p.ran {
		p.fail(&Failure{Doing: "run the script", Why: "nothing was tested: no program was started", Reason: "start",
			Next: "start one with spawn PROGRAM; where the script does not apply, say so with [CONDITION] skip 'why'"})
	}
	p.end(ctx)
	p.result.Took = Millis(time.Since(p.began))
	return p.result, p.keep
}

// A player runs a script.
type player struct {
	script *Script
	o      Options
	result *Result
	keep   Goldens
	drive  *driver.Driver
	began  time.Time

	current *Step
	env     map[string]string
	dir     string // the working folder
	timeout time.Duration
	masks   []golden.Mask
	shake   bool // the terminal may be resized under stress

	reel  *reel        // the recording; nil before the first program
	typed bool         // there was an input since the last golden screen
	shown *golden.File // that golden screen; nil: there was none
	named string       // its name
	// met are the lines of the steps that compared with a section, or wrote it, in this run.
	met map[string]int
	// hidden, echo and acted are for tapes: whether what comes is shown, the line that Enter has ended
	// last, and when the last key was sent.
	hidden bool
	echo   *typedLine
	acted  time.Time
	ran    bool          // a program was started, by spawn or exec
	output engine.Offset // of the transcript when the step began
}

func newPlayer(s *Script, o Options) *player {
	p := &player{script: s, o: o, began: time.Unix(0, 0), timeout: o.Timeout, met: map[string]int{}}
	p.result = &Result{Script: s.Path, Name: s.Name(), Size: o.Size.String(), Began: time.Now(),
		Outcome: Passed, Steps: []StepResult{}, Attempt: 1, Run: 1}
	if s.tape {
		p.result.Film, p.hidden = &Film{}, true
	}
	if len(s.Sizes) > 1 {
		p.result.Name += "@" + p.result.Size
	}
	if p.timeout <= 0 {
		p.timeout = engine.DefaultWait
	}
	return p
}

// An action is what a step does.
type action interface {
	do(ctx context.Context, p *player, r *StepResult) error
}

// prepare makes the environment and the working folder.
func (p *player) prepare() error {
	home := filepath.Join(p.o.Dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		return err
	}
	dir, err := p.script.dir()
	if p.o.WorkDir != "" {
		dir, err = filepath.Abs(p.o.WorkDir)
	}
	if err != nil {
		return err
	}
	p.dir = dir
	if len(p.script.archive.files()) > 0 {
		p.dir = filepath.Join(home, "files") // which programs show as ~/files, on every run
		if err := os.Mkdir(p.dir, 0o700); err != nil {
			return err
		}
		if err := p.script.archive.unpack(p.dir); err != nil {
			return err
		}
	}
	if p.o.Env != nil {
		p.env = maps.Clone(p.o.Env)
	} else {
		set := map[string]string{"SCRIPT_DIR": dir, "WORK": p.dir, "PWD": p.dir}
		p.env, err = driver.Hermetic(home, p.o.Inherit, set)
	}
	if err == nil {
		p.knowEnv()
		p.knowScript()
	}
	return err
}

// knowScript makes the secrets known that the script will set, before a step can show one.
func (p *player) knowScript() {
	var all []string
	for _, st := range p.script.Steps {
		if env, ok := st.does.(setEnv); ok {
			all = append(all, p.expand(env)...)
		}
	}
	p.drive.Known.AddEnv(all)
}

// knowEnv makes the secrets of the environment known.
func (p *player) knowEnv() {
	var all []string
	for name, value := range p.env {
		all = append(all, name+"="+value)
	}
	p.drive.Known.AddEnv(all)
}

// steps runs the steps up to the first that fails.
func (p *player) steps(ctx context.Context) {
	for _, st := range p.script.Steps {
		if ctx.Err() != nil {
			p.interrupted(st)
			return
		}
		r, goesOn := p.step(ctx, st)
		if p.o.Step != nil {
			p.o.Step()
		}
		p.result.Steps = append(p.result.Steps, r)
		if !goesOn {
			return
		}
	}
}

func (p *player) interrupted(st *Step) {
	p.result.Outcome = Interrupted
	p.result.Why = fmt.Sprintf("interrupted at line %d", st.Line)
}

// step runs one step.
func (p *player) step(ctx context.Context, st *Step) (r StepResult, goesOn bool) {
	began := time.Now()
	r = StepResult{File: st.File, Line: st.Line, Col: st.Col, Text: p.drive.Hide.String(st.Text), Verb: st.Verb,
		Kind: st.Kind, Began: p.since(began), Outcome: Passed}
	for _, c := range st.conditions {
		if !c.holds(p) {
			r.Outcome, r.Note = Skipped, "["+c.text+"] does not hold"
			return r, true
		}
	}
	p.current = st
	p.mark(began, st)
	if s := p.drive.Session; s != nil {
		_, p.output = s.View().Transcript.Bounds()
	}
	err := st.does.do(ctx, p, &r)
	r.Took = Millis(time.Since(began))
	if s := p.drive.Session; s != nil {
		v := s.View()
		if r.Sequence == 0 {
			r.Sequence = v.Sequence
		}
		if st.Kind != Setting {
			r.Screen = p.drive.Shown(v).Text()
		}
	}
	if r.Vacuous && r.Note == "" {
		r.Note = "it held before the program reacted to the input before it, and the program did not react"
	}
	if err == nil && p.o.Strict && (r.Vacuous || r.Suspicious) {
		err = &Failure{Doing: r.Text, Why: r.Note, Reason: "suspicious",
			Next: "wait for what the input brings about, with wait"}
		if r.Vacuous {
			err.(*Failure).Reason = "vacuous"
		}
	}
	skipped := (*skipError)(nil)
	switch {
	case err == nil:
		return r, true
	case errors.As(err, &skipped):
		p.result.Outcome, p.result.Why = Skipped, p.drive.Hide.String(skipped.why)
		r.Outcome = Skipped
		return r, false
	case ctx.Err() != nil:
		r.Outcome = Interrupted
		p.interrupted(st)
		return r, false
	}
	r.Outcome, r.Failure = Failed, p.failure(err, r.Text)
	p.result.Outcome = Failed
	return r, false
}

// since is a time as the recording counts.
func (p *player) since(t time.Time) Millis { return Millis(t.Sub(p.began)) }

// fail notes what went wrong outside of the steps.
func (p *player) fail(f *Failure) {
	p.result.Outcome = Failed
	if p.result.Failure == nil {
		f.Why, f.Evidence = p.drive.Hide.String(f.Why), p.drive.Hide.String(f.Evidence)
		p.result.Failure = f
	}
}

// end ends the program and the recording.
func (p *player) end(ctx context.Context) {
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeBound)
	defer cancel()
	p.hideAgain()
	if err := p.drive.Close(bound); err != nil {
		p.fail(&Failure{Doing: "end the program", Why: err.Error(), Reason: "cleanup",
			Next: "look with ps for what it has left"})
	}
	if p.reel != nil {
		if err := p.reel.finish(); err != nil && p.result.Failure == nil {
			p.fail(&Failure{Doing: "record the session", Why: err.Error(), Reason: "cleanup",
				Next: "see that the temporary folder has room: TMPDIR names another"})
		}
		if p.drive.Session != nil {
			p.result.Recording = p.reel.path
		}
	}
}

// running returns the session of the program, which has to be there.
func (p *player) running() (*engine.Session, error) {
	if p.drive.Session == nil {
		return nil, &Failure{Why: "no program was started", Reason: "start",
			Next: "start one before, with spawn PROGRAM"}
	}
	return p.drive.Session, nil
}

// value returns a variable of the script.
func (p *player) value(name string) string { return p.env[name] }

// expand returns words with their variables' values.
func (p *player) expand(words []word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.expand(p.value)
	}
	return out
}

// environ is the environment as a list, sorted.
func (p *player) environ() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(p.env)) {
		out = append(out, name+"="+p.env[name])
	}
	return out
}

// lookPath finds a program as the terminal does: in the PATH of the script, or with a separator from
// the working folder.
func (p *player) lookPath(name string) (string, error) {
	if strings.ContainsRune(name, '/') || runtime.GOOS == "windows" && strings.ContainsRune(name, '\\') {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.dir, name)
		}
		return exec.LookPath(name)
	}
	for _, dir := range filepath.SplitList(p.env["PATH"]) {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(p.dir, dir)
		}
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// bound is how long a step waits.
func (p *player) bound(own time.Duration) time.Duration {
	if own > 0 {
		return own
	}
	return p.timeout
}

// cursorMoved reports whether the cursor is elsewhere than at the last input.
func (p *player) cursorMoved(v *engine.View) bool { return p.drive.CursorMoved(v) }

// screenOf returns what a view shows, with secrets hidden.
func (p *player) screenOf(v *engine.View) *vt.Screen { return p.drive.Shown(v) }

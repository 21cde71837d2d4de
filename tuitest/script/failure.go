package script

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/locate"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/tuitest/internal/driver"
)

// Error says what failed, why, and what to do.
func (f *Failure) Error() string {
	var parts []string
	for _, s := range []string{f.Doing, f.Why, f.Next} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ": ")
}

// FailureOf tells of an error that a script could not be read for.
func FailureOf(path string, err error) *Failure {
	f := &Failure{Doing: "read " + path, Why: err.Error(), Reason: "failed"}
	if at := (*ParseError)(nil); errors.As(err, &at) {
		f.Reason, f.Line, f.Col, f.Likely, f.Why = "syntax", at.Line, at.Col, at.Likely, at.Msg
		f.Next = fmt.Sprintf("correct line %d", at.Line)
		meant := ": did you mean "
		if len(at.More) > 0 {
			f.Next, meant = "correct these lines", fmt.Sprintf("; in line %d, did you mean ", at.Line)
		}
		if at.Likely != "" {
			f.Next += meant + at.Likely + "?"
		}
		for _, more := range at.More {
			f.Evidence += more.Error() + "\n"
		}
	}
	return f
}

// failure makes a Failure of a step's error.
func (p *player) failure(err error, doing string) *Failure {
	f := (*Failure)(nil)
	if !errors.As(err, &f) {
		f = &Failure{Why: err.Error(), Reason: "failed"}
		start, blocked := (*pty.StartError)(nil), (*engine.InputBlockedError)(nil)
		switch {
		case errors.As(err, &start):
			f.Reason, f.Next = "start", "see that the name is right; a relative one counts from the working folder"
		case errors.As(err, &blocked):
			f.Reason, f.Next = "input", "the program hangs, or is busy with something else: wait for its prompt before you type"
		case errors.Is(err, engine.ErrEnded), errors.Is(err, engine.ErrClosed):
			f.Reason, f.Next = "ended", "the program has ended: what it showed last is below; if it should end here, say exit before"
		case errors.Is(err, engine.ErrNoMouse):
			f.Reason, f.Next = "input", "the program has not asked for the mouse: wait until it has drawn itself, or use keys"
		case errors.Is(err, syscall.ENOSPC):
			f.Next = "make room on the disk; TMPDIR names another folder for what a run needs"
		case errors.Is(err, engine.ErrNoKey):
			f.Reason, f.Next = "input", "press another key: terminals send nothing for this one"
		}
		if s := p.drive.Session; s != nil && f.Evidence == "" && f.Reason != "start" {
			f.Evidence = "the last screen:\n" + p.drive.Shown(s.View()).Text() + "\n"
		}
	}
	if f.Doing == "" {
		f.Doing = doing
	}
	f.Doing, f.Why, f.Next = p.hide(f.Doing), p.hide(f.Why), p.hide(f.Next)
	f.Evidence = p.hide(f.Evidence)
	return f
}

// missing is the failure of a program that was not found, with where it was looked for.
func (p *player) missing(name string, err error, reason string) *Failure {
	f := &Failure{Why: err.Error(), Reason: reason,
		Next: fmt.Sprintf("install it, write its path, or begin the script with [!exec:%s] skip", name)}
	if filepath.IsAbs(name) {
		return f
	}
	path := strings.ContainsAny(name, separators)
	if path {
		f.Why = fmt.Sprintf("%s; a relative path counts from %s", err, p.folder())
		f.Next = "correct the path, or build the program before, with exec"
	}
	beside := filepath.Join(p.env["SCRIPT_DIR"], name)
	switch info, err := os.Stat(beside); {
	case err != nil || info.IsDir():
		if path && p.dir != p.env["SCRIPT_DIR"] {
			f.Next += "; $SCRIPT_DIR/NAME is a file beside the script"
		}
	case p.dir != p.env["SCRIPT_DIR"]:
		f.Next = fmt.Sprintf("it stands beside the script: write %s", "$SCRIPT_DIR/"+filepath.ToSlash(filepath.Clean(name)))
	case !path:
		f.Next = "it stands beside the script: write ./" + name
	default:
		f.Next = "the file is there, but cannot be run: chmod +x makes it a program"
	}
	return f
}

// separators are those between the parts of a path.
const separators = "/" + string(filepath.Separator)

// folder names the working folder for people.
func (p *player) folder() string {
	if p.dir == p.env["SCRIPT_DIR"] {
		return "the script's folder, " + p.dir
	}
	return "~/files, which holds the files of the script"
}

// unplaced is the failure of an input whose place was not found, or not just once.
func (p *player) unplaced(l locate.Locator, words string, out *engine.Outcome, m matchers.Matcher, err error,
	within time.Duration) error {
	unmet := p.unmet(out, m, err, within)
	f := (*Failure)(nil)
	if !errors.As(unmet, &f) || f.Reason != "timeout" {
		return unmet
	}
	if places, err := l.All(p.drive.Shown(out.View)); err == nil && len(places) > 1 {
		f.Why = fmt.Sprintf("timed out after %v: found %d places, and one is needed", within, len(places))
		f.Next = fmt.Sprintf("say which: first %s, nth 1 %s (the second), or %s in box 'TITLE'", words, words, words)
	}
	return unmet
}

// hide hides the secrets in a text.
func (p *player) hide(text string) string {
	if s := p.drive.Session; s != nil {
		return p.drive.Hide.For(string(s.ID())).String(text)
	}
	return p.drive.Hide.String(text)
}

// hideAgain hides in the result what has become known as a secret after it was noted: a line that a
// step has typed, and the program has read without echo.
func (p *player) hideAgain() {
	failure := func(f *Failure) {
		if f != nil {
			f.Doing, f.Why, f.Next, f.Evidence = p.hide(f.Doing), p.hide(f.Why), p.hide(f.Next), p.hide(f.Evidence)
		}
	}
	failure(p.result.Failure)
	for i := range p.result.Steps {
		r := &p.result.Steps[i]
		r.Text, r.Screen, r.Note = p.hide(r.Text), p.hide(r.Screen), p.hide(r.Note)
		failure(r.Failure)
	}
}

// flood is how much output in one step, in bytes, is a program that writes without end, if it still
// writes: one that draws a clock and meters writes a tenth of it in 30 seconds.
const flood = 512 << 10

// unmet makes a Failure of a wait that did not match: what was lacking, and why that may be.
func (p *player) unmet(out *engine.Outcome, m matchers.Matcher, err error, within time.Duration) error {
	f := &Failure{Why: err.Error(), Reason: "failed", Evidence: reading.Evidence(out, m, p.drive.Hide)}
	p.explain(f, out.View, err, within)
	return f
}

// explain says what a wait ended with, from what the session looks like.
func (p *player) explain(f *Failure, v *engine.View, err error, within time.Duration) {
	_, end := v.Transcript.Bounds()
	wrote, _ := p.drive.Reacted(v)
	switch {
	case errors.Is(err, context.Canceled):
	case v.Exit != nil && !v.Killed:
		f.Reason, f.Why = "ended", fmt.Sprintf("the program ended (%s) before that", v.Exit)
		if left := (*driver.OutlivedError)(nil); errors.As(err, &left) {
			f.Why += fmt.Sprintf("; what it left behind holds its terminal, and has written nothing for %v", left.For)
		}
		f.Next = "read what it printed last; if it should end here, say exit " + exitWord(v.Exit)
	case errors.Is(err, locate.ErrTooMuch):
		f.Next = "say where: X in box 'TITLE', or X in rect 0,0 5x80"
	case !errors.Is(err, engine.ErrTimeout):
		f.Next = "read what the last screen shows"
	case v.Secret:
		f.Reason = "secret"
		f.Why = fmt.Sprintf("after %v the program reads without echo, as for a password", within)
		f.Next = "type it with type-secret VARIABLE, or start the program so that it asks for none"
	case end-p.output > flood && v.At.Sub(v.Changed) < time.Second:
		f.Reason = "flood"
		f.Why = fmt.Sprintf("after %v, in which the program wrote %.1f MiB and went on", within, float64(end-p.output)/(1<<20))
		f.Next = "it may never stop: make it write less, or wait for its end with exit"
	case p.drive.Since() != nil && !wrote:
		f.Reason, f.Why = "timeout", fmt.Sprintf("timed out after %v; the program has not reacted to the last input", within)
		f.Next = "it hangs, or takes another key here: see what it shows, and wait for its prompt before you type"
	default:
		f.Reason, f.Why = "timeout", fmt.Sprintf("timed out after %v", within)
		f.Next = "compare what was expected with the last screen; within 1m gives it longer"
	}
}

// exitWord is how a script expects such an end.
func exitWord(e *engine.Exit) string {
	if e.Signal != "" {
		return e.Signal
	}
	return fmt.Sprint(e.Code)
}

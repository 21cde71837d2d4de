package script

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/ptywright/ptywright/engine/golden"
)

// An Outcome is how a script or a step ended.
type Outcome string

const (
	Passed      Outcome = "passed"
	Failed      Outcome = "failed"
	Skipped     Outcome = "skipped"     // its conditions did not hold, or it says skip
	Interrupted Outcome = "interrupted" // the run was cancelled, as by Ctrl-C
)

// A Result is what came of one run of a script at one size. Nothing in it is secret: every text has
// been redacted. As JSON it is an object of the report.
type Result struct {
	Script  string  `json:"script"` // the file's path, as the run was given it
	Name    string  `json:"name"`   // the file's name without .ptw, and @24x80 where it has several sizes
	Size    string  `json:"size"`   // rows and columns: "24x80"
	Outcome Outcome `json:"outcome"`
	// Why says in one line why the script was skipped or interrupted, or could not be read, or what of
	// it a recording that was judged does not have; "" for others.
	Why   string       `json:"why,omitempty"`
	Steps []StepResult `json:"steps"` // those that ran, in order
	// Failure is what went wrong outside of the steps: a script that cannot be read, a program that
	// could not be ended, a golden that could not be written. nil: nothing.
	Failure   *Failure  `json:"failure,omitempty"`
	Recording string    `json:"recording,omitempty"` // the cast's path, with a marker a step; "": none was kept
	Began     time.Time `json:"began"`
	Took      Millis    `json:"took_ms"`
	Attempt   int       `json:"attempt"` // from 1; more with retries
	Run       int       `json:"run"`     // from 1; more with --repeat
	// Flaky: it passed, after an attempt that failed.
	Flaky bool `json:"flaky,omitempty"`
	// Wrote names the goldens that were written into the script, as its sections are named.
	Wrote []string `json:"wrote,omitempty"`
	// Film is what a tape's run has noted for its pictures; nil for scripts.
	Film *Film `json:"-"`
	// Again is the command that runs this again, in words for a shell.
	Again string `json:"again,omitempty"`
}

// A StepResult is what came of one step.
type StepResult struct {
	// File is that of a tape's step; "" for those of scripts.
	File string `json:"file,omitempty"`
	Line int    `json:"line"` // of the script, from 1
	Col  int    `json:"col"`  // of its verb, from 1, in bytes
	Text string `json:"text"` // as the script has it, without blanks at its ends
	Verb string `json:"verb"`
	Kind Kind   `json:"kind"`

	Began Millis `json:"began_ms"` // since the script's start, as the recording counts
	Took  Millis `json:"took_ms"`
	// Sequence is the session's when the step had ended; of an input the one right before it. 0: no
	// program ran.
	Sequence uint64  `json:"sequence"`
	Outcome  Outcome `json:"outcome"`
	// Vacuous: the step held, but before the program had reacted to the input before it.
	Vacuous bool `json:"vacuous,omitempty"`
	// Suspicious: the golden equals the one before it, though something was typed in between.
	Suspicious bool `json:"suspicious,omitempty"`
	// Note is what people should know of a step that did not fail: why it is vacuous, suspicious or
	// skipped, or that a golden was written. One line.
	Note string `json:"note,omitempty"`
	// Screen is what was shown after the step, as text: for waits, states and inputs of a program.
	Screen  string   `json:"screen,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
}

// A Kind groups verbs by what they do.
type Kind string

const (
	Setting Kind = "setting" // size, env, mask: how later steps are done
	Host    Kind = "host"    // exec, shot: beside the program
	Start   Kind = "start"   // spawn
	Input   Kind = "input"   // type, press, click, resize and others: what the program gets
	Event   Kind = "event"   // wait, exit: what came after the last input
	State   Kind = "state"   // expect, screen: what the screen shows
)

// A Failure says what went wrong.
type Failure struct {
	Doing string `json:"doing"`          // what was being done: "wait for text 'ready'"
	Why   string `json:"why"`            // one line: "timed out after 30s"
	Next  string `json:"next,omitempty"` // what to do about it; one line
	// Reason is a word for programs: syntax, start, timeout, ended, secret, flood, missing_golden,
	// differs, mask, exit, input, exec, vacuous, suspicious, cleanup, or failed for what is none of
	// these.
	Reason string `json:"reason"`
	// Evidence is what each part of a matcher lacked and the last screen, as tuitest prints it; of
	// exec what the command printed. Several lines.
	Evidence string `json:"evidence,omitempty"`
	// Golden is the comparison of a golden screen that failed.
	Golden *Comparison `json:"golden,omitempty"`
	// Line and Col are where a script cannot be read, from 1, and Likely is the word that was
	// probably meant; 0 and "" for others.
	Line   int    `json:"line,omitempty"`
	Col    int    `json:"col,omitempty"`
	Likely string `json:"likely,omitempty"`
}

// A Comparison is a golden screen that was not met.
type Comparison struct {
	Name string `json:"name"` // as the step has it
	File string `json:"file"` // where the golden is: the script
	// Section is the golden's section in File: "screen/main@24x80".
	Section string `json:"section"`
	// Pending is the file that was left for a review: File with this golden as it was seen. "": none
	// was.
	Pending string `json:"pending,omitempty"`

	Expected *Screen `json:"expected,omitempty"` // nil: there was no golden
	Actual   *Screen `json:"actual,omitempty"`   // the last frame; nil: a mask covered nothing in it
	// Nearest is the frame that came closest to Expected, NearestAt when it was shown since the
	// script's start, and NearestFor for how long. nil: no frame could be compared.
	Nearest    *Screen `json:"nearest,omitempty"`
	NearestAt  Millis  `json:"nearest_at_ms,omitempty"`
	NearestFor Millis  `json:"nearest_for_ms,omitempty"`
	// Cells counts the cells that differ in the nearest frame, and Diff says which: golden.Diff as
	// text.
	Cells int    `json:"cells"`
	Diff  string `json:"diff,omitempty"`
}

// Changes compares the nearest frame with what was expected, cell by cell; nil without either.
func (c *Comparison) Changes() *golden.Diff {
	if c.Expected == nil || c.Nearest == nil {
		return nil
	}
	return c.Expected.Diff(&c.Nearest.File)
}

// A Screen is a golden.File that is text in JSON: what a *.screen file has.
type Screen struct{ golden.File }

// MarshalText writes the file.
func (s Screen) MarshalText() ([]byte, error) { return s.File.AppendText(nil), nil }

// UnmarshalText reads a file. The error is a *golden.SyntaxError.
func (s *Screen) UnmarshalText(b []byte) error {
	f, err := golden.Parse(b)
	if err == nil {
		s.File = *f
	}
	return err
}

// screenOf wraps a file; nil for nil.
func screenOf(f *golden.File) *Screen {
	if f == nil {
		return nil
	}
	return &Screen{*f}
}

// Millis is a duration that is a number of milliseconds in JSON, with up to three digits of a
// fraction.
type Millis time.Duration

// MarshalJSON writes the number.
func (m Millis) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(time.Duration(m).Microseconds())/1000, 'f', -1, 64), nil
}

// UnmarshalJSON reads the number.
func (m *Millis) UnmarshalJSON(b []byte) error {
	var ms float64
	if err := json.Unmarshal(b, &ms); err != nil {
		return fmt.Errorf("milliseconds: %w", err)
	}
	*m = Millis(math.Round(ms * float64(time.Millisecond)))
	return nil
}

// String is that of a time.Duration, to the millisecond.
func (m Millis) String() string { return time.Duration(m).Round(time.Millisecond).String() }

package script

import (
	"fmt"
	"regexp"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/tuitest/internal/driver"
	"github.com/ptywright/ptywright/tuitest/tape"
)

// maxStrokes bounds the keys of a tape: nobody watches a film of an hour of typing.
const maxStrokes = 50_000

// FromTape makes a script of a tape, to be run once, on a terminal of a size. Its result has a
// [Film]. The error is a [*tape.Error], the first one, which has the others.
func FromTape(t *tape.Tape, size Size) (*Script, error) {
	c := &tapeCompiler{script: &Script{Path: t.File, Sizes: []Size{size}, tape: true}}
	c.header, _ = t.Header()
	c.pace = c.header.TypingSpeed
	for _, kind := range []tape.Kind{tape.Require, tape.Env} { // what has to be there before the shell
		for i := range t.Commands {
			if t.Commands[i].Kind == kind {
				c.before(&t.Commands[i])
			}
		}
	}
	c.start()
	for i := range t.Commands {
		c.command(&t.Commands[i])
	}
	c.add(&tape.Command{File: t.File, Line: lastLine(t), Col: 1, Raw: "the end"}, "end", State, last{})
	if err := c.errors.Err(); err != nil {
		return nil, err
	}
	return c.script, nil
}

func lastLine(t *tape.Tape) int {
	if n := len(t.Commands); n > 0 {
		return t.Commands[n-1].Line
	}
	return 1
}

// A tapeCompiler turns the commands of a tape into steps.
type tapeCompiler struct {
	script  *Script
	header  tape.Settings
	pace    time.Duration
	copied  *string // nil: nothing
	strokes int
	errors  tape.ErrorList
}

func (c *tapeCompiler) fail(at *tape.Command, likely, format string, a ...any) {
	c.errors.Add(&tape.Error{File: at.File, Line: at.Line, Col: at.Col,
		Msg: fmt.Sprintf(format, a...), Likely: likely})
}

func (c *tapeCompiler) add(at *tape.Command, verb string, kind Kind, does action) {
	c.script.Steps = append(c.script.Steps, &Step{File: at.File, Line: at.Line, Col: at.Col,
		Text: at.Raw, Verb: verb, Kind: kind, does: does})
}

// literal is a word without variables.
func literal(text string) word { return word{pieces: []piece{{text: text}}} }

func (c *tapeCompiler) before(at *tape.Command) {
	if at.Kind == tape.Require {
		c.add(at, "require", Host, require(at.Text))
	} else {
		c.add(at, "env", Setting, setEnv{literal(at.Name + "=" + at.Text)})
	}
}

// start starts the shell, which is not shown until its prompt is there.
func (c *tapeCompiler) start() {
	shell := tape.ShellOf(c.header.Shell)
	at := &tape.Command{File: c.script.Path, Line: 1, Col: 1}
	for i := range c.header.Given {
		if c.header.Given[i].Name == "Shell" {
			at = &c.header.Given[i]
		}
	}
	here := *at
	here.Raw = "start " + c.header.Shell
	if len(shell.Argv) == 0 {
		c.fail(at, "", "the shell has no name")
		return
	}
	var env setEnv
	for _, v := range shell.Env {
		env = append(env, literal(v))
	}
	c.add(&here, "env", Setting, env)
	var words spawn
	for _, w := range shell.Argv {
		words = append(words, literal(w))
	}
	c.add(&here, "spawn", Start, words)
	here.Raw = "wait for the prompt of " + c.header.Shell
	if shell.Prompts {
		c.add(&here, "wait", Event,
			&glance{re: regexp.MustCompile(`>$`), line: true, within: promptBound})
	} else {
		c.add(&here, "wait", Event, &rest{still: driver.Settle, within: promptBound})
	}
	c.add(&here, "show", Setting, curtain(false))
}

// promptBound is how long a shell may take to show its prompt. A user's machine may be busy.
const promptBound = 30 * time.Second

func (c *tapeCompiler) command(at *tape.Command) {
	switch at.Kind {
	case tape.Type:
		var keys []engine.Action
		for _, r := range at.Text {
			keys = append(keys, driver.Typed(string(r)))
		}
		c.type_(at, "type", &strokes{keys: keys})
	case tape.Press:
		c.press(at)
	case tape.Sleep:
		c.add(at, "sleep", Event, pause(at.Duration))
	case tape.Wait:
		c.wait(at)
	case tape.Screenshot:
		c.add(at, "shot", Host, photo(at.Text))
	case tape.Copy:
		c.copied = &at.Text
	case tape.Paste:
		if c.copied == nil {
			c.fail(at, "", "nothing was copied before it: write Copy \"…\"; "+
				"the system's clipboard is left alone")
			return
		}
		c.type_(at, "paste", &strokes{paste: *c.copied})
	case tape.Hide, tape.Show:
		c.add(at, "show", Setting, curtain(at.Kind == tape.Hide))
	case tape.Set:
		if at.Name == "TypingSpeed" {
			c.pace = at.Duration
		}
	case tape.Source:
		c.fail(at, "", "the tape was read without those that it names")
	case tape.Unknown:
		what := "command"
		if at.Name != "" && at.At == 0 && len(at.Text) > 4 && at.Text[:4] == "Set " {
			what = "setting"
		}
		c.fail(at, at.Likely, "unknown %s %s", what, quote(at.Name))
	}
}

// type_ adds keys at their pace.
func (c *tapeCompiler) type_(at *tape.Command, verb string, s *strokes) {
	s.pace = c.pace
	if at.Pace != nil {
		s.pace = *at.Pace
	}
	if c.strokes += len(s.keys); c.strokes > maxStrokes && c.strokes-len(s.keys) <= maxStrokes {
		c.fail(at, "", "more than %d keys in a tape", maxStrokes)
	}
	c.add(at, verb, Input, s)
}

func (c *tapeCompiler) press(at *tape.Command) {
	key, err := vt.ParseKey(at.Key)
	if err != nil { // the tape's reader has read it
		c.fail(at, "", "%v", err)
		return
	}
	s := &strokes{enters: enters(key)}
	for range at.Times {
		s.keys = append(s.keys, engine.Key(key))
	}
	c.type_(at, "press", s)
}

// enters reports whether a key ends a line that was typed.
func enters(key vt.Key) bool {
	switch key.String() {
	case "enter", "ctrl+m", "ctrl+j":
		return true
	}
	return false
}

func (c *tapeCompiler) wait(at *tape.Command) {
	within := at.Within
	if within == 0 {
		within = c.header.WaitTimeout
	}
	if at.Scope == tape.Still {
		still := at.Duration
		if still == 0 {
			still = driver.Settle
		}
		c.add(at, "wait", Event, &rest{still: still, within: within + still})
		return
	}
	pattern := at.Pattern
	if pattern == "" {
		pattern = c.header.WaitPattern
	}
	re, err := regexp.Compile("(?m)" + pattern)
	if err != nil { // the tape's reader has compiled it
		c.fail(at, "", "%v", err)
		return
	}
	c.add(at, "wait", Event, &glance{re: re, line: at.Scope == tape.Line, within: within})
}

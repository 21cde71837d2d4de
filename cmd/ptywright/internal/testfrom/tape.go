package testfrom

import (
	"fmt"
	"math"
	"path"
	"strings"
	"time"
	"unicode"

	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/tuitest/tape"
)

// A cell of VHS's font, relative to the font's size.
const tapeCellWidth, tapeCellHeight = 0.6, 1.3

// settle is what a pause of a tape becomes: the screen has not changed for so long. Programs pause
// less between two parts of a frame.
const settle = 250 * time.Millisecond

// Import makes a script of a tape, the language of VHS. What a script cannot say stands there as a
// comment, with the line.
func Import(read *tape.Tape) []byte {
	t := &tapeReader{file: read.File}
	t.header, _ = read.Header()
	for i := range read.Commands {
		t.command(&read.Commands[i])
	}
	return t.script()
}

// A tapeReader turns the commands of a tape into the steps of a script.
type tapeReader struct {
	file         string
	header       tape.Settings
	require, env []string
	clipboard    string
	steps        []string
}

func (t *tapeReader) add(format string, a ...any) {
	t.steps = append(t.steps, fmt.Sprintf(format, a...))
}

// cannot notes what a script cannot say.
func (t *tapeReader) cannot(c *tape.Command, text, why string) {
	t.add("# %s:%d: %s: %s", path.Base(c.File), c.Line, oneLine(text), why)
}

func oneLine(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, s)
}

// command turns a command into steps.
func (t *tapeReader) command(c *tape.Command) {
	switch c.Kind {
	case tape.Comment:
		t.add("%s", oneLine(c.Text))
	case tape.Type:
		if c.Pace != nil {
			t.cannot(c, fmt.Sprintf("Type@%v", *c.Pace), "keys come at once here, and a program cannot tell")
		}
		t.add("type %s", quoted(c.Text))
	case tape.Press:
		t.press(c)
	case tape.Scroll:
		t.add("scroll %s %d", strings.ToLower(strings.TrimPrefix(c.Name, "Scroll")), min(c.Times, 100))
	case tape.Sleep:
		t.add("wait stable %v # Sleep %s", settle, c.Text)
	case tape.Wait:
		t.wait(c)
	case tape.Screenshot:
		t.add("shot %s", quote(c.Text))
	case tape.Output:
		switch path.Ext(c.Text) {
		case ".txt", ".ascii", ".test":
			t.cannot(c, "Output "+c.Text, "the golden screen at the end takes its place")
		default:
			t.cannot(c, "Output "+c.Text, "a test makes no film; ptywright tape does")
		}
	case tape.Require:
		if bare().MatchString(c.Text) {
			t.require = append(t.require, c.Text)
		} else {
			t.cannot(c, "Require "+c.Text, "not a program's name")
		}
	case tape.Env:
		t.env = append(t.env, "env "+quote(c.Name+"="+c.Text))
	case tape.Copy:
		t.clipboard = c.Text
	case tape.Paste:
		if t.clipboard == "" {
			t.cannot(c, "Paste", "nothing was copied before it")
		} else {
			t.add("paste %s", quoted(t.clipboard))
		}
	case tape.Hide, tape.Show, tape.Subtitle:
		t.cannot(c, c.Raw, "a test has no frames to leave out")
	case tape.Set:
		t.set(c)
	default:
		t.cannot(c, c.Text, "not a command that is known here")
	}
}

func (t *tapeReader) press(c *tape.Command) {
	key := quote(c.Key)
	if c.Times > 1 {
		key = fmt.Sprintf("%s*%d", key, c.Times)
	}
	if n := len(t.steps); key == "enter" && n > 0 && strings.HasPrefix(t.steps[n-1], "type ") &&
		!strings.HasSuffix(t.steps[n-1], " enter") {
		t.steps[n-1] += " enter"
	} else {
		t.add("press %s", key)
	}
}

// wait turns Wait into an expectation: it holds when the screen, or the cursor's line, matches.
func (t *tapeReader) wait(c *tape.Command) {
	within := ""
	if c.Within > 0 {
		within = " within " + c.Within.String()
	} else if t.sets("WaitTimeout") {
		within = " within " + t.header.WaitTimeout.String()
	}
	if c.Scope == tape.Still {
		still := c.Duration
		if still == 0 {
			still = settle
		}
		t.add("wait stable %v%s", still, within)
		return
	}
	pattern := c.Pattern
	if pattern == "" {
		pattern = t.header.WaitPattern
	}
	look := "regex /" + slashes(pattern) + "/"
	if c.Scope == tape.Line {
		look += " in lines cursor"
	}
	t.add("expect %s%s", look, within)
}

// sets reports whether the tape itself says a setting.
func (t *tapeReader) sets(name string) bool {
	for _, c := range t.header.Given {
		if c.Name == name {
			return true
		}
	}
	return false
}

// slashes escapes the slashes of a pattern that are not yet.
func slashes(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch {
		case pattern[i] == '\\' && i+1 < len(pattern):
			b.WriteString(pattern[i : i+2])
			i++
		case pattern[i] == '/':
			b.WriteString(`\/`)
		default:
			b.WriteByte(pattern[i])
		}
	}
	return b.String()
}

// set notes the settings that change no test.
func (t *tapeReader) set(c *tape.Command) {
	switch c.Name {
	case "Shell", "Width", "Height", "FontSize", "Padding", "Margin", "WindowBarSize", "LineHeight",
		"LetterSpacing", "WaitTimeout", "WaitPattern":
	default:
		t.cannot(c, "Set "+c.Name+" "+c.Text, "it changes pictures only")
	}
}

// size returns about how many cells the tape's picture has.
func (t *tapeReader) size() (rows, cols int) {
	side := func(pixels, cell float64) int {
		return int(min(max(math.Floor(pixels/max(cell, 1)), 1), vt.MaxSide))
	}
	h := &t.header
	frame, bar := 2*h.Padding, 0.0
	if h.MarginFill != "" { // a margin has no effect without
		frame += 2 * h.Margin
	}
	if h.WindowBar != "" {
		bar = h.WindowBarSize
	}
	return side(h.Height-frame-bar, h.FontSize*tapeCellHeight*h.LineHeight),
		side(h.Width-frame, h.FontSize*tapeCellWidth+h.LetterSpacing)
}

// script puts the script together.
func (t *tapeReader) script() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# made by ptywright test import %s\n", oneLine(path.Base(t.file)))
	rows, cols := t.size()
	fmt.Fprintf(&b, "size %dx%d # about what the tape's picture has\n", rows, cols)
	for _, program := range t.require {
		fmt.Fprintf(&b, "[!exec:%s] skip %s\n", program, quoted(program+" is not installed"))
	}
	for _, env := range t.env {
		b.WriteString(env + "\n")
	}
	shell := tape.ShellOf(t.header.Shell)
	if len(shell.Env) > 0 {
		b.WriteString("env " + quoteAll(shell.Env) + "\n")
	}
	b.WriteString("spawn " + quoteAll(shell.Argv) + "\n")
	if shell.Prompts {
		b.WriteString("expect regex />\\s*$/ in lines cursor\n")
	}
	for _, s := range t.steps {
		b.WriteString(s + "\n")
	}
	b.WriteString("screen end\n")
	return []byte(b.String())
}

func quoteAll(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = quote(w)
	}
	return strings.Join(out, " ")
}

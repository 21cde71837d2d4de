package testfrom

import (
	"fmt"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/ptywright/ptywright/engine/vt"
)

// A TapeError says what is wrong with a tape, and where.
type TapeError struct {
	File      string
	Line, Col int // from 1
	Msg       string
}

// Error says so, as compilers do.
func (e *TapeError) Error() string { return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg) }

// A tapeWord is a token of a tape.
type tapeWord struct {
	text   string
	col    int  // from 0
	quoted bool // "text", 'text' or `text`
	regex  bool // /pattern/
	joined bool // no blank before it
}

// Sizes that VHS has unless a tape sets others, in pixels.
const (
	tapeWidth, tapeHeight = 1200, 600
	tapeFont              = 22
	tapePadding           = 60
	// A cell of its font, relative to the font's size.
	tapeCellWidth, tapeCellHeight = 0.6, 1.3
)

// settle is what a pause of a tape becomes: the screen has not changed for so long. Programs pause
// less between two parts of a frame.
const settle = 250 * time.Millisecond

// maxInclude bounds how deep tapes may name others: VHS has one level.
const maxInclude = 8

// Import makes a script of a tape, the language of VHS. What a script cannot say stands there as a
// comment, with the line. open reads a tape that another one names; nil: such lines are comments.
// The error is a [*TapeError].
func Import(file string, tape []byte, open func(name string) ([]byte, error)) ([]byte, error) {
	t := &tapeReader{file: file, open: open, width: tapeWidth, height: tapeHeight, font: tapeFont, padding: tapePadding,
		lineHeight: 1, shell: "bash"}
	if err := t.read(file, tape, 0); err != nil {
		return nil, err
	}
	return t.script(), nil
}

// A tapeReader turns a tape into the steps of a script.
type tapeReader struct {
	file string
	open func(name string) ([]byte, error)

	width, height, font, padding, margin, bar float64
	lineHeight, letterSpacing                 float64
	shell                                     string
	require, env                              []string
	timeout                                   string
	pattern                                   string // of Wait; "": VHS's own
	clipboard                                 string
	steps                                     []string
}

func (t *tapeReader) add(format string, a ...any) {
	t.steps = append(t.steps, fmt.Sprintf(format, a...))
}

// cannot notes what a script cannot say.
func (t *tapeReader) cannot(file string, line int, text, why string) {
	t.add("# %s:%d: %s: %s", path.Base(file), line, oneLine(text), why)
}

func oneLine(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, s)
}

// read reads the lines of a tape.
func (t *tapeReader) read(file string, tape []byte, depth int) error {
	number := 0
	for line := range strings.Lines(string(tape)) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if text := strings.TrimSpace(line); strings.HasPrefix(text, "#") {
			t.add("%s", oneLine(text))
			continue
		}
		words, err := tapeWords(line)
		if err != nil {
			err.File, err.Line = file, number
			return err
		}
		for len(words) > 0 {
			n, err := t.command(file, number, line, words, depth)
			if err != nil {
				return err
			}
			words = words[n:]
		}
	}
	return nil
}

// tapeWords cuts a line into words.
func tapeWords(line string) ([]tapeWord, *TapeError) {
	var out []tapeWord
	for i := 0; i < len(line); {
		c := line[i]
		joined := i > 0 && line[i-1] != ' ' && line[i-1] != '\t'
		switch {
		case c == ' ' || c == '\t':
			i++
		case c == '#' && !joined:
			return out, nil
		case c == '"' || c == '\'' || c == '`':
			end := strings.IndexByte(line[i+1:], c)
			if end < 0 {
				return nil, &TapeError{Col: i + 1, Msg: "a quote is not closed"}
			}
			out = append(out, tapeWord{text: line[i+1 : i+1+end], col: i, quoted: true, joined: joined})
			i += end + 2
		case c == '/' && !joined:
			end := i + 1
			for end < len(line) && line[end] != '/' {
				if line[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(line) { // a path
				out = append(out, tapeWord{text: strings.Fields(line[i:])[0], col: i})
				i += len(out[len(out)-1].text)
				break
			}
			if end+1 < len(line) && line[end+1] != ' ' && line[end+1] != '\t' { // /a/path
				out = append(out, tapeWord{text: strings.Fields(line[i:])[0], col: i})
				i += len(out[len(out)-1].text)
				break
			}
			out = append(out, tapeWord{text: line[i+1 : end], col: i, regex: true})
			i = end + 1
		case c == '{': // a theme, which JSON describes
			out = append(out, tapeWord{text: line[i:], col: i})
			i = len(line)
		default:
			end := i
			for end < len(line) && !strings.ContainsRune(" \t\"'`", rune(line[end])) {
				end++
			}
			out = append(out, tapeWord{text: line[i:end], col: i, joined: joined})
			i = end
		}
	}
	return out, nil
}

// tapeKeys are the commands that press a key.
var tapeKeys = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"Enter": "enter", "Return": "enter", "Tab": "tab", "Space": "space", "Backspace": "backspace", "Delete": "delete",
		"Insert": "insert", "Escape": "escape", "Up": "up", "Down": "down", "Left": "left", "Right": "right",
		"Home": "home", "End": "end", "PageUp": "page_up", "PageDown": "page_down",
	}
})

// command turns the first command of some words into steps, and returns how many words it has.
func (t *tapeReader) command(file string, line int, text string, words []tapeWord, depth int) (int, error) {
	w := words[0]
	fail := func(at tapeWord, format string, a ...any) error {
		return &TapeError{file, line, at.col + 1, fmt.Sprintf(format, a...)}
	}
	if w.quoted || w.regex {
		return 0, fail(w, "expected a command, such as Type, Enter or Sleep")
	}
	name, speed, _ := strings.Cut(w.text, "@")
	argument := func(what string) (tapeWord, error) {
		if len(words) < 2 {
			return tapeWord{}, fail(w, "%s wants %s", name, what)
		}
		return words[1], nil
	}
	base, plus, _ := strings.Cut(name, "+")
	switch {
	case name == "Type":
		if speed != "" {
			t.cannot(file, line, w.text, "keys come at once here, and a program cannot tell")
		}
		n := 1
		var texts []string
		for n < len(words) && words[n].quoted {
			texts = append(texts, words[n].text)
			n++
		}
		if n == 1 {
			return 0, fail(w, `Type wants a text: Type "ls"`)
		}
		t.add("type %s", quoted(strings.Join(texts, " ")))
		return n, nil
	case tapeKeys()[name] != "" || (base == "Ctrl" || base == "Alt" || base == "Shift") && plus != "":
		key, err := tapeKey(name)
		if err != nil {
			return 0, fail(w, "%v", err)
		}
		n := 1
		if len(words) > 1 && !words[1].quoted {
			if times, err := strconv.Atoi(words[1].text); err == nil && times >= 1 && times <= 1000 {
				n, key = 2, strings.TrimSuffix(fmt.Sprintf("%s*%d", key, times), "*1")
			}
		}
		if key == "enter" && len(t.steps) > 0 && strings.HasPrefix(t.steps[len(t.steps)-1], "type ") &&
			!strings.HasSuffix(t.steps[len(t.steps)-1], " enter") {
			t.steps[len(t.steps)-1] += " enter"
		} else {
			t.add("press %s", key)
		}
		return n, nil
	case name == "ScrollUp" || name == "ScrollDown":
		n, times := 1, 1
		if len(words) > 1 && !words[1].quoted {
			if v, err := strconv.Atoi(words[1].text); err == nil && v >= 1 && v <= 100 {
				n, times = 2, v
			}
		}
		t.add("scroll %s %d", strings.ToLower(strings.TrimPrefix(name, "Scroll")), times)
		return n, nil
	case name == "Sleep":
		a, err := argument("a time")
		if err != nil {
			return 0, err
		}
		if _, err := tapeTime(a.text); err != nil {
			return 0, fail(a, "%q is not a time: 2s, 500ms or seconds", a.text)
		}
		t.add("wait stable %v # Sleep %s", settle, a.text)
		return 2, nil
	case base == "Wait":
		return t.wait(w, words, speed, plus, fail)
	case name == "Screenshot":
		a, err := argument("a file")
		if err != nil {
			return 0, err
		}
		t.add("shot %s", quote(a.text))
		return 2, nil
	case name == "Output":
		a, err := argument("a file")
		if err != nil {
			return 0, err
		}
		switch path.Ext(a.text) {
		case ".txt", ".ascii", ".test":
			t.cannot(file, line, "Output "+a.text, "the golden screen at the end takes its place")
		default:
			t.cannot(file, line, "Output "+a.text, "a test makes no film; ptywright record does")
		}
		return 2, nil
	case name == "Require":
		a, err := argument("a program")
		if err != nil {
			return 0, err
		}
		if bare().MatchString(a.text) {
			t.require = append(t.require, a.text)
		} else {
			t.cannot(file, line, "Require "+a.text, "not a program's name")
		}
		return 2, nil
	case name == "Env":
		if len(words) < 3 {
			return 0, fail(w, `Env wants a name and a value: Env NAME "value"`)
		}
		t.env = append(t.env, "env "+quote(words[1].text+"="+words[2].text))
		return 3, nil
	case name == "Copy":
		a, err := argument("a text")
		if err != nil {
			return 0, err
		}
		t.clipboard = a.text
		return 2, nil
	case name == "Paste":
		if t.clipboard == "" {
			t.cannot(file, line, "Paste", "nothing was copied before it")
		} else {
			t.add("paste %s", quoted(t.clipboard))
		}
		return 1, nil
	case name == "Hide" || name == "Show":
		t.cannot(file, line, name, "a test has no frames to leave out")
		return 1, nil
	case name == "Source":
		a, err := argument("a tape")
		if err != nil {
			return 0, err
		}
		return 2, t.source(file, line, a, depth)
	case name == "Set":
		return t.set(file, line, words, fail)
	}
	t.cannot(file, line, strings.TrimSpace(text), "not a command that is known here")
	return len(words), nil
}

// tapeKey makes the name of a key of "Ctrl+Alt+X".
func tapeKey(name string) (string, error) {
	parts := strings.Split(name, "+")
	last := parts[len(parts)-1]
	if last == "" && len(parts) > 1 { // Ctrl++
		parts, last = parts[:len(parts)-1], "plus"
	}
	if key := tapeKeys()[last]; key != "" {
		last = key
	}
	key := ""
	for _, mod := range parts[:len(parts)-1] {
		key += strings.ToLower(mod) + "+"
	}
	if len(last) == 1 && strings.Contains(key, "ctrl+") && !strings.Contains(key, "shift+") {
		last = strings.ToLower(last)
	}
	k, err := vt.ParseKey(key + last)
	if err != nil {
		return "", err
	}
	return quote(k.String()), nil
}

// wait turns Wait into an expectation: it holds when the screen, or the cursor's line, matches.
func (t *tapeReader) wait(w tapeWord, words []tapeWord, speed, scope string, fail func(tapeWord, string, ...any) error) (int, error) {
	if before, within, ok := strings.Cut(scope, "@"); ok {
		scope, speed = before, within
	}
	within, pattern, n := t.timeout, t.pattern, 1
	if speed != "" {
		d, err := tapeTime(speed)
		if err != nil {
			return 0, fail(w, "%q is not a time", speed)
		}
		within = d.String()
	}
	if len(words) > 1 && words[1].regex {
		pattern, n = words[1].text, 2
	}
	if pattern == "" {
		pattern = ">$" // VHS's own prompt
	}
	if _, err := regexp.Compile(pattern); err != nil {
		return 0, fail(words[n-1], "%v", err)
	}
	look := "regex /" + slashes(pattern) + "/"
	switch scope {
	case "Screen":
	case "", "Line":
		look += " in lines cursor"
	default:
		return 0, fail(w, "Wait+%s is not known: Wait+Screen and Wait+Line are", scope)
	}
	if within != "" {
		look += " within " + within
	}
	t.add("expect %s", look)
	return n, nil
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

// source reads another tape in place of the line.
func (t *tapeReader) source(file string, line int, name tapeWord, depth int) error {
	if t.open == nil || depth == maxInclude {
		t.cannot(file, line, "Source "+name.text, "import that tape, too")
		return nil
	}
	tape, err := t.open(name.text)
	if err != nil {
		return &TapeError{file, line, name.col + 1, err.Error()}
	}
	return t.read(name.text, tape, depth+1)
}

// set takes a setting.
func (t *tapeReader) set(file string, line int, words []tapeWord, fail func(tapeWord, string, ...any) error) (int, error) {
	if len(words) < 3 {
		return 0, fail(words[0], "Set wants a name and a value: Set Width 1200")
	}
	name, value := words[1].text, words[2]
	number := func(into *float64) (int, error) {
		v, err := strconv.ParseFloat(value.text, 64)
		if err != nil || v < 0 || v > 1e6 {
			return 0, fail(value, "%s is %q: give a number", name, value.text)
		}
		*into = v
		return 3, nil
	}
	switch name {
	case "Shell":
		t.shell = value.text
	case "Width":
		return number(&t.width)
	case "Height":
		return number(&t.height)
	case "FontSize":
		return number(&t.font)
	case "Padding":
		return number(&t.padding)
	case "Margin":
		return number(&t.margin)
	case "WindowBarSize":
		return number(&t.bar)
	case "LineHeight":
		return number(&t.lineHeight)
	case "LetterSpacing":
		return number(&t.letterSpacing)
	case "WaitTimeout":
		d, err := tapeTime(value.text)
		if err != nil {
			return 0, fail(value, "%q is not a time", value.text)
		}
		t.timeout = d.String()
	case "WaitPattern":
		if !value.regex {
			return 0, fail(value, "WaitPattern wants a /pattern/")
		}
		t.pattern = value.text
	default:
		rest := make([]string, 0, len(words))
		for _, w := range words[2:] {
			rest = append(rest, w.text)
		}
		t.cannot(file, line, "Set "+name+" "+strings.Join(rest, " "), "it changes pictures only")
		return len(words), nil
	}
	return 3, nil
}

// tapeTime reads 2s, 500ms, 1.5 or .5, which are seconds.
func tapeTime(s string) (time.Duration, error) {
	if v, err := strconv.ParseFloat(s, 64); err == nil && v >= 0 && v < 1e6 && !math.IsNaN(v) {
		return time.Duration(v * float64(time.Second)), nil
	}
	d, err := time.ParseDuration(s)
	if err == nil && d < 0 {
		err = fmt.Errorf("%s is negative", s)
	}
	return d, err
}

// size returns about how many cells the tape's picture has.
func (t *tapeReader) size() (rows, cols int) {
	side := func(pixels, cell float64) int {
		if cell <= 0 {
			cell = 1
		}
		return int(min(max(math.Floor(pixels/cell), 1), vt.MaxSide))
	}
	frame := 2 * (t.padding + t.margin)
	return side(t.height-frame-t.bar, t.font*tapeCellHeight*max(t.lineHeight, 0.1)),
		side(t.width-frame, t.font*tapeCellWidth+t.letterSpacing)
}

// shells are how VHS starts shells, so that nothing of a user's shows.
var shells = sync.OnceValue(func() map[string]struct{ env, spawn string } {
	return map[string]struct{ env, spawn string }{
		"bash": {`env 'PS1=> ' BASH_SILENCE_DEPRECATION_WARNING=1`, "spawn bash --noprofile --norc +o history"},
		"zsh":  {`env 'PROMPT=> '`, "spawn zsh --histnostore --no-rcs"},
		"fish": {"", `spawn fish --no-config --private -C 'function fish_greeting; end' -C 'function fish_prompt; echo -n "> "; end'`},
		"sh":   {`env 'PS1=> '`, "spawn sh"},
	}
})

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
	start, ok := shells()[t.shell]
	if !ok {
		start.spawn = "spawn " + quote(t.shell)
	}
	if start.env != "" {
		b.WriteString(start.env + "\n")
	}
	b.WriteString(start.spawn + "\n")
	if ok {
		b.WriteString("expect regex />\\s*$/ in lines cursor\n")
	}
	for _, s := range t.steps {
		b.WriteString(s + "\n")
	}
	b.WriteString("screen end\n")
	return []byte(b.String())
}

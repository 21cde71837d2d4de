package script

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/nearest"
	"github.com/ptywright/ptywright/tuitest/tape"
)

const (
	// maxFile bounds a script, in bytes: its golden screens are some 3 KiB each.
	maxFile = 16 << 20
	// maxSizes bounds the sizes that one script runs at.
	maxSizes = 16
	// maxSteps bounds the steps of a script: people write some tens.
	maxSteps = 10000
	// maxSections bounds the golden screens and files behind them: each is compared with each.
	maxSections = 10000
)

// A Script is a file of steps, with golden screens and other files behind them. It may run any
// number of times, one after the other.
type Script struct {
	Path  string // of its file
	Sizes []Size // at least one
	Steps []*Step

	tape    bool // made by FromTape
	archive archive
	goldens map[string]*golden.File // by section
	pending []Golden                // that KeepPending has written
}

// Name is the file's name without its folder and .ptw.
func (s *Script) Name() string { return strings.TrimSuffix(filepath.Base(s.Path), Ext) }

// Ext is what the names of scripts end with.
const Ext = ".ptw"

// A Step is one line of a script that does something.
type Step struct {
	File string // of a tape's step; "" for those of scripts, which stand in the script
	Line int    // of the file, from 1
	Col  int    // of the verb, from 1, in bytes
	Text string // as the file has it, without blanks at its ends
	Verb string
	Kind Kind
	Not  bool // what it says has to fail, or not to hold

	conditions []condition
	does       action
}

// A condition says when a step is done.
type condition struct {
	text  string // "!exec:vim"
	holds func(p *player) bool
}

// A ParseError says what is wrong with a script, and where, as one of a tape does.
type ParseError = tape.Error

// Load reads a script's file. The errors are a [*ParseError] and those of the system.
func Load(path string) (*Script, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fmt.Errorf("%s is not a regular file of up to %d MiB", path, maxFile>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// Parse reads a script; path is its file's. The error is a [*ParseError]: the first one, which has the
// others.
func Parse(path string, data []byte) (*Script, error) {
	s := &Script{Path: path, archive: split(data), goldens: map[string]*golden.File{}}
	steps := string(data[:s.archive.steps])
	if strings.HasPrefix(steps, "\ufeff") {
		return nil, &ParseError{File: path, Line: 1, Col: 1,
			Msg: "the script begins with a byte order mark: save it as UTF-8 without one"}
	}
	for i, c := range steps {
		if _, n := utf8.DecodeRuneInString(steps[i:]); c == 0 || c == utf8.RuneError && n == 1 {
			begin := 1 + strings.LastIndexByte(steps[:i], '\n')
			e := &ParseError{File: path, Line: 1 + strings.Count(steps[:i], "\n"), Col: 1 + i - begin,
				Msg: "the line is not UTF-8 text, so this is not a script"}
			if wide(steps) {
				e.Msg += "; it looks like UTF-16: save it as UTF-8"
			}
			return nil, e
		}
	}
	var all tape.ErrorList
	number := 0
	for line := range strings.Lines(steps) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if err := s.line(number, line); err != nil {
			e := &ParseError{File: path, Line: number, Col: 1, Msg: err.Error()}
			if at := (*wordError)(nil); errors.As(err, &at) {
				e.Col = at.col + 1
			}
			if at := (*likelyError)(nil); errors.As(err, &at) {
				e.Col, e.Msg, e.Likely = at.col+1, at.msg, at.likely
			}
			all.Add(e)
		}
	}
	if s.Sizes == nil {
		s.Sizes = []Size{{24, 80}}
	}
	if n := len(s.archive.sections); n > maxSections {
		return nil, &ParseError{File: path, Line: s.archive.sections[maxSections].line, Col: 1,
			Msg: fmt.Sprintf("more than %d sections: split the script", maxSections)}
	}
	for i := range s.archive.sections {
		e := (*ParseError)(nil)
		if errors.As(s.check(i), &e) {
			all.Add(e)
		}
	}
	if err := all.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

// wide reports whether a text is probably UTF-16: most of its characters are ASCII, each beside a NUL.
func wide(text string) bool {
	return strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") ||
		len(text) > 2 && 3*strings.Count(text, "\x00") > len(text)
}

// A likelyError is an unknown word, and the known one that is nearest.
type likelyError struct {
	wordError
	likely string
}

func unknown(col int, what, name string, known []string) error {
	return &likelyError{wordError{col, fmt.Sprintf("unknown %s %s: have %s", what, quote(name),
		strings.Join(known, ", "))}, nearest.Of(strings.ToLower(name), known)}
}

// quote quotes what a script says, clipped.
func quote(s string) string {
	if r := []rune(s); len(r) > 32 {
		s = string(r[:32]) + "…"
	}
	return strconv.Quote(s)
}

// line reads one line.
func (s *Script) line(number int, line string) error {
	st := &Step{Line: number, Text: strings.TrimSpace(line)}
	at := 0
	skip := func() string { // blanks, and returns the word behind them
		for at < len(line) && isBlank(line[at]) {
			at++
		}
		end := at
		for end < len(line) && !isBlank(line[end]) {
			end++
		}
		return line[at:end]
	}
	name := skip()
	for strings.HasPrefix(name, "[") {
		end := strings.IndexByte(line[at:], ']')
		if end < 0 {
			return &wordError{at, "a condition is not closed: [linux], [!exec:vim]"}
		}
		c, err := parseCondition(line[at+1:at+end], at+1)
		if err != nil {
			return err
		}
		st.conditions = append(st.conditions, c)
		at += end + 1
		name = skip()
	}
	if name == "" || strings.HasPrefix(name, "#") {
		if len(st.conditions) > 0 {
			return &wordError{at, "a condition stands before a verb: [windows] skip"}
		}
		return nil
	}
	if name == "!" {
		st.Not = true
		at++
		name = skip()
	}
	st.Col, st.Verb = at+1, name
	v, ok := verbs().by[name]
	if !ok {
		if rest := strings.TrimPrefix(name, "!"); rest != name && verbs().by[rest] != nil {
			return &likelyError{wordError{at, "a ! stands by itself"}, "! " + rest}
		}
		return unknown(at, "verb", name, verbs().names)
	}
	if st.Not && !v.not {
		return &wordError{at, v.name + " has no opposite: " + cmp.Or(v.whyNot, "take out the !")}
	}
	st.Kind = v.kind
	a := &args{script: s, step: st, verb: v, line: line, at: at + len(name)}
	var err error
	if st.does, err = v.parse(a); err != nil {
		return err
	}
	if len(s.Steps) == maxSteps {
		return &wordError{at, fmt.Sprintf("more than %d steps", maxSteps)}
	}
	s.Steps = append(s.Steps, st)
	return nil
}

// check reads a section, by its place among them.
func (s *Script) check(i int) error {
	f := &s.archive.sections[i]
	fail := func(line int, format string, a ...any) error {
		return &ParseError{File: s.Path, Line: line, Col: 1, Msg: fmt.Sprintf(format, a...)}
	}
	if s.archive.find(f.name) != f {
		return fail(f.line, "a second section %s", quote(f.name))
	}
	if !strings.HasPrefix(f.name, goldenPrefix) {
		if wrong := s.archive.misnamed(i); wrong != "" {
			return fail(f.line, "the section %s %s", quote(f.name), wrong)
		}
		return nil
	}
	text := bytes.TrimRight(s.archive.text(f), "\r\n") // blank lines before the next section are none of it
	g, err := golden.Parse(text)
	if at := (*golden.SyntaxError)(nil); errors.As(err, &at) {
		return fail(f.line+at.Line, "the golden screen %s cannot be read: %v",
			strings.TrimPrefix(f.name, goldenPrefix), at.Err)
	}
	s.goldens[f.name] = g
	return nil
}

// Unused returns the sections of golden screens that no step at any size compares with, in order.
func (s *Script) Unused() []string {
	used := map[string]bool{}
	for _, st := range s.Steps {
		if g, ok := st.does.(*screen); ok {
			for _, size := range s.Sizes {
				_, section := s.golden(g.name, size)
				used[section] = true
			}
		}
	}
	var out []string
	for _, f := range s.archive.sections {
		if strings.HasPrefix(f.name, goldenPrefix) && !used[f.name] {
			out = append(out, f.name)
		}
	}
	return out
}

// systems are the conditions that name one.
var systems = []string{"linux", "darwin", "windows", "freebsd", "netbsd", "openbsd"}

// parseCondition reads what stands between brackets.
func parseCondition(text string, col int) (condition, error) {
	name, not := strings.CutPrefix(strings.TrimSpace(text), "!")
	kind, value, valued := strings.Cut(name, ":")
	c := condition{text: text}
	var holds func(p *player) bool
	switch {
	case valued && value == "":
		return c, &wordError{col, fmt.Sprintf("the condition %s names nothing: [exec:vim], [env:DISPLAY]",
			quote(kind))}
	case valued && kind == "exec":
		holds = func(p *player) bool { _, err := p.lookPath(value); return err == nil }
	case valued && kind == "env":
		holds = func(*player) bool { return os.Getenv(value) != "" }
	case valued:
		return c, unknown(col, "condition", kind+":", []string{"exec:NAME", "env:NAME"})
	case name == "unix":
		holds = func(*player) bool { return runtime.GOOS != "windows" }
	case slices.Contains(systems, name):
		holds = func(*player) bool { return runtime.GOOS == name }
	case name == "amd64" || name == "arm64":
		holds = func(*player) bool { return runtime.GOARCH == name }
	default:
		return c, unknown(col, "condition", name, append([]string{"unix", "amd64", "arm64",
			"exec:NAME", "env:NAME"}, systems...))
	}
	c.holds = func(p *player) bool { return holds(p) != not }
	return c, nil
}

// parseSize reads "24x80".
func parseSize(s string) (Size, bool) {
	r, c, ok := strings.Cut(s, "x")
	rows, err := strconv.Atoi(r)
	cols, err2 := strconv.Atoi(c)
	return Size{rows, cols}, ok && err == nil && err2 == nil && rows >= 1 && cols >= 1 &&
		rows <= vt.MaxSide && cols <= vt.MaxSide
}

// dir is the folder that the script stands in, absolute.
func (s *Script) dir() (string, error) {
	abs, err := filepath.Abs(s.Path)
	return filepath.Dir(abs), err
}

package testfrom

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/internal/lazy"
	"github.com/ptywright/ptywright/redact"
)

// pause is how long a screen stood still, at least, that a person has looked at.
const pause = 500 * time.Millisecond

// Options say what a script is made of.
type Options struct {
	// Program is what is started, with its arguments; nil: what the recording says.
	Program []string
	// Again is a second recording of the same steps, from which masks are learnt; nil: none.
	Again *record.Recording
	// Goldens writes the golden screens that the recording shows into the script; otherwise the
	// script's first run writes them.
	Goldens bool
	// Source names the recording in the script's first line.
	Source string
}

// Script makes a script of a recording that has its input. The errors are a [*PartError], and what
// is wrong with the recording.
func Script(rec *record.Recording, o Options) ([]byte, error) {
	program := o.Program
	if program == nil {
		switch {
		case rec.Command != "":
			if program = shellWords(rec.Command); program == nil {
				return nil, errShellLine
			}
		case rec.Shell != "":
			program = []string{rec.Shell[strings.LastIndexByte(rec.Shell, '/')+1:]}
		}
	}
	if len(program) == 0 {
		return nil, errNoProgram
	}
	st, err := tell(rec, nil)
	if err != nil {
		return nil, err
	}
	var again *story
	if o.Again != nil {
		if again, err = tell(o.Again, st); err != nil {
			return nil, err
		}
	}
	w := &writer{story: st, again: again, goldens: o.Goldens, names: map[string]bool{}}
	w.comment("made by ptywright test from %s", o.Source)
	w.line("size %dx%d", rec.Rows, rec.Cols)
	words := make([]string, len(program))
	for i, p := range program {
		words[i] = quote(redact.Default.String(p))
	}
	w.line("spawn %s", strings.Join(words, " "))
	for n := range st.moves {
		if err := w.move(n); err != nil {
			return nil, err
		}
	}
	if st.exit != nil {
		w.line("exit %d", *st.exit)
	}
	return append([]byte(w.steps.String()), w.sections.String()...), nil
}

// A writer writes the steps of a script.
type writer struct {
	*story
	again           *story
	goldens         bool
	steps, sections strings.Builder
	names           map[string]bool // of golden screens
	masks           []golden.Mask   // that hold
	secrets         int
}

func (w *writer) line(format string, a ...any) { fmt.Fprintf(&w.steps, format+"\n", a...) }

// comment writes a line that does nothing, whatever is in it.
func (w *writer) comment(format string, a ...any) {
	text := redact.Default.String(fmt.Sprintf(format, a...))
	w.line("# %s", strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, strings.TrimPrefix(text, "# ")))
}

// move writes a move, what shows that it had its effect, and the golden screen after it.
func (w *writer) move(n int) error {
	m := w.moves[n]
	var other *move
	if w.again != nil {
		other = w.again.moves[n]
	}
	for _, note := range m.notes {
		w.comment("%s", note)
	}
	w.input(m)
	last := n == len(w.moves)-1
	if last && w.exit != nil { // what comes of it is the end
		return nil
	}
	steps, strong := m.proof(other)
	if m.kind == started {
		for i, s := range steps {
			if text, ok := strings.CutPrefix(s, "wait "); ok {
				steps[i] = "expect " + text
			}
		}
	}
	for _, s := range steps {
		w.line("%s", s)
	}
	changed := !alike(m.before, m.after())
	if !changed && m.kind != started {
		w.comment("nothing changed on the screen")
	}
	if changed && (m.until-m.last >= pause || !strong || last) {
		return w.screen(m, other)
	}
	return nil
}

// input writes what was done to the program.
func (w *writer) input(m *move) {
	enter := ""
	if m.enter {
		enter = " enter"
	}
	switch m.kind {
	case typedIn, pasted:
		switch {
		case m.isSecret():
			w.secrets++
			w.comment("a secret was typed here: it is taken from the environment of ptywright test")
			w.line("type-secret SECRET_%d%s", w.secrets, enter)
		case m.kind == pasted:
			w.line("paste %s", quoted(m.text))
		default:
			w.line("type %s%s", quoted(m.text), enter)
		}
	case pressed:
		key := m.keys[0]
		if strings.ContainsAny(key, "'\"$#*") {
			key = quote(key)
		}
		if len(m.keys) > 1 {
			key += fmt.Sprintf("*%d", len(m.keys))
		}
		w.line("press %s", key)
	case moused:
		w.line("%s", m.words)
	case resized:
		w.line("resize %s", m.words)
	}
}

// screen writes a golden screen, with the masks that two runs have taught.
func (w *writer) screen(m, other *move) error {
	l := lesson{parts: golden.All}
	if other != nil {
		l = learn(m.after(), other.after())
	}
	if l.none != "" {
		w.comment("no golden screen here: %s", l.none)
		return nil
	}
	f, err := golden.Of(hidden(m.after()), golden.Options{Parts: l.parts, Masks: l.masks})
	if many := (*golden.StylesError)(nil); err != nil {
		if !errors.As(err, &many) {
			return err
		}
		l.parts &^= golden.Styles
		if f, err = golden.Of(hidden(m.after()), golden.Options{Parts: l.parts, Masks: l.masks}); err != nil {
			return err
		}
	}
	// Masks hold until they are taken back, and each has to cover something.
	var stale []string
	same := func(a golden.Mask) func(golden.Mask) bool {
		return func(b golden.Mask) bool { return a.String() == b.String() }
	}
	for _, old := range w.masks {
		if !slices.ContainsFunc(l.masks, same(old)) && !slices.ContainsFunc(l.masks, func(b golden.Mask) bool { return b.Name == old.Name }) {
			stale = append(stale, old.Name)
		}
	}
	if len(stale) > 0 {
		w.line("unmask %s", strings.Join(stale, " "))
	}
	for _, mask := range l.masks {
		if !slices.ContainsFunc(w.masks, same(mask)) {
			w.line("mask %s", mask)
		}
	}
	w.masks = l.masks
	name := w.name(m)
	w.line("screen %s%s", name, without(l.parts))
	if w.goldens {
		w.sections.WriteString("-- screen/" + name + " --\n")
		w.sections.Write(f.AppendText(nil))
	}
	return nil
}

// without says which parts of a screen are not compared.
func without(p golden.Parts) string {
	s := ""
	for _, part := range []struct {
		part golden.Parts
		word string
	}{{golden.Styles, "no-styles"}, {golden.Cursor, "no-cursor"}, {golden.Title, "no-title"}, {golden.Modes, "no-modes"}} {
		if p&part.part == 0 {
			s += " " + part.word
		}
	}
	return s
}

var notName = lazy.Regexp(`[^A-Za-z0-9]+`)

// name names a golden screen after what was done before it.
func (w *writer) name(m *move) string {
	name := "start"
	switch m.kind {
	case typedIn, pasted:
		if name = m.text; m.isSecret() {
			name = "secret"
		}
	case pressed:
		name = m.keys[0]
	case moused:
		if name = m.words; !strings.HasPrefix(name, "click ") {
			name, _, _ = strings.Cut(name, " ")
		}
	case resized:
		name = "resized-" + m.words
	}
	name = strings.Trim(notName().ReplaceAllString(name, "-"), "-")
	if len(name) > 24 {
		name = strings.TrimRight(name[:24], "-")
	}
	if name == "" {
		name = "screen"
	}
	for base, n := name, 2; w.names[name]; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	w.names[name] = true
	return name
}

var bare = lazy.Regexp(`^[A-Za-z0-9_@%+:,./=-]+$`)

// quote writes a word of a script.
func quote(s string) string {
	if bare().MatchString(s) {
		return s
	}
	return quoted(s)
}

// quoted writes a text of a script, between quotes.
func quoted(s string) string {
	if strings.ContainsFunc(s, func(c rune) bool { return unicode.IsControl(c) || !unicode.IsPrint(c) }) {
		return strconv.Quote(s)
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// shellWords splits a command as a shell does, as far as quotes go. nil: it is more than a program and
// its arguments, such as two of them with a pipe between.
func shellWords(s string) (words []string) {
	var b strings.Builder
	words = []string{}
	open, quoted := false, rune(0)
	escaped := false
	for i, c := range s {
		switch {
		case escaped:
			b.WriteRune(c)
			escaped = false
		case quoted != 0 && c == quoted:
			quoted = 0
		case c == '\\' && (quoted == 0 || quoted == '"' && i+1 < len(s) && strings.IndexByte("$`\"\\", s[i+1]) >= 0):
			escaped, open = true, true
		case quoted != 0:
			b.WriteRune(c)
		case c == '\'' || c == '"':
			quoted, open = c, true
		case strings.ContainsRune("|&;<>", c):
			return nil
		case c == ' ' || c == '\t':
			if open {
				words = append(words, b.String())
				b.Reset()
			}
			open = false
		default:
			b.WriteRune(c)
			open = true
		}
	}
	if open {
		words = append(words, b.String())
	}
	return words
}

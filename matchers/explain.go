package matchers

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
	closest "github.com/ptywright/ptywright/internal/nearest"
)

// An Explanation says how one view looked to one matcher: the evidence of a wait that did not
// match.
type Explanation struct {
	Type    string
	Value   any    // as in the parsed tree; for any, all and not: nil, see Parts
	Scope   Scope  // OnScreen for a text matcher that reads nothing else; "" otherwise
	Held    bool   // the matcher would have matched
	Err     error  // the matcher cannot answer: see [engine.Result]; Held is false
	Why     string // one line for people
	Nearest string // for text and regex: the line that came closest; "" when none did
	Diff    string // for screen: what differs in the screen that came closest, on several lines
	Parts   []Explanation
}

// Shown is what may be shown of a view: an explanation takes every text of the program from here,
// not from the view, so that redacted text stays hidden. Missing parts are not shown.
type Shown struct {
	Screen *vt.Screen
	Output func() string // the end of the retained transcript; called when needed
	// Line returns a line of the scrollback by its absolute number; called when needed.
	Line  func(line uint64) string
	Title string

	until time.Time // when to stop searching; zero: evidenceTime after the first search
}

// Everything shows all of v, including its secrets.
func Everything(v *engine.View) Shown {
	return Shown{Screen: v.Screen, Output: v.Transcript.String, Title: v.Screen.Title}
}

// screen calls tell to say how close the part of v's screen that a text matcher reads comes.
func (s Shown) screen(v *engine.View,
	tell func(text, where string) (why, nearest string)) (why, nearest string) {
	const where = "the screen"
	if s.Screen == nil {
		return where + " does not match, and nothing of it may be shown", ""
	}
	if v.Since.Set {
		p := s.Screen.Passage(&v.Since.Point)
		return tell(string(p.Text), where)
	}
	return tell(s.Screen.Text(), where)
}

// output is screen for the transcript.
func (s Shown) output(tell func(text, where string) (why, nearest string)) (why, nearest string) {
	const where = "the transcript"
	if s.Output == nil {
		return where + " does not match, and nothing of it may be shown", ""
	}
	return tell(s.Output(), where)
}

// maxNearest bounds the lines that a search for the nearest one reads, from the newest: a screen
// has fewer, and a wait's text would be at the end of a transcript.
const maxNearest = 500

// evidenceTime is how long the explanation of a tree may search: a wait's end should take no longer
// for evidence.
const evidenceTime = 50 * time.Millisecond

// patience returns a function that is true while there is time to search.
func (s *Shown) patience() func() bool {
	if s.until.IsZero() {
		s.until = time.Now().Add(evidenceTime)
	}
	return func() bool { return time.Now().Before(s.until) }
}

// Explain says how v looks to m. What matched at the wait's last check still does.
func (m *TextMatcher) Explain(v *engine.View, shown Shown) Explanation {
	e := Explanation{Type: m.kind, Value: m.source()}
	if m.scope == OnScreen {
		e.Scope = m.scope
	}
	found, err := m.onScreen(v, shown.patience())
	switch {
	case found != nil:
		e.Held, e.Why = true, "the screen "+m.verb()
	case m.left != nil:
		e.Held, e.Why = true,
			fmt.Sprintf("line %d, which has left the screen, %s", m.left.place.Line, m.verb())
	case err != nil:
		e.Err, e.Why = err, tooLong
	case v.Since.Set && v.Since.Seq > v.Sequence:
		e.Why = toCome(v)
	default:
		why, line, ok := m.elsewhere(v, shown.patience())
		if !ok {
			e.Why, e.Nearest = shown.screen(v, m.near)
		} else if e.Why = why; line != nil && shown.Line != nil {
			e.Nearest = shown.Line(*line)
		}
	}
	return e
}

// tooLong is the reason for an expression that was interrupted.
const tooLong = "the expression was still being searched for when the wait ended: more time, or a simpler expression, tells"

func toCome(v *engine.View) string {
	return fmt.Sprintf("nothing counts yet: sequence %d is still to come, the newest is %d",
		v.Since.Seq, v.Sequence)
}

// elsewhere says where the missing text has been: in a part of the screen that does not count,
// above the screen, or in the output. line is the scrollback line that contains it.
func (m *TextMatcher) elsewhere(v *engine.View,
	patience func() bool) (why string, line *uint64, ok bool) {
	has := func(q query, text []byte) (at int, ok bool) {
		_ = q.hits(text, patience, func(loc []int) bool {
			at, ok = loc[0], true
			return true // keep the last one
		})
		return at, ok
	}
	if _, ok := has(m, []byte(v.Screen.Text())); ok && v.Since.Set {
		return fmt.Sprintf("the screen has it, but nothing of it was written after %s",
			sinceWords(v)), nil, true
	}
	if _, ok := has(m, []byte(uncut(v.Screen))); ok &&
		(!v.Since.Set || v.Screen.Changed(v.Screen.Cursor.Row) > v.Since.Seq) {
		return "the screen has it with the blanks before the cursor, and rows are cut behind their last character that is not blank: " +
			"leave out the blank at its end", nil, true
	}
	p := v.Screen.Left(vt.LeftOptions{})
	if x, ok := m.query.(*expression); ok && x.ofScreen() {
		if re, err := compile("(?m)" + x.source()); err == nil {
			const how = ", with (?m), which makes ^ and $ those of lines: without it they are the screen's beginning and end"
			r := TextMatcher{query: re}
			if found, _ := r.onScreen(v, patience); found != nil {
				return "the screen matches" + how, nil, true
			}
			if at, ok := has(re, p.Text); ok {
				n, _ := p.Row(at)
				return fmt.Sprintf("line %d matches, which left the screen upwards at sequence %d%s", n, v.Screen.LeftAt(n), how), &n, true
			}
		}
	} else {
		if at, ok := has(m, p.Text); ok {
			n, _ := p.Row(at)
			why := fmt.Sprintf("line %d had it, which left the screen upwards at sequence %d", n,
				v.Screen.LeftAt(n))
			switch {
			case m.scope == OnScreen:
				why += `: the scope "seen" reads such lines too`
			case v.Since.Set:
				why += ", but nothing of it was written after " + sinceWords(v)
			default:
				why += `, before the wait began: with "since" it is found`
			}
			return why, &n, true
		}
	}
	if at, ok := has(m, v.Transcript.Bytes()); ok {
		return fmt.Sprintf("the program has written it, %d bytes before the end of its output, and it was drawn over or erased since",
			len(v.Transcript.Bytes())-at), nil, true
	}
	return "", nil, false
}

// uncut is the screen's text up to the cursor, including trailing blanks before it, such as a
// prompt's.
func uncut(s *vt.Screen) string {
	var b strings.Builder
	for y := range s.Cursor.Row {
		b.Write(s.AppendLine(nil, y))
		b.WriteByte('\n')
	}
	line := s.AppendLine(nil, s.Cursor.Row)
	b.Write(line)
	b.WriteString(strings.Repeat(" ", max(0, s.Cursor.Col-utf8.RuneCount(line))))
	return b.String()
}

// sinceWords names what a wait counts from.
func sinceWords(v *engine.View) string {
	if v.Since.Exact {
		return "the match that the wait goes on from"
	}
	return fmt.Sprintf("sequence %d", v.Since.Seq)
}

func (m *output) Explain(v *engine.View, shown Shown) Explanation {
	e := Explanation{Type: m.kind, Value: m.source()}
	found, err := m.look(v, shown.patience())
	e.Held = found != nil
	switch {
	case e.Held:
		e.Why = "the transcript " + m.verb()
	case err != nil:
		e.Err, e.Why = err, tooLong
	case v.Since.Set && v.Since.Seq > v.Sequence:
		e.Why = toCome(v)
	default:
		if v.Since.Set {
			if old, _ := find(m, v.Transcript.Bytes(), shown.patience()); old != nil {
				e.Why = "the transcript " + m.verb() + ", but from before " + sinceWords(v)
				return e
			}
		}
		e.Why, e.Nearest = shown.output(m.near)
	}
	return e
}

func (m *title) Explain(v *engine.View, shown Shown) Explanation {
	e := Explanation{Type: m.kind, Value: m.source(), Held: m.Check(v).Match != nil,
		Why: "there is no title", Nearest: shown.Title}
	if shown.Title != "" {
		e.Why = "the title is " + shown.Title
	}
	return e
}

func (m *command) Explain(v *engine.View, shown Shown) Explanation {
	e := Explanation{Type: "command_finished", Held: m.Check(v).Match != nil}
	if m.code != nil {
		e.Value = map[string]any{"exit_code": *m.code}
	}
	sh := v.Reports.Shell
	switch {
	case sh == nil || sh.Phase == "":
		e.Why = "the program marks no commands (OSC 133 or 633): start the shell with its integration, or wait for its prompt"
	case e.Held:
		e.Why = "a command has ended"
	case sh.Phase == engine.ShellRunning:
		e.Why = "a command is running"
	case sh.Commands == m.seen && !v.Since.Set, sh.Finished <= v.Since.Last():
		e.Why = "no command has ended since the wait began; with \"since\" one that ended before it counts"
		if v.Since.Set {
			e.Why = "no command has ended since " + sinceWords(v)
		}
	case !sh.Exited:
		e.Why = "the last command ended without an exit code"
	default:
		e.Why = fmt.Sprintf("the last command ended with exit code %d", sh.ExitCode)
	}
	return e
}

func (m anyOf) Explain(v *engine.View, shown Shown) Explanation {
	e := Explanation{Type: "any", Parts: explainAll(m, v, shown)}
	held := count(e.Parts)
	e.Held = held > 0
	e.Why = fmt.Sprintf("%d of %d hold; one has to", held, len(m))
	if !e.Held {
		e.fail()
	}
	return e
}

func (m allOf) Explain(v *engine.View, shown Shown) Explanation {
	e := Explanation{Type: "all", Parts: explainAll(m, v, shown)}
	held := count(e.Parts)
	e.Held = held == len(m)
	e.Why = fmt.Sprintf("%d of %d hold; all have to", held, len(m))
	e.fail()
	return e
}

func (m not) Explain(v *engine.View, shown Shown) Explanation {
	e := Explanation{Type: "not", Parts: explainAll([]Matcher{m.of}, v, shown)}
	e.Held = !e.Parts[0].Held && e.Parts[0].Err == nil
	if e.Why = "what must not hold holds"; e.Held {
		e.Why = "what must not hold does not"
	}
	e.fail()
	return e
}

// fail marks e as failed when one of its parts failed, and says which. Why is the part's own: what
// failed may quote the program, and only the part knows what of it may be shown.
func (e *Explanation) fail() {
	for i, p := range e.Parts {
		if p.Err != nil {
			e.Err, e.Why = p.Err,
				fmt.Sprintf("part %d of %d failed, so there is no answer", i+1, len(e.Parts))
			return
		}
	}
}

func explainAll(m []Matcher, v *engine.View, shown Shown) []Explanation {
	shown.patience() // shared by all parts
	parts := make([]Explanation, len(m))
	for i, x := range m {
		parts[i] = x.Explain(v, shown)
	}
	return parts
}

func count(parts []Explanation) int {
	n := 0
	for _, p := range parts {
		if p.Held {
			n++
		}
	}
	return n
}

// missing says how close haystack comes to containing needle.
func missing(needle, haystack, where string) (why, nearest string) {
	if strings.TrimSpace(haystack) == "" {
		return where + " is blank", ""
	}
	lines := lastLines(haystack)
	for _, l := range lines {
		if strings.Contains(strings.ToLower(l), strings.ToLower(needle)) {
			return where + " shows it in other letter case", l
		}
	}
	if padded(needle, haystack) {
		return where +
			" shows it but for blanks at the end of a row, which are cut: leave them out, or match the transcript", ""
	}
	if i := strings.Index(strings.ReplaceAll(haystack, "\n", ""),
		strings.ReplaceAll(needle, "\n", "")); i >= 0 {
		return where + " shows it broken over lines", lineAt(haystack, i)
	}
	nearest, common := closest.Line(needle, lines)
	if common == "" {
		return where + " shows nothing like it", ""
	}
	return fmt.Sprintf("%s shows %d of its %d bytes", where, len(common), len(needle)), nearest
}

// padded reports whether text would contain needle if its rows kept their trailing blanks.
func padded(needle, text string) bool {
	return strings.Contains(pad(text), needle)
}

// pad appends a blank to every row.
func pad(text string) string { return strings.ReplaceAll(text, "\n", " \n") + " " }

// lineAt returns the line of text that contains byte i, not counting line ends.
func lineAt(text string, i int) string {
	for l := range strings.SplitSeq(text, "\n") {
		if i < len(l) {
			return l
		}
		i -= len(l)
	}
	return ""
}

// lastLines returns the last maxNearest lines that are not blank.
func lastLines(text string) []string {
	var lines []string
	for _, l := range strings.FieldsFunc(text,
		func(r rune) bool { return r == '\n' || r == '\r' }) {
		if strings.TrimSpace(l) != "" {
			lines = append(lines, l)
		}
	}
	return lines[max(0, len(lines)-maxNearest):]
}

// unmatched says how close text comes to matching re: the longest beginning of the expression that
// matches somewhere, else the line with the longest of its literal pieces.
func unmatched(re *regexp.Regexp, text, where string) (why, nearest string) {
	if strings.TrimSpace(text) == "" {
		return where + " is blank", ""
	}
	if re.MatchString(pad(text)) {
		return where +
			" matches but for blanks at the end of a row, which are cut: leave them out, or match the transcript", ""
	}
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return where + " does not match", ""
	}
	for tree.Op == syntax.OpCapture {
		tree = tree.Sub[0]
	}
	if tree.Op == syntax.OpConcat {
		// A wait's end should take no longer for evidence.
		deadline := time.Now().Add(50 * time.Millisecond)
		for n := len(tree.Sub) - 1; n > 0 && time.Now().Before(deadline); n-- {
			head := &syntax.Regexp{Op: syntax.OpConcat, Flags: tree.Flags, Sub: tree.Sub[:n]}
			part, err := regexp.Compile(head.String())
			if err != nil {
				continue
			}
			if loc := part.FindStringIndex(text); loc != nil && loc[1] > loc[0] {
				return where + " matches its beginning " + head.String() +
					" only", lineAround(text, loc[0], loc[1])
			}
		}
	}
	var piece, line string
	for _, l := range literals(tree, nil) {
		if near, c := closest.Line(l, lastLines(text)); len(c) > len(piece) {
			piece, line = c, near
		}
	}
	if piece == "" {
		return where + " shows nothing like it", ""
	}
	return where + " does not match", line
}

// lineAround returns the lines of text that contain the bytes from start to end.
func lineAround(text string, start, end int) string {
	from := strings.LastIndexByte(text[:start], '\n') + 1
	if to := strings.IndexByte(text[end:], '\n'); to >= 0 {
		return text[from : end+to]
	}
	return text[from:]
}

// literals collects the literal pieces of an expression.
func literals(re *syntax.Regexp, out []string) []string {
	if re.Op == syntax.OpLiteral {
		return append(out, string(re.Rune))
	}
	for _, sub := range re.Sub {
		out = literals(sub, out)
	}
	return out
}

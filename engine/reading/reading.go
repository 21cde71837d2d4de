// Package reading (no stability promise) shows a session as clients may see it: every text of a
// program passes a redactor on its way to a client, in any dialect. [New] makes a [View], for one
// moment; [Lines] are the scrollback and the screen's rows after it.
//
// With a nil redactor everything is shown as it is. This package knows no wire format.
package reading

import (
	"math"
	"slices"
	"strings"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/locate"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/ansi"
	"github.com/ptywright/ptywright/redact"
)

// A View is one engine view as one client may see it. It is for one goroutine.
type View struct {
	Raw *engine.View // not redacted: its texts may leave only through the methods

	// Secrets returns other texts of the program that the author of a text for [View.Piece], a
	// plugin, may have seen and that are secret. nil: nothing.
	Secrets func() []string

	hide   *redact.Redactor
	screen *vt.Screen // redacted; nil: not made yet
	hidden []string   // the secrets hidden on the screen, unredacted
	finder *redact.Finder
}

// New returns a view redacted by hide and by the known secrets of v's session; with a nil hide it
// shows everything unredacted. Of a view of the past it also hides what had been written so far of a
// secret that is known by now.
func New(v *engine.View, hide *redact.Redactor) *View {
	if hide != nil {
		hide = hide.For(string(v.Session))
		if v.Past {
			hide = hide.Begun()
		}
	}
	return &View{Raw: v, hide: hide}
}

// Learn returns a function for [engine.Options].Typed that adds the secrets among typed lines to k.
func Learn(k *redact.Known) func(s *engine.Session, line string, is engine.Standing) {
	return func(s *engine.Session, line string, is engine.Standing) {
		Note(k, string(s.ID()), s.Closed(), line, is)
	}
}

// Note tells k what an [engine.SecretInput] reports of a line: see [redact.Known.Typed].
func Note(k *redact.Known, session string, ended <-chan struct{}, line string, is engine.Standing) {
	k.Typed(session, ended, line, map[engine.Standing]redact.Standing{
		engine.Suspected: redact.Suspected, engine.Certain: redact.Certain,
		engine.Cleared: redact.Cleared,
	}[is])
}

// At returns a view of raw with the same redaction.
func (v *View) At(raw *engine.View) *View {
	return &View{Raw: raw, Secrets: v.Secrets, hide: v.hide}
}

// Redacted reports whether anything is hidden.
func (v *View) Redacted() bool { return v.hide != nil }

// Screen returns the screen with its secrets hidden, those in its title and links too: package vt cuts
// it into logical lines, package redact says what to hide in them, and vt finds the cells.
func (v *View) Screen() *vt.Screen {
	switch {
	case v.screen != nil:
	case v.hide == nil:
		v.screen = v.Raw.Screen
	default:
		v.screen = v.Raw.Screen.MaskPage(func(lines []string,
			above func(int) (string, bool)) [][]vt.Mask {
			out := make([][]vt.Mask, len(lines))
			for i, spans := range v.hide.Page(lines, above) {
				for _, s := range spans {
					out[i] = append(out[i], vt.Mask(s))
					v.hidden = append(v.hidden, lines[i][s.Start:s.End])
				}
			}
			return out
		}).WithTexts(v.hide.String)
		v.Raw.Hid(len(v.hidden))
	}
	return v.screen
}

// Clean redacts a string that is not in the grid: a title, a link, a line of evidence.
func (v *View) Clean(s string) string {
	if v.hide == nil || s == "" {
		return s
	}
	return v.hide.String(s)
}

// Args redacts a command's arguments, each judged with the program and the arguments before it: the
// name in front may make one a secret, as in --password and its value. Such a value is hidden as a
// whole, including its blanks.
func (v *View) Args(program string, args []string) []string {
	out := make([]string, len(args))
	line := program
	for i, a := range args {
		out[i] = v.Clean(a)
		line = line[max(0, len(line)-argsSeen):] + " "
		if v.hide != nil && a != "" {
			word := blanks.Replace(a)
			switch behind := v.hide.From(line+word, len(line)); {
			case behind == v.hide.String(word): // what is before it means nothing
			case out[i] == a:
				out[i] = behind
			default: // a secret by its form too
				out[i] = redact.DefaultReplacement
			}
		}
		line += a
	}
	return out
}

// Env redacts the values of variables, each judged with its name. One that is a secret by its name
// is hidden as a whole.
func (v *View) Env(env map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range env {
		word := blanks.Replace(value)
		out[name] = strings.TrimPrefix(v.Clean(name+"="+word), name+"=")
		if out[name] == word { // the name means nothing
			out[name] = v.Clean(value)
		}
	}
	return out
}

// argsSeen is how much of a command line before an argument is judged with it, in bytes: a name is
// right before its value, a program whose options have a meaning of their own a little earlier.
const argsSeen = 1 << 10

// blanks replaces what would end a word within an argument.
var blanks = strings.NewReplacer(" ", "_", "\t", "_", "\r", "_", "\n", "_")

// Piece redacts a text that may be a piece of the screen, such as a plugin's words. Outside its
// line a secret looks like other text, so what is hidden on the screen, or is one of Secrets, is
// hidden in it too.
func (v *View) Piece(s string) string {
	if v.hide == nil || s == "" {
		return s
	}
	if v.finder == nil {
		v.Screen() // finds what is hidden
		secrets := v.hidden
		if v.Secrets != nil {
			secrets = append(v.Secrets(), secrets...)
		}
		v.finder = redact.NewFinder(secrets)
	}
	return v.hide.String(v.finder.Hide(s))
}

// PieceBelow is Piece for a text when the text right above it is known: it is judged with that,
// which may itself begin within a line.
func (v *View) PieceBelow(above, s string) string {
	if v.hide == nil || above == "" || s == "" {
		return v.Piece(s)
	}
	v.Piece(s) // makes the finder
	above, s = v.finder.Hide(above[redact.Reach([]byte(above)):]), v.finder.Hide(s)
	if seen := above + s; head(seen) > len(above) { // one word, whose beginning may be unknown
		return v.hide.String(HideHead(seen))
	}
	return v.hide.From(above+s, len(above))
}

// Printed redacts what a command wrote, with its escape sequences if raw is set. Incomplete output
// is judged together with the text above it.
func (v *View) Printed(b *engine.Block, raw bool) string {
	if raw {
		return v.PieceBelow(b.Above, b.Raw)
	}
	return v.PieceBelow(ansi.Strip(b.Above), b.Output)
}

// PrintedOnScreen redacts a command's text on the screen.
func (v *View) PrintedOnScreen(b *engine.Block) string {
	text := b.ScreenText
	if !b.ScreenWhole && v.hide != nil {
		text = HideHead(text)
	}
	return v.Piece(text)
}

// HideHead hides the beginning of a text that begins within a line, up to the first white space:
// the lost text before it may have made it a secret.
func HideHead(text string) string {
	i := head(text)
	if i == 0 {
		return text
	}
	return redact.DefaultReplacement + text[i:]
}

// head is the length of the beginning of a text, up to the first white space.
func head(text string) int {
	if i := strings.IndexAny(text, " \t\r\n"); i >= 0 {
		return i
	}
	return len(text)
}

// Output redacts the whole retained output, or its last chars characters.
func (v *View) Output(chars int) string {
	t := v.Raw.Transcript
	text := t.Tail(chars)
	if v.hide == nil {
		return text
	}
	if oldest, end := t.Bounds(); !t.Whole() || end-engine.Offset(len(text)) > oldest {
		if begins := end - engine.Offset(len(text)); begins == oldest ||
			t.Bytes()[begins-oldest-1] != '\n' {
			text = HideHead(text)
		}
	}
	return v.hide.String(text)
}

// TailChars is how many characters of output come with a screen: as many as one of 24x80 has, and
// some escape sequences. They are judged, encoded, and read by the client with every wait, and with
// twice as many they were a third of a turn's cost. Clients that want more read the transcript.
const TailChars = 2 << 10

// NearChars is how many characters of output are searched for the line closest to what a wait
// lacks: the 500 newest lines, of up to 128 characters.
const NearChars = 64 << 10

// Line returns a line of the scrollback by its absolute number, redacted; "" when it is not kept.
func (v *View) Line(line uint64) string {
	lines := v.Lines()
	if i := int(line - lines.Dropped()); line >= lines.Dropped() && i < lines.Len() {
		return lines.Read(i, i+1)[0]
	}
	return ""
}

// Tail returns the last characters of the output, judged with the text before them: a secret's
// marker may be longer than it.
func (v *View) Tail(chars int) string {
	text, _ := v.OutputSince(v.Raw.Transcript.TailFrom(chars))
	return text
}

// OutputSince returns the output from a position on, redacted in sight of what stands before it:
// the rest of a line that was begun, or of a private key, may be a secret because of what came
// first.
func (v *View) OutputSince(from engine.Offset) (text string, dropped bool) {
	raw, _, dropped := v.Raw.Transcript.Since(from)
	if v.hide == nil {
		return string(raw), dropped
	}
	if oldest, _ := v.Raw.Transcript.Bounds(); from <= oldest {
		return v.Output(math.MaxInt), dropped
	}
	all := v.Raw.Transcript.Bytes()
	cut := len(all) - len(raw)
	begin := redact.Reach(all[:cut])
	seen, at := string(all[begin:]), cut-begin
	if begin == 0 && !v.Raw.Transcript.Whole() { // its beginning continues what was dropped
		rest := len(seen) - at
		seen = HideHead(seen)
		at = max(0, len(seen)-rest)
		if at < len(redact.DefaultReplacement) {
			at = 0
		}
	}
	return v.hide.From(seen, at), dropped
}

// outputAt redacts the lines of the output that contain a match, judged with those above them.
func (v *View) outputAt(at *engine.Place) string {
	t := v.Raw.Transcript
	oldest, newest := t.Bounds()
	if at == nil || at.End() > newest || at.End() < oldest {
		return ""
	}
	all := t.Bytes()
	end := int(at.End() - oldest)
	start := max(0, end-len(at.Text))
	for i, c := range all[end:] {
		if c == '\n' || i == redact.ReachBytes {
			break
		}
		end++
	}
	begin := redact.Reach(all[:start])
	seen := string(all[begin:end])
	if begin == 0 && !t.Whole() {
		seen = HideHead(seen)
	}
	return v.hide.String(seen)
}

// found redacts a piece of a searched text. Outside its line a secret looks like other text, so
// only what is in the redacted whole is shown.
func (v *View) found(piece string, m *engine.Match, lines string) string {
	if v.hide == nil || piece == "" {
		return piece
	}
	whole := v.Screen().Text()
	switch m.Kind {
	case "contains_text", "screen_regex":
		if m.Place != nil && m.Place.Scrolled {
			whole = lines
		}
	case "transcript_contains", "transcript_regex":
		whole = v.outputAt(m.Place)
	case "title_contains", "title_regex":
		whole = v.Clean(v.Raw.Screen.Title)
	}
	if strings.Contains(whole, piece) {
		return piece
	}
	return redact.DefaultReplacement
}

// Match returns what matched, with no text that is not in the redacted whole. A plugin's evidence
// and value are unchanged: see [View.Piece].
func (v *View) Match(m *engine.Match) *engine.Match {
	if v.hide == nil || m == nil {
		return m
	}
	c := *m
	lines := ""
	if m.Place != nil && m.Place.Scrolled {
		at := *m.Place
		at.Lines = v.PieceBelow(at.Above, at.Lines)
		c.Place, lines = &at, at.Lines
	}
	c.Text, c.Capture = v.found(m.Text, m, lines), v.found(m.Capture, m, lines)
	c.Places = make([]locate.Place, len(m.Places))
	for i, p := range m.Places {
		c.Places[i] = p.On(v.Screen())
	}
	c.Groups = slices.Clone(m.Groups)
	for i, g := range m.Groups {
		c.Groups[i].Text = v.found(g.Text, m, lines)
	}
	c.Pattern = v.Pattern(m.Pattern)
	if m.Kind == "command_finished" || m.Kind == "state" {
		c.Text = v.Piece(m.Text)
	}
	c.Plugin, c.Predicate = v.Clean(m.Plugin), v.Clean(m.Predicate)
	c.Parts = make([]*engine.Match, len(m.Parts))
	for i, p := range m.Parts {
		c.Parts[i] = v.Match(p)
	}
	return &c
}

// Pattern redacts a regular expression: a plugin may have built it from the screen.
func (v *View) Pattern(s string) string {
	if v.Secrets != nil {
		return v.Piece(s)
	}
	return v.Clean(s)
}

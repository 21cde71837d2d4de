package engine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/vt"
)

// A Position is a point in a session's output: after a batch, as [After] makes it, or just after a
// match, as in [Outcome.Next]. A wait with a position considers only what came after it. It is
// valid for its own session only.
type Position struct {
	vt.Point
	Offset  Offset // of the transcript; valid with Exact
	Exact   bool   // just after a match
	Session ID     // whose it is; "": that is not known, as of a sequence
}

// After returns the position after everything up to a sequence.
func After(sequence uint64) *Position { return &Position{Point: vt.Point{Seq: sequence}} }

// String returns p in the form that [ParsePosition] reads. The form may change, except that a
// position made by After is its sequence.
func (p Position) String() string {
	if !p.Exact {
		return strconv.FormatUint(p.Seq, 10)
	}
	text := fmt.Sprintf("p%d-%d", p.Seq, p.Offset)
	if p.Within {
		text += fmt.Sprintf("-%d-%d", p.At.Line, p.At.Col)
	}
	if p.Session != "" {
		text += "@" + string(p.Session)
	}
	return text
}

// Check returns a *[ForeignPositionError] if p is known to be a position of another session.
func (p *Position) Check(of ID) error {
	if p == nil || p.Session == "" || p.Session == of {
		return nil
	}
	return &ForeignPositionError{Of: p.Session, Given: of}
}

// A ForeignPositionError says that a position is of another session than the one it was given for.
type ForeignPositionError struct{ Of, Given ID }

func (e *ForeignPositionError) Error() string {
	return fmt.Sprintf("a position of session %s says nothing of session %s: give the next of a wait "+
		"on that one, or a sequence", e.Of, e.Given)
}

// ParsePosition reads a sequence, or a result of [Position.String]. The error quotes nothing of s.
func ParsePosition(s string) (*Position, error) {
	rest, exact := strings.CutPrefix(s, "p")
	rest, id, named := strings.Cut(rest, "@")
	parts := strings.Split(rest, "-")
	var n [4]uint64
	bad := exact && len(parts) != 2 && len(parts) != 4 || !exact && (len(parts) != 1 || named)
	if number, ok := strings.CutPrefix(id, "s"); named {
		_, err := strconv.ParseUint(number, 10, 64)
		bad = bad || !ok || err != nil || number[0] == '+'
	}
	for i, part := range parts[:min(len(parts), 4)] {
		var err error
		if n[i], err = strconv.ParseUint(part, 10, 64); err != nil || part[0] == '+' {
			bad = true
		}
	}
	if bad || n[3] > vt.MaxSide {
		return nil, errors.New("expected a sequence, or the next of a wait's answer")
	}
	p := &Position{Point: vt.Point{Seq: n[0]}, Offset: Offset(n[1]), Exact: exact,
		Session: ID(id)}
	if len(parts) == 4 {
		p.Within, p.At = true, vt.Position{Line: n[2], Col: int(n[3])}
	}
	return p, nil
}

// Since narrows a view to what came after a position.
type Since struct {
	Position           // with the transcript's offset, whichever way it was made
	Began    time.Time // when the wait began
	Set      bool
}

// Last returns the last sequence that does not count: events without a place within their batch,
// such as a bell, count from the next one on.
func (s Since) Last() uint64 {
	if s.Within {
		return s.Seq - 1
	}
	return s.Seq
}

// OffsetOf returns the transcript position from which everything came after p; 0 when that is too
// long ago to be known.
func (s *Session) OffsetOf(p Position) Offset {
	if p.Exact {
		return p.Offset
	}
	return s.OffsetAt(p.Seq)
}

// since resolves a position to what a wait needs of it.
func (s *Session) since(p Position, began time.Time) Since {
	p.Offset = s.OffsetOf(p)
	return Since{Position: p, Began: began, Set: true}
}

// A Place is where a matched text is. Its texts are the program's, not redacted.
type Place struct {
	Text     string
	Scrolled bool   // it has scrolled off the screen; the next two are set then
	Line     uint64 // number of the first line of Lines, counted from the session's first line
	Lines    string // the logical lines that contain it
	Above    string // the text right above Lines, as far as it is kept

	line   uint64 // of its first row
	inLine int    // bytes before it in the text read of that row
	behind vt.Point
	offset Offset // of the transcript, right after it; 0: it was found on the screen or above
}

// End returns the transcript's position right after a text found there; 0 for one of the screen.
func (p *Place) End() Offset { return p.offset }

// On returns the place of bytes start to end of a passage that v shows.
func (v *View) On(p *vt.Passage, start, end int) *Place {
	line, inLine := p.Row(start)
	return &Place{Text: string(p.Text[start:end]), line: line, inLine: inLine,
		behind: v.Screen.Behind(p, start, end)}
}

// Scrolled returns the place of bytes start to end of a passage of lines that left the screen.
func (v *View) Scrolled(p *vt.Passage, start, end int) *Place {
	at := v.On(p, start, end)
	from, to := p.Logical(start, end)
	at.Scrolled, at.Lines = true, string(p.Text[from:to])
	at.Line, _ = p.Row(from)
	at.Above = v.above(vt.Position{Line: at.Line})
	return at
}

// InOutput returns the place of a text that ends at an offset of the transcript.
func (v *View) InOutput(text string, end Offset) *Place { return &Place{Text: text, offset: end} }

// contextBytes is how much of the text above is read to tell what in a text is secret: the lines of
// a private key take at most that.
const contextBytes = 64 << 10

const (
	// nearRows is how many rows above a text are read first: reading all that may matter would cost
	// each wait more with each line that a session has written.
	nearRows = 24
	// keyRun is the least length of a word that may be part of a private key, whose first line may
	// be far above: most have 64 characters.
	keyRun = 40
)

// above returns the text above a place of the main screen or its scrollback: some rows, or all that
// may matter where these begin within a line or may be part of a private key.
func (v *View) above(to vt.Position) string {
	from := vt.Position{Line: to.Line - min(to.Line, nearRows)}
	near, _ := v.Screen.Between(from, to, contextBytes)
	long := func(word string) bool { return len(word) >= keyRun }
	if from.Line == 0 ||
		strings.Contains(near, "\n") && !slices.ContainsFunc(strings.Fields(near), long) {
		return near
	}
	text, _ := v.Screen.Between(vt.Position{}, to, contextBytes)
	return text
}

// place returns where the text that m matched is, of several the last one; nil when it matched
// none.
func (m *Match) place() *Place {
	if m.Place != nil {
		return m.Place
	}
	var last *Place
	for _, part := range m.Parts {
		if at := part.place(); at != nil && (last == nil || last.behind.Before(at.behind)) {
			last = at
		}
	}
	return last
}

// behind returns the position just after what m matched in v.
func (s *Session) behind(v *View, m *Match) *Position {
	p := &Position{Point: vt.Point{Seq: v.Sequence}, Exact: true, Session: s.id}
	_, p.Offset = v.Transcript.Bounds()
	switch at := m.place(); {
	case at == nil:
		if m.Kind == "command_finished" && v.Reports.Shell != nil {
			p.Seq = v.Reports.Shell.Finished
			p.Offset = s.OffsetAt(p.Seq)
		}
	case at.offset > 0: // which part of its batch came after is unknown
		p.Seq, p.Offset = s.sequenceOf(at.offset)-1, at.offset
	default:
		p.Point, p.Offset = at.behind, s.offsetBehind(v, at)
	}
	if v.Since.Set {
		if p.Point.Before(v.Since.Point) {
			p.Point = v.Since.Point
		}
		p.Offset = max(p.Offset, v.Since.Offset)
	}
	return p
}

// sequenceOf returns the sequence whose batch wrote what ends at an offset of the transcript; at
// least 1.
func (s *Session) sequenceOf(end Offset) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(1, s.seqs.of(end))
}

// offsetBehind returns the transcript position after a text on the screen: right after it where its
// batch contains it unchanged, otherwise the batch's beginning. A wait for output may then see too
// much, but never miss any.
func (s *Session) offsetBehind(v *View, at *Place) Offset {
	begin, end := s.OffsetAt(at.behind.Seq-1), s.OffsetAt(at.behind.Seq)
	begin = max(begin, v.Since.Offset)
	text, _, dropped := v.Transcript.Since(begin)
	if dropped || end <= begin || at.Text == "" {
		return begin
	}
	if i := bytes.Index(text[:min(int(end-begin), len(text))], []byte(at.Text)); i >= 0 {
		return begin + Offset(i+len(at.Text))
	}
	return begin
}

// before returns what came between the wait's since and a text, the text right above that, and
// whether its beginning was cut off.
func (v *View) before(at *Place) (text, above string, cut bool) {
	var all []byte // what counts, up to the text
	if at.offset > 0 {
		out, from := v.Output()
		all = out[:max(0, int(at.offset-from)-len(at.Text))]
		kept := v.Transcript.Bytes()
		above = string(tail(kept[:len(kept)-len(out)], contextBytes))
	} else {
		p := v.Screen.Left(vt.LeftOptions{Since: v.point()})
		if !at.Scrolled {
			p = p.And(v.Shown())
		}
		all = p.UpTo(at.line, at.inLine)
		above = v.above(p.Start())
	}
	kept := tail(all, MostBefore)
	if cut = len(kept) < len(all); cut {
		above = string(tail(all[:len(all)-len(kept)], contextBytes))
	}
	return string(kept), above, cut
}

// tail returns the last n bytes of a text, from the beginning of a character on.
func tail(text []byte, n int) []byte {
	if len(text) <= n {
		return text
	}
	text = text[len(text)-n:]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}

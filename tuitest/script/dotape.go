package script

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/nearest"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/tuitest/internal/driver"
)

// What only tapes do.
type (
	require string // a program
	curtain bool   // true: what follows is hidden
	photo   string // the file of a screenshot
	pause   time.Duration
	last    struct{} // the end of the tape
	strokes struct {
		keys   []engine.Action
		paste  string // instead of keys
		pace   time.Duration
		enters bool // each key ends a line
	}
	// A glance waits for an expression.
	glance struct {
		re     *regexp.Regexp
		line   bool // in the line of the cursor
		within time.Duration
	}
	// A rest waits for a screen that is still.
	rest struct{ still, within time.Duration }
)

func (a require) do(_ context.Context, p *player, _ *StepResult) error {
	if _, err := p.lookPath(string(a)); err != nil {
		return &Failure{Why: err.Error(), Reason: "start", Next: "install it, or take the line out"}
	}
	return nil
}

func (a curtain) do(_ context.Context, p *player, _ *StepResult) error {
	p.piece(Piece{Lasts: -1})
	p.hidden = bool(a)
	return nil
}

func (a photo) do(_ context.Context, p *player, _ *StepResult) error {
	p.piece(Piece{Lasts: -1, Still: true, Shot: string(a)})
	return nil
}

func (last) do(_ context.Context, p *player, _ *StepResult) error {
	p.piece(Piece{Lasts: -1, Still: true})
	return nil
}

// ended waits for the program's end, at most so long, and reports whether it came.
func (p *player) ended(ctx context.Context, within time.Duration) (bool, error) {
	s, err := p.running()
	if err != nil {
		return false, err
	}
	switch _, err := s.Wait(ctx, matchers.Exited(), engine.Within(within)); {
	case err == nil:
		return true, nil
	case errors.Is(err, engine.ErrTimeout):
		return false, nil
	default:
		return false, err
	}
}

// A pause is shown as long as it says, and waited for while the program lives: what it draws
// meanwhile is what is to be seen.
func (a pause) do(ctx context.Context, p *player, _ *StepResult) error {
	p.piece(Piece{Lasts: -1})
	_, err := p.ended(ctx, time.Duration(a))
	p.piece(Piece{Lasts: time.Duration(a), Still: true})
	return err
}

const (
	// calm is for how long a screen has to be unchanged for a key's effect to count as drawn. Programs
	// write the parts of a frame within a millisecond or two; a longer one would make typing slow.
	calm = 15 * time.Millisecond
	// slowest is how long the effect of the last key of a command is waited for: its echo has to be
	// there before what follows is looked for.
	slowest = 250 * time.Millisecond
)

// do types keys one by one. In the film each takes the pace; here only until its effect is drawn.
func (a *strokes) do(ctx context.Context, p *player, r *StepResult) error {
	p.piece(Piece{Lasts: -1})
	keys := a.keys
	if a.paste != "" {
		keys = []engine.Action{p.drive.Paste(a.paste)}
	}
	for i, key := range keys {
		p.echo = nil
		if a.enters {
			p.echo = p.typedLine()
		}
		p.acted = time.Now()
		if err := p.input(ctx, r, known(key)); err != nil {
			return err
		}
		bound := a.pace
		if i == len(keys)-1 {
			bound = max(bound, slowest)
		}
		if err := p.drawn(ctx, bound); err != nil {
			return err
		}
		p.piece(Piece{Lasts: a.pace})
	}
	return nil
}

// drawn waits until the program has drawn its answer to an input, or for so long.
func (p *player) drawn(ctx context.Context, bound time.Duration) error {
	s, err := p.running()
	if err != nil {
		return err
	}
	m := engine.Matcher(&matchers.Custom{Kind: "drawn", Ask: func(v *engine.View) engine.Result {
		if v.Ended {
			return engine.Matched("drawn")
		}
		if wrote, _ := p.drive.Reacted(v); !wrote {
			return engine.Result{}
		}
		if left := calm - v.At.Sub(v.Changed); left > 0 {
			return engine.Result{Recheck: left}
		}
		return engine.Matched("drawn")
	}, Why: func(*engine.View, bool) string { return "the program draws" }})
	if _, err = s.Wait(ctx, m, engine.Within(bound)); errors.Is(err, engine.ErrTimeout) {
		return nil
	}
	return err
}

// A typed line is the line that Enter ends: where it stands, and its text then.
type typedLine struct {
	line uint64 // counted from the first that the terminal ever had
	text string
}

// typedLine returns the line that the cursor is in.
func (p *player) typedLine() *typedLine {
	if p.drive.Session == nil {
		return nil
	}
	s := p.drive.Session.View().Screen
	for _, l := range s.LinesIn(vt.Rect{Rows: s.Rows, Cols: s.Cols}) {
		if first, end := l.Rows(); s.Cursor.Row >= first && s.Cursor.Row <= end {
			return &typedLine{lineAt(s, first), strings.TrimRight(l.Text(), " ")}
		}
	}
	return nil
}

func lineAt(s *vt.Screen, row int) uint64 {
	h := s.History()
	return h.Dropped() + uint64(h.Len()+row)
}

func (a *glance) do(ctx context.Context, p *player, _ *StepResult) error {
	if _, err := p.running(); err != nil {
		return err
	}
	g := &glancing{glance: a, p: p}
	m := &matchers.Custom{Kind: a.what(), Ask: g.ask, Why: g.why}
	out, err := p.drive.Wait(ctx, m, engine.Within(a.within))
	if err != nil {
		return tapeWords(p.unmet(out, m, err, a.within))
	}
	p.piece(Piece{Lasts: -1, Still: true})
	return nil
}

// what names what is waited for.
func (a *glance) what() string {
	where := "screen"
	if a.line {
		where = "cursor's line"
	}
	return fmt.Sprintf("the %s matches /%s/", where, strings.TrimPrefix(a.re.String(), "(?m)"))
}

// tapeWords says what to do in the words of a tape.
func tapeWords(err error) error {
	f := (*Failure)(nil)
	if !errors.As(err, &f) {
		return err
	}
	switch f.Reason {
	case "timeout":
		f.Next = "compare what was expected with the last screen; " +
			"Wait@1m gives it longer, Set WaitTimeout all of them"
	case "ended":
		f.Next = "read what it printed last; if it should end here, take the Wait out"
	case "secret":
		f.Next = "start the program so that it asks for none, or Type it before"
	case "flood":
		f.Next = "it may never stop: make it write less"
	}
	return err
}

// A glancing is a glance while it lasts. What matches counts at once where the program has written it
// since the last input. What was there before counts when the screen has then been still for
// driver.Settle, since a state may be waited for, too. The line that Enter ended never counts: it is
// the echo of what was typed.
type glancing struct {
	*glance
	p      *player
	echoed bool // the echo matched, in the last view
}

func (g *glancing) ask(v *engine.View) engine.Result {
	g.echoed = false
	old := false
	for _, x := range g.found(v.Screen) {
		switch {
		case g.p.echo != nil && x.echo(v.Screen, g.p.echo):
			g.echoed = true
		case x.fresh(v.Screen, g.p.drive.Since()):
			return engine.Matched("wait")
		default:
			old = true
		}
	}
	if !old {
		return engine.Result{}
	}
	from := v.Changed
	if g.p.acted.After(from) {
		from = g.p.acted
	}
	if left := driver.Settle - v.At.Sub(from); left > 0 && !v.Ended {
		return engine.Result{Recheck: left}
	}
	return engine.Matched("wait")
}

// Rows that a match is in, and the logical line there.
type matchedRows struct {
	first, last int
	text        string // of the one line that it is in; "": of several
}

// maxMatches bounds the matches that are judged of one screen.
const maxMatches = 256

// found returns where the expression matches.
func (g *glancing) found(s *vt.Screen) []matchedRows {
	lines := s.LinesIn(vt.Rect{Rows: s.Rows, Cols: s.Cols})
	if g.line {
		for i := range lines {
			if first, end := lines[i].Rows(); s.Cursor.Row >= first && s.Cursor.Row <= end {
				lines = lines[i : i+1]
				break
			}
		}
	}
	var text strings.Builder
	var starts []int
	var trimmed []string
	for i := range lines {
		starts = append(starts, text.Len())
		trimmed = append(trimmed, strings.TrimRight(lines[i].Text(), " "))
		text.WriteString(trimmed[i])
		if i+1 < len(lines) {
			text.WriteByte('\n')
		}
	}
	var out []matchedRows
	at := 0
	for _, m := range g.re.FindAllStringIndex(text.String(), maxMatches) {
		for at+1 < len(starts) && starts[at+1] <= m[0] {
			at++
		}
		end := at
		for end+1 < len(starts) && starts[end+1] < m[1] {
			end++
		}
		x := matchedRows{}
		x.first, _ = lines[at].Rows()
		_, x.last = lines[end].Rows()
		if at == end {
			x.text = trimmed[at]
		}
		out = append(out, x)
	}
	return out
}

// echo reports whether the match is in the line that Enter ended.
func (x *matchedRows) echo(s *vt.Screen, typed *typedLine) bool {
	return lineAt(s, x.first) == typed.line && x.text == typed.text
}

// fresh reports whether something of the match was written since the last input.
func (x *matchedRows) fresh(s *vt.Screen, since *engine.Position) bool {
	for row := x.first; row <= x.last && row < s.Rows; row++ {
		if since == nil || s.Changed(row) > since.Seq {
			return true
		}
	}
	return false
}

func (g *glancing) why(v *engine.View, held bool) string {
	switch {
	case held:
		return "it is there"
	case g.echoed:
		return "only the line that was typed matches, and its echo does not count"
	}
	shown := g.p.drive.Shown(v)
	if g.line {
		for _, l := range shown.LinesIn(vt.Rect{Rows: shown.Rows, Cols: shown.Cols}) {
			if first, end := l.Rows(); shown.Cursor.Row >= first && shown.Cursor.Row <= end {
				return fmt.Sprintf("the line of the cursor is %q", strings.TrimRight(l.Text(), " "))
			}
		}
	}
	plain, _ := g.re.LiteralPrefix()
	if line, common := nearest.Line(plain, shown.Lines()); common != "" {
		return fmt.Sprintf("nearest: %q", strings.TrimSpace(line))
	}
	return "no line matches"
}

func (a *rest) do(ctx context.Context, p *player, _ *StepResult) error {
	s, err := p.running()
	if err != nil {
		return err
	}
	p.piece(Piece{Lasts: -1})
	m := stable(a.still)
	options := []engine.WaitOption{engine.Within(a.within)}
	if since := p.drive.Since(); since != nil {
		options = append(options, since)
	}
	out, err := s.Wait(ctx, m, options...)
	switch {
	case err == nil:
		p.piece(Piece{Lasts: -1, Still: true})
	case out != nil && out.View.Ended && ctx.Err() == nil: // still for good
		p.piece(Piece{Lasts: a.still, Still: true})
	default:
		return tapeWords(p.unmet(out, m, err, a.within))
	}
	return nil
}

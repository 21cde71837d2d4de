package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ptywright/ptywright/engine/locate"
	"github.com/ptywright/ptywright/engine/vt"
)

// A Target is a cell of the screen: one of the place that a locator means, or that of Row and Col.
// A locator is asked until it means exactly one place, at most for the time of [Within].
type Target struct {
	Locator  locate.Locator // zero: Row and Col
	Row, Col int
	At       Spot
}

// A Spot is a cell of a place.
type Spot string

const (
	Center Spot = ""      // in the middle of its middle row
	Start  Spot = "start" // its first cell
	End    Spot = "end"   // the first cell of its last character
)

type (
	// Click presses and releases a button on a target, Count times.
	Click struct {
		Target
		Button vt.MouseButtonCode
		Mods   vt.Mods
		Count  int // 1 to MaxClicks; 0 is 1
	}
	// Drag presses a button on one target, moves to another and releases it there. Both are
	// found on the same view, before anything is pressed.
	Drag struct {
		From, To Target
		Button   vt.MouseButtonCode
		Mods     vt.Mods
	}
	// Scroll turns the wheel on a target: Button is one of the wheel's, By how many notches, 1 to
	// MaxNotches; 0 is 1.
	Scroll struct {
		In     Target
		Button vt.MouseButtonCode
		Mods   vt.Mods
		By     int
	}
)

const (
	// MaxClicks bounds [Click.Count]: programs know clicks up to threefold.
	MaxClicks = 10
	// MaxNotches bounds [Scroll.By]: each notch scrolls a program by some lines.
	MaxNotches = 100
)

// A Press says where a [Click], a [Drag] or a [Scroll] has pressed, and what came of it. A drag has
// two: where it began and where it ended.
type Press struct {
	Row, Col int
	// Sequence is that of the view on which the target was found, and on which it was pressed.
	Sequence uint64
	// StillThere: afterwards the locator means the same cells; of a Target without a locator, the
	// cell shows the same.
	StillThere bool
	// Reacted: the program has written something since, at least within [ReactTime].
	Reacted bool
	// Moved: when the terminal had taken the press, the target was gone from where it was found.
	// The press may have hit something else, unless the program was so fast to react.
	Moved bool
}

// ReactTime is how long a [Click] waits for the program to write something: interactive programs
// answer within 100 ms, or feel slow.
const ReactTime = 200 * time.Millisecond

// A TargetError says that a locator did not mean exactly one place of the screen, with the view that
// it was asked about last. Nothing was pressed. Its text quotes neither the program nor the locator,
// which Err does.
type TargetError struct {
	Locator locate.Locator
	View    *View
	Err     error // *[locate.NotOneError], [locate.ErrTooMuch] or that of a plugin
	// OffScreen: what it means stands in line Line, which has left the screen upwards.
	OffScreen bool
	Line      uint64
}

func (e *TargetError) Error() string {
	var not *locate.NotOneError
	switch {
	case e.OffScreen:
		return fmt.Sprintf("what the locator means has left the screen, in line %d: scroll back first", e.Line)
	case errors.As(e.Err, &not) && not.Count == 0:
		return "the locator means nothing on the screen"
	case not != nil:
		return fmt.Sprintf("the locator means %d places of the screen, expected one", not.Count)
	}
	return e.Err.Error()
}

// Unwrap returns Err.
func (e *TargetError) Unwrap() error { return e.Err }

// A spot is a cell in which something is pressed.
type spot struct {
	Target
	view  *View
	place locate.Place // of the locator
	row   int
	col   int
}

// awaits is an action that may have to wait for its targets.
type awaits interface{ targets() []Target }

func (a Click) targets() []Target  { return []Target{a.Target} }
func (a Drag) targets() []Target   { return []Target{a.From, a.To} }
func (a Scroll) targets() []Target { return []Target{a.In} }

// spots finds targets on one view, which it waits for.
func (t *typist) spots(targets []Target) ([]spot, error) {
	s := t.s
	if t.until.IsZero() || t.several {
		t.until = time.Now().Add(t.o.Timeout)
	}
	if t.began { // pause before looking, not between looking and pressing
		if err := s.pause(t.ctx, t.gap(t.delay), t.o); err != nil {
			return nil, err
		}
		t.escaped = false
	}
	timer := time.NewTimer(time.Until(t.until))
	defer timer.Stop()
	for {
		changed := s.Changed() // taken before the view, so that no change is missed
		v := s.View()
		found, err := spotsOn(v, targets)
		var not *locate.NotOneError
		if err == nil || !errors.As(err, &not) {
			return found, err
		}
		if v.Ended {
			return nil, err
		}
		if gone := s.inputError(); gone != nil {
			return nil, gone
		}
		t.o.park()
		select {
		case <-changed:
		case <-timer.C:
			return nil, err
		case <-t.ctx.Done():
			return nil, context.Cause(t.ctx)
		}
	}
}

// spotsOn finds targets on a view.
func spotsOn(v *View, targets []Target) ([]spot, error) {
	var all []spot
	for _, t := range targets {
		x := spot{Target: t, view: v, row: t.Row, col: t.Col}
		if !t.Locator.IsZero() {
			var err error
			if x.place, err = t.Locator.One(v.Screen); err != nil {
				bad := &TargetError{Locator: t.Locator, View: v, Err: err}
				if not := (*locate.NotOneError)(nil); errors.As(err, &not) && not.Count == 0 {
					bad.Line, bad.OffScreen = t.Locator.LeftScreen(v.Screen)
				}
				return nil, bad
			}
			x.row, x.col = cellOf(v.Screen, x.place, t.At)
		}
		all = append(all, x)
	}
	return all, nil
}

// cellOf returns a cell of a place, and of a wide character the first of both.
func cellOf(s *vt.Screen, p locate.Place, at Spot) (row, col int) {
	switch last := p.Spans[len(p.Spans)-1]; at {
	case Start:
		row, col = p.Spans[0].Row, p.Spans[0].Col
	case End:
		row, col = last.Row, last.End-1
	default:
		row, col = p.Center()
	}
	if s.Cell(row, col).Continuation && p.Has(row, col-1) {
		col--
	}
	return row, col
}

// there reports whether v shows the target where it was found.
func (x *spot) there(v *View) bool {
	if !x.Locator.IsZero() {
		place, err := x.Locator.One(v.Screen)
		return err == nil && place.Same(x.place)
	}
	if v.Screen.SameRow(x.row, x.view.Screen) {
		return true
	}
	return v.Screen.Cell(x.row, x.col) == x.view.Screen.Cell(x.row, x.col)
}

// press types mouse events, and notes what became of the spots in which they are.
func (t *typist) press(spots []spot, events []Mouse) error {
	if !t.began {
		t.Sequence = spots[0].view.Sequence
	}
	before := t.s.Sequence()
	for i, e := range events {
		after := t.delay
		if i == 0 {
			after = 0
		}
		err := e.after(t, after)
		if i > 0 && e.Action != vt.MousePress && errors.Is(err, ErrNoMouse) {
			continue // the program asks for presses alone, or not for moves
		}
		if err != nil {
			return err
		}
	}
	taken := t.s.View()
	var moved []bool
	for _, x := range spots {
		moved = append(moved, taken.Sequence > x.view.Sequence && !x.there(taken))
	}
	after, reacted := t.s.reaction(t.ctx, before, t.o)
	for i, x := range spots {
		t.Presses = append(t.Presses, Press{Row: x.row, Col: x.col, Sequence: x.view.Sequence,
			StillThere: x.there(after), Reacted: reacted, Moved: moved[i]})
	}
	return nil
}

// reaction waits until the session has come past a sequence, at most for ReactTime.
func (s *Session) reaction(ctx context.Context, seq uint64, o doOptions) (v *View, reacted bool) {
	timer := time.NewTimer(ReactTime)
	defer timer.Stop()
	for parked := false; ; parked = true {
		changed := s.Changed()
		v = s.View()
		if v.Sequence > seq || v.Ended {
			return v, v.Sequence > seq
		}
		if !parked {
			o.park()
		}
		select {
		case <-changed:
		case <-timer.C:
			return v, false
		case <-ctx.Done(): // it was pressed: that is the answer
			return v, false
		}
	}
}

func (a Click) do(t *typist) error {
	spots, err := t.spots(a.targets())
	if err != nil {
		return err
	}
	var events []Mouse
	for range max(a.Count, 1) {
		events = append(events, spots[0].event(a.Button, a.Mods, vt.MousePress))
		if !wheel(a.Button) { // a wheel is not let go
			events = append(events, spots[0].event(a.Button, a.Mods, vt.MouseRelease))
		}
	}
	return t.press(spots, events)
}

func (a Drag) do(t *typist) error {
	spots, err := t.spots(a.targets())
	if err != nil {
		return err
	}
	return t.press(spots, []Mouse{
		spots[0].event(a.Button, a.Mods, vt.MousePress),
		spots[1].event(a.Button, a.Mods, vt.MouseMotion),
		spots[1].event(a.Button, a.Mods, vt.MouseRelease),
	})
}

func (a Scroll) do(t *typist) error {
	spots, err := t.spots(a.targets())
	if err != nil {
		return err
	}
	var events []Mouse
	for range max(a.By, 1) {
		events = append(events, spots[0].event(a.Button, a.Mods, vt.MousePress))
	}
	return t.press(spots, events)
}

func (x *spot) event(b vt.MouseButtonCode, mods vt.Mods, a vt.MouseAction) Mouse {
	return Mouse{Row: x.row, Col: x.col, Button: b, Mods: mods, Action: a}
}

func wheel(b vt.MouseButtonCode) bool {
	switch b {
	case vt.MouseWheelUp, vt.MouseWheelDown, vt.MouseWheelLeft, vt.MouseWheelRight:
		return true
	}
	return false
}

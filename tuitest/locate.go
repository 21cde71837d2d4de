package tuitest

import (
	"github.com/ptywright/ptywright/engine/locate"
)

// Locate waits for a state: until the screen has exactly one place that words name, and returns it.
//
//	tui.Locate("'Commit' in box 'Menu'")
//	tui.Locate("lines 'b.txt' and style 'inverse'")
//	tui.Locate("cross 'b.txt' 'Size'").Text
//
// Package engine/locate describes the words: texts, expressions, styles, links, the cursor,
// rectangles, boxes and lines, within and beside each other. None and several places fail the test,
// with what each part found.
func (u *TUI) Locate(words string) locate.Place {
	u.t.Helper()
	l, err := locate.Parse(words)
	if err != nil {
		u.t.Fatalf("locate %s: %v", words, err)
	}
	out := u.wait("locate "+words, u.drive.Place(l, words), nil)
	place, err := l.One(out.View.Screen)
	if err != nil { // it held for that view
		u.t.Fatalf("locate %s: %v", words, err)
	}
	return place
}

// ClickOn presses and releases the left button of the mouse in the middle of the one place that
// words name: see [TUI.Locate].
func (u *TUI) ClickOn(words string) {
	u.t.Helper()
	u.Click(u.Locate(words).Center())
}

package attach

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/protocol/client"
)

func cells(text string, cols int) []vt.Cell {
	t := vt.New(1, cols, vt.Options{Scrollback: -1})
	t.Feed([]byte("\x1b[?7l" + text))
	var all []vt.Cell
	t.Snapshot().EachCell(0, func(_ int, c vt.Cell) {
		if c.Text == " " {
			c.Text = ""
		}
		all = append(all, c)
	})
	return all
}

// A cut shows the very cells that it was cut from, but for wide characters at its edges.
func TestCutIsPartOfTheRow(t *testing.T) {
	bits := []string{"a", " ", "日", "👍", "e\u0301", "한", "\x1b[1;31m", "\x1b[0;4:3;58:5:9m", "\x1b[m", "\x1b[7;48;2;1;2;3m", "\x1b]8;;http://x.y/z\x1b\\", "\x1b]8;;\x1b\\", "\x1b[K", "─"}
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 30).Draw(t, "width")
		left := rapid.IntRange(0, width-1).Draw(t, "left")
		cols := rapid.IntRange(1, width-left).Draw(t, "cols")
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(bits)).Draw(t, "bits"), "")
		term := vt.New(1, width, vt.Options{Scrollback: -1})
		term.Feed([]byte("\x1b[?7l" + text))
		row := picture.ANSIRow(term.Snapshot(), 0, asIs)
		var c cutter
		c.row("\x1b[31mbefore", width, 0, max(width-1, 1)) // nothing of a row is left for the next
		want, got := cells(row, width)[left:left+cols], cells(c.row(row, width, left, cols), cols)
		for i, w := range want {
			if w.Continuation && i == 0 || w.Wide && i == cols-1 {
				if got[i].Text != "" {
					t.Fatalf("column %d of a character cut in two: %+v", i, got[i])
				}
				continue
			}
			if got[i] != w {
				t.Fatalf("%q, columns %d to %d: column %d is %+v, want %+v", row, left, left+cols, i, got[i], w)
			}
		}
	})
}

// The window always lies within the session, and holds the cursor.
func TestWindowHoldsTheCursor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := rapid.IntRange(1, 60)
		var w window
		w.resize(client.Size{Rows: side.Draw(t, "rows"), Cols: side.Draw(t, "cols")})
		for range rapid.IntRange(1, 10).Draw(t, "steps") {
			f := &client.Frame{Size: client.Size{Rows: side.Draw(t, "session rows"), Cols: side.Draw(t, "session cols")}}
			f.Cursor.Row = rapid.IntRange(0, f.Size.Rows-1).Draw(t, "row")
			f.Cursor.Col = rapid.IntRange(0, f.Size.Cols-1).Draw(t, "col")
			w.take(f)
			if rapid.Bool().Draw(t, "another terminal") {
				w.resize(client.Size{Rows: side.Draw(t, "rows"), Cols: side.Draw(t, "cols")})
			}
			if row, col, ok := w.cursor(); !ok {
				t.Fatalf("the cursor is at %d, %d of %+v", row, col, w)
			}
			if rapid.Bool().Draw(t, "pan") {
				w.pan(rapid.IntRange(-2, 2).Draw(t, "down"), rapid.IntRange(-2, 2).Draw(t, "right"))
			}
			v := w.view()
			if w.top < 0 || w.left < 0 || w.top+v.Rows > w.session.Rows || w.left+v.Cols > w.session.Cols || v.Rows < 1 || v.Cols < 1 {
				t.Fatalf("the window is beyond the session: %+v", w)
			}
			if lines := w.lines("status"); len(lines) != w.terminal.Rows || v.Rows < w.terminal.Rows && strings.TrimSpace(lines[len(lines)-1]) != "status"[:min(6, w.terminal.Cols)] {
				t.Fatalf("the lines are %q", lines)
			}
		}
	})
}

// A message covers no row that the cursor is in, unless there is one row only.
func TestMessageIsNotOverTheCursor(t *testing.T) {
	var w window
	w.resize(client.Size{Rows: 3, Cols: 20})
	for row := range 3 {
		f := &client.Frame{Full: true, Size: client.Size{Rows: 3, Cols: 20}}
		f.Cursor.Row = row
		w.take(f)
		at := slices.IndexFunc(w.lines("status", "a message"), func(s string) bool { return strings.Contains(s, "a message") })
		if at < 0 || at == row {
			t.Errorf("cursor in row %d, message in row %d", row, at)
		}
		if lines := w.lines("status", "one", "two", "three", "four"); len(lines) != 3 || !strings.Contains(lines[2], "three") {
			t.Errorf("of a message that is higher than the terminal: %q", lines)
		}
		lines := w.lines("status", "one", "two")
		if at = slices.IndexFunc(lines, func(s string) bool { return strings.Contains(s, "one") }); at < 0 || row != 1 && (at == row || at+1 == row) || !strings.Contains(lines[at+1], "two") {
			t.Errorf("cursor in row %d: %q", row, lines)
		}
	}
}

func TestOutbox(t *testing.T) {
	var b outbox
	var sent strings.Builder
	for i := 0; !b.full(); i++ {
		b.text(fmt.Sprintf("日%d", i))
	}
	if b.bytes >= outboxMax+100 || len(b.items) > outboxMax/actionMax+2 {
		t.Errorf("%d bytes in %d items", b.bytes, len(b.items))
	}
	b.text(strings.Repeat("語", actionMax)) // one read more
	for len(b.items) > 0 {
		i := b.take()
		if len(i.text) > actionMax || !strings.ContainsAny(i.text[len(i.text)-3:], "0123456789日語") {
			t.Errorf("an item of %d bytes ends with %q", len(i.text), i.text[len(i.text)-3:])
		}
		sent.WriteString(i.text)
	}
	if b.bytes != 0 || !strings.HasPrefix(sent.String(), "日0日1日2") || !strings.HasSuffix(sent.String(), strings.Repeat("語", actionMax)) {
		t.Errorf("%d bytes left", b.bytes)
	}
	for i := range 1000 {
		b.move(mouse{row: i, button: "none", action: "move"})
		b.resize(client.Size{Rows: i + 1, Cols: 1})
	}
	b.move(mouse{button: "left", action: "press"})
	b.text("x")
	b.move(mouse{row: 1, button: "none", action: "move"})
	b.move(mouse{row: 2, button: "none", action: "move"})
	if b.items[len(b.items)-1].mouse.row != 2 {
		t.Errorf("the last place is %+v", b.items[len(b.items)-1].mouse)
	}
	resizes := 0
	for _, i := range b.items {
		if i.resize != nil {
			resizes++
		}
	}
	if resizes != 1 {
		t.Errorf("%d sizes wait", resizes)
	}
	if n := b.drop(); n != 1 || len(b.items) != 1 || b.full() {
		t.Errorf("dropped %d bytes, %d items left", n, len(b.items))
	}
}

// Every way from one setting to another ends there, whatever the terminal was told before.
func TestModesChange(t *testing.T) {
	words := []string{"none", "x10", "vt200", "drag", "any"}
	tracking := map[string]vt.MouseTracking{"none": vt.MouseOff, "x10": vt.MouseNormal, "vt200": vt.MouseNormal, "drag": vt.MouseButton, "any": vt.MouseAny}
	rapid.Check(t, func(t *rapid.T) {
		term := vt.New(2, 2, vt.Options{})
		var now modes
		for range 8 {
			b := rapid.Bool()
			to := modes{appCursor: b.Draw(t, "cursor"), appKeypad: b.Draw(t, "keypad"), focus: b.Draw(t, "focus"), reverse: b.Draw(t, "reverse"),
				mouse: rapid.SampledFrom(words).Draw(t, "mouse"), noScroll: b.Draw(t, "scroll"), kitty: rapid.IntRange(0, 31).Draw(t, "kitty"), otherKeys: rapid.IntRange(0, 2).Draw(t, "other")}
			term.Feed([]byte(now.change(to)))
			now = to
			m := term.Snapshot().Modes
			got := modes{m.AppCursor, m.AppKeypad, m.FocusEvents, m.ReverseVideo, to.mouse, !m.AlternateScroll, int(m.KittyKeyboard), int(m.ModifyOtherKeys)}
			if got != to || m.Mouse != tracking[to.mouse] || m.Mouse != vt.MouseOff && m.MouseEncoding != vt.MouseEncodingSGR {
				t.Fatalf("%+v, want %+v, mouse %v %v", got, to, m.Mouse, m.MouseEncoding)
			}
		}
		term.Feed([]byte(now.change(modes{}) + Leave))
		if got, want := term.Snapshot().Modes, vt.New(2, 2, vt.Options{}).Snapshot().Modes; got != want {
			t.Fatalf("after leaving: %+v, want %+v", got, want)
		}
	})
}

func TestCleanTakesOutWhatATerminalActsOn(t *testing.T) {
	if got := clean("a\x1b]0;x\x07\u009b2J\u202eb日\n"); got != "a]0;x2Jb日" {
		t.Errorf("%q", got)
	}
}

package record

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine/vt"
)

// diffCells says where two screens show different cells. A cell never written and a space look alike.
func diffCells(a, b *vt.Screen) string {
	if a.Rows != b.Rows || a.Cols != b.Cols {
		return fmt.Sprintf("%dx%d and %dx%d", a.Rows, a.Cols, b.Rows, b.Cols)
	}
	for y := range a.Rows {
		for x := range a.Cols {
			p, q := a.Cell(y, x), b.Cell(y, x)
			for _, c := range []*vt.Cell{&p, &q} {
				if c.Text == "" && !c.Continuation {
					c.Text = " "
				}
			}
			if p != q {
				return fmt.Sprintf("row %d column %d: %+v and %+v", y, x, p, q)
			}
		}
	}
	return ""
}

// anything is output of a program that uses everything that shows in cells.
func anything(rows, cols int) *rapid.Generator[string] {
	chunk := rapid.OneOf(
		rapid.StringMatching(`[a-z ]{1,12}`),
		rapid.SampledFrom([]string{"日本", "界", "👩‍👩‍👧", "🇩🇪", "🇩", "é", "e\u0301", "가", "\u1100", "\u1161", "क्ष", "\u0600", "\u200d", "👍", "🏽",
			"\ufe0f", "☁", "│", "█", "⣿", "\u0301", "กำ", "\u0e33", "א", "\r\n", "\n", "\r", "\b", "\t", " "}),
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"0", "1", "2", "3", "4", "4:3", "5", "7", "8", "9", "21", "22", "31", "97", "104", "38;5;200",
			"48;2;1;2;3", "58:5:9", "58:2::4:5:6", "53"}), 1, 3), func(p []string) string { return "\x1b[" + strings.Join(p, ";") + "m" }),
		rapid.Map(rapid.IntRange(1, rows), func(n int) string { return fmt.Sprintf("\x1b[%dd", n) }),
		rapid.Map(rapid.IntRange(1, cols), func(n int) string { return fmt.Sprintf("\x1b[%dG", n) }),
		rapid.SampledFrom([]string{"\x1b[K", "\x1b[1K", "\x1b[J", "\x1b[2X", "\x1b[P", "\x1b[@", "\x1b[L", "\x1b[M", "\x1b[?7l", "\x1b[?7h", "\x1b[4h", "\x1b[4l",
			"\x1b]8;;https://example.org/\x1b\\", "\x1b]8;;\x1b\\", "\x1b[?5h", "\x1b[?1049h", "\x1b[?25l", "\x1b[3 q", "\x1b#8", "\x1b(0", "\x1b(B", "\x1b[3b"}),
	)
	return rapid.Map(rapid.SliceOfN(chunk, 0, 40), func(p []string) string { return strings.Join(p, "") })
}

func TestANSIReproducesTheCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 8).Draw(t, "rows"), rapid.IntRange(1, 14).Draw(t, "cols")
		live := vt.New(rows, cols, vt.Options{})
		live.Feed([]byte(anything(rows, cols).Draw(t, "output")))
		want := live.Snapshot()
		text := ANSI(want)
		again := vt.New(rows, cols, vt.Options{})
		again.Feed([]byte(text))
		if d := diffCells(want, again.Snapshot()); d != "" {
			t.Fatalf("%s\n%q", d, text)
		}
		restored := vt.New(rows, cols, vt.Options{})
		restored.Feed([]byte(Restore(want)))
		got := restored.Snapshot()
		if d := diffCells(want, got); d != "" {
			t.Fatalf("restored: %s\n%q", d, Restore(want))
		}
		want.Cursor.PendingWrap = false
		if got.Cursor != want.Cursor || got.Modes != want.Modes {
			t.Fatalf("restored: %+v %+v\nwant %+v %+v", got.Cursor, got.Modes, want.Cursor, want.Modes)
		}
	})
}

func TestANSIHoldsOnlyStyles(t *testing.T) {
	live := vt.New(3, 10, vt.Options{})
	live.Feed([]byte("\x1b[1;31mred\x1b[0m and a wrapped line\x1b[4 q"))
	if got, want := ANSI(live.Snapshot()), "\x1b[0;1;31mred\x1b[0m and a wrapped line"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

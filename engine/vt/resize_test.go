package vt

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestAlternateScreenGivesColumnsBack holds what tmux 3.3a shows of an alternate screen that was
// narrowed, written to and
// widened again.
func TestAlternateScreenGivesColumnsBack(t *testing.T) {
	const (
		wide   = "日日日日日日日日日日"
		digits = "01234567890123456789"
		mixed  = "a日日日日日日日日日b"
		lower  = "abcdefghijklmnopqrst"
		upper  = "ABCDEFGHIJKLMNOPQRST"
	)
	for _, c := range []struct {
		name   string
		narrow int
		in     string
		want   [6]string
	}{
		{"nothing", 10, "", [6]string{lower, upper, wide, digits, mixed}},
		{"within a wide character", 9, "", [6]string{lower, upper, wide, digits, mixed}},
		{"EL from within a line", 10, "␛[1;3H␛[K", [6]string{"ab        klmnopqrst",
			upper, wide, digits, mixed}},
		{"a whole line erased", 10, "␛[1;3H␛[2K␛[2;1H␛[K", [6]string{"", "", wide, digits, mixed}},
		{"ED below", 10, "␛[2;3H␛[J", [6]string{lower, "AB        KLMNOPQRST"}},
		{"ED above", 10, "␛[2;3H␛[1J", [6]string{"", "   DEFGHIJKLMNOPQRST", wide, digits, mixed}},
		{"ED of all", 10, "␛[2J", [6]string{}},
		{"ECH, DCH and ICH", 10, "␛[1;3H␛[3X␛[2;1H␛[3P␛[4;1H␛[2@",
			[6]string{"ab   fghijklmnopqrst", "DEFGHIJ   KLMNOPQRST", wide, "  012345670123456789", mixed}},
		{"ECH and DCH beyond the edge", 10, "␛[1;3H␛[9X␛[2;2H␛[20P",
			[6]string{"ab        klmnopqrst", "A         KLMNOPQRST", wide, digits, mixed}},
		{"IL", 10, "␛[1;1H␛[L", [6]string{"", lower, upper, wide, digits, mixed}},
		{"scrolling", 10, "␛[6;1H\n", [6]string{upper, wide, digits, mixed}},
		{"text up to the edge and on", 10, "␛[1;10HZZ", [6]string{"abcdefghiZklmnopqrst",
			"ZBCDEFGHIJKLMNOPQRST", wide, digits, mixed}},
		{"over half of a wide character", 9, "␛[3;9HZ", [6]string{lower, upper, "日日日日Z 日日日日日",
			digits, mixed}},
		{"in front of it", 9, "␛[3;8HZ", [6]string{lower, upper, "日日日 Z日日日日日日", digits, mixed}},
	} {
		term := New(6, 20, Options{})
		term.Feed([]byte(escapes.Replace("␛[?1049h␛[H" + strings.Join([]string{lower, upper, wide, digits, mixed}, "\r\n"))))
		// Narrowed and widened in steps, as by a mouse.
		for cols := 19; cols >= c.narrow; cols-- {
			term.Resize(6, cols, 0, 0)
		}
		term.Feed([]byte(escapes.Replace(c.in)))
		for _, cols := range []int{c.narrow + 1, c.narrow, 30, 20} {
			term.Resize(6, cols, 0, 0)
			if s := verify(term); s != "" {
				t.Fatalf("%s: %s", c.name, s)
			}
		}
		if got := term.Snapshot().Lines(); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.want) {
			t.Errorf("%s:\n%q\nwant\n%q", c.name, got, c.want)
		}
	}
}

// TestAlternateScreenAnyWidths: whatever an alternate screen shows comes back after any widths.
func TestAlternateScreenAnyWidths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cols := rapid.IntRange(1, 20).Draw(t, "cols")
		term := New(5, cols, Options{})
		term.Feed([]byte("\x1b[?1049h" + session(t, "output", 30) + "\x1b\\\x1b[?2026l\x1b[?1049h"))
		if term.grid != &term.alt {
			t.Skip("the alternate screen was left")
		}
		before := term.Snapshot()
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			term.Resize(5, rapid.IntRange(1, 25).Draw(t, "width"), 0, 0)
			if s := verify(term); s != "" {
				t.Fatal(s)
			}
		}
		term.Resize(5, cols, 0, 0)
		after := term.Snapshot()
		for y := range 5 {
			for x := range cols {
				if a, b := before.Cell(y, x), after.Cell(y, x); a != b {
					t.Fatalf("row %d, column %d: %+v, was %+v", y, x, b, a)
				}
			}
			if after.Changed(y) != before.Changed(y) {
				t.Fatalf("row %d is of %d, was of %d", y, after.Changed(y), before.Changed(y))
			}
		}
	})
}

// TestErasedLineIsNoChange: erasing a line of which only what is cut off is left shows nothing new,
// and it does not come back.
func TestErasedLineIsNoChange(t *testing.T) {
	term := New(2, 10, Options{})
	term.Feed([]byte("\x1b[?1049h\x1b[1;8Habc\x1b[2;1Hx"))
	term.Resize(2, 5, 0, 0)
	before := term.Snapshot()
	if e := term.Feed([]byte("\x1b[1;1H\x1b[K\x1b[2;2H")); e.Dirty {
		t.Error("dirty")
	}
	if after := term.Snapshot(); after.Changed(0) != before.Changed(0) {
		t.Errorf("changed at %d", after.Changed(0))
	}
	term.Resize(2, 10, 0, 0)
	if got := term.Snapshot().Text(); got != "\nx" {
		t.Errorf("%q", got)
	}
}

// TestSavedCursorKeepsItsCharacter: of a line that is wrapped anew, as kitty does.
func TestSavedCursorKeepsItsCharacter(t *testing.T) {
	for _, c := range []struct {
		name, in string
		rows     int
		cols     []int
		at       string // of the restored cursor, "row,column" from one
	}{
		{"narrower", "abcdefghij\x1b[1;8H\x1b7\x1b[1;1H", 4, []int{5}, "2,3"},
		{"and wide again", "abcdefghij\x1b[1;8H\x1b7\x1b[1;1H", 4, []int{5, 3, 10}, "1,8"},
		{"wider", "abcdefghijklmno\x1b[2;3H\x1b7\x1b[1;1H", 4, []int{20}, "1,13"},
		{"below what is wrapped", "abcdefghij\r\nxyz\x1b[2;2H\x1b7\x1b[1;1H", 4, []int{5}, "3,2"},
		{"behind the end of its line", "ab\x1b[1;7H\x1b7\x1b[1;1H", 4, []int{5}, "1,5"},
		{"with a pending wrap", "abcdefghij\x1b7\x1b[1;1H", 4, []int{5}, "2,5"},
		{"by SCOSC", "abcdefghij\x1b[1;8H\x1b[s\x1b[1;1H", 4, []int{5}, "2,3"},
		{"never saved", "abcdefghij\r\nx", 4, []int{5}, "1,1"},
		{"scrolled off", "\x1b7abcdefghij\r\nx\r\ny\r\nz", 4, []int{5}, "1,1"},
	} {
		term := New(c.rows, 10, Options{})
		term.Feed([]byte(c.in))
		for _, cols := range c.cols {
			term.Resize(c.rows, cols, 0, 0)
		}
		e := term.Feed([]byte("\x1b8\x1b[6n"))
		if got, want := string(e.Reply), "\x1b["+strings.Replace(c.at, ",", ";", 1)+"R"; got != want {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
	}
}

// TestSavedCursorAnySize: it stays with the character it was saved on as long as that is on the
// screen.
func TestSavedCursorAnySize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		term := New(8, 20, Options{})
		before := rapid.StringMatching(`([a-z ]{0,30}\r\n){0,3}[a-z]{0,30}`).Draw(t, "before")
		after := rapid.StringMatching(`[a-z]{0,30}(\r\n[a-z]{1,30}){0,2}`).Draw(t, "after")
		term.Feed([]byte(before + "\x1b7X" + after))
		for range rapid.IntRange(1, 5).Draw(t, "steps") {
			term.Resize(rapid.IntRange(1, 12).Draw(t, "rows"), rapid.IntRange(2, 30).Draw(t, "cols"), 0, 0)
			if s := verify(term); s != "" {
				t.Fatal(s)
			}
			if !strings.Contains(term.Snapshot().Text(), "X") {
				t.Skip("X has scrolled off")
			}
		}
		term.Feed([]byte("\x1b8"))
		s := term.Snapshot()
		row, col := s.Cursor.Row, s.Cursor.Col
		if s.Cursor.PendingWrap { // what was printed next went to the next row
			row, col = row+1, 0
		}
		if got := s.Cell(row, col).Text; got != "X" {
			t.Fatalf("the cursor is at %d,%d on %q:\n%s", row, col, got, show(s))
		}
	})
}

// TestBytesCountWhatWasCut: what a narrow alternate screen keeps of a wide one is memory, and gone
// with the lines.
func TestBytesCountWhatWasCut(t *testing.T) {
	term := New(20, 500, Options{})
	term.Feed([]byte("\x1b[?1049h" + strings.Repeat(strings.Repeat("x", 500), 20)))
	wide := term.Bytes()
	term.Resize(20, 10, 0, 0)
	if got := term.Bytes(); got < wide {
		t.Errorf("%d bytes, wide %d", got, wide)
	}
	term.Feed([]byte("\x1b[2J"))
	if got := term.Bytes(); got > wide/2 {
		t.Errorf("%d bytes when erased, wide %d", got, wide)
	}
}

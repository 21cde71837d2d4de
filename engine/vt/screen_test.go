package vt

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// fed returns a terminal that was fed p.
func fed(rows, cols int, p string) *Terminal {
	t := New(rows, cols, Options{})
	t.Feed([]byte(p))
	return t
}

func TestText(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"blank rows at the end are dropped", "a\r\n\r\n", "a"},
		{"blank rows above stay", "\r\n\r\na", "\n\na"},
		{"blank rows between stay", "a\r\n\r\nb", "a\n\nb"},
		{"rows are cut at their last character", "a  \r\nb", "a\nb"},
		{"indentation stays", "  a", "  a"},
		{"a wrapped line is one line", "0123456789abc", "0123456789abc"},
		{"with the blanks at its edge", "01234567  x", "01234567  x"},
		{"not with the column that a wide character left", "012345678日", "012345678日"},
		{"full rows that did not wrap are two", "0123456789\r\nabc", "0123456789\nabc"},
		{"wide characters and marks", "日e\u0301x", "日e\u0301x"},
		{"cells that were skipped are blanks", "\x1b[1;3Hx\x1b[2;2Hy", "  x\n y"},
		{"no-break spaces at the end are blanks", "❯\u00a0\r\nx", "❯\nx"},
		{"erased rows are blank", "a\r\nb\x1b[44m\x1b[2K", "a"},
	} {
		s := fed(4, 10, c.in).Snapshot()
		if got := s.Text(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if n := len(s.Lines()); n != 4 {
			t.Errorf("%s: %d lines", c.name, n)
		}
	}
}

func TestTextSince(t *testing.T) {
	term := fed(6, 10, "old\r\nkept\r\n") // sequence 1
	since := func(seq uint64) string {
		text, fresh := term.Snapshot().TextSince(seq)
		for i, r := range fresh {
			if r.Start > r.End || r.End > len(text) || i > 0 && fresh[i-1].End > r.Start {
				t.Fatalf("ranges %v of %q", fresh, text)
			}
		}
		return text
	}
	first := term.Sequence()
	term.Feed([]byte("new"))
	s := term.Snapshot()
	if got := since(first); got != "new" {
		t.Errorf("%q, want what was written", got)
	}
	if got := since(0); got != "old\nkept\nnew" {
		t.Errorf("%q, want all", got)
	}
	if got := since(s.Sequence); got != "" {
		t.Errorf("%q, want nothing", got)
	}
	before := term.Sequence()
	term.Feed([]byte("\x1b[6;1H\nlast"))
	s = term.Snapshot()
	if got := since(before); got != "last" {
		t.Errorf("%q, want what came after the scroll only", got)
	}
	if s.Changed(0) != first || s.Changed(1) != 2 || s.Changed(5) != before+1 || s.Changed(99) != 0 {
		t.Errorf("ages %d %d %d", s.Changed(0), s.Changed(1), s.Changed(5))
	}
	// A wrapped line is joined when both rows are new.
	before = term.Sequence()
	term.Feed([]byte("\x1b[2J\x1b[H0123456789abc"))
	if got := since(before); got != "0123456789abc" {
		t.Errorf("%q", got)
	}
	before = term.Sequence()
	term.Feed([]byte("d"))
	if got := since(before); got != "abcd" {
		t.Errorf("%q, want the row that was written", got)
	}
	// What is written again as it was has come after, and is no change.
	for _, again := range []string{"\x1b[H0123456789", "\x1b[H\x1b[K0123456789"} {
		before = term.Sequence()
		e := term.Feed([]byte(again))
		if got := since(before); got != "0123456789" && got != "0123456789abcd" {
			t.Errorf("%q: %q, want the row that was written", again, got)
		}
		if changed := term.Snapshot().Changed(0); changed > before && !e.Dirty {
			t.Errorf("%q: changed at %d without a change", again, changed)
		}
	}
	// The other screen's rows come back as they were.
	before = term.Sequence()
	term.Feed([]byte("\x1b[?1049hvim\x1b[?1049l$ "))
	if got := since(before); got != "$ cd" {
		t.Errorf("%q after the alternate screen", got)
	}
}

// TestTextSinceTellsWhatIsNew: what stood in a row before something was written behind it.
func TestTextSinceTellsWhatIsNew(t *testing.T) {
	for name, c := range map[string]struct{ before, after, text, fresh string }{
		"typed behind a prompt":     {">>> ", "import x", ">>> import x", "import x"},
		"and scrolled":              {"\x1b[4;1H>>> ", "x\r\nout\r\n>>> ", ">>> x\nout\n>>>", "x|out|>>>"},
		"number in the middle":      {"Done 45 %", "\x1b[1;6H100", "Done 1008%", ""},
		"the prompt, rewritten":     {">>> ", "\r>>> x", ">>> x", ">>> x"},
		"wide and combined":         {"\u6f22e\u0301", "\u5b57", "\u6f22e\u0301\u5b57", "\u5b57"},
		"erased":                    {">>> abc", "\x1b[1;5H\x1b[K", "", ""},
		"inside a synchronized one": {">>> ", "\x1b[?2026hx\x1b[?2026l", ">>> x", "x"},
	} {
		t.Run(name, func(t *testing.T) {
			term := fed(4, 20, c.before)
			seq := term.Sequence()
			term.Feed([]byte(c.after))
			text, fresh := term.Snapshot().TextSince(seq)
			var pieces []string
			for _, r := range fresh {
				pieces = append(pieces, text[r.Start:r.End])
			}
			if c.fresh == "" && c.text != "" {
				c.fresh = text[5:]
			}
			if text != c.text && name != "number in the middle" || strings.Join(pieces, "|") != c.fresh {
				t.Errorf("%q, new %q; want %q, new %q", text, pieces, c.text, c.fresh)
			}
		})
	}
}

// TestWritesKeepTheLeftmost holds the short log of a row against a list of everything.
func TestWritesKeepTheLeftmost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r row
		type one struct {
			seq uint64
			col int
		}
		var all []one
		for seq := uint64(1); seq < 12; seq++ {
			if col := rapid.IntRange(-1, 9).Draw(t, "col"); col >= 0 {
				r.wrote = col + 1
				r.stamp(seq)
				all = append(all, one{seq, col})
			}
			for q := uint64(0); q <= seq; q++ {
				want := nowhere
				for _, w := range all {
					if w.seq > q && (want == nowhere || w.col < want) {
						want = w.col
					}
				}
				got := r.writes.since(q)
				if (got == nowhere) != (want == nowhere) || got > want {
					t.Fatalf("since %d of %v: column %d, want %d", q, all, got, want)
				}
				if len(all) <= len(r.writes.log) && got != want {
					t.Fatalf("since %d of %v: column %d, want exactly %d", q, all, got, want)
				}
			}
		}
	})
}

// TestDirty: what a snapshot does not show is not a change.
func TestDirty(t *testing.T) {
	term := fed(4, 10, "abc\r\n\x1b[31mred\x1b[m")
	for _, c := range []struct {
		in   string
		want bool
	}{
		{"", false}, {"\x1b[6n", false}, {"\x1b[1m", false}, {"\x07", false}, {"\x1b[?1048h", false},
		{"\x1b[2;1H\x1b[0;31mred\x1b[m", false}, {"\x1b[H\x1b[2Jabc\r\n\x1b[31mred\x1b[m", false}, {"\x1b[A\x1b[B", false},
		{"\x1b[?25l", true}, {"\x1b[?25l", false}, {"\x1b[?25h", true}, {"\x1b]2;t\x07", true}, {"\x1b]2;t\x07", false},
		{"\x1b[2;1H\x1b[32mred\x1b[m", true}, {"\x1b[H", true}, {"\x1b[H", false}, {"x", true}, {"\x1b[?2004h", true}, {"\x1b[?2004h", false},
		{"\x1b[?1049h", true}, {"\x1b[?1049l", true}, {"\x1b[?1049h\x1b[?1049l", false}, {"\x1b[4;1H\n", true}, {"\x1b[3J", true}, {"\x1b[3J", false},
		{"\x1b[5 q", true}, {"\x1b]8;;u:x\x07", false},
	} {
		before := term.Snapshot()
		if got := term.Feed([]byte(c.in)).Dirty; got != c.want {
			t.Errorf("%q: dirty %v, want %v", c.in, got, c.want)
		}
		after := term.Snapshot()
		if !c.want && (after.Text() != before.Text() || after.Changed(0) != before.Changed(0) || after.Changed(1) != before.Changed(1)) {
			t.Errorf("%q: a row has changed", c.in)
		}
		if again := strings.Contains(c.in, "red"); !c.want && !again && &after.rows[0] != &before.rows[0] {
			t.Errorf("%q: the rows were copied for nothing", c.in)
		}
	}
}

// TestSynchronizedUpdate: views see whole frames; rows drawn inside of one are as new as its end.
func TestSynchronizedUpdate(t *testing.T) {
	term := fed(3, 10, "one")
	e := term.Feed([]byte("\x1b[?2026h\x1b[2J\x1b[Htw"))
	if !e.Held || e.Dirty || term.Snapshot().Text() != "one" || !term.Snapshot().Modes.Synchronized {
		t.Errorf("inside: %+v %q", e, term.Snapshot().Text())
	}
	seen := term.Snapshot().Sequence
	e = term.Feed([]byte("o"))
	if !e.Held || e.Dirty {
		t.Errorf("inside: %+v", e)
	}
	e = term.Feed([]byte("\x1b[?2026l"))
	s := term.Snapshot()
	if e.Held || !e.Dirty || s.Text() != "two" || textSince(s, seen) != "two" || s.Changed(0) != term.Sequence() {
		t.Errorf("at the end: %+v %q, changed at %d", e, s.Text(), s.Changed(0))
	}
	// The same frame again is no change.
	if e = term.Feed([]byte("\x1b[?2026h\x1b[2J\x1b[Htwo\x1b[?2026l")); e.Dirty || e.Held {
		t.Errorf("the same frame: %+v", e)
	}
	// The bound has passed: the live screen is shown, and the next update is held again.
	term.Feed([]byte("\x1b[?2026h\x1b[2J\x1b[Hthree"))
	term.Release()
	if got := term.Snapshot().Text(); got != "three" {
		t.Errorf("released: %q", got)
	}
	if e = term.Feed([]byte("!")); e.Held || !e.Dirty || term.Snapshot().Text() != "three!" {
		t.Errorf("after the release: %+v %q", e, term.Snapshot().Text())
	}
	if e = term.Feed([]byte("\x1b[?2026l\x1b[?2026h?")); !e.Held || term.Snapshot().Text() != "three!" {
		t.Errorf("the next update: %+v %q", e, term.Snapshot().Text())
	}
}

func TestCells(t *testing.T) {
	s := fed(2, 8, "a\x1b[1;31m日\x1b[m \x1b]8;;u:x\x07e\u0301\x1b]8;;\x07").Snapshot()
	red := Style{Foreground: IndexedColor(1), Bold: true}
	want := []Cell{{Text: "a"}, {Text: "日", Wide: true, Style: red}, {Continuation: true, Style: red}, {Text: " "},
		{Text: "e\u0301", Style: Style{Link: "u:x"}}, {}, {}, {}}
	var got []Cell
	s.EachCell(0, func(col int, c Cell) {
		if one := s.Cell(0, col); one != c {
			t.Errorf("column %d: %+v and %+v", col, one, c)
		}
		got = append(got, c)
	})
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	var runs []string
	s.EachRun(0, func(r Run) { runs = append(runs, fmt.Sprintf("%d+%d %q", r.Col, r.Cols, r.Text)) })
	if got, want := strings.Join(runs, "; "), `0+1 "a"; 1+2 "日"; 3+1 " "; 4+1 "e`+"\u0301"+`"`; got != want {
		t.Errorf("runs %s, want %s", got, want)
	}
	if c := s.Cell(-1, 0); c != (Cell{}) && c != (Cell{Text: " "}) {
		t.Errorf("outside: %+v", c)
	}
	if s.Cell(5, 99).Style != (Style{}) {
		t.Error("outside has a style")
	}
}

func TestColor(t *testing.T) {
	for c, want := range map[Color]string{0: "default", IndexedColor(0): "idx:0", IndexedColor(255): "idx:255", RGBColor(1, 20, 255): "rgb:1:20:255", RGBColor(0, 0, 0): "rgb:0:0:0"} {
		if c.String() != want {
			t.Errorf("%s, want %s", c, want)
		}
	}
}

// TestHistoryBounds: lines leave at the bound, and numbers stay.
func TestHistoryBounds(t *testing.T) {
	for _, limit := range []int{1, 7, 100, 3000} {
		term := New(2, 20, Options{Scrollback: limit})
		const n = 5000
		for i := range n {
			term.Feed(fmt.Appendf(nil, "line %d\r\n", i))
		}
		h := term.Snapshot().History()
		if h.Len() != limit || int(h.Dropped()) != n-1-limit {
			t.Errorf("limit %d: %d lines, %d dropped", limit, h.Len(), h.Dropped())
		}
		for i := range h.Len() {
			if got, want := h.Line(i), fmt.Sprintf("line %d", int(h.Dropped())+i); got != want {
				t.Fatalf("limit %d: line %d is %q, want %q", limit, i, got, want)
			}
		}
	}
	h := New(2, 20, Options{Scrollback: -1})
	h.Feed([]byte("a\r\nb\r\nc"))
	if v := h.Snapshot().History(); v.Len() != 0 || v.Dropped() != 1 || v.Line(0) != "" || v.Wrapped(3) {
		t.Errorf("no scrollback: %d lines, %d dropped", v.Len(), v.Dropped())
	}
}

// TestHistoryBytes: the most expensive lines do not pass the bound in bytes.
func TestHistoryBytes(t *testing.T) {
	const limit = 100
	term := New(2, 1000, Options{Scrollback: limit})
	var line strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&line, "\x1b[38;2;%d;2;3;48;2;4;%d;6mx", i%256, i%255)
	}
	for range 90 {
		term.Feed([]byte(line.String()))
	}
	if n := term.history.bytes; n > max(limit*historyBytesPerLine, leftKept)+2*blockMax || term.Snapshot().History().Len() >= 89 {
		t.Errorf("%d bytes of scrollback", n)
	}
	if s := verify(term); s != "" {
		t.Error(s)
	}
}

// TestHistoryRoundTrip: a row comes back from the scrollback as it was.
func TestHistoryRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cols := rapid.IntRange(1, 30).Draw(t, "cols")
		term := New(1, cols, Options{})
		term.Feed([]byte("\x1b[?7l" + strings.NewReplacer("\n", "", "\x1bD", "", "\x1bE", "", "\x1bc", "", "\x1b[?7h", "").Replace(session(t, "output", 40))))
		r := term.grid.rows[0]
		got := decodeRow(encodeRow(make([]byte, 0, textMax(r)), r))
		want := r.clone()
		for want.n > 0 && want.cells[want.n-1].content() == 0 && want.cells[want.n-1].attr()&attrContinuation == 0 && want.n > len(got.cells) {
			want.n--
		}
		for x := range got.cells {
			a, b := got.cell(got.cells[x]), r.cell(r.cells[x])
			if a != b {
				t.Fatalf("column %d: %+v, want %+v", x, a, b)
			}
		}
		for x := len(got.cells); x < cols; x++ {
			if c := r.cell(r.cells[x]); c.Text != "" && c.Text != " " || c.Style != (Style{}) {
				t.Fatalf("column %d was lost: %+v", x, c)
			}
		}
	})
}

// TestScreensAreShared: readers on other goroutines while the terminal goes on (run with -race).
func TestScreensAreShared(t *testing.T) {
	term := New(10, 40, Options{Scrollback: 100})
	screens := make(chan *Screen, 4)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for s := range screens {
				text := s.Text()
				h := s.History()
				for i := range h.Len() {
					h.Line(i)
				}
				for y := range s.Rows {
					s.EachCell(y, func(int, Cell) {})
				}
				masked := s.Mask(func(line string) []Mask { return []Mask{{0, 1, "*"}} })
				if s.Text() != text || masked.Rows != s.Rows || len(textSince(s, s.Sequence/2)) > len(text) {
					t.Error("a screen has changed")
				}
			}
		})
	}
	for i := range 2000 {
		term.Feed(fmt.Appendf(nil, "\x1b[%dm%d 日本 e\u0301\x1b]8;;u:%d\x07x\x1b]8;;\x07\r\n\x1b[%d;1H\x1b[2Ky", 31+i%7, i, i%3, i%10+1))
		if i%50 == 0 {
			term.Resize(5+i%7, 20+i%30, 0, 0)
		}
		screens <- term.Snapshot()
	}
	close(screens)
	wg.Wait()
}

func textSince(s *Screen, seq uint64) string {
	text, _ := s.TextSince(seq)
	return text
}

// TestHistoryCut: whether the oldest line kept goes on from one that was dropped.
func TestHistoryCut(t *testing.T) {
	for _, limit := range []int{-1, 3, 400} {
		term := New(2, 4, Options{Scrollback: limit})
		var wrapped []bool // of each line that left
		for i := range 3000 {
			if i%3 == 0 {
				term.Feed([]byte("abcdef\r\n"))
				wrapped = append(wrapped, true, false)
			} else {
				term.Feed([]byte("x\r\n"))
				wrapped = append(wrapped, false)
			}
			h := term.Snapshot().History()
			if want := h.Dropped() > 0 && wrapped[h.Dropped()-1]; h.Cut() != want {
				t.Fatalf("limit %d, %d dropped, %d kept: %v, want %v", limit, h.Dropped(), h.Len(), h.Cut(), want)
			}
		}
	}
}

// TestBrokenWrapIsShown: a Screen says that the newest line of the scrollback no longer continues,
// also when nothing else has changed since the one before.
func TestBrokenWrapIsShown(t *testing.T) {
	term := New(2, 5, Options{})
	term.Feed([]byte("abcdefghijklm\x1b[H\x1b[4X\x1b[1;5H\x1b[X\x1b[H"))
	if h := term.Snapshot().History(); h.Len() != 1 || !h.Wrapped(0) {
		t.Fatalf("%d lines, wrapped %v: want one that continues", h.Len(), h.Wrapped(0))
	}
	term.Feed([]byte("\x1b[2K"))
	if term.Snapshot().History().Wrapped(0) {
		t.Error("the line continues in a row that was erased")
	}
}

// TestPatternRowsAreStamped: a screen that was filled and left in one batch was written in it.
func TestPatternRowsAreStamped(t *testing.T) {
	term := New(2, 4, Options{})
	term.Feed([]byte("old"))
	seq := term.Sequence()
	term.Feed([]byte("\x1b#8\x1b[?47h"))
	term.Feed([]byte("\x1b[?47l"))
	if text, _ := term.Snapshot().TextSince(seq); text != "EEEE\nEEEE" {
		t.Errorf("new is %q", text)
	}
}

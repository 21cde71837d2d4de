package vt

import (
	"fmt"
	"math/rand"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/internal/lanes"
)

// feedMoments feeds all of p in pieces of one length, or of random ones, and returns what was seen
// at each moment: text, cursor and title.
func feedMoments(t *Terminal, p []byte, piece func(left int) int) (seen []string) {
	for len(p) > 0 {
		n := piece(len(p))
		for rest := p[:n]; len(rest) > 0; {
			_, rest = t.FeedMoments(rest, func(s *Screen) {
				seen = append(seen, fmt.Sprintf("%q cursor %d,%d title %q", s.Text(), s.Cursor.Row, s.Cursor.Col, s.Title))
			})
		}
		p = p[n:]
	}
	return seen
}

func whole(left int) int { return left }

// checkMoments says what is seen otherwise when data is cut, and how a terminal that is looked at
// goes on otherwise than one that is not.
func checkMoments(data []byte, seed int64, rows, cols int) string {
	rnd := rand.New(rand.NewSource(seed))
	o := Options{Scrollback: 50, ProgramStatus: true}
	want := feedMoments(New(rows, cols, o), data, whole)
	if len(want) > len(data) {
		return fmt.Sprintf("%d moments in %d bytes", len(want), len(data))
	}
	for how, piece := range map[string]func(int) int{
		"byte by byte": func(int) int { return 1 },
		"in pieces":    func(left int) int { return 1 + rnd.Intn(min(left, 40)) },
	} {
		if got := feedMoments(New(rows, cols, o), data, piece); !slices.Equal(got, want) {
			i := 0
			for i < min(len(got), len(want)) && got[i] == want[i] {
				i++
			}
			return fmt.Sprintf("fed %s: %d moments, fed whole %d; from %d on\n%s\nand\n%s", how, len(got), len(want), i,
				strings.Join(got[i:min(i+2, len(got))], "\n"), strings.Join(want[i:min(i+2, len(want))], "\n"))
		}
	}
	a, b := New(rows, cols, o), New(rows, cols, o)
	var kept []*Screen
	var texts []string
	for p := data; len(p) > 0; {
		now := p[:1+rnd.Intn(len(p))]
		x, left := a.FeedToMark(now)
		y, rest := b.FeedMoments(now, func(s *Screen) {
			if s.Sequence != a.Sequence() {
				texts = append(texts, "a wrong sequence")
			} else {
				texts = append(texts, show(s))
			}
			kept = append(kept, s)
			if d := shownElse(b, s); d != "" {
				texts[len(texts)-1] = d
			}
		})
		if !reflect.DeepEqual(x, y) || len(left) != len(rest) {
			return fmt.Sprintf("%+v with %d bytes left, with FeedToMark %+v with %d", y, len(rest), x, len(left))
		}
		if d := sameTerminal(a, b); d != "" {
			return "after FeedMoments: " + d
		}
		p = p[len(now)-len(rest):]
	}
	for i, s := range kept {
		if show(s) != texts[i] {
			return "the screen of a moment has changed"
		}
	}
	return ""
}

// shownElse says in what the screen of a moment is not what t would show if its frame ended here.
func shownElse(t *Terminal, s *Screen) string {
	f := t.Fork()
	for _, rows := range [][]*row{f.main.rows, f.alt.rows} {
		for y, r := range rows {
			if f.made(r) { // t goes on writing to it
				rows[y] = r.twin()
			}
		}
	}
	f.commit()
	want := f.capture()
	if d := diffScreens(want, s); d != "" {
		return d
	}
	for y := range want.rows {
		if a, b := want.rows[y], s.rows[y]; a.changed != b.changed || !reflect.DeepEqual(a.writes, b.writes) {
			return fmt.Sprintf("row %d changed at %d and %d, written %v and %v", y, a.changed, b.changed, a.writes, b.writes)
		}
	}
	return ""
}

// FuzzMoments: what is seen at moments does not depend on how output is cut, and looking changes
// nothing.
func FuzzMoments(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte, seed uint16, rows, cols uint8) {
		if len(data) > 512 {
			return
		}
		if s := checkMoments(data, int64(seed), int(rows%30), int(cols%80)); s != "" {
			t.Error(s)
		}
	})
}

// TestMoments: what is on the screen for a moment is seen, by operation.
func TestMoments(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string // the texts of the moments
	}{
		{"nothing is taken away", "one\r\ntwo", nil},
		{"overwritten", "one\rtwo", []string{"one"}},
		{"overwritten in the middle", "abcdef\x1b[1;3HX", []string{"abcdef"}},
		{"overwritten from the left", "\x1b[1;4Hdef\rabcD", []string{"abcdef"}},
		{"erased cells do not count", "one\x1b[2K\x1b[2K\rtwo", []string{"one"}},
		{"a redraw", "\x1b[Habc\r\ndef\x1b[H\x1b[2Jabc\r\ndeg\x1b[Habc\r\ndeh", []string{"abc\ndef", "abc\ndeg"}},
		{"ED", "one\x1b[2J", []string{"one"}},
		{"ED, below", "\n\none\x1b[H\x1b[J", []string{"\n\none"}},
		{"ED, above", "one\n\n\x1b[1J", []string{"one"}},
		{"EL", "one\x1b[2K", []string{"one"}},
		{"EL, right", "one\r\x1b[K", []string{"one"}},
		{"EL beside", "one\x1b[K", nil},
		{"ECH", "one\r\x1b[X", []string{"one"}},
		{"DECSEL", "one\r\x1b[?K", []string{"one"}},
		{"DECSED", "one\x1b[?2J", []string{"one"}},
		{"ICH", "one\r\x1b[@", []string{"one"}},
		{"DCH", "one\r\x1b[P", []string{"one"}},
		{"IRM", "\x1b[4hone\rtwo", []string{"one"}},
		{"IL keeps", "one\r\x1b[L", nil},
		{"IL takes", "one\x1b[4;1Htwo\x1b[H\x1b[L", []string{"one\n\n\ntwo"}},
		{"DL", "one\r\x1b[M", []string{"one"}},
		{"SU", "one\x1b[S", []string{"one"}},
		{"SD", "one\x1b[4;1Htwo\x1b[T", []string{"one\n\n\ntwo"}},
		{"SL", "one\x1b[ @", []string{"one"}},
		{"DECIC", "one\r\x1b['}", []string{"one"}},
		{"DECBI", "one\r\x1b6", []string{"one"}},
		{"scrolled away", "1\r\n2\r\n3\r\n4\r\n5", []string{"1\n2\n3\n4"}},
		{"wrapped away", "\x1b[4;10Hx\x1b[1;1Hone\x1b[4;9H....", []string{"one\n\n\n        .x"}},
		{"RI", "\x1b[4;1Hone\x1b[H\x1bM", []string{"\n\n\none"}},
		{"a region", "\x1b[2;3r\x1b[2;1Hone\r\ntwo\r\nsix", []string{"\none\ntwo"}},
		{"between margins", "\x1b[?69h\x1b[2;5s\x1b[1;2Habc\x1b[S", []string{" abc"}},
		{"beside the margins", "abc\x1b[?69h\x1b[5;8s\x1b[1;6H\x1b[S", nil},
		{"DECALN", "one\x1b#8", []string{"one"}},
		{"DECALN is written", "\x1b#8\x1b[2J", []string{strings.TrimSuffix(strings.Repeat("EEEEEEEEEE\n", 4), "\n")}},
		{"RIS", "one\x1bc", []string{"one"}},
		{"DECSTR takes nothing", "one\x1b[!p", nil},
		{"alternate screen", "one\x1b[?1049htwo\x1b[?1049lsix", []string{"one", "   two"}},
		{"alternate screen, 47", "one\x1b[?47htwo\x1b[?47l\x1b[?47h", []string{"one", "   two"}},
		{"alternate screen again", "\x1b[?1049hone\x1b[?1049h", nil},
		{"RIS on the alternate screen", "\x1b[?1049hone\x1bc", []string{"one"}},
		{"RIS takes the title", "\x1b]2;a\a\x1bc", []string{""}},
		{"VS16 over a character", "\x1b[?2027h\x1b[1;2Hx\r❤\ufe0f", []string{"❤\ufe0fx"}},
		{"VS16 that wraps over one", "\x1b[?2027h\x1b[2;1Hx\x1b[1;10H❤\ufe0f", []string{"         ❤\ufe0f\nx"}},
		{"VS16 that wrapped, erased", "\x1b[?2027h\x1b[1;10H❤\ufe0f\x1b[2;1H\x1b[K", []string{"          ❤\ufe0f"}},
		{"wide at the edge", "\x1b[1;10Hx\b\x1b[1;10H日", []string{"         x"}},
		{"a wrap over a character", "\x1b[2;1Hx\x1b[1;10Hab", []string{"         a\nx"}},
		{"a wrap in a region", "\x1b[3;1Hz\x1b[1;2r\x1b[1;1Hone\x1b[2;9Habc", []string{"one\n        ab\nz"}},
		{"a line left", "\x1b[2;1Habcdefghijk\x1b[1;1Hone\x1b[1;2r\x1b[2;1H\n", []string{"one\nabcdefghijk"}},
		{"DECSED of two rows", "one\x1b[?2026h\x1b[?2026l\r\ntwo\x1b[?2J", []string{"one", "one\ntwo"}},
		{"ED of two rows", "one\x1b[?2026h\x1b[?2026l\r\ntwo\x1b[H\x1b[J", []string{"one", "one\ntwo"}},
		{"SL of two rows", "one\x1b[?2026h\x1b[?2026l\r\ntwo\x1b[ @", []string{"one", "one\ntwo"}},
		{"wide halves", "日\x1b[1;2Hx", []string{"日"}},
		{"the other half of a wide one", "日\rx", []string{"日"}},
		{"wide over two", "ab\r日", []string{"ab"}},
		{"a mark does not overwrite", "e\u0301", nil},
		{"an update", "\x1b[?2026hone\x1b[2Jtwo\x1b[?2026l\x1b[2J", []string{"   two"}},
		{"before an update", "one\x1b[?2026h\x1b[2J\x1b[?2026l", []string{"one", ""}},
		{"an update that changes nothing", "\x1b[?2026h\x1b[?2026l", nil},
		{"titles", "\x1b]2;a\a\x1b]2;a\a\x1b]2;b\a", []string{""}},
		{"DECCOLM", "one\x1b[?3h", []string{"one"}},
		{"REP", "ab\x1b[2b\r\x1b[4C\b\bc", []string{"abbb"}},
	} {
		var got []string
		term := New(4, 10, Options{})
		term.FeedMoments([]byte(c.in), func(s *Screen) {
			if got = append(got, s.Text()); s.History().Len() > 0 {
				t.Errorf("%s: a line is in the scrollback already", c.name)
			}
		})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q shows %q, want %q", c.name, c.in, got, c.want)
		}
		if s := checkMoments([]byte(c.in), 1, 4, 10); s != "" {
			t.Errorf("%s: %s", c.name, s)
		}
	}
}

// TestMomentsOfAFlood: about one a screen, not one a line; of a redraw one a frame.
func TestMomentsOfAFlood(t *testing.T) {
	count := func(in string) (n int) {
		New(24, 80, Options{}).FeedMoments([]byte(in), func(*Screen) { n++ })
		return n
	}
	if n := count(strings.Repeat("a line\r\n", 2400)); n < 95 || n > 105 {
		t.Errorf("a flood of 100 screens has %d moments", n)
	}
	frame := "\x1b[H" + strings.Repeat("\x1b[K\x1b[32mstatus\x1b[m of the thing\r\n", 23)
	if n := count(strings.Repeat(frame, 100)); n < 99 || n > 101 {
		t.Errorf("100 frames have %d moments", n)
	}
}

// TestMomentsShowEveryCharacter: each character printed outside of an update is on the screen, where
// it was printed, at a moment or at the end.
func TestMomentsShowEveryCharacter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(2, 6).Draw(t, "rows"), rapid.IntRange(4, 12).Draw(t, "cols")
		term := New(rows, cols, Options{})
		feed := func(p string, look func(*Screen)) { term.FeedMoments([]byte(p), look) }
		type place struct {
			row, col int
			text     string
		}
		var due []place // printed, and not seen yet
		look := func(s *Screen) {
			due = slices.DeleteFunc(due, func(p place) bool { return s.Cell(p.row, p.col).Text == p.text })
		}
		steps := rapid.SliceOfN(rapid.SampledFrom([]string{"", "", "", "\r\n", "\r", "\x1b[H", "\x1b[2J", "\x1b[K", "\x1b[1K", "\x1b[J",
			"\x1b[2X", "\x1b[@", "\x1b[P", "\x1b[L", "\x1b[M", "\x1b[S", "\x1b[T", "\x1bM", "\x1b[2;3r", "\x1b[?69h\x1b[2;4s", "\x1b[ @",
			"\x1b['}", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?47h", "\x1b[?47l", "\x1b#8", "\x1bc", "\x1b[!p", "\x1b[4h", "\x1b[4l", "\x1b[2;2H",
			"\x1b[?3h", "\x1b[44m", "\x1b[m", "\x1b[?7l", "\x1b[?7h"}), 1, 60).Draw(t, "steps")
		for i, s := range steps {
			moved := len(due) > 0 && (strings.ContainsAny(s, "LMST") || s == "\r\n")
			if s != "" {
				feed(s, look)
				if moved { // rows may have taken their text with them: nothing is lost
					due = nil
				}
				continue
			}
			c := term.cursor
			if c.pending && term.modes.autoWrap { // it is printed in the next row, and rows may move
				feed(" ", look)
				due, c = nil, term.cursor
				if c.pending {
					continue
				}
			}
			text := string(rune('a' + i%26))
			feed(text, look)
			due = append(due, place{c.row, c.col, text})
		}
		look(term.Snapshot())
		if len(due) > 0 {
			t.Fatalf("never seen: %v", due)
		}
	})
}

// TestMomentsOfAHostileProgram: one that makes a moment of every other byte makes no more, and on the
// largest screen, full of its text, each costs the row that it writes to and not the screen.
func TestMomentsOfAHostileProgram(t *testing.T) {
	term := New(MaxSide, MaxSide, Options{})
	fill := strings.Repeat(strings.Repeat("x", MaxSide)+"\r\n", MaxSide-1)
	n := 0
	look := func(*Screen) { n++ }
	const times = 2000
	in := []byte(fill + strings.Repeat("\rX", times))
	var before, after runtime.MemStats
	term.FeedMoments(in[:len(fill)], look)
	n = 0
	runtime.ReadMemStats(&before)
	term.FeedMoments(in[len(fill):], look)
	runtime.ReadMemStats(&after)
	if n != times-1 {
		t.Errorf("%d moments, want %d", n, times-1)
	}
	// A moment has the rows of its screen, 8 bytes each, and the one that was written to, 16 a column.
	if each := (after.TotalAlloc - before.TotalAlloc) / times; each > 40<<10 {
		t.Errorf("a moment takes %d bytes", each)
	}
}

// TestMomentsOfRecordings: the same for what real programs wrote, however it is cut between resizes.
func TestMomentsOfRecordings(t *testing.T) {
	for i, r := range recordings(t) {
		if i%lanes.Few(1, 8) != 0 || testing.Short() && i%8 != 0 {
			continue
		}
		rnd := rand.New(rand.NewSource(int64(i)))
		run := func(piece func(int) int) (seen []string) {
			term := New(r.rows, r.cols, Options{})
			out := ""
			for _, e := range append(slices.Clone(r.events), castEvent{}) {
				if e.code == "o" {
					out += e.data
					continue
				}
				seen = append(seen, feedMoments(term, []byte(out), piece)...)
				if out = ""; e.code == "r" {
					term.Resize(e.rows, e.cols, 0, 0)
				}
			}
			return seen
		}
		want := run(whole)
		if got := run(func(left int) int { return 1 + rnd.Intn(min(left, 64)) }); !slices.Equal(got, want) {
			t.Errorf("%s: %d moments fed in pieces, %d fed whole", r.name, len(got), len(want))
		}
	}
}

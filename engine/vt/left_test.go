package vt

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/internal/lanes"
)

// freshText is what counts in a passage.
func freshText(p Passage) string {
	var b strings.Builder
	for i, r := range p.Fresh {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.Write(p.Text[r.Start:r.End])
	}
	return b.String()
}

// TestLeftReadsEachLineOnce: whatever the chunks and the scrollback, a reader that goes on from
// edge to edge reads each line that leaves the screen once, in order, as long as it keeps up.
func TestLeftReadsEachLineOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cols := rapid.IntRange(4, 40).Draw(t, "cols")
		term := New(rapid.IntRange(1, 6).Draw(t, "rows"), cols, Options{Scrollback: rapid.SampledFrom([]int{-1, 1, 3, 100}).Draw(t, "scrollback")})
		whole := New(term.rows, cols, Options{Scrollback: 100_000})
		var edge Edge
		var got []string
		for range rapid.IntRange(1, 20).Draw(t, "feeds") {
			chunk := rapid.StringOf(rapid.SampledFrom([]rune("ab  \n世é\t"))).Draw(t, "chunk")
			chunk = strings.ReplaceAll(chunk, "\n", "\r\n")
			if rapid.Bool().Draw(t, "erase") {
				term.Feed([]byte(chunk + "\x1b[3J"))
				whole.Feed([]byte(chunk + "\x1b[2 q")) // as many batches
			} else {
				term.Feed([]byte(chunk))
				whole.Feed([]byte(chunk))
			}
			s := term.Snapshot()
			p := s.Left(LeftOptions{After: edge})
			if p.Missed {
				t.Fatal("missed lines that are kept")
			}
			for i := range p.Fresh {
				if r := p.Fresh[i]; r.Start > r.End || r.End > len(p.Text) {
					t.Fatalf("range %v of %d bytes", r, len(p.Text))
				}
			}
			// Of a line that goes on from an earlier look, only what is new is added.
			first := s.history.firstLeft(edge)
			for line := first; line < s.history.next; line++ {
				b, i := s.history.at(line)
				text, _, _ := splitLine(b.line(i))
				got = append(got, string(appendDecoded(nil, text)))
			}
			edge = s.History().Edge()
		}
		h := whole.Snapshot().History()
		var want []string
		for i := range h.Len() {
			text, _, _ := splitLine(h.find(i))
			want = append(want, string(appendDecoded(nil, text)))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("read %q, left %q", got, want)
		}
	})
}

// TestLeftSince: with a moment, of the lines that left those count that were written after it, and
// of one that was written to before and after only the later part.
func TestLeftSince(t *testing.T) {
	term := New(2, 20, Options{})
	feed := func(s string) uint64 { term.Feed([]byte(s)); return term.Sequence() }
	feed("old\r\n$ ")
	seq := feed("")
	feed("typed\r\nnew\r\n")
	feed("x\r\ny\r\nz")
	p := term.Snapshot().Left(LeftOptions{Since: &Point{Seq: seq}})
	if got := freshText(p); got != "typed\nnew\nx" || !strings.HasPrefix(string(p.Text), "$ typed") {
		t.Errorf("counts %q in %q", got, p.Text)
	}
	if all := term.Snapshot().Left(LeftOptions{}); freshText(all) != "old\n$ typed\nnew\nx" {
		t.Errorf("all that left: %q", freshText(all))
	}
	if at := term.Snapshot().LeftAt(0); at <= seq-1 || term.Snapshot().LeftAt(99) != 0 {
		t.Errorf("the first line left at %d", at)
	}
}

// TestStampsSurviveTheScrollback: a line that a resize brings back from the scrollback was written
// when it was.
func TestStampsSurviveTheScrollback(t *testing.T) {
	term := New(2, 20, Options{})
	term.Feed([]byte("old\r\n"))
	seq := term.Sequence()
	term.Feed([]byte("new\r\na\r\nb"))
	term.Resize(4, 20, 0, 0)
	if text, _ := term.Snapshot().TextSince(seq); text != "new\na\nb" {
		t.Errorf("after coming back: %q", text)
	}
}

// TestStampsOfTheScreenThatIsLeft: what was written right before a program shows the alternate
// screen counts when it is back.
func TestStampsOfTheScreenThatIsLeft(t *testing.T) {
	term := New(4, 20, Options{})
	term.Feed([]byte("old\r\n"))
	seq := term.Sequence()
	term.Feed([]byte("new\r\n\x1b[?1049hpage"))
	term.Feed([]byte("\x1b[?1049l"))
	if text, _ := term.Snapshot().TextSince(seq); text != "new" {
		t.Errorf("back on the main screen: %q", text)
	}
}

// TestLeftKept: with no scrollback the newest lines are kept for those who wait, and no more than
// those; who comes later is told.
func TestLeftKept(t *testing.T) {
	for _, limit := range []int{-1, 50} {
		term := New(24, 80, Options{Scrollback: limit})
		edge := term.Snapshot().History().Edge()
		line := strings.Repeat("x", 79)
		for i := range 50_000 {
			fmt.Fprintf(feeder{term}, "%05d%s\r\n", i, line[5:])
		}
		if n := term.history.bytes; n > leftKept+2*blockMax {
			t.Errorf("limit %d: %d bytes are kept", limit, n)
		}
		p := term.Snapshot().Left(LeftOptions{After: edge})
		if !p.Missed || len(p.Text) < leftKept/2 {
			t.Errorf("limit %d: missed %v, %d bytes", limit, p.Missed, len(p.Text))
		}
		if !bytes.HasSuffix(p.Text, []byte(fmt.Sprintf("%05d%s", 50_000-24, line[5:]))) {
			t.Errorf("limit %d: the newest line is %q", limit, p.Text[len(p.Text)-80:])
		}
		if h := term.Snapshot().History(); h.Len() != max(limit, 0) {
			t.Errorf("limit %d: %d lines of scrollback", limit, h.Len())
		}
	}
}

type feeder struct{ *Terminal }

func (f feeder) Write(p []byte) (int, error) { f.Feed(p); return len(p), nil }

// TestPassageIsText: the whole screen's passage has the screen's text, and finds each byte's row
// and column again.
func TestPassageIsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		term := New(rapid.IntRange(1, 8).Draw(t, "rows"), rapid.IntRange(2, 20).Draw(t, "cols"), Options{})
		term.Feed([]byte(rapid.StringOf(rapid.SampledFrom([]rune("ab \r\n\t世é\x1b[HJK5"))).Draw(t, "output")))
		s := term.Snapshot()
		p := s.Passage(nil)
		if string(p.Text) != s.Text() {
			t.Fatalf("%q, text %q", p.Text, s.Text())
		}
		for i := range p.Text {
			if p.Text[i] == '\n' {
				continue
			}
			line, before := p.Row(i)
			if got := p.UpTo(line, before); len(got) != i {
				t.Fatalf("byte %d of %q is found at %d", i, p.Text, len(got))
			}
		}
	})
}

// TestPoints: from behind a text only what is written after it counts, be it in the same batch, in
// the same row or above.
func TestPoints(t *testing.T) {
	behind := func(s *Screen, text string) Point {
		p := s.Passage(nil)
		i := bytes.Index(p.Text, []byte(text))
		return s.Behind(&p, i, i+len(text))
	}
	for _, c := range []struct{ name, output, text, later, want string }{
		{"the same row", "one two one", "one", "", "two one"},
		{"the next rows", "one\r\ntwo\r\nthree", "one", "", "two\nthree"},
		{"above in a later batch", "\r\none\r\nlow", "one", "\x1b[Habove", "above\nlow"},
		{"the row again", "one two", "two", "\x1b[1;1HONE", "ONE two"},
		{"wide", "世one世two", "one", "", "世two"},
		{"nothing", "one", "one", "", ""},
	} {
		term := New(4, 20, Options{})
		term.Feed([]byte("before\r"))
		term.Feed([]byte("\x1b[2J\x1b[H" + c.output))
		at := behind(term.Snapshot(), c.text)
		term.Feed([]byte(c.later))
		p := term.Snapshot().Passage(&at)
		if got := freshText(p); strings.TrimLeft(got, " ") != c.want {
			t.Errorf("%s: %q counts, want %q", c.name, got, c.want)
		}
	}
}

// TestPointsAreOrdered: going on from each text to the next finds each of them once, however they
// came.
func TestPointsAreOrdered(t *testing.T) {
	word := regexp.MustCompile(`<\d+>`)
	for seed := range uint64(lanes.Few(30, 6)) {
		r := rand.New(rand.NewPCG(seed, 16))
		term := New(5, 30, Options{Scrollback: []int{-1, 4, 0}[seed%3]})
		var out strings.Builder
		const words = 400
		for i := range words {
			fmt.Fprintf(&out, "<%d>%s", i, []string{" ", "\r\n", "\r\n", "  \r\n\r\n"}[r.IntN(4)])
		}
		text := out.String()
		at, next := Point{Seq: 0}, 0
		for len(text) > 0 || next < words {
			n := min(len(text), 1+r.IntN(900))
			term.Feed([]byte(text[:n]))
			text = text[n:]
			s := term.Snapshot()
			for range r.IntN(20) + 1 {
				if next == words {
					break
				}
				left := s.Left(LeftOptions{After: Edge{Seq: at.Seq, Line: at.At.Line}, Since: &at})
				p := left.And(s.Passage(&at))
				if left.Missed {
					t.Fatal("missed")
				}
				var loc []int
				for _, l := range word.FindAllIndex(p.Text, -1) {
					if slices.ContainsFunc(p.Fresh, func(r Range) bool { return l[0] < r.End && r.Start < l[1] }) {
						loc = l
						break
					}
				}
				if loc == nil && len(text) == 0 {
					t.Fatalf("seed %d: word %d is not found", seed, next)
				}
				if loc == nil {
					break
				}
				if got, want := string(p.Text[loc[0]:loc[1]]), fmt.Sprintf("<%d>", next); got != want {
					t.Fatalf("seed %d: found %s after %d words", seed, got, next)
				}
				at = s.Behind(&p, loc[0], loc[1])
				next++
			}
		}
	}
}

// TestLeftReadsALineToItsEnd: of a line that stands half above the screen the rest is read, too,
// for as long as some of the line left after the edge; what stands on the screen alone does not
// count by itself.
func TestLeftReadsALineToItsEnd(t *testing.T) {
	term := New(2, 5, Options{Scrollback: 10})
	term.Feed([]byte("12345678"))
	var edge Edge
	read := func() (text, fresh string, tail int) {
		s := term.Snapshot()
		p := s.Left(LeftOptions{After: s.history.edge, Tail: &edge})
		return string(p.Text), freshText(p), p.Tail
	}
	if text, _, _ := read(); text != "" {
		t.Errorf("read %q while all is on the screen", text)
	}
	term.Feed([]byte("9abc"))
	if text, fresh, tail := read(); text != "123456789abc" || fresh != "12345" || tail != 5 {
		t.Errorf("read %q, of which %q counts and %q is on the screen", text, fresh, text[tail:])
	}
	edge = term.Snapshot().history.edge
	term.Feed([]byte("d"))
	if text, _, _ := read(); text != "" {
		t.Errorf("read %q, of which nothing left", text)
	}
	term.Feed([]byte("\x1b[?1049hABCDEFGHIJ"))
	edge = Edge{}
	if text, _, _ := read(); text != "" {
		t.Errorf("read %q under the alternate screen", text)
	}
}

// TestWhatIsClearedDoesNotGoOn: a line that had gone on in the screen's first row ends where it
// left the screen once that row is cleared, and what is written there then is a line of its own.
func TestWhatIsClearedDoesNotGoOn(t *testing.T) {
	for _, clear := range []string{"\x1b[H\x1b[2J", "\x1b[H\x1b[J", "\x1b[H\x1b[2K", "\x1b[H\x1b[K", "\x1b[H\x1b[L", "\x1b[H\x1bM", "\x1b[T\x1b[H"} {
		for _, scrollback := range []int{-1, 10} {
			term := New(2, 5, Options{Scrollback: scrollback})
			term.Feed([]byte("0123\r\nabcdefghijkl"))
			before := term.Snapshot()
			term.Feed([]byte(clear))
			var edge Edge
			if p := term.Snapshot().Left(LeftOptions{After: before.history.edge, Tail: &edge}); len(p.Text) > 0 {
				t.Errorf("%q with %d lines: %q has left", clear, scrollback, p.Text)
			}
			term.Feed([]byte("xyz"))
			s := term.Snapshot()
			if p := s.Left(LeftOptions{Tail: &edge}); string(p.Text) != "0123\nabcde" || p.Missed {
				t.Errorf("%q with %d lines: what left reads %q, missed %t", clear, scrollback, p.Text, p.Missed)
			}
			if p := before.Left(LeftOptions{Tail: &edge}); string(p.Text) != "0123\nabcdefghijkl" {
				t.Errorf("%q with %d lines: an earlier look has become %q", clear, scrollback, p.Text)
			}
			term.Resize(2, 20, 0, 0)
			if text := term.Snapshot().Text(); !strings.HasPrefix(text, "xyz") {
				t.Errorf("%q with %d lines: the wider screen shows %q", clear, scrollback, text)
			}
		}
	}
}

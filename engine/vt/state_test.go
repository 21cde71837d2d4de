package vt

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/internal/lanes"
)

// sameTerminal says in what two terminals differ that went the same way.
func sameTerminal(a, b *Terminal) string {
	if s := verify(b); s != "" {
		return s
	}
	sa, sb := a.Snapshot(), b.Snapshot()
	if d := diffScreens(sa, sb); d != "" {
		return d
	}
	if sa.Sequence != sb.Sequence || sa.Theme != sb.Theme || sa.PixelWidth != sb.PixelWidth || sa.PixelHeight != sb.PixelHeight ||
		a.Updates() != b.Updates() {
		return fmt.Sprintf("sequence %d and %d, theme %v and %v", sa.Sequence, sb.Sequence, sa.Theme, sb.Theme)
	}
	for y := range sa.Rows {
		if x, z := sa.Changed(y), sb.Changed(y); x != z {
			return fmt.Sprintf("row %d changed at %d and %d", y, x, z)
		}
	}
	ha, hb := &sa.history, &sb.history
	if ha.oldest() != hb.oldest() || ha.next != hb.next || ha.edge != hb.edge || ha.lost != hb.lost || ha.Cut() != hb.Cut() {
		return fmt.Sprintf("scrollback from %d to %d, edges %v %v, and from %d to %d, edges %v %v",
			ha.oldest(), ha.next, ha.edge, ha.lost, hb.oldest(), hb.next, hb.edge, hb.lost)
	}
	for line := ha.oldest(); line < ha.next; line++ {
		if sa.LeftAt(line) != sb.LeftAt(line) || sa.WrittenAt(line) != sb.WrittenAt(line) {
			return fmt.Sprintf("line %d left at %d and %d, written at %d and %d", line,
				sa.LeftAt(line), sb.LeftAt(line), sa.WrittenAt(line), sb.WrittenAt(line))
		}
	}
	for seq := range a.Sequence() + 1 {
		for _, p := range []Point{{Seq: seq}, {Seq: seq, Within: true, At: Position{Line: ha.next, Col: int(seq) % 7}}} {
			if x, y := sa.Passage(&p), sb.Passage(&p); !reflect.DeepEqual(x, y) {
				return fmt.Sprintf("since %v: %q %v and %q %v", p, x.Text, x.Fresh, y.Text, y.Fresh)
			}
			if x, y := sa.Left(LeftOptions{Since: &p}), sb.Left(LeftOptions{Since: &p}); !reflect.DeepEqual(x, y) {
				return fmt.Sprintf("left since %v: %q %v and %q %v", p, x.Text, x.Fresh, y.Text, y.Fresh)
			}
		}
	}
	if x, y := normalState(a), normalState(b); !bytes.Equal(x, y) {
		i := 0
		for i < min(len(x), len(y)) && x[i] == y[i] {
			i++
		}
		return fmt.Sprintf("the states differ from byte %d of %d and %d on: % x\nand % x", i, len(x), len(y), tail(x, i), tail(y, i))
	}
	return ""
}

// normalState is a state that is the same whatever rows are one in memory. During an update that is
// the state after it.
func normalState(t *Terminal) []byte {
	if t.held {
		t = t.Fork()
		t.Release()
	}
	return t.AppendState(nil)
}

func tail(b []byte, i int) []byte { return b[i:min(i+24, len(b))] }

// A step is what is done to a terminal: mostly it is fed.
type step struct {
	name string
	do   func(*Terminal) Effect
}

// nextStep draws a step that takes some of p.
func nextStep(rnd *rand.Rand, p []byte, most int) (step, []byte) {
	switch rnd.Intn(24) {
	case 0:
		rows, cols, pixels := 1+rnd.Intn(12), 1+rnd.Intn(40), rnd.Intn(3)*100
		return step{fmt.Sprintf("resize %d %d", rows, cols), func(t *Terminal) Effect { return t.Resize(rows, cols, pixels, pixels) }}, p
	case 1:
		return step{"release", func(t *Terminal) Effect { t.Release(); return Effect{} }}, p
	case 2:
		return step{"clear", (*Terminal).Clear}, p
	case 3:
		theme := Theme(rnd.Intn(2))
		return step{"theme", func(t *Terminal) Effect { return t.SetTheme(theme) }}, p
	}
	n := 1 + rnd.Intn(min(len(p), most))
	now := p[:n:n]
	return step{fmt.Sprintf("feed %q", now), func(t *Terminal) Effect { return t.Feed(now) }}, p[n:]
}

// checkGoesOn feeds a terminal up to cut, makes another of it, and says in what that one differs
// when both go on. Other things than output happen in between.
func checkGoesOn(data []byte, cut int, seed int64, rows, cols int, other func(*Terminal) (*Terminal, error)) string {
	rnd := rand.New(rand.NewSource(seed))
	a := New(rows, cols, Options{Scrollback: 50, ProgramStatus: true, Version: "1.2-x"})
	for p := data[:cut]; len(p) > 0; {
		var s step
		s, p = nextStep(rnd, p, 1+len(data)/2)
		s.do(a)
	}
	b, err := other(a)
	if err != nil {
		return err.Error()
	}
	if d := sameTerminal(a, b); d != "" {
		return "at once: " + d
	}
	var done []string
	for p := data[cut:]; len(p) > 0; {
		var s step
		s, p = nextStep(rnd, p, 1+len(data)/2)
		done = append(done, s.name)
		if x, y := s.do(a), s.do(b); !reflect.DeepEqual(x, y) {
			return fmt.Sprintf("after %q: %+v and %+v", done, x, y)
		}
		if d := sameTerminal(a, b); d != "" {
			return fmt.Sprintf("after %q: %s", done, d)
		}
	}
	return ""
}

func loaded(t *Terminal) (*Terminal, error) { return Load(t.AppendState(nil)) }

// FuzzState: a terminal that was written down and loaded goes on as the one that was not: screen,
// answers, events, scrollback, and what is new since any sequence. Wherever it was cut.
func FuzzState(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte, seed uint16, rows, cols uint8) {
		if len(data) > 4096 {
			return
		}
		cut := 0
		if len(data) > 0 {
			cut = int(seed) % (len(data) + 1)
		}
		if s := checkGoesOn(data, cut, int64(seed), int(rows%60), int(cols%200), loaded); s != "" {
			t.Errorf("cut at %d: %s", cut, s)
		}
	})
}

// TestStateAtEveryCut: the same for every cut of the seeds.
func TestStateAtEveryCut(t *testing.T) {
	for name, data := range seeds {
		cuts := 1
		if len(data) > 200 && testing.Short() || len(data) > 2000 {
			cuts = len(data) / 40
		}
		for cut := 0; cut <= len(data); cut += lanes.Few(cuts, max(cuts, 7)) {
			if s := checkGoesOn([]byte(data), cut, int64(cut), 6, 20, loaded); s != "" {
				t.Errorf("%s, cut at %d: %s", name, cut, s)
				break
			}
		}
	}
}

// TestStateOfAnything: the same for random sessions.
func TestStateOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 9).Draw(t, "rows"), rapid.IntRange(1, 20).Draw(t, "cols")
		out := session(t, "output", 60)
		cut := rapid.IntRange(0, len(out)).Draw(t, "cut")
		if s := checkGoesOn([]byte(out), cut, rapid.Int64().Draw(t, "seed"), rows, cols, loaded); s != "" {
			t.Fatalf("%q cut at %d: %s", out, cut, s)
		}
	})
}

// TestStateOfRecordings: the same for what real programs wrote, in the pieces in which it was read.
func TestStateOfRecordings(t *testing.T) {
	for i, r := range recordings(t) {
		a := New(r.rows, r.cols, Options{})
		var b *Terminal
		at := len(r.events) * (i%7 + 1) / 8
		for k, e := range r.events {
			if k == at {
				var err error
				if b, err = loaded(a); err != nil {
					t.Fatalf("%s: %v", r.name, err)
				}
			}
			do := func(t *Terminal) Effect { return t.Feed([]byte(e.data)) }
			if e.code == "r" {
				do = func(t *Terminal) Effect { return t.Resize(e.rows, e.cols, 0, 0) }
			}
			x := do(a)
			if b == nil {
				continue
			}
			if y := do(b); !reflect.DeepEqual(x, y) {
				t.Fatalf("%s: event %d: %+v, want %+v", r.name, k, y, x)
			}
		}
		if b == nil {
			continue
		}
		if d := diffScreens(a.Snapshot(), b.Snapshot()); d != "" {
			t.Errorf("%s: %s", r.name, d)
		}
		if !bytes.Equal(normalState(a), normalState(b)) {
			t.Errorf("%s: the states differ", r.name)
		}
	}
}

// TestScreenState: without the older scrollback the screen goes on alike, and no more of the
// scrollback is kept than a block.
func TestScreenState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 6).Draw(t, "rows"), rapid.IntRange(8, 20).Draw(t, "cols")
		a := New(rows, cols, Options{})
		for range rapid.IntRange(0, 900).Draw(t, "lines") {
			a.Feed([]byte("a line of text\r\n"))
		}
		for range rapid.IntRange(0, 3).Draw(t, "batches") {
			a.Feed([]byte(session(t, "before", 20)))
		}
		state := a.AppendScreenState(nil)
		b, err := Load(state)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(b.history.sealed); n > 1 || n == 1 && len(b.history.tail.ends) > 0 {
			t.Fatalf("%d blocks and %d lines are kept", n, len(b.history.tail.ends))
		}
		if a.history.next > b.history.oldest() && a.Snapshot().History().Len() > 0 && b.history.next == b.history.oldest() {
			t.Fatal("no line is kept")
		}
		for range rapid.IntRange(0, 4).Draw(t, "more") {
			out := []byte(session(t, "after", 20))
			if x, y := a.Feed(out), b.Feed(out); !reflect.DeepEqual(x, y) {
				t.Fatalf("%+v and %+v", x, y)
			}
			sa, sb := a.Snapshot(), b.Snapshot()
			if show(sa) != show(sb) || sa.Cursor != sb.Cursor || sa.Modes != sb.Modes || sa.Title != sb.Title {
				t.Fatalf("%s\nand\n%s", show(sa), show(sb))
			}
			ha, hb := sa.History(), sb.History()
			if ha.Dropped()+uint64(ha.Len()) != hb.Dropped()+uint64(hb.Len()) {
				t.Fatal("lines are counted otherwise")
			}
			for i := range hb.Len() {
				if k := ha.Len() - hb.Len() + i; k >= 0 && ha.Line(k) != hb.Line(i) {
					t.Fatalf("line %d is %q, want %q", i, hb.Line(i), ha.Line(k))
				}
			}
		}
		if s := verify(b); s != "" {
			t.Fatal(s)
		}
	})
}

// TestLoadRefuses: what is no state, or one of another version, is refused by name.
func TestLoadRefuses(t *testing.T) {
	good := filled(4, 10).AppendState(nil)
	for name, c := range map[string]struct {
		state []byte
		want  string
	}{
		"nothing":         {nil, "version 0 is not known"},
		"another version": {append([]byte{99}, good[1:]...), "version 99 is not known, only 1 is"},
		"cut off":         {good[:len(good)-1], "damaged at byte"},
		"one byte more":   {append(good[:len(good):len(good)], 0), "its end"},
		"no rows":         {append([]byte{stateVersion, 0}, good[2:]...), "size"},
		"too many rows":   {append([]byte{stateVersion, 0xff, 0x7f}, good[2:]...), "rows"},
	} {
		term, err := Load(c.state)
		var e *StateError
		if term != nil || !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want one that says %q", name, err, c.want)
		}
	}
	for i := range good {
		if _, err := Load(good[:i]); err == nil {
			t.Fatalf("the first %d bytes of %d are taken for a state", i, len(good))
		}
	}
}

// hostileState says what is wrong with a terminal that was loaded from anywhere.
func hostileState(state []byte) string {
	term, err := Load(state)
	if err != nil {
		if e := (*StateError)(nil); !errors.As(err, &e) || term != nil || e.Offset > len(state) {
			return fmt.Sprintf("refused with %#v", err)
		}
		return ""
	}
	if s := verify(term); s != "" {
		return s
	}
	again := term.AppendState(nil)
	other, err := Load(again)
	if err != nil {
		return "its own state: " + err.Error()
	}
	if !bytes.Equal(other.AppendState(nil), again) {
		return "loading does not keep its state"
	}
	for _, out := range []string{
		"x\u0301日\b\x1b[3b\r\n\x1b7\x1b8\x1b\\\x18", "\x1b[?1049h\x1b[2J\x1b[?1049l\x1b[?2026l", strings.Repeat("line\r\n", 30) + "\x1b[3J",
		"\x1b[23t\x1b[<u\x1b[?1;7;25;1049r\x1b#8\x1b[!p",
	} {
		term.Feed([]byte(out))
		if s := verify(term); s != "" {
			return fmt.Sprintf("after %q: %s", out, s)
		}
		s := term.Snapshot()
		_ = show(s) + s.Text() + s.History().all()
		s.Left(LeftOptions{Tail: &Edge{}})
		s.Passage(&Point{Seq: 1})
		s.Between(Position{}, Position{Line: 1 << 40}, 1<<16)
	}
	for _, size := range [][2]int{{3, 7}, {40, 90}, {2, 200}} {
		term.Resize(size[0], size[1], 0, 0)
		if s := verify(term); s != "" {
			return fmt.Sprintf("resized: %s", s)
		}
	}
	term.Feed([]byte("\x1bc"))
	return verify(term)
}

// FuzzLoad: a state that comes from anywhere is refused, or makes a terminal in order.
func FuzzLoad(f *testing.F) {
	for name, data := range seeds {
		for _, at := range []int{len(data) / 2, len(data)} {
			term := New(4, 12, Options{Scrollback: 5})
			term.Feed([]byte(data[:at/2]))
			if len(name)%3 == 0 {
				term.Resize(5, 9, 0, 0)
			}
			term.Feed([]byte(data[at/2 : at]))
			f.Add(term.AppendState(nil))
		}
	}
	f.Fuzz(func(t *testing.T, state []byte) {
		if len(state) > 4096 {
			return
		}
		if s := hostileState(state); s != "" {
			t.Error(s)
		}
	})
}

// TestLoadOfDamagedStates: each bit of some states turned over, and each byte replaced by what
// claims much.
func TestLoadOfDamagedStates(t *testing.T) {
	for _, c := range stateCases {
		state := c.terminal().AppendState(nil)
		for i := 1; i < len(state); i++ {
			for k := i % lanes.Few(1, 8); k < 8; k += lanes.Few(1, 8) { // each bit, or one of each byte
				bad := bytes.Clone(state)
				bad[i] ^= 1 << k
				if s := hostileState(bad); s != "" {
					t.Fatalf("%s: bit %d of byte %d: %s", c.name, k, i, s)
				}
			}
			for _, claim := range []string{"\xff\x7f", "\xff\xff\xff\x7f", "\xff\xff\xff\xff\x0f", "\xff\xff\xff\xff\xff\xff\xff\xff\x7f"} {
				bad := append(append(bytes.Clone(state[:i]), claim...), state[i+1:]...)
				if s := hostileState(bad); s != "" {
					t.Fatalf("%s: byte %d claims % x: %s", c.name, i, claim, s)
				}
			}
		}
	}
}

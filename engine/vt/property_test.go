package vt

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sequenceForms are sequences with %d for a small number, from which random sessions are made.
var sequenceForms = strings.Fields(`\r \n \b \t \v \x0e \x0f
	\x1bD \x1bE \x1bM \x1b7 \x1b8 \x1bH \x1bc \x1b#8 \x1b(0 \x1b(B \x1b)0 \x1bN \x1bn
	\x1b[%dA \x1b[%dB \x1b[%dC \x1b[%dD \x1b[%dE \x1b[%dF \x1b[%dG \x1b[%dd \x1b[%d;%dH \x1b[%d;%dH \x1b[%d;%df
	\x1b[%dI \x1b[%dZ \x1b[%da \x1b[%de \x1b[%dJ \x1b[%dK \x1b[?%dJ \x1b[?%dK \x1b[%dX \x1b[%d@ \x1b[%dP
	\x1b[%dL \x1b[%dM \x1b[%dS \x1b[%dT \x1b[%db \x1b[%d^ \x1b[%d;%dr \x1b[r \x1b[%d'} \x1b[%d'~
	\x1b[?69h \x1b[?69l \x1b[?69h\x1b[%d;%ds \x1b6 \x1b9 \x1b[%d@ \x1b[%dA
	\x1b[?6h \x1b[?6l \x1b[?7l \x1b[?7h \x1b[4h \x1b[4l \x1b[20h \x1b[20l \x1b[?45h \x1b[?1045h \x1b[?1045l \x1b[?2027h \x1b[?2027l
	\x1b[?1049h \x1b[?1049l \x1b[?47h \x1b[?47l \x1b[?2026h \x1b[?2026l \x1b[?3h \x1b[!p \x1b[s \x1b[u \x1b[g \x1b[3g
	\x1b[m \x1b[3%dm \x1b[4%dm \x1b[38;5;%dm \x1b[48:2::1:2:%dm \x1b[58;5;%dm \x1b[4:%dm \x1b[7m \x1b[1\"q \x1b[0\"q
	\x1b]8;;http://%d\x07 \x1b]8;;\x07 \x1b]2;%d\x07 \x1b]133;%d\x07 \x1b[22t \x1b[23t \x1b[c \x1b[6n \x1b[?%d$p \x1bP$qm\x1b\\
	\x1b[1;2m \x1b[22%dm \x1bk%d\x1b\\ \x1b]66;s=%d;日b%d\x07 \x1b]4;%d;?\x07 \x1b]1%d;?\x1b\\ \x1bP+q544e;%d\x1b\\ \x1b[?996n`)

// session draws output of a program: text of all kinds and sequences.
func session(t *rapid.T, name string, most int) string {
	text := rapid.SampledFrom([]string{"a", "word ", "0123456789", "日本", "한", "e\u0301", "\u0302", "😀", "👩\u200d👧", "🇩🇪",
		"❤\ufe0f", "⌚\ufe0e", "⌚", "\ufe0e", "─", "\r\n", "\r\n", "\xe6", "\xff", "\x1b", "é", "\u00a0"})
	form := rapid.Custom(func(t *rapid.T) string {
		f := rapid.SampledFrom(sequenceForms).Draw(t, "form")
		f = strings.NewReplacer(`\x1b`, "\x1b", `\x07`, "\x07", `\r`, "\r", `\n`, "\n", `\b`, "\b", `\t`, "\t", `\v`, "\v",
			`\x0e`, "\x0e", `\x0f`, "\x0f", `\"`, `"`, `\\`, `\`).Replace(f)
		for strings.Contains(f, "%d") {
			f = strings.Replace(f, "%d", fmt.Sprint(rapid.IntRange(0, 12).Draw(t, "n")), 1)
		}
		return f
	})
	return strings.Join(rapid.SliceOfN(rapid.OneOf(text, text, form), 0, most).Draw(t, name), "")
}

// TestAnyChunking: a session cut anywhere gives the same screen, answers and events.
func TestAnyChunking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 9).Draw(t, "rows"), rapid.IntRange(1, 20).Draw(t, "cols")
		out := session(t, "output", 60)
		if s := checkChunks([]byte(out), rapid.Int64().Draw(t, "seed"), rows, cols); s != "" {
			t.Fatalf("%q: %s", out, s)
		}
	})
}

// TestAnyResize: output and resizes in any order keep the invariants, and no snapshot ever changes.
func TestAnyResize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := rapid.IntRange(1, 20)
		term := New(side.Draw(t, "rows"), side.Draw(t, "cols"), Options{Scrollback: rapid.SampledFrom([]int{-1, 1, 40}).Draw(t, "scrollback")})
		type kept struct {
			s    *Screen
			text string
		}
		var taken []kept
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			term.Feed([]byte(session(t, "output", 20)))
			if s := verify(term); s != "" {
				t.Fatal(s)
			}
			s := term.Snapshot()
			taken = append(taken, kept{s, show(s) + s.History().all()})
			term.Resize(side.Draw(t, "rows"), side.Draw(t, "cols"), 0, 0)
			if s := verify(term); s != "" {
				t.Fatal("resized: " + s)
			}
		}
		for _, k := range taken {
			if show(k.s)+k.s.History().all() != k.text {
				t.Fatal("a snapshot has changed")
			}
		}
	})
}

func (h History) all() string {
	var b strings.Builder
	for i := range h.Len() {
		fmt.Fprintf(&b, "%q %v\n", h.Line(i), h.Wrapped(i))
	}
	return b.String()
}

// TestDamage: a snapshot that differs from the one before comes with Dirty, and each row that
// differs is marked with the sequence at which it did; what is painted again as it was is neither.
func TestDamage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		term := New(rapid.IntRange(1, 6).Draw(t, "rows"), rapid.IntRange(1, 12).Draw(t, "cols"), Options{Scrollback: 5})
		before := term.Snapshot()
		for range rapid.IntRange(1, 10).Draw(t, "steps") {
			e := term.Feed([]byte(session(t, "output", 8)))
			shown := *term.Snapshot()
			shown.Modes.Synchronized = false // says that the screen is held back, not what it shows
			after := &shown
			d := diffScreens(before, after)
			if d != "" && !e.Dirty {
				t.Fatalf("not dirty, but %s", d)
			}
			if after.Sequence != term.Sequence() && !e.Held {
				t.Fatalf("sequence %d of %d", after.Sequence, term.Sequence())
			}
			for y := range after.Rows {
				same := after.rows[y].equal(before.rows[y])
				moved := false // a row that scrolled keeps its age
				for _, r := range before.rows {
					moved = moved || after.rows[y].equal(r)
				}
				if !same && !moved && after.Changed(y) <= before.Sequence {
					t.Fatalf("row %d differs, but changed at %d, before %d", y, after.Changed(y), before.Sequence)
				}
			}
			before = after
		}
	})
}

// TestFeedToMark: it stops behind each mark, with the screen as it then is, and ends as Feed does.
func TestFeedToMark(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mark := rapid.SampledFrom([]string{"\x1b]133;A\a", "\x1b]133;D;1\x1b\\", "\x1b]633;E;ls\a", "\x1b]133;", "\x1b]133;C\x18", "\x1b]7;file:///\a"})
		var out string
		for range rapid.IntRange(1, 6).Draw(t, "parts") {
			out += session(t, "output", 10) + mark.Draw(t, "mark")
		}
		whole, stopping := New(5, 12, Options{}), New(5, 12, Options{})
		var all []Event
		e := whole.Feed([]byte(out))
		for rest := []byte(out); len(rest) > 0; {
			before := len(rest)
			var part Effect
			part, rest = stopping.FeedToMark(rest)
			all = append(all, part.Events...)
			marks := 0
			for i, e := range part.Events {
				if e.Kind == EventMark || e.Kind == EventMark633 {
					if marks++; i != len(part.Events)-1 || marks > 1 {
						t.Fatalf("%d marks, the last event is %+v", marks, part.Events[len(part.Events)-1])
					}
				}
			}
			if len(rest) == before || len(rest) > 0 && marks == 0 {
				t.Fatalf("stopped in front of %q with %d marks", rest, marks)
			}
		}
		if got, want := show(stopping.Snapshot()), show(whole.Snapshot()); got != want {
			t.Fatalf("%q\n%s\n%s", out, got, want)
		}
		if len(e.Events) < eventsMax && fmt.Sprint(all) != fmt.Sprint(e.Events) {
			t.Fatalf("%v\n%v", all, e.Events)
		}
	})
}

// TestSameRow: a row that is the same looks the same, whatever was done between; and what nobody
// touched is the same.
func TestSameRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		term := New(6, 12, Options{})
		term.Feed([]byte(session(t, "first", 40)))
		before := term.Snapshot()
		term.Feed([]byte(session(t, "second", 20)))
		after := term.Snapshot()
		for y := range 6 {
			if !after.SameRow(y, before) {
				continue
			}
			for x := range 12 {
				if a, b := after.Cell(y, x), before.Cell(y, x); a != b {
					t.Fatalf("row %d, column %d: %+v was %+v", y, x, a, b)
				}
			}
		}
	})
	term := New(3, 10, Options{})
	term.Feed([]byte("one\r\ntwo\r\nthree"))
	before := term.Snapshot()
	term.Feed([]byte("\x1b[2;1HTWO"))
	after := term.Snapshot()
	masked := after.Mask(func(line string) []Mask { return []Mask{{Start: 0, End: len(line), Text: "x"}} })
	for y, want := range []bool{true, false, true} {
		if got := after.SameRow(y, before); got != want {
			t.Errorf("row %d: same %v", y, got)
		}
		if masked.SameRow(y, after) {
			t.Errorf("row %d: the same when masked", y)
		}
	}
	if after.SameRow(3, before) || after.SameRow(-1, before) {
		t.Error("a row that is none")
	}
}

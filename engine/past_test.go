package engine_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
)

// was is what a view of the past tells as the live one did.
type was struct {
	Seen    seen
	Changed time.Time
	Since   []string // TextSince of some earlier sequences
}

// wasIn leaves out what depends on when a view is taken, and the transcript, of which less may be
// kept.
func wasIn(v *engine.View) was {
	w := was{Seen: seenIn(v), Changed: v.Changed}
	w.Seen.Still, w.Seen.Transcript = 0, ""
	for _, seq := range []uint64{0, v.Sequence / 2, max(v.Sequence, 1) - 1, max(v.Sequence, 4) - 4} {
		text, fresh := v.Screen.TextSince(seq)
		w.Since = append(w.Since, fmt.Sprint(text, fresh))
	}
	return w
}

// TestAtIsWhatWas: whatever a program writes, however it is cut, and whatever is done to its
// session, each sequence that is kept is shown as it was, both by At and by Past.
func TestAtIsWhatWas(t *testing.T) {
	type step struct {
		after      time.Duration
		text       string
		rows, cols int
		do         engine.Action
		clear      bool
	}
	odd := []string{"\xe6\x97", "\xa5", "\xf0\x9f", "\x1b", "[", "\x1b]2;half", "\x1b[31mred", "\x1bM", "\x1b[3;5r",
		"\x1b[K", "\x1b[1;1H", "\x1b[?1049h\x1b[2Jalt", "\x1b]133;A\a$ \x1b]133;B\amake\r\n\x1b]133;C\a", "\x1b[3J", "\x1bc",
		"\x1b[?2031h", "日本", strings.Repeat("line\r\n", 30), strings.Repeat("x", 200), "\x1b]133;D\a\x1b]133;C\a"}
	rapid.Check(t, func(r *rapid.T) {
		chars := rapid.SampledFrom([]int{60, 400, 3000, 0}).Draw(r, "transcript")
		history := rapid.SampledFrom([]int{0, 0, 20_000}).Draw(r, "history")
		if chars > 0 && history == 0 {
			history = 1 << 20
		}
		steps := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) step {
			s := step{after: time.Duration(rapid.IntRange(1, 200).Draw(r, "ms"))*time.Millisecond + time.Microsecond}
			switch rapid.IntRange(0, 15).Draw(r, "sort") {
			case 0, 1:
				s.rows, s.cols = rapid.IntRange(1, 12).Draw(r, "rows"), rapid.IntRange(1, 40).Draw(r, "cols")
				return s
			case 2:
				s.do = engine.Theme(vt.Theme(rapid.IntRange(0, 1).Draw(r, "theme")))
				return s
			case 3:
				s.clear = true
				return s
			case 4:
				s.after = 2 * time.Hour
			}
			for range rapid.IntRange(1, 4).Draw(r, "pieces") {
				s.text += rapid.SampledFrom(append(odd, pieces...)).Draw(r, "piece")
			}
			s.text = s.text[:rapid.IntRange(1, len(s.text)).Draw(r, "cut")]
			return s
		}), 1, 40).Draw(r, "steps")
		end := rapid.Bool().Draw(r, "end")
		fault := ""
		synctest.Test(t, func(t *testing.T) {
			p := enginetest.New()
			e := enginetest.Engine(p)
			defer e.Close(context.Background())
			s, err := e.Spawn(t.Context(), engine.Config{Program: "fake", Size: pty.Size{Rows: 6, Cols: 30},
				TranscriptChars: chars, HistoryBytes: history})
			if err != nil {
				t.Fatal(err)
			}
			noted, texts, times := map[uint64]was{}, map[uint64]string{}, map[uint64]time.Time{}
			note := func() {
				v := s.View()
				noted[v.Sequence], texts[v.Sequence] = wasIn(v), v.Transcript.String()
			}
			note()
			for _, x := range steps {
				for begun := time.Now(); ; {
					time.Sleep(min(10*time.Millisecond, x.after-time.Since(begun))) // of the bubble
					if synctest.Wait(); time.Since(begun) >= min(x.after, 200*time.Millisecond) {
						time.Sleep(x.after - time.Since(begun))
						break
					}
					note() // a synchronized update may have ended by itself
				}
				switch {
				case x.rows > 0:
					err = s.Resize(pty.Size{Rows: uint16(x.rows), Cols: uint16(x.cols)})
				case x.do != nil:
					_, err = s.Do(t.Context(), x.do)
				case x.clear:
					err = s.Clear()
				default:
					p.Print(x.text)
				}
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				note()
				times[s.Sequence()] = time.Now()
			}
			if end {
				p.End(3)
				synctest.Wait()
				note()
			}
			kept, newest := s.Kept(), s.Sequence()
			past := map[uint64]*engine.View{}
			last := kept - min(kept, 1)
			for v := range s.Past(0, newest) {
				if v.Moment {
					if v.Sequence != last+1 {
						fault = fmt.Sprintf("a moment of %d after %d", v.Sequence, last)
						return
					}
					continue
				}
				if v.Sequence < kept || v.Sequence != last+1 && last > 0 {
					fault = fmt.Sprintf("Past gave %d after %d, kept from %d", v.Sequence, last, kept)
					return
				}
				last = v.Sequence
				past[v.Sequence] = v
			}
			if last != newest {
				fault = fmt.Sprintf("Past ended at %d of %d", last, newest)
				return
			}
			for seq, want := range noted {
				v, err := s.At(seq)
				if seq < kept {
					var gone *engine.PastError
					if !errors.As(err, &gone) || gone.Kept != kept {
						fault = fmt.Sprintf("At(%d), kept from %d: %v", seq, kept, err)
						return
					}
					continue
				}
				if err != nil {
					fault = err.Error()
					return
				}
				for _, v := range []*engine.View{v, past[seq]} {
					if v == nil && seq == 0 {
						continue
					}
					if fault = cmp.Diff(want, wasIn(v)); fault != "" {
						fault = fmt.Sprintf("sequence %d of %d, kept from %d: %s", seq, newest, kept, fault)
						return
					}
					if seq < newest && !strings.HasSuffix(texts[seq], v.Transcript.String()) {
						fault = fmt.Sprintf("sequence %d: transcript %q, was %q", seq, v.Transcript, texts[seq])
						return
					}
					if at, ok := times[seq]; ok && !v.At.Equal(at) {
						fault = fmt.Sprintf("sequence %d: at %v, was made at %v", seq, v.At, at)
						return
					}
				}
			}
		})
		if fault != "" { // outside of the bubble, which has to end
			r.Fatalf("%d: %+v: %s", chars, steps, fault)
		}
	})
}

// TestThePastIsNotInvented: a sequence to come, one that is gone, and a session that keeps nothing.
func TestThePastIsNotInvented(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, q := enginetest.New(), enginetest.New()
		e := enginetest.Engine(p, q)
		defer e.Close(context.Background())
		s, err := e.Spawn(t.Context(), engine.Config{Program: "fake", TranscriptChars: 1000})
		if err != nil {
			t.Fatal(err)
		}
		none, err := e.Spawn(t.Context(), engine.Config{Program: "fake", HistoryBytes: -1})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			p.Print(fmt.Sprintf("%040d\r\n", i))
			q.Print("x")
			synctest.Wait()
			time.Sleep(time.Millisecond) // of the bubble
		}
		for _, c := range []struct {
			s    *engine.Session
			seq  uint64
			want string
		}{
			{s, 101, "sequence 101 is still to come: the newest is 100"},
			{s, 1, fmt.Sprintf("the screen at sequence 1 has been dropped: the oldest kept is %d", s.Kept())},
			{none, 99, "the screen at sequence 99 has been dropped: the oldest kept is 100"},
		} {
			if _, err := c.s.At(c.seq); err == nil || err.Error() != c.want {
				t.Errorf("At(%d): %v, want %s", c.seq, err, c.want)
			}
		}
		if kept := s.Kept(); kept < 50 || kept > 90 {
			t.Errorf("1,000 characters are kept, and the past from %d of 100", kept)
		}
		for _, seq := range []uint64{s.Kept(), 95, 100} {
			if v, err := s.At(seq); err != nil || !strings.Contains(v.Screen.Text(), fmt.Sprintf("%040d", seq-1)) {
				t.Errorf("At(%d): %v", seq, err)
			}
		}
		if got := slices.Collect(none.Past(0, 100)); len(got) != 1 || got[0].Sequence != 100 {
			t.Errorf("%d views of a session that keeps nothing", len(got))
		}
	})
}

// TestAfterAFloodThePastIsWhole: of a flood little may be kept, and everything that comes after it.
func TestAfterAFloodThePastIsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		e := enginetest.Engine(p)
		defer e.Close(context.Background())
		s, err := e.Spawn(t.Context(), engine.Config{Program: "fake"})
		if err != nil {
			t.Fatal(err)
		}
		for range 100 { // at once, in the bubble's time
			p.Print(strings.Repeat("a flood of lines\r\n", 1000))
			synctest.Wait()
		}
		flood := s.Sequence()
		for range 2 {
			time.Sleep(2 * time.Millisecond)
			p.Print("\x1b[Hflicker\x1b[2J")
			synctest.Wait()
		}
		if kept := s.Kept(); kept > flood {
			t.Errorf("the past is kept from %d; the flood ended at %d", kept, flood)
		}
		seen := 0
		for v := range s.Past(flood, s.Sequence()) {
			if v.Moment && strings.Contains(v.Screen.Text(), "flicker") {
				seen++
			}
		}
		if seen != 2 {
			t.Errorf("of 2 flickers after the flood %d were seen", seen)
		}
	})
}

// TestHistoryBytesHold: whatever a program does, and whatever is done to its session, its past takes
// no more than its bound, after every step, and is used.
func TestHistoryBytesHold(t *testing.T) {
	clipboard := func(i int) string {
		text := strings.Repeat(string(rune('a'+i%26)), 50_000)
		return "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\a"
	}
	for _, c := range []struct {
		name  string
		steps int
		print func(i int) string
		size  func(i int) pty.Size // nil: none
		least int                  // of the bound is used at the end, percent
	}{
		{"single bytes", 9_000, func(i int) string { return "x" }, nil, 10},
		{"lines", 2_000, func(i int) string { return strings.Repeat(fmt.Sprint("line ", i, "\r\n"), 100) }, nil, 10},
		{"clipboards", 200, func(i int) string { return clipboard(i) + strings.Repeat("x", 1000) }, nil, 10},
		{"statuses", 2_000, func(i int) string {
			text := fmt.Sprint(i, strings.Repeat("m", 2000))
			return "\x1b]7501;state=working:msg=" + base64.StdEncoding.EncodeToString([]byte(text)) + "\x1b\\"
		}, nil, 3},
		{"commands", 2_000, func(i int) string {
			return fmt.Sprintf("\x1b]633;A\a$ \x1b]633;B\a\x1b]633;E;%d%s\a\x1b]633;C\aout\r\n", i, strings.Repeat("c", 2000))
		}, nil, 10},
		{"titles", 5_000, func(i int) string { return fmt.Sprintf("\x1b]2;%d\a", i) }, nil, 1},
		{"sizes", 500, func(i int) string { return "text" }, func(i int) pty.Size {
			return pty.Size{Rows: uint16(1 + i%50), Cols: uint16(2 + i*7%200)}
		}, 10},
		{"a large screen", 300, func(i int) string { return strings.Repeat(fmt.Sprint(i, "\x1b[3mword\x1b[m "), 2000) },
			func(i int) pty.Size { return pty.Size{Rows: uint16(300), Cols: uint16(300 + i/100)} }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := enginetest.New()
				e := enginetest.Engine(p)
				defer e.Close(context.Background())
				s, err := e.Spawn(t.Context(), engine.Config{Program: "fake", ProgramStatus: true})
				if err != nil {
					t.Fatal(err)
				}
				most := s.HistoryBytes()
				for i := range c.steps {
					time.Sleep(5 * time.Millisecond)
					if c.size != nil {
						if err := s.Resize(c.size(i)); err != nil {
							t.Fatal(err)
						}
					}
					p.Print(c.print(i))
					synctest.Wait()
					if n := s.PastBytes(); n > most {
						t.Fatalf("after %d steps the past takes %d bytes of %d", i+1, n, most)
					}
				}
				if n := s.PastBytes(); n < most*c.least/100 {
					t.Errorf("%d of %d bytes are used", n, most)
				}
			})
		})
	}
}

// TestPastsOfBusySessions: those of 64 sessions take no more than their bounds, by what the heap has
// more than with sessions that keep none.
func TestPastsOfBusySessions(t *testing.T) {
	const sessions = 64
	batches := redraw(400 << 10)
	alloc := func() int {
		runtime.GC()
		runtime.GC() // what pools hold is free after the second
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	heap := func(history int) (bytes, most int) {
		before := alloc()
		ptys := make([]*enginetest.PTY, sessions)
		for i := range ptys {
			ptys[i] = enginetest.New()
		}
		e := enginetest.Engine(ptys...)
		defer e.Close(context.Background())
		all := make([]*engine.Session, sessions)
		for i := range all {
			s, err := e.Spawn(t.Context(), engine.Config{Program: "fake", HistoryBytes: history,
				Size: pty.Size{Rows: 40, Cols: 120}})
			if err != nil {
				t.Fatal(err)
			}
			for k, batch := range batches {
				s.Feed([]byte(batch), time.Now().Add(time.Duration(k)*time.Millisecond))
			}
			if all[i] = s; history == 0 {
				most += s.HistoryBytes()
			}
		}
		bytes = alloc() - before
		runtime.KeepAlive(all)
		return bytes, most
	}
	heap(-1) // what is made once
	without, _ := heap(-1)
	with, most := heap(0)
	t.Logf("%d KiB of %d", (with-without)>>10, most>>10)
	if with-without > most || with < without {
		t.Errorf("%d sessions take %d bytes for their pasts, of %d", sessions, with-without, most)
	}
}

// TestThePastHasMoments: what a program has drawn and wiped with one write is a view of the past,
// also when that write is the newest.
func TestThePastHasMoments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		e := enginetest.Engine(p)
		defer e.Close(context.Background())
		s, err := e.Spawn(t.Context(), engine.Config{Program: "fake"})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			p.Print(fmt.Sprintf("\x1b[Hflicker %d\x1b[2J", i))
			synctest.Wait()
			seen := 0
			for v := range s.Past(uint64(i), uint64(i)+1) {
				if v.Moment && v.Sequence == uint64(i)+1 && strings.Contains(v.Screen.Text(), fmt.Sprint("flicker ", i)) {
					seen++
				}
			}
			if seen != 1 {
				t.Errorf("flicker %d was seen %d times", i, seen)
			}
		}
		seen := 0
		for v := range s.Past(0, 100) {
			if v.Moment && strings.Contains(v.Screen.Text(), "flicker") {
				seen++
			}
		}
		if seen != 100 {
			t.Errorf("of 100 flickers %d were seen", seen)
		}
	})
}

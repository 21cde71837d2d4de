package engine_test

import (
	"context"
	"errors"
	"fmt"
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
			{s, 1, fmt.Sprintf("the screen at sequence 1 is no longer kept: the oldest kept is %d", s.Kept())},
			{none, 99, "the screen at sequence 99 is no longer kept: the oldest kept is 100"},
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

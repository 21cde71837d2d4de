package engine_test

import (
	"context"
	"fmt"
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

// seen is what a view tells that a plugin can ask.
type seen struct {
	Text, Transcript, Title string
	Sequence, Bell          uint64
	Still                   time.Duration
	Cursor                  [2]int
	Shell                   engine.Shell
	Status                  engine.ProgramStatus
	Block                   engine.Block
	Code                    int
	Ended                   bool
}

func seenIn(v *engine.View) seen {
	s := seen{
		Text: v.Screen.Text(), Transcript: v.Transcript.String(), Title: v.Screen.Title, Sequence: v.Sequence, Bell: v.Bell,
		Still: v.StableFor(), Cursor: [2]int{v.Screen.Cursor.Row, v.Screen.Cursor.Col}, Ended: v.Ended, Code: -1,
	}
	if v.Reports.Shell != nil {
		s.Shell = *v.Reports.Shell
	}
	if v.Reports.Status != nil {
		s.Status = *v.Reports.Status
	}
	if v.Block != nil {
		s.Block = *v.Block
	}
	if v.Exit != nil {
		s.Code = v.Exit.Code
	}
	return s
}

// pieces are what programs write that a view tells of in more than one place.
var pieces = []string{
	"text ", "a longer line of text\r\n", "\x1b[2J\x1b[H", "\x1b]2;title\x07", "\a", "é", "\xff",
	"\x1b]133;A\x07$ \x1b]133;B\x07", "ls\r\n\x1b]133;C\x07", "out\r\n\x1b]133;D;3\x07", "\x1b]633;E;make\x07", "\x1b]7;file://h/tmp\x07",
	"\x1b]7501;state=busy\x07", "\x1b[?2026h", "\x1b[?2026l", "\x1b[?1049h", "\x1b[?1049l",
}

// TestAStageShowsWhatASessionShowed: whatever a program writes and however long it waits, a stage
// that is shown the same at the same times gives the same views.
func TestAStageShowsWhatASessionShowed(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		type step struct {
			after      time.Duration
			text       string
			rows, cols int
		}
		steps := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) step {
			// The microsecond keeps steps off the end of a frame's time: which of two things that
			// happen at once comes first, nobody says.
			s := step{after: time.Duration(rapid.IntRange(1, 200).Draw(r, "ms"))*time.Millisecond + time.Microsecond}
			if rapid.IntRange(0, 9).Draw(r, "sort") == 0 {
				s.rows, s.cols = rapid.IntRange(1, 12).Draw(r, "rows"), rapid.IntRange(1, 40).Draw(r, "cols")
				return s
			}
			for range rapid.IntRange(1, 3).Draw(r, "pieces") {
				s.text += rapid.SampledFrom(pieces).Draw(r, "piece")
			}
			return s
		}), 1, 20).Draw(r, "steps")
		fault := ""
		synctest.Test(t, func(t *testing.T) {
			p := enginetest.New()
			e := enginetest.Engine(p)
			defer e.Close(context.Background())
			s, err := e.Spawn(t.Context(), engine.Config{Program: "fake", Size: pty.Size{Rows: 6, Cols: 30}})
			if err != nil {
				t.Fatal(err)
			}
			g := engine.NewStage(6, 30, time.Now())
			for i, x := range steps {
				time.Sleep(x.after) // of the bubble
				if x.rows > 0 {
					if err := s.Resize(pty.Size{Rows: uint16(x.rows), Cols: uint16(x.cols)}); err != nil {
						t.Fatal(err)
					}
					g.Resize(time.Now(), x.rows, x.cols)
				} else {
					p.Print(x.text)
					g.Output(time.Now(), []byte(x.text))
				}
				synctest.Wait()
				if fault = cmp.Diff(seenIn(s.View()), seenIn(g.View(time.Now()))); fault != "" {
					fault = fmt.Sprintf("step %d: %s", i, fault)
					return
				}
			}
			p.End(3)
			synctest.Wait()
			g.Exit(time.Now(), 3)
			fault = cmp.Diff(seenIn(s.View()), seenIn(g.View(time.Now())))
		})
		if fault != "" { // outside of the bubble, which has to end
			r.Fatalf("%#v: %s", steps, fault)
		}
	})
}

// TestATranscriptShowsWhatTheBytesShowed: a terminal that is fed a transcript shows what the
// session did, its title and links too, invalid UTF-8 included, and however it was cut.
func TestATranscriptShowsWhatTheBytesShowed(t *testing.T) {
	parts := []string{"\x1b]2;a\xffb\a", "\x1b]8;;\xe6\x97\ax", "\x1b]2;", "\x1b]8;;", "\x1b]7;", "\x1bk", "\a", "\x1b\\", "a", "é", "\xff", "\xe6\x97", "\xf0\x9f\x98", "\xed\xa0\x80"}
	rapid.Check(t, func(r *rapid.T) {
		g := engine.NewStage(6, 30, time.Unix(0, 0))
		var out []byte
		for range rapid.IntRange(1, 20).Draw(r, "pieces") {
			out = append(out, rapid.SampledFrom(append(parts, pieces...)).Draw(r, "piece")...)
		}
		out = append(out, 0x18) // a character under way ends
		for p := out; len(p) > 0; {
			n := rapid.IntRange(1, len(p)).Draw(r, "cut")
			g.Output(time.Unix(0, 0), p[:n])
			p = p[n:]
		}
		v := g.View(time.Unix(0, 0))
		term := vt.New(6, 30, vt.Options{})
		term.Feed(v.Transcript.Bytes())
		s := term.Snapshot()
		if s.Text() != v.Screen.Text() || s.Title != v.Screen.Title || s.Cursor != v.Screen.Cursor {
			r.Fatalf("%q: %q with the title %q, want %q with %q", out, s.Text(), s.Title, v.Screen.Text(), v.Screen.Title)
		}
		for y := range s.Rows {
			for x := range s.Cols {
				if a, b := s.Cell(y, x), v.Screen.Cell(y, x); a != b {
					r.Fatalf("%q: cell %d,%d is %+v, want %+v", out, y, x, a, b)
				}
			}
		}
	})
}

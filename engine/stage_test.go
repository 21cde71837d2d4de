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

package record

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
)

// A gatedTap notes what it is shown once it may.
type gatedTap struct {
	gate   chan struct{}
	seen   bytes.Buffer
	fail   error
	closed int
}

func (t *gatedTap) note(format string, a ...any) error {
	<-t.gate
	fmt.Fprintf(&t.seen, format, a...)
	return t.fail
}

func (t *gatedTap) Output(_ time.Time, p []byte) error       { return t.note("o%s ", p) }
func (t *gatedTap) Input(_ time.Time, p []byte) error        { return t.note("i%s ", p) }
func (t *gatedTap) Resize(_ time.Time, rows, cols int) error { return t.note("r%dx%d ", rows, cols) }
func (t *gatedTap) Exit(_ time.Time, code int) error         { return t.note("x%d ", code) }
func (t *gatedTap) Close() error                             { t.closed++; return nil }

func TestBehindKeepsTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tap := &gatedTap{gate: make(chan struct{})}
		b := NewBehind(tap)
		now := time.Now()
		text := []byte("one")
		for _, err := range []error{b.Output(now, text), b.Input(now, []byte("two")), b.Resize(now, 3, 4), b.Output(now, nil), b.Exit(now, 5)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		copy(text, "XXX") // the session's own, and valid no longer
		close(tap.gate)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if got, want := tap.seen.String(), "oone itwo r3x4 o x5 "; got != want || tap.closed != 1 {
			t.Errorf("it was shown %q and closed %d times, want %q and once", got, tap.closed, want)
		}
	})
}

// A markedTap is also told of marks.
type markedTap struct{ gatedTap }

func (t *markedTap) Marked(_ time.Time, p []byte, marks []engine.Mark) error {
	return t.note("m%s%v ", p, marks)
}

// TestBehindHandsMarksOn to who knows them, with the output that they were shown with.
func TestBehindHandsMarksOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		knows := &markedTap{gatedTap{gate: make(chan struct{})}}
		other := &gatedTap{gate: knows.gate}
		marks := []engine.Mark{{End: 2, Kind: 'C', Command: "ls"}}
		for _, tap := range []engine.Tap{knows, other} {
			b := NewBehind(tap)
			must(t, b.Marked(time.Now(), []byte("one"), marks))
			must(t, b.Marked(time.Now(), []byte("two"), nil))
			defer func() { must(t, b.Close()) }()
		}
		marks[0].Command = "XX" // the session's own, and valid no longer
		close(knows.gate)
		synctest.Wait()
		if got, want := knows.seen.String(), "mone[{2 67 0 ls false 0 false 0}] mtwo[] "; got != want {
			t.Errorf("it was shown %q, want %q", got, want)
		}
		if got := other.seen.String(); got != "oone otwo " {
			t.Errorf("one that knows no marks was shown %q", got)
		}
	})
}

// TestBehindIsBounded: one batch is on its way and behindBytes wait; then so does the session.
func TestBehindIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tap := &gatedTap{gate: make(chan struct{})}
		b := NewBehind(tap)
		piece := make([]byte, 64<<10)
		taken := 0
		full := make(chan struct{})
		go func() {
			defer close(full)
			for range 4 * behindBytes / len(piece) {
				if err := b.Output(time.Now(), piece); err != nil {
					t.Error(err)
				}
				taken += len(piece)
			}
		}()
		synctest.Wait()
		if taken > 2*behindBytes || taken < behindBytes {
			t.Errorf("%d bytes were taken ahead, want %d to %d", taken, behindBytes, 2*behindBytes)
		}
		close(tap.gate)
		<-full
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if tap.seen.Len() < 4*behindBytes {
			t.Errorf("%d bytes were shown of %d", tap.seen.Len(), 4*behindBytes)
		}
		big := NewBehind(tap) // more than the bound at once is taken when nothing else waits
		if err := big.Output(time.Now(), make([]byte, 2*behindBytes)); err != nil {
			t.Error(err)
		}
		big.Close()
	})
}

// TestBehindTellsItsErrorOnce: with what comes next, or at the end, and who waits for room is let
// go.
func TestBehindTellsItsErrorOnce(t *testing.T) {
	broken := errors.New("broken")
	for _, late := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			tap := &gatedTap{gate: make(chan struct{}), fail: broken}
			b := NewBehind(tap)
			if err := b.Output(time.Now(), make([]byte, behindBytes)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if err := b.Output(time.Now(), make([]byte, behindBytes)); err != nil {
				t.Fatal(err)
			}
			told := make(chan error, 1)
			if !late {
				go func() { told <- b.Output(time.Now(), []byte("more")) }()
			}
			synctest.Wait()
			close(tap.gate)
			if !late {
				if err := <-told; err != broken {
					t.Errorf("the next is told %v", err)
				}
			}
			if err := b.Close(); (err == broken) != late || tap.closed != 1 {
				t.Errorf("the end is told %v (late: %v), closed %d times", err, late, tap.closed)
			}
		})
	}
}

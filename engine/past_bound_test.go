package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
)

// TestKeyframesFollowTheWork: where little output takes long to parse, there are as many keyframes
// as it takes milliseconds, so that a view of the past does not take longer. Each of these batches
// moves 16 MB.
func TestKeyframesFollowTheWork(t *testing.T) {
	p := enginetest.New()
	e := enginetest.Engine(p)
	defer e.Close(context.Background())
	s, err := e.Spawn(t.Context(), engine.Config{Program: "fake", HistoryBytes: 1 << 20,
		Size: pty.Size{Rows: 1000, Cols: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	s.Feed([]byte("\x1b#8\x1b[H"), now) // full of E
	before := s.Keyframes()
	for range 3 {
		s.Feed([]byte("\x1b['~"), now) // a column goes
	}
	s.Feed([]byte("x"), now)
	if n := s.Keyframes() - before; n < 3 {
		t.Errorf("%d keyframes after three dear batches, want one after each", n)
	}
	for seq := range s.Sequence() {
		if v, err := s.At(seq); err != nil || v.Sequence != seq {
			t.Errorf("sequence %d: %v", seq, err)
		}
	}
}

package vt

import (
	"bytes"
	"math/rand"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func forked(t *Terminal) (*Terminal, error) { return t.Fork(), nil }

// checkFork forks a terminal, lets either go on alone, and says what the other has noticed.
func checkFork(data []byte, cut int, seed int64, rows, cols int) string {
	if s := checkGoesOn(data, cut, seed, rows, cols, forked); s != "" {
		return s
	}
	rnd := rand.New(rand.NewSource(seed))
	alone := func(t *Terminal, p []byte) {
		for len(p) > 0 {
			var s step
			s, p = nextStep(rnd, p, 1+len(data)/2)
			s.do(t)
			if rnd.Intn(4) == 0 {
				t.Snapshot()
			}
		}
	}
	a := New(rows, cols, Options{Scrollback: 50})
	alone(a, data[:cut])
	before, text := a.AppendState(nil), show(a.Snapshot())
	b, c := a.Fork(), a.Fork()
	alone(b, data[cut:])
	if !bytes.Equal(a.AppendState(nil), before) || show(a.Snapshot()) != text {
		return "what is done to the fork is seen"
	}
	alone(a, data[cut:])
	if !bytes.Equal(c.AppendState(nil), before) || show(c.Snapshot()) != text {
		return "the fork sees what is done afterwards"
	}
	for _, t := range []*Terminal{a, b, c} {
		if s := verify(t); s != "" {
			return s
		}
	}
	return ""
}

// FuzzFork: a terminal and its fork go on alike, and neither sees what is done to the other.
func FuzzFork(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte, seed uint16, rows, cols uint8) {
		if len(data) > 4096 {
			return
		}
		cut := int(seed) % (len(data) + 1)
		if s := checkFork(data, cut, int64(seed), int(rows%60), int(cols%200)); s != "" {
			t.Errorf("cut at %d: %s", cut, s)
		}
	})
}

// TestForkOfAnything: the same for random sessions.
func TestForkOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 9).Draw(t, "rows"), rapid.IntRange(1, 20).Draw(t, "cols")
		out := session(t, "output", 60)
		cut := rapid.IntRange(0, len(out)).Draw(t, "cut")
		if s := checkFork([]byte(out), cut, rapid.Int64().Draw(t, "seed"), rows, cols); s != "" {
			t.Fatalf("%q cut at %d: %s", out, cut, s)
		}
	})
}

// TestForkElsewhere: a fork may go on in another goroutine, in the middle of an update too. The race
// detector watches.
func TestForkElsewhere(t *testing.T) {
	for name, data := range seeds {
		for _, head := range []string{"", "\x1b[?2026h"} {
			a := New(6, 20, Options{Scrollback: 50})
			a.Feed([]byte(data + head + data))
			a.Snapshot()
			b := a.Fork()
			var both sync.WaitGroup
			for _, term := range []*Terminal{a, b} {
				both.Go(func() {
					for range 3 {
						term.Feed([]byte(data + "\r\n\x1b[2J\x1b[41m\x1b[K\x1b[1;1He\u0301\r\n"))
						_ = show(term.Snapshot()) + term.Snapshot().History().all()
						term.AppendState(nil)
					}
					term.Resize(4, 9, 0, 0)
				})
			}
			both.Wait()
			if d := sameTerminal(a, b); d != "" {
				t.Errorf("%s: %s", name, d)
			}
		}
	}
}

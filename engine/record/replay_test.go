package record

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine/enginetest"
)

// busy is a recording of a program that draws, scrolls, changes its size and hides frames: an event
// each millisecond.
func busy(t testing.TB, events int) *Recording {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"version":2,"width":80,"height":24}` + "\n")
	for i := range events {
		kind, text := "o", ""
		switch {
		case i%997 == 500:
			kind, text = "r", fmt.Sprintf("%dx%d", 60+i%40, 10+i%30)
		case i%211 == 7:
			text = `\u001b[?1049h\u001b[2Jother screen`
		case i%211 == 20:
			text = `\u001b[?1049l`
		case i%101 == 3: // it does not end in time
			text = `\u001b[?2026h\u001b[Hhidden`
		case i%13 == 5:
			text = fmt.Sprintf(`\u001b[H\u001b[3%dmdrawn %d\u001b[m\u001b[20;1H`, i%8, i)
		default:
			text = strings.Repeat(fmt.Sprintf(`line %d of many\r\n`, i), 1+i%20)
		}
		fmt.Fprintf(&b, "[%.3f,%q,\"%s\"]\n", float64(i)/1000, kind, text)
	}
	rec, err := Load(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// TestSeekIsReplay: wherever a replay goes, back and forth, it shows what one shows that has come
// there from the beginning, scrollback included.
func TestSeekIsReplay(t *testing.T) {
	const events = 3_000
	rec := busy(t, events)
	for _, c := range []struct{ every, most, least, copies int }{
		{keyframeEvery, keyframeBytes, 1, 4},
		{16 << 10, 2 << 20, 2, 20}, // copies are given up
	} {
		p := NewReplay(rec)
		p.every, p.most = c.every, c.most
		r := rand.New(rand.NewPCG(1, 2))
		for range 25 {
			at := time.Duration(r.IntN(events*1000)) * time.Microsecond
			p.Seek(at)
			if r.IntN(3) == 0 { // looking changes nothing
				p.Screen()
			}
			fresh := newReplay(rec)
			fresh.Seek(at)
			got, want := p.Screen(), fresh.Screen()
			if d := enginetest.DiffCells(got, want); d != "" || p.At() != at {
				t.Fatalf("at %v: %v\n%s", at, p.At(), d)
			}
			a, b := got.History(), want.History()
			if a.Len() != b.Len() || a.Len() > 0 && a.Line(a.Len()/2) != b.Line(b.Len()/2) || got.Sequence != want.Sequence {
				t.Fatalf("at %v: sequence %d with %d lines, want %d with %d", at, got.Sequence, a.Len(),
					want.Sequence, b.Len())
			}
		}
		if n := len(p.copies); n < c.least || n > c.copies || p.total() > c.most {
			t.Errorf("%d copies that take %d bytes", n, p.total())
		}
		for _, back := range p.copies { // none was changed by who came back to it
			fresh := newReplay(rec)
			fresh.Seek(back.now)
			if fresh.next != back.next {
				t.Fatalf("a copy before event %d is at %v", back.next, back.now)
			}
			if d := enginetest.DiffCells(back.stage.Fork().View(began.Add(back.now)).Screen, fresh.Screen()); d != "" {
				t.Errorf("the copy at %v: %s", back.now, d)
			}
		}
	}
}

// TestSeekEndsWithItsContext: and can be continued.
func TestSeekEndsWithItsContext(t *testing.T) {
	rec := busy(t, 3_000)
	p := NewReplay(rec)
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	cancel(gone)
	if err := p.SeekContext(ctx, time.Hour); err != gone || p.next != 0 {
		t.Errorf("%v, at event %d", err, p.next)
	}
	if err := p.SeekContext(t.Context(), time.Hour); err != nil || p.next != rec.Len() {
		t.Errorf("%v, at event %d", err, p.next)
	}
}

// BenchmarkSeek goes to random times of a recording of some 12 MB, beside going there from its
// beginning.
func BenchmarkSeek(b *testing.B) {
	const events = 60_000
	rec := busy(b, events)
	for _, c := range []struct {
		name string
		make func(*Recording) *Replay
	}{{"copies", NewReplay}, {"bare", newReplay}} {
		b.Run(c.name, func(b *testing.B) {
			p, r := c.make(rec), rand.New(rand.NewPCG(1, 2))
			p.Seek(events * time.Millisecond)
			for b.Loop() {
				p.Seek(time.Duration(r.IntN(events)) * time.Millisecond)
			}
		})
	}
}

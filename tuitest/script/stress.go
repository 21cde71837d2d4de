package script

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/tuitest/internal/driver"
)

// Stress disturbs a run as a busy machine does, and more: output comes in odd pieces with pauses
// between them, and where the script allows it the terminal's size changes and comes back. The same
// seed disturbs alike, as far as the program's own timing is the same.
type Stress struct {
	Seed uint64

	mu     sync.Mutex // the pump of a session and the player draw from random
	random *rand.Rand
}

// draw returns a number below n.
func (s *Stress) draw(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.random == nil {
		s.random = rand.New(rand.NewPCG(s.Seed, 0))
	}
	return s.random.IntN(n)
}

// start returns a function that starts programs behind a terminal that is disturbed; nil without
// stress: the engine's own.
func (s *Stress) start(watch engine.Watcher) func(pty.Command) (engine.PTY, error) {
	if s == nil {
		return nil
	}
	return func(c pty.Command) (engine.PTY, error) {
		p, err := pty.Start(c)
		if err != nil {
			return nil, err
		}
		if watch != nil {
			watch.Add(p)
		}
		return &shaken{PTY: p, stress: s, watch: watch}, nil
	}
}

const (
	// mostPiece bounds a piece of output under stress, in bytes: most lines, and all escape
	// sequences of note, are cut somewhere.
	mostPiece = 47
	// mostPause bounds the pause before a piece, one of pauseEvery.
	mostPause  = 3 * time.Millisecond
	pauseEvery = 4
	// mostCut bounds how much of one read is cut up: a flood would take forever.
	mostCut = 4 << 10
)

// A shaken terminal hands out its output in odd pieces. All but Next, SetReadDeadline and Close is
// that of the terminal.
type shaken struct {
	*pty.PTY
	stress *Stress
	watch  engine.Watcher

	rest []byte // of the last read; the pump's own
	cut  int    // bytes of it that are still to be cut up

	mu     sync.Mutex
	hurry  bool // the program has ended: what it wrote is to come at once
	closed bool
}

// Next returns the next piece.
func (p *shaken) Next() ([]byte, error) {
	if len(p.rest) == 0 {
		read, err := p.PTY.Next()
		if len(read) == 0 || err != nil {
			return read, err
		}
		p.rest, p.cut = read, min(len(read), mostCut)
	}
	p.mu.Lock()
	hurry := p.hurry
	p.mu.Unlock()
	n := len(p.rest)
	if p.cut > 0 && !hurry {
		n = min(n, 1+p.stress.draw(mostPiece))
		p.cut -= n
		if p.stress.draw(pauseEvery) == 0 {
			time.Sleep(time.Duration(p.stress.draw(int(mostPause))))
		}
	}
	piece := p.rest[:n]
	p.rest = p.rest[n:]
	return piece, nil
}

// SetReadDeadline is called when the program has ended.
func (p *shaken) SetReadDeadline(t time.Time) error {
	p.mu.Lock()
	p.hurry = true
	p.mu.Unlock()
	return p.PTY.SetReadDeadline(t)
}

// Left reports whether processes of the program are left.
func (p *shaken) Left() bool {
	left, err := pty.Left([]*pty.PTY{p.PTY})
	return err != nil || left[0]
}

// Close releases the terminal.
func (p *shaken) Close() error {
	p.mu.Lock()
	first := !p.closed
	p.closed = true
	p.mu.Unlock()
	if first && p.watch != nil {
		p.watch.Remove(p.PTY)
	}
	return p.PTY.Close()
}

// resizeEvery is after how many inputs, on average, the terminal's size changes under stress.
const resizeEvery = 3

// resizes changes the terminal's size and changes it back, now and then, where the script allows it.
func (s *Stress) resizes(ctx context.Context, p *player) error {
	if s == nil || !p.shake || s.draw(resizeEvery) > 0 {
		return nil
	}
	now := p.drive.Session.View().Screen
	for _, size := range []Size{{max(now.Rows-1-s.draw(3), 2), max(now.Cols-1-s.draw(9), 10)}, {now.Rows, now.Cols}} {
		_, err := p.drive.Session.Do(ctx, engine.Resize(driver.SizeOf(size.Rows, size.Cols)))
		if err != nil {
			return nil // the program has ended: the next step tells
		}
		time.Sleep(time.Duration(s.draw(int(5 * time.Millisecond))))
	}
	p.drive.Resized(2)
	return nil
}

package pty

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"testing"
	"time"
)

// untilAhead reads until the terminal is read ahead, and returns what it has read.
func untilAhead(t *testing.T, p *PTY) (all []byte) {
	t.Helper()
	for p.ahead == nil {
		b, err := p.Next()
		if err != nil {
			t.Fatalf("after %d bytes: %v", len(all), err)
		}
		all = append(all, b...)
	}
	return all
}

// noneAhead checks that nothing reads ahead any more.
func noneAhead(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(hang); ahead.Load() != 0; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d still read ahead", ahead.Load())
		}
	}
}

// Who does not take has the program wait, with no more than the bound in memory, and loses nothing.
func TestReadAheadIsBounded(t *testing.T) {
	const size = 4 << 20
	p := start(t, self("flood", "7", "4194304"))
	all := untilAhead(t, p)
	noneAhead(t) // it ends when there is no room
	p.ahead.mu.Lock()
	if n := len(p.ahead.pending); !p.ahead.full || n > aheadSize || cap(p.ahead.pending) != aheadSize {
		t.Errorf("%d bytes in room for %d were read ahead, full %v; the bound is %d", n, cap(p.ahead.pending), p.ahead.full, aheadSize)
	}
	p.ahead.mu.Unlock()
	for {
		b, err := p.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	if !bytes.Equal(all, pattern(7, size)) {
		t.Errorf("%d bytes came, and not those that were written", len(all))
	}
	noneAhead(t)
}

// What was read ahead comes before a deadline that passes meanwhile, and a deadline ends the wait
// for more.
func TestReadAheadAndDeadlines(t *testing.T) {
	p := start(t, Command{Path: "sh", Args: []string{"-c", "stty -opost; head -c 1000000 /dev/zero | tr '\\0' x; exec sleep 1000"}, Env: os.Environ()})
	n := len(untilAhead(t, p))
	p.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	for {
		b, err := p.Next()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			p.SetReadDeadline(time.Now().Add(hang))
			if n == 1000000 {
				break
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		n += len(b)
	}
	p.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if _, err := p.Next(); !errors.Is(err, os.ErrDeadlineExceeded) || p.ahead != nil {
		t.Errorf("nothing is there: %v", err)
	}
	noneAhead(t)
}

func TestCloseEndsReadingAhead(t *testing.T) {
	p := start(t, Command{Path: "yes", Env: os.Environ()})
	untilAhead(t, p)
	p.Close()
	noneAhead(t) // also when nobody asks for more
	for {
		if _, err := p.Next(); err != nil {
			if err != os.ErrClosed {
				t.Error(err)
			}
			return
		}
	}
}

// There are never more than processors, and a terminal that is not read ahead is read all the same.
func TestAsManyReadAheadAsProcessors(t *testing.T) {
	var ps []*PTY
	for range runtime.GOMAXPROCS(0) + 2 {
		ps = append(ps, start(t, Command{Path: "yes", Env: os.Environ()}))
	}
	most := 0
	for range 300 {
		for _, p := range ps {
			b, err := p.Next()
			if err != nil || len(bytes.Trim(b, "y\r\n")) > 0 {
				t.Fatalf("%q, %v", b, err)
			}
			if n := int(ahead.Load()); n > runtime.GOMAXPROCS(0) {
				t.Fatalf("%d read ahead", n)
			} else {
				most = max(most, n)
			}
		}
	}
	if most == 0 {
		t.Error("a flood was never read ahead, so the test shows nothing")
	}
	for _, p := range ps {
		p.Close()
	}
	noneAhead(t)
}

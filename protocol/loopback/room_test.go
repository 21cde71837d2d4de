package loopback

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"testing"

	"pgregory.net/rapid"
)

// end is a connection that notes that it was closed.
type end struct {
	net.Conn
	closed bool
}

func (e *end) Close() error {
	e.closed = true
	return nil
}

func TestRoom(t *testing.T) {
	r := NewRoom(3, 2)
	ends := map[string]*end{}
	enter := func(name, peer string) *Conn {
		ends[name] = &end{}
		return r.enter(ends[name], peer, -1)
	}
	closed := func(names ...string) {
		t.Helper()
		want := map[string]bool{}
		for _, n := range names {
			want[n] = true
		}
		for n, e := range ends {
			if e.closed != want[n] {
				t.Errorf("%s: closed is %t", n, e.closed)
			}
		}
	}
	a := enter("a", "A")
	b1 := enter("b1", "B")
	enter("b2", "B")
	enter("b3", "B")
	closed("b1") // not the oldest, but the oldest of who has the most
	if err := b1.Admit(); !errors.Is(err, ErrEvicted) {
		t.Errorf("who was evicted is let in with %v", err)
	}
	for range 2 {
		if err := a.Admit(); err != nil {
			t.Error(err)
		}
	}
	c := enter("c", "C")
	closed("b1") // who is in is no stranger
	if err := c.Admit(); err != nil {
		t.Error(err)
	}
	d := enter("d", "D")
	var full *FullError
	if err := d.Admit(); !errors.As(err, &full) || full.Limit != 2 {
		t.Errorf("a third one is let in with %v", err)
	}
	c.Leave()
	closed("b1")
	c.Close()
	c.Close()
	if err := d.Admit(); err != nil {
		t.Errorf("there is room: %v", err)
	}
	closed("b1", "c")
	if r.in != 2 || len(r.waiting) != 2 {
		t.Errorf("%d are in, %d wait", r.in, len(r.waiting))
	}
}

// TestRoomIsNeverOverfull, whatever happens in which order, and a peer that has fewer strangers
// than another loses none to it.
func TestRoomIsNeverOverfull(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		strangers, known := rapid.IntRange(1, 5).Draw(t, "strangers"), rapid.IntRange(1, 5).Draw(t, "known")
		r := NewRoom(strangers, known)
		var all []*Conn
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			if len(all) == 0 || rapid.IntRange(0, 2).Draw(t, "what") == 0 {
				peer := rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "peer")
				before := map[string]int{}
				for _, c := range r.waiting {
					before[c.peer]++
				}
				before[peer]++
				all = append(all, r.enter(&end{}, peer, -1))
				after := map[string]int{}
				for _, c := range r.waiting {
					after[c.peer]++
				}
				for p, n := range before {
					if after[p] < n && n < max(before["A"], before["B"], before["C"]) {
						t.Fatalf("%s had %d of %v and lost one", p, n, before)
					}
				}
			} else {
				c := rapid.SampledFrom(all).Draw(t, "conn")
				rapid.SampledFrom([]func(){func() { _ = c.Admit() }, c.Leave, func() { c.Close() }}).Draw(t, "do")()
			}
			in := 0
			for _, c := range all {
				if c.state == admitted {
					in++
				}
			}
			if len(r.waiting) > strangers || r.in > known || in != r.in {
				t.Fatalf("%d wait, %d are in, %d count", len(r.waiting), in, r.in)
			}
		}
		for _, c := range all {
			c.Close()
		}
		if r.in != 0 || len(r.waiting) != 0 {
			t.Fatalf("%d wait and %d are in when all have gone", len(r.waiting), r.in)
		}
	})
}

// TestRoomOfAListener: its connections are in the room, and one that is evicted is closed.
func TestRoomOfAListener(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0"} {
		inner, err := net.Listen("tcp", addr)
		if err != nil {
			t.Logf("%s: %v", addr, err)
			continue
		}
		l := NewRoom(1, 1).Listener(inner)
		defer l.Close()
		var clients []net.Conn
		var servers []*Conn
		for range 2 {
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			s, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			clients, servers = append(clients, c), append(servers, s.(*Conn))
		}
		if _, err := clients[0].Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("who was evicted reads %v", err)
		}
		if got, want := servers[1].peer, fmt.Sprintf("uid %d", os.Getuid()); runtime.GOOS == "linux" && got != want {
			t.Errorf("the peer of %s is %q, not %q", addr, got, want)
		}
		if err := servers[1].CloseWrite(); err != nil {
			t.Error(err)
		}
		if _, err := clients[1].Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("a client reads %v", err)
		}
	}
}

func BenchmarkEnter(b *testing.B) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer inner.Close()
	c, err := net.Dial("tcp", inner.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	s, err := inner.Accept()
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	r := NewRoom(64, 1)
	for b.Loop() {
		r.Enter(s).Leave()
	}
}

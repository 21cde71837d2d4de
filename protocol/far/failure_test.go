package far_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/protocol/client"
)

// A fuse ends a link once so many bytes have passed it since it was lit, in one direction.
type fuse struct {
	mu      sync.Mutex
	lit     bool
	out     bool // count what the hub sends, not what it gets
	left    int
	whenOut func()
}

func (f *fuse) of(s io.ReadWriteCloser) io.ReadWriteCloser { return &fused{s, f} }

// take returns how many of n bytes may pass, and whether the link ends then.
func (f *fuse) take(out bool, n int) (pass int, cut bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.lit || f.out != out || n < f.left {
		if f.lit && f.out == out {
			f.left -= n
		}
		return n, false
	}
	f.lit = false
	return f.left, true
}

type fused struct {
	io.ReadWriteCloser
	fuse *fuse
}

func (s *fused) Read(p []byte) (int, error) {
	n, err := s.ReadWriteCloser.Read(p)
	pass, cut := s.fuse.take(false, n)
	if cut {
		s.Close()
		s.fuse.whenOut()
		if pass == 0 {
			return 0, io.ErrUnexpectedEOF
		}
	}
	return pass, err
}

func (s *fused) Write(p []byte) (int, error) {
	pass, cut := s.fuse.take(true, len(p))
	n, err := s.ReadWriteCloser.Write(p[:pass])
	if cut {
		s.Close()
		s.fuse.whenOut()
		return n, io.ErrClosedPipe
	}
	return n, err
}

// TestLinkIsCutAtEveryByte: a link ends after each byte of a wait's exchange, and what the wait is for
// is shown and wiped while there is none. The client gets one answer, and it is the right one.
func TestLinkIsCutAtEveryByte(t *testing.T) {
	t.Parallel()
	for _, since := range []bool{true, false} {
		for _, out := range []bool{true, false} {
			t.Run(fmt.Sprintf("since=%v,sent=%v", since, out), func(t *testing.T) {
				t.Parallel()
				whole := 1 << 20
				for cut := 0; cut <= whole; cut++ {
					synctest.Test(t, func(t *testing.T) {
						if passed := waitCutAt(t, cut, since, out); passed >= 0 {
							whole = min(whole, passed)
						}
					})
					if t.Failed() {
						t.Fatalf("the link was cut after %d bytes", cut)
					}
				}
			})
		}
	}
}

// waitCutAt waits over a link that ends after so many bytes. It returns how many passed when the
// exchange was shorter; -1: it was cut.
func waitCutAt(t *testing.T, cut int, since, out bool) (passed int) {
	p := enginetest.New()
	s := newSite(t, "web-3", p)
	show := sync.OnceFunc(func() { p.Print("ready now\r\n\x1b[2J\x1b[H\r\nwiped\r\n") })
	f := &fuse{out: out, left: cut, whenOut: show}
	s.through = f.of
	d := newDesk(t, []*site{s})
	c := d.dial()
	id := c.ask("session.create", obj{"program": "fake", "host": "web-3", "rows": 2, "cols": 20})["session"].(string)
	params := obj{"session": id, "matcher": contains("ready now"), "latched": true}
	if since {
		params["since"] = 0
	}
	time.Sleep(time.Second)
	f.mu.Lock()
	f.lit = true
	f.mu.Unlock()
	answers := make(chan error, 1)
	go func() { answers <- c.Call(c.ctx, "session.wait", params, nil) }()
	synctest.Wait()
	show() // unless the link was cut already
	err := <-answers
	if err != nil {
		t.Errorf("after %d bytes the wait ends with %v", cut, err)
	}
	c.ask("session.snapshot", obj{"session": id}) // the link serves again, and nothing else comes by it
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lit {
		return cut - f.left
	}
	return -1
}

// TestSilenceIsNoticed: a host that says nothing for 15 seconds, though its link is there, is given
// up; what was asked of it is asked again by a new link.
func TestSilenceIsNoticed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		s := newSite(t, "web-3", p)
		var hole *blackhole
		s.through = func(stream io.ReadWriteCloser) io.ReadWriteCloser {
			h := &blackhole{ReadWriteCloser: stream, closed: make(chan struct{})}
			if hole == nil {
				hole = h
			}
			return h
		}
		d := newDesk(t, []*site{s})
		c := d.dial()
		id := c.create("web-3")
		answers := make(chan error, 1)
		go func() {
			answers <- c.Call(c.ctx, "session.wait", obj{"session": id, "matcher": contains("ready"), "since": 0, "timeout_ms": 60_000}, nil)
		}()
		synctest.Wait()
		hole.swallow()
		began := time.Now()
		p.Print("ready\r\n")
		if err := <-answers; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took < 10*time.Second || took > 22*time.Second {
			t.Errorf("the silence was noticed after %v", took)
		}
		if n := s.opens(); n != 2 {
			t.Errorf("%d links", n)
		}
	})
}

// A blackhole lets nothing through once it has swallowed.
type blackhole struct {
	io.ReadWriteCloser
	mu     sync.Mutex
	gone   bool
	once   sync.Once
	closed chan struct{}
}

func (b *blackhole) swallow() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone = true
}

func (b *blackhole) Read(p []byte) (int, error) {
	n, err := b.ReadWriteCloser.Read(p)
	b.mu.Lock()
	gone := b.gone
	b.mu.Unlock()
	if gone {
		<-b.closed
		return 0, io.ErrClosedPipe
	}
	return n, err
}

func (b *blackhole) Close() error {
	b.once.Do(func() { close(b.closed) })
	return b.ReadWriteCloser.Close()
}

// TestQuietHostsAreNotGivenUp: a wait of ten minutes at a host that has nothing to say keeps its link.
func TestQuietHostsAreNotGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		s := newSite(t, "web-3", p)
		d := newDesk(t, []*site{s})
		c := d.dial()
		c.ask("server.set_notifications", obj{"enabled": true})
		id := c.create("web-3")
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		err := c.Call(ctx, "session.wait", obj{"session": id, "matcher": contains("never"), "timeout_ms": 600_000}, nil)
		e := wantReason(t, err, "timeout")
		if s.opens() != 1 || strings.Contains(string(e.Data), `"lost"`) {
			t.Errorf("%d links, %s", s.opens(), e.Data)
		}
	})
}

// TestHostAwayUntilTheDeadline: a wait whose host stays away ends in time, and says that it is not
// known whether it would have matched, and up to where it is.
func TestHostAwayUntilTheDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, "web-3", enginetest.New())
		d := newDesk(t, []*site{s})
		c := d.dial()
		id := c.create("web-3")
		began := time.Now()
		answers := make(chan error, 1)
		go func() {
			answers <- c.Call(c.ctx, "session.wait", obj{"session": id, "matcher": contains("never"), "timeout_ms": 20_000}, nil)
		}()
		synctest.Wait()
		s.set(func() { s.down = errors.New("no route to it") })
		s.cut()
		e := wantReason(t, <-answers, "timeout")
		if took := time.Since(began); took < 20*time.Second || took > 23*time.Second {
			t.Errorf("it took %v", took)
		}
		var data struct {
			Lost []struct {
				Host, Reason string
				Sessions     []string
				Since        map[string]uint64
				ForMS        int64 `json:"for_ms"`
			}
		}
		if err := json.Unmarshal(e.Data, &data); err != nil || len(data.Lost) != 1 {
			t.Fatalf("%s, %v", e.Data, err)
		}
		l := data.Lost[0]
		if _, known := l.Since[id]; l.Host != "web-3" || l.Reason != "down" || len(l.Sessions) != 1 || l.Sessions[0] != id || !known || l.ForMS < 19_000 {
			t.Errorf("lost: %s", e.Data)
		}
	})
}

// TestInputIsNotSentTwice: input whose answer was lost is told as unknown, and typed once.
func TestInputIsNotSentTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		s := newSite(t, "web-3", p)
		f := &fuse{left: 5, whenOut: func() {}}
		s.through = f.of
		d := newDesk(t, []*site{s})
		c := d.dial()
		id := c.create("web-3")
		synctest.Wait()
		f.mu.Lock()
		f.lit = true
		f.mu.Unlock()
		e := c.refused("host_lost", "session.input", obj{"session": id, "action": obj{"type": "text", "value": "once"}})
		if e.Code != -32006 || !strings.Contains(string(e.Data), `"unknown":true`) || !strings.Contains(string(e.Data), `"host":"web-3"`) {
			t.Errorf("%d %s", e.Code, e.Data)
		}
		time.Sleep(time.Minute)
		c.ask("session.snapshot", obj{"session": id})
		if p.Input() != "once" {
			t.Errorf("the program got %q", p.Input())
		}
	})
}

// TestLinksAreOpenedAgain: a host that is away is tried after 0.1 s, and then twice as long each time
// up to 10 s, with a quarter more at random; requests meanwhile are refused at once, with when it is
// tried next.
func TestLinksAreOpenedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, "web-3", enginetest.New())
		d := newDesk(t, []*site{s})
		c := d.dial()
		id := c.create("web-3")
		c.ask("server.set_ordering", obj{"ordering": "concurrent"})
		s.set(func() { s.down, s.tried = errors.New("no route to it"), nil })
		go c.Call(c.ctx, "session.wait", obj{"session": id, "matcher": contains("never"), "timeout_ms": 120_000}, nil)
		synctest.Wait()
		began := time.Now()
		s.cut()
		time.Sleep(70 * time.Second)
		var gaps []time.Duration
		s.set(func() {
			last := began
			for _, at := range s.tried {
				gaps = append(gaps, at.Sub(last))
				last = at
			}
		})
		if len(gaps) < 10 {
			t.Fatalf("it was tried after %v", gaps)
		}
		for i, gap := range gaps {
			want := min(100*time.Millisecond<<i, 10*time.Second)
			if gap < want || gap > want*5/4 {
				t.Errorf("try %d came after %v, expected %v to %v", i, gap, want, want*5/4)
			}
		}
		before := time.Now()
		e := c.refused("host_unreachable", "session.snapshot", obj{"session": id})
		if time.Since(before) > time.Second || !strings.Contains(string(e.Data), `"retry_ms"`) || !strings.Contains(e.Message, "no route to it") {
			t.Errorf("after %v: %s %s", time.Since(before), e.Message, e.Data)
		}
		s.set(func() { s.down = nil })
		time.Sleep(15 * time.Second)
		c.ask("session.snapshot", obj{"session": id})
	})
}

// TestAnotherServer: after a restart of a host's server, what was asked of the old one has ended, and
// its ids are not taken for those of the new one.
func TestAnotherServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		host := &stub{epoch: "one"}
		host.answer = func(id int, method string, _ json.RawMessage) []string {
			switch method {
			case "session.list":
				return []string{reply(id, `{"sessions":["s1"],"details":[{"session":"s1","sequence":5}]}`)}
			case "session.wait":
				if host.epoch == "one" {
					host.epoch = "two"
					return []string{hangUp}
				}
				t.Error("the wait came to the new server")
			case "session.snapshot":
				return []string{reply(id, `{"plain_text":"of `+host.epoch+`"}`)}
			}
			return nil
		}
		d := newDesk(t, []*site{stubSite(t, "web-3", host)})
		c := d.dial()
		c.refused("server_lost", "session.wait", obj{"session": "web-3/s1", "matcher": contains("x")})
		c.refused("server_lost", "session.snapshot", obj{"session": "web-3/s1"})
		c.ask("session.list", nil)
		if got := c.ask("session.snapshot", obj{"session": "web-3/s1"})["plain_text"]; got != "of two" {
			t.Errorf("it shows %v", got)
		}
	})
}

// TestGapsAreTold: a subscriber whose link was lost is told of each session that output is missing.
func TestGapsAreTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		s := newSite(t, "web-3", p)
		d := newDesk(t, []*site{s})
		c := d.dial()
		c.ask("server.set_notifications", obj{"enabled": true})
		id := c.create("web-3")
		p.Print("before\r\n")
		c.note(`"session.output"`, "before")
		s.cut()
		p.Print("meanwhile\r\n")
		c.note(`"session.output"`, `"session":"`+id+`"`, `"dropped":true`)
		p.Print("after\r\n")
		c.note(`"session.output"`, "after")
	})
}

// TestBadHosts: what a host does wrong is told as its own fault, and harms nobody else.
func TestBadHosts(t *testing.T) {
	t.Parallel()
	const snapshot = "session.snapshot"
	wait := obj{"session": "bad/s1", "timeout_ms": 3000, "matcher": contains("x"), "since": 1}
	for name, c := range map[string]struct {
		open   func(context.Context) (io.ReadWriteCloser, error)
		answer func(id int, method string, params json.RawMessage) []string
		method string
		params obj
		reason string
		says   string
	}{
		"banner":                {open: says("Welcome to Ubuntu\n"), reason: "host_unreachable", says: `says \"Welcome to`},
		"binary":                {open: says("\x00\xff\x1b[31m\n"), reason: "host_unreachable", says: "does not speak the protocol"},
		"long line without end": {open: says(strings.Repeat("x", 40<<20)), reason: "host_unreachable", says: "bytes"},
		"nothing":               {open: says(""), reason: "host_unreachable", says: "ended"},
		"other protocol":        {open: says(reply(0, `{"version":"9.9","protocol":7}`) + "\n"), reason: "host_unreachable", says: "version 7 of the protocol"},
		"error at once":         {open: says(`{"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"no"}}` + "\n"), reason: "host_unreachable", says: "does not speak"},
		"cannot be run":         {open: func(context.Context) (io.ReadWriteCloser, error) { return nil, errors.New("exec: no ssh") }, reason: "host_unreachable", says: "exec: no ssh"},
		"id of another":         {answer: with(`{"sessions":["good/s1"]}`), method: "session.list", params: obj{"host": "bad"}, reason: "host_lost", says: `good/s1`},
		"id with escapes":       {answer: with(`{"sessions":["s1\u001b[31m"]}`), method: "session.list", params: obj{"host": "bad"}, reason: "host_lost", says: "cannot be its own"},
		"not JSON":              {answer: lines(`{"jsonrpc":"2.0","id":`), reason: "host_lost", says: "does not speak"},
		"twice a member":        {answer: with(`{"sessions":[],"sessions":[]}`), method: "session.list", params: obj{"host": "bad"}, reason: "host_lost", says: "does not speak"},
		"other id":              {answer: lines(reply(4711, `{}`)), reason: "host_lost", says: "what it was not asked"},
		"no result":             {answer: lines(`{"jsonrpc":"2.0","id":2}`), reason: "host_lost", says: "what it was not asked"},
		"a request":             {answer: lines(`{"jsonrpc":"2.0","id":9,"method":"session.kill","params":{"session":"s1"}}`), reason: "host_lost", says: "nobody has to answer"},
		"error without code": {answer: func(id int, _ string, _ json.RawMessage) []string {
			return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":7}`, id)}
		}, reason: "host_lost", says: "not one of JSON-RPC"},
		"hostile reason": {answer: func(id int, _ string, _ json.RawMessage) []string {
			return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32602,"message":"a\u001b[31m","data":{"reason":"<b>","session":"x/y"}}}`, id)}
		}, reason: "internal_error", says: `\\x1b[31m`},
		"error of another's session": {answer: func(id int, _ string, _ json.RawMessage) []string {
			return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32602,"message":"m","data":{"reason":"name_taken","session":"good/s1"}}}`, id)}
		}, reason: "host_lost", says: "cannot be its own"},
		"no answer":         {answer: lines(), reason: "host_lost", says: "does not answer"},
		"no answer to wait": {answer: lines(), method: "session.wait", params: wait, reason: "timeout", says: `\"lost\"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				bad := stubSite(t, "bad", &stub{epoch: "e", answer: c.answer})
				if c.open != nil {
					bad.replace = c.open
				}
				if name == "no answer" || name == "no answer to wait" {
					bad.replace = (&stub{epoch: "e", answer: c.answer}).mute
				}
				good, own := enginetest.New(), enginetest.New()
				d := newDesk(t, []*site{bad, newSite(t, "good", good)}, own)
				p := d.dial()
				p.create("good")
				method, params := c.method, c.params
				if method == "" {
					method, params = snapshot, obj{"session": "bad/s1"}
				}
				err := p.Call(p.ctx, method, params, nil)
				var e *client.Error
				if !errors.As(err, &e) || string(e.Reason) != c.reason {
					t.Fatalf("the error is %v, expected %s", err, c.reason)
				}
				told, _ := json.Marshal(e.Message + " " + string(e.Data))
				if !strings.Contains(string(told), c.says) {
					t.Errorf("it says %s, expected %s", told, c.says)
				}
				if c.reason != "internal_error" && !strings.Contains(e.Message, "bad") {
					t.Errorf("the host is not named: %s", e.Message)
				}
				good.Print("alive\r\n")
				p.until("good/s1", "alive")
				if got := texts(p.ask("session.list", nil)["sessions"]); strings.Join(got, " ") != "good/s1" && name != "no answer" {
					for _, id := range got {
						if strings.HasPrefix(id, "bad/") && strings.Count(id, "/") == 1 {
							continue
						}
						if id != "good/s1" {
							t.Errorf("the list is %q", got)
						}
					}
				}
			})
		})
	}
}

// says opens a stream that says something, whatever it is asked, and ends.
func says(text string) func(context.Context) (io.ReadWriteCloser, error) {
	return func(context.Context) (io.ReadWriteCloser, error) {
		hub, ours := net.Pipe()
		go io.Copy(io.Discard, ours) // ends with the stream
		go func() {
			io.WriteString(ours, text)
			ours.Close()
		}()
		return hub, nil
	}
}

// with answers everything with a result.
func with(result string) func(int, string, json.RawMessage) []string {
	return func(id int, _ string, _ json.RawMessage) []string { return []string{reply(id, result)} }
}

// lines says the same to everything.
func lines(all ...string) func(int, string, json.RawMessage) []string {
	return func(int, string, json.RawMessage) []string { return all }
}

// mute opens a stub that answers the greeting, and nothing after it, not even a ping.
func (s *stub) mute(ctx context.Context) (io.ReadWriteCloser, error) {
	stream, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	return &muted{ReadWriteCloser: stream, closed: make(chan struct{})}, nil
}

type muted struct {
	io.ReadWriteCloser
	lines  int
	once   sync.Once
	closed chan struct{}
}

func (m *muted) Read(p []byte) (int, error) {
	if m.lines >= 2 {
		<-m.closed
		return 0, io.ErrClosedPipe
	}
	n, err := m.ReadWriteCloser.Read(p)
	m.lines += strings.Count(string(p[:n]), "\n")
	return n, err
}

func (m *muted) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "set_hosts") {
		return m.ReadWriteCloser.Write(p)
	}
	select {
	case <-m.closed:
		return 0, io.ErrClosedPipe
	default:
		return len(p), nil
	}
}

func (m *muted) Close() error {
	m.once.Do(func() { close(m.closed) })
	return m.ReadWriteCloser.Close()
}

// BenchmarkThroughTheHub compares a request at a host with the same request without a hub.
func BenchmarkThroughTheHub(b *testing.B) {
	for _, through := range []bool{false, true} {
		b.Run(map[bool]string{false: "direct", true: "hub"}[through], func(b *testing.B) {
			s := newSite(b, "web-3", enginetest.New())
			c := dialTo(b, s.dialect)
			at := ""
			if through {
				c = newDesk(b, []*site{s}).dial()
				at = "web-3"
			}
			id := c.create(at)
			b.ReportAllocs()
			for b.Loop() {
				c.ask("session.snapshot", obj{"session": id})
			}
		})
	}
}

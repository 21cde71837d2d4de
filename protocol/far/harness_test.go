package far_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/client"
	"github.com/ptywright/ptywright/protocol/far"
	"github.com/ptywright/ptywright/protocol/native"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hang bounds what a test waits for: far more than a loaded machine needs.
const hang = 3 * time.Minute

var quiet = slog.New(slog.DiscardHandler)

// theModel is where the native wire has ids.
var theModel = sync.OnceValue(func() *far.Model {
	text, err := json.Marshal(native.Model())
	if err != nil {
		panic(err)
	}
	m, err := far.ReadModel(text)
	if err != nil {
		panic(err)
	}
	return m
})

// A site is a machine: an engine with its server, and links to it over pipes.
type site struct {
	name    string
	dialect protocol.Dialect
	engine  *engine.Engine

	mu      sync.Mutex
	opened  int                                               // links so far
	tried   []time.Time                                       // when a link was asked for
	down    error                                             // links cannot be opened
	through func(io.ReadWriteCloser) io.ReadWriteCloser       // of each link's hub end; nil: as it is
	replace func(context.Context) (io.ReadWriteCloser, error) // in place of the server
	streams []io.Closer
	serving sync.WaitGroup
}

// newSite makes a machine whose programs are ptys.
func newSite(t testing.TB, name string, ptys ...*enginetest.PTY) *site {
	t.Helper()
	e := enginetest.Engine(ptys...)
	return siteOf(t, name, e, native.New(host.Over(e, nil, quiet), native.Options{}))
}

func siteOf(t testing.TB, name string, e *engine.Engine, d protocol.Dialect) *site {
	t.Helper()
	s := &site{name: name, engine: e, dialect: d}
	t.Cleanup(func() {
		s.cut()
		s.serving.Wait()
		if e != nil {
			e.Close(context.Background())
		}
	})
	return s
}

// host is the site as a hub knows it.
func (s *site) host() far.Host { return far.Host{Name: s.name, Open: s.open} }

func (s *site) open(ctx context.Context) (io.ReadWriteCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tried = append(s.tried, time.Now())
	if s.down != nil {
		return nil, s.down
	}
	s.opened++
	if s.replace != nil {
		return s.replace(ctx)
	}
	hub, server := net.Pipe()
	s.serving.Go(func() {
		protocol.NewConn(server, s.dialect, protocol.Config{Log: quiet}).Serve(context.Background())
	})
	var stream io.ReadWriteCloser = hub
	if s.through != nil {
		stream = s.through(stream)
	}
	s.streams = append(s.streams, stream)
	return stream, nil
}

// cut ends all links.
func (s *site) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stream := range s.streams {
		stream.Close()
	}
	s.streams = nil
}

// set changes the site while nobody opens a link.
func (s *site) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *site) opens() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

// A desk is a hub and the machine that it is on.
type desk struct {
	t    testing.TB
	hub  *far.Hub
	here *site
	log  *bytes.Buffer
}

// newDesk makes a hub of sites on a machine whose programs are ptys.
func newDesk(t testing.TB, sites []*site, ptys ...*enginetest.PTY) *desk {
	t.Helper()
	var hosts []far.Host
	for _, s := range sites {
		hosts = append(hosts, s.host())
	}
	here := newSite(t, "here", ptys...)
	hub, err := far.New(here.dialect, theModel(), hosts, quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hub.Close)
	return &desk{t: t, hub: hub, here: here}
}

// A peer is a client of a desk, or of a site.
type peer struct {
	*client.Client
	t      testing.TB
	ctx    context.Context
	served chan struct{}

	mu    sync.Mutex
	notes []string
	came  chan struct{} // one slot: there are more notes
}

// dial returns a new client.
func (d *desk) dial() *peer { return dialTo(d.t, d.hub) }

func dialTo(t testing.TB, d protocol.Dialect) *peer {
	t.Helper()
	ours, theirs := net.Pipe()
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	p := &peer{t: t, ctx: ctx, served: make(chan struct{}), came: make(chan struct{}, 1)}
	go func() {
		defer close(p.served)
		protocol.NewConn(theirs, d, protocol.Config{Log: quiet}).Serve(context.Background())
	}()
	p.Client = client.New(&watched{ReadWriteCloser: ours, peer: p})
	t.Cleanup(func() {
		p.end()
		cancel()
	})
	return p
}

// end ends the connection, and waits until the server's side has ended.
func (p *peer) end() {
	p.Close()
	<-p.served
}

// A watched stream keeps the notifications that come by it.
type watched struct {
	io.ReadWriteCloser
	peer *peer
	line []byte
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.ReadWriteCloser.Read(b)
	w.line = append(w.line, b[:n]...)
	for {
		i := bytes.IndexByte(w.line, '\n')
		if i < 0 {
			return n, err
		}
		if bytes.HasPrefix(w.line, []byte(`{"jsonrpc":"2.0","method"`)) {
			w.peer.mu.Lock()
			w.peer.notes = append(w.peer.notes, string(w.line[:i]))
			w.peer.mu.Unlock()
			select {
			case w.peer.came <- struct{}{}:
			default:
			}
		}
		w.line = w.line[i+1:]
	}
}

// note waits for a notification with these texts, and returns it.
func (p *peer) note(texts ...string) string {
	p.t.Helper()
	for {
		p.mu.Lock()
		for _, n := range p.notes {
			if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(n, text) }) {
				p.mu.Unlock()
				return n
			}
		}
		p.mu.Unlock()
		select {
		case <-p.came:
		case <-p.ctx.Done():
			p.t.Fatalf("no notification with %q came, but %q", texts, p.notes)
		}
	}
}

type obj = map[string]any

// ask calls a method that must succeed, and returns its result.
func (p *peer) ask(method string, params any) obj {
	p.t.Helper()
	var r obj
	if err := p.Call(p.ctx, method, params, &r); err != nil {
		p.t.Fatal(err)
	}
	return r
}

// refused calls a method that must fail for a reason.
func (p *peer) refused(reason, method string, params any) *client.Error {
	p.t.Helper()
	err := p.Call(p.ctx, method, params, nil)
	return wantReason(p.t, err, reason)
}

func wantReason(t testing.TB, err error, reason string) *client.Error {
	t.Helper()
	var e *client.Error
	if !errors.As(err, &e) || string(e.Reason) != reason {
		t.Fatalf("the error is %v, expected the reason %s", err, reason)
	}
	return e
}

// create starts a session at a host, "" is here.
func (p *peer) create(at string) string {
	p.t.Helper()
	return p.ask("session.create", obj{"program": "fake", "host": at})["session"].(string)
}

func contains(text string) obj { return obj{"type": "contains_text", "value": text} }

// until waits until a session shows a text.
func (p *peer) until(id, text string) obj {
	p.t.Helper()
	return p.ask("session.wait", obj{"session": id, "matcher": contains(text)})
}

// texts are the elements of a list of strings.
func texts(list any) []string {
	var all []string
	for _, v := range list.([]any) {
		all = append(all, v.(string))
	}
	return all
}

// A stub is a host that says what a test wants. It answers the greeting of a hub as a server does.
type stub struct {
	epoch  string
	answer func(id int, method string, params json.RawMessage) []string // lines
}

const greeting = `{"name":"ptywright","version":"1.2.3","protocol":1,"pid":7,"epoch":%q,"methods":[]}`

// open is a far.Host.Open.
func (s *stub) open(ctx context.Context) (io.ReadWriteCloser, error) {
	hub, ours := net.Pipe()
	go func() {
		defer ours.Close()
		in := bufio.NewScanner(ours)
		in.Buffer(nil, 64<<20)
		for in.Scan() {
			var m struct {
				ID     int
				Method string
				Params json.RawMessage
			}
			if json.Unmarshal(in.Bytes(), &m) != nil {
				return
			}
			var lines []string
			switch m.Method {
			case "server.capabilities":
				lines = []string{reply(m.ID, fmt.Sprintf(greeting, s.epoch))}
			case "server.set_hosts":
				lines = []string{reply(m.ID, `{"hosts":false}`)}
			case "$/cancelRequest":
				lines = []string{reply(m.ID, `{"cancelled":false}`)}
			default:
				lines = s.answer(m.ID, m.Method, m.Params)
			}
			for _, line := range lines {
				if line == hangUp {
					return
				}
				if _, err := io.WriteString(ours, line+"\n"); err != nil {
					return
				}
			}
		}
	}()
	return hub, nil
}

// hangUp is a line of a stub that ends its link.
const hangUp = "\x00"

func reply(id int, result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, id, result)
}

// stubSite is a site with a stub in place of a server.
func stubSite(t testing.TB, name string, s *stub) *site {
	site := siteOf(t, name, nil, nil)
	site.replace = s.open
	return site
}

package far_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/client"
	"github.com/ptywright/ptywright/protocol/far"
	"github.com/ptywright/ptywright/protocol/native"
	"github.com/ptywright/ptywright/protocol/protocoltest"
)

// TestSessionsOfOtherHosts: sessions of two hosts and of this machine are driven side by side, each
// by its id, and only its own program gets what is typed.
func TestSessionsOfOtherHosts(t *testing.T) {
	t.Parallel()
	p, q, own := enginetest.New(), enginetest.New(), enginetest.New()
	d := newDesk(t, []*site{newSite(t, "web-3", p), newSite(t, "db-1", q)}, own)
	c := d.dial()
	ids := []string{c.create("web-3"), c.create("db-1"), c.create("")}
	if want := []string{"web-3/s1", "db-1/s1", "s1"}; !slices.Equal(ids, want) {
		t.Fatalf("the ids are %q, expected %q", ids, want)
	}
	for i, pty := range []*enginetest.PTY{p, q, own} {
		text := fmt.Sprintf("typed %d", i)
		c.ask("session.input", obj{"session": ids[i], "action": obj{"type": "text", "value": text}})
		if pty.Input() != text {
			t.Errorf("the program of %s got %q", ids[i], pty.Input())
		}
		pty.Print(fmt.Sprintf("shown %d\r\n", i))
		c.until(ids[i], fmt.Sprintf("shown %d", i))
	}
	list := c.ask("session.list", obj{"details": true})
	if got := texts(list["sessions"]); !slices.Equal(got, []string{"s1", "db-1/s1", "web-3/s1"}) {
		t.Errorf("the list is %q", got)
	}
	if n := len(list["details"].([]any)); n != 3 || list["away"] != nil {
		t.Errorf("%d details, away: %v", n, list["away"])
	}
	if got := texts(c.ask("session.list", obj{"host": "web-3"})["sessions"]); !slices.Equal(got, []string{"web-3/s1"}) {
		t.Errorf("the list of web-3 is %q", got)
	}
	c.ask("session.kill", obj{"session": "web-3/s1"})
	c.ask("session.close", obj{"session": "web-3/s1"})
	if got := texts(c.ask("session.list", nil)["sessions"]); !slices.Equal(got, []string{"s1", "db-1/s1"}) {
		t.Errorf("after the close the list is %q", got)
	}
}

// TestErrorsOfOtherHosts: an error names the session as the client did, and hosts that there are.
func TestErrorsOfOtherHosts(t *testing.T) {
	t.Parallel()
	d := newDesk(t, []*site{newSite(t, "web-3", enginetest.New()), newSite(t, "db-1")})
	c := d.dial()
	if e := c.refused("unknown_session", "session.snapshot", obj{"session": "web-3/s9"}); !strings.Contains(e.Message, `"web-3/s9"`) {
		t.Error(e.Message)
	}
	for method, params := range map[string]obj{
		"session.snapshot": {"session": "web-4/s1"}, "session.create": {"program": "x", "host": "web-4"},
		"server.set_notifications": {"enabled": true, "sessions": []string{"web-4/s1"}},
		"server.hosts":             {"host": "web-4", "check": true},
	} {
		if e := c.refused("unknown_host", method, params); !strings.Contains(e.Message, "db-1, web-3") {
			t.Errorf("%s: %s", method, e.Message)
		}
	}
	c.create("web-3")
	c.refused("invalid_params", "session.list", obj{"session": "web-3/s1", "host": "db-1"})
	c.refused("duplicate_member", "session.snapshot", json.RawMessage(`{"session":"web-3/s1","session":"s1"}`))
	c.refused("unknown_session", "session.snapshot", obj{"session": "s1"})
}

// TestEverythingQueuesAsItDoes: requests for one far session keep their order, by its id and by its name,
// and one that waits holds up nobody else; after server.set_ordering nothing queues.
func TestEverythingQueuesAsItDoes(t *testing.T) {
	t.Parallel()
	p, q := enginetest.New(), enginetest.New()
	d := newDesk(t, []*site{newSite(t, "web-3", p, q)})
	c := d.dial()
	one := c.ask("session.create", obj{"program": "fake", "host": "web-3", "name": "named"})["session"].(string)
	two := c.create("web-3")
	ours, theirs := net.Pipe()
	served := make(chan struct{})
	go func() {
		defer close(served)
		protocol.NewConn(theirs, d.hub, protocol.Config{Log: quiet}).Serve(context.Background())
	}()
	defer func() {
		ours.Close()
		<-served
	}()
	watchdog := time.AfterFunc(hang, func() { ours.Close() })
	defer watchdog.Stop()
	say := func(id int, method, params string) {
		t.Helper()
		if _, err := fmt.Fprintf(ours, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`+"\n", id, method, params); err != nil {
			t.Fatal(err)
		}
	}
	in := bufio.NewReader(ours)
	next := func() (id int) {
		t.Helper()
		line, err := in.ReadBytes('\n')
		var m struct{ ID int }
		if err != nil || json.Unmarshal(line, &m) != nil {
			t.Fatalf("%q, %v", line, err)
		}
		return m.ID
	}
	wait := fmt.Sprintf(`"session":%q,"matcher":{"type":"contains_text","value":"go"}`, one)
	say(1, "session.wait", wait)
	say(2, "session.snapshot", fmt.Sprintf(`"session":%q`, one))
	say(3, "session.snapshot", `"session":"web-3/named"`)
	say(4, "session.snapshot", fmt.Sprintf(`"session":%q`, two))
	if id := next(); id != 4 {
		t.Fatalf("the first answer is %d", id)
	}
	p.Print("go\r\n")
	got := []int{next(), next(), next()}
	if got[0] != 1 {
		t.Errorf("the answers came as %v", got)
	}
	say(5, "server.set_ordering", `"ordering":"concurrent"`)
	say(6, "session.wait", strings.Replace(wait, "go", "never", 1))
	say(7, "session.snapshot", fmt.Sprintf(`"session":%q`, one))
	for _, want := range []int{5, 7} {
		if id := next(); id != want {
			t.Errorf("answer %d came before %d", id, want)
		}
	}
}

// TestNotificationsOfOtherHosts: a client is told of the sessions that it asked for, by their ids
// here, and of no others.
func TestNotificationsOfOtherHosts(t *testing.T) {
	t.Parallel()
	p, q, own := enginetest.New(), enginetest.New(), enginetest.New()
	d := newDesk(t, []*site{newSite(t, "web-3", p), newSite(t, "db-1", q)}, own)
	all, some := d.dial(), d.dial()
	ids := []string{all.create("web-3"), all.create("db-1"), all.create("")}
	all.ask("server.set_notifications", obj{"enabled": true})
	r := some.ask("server.set_notifications", obj{"enabled": true, "sessions": []string{"db-1/s1"}})
	if got := texts(r["sessions"]); !slices.Equal(got, []string{"db-1/s1"}) {
		t.Errorf("the answer names %q", got)
	}
	for i, pty := range []*enginetest.PTY{p, own, q} {
		pty.Print(fmt.Sprintf("text %d\r\n", i))
	}
	for i, id := range []string{ids[0], ids[2], ids[1]} {
		all.note(`"session.output"`, `"session":"`+id+`"`, fmt.Sprintf("text %d", i))
	}
	some.note(`"session.output"`, `"session":"db-1/s1"`, "text 2")
	some.mu.Lock()
	for _, n := range some.notes {
		if !strings.Contains(n, `"db-1/s1"`) {
			t.Errorf("it was told %s", n)
		}
	}
	some.mu.Unlock()
	some.ask("server.set_notifications", obj{"enabled": false})
	q.End(3)
	all.note(`"session.exited"`, `"session":"db-1/s1"`, `"exit_code":3`)
}

// TestCancelReachesTheHost: a cancelled wait is answered with the evidence of the host.
func TestCancelReachesTheHost(t *testing.T) {
	t.Parallel()
	p := enginetest.New()
	d := newDesk(t, []*site{newSite(t, "web-3", p)})
	c := d.dial()
	id := c.create("web-3")
	p.Print("what is there\r\n")
	c.until(id, "what is there")
	ctx, cancel := context.WithCancel(c.ctx)
	go func() {
		c.ask("session.list", obj{"host": "web-3"}) // the wait was sent before it
		cancel()
	}()
	err := c.Call(ctx, "session.wait", obj{"session": id, "matcher": contains("never")}, nil)
	e := wantReason(t, err, "cancelled")
	if !strings.Contains(string(e.Data), "what is there") {
		t.Errorf("the evidence is %s", e.Data)
	}
}

// TestSettingsHoldEverywhere: what a client says of its connection holds for links there are and
// for those that come.
func TestSettingsHoldEverywhere(t *testing.T) {
	t.Parallel()
	p := enginetest.New()
	early, late := newSite(t, "early", p), newSite(t, "late", enginetest.New())
	d := newDesk(t, []*site{early, late})
	c := d.dial()
	id := c.create("early")
	c.ask("server.set_rights", obj{"rights": "read"})
	c.refused("forbidden", "session.input", obj{"session": id, "action": obj{"type": "text", "value": "x"}})
	c.refused("forbidden", "session.create", obj{"program": "x", "host": "late"})
	c.ask("session.list", obj{"host": "late"})
	strict := d.dial()
	strict.ask("server.set_strict", obj{"strict": true})
	strict.refused("invalid_params", "session.snapshot", obj{"session": id, "sesion": "x"})
	if p.Input() != "" {
		t.Errorf("the program got %q", p.Input())
	}
}

// TestHubsInACircle: machines that know each other, and themselves, list each session once.
func TestHubsInACircle(t *testing.T) {
	t.Parallel()
	p, q := enginetest.New(), enginetest.New()
	a, b := newSite(t, "a", p), newSite(t, "b", q)
	for _, s := range []*site{a, b} {
		hub, err := far.New(s.dialect, theModel(), []far.Host{a.host(), b.host()}, quiet)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(hub.Close)
		s.dialect = hub
	}
	c := dialTo(t, a.dialect)
	c.create("")
	c.create("b")
	if got := texts(c.ask("session.list", nil)["sessions"]); !slices.Equal(got, []string{"s1", "a/s1", "b/s1"}) {
		t.Errorf("the list is %q", got)
	}
}

// TestLinksAreReused: the next client takes over a link whose host knows nothing of the one before.
func TestLinksAreReused(t *testing.T) {
	t.Parallel()
	s := newSite(t, "web-3", enginetest.New())
	d := newDesk(t, []*site{s})
	one := d.dial()
	id := one.create("web-3")
	one.end()
	two := d.dial()
	two.ask("session.snapshot", obj{"session": id})
	if n := s.opens(); n != 1 {
		t.Errorf("%d links were opened for two clients one after the other", n)
	}
	two.ask("session.lease", obj{"session": id, "holder": "two"})
	two.end()
	three := d.dial()
	for { // the host gives the lease back once it has seen the link's end
		list := three.ask("session.list", obj{"host": "web-3", "details": true})
		if list["details"].([]any)[0].(obj)["lease"] == nil {
			break
		}
	}
	if n := s.opens(); n != 2 {
		t.Errorf("%d links were opened, expected one more after the one with a lease", n)
	}
}

// TestHostsAreTold: what server.hosts says of hosts that are there, away and not asked.
func TestHostsAreTold(t *testing.T) {
	t.Parallel()
	up, down := newSite(t, "up", enginetest.New()), newSite(t, "down")
	down.down = errors.New("no route to it")
	d := newDesk(t, []*site{up, down})
	c := d.dial()
	states := func(check bool) string {
		var all []string
		for _, h := range c.ask("server.hosts", obj{"check": check})["hosts"].([]any) {
			h := h.(obj)
			all = append(all, fmt.Sprint(h["host"], " ", h["state"], " ", h["sessions"], " ", h["error"]))
		}
		return strings.Join(all, ", ")
	}
	if got := states(false); got != "down none <nil> <nil>, up none <nil> <nil>" {
		t.Error(got)
	}
	c.create("up")
	if got := states(true); got != "down down <nil> no route to it, up up 1 <nil>" {
		t.Error(got)
	}
	list := c.ask("session.list", nil)
	away := list["away"].([]any)[0].(obj)
	if len(list["away"].([]any)) != 1 || away["host"] != "down" || away["error"] != "no route to it" ||
		!slices.Equal(texts(list["sessions"]), []string{"up/s1"}) {
		t.Errorf("the list is %v", list)
	}
	hosts, err := c.Hosts(c.ctx, true)
	if err != nil || len(hosts) != 2 || hosts[1].RoundMS == nil || *hosts[1].Sessions != 1 || hosts[0].Since.IsZero() {
		t.Errorf("%+v, %v", hosts, err)
	}
}

func TestNamesOfHosts(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{"web-3": true, "3": true, strings.Repeat("a", 32): true, "": false, "Web": false,
		"a/b": false, "a.b": false, "ä": false, strings.Repeat("a", 33): false, "a\n": false} {
		if err := far.CheckName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := far.New(nil, theModel(), []far.Host{{Name: "a"}, {Name: "a"}}, quiet); err == nil {
		t.Error("two hosts have one name")
	}
}

// TestChecksThroughTheHub is what every dialect holds to, of a session at another host.
func TestChecksThroughTheHub(t *testing.T) {
	log, logged := protocoltest.Logger()
	p := enginetest.New()
	e := enginetest.Engine(p)
	s := siteOf(t, "web-3", e, native.New(host.Over(e, nil, log), native.Options{}))
	d := newDesk(t, []*site{s})
	protocoltest.Checks{
		Dial: func(t *testing.T) protocoltest.Peer {
			return protocoltest.Over(t, func(c net.Conn) { protocol.NewConn(c, d.hub, protocol.Config{Log: log}).Serve(context.Background()) })
		},
		// Nobody takes over the link of a client that has said something of its connection.
		Hello: []string{`{"jsonrpc":"2.0","id":"hello","method":"server.set_ordering","params":{"ordering":"session"}}`},
		Ask:   `{"jsonrpc":"2.0","id":%d,"method":"session.list","params":{"host":"web-3"}}`,
		Log:   logged,
		Canary: func(ask func(string) string) {
			const c = protocoltest.Canary
			p.Print("token=" + c + "\r\n\x1b]0;password=" + c + "\a\r\ndone\r\n")
			ask(`{"jsonrpc":"2.0","id":1,"method":"session.create","params":{"host":"web-3","program":"x","args":["--token","` + c + `"],"env":{"TOKEN":"` + c + `"}}}`)
			ask(`{"jsonrpc":"2.0","id":2,"method":"session.wait","params":{"session":"web-3/s1","matcher":{"type":"contains_text","value":"done"}}}`)
			for _, method := range []string{"snapshot", "transcript", "scrollback", "blocks", "frame", "screenshot"} {
				ask(`{"jsonrpc":"2.0","id":"` + method + `","method":"session.` + method + `","params":{"session":"web-3/s1","path":""}}`)
			}
			ask(`{"jsonrpc":"2.0","id":3,"method":"session.list","params":{"details":true}}`)
			ask(`{"jsonrpc":"2.0","id":4,"method":"session.wait","params":{"session":"web-3/s1","timeout_ms":0,"matcher":{"type":"contains_text","value":"` + c + `x"}}}`)
			ask(`{"jsonrpc":"2.0","id":5,"method":"session.snapshot","params":{"session":"web-3/` + c + `"}}`)
		},
	}.Run(t)
}

// TestSecretsStayAtTheirHost: no byte of a link has a secret that a program shows, whatever is read.
func TestSecretsStayAtTheirHost(t *testing.T) {
	t.Parallel()
	p := enginetest.New()
	s := newSite(t, "web-3", p)
	var tap tapped
	s.through = tap.of
	d := newDesk(t, []*site{s})
	c := d.dial()
	c.ask("server.set_notifications", obj{"enabled": true})
	id := c.create("web-3")
	p.Print("token=" + protocoltest.Canary + "\r\ndone\r\n")
	c.until(id, "done")
	for _, method := range []string{"session.snapshot", "session.transcript", "session.scrollback", "session.frame"} {
		c.ask(method, obj{"session": id})
	}
	c.note(`"session.output"`, "done")
	c.end()
	if text := tap.String(); strings.Contains(text, protocoltest.Canary) || !strings.Contains(text, "[REDACTED]") {
		t.Errorf("the link had %.2000s", text)
	}
}

// A tapped keeps what comes by links.
type tapped struct {
	mu   sync.Mutex
	text strings.Builder
}

func (t *tapped) of(s io.ReadWriteCloser) io.ReadWriteCloser { return &tappedStream{s, t} }

func (t *tapped) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

type tappedStream struct {
	io.ReadWriteCloser
	tap *tapped
}

func (s *tappedStream) Read(p []byte) (int, error) {
	n, err := s.ReadWriteCloser.Read(p)
	s.tap.mu.Lock()
	defer s.tap.mu.Unlock()
	s.tap.text.Write(p[:n])
	return n, err
}

// TestCorpusOfAHost: what is hostile of a client is as hostile of a host. Each case of the corpus comes as
// a host's answer; the hub answers its client, names the host, and serves the others.
func TestCorpusOfAHost(t *testing.T) {
	t.Parallel()
	for _, one := range protocoltest.Cases(t, "ndjson") {
		input := one.Bytes
		for _, piece := range one.Gen {
			input = append(input, bytes.Repeat(piece.Base64, min(piece.Repeat, 1<<20/len(piece.Base64)))...)
		}
		t.Run(one.ID, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bad := stubSite(t, "bad", &stub{epoch: "e", answer: func(int, string, json.RawMessage) []string {
					return []string{string(input), hangUp}
				}})
				c := newDesk(t, []*site{bad}).dial()
				err := c.Call(c.ctx, "session.list", obj{"host": "bad"}, nil)
				var e *client.Error
				if err != nil && (!errors.As(err, &e) || !strings.Contains(e.Message, "bad")) {
					t.Errorf("%v", err)
				}
				c.ask("session.list", obj{"host": ""})
			})
		})
	}
}

package terminalmcp

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/internal/host"
)

// fake returns a server whose default session is a scripted one.
func fake(t *testing.T) (*Server, *enginetest.PTY) {
	t.Helper()
	p := enginetest.New()
	e := enginetest.Engine(p)
	s, err := New(host.Over(e, nil, nil), Options{Shell: "sh", Cols: 20, Rows: 3, Sessions: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s, p
}

// TestProxyWire holds the socket's own wire: a line for each call, ids as they came, its own texts.
func TestProxyWire(t *testing.T) {
	s, p := fake(t)
	here, there := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.serveConn(context.Background(), there)
	}()
	in := bufio.NewReader(here)
	for _, c := range []struct{ ask, want string }{
		{`{"id":1,"method":"type","params":{"text":"hé"}}`, `{"id":1,"result":{"content":[{"type":"text","text":"Typed 2 character(s) to terminal"}]}}`},
		{`{"id":"a","method":"sendKey","params":{"key":"enter"}}`, `{"id":"a","result":{"content":[{"type":"text","text":"Sent key: enter"}]}}`},
		{`{"id":2,"method":"getContent"}`, `{"id":2,"result":{"content":[{"type":"text","text":"(empty terminal)"}]}}`},
		{`{"id":3,"method":"createSession","params":{}}`, `{"id":3,"error":{"message":"Unknown method: createSession"}}`},
		{`{"id":4,"method":"clear"}`, `{"id":4,"error":{"message":"Unknown method: clear"}}`},
		{`{"id":5,"method":"stopRecording","params":{"recordingId":"x"}}`, `{"id":5,"error":{"message":"Recording not found: x"}}`},
		{`{"method":"nope"}`, `{"error":{"message":"Unknown method: nope"}}`},
		{"\n\n" + `{"id":null,"method":"getContent","params":null}`, `{"id":null,"result":{"content":[{"type":"text","text":"(empty terminal)"}]}}`},
	} {
		if _, err := io.WriteString(here, c.ask+"\n"); err != nil {
			t.Fatal(err)
		}
		if got, err := in.ReadString('\n'); err != nil || got != c.want+"\n" {
			t.Errorf("%s: %s, %v; want %s", c.ask, got, err, c.want)
		}
	}
	for _, junk := range []string{"nope", `{"id":`, `[1]`, `5`} {
		if _, err := io.WriteString(here, junk+"\n"); err != nil {
			t.Fatal(err)
		}
		if got, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(got, `{"id":0,"error":{"message":"Parse error: `) {
			t.Errorf("%s: %s, %v", junk, got, err)
		}
	}
	here.Close()
	<-done
	if got := p.Input(); got != "hé\r" {
		t.Errorf("the program was typed %q", got)
	}
}

// TestProxyLosesItsTerminal: calls under way and later ones fail, none hangs.
func TestProxyLosesItsTerminal(t *testing.T) {
	here, there := net.Pipe()
	p := NewProxy(here)
	results := make(chan *Result, 2)
	for range 2 {
		go func() { results <- p.call(t.Context(), "getContent", nil) }()
	}
	in := bufio.NewReader(there)
	for range 2 {
		line, err := in.ReadBytes('\n')
		var q proxyRequest
		if err != nil || json.Unmarshal(line, &q) != nil || q.Method != "getContent" || q.Params != nil {
			t.Fatalf("%s, %v", line, err)
		}
	}
	io.WriteString(there, "junk\n"+`{"id":99,"result":{}}`+"\n") // is nobody's
	there.Close()
	<-p.Gone()
	for _, r := range []*Result{<-results, <-results, p.call(t.Context(), "type", nil)} {
		if r.IsError == nil || r.Content[0].Text != "Error: Socket closed" {
			t.Errorf("%+v", r)
		}
	}
	p.Close()
}

// TestDisposed: after Close every tool is refused.
func TestDisposed(t *testing.T) {
	s, _ := fake(t)
	s.Close()
	for _, tool := range []string{"getContent", "listSessions", "createSession", "startRecording"} {
		if r := s.Call(t.Context(), tool, nil); r.Content[0].Text != "Error: TerminalManager has been disposed" {
			t.Errorf("%s: %q", tool, r.Content[0].Text)
		}
	}
}

// TestGuests: a session that was started elsewhere on the engine is reached by its own name, and
// listed.
func TestGuests(t *testing.T) {
	ours, theirs := enginetest.New(), enginetest.New()
	e := enginetest.Engine(ours, theirs)
	s, err := New(host.Over(e, nil, nil), Options{Shell: "sh"})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background())
	defer s.Close()
	guest, err := e.Spawn(t.Context(), engine.Config{Program: "other"})
	if err != nil {
		t.Fatal(err)
	}
	id := string(guest.ID())
	arg, _ := json.Marshal(map[string]string{"sessionId": id, "text": "x"})
	if r := s.Call(t.Context(), "type", arg); r.IsError != nil || theirs.Input() != "x" || ours.Input() != "" {
		t.Errorf("%+v, %q", r, theirs.Input())
	}
	if r := s.Call(t.Context(), "listSessions", nil); !strings.Contains(r.Content[0].Text, `"sessionId": "`+id+`"`) {
		t.Errorf("%s", r.Content[0].Text)
	}
	if r := s.Call(t.Context(), "destroySession", arg); r.IsError == nil || *r.IsError || r.Content[0].Text != "Session '"+id+"' destroyed" {
		t.Errorf("%+v", r)
	}
	if r := s.Call(t.Context(), "getContent", arg); r.Content[0].Text != "Error: Session '"+id+"' not found" {
		t.Errorf("%+v", r)
	}
}

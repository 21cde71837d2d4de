package tools_test

import (
	"testing"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/redact"
)

// TestMCPClientsAreTold: what an MCP client types and waits for is told of under its name.
func TestMCPClientsAreTold(t *testing.T) {
	p := enginetest.New()
	w := serveOn(t, enginetest.Engine(p), new(redact.Known), false, nil)
	w.call("start", obj{"program": "fake"})
	w.call("send", obj{"session": "s1", "text": "hello"})
	p.Print("ready")
	w.call("wait", obj{"session": "s1", "text": "ready"})
	s, err := w.engine.Session("s1")
	if err != nil {
		t.Fatal(err)
	}
	events, _, _ := s.Events(0, 100)
	by := map[engine.EventKind]string{}
	for _, e := range events {
		by[e.Kind] = e.By
	}
	for _, kind := range []engine.EventKind{engine.EventInput, engine.EventWait} {
		if by[kind] != "mcp test" {
			t.Errorf("an event of kind %s is of %q", kind, by[kind])
		}
	}
}

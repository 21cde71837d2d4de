package native_test

import (
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/internal/pulse"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/native"
)

// A file is an audit whose disk the test fills.
type file struct {
	turns pulse.Pulse
	mu    sync.Mutex
	state protocol.AuditState
}

func (f *file) State() protocol.AuditState {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state
}

func (f *file) Changed() <-chan struct{} { return f.turns.Next() }

func (f *file) set(s protocol.AuditState) {
	f.mu.Lock()
	f.state = s
	f.mu.Unlock()
	f.turns.Beat()
}

// TestAuditIsTold: who asked for events is told when the audit stops and when it goes on, once each,
// and at once when it has stopped before; capabilities say it to everybody, with secrets hidden.
func TestAuditIsTold(t *testing.T) {
	e, f := engine.New(engine.Options{}), &file{}
	h := host.Over(e, nil, slog.New(slog.DiscardHandler))
	d := native.New(h, native.Options{Audit: f})
	w, late, deaf := newWireOf(t, e, d), newWireOf(t, e, d), newWireOf(t, e, d)
	w.result("server.set_notifications", obj{"enabled": true, "events": true})
	deaf.result("server.set_notifications", obj{"enabled": true})
	if r := w.result("server.capabilities", nil); at(r, "audit", "lost") != 0.0 || at(r, "audit", "problem") != nil {
		t.Errorf("%v", r["audit"])
	}
	full := protocol.AuditState{Lost: 3, Problem: "write /x: no space, password: marble-otter-71", Since: time.Unix(1_790_000_000, 0).UTC()}
	f.set(full)
	told := func(w *wire, lost float64, problem bool) {
		t.Helper()
		m := w.read()
		if m.Method != "server.audit" || m.Params["lost"] != lost || (m.Params["problem"] != nil) != problem || (m.Params["since"] != nil) != problem {
			t.Errorf("told %s", m.line)
		}
		if p, _ := m.Params["problem"].(string); problem && p != "write /x: no space, password: [REDACTED]" {
			t.Errorf("the problem is %q", p)
		}
	}
	told(w, 3, true)
	if r := deaf.result("server.capabilities", nil); at(r, "audit", "lost") != 3.0 || at(r, "audit", "problem") == nil {
		t.Errorf("%v", r["audit"])
	}
	late.result("server.set_notifications", obj{"enabled": true, "events": true})
	told(late, 3, true)
	f.set(protocol.AuditState{Lost: 5})
	told(w, 5, false)
	told(late, 5, false)
	f.set(full)
	told(w, 3, true)
	// Nothing came to who did not ask, nor twice.
	for _, x := range []*wire{w, deaf} {
		id := x.send("server.capabilities", nil)
		if m := x.read(); m.ID == nil || *m.ID != id {
			t.Errorf("told %s", m.line)
		}
	}
	if r := newWire(t, engine.New(engine.Options{})).result("server.capabilities", nil); r["audit"] != nil {
		t.Errorf("without an audit: %v", r["audit"])
	}
}

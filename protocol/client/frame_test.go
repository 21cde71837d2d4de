package client_test

import (
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// What a frame's call asks, and what there is of its answer.
func TestFrame(t *testing.T) {
	c, s := pair(t)
	go func() {
		r := s.next()
		if got, want := string(r.Params), `{"session":"s1","form":"ansi","since":7,"timeout_ms":50,"redact":false}`; r.Method != "session.frame" || got != want {
			t.Errorf("%s %s, want %s", r.Method, got, want)
		}
		s.send(`{"jsonrpc":"2.0","id":%d,"result":{"sequence":9,"full":true,"size":{"rows":2,"cols":3},"rows":[{"row":1,"ansi":"x"}],`+
			`"cursor":{"row":1,"col":2,"visible":true,"style":5},"modes":{"mouse":"drag","kitty_keyboard":3},"title":null,"secret_input":true,"bell":4,`+
			`"lease":{"holder":"Ada","since":"2026-01-02T03:04:05Z","yours":true},"exit":{"exit_code":3,"signal":null,"draining":true}}}`, r.ID)
	}()
	since, wait, redact := uint64(7), int64(50), false
	f, err := c.Session("s1").Frame(t.Context(), client.FrameOptions{Since: &since, TimeoutMS: &wait, Redact: &redact})
	if err != nil {
		t.Fatal(err)
	}
	if f.Sequence != 9 || !f.Full || f.Size != (client.Size{Rows: 2, Cols: 3}) || len(f.Rows) != 1 || f.Rows[0] != (client.FrameRow{Row: 1, ANSI: "x"}) ||
		f.Cursor.Col != 2 || f.Cursor.Style != 5 || f.Modes.Mouse != "drag" || f.Modes.KittyKeyboard != 3 || f.Title != nil || !f.SecretInput || f.Bell != 4 ||
		f.Lease == nil || !f.Lease.Yours || f.Lease.Holder != "Ada" || f.Exit == nil || *f.Exit.Code != 3 {
		t.Errorf("%+v", f)
	}
	if f.Over() { // what it left behind may write yet
		t.Error("a program whose output goes on is over")
	}
	if f.Exit.Draining = false; !f.Over() {
		t.Error("a program that has ended is not over")
	}
}

// What holds a session, and gives it back.
func TestLeaseIsHeldAndReleased(t *testing.T) {
	c, s := pair(t)
	want := []struct{ method, params string }{
		{"session.lease", `{"session":"s1","holder":"Ada","take":true}`},
		{"session.resize", `{"session":"s1","rows":5,"cols":6,"hold":true}`},
		{"session.resize", `{"session":"s1","rows":7,"cols":8}`},
		{"session.release", `{"session":"s1"}`},
	}
	go func() {
		for _, w := range want {
			r := s.next()
			if r.Method != w.method || string(r.Params) != w.params {
				t.Errorf("%s %s, want %s %s", r.Method, r.Params, w.method, w.params)
			}
			s.send(`{"jsonrpc":"2.0","id":%d,"result":{}}`, r.ID)
		}
	}()
	one, ctx := c.Session("s1"), t.Context()
	for _, err := range []error{one.Lease(ctx, "Ada", true), one.Hold(ctx, 5, 6), one.Resize(ctx, 7, 8), one.Release(ctx)} {
		if err != nil {
			t.Error(err)
		}
	}
}

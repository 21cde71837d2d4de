package native_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
)

// TestClientsAreToldApart: events and leases have what clients call themselves, with a number that no
// two share; what is not a name in a line does not get there.
func TestClientsAreToldApart(t *testing.T) {
	p := enginetest.New()
	a, b := newWires(t, enginetest.Engine(p))
	id := a.create()
	by := func(w *wire) string {
		t.Helper()
		since := w.result("session.events", obj{"session": id})["next"]
		w.result("session.input", obj{"session": id, "action": obj{"type": "signal", "value": "int"}})
		all := w.result("session.events", obj{"session": id, "since": since})["events"].([]any)
		return fmt.Sprint(at(all[len(all)-1], "by"))
	}
	if x, y := by(a), by(b); x == y || !strings.HasPrefix(x, "client ") || !strings.HasPrefix(y, "client ") {
		t.Errorf("clients without a name are %q and %q", x, y)
	}
	for _, w := range []*wire{a, b} {
		w.result("server.set_client", obj{"name": "repl"})
	}
	if x, y := by(a), by(b); x == y || !strings.HasPrefix(x, "repl ") || !strings.HasPrefix(y, "repl ") {
		t.Errorf("two REPLs are %q and %q", x, y)
	}
	if r := a.result("session.lease", obj{"session": id}); r["holder"] != "repl" {
		t.Errorf("the lease of a client with a name is %v's", r["holder"])
	}
	a.result("session.release", obj{"session": id})
	for sent, want := range map[string]string{
		strings.Repeat("é", 1000): strings.Repeat("é", 64) + " ",
		"token=hunter2hunter2":    "token=[REDACTED] ",
	} {
		a.result("server.set_client", obj{"name": sent})
		if got := by(a); !strings.HasPrefix(got, want) || strings.Count(got, " ") != strings.Count(want, " ") {
			t.Errorf("%.40q is called %q", sent, got)
		}
	}
	for _, bad := range []any{"two\nlines", "\x1b[31mred", 3, ""} {
		a.fails("server.set_client", obj{"name": bad}, -32602, "invalid_params")
	}
}

// TestHolderIsHiddenAlike: a secret in a holder's name is hidden wherever the name is told, also one
// that only this session knows, and one that is known since.
func TestHolderIsHiddenAlike(t *testing.T) {
	const shown, late = "Kq7zWv93Lm-shown", "Kq7zWv93Lm-later"
	p := enginetest.New()
	a, b := newWires(t, enginetest.Engine(p))
	id := a.create()
	p.Print("password: " + shown + "\r\nready\r\n")
	a.until(id, "ready")
	b.result("server.set_notifications", obj{"enabled": true, "events": true})
	taken := a.result("session.lease", obj{"session": id, "holder": "ann " + shown + " " + late})
	if held := b.noted(id, func(e obj) bool { return e["kind"] == "lease" }); strings.Contains(fmt.Sprint(held), shown) {
		t.Errorf("the event tells of %v", held["by"])
	}
	p.Print("password: " + late + "\r\nagain\r\n")
	a.until(id, "again")
	for _, all := range []bool{false, true} { // before, and after the second secret is known
		said := map[string]any{"leased": taken}
		if all {
			said = map[string]any{
				"leased again": a.result("session.lease", obj{"session": id}),
				"list":         b.result("session.list", obj{"details": true}),
				"frame":        b.result("session.frame", obj{"session": id})["lease"],
				"events":       b.result("session.events", obj{"session": id}),
				"refused":      b.fails("session.input", obj{"session": id, "action": obj{"type": "text", "value": "x"}}, -32004, "session_leased").line,
			}
		}
		for where, what := range said {
			text := fmt.Sprint(what)
			if strings.Contains(text, shown) || all && strings.Contains(text, late) || !strings.Contains(text, "ann [REDACTED]") {
				t.Errorf("%s: %s", where, text)
			}
		}
	}
	if strings.Contains(b.all.String(), shown) {
		t.Error("a notification tells the secret")
	}
}

package native_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/native"
)

// TestEveryRowStatesItsRights: a new method says what it needs.
func TestEveryRowStatesItsRights(t *testing.T) {
	rights, unstated := native.Rights()
	if len(unstated) > 0 {
		t.Errorf("the table does not say what %v need: use forRead, forType or forAdmin", unstated)
	}
	count := map[protocol.Rights]int{}
	for _, r := range rights {
		count[r]++
	}
	if len(rights) < 50 || len(count) != 3 {
		t.Errorf("%d methods, %v", len(rights), count)
	}
	// What a program feels, and what leaves a file or a program behind, is never a reader's.
	for _, name := range []string{"session.create", "session.close", "session.forget", "session.kill", "session.record_start",
		"session.record_stop", "adapter.start", "adapter.resume", "adapter.close", "plugin.load", "plugin.reload", "plugin.unload"} {
		if r, ok := rights[name]; !ok || r != protocol.RightAdmin {
			t.Errorf("%s needs %v", name, r)
		}
	}
	for _, name := range []string{"session.resize", "session.input", "session.run", "session.lease", "session.release",
		"adapter.send", "adapter.turn", "adapter.cancel_wait"} {
		if r, ok := rights[name]; !ok || r != protocol.RightType {
			t.Errorf("%s needs %v", name, r)
		}
	}
}

// demands are params with which a method needs more than without.
var demands = map[string]obj{
	"session.screenshot": {"path": "/nowhere/a.png"},
	"session.input":      {"action": obj{"type": "kill"}},
}

// TestEveryMethodWithEachRight tries each method of the table with each right, plainly and with what
// needs more of it: what is not covered is forbidden and nothing else is, and the answer says which
// right is needed, which there is, and what to do.
func TestEveryMethodWithEachRight(t *testing.T) {
	rights, _ := native.Rights()
	for _, has := range []protocol.Rights{protocol.RightRead, protocol.RightType, protocol.RightAdmin} {
		t.Run(has.String(), func(t *testing.T) {
			p := enginetest.New()
			a, b := newWires(t, enginetest.Engine(p))
			id := a.create()
			b.result("server.set_rights", obj{"rights": has.String()})
			if r := b.result("server.capabilities", nil); r["rights"] != has.String() {
				t.Errorf("the connection is told that it has %v", r["rights"])
			}
			for _, name := range slices.Sorted(maps.Keys(rights)) {
				params := func(more obj) obj {
					all := obj{"session": id, "program": "", "rows": 24, "cols": 80, "matcher": text(""), "text": "x", "timeout_ms": 0,
						"action": obj{"type": "mark_transcript", "value": "m"}, "command": "true", "plugin": "none", "adapter": "e9", "recording": "r9",
						"enabled": false, "ordering": "session", "strict": false, "rights": has.String(), "wait_id": "w", "locator": "rect 0,0",
						"name": "x", "manifest": obj{}, "manifest_path": "/nowhere/manifest.toml", "intent": "x", "send": obj{"intent": "x"}, "dir": "/nowhere"}
					maps.Copy(all, more)
					return all
				}
				tries := []struct {
					more  obj
					needs protocol.Rights
				}{{nil, rights[name]}}
				if theModelHas(t, name, "redact") {
					tries = append(tries, struct {
						more  obj
						needs protocol.Rights
					}{obj{"redact": false}, protocol.RightAdmin})
				}
				if more := demands[name]; more != nil {
					tries = append(tries, struct {
						more  obj
						needs protocol.Rights
					}{more, protocol.RightAdmin})
				}
				for _, try := range tries {
					if name == "session.input" && try.more != nil && has == protocol.RightAdmin || name == "session.kill" || name == "session.close" {
						if has == protocol.RightAdmin {
							continue // the session is needed
						}
					}
					m := b.call(name, params(try.more))
					refused := m.Error != nil && m.Error.Data["reason"] == "forbidden"
					if refused == has.Covers(try.needs) {
						t.Errorf("%s %v: %.300s", name, try.more, m.line)
						continue
					}
					if !refused {
						continue
					}
					if m.Error.Code != -32004 || m.Error.Data["method"] != name || m.Error.Data["needs"] != try.needs.String() ||
						m.Error.Data["rights"] != has.String() || (m.Error.Data["with"] != nil) != (try.needs != rights[name]) ||
						!strings.Contains(m.Error.Message, name) || !strings.Contains(m.Error.Message, "--rights "+try.needs.String()) {
						t.Errorf("%s %v: %.400s", name, try.more, m.line)
					}
				}
			}
			if has == protocol.RightRead && p.Input() != "" {
				t.Errorf("typed: %q", p.Input())
			}
			a.result("session.input", obj{"session": id, "action": obj{"type": "text", "value": "x"}})
		})
	}
}

// theModelHas reports whether a method's params have a member.
func theModelHas(t *testing.T, method, member string) bool {
	t.Helper()
	return strings.Contains(string(theModel.Defs[defOf(theModel.Methods[method].Params.Ref)]), fmt.Sprintf("%q:", member))
}

// TestRightsAreNeverRaised: whatever a connection says, it gets nothing back, and others keep what
// they have.
func TestRightsAreNeverRaised(t *testing.T) {
	p := enginetest.New()
	a, b := newWires(t, enginetest.Engine(p))
	id := a.create()
	b.result("server.set_rights", obj{"rights": "type"})
	b.result("session.input", obj{"session": id, "action": obj{"type": "text", "value": "b"}})
	b.result("server.set_rights", obj{"rights": "read"})
	typed := obj{"session": id, "action": obj{"type": "text", "value": "x"}}
	for _, up := range []string{"type", "admin"} {
		b.fails("server.set_rights", obj{"rights": up}, -32004, "forbidden")
	}
	for _, bad := range []obj{nil, {"rights": "full"}, {"rights": "Admin"}, {"rights": ""}, {"rights": nil}, {"rights": 1},
		{"Rights": "admin"}, {"rights": []string{"read", "admin"}}} {
		b.fails("server.set_rights", bad, -32602, "invalid_params")
	}
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":901,"method":"server.set_rights","params":{"rights":"read","rights":"admin"}}`,
		`{"jsonrpc":"2.0","id":902,"method":"server.set_rights","params":["admin"]}`,
		`{"jsonrpc":"2.0","id":903,"method":"Server.Set_Rights","params":{"rights":"admin"}}`,
		`{"jsonrpc":"2.0","id":904,"method":"session.input","method":"server.capabilities","params":{}}`,
		`[{"jsonrpc":"2.0","id":905,"method":"server.set_rights","params":{"rights":"admin"}},{"jsonrpc":"2.0","id":906,"method":"session.kill","params":{"session":"` + id + `"}}]`,
		`{"jsonrpc":"2.0","id":907,"method":"session.kill\u0000","params":{"session":"` + id + `"}}`,
		`{"jsonrpc":"2.0","method":"session.kill","params":{"session":"` + id + `"}}`,
	} {
		if _, err := b.c.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	for range 6 { // the last line has no id
		line, err := b.r.ReadString('\n')
		if err != nil || strings.Contains(line, `"result"`) {
			t.Errorf("%s, %v", line, err)
		}
	}
	b.fails("session.input", typed, -32004, "forbidden")
	if r := b.result("server.capabilities", nil); r["rights"] != "read" {
		t.Errorf("%v", r["rights"])
	}
	a.result("session.input", typed)
	if p.Input() != "bx" {
		t.Errorf("typed: %q", p.Input())
	}
}

// TestKillNeedsAdmin: input that types nothing and ends a program is no typing, wherever it stands;
// what Ctrl+C does is.
func TestKillNeedsAdmin(t *testing.T) {
	p := enginetest.New()
	a, b := newWires(t, enginetest.Engine(p))
	id := a.create()
	b.result("server.set_rights", obj{"rights": "type"})
	kill, x := obj{"type": "kill"}, obj{"type": "text", "value": "x"}
	signal := func(name string) obj { return obj{"type": "signal", "value": name} }
	for _, params := range []obj{
		{"action": kill}, {"actions": []obj{x, kill}}, {"actions": []obj{x}, "action": kill}, {"action": signal("kill")}, {"action": signal("term")},
		{"action": signal("hup")}, {"action": signal("KILL")}, {"actions": []obj{signal("int"), signal("user1")}},
	} {
		params["session"] = id
		b.fails("session.input", params, -32004, "forbidden")
	}
	b.result("session.input", obj{"session": id, "action": x})
	b.result("session.input", obj{"session": id, "action": obj{"type": "interrupt"}})
	b.result("session.input", obj{"session": id, "action": signal("int")})
	if p.Input() != "x\x03" {
		t.Errorf("typed: %q", p.Input())
	}
}

// TestLoweredGivesBack: what a connection had taken goes back when it may not type any more, with
// the size that it held; one that may keeps it.
func TestLoweredGivesBack(t *testing.T) {
	p := enginetest.New()
	a, b := newWires(t, enginetest.Engine(p))
	id := a.create()
	b.result("session.lease", obj{"session": id, "holder": "Bob"})
	b.result("session.resize", obj{"session": id, "rows": 10, "cols": 30, "hold": true})
	b.result("server.set_rights", obj{"rights": "type"})
	a.fails("session.lease", obj{"session": id}, -32004, "session_leased")
	b.result("server.set_rights", obj{"rights": "read"})
	if r := a.result("session.lease", obj{"session": id}); r["holder"] != "client" {
		t.Errorf("%v", r)
	}
	if s := p.Sizes(); s[len(s)-1] != (pty.Size{Rows: 24, Cols: 80}) {
		t.Errorf("sizes %v", s)
	}
}

// TestLoweredStopsWhatQueues: what was sent before, and waits for its turn, is refused when that
// comes.
func TestLoweredStopsWhatQueues(t *testing.T) {
	p := enginetest.New()
	a, _ := newWires(t, enginetest.Engine(p))
	id := a.create()
	wait := a.send("session.wait", obj{"session": id, "matcher": text("later")})
	typed := a.send("session.input", obj{"session": id, "action": obj{"type": "text", "value": "x"}})
	a.result("server.set_rights", obj{"rights": "read"})
	p.Print("later")
	if m := a.reply(wait); m.Error != nil {
		t.Errorf("%s", m.line)
	}
	if m := a.reply(typed); m.Error == nil || m.Error.Data["reason"] != "forbidden" || p.Input() != "" {
		t.Errorf("%s, %q", m.line, p.Input())
	}
}

// TestLoweredHidesNotifications: a connection that was told everything as it is, and gave up the
// right to that, is told no secret any more.
func TestLoweredHidesNotifications(t *testing.T) {
	p := enginetest.New()
	a, b := newWires(t, enginetest.Engine(p))
	a.create()
	told := func(want string) string {
		t.Helper()
		var all strings.Builder
		for !strings.Contains(all.String(), want) {
			if m := b.read(); m.Method == "session.output" {
				all.WriteString(at(m.Params, "output").(string))
			}
		}
		return all.String()
	}
	b.result("server.set_notifications", obj{"enabled": true, "redact": false})
	p.Print("password: marble-otter-71\r\nfirst\r\n")
	if got := told("first"); !strings.Contains(got, "marble-otter-71") {
		t.Errorf("told %q", got)
	}
	b.result("server.set_rights", obj{"rights": "type"})
	p.Print("password: basalt-finch-58\r\nsecond\r\n")
	if got := told("second"); strings.Contains(got, "basalt-finch-58") {
		t.Errorf("told %q", got)
	}
	b.fails("server.set_notifications", obj{"enabled": true, "redact": false}, -32004, "forbidden")
}

// TestClientsSayWhoTheyAre: a name is kept as it is, cut and redacted; one that could change a line
// of a log is refused.
func TestClientsSayWhoTheyAre(t *testing.T) {
	w := newWire(t, engine.New(engine.Options{}))
	if r := w.result("server.set_client", obj{"name": "hub", "host": "web-3"}); r["name"] != "hub" || r["host"] != "web-3" {
		t.Errorf("%v", r)
	}
	if r := w.result("server.set_client", obj{"name": strings.Repeat("a b ", 100)}); len([]rune(r["name"].(string))) > 64 || r["host"] != "web-3" {
		t.Errorf("%v", r)
	}
	for _, bad := range []string{"a\nb", "a\x1b[31m", "a\u202eb"} {
		w.fails("server.set_client", obj{"name": bad}, -32602, "invalid_params")
		w.fails("server.set_client", obj{"name": "x", "host": bad}, -32602, "invalid_params")
	}
}

// TestRightsPage: the table of docs/audit.md is that of the methods.
func TestRightsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, right := range native.RightsTable() {
		if !strings.Contains(string(page), right) {
			t.Errorf("docs/audit.md has not this row:\n%s", right)
		}
	}
}

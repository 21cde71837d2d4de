//go:build unix

package native_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol/native"
)

// herd is n terminals, and a connection to an engine that starts programs on them.
func herd(t *testing.T, n int) (*wire, []*enginetest.PTY) {
	t.Helper()
	var ptys []*enginetest.PTY
	for range n {
		ptys = append(ptys, enginetest.New())
	}
	return newWire(t, enginetest.Engine(ptys...)), ptys
}

// many are the params of a wait for several sessions.
func many(matcher obj, more obj) obj {
	p := obj{"matcher": matcher, "timeout_ms": hang.Milliseconds()}
	for k, v := range more {
		p[k] = v
	}
	return p
}

// named are the sessions in a list of an answer.
func named(v any) string {
	var all []string
	list, _ := v.([]any)
	for _, x := range list {
		all = append(all, at(x, "session").(string))
	}
	return strings.Join(all, " ")
}

// begun returns once everything that was sent before has begun, and waits.
func (w *wire) begun() { w.result("server.capabilities", nil) }

// TestWaitMany: one request waits for several sessions: for the first, for all, or for each, whose
// matches are told as they come. It neither queues behind the sessions' own requests nor holds them
// up.
func TestWaitMany(t *testing.T) {
	w, p := herd(t, 3)
	for range p {
		w.create()
	}
	three := []string{"s1", "s2", "s3"}
	first := w.send("session.wait_many", many(text("one"), obj{"sessions": three}))
	w.begun()
	w.result("session.input", obj{"session": "s2", "action": obj{"type": "text", "value": "x"}}) // not held up
	p[1].Print("one, password: hunter2")
	m := w.reply(first)
	found := m.Result["matched"].([]any)[0]
	if named(m.Result["matched"]) != "s2" || m.Result["waiting"] != 2.0 || m.Result["complete"] != false || len(m.Result["lost"].([]any)) != 0 {
		t.Errorf("any: %s", m.line)
	}
	if at(found, "outcome", "text") != "one" || !strings.HasPrefix(at(found, "snapshot", "plain_text").(string), "one, password: [") || at(found, "next") == nil {
		t.Errorf("any: %s", m.line)
	}
	r := w.result("session.wait_many", many(text("one"), obj{"sessions": []string{"s3", "s2"}, "redact": false, "timeout_ms": 0}))
	if s := at(r["matched"].([]any)[0], "snapshot", "plain_text"); s != "one, password: hunter2" {
		t.Errorf("not redacted: %v", s)
	}

	wait := w.send("session.wait", obj{"session": "s1", "matcher": text("one"), "timeout_ms": hang.Milliseconds()})
	all := w.send("session.wait_many", many(text("one"), obj{"sessions": three, "until": "all", "evidence": "none"}))
	w.begun()
	p[2].Print("one")
	p[0].Print("one")
	both := w.replies(wait, all)
	m = both[all]
	order := strings.Fields(named(m.Result["matched"]))
	slices.Sort(order)
	if strings.Join(order, " ") != "s1 s2 s3" || m.Result["complete"] != true || m.Result["waiting"] != 0.0 || at(m.Result["matched"].([]any)[0], "snapshot") != nil {
		t.Errorf("all: %s", m.line)
	}

	// Since where each of them matched, nothing has come.
	since := obj{}
	for _, x := range m.Result["matched"].([]any) {
		since[at(x, "session").(string)] = at(x, "next")
	}
	m = w.fails("session.wait_many", many(text("one"), obj{"sessions": three, "since": since, "timeout_ms": 0}), -32001, "timeout")
	if m.Error.Data["waiting"] != 3.0 || !strings.Contains(m.Error.Message, "0 of 3 sessions") {
		t.Errorf("since: %s", m.line)
	}
	since["s2"] = 0
	if r := w.result("session.wait_many", many(text("one"), obj{"sessions": three, "since": since, "timeout_ms": 0})); named(r["matched"]) != "s2" {
		t.Errorf("since: %v", r)
	}

	each := w.send("session.wait_many", many(text("two"), obj{"sessions": three, "until": "each", "wait": "my wait"}))
	w.begun()
	for i, n := range []int{2, 0} {
		p[n].Print(" two")
		note := w.read()
		if note.Method != "wait.matched" || note.Params["wait"] != "my wait" || note.Params["session"] != three[n] || at(note.Params, "outcome", "text") != "two" {
			t.Fatalf("%d: %s", i, note.line)
		}
	}
	p[1].End(7)
	m = w.reply(each)
	if named(m.Result["matched"]) != "s3 s1" || named(m.Result["ended"]) != "s2" || at(m.Result["ended"].([]any)[0], "exit", "exit_code") != 7.0 || m.Result["complete"] != true {
		t.Errorf("each: %s", m.line)
	}
	m = w.fails("session.wait_many", many(text("three"), obj{"sessions": three, "until": "all", "evidence": "all"}), -32002, "session_ended")
	if named(m.Error.Data["ended"]) != "s2" || at(m.Error.Data["ended"].([]any)[0], "matcher", "held") != false || !strings.Contains(m.Error.Message, "session s2 has ended") || named(m.Error.Data["lacking"]) != "s1 s3" {
		t.Errorf("all, of which one has ended: %s", m.line)
	}
}

// TestWaitManyEndsEarly: a wait that is cancelled, or runs out of time, tells what it had found.
func TestWaitManyEndsEarly(t *testing.T) {
	w, p := herd(t, 2)
	for range p {
		w.create()
	}
	p[0].Print("yes")
	w.until("s1", "yes")
	params := many(text("yes"), obj{"sessions": []string{"s1", "s2"}, "until": "all", "evidence": "all"})
	id := w.send("session.wait_many", params)
	w.begun()
	cancel := w.send("$/cancelRequest", obj{"id": id})
	m := w.replies(id, cancel)[id]
	if m.Error == nil || m.Error.Code != -32005 || m.Error.Data["reason"] != "cancelled" || named(m.Error.Data["matched"]) != "s1" || m.Error.Data["waiting"] != 1.0 {
		t.Errorf("cancelled: %s", m.line)
	}
	params["timeout_ms"] = 0
	m = w.fails("session.wait_many", params, -32001, "timeout")
	lacking := m.Error.Data["lacking"].([]any)[0]
	if named(m.Error.Data["matched"]) != "s1" || at(lacking, "session") != "s2" || at(lacking, "matcher", "why") == nil || at(lacking, "snapshot", "plain_text") != "" || m.Error.Data["complete"] != false {
		t.Errorf("timed out: %s", m.line)
	}
}

// TestWaitManySelects: sessions are chosen by tag, name, program, adapter and plugin, those that
// appear meanwhile as well, and an adapter's states can be waited for.
func TestWaitManySelects(t *testing.T) {
	w, p := herd(t, 5)
	w.load("asks", asks)
	w.result("session.create", obj{"program": "/bin/fake", "tags": []string{"build", "fast"}, "name": "one"})
	w.result("session.create", obj{"program": "fake", "tags": []string{"build"}})
	for _, c := range []struct {
		by   obj
		want string
	}{
		{obj{}, "s1 s2"}, {obj{"tag": "build"}, "s1 s2"}, {obj{"tag": "fast"}, "s1"}, {obj{"name": "one"}, "s1"}, {obj{"program": "fake"}, "s1 s2"},
		{obj{"program": "/bin/fake"}, "s1"}, {obj{"tag": "build", "program": "other"}, ""}, {obj{"tag": "slow"}, ""}, {obj{"plugin": "asks"}, ""}, {obj{"adapter": "e1"}, ""},
	} {
		m := w.fails("session.wait_many", many(text("never"), obj{"select": c.by, "timeout_ms": 0, "evidence": "all"}), -32001, "timeout")
		if got := named(m.Error.Data["lacking"]); got != c.want {
			t.Errorf("%v chooses %q, want %q: %s", c.by, got, c.want, m.line)
		}
	}
	list := w.result("session.list", obj{"details": true})["details"].([]any)
	if fmt.Sprint(at(list[0], "tags")) != "[build fast]" {
		t.Errorf("listed: %v", list[0])
	}

	state := obj{"type": "state", "value": []string{"asking", "busy"}}
	byPlugin := w.send("session.wait_many", many(state, obj{"select": obj{"plugin": "asks"}}))
	byTag := w.send("session.wait_many", many(text("built"), obj{"select": obj{"tag": "late"}, "until": "all"}))
	w.begun()
	w.result("adapter.start", obj{"plugin": "asks", "tags": []string{"agent"}})
	w.result("session.create", obj{"program": "fake", "tags": []string{"late"}})
	p[2].Print("Allow rm?")
	p[3].Print("built")
	both := w.replies(byPlugin, byTag)
	found := both[byPlugin].Result["matched"].([]any)[0]
	if at(found, "session") != "s3" || at(found, "outcome", "state") != "asking" || at(found, "outcome", "plugin") != "asks" || at(found, "outcome", "evidence") != "rm" {
		t.Errorf("by its plugin: %s", both[byPlugin].line)
	}
	if m := both[byTag]; named(m.Result["matched"]) != "s4" || m.Result["complete"] != true {
		t.Errorf("by its tag: %s", m.line)
	}
	if r := w.result("session.wait", obj{"session": "s3", "matcher": state, "timeout_ms": 0}); at(r, "outcome", "state") != "asking" {
		t.Errorf("session.wait: %v", r)
	}
	m := w.fails("session.wait", obj{"session": "s1", "matcher": state, "timeout_ms": 0}, -32001, "timeout")
	if why := at(m.Error.Data, "matcher", "why"); why != "no adapter drives the session" {
		t.Errorf("without an adapter: %v", why)
	}
}

// TestWaitManyBadInput: what is wrong with a request is told with its place, before anybody is
// waited for.
func TestWaitManyBadInput(t *testing.T) {
	w, _ := herd(t, 2)
	w.create()
	w.create()
	ids := make([]string, 10_000)
	for i := range ids {
		ids[i] = fmt.Sprint("s", i+1)
	}
	never := text("never")
	for _, c := range []struct {
		params       obj
		code         int
		reason, says string
	}{
		{many(never, obj{}), -32602, "invalid_params", "sessions or select, got nothing"},
		{many(never, obj{"sessions": []string{"s1"}, "select": obj{}}), -32602, "invalid_params", "got both"},
		{many(never, obj{"sessions": []string{}}), -32602, "invalid_params", "params.sessions: expected 1 to "},
		{many(never, obj{"sessions": ids}), -32602, "invalid_params", "got 10000"},
		{many(never, obj{"sessions": []string{"s1", "s2", "s1"}}), -32602, "invalid_params", `params.sessions[2]: "s1" is named twice`},
		{many(never, obj{"sessions": []string{"s1", "s77"}}), -32602, "unknown_session", `params.sessions[1]: unknown session "s77"`},
		{many(never, obj{"sessions": []any{"s1", nil}}), -32602, "invalid_params", "params.sessions[1]"},
		{many(never, obj{"select": obj{"tga": "build"}}), -32602, "invalid_params", "params.select: expected adapter, plugin, program, tag, name and host only"},
		{many(never, obj{"sessions": []string{"s1"}, "since": obj{"s2": 1}}), -32602, "invalid_params", "only what is in sessions"},
		{many(never, obj{"sessions": []string{"s1"}, "since": obj{"s1": nil}}), -32602, "invalid_params", "params.since"},
		{many(never, obj{"sessions": []string{"s1"}, "since": obj{"s1": "p1-2@s2"}}), -32602, "invalid_params", "params.since.s1"},
		{many(never, obj{"sessions": []string{"s1"}, "until": "some"}), -32602, "invalid_params", "params.until"},
		{many(never, obj{"sessions": []string{"s1"}, "evidence": "some"}), -32602, "invalid_params", "params.evidence"},
		{many(never, obj{"sessions": []string{"s1"}, "wait": strings.Repeat("x", 65)}), -32602, "invalid_params", "params.wait"},
		{many(obj{"type": "bells"}, obj{"select": obj{}}), -32602, "invalid_matcher", "bells"},
		{many(obj{"type": "state", "value": []string{}}, obj{"select": obj{}}), -32602, "invalid_matcher", "1 to 32 states"},
		{many(obj{"type": "state", "value": []any{1}}, obj{"select": obj{}}), -32602, "invalid_matcher", "matcher.value[0]"},
		{many(obj{"type": "lua", "value": obj{"plugin": "nobody", "predicate": "x"}}, obj{"select": obj{}}), -32602, "invalid_matcher", "nobody"},
	} {
		if m := w.fails("session.wait_many", c.params, c.code, c.reason); m.Error != nil && !strings.Contains(m.Error.Message, c.says) {
			t.Errorf("%q, want %q", m.Error.Message, c.says)
		}
	}
	// The future of a session has not come yet, which is no mistake.
	w.fails("session.wait_many", many(never, obj{"sessions": []string{"s1"}, "since": obj{"s1": 1 << 50}, "timeout_ms": 0}), -32001, "timeout")
	for path, tags := range map[string]any{"tags[1]": []string{"ok", "Not"}, "tags": make([]string, 17)} {
		if m := w.fails("session.create", obj{"program": "fake", "tags": tags}, -32602, "invalid_params"); !strings.HasPrefix(m.Error.Message, "params."+path+": ") {
			t.Errorf("%s", m.line)
		}
	}
}

// TestWaitManyOfAPluginThatFails: the session is named, no other is harmed, and no secret of its
// screen is told.
func TestWaitManyOfAPluginThatFails(t *testing.T) {
	w, p := herd(t, 2)
	w.load("asks", asks)
	w.create()
	w.create()
	p[1].Print("Allow password: hunter2?")
	w.until("s2", "Allow")
	lua := obj{"type": "lua", "value": obj{"plugin": "asks", "predicate": "fails"}}
	m := w.fails("session.wait_many", many(lua, obj{"sessions": []string{"s1", "s2"}}), -32603, "plugin_failed")
	if m.Error != nil && (!strings.HasPrefix(m.Error.Message, "session s2: ") || strings.Contains(m.line, "hunter2")) {
		t.Errorf("%s", m.line)
	}
	w.until("s2", "Allow")
}

// TestWaitManyOfTheForgotten: of a session that was forgotten the exit is known.
func TestWaitManyOfTheForgotten(t *testing.T) {
	w, ptys := herd(t, 2)
	w.result("session.create", obj{"program": "fake", "name": "gone"})
	w.create()
	ptys[0].End(5)
	w.result("session.wait", obj{"session": "s1", "matcher": obj{"type": "process_exited"}})
	if r := w.result("session.forget", nil)["forgotten"].([]any); len(r) != 1 {
		t.Fatalf("forgotten: %v", r)
	}
	both := []string{"gone", "s2"}
	r := w.result("session.wait_many", many(obj{"type": "process_exited"}, obj{"sessions": both}))
	found := r["matched"].([]any)[0]
	if at(found, "session") != "s1" || at(found, "name") != "gone" || at(found, "forgotten") != true || at(found, "snapshot", "exit", "exit_code") != 5.0 {
		t.Errorf("%v", r)
	}
	m := w.fails("session.wait_many", many(text("x"), obj{"sessions": both, "until": "all"}), -32002, "session_ended")
	ended := m.Error.Data["ended"].([]any)[0]
	if at(ended, "session") != "s1" || at(ended, "forgotten") != true || at(ended, "exit", "exit_code") != 5.0 || at(ended, "name") != "gone" {
		t.Errorf("%s", m.line)
	}
}

// TestWaitManyOfAClientThatIsGone: each of its waits ends with it, and TestMain sees that no goroutine
// is left.
func TestWaitManyOfAClientThatIsGone(t *testing.T) {
	var ptys []*enginetest.PTY
	for range 50 {
		ptys = append(ptys, enginetest.New())
	}
	e := enginetest.Engine(ptys...)
	d := native.New(host.Over(e, nil, slog.New(slog.DiscardHandler)), native.Options{})
	a, b := newWireOf(t, e, d), newWireOf(t, e, d)
	for range ptys {
		a.create()
	}
	for _, until := range []string{"any", "all", "each"} {
		a.send("session.wait_many", many(text("never"), obj{"select": obj{}, "until": until}))
	}
	a.begun()
	a.c.Close()
	for {
		noted := e.Noted()
		if e.Stats().Waits.Cancelled == 150 {
			break
		}
		<-noted
	}
	if r := b.result("session.wait_many", many(obj{"type": "not", "value": text("x")}, obj{"select": obj{}})); len(r["matched"].([]any)) != 1 {
		t.Errorf("%v", r)
	}
}

// TestWaitManyTellsASlowClientEverything: one that does not read its notifications while they come
// finds all matches in the answer.
func TestWaitManyTellsASlowClientEverything(t *testing.T) {
	const n = 60
	w, p := herd(t, n)
	for range p {
		w.create()
	}
	id := w.send("session.wait_many", many(text("yes"), obj{"select": obj{}, "until": "each"}))
	w.begun()
	for _, x := range p {
		x.Print(strings.Repeat("a line of eighty characters, more or less, to fill the screens\r\n", 23) + "yes")
	}
	told := map[any]int{}
	var m message
	for m = w.read(); m.ID == nil || *m.ID != id; m = w.read() {
		if m.Method == "wait.matched" {
			told[m.Params["session"]]++
		}
	}
	if len(m.Result["matched"].([]any)) != n || len(told) != n {
		t.Errorf("%d in the answer, %d told", len(m.Result["matched"].([]any)), len(told))
	}
	for s, n := range told {
		if n != 1 {
			t.Errorf("%v was told %d times", s, n)
		}
	}
}

// TestWaitManyScreensAreBounded: an answer has 16 MiB of screens at most, and says what it leaves
// out; all sessions are in it.
func TestWaitManyScreensAreBounded(t *testing.T) {
	const n = 18
	w, p := herd(t, n)
	line := strings.Repeat("x", 1000)
	for i := range p {
		w.result("session.create", obj{"program": "fake", "rows": 1000, "cols": 1000})
		p[i].Print(strings.Repeat(line, 999) + "\r\nyes")
		w.result("session.wait", obj{"session": fmt.Sprint("s", i+1), "matcher": text("yes"), "timeout_ms": hang.Milliseconds()})
	}
	r := w.result("session.wait_many", many(text("yes"), obj{"select": obj{}, "until": "all"}))
	shown := 0
	for _, x := range r["matched"].([]any) {
		if at(x, "snapshot") != nil {
			shown++
		}
	}
	if len(r["matched"].([]any)) != n || r["truncated"] != true || shown == 0 || shown == n {
		t.Errorf("%d matched, %d shown, truncated %v", len(r["matched"].([]any)), shown, r["truncated"])
	}
}

// TestInputOnce: an input with an id is typed once, over any connection; capabilities tell one
// server from the next.
func TestInputOnce(t *testing.T) {
	p := enginetest.New()
	e := enginetest.Engine(p)
	a, b := newWires(t, e)
	a.create()
	input := func(id string, action obj) obj { return obj{"session": "s1", "id": id, "action": action} }
	hello := obj{"type": "text", "value": "hello"}
	first := a.result("session.input", input("i-1", hello))
	p.Print("x")
	a.until("s1", "x")
	again := b.result("session.input", input("i-1", hello))
	if first["again"] != nil || again["again"] != true || again["sequence"] != first["sequence"] || p.Input() != "hello" {
		t.Errorf("%v, %v, typed %q", first, again, p.Input())
	}
	if r := b.result("session.input", obj{"session": "s1", "id": "i-1", "until": "read", "action": json.RawMessage(`{ "value":"hell\u006f", "type":"text" }`)}); r["again"] != true {
		t.Errorf("written in another way: %v", r)
	}
	b.fails("session.input", input("i-1", obj{"type": "text", "value": "other"}), -32602, "input_id_in_use")
	b.fails("session.input", obj{"session": "s1", "id": "i-1", "action": hello, "delay_ms": 5}, -32602, "input_id_in_use")
	for _, id := range []string{"", strings.Repeat("x", 65)} {
		a.fails("session.input", input(id, hello), -32602, "invalid_params")
	}
	a.result("session.input", input("i-2", hello))
	if p.Input() != "hellohello" {
		t.Errorf("typed %q", p.Input())
	}
	one, two := a.result("server.capabilities", nil)["epoch"], b.result("server.capabilities", nil)["epoch"]
	other := engine.New(engine.Options{})
	defer other.Close(context.Background())
	if one != two || one != e.Epoch() || other.Epoch() == one || len(one.(string)) < 16 {
		t.Errorf("epochs %v, %v, %s", one, two, other.Epoch())
	}
}

package native_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
)

// panes are two frames with the same text in both, and the mouse.
const panes = "\x1b[?1000;1006h┌ Files ───┬ Diff ───┐\r\n│ a.txt  1 │ a.txt   │\r\n│ \x1b[7mb.txt\x1b[0m  2 │ + two   │\r\n│ c.txt  3 │         │\r\n└──────────┴─────────┘\r\n"

// locate asks for a place, and looks once unless told otherwise.
func (w *wire) locate(id string, locator any, more obj) message {
	w.t.Helper()
	params := obj{"session": id, "locator": locator, "timeout_ms": 0}
	maps.Copy(params, more)
	return w.call("session.locate", params)
}

// places writes the places of an answer: row,col+cols "text", and what else they have.
func places(v any) string {
	var out []string
	for _, x := range v.([]any) {
		s := ""
		for _, span := range at(x, "spans").([]any) {
			s += fmt.Sprintf("%v,%v+%v ", at(span, "row"), at(span, "col"), at(span, "cols"))
		}
		s += fmt.Sprintf("%q", at(x, "text"))
		if style := at(x, "style"); style != nil {
			s += fmt.Sprint(" ", style)
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func TestLocate(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.create()
	p.Print(panes)
	w.until(id, "c.txt")
	for _, c := range []struct {
		locator any
		want    string
	}{
		{"'a.txt'", `1,2+5 "a.txt"; 1,13+5 "a.txt"`},
		{"'a.txt' in box 'Diff'", `1,13+5 "a.txt"`},
		{obj{"type": "in", "value": obj{"what": obj{"type": "style", "value": "inverse"}, "where": "box 'Files'"}}, `2,2+5 "b.txt" inverse`},
		{"cross 'c.txt' /\\d/", ``},
		{"selected in box 'Files'", `2,2+8 "b.txt  2"`},
	} {
		m := w.locate(id, c.locator, nil)
		if c.want == "" {
			continue
		}
		if m.Error != nil || places(m.Result["matches"]) != c.want || m.Result["total"] != float64(strings.Count(c.want, ";")+1) {
			t.Errorf("%v: %.300s, want %s", c.locator, m.line, c.want)
		}
	}
	if m := w.locate(id, "selected in box 'Files'", nil); !strings.Contains(fmt.Sprint(m.Result["why"]), "selected of places guesses 2,2 1x8 with confidence 0.90: row 3 is inverse") {
		t.Errorf("a guess says %v", m.Result["why"])
	}

	// Strict: several are an error with all places, none one with the nearest line.
	m := w.locate(id, "'a.txt'", obj{"strict": true})
	if m.Error == nil || m.Error.Code != -32001 || m.Error.Data["reason"] != "ambiguous" || m.Error.Data["count"] != 2.0 ||
		places(m.Error.Data["places"]) != `1,2+5 "a.txt"; 1,13+5 "a.txt"` || at(m.Error.Data, "snapshot", "plain_text") == nil {
		t.Errorf("%s", m.line)
	}
	m = w.locate(id, "'a.text' in box 'Diff'", nil)
	if m.Error == nil || m.Error.Data["reason"] != "not_found" || !strings.Contains(fmt.Sprint(m.Error.Data["nearest"]), "a.txt") || len(m.Error.Data["stages"].([]any)) != 4 {
		t.Errorf("%s", m.line)
	}
	w.fails("session.locate", obj{"session": id, "locator": obj{"type": "lines", "value": "'x"}}, -32602, "invalid_locator")
	w.fails("session.locate", obj{"session": id, "locator": "guess 'nobody' 'f'"}, -32602, "invalid_locator")
	w.fails("session.locate", obj{"session": id, "locator": "guess 'ask' 'nothing'"}, -32602, "invalid_locator")

	// It waits for what comes, and for what goes.
	coming := w.send("session.locate", obj{"session": id, "locator": "'Saved'"})
	w.result("server.capabilities", nil)
	p.Print("Saved")
	if m := w.reply(coming); m.Error != nil || places(m.Result["matches"]) != `5,0+5 "Saved"` {
		t.Errorf("%s", m.line)
	}
	seq := w.locate(id, "'Saved'", obj{"state": "stable", "timeout_ms": hang.Milliseconds()}).Result["sequence"]
	if m := w.locate(id, "'Saved'", obj{"state": "hidden"}); m.Error == nil || m.Error.Data["reason"] != "timeout" || !strings.Contains(fmt.Sprint(at(m.Error.Data, "matcher", "why")), `found 1: 5,0 "Saved"`) {
		t.Errorf("%s", m.line)
	}
	going := w.send("session.locate", obj{"session": id, "locator": "'Saved'", "state": "hidden"})
	w.result("server.capabilities", nil)
	p.Print("\r\x1b[2K")
	if m := w.reply(going); m.Error != nil || len(m.Result["matches"].([]any)) != 0 {
		t.Errorf("%s", m.line)
	}

	// Of the past, and only what came after something.
	if m := w.locate(id, "'Saved'", obj{"at": seq}); m.Error != nil || m.Result["sequence"] != seq || m.Result["shown_at"] == nil {
		t.Errorf("%s", m.line)
	}
	if m := w.locate(id, "'b.txt'", obj{"since": seq}); m.Error == nil || m.Error.Data["reason"] != "not_found" {
		t.Errorf("%s", m.line)
	}
	w.fails("session.locate", obj{"session": id, "locator": "box", "at": seq, "state": "stable"}, -32602, "invalid_params")
}

// TestLocateHidesSecrets: texts are matched as they are and told redacted, also in errors.
func TestLocateHidesSecrets(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.create()
	p.Print("\x1b[?1000;1006htoken=abcdefgh12345678 ok\r\ntoken=abcdefgh12345678 ok\r\nready")
	w.until(id, "ready")
	w.all.Reset()
	w.locate(id, "/\\w*1234\\w*/", nil)
	if w.locate(id, "/\\w*1234\\w*/", obj{"strict": true}).Error == nil || w.locate(id, "first /=(\\w+)/", nil).Error != nil {
		t.Error("it is not matched as it is")
	}
	w.locate(id, "'token=abcdefgx' in box", nil)
	w.call("session.input", obj{"session": id, "timeout_ms": 1, "action": obj{"type": "click", "value": obj{"locator": "/=(\\w+)/"}}})
	w.call("session.wait", obj{"session": id, "timeout_ms": 0, "matcher": obj{"type": "located", "value": obj{"locator": "/=(\\w+)/", "count": 7}}})
	w.result("session.wait", obj{"session": id, "matcher": obj{"type": "located", "value": obj{"locator": "/=(\\w+)/", "count": 2}}})
	if strings.Contains(w.all.String(), "abcdefgh1234") || !strings.Contains(w.all.String(), "REDACTED") {
		t.Errorf("a secret is told: %s", w.all.String())
	}
	if m := w.locate(id, "first /=(\\w+)/", obj{"redact": false}); places(m.Result["matches"]) != `0,6+16 "abcdefgh12345678"` {
		t.Errorf("%s", m.line)
	}
}

// TestLocateTooMuch: a question that a screen makes too large fails at once, and says so; the
// opposite of one does not hold.
func TestLocateTooMuch(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.create()
	p.Print(strings.Repeat("a", 24*80-10) + "\r\nready")
	w.until(id, "ready")
	located := obj{"type": "located", "value": obj{"locator": "'a' right_of 'a'"}}
	const tooLong = 600_000 // a wait that took its time would never end
	for _, matcher := range []obj{located, {"type": "not", "value": located},
		{"type": "all", "value": []obj{located, text("never")}}} {
		w.fails("session.wait", obj{"session": id, "matcher": matcher, "timeout_ms": tooLong},
			-32603, "limit_exceeded")
	}
	for _, state := range []string{"visible", "hidden", "stable"} {
		w.fails("session.locate", obj{"session": id, "locator": "'a' right_of 'a'", "state": state,
			"timeout_ms": tooLong}, -32603, "limit_exceeded")
	}
	w.fails("session.input", obj{"session": id, "action": obj{"type": "click",
		"value": obj{"locator": "'a' right_of 'a'"}}, "timeout_ms": tooLong}, -32603, "limit_exceeded")
	either := obj{"type": "any", "value": []obj{located, text("ready")}}
	w.result("session.wait", obj{"session": id, "matcher": either})
}

// TestLocatedMatcher composes with others, latches, and is asked about the past.
func TestLocatedMatcher(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.create()
	located := func(words string, more obj) obj {
		value := obj{"locator": words}
		maps.Copy(value, more)
		return obj{"type": "located", "value": value}
	}
	p.Print(panes + "\x1b[s for a moment \x1b[u\x1b[Kready")
	w.until(id, "ready")
	for _, c := range []struct {
		matcher obj
		more    obj
		want    bool
	}{
		{located("'a.txt'", nil), nil, true},
		{located("'a.txt'", obj{"count": 2}), nil, true},
		{located("'a.txt'", obj{"count": 1}), nil, false},
		{located("'z.txt'", obj{"count": 0}), nil, true},
		{obj{"type": "not", "value": located("'z.txt'", nil)}, nil, true},
		{obj{"type": "all", "value": []obj{located("'b.txt' and style 'inverse'", nil), text("ready")}}, nil, true},
		{obj{"type": "any", "value": []obj{located("'z.txt'", nil), located("box 'Diff'", nil)}}, nil, true},
		{located("'moment'", nil), nil, false},
		{located("'moment'", nil), obj{"latched": true, "since": 0}, true},
		{located("'a.txt'", nil), obj{"since": 1_000_000}, false},
	} {
		params := obj{"session": id, "timeout_ms": 0, "matcher": c.matcher}
		maps.Copy(params, c.more)
		if m := w.call("session.wait", params); (m.Error == nil) != c.want {
			t.Errorf("%v %v: %.400s", c.matcher, c.more, m.line)
		}
	}
	r := w.result("session.wait", obj{"session": id, "matcher": located("'a.txt'", nil)})
	if at(r, "outcome", "count") != 2.0 || places(at(r, "outcome", "places")) != `1,2+5 "a.txt"; 1,13+5 "a.txt"` {
		t.Errorf("%v", r["outcome"])
	}
	h := w.result("session.history", obj{"session": id, "matcher": located("'moment'", nil), "which": "all"})
	if spans := h["spans"].([]any); len(spans) != 1 {
		t.Errorf("%d spans in the past: %v", len(spans), h)
	}
	w.fails("session.wait", obj{"session": id, "matcher": located("'a", nil)}, -32602, "invalid_matcher")
}

// TestClickOnTheWire: what is named is pressed, its receipt is told, and what cannot be pressed says
// why.
func TestClickOnTheWire(t *testing.T) {
	p, q := enginetest.New(), enginetest.New()
	w := newWire(t, enginetest.Engine(p, q))
	id, other := w.create(), w.create()
	p.Print(strings.Repeat("above\r\n", 30) + "gone\r\n" + strings.Repeat("line\r\n", 30) + panes)
	w.until(id, "c.txt")
	q.Print("ready")
	w.until(other, "ready")
	input := func(id, kind string, value obj) message {
		return w.call("session.input", obj{"session": id, "timeout_ms": 1, "action": obj{"type": kind, "value": value}})
	}
	row := w.locate(id, "'b.txt'", nil).Result["matches"].([]any)[0]
	y := at(row.(obj)["spans"].([]any)[0], "row").(float64)
	m := input(id, "click", obj{"locator": "'b.txt' in box 'Files'", "at": "start", "button": "right", "mods": []string{"ctrl"}})
	receipt := m.Result["receipts"].([]any)[0].(obj)
	if want := fmt.Sprintf("\x1b[<18;3;%vM\x1b[<18;3;%[1]vm", y+1); p.Input() != want || receipt["row"] != y || receipt["col"] != 2.0 || receipt["still_there"] != true || receipt["reacted"] != false || receipt["moved"] != nil {
		t.Errorf("%q, want %q: %s", p.Input(), want, m.line)
	}
	if m := input(id, "scroll", obj{"in": obj{"row": 3, "col": 4}, "towards": "up", "by": 2}); !strings.HasSuffix(p.Input(), "\x1b[<64;5;4M\x1b[<64;5;4M") || m.Error != nil {
		t.Errorf("%q, %s", p.Input(), m.line)
	}
	was := p.Input()
	for reason, m := range map[string]message{
		"ambiguous":             input(id, "click", obj{"locator": "'a.txt'"}),
		"not_found":             input(id, "click", obj{"locator": "'z.txt'"}),
		"off_screen":            input(id, "click", obj{"locator": "'gone'"}),
		"mouse_not_requested":   input(other, "click", obj{"locator": "'ready'"}),
		"position_out_of_range": input(id, "click", obj{"row": 900, "col": 0}),
		"invalid_action":        input(id, "click", obj{"locator": "'a", "count": 1}),
	} {
		if m.Error == nil || m.Error.Data["reason"] != reason {
			t.Errorf("%s, want %s", m.line, reason)
		}
	}
	if p.Input() != was || q.Input() != "" {
		t.Errorf("something was pressed: %q, %q", p.Input(), q.Input())
	}
	m = input(id, "drag", obj{"from": obj{"locator": "'a"}, "to": obj{"row": 0, "col": 0}})
	if m.Error == nil || !strings.Contains(m.Error.Message, "action.value.from.locator: locator, at byte 0: a quoted text is not closed") {
		t.Errorf("%s", m.line)
	}
}

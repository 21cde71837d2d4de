package native_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
)

// TestGolden: a screen is written down as it is compared; what replaces a file keeps its letters,
// parts and masks, and says whether anything differs; of what cannot be written the member is named.
func TestGolden(t *testing.T) {
	p := enginetest.New()
	e := enginetest.Engine(p)
	w := newWire(t, e)
	id, s := w.stepped(e, nil)
	first := w.step(p, s, "\x1b]2;token=hunter2hunter2\aone \x1b[31mred\x1b[0m 12:34")
	golden := func(more obj) obj {
		t.Helper()
		params := obj{"session": id}
		for k, v := range more {
			params[k] = v
		}
		return w.result("session.golden", params)
	}
	r := golden(obj{"masks": []string{`clock /\d\d:\d\d/`}})
	written := r["screen"].(string)
	want := "screen 1\nsize 24x80\ntitle \"token=[REDACTED]\"\ncursor 0,13\nmodes\nmask clock /\\d\\d:\\d\\d/\n--\n|one red «clo»\n~    rrr .....\n|\n*23\n--\nr fg=red\n"
	if written != want || r["sequence"] != float64(first) || r["same"] != nil {
		t.Errorf("%v\n%s\nnot\n%s", r, written, want)
	}
	if raw := golden(obj{"redact": false, "text_only": true, "region": "0,0 1x3"})["screen"]; raw != "screen 1\nsize 24x80\nregion 0,0 1x3\n--\n|one\n" {
		t.Errorf("%q", raw)
	}
	if raw := golden(obj{"redact": false})["screen"].(string); !strings.Contains(raw, "hunter2hunter2") {
		t.Errorf("unredacted it has no title: %s", raw)
	}
	if r := golden(obj{"previous": written}); r["same"] != true || r["screen"] != written {
		t.Errorf("nothing has changed: %v", r)
	}
	wait := obj{"session": id, "timeout_ms": 0, "matcher": obj{"type": "screen", "value": obj{"screen": written}}}
	if r := w.result("session.wait", wait); r["outcome"].(obj)["kind"] != "screen" {
		t.Errorf("%v", r["outcome"])
	}
	second := w.step(p, s, "\r\x1b[32mone\x1b[0m")
	if r := golden(obj{"previous": strings.ReplaceAll(strings.ReplaceAll(written, "\nr fg", "\nx fg"), "rrr", "xxx")}); r["same"] != nil ||
		!strings.Contains(r["screen"].(string), "\n~ggg xxx .....\n") || r["sequence"] != float64(second) {
		t.Errorf("another colour: %v", r)
	}
	if r := golden(obj{"at": first, "previous": written}); r["same"] != true || r["sequence"] != float64(first) || r["shown_at"] == nil {
		t.Errorf("as it was: %v", r)
	}
	m := w.fails("session.wait", wait, -32001, "timeout")
	told := m.Error.Data["matcher"].(obj)
	if why, diff := told["why"].(string), told["diff"].(string); !strings.HasPrefix(why, "the nearest screen: cursor 0,3, not 0,13; and 1 more") ||
		!strings.Contains(diff, "row 0, columns 0 to 2: fg=green, not default style\n") || told["value"] != nil || told["held"] != false {
		t.Errorf("%v", told)
	}
	spans := w.result("session.history", obj{"session": id, "matcher": wait["matcher"]})["spans"].([]any)
	if len(spans) != 1 || spans[0].(obj)["from"] != float64(first) {
		t.Errorf("it held in %v", spans)
	}
	for _, c := range []struct {
		params       obj
		reason, says string
	}{
		{obj{"masks": []string{"N"}}, "invalid_golden", `params.masks[0]: mask: "N" is not a name`},
		{obj{"masks": []string{"n /x/", "m /(/"}}, "invalid_golden", `params.masks[1]: mask: missing closing ): "("`},
		{obj{"masks": []string{"n /(x?y?){1000}/"}}, "invalid_golden", "params.masks[0]: mask n: an expression of"},
		{obj{"region": "x"}, "invalid_golden", `params.region: "x" is not a place`},
		{obj{"previous": "screen 2\n"}, "invalid_golden", "params.previous: line 1: "},
		{obj{"previous": "screen 1\nsize 1x1\nmask n /(x?y?){1000}/\n--\n|\n"}, "invalid_golden", "params.previous: mask n: an expression of"},
		{obj{"masks": []string{"n /nothing/"}}, "golden_refused", "params.masks: mask n /nothing/ covers nothing"},
		{obj{"region": "0,79 1x2"}, "golden_refused", "params.region: region 0,79 1x2 does not lie within"},
	} {
		c.params["session"] = id
		if m := w.fails("session.golden", c.params, -32602, c.reason); !strings.HasPrefix(m.Error.Message, c.says) {
			t.Errorf("%v: %s", c.params, m.Error.Message)
		}
	}
	// A picture: each cell has a colour of its own, and there are fewer letters.
	var b strings.Builder
	for i := range 24 * 80 {
		fmt.Fprintf(&b, "\x1b[38;2;%d;%d;7;48;2;7;%d;%dmx", i%256, i/256, i/256, i%256)
	}
	w.step(p, s, "\x1b[H"+b.String())
	if m := w.fails("session.golden", obj{"session": id}, -32602, "golden_refused"); !strings.HasPrefix(m.Error.Message, "params.text_only: the screen has more styles than") {
		t.Error(m.Error.Message)
	}
	_ = golden(obj{"text_only": true})
}

// TestGoldenQuiet: a comparison ends when the screen changes no more, but not before the program has
// reacted to what was typed.
func TestGoldenQuiet(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.create()
	p.Print("one")
	w.until(id, "one")
	screen := func(quiet any) obj {
		return obj{"type": "screen", "value": obj{"screen": "screen 1\nsize 24x80\n--\n|two\n|\n*23\n",
			"quiet_ms": quiet}}
	}
	const never = 600_000
	m := w.fails("session.wait", obj{"session": id, "matcher": screen(30), "timeout_ms": never}, -32001, "timeout")
	if !strings.Contains(m.line, "the screen has not changed for 30ms") {
		t.Errorf("%s", m.line)
	}
	sent := w.result("session.input", obj{"session": id, "action": obj{"type": "text", "value": "x"}})
	wait := obj{"session": id, "matcher": screen(30), "timeout_ms": 150, "since": sent["sequence"]}
	if m := w.fails("session.wait", wait, -32001, "timeout"); strings.Contains(m.line, "has not changed for") {
		t.Errorf("given up before the program has reacted: %s", m.line)
	}
	p.Print("!")
	w.until(id, "one!")
	wait["timeout_ms"] = never
	w.fails("session.wait", wait, -32001, "timeout")
	for _, bad := range []any{-1, "1", 1.5, 1e9} {
		w.fails("session.wait", obj{"session": id, "matcher": screen(bad)}, -32602, "invalid_matcher")
	}
}

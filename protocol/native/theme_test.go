package native_test

import (
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
)

// TestThemeOverTheWire: the theme of a session is what its program is told, what the list says and
// what pictures are drawn with, and it can be changed.
func TestThemeOverTheWire(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.result("session.create", obj{"program": "x", "theme": "light"})["session"].(string)
	p.Print("\x1b]11;?\a\x1b[?2031hasked")
	w.until(id, "asked")
	looks := func(theme, paper string) {
		t.Helper()
		details := w.result("session.list", obj{"details": true})["details"].([]any)
		if got := at(details[0], "theme"); got != theme {
			t.Errorf("the list says %v, want %s", got, theme)
		}
		html := w.result("session.screenshot", obj{"session": id, "format": "html"})["data"].(string)
		if !strings.Contains(html, paper) {
			t.Errorf("no %s in %.300s", paper, html)
		}
	}
	looks("light", "#fff")
	w.result("session.input", obj{"session": id, "action": obj{"type": "theme", "value": "dark"}})
	looks("dark", "#181818")
	html := w.result("session.screenshot", obj{"session": id, "format": "html", "theme": "light"})["data"].(string)
	if !strings.Contains(html, "#fff") {
		t.Errorf("asked for light: %.300s", html)
	}
	if got, want := p.Input(), "\x1b]11;rgb:ffff/ffff/ffff\a\x1b[?997;1n"; got != want {
		t.Errorf("the program was told %q, want %q", got, want)
	}
}

// TestKeyEventsOverTheWire: a key can be held, repeated and let go for a program that asks for it.
func TestKeyEventsOverTheWire(t *testing.T) {
	p := enginetest.New()
	w := newWire(t, enginetest.Engine(p))
	id := w.create()
	p.Print("\x1b[>3uasked")
	w.until(id, "asked")
	for _, value := range []any{
		obj{"key": "up", "event": "press"}, obj{"key": "up", "event": "repeat"}, obj{"key": "up", "event": "release"},
		"kp_plus", obj{"key": "pause"},
	} {
		w.result("session.input", obj{"session": id, "action": obj{"type": "key", "value": value}})
	}
	want := "\x1b[A\x1b[1;1:2A\x1b[1;1:3A" + "+\x1b[57413;1:3u" + "\x1b[57362u\x1b[57362;1:3u"
	if got := p.Input(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

package tools_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/redact"
)

// TestClickOnAPlace: a model clicks on what it sees, by its words, and is told what came of it; what
// is not there, or there twice, is named, and nothing is pressed or typed.
func TestClickOnAPlace(t *testing.T) {
	p := enginetest.New()
	w := serveOn(t, enginetest.Engine(p), new(redact.Known), false, nil)
	w.call("start", obj{"program": "fake"})
	p.Print("\x1b[?1000h\x1b[?1006h+-- Menu --+\r\n| Commit   |\r\n| Cancel   |\r\n+----------+\r\n" +
		"Commit token=hunter2hunter2 ready")
	w.call("wait", obj{"session": "s1", "text": "ready"})
	out := w.call("send", obj{"session": "s1", "click": "'Commit' in box 'Menu'", "text": "y"})
	const pressed = "\x1b[<0;5;2M\x1b[<0;5;2m"
	if got := p.Input(); got != pressed+"y" {
		t.Errorf("typed %q", got)
	}
	if fmt.Sprint(out["clicked"]) != "[1 4]" || out["reacted"] != false {
		t.Errorf("%v", out)
	}
	if !strings.Contains(fmt.Sprint(out["evidence"]), "Clicked on row 1, column 4. The program has not reacted") {
		t.Errorf("%v", out["evidence"])
	}
	for words, want := range map[string]string{
		"'Commit'":                   "found 2 places for text 'Commit', expected one",
		"'Comit' in box":             "nearest: \"Commit token=[REDACTED]",
		"/^Commit \\S+/ or 'Cancel'": "[REDACTED]",
		"'Commit' on":                "click: locator, at byte 9: unexpected on",
	} {
		r := w.try("send", obj{"session": "s1", "click": words, "text": "no"})
		if said := text(r); !r.IsError || !strings.Contains(said, want) || strings.Contains(said, "hunter2") {
			t.Errorf("%s: %s", words, said)
		}
	}
	if got := p.Input(); got != pressed+"y" {
		t.Errorf("after what failed: typed %q", got)
	}
	if r := w.try("send", obj{"session": "s1", "click": "'Cancel'", "secret": "x"}); !r.IsError {
		t.Error("a click beside a secret")
	}
}

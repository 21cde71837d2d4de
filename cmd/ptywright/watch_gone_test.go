//go:build unix

package main

import (
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// TestWatchOfASessionThatIsGone: the page of a session that was closed, or never was, shows no other's screen.
func TestWatchOfASessionThatIsGone(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	w := watchedServer(t)
	one := w.sh("echo words of one; exec cat")
	two := w.sh("echo words of two; exec cat")
	one.wait(client.Contains("words of one"))
	two.wait(client.Contains("words of two"))
	p := b.open(w.address)
	p.until(`document.querySelectorAll('.tile').length === 2`)
	p.eval(`location.hash = '#/session/` + two.ID + `'`)
	p.until(screenText + ` === 'words of two'`)
	p.eval(`location.hash = '#/session/` + one.ID + `'`)
	p.until(screenText + ` === 'words of one'`)
	two.close()
	p.until(`document.querySelectorAll('.tile').length === 1`)
	for _, x := range []struct{ to, id string }{{`history.back()`, two.ID}, {`location.hash = '#/session/s99'`, "s99"}} {
		p.eval(x.to)
		p.until(`document.querySelector('#term-status').textContent === 'There is no session ` + x.id + `: it has been closed, or never was.'`)
		if got := p.eval(`[` + screenText + `, document.querySelector('#term-title').textContent, document.querySelector('.cursor').checkVisibility()].join('|')`); got != "|"+x.id+"|false" {
			t.Errorf("the page of %s shows %q", x.id, got)
		}
		p.eval(`location.hash = '#/session/` + one.ID + `'`)
		p.until(screenText + ` === 'words of one'`)
	}
	// One that is closed while it is looked at keeps its last words, and does not say that its program has ended.
	one.close()
	p.until(`document.querySelector('#term-status').textContent === 'The session has been closed.'`)
	if got := p.eval(screenText); got != "words of one" {
		t.Errorf("the last words are %q", got)
	}
	b.quiet()
}

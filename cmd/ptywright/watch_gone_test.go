//go:build unix

package main

import (
	"context"
	"syscall"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// TestWatchOfASessionThatIsGone: the page of a session that was closed, or never was, shows no
// other's screen.
func TestWatchOfASessionThatIsGone(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	w := watchedServer(t)
	one := w.sh("echo words of one; exec cat")
	two := w.sh("echo words of two; exec cat")
	one.wait(client.Text("words of one"))
	two.wait(client.Text("words of two"))
	p := b.open(w.address)
	p.until(`document.querySelectorAll('.tile').length === 2`)
	p.eval(`location.hash = '#/session/` + two.ID + `'`)
	p.until(screenText + ` === 'words of two'`)
	p.eval(`location.hash = '#/session/` + one.ID + `'`)
	p.until(screenText + ` === 'words of one'`)
	two.close()
	for _, x := range []struct{ to, id string }{{`history.back()`, two.ID}, {`location.hash = '#/session/s99'`, "s99"}} {
		p.eval(x.to)
		p.until(`document.querySelector('#term-status').textContent === 'There is no session ` + x.id + `: it has been closed, or never was.'`)
		p.until(`document.querySelector('#term-title').textContent === '` + x.id + `'`) // and the list has it no more
		if got := p.eval(`[` + screenText + `, document.querySelector('.cursor').checkVisibility()].join('|')`); got != "|false" {
			t.Errorf("the page of %s shows %q", x.id, got)
		}
		p.eval(`location.hash = '#/session/` + one.ID + `'`)
		p.until(screenText + ` === 'words of one'`)
	}
	// One that is closed while it is looked at keeps its last words, and does not say that its
	// program has ended.
	one.close()
	p.until(`document.querySelector('#term-status').textContent === 'The session has been closed.'`)
	if got := p.eval(screenText); got != "words of one" {
		t.Errorf("the last words are %q", got)
	}
	b.quiet()
}

// killable starts a server that the test may kill.
func killable(t testing.TB, socket string) *server {
	t.Helper()
	p := ptywright(t, "serve", "--socket", socket)
	p.StartPiped()
	ctx, cancel := context.WithTimeout(context.Background(), 3*hang)
	s := &server{program: p, t: t, ctx: ctx}
	t.Cleanup(func() {
		s.kill()
		cancel()
	})
	p.Stderr.Told(t, `serving on [^\n]+\n`)
	c, err := client.Dial(ctx, socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	s.Client = c
	return s
}

// kill returns when the server is no more, killed by this call or an earlier one.
func (s *server) kill() {
	_ = s.program.Process.Kill()
	_ = s.program.Wait()
}

// watchOf starts ptywright watch for a server, which the test may kill, and returns the whole
// address.
func watchOf(t testing.TB, socket string) string {
	t.Helper()
	p := ptywright(t, "watch", "--socket", socket)
	p.StartPiped()
	t.Cleanup(func() {
		_ = p.Process.Signal(syscall.SIGTERM)
		if code := exitCodeOf(t, p.Wait()); code != 0 {
			t.Errorf("exit code %d: %s", code, p.Stderr)
		}
	})
	return p.Stderr.Told(t, `watching at (\S+)\n`)
}

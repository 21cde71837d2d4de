//go:build unix

package main

import (
	"fmt"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// TestWatchThePast drags the bar of a live session, plays from there, and goes back to what is now.
// What has become a secret is hidden in what was shown before.
func TestWatchThePast(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	w := watchedServer(t)
	const secret = "Wq7xZ9pLm3kR"
	fifo, say := fifo(t)
	s := w.sh(fmt.Sprintf(`exec 3<>%s; while read -r line <&3; do printf '\033[2J\033[H%%s\n' "$line"; done`, fifo))
	p := b.open(w.address)
	p.until(`!!document.querySelector('.tile .screen .row')`)
	p.click(fmt.Sprintf(`.tile[href="#/session/%s"]`, s.ID))
	for _, line := range []string{"the first has " + secret, "the second", "the third"} {
		say(line)
		p.until(screenText + ` === '` + line + `'`)
	}
	// middle is the time in the middle of what showed a text.
	middle := func(text string) int64 {
		t.Helper()
		h, err := s.History(w.ctx, client.Text(text), client.HistoryOptions{})
		if err != nil || len(h.Spans) != 1 {
			t.Fatalf("%q: %+v, %v", text, h, err)
		}
		return h.Spans[0].FromAt.Add(h.Spans[0].Held / 2).UnixMilli()
	}
	kept := func() int64 {
		t.Helper()
		now, err := s.Screen(w.ctx, client.Ago(0))
		if err != nil {
			t.Fatal(err)
		}
		return now.KeptFromAt.UnixMilli()
	}
	// drag moves the bar to a time, and again until the page shows what it should: the page's clock is
	// behind the server's by as long as its last answer took.
	drag := func(to int64, shows string) {
		t.Helper()
		p.until(fmt.Sprintf(`(() => {
			if (%s) return true;
			const s = document.querySelector('#past-seek'), at = 1000 * (%d - %d) / (Date.now() - %[3]d);
			s.value = Math.max(0, at);
			s.dispatchEvent(new Event('input'));
			return false;
		})()`, shows, to, kept()))
	}
	status := `document.querySelector('#term-status').textContent`

	p.click("#term-past")
	p.until(status + `.startsWith('As it was at')`)
	if hidden := p.eval(`document.querySelector('#past-bar').hidden`); hidden != false {
		t.Errorf("the bar is missing: %v", hidden)
	}
	drag(middle("the first"), screenText+` === 'the first has `+secret+`'`)
	say("the fourth") // what changes meanwhile does not disturb
	s.wait(client.Text("the fourth"))
	drag(middle("the second"), screenText+` === 'the second'`)
	p.shot("past")

	// From then on it is a secret.
	w.with(client.Config{Program: "cat", Env: map[string]string{"API_TOKEN": secret}})
	drag(middle("the first"), screenText+`.startsWith('the first has ') && !document.body.textContent.includes('`+secret+`')`)

	// Played, it goes on to what is now.
	p.eval(`window.seen = []; new MutationObserver(() => seen.push(` + screenText + `)).observe(document.querySelector('#term-paper'), { childList: true, subtree: true })`)
	p.eval(`(() => { const s = document.querySelector('#past-speed'); s.value = '16'; s.dispatchEvent(new Event('change')); })()`)
	p.click("#past-play")
	p.until(`document.querySelector('#past-bar').hidden && ` + screenText + ` === 'the fourth'`)
	if seen := p.eval(`seen.some((text) => text.includes('` + secret + `'))`); seen != false {
		t.Error("the secret was shown while it was played")
	}

	// Back to live by its button: what changes is shown again.
	p.click("#term-past")
	p.until(status + `.startsWith('As it was at')`)
	drag(0, screenText+` === ''`)
	p.click("#past-live")
	p.until(screenText + ` === 'the fourth' && ` + status + `.startsWith('Nobody types here')`)
	say("the fifth")
	p.until(screenText + ` === 'the fifth'`)
}

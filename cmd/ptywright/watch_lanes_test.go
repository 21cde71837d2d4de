//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// inLane is a block of a lane of the session that is shown.
func inLane(lane, kind, tone string) string {
	return fmt.Sprintf(`document.querySelector('#term-band [data-lane=%s] i[data-kind=%s][data-tone="%s"]')`, lane, kind, tone)
}

// TestWatchLanes: what happens to a session is in lanes over time: a wait grows while it is pending and
// has its evidence when it has timed out, a command has its exit code; input, resizes and what was hidden
// are marks. The keyboard steps through them and shows each moment; a screen reader hears what each is; a
// phone unfolds them.
func TestWatchLanes(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	w := watchedServer(t)
	fifo, say := fifo(t)
	s := w.sh(fmt.Sprintf(`exec 3<>%s; while read -r line <&3; do printf '\033[2J\033[H%%b' "$line"; done`, fifo))
	p := b.open(w.address)
	p.size(1400, 900, false)
	p.until(`!!document.querySelector('.tile .screen .row')`)
	p.eval(`location.hash = '#/session/` + s.ID + `'`)
	p.until(`document.querySelector('#term-band .chart')?.checkVisibility()`)

	s.text("typed\r")
	p.until(inLane("inputs", "input", ""))
	s.resize(20, 70)
	p.until(inLane("state", "resize", ""))
	const secret = "canary0123456789abcdef"
	say("token=" + secret)
	p.until(inLane("state", "redacted", ""))
	say(`\033]133;A\007$ \033]133;B\007make\n\033]133;C\007it breaks\n\033]133;D;2\007`)
	p.until(inLane("commands", "command", "bad") + `.title.includes('exit 2')`)
	if err := s.Lease(w.ctx, "Ada", false); err != nil {
		t.Fatal(err)
	}
	p.until(inLane("state", "lease", "held") + `.title.includes('alone may type')`)

	say("tests: 3 failed")
	p.until(screenText + `.startsWith('tests: 3 failed')`)
	p.click(`#term-band [data-zoom=minute]`)
	p.until(`document.querySelector('#term-band [data-zoom=minute]').getAttribute('aria-pressed') === 'true'`)
	p.eval(`new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))`) // that is drawn
	ended := make(chan error, 1)
	go func() {
		_, err := s.Wait(w.ctx, client.Text("tests: 3 passed"), client.Within(failsAfter))
		ended <- err
	}()
	pending := inLane("waits", "wait", "pending")
	width := p.until(pending + `?.getBoundingClientRect().width`).(float64)
	p.until(fmt.Sprintf(`%s.getBoundingClientRect().width > %f`, pending, width))
	p.shot("lanes-pending")
	if err := <-ended; err == nil {
		t.Fatal("the wait matched")
	}
	bad := inLane("waits", "wait", "bad")
	p.until(bad + `?.title.includes('nearest: tests: 3 failed')`)
	// Its length is that of the wait: so much of a minute.
	if got := p.eval(bad + `.getBoundingClientRect().width / document.querySelector('#term-band .rail').getBoundingClientRect().width`).(float64); got < 0.9*failsAfter.Minutes() {
		t.Errorf("%v of a minute's lane is the wait, which took %v", got, failsAfter)
	}
	say("something else")
	p.until(screenText + ` === 'something else'`)
	p.click(`#term-band [data-zoom=fit]`)

	// By the keyboard.
	value := `document.querySelector('#term-band .chart').getAttribute('aria-valuetext')`
	p.eval(`document.querySelector('#term-band .chart').focus()`)
	p.key("End", "End", 0, "")
	for i := 0; !strings.Contains(fmt.Sprint(p.eval(value)), "timed out"); i++ {
		if i == 30 {
			t.Fatalf("no wait among %v", p.eval(events))
		}
		p.key("ArrowLeft", "ArrowLeft", 0, "")
	}
	p.until(screenText + `.startsWith('tests: 3 failed') && !document.querySelector('#past-bar').hidden`)
	p.until(`document.querySelector('.event[aria-current]').dataset.kind === 'wait' && document.querySelector('#term-band i.chosen').dataset.tone === 'bad'`)
	if got := p.eval(`document.activeElement.className`); got != "chart" {
		t.Errorf("the focus is on %v", got)
	}
	p.shot("lanes-chosen")
	p.key("ArrowDown", "ArrowDown", 0, "") // to the lane of commands
	p.until(value + `.includes('exit 2') && ` + screenText + `.includes('it breaks')`)
	var tree struct {
		Nodes []struct {
			Role, Name struct{ Value string }
			Value      struct{ Value any }
		} `json:"nodes"`
	}
	p.do("Accessibility.getFullAXTree", nil, &tree)
	heard := map[string]int{}
	for _, n := range tree.Nodes {
		heard[n.Role.Value]++
		if n.Role.Value == "slider" && n.Name.Value == "Event" { // its text is no part of this tree
			if now := p.eval(`Number(document.querySelector('#term-band .chart').getAttribute('aria-valuenow'))`); n.Value.Value != now {
				t.Errorf("a screen reader hears of event %v, not %v", n.Value.Value, now)
			}
			heard["Event"]++
		}
	}
	if heard["Event"] != 1 || heard["listitem"] < 6 {
		t.Errorf("a screen reader hears of %v", heard)
	}
	p.key("Escape", "Escape", 0, "")
	p.until(screenText + ` === 'something else' && document.querySelector('#past-bar').hidden && !document.querySelector('#term-band i.chosen')`)

	// By the mouse.
	p.click(`#term-band [data-lane=waits] i[data-tone=bad]`)
	p.until(screenText + `.startsWith('tests: 3 failed') && ` + value + `.includes('nearest: tests: 3 failed')`)

	p.size(390, 844, true)
	p.until(`!document.querySelector('#term-band .chart').checkVisibility() && document.querySelector('#term-band .fold').getBoundingClientRect().height >= 44`)
	p.shot("lanes-folded")
	p.click(`#term-band .fold`)
	p.until(`document.querySelector('#term-band .chart').checkVisibility() && document.querySelector('#term-band .fold').getAttribute('aria-expanded') === 'true'`)
	p.until(bad)
	p.shot("lanes-390")
	if text := fmt.Sprint(p.eval(`document.documentElement.outerHTML`)); strings.Contains(text, secret[:12]) {
		t.Error("the secret is on the page")
	}
	b.quiet()
}

// TestWatchLanesOfManyEvents: a recording of thousands of events, some of them hostile, has no more blocks
// than there is room for, and what failed is seen among what did not.
func TestWatchLanesOfManyEvents(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	casts := t.TempDir()
	const many = 4000
	var cast strings.Builder
	cast.WriteString(`{"version":2,"width":40,"height":6,"title":"Many"}` + "\n")
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	note := func(n int, event obj) {
		at := float64(n) / 100
		event["event"], event["at"] = n+1, began.Add(time.Duration(n)*10*time.Millisecond)
		text, err := json.Marshal(event)
		if err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal([]any{at, "p", string(text)})
		if err != nil {
			t.Fatal(err)
		}
		cast.Write(append(line, '\n'))
	}
	evil := `<img src=x onerror="window.pwned=1">`
	for n := range many {
		switch {
		case n == many/2:
			note(n, obj{"kind": "wait", "state": "timed_out", "text": evil, "evidence": evil, "until": "2020-01-01T00:00:00Z"})
		case n%4 == 0:
			note(n, obj{"kind": "input", "bytes": 1, "what": "text"})
		case n%4 == 1:
			note(n, obj{"kind": "wait", "state": "matched", "text": "x"})
		case n%4 == 2:
			note(n, obj{"kind": "wait", "state": "pending", "text": "never"})
		default:
			note(n, obj{"kind": evil, "text": evil})
		}
	}
	if err := os.WriteFile(filepath.Join(casts, "many.cast"), []byte(cast.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	w := watchedServer(t, "--casts", casts)
	p := b.open(w.address)
	p.size(1400, 900, false)
	p.until(`document.querySelector('#grid-empty code')`)
	p.eval(`location.hash = '#/cast/cast:many.cast'`)
	p.until(fmt.Sprintf(`document.querySelectorAll('#player-panels .event').length === %d && document.querySelectorAll('#player-band .rail i').length > 100`, many))
	for lane, deep := range map[string]int{"inputs": 1, "waits": 3, "commands": 0, "state": 3} {
		got := p.eval(fmt.Sprintf(`(() => { const r = document.querySelector('#player-band [data-lane=%s] .rail'); return r.children.length <= %d * r.clientWidth / 5 + %[2]d; })()`, lane, deep))
		if got != true {
			t.Errorf("the lane of %s has too many blocks", lane)
		}
	}
	p.until(`[...document.querySelectorAll('#player-band [data-lane=waits] i[data-tone=bad]')].some((i) => i.title.includes('<img'))`)
	p.eval(`document.querySelector('#player-band .chart').focus()`)
	p.key("Home", "Home", 0, "")
	p.key("ArrowRight", "ArrowRight", 0, "")
	p.until(`document.querySelector('#player-band .chart').getAttribute('aria-valuenow') === '2' && document.querySelector('#player-play').textContent === 'Play' && document.querySelector('#player-time').textContent.startsWith('0:00')`)
	p.key("End", "End", 0, "")
	p.until(fmt.Sprintf(`document.querySelector('#player-band .chart').getAttribute('aria-valuenow') === '%d' && !document.querySelector('#player-band .now').hidden`, many))
	p.shot("lanes-many")
	if got := p.eval(`String(window.pwned) + document.querySelectorAll('#player-band img').length`); got != "undefined0" {
		t.Errorf("what an event says has become an element: %v", got)
	}
	b.quiet()
}

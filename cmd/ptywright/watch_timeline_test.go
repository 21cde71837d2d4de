//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// events is what the page's timeline says, a line an event.
const events = `[...document.querySelectorAll('#term-panels .event')].map((e) => [...e.querySelectorAll('.kind, .how, .about, .evidence')].map((s) => s.textContent).join(' ')).join('\n')`

// failsAfter is how long a wait lasts that is to be seen pending, and then timed out: long enough for a
// page on a busy machine to show both.
const failsAfter = 12 * time.Second

// TestWatchTimelineOfAWait: a wait that is pending is there with what it waits for and its age; when
// it has timed out its evidence can be read, and choosing it by the keyboard shows the screen then,
// marked as the past, with a way back. A recording of it has the same timeline.
func TestWatchTimelineOfAWait(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	casts := t.TempDir()
	w := watchedServer(t, "--casts", casts)
	fifo, say := fifo(t)
	s := w.sh(fmt.Sprintf(`exec 3<>%s; while read -r line <&3; do printf '\033[2J\033[H%%s\n' "$line"; done`, fifo))
	const secret = "canary0123456789abcdef"
	cast := filepath.Join(casts, "wait.cast")
	recording, err := s.Record(w.ctx, cast)
	if err != nil {
		t.Fatal(err)
	}
	p := b.open(w.address)
	p.size(1400, 900, false)
	p.until(`!!document.querySelector('.tile .screen .row')`)
	p.click(fmt.Sprintf(`.tile[href="#/session/%s"]`, s.ID))
	p.until(`document.querySelector('#term-timeline').getAttribute('aria-pressed') === 'true'`)
	say("tests: 3 failed, token=" + secret)
	p.until(screenText + `.startsWith('tests: 3 failed')`)
	ended := make(chan error, 1)
	go func() {
		_, err := s.Wait(w.ctx, client.Text("tests: 3 passed"), client.Within(failsAfter))
		ended <- err
	}()
	p.until(events + `.includes('wait waits until the screen shows "tests: 3 passed"') && /^ \d+s of 12s$/.test(document.querySelector('.event .age').textContent)`)
	p.shot("timeline-pending")
	if err := <-ended; err == nil {
		t.Fatal("the wait matched")
	}
	p.until(`/wait timed out after 1\ds until the screen shows "tests: 3 passed" .*nearest: tests: 3 failed/.test(` + events + `) && !document.querySelector('.event .age')`)
	say("something else")
	p.until(screenText + ` === 'something else'`)

	// By the keyboard: the wait is before the end of the list.
	p.eval(`document.querySelector('#term-panels .event').focus()`)
	p.key("End", "End", 0, "")
	for i := 0; p.eval(`document.activeElement.dataset.kind`) != "wait"; i++ {
		if i == 20 {
			t.Fatalf("no wait among %v", p.eval(events))
		}
		p.key("ArrowUp", "ArrowUp", 0, "")
	}
	p.key("Enter", "Enter", 0, "\r")
	p.until(screenText + `.startsWith('tests: 3 failed') && !document.querySelector('#past-bar').hidden && document.querySelector('#term-status').textContent.startsWith('As it was at')`)
	if on := p.eval(`document.activeElement.getAttribute('aria-current')`); on != "true" {
		t.Errorf("the event that is shown is not marked: %v", on)
	}
	for name, size := range map[string][2]int{"timeline-chosen": {1400, 900}, "timeline-chosen-390": {390, 844}} {
		p.size(size[0], size[1], size[0] == 390)
		p.shot(name)
	}
	p.size(1400, 900, false)
	p.key("Escape", "Escape", 0, "")
	p.until(screenText + ` === 'something else' && document.querySelector('#past-bar').hidden && !document.querySelector('.event[aria-current]')`)

	if _, err := recording.Stop(w.ctx); err != nil {
		t.Fatal(err)
	}
	p.eval(`location.hash = '#/cast/cast:wait.cast'`)
	played := strings.ReplaceAll(events, "#term-panels", "#player-panels")
	p.until(`/wait timed out after 1\ds .*nearest: tests: 3 failed/.test(` + played + `)`)
	p.eval(`[...document.querySelectorAll('#player-panels .event')].find((e) => e.dataset.kind === 'wait').click()`)
	p.until(`` + strings.ReplaceAll(screenText, "#term-paper", "#player-paper") + `.startsWith('tests: 3 failed') && document.querySelector('#player-play').textContent === 'Play'`)
	p.shot("timeline-recording")
	// A page that is opened late sees what was.
	late := b.open(w.address)
	late.size(1400, 900, false)
	late.until(`!!document.querySelector('.tile')`)
	late.eval(`location.hash = '#/session/` + s.ID + `'`)
	late.until(`/timed out after 1\ds/.test(` + events + `)`)
	text, err := os.ReadFile(cast)
	if err != nil {
		t.Fatal(err)
	}
	for where, said := range map[string]string{"the page": fmt.Sprint(p.eval(`document.documentElement.outerHTML`), late.eval(`document.documentElement.outerHTML`)), "the recording": string(text)} {
		if strings.Contains(said, secret[:12]) {
			t.Errorf("the secret is in %s", where)
		}
	}
	b.quiet()
}

// TestWatchFindsTheStuckOne: of thirty sessions that somebody waits on, the one that does not move is
// said above the grid, comes first, and says what it waits for and how long.
func TestWatchFindsTheStuckOne(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	w := watchedServer(t)
	var stuck *session
	for i := range 30 {
		command := `i=0; while :; do i=$((i+1)); printf '\r%s' $i; sleep 1; done`
		if i == 21 {
			command = `printf 'Proceed? [y/N] '; exec cat`
		}
		s := w.with(client.Config{Program: "sh", Args: []string{"-c", command}, Name: fmt.Sprintf("agent-%02d", i)})
		if i == 21 {
			stuck = s
		}
		go s.Wait(w.ctx, client.Text(fmt.Sprintf("task %d done", i)), client.Within(3*hang))
	}
	p := b.open(w.address)
	p.size(1400, 900, false)
	first := fmt.Sprintf(`document.querySelector('.tile').getAttribute('href') === '#/session/%s'`, stuck.ID)
	p.until(first + ` && document.querySelectorAll('.tile[data-level=still], .tile[data-level=stuck]').length === 1`)
	p.until(`(() => { const b = document.querySelector('#theme'); if (document.documentElement.dataset.theme !== 'dark') b.click(); return document.documentElement.dataset.theme === 'dark'; })()`)
	p.shot("stuck-dark")
	if said := fmt.Sprint(p.eval(`document.querySelector('.tile').textContent`)); !strings.Contains(said, `until the screen shows "task 21 done"`) || !strings.Contains(said, "still ") {
		t.Errorf("the tile says %q", said)
	}
	if said := fmt.Sprint(p.eval(`document.querySelector('#grid-summary').textContent`)); !strings.Contains(said, `1 of 30 stuck:agent-21 waits `) {
		t.Errorf("above the grid: %q", said)
	}
	if label := fmt.Sprint(p.eval(`document.querySelector('.tile').getAttribute('aria-label')`)); !strings.Contains(label, `stuck, waits until the screen shows "task 21 done"`) {
		t.Errorf("it is read out as %q", label)
	}
	p.until(`(() => { const b = document.querySelector('#theme'); if (document.documentElement.dataset.theme !== 'light') b.click(); return document.documentElement.dataset.theme === 'light'; })()`)
	p.shot("stuck-light")
	p.size(390, 844, true)
	p.shot("stuck-390")
	p.size(1400, 900, false)
	p.eval(`(() => { const o = document.querySelector('#grid-order'); o.value = 'started'; o.dispatchEvent(new Event('change')); })()`)
	p.until(`document.querySelector('.tile .title').textContent.startsWith('agent-00')`)
	p.eval(`document.querySelector('#grid-first').click()`)
	p.until(`location.hash === '#/session/` + stuck.ID + `' && ` + events + `.includes('wait waits until the screen shows "task 21 done"')`)
	// Once it moves it is stuck no more.
	if err := w.Call(w.ctx, "server.set_ordering", map[string]string{"ordering": "concurrent"}, nil); err != nil {
		t.Fatal(err) // the wait is under way on the same connection
	}
	stuck.text("y\r")
	p.eval(`location.hash = '#/'`)
	p.until(`!document.querySelector('.tile[data-level=still], .tile[data-level=stuck]') && document.querySelector('#grid-stuck').textContent === ''`)
	b.quiet()
}

//go:build unix

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// TestWatchCopiesABlankAtTheEdge: a blank in the last column of a line that goes on is copied, from the
// screen and from the scrollback; a column that a wide character left empty is not.
func TestWatchCopiesABlankAtTheEdge(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	w := watchedServer(t)
	lines := []string{strings.Repeat("a", 79) + " behind the blank", strings.Repeat("c", 79) + "世 is wide", "short"}
	s := w.with(client.Config{Program: "sh", Args: []string{"-c", `printf '%s\n' "$@"; read -r x; seq 50; exec cat`, "sh", lines[0], lines[1], lines[2] + "  "}})
	s.wait(client.Text("short"))
	p := b.open(w.address)
	p.click(".tile")
	p.until(screenText + `.includes('short')`)
	copied := func(where string) {
		t.Helper()
		got := p.eval(fmt.Sprintf(`(() => {
			const rows = [...document.querySelectorAll('%s .row')];
			getSelection().setBaseAndExtent(rows[0], 0, rows[4], rows[4].childNodes.length);
			const data = new DataTransfer();
			document.dispatchEvent(new ClipboardEvent('copy', { clipboardData: data }));
			getSelection().removeAllRanges();
			return data.getData('text/plain');
		})()`, where))
		if want := strings.Join(lines, "\n"); got != want {
			t.Errorf("of %s %q is copied, not %q", where, got, want)
		}
	}
	copied("#term-paper .screen")
	s.text("\r")
	p.until(screenText + `.includes('50')`)
	p.click("#term-history")
	p.until(`document.querySelector('#term-lines').textContent.includes('behind the blank')`)
	copied("#term-lines")
	b.quiet()
}

// TestWatchTakesAPastedAddress: the address that ptywright watch has printed, pasted into a page that
// was opened without it, lets the page in; its token does not stay in the address or the history.
func TestWatchTakesAPastedAddress(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	w := watchedServer(t)
	s := w.sh("echo words; exec cat")
	s.wait(client.Text("words"))
	p := b.open(w.origin + "/")
	p.until(`document.querySelector('#banner-text').textContent.startsWith('This page needs the whole address')`)
	p.do("Page.navigate", map[string]any{"url": w.address}, nil)
	p.until(`location.hash === '#/' && document.querySelector('#banner').hidden && document.querySelector('.tile .screen').textContent.includes('words')`)
	var history struct {
		Entries []struct{ URL string } `json:"entries"`
	}
	p.do("Page.getNavigationHistory", nil, &history)
	for _, e := range history.Entries {
		if strings.Contains(e.URL, "token") {
			t.Errorf("the history has %s", e.URL)
		}
	}
	// A page that is let in already takes it, too, from whatever it shows.
	p.click(".tile")
	p.until(screenText + ` === 'words'`)
	p.do("Page.navigate", map[string]any{"url": w.address}, nil)
	p.until(`location.hash === '#/' && document.body.dataset.view === 'grid' && document.querySelector('#banner').hidden`)
	s.text("more")
	p.until(`document.querySelector('.tile .screen').textContent.includes('more')`)
	b.quiet()
}

// TestWatchOnAPhoneShowsThatThereIsMore: a bar that is wider than a phone fades out at the edge that
// more of it lies behind, and a small screen begins at the top.
func TestWatchOnAPhoneShowsThatThereIsMore(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	w := watchedServer(t)
	s := w.sh("echo words; exec cat")
	s.wait(client.Text("words"))
	p := b.open(w.address)
	p.size(390, 844, true)
	p.click(".tile")
	p.until(screenText + ` === 'words'`)
	bar := `document.querySelector('#view-term .toolbar')`
	fades := func(left, right string) {
		t.Helper()
		p.until(fmt.Sprintf(`(() => { const s = getComputedStyle(%s); return s.maskImage !== 'none' && s.getPropertyValue('--left') === %q && s.getPropertyValue('--right') === %q; })()`, bar, left, right))
	}
	fades("0px", "44px")
	p.shot("phone-more")
	p.eval(bar + `.scrollLeft = 60`)
	fades("44px", "44px")
	p.eval(bar + `.scrollLeft = 10000`)
	fades("44px", "0px")
	if top := p.eval(`document.querySelector('#term-paper').getBoundingClientRect().top - document.querySelector('#term-stage').getBoundingClientRect().top`); top.(float64) > 12 {
		t.Errorf("the screen begins %v pixels below the top of its place", top)
	}
	p.size(1280, 900, false)
	p.until(`getComputedStyle(` + bar + `).maskImage === 'none'`)
	b.quiet()
}

// TestWatchOfWhatWasKilled: a session that somebody ended says so in a quiet colour and comes behind
// those that run; one that failed comes before them.
func TestWatchOfWhatWasKilled(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	w := watchedServer(t)
	killed, fine, runs, failed := w.sh("exec cat"), w.sh("exit 0"), w.sh("exec cat"), w.sh("kill -HUP $$")
	if _, err := killed.Kill(w.ctx); err != nil {
		t.Fatal(err)
	}
	fine.wait(client.Exited())
	failed.wait(client.Exited())
	p := b.open(w.address)
	p.until(`document.querySelectorAll('.tile').length === 4`)
	var order []string
	for _, s := range []*session{failed, runs, killed, fine} {
		order = append(order, "#/session/"+s.ID)
	}
	p.until(fmt.Sprintf(`[...document.querySelectorAll('.tile')].map((t) => t.getAttribute('href')).join() === %q`, strings.Join(order, ",")))
	pill := func(s *session) string {
		t.Helper()
		return fmt.Sprint(p.eval(fmt.Sprintf(`(() => { const e = document.querySelector('.tile[href="#/session/%s"] .pill'); return [e.textContent, getComputedStyle(e).color === getComputedStyle(document.querySelector('.about')).color].join(); })()`, s.ID)))
	}
	got := []string{pill(killed), pill(fine), pill(failed)}
	if want := []string{"killed,true", "exit 0,false", "SIGHUP,false"}; !slices.Equal(got, want) {
		t.Errorf("the pills are %q, not %q", got, want)
	}
	p.eval(`location.hash = '#/session/` + killed.ID + `'`)
	p.until(`document.querySelector('#term-status').textContent === 'The program has ended: killed.'`)
	b.quiet()
}

//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// takeOver opens a session's page and takes the session over.
func (p *tab) takeOver(s *session) {
	p.t.Helper()
	p.until(`document.querySelector('.tile')`) // the page has read its token
	p.eval(`location.hash = '#/session/` + s.ID + `'`)
	p.until(`document.querySelector('#term-program').textContent.startsWith('` + s.ID + ` ') && !document.querySelector('#term-take').hidden && !document.querySelector('#term-take').disabled`)
	p.click("#term-take")
	p.until(`document.activeElement.id === 'term-input' && document.querySelector('#term-take').textContent === 'Release'`)
}

// pointOf is the middle of the first character of a text on the large screen, and the width of one.
func (p *tab) pointOf(text string) (x, y, width float64) {
	p.t.Helper()
	at := p.until(fmt.Sprintf(`(() => {
		for (const row of document.querySelectorAll('#term-paper .row')) {
			const i = row.textContent.indexOf(%[1]q);
			if (i < 0) continue;
			const screen = document.querySelector('#term-paper .screen'), w = parseFloat(getComputedStyle(screen).getPropertyValue('--cw'));
			const box = row.getBoundingClientRect();
			return [box.x + w * (i + 0.5), box.y + box.height / 2, w];
		}
		return null;
	})()`, text)).([]any)
	return at[0].(float64), at[1].(float64), at[2].(float64)
}

// drag selects a text with the mouse: from the left edge of its first character to that behind its
// last.
func (p *tab) drag(text string, mods int) {
	p.t.Helper()
	x, y, w := p.pointOf(text)
	from, to := x-w/2+1, x+w*(float64(len(text))-0.5)-1
	p.mouse("mousePressed", from, y, mods)
	for i := range 5 {
		p.mouse("mouseMoved", from+(to-from)*float64(i)/4, y, mods)
	}
	p.mouse("mouseReleased", to, y, mods)
}

// clipboard returns what the clipboard has once it is that, and empties it.
func (p *tab) copies(want string, key func()) {
	p.t.Helper()
	p.until(fmt.Sprintf("String(getSelection()).trimEnd() === %q", want))
	p.eval(`navigator.clipboard.writeText('nothing yet')`)
	p.eval(`document.querySelector('#toast').textContent = ''`)
	key()
	p.until(`document.querySelector('#toast').textContent !== ''`)
	if got := p.eval(`navigator.clipboard.readText()`); got != want {
		p.t.Errorf("copied is %q, not %q", got, want)
	}
}

// TestWatchCopies: with the mouse text is selected and copied while a session is held, as in a
// terminal: in a shell, and in programs that take the mouse with Shift.
func TestWatchCopies(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bash", "vim", "mc"} {
		need(t, name, name)
	}
	b := chromium(t)
	w := watchedServer(t)
	b.must(b.call("", "Browser.grantPermissions", map[string]any{
		"browserContextId": b.context, "permissions": []string{"clipboardReadWrite", "clipboardSanitizedWrite"},
	}, nil))
	p := b.open(w.address)
	p.do("Page.bringToFront", nil, nil)
	copyKey := func() { p.key("C", "KeyC", ctrlKey|shiftKey, "") }

	fifo, say := fifo(t)
	shell := w.with(client.Config{Program: "bash", Args: []string{"--norc", "--noprofile"}, Env: map[string]string{"PS1": "$ ", "HISTFILE": ""}})
	shell.wait(client.Regexp(`^\$$`))
	p.takeOver(shell)
	p.write("echo the-$((6*7))-answer of all")
	p.key("Enter", "Enter", 0, "\r")
	p.until(screenText + `.includes('\nthe-42-answer of all\n')`)
	p.drag("the-42-answer of", 0)
	p.copies("the-42-answer of", copyKey)
	// What is typed then arrives, and nothing is selected any more.
	p.write("#")
	p.until(screenText + `.endsWith('$ #') && getSelection().isCollapsed`)
	p.key("u", "KeyU", ctrlKey, "")
	x, y, _ := p.pointOf("42-answer")
	p.doubleClick(x, y, 0)
	p.copies("42", copyKey) // as the browser has words
	p.eval(`getSelection().removeAllRanges()`)

	// It holds still while the program writes on.
	p.write("exec 3<>" + fifo + "; clear; while read -r line <&3; do echo \"$line\"; done")
	p.key("Enter", "Enter", 0, "\r")
	say("first line")
	p.until(screenText + `.includes('first line')`)
	p.drag("first line", 0)
	for i := range 30 {
		say(fmt.Sprintf("noise %d", i))
	}
	shell.wait(client.Text("noise 29"))
	p.until(`!document.querySelector('#term-held').hidden`)
	p.copies("first line", copyKey)
	p.key("C", "KeyC", 0, "C") // typed
	p.until(screenText + `.includes('noise 29') && document.querySelector('#term-held').hidden`)

	// A line that is wrapped is one; blanks at the end are not copied.
	long := strings.Repeat("abcdefghij", 9)
	say(long)
	p.until(`document.querySelector('#term-paper .screen').textContent.includes('` + long + `')`)
	p.eval(`(() => { const rows = [...document.querySelectorAll('#term-paper .screen .row')], i = rows.findIndex((r) => r.wrapped); getSelection().setBaseAndExtent(rows[i - 1], 0, rows[i + 1], rows[i + 1].childNodes.length); })()`)
	p.eval(`navigator.clipboard.writeText('nothing yet')`)
	p.eval(`document.querySelector('#toast').textContent = ''`)
	copyKey()
	p.until(`document.querySelector('#toast').textContent === 'Copied'`)
	if got := p.eval(`navigator.clipboard.readText()`); got != "noise 29\nC"+long { // with what was typed
		t.Errorf("of a wrapped line %q is copied", got)
	}

	for _, program := range []struct {
		name string
		args []string
		mods int
		find string
	}{
		{"vim", []string{"-u", "NONE", "-i", "NONE", "-n", "+set mouse=", "+call setline(1, 'some words of vim')"}, 0, "words of"},
		{"vim", []string{"-u", "NONE", "-i", "NONE", "-n", "+set nocp mouse=a ttymouse=sgr", "+call setline(1, 'some words of vim')"}, shiftKey, "words of"},
		{"mc", []string{"-d", "-u"}, 0, "Command"},
		{"mc", []string{"-u"}, shiftKey, "Command"},
	} {
		s := w.with(client.Config{Program: program.name, Args: program.args, Cwd: t.TempDir(), Env: map[string]string{"HOME": t.TempDir(), "LANG": "C.UTF-8"}})
		s.wait(client.Text(program.find))
		p.takeOver(s)
		p.until(fmt.Sprintf(`document.querySelector('#term-stage').classList.contains('mouse') === %v`, program.mods == shiftKey))
		p.drag(program.find, program.mods)
		p.copies(program.find, copyKey)
		p.eval(`getSelection().removeAllRanges()`)
		x, y, w := p.pointOf(program.find)
		p.doubleClick(x+w, y, program.mods)
		p.copies(strings.Fields(program.find)[0], copyKey)
		// Reading, too, and by what the browser itself has for it.
		p.eval(`getSelection().removeAllRanges()`)
		p.click("#term-take")
		p.until(`document.querySelector('#term-take').textContent === 'Take over'`)
		p.drag(program.find, 0)
		p.copies(program.find, copyKey)
		p.copies(program.find, func() {
			p.eval(`document.execCommand('copy')`)
			p.eval(`document.querySelector('#toast').textContent = 'Copied'`)
		})
		p.eval(`getSelection().removeAllRanges()`)
	}
	b.quiet()
}

// doubleClick clicks twice.
func (p *tab) doubleClick(x, y float64, mods int) {
	p.t.Helper()
	for n := 1; n <= 2; n++ {
		for _, kind := range []string{"mousePressed", "mouseReleased"} {
			p.do("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": x, "y": y, "button": "left", "clickCount": n, "modifiers": mods}, nil)
		}
	}
}

// TestWatchKeepsTheKeyboard: a click on a control leaves the keyboard with the session, and no key
// leaves a session that is held.
func TestWatchKeepsTheKeyboard(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	w := watchedServer(t)
	s := w.sh("stty -echo; echo ready; while read -r line; do echo \"got $line\"; done")
	s.wait(client.Text("ready"))
	p := b.open(w.address)
	p.takeOver(s)
	for i, button := range []string{"#larger", "#smaller", "#term-keys", "#theme", "#term-history"} {
		p.click(button)
		p.write(fmt.Sprintf("/%d", i))
		p.key("Enter", "Enter", 0, "\r")
		p.until(screenText + fmt.Sprintf(`.includes('got /%d')`, i))
	}
	if hidden := p.eval(`document.querySelector('#term-key-row').hidden`); hidden != false {
		t.Error("the row of keys is not shown")
	}
	p.click("#term-key-row button:nth-child(4)") // Enter
	p.until(screenText + `.endsWith('\ngot')`)
	// One that was reached by the keyboard gives it back with what is typed.
	p.eval(`document.querySelector('#term-keys').focus()`)
	p.write("/keyboard")
	p.key("Enter", "Enter", 0, "\r")
	p.until(screenText + `.includes('got /keyboard')`)
	if got := p.eval(`location.hash`); got != "#/session/"+s.ID {
		t.Errorf("the page shows %v", got)
	}
	if f := s.frame(nil); f.Lease == nil {
		t.Error("the session was given back")
	}
	if n := p.eval(`[...document.querySelectorAll('button')].filter((b) => /^[−+]$/.test(b.textContent) && b.getClientRects().length).length`); n != 2.0 {
		t.Errorf("%v controls of the size are shown", n)
	}
	// A program that has ended has no cursor, and nothing can be taken over.
	if _, err := s.Kill(w.ctx); err != nil {
		t.Fatal(err)
	}
	p.until(`document.querySelector('#term-take').hidden && document.querySelector('#term-paper .cursor').hidden`)
	b.quiet()
}

// TestWatchWheel: on the alternate screen the wheel moves a program that does not take the mouse,
// with the cursor keys of its mode, unless it has switched that off.
func TestWatchWheel(t *testing.T) {
	t.Parallel()
	need(t, "less", "less")
	b := chromium(t)
	w := watchedServer(t)
	s := w.sh("seq 500 | less +G")
	s.wait(client.Text("500"))
	p := b.open(w.address)
	p.takeOver(s)
	x, y, _ := p.pointOf("490")
	wheel := func(by int) {
		p.do("Input.dispatchMouseEvent", map[string]any{"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": by}, nil)
	}
	wheel(-200)
	p.until(`!` + screenText + `.includes('500')`)
	wheel(400)
	p.until(screenText + `.includes('500')`)
	b.quiet()
}

package attach

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ptywright/ptywright/protocol/client"
)

// typed takes what the person did.
func (v *viewer) typed(events []event) error {
	for _, e := range events {
		if err := v.one(e); err != nil || v.done {
			return err
		}
	}
	return nil
}

func (v *viewer) one(e event) error {
	switch {
	case e.kind == eventReply:
		if e.data != "" {
			v.tty.reply(e.data)
		}
		return nil
	case e.kind == eventMouse:
		if row, col, inside := v.window.place(e.mouse.row, e.mouse.col); v.writing && (inside || e.mouse.action != "press") {
			e.mouse.row, e.mouse.col = row, col
			v.out.move(e.mouse)
		}
		return nil
	case e.kind == eventKey && (e.data == "\x1b[I" || e.data == "\x1b[O"): // the window has, or lost, the focus
		if v.writing {
			v.out.text(e.data)
		}
		return nil
	case v.last.over():
		v.done = e.kind != eventPaste && e.kind != eventPasteOn && e.kind != eventPasteOff
		return nil
	case v.menu && (e.kind == eventText || e.kind == eventKey || e.kind == eventPrefix):
		return v.choose(e)
	case e.kind == eventPrefix:
		v.menu = true
		return nil
	case !v.writing:
		if e.kind != eventPasteOff {
			v.say(v.refusal())
		}
		return nil
	}
	switch e.kind {
	case eventPasteOn:
		if v.inPaste = v.last.Modes.BracketedPaste; v.inPaste {
			v.out.text(pasteOn)
		}
	case eventPasteOff:
		if v.inPaste {
			v.out.text(pasteOff)
		}
		v.inPaste = false
	case eventInvalid:
		v.say(fmt.Sprintf("%d bytes that are no UTF-8 were not sent", len(e.data)))
	default:
		v.out.text(e.data)
	}
	return nil
}

// refusal is why nothing is typed.
func (v *viewer) refusal() string {
	if l := v.last.Lease; l != nil && !l.Yours {
		return fmt.Sprintf("read-only: %s has the session since %s; %s t takes it", clean(l.Holder), l.Since.Local().Format(time.TimeOnly), v.keyName())
	}
	return "read-only: " + v.keyName() + " w to type"
}

// keyName is the detach key as people write it.
func (v *viewer) keyName() string {
	return "C" + v.Key.String()[1:4] + "-" + strings.ToUpper(v.Key.String()[5:])
}

// menuLine is what the detach key shows.
func (v *viewer) menuLine() string {
	write := "w write"
	if v.writing {
		write = "w give back"
	}
	return fmt.Sprintf("d detach  %s  t take  s send %s  arrows move  l redraw  z suspend", write, v.keyName())
}

// choose takes a key of the menu.
func (v *viewer) choose(e event) error {
	name, rest := e.data, ""
	switch e.kind {
	case eventPrefix:
		name = "d"
	case eventText:
		_, n := utf8.DecodeRuneInString(e.data)
		name, rest = e.data[:n], e.data[n:]
	case eventKey:
		if strings.HasPrefix(e.data, "\x1b[") {
			k, ok := keyOf(e.data)
			switch {
			case k.release, k.code >= 0xe000 && k.code < 0xf900: // or a key that only modifies: kitty's are in the private use area
				return nil
			case ok && k.mods&^(64|128) == 0:
				name = string(k.code)
			}
		}
	}
	v.menu = false
	switch name {
	case "d":
		v.done = true
	case "w":
		if v.writing {
			v.release()
		} else {
			v.acquire(false)
		}
	case "t":
		if !v.writing {
			v.acquire(true)
		}
	case "s":
		if !v.writing {
			v.say(v.refusal())
		} else {
			v.out.text(string(rune(v.Key)))
		}
	case "l":
		v.tty.lines = nil
	case "z":
		return v.suspend()
	case "\x1b[A", "\x1bOA", "\x1b[B", "\x1bOB", "\x1b[C", "\x1bOC", "\x1b[D", "\x1bOD":
		step := map[byte][2]int{'A': {-1, 0}, 'B': {1, 0}, 'C': {0, 1}, 'D': {0, -1}}[name[2]]
		v.window.pan(step[0], step[1])
		v.menu = true
	}
	if rest == "" {
		return nil
	}
	return v.one(event{kind: eventText, data: rest})
}

// acquire takes the session.
func (v *viewer) acquire(take bool) {
	if v.asking || v.last.over() {
		return
	}
	v.asking = true
	v.call(func() error { return v.lease(take) }, func(err error) error {
		v.asking = false
		if err != nil {
			v.say(v.told(err))
			return v.broken(err)
		}
		v.writing, v.sure = true, false
		v.say("you write, and nobody else")
		v.fit()
		return nil
	})
}

// release gives the session back.
func (v *viewer) release() {
	if v.asking {
		return
	}
	v.asking, v.writing, v.out = true, false, outbox{}
	before := v.before
	v.before = nil
	v.call(func() error { return v.giveBack(v.ctx, before) }, func(err error) error {
		v.asking = false
		v.say("given back: read-only")
		return v.broken(err)
	})
}

// told is what the server says to a person.
func (v *viewer) told(err error) string {
	if e := serverError(err); e != nil {
		if e.Reason == "session_leased" && v.last.Lease != nil {
			return v.refusal()
		}
		return clean(e.Message)
	}
	return clean(err.Error())
}

// broken returns an error that is not an answer of the server's.
func (v *viewer) broken(err error) error {
	if err == nil || serverError(err) != nil {
		return nil
	}
	return v.lost(err)
}

// say shows a message, for a while.
func (v *viewer) say(text string) {
	v.message = text
	v.expire.Reset(messageTime)
}

// show draws what there is to be seen.
func (v *viewer) show() error {
	message := v.message
	switch {
	case v.last.over():
		message = "the program has " + Ended(v.last.Exit) + ": any key leaves"
	case v.menu:
		message = v.menuLine()
	}
	p := picture{bell: v.ring, lines: v.window.lines(v.status(), message), style: v.last.Cursor.Style}
	p.row, p.col, p.visible = v.window.cursor()
	p.visible = p.visible && v.last.Cursor.Visible && !v.last.over()
	if v.last.Title != nil {
		p.title = *v.last.Title
	}
	v.ring = false
	m := v.last.Modes
	p.modes = modes{reverse: m.ReverseVideo, noScroll: true}
	if v.writing && !v.last.over() {
		p.modes = modes{
			reverse: m.ReverseVideo, appCursor: m.ApplicationCursor, appKeypad: m.ApplicationKeypad, focus: m.FocusEvents,
			mouse: m.Mouse, noScroll: !m.AlternateScreen, kitty: m.KittyKeyboard, otherKeys: m.ModifyOtherKeys,
		}
	}
	v.decoder.mouse, v.decoder.asked = mouseModes[p.modes.mouse] != "", v.tty.asked
	return v.tty.show(p)
}

// status is the line below the session.
func (v *viewer) status() string {
	who := "read-only"
	switch l := v.last.Lease; {
	case v.writing && v.last.SecretInput:
		who = "you write; a secret is asked for, which nobody sees"
	case v.writing:
		who = "you write"
	case l != nil && !l.Yours:
		who = fmt.Sprintf("read-only, %s writes since %s", clean(l.Holder), l.Since.Local().Format(time.TimeOnly))
	}
	line := fmt.Sprintf("\x1b[0;7m %s \x1b[0m %s  %s for keys", v.Session, who, v.keyName())
	if !v.window.whole() {
		s, w := v.window.session, v.window.view()
		line += fmt.Sprintf("  rows %d-%d of %d, columns %d-%d of %d", v.window.top+1, v.window.top+w.Rows, s.Rows, v.window.left+1, v.window.left+w.Cols, s.Cols)
	}
	return line + "  " + clean(v.Title)
}

// Ended says how a program ended.
func Ended(e *client.Exit) string {
	switch {
	case e.Signal != nil:
		return "ended by " + *e.Signal
	case e.Code != nil:
		return fmt.Sprintf("ended with exit code %d", *e.Code)
	}
	return "ended"
}

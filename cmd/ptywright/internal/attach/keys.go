package attach

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/protocol/client"
)

// typed handles input events.
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
		if row, col, inside := v.window.place(e.mouse.row, e.mouse.col); v.writing &&
			!v.out.full() && (inside || e.mouse.action != "press") {
			e.mouse.row, e.mouse.col = row, col
			v.out.move(e.mouse)
		}
		return nil
	case e.kind == eventKey && (e.data == "\x1b[I" || e.data == "\x1b[O"): // focus gained or lost
		if v.writing && !v.out.full() {
			v.out.text(e.data)
		}
		return nil
	case v.last.Over():
		v.done = e.kind != eventPaste && e.kind != eventPasteOn && e.kind != eventPasteOff
		return nil
	case v.choosing && (e.kind == eventText || e.kind == eventKey || e.kind == eventPrefix):
		return v.choose(e)
	case e.kind == eventPrefix:
		v.choosing = true
		return nil
	case v.asking:
		v.wait(e)
		return nil
	}
	return v.perform(e)
}

// refusal is why nothing is typed: has is who holds the session.
func (v *viewer) refusal(has *client.Lease) []string {
	if v.Look {
		return []string{"read-only: you attached to look on, and cannot type; " + v.keyName() +
			" d detaches", "you can only look on"}
	}
	if has == nil || has.Yours {
		return []string{"read-only: " + v.keyName() + " w to type"}
	}
	return []string{
		fmt.Sprintf("read-only: %s has the session since %s; %s t takes it", clean(has.Holder),
			clock(has), v.keyName()),
		v.naming("%s has it: "+v.keyName()+" t takes it", has.Holder),
	}
}

// clock is when somebody acquired a session, in local time.
func clock(l *client.Lease) string { return l.Since.Local().Format(time.TimeOnly) }

// keyName is the detach key as people write it.
func (v *viewer) keyName() string {
	return "C" + v.Key.String()[1:4] + "-" + strings.ToUpper(v.Key.String()[5:])
}

// menu is what the detach key shows: its keys, on as many rows as they take.
func (v *viewer) menu() []string {
	keys := []string{"d detach", "w write", "t take", "z suspend", "arrows move", "l redraw"}
	switch {
	case v.Look:
		keys = []string{"d detach", "z suspend", "arrows move", "l redraw"}
	case v.writing:
		keys = []string{"d detach", "w release", "s send " + v.keyName(), "z suspend",
			"arrows move", "l redraw"}
	}
	return cli.Rows(keys, v.tty.size.Cols-2)
}

// choose handles a key of the menu.
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
			case k.release, k.code >= 0xe000 && k.code < 0xf900: // or a modifier: private use area
				return nil
			case ok && k.mods&^(64|128) == 0:
				name = string(k.code)
			}
		}
	}
	v.choosing = false
	switch name {
	case "d":
		v.done = true
		return nil
	case "l":
		v.tty.lines = nil
	case "\x1b[A", "\x1bOA", "\x1b[B", "\x1bOB", "\x1b[C", "\x1bOC", "\x1b[D", "\x1bOD":
		step := map[byte][2]int{'A': {-1, 0}, 'B': {1, 0}, 'C': {0, 1}, 'D': {0, -1}}[name[2]]
		v.window.pan(step[0], step[1])
		v.choosing = true
	case "w", "t", "s", "z":
		if err := v.one(event{kind: eventChoice, data: name}); err != nil {
			return err
		}
	}
	if rest == "" {
		return nil
	}
	return v.one(event{kind: eventText, data: rest})
}

// chosen performs the menu entries that depend on who may type.
func (v *viewer) chosen(name string) error {
	if v.Look && (name == "w" || name == "t") { // the server would refuse it
		v.say(v.refusal(nil)...)
		return nil
	}
	switch name {
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
		return v.perform(event{kind: eventText, data: string(rune(v.Key))})
	case "z":
		return v.suspend()
	}
	return nil
}

// acquire acquires the session.
func (v *viewer) acquire(take bool) {
	v.asking = true
	var since time.Time
	v.call(func() (err error) {
		since, err = v.lease(take)
		return err
	}, func(err error) error {
		v.asking = false
		v.have(since, err)
		if err = v.broken(err); err != nil {
			return err
		}
		return v.resume()
	})
}

// have handles the answer to acquire.
func (v *viewer) have(since time.Time, err error) {
	if err != nil {
		v.say(v.told(err)...)
		return
	}
	v.writing, v.sure, v.since, v.wanted = true, false, since, client.Size{}
	v.say("you write, and nobody else; "+v.keyName()+" for keys",
		"you write, "+v.keyName()+" for keys")
	v.fit()
	v.news(v.last) // which may have been made since
}

// release releases the session.
func (v *viewer) release() {
	v.look()
	v.asking = true
	v.call(func() error { return v.session().Release(v.ctx) }, func(err error) error {
		v.asking = false
		v.say("given back: read-only")
		if err = v.broken(err); err != nil {
			return err
		}
		return v.resume()
	})
}

// told is a server's error in words for a person.
func (v *viewer) told(err error) []string {
	e := serverError(err)
	if e == nil {
		return []string{clean(err.Error())}
	}
	var has client.Lease
	if e.Reason == "session_leased" && json.Unmarshal(e.Data, &has) == nil {
		return v.refusal(&has)
	}
	return []string{clean(e.Message)}
}

// broken returns an error that is not an answer of the server.
func (v *viewer) broken(err error) error {
	if err == nil || serverError(err) != nil {
		return nil
	}
	return v.lost(err)
}

// say shows a message for a while: the first of its texts that fits.
func (v *viewer) say(texts ...string) {
	v.message = texts
	v.expire.Reset(messageTime)
}

// fitting is the first text that is not wider than room, else the last.
func (v *viewer) fitting(room int, texts ...string) string {
	for _, text := range texts {
		if v.window.text.columns(text) <= room {
			return text
		}
	}
	return texts[len(texts)-1]
}

// naming writes a message about a holder, shortening the name to what fits.
func (v *viewer) naming(format, holder string) string {
	return v.within(v.tty.size.Cols-2, format, holder)
}

// leastName is the least number of characters shown of a holder's name: fewer do not tell holders
// apart.
const leastName = 4

func (v *viewer) within(room int, format, holder string) string {
	name := []rune(clean(holder))
	text := fmt.Sprintf(format, string(name))
	over := v.window.text.columns(text) - room
	if keep := max(len(name)-over-1, leastName); over > 0 && keep < len(name) {
		text = fmt.Sprintf(format, string(name[:keep/2])+"…"+string(name[len(name)-(keep-keep/2):])) // keep both ends
	}
	return text
}

// show draws the window and the status line.
func (v *viewer) show() error {
	var message []string
	switch {
	case v.last.Over():
		message = []string{v.fitting(v.tty.size.Cols-2,
			"the program "+v.last.Exit.Words()+": any key leaves",
			v.last.Exit.Words()+": any key leaves")}
	case v.choosing:
		message = v.menu()
	case v.message != nil:
		message = []string{v.fitting(v.tty.size.Cols-2, v.message...)}
	}
	p := contents{bell: v.ring, lines: v.window.lines(v.status(), message...),
		style: v.last.Cursor.Style}
	p.row, p.col, p.visible = v.window.cursor()
	p.visible = p.visible && v.last.Cursor.Visible && !v.last.Over()
	if v.last.Title != nil {
		p.title = *v.last.Title
	}
	v.ring = false
	m := v.last.Modes
	p.modes = modes{reverse: m.ReverseVideo, noScroll: true}
	if v.writing && !v.last.Over() {
		p.modes = modes{
			reverse: m.ReverseVideo, appCursor: m.ApplicationCursor, appKeypad: m.ApplicationKeypad,
			focus: m.FocusEvents, mouse: m.Mouse, noScroll: !m.AlternateScreen,
			kitty: m.KittyKeyboard, otherKeys: m.ModifyOtherKeys,
		}
	}
	v.decoder.mouse, v.decoder.asked = mouseModes[p.modes.mouse] != "", v.tty.asked
	return v.tty.show(p)
}

// leastTitle is the least number of columns of a title that tell it from others.
const leastTitle = 6

// status is the line below the session: its id and title, who writes, the key for help, and which
// part is shown. In 40 columns there is room for each but the last; where the title has none, the
// others are said in fewer words.
func (v *viewer) status() string {
	part := ""
	if !v.window.whole() {
		s, w := v.window.session, v.window.view()
		part = fmt.Sprintf("  rows %d-%d of %d, columns %d-%d of %d", v.window.top+1,
			v.window.top+w.Rows, s.Rows, v.window.left+1, v.window.left+w.Cols, s.Cols)
	}
	title := v.Title
	if t := v.last.Title; t != nil && *t != "" {
		title = *t
	}
	title = clean(title)
	label, keys := v.Label(), v.keyName()+" for keys"
	columns := v.window.text.columns
	who := v.who(v.tty.size.Cols - columns(" "+label+"  ") - columns("  "+keys) - columns(part) -
		min(columns(title), leastTitle) - len("  "))
	room := func() int { // for the title
		return v.tty.size.Cols - columns(" "+label+"  ") - columns("  "+who+"  "+keys+part)
	}
	if room() < leastTitle {
		keys = v.keyName() + " keys"
	}
	if room() < leastTitle {
		label = v.Session
	}
	if left := room(); left < leastTitle || title == "" {
		title = ""
	} else {
		title = v.window.text.cut(title, left) + "  "
	}
	return fmt.Sprintf("\x1b[0;7m %s \x1b[0m %s%s  %s%s", label, title, who, keys, part)
}

// who says who may type, in so many columns if it can.
func (v *viewer) who(room int) string {
	switch l := v.last.Lease; {
	case v.writing && v.last.SecretInput:
		return v.fitting(room, "you write; a secret is asked for and hidden",
			"you write a secret")
	case v.writing:
		return "you write"
	case l != nil && !l.Yours:
		return v.fitting(room,
			fmt.Sprintf("read-only, %s writes since %s", clean(l.Holder), clock(l)),
			v.within(room, "%s writes", l.Holder))
	}
	return "read-only"
}

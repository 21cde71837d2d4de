package attach

import (
	"fmt"
	"time"
)

const (
	// holdMax bounds what is held while the server is asked who may type, in bytes: as much as may
	// wait to be sent.
	holdMax = outboxMax
	// holdCost is what an event counts beside its text, in bytes.
	holdCost = 128
	// hungBound is how long the server may leave what is typed without an answer, before a full outbox
	// no longer keeps the terminal from being read: twice what a server waits for a program that does
	// not read.
	hungBound = 10 * time.Second
)

// A hold keeps what a person does while the server is asked for the session or given it back: it means one
// thing when the answer is yes and another when it is no. What is too much is dropped and counted, and not
// left in the terminal: a detach key behind it has to be read. Its zero value is ready. Not safe for
// concurrent use.
type hold struct {
	events []event
	bytes  int
	paste  bool // one that is kept has begun and not ended
	lost   int  // bytes of text that were dropped
}

// add keeps an event. When there is no room only the end of a paste is kept whose beginning was.
func (h *hold) add(e event) {
	end := e.kind == eventPasteOff && h.paste
	if !end && (h.lost > 0 || h.bytes+holdCost+len(e.data) > holdMax) {
		h.lost += max(len(e.data), 1)
		return
	}
	if e.kind == eventPasteOn || end {
		h.paste = !end
	}
	h.events = append(h.events, e)
	h.bytes += holdCost + len(e.data)
}

// next takes the oldest event.
func (h *hold) next() event {
	e := h.events[0]
	h.events = h.events[1:]
	h.bytes -= holdCost + len(e.data)
	return e
}

// wait holds an event until the server has answered.
func (v *viewer) wait(e event) {
	v.held.add(e)
	if n := v.held.lost; n > 0 {
		v.say(fmt.Sprintf("the server does not answer; %d bytes were dropped; %s d detaches", n, v.keyName()), "no answer: "+v.keyName()+" d detaches")
		return
	}
	v.say("the server has not answered yet: what you type waits; "+v.keyName()+" d detaches", "no answer yet: "+v.keyName()+" d detaches")
}

// resume goes on with what was held, up to what has the server asked again.
func (v *viewer) resume() error {
	for len(v.held.events) > 0 && !v.asking && !v.done {
		e := v.held.next()
		if !v.writing && e.kind != eventChoice {
			continue // the answer has said why
		}
		if err := v.perform(e); err != nil {
			return err
		}
	}
	if v.asking {
		return nil
	}
	lost := v.held.lost
	v.held = hold{}
	if lost > 0 && v.writing {
		v.skip = v.decoder.pasting // the rest of a paste that has a hole
		v.dropped(lost)
	}
	return nil
}

// dropped tells how much of what was typed is not sent.
func (v *viewer) dropped(bytes int) {
	v.say(fmt.Sprintf("the server was slow; %d bytes were dropped", bytes), fmt.Sprintf("dropped: %d bytes", bytes))
}

// full reports that the outbox has no room, and what to do about an event that comes nevertheless: it is dropped when
// the server is hung, since only then is the terminal still read.
func (v *viewer) full(e event) bool {
	if !v.hung || !v.out.full() {
		return false
	}
	v.skip = v.skip || e.kind == eventPasteOn || e.kind == eventPaste
	v.dropped(max(len(e.data), 1))
	return true
}

// perform does what an event means once it is known who may type.
func (v *viewer) perform(e event) error {
	switch {
	case v.last.Over():
		return nil
	case e.kind == eventChoice:
		return v.chosen(e.data)
	case v.skip && (e.kind == eventPaste || e.kind == eventPasteOff):
		v.skip = e.kind != eventPasteOff
		if !v.skip && v.inPaste {
			v.out.text(pasteOff)
			v.inPaste = false
		}
		return nil
	case !v.writing:
		if e.kind != eventPasteOff {
			v.say(v.refusal(v.last.Lease)...)
		}
		return nil
	case e.kind != eventPasteOff && v.full(e):
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
		v.say(fmt.Sprintf("not sent: %d bytes that are no UTF-8", len(e.data)))
	default:
		v.out.text(e.data)
	}
	return nil
}

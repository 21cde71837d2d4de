package attach

import (
	"fmt"
	"time"
)

const (
	// holdMax bounds what is held while a request for the lease is in flight, in bytes: as much as
	// may wait to be sent.
	holdMax = outboxMax
	// holdCost is what an event counts in addition to its text, in bytes.
	holdCost = 128
	// hungBound is how long the server may leave input unanswered before a full outbox no longer
	// stops us from reading the terminal: twice what a server waits for a program that does not
	// read.
	hungBound = 10 * time.Second
)

// A hold keeps input while a request to acquire or release the session is in flight: its meaning
// depends on the answer. Excess is dropped and counted, and not left in the terminal: a detach key
// after it has to be read. Its zero value is ready. Not safe for concurrent use.
type hold struct {
	events []event
	bytes  int
	paste  bool // a paste that is kept has begun and not ended
	lost   int  // bytes of text that were dropped
}

// add keeps an event. When the hold is full, only the end of a paste is kept, and only if its start
// was.
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

// next takes out the oldest event.
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
		v.say(fmt.Sprintf("the server does not answer; %d bytes were dropped; %s d detaches", n,
			v.keyName()), "no answer: "+v.keyName()+" d detaches")
		return
	}
	v.say("the server has not answered yet: what you type waits; "+v.keyName()+" d detaches",
		"no answer yet: "+v.keyName()+" d detaches")
}

// resume handles what was held, up to an event that has to ask the server again.
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
		v.skip = v.decoder.pasting // the rest of a paste with a hole
		v.dropped(lost)
	}
	return nil
}

// dropped reports how much input was not sent.
func (v *viewer) dropped(bytes int) {
	v.say(fmt.Sprintf("the server was slow; %d bytes were dropped", bytes),
		fmt.Sprintf("dropped: %d bytes", bytes))
}

// full reports whether the outbox is full, and handles an event that arrives anyway: it is dropped
// when the server is hung, the only case in which the terminal is still read.
func (v *viewer) full(e event) bool {
	if !v.hung || !v.out.full() {
		return false
	}
	v.skip = v.skip || e.kind == eventPasteOn || e.kind == eventPaste
	v.dropped(max(len(e.data), 1))
	return true
}

// perform acts on an event once it is known who may type.
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

package attach

import (
	"slices"
	"unicode/utf8"

	"github.com/ptywright/ptywright/protocol/client"
)

// An item is one request of what a person does to a session.
type item struct {
	text   string
	mouse  *mouse
	resize *client.Size
}

const (
	// actionMax bounds one text action, in bytes: a paste of a megabyte is some 30 requests, between which others get through.
	actionMax = 32 << 10
	// outboxMax bounds what waits to be sent, in bytes. Then nothing more is read from the terminal, which holds its own
	// paste back. A person types a minute for a kilobyte.
	outboxMax = 128 << 10
	// itemCost is what an event of the mouse counts beside text, in bytes.
	itemCost = 128
)

// An outbox is what waits to be sent, in order. Its zero value is ready. Not safe for concurrent use.
type outbox struct {
	items []item
	bytes int
}

// full reports that nothing more should be put in.
func (b *outbox) full() bool { return b.bytes >= outboxMax }

// text adds what was typed.
func (b *outbox) text(s string) {
	b.bytes += len(s)
	for len(s) > 0 {
		if n := len(b.items); n == 0 || b.items[n-1].mouse != nil || b.items[n-1].resize != nil {
			b.items = append(b.items, item{})
		}
		last := &b.items[len(b.items)-1]
		n := min(actionMax-len(last.text), len(s))
		for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
			n--
		}
		last.text += s[:n]
		if s = s[n:]; len(s) > 0 { // it is full, but for less than a character
			b.items = append(b.items, item{})
		}
	}
}

// move adds an event of the mouse. Of motion that has not been sent yet only the last place counts.
func (b *outbox) move(m mouse) {
	if n := len(b.items); n > 0 && m.action == "move" {
		if last := b.items[n-1].mouse; last != nil && last.action == "move" && last.button == m.button && slices.Equal(last.mods, m.mods) {
			b.items[n-1].mouse = &m
			return
		}
	}
	b.items = append(b.items, item{mouse: &m})
	b.bytes += itemCost
}

// resize adds a size for the session. Of sizes that have not been sent yet only the last counts.
func (b *outbox) resize(s client.Size) {
	b.items = slices.DeleteFunc(b.items, func(i item) bool { return i.resize != nil })
	b.items = append(b.items, item{resize: &s})
}

// take returns the next to be sent.
func (b *outbox) take() item {
	next := b.items[0]
	if b.items = b.items[1:]; len(b.items) == 0 {
		b.items = nil
	}
	if b.bytes -= len(next.text); next.mouse != nil {
		b.bytes -= itemCost
	}
	return next
}

// drop forgets what was typed and returns how many bytes of text that were. Sizes stay.
func (b *outbox) drop() (bytes int) {
	for _, i := range b.items {
		bytes += len(i.text)
	}
	b.items = slices.DeleteFunc(b.items, func(i item) bool { return i.resize == nil })
	b.bytes = 0
	return bytes
}

// value is an event as the server's action takes it.
func (m *mouse) value() map[string]any {
	a := map[string]any{"row": m.row, "col": m.col, "button": m.button, "action": m.action}
	if len(m.mods) > 0 {
		a["mods"] = m.mods
	}
	return a
}

package attach

import (
	"slices"
	"unicode/utf8"

	"github.com/ptywright/ptywright/protocol/client"
)

// An item is one request for something the person did to a session.
type item struct {
	text   string
	mouse  *mouse
	resize *client.Size
}

const (
	// actionMax bounds one text action, in bytes: a paste of a megabyte takes some 30 requests,
	// between which others get through.
	actionMax = 32 << 10
	// outboxMax bounds what waits to be sent, in bytes. At the bound we stop reading the terminal,
	// which then holds back the rest of a paste. A person types a kilobyte a minute.
	outboxMax = 128 << 10
	// itemCost is what a mouse event counts in addition to text, in bytes.
	itemCost = 128
)

// An outbox is the queue of what waits to be sent, in order. Its zero value is ready. Not safe for
// concurrent use.
type outbox struct {
	items []item
	bytes int
}

// full reports that nothing more should be added.
func (b *outbox) full() bool { return b.bytes >= outboxMax }

// text adds typed text.
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
		if s = s[n:]; len(s) > 0 { // full, except for less than a character
			b.items = append(b.items, item{})
		}
	}
}

// move adds a mouse event. Of unsent motion only the last position is kept.
func (b *outbox) move(m mouse) {
	if n := len(b.items); n > 0 && m.action == "move" {
		if last := b.items[n-1].mouse; last != nil && last.action == "move" &&
			last.button == m.button && slices.Equal(last.mods, m.mods) {
			b.items[n-1].mouse = &m
			return
		}
	}
	b.items = append(b.items, item{mouse: &m})
	b.bytes += itemCost
}

// resize adds a size for the session. Of unsent sizes only the last is kept.
func (b *outbox) resize(s client.Size) {
	b.items = slices.DeleteFunc(b.items, func(i item) bool { return i.resize != nil })
	b.items = append(b.items, item{resize: &s})
}

// take returns the next item to send.
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

// drop discards typed text and returns how many bytes that were. Sizes stay.
func (b *outbox) drop() (bytes int) {
	for _, i := range b.items {
		bytes += len(i.text)
	}
	b.items = slices.DeleteFunc(b.items, func(i item) bool { return i.resize == nil })
	b.bytes = 0
	return bytes
}

// value is the event as the server's action takes it.
func (m *mouse) value() map[string]any {
	a := map[string]any{"row": m.row, "col": m.col, "button": m.button, "action": m.action}
	if len(m.mods) > 0 {
		a["mods"] = m.mods
	}
	return a
}

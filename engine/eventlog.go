package engine

import (
	"slices"
	"sort"
	"sync"
	"unsafe"

	"github.com/ptywright/ptywright/internal/pulse"
)

// An eventLog keeps the newest events of a session, ordered by Seq. Its lock may be taken while the
// session's is held, never the other way round.
type eventLog struct {
	pulse pulse.Pulse // beats after each note

	mu sync.Mutex
	// protects the fields below
	list []Event
	text int // bytes
	seq  uint64
	ids  uint64
	lost uint64 // the greatest Seq of an event that was dropped
}

// put adds an event without an ID, or replaces the one that has it. The event gets its numbers.
func (l *eventLog) put(e *Event) {
	for _, s := range []*string{&e.Text, &e.Evidence, &e.Previous, &e.By, &e.What} {
		*s = cutWords(*s)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(e)
}

// more makes an event grow, if the last one that may be is of the same kind and not long ago, or
// else adds it. grow gets the old event and makes the new one of e. Only noise may lie between.
func (l *eventLog) more(e *Event, grow func(old *Event)) {
	e.Text = cutWords(e.Text)
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.list) - 1; i >= 0; i-- {
		old := &l.list[i]
		if old.Kind == e.Kind {
			if old.By == e.By && old.Secret == e.Secret && old.State == e.State &&
				e.Until.Sub(old.Until) < eventGap {
				e.ID, e.At, e.Sequence = old.ID, old.At, old.Sequence
				grow(old)
			}
			break
		}
		if !noise(old.Kind) && !noise(e.Kind) {
			break
		}
	}
	l.add(e)
}

// noise reports whether events of a kind do not separate others that belong together.
func noise(k EventKind) bool {
	return k == EventTitle || k == EventBell || k == EventRedacted
}

// add is put with mu held.
func (l *eventLog) add(e *Event) {
	l.seq++
	e.Seq = l.seq
	if e.ID == 0 {
		l.ids++
		e.ID = l.ids
	} else if i := l.find(e.ID); i >= 0 {
		l.text -= l.list[i].size()
		l.list = slices.Delete(l.list, i, i+1)
	}
	l.list = append(l.list, *e)
	l.text += e.size()
	if len(l.list) > maxEvents || l.text > maxEventText {
		l.trim()
	}
}

// find returns the place of an event. What goes on is mostly new.
func (l *eventLog) find(id uint64) int {
	for i := len(l.list) - 1; i >= 0; i-- {
		if l.list[i].ID == id {
			return i
		}
	}
	return -1
}

// trim drops the oldest events, an eighth at once since it moves the others: first those that have
// ended, and of those that go on only what is over the bound. The newest one always stays.
func (l *eventLog) trim() {
	for _, most := range [...]struct{ events, text int }{
		{maxEvents - maxEvents/8, maxEventText - maxEventText/8}, {maxEvents, maxEventText},
	} {
		last := len(l.list) - 1
		left := l.list[:0]
		for i := range l.list {
			e, over := &l.list[i], len(left)+last-i >= most.events || l.text > most.text
			if i < last && over && (!e.GoesOn() || most.events == maxEvents) {
				l.lost = max(l.lost, e.Seq)
				l.text -= e.size()
				continue
			}
			left = append(left, *e)
		}
		clear(l.list[len(left):])
		l.list = left
		if len(left) <= maxEvents && l.text <= maxEventText {
			return
		}
	}
}

// since returns copies of at most most events that were noted after seq, oldest first; see
// [Session.Events].
func (l *eventLog) since(seq uint64, most int) (events []Event, next uint64, dropped bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := sort.Search(len(l.list), func(i int) bool { return l.list[i].Seq > seq })
	n := min(max(most, 0), len(l.list)-from)
	events = slices.Clone(l.list[from : from+n])
	switch {
	case from+n == len(l.list):
		next = l.seq
	case n == 0:
		next = seq
	default:
		next = events[n-1].Seq
	}
	return events, next, seq < l.lost
}

// open returns the newest event of a kind that goes on, if there is one; of commands those with
// marks alone, unless any is set.
func (l *eventLog) open(k EventKind, any bool) (e Event, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.list) - 1; i >= 0; i-- {
		e := &l.list[i]
		if e.Kind == k && e.GoesOn() && (any || k != EventCommand || e.Number != 0) {
			return l.list[i], true
		}
	}
	return Event{}, false
}

// bytes is what the log takes.
func (l *eventLog) bytes() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return cap(l.list)*int(unsafe.Sizeof(Event{})) + l.text
}

// size is the length of the event's texts.
func (e *Event) size() int {
	n := len(e.Text) + len(e.What) + len(e.Evidence) + len(e.Previous) + len(e.By) + len(e.Signal)
	for _, k := range e.Keys {
		n += len(k)
	}
	return n
}

// cutWords bounds a text. What is cut is cut at a blank, so that no part of a word is left that
// redaction would have known whole.
func cutWords(s string) string {
	if len(s) <= maxEventWords {
		return s
	}
	at := maxEventWords
	for at > 0 && s[at] != ' ' && s[at] != '\n' {
		at--
	}
	return s[:at] + "…"
}

package plugins

import (
	"time"

	"github.com/ptywright/ptywright/internal/tree"
)

// An Event is something that happened in a turn, as a plugin read it from the screen. Kinds:
// text_delta (Text), tool_started (ID, Name, Input), tool_progress (ID, Summary), tool_completed
// (ID, Status, Result), turn_complete (Text), error (Category, Message), and state (State,
// Previous), which the host adds whenever the state changes.
type Event struct {
	Seq      uint64    `json:"seq"` // counts the adapter's events, from 1
	Kind     string    `json:"kind"`
	At       time.Time `json:"at"`
	Sequence uint64    `json:"sequence"` // of the view
	State    string    `json:"state,omitempty"`
	Previous string    `json:"previous,omitempty"`
	Text     string    `json:"text,omitempty"`
	ID       string    `json:"id,omitempty"`
	Name     string    `json:"name,omitempty"`
	Input    any       `json:"input,omitempty"`
	Summary  string    `json:"summary,omitempty"`
	Status   string    `json:"status,omitempty"`
	Result   any       `json:"result,omitempty"`
	Category string    `json:"category,omitempty"`
	Message  string    `json:"message,omitempty"`
}

// eventKinds are the kinds that a plugin may report, and the members of each.
var eventKinds = map[string][]string{
	"text_delta":     {"text"},
	"tool_started":   {"id", "name", "input"},
	"tool_progress":  {"id", "summary"},
	"tool_completed": {"id", "status", "result"},
	"turn_complete":  {"text"},
	"error":          {"category", "message"},
}

// event reads one event of a classifier's result.
func (d decoder) event() Event {
	kind := d.at("kind").text(maxWord)
	members, ok := eventKinds[kind]
	if !ok {
		d.fail("an event has the kind %s, which there is not", tree.Quote(kind))
		return Event{}
	}
	d.members(append([]string{"kind"}, members...)...)
	return Event{
		Kind: kind, Text: d.at("text").text(64 << 10),
		ID: d.at("id").text(maxWord), Name: d.at("name").text(maxWord),
		Input:   Clean(d.at("input").V, plain),
		Summary: d.at("summary").text(1 << 10),
		Status:  d.at("status").text(maxWord), Result: Clean(d.at("result").V, plain),
		Category: d.at("category").text(maxWord), Message: d.at("message").text(16 << 10),
	}
}

// Clean returns the event with clean applied to every text in it.
func (e Event) Clean(clean func(string) string) Event {
	for _, s := range []*string{&e.State, &e.Previous, &e.Text, &e.ID, &e.Name, &e.Summary,
		&e.Status, &e.Category, &e.Message} {
		*s = clean(*s)
	}
	e.Input, e.Result = Clean(e.Input, clean), Clean(e.Result, clean)
	return e
}

// maxLog bounds the events that an adapter keeps: a client that is away for a turn of a thousand
// events misses some, and learns so.
const maxLog = 1024

// maxLogBytes bounds their text, in bytes: a plugin may report 1 MiB in one look, and
// adapter.events returns all events in one answer. The longest recorded turns have some 100 KiB.
const maxLogBytes = 2 << 20

// A journal holds the newest events of an adapter, with their numbers. It is guarded by its
// adapter's lock.
type journal struct {
	events []Event
	last   uint64
	bytes  int // of events
}

func (j *journal) add(e Event) {
	j.last++
	e.Seq = j.last
	j.bytes += e.size()
	if len(j.events) == maxLog || j.bytes > maxLogBytes {
		least := len(j.events) / 8 // room for several, since it takes a copy: others may read the old array
		gone := 0
		for gone < len(j.events) && (gone < least || j.bytes > maxLogBytes) {
			j.bytes -= j.events[gone].size()
			gone++
		}
		j.events = append(j.events[:0:0], j.events[gone:]...)
	}
	j.events = append(j.events, e)
}

// size is the approximate size of an event, in bytes.
func (e *Event) size() int {
	n := 64 + len(e.State) + len(e.Previous) + len(e.Text) + len(e.ID) + len(e.Name) + len(e.Summary) + len(e.Status) + len(e.Category) + len(e.Message)
	return n + sizeOf(e.Input) + sizeOf(e.Result)
}

func sizeOf(value any) int {
	n := 16
	switch x := value.(type) {
	case nil:
		return 0
	case string:
		n += len(x)
	case []any:
		for _, e := range x {
			n += sizeOf(e)
		}
	case map[string]any:
		for k, e := range x {
			n += len(k) + sizeOf(e)
		}
	}
	return n
}

// since returns the events after a number, and whether some of them were dropped. The caller must
// not modify them.
func (j *journal) since(seq uint64) (events []Event, dropped bool) {
	if seq >= j.last {
		return nil, false
	}
	oldest := j.last - uint64(len(j.events))
	if seq < oldest {
		return j.events[:len(j.events):len(j.events)], true
	}
	return j.events[seq-oldest : len(j.events) : len(j.events)], false
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine/vt"
)

// An EventKind is what kind of thing happened to a session.
type EventKind string

// The kinds of events.
const (
	EventInput    EventKind = "input"    // something was typed, or a signal sent
	EventWait     EventKind = "wait"     // somebody waits, or has waited
	EventCommand  EventKind = "command"  // a shell that marks its commands runs one
	EventLease    EventKind = "lease"    // somebody alone may type
	EventResize   EventKind = "resize"   // the terminal has another size
	EventRedacted EventKind = "redacted" // secrets were hidden from a reader
	EventAdapter  EventKind = "adapter"  // the state of an adapter's program is another
	EventBell     EventKind = "bell"     // the bell rang
	EventTitle    EventKind = "title"    // the window title is another
	EventExit     EventKind = "exit"     // the program has ended
)

// An EventState is how far an event is that has a beginning and an end.
type EventState string

// The states of events. Pending, Running and Held go on; all others are final.
const (
	Pending      EventState = "pending"       // a wait: nothing has matched yet
	WaitMatched  EventState = "matched"       // a wait
	TimedOut     EventState = "timed_out"     // a wait; a command that nobody watches any more
	Cancelled    EventState = "cancelled"     // likewise
	SessionEnded EventState = "session_ended" // a wait: nothing could match any more
	WaitFailed   EventState = "failed"        // a wait: its matcher has no answer
	Running      EventState = "running"       // a command
	CommandEnded EventState = "ended"         // a command
	Held         EventState = "held"          // a lease
	Released     EventState = "released"      // a lease
	TakenOver    EventState = "taken_over"    // a lease: somebody else has it now
	Blocked      EventState = "blocked"       // input that the program did not read in time
	KilledByUs   EventState = "killed"        // an exit that was asked for
)

// An Event is one thing that happened to a session: see [Session.Events]. Its texts are the
// program's and its clients', not redacted, except Evidence; see [Event.Clean]. It never holds what
// was typed. Its JSON is that of session.events, and of recordings.
type Event struct {
	// ID numbers the events of a session from 1, and stays the same while an event goes on. Seq
	// counts what was noted: an event that has ended or grown comes again with a higher Seq.
	ID    uint64     `json:"event" jsonschema:"its number, from 1; the same while it goes on"`
	Seq   uint64     `json:"seq" jsonschema:"for since; an event that has ended or grown comes again with a higher one"`
	Kind  EventKind  `json:"kind" jsonschema:"input, wait, command, lease, resize, redacted, adapter, bell, title or exit"`
	State EventState `json:"state,omitempty" jsonschema:"how far it is, if it has a beginning and an end: pending, running and held go on"`
	// At is when it began, and Sequence the session's sequence by then. Until and Last are when it
	// ended, or grew last, and the sequence by then; Until is zero while the event goes on.
	At       time.Time `json:"at" jsonschema:"when it began"`
	Sequence uint64    `json:"sequence" jsonschema:"of the session by then, for at of session.snapshot"`
	Until    time.Time `json:"until,omitzero" jsonschema:"when it ended, or grew last; left out while it goes on"`
	Last     uint64    `json:"until_sequence,omitzero" jsonschema:"of the session by then"`
	By       string    `json:"by,omitempty" jsonschema:"who typed, waits, resized or has the lease"`
	What     string    `json:"what,omitempty" jsonschema:"kind of input: text, paste, key, mouse or signal; of an adapter its plugin"`
	Text     string    `json:"text,omitempty" jsonschema:"what a wait waits for, in words; a command line; a title; the state of an adapter"`
	Evidence string    `json:"evidence,omitempty" jsonschema:"of a wait that has ended: what matched, or what was lacking"`
	Previous string    `json:"previous,omitempty" jsonschema:"the adapter's state before"`
	// TimeoutMS is how long a wait may last, in milliseconds; 0: as long as its context.
	TimeoutMS int64 `json:"timeout_ms,omitzero" jsonschema:"how long a wait may last; left out: no limit"`
	// Bytes is how much was typed. It is 0 with Secret, when echo was off: nothing is told of that.
	Bytes  int      `json:"bytes,omitzero" jsonschema:"how much was typed"`
	Keys   []string `json:"keys,omitempty" jsonschema:"the keys that were pressed and type no text, at most the first 16"`
	Secret bool     `json:"secret,omitzero" jsonschema:"what was typed may be a secret: nothing more is told of it"`
	Count  int      `json:"count,omitzero" jsonschema:"how often the bell rang, or how many secrets were hidden"`
	Number uint64   `json:"number,omitzero" jsonschema:"of the command in session.blocks"`
	Rows   int      `json:"rows,omitzero" jsonschema:"of a resize"`
	Cols   int      `json:"cols,omitzero" jsonschema:"of a resize"`
	// ExitCode is that of a command or of the program; nil: not known, or a signal ended it.
	ExitCode *int   `json:"exit_code,omitempty" jsonschema:"of a command, or of the program"`
	Signal   string `json:"signal,omitempty" jsonschema:"that ended the program"`
	Over     Limit  `json:"limit,omitempty" jsonschema:"that the session went over: see session.exited"`
}

// Clean returns the event with each of its texts as [PlainLine] makes it, and with its times in UTC:
// as it may leave.
func (e Event) Clean(clean func(string) string) Event {
	for _, s := range []*string{&e.By, &e.What, &e.Text, &e.Evidence, &e.Previous} {
		*s = PlainLine(*s, clean)
	}
	if e.At = e.At.UTC(); !e.Until.IsZero() {
		e.Until = e.Until.UTC()
	}
	return e
}

// PlainLine is a text that a client or a program has chosen, such as the name of a lease's holder, as
// it may leave: clean, a redactor, is applied to it, and it is one line without control characters, of
// 2 KiB at most.
func PlainLine(text string, clean func(string) string) string {
	if text == "" {
		return ""
	}
	return vt.Clean([]byte(strings.Map(picture, unescaped(text, clean))), maxEventWords)
}

// unescaped is clean, which also finds what is escaped for a regex or a shell: then the text comes
// without its escapes.
func unescaped(s string, clean func(string) string) string {
	if plain := strings.ReplaceAll(s, `\`, ""); plain != s {
		if hidden := clean(plain); hidden != plain {
			return hidden
		}
	}
	return clean(s)
}

// picture shows a control character.
func picture(r rune) rune {
	switch {
	case r < 0x20:
		return 0x2400 + r
	case r == 0x7f:
		return 0x2421
	}
	return r
}

// GoesOn reports whether the event has not ended yet.
func (e *Event) GoesOn() bool {
	return e.State == Pending || e.State == Running || e.State == Held
}

const (
	// maxEvents bounds the events that a session keeps, and maxEventText their texts, in bytes: an
	// hour of an agent's work, in 250 KiB at most.
	maxEvents    = 500
	maxEventText = 64 << 10
	// maxEventWords bounds one text of an event, in bytes. A longer one is cut, and ends with an
	// ellipsis; matchers name long texts by their length instead.
	maxEventWords = 2 << 10
	// eventGap is how long after it a thing that happens again is the same event: keys of one word,
	// a spinner in a title, a bell that rings thrice.
	eventGap = time.Second
	// maxEventKeys bounds [Event.Keys].
	maxEventKeys = 16
)

// Events returns what has happened to the session, as far as it was noted after seq: input, waits
// pending and ended, commands, leases, resizes, what was hidden, states of an adapter, bells,
// titles and the end. At most most events come, oldest first. next is what to pass next time;
// dropped says that some after seq are not kept: of 500, or 64 KiB of text, the oldest eighth goes,
// and what goes on stays before all. It never blocks for I/O.
//
// An event that goes on, such as a wait that is pending, comes when it begins, and comes again with
// the same ID and a higher Seq when it has ended. So does one that grows, as when somebody types
// key by key: a reader keeps the newest of each ID.
//
// A wait is an event if its matcher has words (fmt.Stringer), as all of package matchers have, and
// if it lasted or matched: a look that did not match ([Within] 0) is none.
func (s *Session) Events(seq uint64, most int) (events []Event, next uint64, dropped bool) {
	return s.events.since(seq, most)
}

// Noted returns a channel that is closed when the next event of the session is noted. Take it
// before [Session.Events].
func (s *Session) Noted() <-chan struct{} { return s.events.pulse.Next() }

// Noted returns a channel that is closed when the next event of any session is noted.
func (e *Engine) Noted() <-chan struct{} { return e.noted.Next() }

// By is who waits, types or resizes, for the session's events: such as "client 3". It is an option
// of [Session.Wait] and of [Session.Do], where a lease's holder counts more.
type By string

func (b By) wait(w *waiting)  { w.by = string(b) }
func (b By) act(o *doOptions) { o.By = string(b) }

// Unnoted is an option of [Session.Wait]: the wait is no event. It is for waits that are a part of
// something that is one, such as for the echo of what was typed: their words would tell that.
type Unnoted struct{}

func (Unnoted) wait(w *waiting) { w.unnoted = true }

// Explained is called when a wait has ended, before [Session.Wait] returns, and says in one line
// what matched or was lacking, for [Event.Evidence]. Others read it: it must hide secrets. It is
// not called for a wait that is no event.
type Explained func(out *Outcome, err error) string

func (f Explained) wait(w *waiting) { w.explain = f }

// Note notes an event of a kind that the session cannot see itself: what a reader was not shown
// ([EventRedacted]), an adapter's state ([EventAdapter]), a command of a shell without marks
// ([EventCommand]). It gets its numbers, and what it lacks of its times; noted again, it is the same
// event, which has ended.
func (s *Session) Note(e *Event) {
	now, seq := time.Now(), s.Sequence()
	if e.At.IsZero() {
		e.At, e.Sequence = now, seq
	}
	if !e.GoesOn() {
		e.Until, e.Last = now, seq
	}
	if e.Kind == EventRedacted {
		s.events.more(e, func(old *Event) { e.Count = max(e.Count, old.Count) })
	} else {
		s.events.put(e)
	}
	s.told()
}

// note notes an event: a new one without an ID, or what became of the one that has it. It is the
// way into the log for everything but what the pump notes under its own locks, which calls told
// itself.
func (s *Session) note(e *Event) {
	s.events.put(e)
	s.told()
}

// told passes what was noted to the taps that want it and wakes whoever reads events.
func (s *Session) told() {
	if s.eventTaps.Load() {
		s.tapping <- struct{}{}
		s.tapEvents()
		<-s.tapping
	}
	s.wakeReaders()
}

// wakeReaders wakes whoever reads events.
func (s *Session) wakeReaders() {
	s.events.pulse.Beat()
	s.engine.noted.Beat()
}

// An EventTap is a Tap that also gets the session's events, each when it is noted and in their order
// among the calls of the tap; events that go on when the tap is attached come first.
type EventTap interface {
	Tap
	Event(e Event) error
}

// tapEvents passes what was noted since the last call to the taps that want it. The caller holds
// tapping, and not mu.
func (s *Session) tapEvents() {
	if !s.eventTaps.Load() {
		return
	}
	events, next, _ := s.events.since(s.tapped, maxEvents)
	s.tapped = next
	for _, e := range events {
		s.eachTap(func(t Tap) error {
			if x, ok := t.(EventTap); ok {
				return x.Event(e)
			}
			return nil
		})
	}
}

// beginEventTap passes a new tap what goes on. The caller holds tapping.
func (s *Session) beginEventTap(t Tap) error {
	x, ok := t.(EventTap)
	if !ok {
		return nil
	}
	s.tapEvents() // to those before
	s.eventTaps.Store(true)
	events, next, _ := s.events.since(0, maxEvents)
	s.tapped = next
	for _, e := range events {
		if e.GoesOn() {
			if err := x.Event(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// beginWait notes that a wait is pending, once, when it first blocks.
func (w *waiting) beginWait(m Matcher, v *View) {
	words, ok := m.(fmt.Stringer)
	if !ok || w.event != nil || w.unnoted {
		return
	}
	w.event = &Event{Kind: EventWait, State: Pending, At: w.began, Sequence: v.Sequence,
		Text: words.String(), By: w.by, TimeoutMS: w.limit()}
	w.session.note(w.event)
}

// limit is how long the wait may last, in milliseconds; 0: as long as its context.
func (w *waiting) limit() int64 { return max(w.timeout, 0).Milliseconds() }

// endWait notes how a wait ended, unless it was a look that did not match.
func (w *waiting) endWait(m Matcher, out *Outcome, err error) {
	words, ok := m.(fmt.Stringer)
	if !ok || w.unnoted || w.event == nil && err != nil {
		return
	}
	e := w.event
	if e == nil {
		e = &Event{Kind: EventWait, At: w.began, Sequence: out.View.Sequence, Text: words.String(),
			By: w.by, TimeoutMS: w.limit()}
	}
	e.State, e.Until, e.Last = endOfWait(w.ctx, err), w.began.Add(out.Elapsed), out.View.Sequence
	if w.explain != nil {
		e.Evidence = w.explain(out, err)
	}
	w.session.note(e)
}

// endOfWait is how a wait ended.
func endOfWait(ctx context.Context, err error) EventState {
	switch {
	case err == nil:
		return WaitMatched
	case errors.Is(err, ErrTimeout):
		return TimedOut
	case errors.Is(err, ErrEnded), errors.Is(err, ErrClosed):
		return SessionEnded
	case ctx.Err() != nil:
		return Cancelled
	}
	return WaitFailed
}

// noteTyped notes what is about to be typed, as it is typed key by key. Nothing of it is kept but
// its length and, unless it may be secret, the names of keys that type no text.
func (t *typist) noteTyped(p []byte, secret bool) {
	now := time.Now()
	e := &Event{Kind: EventInput, At: now, Until: now, Sequence: t.Sequence, Last: t.Sequence,
		By: t.by(), What: t.what, Secret: secret}
	if !secret {
		e.Bytes, e.Keys = len(p), t.keys(p)
		t.noted += len(p)
	}
	t.s.events.more(e, func(old *Event) {
		if old.What != e.What {
			e.What = "text"
		}
		e.Bytes += old.Bytes
		keys := append(slices.Clone(old.Keys), e.Keys...)
		e.Keys = keys[:min(len(keys), maxEventKeys)]
	})
	t.event = e
	t.s.told()
}

// noteUntaken notes that the terminal did not take all that was noted.
func (t *typist) noteUntaken(err error) {
	if e := t.event; e != nil && err != nil && (e.Secret || t.Written < t.noted) {
		e.Bytes = max(0, e.Bytes-(t.noted-t.Written))
		e.State = Blocked
		e.Until = time.Now()
		t.s.note(e)
	}
}

// by is who types.
func (t *typist) by() string {
	if t.o.Lease != nil {
		return t.o.Lease.Holder
	}
	return t.o.By
}

// keys are the names of the keys in what is typed that type no text: those of the action, and Enter
// in a text.
func (t *typist) keys(p []byte) []string {
	if t.key != "" {
		return []string{t.key}
	}
	for _, c := range p {
		if c == '\r' || c == '\n' {
			return []string{"enter"}
		}
	}
	return nil
}

// heardOutput notes what a batch of output has brought: commands, bells and titles. The caller holds
// tapping and mu.
func (s *Session) heardOutput(before heard, now time.Time) {
	seq := s.term.Sequence()
	noted := false
	for i := range s.marks {
		noted = s.markHeard(&s.marks[i], seq, now) || noted
	}
	if s.bell > before.bell {
		e := &Event{Kind: EventBell, At: now, Until: now, Sequence: s.bell, Last: s.bell, Count: 1}
		s.events.more(e, func(old *Event) { e.Count += old.Count })
		noted = true
	}
	if title, set := s.term.Title(); set && (title != before.title || set != before.titled) {
		e := &Event{Kind: EventTitle, At: now, Until: now, Sequence: seq, Last: seq, Text: title}
		s.events.more(e, func(*Event) {})
		noted = true
	}
	s.heard = s.heard || noted
}

// heard is what a batch of output may change and events tell.
type heard struct {
	bell   uint64
	title  string
	titled bool
}

// hearing is heard as of now, with mu held.
func (s *Session) hearing() heard {
	h := heard{bell: s.bell}
	h.title, h.titled = s.term.Title()
	return h
}

// markHeard notes the beginning or the end of a command.
func (s *Session) markHeard(m *Mark, seq uint64, now time.Time) (noted bool) {
	e, open := s.events.open(EventCommand, false)
	switch {
	case m.Number != 0 && !m.Refused && open && e.Number == m.Number: // its command line came late
		if e.Text != "" || m.Command == "" {
			return false
		}
		e.Text = m.Command
		s.events.put(&e)
		return true
	case open && (m.Number != e.Number):
		e.State, e.Until, e.Last = CommandEnded, now, seq
		if m.Kind == 'D' && m.Exited {
			code := m.Exit
			e.ExitCode = &code
		}
		s.events.put(&e)
		noted = true
	}
	if m.Number != 0 && !m.Refused && m.Kind == 'C' {
		s.events.put(&Event{Kind: EventCommand, State: Running, At: now, Sequence: seq,
			Text: m.Command, Number: m.Number})
		noted = true
	}
	return noted
}

// exitHeard notes the program's end. The caller holds mu, and wakes the readers.
func (s *Session) exitHeard() {
	x, seq := s.exit, s.term.Sequence()
	s.commandLeft(x.At)
	e := &Event{Kind: EventExit, At: x.At, Until: x.At, Sequence: seq, Last: seq, Signal: x.Signal,
		Over: x.Limit}
	if x.Killed { // a limit is nobody's wish
		e.State = KilledByUs
	}
	if x.Signal == "" && x.Code >= 0 {
		code := x.Code
		e.ExitCode = &code
	}
	s.events.put(e)
}

// commandLeft notes that the command which runs, if there is one, is over with its shell: it has no
// exit code of its own. The caller holds mu.
func (s *Session) commandLeft(now time.Time) {
	for e, open := s.events.open(EventCommand, true); open; e, open = s.events.open(EventCommand, true) {
		e.State, e.Until, e.Last = CommandEnded, now, s.term.Sequence()
		s.events.put(&e)
	}
}

// leaseHeard notes that a lease has ended, and begun. The caller holds mu.
func (s *Session) leaseHeard(how EventState, begun *Lease) {
	now, seq := time.Now(), s.term.Sequence()
	if e, open := s.events.open(EventLease, true); open {
		e.State, e.Until, e.Last = how, now, seq
		s.events.put(&e)
	}
	if begun != nil {
		s.events.put(&Event{Kind: EventLease, State: Held, At: begun.Since, Sequence: seq,
			By: begun.Holder})
	}
}

// Hid is called by whoever shows v: so many secrets were hidden in it. An event tells of it when
// there are more than before.
func (v *View) Hid(n int) {
	s := v.session
	if s == nil || n == 0 && s.hidden.Load() == 0 {
		return
	}
	// Readers may hide different things on the same screen: only a newer one counts anew.
	if before := s.hidden.Load(); n > int(before) {
		s.hidden.Store(int64(n))
		s.hiddenAt.Store(v.Sequence)
		s.Note(&Event{Kind: EventRedacted, Count: n})
	} else if v.Sequence > s.hiddenAt.Load() {
		s.hidden.Store(int64(n))
	}
}

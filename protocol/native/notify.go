package native

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/redact"
)

type notificationsParams struct {
	Enabled  *bool    `json:"enabled" jsonschema:"whether to notify"`
	Adapters []string `json:"adapters,omitempty" jsonschema:"only sessions of these adapters"`
	Sessions []string `json:"sessions,omitempty" jsonschema:"only these sessions"`
	Since    *uint64  `json:"since,omitempty" jsonschema:"with sessions: tell their output after this sequence, too, from 0 all that is kept"`
	Events   bool     `json:"events,omitempty" jsonschema:"true tells session.event, too"`
	readParams
}

type notificationsResult struct {
	Enabled  bool     `json:"enabled"`
	Adapters []string `json:"adapters,omitempty"`
	Sessions []string `json:"sessions,omitempty"`
	Events   bool     `json:"events,omitempty"`
}

func (c *client) setNotifications(_ context.Context,
	p notificationsParams) (notificationsResult, error) {
	if p.Enabled == nil {
		return notificationsResult{}, &protocol.ParamError{Path: "enabled", Expected: "a boolean"}
	}
	if p.Since != nil && len(p.Sessions) == 0 {
		return notificationsResult{},
			&protocol.ParamError{Path: "since", Expected: "sessions beside it", Got: "none"}
	}
	f := filter{enabled: *p.Enabled, sessions: p.Sessions, adapters: p.Adapters,
		events: *p.Enabled && p.Events, hide: p.redactor()}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.notifier == nil {
		c.notifier = &notifier{
			client: c, change: make(chan change, 1), done: make(chan struct{}),
			cursors: map[engine.ID]*cursor{}, states: map[string]*stateCursor{},
			follow: c.Engine.Follow(),
		}
		go c.notifier.run()
	}
	ch := change{filter: f}
	if f.enabled && !c.notifying { // computed here, before the reply: what comes after it is notified
		ch.skip, ch.states = positions(c.Engine), c.adapterStates()
	}
	if f.enabled && p.Since != nil {
		ch.from(c.Engine, p.Sessions, *p.Since)
	}
	if f.events && !c.eventing {
		ch.noted = noted(c.Engine)
	}
	c.notifying, c.eventing = f.enabled, f.events
	c.notifier.set(ch)
	return notificationsResult{Enabled: *p.Enabled, Adapters: p.Adapters, Sessions: p.Sessions,
		Events: f.events}, nil
}

// The notifications.
const (
	noteChanged = "session.changed"
	noteLeased  = "session.leased"
	noteOutput  = "session.output"
	noteExited  = "session.exited"
	noteAdapter = "adapter.changed"
	noteEvent   = "session.event"
)

// notes are all of them.
var notes = []struct {
	name, about string
	params      reflect.Type
}{
	{noteChanged, "The screen has changed.", reflect.TypeFor[changedParams]()},
	{noteLeased, "A client has taken the right to type, or given it back.",
		reflect.TypeFor[leasedParams]()},
	{noteOutput, "The program has written something.", reflect.TypeFor[outputParams]()},
	{noteExited, "The program has ended, and its last byte was told.",
		reflect.TypeFor[exitedParams]()},
	{noteAdapter, "The state of an adapter's program is another, or something has happened in the turn.", reflect.TypeFor[adapterChangedParams]()},
	{noteEvent, "Something has happened to the session, or an event has ended or grown.", reflect.TypeFor[eventParams]()},
}

// notifications are the names of all of them, as server.capabilities lists them.
var notifications = func() (names []string) {
	for _, n := range notes {
		names = append(names, n.name)
	}
	return names
}()

// A filter is what a client has subscribed to.
type filter struct {
	enabled  bool
	sessions []string // with adapters: either; both empty: all
	adapters []string
	events   bool // session.event, too
	hide     *redact.Redactor
}

// wants reports whether a session, or the adapter that drives it, if any, is subscribed to. A name
// stands for all sessions with that name, future ones included.
func (f *filter) wants(s *engine.Session, adapter string) bool {
	if len(f.sessions) == 0 && len(f.adapters) == 0 {
		return true
	}
	name := s.Config().Name
	return slices.Contains(f.sessions, string(s.ID())) ||
		name != "" && slices.Contains(f.sessions, name) ||
		adapter != "" && slices.Contains(f.adapters, adapter)
}

const (
	// floor is the least time between two passes of a notifier. A flood then costs a client a
	// hundred messages a second instead of thousands; a change after a quiet spell is sent at once.
	floor = 10 * time.Millisecond
	// holdBound is how long an unfinished line may be held back because it may end in part of a
	// secret: the 250 ms of the design.
	holdBound = 250 * time.Millisecond
)

// A notifier sends one connection what has changed. It queues nothing: it looks, writes what
// differs from what it sent last, and looks again when that has been read. However slow the client,
// it costs this one goroutine.
type notifier struct {
	client  *client
	change  chan change // one slot: the newest, with the skips of the one it replaces
	done    chan struct{}
	filter  filter
	cursors map[engine.ID]*cursor
	states  map[string]*stateCursor // by adapter
	follow  *engine.Follower
	quiet   context.CancelFunc // ends the pass in progress; guarded by client.mu, nil when there is none
}

// A change is a new filter and, where notifications are turned on, the positions up to which
// nothing is sent.
type change struct {
	filter filter
	skip   map[engine.ID]position
	states map[string]*stateCursor // likewise, of adapters
	noted  map[engine.ID]uint64    // likewise, of events
}

// from sends the output of sessions from a sequence on. Other sessions, and unknown ones, are
// unchanged.
func (ch *change) from(e *engine.Engine, sessions []string, since uint64) {
	if ch.skip == nil {
		ch.skip = map[engine.ID]position{}
	}
	for _, id := range sessions {
		if s, err := e.Session(engine.ID(id)); err == nil {
			ch.skip[s.ID()] = position{sequence: since, offset: s.OffsetAt(since)}
		}
	}
}

type position struct {
	sequence uint64
	offset   engine.Offset
}

func positions(e *engine.Engine) map[engine.ID]position {
	skip := map[engine.ID]position{}
	for _, s := range e.List() {
		v := s.View()
		_, end := v.Transcript.Bounds()
		skip[s.ID()] = position{v.Sequence, end}
	}
	return skip
}

// A cursor is how far one session has been sent.
type cursor struct {
	session  *engine.Session
	adapter  string // the adapter that drives it, once known
	sequence uint64
	offset   engine.Offset
	stream   *redact.Stream // nil: as it is
	held     time.Time      // since when stream holds back text; zero: it does not
	carry    string         // what an earlier stream held back: it is sent first
	exited   bool           // session.exited was sent
	secret   bool           // the secret_input sent last
	lease    *engine.Lease  // the lease sent last
	begun    bool           // the client knows of the session: it existed before, or was notified
	noted    uint64         // the last event that was sent
}

// set changes the filter. It is called under the client's lock and never blocks.
func (n *notifier) set(c change) {
	select {
	case old := <-n.change:
		for id, p := range old.skip {
			if c.skip == nil {
				c.skip = map[engine.ID]position{}
			}
			if _, ok := c.skip[id]; !ok {
				c.skip[id] = p
			}
		}
		if c.states == nil {
			c.states = old.states
		}
		if c.noted == nil {
			c.noted = old.noted
		}
	default:
	}
	n.change <- c
	if !c.filter.enabled && n.quiet != nil {
		n.quiet() // no notification may follow the reply to this request
	}
}

// begin returns the context of a pass, or the change to apply first.
func (n *notifier) begin() (ctx context.Context, end context.CancelFunc, c change, changed bool) {
	n.client.mu.Lock()
	defer n.client.mu.Unlock()
	select {
	case c = <-n.change:
		return nil, nil, c, true
	default:
	}
	ctx, cancel := context.WithCancel(n.client.ctx)
	n.quiet = cancel
	return ctx, func() {
		n.client.mu.Lock()
		n.quiet = nil
		n.client.mu.Unlock()
		cancel()
	}, c, false
}

// apply takes a new filter.
func (n *notifier) apply(c change) {
	n.filter = c.filter
	if c.states != nil {
		n.states = c.states
	}
	for _, s := range n.client.Engine.List() {
		n.cursor(s)
	}
	for id, cur := range n.cursors {
		if seq, ok := c.noted[id]; ok {
			cur.noted = seq
		}
		if p, ok := c.skip[id]; ok {
			cur.sequence, cur.offset, cur.carry, cur.begun = p.sequence, p.offset, "", true
		} else if cur.stream != nil {
			cur.carry += cur.stream.Flush()
		}
		cur.stream, cur.held = cur.seeded(n.filter.hide), time.Time{}
	}
}

// seeded returns a stream that knows how the cursor's line began, and whether it is in a private
// key: the text that makes its rest a secret may already have been sent, or skipped.
func (c *cursor) seeded(hide *redact.Redactor) *redact.Stream {
	if hide == nil {
		return nil
	}
	stream := redact.NewStream(hide.For(string(c.session.ID())))
	t := c.session.View().Transcript
	if oldest, end := t.Bounds(); c.offset > oldest && c.offset <= end {
		before := t.Bytes()[:c.offset-oldest]
		stream.Write(string(before[redact.Reach(before):]))
		stream.Flush()
	}
	return stream
}

// cursor returns the session's cursor; a new session is sent from its beginning.
func (n *notifier) cursor(s *engine.Session) *cursor {
	cur, ok := n.cursors[s.ID()]
	if !ok {
		cur = &cursor{session: s}
		cur.stream = cur.seeded(n.filter.hide)
		n.cursors[s.ID()] = cur
	}
	return cur
}

// run makes a pass whenever something may have changed, until the connection ends. When it fails it
// ends the connection: a client that gets no more notifications would wait for them forever.
func (n *notifier) run() {
	defer close(n.done)
	defer n.follow.Stop()
	if err := protocol.Guard(n.client.Log, "the notifications of a connection",
		n.watch); err != nil {
		n.client.conn.Close(err)
	}
}

// watch is the loop of run. An error is the connection's, or one of encoding.
func (n *notifier) watch() error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		changed := n.client.Engine.Changed() // taken before looking, so that no change is missed
		stated := n.client.Catalog.Changed()
		var noted <-chan struct{}
		if n.filter.events {
			noted = n.client.Engine.Noted()
		}
		began := time.Now()
		var wake time.Duration
		ctx, end, c, news := n.begin()
		if news {
			n.apply(c)
			continue
		}
		if n.filter.enabled {
			var err error
			wake, err = n.tell(ctx, began)
			end()
			if err != nil && ctx.Err() == nil {
				return err
			}
		} else {
			n.prune()
			end()
		}
		var due <-chan time.Time
		if wake > 0 {
			timer.Reset(wake)
			due = timer.C
		}
		select {
		case <-n.client.ctx.Done():
			n.last()
			return nil
		case c := <-n.change:
			n.apply(c)
			continue
		case <-due:
			continue
		case <-changed:
		case <-stated:
		case <-noted:
		}
		if rest := floor - time.Since(began); rest > 0 {
			timer.Reset(rest)
			select {
			case <-n.client.ctx.Done():
				n.last()
				return nil
			case c := <-n.change:
				n.apply(c)
			case <-timer.C:
			}
		}
	}
}

// prune drops sessions that are gone, for a client that has not subscribed to them.
func (n *notifier) prune() {
	n.follow.New()
	for id := range n.cursors {
		if _, err := n.client.Engine.Session(id); err != nil {
			delete(n.cursors, id)
		}
	}
}

// lastBound is how long the peer of an ended connection may take to read the last notifications.
const lastBound = 250 * time.Millisecond

// last sends what has happened up to the connection's end.
func (n *notifier) last() {
	if !n.filter.enabled {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastBound)
	defer cancel()
	_, _ = n.tell(ctx, time.Now()) // the client may be gone; nobody is left to notify
}

// tell writes what has changed in every session, including those that have left the registry, and
// returns when held-back text is due; 0: nothing is held.
func (n *notifier) tell(ctx context.Context, now time.Time) (wake time.Duration, err error) {
	for _, s := range n.follow.New() { // including those already gone
		n.cursor(s)
	}
	alive := map[engine.ID]bool{}
	order := n.client.Engine.List()
	for _, s := range order {
		alive[s.ID()] = true
		n.cursor(s)
	}
	var gone []*cursor
	for id, cur := range n.cursors {
		if !alive[id] {
			gone = append(gone, cur)
			delete(n.cursors, id)
		}
	}
	for _, cur := range gone {
		if err := n.session(ctx, cur, now); err != nil {
			return 0, err
		}
	}
	for _, s := range order {
		cur := n.cursors[s.ID()]
		if err := n.session(ctx, cur, now); err != nil {
			return 0, err
		}
		if !cur.held.IsZero() {
			due := max(time.Millisecond, holdBound-now.Sub(cur.held))
			if wake == 0 || due < wake {
				wake = due
			}
		}
	}
	return wake, n.adapters(ctx)
}

// session writes what has changed in one session: changed, output, exited.
func (n *notifier) session(ctx context.Context, cur *cursor, now time.Time) error {
	s := cur.session
	if cur.adapter == "" {
		if a := n.client.Catalog.Owner(s.ID()); a != nil {
			cur.adapter = a.ID()
		}
	}
	if !n.filter.wants(s, cur.adapter) {
		return nil
	}
	v := s.View()
	id := string(s.ID())
	if v.Sequence != cur.sequence || v.Secret != cur.secret || !cur.begun {
		cur.sequence, cur.secret, cur.begun = v.Sequence, v.Secret, true
		if err := n.notify(ctx, noteChanged,
			changedParams{Session: id, Sequence: v.Sequence, Secret: v.Secret}); err != nil {
			return err
		}
	}
	if v.Lease != cur.lease {
		cur.lease = v.Lease
		p := leasedParams{Session: id,
			Lease: n.client.leaseOf(reading.New(v, n.filter.hide))}
		if err := n.notify(ctx, noteLeased, p); err != nil {
			return err
		}
	}
	text, next, dropped := v.Transcript.Since(cur.offset)
	cur.offset = next
	exit := v.Exit != nil && !cur.exited
	out := cur.take(string(text), dropped, exit || v.Ended, now)
	if out != "" || dropped {
		if dropped {
			n.client.merged.Add(1)
		}
		p := outputParams{Session: id, Sequence: v.Sequence, Output: out, Dropped: dropped}
		if err := n.notify(ctx, noteOutput, p); err != nil {
			return err
		}
	}
	if err := n.events(ctx, cur); err != nil {
		return err
	}
	if exit {
		cur.exited = true
		x := exitOf(v.Exit)
		return n.notify(ctx, noteExited, exitedParams{id, v.Sequence, x.Code, x.Signal, x.Limit, x.Killed})
	}
	return nil
}

// take redacts new output. Held-back text is included when all is set, when the line has ended or
// when it is due.
func (c *cursor) take(text string, dropped, all bool, now time.Time) string {
	out := c.carry
	c.carry = ""
	if c.stream == nil {
		return out + text
	}
	if dropped { // held and new text are not adjacent
		out += c.stream.Flush()
		text = reading.HideHead(text)
	}
	out += c.stream.Write(text)
	if all || !c.held.IsZero() && now.Sub(c.held) >= holdBound {
		out += c.stream.Flush()
	}
	switch {
	case c.stream.Pending() == 0:
		c.held = time.Time{}
	case c.held.IsZero():
		c.held = now
	}
	return out
}

func (n *notifier) notify(ctx context.Context, method string, params any) error {
	return n.client.conn.Notify(ctx, method, params)
}

type changedParams struct {
	Session  string `json:"session"`
	Sequence uint64 `json:"sequence"`
	Secret   bool   `json:"secret_input,omitzero"`
}

type leasedParams struct {
	Session string     `json:"session"`
	Lease   *leaseInfo `json:"lease" jsonschema:"null: it was given back"`
}

type outputParams struct {
	Session  string `json:"session"`
	Sequence uint64 `json:"sequence"`
	Output   string `json:"output"`
	Dropped  bool   `json:"dropped,omitzero"`
}

type exitedParams struct {
	Session  string  `json:"session"`
	Sequence uint64  `json:"sequence"`
	Code     *int    `json:"exit_code" jsonschema:"null when a signal ended it"`
	Signal   *string `json:"signal" jsonschema:"such as SIGKILL; null when it exited"`
	Limit    string  `json:"limit,omitempty" jsonschema:"that the session went over, which ended it: max_ms, idle_ms, max_memory or owner"`
	Killed   bool    `json:"killed,omitempty" jsonschema:"somebody ended it, with session.kill or session.close"`
}

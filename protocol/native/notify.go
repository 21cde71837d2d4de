package native

import (
	"context"
	"slices"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/redact"
)

type notificationsParams struct {
	Enabled  bool     `json:"enabled" jsonschema:"whether to notify"`
	Adapters []string `json:"adapters,omitempty" jsonschema:"only sessions of these adapters"`
	Sessions []string `json:"sessions,omitempty" jsonschema:"only these sessions"`
	readParams
}

type notificationsResult struct {
	Enabled  bool     `json:"enabled"`
	Adapters []string `json:"adapters,omitempty"`
	Sessions []string `json:"sessions,omitempty"`
}

func (c *client) setNotifications(_ context.Context, p notificationsParams) (notificationsResult, error) {
	hide, err := p.redactor()
	if err != nil {
		return notificationsResult{}, err
	}
	f := filter{enabled: p.Enabled, sessions: p.Sessions, adapters: p.Adapters, hide: hide}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.notifier != nil:
		c.notifier.set(f)
	case p.Enabled:
		c.notifier = newNotifier(c, f)
		go c.notifier.run()
	}
	return notificationsResult{Enabled: p.Enabled, Adapters: p.Adapters, Sessions: p.Sessions}, nil
}

// A filter is what a client asked to be told.
type filter struct {
	enabled  bool
	sessions []string // with adapters: either; both empty: all
	adapters []string
	hide     *redact.Redactor
}

func (f *filter) wants(id engine.ID) bool {
	if len(f.sessions) == 0 && len(f.adapters) == 0 {
		return true
	}
	return slices.Contains(f.sessions, string(id))
}

const (
	// floor is the least time between two looks of a notifier. A flood then costs a client a hundred messages a
	// second instead of thousands; a change after a quiet spell is told at once.
	floor = 10 * time.Millisecond
	// holdBound is how long an unfinished line may be held back because a secret could be ending in it: the 250 ms
	// of the design.
	holdBound = 250 * time.Millisecond
)

// A notifier tells one connection what has changed. It queues nothing: it looks, writes what differs from what it told
// last, and looks again when that has been read. However slow the client, it costs this one goroutine.
type notifier struct {
	client  *client
	change  chan filter // one slot: the newest filter
	done    chan struct{}
	filter  filter
	cursors map[engine.ID]*cursor
}

// A cursor is how far one session has been told.
type cursor struct {
	session  *engine.Session
	sequence uint64
	offset   engine.Offset
	stream   *redact.Stream // nil: as it is
	held     time.Time      // since when stream holds something back; zero: it does not
	exited   bool           // session.exited was told
}

// newNotifier sets the cursors of all sessions that there are to where they are: a client that has just subscribed sees
// what comes after.
func newNotifier(c *client, f filter) *notifier {
	n := &notifier{client: c, change: make(chan filter, 1), done: make(chan struct{}), cursors: map[engine.ID]*cursor{}}
	n.apply(f)
	return n
}

// set changes the filter. It is called under the client's lock and never blocks.
func (n *notifier) set(f filter) {
	select {
	case <-n.change:
	default:
	}
	n.change <- f
}

// apply takes a new filter; turning notifications on skips what was produced while they were off.
func (n *notifier) apply(f filter) {
	if f.enabled && !n.filter.enabled {
		for _, s := range n.client.engine.List() {
			cur := n.cursor(s, f)
			v := s.View()
			_, cur.offset = v.Transcript.Bounds()
			cur.sequence, cur.held = v.Sequence, time.Time{}
		}
	}
	for _, cur := range n.cursors {
		cur.stream = stream(f.hide)
	}
	n.filter = f
}

func (n *notifier) cursor(s *engine.Session, f filter) *cursor {
	cur, ok := n.cursors[s.ID()]
	if !ok {
		cur = &cursor{session: s, stream: stream(f.hide)}
		n.cursors[s.ID()] = cur
	}
	return cur
}

func stream(hide *redact.Redactor) *redact.Stream {
	if hide == nil {
		return nil
	}
	return redact.NewStream(hide)
}

// run looks whenever something may have changed, until the connection ends.
func (n *notifier) run() {
	defer close(n.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		changed := n.client.engine.Changed() // taken before looking, so that no change is missed
		began := time.Now()
		wake := time.Duration(0)
		if n.filter.enabled {
			var err error
			if wake, err = n.tell(began); err != nil {
				return // the connection has ended
			}
		}
		timer.Stop()
		var fire <-chan time.Time
		if wake > 0 {
			timer.Reset(wake)
			fire = timer.C
		}
		select {
		case <-n.client.ctx.Done():
			return
		case f := <-n.change:
			n.apply(f)
			continue
		case <-fire:
			continue
		case <-changed:
		}
		if rest := floor - time.Since(began); rest > 0 && n.filter.enabled {
			timer.Stop()
			timer.Reset(rest)
			select {
			case <-n.client.ctx.Done():
				return
			case <-timer.C:
			}
		}
	}
}

// tell writes what has changed in every session, also in those that have left the registry, and returns when held-back
// text is due; 0: nothing is held.
func (n *notifier) tell(now time.Time) (wake time.Duration, err error) {
	alive := map[engine.ID]bool{}
	order := n.client.engine.List()
	for _, s := range order {
		alive[s.ID()] = true
		n.cursor(s, n.filter)
	}
	var gone []*cursor
	for id, cur := range n.cursors {
		if !alive[id] {
			gone = append(gone, cur)
			delete(n.cursors, id)
		}
	}
	for _, cur := range gone {
		if err := n.session(cur, now); err != nil {
			return 0, err
		}
	}
	for _, s := range order {
		cur := n.cursors[s.ID()]
		if err := n.session(cur, now); err != nil {
			return 0, err
		}
		if !cur.held.IsZero() {
			due := max(time.Millisecond, holdBound-now.Sub(cur.held))
			if wake == 0 || due < wake {
				wake = due
			}
		}
	}
	return wake, nil
}

// session writes what has changed in one session: changed, output, exited.
func (n *notifier) session(cur *cursor, now time.Time) error {
	s := cur.session
	if !n.filter.wants(s.ID()) {
		return nil
	}
	v := s.View()
	id := string(s.ID())
	if v.Sequence != cur.sequence {
		cur.sequence = v.Sequence
		if err := n.notify("session.changed", changedParams{Session: id, Sequence: v.Sequence}); err != nil {
			return err
		}
	}
	text, next, dropped := v.Transcript.Since(cur.offset)
	cur.offset = next
	exit := v.Exit != nil && !cur.exited
	out := cur.take(string(text), dropped, exit || v.Ended, now)
	if out != "" || dropped {
		p := outputParams{Session: id, Sequence: v.Sequence, Output: out, Dropped: dropped}
		if err := n.notify("session.output", p); err != nil {
			return err
		}
	}
	if exit {
		cur.exited = true
		return n.notify("session.exited", exitedParams{id: id, sequence: v.Sequence, exit: v.Exit})
	}
	return nil
}

// take redacts new output. What is held back comes with all when told to, when the line has ended or when it is due.
func (c *cursor) take(text string, dropped, all bool, now time.Time) string {
	if c.stream == nil {
		return text
	}
	out := ""
	if dropped { // what was held and what comes are not neighbours
		out = c.stream.Flush()
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

func (n *notifier) notify(method string, params any) error {
	return n.client.conn.Notify(n.client.ctx, method, params)
}

type changedParams struct {
	Session  string `json:"session"`
	Sequence uint64 `json:"sequence"`
}

type outputParams struct {
	Session  string `json:"session"`
	Sequence uint64 `json:"sequence"`
	Output   string `json:"output"`
	Dropped  bool   `json:"dropped,omitzero"`
}

type exitedParams struct {
	id       string
	sequence uint64
	exit     *engine.Exit
}

// AppendJSON writes the members that session.exited has.
func (p exitedParams) AppendJSON(b []byte) []byte {
	b = appendString(b, `{"session":`, p.id)
	b = append(b, `,"sequence":`...)
	b = appendUint(b, p.sequence)
	b = append(b, `,"exit_code":`...)
	b = appendCode(b, p.exit)
	b = append(b, `,"signal":`...)
	b = appendSignal(b, p.exit)
	return append(b, '}')
}

type orderingParams struct {
	Ordering string `json:"ordering" jsonschema:"session (default) or concurrent"`
}

func (c *client) setOrdering(_ context.Context, p orderingParams) (orderingParams, error) {
	for _, o := range []protocol.Ordering{protocol.Session, protocol.Concurrent} {
		if p.Ordering == o.String() {
			c.conn.SetOrdering(o)
			return p, nil
		}
	}
	return p, &protocol.ParamError{Path: "ordering", Expected: `"session" or "concurrent"`, Got: protocol.Got(p.Ordering)}
}

package protocol

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// callOverhead is what a queued request costs besides its bytes: the call, its places in maps and
// queues.
const callOverhead = 512

// cancelMethod is the only method of this package itself: LSP 3.17, "Cancellation Support".
const cancelMethod = "$/cancelRequest"

// A line holds the unfinished requests of one key. It exists while either field is not zero.
type line struct {
	busy    int     // running, or first in their line and in the backlog
	waiting []*call // behind them
}

// lead reads and starts requests until the input ends or a request that it started yields: yield
// has then made another goroutine lead.
func (c *Conn) lead() {
	for {
		for len(c.rest) > 0 {
			k := c.rest[0]
			c.rest[0] = nil
			c.rest = c.rest[1:]
			if !c.start(k) {
				return
			}
		}
		if c.held {
			c.held = false
			<-c.turn
		}
		c.out.waitRoom()
		message, err := c.in.Next()
		if err == nil {
			c.accept(message)
			continue
		}
		var parseErr *ParseError
		switch {
		case errors.Is(err, ErrFraming):
			c.refuse(err)
			c.mu.Lock()
			c.lost = true
			c.mu.Unlock()
			c.Close(err)
		case errors.As(err, &parseErr):
			c.refuse(err)
			continue
		case errors.Is(err, errStopped), errors.Is(err, io.EOF),
			errors.Is(err, io.ErrUnexpectedEOF):
		default:
			c.fail(fmt.Errorf("%w: read: %w", ErrPeerGone, err))
		}
		c.inputOver()
		return
	}
}

// inputOver is the leader's last step.
func (c *Conn) inputOver() {
	c.out.flush()
	c.mu.Lock()
	c.leading = false
	waits := c.open > 0 && !c.stopping
	c.checkIdleLocked()
	c.mu.Unlock()
	defer close(c.noInput)
	if !waits {
		return
	}
	if _, half := c.stream.(interface{ CloseWrite() error }); !half {
		c.fail(ErrPeerGone)
		return
	}
	if HungUp(c.stream, c.idle) {
		c.fail(ErrPeerGone)
	}
}

// refuse answers a message whose id is unknown.
func (c *Conn) refuse(err error) {
	c.answer(&call{id: nullID}, nil, err, true)
}

// accept splits a message into c.rest.
func (c *Conn) accept(message []byte) {
	one, entries, err := parse(message, c.limits.Batch)
	if err != nil {
		c.refuse(err)
		return
	}
	if entries == nil {
		if !one.reply {
			c.one[0] = c.newCall(one)
			c.rest = c.one[:]
		}
		return
	}
	b := &batch{replies: make([][]byte, len(entries)), left: len(entries)}
	calls := make([]*call, 0, len(entries))
	for i, entry := range entries {
		s := scanner{b: entry}
		e := s.envelope(1)
		if e.reply {
			b.left--
			continue
		}
		k := c.newCall(e)
		k.batch, k.slot = b, i
		calls = append(calls, k)
	}
	c.rest = calls
}

func (c *Conn) newCall(e envelope) *call {
	c.seen++
	k := &call{conn: c, id: e.id, params: e.params, seq: c.seen, refused: e.err}
	if e.err != nil || e.method == cancelMethod {
		k.method.Name = e.method
		return k
	}
	k.refused = Guard(c.log, e.method, func() error {
		var ok bool
		if k.method, ok = c.handler.Method(e.method); !ok {
			return &MethodError{Name: e.method}
		}
		return nil
	})
	return k
}

// keyOf asks the row for the key of a request.
func (c *Conn) keyOf(k *call, params json.RawMessage) (key string, err error) {
	err = Guard(c.log, k.method.Name, func() error {
		key = k.method.Key(params)
		return nil
	})
	return key, err
}

// start runs or queues one request; the leader calls it. It reports whether the caller still leads.
func (c *Conn) start(k *call) bool {
	if k.refused == nil && k.method.Name == cancelMethod {
		result, err := c.cancelRequest(k.params)
		c.answer(k, result, err, true)
		return true
	}
	if k.refused == nil && !c.admit(k) {
		c.waitSpace()
		return true
	}
	if k.refused != nil {
		c.answer(k, nil, k.refused, true)
		return true
	}
	if !c.held {
		select {
		case c.turn <- struct{}{}:
		default:
			c.out.flush()
			c.turn <- struct{}{}
		}
		c.held = true
	}
	k.leads = true
	yielded := c.run(k)
	more := c.finish(k)
	if yielded {
		if more {
			c.follow()
		}
		return false
	}
	if more {
		go c.follow()
	}
	return true
}

// admit decides what to do with a request that was read: true means that it runs now, or is
// refused.
func (c *Conn) admit(k *call) bool {
	c.mu.Lock()
	if k.method.Key == nil {
		if c.stopping {
			k.refused = c.stopCauseLocked()
		}
		c.mu.Unlock()
		return true
	}
	if !c.stopping && len(c.lines) == 0 && len(c.backlog) == 0 && c.executing < c.limits.Executing {
		// It has nothing to queue behind, whatever its key, which is asked for if it yields.
		c.executing++
		k.counted = true
		c.mu.Unlock()
		return true
	}
	c.mu.Unlock()
	if k.key, k.refused = c.keyOf(k, k.params); k.refused != nil {
		return true
	}
	k.keyed = true

	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopping {
		k.refused = c.stopCauseLocked()
		return true
	}
	if k.key == "" {
		return true
	}
	l := c.lines[k.key]
	switch {
	case l != nil && c.ordering == Session:
		l.waiting = append(l.waiting, k)
	case c.executing >= c.limits.Executing || len(c.backlog) > 0:
		c.backlog = append(c.backlog, k)
		c.enlineLocked(k)
	default:
		c.executing++
		k.counted = true
		return true
	}
	k.params = bytes.Clone(k.params) // do not keep the whole message alive
	k.charge = len(k.id) + len(k.params) + callOverhead
	c.queued += k.charge
	c.trackLocked(k)
	if c.ticketLocked() {
		go c.follow()
	}
	return false
}

// stopCauseLocked returns why requests should end now.
func (c *Conn) stopCauseLocked() error {
	if errors.Is(c.cause, ErrCancelled) {
		return c.cause
	}
	return fmt.Errorf("%w: %w", ErrCancelled, c.cause)
}

// waitSpace blocks the leader until what it has queued is within the bound.
func (c *Conn) waitSpace() {
	for first := true; ; first = false {
		c.mu.Lock()
		full := c.queued+c.collected > c.limits.Queued && !c.stopping
		c.mu.Unlock()
		if !full {
			return
		}
		if first {
			c.out.flush()
			if c.held {
				c.held = false
				<-c.turn
			}
		}
		select {
		case <-c.space:
		case <-c.stop:
		}
	}
}

// run calls the row, with the turn held, and answers. It reports whether the row yielded: another
// goroutine then has the turn, and with it the lead.
func (c *Conn) run(k *call) (yielded bool) {
	result, err := c.invoke(k)
	c.mu.Lock()
	yielded = k.yielded
	k.ended = true
	k.params = nil
	c.mu.Unlock()
	if err == context.Canceled {
		if why := k.cancelled(); why != nil {
			err = why
		}
	}
	if k.act != nil {
		c.tell(k.act, err)
	}
	if yielded {
		c.out.waitRoom()
	}
	c.answer(k, result, err, k.leads && !yielded)
	k.cancel(context.Canceled)
	return yielded
}

func (c *Conn) invoke(k *call) (result any, err error) {
	defer func() {
		if v := recover(); v != nil {
			result, err = nil, Caught(c.log, k.method.Name, v)
		}
	}()
	if why := k.cancelled(); why != nil {
		return nil, why
	}
	if err := c.permit(k); err != nil {
		return nil, err
	}
	return k.method.Call(k, k.params)
}

// follow runs the backlog's head, and then its next heads. The caller has a ticket.
func (c *Conn) follow() {
	for more := true; more; {
		c.out.waitRoom()
		c.turn <- struct{}{}
		k := c.take()
		if k == nil {
			<-c.turn
			return
		}
		if !c.run(k) {
			<-c.turn
		}
		more = c.finish(k)
	}
}

// ticketLocked reserves a place among the executing for a head of the backlog. A caller that gets
// true must follow.
//
// While there are places left, each call in the backlog has its ticket: one is asked for where
// either can grow, and a cancelled call that take drops brings in at most one other.
func (c *Conn) ticketLocked() bool {
	if c.executing >= c.limits.Executing || len(c.backlog) <= c.tickets {
		return false
	}
	c.executing++
	c.tickets++
	return true
}

// take turns a ticket into the backlog's head.
func (c *Conn) take() *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tickets--
	for len(c.backlog) > 0 {
		k := c.backlog[0]
		c.backlog[0] = nil
		c.backlog = c.backlog[1:]
		c.queued -= k.charge
		k.charge = 0
		c.roomier()
		if k.disposed {
			c.deline(k)
			continue
		}
		k.started, k.counted = true, true
		return k
	}
	c.executing--
	return nil
}

// finish removes a request from the counts and reports whether the caller has a ticket.
func (c *Conn) finish(k *call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k.counted {
		c.executing--
	}
	if k.loose {
		c.loose--
	}
	c.deline(k)
	if k.tracked {
		c.untrackLocked([]*call{k})
		c.open--
	}
	more := c.ticketLocked()
	c.checkIdleLocked()
	return more
}

// enlineLocked makes k one of the busy calls of its key.
func (c *Conn) enlineLocked(k *call) {
	l := c.lines[k.key]
	if l == nil {
		l = &line{}
		c.lines[k.key] = l
	}
	l.busy++
	k.inLine = true
}

// deline removes k from its line; when it was the last busy one, the next in line joins the
// backlog. The caller holds mu.
func (c *Conn) deline(k *call) {
	if !k.inLine {
		return
	}
	k.inLine = false
	l := c.lines[k.key]
	if l.busy--; l.busy > 0 {
		return
	}
	if len(l.waiting) == 0 {
		delete(c.lines, k.key)
		return
	}
	next := l.waiting[0]
	l.waiting[0] = nil
	l.waiting = l.waiting[1:]
	l.busy, next.inLine = 1, true
	c.backlog = append(c.backlog, next)
}

// releaseLinesLocked starts everything that waits in a line, in the order in which it was read.
func (c *Conn) releaseLinesLocked() {
	var free []*call
	for _, l := range c.lines {
		free = append(free, l.waiting...)
		l.busy += len(l.waiting)
		l.waiting = nil
	}
	slices.SortFunc(free, func(a, b *call) int { return cmp.Compare(a.seq, b.seq) })
	for _, k := range free {
		k.inLine = true
	}
	c.backlog = append(c.backlog, free...)
	for c.ticketLocked() {
		go c.follow()
	}
}

// trackLocked makes a request known to $/cancelRequest and to the end of the connection.
func (c *Conn) trackLocked(k *call) {
	k.tracked = true
	c.open++
	if k.id == nil {
		return
	}
	k.id = bytes.Clone(k.id)
	id := canonicalID(k.id)
	if first := c.ids[id]; first != nil {
		first.same[0], k.same[1] = k, first
	}
	c.ids[id] = k
}

// untrackLocked forgets requests, and returns those that were tracked. They stay counted in open.
func (c *Conn) untrackLocked(calls []*call) []*call {
	known := calls[:0]
	for _, k := range calls {
		if !k.tracked {
			continue
		}
		k.tracked = false
		known = append(known, k)
		if k.id == nil {
			continue
		}
		before, behind := k.same[0], k.same[1]
		k.same = [2]*call{}
		if behind != nil {
			behind.same[0] = before
		}
		switch {
		case before != nil:
			before.same[1] = behind
		case behind != nil:
			c.ids[canonicalID(k.id)] = behind
		default:
			delete(c.ids, canonicalID(k.id))
		}
	}
	return known
}

// yield gives up the turn, and the lead if k has it.
func (c *Conn) yield(k *call) {
	c.mu.Lock()
	params, key := k.params, k.key
	ask := !k.yielded && !k.ended && !k.keyed && k.method.Key != nil
	c.mu.Unlock()
	if ask {
		key, _ = c.keyOf(k, params) // without a key nothing queues behind it
	}

	c.mu.Lock()
	if k.yielded || k.ended {
		c.mu.Unlock()
		return
	}
	k.key, k.keyed = key, true
	k.params = nil // a waiting request does not keep its message alive
	if !k.counted {
		if c.loose >= c.limits.Executing {
			c.mu.Unlock()
			return
		}
		c.loose++
		k.loose = true
	}
	k.yielded, k.started = true, true
	if !k.tracked {
		c.trackLocked(k)
	}
	if k.key != "" && !k.inLine {
		c.enlineLocked(k)
	}
	if k.leads {
		c.held = false
	}
	c.mu.Unlock()
	c.out.flush()
	<-c.turn
	if k.leads {
		go c.lead()
	}
}

type cancelResult struct {
	Cancelled bool `json:"cancelled"`
}

// cancelRequest cancels every unfinished request that has the id in params.
func (c *Conn) cancelRequest(params json.RawMessage) (any, error) {
	var p struct {
		ID jsontext.Value `json:"id"`
	}
	if err := Decode(params, &p); err != nil {
		return nil, err
	}
	switch kind := p.ID.Kind(); {
	case len(p.ID) == 0:
		return nil, &ParamError{Path: "id", Expected: "the id of a request"}
	case kind == '{' || kind == '[' || kind == 't' || kind == 'f':
		return nil, &ParamError{Path: "id", Expected: "the id of a request", Got: kindName(kind)}
	}
	return cancelResult{Cancelled: c.Cancel(json.RawMessage(p.ID))}, nil
}

// Cancel cancels every unfinished request that has this id, a JSON string, number or null, and
// reports whether there was one. It does what `$/cancelRequest` does, for dialects with another
// name for it. It does not block.
func (c *Conn) Cancel(id json.RawMessage) bool {
	var running, queued []*call
	c.mu.Lock()
	for k := c.ids[canonicalID(id)]; k != nil; k = k.same[1] {
		if k.started {
			running = append(running, k)
			continue
		}
		// It keeps its place in the queues, and that place's overhead.
		k.disposed = true
		c.queued -= k.charge - callOverhead
		k.charge, k.params = callOverhead, nil
		queued = append(queued, k)
	}
	c.untrackLocked(queued)
	c.mu.Unlock()
	for _, k := range running {
		k.cancel(ErrCancelled)
	}
	for _, k := range queued {
		c.answer(k, nil, ErrCancelled, true)
	}
	c.mu.Lock()
	c.open -= len(queued)
	c.mu.Unlock()
	return len(running)+len(queued) > 0
}

package far

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ptywright/ptywright/protocol"
)

const (
	// mostPending bounds the params of a client's requests that are under way at one host, in
	// bytes: they are kept, to be sent again.
	mostPending = 16 << 20
	// briefRest is how long a request waits for the next try of a host, in place of being refused:
	// as long as nobody notices.
	briefRest = 500 * time.Millisecond
	// mostKnown bounds the ids of a host that are remembered of a client, so as not to take them
	// for those of another run of its server. Past it all are forgotten.
	mostKnown = 10_000
)

// A remote is one host as one client sees it.
type remote struct {
	host    *host
	handler *handler
	notes   chan note
	hurry   chan struct{} // one slot: somebody does not want to wait for the next try
	listens atomic.Bool   // notifications are on
	telling atomic.Int32  // waits whose clients get each match as it comes

	mu sync.Mutex
	// protects the fields below
	link      *link
	busy      bool // a goroutine runs open
	resting   bool // and waits until the host may be tried again
	queue     []*call
	pending   map[*call]bool
	size      int       // of their params
	asked     time.Time // the first of what is not sent yet
	lostAt    time.Time // of the last link; zero: there was none
	lostWhy   error
	settings  []*call // what the client has said of its connection, by method
	epoch     string
	run       int            // of the server, counted by us
	known     map[string]int // ids, with the run of which they are
	sequences map[string]uint64
	told      map[string]bool // matches that those waits have had, by their word and the id
	closed    bool
}

func newRemote(h *handler, to *host) *remote {
	r := &remote{host: to, handler: h, notes: make(chan note, 1),
		hurry: make(chan struct{}, 1), pending: map[*call]bool{},
		known: map[string]int{}, sequences: map[string]uint64{}}
	h.running.Go(r.forward)
	return r
}

// submit sends a call, or queues it for the link that is to be opened. Calls keep their order.
func (r *remote) submit(c *call) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return protocol.ErrPeerGone
	}
	for _, id := range c.ids {
		if run, ok := r.known[id]; ok && run != r.run {
			return &ServerLostError{r.host.Name, id}
		}
		r.knowLocked(id)
	}
	if r.size+len(c.params) > mostPending {
		return &protocol.LimitError{What: "bytes of requests under way at host " + r.host.Name,
			Limit: mostPending}
	}
	if r.link == nil && (!r.busy || r.resting) {
		if away := r.host.rests(); away != nil && away.Retry > briefRest && c.again != latch {
			return away
		}
	}
	c.charge = len(c.params)
	r.size += c.charge
	r.pending[c] = true
	if r.link != nil {
		r.sendLocked(c)
		return nil
	}
	if len(r.queue) == 0 {
		r.asked = time.Now()
	}
	r.queue = append(r.queue, c)
	r.startLocked()
	return nil
}

// startLocked sees to it that a link is opened.
func (r *remote) startLocked() {
	if !r.busy && !r.closed {
		r.busy = true
		r.handler.running.Go(r.open)
	}
}

// sendLocked sends a call by the link that is there.
func (r *remote) sendLocked(c *call) {
	if probe := c.probe(r); probe != nil {
		r.link.send(probe)
	}
	if c.began.IsZero() {
		c.began = time.Now()
	}
	r.link.send(c)
}

// forget takes a call out of the books; an answer that comes later is dropped.
func (r *remote) forget(c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.pending[c] {
		return
	}
	delete(r.pending, c)
	r.size -= c.charge
	r.queue = slices.DeleteFunc(r.queue, func(q *call) bool { return q == c })
	c.dropped = true
	if t := c.twin; t != nil && t.link != nil && t.link == r.link {
		t.link.cancel(t.id)
	}
}

// open opens links and watches them, as long as somebody needs one.
func (r *remote) open() {
	ctx := r.handler.ctx
	for {
		r.mu.Lock()
		if r.closed || ctx.Err() != nil || len(r.queue) == 0 && !r.listens.Load() {
			r.busy = false
			r.mu.Unlock()
			return
		}
		r.mu.Unlock()
		if wait := r.host.until(); wait > 0 {
			r.rest(ctx, wait)
			continue
		}
		l, err := r.host.connect(ctx)
		if err == nil {
			r.serve(ctx, l)
		} else {
			r.refuse(err)
		}
	}
}

// rest waits until a host that could not be reached may be tried again.
func (r *remote) rest(ctx context.Context, wait time.Duration) {
	set := func(resting bool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.resting = resting
	}
	set(true)
	defer set(false)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.hurry:
	case <-ctx.Done():
	}
}

// serve uses a link until it ends, and takes back what it leaves without an answer.
func (r *remote) serve(ctx context.Context, l *link) {
	if !r.adopt(l) {
		r.host.gone(nil)
		r.host.park(l)
		return
	}
	l.watch(ctx)
	r.mu.Lock()
	r.link = nil
	closed := r.closed || ctx.Err() != nil
	r.mu.Unlock()
	if closed {
		r.host.gone(nil)
		r.host.park(l)
		return
	}
	<-l.ended
	<-l.wrote
	why := l.why()
	r.host.gone(why)
	lost := r.host.lost(why)
	var failed []*call
	r.mu.Lock()
	r.lostAt, r.lostWhy = time.Now(), why
	var again []*call
	for _, c := range l.unanswered() {
		switch {
		case c.on != nil || c.dropped:
		case c.again == never, errors.Is(why, ErrProtocol): // it would say the same again
			failed = append(failed, c)
		default:
			c.link = nil
			again = append(again, c)
		}
	}
	r.queue = append(again, r.queue...)
	r.mu.Unlock()
	for _, c := range failed {
		c.deliver(answer{err: lost})
	}
}

// adopt makes a link the client's, and sends by it what waits for one.
func (r *remote) adopt(l *link) bool {
	now := time.Now()
	l.mu.Lock()
	l.owner = r
	l.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	again := r.epoch != ""
	if epoch := l.about.epoch(); epoch != r.epoch {
		r.epoch = epoch
		if again {
			r.run++
			r.dropOldLocked()
		}
	}
	gaps := r.sequences
	if again && r.listens.Load() && len(gaps) > 0 {
		r.sequences = map[string]uint64{}
	} else {
		gaps = nil
	}
	r.renameLocked(l)
	for _, s := range r.settings {
		c := s.copied()
		if s.method == setNotifications && gaps != nil {
			c.on = func(answer) { // what comes from here on is told
				r.handler.running.Go(func() { r.tellGaps(gaps) })
			}
		}
		l.send(c)
	}
	queue := r.queue
	r.link, r.queue = l, nil
	var renewed []*call
	for _, c := range queue {
		renewed = append(renewed, c.renew(r, now)...)
	}
	if len(renewed) > len(queue) {
		// Twins go beside their waits. What has one id still queues on this side; only names and
		// adapters of the same session do not, on a link after one that was lost.
		l.send(&call{method: "server.set_ordering", params: []byte(`{"ordering":"concurrent"}`),
			on: func(answer) {}})
	}
	for _, c := range renewed {
		r.sendLocked(c)
	}
	return true
}

// renameLocked takes away the name of the client that had the link before, from one that has not said
// what it is called.
func (r *remote) renameLocked(l *link) {
	l.mu.Lock()
	named := l.named
	l.mu.Unlock()
	if named && !slices.ContainsFunc(r.settings, func(s *call) bool { return s.method == setClient }) {
		l.send(&call{method: setClient, params: []byte(`{"name":"client"}`), on: func(answer) {}})
	}
}

// dropOldLocked refuses what was asked of the run of the server that has ended.
func (r *remote) dropOldLocked() {
	r.queue = slices.DeleteFunc(r.queue, func(c *call) bool {
		for _, id := range c.ids {
			run, ok := r.known[id]
			if !c.began.IsZero() || ok && run != r.run {
				c.deliver(answer{err: &ServerLostError{r.host.Name, id}})
				return true
			}
		}
		c.since, c.sinces = nil, nil // of the other run
		return false
	})
}

// refuse answers what waits for a link that cannot be opened. Waits wait for the next try.
func (r *remote) refuse(err error) {
	r.mu.Lock()
	var failed []*call
	r.queue = slices.DeleteFunc(r.queue, func(c *call) bool {
		if c.again == latch || !c.began.IsZero() { // those have a bound of their own
			return false
		}
		failed = append(failed, c)
		return true
	})
	if r.lostAt.IsZero() {
		r.lostAt = time.Now()
	}
	r.lostWhy = err
	r.mu.Unlock()
	for _, c := range failed {
		c.deliver(answer{err: err})
	}
}

// whyLocked returns why the host does not answer, and since when.
func (r *remote) whyLocked() (error, time.Time) {
	switch {
	case r.link != nil:
		r.link.mu.Lock()
		defer r.link.mu.Unlock()
		return errors.New("it does not answer, although its link is there"), r.link.heard
	case r.lostWhy != nil:
		var away *UnreachableError
		if errors.As(r.lostWhy, &away) {
			return away.Err, r.lostAt
		}
		return r.lostWhy, r.lostAt
	}
	return errors.New("its command has not answered yet"), r.asked
}

// nudge asks the host for a sign of life, and reports whether there is a link to do so.
func (r *remote) nudge() bool {
	r.mu.Lock()
	l := r.link
	r.mu.Unlock()
	if l != nil {
		l.pingOnce(time.Now())
	}
	return l != nil
}

// heardSince reports whether the host has given a sign of life after a time.
func (r *remote) heardSince(at time.Time) bool {
	r.mu.Lock()
	l := r.link
	r.mu.Unlock()
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held || !l.heard.Before(at)
}

// state is the link's, for people.
func (r *remote) state() Link {
	r.mu.Lock()
	l, resting := r.link, r.resting || r.lostWhy != nil
	r.mu.Unlock()
	switch {
	case l != nil && l.quiet(time.Now()) > pingEvery+lateBound:
		return LinkSilent
	case l != nil:
		return LinkUp
	case resting:
		return LinkDown
	}
	return LinkNone
}

// know remembers that ids are of the server that runs now.
func (r *remote) know(ids ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range ids {
		r.knowLocked(id)
	}
}

// knowLocked is know. A name is its owner's to give again, and stands for what has it now.
func (r *remote) knowLocked(id string) {
	if !isNumbered(id) {
		return
	}
	if len(r.known) >= mostKnown {
		clear(r.known)
	}
	r.known[id] = r.run
}

// set says something of the connection to the host, by this link and by later ones. It replaces
// what was said with the same method.
func (r *remote) set(c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settings = append(slices.DeleteFunc(r.settings,
		func(s *call) bool { return s.method == c.method }), c)
	if r.link != nil {
		r.link.send(c.copied())
	}
}

// want is set for the subscription, which somebody else has sent; nil: there is none.
func (r *remote) want(c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settings = slices.DeleteFunc(r.settings,
		func(s *call) bool { return s.method == setNotifications })
	if c == nil {
		clear(r.sequences)
	} else {
		r.settings = append(r.settings, c)
		r.startLocked()
	}
}

// retry has the host tried at once.
func (r *remote) retry() {
	r.host.retry()
	select {
	case r.hurry <- struct{}{}:
	default:
	}
}

// info is what there is to say of the host without asking it.
func (r *remote) info() hostInfo {
	i := hostInfo{Host: r.host.Name, State: r.state()}
	h := r.host
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known {
		i.Version = h.about.Version
	}
	switch {
	case h.err != nil:
		since := h.away.UTC()
		i.Since, i.Error = &since, protocol.Message(h.err.Error())
		if i.State == LinkNone {
			i.State = LinkDown
		}
	case i.State == LinkNone && h.up+len(h.parked) > 0:
		i.State = LinkUp
	}
	return i
}

// note takes a notification of the link's. It blocks while the client does not read.
func (r *remote) note(l *link, n note) error {
	p, ok := r.handler.hub.model.notes[n.method]
	matched := n.method == noteMatched
	if !ok || !matched && !r.listens.Load() || matched && r.telling.Load() == 0 {
		return nil // of a newer server, or on its way when the client said that it had enough
	}
	var of struct {
		Session  string `json:"session"`
		Sequence uint64 `json:"sequence"`
	}
	var ids []string
	prefix := prefixed(r.host.Name)
	params, err := p.rewrite(n.params, func(id string) (string, error) {
		ids = append(ids, id)
		return prefix(id)
	})
	if err != nil {
		return notOurs(err)
	}
	r.know(ids...)
	if json.Unmarshal(params, &of) == nil && of.Sequence > 0 && of.Session != "" {
		r.mu.Lock()
		if len(r.sequences) >= mostKnown {
			clear(r.sequences)
		}
		r.sequences[of.Session[len(r.host.Name)+1:]] = of.Sequence
		r.mu.Unlock()
	}
	if matched && !r.firstMatch(params) {
		return nil
	}
	n.params = params
	select {
	case r.notes <- n:
	case <-r.handler.ctx.Done():
	}
	return nil
}

// notOurs makes an error of a host's JSON one of its protocol.
func notOurs(err error) error {
	if errors.Is(err, ErrProtocol) {
		return err
	}
	return broke("%v", err)
}

// forward passes notifications on to the client, after the answers that came before them.
func (r *remote) forward() {
	ctx := r.handler.ctx
	for {
		select {
		case n := <-r.notes:
			for _, answered := range n.after {
				select {
				case <-answered:
				case <-ctx.Done():
					return
				}
			}
			_ = r.handler.conn.Notify(ctx, n.method, raw(n.params)) // the client may be gone
		case <-ctx.Done():
			return
		}
	}
}

// tellGaps tells a client that notifications were lost with a link: it reads again what it shows.
func (r *remote) tellGaps(sequences map[string]uint64) {
	for id, seq := range sequences {
		params, _ := json.Marshal(map[string]any{"session": r.host.Name + "/" + id, "sequence": seq,
			"output": "", "dropped": true})
		select {
		case r.notes <- note{method: "session.output", params: params}:
		case <-r.handler.ctx.Done():
			return
		}
	}
}

// close answers what is under way, and keeps nothing more. The handler's context has ended.
func (r *remote) close() {
	r.mu.Lock()
	r.closed = true
	queue := r.queue
	r.queue = nil
	r.mu.Unlock()
	for _, c := range queue {
		c.deliver(answer{err: protocol.ErrPeerGone})
	}
}

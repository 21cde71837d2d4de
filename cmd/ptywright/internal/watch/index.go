package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/client"
)

const (
	// indexFloor is the least time between two reads of the session list.
	indexFloor = 250 * time.Millisecond
	// indexAge is how old the list may be when an event arrives that does not change it. There is
	// no notification when an ended session is closed.
	indexAge = 2 * time.Second
	// feedRate is how many bytes of notifications are read per second. They include output, which a
	// list does not need: a slow reader gets it in one piece of at most 128 Ki characters, and the
	// rest is dropped. So a flood costs the server two percent of a core for redaction, instead of
	// a whole core.
	feedRate = 1 << 20
)

// A listed is a session as a page's list shows it.
type listed struct {
	Session string          `json:"session"`
	Name    string          `json:"name,omitempty"`
	Adapter string          `json:"adapter,omitempty"`
	Plugin  string          `json:"plugin,omitempty"`
	State   string          `json:"state,omitempty"` // the adapter's word; "": not known yet
	Program string          `json:"program"`
	Args    []string        `json:"args"`
	Cwd     string          `json:"cwd"`
	PID     int             `json:"pid"`
	Started time.Time       `json:"started"`
	Rows    int             `json:"rows"`
	Cols    int             `json:"cols"`
	Title   *string         `json:"title"`
	Exit    json.RawMessage `json:"exit"`
	Lease   json.RawMessage `json:"lease"`
	// What has happened lately: events of the wire, and times.
	Waits   json.RawMessage `json:"waits,omitempty"`
	Command json.RawMessage `json:"command,omitempty"`
	Bell    *time.Time      `json:"bell,omitempty"`
	Changed time.Time       `json:"changed"`            // the screen, to changedStep
	QuietMS int64           `json:"quiet_ms,omitempty"` // the server's; not passed on
}

// An index keeps the session list for one page. The server does not notify about a list, but about
// events: so the index gets all of them, on its own connection, and reads the list when one
// happened that the list shows.
type index struct {
	log    *slog.Logger
	native *client.Client // for the list: sessions that it acquired are the page's
	feed   *client.Client
	dirty  chan struct{} // one slot
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}

	mu sync.Mutex
	// protects the fields below
	known   map[string]bool   // sessions
	looked  time.Time         // when the list was last read
	states  map[string]string // by adapter
	version uint64
	list    json.RawMessage
	changed chan struct{}     // closed when version grows
	err     error             // of the last read
	seqs    map[string]uint64 // the newest event of each session that was told of
	news    chan struct{}     // closed when one more was
	soon    *time.Timer       // reads the list for events; nil: none was noted since
}

// newIndex starts an index. ctx bounds only the start.
func newIndex(ctx context.Context, native *client.Client, socket string,
	log *slog.Logger) (*index, error) {
	stream, err := daemon.DialStream(ctx, socket)
	if err != nil {
		return nil, err
	}
	feed := client.New(stream)
	if err := feed.Call(ctx, "server.set_rights", map[string]string{"rights": "read"}, nil); err != nil { // it needs no more
		feed.Close()
		return nil, err
	}
	x := &index{
		log: log, native: native, feed: feed, dirty: make(chan struct{}, 1),
		done: make(chan struct{}), known: map[string]bool{}, states: map[string]string{},
		changed: make(chan struct{}), seqs: map[string]uint64{}, news: make(chan struct{}),
	}
	x.ctx, x.cancel = context.WithCancel(context.Background())
	if err := feed.SubscribeEvents(ctx, x.told); err != nil {
		x.cancel()
		feed.Close()
		return nil, err
	}
	x.touch()
	go x.run()
	return x, nil
}

// close stops the index.
func (x *index) close() {
	x.cancel()
	x.feed.Close()
	<-x.done
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.soon != nil {
		x.soon.Stop()
	}
}

// touch asks for a read of the list.
func (x *index) touch() {
	select {
	case x.dirty <- struct{}{}:
	default:
	}
}

// told handles a notification, on the goroutine that reads the connection: while it blocks, nothing
// is read.
func (x *index) told(e client.Event) {
	switch e.Method {
	case "session.changed", "session.output":
		x.mu.Lock()
		known := x.known[e.Session] && time.Since(x.looked) < indexAge
		x.mu.Unlock()
		if !known {
			x.touch()
		}
	case "session.event":
		if e.Noted != nil {
			x.note(e.Session, e.Noted.Seq)
		}
	case "adapter.changed":
		var p struct {
			Adapter string `json:"adapter"`
			State   struct {
				State string `json:"state"`
			} `json:"state"`
		}
		if json.Unmarshal(e.Params, &p) == nil {
			x.mu.Lock()
			x.states[p.Adapter] = p.State.State
			x.mu.Unlock()
		}
		x.touch()
	default: // leased, exited
		x.touch()
	}
	rest := time.NewTimer(time.Duration(len(e.Params)) * time.Second / feedRate)
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-x.ctx.Done():
	}
}

// run reads the list on request.
func (x *index) run() {
	defer close(x.done)
	for {
		select {
		case <-x.dirty:
		case <-x.ctx.Done():
			return
		case <-x.native.Done():
			x.set(nil, client.ErrClosed)
			return
		}
		var list json.RawMessage
		err := protocol.Guard(x.log, "the list of a page", func() (err error) {
			list, err = x.look()
			return err
		})
		x.set(list, err)
		rest := time.NewTimer(indexFloor)
		select {
		case <-rest.C:
		case <-x.ctx.Done():
		}
		rest.Stop()
	}
}

// set publishes a list that differs from the last.
func (x *index) set(list json.RawMessage, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.version > 0 && err == nil && x.err == nil && bytes.Equal(list, x.list) {
		return
	}
	x.list, x.err = list, err
	x.version++
	close(x.changed)
	x.changed = make(chan struct{})
}

// look reads the list, and the state of new adapters.
func (x *index) look() (json.RawMessage, error) {
	var r struct {
		Details []*listed `json:"details"`
	}
	if err := x.native.Call(x.ctx, "session.list", map[string]bool{"details": true},
		&r); err != nil {
		return nil, err
	}
	known, plugins := map[string]bool{}, map[string]string{}
	now := time.Now()
	for _, l := range r.Details {
		known[l.Session] = true
		l.Changed = now.Add(-time.Duration(l.QuietMS) * time.Millisecond).Truncate(changedStep).UTC()
		l.QuietMS = 0
		if l.Adapter != "" {
			plugins[l.Adapter] = ""
		}
	}
	if len(plugins) > 0 {
		var live struct {
			Adapters []struct {
				Adapter string `json:"adapter"`
				Plugin  string `json:"plugin"`
			} `json:"adapters"`
		}
		if err := x.native.Call(x.ctx, "adapter.live", nil, &live); err != nil {
			return nil, err
		}
		for _, a := range live.Adapters {
			plugins[a.Adapter] = a.Plugin
			x.ask(a.Adapter)
		}
	}
	x.mu.Lock()
	x.known, x.looked = known, time.Now()
	for _, l := range r.Details {
		if l.Adapter != "" {
			l.Plugin, l.State = plugins[l.Adapter], x.states[l.Adapter]
		}
	}
	for id := range x.seqs {
		if !known[id] {
			delete(x.seqs, id)
		}
	}
	for a := range x.states {
		if _, ok := plugins[a]; !ok {
			delete(x.states, a)
		}
	}
	x.mu.Unlock()
	if r.Details == nil {
		r.Details = []*listed{}
	}
	return json.Marshal(r.Details)
}

// ask reads the state of an adapter that has not reported one. An adapter whose plugin may not
// report has none.
func (x *index) ask(adapter string) {
	x.mu.Lock()
	_, known := x.states[adapter]
	x.mu.Unlock()
	if known {
		return
	}
	var r struct {
		State struct {
			State string `json:"state"`
		} `json:"state"`
	}
	if err := x.native.Call(x.ctx, "adapter.state", map[string]string{"adapter": adapter},
		&r); err != nil {
		r.State.State = ""
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, known := x.states[adapter]; !known { // it may have reported meanwhile
		x.states[adapter] = r.State.State
	}
}

// A list is the session list as a page gets it.
type list struct {
	Version  uint64          `json:"version"`
	Sessions json.RawMessage `json:"sessions"`
}

// after waits for a list newer than version.
func (x *index) after(ctx context.Context, version uint64) (*list, error) {
	for {
		x.mu.Lock()
		l, err, changed := &list{x.version, x.list}, x.err, x.changed
		x.mu.Unlock()
		if l.Version > version {
			return l, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

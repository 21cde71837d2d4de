package far

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/ptywright/ptywright/protocol"
)

const (
	// Silence is how long a host may say nothing, while something is asked of it, before its link
	// is given up: three questions of ours.
	Silence = 15 * time.Second
	// pingEvery is how often a quiet host is asked whether it is there.
	pingEvery = 5 * time.Second
	// maxMessage bounds one message of a host, in bytes: every cell of a screen of 300 by 300 is
	// some 18 MB.
	maxMessage = 32 << 20
	// helloBound is how long a host has from the opening of its stream to its first answer. A
	// handshake of ssh through two jump hosts takes some seconds; a person who types a password is
	// not waited for.
	helloBound = 20 * time.Second
)

// A Link is how one host is reached, as [Hub.Hosts] tells it.
type Link string

// The states of a link.
const (
	LinkNone   Link = "none"   // nobody has needed it yet
	LinkUp     Link = "up"     // it answers
	LinkSilent Link = "silent" // it is there, and has not answered for a while
	LinkDown   Link = "down"   // it cannot be opened, or has ended
)

// An about is what a server says of itself.
type about struct {
	Version  string `json:"version"`
	Protocol int    `json:"protocol"`
	Epoch    string `json:"epoch"`
	PID      int    `json:"pid"`
}

// epoch tells one run of a server from the next.
func (a about) epoch() string {
	if a.Epoch != "" {
		return a.Epoch
	}
	return "pid " + strconv.Itoa(a.PID)
}

// A message is one of a host's.
type message struct {
	ID     stdjson.RawMessage `json:"id"`
	Method string             `json:"method"`
	Params stdjson.RawMessage `json:"params"`
	Result stdjson.RawMessage `json:"result"`
	Error  stdjson.RawMessage `json:"error"`
}

// A note is a notification of a host's.
type note struct {
	method string
	params []byte
	after  []<-chan struct{} // closed when what was answered before it is on its way
}

// A link is one stream to a host, greeted.
type link struct {
	host   *host
	stream io.ReadWriteCloser
	in     *protocol.Reader
	about  about
	ended  chan struct{} // closed when reading has ended
	wrote  chan struct{} // closed when writing has
	kick   chan struct{} // one slot: there is something to write

	mu sync.Mutex
	// protects the fields below
	owner   *remote // nil: nobody has it
	calls   map[uint64]*call
	last    uint64
	out     [][]byte
	heard   time.Time         // the last message, or when the first of what is under way was sent
	pinged  time.Time         // a ping is under way since; zero: none is
	held    bool              // the reader waits for a slow client
	recent  []<-chan struct{} // of note.after
	tainted bool              // the far side knows something of the client
	named   bool              // but it only has a name for it, which the next one replaces
	err     error             // why the link has ended; nil: it has not
}

// greet reads what the server at the other end of a stream is. The stream is closed when ctx ends
// before it has answered, and on errors.
func greet(ctx context.Context, h *host, stream io.ReadWriteCloser) (l *link, err error) {
	defer func() {
		if err != nil {
			stream.Close()
		}
	}()
	defer context.AfterFunc(ctx, func() { stream.Close() })()
	l = &link{host: h, stream: stream, in: protocol.Lines.NewReader(stream, maxMessage),
		ended: make(chan struct{}), wrote: make(chan struct{}), kick: make(chan struct{}, 1),
		calls: map[uint64]*call{}, heard: time.Now()}
	hello := `{"jsonrpc":"2.0","id":0,"method":"server.capabilities"}` + "\n" +
		`{"jsonrpc":"2.0","id":1,"method":"` + setHosts + `","params":{"hosts":false}}` + "\n"
	l.last, l.calls[1] = 1, &call{method: setHosts, on: func(answer) {}} // a server may not know it
	sent := make(chan error, 1)
	go func() { // a pipe may take nothing before it is read
		_, err := io.WriteString(stream, hello)
		sent <- err
	}()
	line, err := l.in.Next()
	if err != nil {
		stream.Close()
	}
	if werr := <-sent; err == nil {
		err = werr
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, io.EOF):
		return nil, errors.New("its command has ended without an answer")
	case err != nil:
		return nil, err
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil || string(m.ID) != "0" {
		return nil, broke("it says %s; a shell that greets in its start-up files has to be "+
			"silent when it is not interactive", protocol.Quote(string(line), 64))
	}
	if len(m.Result) == 0 || json.Unmarshal(m.Result, &l.about) != nil {
		return nil, broke("it answers %s", protocol.Quote(string(line), 64))
	}
	if ours := h.hub.model.protocol; l.about.Protocol != ours {
		return nil, fmt.Errorf("ptywright %s there speaks version %d of the protocol, and this one "+
			"version %d: update the older one", protocol.Quote(l.about.Version, 32),
			l.about.Protocol, ours)
	}
	return l, nil
}

// run starts the link's goroutines.
func (l *link) run() {
	go l.read()
	go l.write()
}

// send writes a call. It does not block.
func (l *link) send(c *call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.calls) == 0 && c.method != pingMethod {
		l.heard = time.Now()
	}
	l.last++
	c.id, c.link = l.last, l
	l.calls[c.id] = c
	if !stateless(c) {
		l.tainted = true
	}
	l.named = l.named || c.method == setClient
	line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q`, c.id, c.method)
	if len(c.params) > 0 {
		line = append(append(line, `,"params":`...), c.params...)
	}
	l.put(append(line, "}\n"...))
}

// cancel asks the far server to end a call of this link.
func (l *link) cancel(id uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.put(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":{"id":%d}}`+"\n", pingMethod, id))
}

// ping asks for a sign of life: the one request that every server answers at once, whatever it is
// busy with and whatever the connection may do.
func (l *link) ping(answered func(answer)) {
	l.send(&call{method: pingMethod, params: []byte(`{"id":"ping"}`), on: answered})
}

// pingMethod is what a ping calls: the cancelling of a request that does not exist.
const pingMethod = "$/cancelRequest"

func (l *link) put(line []byte) {
	if l.err != nil {
		return
	}
	l.out = append(l.out, line)
	select {
	case l.kick <- struct{}{}:
	default:
	}
}

// write writes what there is until the link ends.
func (l *link) write() {
	defer close(l.wrote)
	for {
		l.mu.Lock()
		out := l.out
		l.out = nil
		l.mu.Unlock()
		for _, line := range out {
			if _, err := l.stream.Write(line); err != nil {
				l.end(fmt.Errorf("write to it: %w", err))
				return
			}
		}
		if out != nil {
			continue
		}
		select {
		case <-l.kick:
		case <-l.ended:
			return
		}
	}
}

// read handles messages until the link ends.
func (l *link) read() {
	defer close(l.ended)
	for {
		line, err := l.in.Next()
		if err == nil {
			err = l.handle(line)
		}
		if err != nil {
			var tooLong *protocol.ParseError
			switch {
			case errors.Is(err, io.EOF):
				err = errors.New("its command has ended")
			case errors.As(err, &tooLong):
				err = broke("%s", tooLong.Problem)
			}
			l.end(err)
			return
		}
	}
}

// end ends the link; the first reason counts.
func (l *link) end(why error) {
	l.mu.Lock()
	if l.err == nil {
		l.err = why
	}
	l.mu.Unlock()
	l.stream.Close()
}

// why returns why the link has ended.
func (l *link) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (l *link) handle(line []byte) error {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return broke("it says %s", protocol.Quote(string(line), 64))
	}
	l.mu.Lock()
	l.heard, l.pinged = time.Now(), time.Time{}
	if m.Method != "" {
		owner := l.owner
		n := note{method: m.Method, params: m.Params, after: l.recent}
		l.recent, l.held = nil, true
		l.mu.Unlock()
		defer l.unhold()
		if len(m.ID) > 0 || owner == nil {
			return broke("it asks for %s, which nobody has to answer", protocol.Quote(m.Method, 32))
		}
		return owner.note(l, n)
	}
	id, err := strconv.ParseUint(string(m.ID), 10, 64)
	c := l.calls[id]
	if c == nil || err != nil || (len(m.Result) == 0) == (len(m.Error) == 0) {
		l.mu.Unlock()
		return broke("it answers what it was not asked")
	}
	delete(l.calls, id)
	if c.alone != nil && c.on == nil {
		l.recent = append(l.recent, c.alone)
		if len(l.recent) > mostRecent {
			l.recent = slices.Delete(l.recent, 0, 1)
		}
	}
	l.mu.Unlock()
	a := answer{result: m.Result, link: l}
	if len(m.Error) > 0 {
		refused, err := refusalOf(l.host.hub.model, l.host.Name, m.Error)
		if err != nil {
			c.deliver(answer{err: l.host.lost(err)})
			return err
		}
		a = answer{err: refused, link: l}
	}
	c.deliver(a)
	return nil
}

// mostRecent is how many answers a notification waits for: those before them are long on their way.
const mostRecent = 64

func (l *link) unhold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = false
	l.heard = time.Now()
}

// quiet returns for how long nothing has been heard, as far as that means something: nothing is
// under way, or a client of ours holds the link up, then 0.
func (l *link) quiet(now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held || len(l.calls) == 0 && (l.owner == nil || !l.owner.listens.Load()) {
		l.heard = now
	}
	return now.Sub(l.heard)
}

// watch asks a quiet host whether it is there, until the link ends or ctx does.
func (l *link) watch(ctx context.Context) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			switch quiet := l.quiet(now); {
			case quiet >= Silence:
				l.end(ErrSilent)
			case quiet >= pingEvery:
				l.pingOnce(now)
			}
		case <-l.ended:
			return
		case <-ctx.Done():
			return
		}
	}
}

// pingOnce pings unless a ping is under way.
func (l *link) pingOnce(now time.Time) {
	l.mu.Lock()
	under := !l.pinged.IsZero()
	l.pinged = now
	l.mu.Unlock()
	if !under {
		l.ping(func(answer) {})
	}
}

// unanswered takes the calls that the link, which has ended, leaves without an answer.
func (l *link) unanswered() []*call {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []*call
	for _, c := range l.calls {
		all = append(all, c)
	}
	clear(l.calls)
	slices.SortFunc(all, func(a, b *call) int { return int(a.id) - int(b.id) })
	return all
}

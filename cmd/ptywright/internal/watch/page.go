package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/client"
	"github.com/ptywright/ptywright/protocol/loopback"
)

const (
	// maxLogin bounds the first message, in bytes: a token and its name.
	maxLogin = 1 << 10
	// maxAsk bounds any other, in bytes: a paste is sent in pieces of 64 KiB, which JSON may expand
	// six times.
	maxAsk = 512 << 10
	// maxAnswer bounds an answer, in bytes. A screen of 300x500 in which every cell has its own
	// style takes 30 MiB.
	maxAnswer = 32 << 20
	// maxAsked bounds a page's requests whose answers it has not read, not counting the one being
	// written: a long poll for each visible screen, and some more. Further requests are refused,
	// and while refusals are unread, the page is not read either.
	maxAsked = 64
)

// A page is one browser page that is logged in.
type page struct {
	server *server
	ws     *websocket.Conn
	native *client.Client // nil: no server listens
	index  *index         // likewise
	player *player
	reads  bool // it only watches

	turn    chan struct{} // one slot; its holder writes
	writing atomic.Int64  // answers that are being written, or wait for their turn

	mu sync.Mutex
	// protects the fields below
	asked  map[int64]context.CancelFunc
	leased map[string]bool // sessions that this page has acquired
}

// An ask is a page's message after the login: a request, or with Cancel the end of one.
type ask struct {
	ID     int64           `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Cancel *int64          `json:"cancel"`
}

type answer struct {
	ID     int64    `json:"id"`
	Result any      `json:"result,omitempty"`
	Error  *problem `json:"error,omitempty"`
}

// A problem is an error as a page gets it. Reason is the server's, or one of ours: bad_request,
// too_many_requests, too_large, no_server, read_only, not_taken_over, not_a_recording, cancelled,
// internal_error.
type problem struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

func (p *problem) Error() string { return p.Message }

// A hello is the answer to a login.
type hello struct {
	Version string   `json:"version"`
	Socket  string   `json:"socket"`
	Who     string   `json:"who"`
	Casts   string   `json:"casts"`
	Reads   bool     `json:"read_only"`         // the page can only watch
	Spawn   string   `json:"spawn"`             // the command line that starts a session
	Record  []string `json:"record"`            // command lines that make a recording
	Problem *problem `json:"problem,omitempty"` // why there is no server
}

// live serves a page, from its WebSocket's handshake to its end.
func (s *server) live(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Origin") == "" { // browsers always send it
		http.Error(w, "pages open this, and say their Origin", http.StatusForbidden)
		return
	}
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // Accept has already answered
	}
	defer ws.CloseNow()
	s.open.Add(1)
	defer s.open.Done()
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	in, reads := s.login(ctx, ws)
	if !in {
		_ = ws.Close(websocket.StatusPolicyViolation, "log in with the token first")
		return
	}
	if err := loopback.Admit(r.Context()); err != nil {
		_ = ws.Close(websocket.StatusTryAgainLater, err.Error())
		return
	}
	select {
	case s.pages <- struct{}{}:
		defer func() { <-s.pages }()
	default:
		_ = ws.Close(websocket.StatusTryAgainLater, fmt.Sprintf("%d pages are open: close one", maxPages))
		return
	}
	if s.Arrived != nil {
		s.once.Do(s.Arrived)
	}
	p := &page{server: s, ws: ws, turn: make(chan struct{}, 1), player: newPlayer(), reads: reads, asked: map[int64]context.CancelFunc{}, leased: map[string]bool{}}
	p.run(ctx, cancel)
}

// login reads the first message, which must contain a token. reads: the token of a page that only
// watches.
func (s *server) login(ctx context.Context, ws *websocket.Conn) (in, reads bool) {
	ctx, cancel := context.WithTimeout(ctx, s.loginTime)
	defer cancel()
	ws.SetReadLimit(maxLogin)
	kind, data, err := ws.Read(ctx)
	var first struct {
		Token string `json:"token"`
	}
	if err != nil || kind != websocket.MessageText || json.Unmarshal(data, &first) != nil {
		return false, false
	}
	writes, reads := s.token != nil && s.token.Is(first.Token), s.read.Is(first.Token)
	return writes || reads, !writes
}

// run serves a page until it is gone, or ctx ends. When it returns, nothing of the page is left.
func (p *page) run(ctx context.Context, cancel context.CancelFunc) {
	h := hello{Version: p.server.Version, Socket: p.server.Socket, Who: p.server.Who, Casts: p.server.Casts, Reads: p.reads,
		Spawn: p.server.spawn, Record: p.server.record}
	if err := p.dial(ctx); err != nil {
		h.Problem = p.tell(ctx, err)
	}
	var under sync.WaitGroup // requests in progress
	defer func() {
		cancel()
		if p.native != nil {
			p.index.close()
			p.native.Close()
		}
		under.Wait()
	}()
	if p.write(ctx, h, func() {}) != nil {
		return
	}
	p.ws.SetReadLimit(maxAsk)
	under.Go(func() {
		p.ping(ctx)
		cancel()
	})
	slots := make(chan struct{}, maxAsked)
	for {
		kind, data, err := p.ws.Read(ctx)
		if err != nil {
			if p.server.ctx.Err() != nil {
				_ = p.ws.Close(websocket.StatusGoingAway, "ptywright watch has ended")
			}
			return
		}
		var q ask
		if kind != websocket.MessageText || json.Unmarshal(data, &q) != nil {
			_ = p.ws.Close(websocket.StatusUnsupportedData, "a message is a JSON object in text")
			return
		}
		if q.Cancel != nil {
			p.cancel(*q.Cancel)
			continue
		}
		select {
		case slots <- struct{}{}:
		default:
			if p.write(ctx, answer{ID: q.ID, Error: &problem{"too_many_requests", fmt.Sprintf("%d requests are under way", maxAsked)}}, func() {}) != nil {
				return
			}
			continue
		}
		until, done := p.begin(ctx, q.ID)
		under.Go(func() {
			a := p.answer(until, q)
			// Both before the first byte of the answer is sent: a page that has read it may reuse
			// the id.
			done()
			if p.write(ctx, a, func() { <-slots }) != nil {
				cancel()
			}
		})
	}
}

// ping returns when the page does not answer a ping, or ctx ends. [page.run] reads the answers.
func (p *page) ping(ctx context.Context) {
	next := time.NewTicker(p.server.pingTime)
	defer next.Stop()
	for {
		select {
		case <-next.C:
		case <-ctx.Done():
			return
		}
		bound, cancel := context.WithTimeout(ctx, p.server.pongTime)
		err := p.ws.Ping(bound)
		cancel()
		// A ping waits for an answer being written, which has its own timeout.
		if err != nil && p.writing.Load() == 0 {
			return
		}
	}
}

// begin returns the context of a request, and the function to call at its end.
func (p *page) begin(ctx context.Context, id int64) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	p.mu.Lock()
	p.asked[id] = cancel
	p.mu.Unlock()
	return ctx, func() {
		p.mu.Lock()
		delete(p.asked, id)
		p.mu.Unlock()
		cancel()
	}
}

func (p *page) cancel(id int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cancel, ok := p.asked[id]; ok {
		cancel()
	}
}

// answer performs a request.
func (p *page) answer(ctx context.Context, q ask) answer {
	method, ok := methods[q.Method]
	if !ok {
		return answer{ID: q.ID, Error: &problem{"bad_request", fmt.Sprintf("no method %.40q", q.Method)}}
	}
	if method.writes && p.reads { // the server would refuse it too
		return answer{ID: q.ID, Error: &problem{"read_only", "this page can only look on"}}
	}
	if method.live && p.native == nil {
		return answer{ID: q.ID, Error: &problem{"no_server", "there is no server"}}
	}
	var result any
	err := protocol.Guard(p.server.Log, "the page's "+q.Method, func() (err error) {
		result, err = method.call(ctx, p, q.Params)
		return err
	})
	if err != nil {
		return answer{ID: q.ID, Error: p.tell(ctx, err)}
	}
	return answer{ID: q.ID, Result: result}
}

// tell turns an error into a problem for the page.
func (p *page) tell(ctx context.Context, err error) *problem {
	var known *problem
	var e *client.Error
	var broke *protocol.PanicError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &broke):
		return &problem{"internal_error", broke.Error()}
	case ctx.Err() != nil:
		return &problem{"cancelled", "it was cancelled"}
	case errors.Is(err, daemon.ErrNone):
		return &problem{"no_server", "no server listens at " + p.server.Socket}
	case errors.Is(err, client.ErrClosed), errors.As(err, &e) && e.Reason == "cancelled": // by the server: nobody else asked
		return &problem{"no_server", "the server at " + p.server.Socket + " has ended, or has closed the connection"}
	case errors.As(err, &e):
		if e.Reason == "unknown_session" || e.Reason == "session_closed" {
			p.index.touch() // there is no notification when an ended session is closed
		}
		return &problem{string(e.Reason), e.Message}
	}
	return &problem{"bad_request", p.server.Hide.String(err.Error())}
}

// write sends an answer when it is its turn, and calls begins just before. A page that times out
// reading it is gone. An answer that waits for its turn counts as unread.
func (p *page) write(ctx context.Context, a any, begins func()) error {
	var data []byte
	err := protocol.Guard(p.server.Log, "encode an answer to a page", func() (err error) {
		data, err = json.Marshal(a)
		return err
	})
	x, answers := a.(answer)
	switch {
	case err != nil && !answers: // our own kind of error
		return err
	case err != nil:
		p.server.Log.Error("encode an answer to a page", "error", err)
		data, err = json.Marshal(answer{ID: x.ID, Error: &problem{"internal_error", "internal error: the answer does not encode"}})
	case answers && len(data) > maxAnswer:
		data, err = json.Marshal(answer{ID: x.ID, Error: &problem{"too_large", fmt.Sprintf("the answer has over %d MiB", maxAnswer>>20)}})
	}
	if err != nil {
		return err
	}
	p.writing.Add(1)
	defer p.writing.Add(-1)
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		begins()
		return context.Cause(ctx)
	}
	defer func() { <-p.turn }()
	begins()
	ctx, cancel := context.WithTimeout(ctx, p.server.writeTime)
	defer cancel()
	return p.ws.Write(ctx, websocket.MessageText, data)
}

// dialTime bounds the dialing of the server: a socket of this machine answers at once, unless its
// backlog is full.
const dialTime = 5 * time.Second

// dial connects the page to the server.
func (p *page) dial(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	stream, err := daemon.DialStream(ctx, p.server.Socket)
	if err != nil {
		return err
	}
	native := client.New(stream)
	if p.reads { // whatever a page manages to ask, the server refuses to change anything
		if err := native.Call(ctx, "server.set_access", map[string]string{"access": "read"}, nil); err != nil {
			native.Close()
			return err
		}
	}
	if err := native.Introduce(ctx, "web: "+p.server.Who); err != nil {
		native.Close()
		return err
	}
	// A screen's long poll must not delay what is typed into its session.
	err = native.Call(ctx, "server.set_ordering", map[string]string{"ordering": "concurrent"}, nil)
	if err == nil {
		p.index, err = newIndex(ctx, native, p.server.Socket, p.server.Log)
	}
	if err != nil {
		native.Close()
		return err
	}
	p.native = native
	return nil
}

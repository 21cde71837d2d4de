package terminalmcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/mcp"
)

const (
	// maxProxyLine bounds one message on the socket, in bytes, as for MCP.
	maxProxyLine = 16 << 20
	// maxProxyConns bounds the clients of a shared terminal: agents that a person has started. One
	// more waits to be accepted.
	maxProxyConns = 32
)

// DefaultSocket is where a shared terminal listens and client mode connects: terminal-mcp.sock in
// the folder for temporary files. Where others may write in that, as in /tmp, it is in this user's
// own folder below: another user could take the name first.
func DefaultSocket() string {
	if runtime.GOOS == "windows" {
		return `\\.\pipe\terminal-mcp`
	}
	dir := os.TempDir()
	if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o022 != 0 {
		dir = filepath.Join(dir, Name+"-"+strconv.Itoa(os.Geteuid()))
	}
	return filepath.Join(dir, Name+".sock")
}

// A proxyRequest is one call on the socket. Its id is echoed unchanged.
type proxyRequest struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
}

type proxyError struct {
	Message string `json:"message"`
}

type proxyResponse struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *proxyError     `json:"error,omitempty"`
}

// ServeProxy serves the tools of [ClientTools] to every client of l, a line of JSON for each call
// and each answer, in order, until ctx ends. It closes l and its connections, and returns when all
// of them are over.
func ServeProxy(ctx context.Context, l net.Listener, s *Server) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	room := make(chan struct{}, maxProxyConns)
	for {
		select {
		case room <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		conn, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		wg.Go(func() {
			defer func() { <-room }()
			defer conn.Close()
			defer context.AfterFunc(ctx, func() { conn.Close() })()
			s.serveConn(ctx, conn)
		})
	}
}

// serveConn serves one client until it is gone.
func (s *Server) serveConn(ctx context.Context, conn io.ReadWriter) {
	r := protocol.Lines.NewReader(conn, maxProxyLine)
	for {
		line, err := r.Next()
		var bad *protocol.ParseError
		if err != nil && !errors.As(err, &bad) {
			return
		}
		answer := s.answer(ctx, line, err)
		b, err := marshal(answer)
		if err != nil {
			return
		}
		if _, err := conn.Write(append(b, '\n')); err != nil {
			return
		}
	}
}

// answer answers one line, or its error.
func (s *Server) answer(ctx context.Context, line []byte, wrong error) proxyResponse {
	var q proxyRequest
	if wrong == nil {
		wrong = json.Unmarshal(line, &q)
	}
	if wrong != nil {
		return proxyResponse{ID: json.RawMessage("0"),
			Error: &proxyError{"Parse error: " + s.hide(wrong.Error())}}
	}
	t := find(q.Method)
	if t == nil || t.short == "" {
		return proxyResponse{ID: q.ID, Error: &proxyError{"Unknown method: " + s.hide(q.Method)}}
	}
	var b []byte
	err := protocol.Guard(s.Log, q.Method, func() error {
		r, err := s.call(ctx, t, q.Params)
		if err == nil {
			b, err = marshal(r)
		}
		return err
	})
	if err != nil {
		return proxyResponse{ID: q.ID, Error: &proxyError{s.text(err)}}
	}
	return proxyResponse{ID: q.ID, Result: b}
}

// marshal is JSON in one line with only the necessary escapes.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// ErrProxyGone reports that the shared terminal has closed its socket.
var ErrProxyGone = errors.New("Socket closed") //nolint:staticcheck // Terminal MCP's text

// A Proxy is client mode: the other end of [ServeProxy]. Its methods may be called by any number of
// goroutines.
type Proxy struct {
	conn net.Conn
	gone chan struct{} // closed when the socket is

	writing sync.Mutex // held only while a line is written

	mu sync.Mutex
	// protects the fields below
	last    int
	pending map[string]chan proxyResponse // by id; nil when the socket is closed
}

// NewProxy returns client mode over a connection to a shared terminal, and takes ownership of it.
func NewProxy(conn net.Conn) *Proxy {
	p := &Proxy{conn: conn, gone: make(chan struct{}), pending: map[string]chan proxyResponse{}}
	go p.read()
	return p
}

// Gone returns a channel that is closed when the shared terminal has closed its socket, and by
// Close.
func (p *Proxy) Gone() <-chan struct{} { return p.gone }

// Close ends the connection.
func (p *Proxy) Close() error {
	err := p.conn.Close()
	<-p.gone
	return err
}

// read delivers answers until the socket is closed, and ignores anything else.
func (p *Proxy) read() {
	defer close(p.gone)
	defer p.conn.Close()
	r := protocol.Lines.NewReader(p.conn, 4*maxProxyLine) // a picture in an answer may be large
	for {
		line, err := r.Next()
		var bad *protocol.ParseError
		if errors.As(err, &bad) {
			continue
		}
		if err != nil {
			break
		}
		var a proxyResponse
		if json.Unmarshal(line, &a) != nil {
			continue
		}
		p.mu.Lock()
		waiting := p.pending[string(a.ID)]
		delete(p.pending, string(a.ID))
		p.mu.Unlock()
		if waiting != nil {
			waiting <- a
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, waiting := range p.pending {
		close(waiting)
	}
	p.pending = nil
}

// Profile returns client mode as a profile of MCP: six tools, and no prompt.
func (p *Proxy) Profile() *mcp.Profile {
	return profile(ClientTools(), p.call, append(slices.Clone(unknown), "prompts/")...)
}

// call forwards one call and waits for its answer.
func (p *Proxy) call(ctx context.Context, name string, args json.RawMessage) *Result {
	p.mu.Lock()
	if p.pending == nil {
		p.mu.Unlock()
		return failure(ErrProxyGone.Error())
	}
	p.last++
	id := strconv.Itoa(p.last)
	waiting := make(chan proxyResponse, 1)
	p.pending[id] = waiting
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.pending, id)
		p.mu.Unlock()
	}()
	if err := p.send(proxyRequest{json.RawMessage(id), name, args}); err != nil {
		return failure(err.Error())
	}
	mcp.Yield(ctx)
	select {
	case a, ok := <-waiting:
		switch {
		case !ok:
			return failure(ErrProxyGone.Error())
		case a.Error != nil:
			return failure(a.Error.Message)
		}
		var r Result
		if err := json.Unmarshal(a.Result, &r); err != nil {
			return failure("the shared terminal answered with something other than a result: " +
				err.Error())
		}
		return &r
	case <-ctx.Done():
		return failure(context.Cause(ctx).Error())
	}
}

func (p *Proxy) send(q proxyRequest) error {
	b, err := marshal(q)
	if err != nil {
		return err
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	_, err = p.conn.Write(append(b, '\n'))
	return err
}

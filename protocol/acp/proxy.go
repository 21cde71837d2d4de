package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol"
)

const (
	// maxInspected is the longest message that the proxy inspects. A longer one is passed on in
	// pieces: it cannot be a request for a terminal.
	maxInspected = 16 << 20
	// quitBound is how long an agent may keep running after the end of the editor's output. Agents
	// end within a second.
	quitBound = 5 * time.Second
	// agentStall is how long an agent may leave 8 MiB of answers unread. One that computes for
	// minutes is slow, not gone.
	agentStall = 10 * time.Minute
	// maxSessions bounds the ACP sessions whose folders are known, and the pending requests for
	// one.
	maxSessions = 1024
	// maxTaken bounds the ids of the agent's terminal requests that are kept, to recognise a
	// request to cancel one.
	maxTaken = 4096
)

// ErrEditorGone is why a proxy ends whose editor accepts no more output.
var ErrEditorGone = errors.New("the editor is gone")

// A Proxy relays between one editor and one agent. It passes their messages on byte by byte, with
// these exceptions: it adds terminals to the editor's initialize; the engine answers the agent's
// terminal requests, which never reach the editor; and where a tool call embeds such a terminal,
// the editor gets its output in a form that it supports (show.go).
//
// The proxy makes no requests of its own, so ids pass unchanged and cannot be confused.
//
// # Goroutines
//
//	goroutine      does                                                                ends when
//	Serve's own    writes to the editor: what the agent says, and what terminals show  Serve returns
//	agent reader   reads the agent; hands over one part of a line at a time            the agent's output does, or Serve
//	editor reader  reads the editor; hands over one part of a line at a time           the editor's output does, or Serve
//	inward         writes to the agent: what the editor says, and answers              Serve waits for it
//	terminals      a [protocol.Conn] over the agent's terminal requests                Serve waits for it
//
// Nothing is queued between them: a peer that does not read blocks the other one, as a pipe would.
type Proxy struct {
	log       *slog.Logger
	terminals *Terminals

	agent  chan part // from the agent reader
	editor chan part // from the editor reader
	answer chan part // from the terminals
	ask    *io.PipeWriter
	ctx    context.Context

	mu sync.Mutex
	// protects the fields below
	native bool              // the editor supports terminals in _meta
	opened map[string]string // folders of sessions being made, by the id of the request
	dirs   map[string]string // folders of sessions
}

// A part is a line, or a piece of a long one, on its way to its writer.
type part struct {
	data []byte
	more bool // the line continues
	end  bool // end of the stream
	done chan struct{}
	// done, if not nil, is closed when data is written
}

// Streams are the four streams of a proxy.
type Streams struct {
	FromEditor io.Reader
	ToEditor   io.Writer
	FromAgent  io.Reader
	ToAgent    io.WriteCloser // closed at the end of the editor's output, and when the proxy ends
}

// NewProxy returns a proxy for one pair; its terminals are sessions of h.
func NewProxy(h *host.Host, o Options) *Proxy {
	p := &Proxy{
		log: h.Log, agent: make(chan part), editor: make(chan part), answer: make(chan part),
		opened: map[string]string{}, dirs: map[string]string{},
	}
	o.Dir = p.dir
	p.terminals = NewTerminals(h, o)
	return p
}

// Serve passes messages until the agent's output ends, and returns nil; or until the editor accepts
// no more, which is [ErrEditorGone]; or for quitBound after the editor's output ends; or until ctx
// ends. It then ends the terminals. Its readers are left behind until their streams end. It is
// called once.
func (p *Proxy) Serve(ctx context.Context, s Streams) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.ctx = ctx
	asked, ask := io.Pipe()
	p.ask = ask
	conn := protocol.NewConn(&terminalStream{PipeReader: asked, p: p}, proxied{p}, protocol.Config{
		Limits: protocol.Limits{Executing: p.terminals.opts.Waits / 3 * 4, Stall: agentStall},
		Log:    p.log,
	})
	editorOver := make(chan struct{})
	go p.read(s.FromAgent, p.agent, func() {})
	go p.read(s.FromEditor, p.editor, func() { close(editorOver) })
	var ours sync.WaitGroup
	ours.Go(func() {
		err := protocol.Guard(p.log, "write to the agent",
			func() error { return p.inward(s.ToAgent) })
		if err != nil {
			p.log.Warn("write to the agent", "error", err)
		}
	})
	ours.Go(func() {
		if err := conn.Serve(ctx); errors.Is(err, protocol.ErrSlowReader) {
			cancel(err)
		}
	})
	// A panic must not end the process before the terminals have ended.
	err := protocol.Guard(p.log, "write to the editor",
		func() error { return p.outward(s.ToEditor, editorOver) })
	ask.Close()
	cancel(err)
	s.ToAgent.Close() // wakes a write to an agent that does not read
	ours.Wait()
	return err
}

// read passes a stream on, part by part, and then its end.
func (p *Proxy) read(r io.Reader, to chan<- part, over func()) {
	lines := newLineReader(r, maxInspected)
	defer over()
	for {
		data, more, err := lines.next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				p.log.Warn("a stream ended early", "error", err)
			}
			p.hand(to, part{end: true})
			return
		}
		if !p.hand(to, part{data: data, more: more}) {
			return
		}
	}
}

// hand passes a part to its writer, and reports whether the writer took it.
func (p *Proxy) hand(to chan<- part, x part) bool {
	select {
	case to <- x:
		return true
	case <-p.ctx.Done():
		return false
	}
}

// inward writes to the agent, whole lines of either side, until the ends of the editor and the
// proxy.
func (p *Proxy) inward(w io.WriteCloser) error {
	begun := false // in the middle of a long line of the editor's
	editor := p.editor
	for {
		answer := p.answer
		if begun {
			answer = nil
		}
		var x part
		select {
		case x = <-editor:
			if x.end {
				editor = nil
				if begun { // it will not be completed
					return w.Close()
				}
				if err := w.Close(); err != nil {
					return err
				}
				continue
			}
			if !begun && !x.more {
				_ = protocol.Guard(p.log, "a message of the editor", func() error { // on a panic the message is passed on unchanged
					x.data = p.fromEditor(x.data)
					return nil
				})
			}
			begun = x.more
		case x = <-answer:
		case <-p.ctx.Done():
			return nil
		}
		var err error
		if editor != nil { // else the agent's input is already closed
			_, err = w.Write(x.data)
		}
		if x.done != nil {
			close(x.done)
		}
		if err != nil {
			p.discard(editor)
			return err
		}
	}
}

// discard drops what nobody reads any more: the agent has closed its input, and its output says the
// rest.
func (p *Proxy) discard(editor <-chan part) {
	for {
		select {
		case x := <-editor:
			if x.end {
				editor = nil
			}
		case x := <-p.answer:
			close(x.done)
		case <-p.ctx.Done():
			return
		}
	}
}

// outward writes to the editor: the agent's messages, and between its lines what terminals show.
func (p *Proxy) outward(w io.Writer, editorOver <-chan struct{}) error {
	sh := newShow(p.terminals, p.shows)
	ids := newIDs()
	begun := false
	var quit <-chan time.Time
	defer sh.stop()
	send := func(messages ...[]byte) error {
		for _, m := range messages {
			if _, err := w.Write(m); err != nil {
				return fmt.Errorf("%w: %w", ErrEditorGone, err)
			}
		}
		return nil
	}
	for {
		var x part
		select {
		case x = <-p.agent:
		case <-sh.changed:
			sh.hurry()
			continue
		case <-sh.due(begun):
			if err := send(sh.refresh()...); err != nil {
				return err
			}
			continue
		case <-editorOver:
			editorOver, quit = nil, time.After(quitBound)
			continue
		case <-quit:
			return nil
		case <-p.ctx.Done():
			return context.Cause(p.ctx)
		}
		if x.end {
			return send(sh.refresh()...)
		}
		messages := [][]byte{x.data}
		if !begun && !x.more {
			var broke *protocol.PanicError
			err := protocol.Guard(p.log, "a message of the agent", func() error {
				seen, err := p.fromAgent(x.data, sh, ids)
				messages = seen
				return err
			})
			if err != nil && !errors.As(err, &broke) { // after a panic it is passed on unchanged
				return err
			}
		}
		begun = x.more
		if err := send(messages...); err != nil {
			return err
		}
	}
}

// fromAgent returns what the editor gets for a line of the agent's.
func (p *Proxy) fromAgent(line []byte, sh *show, ids *ids) ([][]byte, error) {
	m := members(line)
	if m == nil {
		return [][]byte{line}, nil
	}
	id, isRequest := m["id"]
	switch method := text(line, m, "method"); method {
	case "terminal/create", "terminal/output", "terminal/wait_for_exit", "terminal/kill",
		"terminal/release":
		if !isRequest {
			break
		}
		ids.add(string(id.of(line)))
		return nil, p.terminal(line)
	case "$/cancel_request":
		params := m["params"]
		if r, ok := members(params.of(line))["requestId"]; ok &&
			ids.has(string(r.within(params).of(line))) {
			return nil, p.terminal(line)
		}
	case "session/update", "session/request_permission":
		return sh.tool(line, m, method == "session/update"), nil
	case "":
		if _, ok := m["method"]; !ok && isRequest {
			p.made(string(id.of(line)), line, m)
			return append(sh.refresh(), line), nil // what it ends is first shown in full
		}
	}
	return [][]byte{line}, nil
}

// terminal passes a line to the terminals.
func (p *Proxy) terminal(line []byte) error {
	if line[len(line)-1] != '\n' {
		line = append(line, '\n')
	}
	if _, err := p.ask.Write(line); err != nil {
		return fmt.Errorf("the terminals are gone: %w", err)
	}
	return nil
}

// fromEditor returns what the agent gets for a line of the editor's.
func (p *Proxy) fromEditor(line []byte) []byte {
	m := members(line)
	params, ok := m["params"]
	if !ok {
		return line
	}
	pm := members(params.of(line))
	if pm == nil {
		return line
	}
	switch text(line, m, "method") {
	case "initialize":
		return p.initialize(line, params, pm)
	case "session/new":
		if id, ok := m["id"]; ok {
			p.remember(p.opened, string(id.of(line)), text(params.of(line), pm, "cwd"))
		}
	case "session/load", "session/resume":
		p.remember(p.dirs, text(params.of(line), pm, "sessionId"), text(params.of(line), pm, "cwd"))
	}
	return line
}

// initialize adds terminals to the editor's capabilities, and records how it can show them. An
// editor with a later protocol version is left alone: that has no terminals to serve.
func (p *Proxy) initialize(line []byte, params span, pm map[string]span) []byte {
	if v, ok := pm["protocolVersion"]; ok {
		if n, err := strconv.ParseFloat(string(v.within(params).of(line)), 64); err == nil &&
			n > versionV1 && n < math.MaxInt32 {
			p.log.Warn("the editor offers a version of the protocol without terminals; passing it on as it is", "version", n)
			return line
		}
	}
	const terminal = `"terminal":true`
	capabilities, ok := pm["clientCapabilities"]
	if !ok {
		return apply(line, insert(params, pm, `"clientCapabilities":{`+terminal+`}`))
	}
	capabilities = capabilities.within(params)
	cm := members(capabilities.of(line))
	if cm == nil {
		return apply(line, edit{capabilities, []byte(`{` + terminal + `}`)})
	}
	if meta, ok := cm["_meta"]; ok {
		in := meta.of(capabilities.of(line))
		if o, ok := members(in)["terminal_output"]; ok && string(o.of(in)) == "true" {
			p.mu.Lock()
			p.native = true
			p.mu.Unlock()
		}
	}
	old, ok := cm["terminal"]
	if !ok {
		return apply(line, insert(capabilities, cm, terminal))
	}
	return apply(line, edit{old.within(capabilities), []byte("true")})
}

// shows reports whether the editor supports terminals in _meta.
func (p *Proxy) shows() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.native
}

// dir returns the folder of an ACP session; "" when it is not known.
func (p *Proxy) dir(session string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dirs[session]
}

// remember adds an entry to a map of folders, which has at most maxSessions.
func (p *Proxy) remember(in map[string]string, key, dir string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if key == "" || dir == "" {
		return
	}
	for old := range in {
		if len(in) < maxSessions {
			break
		}
		delete(in, old)
	}
	in[key] = dir
}

// made records the session that the agent has made for a session/new.
func (p *Proxy) made(id string, line []byte, m map[string]span) {
	p.mu.Lock()
	dir := p.opened[id]
	delete(p.opened, id)
	p.mu.Unlock()
	if result, ok := m["result"]; ok && dir != "" {
		in := result.of(line)
		p.remember(p.dirs, text(in, members(in), "sessionId"), dir)
	}
}

// ids are the newest maxTaken ids of the agent's terminal requests.
type ids struct {
	known map[string]bool
	order []string
}

func newIDs() *ids { return &ids{known: map[string]bool{}} }

func (i *ids) add(id string) {
	if i.known[id] {
		return
	}
	if len(i.order) == maxTaken {
		delete(i.known, i.order[0])
		i.order = append(i.order[:0], i.order[1:]...)
	}
	i.known[id] = true
	i.order = append(i.order, id)
}

func (i *ids) has(id string) bool { return i.known[id] }

// proxied is the dialect of the agent's terminal requests.
type proxied struct{ p *Proxy }

func (d proxied) Open(c *protocol.Conn) protocol.Handler { return newHandler(d.p.terminals, c) }

// A terminalStream carries the agent's terminal requests, and answers on their way to it.
type terminalStream struct {
	*io.PipeReader
	p *Proxy
	// rest is an unfinished line; belongs to the writing goroutine
	rest []byte
}

// Write passes on whole lines, and returns when they are written.
func (s *terminalStream) Write(b []byte) (int, error) {
	at := len(b)
	for at > 0 && b[at-1] != '\n' {
		at--
	}
	if at == 0 {
		s.rest = append(s.rest, b...)
		return len(b), nil
	}
	lines := append(s.rest, b[:at]...)
	s.rest = append([]byte(nil), b[at:]...)
	x := part{data: lines, done: make(chan struct{})}
	if !s.p.hand(s.p.answer, x) {
		return 0, io.ErrClosedPipe
	}
	select {
	case <-x.done:
		return len(b), nil
	case <-s.p.ctx.Done():
		return 0, io.ErrClosedPipe
	}
}

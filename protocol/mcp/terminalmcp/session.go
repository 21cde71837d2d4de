package terminalmcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/protocol/mcp"
)

// Marker is the variable, set to 1, that marks programs in a Terminal MCP session. The server
// itself refuses to start where it is set.
const Marker = "TERMINAL_MCP"

// A terminal is one session as the profile knows it.
type terminal struct {
	id        string
	session   *engine.Session
	shell     string
	isDefault bool
	ours      bool // started by a client of the profile
	created   time.Time

	active time.Time   // guarded by Server.mu
	idle   *time.Timer // ends it when unused; nil: nothing does
}

// rest stops the idle timer.
func (t *terminal) rest() {
	if t.idle != nil {
		t.idle.Stop()
	}
}

// alive reports whether the shell runs.
func (t *terminal) alive() bool { return t.session.View().Exit == nil }

// ended is the error for a session whose shell has ended.
func (t *terminal) ended() error {
	if t.isDefault {
		return errNoDefault
	}
	return fmt.Errorf("Session '%s' is no longer active", t.id) //nolint:staticcheck // its text
}

// A notFoundError reports an unknown session id.
type notFoundError struct{ id string }

func (e *notFoundError) Error() string { return "Session '" + e.id + "' not found" }

// DefaultShell is the shell of sessions that name none: $SHELL, or the system's.
func DefaultShell() string {
	if runtime.GOOS == "windows" {
		return cmp.Or(os.Getenv("COMSPEC"), "cmd.exe")
	}
	return cmp.Or(os.Getenv("SHELL"), "bash")
}

// start starts a session.
func (s *Server) start(shell string, cols, rows int, isDefault bool) (*terminal, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, errClosed
	}
	gone := s.prune()
	if len(s.terminals)-s.endedDefault()+s.starting >= s.opts.Sessions {
		s.mu.Unlock()
		forget(gone)
		return nil, fmt.Errorf("Maximum session limit reached (%d). Destroy an existing session or raise --max-sessions.", s.opts.Sessions) //nolint:staticcheck // its text
	}
	s.starting++
	s.mu.Unlock()
	forget(gone)

	shell = cmp.Or(shell, s.opts.Shell, DefaultShell())
	config := engine.Config{Program: shell, Env: s.env, Scrollback: scrollback}
	if isDefault {
		config.Taps, config.Attended, config.Kept = s.opts.Taps, s.opts.Attended, true
	}
	session, err := s.spawn(config, cols, rows)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starting--
	if err != nil {
		return nil, err
	}
	now := time.Now()
	t := &terminal{id: s.freshID(), session: session, shell: shell, isDefault: isDefault,
		ours: true, created: now, active: now}
	s.terminals = append(s.terminals, t)
	if !isDefault {
		session.AfterClose(func() { s.drop(t) })
	}
	if !isDefault && s.opts.SessionIdle > 0 {
		t.idle = time.AfterFunc(s.opts.SessionIdle, func() { s.evict(t) })
	}
	return t, nil
}

// drop removes a session from the list that was closed elsewhere, or that the engine has forgotten.
func (s *Server) drop(t *terminal) {
	s.mu.Lock()
	s.terminals = slices.DeleteFunc(s.terminals, func(x *terminal) bool { return x == t })
	s.mu.Unlock()
	t.rest()
}

func (s *Server) spawn(c engine.Config, cols, rows int) (*engine.Session, error) {
	// A size that no terminal can have does not fit the type either.
	if cols < 1 || cols > engine.MaxSide || rows < 1 || rows > engine.MaxSide {
		return nil, &engine.SizeError{Rows: rows, Cols: cols, Most: engine.MaxSide}
	}
	c.Size = pty.Size{Rows: uint16(rows), Cols: uint16(cols)}
	return s.Spawn(context.Background(), c)
}

// freshID returns five hexadecimal digits that no session of ours has. It is called with mu held.
func (s *Server) freshID() string {
	for {
		var b [3]byte
		_, _ = rand.Read(b[:]) // never fails
		id := hex.EncodeToString(b[:])[:5]
		if !slices.ContainsFunc(s.terminals, func(t *terminal) bool { return t.id == id }) {
			return id
		}
	}
}

// prune removes sessions whose shells have ended from the list, except the default one, and returns
// them; the caller passes them to forget once it has released mu. It is called with mu held.
func (s *Server) prune() (gone []*terminal) {
	s.terminals = slices.DeleteFunc(s.terminals, func(t *terminal) bool {
		if t.isDefault || t.alive() {
			return false
		}
		gone = append(gone, t)
		return true
	})
	return gone
}

// endedDefault is 1 when the default session has ended: it stays on the list and does not count. It
// is called with mu held.
func (s *Server) endedDefault() int {
	if len(s.terminals) > 0 && s.terminals[0].isDefault && !s.terminals[0].alive() {
		return 1
	}
	return 0
}

// forget closes sessions that are no longer on the list.
func forget(gone []*terminal) {
	for _, t := range gone {
		t.rest()
		_ = t.session.Close(context.Background()) // the engine logs what it cannot end
	}
}

// evict ends a session that was unused for longer than SessionIdle.
func (s *Server) evict(t *terminal) {
	s.mu.Lock()
	i := slices.Index(s.terminals, t)
	if i < 0 || s.closed {
		s.mu.Unlock()
		return
	}
	if left := s.opts.SessionIdle - time.Since(t.active); left > 0 { // it was used while the timer fired
		t.idle.Reset(left)
		s.mu.Unlock()
		return
	}
	s.terminals = slices.Delete(s.terminals, i, i+1)
	s.mu.Unlock()
	s.Log.Info("ended a session that nobody used", "session", t.id, "idle", s.opts.SessionIdle)
	forget([]*terminal{t})
}

// terminal returns the session with that id, "" for the default one, and records its use. A session
// that was started elsewhere on the same engine has its id there.
func (s *Server) terminal(id string) (*terminal, error) {
	s.mu.Lock()
	t, err := s.find(id)
	var gone []*terminal
	if err == nil && !t.alive() {
		err = t.ended()
		if id != "" {
			gone = s.prune()
		}
	}
	if err == nil && id != "" {
		t.active = time.Now()
		if t.idle != nil {
			t.idle.Reset(s.opts.SessionIdle)
		}
	}
	s.mu.Unlock()
	forget(gone)
	return t, err
}

// find is called with mu held.
func (s *Server) find(id string) (*terminal, error) {
	switch {
	case s.closed:
		return nil, errClosed
	case id == "":
		return s.terminals[0], nil
	}
	for _, t := range s.terminals {
		if t.id == id || string(t.session.ID()) == id {
			return t, nil
		}
	}
	session, err := s.Engine.Session(engine.ID(id))
	if err != nil {
		return nil, &notFoundError{id}
	}
	return guest(session), nil
}

// guest describes a session that another dialect has started.
func guest(e *engine.Session) *terminal {
	return &terminal{id: string(e.ID()), session: e, shell: e.Config().Program,
		created: e.Started(), active: e.View().Changed}
}

// sessionInfo is a session in the answers of createSession and listSessions.
type sessionInfo struct {
	SessionID      string `json:"sessionId"`
	Shell          string `json:"shell"`
	Cols           int    `json:"cols"`
	Rows           int    `json:"rows"`
	CreatedAt      string `json:"createdAt"`
	LastActivityAt string `json:"lastActivityAt"`
	IsDefault      bool   `json:"isDefault"`
}

// isoTime is a time as JavaScript's toISOString writes it.
const isoTime = "2006-01-02T15:04:05.000Z"

// info is called with mu held.
func (s *Server) info(t *terminal) sessionInfo {
	screen := t.session.View().Screen
	return sessionInfo{
		SessionID: t.id, Shell: s.hide(t.shell), Cols: screen.Cols, Rows: screen.Rows,
		CreatedAt: t.created.UTC().Format(isoTime), LastActivityAt: t.active.UTC().Format(isoTime),
		IsDefault: t.isDefault,
	}
}

func (s *Server) createSession(c *call) (*Result, error) {
	size := func(name string, otherwise int) int {
		n, ok := c.args.number(name)
		if !ok {
			return otherwise
		}
		return int(min(n, 1<<30)) // infinite ones were refused; the engine refuses what is too large
	}
	t, err := s.start(c.args.text("shell"), size("cols", s.opts.Cols),
		size("rows", s.opts.Rows), false)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return textResult(pretty(s.info(t))), nil
}

type sessionList struct {
	Sessions           []sessionInfo `json:"sessions"`
	MaxSessions        int           `json:"maxSessions"`
	SessionIdleTimeout float64       `json:"sessionIdleTimeout"`
}

func (s *Server) listSessions(*call) (*Result, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, errClosed
	}
	gone := s.prune()
	list := sessionList{Sessions: []sessionInfo{}, MaxSessions: s.opts.Sessions,
		SessionIdleTimeout: max(0, s.opts.SessionIdle.Seconds())}
	ours := map[engine.ID]bool{}
	for _, t := range s.terminals {
		ours[t.session.ID()] = true
		if t.alive() {
			list.Sessions = append(list.Sessions, s.info(t))
		}
	}
	for _, t := range gone {
		ours[t.session.ID()] = true
	}
	for _, e := range s.Engine.List() {
		if t := guest(e); !ours[e.ID()] && t.alive() {
			list.Sessions = append(list.Sessions, s.info(t))
		}
	}
	s.mu.Unlock()
	forget(gone)
	return textResult(pretty(list)), nil
}

func (s *Server) destroySession(c *call) (*Result, error) {
	id := c.args.text("sessionId")
	s.mu.Lock()
	t, err := s.find(id)
	if id == "" && err == nil { // the empty id names no session: leaving it out must not destroy one
		err = &notFoundError{id}
	}
	if err != nil {
		s.mu.Unlock()
		if _, ok := err.(*notFoundError); ok {
			return told(s.hide(err.Error()), true), nil
		}
		return nil, err
	}
	if t.isDefault {
		s.mu.Unlock()
		return told("Session '"+id+"' is the default session and cannot be destroyed", true), nil
	}
	if err := s.owned(t); err != nil {
		s.mu.Unlock()
		return nil, err
	}
	s.terminals = slices.DeleteFunc(s.terminals, func(x *terminal) bool { return x == t })
	s.mu.Unlock()
	t.rest()
	mcp.Yield(c.ctx)
	if err := t.session.Close(c.ctx); err != nil {
		return nil, err
	}
	return told("Session '"+id+"' destroyed", false), nil
}

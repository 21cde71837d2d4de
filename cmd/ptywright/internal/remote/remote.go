// Package remote is what scripts and agents do with the sessions of a server that listens: list, spawn, send, wait, read,
// kill and follow. [Connect] is the entry point. Each method is one thing that a command does, in as many requests as that
// takes; what comes back is the wire's own object, so that --json prints what docs/wire.md describes.
//
// It prints nothing, and cleans nothing for a terminal: what a program wrote is redacted by the server, and may hold escape
// sequences where a method says so.
package remote

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"regexp"
	"strings"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/protocol/client"
)

// Exit codes that scripts can rely on.
const (
	ExitError      = 1
	ExitUsage      = 2 // what was asked for is nothing that can be; nothing was done
	ExitTimeout    = 3 // a wait's time is up; the evidence is on standard output
	ExitMissing    = 4 // there is no such session
	ExitPermission = 5 // a lease or an adapter has the session, or the socket is not this user's
)

// exits tells the exit code of a server's reason. Others are errors.
var exits = map[string]int{
	"invalid_matcher":   ExitUsage,
	"timeout":           ExitTimeout,
	"unknown_session":   ExitMissing,
	"unknown_adapter":   ExitMissing,
	"session_leased":    ExitPermission,
	"owned_by_adapter":  ExitPermission,
	"permission_denied": ExitPermission,
}

// Exit returns the exit code of an error of this package, and the server's reason where it gave one.
func Exit(err error) (code int, reason string) {
	var e *client.Error
	if errors.As(err, &e) {
		if code, ok := exits[e.Reason]; ok {
			return code, e.Reason
		}
		return ExitError, e.Reason
	}
	var key *KeyError
	switch {
	case errors.As(err, &key):
		return ExitUsage, "invalid_action"
	case errors.Is(err, daemon.ErrNone):
		return ExitError, "no_server"
	case errors.Is(err, fs.ErrPermission):
		return ExitPermission, "permission_denied"
	}
	return ExitError, ""
}

// Plainly returns an error as a person at a shell reads it: without the method and the codes of a server's, with what to do.
func Plainly(err error) error {
	var e *client.Error
	if !errors.As(err, &e) {
		return err
	}
	text := wirePlace.ReplaceAllString(e.Message, "")
	switch e.Reason {
	case "unknown_session":
		text += "; ptywright ls lists those that there are"
	case "limit_exceeded":
		if strings.Contains(text, "sessions") {
			text += "; those that have ended count, too, until ptywright kill --close ID forgets them"
		}
	case "session_leased":
		text += "; it can be read and waited for, and typed into when that is given back"
	}
	return &plainError{text, err}
}

// wirePlace is where in a request something is wrong, which means nothing to who has given flags.
var wirePlace = regexp.MustCompile(`^params\.(?:matcher(?:[^ :]*): |action\.[^ :]*: )?`)

type plainError struct {
	text string
	err  error
}

func (e *plainError) Error() string { return e.text }
func (e *plainError) Unwrap() error { return e.err }

// A Server is a connection to a server.
type Server struct{ *client.Client }

// Connect connects to the server on socket. Errors: those of [daemon.Dial].
func Connect(ctx context.Context, socket string) (*Server, error) {
	c, err := daemon.Dial(ctx, socket)
	if err != nil {
		return nil, err
	}
	return &Server{c}, nil
}

// An Info is what a server tells of a session, and how it said it.
type Info struct {
	client.Info
	Raw json.RawMessage
}

// List returns all sessions in the order in which they were created, those that have ended too.
func (s *Server) List(ctx context.Context, show Show) ([]Info, error) {
	var r struct {
		Details []json.RawMessage `json:"details"`
	}
	params := struct {
		Details bool `json:"details"`
		Show
	}{true, show}
	if err := s.Call(ctx, "session.list", params, &r); err != nil {
		return nil, err
	}
	all := make([]Info, len(r.Details))
	for i, raw := range r.Details {
		all[i].Raw = raw
		if err := json.Unmarshal(raw, &all[i].Info); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Show says what of secrets is shown. Its zero value hides them.
type Show struct {
	Redact *bool `json:"redact,omitempty"` // nil: true
}

// params are those of one session's method, with more.
func params(id string, more map[string]any, show Show) map[string]any {
	p := map[string]any{"session": id}
	for k, v := range more {
		p[k] = v
	}
	if show.Redact != nil {
		p["redact"] = *show.Redact
	}
	return p
}

// A Kill is what came of ending a session.
type Kill struct {
	Session string `json:"session"`
	Killed  bool   `json:"killed"`
	Closed  bool   `json:"closed,omitempty"` // it is forgotten, too
	PIDs    []int  `json:"pids,omitempty"`   // processes that the kernel has not ended in time
	Error   string `json:"error,omitempty"`  // as people read it
	Reason  string `json:"reason,omitempty"`
	Err     error  `json:"-"`
}

// killsAtOnce bounds the sessions that are ended at the same time: as many as a server does of one connection, so that some dozen
// looks at the process table do for all.
const killsAtOnce = 256

// Kill ends the programs of sessions and all that those started. With forget the sessions are forgotten, else they stay
// readable. What goes wrong with one is in its Kill, and the others go on. done is called for each, in order. The error is that of
// the connection; then nothing was ended.
func (s *Server) Kill(ctx context.Context, ids []string, forget bool, done func(Kill)) error {
	// Stubborn programs take a second each, one after the other.
	if err := s.Call(ctx, "server.set_ordering", map[string]string{"ordering": "concurrent"}, nil); err != nil {
		return err
	}
	ended := make([]chan Kill, len(ids))
	for i := range ended {
		ended[i] = make(chan Kill, 1)
	}
	slots := make(chan struct{}, killsAtOnce)
	go func() {
		for i, id := range ids {
			slots <- struct{}{}
			go func() {
				ended[i] <- s.kill(ctx, id, forget)
				<-slots
			}()
		}
	}()
	for _, k := range ended {
		done(<-k)
	}
	return nil
}

func (s *Server) kill(ctx context.Context, id string, forget bool) Kill {
	k := Kill{Session: id}
	if forget {
		k.Err = s.Session(id).Close(ctx)
		k.Closed, k.Killed = k.Err == nil, k.Err == nil
	} else {
		k.PIDs, k.Err = s.Session(id).Kill(ctx)
		k.Killed = k.Err == nil && len(k.PIDs) == 0
	}
	if k.Err != nil {
		_, k.Reason = Exit(k.Err)
		k.Error = Plainly(k.Err).Error()
	}
	return k
}

// stopBound is how long a server may take to end: it promises five seconds.
const stopBound = 10 * time.Second

// errStubborn is why waiting for a server's end has ended.
var errStubborn = errors.New("it was told to end 10s ago")

// StopServer ends the server itself, with all sessions. Errors: those of [daemon.Stop].
func StopServer(ctx context.Context, socket string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, stopBound, errStubborn)
	defer cancel()
	return daemon.Stop(ctx, socket)
}

// Package remote holds the commands on the sessions of a listening server: list, spawn, send, wait,
// read, kill, follow and the rest, and those on adapters. [Commands] makes them; each stands in one
// file with its flags, what it prints and what it asks the server for. The last are methods of a
// [Server], which [Connect] returns: each does what one command does, in as many requests as that
// takes; results hold the wire's own objects, so that --json prints what docs/wire.md describes.
//
// These methods print nothing, and clean nothing for a terminal: the server redacts what programs
// wrote, and the text may contain escape sequences where a method says so.
package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/internal/lazy"
	"github.com/ptywright/ptywright/protocol/client"
)

// Exit returns the exit code for an error of this package, and the server's reason if it gave one.
func Exit(err error) (code int, reason string) {
	var e *client.Error
	if errors.As(err, &e) {
		return cli.ExitFor(string(e.Reason)), string(e.Reason)
	}
	var key *KeyError
	var silent *daemon.SilentError
	var none *NoAdapterError
	switch {
	case errors.As(err, &none):
		return cli.ExitMissing, "unknown_adapter"
	case errors.As(err, &key):
		return cli.ExitUsage, "invalid_action"
	case errors.Is(err, daemon.ErrNone):
		return cli.ExitError, "no_server"
	case errors.As(err, &silent):
		return cli.ExitError, "no_answer"
	case errors.Is(err, fs.ErrPermission):
		return cli.ExitPermission, "permission_denied"
	}
	return cli.ExitError, ""
}

// Plainly returns an error in words for a person at a shell: without the server's method and codes,
// with what to do.
func Plainly(err error) error {
	var e *client.Error
	if !errors.As(err, &e) {
		return err
	}
	text := wirePlace().ReplaceAllString(e.Message, "")
	switch e.Reason {
	case "unknown_session":
		text += "; ptywright ls lists those that there are"
	case "limit_exceeded":
		if strings.Contains(text, "sessions") {
			text += ", with ptywright kill ID"
		}
	case "owned_by_adapter":
		text = ownedWay().ReplaceAllString(text, ": ptywright adapter ask and adapter send drive it, ptywright kill ends both")
	case "session_leased":
		id := "ID"
		if m := leased().FindStringSubmatch(text); m != nil {
			id = m[1]
		}
		text += ", with ptywright attach --take " + id + "; reading and waiting need no lease"
	}
	return &plainError{text, err}
}

// wirePlace is the place of a fault in a request, which means nothing to a person who used flags.
var wirePlace = lazy.Regexp(`^params\.(?:matcher(?:[^ :]*): |action\.[^ :]*: )?`)

// ownedWay is the server's advice on an adapter's session: methods, which are not commands.
var ownedWay = lazy.Regexp(`: use adapter\.send, or adapter\.close$`)

// leased is how the server's message starts when somebody else holds a session.
var leased = lazy.Regexp(`^session (\S+) is held by `)

type plainError struct {
	text string
	err  error
}

func (e *plainError) Error() string { return e.text }
func (e *plainError) Unwrap() error { return e.err }

// A Server is a connection to a server. If the server does not answer in time, the connection is
// closed.
type Server struct {
	*client.Client
	// Local: the server is this user's process on this machine, not reached through a forwarder.
	// See [daemon.DialLocal].
	Local  bool
	socket string
}

// Connect connects to the server on socket. Errors: those of [daemon.Dial].
func Connect(ctx context.Context, socket string) (*Server, error) {
	c, local, err := daemon.DialLocal(ctx, socket)
	if err != nil {
		return nil, err
	}
	return &Server{c, local, socket}, nil
}

// Call is [client.Client.Call] with [daemon.AnswerBound] for the answer. Errors:
// [*daemon.SilentError], and the client's.
func (s *Server) Call(ctx context.Context, method string, params, result any) error {
	return s.call(ctx, 0, method, params, result)
}

// call is Call for methods that may take a while, with that much more time.
func (s *Server) call(ctx context.Context, takes time.Duration, method string, params, result any) error {
	return s.bounded(ctx, takes, method, func(ctx context.Context) error {
		return s.Client.Call(ctx, method, params, result)
	})
}

// bounded bounds what calls a method, as [Server.Call] does, with that much more time.
func (s *Server) bounded(ctx context.Context, takes time.Duration, method string,
	call func(context.Context) error) error {
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, takes+daemon.AnswerBound, daemon.ErrLate)
	defer cancel()
	defer context.AfterFunc(ctx, func() { s.Close() })() // unblocks a write
	err := call(ctx)
	var answer *client.Error
	switch {
	case err == nil || !errors.Is(context.Cause(ctx), daemon.ErrLate):
		return err
	case errors.As(err, &answer) && !errors.Is(err, daemon.ErrLate):
		return err
	case errors.As(err, &answer):
		return fmt.Errorf("%s was not done after %v, and is given up; the server answers", method, time.Since(began).Round(time.Second))
	}
	return daemon.Silent(s.socket, began)
}

// Create starts a program on its own terminal.
func (s *Server) Create(ctx context.Context, config client.Config) (*client.Session, error) {
	var r struct {
		Session string `json:"session"`
	}
	if err := s.call(ctx, workBound, "session.create", config, &r); err != nil {
		return nil, err
	}
	return s.Session(r.Session), nil
}

// workBound is how long a server may work on requests that have no time limit: ending processes
// takes up to five seconds per session, and hundreds may be ended at the same time; starting one
// takes as long as the system needs on a loaded machine.
const workBound = 20 * time.Second

// An Info describes a session, with the server's own JSON for it.
type Info struct {
	client.Info
	Raw json.RawMessage
}

// List returns all sessions in the order in which they were created, including those that have
// ended.
func (s *Server) List(ctx context.Context, show Show) ([]Info, error) {
	all, _, err := s.ListAll(ctx, show)
	return all, err
}

// An Away is a machine of hosts.toml that a list is without.
type Away struct {
	Host  string    `json:"host"`
	State string    `json:"state"` // down or silent
	Since time.Time `json:"since"`
	Error string    `json:"error"`
}

// ListAll is List, and also returns the machines that could not be asked.
func (s *Server) ListAll(ctx context.Context, show Show) ([]Info, []Away, error) {
	var r struct {
		Details []json.RawMessage `json:"details"`
		Away    []Away            `json:"away"`
	}
	params := struct {
		Details bool `json:"details"`
		Show
	}{true, show}
	if err := s.Call(ctx, "session.list", params, &r); err != nil {
		return nil, nil, err
	}
	all := make([]Info, len(r.Details))
	for i, raw := range r.Details {
		all[i].Raw = raw
		if err := json.Unmarshal(raw, &all[i].Info); err != nil {
			return nil, nil, err
		}
	}
	return all, r.Away, nil
}

// Show says whether secrets are shown. Its zero value hides them.
type Show struct {
	Redact *bool `json:"redact,omitempty"` // nil: true
}

// params are the params of a method on one session, and more.
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

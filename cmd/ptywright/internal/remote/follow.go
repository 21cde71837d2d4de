package remote

import (
	"context"
	"sync"

	"github.com/ptywright/ptywright/protocol/client"
)

// A Delta is a piece of a session's output.
type Delta struct {
	Session  string `json:"session"`
	Sequence uint64 `json:"sequence"`
	Output   string `json:"output"` // redacted, with escape sequences as they came
	Dropped  bool   `json:"dropped,omitempty"`
	Code     *int   `json:"exit_code,omitempty"` // with Signal: the program has ended
	Signal   string `json:"signal,omitempty"`
	Ended    bool   `json:"-"` // this is the last Delta, and has no output
}

// Follow passes a session's output after since, 0 for all that is kept, to show, and then what
// follows, until the program has ended; its end is the last Delta. The one goroutine that reads the
// connection calls show: while show runs nothing is read, the server does not queue, and a later
// Delta says Dropped if output exceeded the server's bound. After ctx has ended show may still be
// running, and be called once more.
//
// Errors: show's first; the server's; [client.ErrClosed] when the server goes away; the cause of
// ctx's end.
func (s *Server) Follow(ctx context.Context, id string, since uint64, how Show, show func(Delta) error) error {
	id, err := s.idOf(ctx, id) // notifications have ids
	if err != nil {
		return err
	}
	var once sync.Once
	ended := make(chan error, 1)
	end := func(err error) { once.Do(func() { ended <- err }) }
	failed := false // only used by the goroutine that reads
	s.Listen(func(e client.Event) {
		if e.Session != id || failed {
			return
		}
		d := Delta{Session: id, Sequence: e.Sequence, Output: e.Output, Dropped: e.Dropped}
		switch e.Method {
		case "session.output":
		case "session.exited":
			d.Ended, d.Code = true, e.Code
			if e.Signal != nil {
				d.Signal = *e.Signal
			}
		default:
			return
		}
		err := show(d)
		if failed = err != nil; failed || d.Ended {
			end(err)
		}
	})
	p := map[string]any{"enabled": true, "sessions": []string{id}, "since": since}
	if how.Redact != nil {
		p["redact"] = *how.Redact
	}
	if err := s.Call(ctx, "server.set_notifications", p, nil); err != nil {
		return err
	}
	select {
	case err := <-ended:
		return err
	case <-s.Done():
		select {
		case err := <-ended: // the last output
			return err
		default:
			return client.ErrClosed
		}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// idOf is the id of the session with that id or name. Errors: those of session.list,
// unknown_session among them.
func (s *Server) idOf(ctx context.Context, name string) (string, error) {
	var r struct {
		Details []client.Info `json:"details"`
	}
	if err := s.Call(ctx, "session.list", map[string]any{"details": true, "session": name}, &r); err != nil {
		return "", err
	}
	if len(r.Details) == 0 { // such as an ended one that was forgotten meanwhile
		return name, nil
	}
	return r.Details[0].Session, nil
}

package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/protocol/client"
)

// A Take says what to record of a session, and how.
type Take struct {
	Path      string // absolute: the server works in another folder
	Format    string // asciicast-v2, asciicast-v3 or markdown
	Title     string
	Input     bool
	IdleLimit time.Duration
	For       time.Duration // 0: until the session ends, or ctx does
	Show      Show
}

// A Recorded is the result of a recording, and the server's own JSON for it.
type Recorded struct {
	Path     string          `json:"path"`
	Bytes    int64           `json:"bytes"`
	Duration int64           `json:"duration_ms"`
	State    string          `json:"state"` // done, limit or failed
	Error    string          `json:"error"`
	Raw      json.RawMessage `json:"-"`
}

// errLeft is why the wait for a session's end was stopped.
var errLeft = errors.New("the recording was to take no longer")

// Record records a session until its program has ended, For has passed or ctx has ended, and then
// gives the file its name: none of these is an error. Errors: those of session.record_start and
// record_stop, [client.ErrClosed], and that the recording failed.
func (s *Server) Record(ctx context.Context, id string, t Take) (Recorded, error) {
	var r Recorded
	more := map[string]any{"path": t.Path, "format": t.Format}
	if t.Title != "" {
		more["title"] = t.Title
	}
	if t.Input {
		more["input"] = true
	}
	if t.IdleLimit > 0 {
		more["idle_limit"] = t.IdleLimit.Milliseconds()
	}
	var begun struct {
		Recording string `json:"recording"`
	}
	if err := s.Call(ctx, "session.record_start", params(id, more, t.Show), &begun); err != nil {
		return r, err
	}
	err := s.untilEnd(ctx, id, t.For)
	if errors.Is(err, client.ErrClosed) {
		return r, fmt.Errorf("the server went away while it recorded: what there is may be in %s.part: %w", t.Path, err)
	}
	if err := s.call(context.WithoutCancel(ctx), workBound, "session.record_stop",
		map[string]any{"recording": begun.Recording}, &r.Raw); err != nil {
		return r, err
	}
	if err := json.Unmarshal(r.Raw, &r); err != nil {
		return r, err
	}
	if r.State != "done" {
		return r, fmt.Errorf("the recording ended early (%s): %s", r.State, r.Error)
	}
	return r, nil
}

// untilEnd waits until a session's program has ended, or the session is gone, for at most limit.
// The connection stays usable for another request.
func (s *Server) untilEnd(ctx context.Context, id string, limit time.Duration) error {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errLeft)
		defer cancel()
	}
	for {
		p := map[string]any{"session": id, "matcher": client.Exited(),
			"timeout_ms": cli.MostWait.Milliseconds()}
		err := s.Client.Call(ctx, "session.wait", p, nil)
		var e *client.Error
		if errors.As(err, &e) && e.Reason == "timeout" && ctx.Err() == nil { // a day has passed
			continue
		}
		return err
	}
}

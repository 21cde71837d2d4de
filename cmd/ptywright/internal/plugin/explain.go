package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/protocol/client"
)

// An Explanation says why an adapter's state is what it is.
type Explanation struct {
	Adapter string `json:"adapter"`
	Plugin  string `json:"plugin"`
	Session string `json:"session"`
	Stale   string `json:"stale,omitempty"` // why it does not run its plugin's newest code
	State   struct {
		State      string          `json:"state"`
		Confidence float64         `json:"confidence"`
		Evidence   string          `json:"evidence"`
		Metadata   json.RawMessage `json:"metadata,omitempty"`
		Exit       json.RawMessage `json:"exit,omitempty"`
	} `json:"state"`
	Rule    string   `json:"rule"` // the one that decided
	Nearly  []Nearly `json:"nearly"`
	Sources []struct {
		Source string `json:"source"`
		Says   string `json:"says"`
	} `json:"sources"`
	Rows []struct {
		Row  int    `json:"row"` // from 0
		Text string `json:"text"`
	} `json:"rows"`
}

// ErrNoAdapter: no live adapter has that id, or drives a session with that id.
var ErrNoAdapter = errors.New("no live adapter has this id, and none drives a session of this id")

// An ExplainError is about an adapter that a client named.
type ExplainError struct {
	Name string
	Err  error
}

// Error says where to find the ids.
func (e *ExplainError) Error() string {
	return fmt.Sprintf("explain %s: %v: adapter.live lists them, and adapter.start starts one",
		cli.OneLine(e.Name), e.Err)
}

// Unwrap returns the cause.
func (e *ExplainError) Unwrap() error { return e.Err }

// Explain reports why the state of an adapter, or of the one that drives a session, is what it is.
// With follow it reports again whenever that changed, until the adapter is closed, its program has
// ended or ctx has. Errors: *[ExplainError] around [ErrNoAdapter], the client's, or tell's.
func Explain(ctx context.Context, c *client.Client, name string, follow bool,
	tell func(*Explanation) error) error {
	var live struct {
		Adapters []struct {
			Adapter, Plugin, Session, Stale string
		}
	}
	if err := c.Call(ctx, "adapter.live", nil, &live); err != nil {
		return err
	}
	var e *Explanation
	for _, a := range live.Adapters {
		if a.Adapter == name || a.Session == name {
			e = &Explanation{Adapter: a.Adapter, Plugin: a.Plugin, Session: a.Session,
				Stale: a.Stale}
		}
	}
	if e == nil {
		return &ExplainError{name, ErrNoAdapter}
	}
	changed := make(chan struct{}, 1) // something changed, however often
	if follow {
		err := c.Subscribe(ctx, func(client.Event) {
			select {
			case changed <- struct{}{}:
			default:
			}
		}, e.Session)
		if err != nil {
			return err
		}
	}
	var told []byte
	for {
		now := *e
		if err := c.Call(ctx, "adapter.explain", map[string]any{"adapter": e.Adapter},
			&now); err != nil {
			var gone *client.Error
			if told != nil && errors.As(err, &gone) && gone.Code == client.CodeInvalidParams { // it was closed
				return nil
			}
			return err
		}
		said, err := json.Marshal(now)
		if err != nil {
			return err
		}
		if !bytes.Equal(said, told) {
			if err := tell(&now); err != nil {
				return err
			}
			told = said
		}
		if ended := len(now.State.Exit) > 0 && string(now.State.Exit) != "null"; !follow || ended {
			return nil
		}
		select {
		case <-changed:
		case <-c.Done():
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// Print writes it for people.
func (e *Explanation) Print(w io.Writer) {
	rule := "no rule decided"
	if e.Rule != "" && e.Rule != "none" {
		rule = fmt.Sprintf("rule %q decided", cli.OneLine(e.Rule))
	}
	fmt.Fprintf(w, "%s (%s, session %s) is %s: %s, with confidence %.2f: %s\n", e.Adapter,
		cli.OneLine(e.Plugin), e.Session, cli.OneLine(e.State.State), rule, e.State.Confidence,
		cli.OneLine(e.State.Evidence))
	if e.Stale != "" {
		fmt.Fprintf(w, "  older code: %s\n", cli.OneLine(e.Stale))
	}
	for _, n := range e.Nearly {
		fmt.Fprintf(w, "  nearly      rule %q (%s) lacks: %s\n", cli.OneLine(n.Rule),
			cli.OneLine(n.State), cli.OneLine(n.Lacks))
	}
	for _, s := range e.Sources {
		fmt.Fprintf(w, "  source      %s says: %s\n", cli.OneLine(s.Source), cli.OneLine(s.Says))
	}
	for _, r := range e.Rows {
		fmt.Fprintf(w, "  row %3d     |%s\n", r.Row+1, cli.OneLine(r.Text))
	}
	if len(e.State.Metadata) > 0 && string(e.State.Metadata) != "null" &&
		string(e.State.Metadata) != "{}" {
		fmt.Fprintf(w, "  metadata    %s\n", cli.OneLine(string(e.State.Metadata)))
	}
}

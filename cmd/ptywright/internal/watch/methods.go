package watch

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/ptywright/ptywright/protocol/client"
)

// A method is one thing that a page may ask.
type method struct {
	live   bool // it needs the server
	writes bool // it is not for a page that only looks on
	call   func(ctx context.Context, p *page, params json.RawMessage) (any, error)
}

// methods are all that a page may ask. Params are read into structs of ours and written anew: a page has no way to ask the
// server for what it hides.
var methods = map[string]method{
	"sessions":   {true, false, with((*page).sessions)},
	"frame":      {true, false, with((*page).frame)},
	"scrollback": {true, false, with((*page).scrollback)},
	"take":       {true, true, with((*page).take)},
	"release":    {true, true, with((*page).release)},
	"input":      {true, true, with((*page).input)},
	"resize":     {true, true, with((*page).resize)},
	"recordings": {false, false, with((*page).recordings)},
	"open":       {false, false, with((*page).open)},
	"at":         {false, false, with((*page).at)},
}

// with makes a method of a function with params of its own.
func with[P any](f func(p *page, ctx context.Context, params P) (any, error)) func(context.Context, *page, json.RawMessage) (any, error) {
	return func(ctx context.Context, p *page, raw json.RawMessage) (any, error) {
		var params P
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &params); err != nil {
				return nil, &problem{"bad_request", "the parameters are not those of the method"}
			}
		}
		return f(p, ctx, params)
	}
}

// forward calls a method of the server; its result goes to the page as it is.
func (p *page) forward(ctx context.Context, method string, params any) (any, error) {
	var raw json.RawMessage
	if err := p.native.Call(ctx, method, params, &raw); err != nil {
		return nil, err
	}
	return raw, nil
}

type sessionsParams struct {
	Since uint64 `json:"since"` // version of the list that the page has; 0: none
}

// sessions waits for a list that the page has not.
func (p *page) sessions(ctx context.Context, q sessionsParams) (any, error) {
	return p.index.after(ctx, q.Since)
}

type named struct {
	Session string `json:"session"`
}

type frameParams struct {
	named
	Since *uint64 `json:"since,omitempty"`
}

// frame waits until a screen is another than the one that the page has.
func (p *page) frame(ctx context.Context, q frameParams) (any, error) {
	return p.forward(ctx, "session.frame", q)
}

// maxLines bounds the lines of one look at the scrollback.
const maxLines = 1000

type scrollbackParams struct {
	named
	Start *int `json:"start,omitempty"`
	Count int  `json:"count"`
}

func (p *page) scrollback(ctx context.Context, q scrollbackParams) (any, error) {
	q.Count = min(max(q.Count, 1), maxLines)
	return p.forward(ctx, "session.scrollback", q)
}

type takeParams struct {
	named
	Force bool `json:"force"` // from whoever has it
}

// take takes a session over: from then on this page alone may type.
func (p *page) take(ctx context.Context, q takeParams) (any, error) {
	r, err := p.forward(ctx, "session.lease", struct {
		named
		Holder string `json:"holder"`
		Take   bool   `json:"take"`
	}{q.named, "web: " + p.server.Who, q.Force})
	if err == nil {
		p.mu.Lock()
		p.leased[q.Session] = true
		p.mu.Unlock()
	}
	return r, err
}

func (p *page) release(ctx context.Context, q named) (any, error) {
	p.mu.Lock()
	delete(p.leased, q.Session)
	p.mu.Unlock()
	return p.forward(ctx, "session.release", q)
}

// taken refuses what needs a session that was taken over. The server refuses what another has, this refuses what nobody has.
func (p *page) taken(session string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.leased[session] {
		return &problem{"not_taken_over", "take the session over first"}
	}
	return nil
}

// typed are the actions of a page: what a person's keyboard and mouse do. Signals and kill are not.
var typed = []string{"text", "paste", "bracketed_paste", "key", "mouse"}

type inputParams struct {
	named
	Action client.Action `json:"action"`
}

func (p *page) input(ctx context.Context, q inputParams) (any, error) {
	if !slices.Contains(typed, q.Action.Type) {
		return nil, &problem{"bad_request", fmt.Sprintf("a page does not do %.40q", q.Action.Type)}
	}
	if err := p.taken(q.Session); err != nil {
		return nil, err
	}
	return p.native.Session(q.Session).Do(ctx, q.Action)
}

type resizeParams struct {
	named
	Rows int `json:"rows"`
	Cols int `json:"cols"`
}

func (p *page) resize(ctx context.Context, q resizeParams) (any, error) {
	if err := p.taken(q.Session); err != nil {
		return nil, err
	}
	return p.forward(ctx, "session.resize", q)
}

// recordings lists what can be played.
func (p *page) recordings(ctx context.Context, _ struct{}) (any, error) {
	all := struct {
		Recordings []recording `json:"recordings"`
		Problem    *problem    `json:"problem,omitempty"`
	}{Recordings: []recording{}}
	if p.native != nil {
		kept, err := p.kept(ctx)
		if err != nil { // the folder's are to be seen nevertheless
			all.Problem = p.tell(ctx, err)
		}
		all.Recordings = append(all.Recordings, kept...)
	}
	if p.server.casts != nil {
		found, err := p.server.listCasts()
		if err != nil {
			all.Problem = p.tell(ctx, err)
		}
		all.Recordings = append(all.Recordings, found...)
	}
	return all, nil
}

type openParams struct {
	ID     string `json:"id"`
	IdleMS int64  `json:"idle_ms"` // pauses are played no longer than this; 0: as they were
}

func (p *page) open(ctx context.Context, q openParams) (any, error) {
	return p.player.open(ctx, func() (*os.File, error) { return p.find(ctx, q.ID) }, q.IdleMS, p.server.Hide)
}

type atParams struct {
	AtMS  float64 `json:"at_ms"`
	Since uint64  `json:"since"` // sequence of the frame that the page has; 0: none
}

func (p *page) at(ctx context.Context, q atParams) (any, error) {
	return p.player.at(ctx, q, p.server.Hide)
}

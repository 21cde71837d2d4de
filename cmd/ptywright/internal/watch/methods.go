package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// A method is one request that a page may send.
type method struct {
	live   bool // needs the server
	writes bool // not for pages that only watch
	call   func(ctx context.Context, p *page, params json.RawMessage) (any, error)
}

// methods are all requests that a page may send. Params are decoded into our own structs and
// encoded again: a page cannot ask the server to show what it hides.
var methods = map[string]method{
	"sessions":   {true, false, with((*page).sessions)},
	"frame":      {true, false, with((*page).frame)},
	"past":       {true, false, with((*page).past)},
	"events":     {true, false, with((*page).events)},
	"scrollback": {true, false, with((*page).scrollback)},
	"search":     {true, false, with((*page).search)},
	"take":       {true, true, with((*page).take)},
	"release":    {true, true, with((*page).release)},
	"input":      {true, true, with((*page).input)},
	"resize":     {true, true, with((*page).resize)},
	"recordings": {false, false, with((*page).recordings)},
	"open":       {false, false, with((*page).open)},
	"at":         {false, false, with((*page).at)},
}

// with makes a method of a function with its own params.
func with[P any](f func(p *page, ctx context.Context, params P) (any,
	error)) func(context.Context, *page, json.RawMessage) (any, error) {
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

// forward calls a method of the server; its result goes to the page unchanged.
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

// sessions waits for a list that the page does not have.
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

// frame waits until a screen differs from the one that the page has.
func (p *page) frame(ctx context.Context, q frameParams) (any, error) {
	return p.forward(ctx, "session.frame", struct {
		frameParams
		Moves bool `json:"moves"`
	}{q, true})
}

type pastParams struct {
	named
	Time     *time.Time `json:"time,omitempty"`     // nil: now
	Sequence *uint64    `json:"sequence,omitempty"` // in place of the time: that of an event
}

// A pastFrame is a screen as it was, and the time by the clock that its times are of.
type pastFrame struct {
	Frame any       `json:"frame"`
	Now   time.Time `json:"now"`
}

// past draws a session's screen as it was. A time before what is kept gets the oldest screen, one in
// the future the newest: time goes on while somebody drags the bar.
func (p *page) past(ctx context.Context, q pastParams) (any, error) {
	ask := func(at any) (any, error) {
		return p.forward(ctx, "session.frame", struct {
			named
			At any `json:"at"`
		}{q.named, at})
	}
	at := any(map[string]int{"ago_ms": 0})
	switch {
	case q.Sequence != nil:
		at = *q.Sequence
	case q.Time != nil:
		at = map[string]time.Time{"time": *q.Time}
	}
	f, err := ask(at)
	var refused *client.Error
	if errors.As(err, &refused) && refused.Reason == client.ErrMomentNotKept {
		var kept struct {
			From   uint64    `json:"kept_from"`
			FromAt time.Time `json:"kept_from_at"`
			Newest uint64    `json:"sequence"`
		}
		if json.Unmarshal(refused.Data, &kept) != nil || q.Time == nil {
			return nil, err
		}
		seq := kept.From
		if !q.Time.Before(kept.FromAt) {
			seq = kept.Newest
		}
		f, err = ask(seq)
	}
	return pastFrame{f, time.Now().UTC()}, err
}

// maxLines bounds the lines of one request for scrollback.
const maxLines = 1000

type scrollbackParams struct {
	named
	Start *int `json:"start,omitempty"`
	Count int  `json:"count"`
}

func (p *page) scrollback(ctx context.Context, q scrollbackParams) (any, error) {
	q.Count = min(max(q.Count, 1), maxLines)
	return p.forward(ctx, "session.scrollback", struct {
		scrollbackParams
		Form string `json:"form"`
	}{q, "runs"})
}

// maxFound bounds the matches of one search: more than anybody steps through.
const maxFound = 10_000

type searchParams struct {
	named
	Text string `json:"text"`
}

// search finds a text in the scrollback and on the screen. Capitals count only in a text that has
// some, as in the search of pagers and editors.
func (p *page) search(ctx context.Context, q searchParams) (any, error) {
	pattern := regexp.QuoteMeta(q.Text)
	if q.Text == strings.ToLower(q.Text) {
		pattern = "(?i)" + pattern
	}
	return p.forward(ctx, "session.search", struct {
		named
		Regex string `json:"regex"`
		Max   int    `json:"max"`
	}{q.named, pattern, maxFound})
}

type takeParams struct {
	named
	Force bool `json:"force"` // even if someone else holds it
}

// take acquires a session: from then on only this page may type.
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

// taken refuses requests that need an acquired session. The server refuses when another client
// holds it, this when nobody does.
func (p *page) taken(session string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.leased[session] {
		return &problem{"not_taken_over", "take the session over first"}
	}
	return nil
}

// typed are the actions that a page may send: those of a person's keyboard and mouse. Signals and
// kill are not.
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
		if err != nil { // show the folder's recordings nevertheless
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
	IdleMS int64  `json:"idle_ms"` // pauses are shortened to this; 0: unchanged
}

func (p *page) open(ctx context.Context, q openParams) (any, error) {
	return p.player.open(ctx, func() (*os.File, error) { return p.find(ctx, q.ID) }, q.IdleMS,
		p.server.Hide)
}

type atParams struct {
	AtMS  float64 `json:"at_ms"`
	Since uint64  `json:"since"` // sequence of the frame that the page has; 0: none
}

func (p *page) at(ctx context.Context, q atParams) (any, error) {
	return p.player.at(ctx, q, p.server.Hide)
}

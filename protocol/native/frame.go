package native

import (
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"strconv"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/protocol"
)

type frameParams struct {
	sessionParams
	readParams
	atParams
	Since     *uint64 `json:"since,omitempty" jsonschema:"the sequence of the frame that the client has; without it the whole screen is told at once"`
	TimeoutMS *int64  `json:"timeout_ms,omitempty" jsonschema:"how long to wait for something new; default 30000; then what there is, which is nothing"`
	Form      string  `json:"form,omitempty" jsonschema:"runs (default): styled text, or ansi: a string with SGR and OSC 8"`
	Moves     bool    `json:"moves,omitempty" jsonschema:"true: rows that have scrolled are not told again, moved says how far they did"`
}

// A frame is what has changed on a screen since the client's last one. It is for clients that show
// a session: a terminal, a page. Frames are not queued: a slow client gets the current screen.
type frame struct {
	*look
	client *client
	full   bool
	moved  int
	rows   []changedRow
	lease  *leaseInfo
}

// A changedRow is a row that has changed, encoded.
type changedRow struct {
	row  int
	text []byte
}

// shown is what one client has of a session: the screen, and a hash of each row as it was sent. A
// row that was drawn anew is compared with what was sent: most look as before.
type shown struct {
	sequence uint64
	form     string
	screen   *vt.Screen
	rows     []told
	at       time.Time
	lease    *engine.Lease
	exited   bool
	secret   bool
	known    <-chan struct{} // closed when more secrets are known than when the screen was sent
}

// A told is a row as it was sent.
type told struct {
	hash uint64
	link bool // it may have one: a secret in a link's address is not visible in its cells
}

// frameFloor is the least time between two frames of a session to one client: about the refresh
// rate of a screen, which bounds the work however fast a program draws.
const frameFloor = 15 * time.Millisecond

// news is a matcher of changes that a client has not been sent.
type news struct{ has *shown }

// Check matches when anything of a frame has changed.
func (m news) Check(v *engine.View) engine.Result {
	if v.Sequence == m.has.sequence && v.Lease == m.has.lease && (v.Exit != nil) == m.has.exited &&
		v.Secret == m.has.secret {
		select {
		case <-m.has.known:
		default:
			return engine.Result{}
		}
	}
	if rest := frameFloor - v.At.Sub(m.has.at); rest > 0 {
		return engine.Result{Recheck: rest}
	}
	return engine.Matched("news")
}

func (c *client) sessionFrame(ctx context.Context, p frameParams) (*frame, error) {
	form, err := word("form", p.Form, "runs")
	if err != nil {
		return nil, err
	}
	timeout, err := milliseconds("timeout_ms", p.TimeoutMS, engine.DefaultWait)
	if err != nil {
		return nil, err
	}
	s, err := c.session(p.sessionParams)
	if err != nil {
		return nil, err
	}
	if p.At != nil {
		if p.Since != nil {
			return nil, &protocol.ParamError{Expected: "since or at", Got: "both"}
		}
		return p.past(c, s, form)
	}
	c.mu.Lock()
	has := c.frames[s.ID()]
	c.mu.Unlock()
	known := c.Known.Changed()
	v := s.View()
	if has != nil && p.Since != nil && *p.Since == has.sequence && has.form == form {
		out, err := s.Wait(ctx, news{has}, engine.Within(timeout),
			engine.Parked(func() { protocol.Yield(ctx) }), engine.Also(has.known))
		if err != nil && !errors.Is(err, engine.ErrTimeout) && !errors.Is(err, engine.ErrEnded) {
			return nil, err
		}
		known = c.Known.Changed() // taken before the screen is searched for secrets
		v = out.View
	} else {
		has = nil
	}
	f := &frame{look: newLook(v, p.redactor(), "runs"), client: c}
	now := f.compare(has, form, p.Moves)
	now.known = known
	c.mu.Lock()
	c.tie(s)
	c.frames[s.ID()] = now
	c.mu.Unlock()
	f.lease = c.leaseOf(f.View)
	return f, nil
}

// past makes the whole frame of the moment that at names. What the client has of the session as it
// is stays as it was.
func (p *frameParams) past(c *client, s *engine.Session, form string) (*frame, error) {
	v, then, err := p.view(s)
	if err != nil {
		return nil, err
	}
	f := &frame{look: newLook(v, p.redactor(), "runs"), client: c}
	f.then = then
	f.compare(nil, form, false)
	return f, nil
}

// seed makes hashes unpredictable: a program could otherwise make two rows with the same hash and
// hide a change.
var seed = maphash.MakeSeed()

// firstLine returns the number of a screen's first row: that of its line in the scrollback once it
// has left.
func firstLine(s *vt.Screen) uint64 {
	h := s.History()
	return h.Dropped() + uint64(h.Len())
}

// blankRow is a row without text, encoded.
func blankRow(form string) string {
	if form == "ansi" {
		return `"ansi":""`
	}
	return `"runs":[]`
}

// compare finds the rows that the client does not have, and returns what it will have. With moves
// it takes into account that the client moves the rows that have scrolled.
func (f *frame) compare(has *shown, form string, moves bool) *shown {
	s := f.Screen()
	now := &shown{
		sequence: f.Raw.Sequence, form: form, screen: s, rows: make([]told, s.Rows), at: f.Raw.At,
		lease: f.Raw.Lease, exited: f.Raw.Exit != nil, secret: f.Raw.Secret,
	}
	f.full = has == nil || has.screen.Cols != s.Cols || has.screen.Rows != s.Rows
	if left := uint64(0); !f.full && moves && firstLine(s) > firstLine(has.screen) {
		if left = firstLine(s) - firstLine(has.screen); left < uint64(s.Rows) {
			f.moved = int(left)
		}
	}
	blank := told{hash: maphash.Bytes(seed, []byte(blankRow(form)))}
	for y := range s.Rows {
		was, from := blank, y+f.moved // what comes in from below is blank at the client
		if !f.full && from < s.Rows {
			was = has.rows[from]
			if !was.link && s.MovedRow(y, has.screen, from) {
				now.rows[y] = was
				continue
			}
		}
		var text []byte
		if form == "ansi" {
			text = appendString(nil, `"ansi":`, picture.ANSIRow(s, y, f.Clean))
		} else {
			text = f.appendRowRuns(nil, y)
		}
		now.rows[y] = told{maphash.Bytes(seed, text),
			bytes.Contains(text, []byte(`"link":"`)) || bytes.Contains(text, []byte(`]8;`))}
		if f.full || now.rows[y] != was {
			f.rows = append(f.rows, changedRow{y, text})
		}
	}
	return now
}

// AppendJSON writes the frame.
func (f *frame) AppendJSON(b []byte) []byte {
	s := f.Screen()
	b = append(b, `{"sequence":`...)
	b = strconv.AppendUint(b, f.Raw.Sequence, 10)
	b = appendBool(b, `,"full":`, f.full)
	b = append(b, `,"first_line":`...)
	b = strconv.AppendUint(b, firstLine(s), 10)
	if f.moved > 0 {
		b = appendInt(b, `,"moved":`, f.moved)
	}
	b = appendInt(b, `,"size":{"rows":`, s.Rows)
	b = appendInt(b, `,"cols":`, s.Cols)
	b = append(b, `},"rows":[`...)
	for i, r := range f.rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendInt(b, `{"row":`, r.row)
		b = append(append(append(b, ','), r.text...), '}')
	}
	b = appendInt(b, `],"cursor":{"row":`, s.Cursor.Row)
	b = appendInt(b, `,"col":`, s.Cursor.Col)
	b = appendBool(b, `,"visible":`, s.Cursor.Visible)
	b = appendInt(b, `,"style":`, int(s.Cursor.Style))
	m := s.Modes
	b = appendModes(append(b, `},"modes":{`...), m)
	b = appendBool(b, `,"focus_events":`, m.FocusEvents)
	b = appendBool(b, `,"reverse_video":`, m.ReverseVideo)
	b = appendString(b, `,"mouse":`, m.Mouse.String())
	b = appendBool(b, `,"alternate_scroll":`, m.AlternateScroll)
	b = appendInt(b, `,"kitty_keyboard":`, int(m.KittyKeyboard))
	b = appendInt(b, `,"modify_other_keys":`, int(m.ModifyOtherKeys))
	b = append(b, '}')
	b = f.appendTitle(b)
	b = append(b, `,"bell":`...)
	b = strconv.AppendUint(b, f.Raw.Bell, 10)
	b = appendAny(append(b, `,"lease":`...), f.lease)
	b = appendAny(append(b, `,"exit":`...), exitOf(f.Raw.Exit))
	return append(f.then.append(b), '}')
}

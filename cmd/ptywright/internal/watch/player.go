package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"sort"
	"time"

	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/redact"
)

const (
	// maxMarkers bounds how many of a cast's markers a page gets.
	maxMarkers = 1000
)

// A player is at some time of a cast, for one page. It draws screens on request. At first it has no
// cast.
type player struct {
	turn chan struct{} // one slot, held while a cast is loaded or played: a second request waits
	// protects the fields below
	rec    *record.Recording
	replay *record.Replay
	seq    uint64
	rows   [][]byte // as the page got them
	cols   int
}

func newPlayer() *player { return &player{turn: make(chan struct{}, 1)} }

// begin waits for the turn; the caller ends it. It fails when the page is gone, or has cancelled
// the request.
func (p *player) begin(ctx context.Context) (end func(), err error) {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	end = func() { <-p.turn }
	if ctx.Err() != nil {
		end()
		return nil, context.Cause(ctx)
	}
	return end, nil
}

// An opened describes a cast to a page.
type opened struct {
	DurationMS float64   `json:"duration_ms"`
	Rows       int       `json:"rows"`
	Cols       int       `json:"cols"`
	Title      string    `json:"title,omitempty"`
	Command    string    `json:"command,omitempty"`
	Started    time.Time `json:"started,omitzero"`
	IdleMS     float64   `json:"idle_ms,omitempty"` // from the cast
	Truncated  bool      `json:"truncated,omitempty"`
	Markers    []marker  `json:"markers,omitempty"`
	Events     []moment  `json:"events,omitempty"`
}

type marker struct {
	AtMS  float64 `json:"at_ms"`
	Label string  `json:"label"`
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// open loads a cast, replacing the current one. The file is found and opened only when it has the
// turn.
func (p *player) open(ctx context.Context, find func() (*os.File, error), idleMS int64,
	hide *redact.Redactor) (*opened, error) {
	end, err := p.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	f, err := find()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p.rec, p.replay, p.rows = nil, nil, nil
	rec, err := record.Load(while{ctx, f})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, picture.ErrTooLarge):
		return nil, &problem{"too_large", err.Error()}
	case err != nil:
		return nil, &problem{"not_a_recording", err.Error()}
	}
	o := &opened{
		Rows: rec.Rows, Cols: rec.Cols, Title: hide.String(rec.Title),
		Command: hide.String(rec.Command), Started: rec.Started,
		IdleMS: milliseconds(rec.IdleLimit), Truncated: rec.Truncated,
	}
	if idleMS > 0 {
		rec = rec.LimitIdle(time.Duration(min(idleMS, math.MaxInt32)) * time.Millisecond)
	}
	o.DurationMS = milliseconds(rec.Duration())
	for e := range rec.Events() {
		if e.Kind == record.EventMarker && len(o.Markers) < maxMarkers {
			o.Markers = append(o.Markers, marker{milliseconds(e.At), hide.String(e.Text)})
		}
	}
	o.Events = momentsOf(rec, hide)
	p.rec, p.replay = rec, record.NewReplay(rec)
	return o, nil
}

// while is a reader that fails once its context has ended.
type while struct {
	context.Context
	io.Reader
}

func (w while) Read(p []byte) (int, error) {
	if w.Err() != nil {
		return 0, context.Cause(w)
	}
	return w.Reader.Read(p)
}

// A still is a screen of a cast: a frame like the server's, and the time of the next event.
type still struct {
	Sequence uint64     `json:"sequence"`
	Full     bool       `json:"full"`
	Size     size       `json:"size"`
	Rows     []stillRow `json:"rows"`
	Cursor   cursor     `json:"cursor"`
	Modes    modes      `json:"modes"`
	Title    *string    `json:"title"`
	NextMS   *float64   `json:"next_ms"` // time of the next event; null: none
}

type size struct {
	Rows int `json:"rows"`
	Cols int `json:"cols"`
}

type stillRow struct {
	Row  int             `json:"row"`
	Runs json.RawMessage `json:"runs"`
}

type cursor struct {
	Row     int  `json:"row"`
	Col     int  `json:"col"`
	Visible bool `json:"visible"`
	Style   int  `json:"style"`
}

type modes struct {
	AlternateScreen bool   `json:"alternate_screen"`
	ReverseVideo    bool   `json:"reverse_video"`
	Mouse           string `json:"mouse"`
}

type run struct {
	Cluster bool   `json:"cluster,omitempty"`
	Col     int    `json:"col"`
	Cols    int    `json:"cols"`
	Text    string `json:"text"`
	Style   style  `json:"style"`
}

// style has the members of the wire's style, omitting defaults.
type style struct {
	Foreground     string `json:"foreground,omitempty"`
	Background     string `json:"background,omitempty"`
	Bold           bool   `json:"bold,omitempty"`
	Dim            bool   `json:"dim,omitempty"`
	Italic         bool   `json:"italic,omitempty"`
	Inverse        bool   `json:"inverse,omitempty"`
	Strike         bool   `json:"strike,omitempty"`
	Hidden         bool   `json:"hidden,omitempty"`
	Blink          bool   `json:"blink,omitempty"`
	Overline       bool   `json:"overline,omitempty"`
	UnderlineStyle string `json:"underline_style,omitempty"`
	UnderlineColor string `json:"underline_color,omitempty"`
	Link           string `json:"link,omitempty"`
}

func styleOf(s vt.Style, hide *redact.Redactor) style {
	color := func(c vt.Color) string {
		if c.IsDefault() {
			return ""
		}
		return c.String()
	}
	out := style{
		Foreground: color(s.Foreground), Background: color(s.Background), Bold: s.Bold, Dim: s.Dim,
		Italic: s.Italic, Inverse: s.Inverse, Strike: s.Strike, Hidden: s.Hidden, Blink: s.Blink,
		Overline: s.Overline, UnderlineColor: color(s.UnderlineColor),
	}
	if s.Underline != vt.UnderlineNone {
		out.UnderlineStyle = s.Underline.String()
	}
	if s.Link != "" {
		out.Link = hide.String(s.Link)
	}
	return out
}

// at draws the screen at a time, as changes from the one that the page has.
func (p *player) at(ctx context.Context, q atParams, hide *redact.Redactor) (*still, error) {
	end, err := p.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	if p.rec == nil {
		return nil, &problem{"not_a_recording", "no recording is open"}
	}
	if math.IsNaN(q.AtMS) || q.AtMS < 0 || q.AtMS > 1e12 {
		return nil, &problem{"bad_request", "a time is in milliseconds, from 0"}
	}
	at := time.Duration(q.AtMS * float64(time.Millisecond))
	if err := p.replay.SeekContext(ctx, at); err != nil {
		return nil, err
	}
	if err := p.replay.Err(); err != nil {
		if errors.Is(err, picture.ErrTooLarge) {
			return nil, &problem{"too_large", err.Error()}
		}
		return nil, err
	}
	s := record.Mask(p.replay.Screen(), hide)
	f := &still{
		Size: size{s.Rows, s.Cols}, Rows: []stillRow{},
		Cursor: cursor{s.Cursor.Row, s.Cursor.Col, s.Cursor.Visible, int(s.Cursor.Style)},
		Modes:  modes{s.Modes.AltScreen, s.Modes.ReverseVideo, "none"},
	}
	if s.TitleSet {
		title := hide.String(s.Title)
		f.Title = &title
	}
	f.Full = q.Since == 0 || q.Since != p.seq || p.cols != s.Cols || len(p.rows) != s.Rows
	now := make([][]byte, s.Rows)
	for y := range s.Rows {
		runs := []run{}
		s.EachStretch(y, func(r vt.Stretch) {
			runs = append(runs, run{r.Cluster, r.Col, r.Cols, r.Text, styleOf(r.Style, hide)})
		})
		text, err := json.Marshal(runs)
		if err != nil {
			return nil, err
		}
		if now[y] = text; f.Full || !bytes.Equal(text, p.rows[y]) {
			f.Rows = append(f.Rows, stillRow{y, text})
		}
	}
	p.seq++
	p.rows, p.cols, f.Sequence = now, s.Cols, p.seq
	if i := sort.Search(p.rec.Len(),
		func(i int) bool { return p.rec.Event(i).At > at }); i < p.rec.Len() {
		next := milliseconds(p.rec.Event(i).At)
		f.NextMS = &next
	}
	return f, nil
}

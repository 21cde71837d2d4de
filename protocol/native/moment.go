package native

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/protocol"
)

// A moment is a value of at: a sequence, or an instant.
type moment struct {
	sequence *uint64
	instant  *instantShape
}

// An instantShape is a time.
type instantShape struct {
	AgoMS *int64     `json:"ago_ms,omitempty" jsonschema:"so long before the request"`
	Time  *time.Time `json:"time,omitempty" jsonschema:"by the server's clock"`
}

// UnmarshalJSON reads a number, or an object with one of two members.
func (m *moment) UnmarshalJSON(b []byte) error {
	refuse := func() error {
		return &protocol.ParamError{
			Expected: `a sequence, {"ago_ms": n} or {"time": "2026-01-02T03:04:05Z"}`,
			Got:      protocol.Got(string(b))}
	}
	if b[0] != '{' {
		if json.Unmarshal(b, &m.sequence) != nil || m.sequence == nil {
			return refuse()
		}
		return nil
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(b, &members) != nil || len(members) != 1 {
		return refuse()
	}
	m.instant = new(instantShape)
	ago, at := members["ago_ms"], members["time"] // names count as they are written
	switch {
	case ago != nil && json.Unmarshal(ago, &m.instant.AgoMS) == nil && m.instant.AgoMS != nil:
		if _, err := integer("ago_ms", m.instant.AgoMS, 0); err != nil {
			return err
		}
	case at != nil && json.Unmarshal(at, &m.instant.Time) == nil && m.instant.Time != nil:
	default:
		return refuse()
	}
	return nil
}

// of returns the sequence that a session had then.
func (m *moment) of(s *engine.Session) (uint64, error) {
	if m.sequence != nil {
		return *m.sequence, nil
	}
	at := time.Now()
	if m.instant.Time != nil {
		at = *m.instant.Time
	} else {
		at = at.Add(-time.Duration(*m.instant.AgoMS) * time.Millisecond)
	}
	return s.SequenceAt(at)
}

// atParams say of which moment a read is.
type atParams struct {
	At *moment `json:"at,omitempty" jsonschema:"the screen as it was then, hidden by what is secret now; default: as it is"`
}

// view returns the view that was asked for, and what an answer says of its moment.
func (p *atParams) view(s *engine.Session) (*engine.View, *then, error) {
	if p.At == nil {
		return s.View(), nil, nil
	}
	seq, err := p.At.of(s)
	if err != nil {
		return nil, nil, err
	}
	v, err := s.At(seq)
	if err != nil {
		return nil, nil, err
	}
	t := &then{Sequence: v.Sequence, ShownAt: v.At.UTC()}
	t.KeptFrom, t.KeptFromAt = s.KeptFrom()
	t.KeptFromAt = t.KeptFromAt.UTC()
	return v, t, nil
}

// A then is what an answer says of the moment that at names.
type then struct {
	Sequence   uint64
	ShownAt    time.Time
	KeptFrom   uint64
	KeptFromAt time.Time
}

// append writes it, but for the sequence.
func (t *then) append(b []byte) []byte {
	if t == nil {
		return b
	}
	b = appendAny(append(b, `,"shown_at":`...), t.ShownAt)
	b = appendAny(append(b, `,"kept_from":`...), t.KeptFrom)
	return appendAny(append(b, `,"kept_from_at":`...), t.KeptFromAt)
}

// thenShape is a then in an answer.
type thenShape struct {
	ShownAt    *time.Time `json:"shown_at,omitempty" jsonschema:"with at: when the session came to its sequence"`
	KeptFrom   *uint64    `json:"kept_from,omitempty" jsonschema:"with at: the oldest sequence that can be shown"`
	KeptFromAt *time.Time `json:"kept_from_at,omitempty" jsonschema:"with at: when the session came to that"`
}

func (t *then) shape() thenShape {
	if t == nil {
		return thenShape{}
	}
	return thenShape{&t.ShownAt, &t.KeptFrom, &t.KeptFromAt}
}

// momentData is the data of an error about a moment that cannot be shown.
type momentData struct {
	KeptFrom   uint64     `json:"kept_from" jsonschema:"the oldest sequence that can be shown"`
	KeptFromAt *time.Time `json:"kept_from_at,omitempty" jsonschema:"when the session came to that, where a time was asked for"`
	Sequence   uint64     `json:"sequence" jsonschema:"the newest"`
}

// momentError says what is kept, and what to do.
func momentError(e *protocol.Error, err error) bool {
	var gone *engine.PastError
	var timed *engine.PastTimeError
	coming := false
	data := momentData{}
	switch {
	case errors.As(err, &gone):
		coming = gone.Sequence > gone.Newest
		data.KeptFrom, data.Sequence = gone.Kept, gone.Newest
	case errors.As(err, &timed):
		at := timed.KeptAt.UTC()
		coming = !timed.At.Before(timed.KeptAt)
		data = momentData{timed.Kept, &at, timed.Newest}
	default:
		return false
	}
	if coming {
		e.Message += ": session.wait waits for what comes"
	} else if timed == nil || !timed.Begun {
		e.Message += ": a larger transcript_max_chars or history_max_bytes of session.create keeps more"
	}
	e.Reason, e.Data = "moment_not_kept", data
	return true
}

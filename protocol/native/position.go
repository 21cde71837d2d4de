package native

import (
	"strings"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/protocol"
)

// A sincePosition is a value of since: a sequence, or the next of a wait's answer.
type sincePosition struct{ engine.Position }

// UnmarshalJSON reads a number or a string.
func (p *sincePosition) UnmarshalJSON(b []byte) error {
	text := string(b)
	if strings.HasPrefix(text, `"p`) {
		text = strings.Trim(text, `"`)
	}
	at, err := engine.ParsePosition(text)
	if err != nil {
		return &protocol.ParamError{Expected: "a sequence, or the next of a wait's answer",
			Got: protocol.Got(strings.Trim(text, `"`))}
	}
	p.Position = *at
	return nil
}

// of returns the position, for a session; nil when none was given.
func (p *sincePosition) of(s *engine.Session) (*engine.Position, error) {
	if p == nil {
		return nil, nil
	}
	if err := p.Check(s.ID()); err != nil {
		return nil, &paramError{path: "since", reason: "invalid_params", problem: err.Error()}
	}
	return &p.Position, nil
}

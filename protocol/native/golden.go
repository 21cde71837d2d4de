package native

import (
	"context"
	"errors"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/redact"
)

type goldenParams struct {
	sessionParams
	readParams
	atParams
	Masks    []string `json:"masks,omitempty" jsonschema:"what differs from run to run, as a file has it, such as: clock /[0-9:]+/ in row 1; they count beside those of previous, or in place of one of their name"`
	Region   string   `json:"region,omitempty" jsonschema:"only this rectangle: ROW,COLUMN ROWSxCOLUMNS, from 0; default that of previous, else all"`
	TextOnly bool     `json:"text_only,omitempty" jsonschema:"neither styles nor cursor, title and modes; with previous what that has is written"`
	Previous string   `json:"previous,omitempty" jsonschema:"the text of the file that the new one replaces: styles keep their letters, and what it leaves out is left out"`
}

type goldenResult struct {
	Screen   string `json:"screen" jsonschema:"the text of the file"`
	Sequence uint64 `json:"sequence" jsonschema:"of the screen"`
	Same     bool   `json:"same,omitzero" jsonschema:"previous says the same, maybe in other words"`
	thenShape
}

func (c *client) sessionGolden(_ context.Context, p goldenParams) (*goldenResult, error) {
	want := &golden.File{Parts: golden.All}
	if p.TextOnly {
		want.Parts = golden.Text
	}
	var err error
	if p.Previous != "" {
		if want, err = golden.Parse([]byte(p.Previous)); err != nil {
			return nil, &paramError{path: "previous", reason: "invalid_golden", problem: err.Error()}
		}
	}
	// Masks search the whole screen: their expressions are bounded as those of matchers.
	want, err = want.Amend(p.Masks, p.Region, func(pattern string) error {
		_, err := matchers.Compile(pattern)
		return err
	})
	if amend := (*golden.AmendError)(nil); errors.As(err, &amend) {
		path := amend.Path
		if path == "screen" {
			path = "previous"
		}
		return nil, &paramError{path: path, reason: "invalid_golden", problem: amend.Err.Error()}
	}
	s, err := c.session(p.sessionParams)
	if err != nil {
		return nil, err
	}
	v, then, err := p.view(s)
	if err != nil {
		return nil, err
	}
	f, err := want.Like(shownBy(p.redactor(), nil)(v))
	if err != nil {
		return nil, &paramError{path: goldenPath(err), reason: "golden_refused", problem: err.Error()}
	}
	return &goldenResult{Screen: f.String(), Sequence: v.Sequence,
		Same: p.Previous != "" && want.Equal(f), thenShape: then.shape()}, nil
}

// goldenPath is the parameter that could be otherwise when a screen cannot be written down.
func goldenPath(err error) string {
	switch {
	case errors.As(err, new(*golden.RegionError)):
		return "region"
	case errors.As(err, new(*golden.StylesError)):
		return "text_only"
	}
	return "masks"
}

// shownBy returns the function that hides what a request may not see; plugins may be nil.
func shownBy(hide *redact.Redactor, asking *asking) func(*engine.View) *vt.Screen {
	return func(v *engine.View) *vt.Screen {
		l := newLook(v, hide, "none")
		if asking != nil {
			l.Secrets = asking.secrets()
		}
		return l.Screen()
	}
}

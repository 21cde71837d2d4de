package native

import (
	"context"
	"time"

	"github.com/ptywright/ptywright/engine"
)

type blocksParams struct {
	sessionParams
	readParams
	Since      uint64 `json:"since,omitempty" jsonschema:"only blocks with a greater number"`
	Max        *int64 `json:"max,omitempty" jsonschema:"the newest so many; default 50"`
	Raw        bool   `json:"raw,omitempty" jsonschema:"true leaves escape sequences in output"`
	ScreenText bool   `json:"screen_text,omitempty" jsonschema:"true adds screen_text to each block"`
}

type blocksResult struct {
	Blocks      []blockShape       `json:"blocks"`
	Integration engine.Integration `json:"integration" jsonschema:"osc133, osc633, or none: then the program marks no commands, and none are guessed"`
	Truncated   bool               `json:"truncated" jsonschema:"there are more than max"`
}

type blockShape struct {
	Number    uint64 `json:"number"`
	Command   string `json:"command"`
	Output    string `json:"output" jsonschema:"exactly what the command wrote, without escape sequences"`
	Truncated bool   `json:"truncated" jsonschema:"the beginning of output is left out: it is the last 256 KiB"`
	Whole     bool   `json:"whole" jsonschema:"output is all of it"`
	// ScreenText is set on request only.
	ScreenText      *string    `json:"screen_text,omitempty" jsonschema:"text as it stood on the screen, lines joined that were wrapped"`
	ScreenTruncated *bool      `json:"screen_truncated,omitempty" jsonschema:"the beginning of screen_text is left out"`
	Cwd             *string    `json:"cwd"`
	Started         time.Time  `json:"started"`
	Ended           *time.Time `json:"ended" jsonschema:"null while it runs"`
	ExitCode        *int       `json:"exit_code" jsonschema:"null when the shell did not tell"`
	Line            uint64     `json:"line" jsonschema:"the first line of its output, from the first line ever"`
}

// defaultBlocks is how many commands are shown without a count: a screenful.
const defaultBlocks = 50

func (c *client) sessionBlocks(_ context.Context, p blocksParams) (blocksResult, error) {
	most, err := count("max", p.Max, defaultBlocks)
	if err != nil {
		return blocksResult{}, err
	}
	s, err := c.session(p.sessionParams)
	if err != nil {
		return blocksResult{}, err
	}
	all, how := s.Blocks(p.Since)
	r := blocksResult{Blocks: []blockShape{}, Integration: how, Truncated: len(all) > most}
	l := newLook(s.View(), p.redactor(), "none")
	for _, b := range all[max(0, len(all)-most):] {
		w := blockShape{
			Number: b.Number, Command: l.Piece(b.Command), Output: l.Printed(&b, p.Raw),
			Truncated: !b.Whole, Whole: b.Whole, Started: b.Started.UTC(), Line: b.Line,
		}
		if p.ScreenText {
			text, cut := l.PrintedOnScreen(&b), !b.ScreenWhole
			w.ScreenText, w.ScreenTruncated = &text, &cut
		}
		if b.Dir != "" {
			dir := l.Piece(b.Dir)
			w.Cwd = &dir
		}
		if !b.Ended.IsZero() {
			ended := b.Ended.UTC()
			w.Ended = &ended
		}
		if b.Exited {
			w.ExitCode = &b.ExitCode
		}
		r.Blocks = append(r.Blocks, w)
	}
	return r, nil
}

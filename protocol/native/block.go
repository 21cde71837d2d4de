package native

import (
	"context"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/reading"
)

type blocksParams struct {
	sessionParams
	readParams
	Since uint64 `json:"since,omitempty" jsonschema:"only blocks with a greater number"`
	Max   *int64 `json:"max,omitempty" jsonschema:"the newest so many; default 50"`
}

type blocksResult struct {
	Blocks      []blockShape       `json:"blocks"`
	Integration engine.Integration `json:"integration" jsonschema:"osc133, osc633, or none: then the program marks no commands, and none are guessed"`
	Truncated   bool               `json:"truncated" jsonschema:"there are more than max"`
}

type blockShape struct {
	Number   uint64     `json:"number"`
	Command  string     `json:"command"`
	Output   string     `json:"output"`
	Whole    bool       `json:"whole" jsonschema:"output is all of it"`
	Cwd      *string    `json:"cwd"`
	Started  time.Time  `json:"started"`
	Ended    *time.Time `json:"ended" jsonschema:"null while it runs"`
	ExitCode *int       `json:"exit_code" jsonschema:"null when the shell did not tell"`
	Line     uint64     `json:"line" jsonschema:"the first line of its output, from the first line ever"`
}

// defaultBlocks is how many commands are shown that nobody counted: a screenful.
const defaultBlocks = 50

func (c *client) sessionBlocks(_ context.Context, p blocksParams) (blocksResult, error) {
	hide, err := c.redactor(&p.readParams)
	if err != nil {
		return blocksResult{}, err
	}
	most, err := count("max", p.Max, defaultBlocks, 0, maxMatches)
	if err != nil {
		return blocksResult{}, err
	}
	s, err := c.session(p.sessionParams)
	if err != nil {
		return blocksResult{}, err
	}
	all, how := s.Blocks(p.Since)
	r := blocksResult{Blocks: []blockShape{}, Integration: how, Truncated: len(all) > most}
	l := newLook(s.View(), hide, "none")
	for _, b := range all[max(0, len(all)-most):] {
		output := b.Output
		if !b.Whole && hide != nil {
			output = reading.HideHead(output)
		}
		w := blockShape{
			Number: b.Number, Command: l.Piece(b.Command), Output: l.Piece(output), Whole: b.Whole, Started: b.Started.UTC(), Line: b.Line,
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

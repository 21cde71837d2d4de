package plugin

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/plugins"
)

// A stop is a time in a case at which the rehearsal is asked something.
type stop struct {
	at  time.Duration
	ask func(r *plugins.Rehearsal) error
}

// atEnd is the time of a stop that comes last.
const atEnd = time.Duration(math.MaxInt64 - 1)

// play plays a case to the plugin. It calls seen, which may be nil, for each look; the stops are in
// order of time.
func (f *Folder) play(ctx context.Context, c *Case,
	seen func(at time.Duration, s *plugins.State, v *engine.View), stops ...stop) error {
	rows, cols := c.size()
	r, err := plugins.Rehearse(ctx, f.Source, rows, cols, f.Log, seen)
	if err != nil {
		return err
	}
	ask := func(before time.Duration) error {
		for len(stops) > 0 && stops[0].at < before {
			if stops[0].at != atEnd {
				r.Advance(ctx, stops[0].at)
			}
			if err := stops[0].ask(r); err != nil {
				return err
			}
			stops = stops[1:]
		}
		return ctx.Err()
	}
	end := time.Duration(0)
	for e := range c.events() {
		if err := ask(e.At); err != nil {
			return err
		}
		end = e.At
		switch e.Kind {
		case record.EventOutput:
			r.Output(ctx, e.At, []byte(e.Text))
		case record.EventResize:
			r.Resize(ctx, e.At, e.Rows, e.Cols)
		case record.EventExit:
			r.Exit(ctx, e.At, e.Exit)
		}
	}
	if err := ask(end + settle); err != nil {
		return err
	}
	r.Advance(ctx, end+settle)
	return ask(math.MaxInt64)
}

// size is the initial size of the case's screen.
func (c *Case) size() (rows, cols int) {
	switch {
	case c.rec != nil:
		return c.rec.Rows, c.rec.Cols
	case c.golden != nil:
		return c.golden.Height, c.golden.Width
	}
	rows, cols = 24, 80
	lines := strings.Split(strings.TrimSuffix(c.screen, "\n"), "\n")
	rows = max(rows, len(lines))
	for _, l := range lines {
		cols = max(cols, len([]rune(l)))
	}
	if c.Expected != nil && c.Expected.Given != nil {
		if g := c.Expected.Given; g.Rows > 0 {
			rows = g.Rows
		}
		if g := c.Expected.Given; g.Cols > 0 {
			cols = g.Cols
		}
	}
	return min(rows, engine.MaxSide), min(cols, engine.MaxSide)
}

// events are the events of a case, in order.
func (c *Case) events() func(yield func(record.Event) bool) {
	if c.rec != nil {
		return c.rec.Events()
	}
	return func(yield func(record.Event) bool) {
		var g Given
		if c.Expected != nil && c.Expected.Given != nil {
			g = *c.Expected.Given
		}
		if !yield(record.Event{Kind: record.EventOutput, Text: c.drawn(g.Title)}) ||
			g.ExitCode == nil {
			return
		}
		yield(record.Event{Kind: record.EventExit, Exit: *g.ExitCode})
	}
}

// drawn is the output that draws the text on the screen, with the cursor where the text has its
// mark.
func (c *Case) drawn(title string) string {
	if c.golden != nil {
		return c.golden.Output()
	}
	var b strings.Builder
	if title != "" {
		fmt.Fprintf(&b, "\x1b]2;%s\x07", cli.OneLine(title))
	}
	marked := false
	for i, line := range strings.Split(strings.TrimRight(c.screen, "\n"), "\n") {
		before, after, ok := strings.Cut(line, cursorMark)
		fmt.Fprintf(&b, "\x1b[%d;1H%s", i+1, strings.Map(printable, before))
		if ok {
			marked = true
			b.WriteString("\x1b7") // save the cursor
			if after != "" {
				b.WriteString(" " + strings.Map(printable, after))
			}
		}
	}
	if marked {
		b.WriteString("\x1b8")
	}
	return b.String()
}

// printable keeps characters that a screen can show.
func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return ' '
	}
	return r
}

package recordings

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/progress"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/protocol/client"
)

// pastOf reads what is kept of a session's past, as a recording of its screens: at most rate of them a
// second. It asks the server for one after the other; secrets are hidden there.
func pastOf(ctx context.Context, std cli.Stdio, f *remote.Flags, id string,
	rate float64) (*record.Recording, error) {
	s, err := f.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	session, show := s.Session(id), f.Show()
	at := func(m client.Moment) (*client.Frame, error) {
		return session.Frame(ctx, client.FrameOptions{At: m, Redact: show.Redact})
	}
	now, err := at(client.Ago(0))
	if err != nil {
		return nil, err
	}
	c := pastCast{began: now.KeptFromAt, size: now.Size}
	bar := progress.New(std.Err, int(now.ShownAt.Sub(c.began).Seconds()), "read "+id)
	defer bar.Done()
	step := time.Duration(float64(time.Second) / rate)
	for seq := now.KeptFrom; seq <= now.Sequence; {
		frame, err := at(client.At(seq))
		if errors.Is(err, client.ErrMomentNotKept) && frame == nil { // it was dropped meanwhile
			if now, err = at(client.Ago(0)); err != nil {
				return nil, err
			}
			if now.KeptFrom <= seq {
				return nil, fmt.Errorf("%s: the past changes faster than it is read", id)
			}
			seq = now.KeptFrom
			continue
		}
		if err != nil {
			return nil, err
		}
		c.add(frame)
		bar.Set(int(frame.ShownAt.Sub(c.began).Seconds()))
		// The next one is shown a step later, or when something changes, if that is later.
		next := seq + 1
		if next <= now.Sequence {
			then, err := at(client.AtTime(frame.ShownAt.Add(step)))
			if err != nil && !errors.Is(err, client.ErrMomentNotKept) {
				return nil, err
			}
			if err == nil {
				next = max(next, then.Sequence)
			}
		}
		seq = next
	}
	return record.Load(&c.text)
}

// A pastCast writes screens as an asciicast.
type pastCast struct {
	text  bytes.Buffer
	began time.Time
	size  client.Size
	begun bool
}

// add writes a frame: the rows are drawn anew, within one event.
func (c *pastCast) add(f *client.Frame) {
	line := func(v any) {
		b, _ := json.Marshal(v) // strings and numbers only
		c.text.Write(append(b, '\n'))
	}
	at := max(f.ShownAt.Sub(c.began).Seconds(), 0)
	if !c.begun {
		c.begun, c.size = true, f.Size
		head := map[string]any{"version": 2, "width": f.Size.Cols, "height": f.Size.Rows}
		if f.Title != nil {
			head["title"] = *f.Title
		}
		line(head)
	}
	if f.Size != c.size {
		c.size = f.Size
		line([]any{at, "r", fmt.Sprintf("%dx%d", f.Size.Cols, f.Size.Rows)})
	}
	var b bytes.Buffer
	b.WriteString("\x1b[?25l\x1b[?7l\x1b[H\x1b[2J")
	if f.Title != nil {
		fmt.Fprintf(&b, "\x1b]2;%s\x1b\\", *f.Title)
	}
	if f.Modes.ReverseVideo {
		b.WriteString("\x1b[?5h")
	} else {
		b.WriteString("\x1b[?5l")
	}
	for _, r := range f.Rows {
		fmt.Fprintf(&b, "\x1b[%dH%s", r.Row+1, r.ANSI)
	}
	fmt.Fprintf(&b, "\x1b[%d;%dH", f.Cursor.Row+1, f.Cursor.Col+1)
	if f.Cursor.Style != 0 {
		fmt.Fprintf(&b, "\x1b[%d q", f.Cursor.Style)
	}
	if f.Cursor.Visible {
		b.WriteString("\x1b[?25h")
	}
	line([]any{at, "o", b.String()})
}

package tapecmd

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/tuitest/tape"
)

// defaultOutput is where the film goes when nothing names a file, as with VHS.
const defaultOutput = "out.gif"

// formatOf returns what an output is, by the end of its name.
func formatOf(path string) (string, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".gif", ".svg", ".webp", ".png", ".cast", ".txt":
		return ext[1:], nil
	case ".ascii", ".test":
		return "txt", nil
	case ".mp4", ".webm":
		name := strings.TrimSuffix(path, filepath.Ext(path))
		return "", fmt.Errorf("ptywright draws no %s: write %s.gif, .webp or .svg, "+
			"or %s.cast and convert that", ext[1:], name, name)
	case "":
		if strings.HasSuffix(path, "/") {
			return "", fmt.Errorf("%s is a folder for frames, which ptywright does not draw: "+
				"write x.gif, and x.png for the last frame", pty.QuotePath(path))
		}
	}
	return "", fmt.Errorf("%s does not end in .gif, .svg, .webp, .png, .cast, .txt or .ascii, "+
		"so it does not say what to draw", pty.QuotePath(path))
}

// An output is a file that a tape makes.
type output struct{ path, format string }

// outputs are those of a tape; given take their place. What they and the tape's screenshots write is
// added to targets.
func outputs(t *tape.Tape, given []string, files *targets) (all []output, err error) {
	for _, path := range given {
		format, err := formatOf(path)
		if err != nil {
			return nil, cli.Usagef("-o %w", err)
		}
		if err := files.add(path, nil); err != nil {
			return nil, cli.Usagef("-o: %w", err)
		}
		all = append(all, output{path, format})
	}
	var bad tape.ErrorList
	for i := range t.Commands {
		c := &t.Commands[i]
		var err error
		switch {
		case c.Kind == tape.Output && given == nil:
			var format string
			if format, err = formatOf(c.Text); err != nil {
				err = fmt.Errorf("%w; -o FILE takes the place of the tape's Outputs", err)
			} else if err = files.add(c.Text, c); err == nil {
				all = append(all, output{c.Text, format})
			}
		case c.Kind == tape.Screenshot:
			if _, err = picture.FormatFor("", c.Text); err != nil {
				err = fmt.Errorf("Screenshot %s %w", pty.QuotePath(c.Text), err)
			} else {
				err = files.add(c.Text, c)
			}
		}
		if err != nil {
			bad.Add(errorAt(c, err))
		}
	}
	if err := bad.Err(); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		all = []output{{defaultOutput, "gif"}}
		if err := files.add(defaultOutput, nil); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// errNothing: all of a tape is hidden.
var errNothing = errors.New("the tape shows nothing, all of it is behind Hide: " +
	"write Show before what is to be seen")

// draw makes the data of an output of a film, which is an asciicast, too.
func (l *look) draw(f *film, cast []byte, rec *record.Recording, o output) ([]byte, error) {
	switch o.format {
	case "cast":
		return cast, nil
	case "txt":
		text, err := f.texts(l.hide)
		return []byte(text), err
	case "png":
		s, err := rec.At(rec.Duration())
		if err != nil {
			return nil, err
		}
		return picture.PNG(record.Mask(s, l.hide), l.options)
	}
	frames, err := rec.Frames(record.FrameOptions{Rate: l.rate, Hide: l.hide})
	if err != nil {
		return nil, err
	}
	all := frames.All()
	if l.blinks {
		all = blinking(all)
	}
	if l.loop > 0 {
		all = looped(all, l.loop)
	}
	options := picture.AnimateOptions{Options: l.options, Progress: l.drawn}
	options.Rows, options.Cols = frames.Size()
	var b bytes.Buffer
	err = picture.Animate(&b, o.format, func(yield func(time.Duration, *vt.Screen) bool) {
		for long, s := range all {
			if !l.goesOn() || !yield(long, s) {
				return
			}
		}
	}, options)
	if err == nil {
		err = frames.Err()
	}
	return b.Bytes(), err
}

// shots draws the screenshots of a tape.
func (l *look) shots(f *film, write func(path string, data []byte) error) error {
	var failed error
	err := f.moments(func(m moment) bool {
		if m.piece == nil || m.piece.Shot == "" {
			return true
		}
		var format string
		var data []byte
		if format, failed = picture.FormatFor("", m.piece.Shot); failed == nil {
			data, failed = picture.Draw(record.Mask(m.screen(), l.hide), format, l.options)
		}
		if failed == nil {
			failed = write(m.piece.Shot, data)
		}
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	return err
}

// Package recordings holds the commands that show what was recorded: play, cast2text, when, animate and shot,
// which draws sessions and programs, too. [Commands] makes them.
package recordings

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/ending"
	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/redact"
)

// Commands are play, cast2text, when, animate and shot.
func Commands(std cli.Stdio) []*cobra.Command {
	return []*cobra.Command{playCommand(std), cast2textCommand(std), whenCommand(std),
		animateCommand(std), shotCommand(std)}
}

// loadCast reads a recording from a file, or from standard input if its name is "-".
func loadCast(std cli.Stdio, path string) (*record.Recording, error) {
	in := io.Reader(std.In)
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	rec, err := record.Load(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return rec, nil
}

// within refuses a time beyond the end of a recording.
func within(rec *record.Recording, path, flag string, at time.Duration) error {
	if length := rec.Duration(); at > length {
		return cli.Usagef("--%s is %v: %s ends at %v", flag, at, pty.QuotePath(path), length)
	}
	return nil
}

func playCommand(std cli.Stdio) *cobra.Command {
	var speed float64
	var idle, from time.Duration
	c := &cobra.Command{
		Use:   "play [flags] FILE",
		Short: "Play a recording on this terminal",
		Long: `Play an asciicast (v1, v2 or v3) on this terminal; Ctrl-C stops it. FILE may be - for standard
input. A recording cut off mid-line is played up to there. Only drawing is played: clipboard access,
notifications, images, printing, terminal queries and input modes are left out.`,
		Example: `  ptywright play --speed 2 --idle-limit 1s demo.cast`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if speed <= 0 || speed > 1000 {
				return cli.Usagef("--speed is %v: give more than 0, at most 1000", speed)
			}
			rec, err := loadCast(std, args[0])
			if err != nil {
				return err
			}
			if idle > 0 {
				rec = rec.LimitIdle(idle)
			}
			if err := within(rec, args[0], "start-at", from); err != nil {
				return err
			}
			told := make(chan os.Signal, 1)
			ending.Notify(told)
			defer signal.Stop(told)
			return play(told, std.Out, rec, speed, from)
		},
	}
	c.Flags().Float64Var(&speed, "speed", 1, "playback speed; 2 is twice as fast")
	c.Flags().DurationVar(&idle, "idle-limit", 0,
		"shorten longer pauses to this (default: as the recording says)")
	c.Flags().Var((*moment)(&from), "start-at",
		"start at this time of the recording: 2.5 (seconds) or 1m30s")
	return c
}

// play writes a recording in its own time, until a signal arrives, and then resets its modes,
// however it ends.
func play(told <-chan os.Signal, w io.Writer, rec *record.Recording, speed float64,
	from time.Duration) (err error) {
	var f playFilter
	defer func() {
		if _, werr := io.WriteString(w, f.end()); err == nil {
			err = werr
		}
	}()
	if from > 0 {
		for e := range rec.Events() { // the filter has to track the state
			if e.Kind == record.EventOutput && e.At <= from {
				f.play(e.Text)
			}
		}
		s, err := rec.At(from)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w,
			"\x1bc"+new(playFilter).play(picture.Restore(s, nil))); err != nil {
			return err
		}
	}
	began := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for e := range rec.Events() {
		if e.Kind != record.EventOutput || e.At <= from && from > 0 {
			continue
		}
		due := time.Duration(float64(e.At-from) / speed)
		if wait := due - time.Since(began); wait > 0 {
			timer.Reset(wait)
			select {
			case <-timer.C:
			case s := <-told:
				return cli.ExitCode(ending.Code(s))
			}
		}
		if _, err := io.WriteString(w, f.play(e.Text)); err != nil {
			return err
		}
	}
	return nil
}

func cast2textCommand(std cli.Stdio) *cobra.Command {
	return &cobra.Command{
		Use:   "cast2text FILE",
		Short: "Print the text of a recording",
		Long: `Print the scrollback and the last screen of an asciicast as plain text, with secrets hidden.
FILE may be - for standard input.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			rec, err := loadCast(std, args[0])
			if err != nil {
				return err
			}
			text, err := rec.Text()
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			_, err = io.WriteString(std.Out, redact.Default.String(text))
			return err
		},
	}
}

// A moment is a flag for a time in a recording: seconds, or a Go duration.
type moment time.Duration

// String is the flag's value.
func (m *moment) String() string {
	if *m == 0 {
		return ""
	}
	return time.Duration(*m).String()
}

// Type names the flag's type.
func (m *moment) Type() string { return "time" }

// Set accepts 2.5 as well as 2.5s.
func (m *moment) Set(s string) error {
	d, err := time.ParseDuration(s)
	if n, notNumber := strconv.ParseFloat(s, 64); notNumber == nil &&
		math.Abs(n) < math.MaxInt64/float64(time.Second) {
		d, err = time.Duration(math.Round(n*float64(time.Second))), nil
	}
	if err != nil || d < 0 {
		return errors.New("give seconds, such as 2.5, or a time such as 1m30s")
	}
	*m = moment(d)
	return nil
}

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
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/ending"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/progress"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/engine/vt"
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
	bar := (*progress.Bar)(nil)
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil {
			bar = progress.New(std.Err, mib(info.Size()), "read "+filepath.Base(path)+" (MiB)")
		}
		in = &counted{Reader: f, bar: bar}
	}
	defer bar.Done()
	rec, err := record.Load(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return rec, nil
}

// mib is a size in MiB, at least 1.
func mib(bytes int64) int { return int(max(bytes>>20, 1)) }

// counted tells a bar how much was read.
type counted struct {
	io.Reader
	bar  *progress.Bar
	read int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += int64(n)
	c.bar.Set(int(c.read >> 20))
	return n, err
}

// screenAt is the screen of a recording at a time, with a bar when it takes long to get there.
func screenAt(std cli.Stdio, rec *record.Recording, at time.Duration) (*vt.Screen, error) {
	bar := progress.New(std.Err, percent, "replay (%)")
	defer bar.Done()
	p := record.NewReplay(rec)
	for i := range percent {
		p.Seek(at / percent * time.Duration(i))
		bar.Set(i)
	}
	p.Seek(at)
	if err := p.Err(); err != nil {
		return nil, err
	}
	return p.Screen(), nil
}

// percent is in how many parts a replay is counted.
const percent = 100

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
		Long: `Play an asciicast (v1, v2 or v3) on this terminal. FILE may be - for standard input; there are no
keys then.

  space            pause, go on
  left, right      5 seconds back or forward; with Shift a tenth of all
  0 to 9           go to 0 % to 90 %
  . and ,          while it is paused: the next or the previous output
  [ and ]          the previous or the next marker
  < and >          half or twice the speed
  ?                pause, and show these keys
  q, Ctrl-C        leave

A recording cut off mid-line is played up to there. Only drawing is played: clipboard access,
notifications, images, printing, terminal queries and input modes are left out.`,
		Example: `  ptywright play --speed 2 --idle-limit 1s demo.cast`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if speed <= 0 || speed > fastest {
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
			p := &player{w: std.Out, rec: rec, speed: speed}
			var keys <-chan string
			if args[0] != "-" {
				done := make(chan struct{})
				defer close(done)
				pressed, room, restore, err := keysFrom(std, done)
				if err != nil {
					return err
				}
				defer restore()
				keys, p.room = pressed, room
			}
			return p.play(told, keys, from)
		},
	}
	c.Flags().Float64Var(&speed, "speed", 1, "playback speed; 2 is twice as fast")
	c.Flags().DurationVar(&idle, "idle-limit", 0,
		"shorten longer pauses to this (default: as the recording says)")
	c.Flags().Var((*moment)(&from), "start-at",
		"start at this time of the recording: 2.5 (seconds) or 1m30s")
	return c
}

// keysFrom makes the terminal that a person plays on send its keys. room is its size, nil when there
// is no such terminal; restore takes both back.
func keysFrom(std cli.Stdio, done <-chan struct{}) (keys <-chan string,
	room func() (rows, cols int), restore func(), err error) {
	in := int(std.In.Fd())
	if !term.IsTerminal(in) || !cli.TerminalOf(std.Out).Moves {
		return nil, nil, func() {}, nil
	}
	was, err := term.GetState(in)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("read the terminal's mode: %w", err)
	}
	if err := cli.KeyMode(std.In); err != nil {
		return nil, nil, nil, err
	}
	room = func() (rows, cols int) {
		size := std.WindowSize(pty.Size{})
		return int(size.Rows), int(size.Cols)
	}
	return readKeys(std.In, done), room, func() { _ = term.Restore(in, was) }, nil
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

package recordings

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/progress"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/redact"
)

func animateCommand(std cli.Stdio) *cobra.Command {
	var output, named, session string
	var speed, rate float64
	var idle, hold time.Duration
	var from, to moment
	var once bool
	most := byteSize(picture.AnimationMax)
	var look looks
	f := new(remote.Flags)
	c := &cobra.Command{
		Use:   "animate [flags] (FILE | --session ID)",
		Short: "Draw a recording as a moving picture",
		Long: `Draw an asciicast, or what is kept of a session's past, as a moving picture. The extension of the
output's name selects the format: .svg (sharp at any size, one file that plays in a browser and in a
README), .gif or .webp. An existing picture is replaced. FILE may be - for standard input. Secrets are
hidden in every frame.`,
		Example: `  ptywright animate -o demo.svg demo.cast
  ptywright animate -o demo.gif --speed 2 --idle-limit 1s --frame window demo.cast
  ptywright animate -o s1.svg --session s1`,
		RunE: func(c *cobra.Command, args []string) error {
			o, _, err := look.options(c)
			if err != nil {
				return err
			}
			switch {
			case !(speed > 0 && speed <= 1000):
				return cli.Usagef("--speed is %v: give more than 0, at most 1000", speed)
			case !(rate > 0 && rate <= 50):
				return cli.Usagef("--fps is %v: give more than 0, at most 50", rate)
			case hold < 0 || idle < 0:
				return cli.Usagef("--hold and --idle-limit take no negative time")
			case to > 0 && to <= from:
				return cli.Usagef("--to is %v: give a time after --from, which is %v",
					time.Duration(to), time.Duration(from))
			case (session == "") == (len(args) == 0) || len(args) > 1:
				return cli.Usagef("give one recording, or --session ID")
			}
			format, err := animationFormat(named, output)
			if err != nil {
				return cli.Usagef("%w", err)
			}
			var rec *record.Recording
			name := session
			if session != "" {
				err = f.Exit(c.Context(), func() (err error) {
					rec, err = pastOf(c.Context(), std, f, session, rate/speed)
					return err
				}())
			} else {
				name = args[0]
				rec, err = loadCast(std, name)
			}
			if err != nil {
				return err
			}
			if idle > 0 {
				rec = rec.LimitIdle(idle)
			}
			if err := within(rec, name, "from", time.Duration(from)); err != nil {
				return err
			}
			lacking := new(picture.Lacking)
			o.Missing, o.Title = lacking.Add, cmp.Or(o.Title, rec.Title)
			opts := picture.AnimateOptions{Options: o, MaxBytes: int(most), Once: once}
			data, err := animate(std, rec, format, record.FrameOptions{From: time.Duration(from),
				To: time.Duration(to), Speed: speed, Rate: rate, Hold: hold}, opts, f.Bare)
			if long := (*picture.LongError)(nil); errors.As(err, &long) {
				return fmt.Errorf("%s: the animation is larger than %s after %v: choose a part with --from and --to, or give --idle-limit, a higher --speed, a lower --fps, a smaller --font-size, or a larger --max-size",
					pty.QuotePath(name), &most, long.At.Round(100*time.Millisecond))
			}
			if err != nil {
				return fmt.Errorf("%s: %w", pty.QuotePath(name), err)
			}
			tellLacking(std, lacking)
			return writePicture(std, output, data, f.Bare)
		},
	}
	flags := c.Flags()
	flags.StringVarP(&output, "output", "o", "",
		"`FILE` to write: .svg, .gif or .webp; - is standard output (required)")
	flags.StringVar(&named, "format", "", "svg, gif or webp (default: by the output's name)")
	flags.Float64Var(&speed, "speed", 1, "playback speed; 2 is twice as fast")
	flags.DurationVar(&idle, "idle-limit", 0,
		"shorten longer pauses to this (default: as the recording says)")
	flags.Var(&from, "from", "begin at this time of the recording: 2.5 (seconds) or 1m30s")
	flags.Var(&to, "to", "end at this time (default: the recording's end)")
	flags.DurationVar(&hold, "hold", 2*time.Second, "show the last screen this long")
	flags.Float64Var(&rate, "fps", record.FrameRate, "frames a second at most, up to 50")
	flags.BoolVar(&once, "once", false, "play once instead of again and again")
	flags.Var(&most, "max-size", "fail when the picture is larger: bytes, or 500KB, 2MB")
	look.flags(c)
	flags.BoolVar(&f.Bare, "raw", false, "do not hide secrets")
	flags.StringVar(&session, "session", "", "draw the past of the session `ID` of a server")
	f.SocketFlag(c)
	c.Annotations = map[string]string{cli.ExitsNote: "45"}
	_ = c.MarkFlagRequired("output") // the flag exists
	_ = c.RegisterFlagCompletionFunc("session", remote.SessionIDs(0))
	return c
}

// animate draws a recording, with a progress bar.
func animate(std cli.Stdio, rec *record.Recording, format string, of record.FrameOptions,
	o picture.AnimateOptions, bare bool) ([]byte, error) {
	if !bare {
		known := new(redact.Known)
		known.AddEnv(os.Environ())
		of.Hide = redact.Default.With(known)
	}
	frames, err := rec.Frames(of)
	if err != nil {
		return nil, err
	}
	bar := progress.New(std.Err, int(frames.Duration().Seconds()), "draw")
	defer bar.Done()
	o.Progress = func(at time.Duration) { bar.Set(int(at.Seconds())) }
	var b bytes.Buffer
	err = frames.Animate(&b, format, o)
	return b.Bytes(), err
}

// animationFormat returns the format of an animation: as named, or else from the output's name.
func animationFormat(named, output string) (string, error) {
	if named == "" && (output == "-" || filepath.Ext(output) == "") {
		return "", fmt.Errorf("-o %s does not say what to draw: give --format svg, gif or webp", pty.QuotePath(output))
	}
	if output == "-" {
		output = ""
	}
	format, err := picture.AnimationFormatFor(named, output)
	if err != nil {
		return "", fmt.Errorf("-o %s %w", pty.QuotePath(output), err)
	}
	return format, nil
}

// A byteSize is a flag for a number of bytes.
type byteSize int

// String is the flag's value.
func (b *byteSize) String() string {
	switch n := int(*b); {
	case n >= 1<<20 && n%(1<<20) == 0:
		return strconv.Itoa(n>>20) + "MB"
	case n >= 1<<10 && n%(1<<10) == 0:
		return strconv.Itoa(n>>10) + "KB"
	default:
		return strconv.Itoa(n)
	}
}

// Type names the flag's type.
func (b *byteSize) Type() string { return "size" }

// Set accepts a number of bytes, KB or MB (of 1024 each), up to 1 GiB.
func (b *byteSize) Set(s string) error {
	text, unit := strings.ToUpper(strings.TrimSpace(s)), 1
	for ending, n := range map[string]int{"KB": 1 << 10, "MB": 1 << 20} {
		if rest, ok := strings.CutSuffix(text, ending); ok {
			text, unit = strings.TrimSpace(rest), n
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n > 0 && n*float64(unit) <= 1<<30) {
		return errors.New("give a number of bytes such as 500000, 500KB or 2MB, at most 1024MB")
	}
	*b = byteSize(n * float64(unit))
	return nil
}

package recordings

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/redact"
)

func shotCommand(std cli.Stdio) *cobra.Command {
	var output, named string
	var settle, timeout time.Duration
	var when shotTime
	var look looks
	var rows, cols uint16
	var session string
	f := new(remote.Flags)
	c := &cobra.Command{
		Use:   "shot [flags] (FILE | --session ID | -- PROGRAM [ARGUMENT...])",
		Short: "Draw the screen of a recording, a session or a program",
		Long: `Draw the screen of an asciicast at a time, of a session as it is or was, or of a program once its
screen is still. The extension of the output's name selects the format: .png, .svg, .html, or .ansi or
.txt for text with its colours. An existing picture is replaced. With --format the name needs no
extension, and may be - for standard output. Secrets are hidden.`,
		Example: `  ptywright shot -o demo.png --at 12.5s demo.cast
  ptywright shot -o s1.png --session s1
  ptywright shot -o before.png --session s1 --at -30s
  ptywright shot -o htop.svg -- htop`,
		RunE: func(c *cobra.Command, args []string) error {
			o, terminal, err := look.options(c)
			if err != nil {
				return err
			}
			lacking := new(picture.Lacking)
			o.Missing = lacking.Add
			format, err := shotFormat(named, output)
			if err != nil {
				return cli.Usagef("%w", err)
			}
			if session != "" {
				if given := shotFlagsBut(c, args); given != "" {
					return cli.Usagef("--session and %s exclude each other", given)
				}
				if when.text != "" && when.live != nil {
					return cli.Usagef("--at: %w", when.live)
				}
				return f.Exit(c.Context(),
					shotOfSession(c.Context(), std, f, session, remote.Picture{
						Format: format, Theme: look.theme, FontSize: o.FontSize, At: when.session,
						Frame: string(o.Frame), Padding: o.Padding, Title: o.Title,
						Scale: o.Scale, NoCursor: o.NoCursor, Missing: lacking.Add,
						Show: f.Show(),
					}, output, lacking))
			}
			if when.text != "" && when.played != nil {
				return cli.Usagef("--at: %w; a time ago is for --session", when.played)
			}
			var screen *vt.Screen
			switch {
			case c.ArgsLenAtDash() == 0:
				size := pty.Size{Rows: rows, Cols: cols}
				config := engine.Config{Program: args[0], Args: args[1:], Size: size,
					Theme: terminal}
				s, err := shotOf(c.Context(), config, settle, timeout)
				if err != nil {
					return err
				}
				screen = s
			case c.ArgsLenAtDash() < 0 && len(args) == 1:
				rec, err := loadCast(std, args[0])
				if errors.Is(err, fs.ErrNotExist) {
					if _, found := exec.LookPath(args[0]); found == nil {
						return cli.Usagef("no recording %s; to draw a program use -- %s",
							pty.QuotePath(args[0]), args[0])
					}
				}
				if err != nil {
					return err
				}
				at := time.Duration(when.recording)
				if !c.Flags().Changed("at") {
					at = rec.Duration()
				} else if err := within(rec, args[0], "at", at); err != nil {
					return err
				}
				if screen, err = screenAt(std, rec, at); err != nil {
					return fmt.Errorf("%s: %w", args[0], err)
				}
				o.Title = cmp.Or(o.Title, screen.Title, rec.Title)
			default:
				return cli.Usagef("give one recording, --session ID, or -- and a program: -- PROGRAM [ARGUMENT...]")
			}
			if !f.Bare {
				known := new(redact.Known)
				known.AddEnv(os.Environ())
				hide := redact.Default.With(known)
				screen = record.Mask(screen, hide)
				o.Clean = hide.String
			}
			data, err := picture.Draw(screen, format, o)
			if err != nil {
				return err
			}
			tellLacking(std, lacking)
			return writePicture(std, output, data, f.Bare)
		},
	}
	flags := c.Flags()
	flags.StringVarP(&output, "output", "o", "",
		"`FILE` to write: .png, .svg, .html, .ansi or .txt; - is standard output (required)")
	flags.StringVar(&named, "format", "", "png, svg, html or ansi (default: by the output's name)")
	flags.Var(&when, "at",
		"time in the recording: 2.5 seconds, or 1m30s (default: its end); with --session a sequence (42), so long ago (-5s), or a time (default: now)")
	flags.DurationVar(&settle, "settle", 500*time.Millisecond,
		"draw a program's screen once it has been unchanged for this long")
	flags.DurationVar(&timeout, "timeout", 10*time.Second,
		"draw a program that never becomes still after this long")
	look.flags(c)
	flags.BoolVar(&f.Bare, "raw", false, "do not hide secrets")
	flags.Uint16Var(&rows, "rows", 24, "rows of a program's terminal")
	flags.Uint16Var(&cols, "cols", 80, "columns of a program's terminal")
	flags.StringVar(&session, "session", "", "draw the session `ID` of a server")
	f.SocketFlag(c)
	c.Annotations = map[string]string{cli.ExitsNote: "45"}
	_ = c.MarkFlagRequired("output") // the flag exists
	_ = c.RegisterFlagCompletionFunc("session", remote.SessionIDs(0))
	return c
}

// A shotTime is a flag for a time in a recording, or for a moment of a session.
type shotTime struct {
	text         string
	recording    moment
	session      remote.Moment
	played, live error // why it is not the one, and not the other
}

// String is the flag's value.
func (s *shotTime) String() string { return s.text }

// Type names the flag's type.
func (s *shotTime) Type() string { return "time" }

// Set accepts what either takes.
func (s *shotTime) Set(text string) error {
	s.text, s.played, s.live = text, s.recording.Set(text), s.session.Set(text)
	if s.played != nil && s.live != nil {
		return s.played
	}
	return nil
}

// shotFlagsBut returns what conflicts with --session, "" if nothing does.
func shotFlagsBut(c *cobra.Command, args []string) string {
	for _, name := range []string{"settle", "timeout", "rows", "cols", "font"} {
		if c.Flags().Changed(name) {
			return "--" + name
		}
	}
	if len(args) > 0 {
		return cli.OneLine(args[0])
	}
	return ""
}

// shotOfSession has a server draw a session, and writes the picture here: its name is relative to
// this folder, and the server works in another.
func shotOfSession(ctx context.Context, std cli.Stdio, f *remote.Flags, id string, p remote.Picture,
	output string, lacking *picture.Lacking) error {
	s, err := f.Connect(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	data, err := s.Draw(ctx, id, p)
	if err != nil {
		return err
	}
	tellLacking(std, lacking)
	return writePicture(std, output, data, f.Bare)
}

// writePicture writes a picture; bare: it may show secrets, which are for its owner alone.
func writePicture(std cli.Stdio, output string, data []byte, bare bool) error {
	switch {
	case output == "-":
		_, err := std.Out.Write(data)
		return err
	case bare:
		return record.WriteFile(output, data)
	}
	return record.WriteShared(output, data)
}

// shotFormat returns the format of a picture: as named, or else from the output's name.
func shotFormat(named, output string) (string, error) {
	if named == "" && (output == "-" || filepath.Ext(output) == "") {
		return "", fmt.Errorf("-o %s does not say what to draw: give --format png, svg, html or ansi", pty.QuotePath(output))
	}
	if output == "-" {
		output = ""
	}
	format, err := picture.FormatFor(named, output)
	if where := (*picture.PathError)(nil); errors.As(err, &where) {
		return "", fmt.Errorf("-o %s %w", pty.QuotePath(output), err)
	}
	return format, err
}

// shotOf runs a program until its screen is stable, and returns the screen.
func shotOf(ctx context.Context, config engine.Config, settle,
	timeout time.Duration) (*vt.Screen, error) {
	e := engine.New(engine.Options{Version: cli.Version()})
	defer e.Close(context.WithoutCancel(ctx))
	s, err := e.Spawn(ctx, config)
	if err != nil {
		return nil, cli.NotStarted(err)
	}
	drawn := matchers.All(matchers.Regexp(regexp.MustCompile(`\S`)), matchers.Stable(settle))
	out, err := s.Wait(ctx, matchers.Any(matchers.Exited(), drawn), engine.Within(timeout))
	if err != nil && !errors.Is(err, engine.ErrTimeout) && !errors.Is(err, engine.ErrEnded) {
		return nil, err
	}
	return out.View.Screen, nil
}

// Package tapecmd (no stability promise) makes the command tape: it runs tapes, the language of VHS,
// on the executor of scripts ([script.FromTape]) and draws what they show.
package tapecmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/ending"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/scratch"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/serve"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/tuitest/tape"
)

// starter is what --new writes. It runs as it is.
const starter = `# Draw it: ptywright tape %[1]s.tape
Output %[1]s.gif

Set FontSize 22
Set Width 1200
Set Height 600
Set TypingSpeed 50ms

Type "echo 'hello from a tape'"
Enter
# Until the shell's prompt is back. Wait+Screen /text/ waits for a text.
Wait
# Until the screen has been still for so long: time to read.
Wait+Stable 2s
`

// flags are the flags of tape.
type flags struct {
	outputs              []string
	watch, fresh, hermit bool
}

// Command is tape.
func Command(std cli.Stdio) *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "tape [flags] FILE",
		Short: "Draw a moving picture of what a tape does",
		Long: `Run a tape, the language of VHS, and draw what it shows: as GIF, SVG, WebP, PNG (the last screen),
asciicast or text. It needs neither a browser nor ffmpeg. FILE may be - for standard input.

  Output demo.gif
  Type "make test"
  Enter
  Wait+Screen /passed/
  Wait+Stable 2s

Wait needs something new: the echo of what was typed does not match. Wait+Stable waits until the
screen is still, so that no Sleep is needed. What VHS knows and pictures here do not show is named on
standard error. A tape runs programs with your rights, in this folder and with your environment.

The exit code is 0 when everything was drawn, 1 when a step failed or the tape cannot be read, 2 for
wrong use, and 130 after Ctrl-C; then nothing is written. docs/tape.md describes tapes.`,
		Example: `  ptywright tape --new demo.tape
  ptywright tape demo.tape
  ptywright tape -o demo.svg -o demo.png demo.tape
  ptywright tape --watch demo.tape`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), std, args[0]) },
	}
	fs := c.Flags()
	fs.StringArrayVarP(&f.outputs, "output", "o", nil,
		"`FILE` to draw into in place of the tape's Outputs: .gif, .svg, .webp, .png, .cast or .txt; "+
			"may be given again")
	fs.BoolVarP(&f.watch, "watch", "w", false, "draw again whenever the tape changes, until Ctrl-C")
	fs.BoolVar(&f.fresh, "new", false, "write a tape to begin with into FILE, a new file")
	fs.BoolVar(&f.hermit, "hermetic", false,
		"give the programs an environment of their own, as test does: an empty HOME, and of yours only PATH")
	return c
}

// stdin is the name of standard input.
const stdin = "-"

func (f *flags) run(ctx context.Context, std cli.Stdio, file string) error {
	switch {
	case f.fresh && (f.watch || f.hermit || f.outputs != nil):
		return cli.Usagef("--new only writes a file: leave the other flags out")
	case f.fresh:
		return begin(std, file)
	case f.watch && file == stdin:
		return cli.Usagef("--watch needs a file: standard input does not change")
	}
	for _, o := range f.outputs { // before standard input is waited for
		if _, err := formatOf(o); err != nil {
			return cli.Usagef("-o %w", err)
		}
	}
	own, err := scratch.New("ptywright-tape-")
	if err != nil {
		return err
	}
	defer own.Remove()
	ctx, hurry, stop := ending.Until(ctx, true)
	defer stop()
	// A second Ctrl-C waits for nothing: the watcher ends the programs.
	impatient := context.AfterFunc(hurry, func() {
		_ = own.Remove() // the next tape does it otherwise
		os.Exit(cli.ExitInterrupted)
	})
	defer impatient()
	guard, unguard := serve.Guard(std.Err)
	d := &drawer{flags: f, std: std, file: file, guard: guard, scratch: own.Path}
	if f.watch {
		err = d.again(ctx)
	} else {
		err = d.draw(ctx)
	}
	if left := unguard(ctx); left != nil && err == nil {
		err = left
	}
	if ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)) {
		return cli.ExitCode(cli.ExitInterrupted)
	}
	return err
}

// begin writes a tape to begin with.
func begin(std cli.Stdio, file string) error {
	if file == stdin {
		return cli.Usagef("--new needs the name of a file")
	}
	if filepath.Ext(file) == "" {
		file += ".tape"
	}
	out, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, os.ErrExist) {
		return cli.Usagef("%s exists already: remove it, or give another name", pty.QuotePath(file))
	} else if err != nil {
		return err
	}
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	text := fmt.Sprintf(starter, name)
	if strings.ContainsAny(name, " \t#\"'`") { // the names in it are quoted
		text = strings.Replace(text, "Output "+name+".gif", "Output out.gif", 1)
	}
	_, err = out.WriteString(text)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.Out, "wrote %s. Next: ptywright tape %s\n", cli.OneLine(file),
		cli.ShellWord(file))
	return err
}

// read reads the tape.
func (d *drawer) read() (t *tape.Tape, err error) {
	if d.file == stdin {
		t, err = tape.Read("<stdin>", d.std.In)
	} else {
		t, d.files, err = tape.Load(d.file)
	}
	own := (*tape.Error)(nil)
	switch {
	case err == nil, errors.As(err, &own):
		return t, err
	case errors.Is(err, os.ErrNotExist):
		return nil, cli.Usagef("%w; ptywright tape --new %s writes one to begin with", err,
			cli.ShellWord(d.file))
	}
	return nil, cli.Usagef("%w", err)
}

// Package testfrom (no stability promise) makes scripts for test: of a recording that has what was
// typed ([Script]), and of a tape of VHS ([Import]). [Commands] makes the commands test from and
// test import.
package testfrom

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/tuitest/script"
	"github.com/ptywright/ptywright/tuitest/tape"
)

// Commands are from and import, for the command test.
func Commands(std cli.Stdio) []*cobra.Command {
	return []*cobra.Command{fromCommand(std), importCommand(std)}
}

func fromCommand(std cli.Stdio) *cobra.Command {
	var out, again string
	var goldens bool
	c := &cobra.Command{
		Use:   "from [flags] RECORDING [-- PROGRAM [ARGUMENT...]]",
		Short: "Make a script of a recording",
		Long: `Make a script that does what a recording shows somebody doing, as printed or in the file of -o. The
recording has to have what was typed: make it with "ptywright record --input". After each input the
script waits for the smallest text that was new then, stayed, and is on the screen once, and after
Enter for the prompt that comes back, never for the echo of what was typed; where the screen stood still it compares it with a golden screen, which the script's first run writes. What was
typed at the question for a password is not in the script.

--again names a second recording of the same steps. What differs between the two, such as a clock or
the number of a process, is then masked, and no wait looks for it.

PROGRAM is what the script starts, when the recording does not say it, or not rightly.`,
		Example: `  ptywright record --input -o demo.cast -- ./app
  ptywright test from demo.cast -o demo.ptw && ptywright test demo.ptw`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if at := c.ArgsLenAtDash(); len(args) > 1 && at != 1 {
				return cli.Usagef("give one RECORDING, and a PROGRAM behind --")
			}
			rec, err := load(args[0])
			if err != nil {
				return err
			}
			o := Options{Goldens: goldens, Source: filepath.Base(args[0])}
			if len(args) > 1 {
				o.Program = args[1:]
			}
			if again != "" {
				if o.Again, err = load(again); err != nil {
					return err
				}
			}
			text, err := Script(rec, o)
			if errors.Is(err, errNoProgram) || errors.Is(err, errShellLine) {
				return cli.Usagef("%s: %w", args[0], err)
			} else if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return put(std, out, text)
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "write the script to this new `FILE`")
	c.Flags().StringVar(&again, "again", "", "learn what varies from this `RECORDING` of the same steps")
	c.Flags().BoolVar(&goldens, "goldens", false, "write the golden screens of the recording, not of the first run")
	return c
}

func importCommand(std cli.Stdio) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "import [flags] TAPE",
		Short: "Make a script of a VHS tape",
		Long: `Make a script of a tape, the language of VHS, as printed or in the file of -o. Type, keys, Wait,
Screenshot, Env, Require, Copy and Paste become steps; a Sleep becomes a wait for a screen that stands
still, and the end is a golden screen. What a test cannot say, such as themes and films, becomes a
comment with the tape's line.`,
		Example: `  ptywright test import demo.tape -o demo.ptw && ptywright test demo.ptw`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			t, _, err := tape.Load(args[0])
			if all := (*tape.Error)(nil); errors.As(err, &all) {
				return cli.ComplainAll(std.Err, all.Errors())
			}
			if err != nil {
				return err
			}
			return put(std, out, Import(t))
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "write the script to this new `FILE`")
	return c
}

func load(path string) (*record.Recording, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rec, err := record.Load(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return rec, nil
}

// put prints a script, or writes it to a new file. It can be read, or nothing is written.
func put(std cli.Stdio, path string, text []byte) (err error) {
	name := path
	if name == "" {
		name = "script"
	}
	if _, err := script.Parse(name, text); err != nil {
		return fmt.Errorf("the script that was made cannot be read, which is a fault of ptywright: %w", err)
	}
	if path == "" {
		_, err := std.Out.Write(text)
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return cli.Usagef("%s exists already: remove it, or give another name", path)
	} else if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.Out, "wrote %s. Next: ptywright test %s\n", cli.OneLine(path), cli.OneLine(path))
	return err
}

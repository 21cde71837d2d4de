package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
)

// streams are standard streams whose output goes to a file, and what was written to each.
func streams(t *testing.T) (std Stdio, out func() string, complaints *bytes.Buffer) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	complaints = new(bytes.Buffer)
	return Stdio{In: os.Stdin, Out: &Output{File: f}, Err: complaints}, func() string {
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}, complaints
}

// line is a root with the command do, which takes --json and one THING and returns err.
func line(err error) *cobra.Command {
	root := &cobra.Command{Use: "tool", SilenceErrors: true, SilenceUsage: true, Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error { return nil }}
	do := &cobra.Command{Use: "do [flags] THING", Args: cobra.ExactArgs(1), RunE: func(*cobra.Command, []string) error { return err }}
	do.Flags().Bool("json", false, "")
	do.Flags().String("colour", "", "a `COLOUR`")
	root.AddCommand(do)
	Wire(root)
	return root
}

// TestRunReports each kind of error with its code, once for people and, if asked, once for
// programs.
func TestRunReports(t *testing.T) {
	t.Parallel()
	broken := errors.New("it is\nbroken")
	for _, c := range []struct {
		err       error
		args      string
		code      int
		says, out string
	}{
		{nil, "do x", 0, "", ""},
		{ExitCode(7), "do x --json", 7, "", ""},
		{fmt.Errorf("with: %w", ExitCode(7)), "do x", 7, "", ""},
		{broken, "do x", 1, "ptywright: it is\\nbroken\n", ""},
		{broken, "do --json x", 1, "ptywright: it is\\nbroken\n", `{"error":{"message":"it is\\nbroken","exit_code":1}}` + "\n"},
		{Error{Err: broken, Code: ExitMissing, Reason: "gone"}, "do --json x", 4, "ptywright: it is\\nbroken\n", `{"error":{"message":"it is\\nbroken","reason":"gone","exit_code":4}}` + "\n"},
		{Error{Err: broken, Code: ExitMissing, Told: true}, "do --json x", 4, "ptywright: it is\\nbroken\n", ""},
		{errors.New("token=Kq7abcdefgh"), "do x", 1, "ptywright: token=[REDACTED]\n", ""},
		{Usagef("say %s", "so"), "do x", 2, "ptywright: say so\nTry 'tool do --help'.\n", ""},
		{nil, "do", 2, "ptywright: give THING: tool do [flags] THING\nTry 'tool do --help'.\n", ""},
		{nil, "do x y", 2, "ptywright: unexpected argument \"y\": tool do [flags] THING\nTry 'tool do --help'.\n", ""},
		{nil, "do --color red x", 2, "ptywright: do has no flag --color: did you mean --colour?\nTry 'tool do --help'.\n", ""},
		{nil, "do -colour red x", 2, "ptywright: -colour has one dash, and a name of more than one letter has two: --colour red\nTry 'tool do --help'.\n", ""},
		{nil, "od", 2, "ptywright: unknown command \"od\": did you mean tool do?\nTry 'tool --help'.\n", ""},
	} {
		std, out, complaints := streams(t)
		if code := Run(context.Background(), line(c.err), strings.Fields(c.args), std); code != c.code || complaints.String() != c.says || out() != c.out {
			t.Errorf("%s with %v: exit %d, %q, %q", c.args, c.err, code, complaints, out())
		}
		if c.err != nil && HasCode(c.err) != (c.err != broken && !strings.HasPrefix(c.err.Error(), "token")) {
			t.Errorf("%v has a code: %v", c.err, HasCode(c.err))
		}
	}
}

// TestOutputIsLostOnce: after an error nothing more is written, and no command succeeds.
func TestOutputIsLostOnce(t *testing.T) {
	t.Parallel()
	std, out, complaints := streams(t)
	fmt.Fprint(std.Out, "one")
	file := std.Out.File
	std.Out.File, _ = os.Open(os.DevNull) // for reading
	defer std.Out.File.Close()
	if _, err := fmt.Fprint(std.Out, "two"); err == nil {
		t.Error("it was written")
	}
	std.Out.File = file
	if _, err := fmt.Fprint(std.Out, "three"); err == nil {
		t.Error("the output has a gap")
	}
	if code := Run(context.Background(), line(nil), []string{"do", "x"}, std); code != ExitError || !strings.Contains(complaints.String(), "write to standard output") || out() != "one" {
		t.Errorf("exit %d, %q, %q", code, complaints, out())
	}
	complaints.Reset()
	if code := Run(context.Background(), line(ExitCode(130)), []string{"do", "x"}, std); code != 130 || complaints.Len() > 0 {
		t.Errorf("exit %d, %q: a signal ended it", code, complaints)
	}
}

// TestArgsOf usage lines: brackets, dots, flags with a value, alternatives.
func TestArgsOf(t *testing.T) {
	for use, want := range map[string][2]int{
		"ls [flags]": {0, 0}, "read [flags] ID": {1, 1}, "send [flags] ID [TEXT]...": {1, -1}, "resize ID [ROWSxCOLS]": {1, 2},
		"mouse [flags] ID ACTION ROW COL [ROW COL]": {4, 6}, "kill [flags] ID...": {1, -1}, "exec [flags] ID -- COMMAND [ARG]...": {2, -1},
		"shot [flags] (FILE | --session ID | -- PROGRAM [ARGUMENT...])": {0, -1}, "x (A | B C)": {1, 2},
	} {
		if _, least, most := ArgsOf(&cobra.Command{Use: use}); [2]int{least, most} != want {
			t.Errorf("%s: %d to %d, not %v", use, least, most, want)
		}
	}
}

// FuzzOneLine: whatever a text is, its line is one, moves no cursor, and stays as it is.
func FuzzOneLine(f *testing.F) {
	f.Add("a\nb\x1b[31m\u202e\u009b日本\xff")
	f.Fuzz(func(t *testing.T, text string) {
		line := OneLine(text)
		if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) || OneLine(line) != line {
			t.Errorf("%q: %q", text, line)
		}
		if strings.ContainsFunc(Quiet(text), func(r rune) bool { return unicode.IsControl(r) && r != '\t' }) {
			t.Errorf("%q: %q", text, Quiet(text))
		}
	})
}

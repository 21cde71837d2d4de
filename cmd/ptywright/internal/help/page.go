package help

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/internal/lazy"
)

const (
	// plainCols is how wide help is where it goes to no terminal.
	plainCols = 80
	// readable is the widest that a paragraph gets on a terminal: longer lines are hard to follow.
	readable = 100
)

// Wire makes root, and the commands below it, show their help as wide as the terminal.
func Wire(root *cobra.Command) {
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		w := c.OutOrStdout()
		cols := plainCols
		if on := cli.TerminalOf(w); on.Cols > 0 {
			cols = min(on.Cols, readable)
		}
		_, _ = io.WriteString(w, page(c, cols)) // the output keeps its errors
	})
}

// page is the help of a command, wrapped at words. Examples stay as they are: they are for copying.
func page(c *cobra.Command, cols int) string {
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	var b strings.Builder
	long := strings.TrimSpace(c.Long)
	if long == "" {
		long = c.Short + "."
	}
	b.WriteString(filled(long, cols) + "\n")
	if c.IsAdditionalHelpTopicCommand() {
		return b.String()
	}
	b.WriteString("\nUsage:\n")
	if c.Runnable() {
		b.WriteString(cli.Wrap("  "+c.UseLine(), cols, 4) + "\n")
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("  " + c.CommandPath() + " COMMAND\n")
	}
	if len(c.Aliases) > 0 {
		b.WriteString("\nAliases: " + c.NameAndAliases() + "\n")
	}
	if c.HasExample() {
		b.WriteString("\nExamples:\n" + c.Example + "\n")
	}
	if c.HasAvailableSubCommands() {
		b.WriteString(commandList(c, cols))
	}
	if c.HasAvailableLocalFlags() {
		b.WriteString("\nFlags:\n" + flagList(c.LocalFlags(), cols))
	}
	if c.HasAvailableInheritedFlags() {
		b.WriteString("\nFlags of all " + c.Root().Name() + " " + parents(c) + "commands:\n" +
			flagList(c.InheritedFlags(), cols))
	}
	if codes := exitLine(c); codes != "" {
		b.WriteString("\n" + cli.Wrap(codes, cols, 2) + "\n")
	}
	if see := c.Annotations[cli.SeeNote]; see != "" {
		b.WriteString("\n" + cli.Wrap("See also: "+see, cols, 2) + "\n")
	}
	return b.String()
}

// valueWords are what people call the values of flags whose text names none.
var valueWords = map[string]string{"int": "N", "uint": "N", "uint16": "N", "uint64": "N", "float": "N",
	"float64":  "N",
	"duration": "TIME", "time": "TIME", "string": "TEXT", "strings": "TEXT"}

// valueWord is what a flag's value is called, and its text without markup.
func valueWord(f *pflag.Flag) (value, usage string) {
	value, usage = pflag.UnquoteUsage(f)
	return cmp.Or(valueWords[value], value), usage
}

var (
	// flagLine is a line of pflag's: a flag, its value, and behind a gap what it is.
	flagLine = lazy.Regexp(`^( *\S.*?)   +(\S.*)$`)
	// flagType is a value that is called by its type.
	flagType = lazy.Regexp(` (u?int\d*|float|duration|time|strings?)$`)
)

const (
	// aboutLeast is the room that descriptions need beside the flags; with less they stand below.
	aboutLeast = 30
	// aboutIndent is how far in they stand then.
	aboutIndent = 10
)

// flagList describes flags, wrapped at words.
func flagList(flags *pflag.FlagSet, cols int) string {
	var heads, abouts []string
	widest := 0
	for line := range strings.Lines(flags.FlagUsages()) {
		line = strings.TrimRight(line, " \n")
		m := flagLine().FindStringSubmatch(line)
		if m == nil {
			m = []string{line, line, ""}
		}
		head := flagType().ReplaceAllStringFunc(m[1], func(kind string) string { return " " + valueWords[kind[1:]] })
		heads, abouts, widest = append(heads, head), append(abouts, m[2]), max(widest, len(head))
	}
	var b strings.Builder
	for i, head := range heads {
		indent := widest + 3
		if cols-indent < aboutLeast {
			indent = aboutIndent
			head += "\n" + strings.Repeat(" ", indent)
		} else {
			head += strings.Repeat(" ", indent-len(head))
		}
		about := cli.Wrap(abouts[i], cols-indent, 0)
		b.WriteString(strings.TrimRight(head+strings.ReplaceAll(about, "\n",
			"\n"+strings.Repeat(" ", indent)), " ") + "\n")
	}
	return b.String()
}

// parents are the commands above c but the root, with a blank behind each.
func parents(c *cobra.Command) string {
	path := strings.Fields(c.CommandPath())
	return strings.Join(path[1:len(path)-1], " ") + " "
}

// definition is a line with a word or flag, and behind a gap what it means; not a command and its
// comment, which people copy.
var definition = lazy.Regexp(`^( +\S(?:.*?\S)?  +)([^ #].*)$`)

// meaningLeast is the least width of a definition's meaning: a terminal without room for it wraps.
const meaningLeast = 15

// filled joins the lines of each paragraph, which are wrapped by hand, and wraps them anew, also
// those of a definition. Other indented lines stay: they are for copying.
func filled(text string, cols int) string {
	var out, words []string
	head := "" // of a definition
	end := func() {
		if words == nil {
			return
		}
		about := cli.Wrap(strings.Join(words, " "), max(cols-len(head), meaningLeast), 0)
		out = append(out, head+strings.ReplaceAll(about, "\n", "\n"+strings.Repeat(" ", len(head))))
		head, words = "", nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		m := definition().FindStringSubmatch(line)
		switch {
		case line != "" && words != nil && indent == len(head):
			words = append(words, line[indent:])
		case m != nil:
			end()
			head, words = m[1], []string{m[2]}
		case line != "" && indent == 0:
			end()
			words = []string{line}
		default:
			end()
			out = append(out, line)
		}
	}
	end()
	return strings.Join(out, "\n")
}

// commandList are the commands below c, by group.
func commandList(c *cobra.Command, cols int) string {
	var b strings.Builder
	group := func(title string, in func(*cobra.Command) bool) {
		all := slices.DeleteFunc(slices.Clone(c.Commands()), func(sub *cobra.Command) bool {
			return !sub.IsAvailableCommand() && sub.Name() != "help" || !in(sub)
		})
		if len(all) == 0 {
			return
		}
		b.WriteString("\n" + title + "\n")
		for _, sub := range all {
			name := fmt.Sprintf("  %-*s  ", c.NamePadding(), sub.Name())
			about := cli.Wrap(sub.Short, max(cols-len(name), plainCols/4), 0)
			b.WriteString(name + strings.ReplaceAll(about, "\n",
				"\n"+strings.Repeat(" ", len(name))) + "\n")
		}
	}
	for _, g := range c.Groups() {
		group(g.Title, func(sub *cobra.Command) bool { return sub.GroupID == g.ID })
	}
	title := "Commands:"
	if len(c.Groups()) > 0 {
		title = "More:"
	}
	group(title, func(sub *cobra.Command) bool { return sub.GroupID == "" })
	b.WriteString("\n" + cli.Wrap(c.CommandPath()+" COMMAND --help tells more of one.", cols, 2) + "\n")
	return b.String()
}

// exitLine tells the exit codes of a command that has others than 0, 1 and 2; "" for those that
// have not, and for those that tell theirs in their own words.
func exitLine(c *cobra.Command) string {
	if c.Annotations[cli.ExitsNote] == "" && c.Annotations[cli.StatusNote] == "" ||
		strings.Contains(c.Long, "Exit codes:") {
		return ""
	}
	codes := exitsOf(c)
	var parts []string
	for code := range 256 {
		if codes[strconv.Itoa(code)] != "" {
			word := exitWords[code]
			if code == cli.ExitMissing && c.Parent().Name() == "fleet" {
				word = "no such instance"
			}
			parts = append(parts, fmt.Sprintf("%d %s", code, word))
		}
	}
	line := "Exit codes: " + strings.Join(parts, ", ")
	if own := codes["0-255"]; own != "" {
		line += "; " + own
	}
	return line + ". ptywright help exit-codes says more."
}

// exitWords are exit codes in a word or two.
var exitWords = map[int]string{
	0: "success", cli.ExitError: "error", cli.ExitUsage: "usage", cli.ExitTimeout: "timed out",
	cli.ExitMissing: "no such session", cli.ExitPermission: "not permitted",
	cli.ExitAsks: "the program asks first", cli.ExitOwnTimeout: "timed out",
	cli.ExitOwnError: "ptywright's own error", cli.ExitInterrupted: "interrupted",
}

// exitTopic is what `ptywright help exit-codes` shows.
func exitTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit codes of all commands mean",
		Long: `What the exit codes of ptywright's commands mean. A command's own help lists those that it can give.

    0  success
    1  error: standard error says which. Also a search or find without a match,
       a wait that can no longer match because the program has ended, and
       output that could not be written
    2  usage or configuration error: nothing was done
    3  timed out: standard output has the evidence, what each condition lacked
       and the last screen
    4  no such session, adapter, recording or instance, or one that has ended
       and was forgotten
    5  not permitted: someone holds the session, an adapter drives it, the
       connection has no right to it, or the socket belongs to another user
    6  adapter ask and adapter wait: the program asks something first
  130  interrupted by Ctrl-C or SIGTERM

Commands that run a program return the program's own code, and 128 plus the number of a signal that
ended it.

  124  exec, wait --status: the wait timed out; the command goes on
  125  exec, wait --status: an error of ptywright's own
  126  run, record: the program could not be executed
  127  run, record: the program was not found

With --json an error is an object on standard output, too: {"error": {"message", "reason",
"exit_code"}}. Its reason is a word for programs.`,
	}
}

package help

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
)

// manCommand writes manual pages: for packagers of ptywright, so it is not listed.
func manCommand(std cli.Stdio) *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write manual pages into a directory",
		Long:   `Write ptywright.1 and a page for every command. They are dated SOURCE_DATE_EPOCH, or today.`,
		Args:   cobra.ExactArgs(1),
		Hidden: true,
		RunE: func(c *cobra.Command, args []string) error {
			date := time.Now()
			if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
				seconds, err := strconv.ParseInt(epoch, 10, 64)
				if err != nil {
					return cli.Usagef("SOURCE_DATE_EPOCH is %q: give seconds since 1970", epoch)
				}
				date = time.Unix(seconds, 0)
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("write manual pages: %w", err)
			}
			var failed error
			forEach(c.Root(), func(c *cobra.Command) {
				name := strings.ReplaceAll(c.CommandPath(), " ", "-")
				page := manPage(c, name, date.UTC().Format(time.DateOnly))
				if err := os.WriteFile(filepath.Join(args[0], name+".1"), []byte(page),
					0o644); err != nil {
					failed = errors.Join(failed, fmt.Errorf("write manual pages: %w", err))
				}
			})
			return failed
		},
	}
}

// forEach calls f for a command and all listed commands below it.
func forEach(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			forEach(sub, f)
		}
	}
}

// manPage writes the help in the language of man(7). The help is plain text, wrapped by hand:
// indented lines stay as they are, others are filled.
func manPage(c *cobra.Command, name, date string) string {
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	var b strings.Builder
	fmt.Fprintf(&b, ".TH \"%s\" 1 \"%s\" \"%s\"\n", roff(strings.ToUpper(name)), date,
		roff("ptywright "+cli.Version()))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(c.UseLine()))
	long := c.Long
	if long == "" {
		long = c.Short + "."
	}
	b.WriteString(".SH DESCRIPTION\n")
	text(&b, long)
	if c.HasAvailableSubCommands() {
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n",
					roff(strings.ReplaceAll(sub.CommandPath(), " ", "-")), roff(sub.Short))
			}
		}
	}
	options(&b, "OPTIONS", c.NonInheritedFlags())
	options(&b, "OPTIONS OF ALL COMMANDS", c.InheritedFlags())
	if c.Example != "" {
		b.WriteString(".SH EXAMPLES\n")
		text(&b, c.Example)
	}
	if codes := exitLine(c); codes != "" {
		fmt.Fprintf(&b, ".SH EXIT STATUS\n%s\n", roff(strings.TrimPrefix(codes, "Exit codes: ")))
	}
	if c.HasParent() {
		fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n",
			roff(strings.ReplaceAll(c.Parent().CommandPath(), " ", "-")))
	}
	if see := c.Annotations[cli.SeeNote]; see != "" {
		fmt.Fprintf(&b, ".PP\n%s\n", roff(see))
	}
	return b.String()
}

// text writes paragraphs, and indented lines as examples.
func text(b *strings.Builder, plain string) {
	example := false
	begin := func(is bool) {
		if is != example {
			b.WriteString(map[bool]string{true: ".EX\n", false: ".EE\n"}[is])
			example = is
		}
	}
	for line := range strings.SplitSeq(strings.Trim(plain, "\n"), "\n") {
		switch {
		case line == "":
			begin(false)
			b.WriteString(".PP\n")
		case strings.HasPrefix(line, " "):
			begin(true)
			b.WriteString(roff(line) + "\n")
		default:
			begin(false)
			b.WriteString(roff(line) + "\n")
		}
	}
	begin(false)
}

func options(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		value, usage := valueWord(f)
		b.WriteString(".TP\n")
		if f.Shorthand != "" {
			fmt.Fprintf(b, "\\fB\\-%s\\fR, ", f.Shorthand)
		}
		fmt.Fprintf(b, "\\fB\\-\\-%s\\fR", roff(f.Name))
		if value != "" {
			fmt.Fprintf(b, " \\fI%s\\fR", roff(value))
		}
		switch f.DefValue {
		case "", "false", "0", "0s", "[]":
		default:
			usage += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		fmt.Fprintf(b, "\n%s\n", roff(usage))
	})
}

// roff escapes a text for any position in a page, including the start of a line.
func roff(plain string) string {
	escaped := strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~",
		`\(ti`).Replace(plain)
	if strings.HasPrefix(escaped, ".") {
		escaped = `\&` + escaped
	}
	return escaped
}

package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/internal/lazy"
	"github.com/ptywright/ptywright/internal/nearest"
)

// A usageError is an error in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Usagef makes an error in the command line: exit code 2, with the way to the command's help.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Wire makes c, and the commands below it, report wrong use in our words.
func Wire(c *cobra.Command) {
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	for _, sub := range c.Commands() {
		Wire(sub)
	}
	c.Args = usageArgs(c.Args)
	if c.Name() == "help" && c.HasParent() {
		helpUsage(c)
	}
}

// usageArgs turns errors in the arguments into usage errors, in our words.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if check != nil {
			var own usageError // in our words already
			if err := check(c, args); errors.As(err, &own) {
				return err
			} else if err != nil {
				return usageError{argsInWords(c, args, err)}
			}
		}
		var missing []string // cobra would report them later, and not as a usage error
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Annotations[cobra.BashCompOneRequiredFlag] != nil && !f.Changed {
				missing = append(missing, flagWithValue(f))
			}
		})
		if missing != nil {
			return Usagef("give %s", strings.Join(missing, " and "))
		}
		return nil
	}
}

// helpUsage turns a request for help that does not exist into a usage error, too.
func helpUsage(c *cobra.Command) {
	help := c.Run
	c.Run, c.RunE = nil, func(c *cobra.Command, args []string) error {
		at := c.Root()
		for _, name := range args {
			below, _, err := at.Find([]string{name})
			if err != nil || below == at {
				return usageError{unknownCommand(at, name)}
			}
			at = below
		}
		help(c, args)
		return nil
	}
}

// flagWithValue is a flag as a user writes it: -o FILE.
func flagWithValue(f *pflag.Flag) string {
	value, _ := pflag.UnquoteUsage(f)
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand
	}
	return strings.TrimSpace(name + " " + value)
}

// argsInWords says what is wrong with the arguments.
func argsInWords(c *cobra.Command, args []string, err error) error {
	usage, least, most := ArgsOf(c)
	switch {
	case c.HasSubCommands() && len(args) > 0:
		return unknownCommand(c, args[0])
	case len(args) < least:
		words := slices.DeleteFunc(strings.Fields(usage),
			func(w string) bool { return w == "--" || w == "[--]" })
		return fmt.Errorf("give %s: %s", strings.TrimSuffix(words[len(args)], "..."), c.UseLine())
	case most == 0:
		return fmt.Errorf("%s takes no arguments, and %s is one", below(c), engine.Quote(args[0]))
	case most > 0 && len(args) > most:
		return fmt.Errorf("unexpected argument %s: %s", engine.Quote(args[most]), c.UseLine())
	case len(c.ValidArgs) > 0:
		last := len(c.ValidArgs) - 1
		return fmt.Errorf("%s is none of %s and %s", engine.Quote(args[0]),
			strings.Join(c.ValidArgs[:last], ", "), c.ValidArgs[last])
	}
	return err
}

// unknownCommand says that c has no such command, and which one may be meant.
func unknownCommand(c *cobra.Command, name string) error {
	var names []string
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			names = append(append(names, sub.Name()), sub.Aliases...)
		}
	}
	if near := nearest.Of(name, names); near != "" {
		return fmt.Errorf("unknown command %s: did you mean %s %s?", engine.Quote(name),
			c.CommandPath(), near)
	}
	for command, others := range otherNames {
		if !c.HasParent() && slices.Contains(strings.Fields(others), name) {
			return fmt.Errorf("unknown command %s: did you mean %s %s?", engine.Quote(name),
				c.CommandPath(), command)
		}
	}
	return fmt.Errorf("unknown command %s", engine.Quote(name))
}

// otherNames are the names of commands in other tools: tmux, docker, expect, Playwright.
var otherNames = map[string]string{
	"ls": "sessions ps list-sessions status", "spawn": "new new-session start create open launch",
	"send": "type input write press key keys send-keys paste", "wait": "wait-for expect until",
	"read": "screen show cat snapshot capture capture-pane view text",
	"logs": "tail output transcript", "exec": "command run-in", "search": "grep", "find": "locate",
	"resize": "size resize-window", "mouse": "drag scroll",
	"kill": "stop close rm end kill-session kill-server", "shot": "screenshot picture png",
	"attach": "join connect", "completions": "completion", "doctor": "check info",
	"config": "settings configure", "docs": "manual man-page guide topics", "record": "rec", "play": "replay",
	"repl": "shell console", "serve": "server daemon", "watch": "web ui",
}

// below is a command's path without the program's name.
func below(c *cobra.Command) string {
	return strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ")
}

// inWords says what is wrong with a command line's flags, in our words. args are all of the
// program's.
func inWords(c *cobra.Command, args []string, err error) error {
	var unknown *pflag.NotExistError
	var valueless *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(c, args, unknown)
	case errors.As(err, &valueless):
		return fmt.Errorf("%s stands without a value: %s", flagWithValue(valueless.GetFlag()),
			accepted(valueless.GetFlag(), "", nil))
	case errors.As(err, &invalid):
		f, value := invalid.GetFlag(), invalid.GetValue()
		return fmt.Errorf("--%s is %s%s", f.Name, engine.Quote(value),
			strings.TrimSuffix(": "+accepted(f, value, invalid.Unwrap()), ": "))
	}
	return err
}

// unknownFlag says that a command has no such flag, and what may be meant.
func unknownFlag(c *cobra.Command, args []string, err *pflag.NotExistError) error {
	name, shown := err.GetSpecifiedName(), "--"+err.GetSpecifiedName()
	if letters := err.GetSpecifiedShortnames(); letters != "" {
		name, shown = letters, "-"+letters
	}
	shown = ShellWord(shown)
	if !c.HasParent() { // the unknown flag keeps cobra from finding the command
		for _, a := range args {
			if strings.HasPrefix(a, "-") {
				continue
			}
			if sub, _, err := c.Find([]string{a}); err != nil || sub == c {
				return unknownCommand(c, a)
			}
			return fmt.Errorf("%s stands before the command: flags go behind it, as in %s %s %s",
				shown, c.CommandPath(), a, shown)
		}
	}
	// The arguments left when the flag is found are those before it.
	own := strings.Count(strings.SplitN(c.Use, " -- ", 2)[0], " ID") // not the program's
	if before := c.Flags().Args(); len(before) > own && takesProgram(c) &&
		!slices.Contains(args, "--") {
		if i := slices.Index(args, before[own]); i > 0 {
			line := append(slices.Clone(args[:i]), "--")
			return fmt.Errorf("%s is not a flag of %s; -- goes before a program that has flags of its own: ptywright %s", shown, below(c), ShellLine(append(line, args[i:]...)))
		}
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if near := nearest.Of(name, names); near != "" {
		return fmt.Errorf("%s has no flag %s: did you mean --%s?", below(c), shown, near)
	}
	if strings.Contains(c.Use, "TEXT") {
		return fmt.Errorf("%s has no flag %s; -- goes before a text that begins so, as in %s ... -- %s", below(c), shown, c.CommandPath(), shown)
	}
	if c == c.Root() {
		return fmt.Errorf("unknown flag %s", shown)
	}
	return fmt.Errorf("%s has no flag %s", below(c), shown)
}

// takesProgram reports whether a command runs a program that follows --.
func takesProgram(c *cobra.Command) bool {
	return strings.Contains(c.Use, "-- PROGRAM") || c.Name() == "exec"
}

// accepted says what a flag accepts, with an example. err is its type's error for another value.
func accepted(f *pflag.Flag, value string, err error) string {
	switch kind := f.Value.Type(); kind {
	case "duration":
		if _, err := strconv.ParseFloat(value, 64); err == nil && value != "" {
			return fmt.Sprintf("give its unit, too, as %ss or %sms", value, value)
		}
		return "give a time with its unit, such as 500ms, 30s or 2m"
	case "int", "uint64":
		return "give a whole number, such as 42"
	case "uint16":
		return "give a whole number up to 65535, such as 42"
	case "float64":
		return "give a number, such as 1.5"
	case "bool":
		return "give true or false, or --" + f.Name + " alone"
	case "stringArray", "string", "stringSlice":
		if what, _ := pflag.UnquoteUsage(f); err == nil && what != kind {
			return "give " + what
		}
	}
	if err != nil {
		return err.Error()
	}
	return "give one"
}

// PlainWord matches words that a shell does not change.
var PlainWord = lazy.Regexp(`^[A-Za-z0-9_@%+=:,./-]+$`)

// ShellWord quotes a word for a shell, and shortens it.
func ShellWord(w string) string {
	if short := fmt.Sprintf("%.32s", w); len(short) < len(w) {
		w = short + "..."
	}
	if PlainWord().MatchString(w) {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// ShellLine is a command line for a shell, shortened if long.
func ShellLine(args []string) string {
	const most = 8
	var words []string
	for _, a := range args[:min(most, len(args))] {
		words = append(words, ShellWord(a))
	}
	if len(args) > most {
		words = append(words, "...")
	}
	return strings.Join(words, " ")
}

// wantsJSON reports whether a command line asks for JSON, even if it could not be parsed to its
// end.
func wantsJSON(c *cobra.Command, args []string) bool {
	f := c.Flags().Lookup("json")
	if f == nil && (c.HasParent() || !c.HasSubCommands()) {
		return false
	}
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return f != nil && f.Value.String() == "true" || slices.Contains(args, "--json") ||
		slices.Contains(args, "--json=true")
}

// Annotations of commands, for their schema and their help.
const (
	ExitsNote  = "exit codes"      // the digits of the exit codes beyond 2
	StatusNote = "exit status"     // of a command that returns another program's exit code: whose
	LeastNote  = "least arguments" // that some flags allow fewer arguments than the usage line says
	SeeNote    = "see also"        // commands and pages beside it, as people type them
	firstNote  = "flags first"     // that flags precede the first argument; see [FlagsFirst]
)

// Note sets an annotation of a command.
func Note(c *cobra.Command, name, value string) {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[name] = value
}

// ArgsOf parses the arguments of a usage line: words in brackets are optional, those before dots
// may repeat, and parentheses hold alternatives.
func ArgsOf(c *cobra.Command) (usage string, least, most int) {
	_, usage, _ = strings.Cut(c.Use, " ")
	usage = strings.TrimSpace(strings.TrimPrefix(usage, "[flags]"))
	if inner, ok := strings.CutPrefix(usage, "("); ok {
		for i, one := range strings.Split(strings.TrimSuffix(inner, ")"), " | ") {
			l, m := countArgs(one)
			if i == 0 {
				least, most = l, m
			}
			if least = min(least, l); m < 0 || most < 0 {
				most = -1
			} else {
				most = max(most, m)
			}
		}
		return usage, least, most
	}
	least, most = countArgs(usage)
	return usage, least, most
}

// countArgs counts the arguments of one alternative. A flag is followed by its value.
func countArgs(usage string) (least, most int) {
	words, depth := strings.Fields(usage), 0 // nesting of brackets
	for i, word := range words {
		optional := depth > 0 || strings.HasPrefix(word, "[")
		depth += strings.Count(word, "[") - strings.Count(word, "]")
		if word == "--" || word == "[--]" || strings.HasPrefix(word, "--") ||
			i > 0 && strings.HasPrefix(words[i-1], "--") && words[i-1] != "--" {
			continue
		}
		if !optional {
			least++
		}
		if most >= 0 {
			most++
		}
		if strings.HasSuffix(strings.TrimRight(word, "]"), "...") {
			most = -1
		}
	}
	return least, most
}

// FlagsFirst makes a command's flags precede its first argument: the rest belongs to a program or a
// script.
func FlagsFirst(c *cobra.Command) {
	c.Flags().SetInterspersed(false)
	Note(c, firstNote, "yes")
}

// oneDash finds a flag's long name after a single dash, which would be parsed as that many
// one-letter flags: -key as -k ey. c is the command that has the flag, nil if none does.
func oneDash(root *cobra.Command, args []string) (c *cobra.Command, err error) {
	c, rest, err := root.Find(args)
	if err != nil || c == root || c.DisableFlagParsing {
		return nil, nil
	}
	fs := c.Flags()
	for i := 0; i < len(rest); i++ {
		a := rest[i]
		switch {
		case a == "--":
			return nil, nil
		case len(a) < 2 || a[0] != '-':
			if c.Annotations[firstNote] != "" {
				return nil, nil
			}
			continue
		}
		name, value, given := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if strings.HasPrefix(a, "--") {
			if f := fs.Lookup(name); f != nil && !given && f.NoOptDefVal == "" {
				i++ // its value
			}
			continue
		}
		if f := fs.Lookup(name); f != nil && len(name) > 1 {
			said := "--" + name
			if given {
				said += "=" + value
			} else if f.NoOptDefVal == "" && i+1 < len(rest) {
				said += " " + ShellWord(rest[i+1])
			}
			return c,
				Usagef("-%s has one dash, and a name of more than one letter has two: %s",
					name, said)
		}
		if takesNext(fs, a[1:]) {
			i++
		}
	}
	return nil, nil
}

// takesNext reports whether the last of a group of one-letter flags takes its value from the next
// argument.
func takesNext(fs *pflag.FlagSet, letters string) bool {
	for i := range len(letters) {
		f := fs.ShorthandLookup(letters[i : i+1])
		if f == nil {
			return false
		}
		if f.NoOptDefVal == "" { // the rest is its value
			return i == len(letters)-1
		}
	}
	return false
}

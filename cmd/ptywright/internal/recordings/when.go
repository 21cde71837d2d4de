package recordings

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/protocol/client"
)

// whenFlags are what when asks, and which of the answers it prints.
type whenFlags struct {
	texts, regexes, matchers []string
	last, all, json          bool
	server                   remote.Flags
}

func whenCommand(std cli.Stdio) *cobra.Command {
	var f whenFlags
	c := &cobra.Command{
		Use:   "when [flags] FILE|SESSION [TEXT]...",
		Short: "Tell when a text was on the screen of a recording or a session, and for how long",
		Long: `Tell when one of the conditions held in an asciicast (v1, v2 or v3): from, to, and how long, in
seconds since the recording began, separated by tabs. FILE may be - for standard input. The first
such time is printed, with --last the last one, with --all each. A dash for "to" says that the
condition still held when the recording ended; "how long" counts up to there.

Of a session "from" and "to" are sequences, which read --at and shot --at take, and the time of
"from" follows. As much of its past is asked as is kept: standard error says what is gone. A file of
the name comes before a session.

TEXT behind the file, --text, --regex and --matcher say what is looked for; of several any one counts.
Text counts while it is on the screen, however briefly; what scrolls off or is drawn over is gone. What
was drawn and wiped in one write was there for 0 seconds, and --at shows what came after it. A screen
that an update still hides does not count. Only times are printed, never what the screen showed.

The exit code is 3 when the condition never held.`,
		Example: `  ptywright when demo.cast 'Do you want to proceed?'
  ptywright when demo.cast --regex '(?m)^FAIL' --all
  ptywright shot -o fail.png --at "$(ptywright when demo.cast --text FAIL | cut -f1)" demo.cast
  ptywright read build --at "$(ptywright when build --text FAIL | cut -f1)"`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: remote.SessionIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				f.texts = append(f.texts, cli.Words(args[1:]...))
			}
			tree, err := f.tree()
			if err != nil {
				return err
			}
			if isSession(args[0]) {
				return f.server.Exit(c.Context(), f.ofSession(c.Context(), std, args[0], tree))
			}
			m, err := matchers.Parse(decoded(tree), matchers.Options{Scope: matchers.OnScreen})
			if err != nil {
				return cli.Usagef("--matcher: %w", err)
			}
			rec, err := loadCast(std, args[0])
			if err != nil {
				return err
			}
			found := false
			var last record.Span
			for s, err := range rec.When(m) {
				if err != nil {
					return fmt.Errorf("%s: %w", args[0], err)
				}
				found, last = true, s
				if f.last {
					continue
				}
				if err := f.print(std, s); err != nil || !f.all {
					return err
				}
			}
			switch {
			case !found:
				return cli.Error{Err: fmt.Errorf("%s: the condition never held", args[0]),
					Code: cli.ExitTimeout, Reason: "never_held"}
			case f.last:
				return f.print(std, last)
			}
			return nil
		},
	}
	fs := c.Flags()
	fs.StringArrayVar(&f.texts, "text", nil, "when the screen contained this `TEXT`")
	fs.StringArrayVar(&f.regexes, "regex", nil,
		"when this RE2 `EXPRESSION` was found there; (?m) makes ^ and $ those of lines")
	fs.StringArrayVar(&f.matchers, "matcher", nil,
		"when this matcher of docs/wire.md, in `JSON`, held")
	fs.BoolVar(&f.last, "last", false, "print the last time")
	fs.BoolVar(&f.all, "all", false, "print every time, each on its line")
	fs.BoolVar(&f.json, "json", false, "print JSON, one object a line: from_ms, to_ms, ms, open; of a session from, to, from_at, to_at, ms, open")
	f.server.SocketFlag(c)
	return c
}

// tree is what the flags ask, as the wire has it; several conditions are any of them.
func (f *whenFlags) tree() (client.Matcher, error) {
	var none client.Matcher
	if f.last && f.all {
		return none, cli.Usagef("--last and --all exclude each other: give one of them")
	}
	var parts []client.Matcher
	for _, text := range f.texts {
		if text == "" {
			return none, cli.Usagef("the text is empty, which every screen has")
		}
		parts = append(parts, client.Text(text))
	}
	for _, pattern := range f.regexes {
		if pattern == "" {
			return none, cli.Usagef("--regex is empty, which every screen has")
		}
		if _, err := matchers.Compile(pattern); err != nil {
			return none, cli.Usagef("--regex: %w", err)
		}
		parts = append(parts, client.Regexp(pattern))
	}
	for _, text := range f.matchers {
		var m client.Matcher
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			return none, cli.Usagef(`--matcher is not a JSON object, such as {"type":"bell"}: %w`,
				err)
		}
		parts = append(parts, m)
	}
	switch len(parts) {
	case 0:
		return none, cli.Usagef("say what to look for: TEXT, --regex or --matcher")
	case 1:
		return parts[0], nil
	}
	return client.Any(parts...), nil
}

// decoded is a matcher as encoding/json decodes it.
func decoded(m client.Matcher) (tree any) {
	b, err := json.Marshal(m)
	if err == nil {
		err = json.Unmarshal(b, &tree)
	}
	if err != nil { // it was decoded from JSON
		panic(err)
	}
	return tree
}

// print prints one span.
func (f *whenFlags) print(std cli.Stdio, s record.Span) error {
	if f.json {
		o := map[string]any{"from_ms": s.From.Milliseconds(), "to_ms": s.To.Milliseconds(),
			"ms": s.Length().Milliseconds(), "open": s.Open}
		return std.JSON(o)
	}
	to := seconds(s.To)
	if s.Open {
		to = "-"
	}
	_, err := fmt.Fprintf(std.Out, "%s\t%s\t%s\n", seconds(s.From), to, seconds(s.Length()))
	return err
}

// seconds is a time as --at and --start-at of the other commands take it. It is exact: a rounded
// one might be just before what it names.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
}

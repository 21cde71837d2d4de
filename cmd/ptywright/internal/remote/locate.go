package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/locate"
	"github.com/ptywright/ptywright/protocol/client"
)

// locatorHelp explains locators in the help of the commands that take one.
const locatorHelp = `Words that do not begin like a locator are the text to find: ptywright find s1 Commit.

A LOCATOR names a place by what a person would call it, in the words of docs/locators.md: a text in
quotes, /EXPRESSION/, style, link, cursor, rect, box, lines, cross, selected or field, joined by in,
has, lacks, right_of, left_of, above, below, and, or, first, last and nth. Quote it as a whole, so that
the shell leaves its quotes alone. --text TEXT is a text whatever it begins with.`

// locatorArgs are the words of a locator, or a text: see [cli.Words]. A text has to have a flag only
// where it begins like a locator, with one of its words, a quote, a slash or a parenthesis.
func locatorArgs(args []string, text string) (any, error) {
	words := strings.TrimSpace(cli.Words(args...))
	switch {
	case text != "" && words != "":
		return nil, cli.Usagef("LOCATOR and --text exclude each other: say one of them")
	case text != "":
		return map[string]any{"type": "text", "value": text}, nil
	case words == "":
		return nil, cli.Usagef("say what to find: TEXT, or LOCATOR, such as \"'Commit' in box 'Menu'\"")
	}
	var bad *locate.ParseError
	if _, err := locate.Parse(words); errors.As(err, &bad) && bad.Unknown != "" && bad.At == 0 {
		return map[string]any{"type": "text", "value": words}, nil
	}
	return words, nil // the server knows more of it, such as places that its plugins guess
}

// notLocator says how words that were taken for a locator, and are none, can be said to be a text.
func notLocator(err error, locator any) error {
	var e *client.Error
	words, ok := locator.(string)
	if !ok || !errors.As(err, &e) || e.Reason != "invalid_locator" && e.Reason != "invalid_action" {
		return err
	}
	text := fmt.Sprintf("%s; if it is a text: --text %s",
		strings.TrimPrefix(Plainly(err).Error(), "locator: "), cli.ShellWord(words))
	return cli.Error{Err: errors.New(text), Code: cli.ExitUsage, Reason: string(e.Reason)}
}

func findCommand(std cli.Stdio, f *Flags) *cobra.Command {
	var text string
	var one, hidden, stable bool
	var timeout time.Duration
	var at Moment
	c := &cobra.Command{
		Use:   "find [flags] ID [TEXT | LOCATOR]...",
		Short: "Find a place on a session's screen",
		Long: `Find places on a session's screen, and print ROW:COL: and the text of each, counted from 0.

` + locatorHelp + `

It looks once, or with --timeout until there is at least one place. With --one there has to be exactly
one, with --stable it has to have been as it is for 300 ms, and with --hidden there has to be none. The
exit code is 1 when that is not so, and standard error says what was found instead.`,
		Example: `  ptywright find s1 Commit
  ptywright find s1 "'Commit' in box 'Menu'"
  ptywright find s1 "cross 'b.txt' 'Size'" --one
  ptywright find s1 --text 'Saving' --hidden --timeout 10s
  ptywright find s1 "lines style 'inverse'" --json`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: SessionIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			locator, err := locatorArgs(args[1:], text)
			if err != nil {
				return err
			}
			if hidden && (one || stable) {
				return cli.Usagef("--hidden excludes --one and --stable: what is not there is neither")
			}
			if at.Given() && (stable || c.Flags().Changed("timeout")) {
				return cli.Usagef("--at is a moment of the past: there is nothing to wait for")
			}
			if err := cli.CheckLook(timeout); err != nil {
				return err
			}
			more := map[string]any{"locator": locator, "timeout_ms": timeout.Milliseconds()}
			if one {
				more["strict"] = true
			}
			if hidden {
				more["state"] = "hidden"
			}
			if stable {
				more["state"] = "stable"
			}
			if at.Given() {
				more["at"] = &at
			}
			return f.with(c, func(s *Server) error {
				found, err := s.Locate(c.Context(), args[0], more, timeout, f.Show())
				if err != nil {
					return absent(notLocator(err, locator))
				}
				if f.JSON {
					return std.JSON(found.Raw)
				}
				for _, p := range found.Matches {
					if _, err := fmt.Fprintf(std.Out, "%d:%d: %s\n", p.Spans[0].Row, p.Spans[0].Col,
						cli.Quiet(strings.ReplaceAll(p.Text, "\n", " "))); err != nil {
						return err
					}
				}
				if found.Why != "" {
					cli.Complain(std.Err, errors.New(cli.OneLine(found.Why)))
				}
				return nil
			})
		},
	}
	fs := c.Flags()
	fs.StringVar(&text, "text", "", "find this `TEXT`, also one that begins as a locator does")
	fs.BoolVar(&one, "one", false, "want exactly one place")
	fs.BoolVar(&hidden, "hidden", false, "want no place")
	fs.BoolVar(&stable, "stable", false, "want the place to have been as it is for 300 ms")
	fs.DurationVar(&timeout, "timeout", 0, "wait at most this `TIME`, such as 500ms or 2m; 0 looks once")
	fs.Var(&at, "at", "the screen as it was: at a sequence (42), so long ago (-5s), or at a time")
	f.bareFlag(c)
	return c
}

// absent gives the error of a locator that means no place, or too many, the exit code of a search.
func absent(err error) error {
	var e *client.Error
	if errors.As(err, &e) && slices.Contains([]client.Reason{client.ErrNotFound, client.ErrAmbiguous,
		client.ErrTimeout}, e.Reason) {
		return cli.Error{Err: Plainly(err), Code: cli.ExitError, Reason: string(e.Reason)}
	}
	return err
}

// Spots are the cells of a place that can be clicked.
var spots = []string{"center", "start", "end"}

func clickCommand(std cli.Stdio, f *Flags) *cobra.Command {
	var text, button, mods, spot string
	var count int
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "click [flags] ID [TEXT | LOCATOR]...",
		Short: "Click on what a locator names",
		Long: `Click on the one place of a session's screen that a locator means. It waits until there is exactly one,
finds and presses it on the same screen, and prints the sequence before it, for wait --since, as send does.

` + locatorHelp + `

With --json it prints the receipt: the cell, whether the place is still there, and whether the program has
reacted. When the place had moved by the time that the terminal had taken the click, standard error warns.
If the program has not requested the mouse, it gets nothing, and the command fails with
mouse_not_requested. ptywright mouse clicks at a row and a column.`,
		Example: `  ptywright click s1 "'Commit' in box 'Menu'"
  ptywright click s1 --text '[ OK ]' --count 2
  seq=$(ptywright click s1 "cross 'b.txt' 'Size'" --spot start)`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: SessionIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			locator, err := locatorArgs(args[1:], text)
			if err != nil {
				return err
			}
			if err := cli.CheckTimeout(timeout); err != nil {
				return err
			}
			if err := cli.CheckBound("count", count, engine.MaxClicks); err != nil {
				return err
			}
			if !slices.Contains(spots, spot) {
				return cli.Usagef("--spot is %s: give center, start or end", engine.Quote(spot))
			}
			events, err := mouseEvents("click", []string{"0", "0"}, button, mods, "", 1)
			if err != nil {
				return cli.Usagef("%w", err)
			}
			value := map[string]any{"locator": locator, "at": spot, "count": count,
				"button": events[0].Button, "mods": append([]string{}, events[0].Mods...)}
			return f.with(c, func(s *Server) error {
				sent, err := s.click(c.Context(), args[0], value, timeout)
				if err != nil {
					return notLocator(err, locator)
				}
				if slices.ContainsFunc(sent.Receipts, func(p client.Pressed) bool { return p.Moved }) {
					cli.Complain(std.Err, errors.New("warning: the place was no longer there when the "+
						"terminal had taken the click: it may have hit something else"))
				}
				return f.printSent(std, sent, nil)
			})
		},
	}
	fs := c.Flags()
	fs.StringVar(&text, "text", "", "click on this `TEXT`, also one that begins as a locator does")
	fs.StringVar(&button, "button", "", "`BUTTON`: left, middle or right (default: left)")
	fs.StringVar(&mods, "mods", "", "`KEYS` that are held down, joined by +: shift, alt, ctrl")
	fs.StringVar(&spot, "spot", "center", "which `CELL` of the place: center, start or end")
	fs.IntVar(&count, "count", 1, "how often: 2 is a double click")
	fs.DurationVar(&timeout, "timeout", 5*time.Second, "wait at most this `TIME` for exactly one place")
	return c
}

// A Located is what was found, and the server's own JSON for it.
type Located struct {
	client.Places
	Raw json.RawMessage `json:"-"` // with session
}

// Locate asks for the places of a locator. Errors: those of session.locate.
func (s *Server) Locate(ctx context.Context, id string, more map[string]any, timeout time.Duration,
	show Show) (Located, error) {
	var l Located
	if err := s.call(ctx, timeout, "session.locate", params(id, more, show), &l.Raw); err != nil {
		return l, err
	}
	if err := json.Unmarshal(l.Raw, &l.Places); err != nil {
		return l, err
	}
	l.Raw = with(l.Raw, map[string]any{"session": id})
	return l, nil
}

// click performs a click. Errors: those of session.input.
func (s *Server) click(ctx context.Context, id string, value map[string]any,
	timeout time.Duration) (Sent, error) {
	var r client.Sent
	p := map[string]any{"session": id, "timeout_ms": timeout.Milliseconds(),
		"action": client.Action{Type: "click", Value: value}}
	if err := s.call(ctx, 2*timeout+workBound, "session.input", p, &r); err != nil {
		return Sent{}, err
	}
	return Sent{Session: id, Sequence: r.Sequence, Receipts: r.Receipts}, nil
}

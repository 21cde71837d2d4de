package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/protocol/client"
)

func resizeCommand(std cli.Stdio, f *Flags) *cobra.Command {
	var to client.Size
	c := &cobra.Command{
		Use:   "resize [flags] ID [ROWSxCOLS]",
		Short: "Resize a session's terminal",
		Long: `Resize a session's terminal and notify its program. Rows come first, as in ls. --rows or --cols alone
keeps the other.`,
		Example: `  ptywright resize s1 40x120
  ptywright resize s1 --cols 200`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: SessionIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			rows, cols := c.Flags().Changed("rows"), c.Flags().Changed("cols")
			switch {
			case len(args) == 2 && (rows || cols):
				return cli.Usagef("%s and --rows or --cols exclude each other: both are the size",
					engine.Quote(args[1]))
			case len(args) == 2:
				var err error
				if to, err = parseSize(args[1]); err != nil {
					return cli.Usagef("%w", err)
				}
			case !rows && !cols:
				return cli.Usagef("say the size: ROWSxCOLS, such as 24x80, or --rows or --cols")
			}
			if err := cli.CheckSides(c, to.Rows, to.Cols); err != nil {
				return err
			}
			return f.with(c, func(s *Server) error {
				is, err := s.Resize(c.Context(), args[0], to)
				if err != nil || !f.JSON {
					return err
				}
				return std.JSON(struct {
					Session string `json:"session"`
					client.Size
				}{args[0], is})
			})
		},
	}
	c.Flags().IntVar(&to.Rows, "rows", 0, "rows; without --cols the columns stay as they are")
	c.Flags().IntVar(&to.Cols, "cols", 0, "columns; without --rows the rows stay as they are")
	return c
}

// parseSize reads a size as ls shows it: 24x80.
func parseSize(text string) (s client.Size, err error) {
	rows, cols, ok := strings.Cut(strings.ToLower(text), "x")
	for _, side := range []struct {
		text string
		to   *int
	}{{rows, &s.Rows}, {cols, &s.Cols}} {
		n, nerr := strconv.Atoi(side.text)
		if !ok || nerr != nil || n < 1 || n > engine.MaxSide {
			return s,
				fmt.Errorf("the size is %s: give ROWSxCOLS, each 1 to %d, such as 24x80",
					engine.Quote(text), engine.MaxSide)
		}
		*side.to = n
	}
	return s, nil
}

// mouseDeeds are the actions of the mouse.
var mouseDeeds = []string{"click", "double-click", "press", "release", "move", "drag", "scroll"}

func mouseCommand(std cli.Stdio, f *Flags) *cobra.Command {
	var button, mods, towards string
	var times int
	c := &cobra.Command{
		Use:   "mouse [flags] ID ACTION ROW COL [ROW COL]",
		Short: "Click, drag or scroll in a session",
		Long: `Use the mouse in a program that supports it. ACTION is click, double-click, press, release, move,
drag (to the second ROW COL) or scroll. ROW and COL are a cell of the screen, counted from 0, as in search
and the wire's cursor.

If the program has not requested the mouse, it gets nothing, and the command fails with
mouse_not_requested; many programs request only some of it, such as clicks without moves. In a
full-screen program that has not requested it, the wheel moves the cursor, as in other terminals.

The number printed is for wait --since, as with send.`,
		Example: `  ptywright mouse s1 click 0 12
  ptywright mouse s1 drag 2 0 2 40 --mods shift
  ptywright mouse s1 scroll 10 0 --towards down --times 5`,
		Args: cobra.RangeArgs(4, 6),
		ValidArgsFunction: func(c *cobra.Command, args []string, begun string) ([]string,
			cobra.ShellCompDirective) {
			if len(args) == 1 {
				return mouseDeeds, cobra.ShellCompDirectiveNoFileComp
			}
			return SessionIDs(1)(c, args, begun)
		},
		RunE: func(c *cobra.Command, args []string) error {
			events, err := mouseEvents(args[1], args[2:], button, mods, towards, times)
			if err != nil {
				return cli.Usagef("%w", err)
			}
			for _, x := range []struct{ flag, deed string }{{"towards", "scroll"},
				{"times", "scroll"}} {
				if c.Flags().Changed(x.flag) && args[1] != x.deed {
					return cli.Usagef("--%s is for %s, not for %s", x.flag, x.deed, args[1])
				}
			}
			if c.Flags().Changed("button") && args[1] == "scroll" {
				return cli.Usagef("--button is not for scroll: say --towards")
			}
			return f.with(c, func(s *Server) error {
				sent, err := s.Mouse(c.Context(), args[0], events)
				return f.printSent(std, sent, err)
			})
		},
	}
	fs := c.Flags()
	fs.StringVar(&button, "button", "",
		"`BUTTON`: left, middle, right, or with move none (default: left, with move none)")
	fs.StringVar(&mods, "mods", "", "`KEYS` that are held down, joined by +: shift, alt, ctrl")
	fs.StringVar(&towards, "towards", "down", "with scroll: up, down, left or right")
	fs.IntVar(&times, "times", 1, "with scroll: how many notches of the wheel, up to 100")
	return c
}

// mostNotches bounds --times: each notch is a separate request, and scrolls a program by some
// lines.
const mostNotches = 100

// mouseEvents are the events of an action.
func mouseEvents(deed string, places []string, button, mods, towards string,
	times int) ([]MouseEvent, error) {
	if !slices.Contains(mouseDeeds, deed) {
		return nil, fmt.Errorf("%s is none of %s", engine.Quote(deed),
			strings.Join(mouseDeeds, ", "))
	}
	if wanted := map[bool]int{true: 4, false: 2}[deed == "drag"]; len(places) != wanted {
		return nil, fmt.Errorf("%s takes %s", deed,
			map[bool]string{true: "two places: ROW COL ROW COL",
				false: "one place: ROW COL"}[deed == "drag"])
	}
	cells := make([]int, len(places))
	for i, text := range places {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n >= engine.MaxSide {
			return nil,
				fmt.Errorf("%s is %s: give a whole number from 0", []string{"ROW", "COL"}[i%2],
					engine.Quote(text))
		}
		cells[i] = n
	}
	e := MouseEvent{Row: cells[0], Col: cells[1], Button: button}
	for name := range strings.SplitSeq(strings.ToLower(mods), "+") {
		switch name {
		case "":
			if mods != "" {
				return nil,
					fmt.Errorf("--mods is %s: give shift, alt and ctrl, joined by +",
						engine.Quote(mods))
			}
		case "shift", "alt", "ctrl":
			e.Mods = append(e.Mods, name)
		default:
			return nil,
				fmt.Errorf("--mods is %s: give shift, alt and ctrl, joined by +",
					engine.Quote(mods))
		}
	}
	switch {
	case deed == "scroll":
		if !slices.Contains([]string{"up", "down", "left", "right"}, towards) {
			return nil,
				fmt.Errorf("--towards is %s: give up, down, left or right", engine.Quote(towards))
		}
		if times < 1 || times > mostNotches {
			return nil, fmt.Errorf("--times is %d: give 1 to %d", times, mostNotches)
		}
		e.Button, e.Action = "wheel_"+towards, "press"
		return slices.Repeat([]MouseEvent{e}, times), nil
	case button == "" && deed == "move":
		e.Button = "none"
	case button == "":
		e.Button = "left"
	case !slices.Contains([]string{"left", "middle", "right"}, button) &&
		(deed != "move" || button != "none"):
		return nil, fmt.Errorf("--button is %s: give left, middle or right", engine.Quote(button))
	}
	as := func(action string) MouseEvent { e.Action = action; return e }
	switch deed {
	case "click":
		return []MouseEvent{as("press"), as("release")}, nil
	case "double-click":
		return []MouseEvent{as("press"), as("release"), as("press"), as("release")}, nil
	case "drag":
		begin := as("press")
		e.Row, e.Col = cells[2], cells[3]
		return []MouseEvent{begin, as("move"), as("release")}, nil
	}
	return []MouseEvent{as(deed)}, nil
}

// errNothingFound ends a search without matches: exit code 1, as in grep.
var errNothingFound = errors.New("nothing was found")

func searchCommand(std cli.Stdio, f *Flags) *cobra.Command {
	var regex string
	var most int
	c := &cobra.Command{
		Use:   "search [flags] ID [TEXT]...",
		Short: "Search a session's scrollback and screen",
		Long: `Search a session's scrollback and screen for TEXT, or for --regex, and print LINE:COL: and the line of
each match, oldest first. LINE and COL count from 0; LINE counts from the oldest line kept, as in
read --scrollback. Several TEXT are joined by spaces.

A line that wraps is searched as the one line that it is; for a match in two of its rows both are
printed, joined. Secrets cannot be found. The exit code is 1 if nothing matched, as with
grep. With --json, print the answer of session.search.`,
		Example: `  ptywright search s1 'error:'
  ptywright search s1 --regex '(?i)warning|error' --max 1000`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: SessionIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			what := cli.Words(args[1:]...)
			switch {
			case regex != "" && what != "":
				return cli.Usagef("TEXT and --regex exclude each other: say one of them")
			case regex == "" && what == "":
				return cli.Usagef("say what to find: TEXT or --regex")
			case regex != "":
				what = regex
			}
			if err := cli.CheckBound("max", most, 10_000); err != nil {
				return err
			}
			return f.with(c, func(s *Server) error {
				found, err := s.Search(c.Context(), args[0], what, regex != "", most, f.Show())
				switch {
				case err != nil:
					return err
				case f.JSON:
					if err := std.JSON(found.Raw); err != nil {
						return err
					}
					f.Told = true
				default:
					for _, m := range found.Matches {
						if _, err := fmt.Fprintf(std.Out, "%d:%d: %s\n", m.Line, m.Col,
							cli.Quiet(m.Text)); err != nil {
							return err
						}
					}
					if found.Truncated {
						std.Tell("these are %d of %d: --max tells more", len(found.Matches),
							found.Total)
					}
				}
				if found.Total == 0 {
					return errNothingFound
				}
				return nil
			})
		},
	}
	c.Flags().StringVar(&regex, "regex", "", "search for this RE2 `EXPRESSION`; (?i) ignores case")
	c.Flags().IntVar(&most, "max", 50, "print at most this many matches, up to 10000")
	f.bareFlag(c)
	return c
}

// Resize changes the size of a session's terminal. A side that is 0 stays as it is. The result is
// the resulting size. Errors: those of session.resize.
func (s *Server) Resize(ctx context.Context, id string, size client.Size) (client.Size, error) {
	if size.Rows == 0 || size.Cols == 0 {
		var now struct {
			Size client.Size `json:"size"`
		}
		if err := s.Call(ctx, "session.snapshot", map[string]any{"session": id, "cells": "none"},
			&now); err != nil {
			return size, err
		}
		if size.Rows == 0 {
			size.Rows = now.Size.Rows
		}
		if size.Cols == 0 {
			size.Cols = now.Size.Cols
		}
	}
	return size, s.Call(ctx, "session.resize",
		map[string]any{"session": id, "rows": size.Rows, "cols": size.Cols}, nil)
}

// A MouseEvent is one mouse event at a cell, in the words of the wire.
type MouseEvent struct {
	Row    int      `json:"row"` // from 0
	Col    int      `json:"col"` // from 0
	Button string   `json:"button"`
	Action string   `json:"action"`
	Mods   []string `json:"mods,omitempty"`
}

// Mouse performs events one after the other. As on a real terminal, a program gets only the events
// that it asked for: events after a press are left out if it asked for presses only (mode 9) or not
// for moves. When an event is refused, those before it have been performed. Errors: those of
// session.input.
func (s *Server) Mouse(ctx context.Context, id string, events []MouseEvent) (Sent, error) {
	sent := Sent{Session: id}
	for i, e := range events {
		p := map[string]any{"session": id, "action": client.Action{Type: "mouse", Value: e}}
		var r client.Sent
		err := s.call(ctx, workBound, "session.input", p, &r)
		var refused *client.Error
		if i > 0 && e.Action != "press" && errors.As(err, &refused) &&
			refused.Reason == "mouse_not_requested" {
			continue
		}
		if err != nil {
			return sent, err
		}
		if i == 0 {
			sent.Sequence = r.Sequence
		}
	}
	return sent, nil
}

// A Found is the result of a search, and the server's own JSON for it.
type Found struct {
	Matches   []Line          `json:"matches"`
	Total     int             `json:"total"`     // of all matches
	Truncated bool            `json:"truncated"` // Total is larger than Matches
	Raw       json.RawMessage `json:"-"`         // with session
}

// A Line is a line with a match, or the lines that a match goes over, joined.
type Line struct {
	Line int    `json:"line"` // from 0, the oldest that is kept
	Col  int    `json:"col"`  // characters before the match
	Text string `json:"text"`
}

// Search finds a text, or with regex an RE2 expression, in all lines that are kept of a session and
// on its screen, and returns at most so many matches. Errors: those of session.search.
func (s *Server) Search(ctx context.Context, id, what string, regex bool, most int,
	show Show) (Found, error) {
	more := map[string]any{"text": what, "max": most}
	if regex {
		more = map[string]any{"regex": what, "max": most}
	}
	var f Found
	if err := s.Call(ctx, "session.search", params(id, more, show), &f.Raw); err != nil {
		return f, err
	}
	if err := json.Unmarshal(f.Raw, &f); err != nil {
		return f, err
	}
	f.Raw = with(f.Raw, map[string]any{"session": id})
	return f, nil
}

// with adds members to an object.
func with(object json.RawMessage, more map[string]any) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return object
	}
	for name, value := range more {
		b, err := json.Marshal(value)
		if err != nil {
			return object
		}
		members[name] = b
	}
	b, err := json.Marshal(members)
	if err != nil {
		return object
	}
	return b
}

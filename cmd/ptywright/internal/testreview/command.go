package testreview

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
)

// Commands are review, accept and reject, for the command test.
func Commands(std cli.Stdio) []*cobra.Command {
	return []*cobra.Command{reviewCommand(std), decideCommand(std, true), decideCommand(std, false)}
}

func reviewCommand(std cli.Stdio) *cobra.Command {
	var asJSON bool
	var unreferenced string
	c := &cobra.Command{
		Use:   "review [flags] [PATH]...",
		Short: "Decide about screens that differ from their goldens",
		Long: `Show each golden screen that differs from what a test saw, and accept or reject it with a key. A
test that fails leaves what it saw in NAME.screen.new, or in NAME.ptw.new for the screens in a script;
those of each PATH are shown: a script, a golden, or a folder (the current one). Without a terminal,
and with --json, they are listed: decide with "test accept" and "test reject".

--unreferenced looks for goldens that no test uses: "list" lists them, "reject" exits with 1 when
there is one, and "delete" deletes them.`,
		Example: `  ptywright test review
  ptywright test review app.ptw
  ptywright test review --json testdata
  ptywright test review --unreferenced reject`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"."}
			}
			if c.Flags().Changed("unreferenced") {
				return reviewStrays(std, args, unreferenced, asJSON)
			}
			items, err := Find(args)
			if other := (*FileError)(nil); errors.As(err, &other) {
				return cli.Usagef("%w", err)
			} else if err != nil {
				return err
			}
			in, out := int(std.In.Fd()), int(std.Out.Fd())
			if asJSON || len(items) == 0 || !term.IsTerminal(in) || !term.IsTerminal(out) {
				return list(std, items, asJSON)
			}
			return look(std, items)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON: one object a screen")
	c.Flags().StringVar(&unreferenced, "unreferenced", "list",
		"goldens that no test uses: `HOW` is list, reject or delete")
	return c
}

func decideCommand(std cli.Stdio, accept bool) *cobra.Command {
	word, did, what := "reject", "rejected", "Drop"
	long := `Drop what a test saw for each NAME, so that the golden stays as it is.`
	if accept {
		word, did, what = "accept", "accepted", "Keep"
		long = `Make what a test saw the golden, for each NAME.`
	}
	var asJSON, all bool
	var dir string
	c := &cobra.Command{
		Use:   word + " [flags] [NAME]...",
		Short: what + " what a test saw in place of a golden screen",
		Long: long + ` NAME is as "test review" lists it, or enough of its end to be
unambiguous ("main"); a script or a folder names all that it has. Nothing is done unless every NAME
is found.`,
		Example: "  ptywright test " + word + " main\n  ptywright test " + word + " app.ptw\n  ptywright test " + word + " --all",
		Args:    cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return cli.Usagef("give NAMEs or --all: ptywright test review lists what there is")
			}
			items, err := Find([]string{dir})
			if err != nil {
				return err
			}
			chosen := items
			if !all {
				if chosen, err = choose(items, args); err != nil {
					return err
				}
			}
			var failed []error
			for _, i := range chosen {
				do := i.Reject
				if accept {
					do = i.Accept
				}
				if err := do(); err != nil {
					failed = append(failed, fmt.Errorf("%s %s: %w", word, i.Name, err))
					continue
				}
				if asJSON {
					err = std.JSON(decision{i.Name, did})
				} else {
					_, err = fmt.Fprintf(std.Out, "%s %s\n", did, cli.OneLine(i.Name))
				}
				if err != nil {
					return err
				}
			}
			return cli.OneError(failed)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON: one object a screen")
	c.Flags().BoolVar(&all, "all", false, "all that wait for a review")
	c.Flags().StringVar(&dir, "dir", ".", "look for them in this `DIRECTORY`")
	return c
}

// A decision is what accept and reject print with --json.
type decision struct {
	Name string `json:"name"`
	Did  string `json:"did"`
}

// choose returns the items of several names, each once.
func choose(items []*Item, names []string) (chosen []*Item, err error) {
	taken := map[*Item]bool{}
	for _, name := range names {
		some, err := Named(items, name)
		var unnamed *NameError
		if errors.As(err, &unnamed) {
			return nil, cli.Usagef("%w", err)
		} else if err != nil {
			return nil, err
		}
		for _, i := range some {
			if !taken[i] {
				taken[i] = true
				chosen = append(chosen, i)
			}
		}
	}
	return chosen, nil
}

// An entry is an item as --json lists it.
type entry struct {
	Name     string `json:"name"`
	Path     string `json:"path"`
	Section  string `json:"section,omitempty"`
	State    State  `json:"state"`
	What     string `json:"what"`
	Cells    int    `json:"cells"`
	Diff     string `json:"diff,omitempty"`
	Expected string `json:"expected,omitempty"` // the golden's text
	Seen     string `json:"seen,omitempty"`     // what was seen
}

// list prints items for who cannot be asked.
func list(std cli.Stdio, items []*Item, asJSON bool) error {
	for _, i := range items {
		e := entry{Name: i.Name, Path: i.Path, Section: i.Section, State: i.State, What: i.What()}
		if d := i.Diff(); d != nil {
			e.Cells, e.Diff = d.Cells(), d.String()
		}
		if i.Old != nil {
			e.Expected = i.Old.String()
		}
		if i.Seen != nil {
			e.Seen = i.Seen.String()
		}
		if asJSON {
			if err := std.JSON(e); err != nil {
				return err
			}
			continue
		}
		body := e.Diff
		if i.State != Changed {
			body = e.Seen
		}
		if _, err := fmt.Fprintf(std.Out, "%s: %s\n%s", cli.OneLine(i.Name), cli.OneLine(e.What),
			indented(body)); err != nil {
			return err
		}
	}
	if asJSON {
		return nil
	}
	if len(items) == 0 {
		_, err := fmt.Fprintln(std.Out, "nothing to review")
		return err
	}
	_, err := fmt.Fprintf(std.Out, "%s to review: ptywright test accept NAME, or reject NAME\n",
		plural(len(items), "screen"))
	return err
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("  " + cli.Quiet(strings.TrimSuffix(line, "\n")) + "\n")
	}
	return b.String()
}

func reviewStrays(std cli.Stdio, roots []string, how string, asJSON bool) error {
	if how != "list" && how != "reject" && how != "delete" {
		return cli.Usagef("--unreferenced is %q: give list, reject or delete", how)
	}
	strays, err := Unreferenced(roots)
	if err != nil {
		return err
	}
	for _, s := range strays {
		did := "unreferenced"
		if how == "delete" {
			if err := s.Delete(); err != nil {
				return fmt.Errorf("delete %s: %w", s.Name, err)
			}
			did = "deleted"
		}
		if asJSON {
			err = std.JSON(struct {
				decision
				Why string `json:"why"`
			}{decision{s.Name, did}, s.Why})
		} else {
			_, err = fmt.Fprintf(std.Out, "%s %s: %s\n", did, cli.OneLine(s.Name), cli.OneLine(s.Why))
		}
		if err != nil {
			return err
		}
	}
	if how == "reject" && len(strays) > 0 {
		return cli.ExitCode(cli.ExitError)
	}
	return nil
}

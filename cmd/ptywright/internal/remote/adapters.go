package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/engine"
)

// adapterCommand holds the commands about adapters.
func adapterCommand(std cli.Stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "adapter",
		Short: "Ask, watch and answer programs through adapters",
		Long: `Drive a program by meaning instead of keys. An adapter is a plugin that knows the states of one
program, such as a coding agent, a shell or an interpreter, and how to give it work. list shows the
adapters, and spawn --adapter starts one in an ordinary session.

  id=$(ptywright spawn --adapter claude-code)
  ptywright adapter ask $id 'Which tests fail?'   # exit code 6: it asks first
  ptywright adapter state $id                     # what it asks, with options
  ptywright adapter approve $id permission        # this one, once
  ptywright adapter wait $id                      # the rest of the answer

An approval names what it approves. It applies to the question on the screen when the command looks,
or with --dialog to the one whose id state printed: if another has replaced it, nothing is answered.

ID is that of a session or of an adapter. Secrets are hidden in everything printed. docs/agents.md
lists the states, intents and metadata of each adapter.`,
		Example: `  ptywright adapter list
  ptywright adapter events --follow s1`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	for _, make := range []func(cli.Stdio, *Flags) *cobra.Command{
		adapterListCommand, adapterAskCommand, adapterStateCommand, approveCommand("approve"),
		approveCommand("deny"), adapterChooseCommand, adapterSendCommand, adapterWaitCommand,
		adapterEventsCommand,
	} {
		c.AddCommand(remoteCommand(std, make))
	}
	return c
}

// pluginNames completes plugins that can start an adapter.
func pluginNames(c *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	return completeFrom(c, func(ctx context.Context, s *Server) (names []string, err error) {
		all, err := s.Plugins(ctx)
		for _, p := range all {
			if p.Target != nil && strings.HasPrefix(p.Name, begun) {
				names = append(names,
					cobra.CompletionWithDesc(p.Name, cli.OneLine(p.Target.Program)))
			}
		}
		return names, err
	})
}

// on runs do with the adapter that a command is about.
func (f *Flags) on(c *cobra.Command, id string, do func(*Server, Adapter) error) error {
	return f.with(c, func(s *Server) error {
		a, err := s.Adapter(c.Context(), id)
		if err != nil {
			return err
		}
		return do(s, a)
	})
}

func adapterListCommand(std cli.Stdio, f *Flags) *cobra.Command {
	return &cobra.Command{
		Use:         "list [flags]",
		Short:       "List the adapters that a server can start",
		Long:        `List the adapters that a server can start, each with its program. ls shows which sessions have one.`,
		Args:        cobra.NoArgs,
		Annotations: map[string]string{cli.ExitsNote: "5"},
		RunE: func(c *cobra.Command, _ []string) error {
			return f.with(c, func(s *Server) error {
				all, err := s.Plugins(c.Context())
				if err != nil {
					return err
				}
				t := cli.Table{Bare: true, Columns: []cli.Column{{}, {Least: 10}}}
				for _, p := range all {
					switch {
					case f.JSON:
						if err := std.JSON(p.Raw); err != nil {
							return err
						}
					case p.Target != nil:
						t.Row(cli.Cell{Text: p.Name, SGR: cli.Bold},
							strings.Join(append([]string{p.Target.Program}, p.Target.Args...), " "))
					}
				}
				return t.Print(std.Out)
			})
		},
	}
}

// askExits are the exit codes of commands that wait for a turn.
const askExits = "3456"

// asksNote is their help text about code 6.
const asksNote = "\n\nThe exit code is 6 when the program asks for something before it goes on: its state is then printed behind what\nit has answered so far."

func adapterAskCommand(std cli.Stdio, f *Flags) *cobra.Command {
	var timeout time.Duration
	var file string
	c := &cobra.Command{
		Use:   "ask [flags] ID [TEXT]...",
		Short: "Ask a program something and print its answer",
		Long: `Give an agent a prompt, a shell a command or an interpreter a line, wait until it is done, and print
its answer, as far as the adapter can read it from the screen. Several TEXT are joined by spaces; use
--file for long ones. If the text cannot be submitted, the error says why, and nothing else is typed.` + asksNote,
		Example: `  ptywright adapter ask s1 'Which tests fail?'
  git diff | ptywright adapter ask s1 --file - --timeout 20m`,
		Args:              cobra.MinimumNArgs(1),
		Annotations:       map[string]string{cli.ExitsNote: askExits},
		ValidArgsFunction: AdapterIDs,
		RunE: func(c *cobra.Command, args []string) error {
			what := strings.Join(args[1:], " ")
			if file != "" {
				text, err := fileText(std, file)
				if err != nil {
					return err
				}
				what = strings.TrimPrefix(what+"\n", "\n") + strings.TrimRight(text, "\n")
			}
			if strings.TrimSpace(what) == "" {
				return cli.Usagef("say what to ask: TEXT or --file")
			}
			if err := cli.CheckTimeout(timeout); err != nil {
				return err
			}
			return f.on(c, args[0], func(s *Server, a Adapter) error {
				t, err := s.Ask(c.Context(), a, what, timeout)
				return f.turn(std, t, err)
			})
		},
	}
	c.Flags().DurationVar(&timeout, "timeout", 10*time.Minute,
		"wait at most this `TIME` for the answer; the program continues after it")
	c.Flags().StringVar(&file, "file", "", "append the text of `FILE`; - for standard input")
	return c
}

func adapterWaitCommand(std cli.Stdio, f *Flags) *cobra.Command {
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "wait [flags] ID",
		Short: "Wait until a program's turn is over and print its answer",
		Long: `Wait until the program's turn is over, and print its answer as ask does: after an approval, or when
someone else asked.` + asksNote,
		Example:           `  ptywright adapter approve s1 permission && ptywright adapter wait s1`,
		Args:              cobra.ExactArgs(1),
		Annotations:       map[string]string{cli.ExitsNote: askExits},
		ValidArgsFunction: AdapterIDs,
		RunE: func(c *cobra.Command, args []string) error {
			if err := cli.CheckTimeout(timeout); err != nil {
				return err
			}
			return f.on(c, args[0], func(s *Server, a Adapter) error {
				t, err := s.AwaitTurn(c.Context(), a, timeout)
				return f.turn(std, t, err)
			})
		},
	}
	c.Flags().DurationVar(&timeout, "timeout", 10*time.Minute, "wait at most this `TIME`")
	return c
}

// turn prints the result of a turn, and returns how it ended.
func (f *Flags) turn(std cli.Stdio, t Turn, err error) error {
	switch {
	case f.JSON && t.Raw != nil:
		if werr := std.JSON(t.Raw); werr != nil {
			return werr
		}
		f.Told = true
	case t.Evidence != nil:
		printEvidence(std.Out, t.Evidence)
	case t.Answer != "":
		if _, werr := io.WriteString(std.Out, answerLines(t.Answer)); werr != nil {
			return werr
		}
	}
	switch {
	case err != nil:
		return err
	case t.Refused != "":
		return cli.Error{Err: errors.New(t.Refused), Code: cli.ExitError, Reason: "not_submitted",
			Told: f.Told}
	case t.State.Waits():
		if !f.JSON {
			if werr := cli.PrintLines(std.Out, t.State.Lines()); werr != nil {
				return werr
			}
		}
		return cli.ExitCode(cli.ExitAsks)
	case t.State.State == "error" && t.State.Exit == nil:
		return cli.Error{Err: fmt.Errorf("the program reports an error: %s",
			strings.Join(t.State.Lines()[1:], ": ")), Code: cli.ExitError, Reason: "program_error",
			Told: f.Told}
	}
	return nil
}

// answerLines is an answer as lines without control characters.
func answerLines(answer string) string {
	var b strings.Builder
	_ = cli.PrintLines(&b, strings.Split(strings.TrimSuffix(answer, "\n"), "\n")) // it cannot fail
	return b.String()
}

func adapterStateCommand(std cli.Stdio, f *Flags) *cobra.Command {
	return &cobra.Command{
		Use:   "state [flags] ID",
		Short: "Print the state of a program and what it asks",
		Long: `Print the state of a program and, below it, what it asks: the question, the numbered options, and the
dialog's id for --dialog. With --json, print the answer of adapter.state with all metadata.`,
		Example:           `  [ "$(ptywright adapter state s1 | head -1)" = ready ]`,
		Args:              cobra.ExactArgs(1),
		Annotations:       map[string]string{cli.ExitsNote: "45"},
		ValidArgsFunction: AdapterIDs,
		RunE: func(c *cobra.Command, args []string) error {
			return f.on(c, args[0], func(s *Server, a Adapter) error {
				state, raw, err := s.AdapterState(c.Context(), a)
				switch {
				case err != nil:
					return err
				case f.JSON:
					return std.JSON(raw)
				}
				return cli.PrintLines(std.Out, state.Lines())
			})
		},
	}
}

// approvals are the kinds of approval: the state in which a program asks for one, and the intents
// that answer.
var approvals = []struct{ kind, state, approve, deny string }{
	{"permission", "waiting_for_permission", "approve", "deny"},
	{"plan", "waiting_for_plan_approval", "approve", "deny"},
	{"trust", "waiting_for_trust", "approve_trust", "deny_trust"},
}

// approveCommand makes approve and deny.
func approveCommand(does string) func(cli.Stdio, *Flags) *cobra.Command {
	done := map[string]string{"approve": "approved", "deny": "denied"}[does]
	return func(std cli.Stdio, f *Flags) *cobra.Command {
		var dialog string
		var kinds []string
		for _, a := range approvals {
			kinds = append(kinds, a.kind)
		}
		c := &cobra.Command{
			Use: does + " [flags] ID permission|plan|trust",
			Short: map[string]string{"approve": "Approve what a program asks, once",
				"deny": "Deny what a program asks"}[does],
			Long: map[string]string{"approve": "Agree", "deny": "Say no"}[does] + ` to what a program asks, and print what that was. It has to be said what is asked: a permission for a tool, a plan,
or trust in a folder; when the program asks for something else, or for nothing, nothing is answered and the exit code
is 1. The same holds with --dialog when another question has come in the place of that one. An approval is for this
once: choose takes wider options.`,
			Example:     "  ptywright adapter " + does + " s1 permission",
			Args:        cobra.ExactArgs(2),
			Annotations: map[string]string{cli.ExitsNote: "45"},
			ValidArgsFunction: func(c *cobra.Command, args []string, begun string) ([]string,
				cobra.ShellCompDirective) {
				if len(args) == 1 {
					return kinds, cobra.ShellCompDirectiveNoFileComp
				}
				return AdapterIDs(c, args, begun)
			},
			RunE: func(c *cobra.Command, args []string) error {
				i := slices.Index(kinds, args[1])
				if i < 0 {
					return cli.Usagef("%s is none of permission, plan and trust",
						engine.Quote(args[1]))
				}
				return f.on(c, args[0], func(s *Server, a Adapter) error {
					state, params, err := askedNow(c.Context(), s, a, dialog)
					if err != nil {
						return err
					}
					if state.State != approvals[i].state {
						return cli.Error{Err: fmt.Errorf("nothing was answered: %s is %s, and asks for no %s", args[0], state.State, args[1]), Code: cli.ExitError, Reason: "wrong_state"}
					}
					intent := approvals[i].approve
					if does == "deny" {
						intent = approvals[i].deny
					}
					_, raw, err := s.Perform(c.Context(), a, intent, params)
					switch {
					case err != nil:
						return err
					case f.JSON:
						return std.JSON(raw)
					}
					what := ""
					if lines := state.Lines(); len(lines) > 1 {
						what = ": " + lines[1]
					}
					_, err = fmt.Fprintf(std.Out, "%s %s%s\n", done, args[1], cli.OneLine(what))
					return err
				})
			},
		}
		dialogFlag(c, &dialog)
		return c
	}
}

func dialogFlag(c *cobra.Command, dialog *string) {
	c.Flags().StringVar(dialog, "dialog", "",
		"only if this dialog is still shown: the `ID` that state printed")
}

// askedNow reads a program's question, and makes the params of an answer to that question only.
func askedNow(ctx context.Context, s *Server, a Adapter,
	dialog string) (State, map[string]any, error) {
	state, _, err := s.AdapterState(ctx, a)
	params := map[string]any{}
	if id := state.Dialog(); id != "" {
		params["dialog_id"] = id
	}
	if err == nil && dialog != "" && dialog != state.Dialog() {
		err = cli.Error{Err: fmt.Errorf("nothing was answered: the dialog %s is not there any more; the state is %s", engine.Quote(dialog), state.State), Code: cli.ExitError, Reason: "stale_dialog"}
	}
	return state, params, err
}

func adapterChooseCommand(std cli.Stdio, f *Flags) *cobra.Command {
	var dialog string
	c := &cobra.Command{
		Use:   "choose [flags] ID OPTION",
		Short: "Choose an option of the dialog on the screen",
		Long: `Choose an option of the dialog on the screen: by its number, as state prints it, by its label, by the
beginning of its label, or by a part that only one label has.`,
		Example: `  ptywright adapter choose s1 2
  ptywright adapter choose s1 'Yes, and don'`,
		Args:              cobra.ExactArgs(2),
		Annotations:       map[string]string{cli.ExitsNote: "45"},
		ValidArgsFunction: AdapterIDs,
		RunE: func(c *cobra.Command, args []string) error {
			return f.on(c, args[0], func(s *Server, a Adapter) error {
				_, params, err := askedNow(c.Context(), s, a, dialog)
				if err != nil {
					return err
				}
				if n, err := strconv.Atoi(args[1]); err == nil {
					params["index"] = n
				} else {
					params["option"] = args[1]
				}
				return f.performed(std)(s.Perform(c.Context(), a, "choose_option", params))
			})
		},
	}
	dialogFlag(c, &dialog)
	return c
}

// performed prints the state after an intent.
func (f *Flags) performed(std cli.Stdio) func(State, json.RawMessage, error) error {
	return func(state State, raw json.RawMessage, err error) error {
		switch {
		case err != nil:
			return err
		case f.JSON:
			return std.JSON(raw)
		}
		_, err = fmt.Fprintln(std.Out, cli.OneLine(state.State))
		return err
	}
}

func adapterSendCommand(std cli.Stdio, f *Flags) *cobra.Command {
	var given []string
	var object string
	c := &cobra.Command{
		Use:   "send [flags] ID INTENT",
		Short: "Run one of an adapter's intents and print the state",
		Long: `Run one of an adapter's intents, such as cancel, clear_input or slash_command; docs/agents.md lists
them. This does not wait for the result; use ask or wait for that.`,
		Example: `  ptywright adapter send s1 cancel
  ptywright adapter send s1 slash_command --param command=clear`,
		Args:              cobra.ExactArgs(2),
		Annotations:       map[string]string{cli.ExitsNote: "45"},
		ValidArgsFunction: AdapterIDs,
		RunE: func(c *cobra.Command, args []string) error {
			params := map[string]any{}
			if object != "" {
				if err := json.Unmarshal([]byte(object), &params); err != nil || params == nil {
					return cli.Usagef(`--params is not a JSON object, such as {"command": "clear"}`)
				}
			}
			for _, g := range given {
				name, value, ok := strings.Cut(g, "=")
				if !ok || name == "" {
					return cli.Usagef("--param is %s: give NAME=TEXT", engine.Quote(g))
				}
				params[name] = value
			}
			return f.on(c, args[0], func(s *Server, a Adapter) error {
				return f.performed(std)(s.Perform(c.Context(), a, args[1], params))
			})
		},
	}
	c.Flags().StringArrayVar(&given, "param", nil, "a text parameter, `NAME=TEXT`; may be repeated")
	c.Flags().StringVar(&object, "params", "", "the parameters as a `JSON` object")
	return c
}

func adapterEventsCommand(std cli.Stdio, f *Flags) *cobra.Command {
	var since uint64
	var follow bool
	c := &cobra.Command{
		Use:   "events [flags] ID",
		Short: "Print or follow the events of an adapter",
		Long: `Print an adapter's events: text, tools started and completed, errors, ended turns, and states. With
--follow, continue until the program ends or you press Ctrl-C (exit code 0). With --json each event
is one line, as in adapter.events.`,
		Example:           `  ptywright adapter events s1 --follow --json`,
		Args:              cobra.ExactArgs(1),
		Annotations:       map[string]string{cli.ExitsNote: "45"},
		ValidArgsFunction: AdapterIDs,
		RunE: func(c *cobra.Command, args []string) error {
			return f.on(c, args[0], func(s *Server, a Adapter) error {
				err := s.Events(c.Context(), a, since, follow,
					func(e AdapterEvent, dropped bool) error {
						if dropped {
							std.Tell("earlier events are not kept")
						}
						if f.JSON {
							return std.JSON(e.Raw)
						}
						_, err := fmt.Fprintf(std.Out, "%d %s %s\n", e.Seq,
							e.At.Local().Format(time.TimeOnly), cli.OneLine(e.Say()))
						return err
					})
				if follow && c.Context().Err() != nil {
					return nil // Ctrl-C is the way to leave
				}
				return err
			})
		},
	}
	c.Flags().Uint64Var(&since, "since", 0, "only events after this `NUMBER`")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "continue until the program ends")
	return c
}

// AdapterIDs completes adapters, and the sessions that they drive.
func AdapterIDs(c *cobra.Command, args []string,
	begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completeFrom(c, func(ctx context.Context, s *Server) (ids []string, err error) {
		var live struct {
			Adapters []Adapter `json:"adapters"`
		}
		err = s.Call(ctx, "adapter.live", nil, &live)
		for _, a := range live.Adapters {
			for _, id := range []string{a.Adapter, a.Session} {
				if strings.HasPrefix(id, begun) {
					ids = append(ids,
						cobra.CompletionWithDesc(cli.OneLine(id), cli.OneLine(a.Plugin)))
				}
			}
		}
		return ids, err
	})
}

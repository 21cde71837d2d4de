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
	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/unknown"
	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/protocol/client"
)

// millis is a flag for a time: milliseconds, or a number with a unit.
type millis time.Duration

func (m *millis) String() string { return time.Duration(*m).String() }
func (m *millis) Type() string   { return "MS" }
func (m *millis) Set(s string) error {
	d, err := time.ParseDuration(s)
	if n, nerr := strconv.ParseUint(s, 10, 31); nerr == nil {
		d, err = time.Duration(n)*time.Millisecond, nil
	}
	if err != nil || d < 0 || d > 24*time.Hour {
		return errors.New("give milliseconds, such as 500, or a time up to a day, such as 2s")
	}
	*m = millis(d)
	return nil
}

// conditionFlags are the conditions of wait.
type conditionFlags struct {
	texts, regexes, matchers []string
	stable                   millis
	exit, finished, not      bool
	any, all                 bool   // of the conditions, or, with several sessions, of those
	each                     bool   // of several sessions
	conditions               string // any or all: of the conditions, however many sessions
	outputs, outputRegexes   []string
}

func (f *conditionFlags) add(c *cobra.Command) {
	fs := c.Flags()
	fs.StringArrayVar(&f.texts, "text", nil, "until the screen, or a line that scrolls off it meanwhile, contains this `TEXT`")
	fs.StringArrayVar(&f.regexes, "regex", nil, "the same for an RE2 `EXPRESSION`; with (?m) ^ and $ match at each line")
	fs.StringArrayVar(&f.outputs, "output", nil, "until the program has written this `TEXT`, shown or not")
	fs.StringArrayVar(&f.outputRegexes, "output-regex", nil, "the same for an RE2 `EXPRESSION`, escape sequences included")
	fs.Var(&f.stable, "stable", "until the screen has not changed for `MS` milliseconds (or 2s, ...)")
	fs.Lookup("stable").DefValue = "" // without it nothing has to be stable
	fs.BoolVar(&f.exit, "exit", false, "until the program has ended")
	fs.BoolVar(&f.finished, "finished", false, "until a command of a shell with --shell-integration has ended")
	fs.StringArrayVar(&f.matchers, "matcher", nil, "until this matcher of docs/wire.md, in `JSON`, holds")
	fs.BoolVar(&f.not, "not", false, "until no condition holds, or with --all not all of them")
	fs.BoolVar(&f.all, "all", false, "until all conditions hold; with several sessions, until they have held in each")
	fs.BoolVar(&f.any, "any", false, "until one condition holds (the default); with several sessions, in any of them")
	fs.BoolVar(&f.each, "each", false, "with several sessions, until each has matched or ended; every match is printed at once")
	fs.StringVar(&f.conditions, "conditions", "", "with several sessions and conditions, `HOW` many hold in a session: any or all")
}

// given reports whether a flag says what to wait for.
func (f *conditionFlags) given(c *cobra.Command) bool {
	return f.exit || f.finished || c.Flags().Changed("stable") ||
		len(f.texts)+len(f.regexes)+len(f.outputs)+len(f.outputRegexes)+len(f.matchers) > 0
}

// split divides the arguments: where a flag says what to wait for, each is a session; else what
// stands behind the first is the text to wait for, see [cli.Words]. Sessions that are selected are not
// named: then all is the text.
func (f *conditionFlags) split(c *cobra.Command, args []string, selected bool) (ids []string,
	text string, err error) {
	switch {
	case selected && len(args) > 0 && f.given(c):
		return nil, "", cli.Usagef("ids of sessions and --select exclude each other: give one of the two")
	case selected:
		return nil, cli.Words(args...), nil
	case f.given(c):
		for _, a := range args[1:] {
			if !cli.PlainWord().MatchString(a) && a != "" {
				return nil, "", cli.Usagef("%s cannot be a session: "+
					"beside other conditions say --text %s", engine.Quote(a), cli.ShellWord(a))
			}
		}
		return args, "", nil
	case len(args) == 1:
		return args, "", nil
	case f.any || f.all || f.each:
		return nil, "", cli.Usagef("say what to wait for in these sessions, such as --exit; "+
			"if %s is a text: --text %[1]s", cli.ShellWord(cli.Words(args[1:]...)))
	}
	if text = cli.Words(args[1:]...); text == "" {
		return nil, "", cli.Usagef("TEXT is empty, which every screen contains")
	}
	return args[:1], text, nil
}

// unlessSessions refuses words that were taken for a text and all name sessions: which is meant, a
// flag has to say.
func (s *Server) unlessSessions(ctx context.Context, words []string) error {
	all, err := s.List(ctx, Show{})
	if err != nil {
		return err
	}
	for _, w := range words {
		if !slices.ContainsFunc(all, func(i Info) bool { return i.Session == w || i.Name == w }) {
			return nil
		}
	}
	return cli.Usagef("%s may be a session or a text: say what to wait for in each session, such as "+
		"--exit with --any or --all; or the text, with --text %s", engine.Quote(words[0]),
		cli.ShellWord(cli.Words(words...)))
}

// matcher makes the wire's matcher from the flags, for one session or for several.
func (f *conditionFlags) matcher(c *cobra.Command, several bool) (any, error) {
	switch {
	case count(f.any, f.all, f.each) > 1:
		return nil, cli.Usagef("--any, --all and --each exclude each other: say one of them")
	case several && !f.any && !f.all && !f.each:
		return nil, cli.Usagef("there are several sessions: say --any, for the first of them, --all, for all, or --each, for one after the other")
	case f.each && !several:
		return nil, cli.Usagef("--each is for several sessions: name them, or say --select")
	case f.conditions != "" && f.conditions != "any" && f.conditions != "all":
		return nil, cli.Usagef("--conditions is %s: give any or all", engine.Quote(f.conditions))
	case f.conditions != "" && !several && (f.any || f.all):
		return nil, cli.Usagef("of one session --any and --all say what --conditions says: give one of them")
	}
	var parts []any
	for _, t := range f.texts {
		if t == "" {
			return nil, cli.Usagef("--text is empty, which every screen contains")
		}
		parts = append(parts, client.Text(t))
	}
	for _, r := range f.regexes {
		if r == "" {
			return nil, cli.Usagef("--regex is empty, which every screen matches")
		}
		parts = append(parts, client.Regexp(r))
	}
	for _, t := range f.outputs {
		if t == "" {
			return nil, cli.Usagef("--output is empty, which every output contains")
		}
		parts = append(parts, client.Matcher{Type: "transcript_contains", Value: t})
	}
	for _, r := range f.outputRegexes {
		if r == "" {
			return nil, cli.Usagef("--output-regex is empty, which every output matches")
		}
		parts = append(parts, client.Output(r))
	}
	if c.Flags().Changed("stable") {
		parts = append(parts, client.Stable(time.Duration(f.stable)))
	}
	if f.exit {
		parts = append(parts, client.Exited())
	}
	if f.finished {
		parts = append(parts, client.Matcher{Type: "command_finished"})
	}
	for _, m := range f.matchers {
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(m), &object); err != nil {
			return nil, cli.Usagef(`--matcher is not a JSON object, such as {"type":"bell"}: %w`, err)
		}
		parts = append(parts, json.RawMessage(m))
	}
	var m any
	switch {
	case len(parts) == 0:
		return nil, cli.Usagef("say what to wait for: TEXT, --regex, --output, --output-regex, --stable, --exit, --finished or --matcher")
	case several && len(parts) > 1 && f.conditions == "":
		return nil, cli.Usagef("there are several sessions, and several conditions: say with --conditions any or --conditions all how many of these have to hold in a session")
	case len(parts) == 1:
		m = parts[0]
	case f.conditions == "all", !several && f.all:
		m = client.Matcher{Type: "all", Value: parts}
	default:
		m = client.Matcher{Type: "any", Value: parts}
	}
	if f.not {
		m = client.Matcher{Type: "not", Value: m}
	}
	return m, nil
}

// warn warns about members that the server ignores.
func (f *conditionFlags) warn(w io.Writer) {
	for _, text := range f.matchers {
		var tree any
		if json.Unmarshal([]byte(text), &tree) == nil {
			for _, m := range unknown.Matcher(tree) {
				cli.Complain(w, fmt.Errorf("warning: --matcher: %s", m))
			}
		}
	}
}

func waitCommand(std cli.Stdio, f *Flags) *cobra.Command {
	var until conditionFlags
	var which selectFlags
	var since string
	var next, status, latched bool
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "wait [flags] ID... [TEXT]",
		Short: "Wait until a session shows a text, is still, or has ended",
		Long: `Wait until one of the conditions holds, or with --all all of them, and print what matched: the text,
what the expression captured, or how the program or command ended.

What stands behind the ID is the TEXT to wait for. Where a flag says what to wait for, each argument
is a session, and a text needs --text.

Text counts where a person watching would have seen it: on the screen, and in lines that scrolled off
during the wait or, with --since, were written after it. --output searches everything the program
writes, including line endings and escape sequences. --not waits until the condition no longer holds.

With several sessions, --any waits for the first in which the conditions hold, --all until they have
held in every one, and --each until every one has matched or ended, printing each match at once; give
one of the three. Each line then starts with the id: s2 exit 7. A session that ends without a match is
skipped while others can still match; with --all it ends the wait. For several conditions add
--conditions any or --conditions all.

--select KEY=VALUE waits for the sessions of which that is true, instead of naming them, including
those that are started meanwhile; KEY is tag, name, program, adapter, plugin or host, and all of
several have to be true. Sessions that had ended before count if the condition holds in them. All
arguments are then the TEXT.

With --latched a condition counts that held at any moment, however briefly: what was drawn and wiped
before anybody could look, since the wait began or since --since. If a wait ends without a match and
not all of that could be looked at, standard error says so.

To chain waits, --next prints the position just after the match for the next --since: of two lines
that came at once, neither is missed.

--exit prints how the program ended, such as exit 7, and returns 0, because that was waited for.
--status returns the program's own code instead, 128 plus the number of a signal; of several sessions
that of the one that ended, with --all the first that is not 0. If the wait itself fails the code is
then 124 for a timeout, otherwise 125.

If the wait times out, or can no longer match because the program ended, standard output shows what
each condition lacked, and the last screen.

Trailing blanks are cut from every row: look for '\$$', not '\$ $'.`,
		Example: `  ptywright wait s1 'tests passed' --timeout 5m
  ptywright wait s1 --regex '(?m)[$#]$'
  ptywright wait s1 --since $seq --regex '(?m)^(\d+) passed' --timeout 5m
  ptywright wait s1 --all --stable 300 --regex '\S'
  ptywright wait s1 --not --text 'loading'
  ptywright wait s1 --latched --since $seq --text 'connection lost'
  ptywright wait s1 s2 s3 --any --exit --timeout 1h
  ptywright wait --select tag=build --all --exit --timeout 10m
  ptywright wait s1 --exit --status || echo "it failed with $?"
  one=$(ptywright wait s1 --text one --next) && ptywright wait s1 --since $one --text two`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && c.Flags().Changed("select") {
				return nil
			}
			return cobra.MinimumNArgs(1)(c, args)
		},
		Annotations: map[string]string{cli.StatusNote: "with --status the program's own",
			cli.LeastNote: "0"},
		ValidArgsFunction: SessionIDs(0),
		RunE: func(c *cobra.Command, args []string) error {
			chosen, err := which.selection()
			if err != nil {
				return err
			}
			ids, text, err := until.split(c, args, chosen != nil)
			if err != nil {
				return err
			}
			several := chosen != nil || len(ids) > 1
			if text != "" {
				until.texts = append(until.texts, text)
			}
			if err := manySessions(ids); err != nil {
				return err
			}
			m, err := until.matcher(c, several)
			if err != nil {
				return err
			}
			switch {
			case status && (!until.exit || until.not):
				return cli.Usagef("--status is for --exit: there is another program's code to return only when that has ended")
			case since != "" && several:
				return cli.Usagef("--since is for one session: positions are each session's own")
			}
			if _, err := engine.ParsePosition(since); since != "" && err != nil {
				return cli.Usagef("--since is %q: give a whole number, such as 42, or a position of --next", since)
			}
			if err := cli.CheckLook(timeout); err != nil {
				return err
			}
			ctx, cancel := Patience(c.Context(), timeout)
			defer cancel()
			s, err := f.Connect(ctx)
			if err == nil {
				defer s.Close()
				until.warn(std.Err)
				cond := Condition{Matcher: m, Since: client.Position(since), Latched: latched, Timeout: timeout, Show: f.Show()}
				o := waitOptions{group: Group{ids, chosen}, several: several, next: next, status: status}
				switch {
				case until.all:
					o.until = client.UntilAll
				case until.each:
					o.until = client.UntilEach
				}
				if text != "" && chosen == nil {
					err = s.unlessSessions(ctx, args[1:])
				}
				if err == nil {
					err = f.wait(ctx, std, s, cond, o)
				}
			}
			if status {
				return ownCodes(f.Exit(c.Context(), err))
			}
			return err
		},
	}
	until.add(c)
	which.add(c)
	c.Flags().StringVar(&since, "since", "", "ignore what was there before this `POSITION`: the number that send printed, or that of --next")
	c.Flags().BoolVar(&latched, "latched", false, "also count what held for a moment and is over")
	c.Flags().BoolVar(&next, "next", false, "print the position just after the match instead of what matched")
	c.Flags().BoolVar(&status, "status", false, "with --exit, return the program's exit code")
	c.Flags().DurationVar(&timeout, "timeout", 30*time.Second, "wait at most this `TIME`, such as 500ms or 2m; 0 looks once")
	f.bareFlag(c)
	return c
}

// manySessions refuses sessions that are named twice.
func manySessions(ids []string) error {
	for i, id := range ids {
		switch {
		case id == "":
			return cli.Usagef("ID is empty")
		case slices.Contains(ids[:i], id):
			return cli.Usagef("%s is named twice", engine.Quote(id))
		}
	}
	return nil
}

// waitOptions say for which sessions to wait, and what to print.
type waitOptions struct {
	group   Group
	several bool
	until   client.Until // of several; "": any
	next    bool
	status  bool
}

// mostShown is how many screens are printed of a wait for several sessions that failed: more are no
// help to a person, who is told the other ids.
const mostShown = 8

// wait waits for sessions and prints the results. The error may be a program's exit status, if
// requested.
func (f *Flags) wait(ctx context.Context, std cli.Stdio, s *Server, cond Condition, o waitOptions) error {
	shown := 0
	var others []string
	var broken error // of standard output
	show := func(v Verdict) {
		if v.Evidence != nil && !f.JSON {
			if shown++; shown > mostShown {
				others = append(others, cli.OneLine(v.Session))
				return
			}
		}
		if cond.Latched && v.Evidence != nil && v.Evidence.Missed && !f.JSON {
			cli.Complain(std.Err, fmt.Errorf("warning: %s: not all that was shown is still kept, "+
				"so a moment may have been missed", cli.OneLine(v.Session)))
		}
		if err := f.printVerdict(std, v, o.several, o.next); broken == nil {
			broken = err
		}
	}
	var verdicts []Verdict
	if o.several {
		var err error
		if verdicts, err = s.WaitMany(ctx, o.group, o.until, cond, show); err != nil {
			return err
		}
	} else {
		w, err := s.Wait(ctx, o.group.IDs[0], cond)
		verdicts = []Verdict{{Session: o.group.IDs[0], Waited: w, Err: err}}
		show(verdicts[0])
	}
	if len(others) > 0 {
		fmt.Fprintf(std.Out, "== and %d more without a match: %s\n", len(others),
			strings.Join(others, " "))
	}
	if broken != nil {
		return broken
	}
	if err := Failed(verdicts); err != nil || !o.status {
		return err
	}
	for _, v := range verdicts {
		if exit := v.Exited(); exit != nil {
			if err := StatusOf(exit); err != nil {
				return err
			}
		}
	}
	return nil
}

// printVerdict prints the result for one session; named adds which it is.
func (f *Flags) printVerdict(std cli.Stdio, v Verdict, named, next bool) error {
	what := ""
	switch {
	case f.JSON && v.Raw != nil:
		f.Told = true
		_ = std.JSON(v.Raw) // standard output has the failure; return the wait's own error
		return nil
	case v.Evidence != nil:
		if named {
			fmt.Fprintf(std.Out, "== %s\n", cli.OneLine(v.Session))
		}
		printEvidence(std.Out, v.Evidence)
		return nil
	case v.Err != nil:
		return nil
	case next:
		what = string(v.Matched.Next)
	default:
		what = strings.ReplaceAll(v.What(), "\r\n", "\n")
	}
	lines := strings.Split(what, "\n") // an expression may capture several lines
	if named {
		for i := range lines {
			lines[i] = cli.OneLine(v.Session) + " " + lines[i]
		}
	}
	return cli.PrintLines(std.Out, lines)
}

// A Condition is what to wait for in a session.
type Condition struct {
	Matcher any             // the wire's
	Since   client.Position // "": everything counts
	Latched bool            // what held for a moment counts
	Timeout time.Duration
	Show    Show
}

// A Waited is the result of a wait: a match, or the evidence of why there was none.
type Waited struct {
	Raw      json.RawMessage  // the wire's object, with session and matched
	Matched  *client.Match    // nil: no match
	Evidence *client.Evidence // nil: a match, or the wait could not start
}

// waitGrace is how much longer than its timeout a wait may take: to connect, and to get the
// evidence from a loaded machine.
const waitGrace = 5 * time.Second

// Patience bounds everything that belongs to a wait with that timeout, [Connect] too.
func Patience(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, timeout+waitGrace, daemon.ErrLate)
}

// Wait waits until a condition holds. Errors: those of session.wait, with [Waited.Evidence] if it
// waited.
func (s *Server) Wait(ctx context.Context, id string, c Condition) (Waited, error) {
	more := map[string]any{"matcher": c.Matcher, "timeout_ms": c.Timeout.Milliseconds()}
	if c.Since != "" {
		more["since"] = c.Since
	}
	if c.Latched {
		more["latched"] = true
	}
	var w Waited
	ctx, cancel := Patience(ctx, c.Timeout)
	defer cancel()
	err := s.call(ctx, c.Timeout, "session.wait", params(id, more, c.Show), &w.Raw)
	if err == nil {
		w.Matched = new(client.Match)
		if err := json.Unmarshal(w.Raw, w.Matched); err != nil {
			return w, err
		}
		w.Raw = about(id, true, w.Raw)
		return w, nil
	}
	var e *client.Error
	if errors.As(err, &e) {
		if w.Evidence = e.Evidence(); w.Evidence != nil {
			w.Raw = about(id, false, e.Data)
		}
	}
	return w, err
}

// about adds the session, and whether it matched, to an object.
func about(id string, matched bool, object json.RawMessage) json.RawMessage {
	return with(object, map[string]any{"session": id, "matched": matched})
}

// What says in one line what matched: the text that an expression captured, the text that was
// looked for, how the program or its command ended, or else the condition.
func (w Waited) What() string {
	if w.Matched == nil {
		return ""
	}
	return say(&w.Matched.Outcome, w.Matched.Screen.Exit)
}

// Exited is how the program ended, if its end is what matched, or part of it; else nil.
func (w Waited) Exited() *client.Exit {
	if w.Matched == nil || !exited(&w.Matched.Outcome) {
		return nil
	}
	return w.Matched.Screen.Exit
}

func exited(o *client.Outcome) bool {
	return o.Kind == "process_exited" || slices.ContainsFunc(o.Parts, func(p client.Outcome) bool { return exited(&p) })
}

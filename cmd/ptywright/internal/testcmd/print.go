package testcmd

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/tuitest/script"
)

// people prints for people: a line for each script, and for each run that failed its step with the
// evidence and what to do.
type people struct {
	std  cli.Stdio
	many bool // scripts run more than once
}

const indent = "      "

// Result prints a run that failed, and what else of one people should know.
func (p *people) Result(r *script.Result) error {
	w := p.std.Out
	switch r.Outcome {
	case script.Failed:
		p.failed(w, r)
	case script.Interrupted:
		fmt.Fprintf(w, "STOP  %s: %s\n", p.title(r), cli.OneLine(r.Why))
	}
	if r.Outcome == script.Passed && r.Why != "" {
		fmt.Fprintf(w, "note  %s: %s\n", p.title(r), cli.OneLine(r.Why))
	}
	if r.Flaky {
		fmt.Fprintf(w, "FLAKY %s passed only when it ran the %s time\n", p.title(r), ordinal(r.Attempt))
	}
	for _, s := range r.Steps {
		switch {
		case r.Run == 1 && s.Note != "" && slices.Contains([]string{"size", "spawn", "exec"}, s.Verb):
			if s.Outcome != script.Skipped {
				fmt.Fprintf(w, "note  %s:%d: %s: %s\n", cli.OneLine(r.Script), s.Line, cli.OneLine(s.Text), cli.OneLine(s.Note))
			}
		case s.Failure != nil:
		case s.Vacuous:
			fmt.Fprintf(w, "note  %s:%d: vacuous: %s: %s\n", cli.OneLine(r.Script), s.Line, cli.OneLine(s.Text), cli.OneLine(s.Note))
		case s.Suspicious:
			fmt.Fprintf(w, "note  %s:%d: suspicious: %s: %s\n", cli.OneLine(r.Script), s.Line, cli.OneLine(s.Text), cli.OneLine(s.Note))
		}
	}
	for _, section := range r.Wrote {
		fmt.Fprintf(w, "wrote %s: %s\n", cli.OneLine(r.Script), section)
	}
	return nil
}

func ordinal(n int) string {
	switch n {
	case 2:
		return "second"
	case 3:
		return "third"
	}
	return fmt.Sprintf("%dth", n)
}

// title names a run.
func (p *people) title(r *script.Result) string {
	t := cli.OneLine(r.Script)
	if strings.Contains(r.Name, "@") {
		t += " at " + r.Size
	}
	if p.many {
		t += fmt.Sprintf(", run %d", r.Run)
	}
	return t
}

func (p *people) failed(w io.Writer, r *script.Result) {
	f, where := r.Failure, p.title(r)
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Failure != nil {
			f = s.Failure
			where = fmt.Sprintf("%s:%d", cli.OneLine(r.Script), s.Line) + strings.TrimPrefix(where, cli.OneLine(r.Script))
		}
	}
	if f == nil {
		fmt.Fprintf(w, "FAIL  %s\n", where)
		return
	}
	if f.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", cli.OneLine(r.Script), f.Line, f.Col)
	}
	fmt.Fprintf(w, "FAIL  %s: %s: %s\n", where, cli.OneLine(f.Doing), cli.OneLine(f.Why))
	for line := range strings.Lines(cli.Clean(f.Evidence)) {
		fmt.Fprintln(w, strings.TrimRight(indent+line, " \n"))
	}
	tell := func(what, text string) {
		if text != "" {
			fmt.Fprintf(w, "%s%s: %s\n", indent, what, cli.OneLine(text))
		}
	}
	tell("what to do", f.Next)
	if g := f.Golden; g != nil {
		tell("what was seen", g.Pending)
	}
	if r.Recording != "" {
		tell("see it", "ptywright play "+quoted(r.Recording))
	}
	tell("again", r.Again)
}

// Done prints a line for a script whose runs all passed, or were skipped.
func (p *people) Done(results []*script.Result) error {
	if len(results) == 0 {
		return nil
	}
	var took time.Duration
	passed, skipped, why := 0, 0, ""
	for _, r := range results {
		took += time.Duration(r.Took)
		switch r.Outcome {
		case script.Passed:
			passed++
		case script.Skipped:
			skipped, why = skipped+1, r.Why
		}
	}
	name := cli.OneLine(results[0].Script)
	runs := ""
	if len(results) > 1 {
		runs = fmt.Sprintf(" (%d runs)", len(results))
	}
	var err error
	switch {
	case skipped == len(results):
		if why != "" {
			why = ": " + cli.OneLine(why)
		}
		_, err = fmt.Fprintf(p.std.Out, "skip  %s%s\n", name, why)
	case passed+skipped == len(results):
		_, err = fmt.Fprintf(p.std.Out, "ok    %s %.2fs%s\n", name, took.Seconds(), runs)
	case p.many || len(results) > 1:
		_, err = fmt.Fprintf(p.std.Out, "FAIL  %s: %d of %d runs passed\n", name, passed, len(results))
	}
	return err
}

// End prints the totals.
func (p *people) End(s *Summary) error {
	var parts []string
	for _, n := range []struct {
		count int
		what  string
	}{{s.Passed, "passed"}, {s.Failed, "failed"}, {s.Skipped, "skipped"}, {s.Interrupted, "interrupted"},
		{s.Flaky, "flaky"}, {s.Vacuous, "vacuous steps"}, {s.Suspicious, "suspicious steps"}} {
		if n.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.count, n.what))
		}
	}
	if len(parts) == 0 {
		parts = []string{"nothing was run"}
	}
	_, err := fmt.Fprintf(p.std.Out, "%s in %.2fs\n", strings.Join(parts, ", "), time.Duration(s.Took).Seconds())
	return err
}

// lines prints JSON, a line for each result and one for the summary.
type lines struct{ std cli.Stdio }

// Result prints a result.
func (l *lines) Result(r *script.Result) error { return l.std.JSON(r) }

// Done prints nothing: each result was.
func (l *lines) Done([]*script.Result) error { return nil }

// End prints the summary.
func (l *lines) End(s *Summary) error {
	return l.std.JSON(struct {
		Summary *Summary `json:"summary"`
	}{s})
}

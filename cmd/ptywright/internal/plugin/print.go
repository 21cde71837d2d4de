package plugin

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
)

// Print writes a report for people: a line for each case, and all details of one that failed.
func (r *Report) Print(w io.Writer) {
	for i := range r.Cases {
		r.Cases[i].print(w)
	}
	fmt.Fprintf(w, "%s: %s\n", r.Plugin, count(r.Passed, "case", "as expected"))
	if r.Failed > 0 {
		fmt.Fprintf(w, "%s: %s\n", r.Plugin,
			count(r.Failed, "case",
				"not as expected; when the plugin is right, ptywright plugin test --update "+
					r.Folder))
	}
}

// count is "2 cases rest", with the noun in the right number.
func count(n int, noun, rest string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s %s", n, noun, rest)
}

func (r *Result) print(w io.Writer) {
	verdict := "ok   "
	if !r.OK {
		verdict = "FAIL "
	}
	fmt.Fprintf(w, "%s %s", verdict, cli.OneLine(r.Case))
	if len(r.States) > 0 {
		fmt.Fprintf(w, "  %s", cli.OneLine(strings.Join(shortened(r.States), " > ")))
	}
	fmt.Fprintln(w)
	if r.Updated != "" {
		fmt.Fprintf(w, "      written: %s\n", r.Updated)
	}
	for i := range r.Failures {
		f := &r.Failures[i]
		same := i > 0 && f.AtMS == r.Failures[i-1].AtMS && f.End == r.Failures[i-1].End
		f.print(w, same)
	}
}

// shortened drops the middle of a long list.
func shortened(list []string) []string {
	const most = 12
	if len(list) <= most {
		return list
	}
	out := append([]string{}, list[:most/2]...)
	return append(append(out, "..."), list[len(list)-most/2:]...)
}

// print leaves out what the plugin saw if it is already printed above.
func (f *Failure) print(w io.Writer, seen bool) {
	at := "at the end"
	if !f.End {
		at = fmt.Sprintf("at %v", time.Duration(f.AtMS)*time.Millisecond)
	}
	if f.Expected == nil && f.Got == nil {
		fmt.Fprintf(w, "      %s\n", cli.OneLine(f.Problem))
		return
	}
	fmt.Fprintf(w, "      %s: %s", at, cli.OneLine(f.What))
	if f.Problem != "" {
		fmt.Fprintf(w, " (%s)", cli.OneLine(f.Problem))
	}
	fmt.Fprintf(w, "\n        expected  %s\n        got       %s\n", inline(f.Expected),
		inline(f.Got))
	if seen {
		return
	}
	if f.State != "" {
		rule := "no rule decided"
		if f.Rule != "" && f.Rule != "none" {
			rule = fmt.Sprintf("rule %q decided", cli.OneLine(f.Rule))
		}
		fmt.Fprintf(w, "        state     %s: %s (%s)\n", cli.OneLine(f.State), rule,
			cli.OneLine(f.Evidence))
	}
	for _, n := range f.Nearly {
		fmt.Fprintf(w, "        nearly    rule %q (%s) lacks: %s\n", cli.OneLine(n.Rule),
			cli.OneLine(n.State), cli.OneLine(n.Lacks))
	}
	if f.Rows == 0 {
		return
	}
	fmt.Fprintf(w, "        screen    %dx%d, the cursor in row %d, column %d\n", f.Rows, f.Cols,
		f.Cursor[0]+1, f.Cursor[1]+1)
	for i, line := range f.Screen {
		fmt.Fprintf(w, "        %4d |%s\n", i+1, cli.OneLine(line))
	}
}

// inline is a value as one line of JSON.
func inline(value any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return cli.OneLine(fmt.Sprint(value))
	}
	return cli.OneLine(strings.TrimSuffix(b.String(), "\n"))
}

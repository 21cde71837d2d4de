package testreport

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ptywright/ptywright/tuitest/script"
)

// maxText bounds a text of a format, in bytes: a screen, or evidence with one.
const maxText = 256 << 10

// A count says how many results ended how.
type count struct{ all, failed, skipped, interrupted, flaky int }

func (c *count) add(r *script.Result) {
	c.all++
	switch r.Outcome {
	case script.Failed:
		c.failed++
	case script.Skipped:
		c.skipped++
	case script.Interrupted:
		c.interrupted++
	}
	if r.Flaky {
		c.flaky++
	}
}

func (c *count) String() string {
	s := fmt.Sprintf("%d passed, %d failed", c.all-c.failed-c.skipped-c.interrupted, c.failed)
	for _, more := range []struct {
		n    int
		what string
	}{{c.skipped, "skipped"}, {c.interrupted, "interrupted"}, {c.flaky, "flaky"}} {
		if more.n > 0 {
			s += fmt.Sprintf(", %d %s", more.n, more.what)
		}
	}
	return s
}

// The elements of JUnit's XML, as its readers have come to agree on them.
type (
	junitSuites struct {
		XMLName  xml.Name   `xml:"testsuites"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Time     string     `xml:"time,attr"`
		Suite    junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr"`
		Stamp    string      `xml:"timestamp,attr,omitempty"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		File    string        `xml:"file,attr"`
		Line    int           `xml:"line,attr,omitempty"`
		Time    string        `xml:"time,attr"`
		Failure *junitFailure `xml:"failure,omitempty"`
		Error   *junitFailure `xml:"error,omitempty"`
		Skipped *junitSkipped `xml:"skipped,omitempty"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	junitSkipped struct {
		Message string `xml:"message,attr"`
	}
)

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// JUnit writes a run as JUnit's XML; system-out of a test is the last screen.
func JUnit(w io.Writer, run []script.Result, took time.Duration) error {
	s := junitSuite{Name: "ptywright test", Time: seconds(took)}
	for n := range run {
		r := &run[n]
		if s.Stamp == "" && !r.Began.IsZero() {
			s.Stamp = r.Began.UTC().Format("2006-01-02T15:04:05")
		}
		line, _ := place(r)
		c := junitCase{Class: oneLine(strings.TrimSuffix(r.Script, script.Ext)), Name: oneLine(titleOf(r)),
			File: oneLine(r.Script), Line: line, Time: seconds(time.Duration(r.Took)),
			Out: clip(shownText(screenOf(r)), maxText)}
		if r.Flaky {
			c.Out = "flaky: it passed after an attempt that failed\n" + c.Out
		}
		s.Tests++
		_, why := blame(r)
		switch {
		case r.Outcome == script.Skipped:
			s.Skipped++
			c.Skipped = &junitSkipped{oneLine(r.Why)}
		case r.Outcome == script.Interrupted:
			s.Errors++
			c.Error = &junitFailure{"interrupted", oneLine(r.Why), ""}
		case r.Outcome == script.Failed && why != nil:
			s.Failures++
			c.Failure = &junitFailure{why.Reason, oneLine(why.Doing + ": " + why.Why), details(r, why)}
		case r.Outcome == script.Failed:
			s.Failures++
			c.Failure = &junitFailure{"failed", oneLine(r.Why), ""}
		}
		s.Cases = append(s.Cases, c)
	}
	suites := junitSuites{Name: s.Name, Tests: s.Tests, Failures: s.Failures, Errors: s.Errors,
		Skipped: s.Skipped, Time: s.Time, Suite: s}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(suites); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// details is a failure in several lines: where, what to do, and the evidence or what differs.
func details(r *script.Result, why *script.Failure) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s: %s\n", where(r), why.Doing, why.Why)
	if why.Next != "" {
		b.WriteString(why.Next + "\n")
	}
	if r.Again != "" {
		b.WriteString("run this again: " + r.Again + "\n")
	}
	if why.Golden != nil && why.Golden.Diff != "" {
		b.WriteString(why.Golden.Diff)
	} else {
		b.WriteString(why.Evidence)
	}
	return clip(shownText(b.String()), maxText)
}

// tapLine writes the line of a result, TAP version 14.
func tapLine(w io.Writer, n int, r *script.Result) error {
	escape := strings.NewReplacer(`\`, `\\`, "#", `\#`)
	ok := "ok"
	if r.Outcome == script.Failed || r.Outcome == script.Interrupted {
		ok = "not ok"
	}
	name := oneLine(strings.TrimSuffix(r.Script, script.Ext))
	if title := oneLine(titleOf(r)); !strings.HasSuffix(name, title) {
		name += " " + title
	}
	line := fmt.Sprintf("%s %d - %s", ok, n, escape.Replace(name))
	if r.Outcome == script.Skipped {
		line += " # SKIP " + escape.Replace(oneLine(r.Why))
	}
	if _, err := fmt.Fprintln(w, line); err != nil || ok == "ok" && !r.Flaky {
		return err
	}
	// The block is YAML; every value is written as JSON, which YAML has within it.
	var b strings.Builder
	b.WriteString("  ---\n")
	add := func(key string, value any) {
		text, err := json.Marshal(value)
		if err == nil {
			fmt.Fprintf(&b, "  %s: %s\n", key, text)
		}
	}
	if r.Flaky {
		add("flaky", true)
	} else {
		_, why := blame(r)
		if why == nil {
			why = &script.Failure{Why: r.Why, Reason: string(r.Outcome)}
		}
		line, col := place(r)
		add("message", oneLine(strings.TrimPrefix(why.Doing+": "+why.Why, ": ")))
		add("severity", "fail")
		add("reason", why.Reason)
		add("at", map[string]any{"file": oneLine(r.Script), "line": line, "column": col})
		if why.Next != "" {
			add("next", oneLine(why.Next))
		}
		if r.Again != "" {
			add("again", oneLine(r.Again))
		}
		add("details", details(r, why))
		if screen := screenOf(r); screen != "" {
			add("screen", clip(shownText(screen), maxText))
		}
	}
	b.WriteString("  ...\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// TAP writes a run as TAP version 14.
func TAP(w io.Writer, run []script.Result) error {
	if _, err := fmt.Fprintf(w, "TAP version 14\n1..%d\n", len(run)); err != nil {
		return err
	}
	for n := range run {
		if err := tapLine(w, n+1, &run[n]); err != nil {
			return err
		}
	}
	return nil
}

// truncate cuts a text to so many bytes, at a character.
func truncate(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

package testreport

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ptywright/ptywright/tuitest/script"
)

const (
	// maxSummary bounds what a step's summary may have, in bytes: the service drops one that has more
	// than 1 MiB.
	maxSummary = 1<<20 - 4096
	// maxEach bounds what one failure takes of it.
	maxEach = 24 << 10
	// maxAnnotation bounds an annotation's message, in bytes.
	maxAnnotation = 4 << 10
)

// annotation writes a result as a workflow command, which becomes a note at the line of the script:
// an error for a failure, a warning for what passed and should be looked at. root is the
// repository's folder, to which the service wants paths to be relative; "" leaves them.
func annotation(w io.Writer, r *script.Result, root string) error {
	file := r.Script
	if abs, err := filepath.Abs(file); err == nil && root != "" {
		if rel, err := filepath.Rel(root, abs); err == nil && filepath.IsLocal(rel) {
			file = rel
		}
	}
	file = filepath.ToSlash(file)
	say := func(kind string, line, col int, title, message string) error {
		where := "file=" + property(file)
		if line > 0 {
			where += fmt.Sprintf(",line=%d", line)
		}
		if col > 0 {
			where += fmt.Sprintf(",col=%d", col)
		}
		_, err := fmt.Fprintf(w, "::%s %s,title=%s::%s\n", kind, where, property(title),
			escaped(truncate(shownText(message), maxAnnotation)))
		return err
	}
	switch r.Outcome {
	case script.Failed, script.Interrupted:
		_, why := blame(r)
		if why == nil {
			why = &script.Failure{Doing: "run the script", Why: r.Why}
		}
		message := why.Doing + ": " + why.Why
		if why.Next != "" {
			message += "\n" + why.Next
		}
		if r.Again != "" {
			message += "\nrun this again: " + r.Again
		}
		if why.Golden != nil && why.Golden.Diff != "" {
			message += "\n" + why.Golden.Diff
		}
		line, col := place(r)
		return say("error", line, col, titleOf(r), message)
	}
	var problems []error
	if r.Flaky {
		problems = append(problems, say("warning", 1, 0, titleOf(r)+" is flaky",
			"it passed after an attempt that failed"))
	}
	for n := range r.Steps {
		if s := &r.Steps[n]; s.Vacuous || s.Suspicious {
			problems = append(problems, say("warning", s.Line, s.Col, titleOf(r), s.Text+": "+s.Note))
		}
	}
	return errors.Join(problems...)
}

// escaped escapes a command's message, property a value of its properties.
func escaped(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(oneLine(s))
}

// quietly writes lines that a program may have printed so that the service takes none of them for a
// command: commands are off until a word comes that nobody can know.
func quietly(w io.Writer, text string) error {
	word := rand.Text()
	_, err := fmt.Fprintf(w, "::stop-commands::%s\n%s\n::%s::\n", word, strings.TrimSuffix(shownText(text), "\n"), word)
	return err
}

// Summary is a run as Markdown, of at most so many bytes: a table of how many ended how, and the
// failures.
func Summary(run []script.Result, took time.Duration, most int) string {
	var c count
	for n := range run {
		c.add(&run[n])
	}
	var m markdown
	mark := "✅"
	if c.failed+c.interrupted > 0 {
		mark = "❌"
	}
	fmt.Fprintf(&m, "### %s ptywright test: %s in %v\n\n", mark, c.String(), took.Round(time.Millisecond))
	const left = "%d more failures are left out: see the run's report.\n"
	more := 0
	for n := range run {
		r := &run[n]
		if r.Outcome != script.Failed && r.Outcome != script.Interrupted && !r.Flaky {
			continue
		}
		part := clipMarkdown(r)
		if m.Len()+len(part) > most-len(left)-16 {
			more++
			continue
		}
		m.WriteString(part)
	}
	if more > 0 {
		fmt.Fprintf(&m, left, more)
	}
	return m.String()
}

// clipMarkdown is a failure in a summary.
func clipMarkdown(r *script.Result) string {
	var m markdown
	if r.Flaky {
		fmt.Fprintf(&m, "- ⚠️ %s is flaky: it passed on attempt %d\n\n", plain(titleOf(r)), r.Attempt)
		return m.String()
	}
	step, why := blame(r)
	if why == nil {
		why = &script.Failure{Doing: "run the script", Why: r.Why}
	}
	fmt.Fprintf(&m, "#### %s\n\n%s", plain(titleOf(r)), code(where(r)))
	if step != nil {
		fmt.Fprintf(&m, " %s", code(clip(step.Text, 200)))
	}
	fmt.Fprintf(&m, "\n\n%s: %s\n\n", plain(clip(why.Doing, 500)), plain(clip(why.Why, 500)))
	if why.Next != "" {
		fmt.Fprintf(&m, "%s\n\n", plain(clip(why.Next, 500)))
	}
	if r.Again != "" {
		m.fence("sh", clip(r.Again, 500))
	}
	switch {
	case why.Golden != nil && why.Golden.Diff != "":
		m.fence("diff", clip(why.Golden.Diff, maxEach))
	case why.Evidence != "":
		m.fence("", clip(why.Evidence, maxEach))
	}
	return m.String()
}

// appendSummary adds a run to the file of a step's summary, as far as there is room.
func appendSummary(path string, run []script.Result, took time.Duration) (err error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	room := maxSummary - int(min(info.Size(), maxSummary))
	if room < 1024 {
		return nil // others have filled it
	}
	_, err = io.WriteString(f, Summary(run, took, room))
	return err
}

package testreport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/tuitest/script"
)

// Formats are what a run can be written as on standard output, besides for people.
var Formats = []string{"junit", "tap", "github"}

// Flags say where a run is reported.
type Flags struct {
	Dir    string // a folder; "": none
	Format string // one of Formats; "": for people
}

// Add adds the flags to a command.
func (f *Flags) Add(flags *pflag.FlagSet) {
	flags.StringVar(&f.Dir, "report", "", "write a report to this `DIRECTORY`: a folder for each failure, junit.xml, summary.md")
	flags.StringVar(&f.Format, "format", "", "print the run as `FORMAT`: junit, tap or github")
}

// Check refuses a format that is none.
func (f *Flags) Check() error {
	if f.Format != "" && !slices.Contains(Formats, f.Format) {
		return cli.Usagef("--format is %q: give junit, tap or github", f.Format)
	}
	return nil
}

// A Writer reports the results of a run as they come. It is safe for concurrent use; its methods wait
// for the disk.
type Writer struct {
	flags  Flags
	out    io.Writer
	getenv func(string) string

	mu      sync.Mutex
	run     []script.Result
	folders map[string]bool
	begun   bool // the first line of a format is written
}

// New returns a writer that prints to out. It asks getenv for what the service says of itself
// (GITHUB_WORKSPACE, GITHUB_STEP_SUMMARY) and for nothing else.
func New(f Flags, out io.Writer, getenv func(string) string) *Writer {
	return &Writer{flags: f, out: out, getenv: getenv, folders: map[string]bool{}}
}

// Taken reports whether standard output belongs to a format, and so nothing for people goes there.
func (w *Writer) Taken() bool { return w.flags.Format != "" }

// Result reports a result. Its recording is read before Result returns. dir is the folder of a
// failure; "" when none was asked for, or it did not fail.
func (w *Writer) Result(r script.Result) (dir string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	failed := r.Outcome == script.Failed || r.Outcome == script.Interrupted
	if w.flags.Dir != "" && failed {
		dir = filepath.Join(w.flags.Dir, w.name(&r))
		if err = WriteFailure(dir, r); err != nil {
			err = fmt.Errorf("report of %s: %w", r.Name, err)
		}
	}
	w.run = append(w.run, kept(r))
	switch w.flags.Format {
	case "tap":
		if !w.begun {
			_, perr := io.WriteString(w.out, "TAP version 14\n")
			err = errors.Join(err, perr)
			w.begun = true
		}
		err = errors.Join(err, tapLine(w.out, len(w.run), &r))
	case "github":
		// No name makes a command of the line.
		_, perr := fmt.Fprintf(w.out, "%s %s\n", r.Outcome, strings.ReplaceAll(oneLine(titleOf(&r)), "##[", "## ["))
		err = errors.Join(err, perr, annotation(w.out, &r, w.getenv("GITHUB_WORKSPACE")))
		if _, why := blame(&r); failed && why != nil {
			err = errors.Join(err, quietly(w.out, details(&r, why)))
		}
	}
	return dir, err
}

// kept is what is kept of a result until the run ends: not its recording, which may be gone, and of
// its screens only the last, since there may be thousands of results.
func kept(r script.Result) script.Result {
	r.Recording = ""
	r.Steps = slices.Clone(r.Steps)
	for n := range r.Steps[:max(0, len(r.Steps)-1)] {
		r.Steps[n].Screen = ""
	}
	return r
}

// name returns the name of a result's folder, which no other result of the run has.
func (w *Writer) name(r *script.Result) string {
	name := folder(r)
	for n := 2; w.folders[name]; n++ {
		name = fmt.Sprintf("%s-%d", folder(r), n)
	}
	w.folders[name] = true
	return name
}

// End reports the whole run, once all results are in.
func (w *Writer) End(took time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var problems []error
	switch w.flags.Format {
	case "tap":
		if !w.begun {
			_, err := io.WriteString(w.out, "TAP version 14\n")
			problems = append(problems, err)
		}
		_, err := fmt.Fprintf(w.out, "1..%d\n", len(w.run))
		problems = append(problems, err)
	case "junit":
		problems = append(problems, JUnit(w.out, w.run, took))
	case "github":
		var c count
		for n := range w.run {
			c.add(&w.run[n])
		}
		_, err := fmt.Fprintf(w.out, "%s in %v\n", c.String(), took.Round(time.Millisecond))
		problems = append(problems, err)
		if path := w.getenv("GITHUB_STEP_SUMMARY"); path != "" {
			if err := appendSummary(path, w.run, took); err != nil {
				problems = append(problems, fmt.Errorf("step summary: %w", err))
			}
		}
	}
	if w.flags.Dir == "" {
		return errors.Join(problems...)
	}
	if err := os.MkdirAll(w.flags.Dir, 0o777); err != nil {
		return errors.Join(append(problems, err)...)
	}
	var junit bytes.Buffer
	err := JUnit(&junit, w.run, took)
	results, err2 := json.MarshalIndent(w.run, "", "  ")
	for _, f := range []struct {
		name string
		text []byte
		err  error
	}{
		{"junit.xml", junit.Bytes(), err},
		{"results.json", append(results, '\n'), err2},
		{"summary.md", []byte(Summary(w.run, took, maxSummary)), nil},
	} {
		if f.err == nil {
			f.err = os.WriteFile(filepath.Join(w.flags.Dir, f.name), f.text, 0o644)
		}
		problems = append(problems, f.err)
	}
	return errors.Join(problems...)
}

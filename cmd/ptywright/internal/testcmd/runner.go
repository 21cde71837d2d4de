package testcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/progress"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/serve"
	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/redact"
	"github.com/ptywright/ptywright/tuitest/script"
)

// Options say how scripts are run.
type Options struct {
	Update     golden.Update
	CI         bool // nothing is written
	Repeat     int  // runs of each script, at least 1
	Retries    int  // further attempts of a run that failed
	Jobs       int  // scripts side by side, at least 1
	Shard      Shard
	LastFailed bool
	Strict     bool
	Stress     bool
	Seed       uint64 // of the first run; each further one has the next
	Timeout    time.Duration
	Inherit    []string
}

// A Shard is part I of N, from 1; the zero Shard is all.
type Shard struct{ I, N int }

// of returns the shard's part of the scripts.
func (s Shard) of(files []string) []string {
	if s.N == 0 {
		return files
	}
	var out []string
	for i, f := range files {
		if i%s.N == s.I-1 {
			out = append(out, f)
		}
	}
	return out
}

// A Reporter tells of results as they come, in no order of the scripts, and of the end. Its methods
// are called from one goroutine.
type Reporter interface {
	Result(r *script.Result) error
	// Done is called when all runs of a script are done.
	Done(results []*script.Result) error
	End(s *Summary) error
}

// A Summary is what came of all runs.
type Summary struct {
	Scripts     int           `json:"scripts"`
	Passed      int           `json:"passed"` // runs
	Failed      int           `json:"failed"`
	Skipped     int           `json:"skipped"`
	Interrupted int           `json:"interrupted"`
	Flaky       int           `json:"flaky"` // of those that passed
	Vacuous     int           `json:"vacuous"`
	Suspicious  int           `json:"suspicious"`
	Took        script.Millis `json:"took_ms"`
	Recordings  string        `json:"recordings,omitempty"` // the folder of those that were kept
}

func (s *Summary) add(r *script.Result) {
	switch r.Outcome {
	case script.Passed:
		s.Passed++
	case script.Failed:
		s.Failed++
	case script.Skipped:
		s.Skipped++
	case script.Interrupted:
		s.Interrupted++
	}
	if r.Flaky {
		s.Flaky++
	}
	for _, step := range r.Steps {
		if step.Vacuous {
			s.Vacuous++
		}
		if step.Suspicious {
			s.Suspicious++
		}
	}
}

// find returns the scripts that arguments name: files as they are, and those below folders, each
// once, in order.
func find(args []string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	add := func(path string) {
		if !seen[filepath.Clean(path)] {
			seen[filepath.Clean(path)] = true
			out = append(out, path)
		}
	}
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil {
			return nil, cli.Usagef("%w", err)
		}
		if !info.IsDir() && strings.EqualFold(filepath.Ext(arg), ".tape") {
			word := cli.ShellWord(arg)
			return nil, cli.Usagef("%s is a tape: ptywright tape %s draws it, and "+
				"ptywright test import %s -o %s makes a script of it", cli.OneLine(arg), word, word,
				cli.ShellWord(strings.TrimSuffix(arg, filepath.Ext(arg))+script.Ext))
		}
		if !info.IsDir() {
			add(arg)
			continue
		}
		before := len(seen)
		// With a separator at its end a link to a folder is that folder.
		err = filepath.WalkDir(arg+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, script.Ext) {
				return err
			}
			if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
				add(filepath.Clean(path)) // a link that leads nowhere fails as a script
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(seen) == before {
			return nil, cli.Usagef("%s has no scripts: their names end in %s", arg, script.Ext)
		}
	}
	return out, nil
}

// unread is the result of a script that cannot be read.
func unread(path string, err error) *script.Result {
	name := strings.TrimSuffix(filepath.Base(path), script.Ext)
	f := script.FailureOf(path, err)
	f.Why = redact.Default.String(f.Why)
	return &script.Result{Script: path, Name: name, Outcome: script.Failed, Failure: f,
		Steps: []script.StepResult{}, Began: time.Now(), Attempt: 1, Run: 1, Why: f.Why}
}

// A runner runs scripts.
type runner struct {
	Options
	std       cli.Stdio
	reporters []Reporter
	watch     *serve.Watcher
	state     *state
	summary   Summary
	files     int

	dir  string // of this run alone
	kept string // in it, the recordings of runs that failed
}

func (r *runner) run(ctx context.Context, files []string) (err error) {
	began := time.Now()
	if r.state, err = openState(); err != nil {
		r.std.Tell("--last-failed will not know of this run: %v", err)
	}
	if r.LastFailed {
		files = slices.DeleteFunc(files, func(f string) bool { return !r.state.failed(f) })
		if len(files) == 0 {
			r.std.Tell("none of these scripts failed when it ran last")
		}
	}
	files = r.Shard.of(files)
	r.files = len(files)
	if r.dir, err = os.MkdirTemp("", runFolder); err != nil {
		return err
	}
	r.kept = filepath.Join(r.dir, failedFolder)
	defer r.clean()

	var unguard func(context.Context) error
	r.watch, unguard = serve.Guard(r.std.Err)
	defer func() {
		if left := unguard(ctx); left != nil && err == nil {
			err = left
		}
	}()
	if r.Stress {
		stop, err := busy(r.Jobs)
		if err != nil {
			return err
		}
		defer stop()
	}

	bar := progress.New(r.std.Err, len(files), "test")
	defer bar.Done()
	bar.Beside(r.std.Out)

	type done struct {
		results []*script.Result // of one run, or of all of a script
		whole   bool
	}
	work, told := make(chan string), make(chan done)
	var workers sync.WaitGroup
	for range min(r.Jobs, max(len(files), 1)) {
		workers.Go(func() {
			for path := range work {
				all := r.script(ctx, path, func(x *script.Result) { told <- done{[]*script.Result{x}, false} })
				told <- done{all, true}
			}
		})
	}
	go func() {
		defer close(told)
		defer workers.Wait()
		defer close(work)
		for _, path := range files {
			select {
			case work <- path:
			case <-ctx.Done():
				return
			}
		}
	}()
	for d := range told {
		if d.whole {
			bar.Add(1)
			r.state.note(d.results)
			err = errors.Join(err, r.each(func(x Reporter) error { return x.Done(d.results) }))
			continue
		}
		r.summary.add(d.results[0])
		err = errors.Join(err, r.each(func(x Reporter) error { return x.Result(d.results[0]) }))
	}
	r.summary.Took = script.Millis(time.Since(began))
	return errors.Join(err, r.finish(ctx))
}

func (r *runner) each(tell func(Reporter) error) error {
	var all []error
	for _, x := range r.reporters {
		if err := tell(x); err != nil {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// end tells of results that are all there are.
func (r *runner) end(ctx context.Context, results []*script.Result) error {
	var err error
	for _, x := range results {
		r.summary.add(x)
		err = errors.Join(err, r.each(func(p Reporter) error { return p.Result(x) }))
	}
	err = errors.Join(err, r.each(func(p Reporter) error { return p.Done(results) }))
	return errors.Join(err, r.finish(ctx))
}

// finish ends the reports; the error is the exit code.
func (r *runner) finish(ctx context.Context) error {
	s := &r.summary
	s.Scripts = r.files
	if r.kept != "" && hasFiles(r.kept) {
		s.Recordings = r.kept
	}
	if err := r.each(func(x Reporter) error { return x.End(s) }); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return cli.ExitCode(cli.ExitInterrupted)
	case s.Failed > 0, r.Strict && s.Flaky > 0:
		return cli.ExitCode(cli.ExitError)
	}
	return nil
}

func hasFiles(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) > 0
}

// clean removes what the run needs no longer: all but the recordings that were kept, and those of older
// runs.
func (r *runner) clean() {
	if hasFiles(r.kept) {
		prune(filepath.Dir(r.dir))
		return
	}
	_ = os.RemoveAll(r.dir) // the system does it later
}

// script runs a script as often as it is to be, at each of its sizes.
func (r *runner) script(ctx context.Context, path string, tell func(*script.Result)) (all []*script.Result) {
	s, err := script.Load(path)
	if err != nil {
		x := unread(path, err)
		tell(x)
		return []*script.Result{x}
	}
	passed := true
	for run := 1; run <= r.Repeat && ctx.Err() == nil; run++ {
		for _, size := range s.Sizes {
			for attempt := 1; attempt <= 1+r.Retries; attempt++ {
				x := r.once(ctx, s, size, run, attempt)
				last := x.Outcome != script.Failed || attempt == 1+r.Retries
				if !last { // it is told when it is known how it ends
					continue
				}
				x.Flaky = x.Outcome == script.Passed && attempt > 1
				passed = passed && x.Outcome == script.Passed
				all = append(all, x)
				tell(x)
				break
			}
			if ctx.Err() != nil {
				break
			}
		}
	}
	if passed && !r.CI && len(all) > 0 {
		_ = s.DropPending() // nothing is left to review
	}
	return all
}

// once runs a script once.
func (r *runner) once(ctx context.Context, s *script.Script, size script.Size, run, attempt int) *script.Result {
	name := fmt.Sprintf("%s@%v-%d-%d", s.Name(), size, run, attempt)
	o := script.Options{Size: size, Update: r.Update, CI: r.CI, Strict: r.Strict, Timeout: r.Timeout,
		Inherit: r.Inherit, Watch: r.watch}
	again := []string{"ptywright", "test"}
	if r.Stress {
		seed := r.Seed + uint64(run-1)
		o.Stress = &script.Stress{Seed: seed}
		again = append(again, "--stress", "--seed", fmt.Sprint(seed))
	}
	var err error
	if o.Dir, err = os.MkdirTemp(r.dir, scriptFolder); err != nil {
		return unread(s.Path, err)
	}
	defer removeAll(o.Dir)
	x, goldens := script.Run(ctx, s, o)
	x.Run, x.Attempt = run, attempt
	x.Again = strings.Join(append(again, quoted(s.Path)), " ")
	if x.Recording != "" {
		x.Recording = r.recording(x, name)
	}
	if x.Outcome != script.Interrupted {
		r.keep(s, x, goldens)
	}
	return x
}

// removeAll removes a folder, also where a program has taken away its own rights to what is in it.
func removeAll(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(dir) // what is left is in the temporary folder
}

// recording keeps the recording of a run that failed, and returns where it is.
func (r *runner) recording(x *script.Result, name string) string {
	if x.Outcome != script.Failed {
		return ""
	}
	if err := os.MkdirAll(r.kept, 0o700); err != nil {
		return ""
	}
	for i := 0; ; i++ { // scripts of different folders may have one name
		path := filepath.Join(r.kept, name+".cast")
		if i > 0 {
			path = filepath.Join(r.kept, fmt.Sprintf("%s-%d.cast", name, i+1))
		}
		switch err := os.Link(x.Recording, path); {
		case err == nil:
			return path
		case errors.Is(err, fs.ErrExist):
			continue
		}
		if os.Rename(x.Recording, path) != nil {
			return ""
		}
		return path
	}
}

// keep writes the golden screens of a run, and those for a review beside the script.
func (r *runner) keep(s *script.Script, x *script.Result, g script.Goldens) {
	failed := func(doing string, err error) {
		x.Outcome = script.Failed
		if x.Failure == nil {
			x.Failure = &script.Failure{Doing: doing, Why: err.Error(), Reason: "failed",
				Next: "see that the script and its folder can be written"}
		}
	}
	if len(g.Write) > 0 {
		if err := s.Keep(g.Write); err != nil {
			failed("write golden screens into "+s.Path, err)
		} else {
			for _, w := range g.Write {
				x.Wrote = append(x.Wrote, w.Section)
			}
		}
	}
	if len(g.Pending) > 0 {
		path, err := s.KeepPending(g.Pending)
		if err != nil {
			failed("write what was seen beside "+s.Path, err)
			return
		}
		for i := range x.Steps {
			if f := x.Steps[i].Failure; f != nil && f.Golden != nil && f.Golden.Actual != nil {
				f.Golden.Pending = path
			}
		}
	}
}

// load reads a recording.
func load(path string) (*record.Recording, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, cli.Usagef("%w", err)
	}
	defer f.Close()
	rec, err := record.Load(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return rec, nil
}

// quoted quotes an argument for a shell, if it has to be.
func quoted(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+@%=:,") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

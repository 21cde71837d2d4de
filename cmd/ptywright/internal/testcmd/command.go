package testcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/ending"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/testreport"
	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/tuitest/script"
)

// flags are the flags of test.
type flags struct {
	update, shard, replay string
	repeat, retries, jobs int
	lastFailed, strict    bool
	stress, json          bool
	seed                  uint64
	timeout               time.Duration
	inherit               []string
	report                testreport.Flags
}

// maxRuns bounds --repeat: a thousand a minute is fast.
const maxRuns = 100_000

// Command is test.
func Command(std cli.Stdio) *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "test [flags] FILE...",
		Short: "Test terminal programs with scripts and golden screens",
		Long: `Run scripts (*.ptw) that drive a program on a terminal of its own, wait for what it shows, and compare
whole screens with golden ones that stand in the script. FILE may be a folder: all scripts below it.

  size 6x40
  spawn ./app
  expect text 'value'
  mask clock /\d\d:\d\d:\d\d/
  screen main

A golden screen that is missing is written, once the screen is still; where CI is set and not empty
nothing is ever written, and a missing one fails. One that differs fails and leaves what was seen in
FILE.new; --update changed writes it into the script. PTYWRIGHT_UPDATE says the same as --update.

Programs get an environment of their own, with nothing of yours but PATH and the caches of Go, npm and
pip: an empty HOME, fixed TERM, COLORTERM, LANG and TZ. --inherit names further variables. They end with their script, also after
Ctrl-C. The recording of a script that failed is kept; secrets are hidden in it, and in all that is
printed.

Scripts run side by side, up to --jobs of them; the sizes and runs of one script run one after the
other. --stress disturbs them: busy processes beside them, output in odd pieces and late, and where a
script allows it the terminal's size changes and comes back.

The exit code is 0 when all passed or were skipped, 1 when one failed, 130 after Ctrl-C, and 2 for
wrong use, such as a file that does not exist. docs/test.md describes the scripts.`,
		Example: `  ptywright test hello.ptw
  ptywright test --repeat 100 --stress tests
  ptywright test --update changed tests/menu.ptw
  ptywright test --replay failed.cast tests/menu.ptw`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, std, args) },
	}
	fs := c.Flags()
	fs.StringVar(&f.update, "update", "", "`WHICH` golden screens to write: changed, missing, all or none "+
		"(default: missing; none where CI is set)")
	fs.IntVar(&f.repeat, "repeat", 1, "run each script `N` times")
	fs.IntVar(&f.retries, "retries", 0, "run a script that failed up to `N` more times; one that passes then is reported as flaky")
	fs.IntVar(&f.jobs, "jobs", 0, "run up to `N` scripts at the same time (default: one per processor)")
	fs.StringVar(&f.shard, "shard", "", "run only part `I/N` of the scripts, such as 1/4")
	fs.BoolVar(&f.lastFailed, "last-failed", false, "run only the scripts that failed when they ran last")
	fs.BoolVar(&f.strict, "strict", false, "fail steps that show nothing (vacuous, suspicious), and scripts that are flaky")
	fs.BoolVar(&f.stress, "stress", false, "disturb the runs")
	fs.Uint64Var(&f.seed, "seed", 0, "with --stress: disturb as the run with this `NUMBER` was (default: a new one)")
	fs.DurationVar(&f.timeout, "timeout", 30*time.Second, "how long a step may take, unless it says otherwise")
	fs.StringArrayVar(&f.inherit, "inherit", nil, "give the programs this variable of the environment, by its `NAME`")
	fs.StringVar(&f.replay, "replay", "", "judge the script over this recording `CAST` of it, without running its program")
	fs.BoolVar(&f.json, "json", false, "print JSON, one object a line: each result, and a summary")
	f.report.Add(fs)
	c.AddCommand(busyCommand(std))
	return c
}

// options checks the flags.
func (f *flags) options(c *cobra.Command, getenv func(string) string) (o Options, err error) {
	o = Options{Repeat: f.repeat, Retries: f.retries, Jobs: f.jobs, LastFailed: f.lastFailed,
		Strict: f.strict, Timeout: f.timeout, Inherit: f.inherit, CI: getenv("CI") != ""}
	for _, n := range []struct {
		flag               string
		value, least, most int
	}{{"repeat", f.repeat, 1, maxRuns}, {"retries", f.retries, 0, 100}, {"jobs", f.jobs, 0, 1024}} {
		if n.value < n.least || n.value > n.most {
			return o, cli.Usagef("--%s is %d: give %d to %d", n.flag, n.value, n.least, n.most)
		}
	}
	if c.Flags().Changed("timeout") {
		if err := cli.CheckTimeout(f.timeout); err != nil {
			return o, err
		}
	}
	if err := f.report.Check(); err != nil {
		return o, err
	}
	if f.json && f.report.Format != "" {
		return o, cli.Usagef("--json and --format are two formats: give one of them")
	}
	if o.Jobs == 0 {
		o.Jobs = runtime.GOMAXPROCS(0)
	}
	if f.stress {
		o.Stress, o.Seed = true, f.seed
		if !c.Flags().Changed("seed") {
			o.Seed = uint64(time.Now().UnixNano()) % 1e9
		}
	} else if c.Flags().Changed("seed") {
		return o, cli.Usagef("--seed needs --stress")
	}
	if o.Update, err = golden.UpdateFrom(getenv); err != nil {
		return o, cli.Usagef("%w", err)
	}
	if f.update != "" {
		o.Update = golden.Update(f.update)
		known := []golden.Update{golden.UpdateChanged, golden.UpdateMissing, golden.UpdateAll, golden.UpdateNone}
		if !slices.Contains(known, o.Update) {
			return o, cli.Usagef("--update is %q: give changed, missing, all or none", f.update)
		}
	}
	if o.CI && o.Update != golden.UpdateNone {
		if f.update != "" {
			return o, cli.Usagef("--update %s: golden screens are not written where CI is set: unset it, or leave --update out", f.update)
		}
		o.Update = golden.UpdateNone
	}
	if f.shard != "" {
		if o.Shard, err = parseShard(f.shard); err != nil {
			return o, err
		}
	}
	return o, nil
}

// parseShard reads "1/4".
func parseShard(s string) (Shard, error) {
	a, b, ok := strings.Cut(s, "/")
	i, err := strconv.Atoi(a)
	n, err2 := strconv.Atoi(b)
	if !ok || err != nil || err2 != nil || n < 1 || i < 1 || i > n {
		return Shard{}, cli.Usagef("--shard is %q: give I/N, such as 1/4", s)
	}
	return Shard{i, n}, nil
}

func (f *flags) run(c *cobra.Command, std cli.Stdio, args []string) error {
	o, err := f.options(c, os.Getenv)
	if err != nil {
		return err
	}
	files, err := find(args)
	if err != nil {
		return err
	}
	var reporters []Reporter
	report := &reports{std: std, w: testreport.New(f.report, std.Out, os.Getenv)}
	switch {
	case f.json:
		reporters = append(reporters, &lines{std: std})
	case f.report.Format == "":
		reporters = append(reporters, &people{std: std, many: o.Repeat > 1})
		report.people = true
	}
	if f.report != (testreport.Flags{}) {
		reporters = append(reporters, report)
	}
	if f.replay != "" {
		return f.judge(c.Context(), std, files, o, reporters)
	}
	ctx, hurry, stop := ending.Until(c.Context(), true)
	defer stop()
	// A second Ctrl-C waits for nothing: the watcher ends the programs.
	impatient := context.AfterFunc(hurry, func() { os.Exit(cli.ExitInterrupted) })
	defer impatient()
	r := &runner{Options: o, std: std, reporters: reporters}
	return r.run(ctx, files)
}

// judge judges one script over a recording.
func (f *flags) judge(ctx context.Context, std cli.Stdio, files []string, o Options, reporters []Reporter) error {
	if len(files) != 1 {
		return cli.Usagef("--replay judges one script, and %d are given", len(files))
	}
	if f.repeat > 1 || f.retries > 0 || f.stress || f.lastFailed || f.shard != "" {
		return cli.Usagef("--replay runs nothing: leave out --repeat, --retries, --stress, --last-failed and --shard")
	}
	rec, err := load(f.replay)
	if err != nil {
		return err
	}
	r := &runner{Options: o, std: std, reporters: reporters, files: 1}
	s, err := script.Load(files[0])
	if err != nil {
		return r.end(ctx, []*script.Result{unread(files[0], err)})
	}
	size := script.Size{Rows: rec.Rows, Cols: rec.Cols}
	if !slices.Contains(s.Sizes, size) {
		return cli.Usagef("%s is a recording of %v, and %s has other sizes", f.replay, size, files[0])
	}
	result, goldens, err := script.Judge(ctx, s, rec, script.Options{Size: size, Strict: o.Strict, CI: o.CI})
	if errors.Is(err, script.ErrNoMarks) {
		return fmt.Errorf("%s: %w", f.replay, err)
	} else if err != nil {
		return err
	}
	result.Recording = f.replay
	r.keep(s, result, goldens)
	return r.end(ctx, []*script.Result{result})
}

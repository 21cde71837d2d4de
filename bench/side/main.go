// Command side (no stability promise) does the same four jobs with several tools, and prints a
// table: the lines that each takes, the time as a ratio, and how many runs failed beside busy
// loops.
//
//	go run ./bench/side -runs 50
//
// The jobs: shell runs eight command lines in one bash and tells the output and exit code of each;
// vim writes a file; ready reads the port from a line that a server prints in two pieces; fzf
// chooses an entry. A run fails when its result is not exactly right, or does not come. The output
// of a command is compared without line ends at its end, which a screen does not show.
//
// jobs.py, jobs.mjs and jobs.sh have the jobs as a user of each tool would write them. A tool that
// is not installed is left out, and said to be.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ptywright/ptywright/internal/npm"
)

var jobs = []string{"shell", "vim", "ready", "fzf"}

// commands are those of the job shell.
var commands = []string{
	"echo hello", `printf 'a\nb  \nc'`, "false", "seq 200", `printf 'tab\there\n'`,
	"ls /nonexistent", `printf 'ü 日本 %0300d\n' 7`, "(exit 42)",
}

var (
	ready = []string{"sh", "-c", "printf 'listening on 4'; sleep 0.3; echo 711; exec sleep 100"}
	fzf   = []string{"sh", "-c",
		`printf '%s\n' apple banana cherry | fzf | sed 's/^/chosen /'; exec sleep 100`}
)

// bound ends a run that hangs.
const bound = 90 * time.Second

// A tool is one column of the table.
type tool struct {
	name, file string
	command    func(s *side, job, argument string) *exec.Cmd
	missing    func(s *side) string // what is not installed
}

var tools = []tool{
	{"ptywright", "jobs.py", python("ptywright"),
		func(s *side) string { return s.python("import ptywright") }},
	{"pexpect", "jobs.py", python("pexpect"),
		func(s *side) string { return s.python("import pexpect.replwrap") }},
	{"node-pty", "jobs.mjs", func(s *side, job, argument string) *exec.Cmd {
		return exec.Command("node", s.file("jobs.mjs"), job, argument)
	}, func(s *side) string {
		return s.fails(exec.Command("node", "-e",
			`const r = require("node:module").createRequire(process.env.NODE_PEERS_DIR + "/x.js"); r("node-pty"); r("@xterm/headless")`))
	}},
	{"tmux", "jobs.sh", tmux, func(s *side) string { return s.fails(exec.Command("tmux", "-V")) }},
}

func python(name string) func(*side, string, string) *exec.Cmd {
	return func(s *side, job, argument string) *exec.Cmd {
		return exec.Command(s.interpreter, s.file("jobs.py"), name, job, argument)
	}
}

func tmux(s *side, job, argument string) *exec.Cmd {
	var list []string
	if json.Unmarshal([]byte(argument), &list) != nil {
		list = make([]string, 1)
		_ = json.Unmarshal([]byte(argument), &list[0]) // a text of ours
	}
	return exec.Command("bash", append([]string{s.file("jobs.sh"), job}, list...)...)
}

// side is one run of the table.
type side struct {
	root, scratch, interpreter string
	env                        []string
	runs, busy, pairs          int
}

func (s *side) file(name string) string { return filepath.Join(s.root, "bench", "side", name) }

func (s *side) python(code string) string {
	return s.fails(exec.Command(s.interpreter, "-c", code))
}

// fails returns the last line that a command says when it fails.
func (s *side) fails(cmd *exec.Cmd) string {
	cmd.Env = s.env
	out, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return cmp.Or(lines[len(lines)-1], err.Error())
}

func main() {
	s := &side{}
	bin := flag.String("bin", "", "use this ptywright `binary` (default: build ./cmd/ptywright)")
	only := flag.String("only", "", "only tools and jobs that match this `regex`, as in tmux/vim")
	flag.IntVar(&s.runs, "runs", 50, "runs beside busy loops")
	flag.IntVar(&s.busy, "busy", 2*runtime.NumCPU(), "busy loops")
	flag.IntVar(&s.pairs, "pairs", 9,
		"runs of which the median time is taken, with nothing beside them")
	flag.StringVar(&s.interpreter, "python", "/usr/bin/python3", "Python with pexpect")
	flag.Parse()
	if err := s.run(*bin, *only, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "side:", err)
		os.Exit(1)
	}
}

// A cell is what is known of one tool's job.
type cell struct {
	lines  int
	took   []time.Duration
	failed int
	why    string // the first failure
}

func (s *side) run(bin, only string, out io.Writer) (err error) {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if s.root, err = rootOf("."); err != nil {
		return err
	}
	if s.scratch, err = os.MkdirTemp("", "side"); err != nil {
		return err
	}
	defer os.RemoveAll(s.scratch)
	if bin == "" {
		bin = filepath.Join(s.scratch, "ptywright")
		build := exec.Command("go", "build", "-o", bin, "./cmd/ptywright")
		build.Dir, build.Stderr = s.root, os.Stderr
		if err := build.Run(); err != nil {
			return err
		}
	}
	s.env = append(os.Environ(), "PTYWRIGHT_BIN="+bin,
		"PYTHONPATH="+
			filepath.Join(s.root, "sdk", "python", "src"), "LANG=C.UTF-8", "LC_ALL=C.UTF-8",
		"HOME="+s.scratch) // nobody's dot files
	if modules, err := npm.Modules(s.root, "side"); err == nil && os.Getenv("NODE_PEERS_DIR") == "" {
		s.env = append(s.env, "NODE_PEERS_DIR="+filepath.Dir(modules))
	}
	cells := map[string]*cell{}
	var present []tool
	for _, t := range tools {
		if why := t.missing(s); why != "" {
			fmt.Fprintf(out, "%s is left out: %s\n", t.name, why)
			continue
		}
		present = append(present, t)
		source, err := os.ReadFile(s.file(t.file))
		if err != nil {
			return err
		}
		for _, job := range jobs {
			if wanted.MatchString(t.name + "/" + job) {
				cells[t.name+"/"+job] = &cell{lines: count(string(source), t.name, job)}
			}
		}
	}
	each := func(n int, judge func(c *cell, took time.Duration, err error)) {
		for range n { // in turns, so that load from outside meets all
			for _, job := range jobs {
				for _, t := range present {
					if c := cells[t.name+"/"+job]; c != nil {
						took, err := s.do(t, job)
						judge(c, took, err)
					}
				}
			}
		}
	}
	each(s.pairs, func(c *cell, took time.Duration, err error) { c.judge(took, err) })
	stop := busy(s.busy)
	each(s.runs, func(c *cell, _ time.Duration, err error) { c.judge(0, err) })
	stop()
	s.table(out, present, cells)
	return nil
}

func (c *cell) judge(took time.Duration, err error) {
	if err != nil {
		if c.failed++; c.why == "" {
			c.why = err.Error()
		}
	} else if took > 0 {
		c.took = append(c.took, took)
	}
}

// rootOf is the folder of the module that has dir.
func rootOf(dir string) (string, error) {
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}")
	cmd.Dir = dir
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// count counts the lines of code between the marks of a tool's job: without blank lines and
// comments.
func count(source, tool, job string) (n int) {
	inside := false
	for line := range strings.Lines(source) {
		switch line = strings.TrimSpace(line); {
		case strings.Contains(line, "["+tool+" ") && slices.Contains(strings.Fields(line), job):
			inside = true
		case line == "# ]" || line == "// ]":
			inside = false
		case inside && line != "" && !strings.HasPrefix(line, "#") &&
			!strings.HasPrefix(line, "//"):
			n++
		}
	}
	return n
}

// do runs a job once and judges its result.
func (s *side) do(t tool, job string) (time.Duration, error) {
	file := filepath.Join(s.scratch, "file.txt")
	if err := os.WriteFile(file, []byte("first\n"), 0o600); err != nil {
		return 0, err
	}
	argument, err := json.Marshal(map[string]any{"shell": commands, "vim": file, "ready": ready,
		"fzf": fzf}[job])
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	made := t.command(s, job, string(argument))
	cmd := exec.CommandContext(ctx, made.Path, made.Args[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = s.env, &stdout, &stderr, time.Second
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%w: %.500s", err, strings.TrimSpace(stderr.String()))
	}
	took := time.Since(began)
	return took, s.judge(t, job, file, stdout.String())
}

// A ran is the output of a command, and its exit code.
type ran struct {
	Output string
	Code   int
}

func (s *side) judge(t tool, job, file, said string) error {
	var got, want any
	switch job {
	case "vim":
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		got, want = string(text), "hello\nfirst\n"
	case "ready":
		got, want = strings.TrimSpace(said), "4711"
	case "fzf":
		got, want = strings.Trim(strings.TrimSpace(said), `"`), "banana"
	case "shell":
		rans, err := parse(t, said)
		if err != nil {
			return err
		}
		got, want = rans, s.expected()
	}
	if all, ok := got.([]ran); ok && len(all) == len(commands) {
		for i, w := range want.([]ran) {
			if all[i] != w {
				return fmt.Errorf("%s: got %d and %.200q, want %d and %.200q", commands[i],
					all[i].Code, all[i].Output, w.Code, w.Output)
			}
		}
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("got %.300q, want %.300q", fmt.Sprint(got), fmt.Sprint(want))
	}
	return nil
}

// parse reads what the job shell has printed.
func parse(t tool, said string) (all []ran, err error) {
	if t.name != "tmux" {
		var rows [][2]any
		if err := json.Unmarshal([]byte(said), &rows); err != nil {
			return nil, fmt.Errorf("%w: %.300q", err, said)
		}
		for _, r := range rows {
			output, _ := r[0].(string)
			code, _ := r[1].(float64)
			all = append(all, ran{strings.TrimRight(output, "\n"), int(code)})
		}
		return all, nil
	}
	for _, part := range regexp.MustCompile(`(?m)^--\d+--\n`).Split(said, -1) {
		if m := regexp.MustCompile(`(?s)^(.*?)\n*<(\d+)>`).FindStringSubmatch(part); m != nil {
			code, _ := strconv.Atoi(m[2]) // digits
			all = append(all, ran{strings.TrimRight(m[1], "\n"), code})
		}
	}
	return all, nil
}

// expected is what bash itself says.
func (s *side) expected() (all []ran) {
	for _, c := range commands {
		cmd := exec.Command("bash", "-c", c)
		cmd.Env = s.env
		out, _ := cmd.CombinedOutput() // the exit code is what counts
		all = append(all, ran{strings.TrimRight(string(out), "\n"), cmd.ProcessState.ExitCode()})
	}
	return all
}

// busy keeps processors busy until stop is called.
func busy(n int) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var all []*exec.Cmd
	for range n {
		cmd := exec.CommandContext(ctx, "sh", "-c", fmt.Sprintf("while kill -0 %d 2>/dev/null; do :; done", os.Getpid()))
		if cmd.Start() == nil {
			all = append(all, cmd)
		}
	}
	return func() {
		cancel()
		for _, cmd := range all {
			_ = cmd.Wait() // killed
		}
	}
}

// table prints what was found: times as a ratio to the fastest tool of the job.
func (s *side) table(out io.Writer, present []tool, cells map[string]*cell) {
	fmt.Fprintf(out,
		"\n| job | tool | lines | time | failed of %d |\n| --- | --- | --- | --- | --- |\n",
		s.runs+s.pairs)
	for _, job := range jobs {
		fastest := time.Duration(0)
		for _, t := range present {
			if c := cells[t.name+"/"+job]; c != nil && len(c.took) > 0 &&
				(fastest == 0 || median(c.took) < fastest) {
				fastest = median(c.took)
			}
		}
		for _, t := range present {
			c := cells[t.name+"/"+job]
			if c == nil {
				continue
			}
			ratio := "-"
			if len(c.took) > 0 {
				ratio = fmt.Sprintf("%.2f", median(c.took).Seconds()/fastest.Seconds())
			}
			fmt.Fprintf(out, "| %s | %s | %d | %s | %d |\n", job, t.name, c.lines, ratio, c.failed)
		}
	}
	for _, t := range present {
		for _, job := range jobs {
			if c := cells[t.name+"/"+job]; c != nil && c.why != "" {
				fmt.Fprintf(out, "\n%s, %s: %s\n", t.name, job, c.why)
			}
		}
	}
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

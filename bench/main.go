//go:build linux

package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

func fatal(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...)
	os.Exit(1)
}

// bench is one run: its paths, and how much to do.
type bench struct {
	dir      string   // scratch; short, since Unix sockets live in it
	subject  []string // the command that starts ptywright
	stub     []string // the command that starts the server that parses nothing
	self     string   // this program, which is also every child and yardstick
	repeats  int
	mb       int // of one throughput corpus
	samples  int // of a latency, per repeat
	requests int
	sessions int
	flood    int64         // bytes
	frames   int           // bytes of frames that the past is asked about
	noise    int           // noisy sessions during a latency measurement
	rest     time.Duration // how long idle sessions are watched
}

func main() {
	// The other programs of a run are this one, under other names.
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "child":
			child(os.Args[2:])
			return
		case "serve":
			serveStub(os.Args[2:])
			return
		case "mcp":
			serveNothing()
			return
		case "lines":
			serveLines(os.Args[2:])
			return
		case "test": // the stub of a runner, which runs nothing
			return
		}
	}
	bin := flag.String("bin", "", "measure this ptywright `binary` (default: build ./cmd/ptywright)")
	only := flag.String("only", "", "measure only what matches this `regex`: "+strings.Join(names(), ", "))
	repeats := flag.Int("repeats", 5, "runs of each side, alternating; their median is given")
	sessions := flag.Int("sessions", 1000, "idle sessions")
	floodMB := flag.Int64("flood", 100, "size of the flood in `MB`")
	mb := flag.Int("mb", 16, "size of each throughput corpus in `MB`")
	flag.Parse()
	wanted, err := regexp.Compile(*only)
	if err != nil || flag.NArg() > 0 || *repeats < 1 || *sessions < 1 || *floodMB < 1 || *mb < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*bin, wanted, bench{repeats: *repeats, mb: *mb, samples: 100, requests: 100_000, sessions: *sessions,
		flood: *floodMB * 1e6, frames: 1 << 20, noise: 50, rest: 5 * time.Second}, os.Stdout); err != nil {
		fatal("%v", err)
	}
}

// run writes the table to out, row by row.
func run(bin string, wanted *regexp.Regexp, b bench, out io.Writer) (err error) {
	if b.dir, err = os.MkdirTemp("", "ptyb"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if bin == "" {
		bin = filepath.Join(b.dir, "ptywright")
		build := exec.Command("go", "build", "-o", bin, "./cmd/ptywright")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("build ./cmd/ptywright: %w; run in the project's root, or give -bin", err)
		}
	}
	b.subject, b.stub = []string{bin, "serve"}, []string{b.self, "serve"}
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d cores, %s, load average %.4s at the start; medians of %d runs of each side, alternating.\n\n",
		runtime.NumCPU(), runtime.Version(), load, b.repeats)
	fmt.Fprintln(out, "| what | ptywright | beside it | ratio | bar | met |")
	fmt.Fprintln(out, "| --- | ---: | ---: | ---: | --- | --- |")
	for _, m := range measurements {
		if !wanted.MatchString(m.name) {
			continue
		}
		rows, err := m.measure(&b)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		for _, r := range rows {
			r.print(out)
		}
	}
	return nil
}

// row is one line of the table. A row without a bar is for information.
type row struct {
	what, ours, beside string
	ratio              float64 // ours to the yardstick's; 0 for none
	bar                string
	met                bool
}

func (r row) print(out io.Writer) {
	ratio, met := "", ""
	if r.ratio > 0 {
		ratio = fmt.Sprintf("%.2f", r.ratio)
	}
	if r.bar != "" {
		met = map[bool]string{true: "yes", false: "NO"}[r.met]
	}
	fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s |\n", r.what, r.ours, r.beside, ratio, r.bar, met)
}

// median is the median of samples, which it sorts; quantile returns any other quantile.
func median(samples []float64) float64 { return quantile(samples, 0.5) }

func quantile(samples []float64, q float64) float64 {
	slices.Sort(samples)
	return samples[min(len(samples)-1, int(q*float64(len(samples))))]
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1e3 }

// alternate runs ours and beside in turn, so that outside load affects both.
func (b *bench) alternate(ours, beside func() error) error {
	for range b.repeats {
		if err := ours(); err != nil {
			return fmt.Errorf("ptywright: %w", err)
		}
		if err := beside(); err != nil {
			return fmt.Errorf("yardstick: %w", err)
		}
	}
	return nil
}

// once measures ptywright and then the stub server.
func once[T any](b *bench, one func(argv []string) (T, error)) (ours, stub T, err error) {
	if ours, err = one(b.subject); err != nil {
		return ours, stub, fmt.Errorf("ptywright: %w", err)
	}
	if stub, err = one(b.stub); err != nil {
		return ours, stub, fmt.Errorf("yardstick: %w", err)
	}
	return ours, stub, nil
}

// on runs work against a fresh server.
func (b *bench) on(argv []string, work func(s *server, c *conn) error) error {
	s, err := startServer(b.dir, argv)
	if err != nil {
		return err
	}
	defer s.stop()
	c, err := s.dial()
	if err != nil {
		return err
	}
	defer c.c.Close()
	if err := work(s, c); err != nil {
		return fmt.Errorf("%w: %s", err, s.said())
	}
	return nil
}

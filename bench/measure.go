//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// measurements are all measurements, in the order of the table.
var measurements = []struct {
	name    string
	measure func(*bench) ([]row, error)
}{
	{"throughput", (*bench).throughput},
	{"recording", (*bench).recording},
	{"latency", (*bench).latencies},
	{"repl", (*bench).repl},
	{"mcp", (*bench).mcp},
	{"requests", (*bench).requestRate},
	{"startup", (*bench).startup},
	{"idle", (*bench).idle},
	{"flood", (*bench).floods},
	{"past", (*bench).past},
	{"test", (*bench).scripts},
}

func names() (all []string) {
	for _, m := range measurements {
		all = append(all, m.name)
	}
	return all
}

// throughput measures from the spawn of a program that prints a file until a mark at its end is
// matched and answered, beside a PTY reader that parses nothing; and the processor time that a
// megabyte costs the server, beside the server that parses nothing. Neither has a bar: the
// difference is thread wake-ups, and bench/peers compares with tools that have a screen.
func (b *bench) throughput() (rows []row, err error) {
	for _, c := range corpora {
		file := filepath.Join(b.dir, "corpus")
		if err := generate(file, c.unit, b.mb*1e6); err != nil {
			return nil, err
		}
		info, err := os.Stat(file)
		if err != nil {
			return nil, err
		}
		mb := float64(info.Size()) / 1e6
		argv := []string{"/bin/sh", "-c", `cat "$0"; printf 'OUT-%s' OVER`, file}
		var ours, bare, cost, least []float64
		read := func(s *server, w *conn, speeds, costs *[]float64) error {
			used, err := s.cpu()
			if err != nil {
				return err
			}
			begin := time.Now()
			session, err := w.spawn(argv...)
			if err != nil {
				return err
			}
			if err := w.wait(session, "OUT-OVER"); err != nil {
				return err
			}
			*speeds = append(*speeds, mb/time.Since(begin).Seconds())
			later, err := s.cpu()
			if err != nil {
				return err
			}
			*costs = append(*costs, milliseconds(later-used)/mb)
			return w.end(session)
		}
		err = b.on(b.subject, func(s *server, w *conn) error {
			return b.on(b.stub, func(stub *server, beside *conn) error {
				return b.alternate(func() error { return read(s, w, &ours, &cost) }, func() error {
					took, err := readUntil(argv, "OUT-OVER")
					bare = append(bare, mb/took.Seconds())
					if err != nil {
						return err
					}
					return read(stub, beside, new([]float64), &least)
				})
			})
		})
		if err != nil {
			return nil, err
		}
		o, l := median(ours), median(bare)
		spent, beside := median(cost), median(least)
		ratio := 0.0 // none if the time is too short for the kernel's clock
		if beside > 0 {
			ratio = spent / beside
		}
		rows = append(rows,
			row{"throughput, " + c.name, fmt.Sprintf("%.0f MB/s", o),
				fmt.Sprintf("%.0f MB/s, PTY reader", l), o / l, "", false},
			row{"processor time, " + c.name, fmt.Sprintf("%.1f ms/MB", spent),
				fmt.Sprintf("%.1f ms/MB, stub server", beside), ratio, "", false})
	}
	return rows, nil
}

// recording measures the throughput of a session recorded as a redacted asciicast, beside the same
// session without.
func (b *bench) recording() (rows []row, err error) {
	for _, c := range corpora {
		file := filepath.Join(b.dir, "corpus")
		if err := generate(file, c.unit, b.mb*1e6); err != nil {
			return nil, err
		}
		info, err := os.Stat(file)
		if err != nil {
			return nil, err
		}
		var with, without []float64
		one := func(w *conn, record bool, speeds *[]float64) error {
			dir, err := os.MkdirTemp(b.dir, "r")
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir)
			session, err := w.spawn("/bin/sh", "-c", `read go; cat "$0"; printf 'OUT-%s' OVER`, file)
			if err != nil {
				return err
			}
			if record {
				if err := w.call("session.record_start", object{"session": session, "dir": dir}, nil); err != nil {
					return err
				}
			}
			begin := time.Now()
			if err := w.send(session, "\n"); err != nil {
				return err
			}
			if err := w.wait(session, "OUT-OVER"); err != nil {
				return err
			}
			*speeds = append(*speeds, float64(info.Size())/1e6/time.Since(begin).Seconds())
			return w.end(session)
		}
		err = b.on(b.subject, func(_ *server, w *conn) error {
			return b.alternate(func() error { return one(w, true, &with) }, func() error { return one(w, false, &without) })
		})
		if err != nil {
			return nil, err
		}
		o, l := median(with), median(without)
		rows = append(rows, row{"recorded and redacted, " + c.name, fmt.Sprintf("%.0f MB/s", o), fmt.Sprintf("%.0f MB/s, not recorded", l),
			o / l, "at least 0.80", o/l >= 0.80})
	}
	return rows, nil
}

// latencies measures from a child's write of a mark until the client has the answer of the wait for
// it, beside the server that parses nothing.
func (b *bench) latencies() (rows []row, err error) {
	for _, noisy := range []int{0, b.noise} {
		var ours, bare []float64
		one := func(argv []string, samples *[]float64) func() error {
			return func() error {
				return b.on(argv, func(s *server, c *conn) error {
					for range noisy {
						if _, err := c.spawn(b.self, "child", "noisy"); err != nil {
							return err
						}
					}
					got, err := b.marks(c)
					*samples = append(*samples, got...)
					return err
				})
			}
		}
		if err := b.alternate(one(b.subject, &ours), one(b.stub, &bare)); err != nil {
			return nil, err
		}
		what := "byte to answer, alone"
		if noisy > 0 {
			what = fmt.Sprintf("byte to answer, beside %d noisy sessions", noisy)
		}
		rows = append(rows, timeRows(what, ours, bare, 1.25, 2)...)
	}
	return rows, nil
}

// timeRows are the median in milliseconds with a bar on its ratio, and the 99th percentile with a
// bar on itself.
func timeRows(what string, ours, bare []float64, most, mostP99 float64) []row {
	o, l := median(ours), median(bare)
	p, q := quantile(ours, 0.99), quantile(bare, 0.99)
	rows := []row{
		{what, fmt.Sprintf("%.3f ms", o), fmt.Sprintf("%.3f ms, stub server", l), o / l, fmt.Sprintf("at most %.2f", most), o/l <= most},
		{what + ", p99", fmt.Sprintf("%.2f ms", p), fmt.Sprintf("%.2f ms, stub server", q), p / q, "", false},
	}
	if mostP99 > 0 {
		rows[1].bar, rows[1].met = fmt.Sprintf("under %.0f ms", mostP99), p < mostP99
	}
	return rows
}

// marks measures b.samples waits on a child that stamps its writes.
func (b *bench) marks(c *conn) (samples []float64, err error) {
	file := filepath.Join(b.dir, "stamps")
	session, err := c.spawn(b.self, "child", "marks", file)
	if err != nil {
		return nil, err
	}
	if err := c.wait(session, "CHILD-UP"); err != nil {
		return nil, err
	}
	answered := make([]time.Duration, b.samples)
	for i := range answered {
		if err := c.send(session, strconv.Itoa(i)+"\n"); err != nil {
			return nil, err
		}
		if err := c.wait(session, "MK"+strconv.Itoa(i)+"_"); err != nil {
			return nil, err
		}
		answered[i] = monotonic()
	}
	// The last stamp is written after the mark, so it may still be missing: ask for one more.
	if err := c.send(session, "end\n"); err != nil {
		return nil, err
	}
	if err := c.wait(session, "MKend_"); err != nil {
		return nil, err
	}
	stamps, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for i, s := range strings.Fields(string(stamps)) {
		at, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return nil, err
		}
		if i < len(answered) {
			samples = append(samples, milliseconds(answered[i]-time.Duration(at)))
		}
	}
	if len(samples) != b.samples {
		return nil, fmt.Errorf("%d stamps for %d marks", len(samples), b.samples)
	}
	return samples, c.end(session)
}

// turn sends a line to a REPL and waits for its output.
func turn(c *conn, session string, i int) (time.Duration, error) {
	begin := time.Now()
	n := strconv.Itoa(i)
	if err := c.send(session, n+"\n"); err != nil {
		return 0, err
	}
	err := c.wait(session, "R"+n+".")
	return time.Since(begin), err
}

func (b *bench) startREPL(c *conn) (session string, err error) {
	if session, err = c.spawn(b.self, "child", "repl"); err != nil {
		return "", err
	}
	return session, c.wait(session, "CHILD-UP")
}

// repl measures turns of a program that answers each line: sent, read, answered, matched.
func (b *bench) repl() ([]row, error) {
	var ours, bare []float64
	one := func(argv []string, samples *[]float64) func() error {
		return func() error {
			return b.on(argv, func(_ *server, c *conn) error {
				session, err := b.startREPL(c)
				for i := 0; err == nil && i < 2*b.samples; i++ {
					var took time.Duration
					took, err = turn(c, session, i)
					*samples = append(*samples, milliseconds(took))
				}
				return err
			})
		}
	}
	err := b.alternate(one(b.subject, &ours), one(b.stub, &bare))
	if err != nil {
		return nil, err
	}
	return timeRows("REPL turn", ours, bare, 1.25, 0), nil
}

// listReply is a server's answer to request, for the loop that only answers.
const listReply = `{"jsonrpc":"2.0","id":100000,"result":{"sessions":[]}}`

// requestRate measures small requests over one connection, beside a loop over lines.
func (b *bench) requestRate() ([]row, error) {
	var ours, bare []float64
	one := func(argv []string, samples *[]float64) func() error {
		return func() error {
			return b.on(argv, func(s *server, _ *conn) error {
				rate, err := s.requestsPerSecond(b.requests)
				*samples = append(*samples, rate)
				return err
			})
		}
	}
	err := b.alternate(one(b.subject, &ours), one([]string{b.self, "lines", listReply}, &bare))
	if err != nil {
		return nil, err
	}
	o, l := median(ours), median(bare)
	return []row{{"requests, Unix socket, 64 in flight", fmt.Sprintf("%.0f/s", o), fmt.Sprintf("%.0f/s, line loop", l),
		o / l, "at least 0.75", o/l >= 0.75}}, nil
}

// startup measures from the start of the process to its first answer on stdio.
func (b *bench) startup() ([]row, error) {
	var ours, bare []float64
	one := func(argv []string, samples *[]float64) func() error {
		return func() error {
			for range 5 {
				took, err := firstAnswer(argv)
				if err != nil {
					return err
				}
				*samples = append(*samples, milliseconds(took))
			}
			return nil
		}
	}
	err := b.alternate(one(slices.Concat(b.subject, []string{"--stdio"}), &ours),
		one([]string{b.self, "lines", listReply, "--stdio"}, &bare))
	if err != nil {
		return nil, err
	}
	o, l := median(ours), median(bare)
	return []row{{"process start to first answer", fmt.Sprintf("%.1f ms", o), fmt.Sprintf("%.1f ms, bare Go server", l),
		o / l, "under 3", o/l < 3}}, nil
}

// idle measures the cost of idle sessions.
func (b *bench) idle() ([]row, error) {
	type cost struct{ kib, create, cpu float64 }
	one := func(argv []string) (got cost, err error) {
		err = b.on(argv, func(s *server, c *conn) error {
			before, err := s.kilobytes("VmRSS")
			if err != nil {
				return err
			}
			begin := time.Now()
			for range b.sessions {
				if _, err := c.spawn("/bin/sleep", "3600"); err != nil {
					return err
				}
			}
			got.create = milliseconds(time.Since(begin)) / float64(b.sessions)
			after, err := s.kilobytes("VmRSS")
			if err != nil {
				return err
			}
			got.kib = (after - before) / float64(b.sessions)
			<-time.After(b.rest / 5) // until creating them is finished
			used, err := s.cpu()
			if err != nil {
				return err
			}
			<-time.After(b.rest)
			later, err := s.cpu()
			got.cpu = milliseconds(later - used)
			return err
		})
		return got, err
	}
	o, l, err := once(b, one)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%d idle sessions", b.sessions)
	return []row{
		{what + ", resident each", fmt.Sprintf("%.0f KiB", o.kib), fmt.Sprintf("%.0f KiB, stub server", l.kib), o.kib / l.kib,
			"under 100 KiB", o.kib < 100},
		{fmt.Sprintf("%s, CPU in %v", what, b.rest), fmt.Sprintf("%.0f ms", o.cpu), fmt.Sprintf("%.0f ms, stub server", l.cpu), 0,
			"none (one tick of 10 ms)", o.cpu <= 10},
		{what + ", to create one", fmt.Sprintf("%.2f ms", o.create), fmt.Sprintf("%.2f ms, stub server", l.create), o.create / l.create, "", false},
	}, nil
}

// floods measures one session that prints without pause while another is used.
func (b *bench) floods() ([]row, error) {
	type cost struct{ growth, p99, rate float64 }
	one := func(argv []string) (got cost, err error) {
		err = b.on(argv, func(s *server, c *conn) error {
			session, err := b.startREPL(c)
			if err != nil {
				return err
			}
			before, err := s.kilobytes("VmRSS")
			if err != nil {
				return err
			}
			other, err := s.dial()
			if err != nil {
				return err
			}
			defer other.c.Close()
			begin := time.Now()
			flood, err := other.spawn(b.self, "child", "flood", strconv.FormatInt(b.flood, 10))
			if err != nil {
				return err
			}
			over := make(chan error, 1)
			go func() { over <- other.wait(flood, "FLOOD-OVER") }()
			var turns []float64
			for i := 0; ; i++ {
				select {
				case err := <-over:
					if err != nil {
						return err
					}
					got.rate = float64(b.flood) / 1e6 / time.Since(begin).Seconds()
					peak, err := s.kilobytes("VmHWM")
					got.growth, got.p99 = (peak-before)/1024, quantile(turns, 0.99)
					return err
				default:
				}
				took, err := turn(c, session, i)
				if err != nil {
					return err
				}
				turns = append(turns, milliseconds(took))
			}
		})
		return got, err
	}
	o, l, err := once(b, one)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("flood of %d MB", b.flood/1e6)
	return []row{
		{what + ", resident growth", fmt.Sprintf("%.1f MiB", o.growth), fmt.Sprintf("%.1f MiB, stub server", l.growth), 0, "under 64 MiB", o.growth < 64},
		{what + ", another session's turn, p99", fmt.Sprintf("%.1f ms", o.p99), fmt.Sprintf("%.1f ms, stub server", l.p99), o.p99 / l.p99, "under 50 ms", o.p99 < 50},
		{what + ", speed", fmt.Sprintf("%.0f MB/s", o.rate), fmt.Sprintf("%.0f MB/s, stub server", l.rate), o.rate / l.rate, "", false},
	}, nil
}

package pty

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// BenchmarkOutput moves 64 MiB through a terminal in raw mode: by Next, and by plain
// blocking reads of a thread, which is as fast as one reader can be.
func BenchmarkOutput(b *testing.B) {
	const size = 64 << 20
	read := map[string]func(p *PTY) int{
		"Next": func(p *PTY) (n int) {
			for {
				chunk, err := p.Next()
				if err != nil {
					return n
				}
				n += len(chunk)
			}
		},
		"blocking": func(p *PTY) (n int) {
			p.conn.Control(func(fd uintptr) {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				unix.SetNonblock(int(fd), false)
				buf := make([]byte, readSize)
				for {
					m, err := unix.Read(int(fd), buf)
					if m <= 0 || err != nil {
						return
					}
					n += m
				}
			})
			return n
		},
	}
	for name, f := range read {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				p, err := Start(self("spew", fmt.Sprint(size)))
				if err != nil {
					b.Fatal(err)
				}
				if n := f(p); n != size {
					b.Fatalf("%d bytes", n)
				}
				p.Wait()
				p.Close()
			}
		})
	}
}

func spew(size int) {
	setRaw(0)
	line := []byte(strings.Repeat(strings.Repeat("x", 79)+"\n", 400))
	for size > 0 {
		n, err := os.Stdout.Write(line[:min(size, len(line))])
		must(err)
		size -= n
	}
}

// BenchmarkKill shows what ending a program with an empty tree costs: one look at the
// process table before and one after.
func BenchmarkKill(b *testing.B) {
	for b.Loop() {
		p, err := Start(Command{Path: "/proc/self/exe", Args: []string{roleArg, "cat"}})
		if err != nil {
			b.Fatal(err)
		}
		if err := p.Kill(b.Context()); err != nil {
			b.Fatal(err)
		}
		p.Close()
	}
}

// BenchmarkLook is one look at the process table.
func BenchmarkLook(b *testing.B) {
	n := 0
	for b.Loop() {
		t, err := look()
		if err != nil {
			b.Fatal(err)
		}
		n = len(t.procs)
	}
	b.ReportMetric(float64(n), "processes")
}

// BenchmarkIdle reports what 200 parked sessions cost this process, each.
func BenchmarkIdle(b *testing.B) {
	const n = 200
	for b.Loop() {
		before := resident(b)
		var ps []*PTY
		ended := make(chan error, n)
		for range n {
			p, err := Start(Command{Path: "cat", Env: os.Environ()})
			if err != nil {
				b.Fatal(err)
			}
			ps = append(ps, p)
			go func() {
				_, err := p.Next()
				ended <- err
			}()
		}
		b.ReportMetric(float64(resident(b)-before)/n, "B/session")
		b.ReportMetric(float64(threads(b)), "threads")
		if err := KillAll(b.Context(), ps); err != nil {
			b.Fatal(err)
		}
		for range n {
			if err := <-ended; err != io.EOF {
				b.Fatal(err)
			}
		}
		for _, p := range ps {
			p.Close()
		}
	}
}

func resident(b *testing.B) int {
	runtime.GC()
	data, err := readFile("/proc/self/statm", nil)
	var total, pages int
	if _, scanErr := fmt.Sscan(string(data), &total, &pages); err != nil || scanErr != nil {
		b.Fatal(err, scanErr)
	}
	return pages * os.Getpagesize()
}

func threads(b *testing.B) int {
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		b.Fatal(err)
	}
	return len(entries)
}

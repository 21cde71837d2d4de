//go:build unix

package main

import (
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/internal/lanes"
	"github.com/ptywright/ptywright/protocol/protocoltest"
)

// A pipedServer is a server of its own for one case of the corpus.
type pipedServer struct {
	t *testing.T
	p *program
	io.WriteCloser
	io.Reader
}

func (s *pipedServer) CloseWrite() error { return s.WriteCloser.Close() }

// Close ends the server, which must exit with 0 and have said nothing but what it may.
func (s *pipedServer) Close() error {
	s.WriteCloser.Close()
	_, _ = io.Copy(io.Discard, s.Reader) // it may be writing still
	if code := exitCodeOf(s.t, s.p.Wait()); code != 0 {
		s.t.Errorf("the server's exit code is %d", code)
	}
	if said := s.p.Stderr.String(); strings.Contains(said, "panic") || strings.Contains(said, "goroutine ") {
		s.t.Errorf("standard error: %s", said)
	}
	return nil
}

// memoryBound is what no case may bring a server to: R-17.
const memoryBound = 256 << 20

// TestCorpusThroughTheBinary runs the torture corpus against servers of their own: framing,
// envelopes, sizes, ends.
func TestCorpusThroughTheBinary(t *testing.T) {
	t.Parallel()
	for family, framing := range map[string]string{"ndjson": "ndjson", "lsp": "lsp"} {
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			protocoltest.Corpus(t, protocoltest.Suite{
				Family: family, Parallel: true,
				Dial: func(t *testing.T) protocoltest.Peer {
					p := ptywright(t, "serve", "--stdio", "--framing", framing)
					in, out := p.StartPiped()
					return &pipedServer{t: t, p: p, WriteCloser: in, Reader: out}
				},
				Has: func(m string) bool {
					return !strings.HasPrefix(m, "auth.")
				},
				After: func(t *testing.T, p protocoltest.Peer) {
					if peak := peakMemory(p.(*pipedServer).p.Process.Pid); peak > memoryBound && !lanes.Race {
						t.Errorf("the server took %d MiB", peak>>20)
					}
				},
			})
		})
	}
}

// peakMemory returns the most a process has had resident, in bytes; 0 where the system does not
// tell.
func peakMemory(pid int) int {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, _ := strconv.Atoi(strings.TrimSpace(strings.Split(rest, "kB")[0]))
	return kib << 10
}

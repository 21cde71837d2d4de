//go:build unix

package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// TestManySessionsOnOnePipe: 40 sessions with five waits each, of which half are cancelled; every
// answer is right, and nothing is left of them, here or on the server.
func TestManySessionsOnOnePipe(t *testing.T) { // alone: it measures memory
	const sessions, waits, rounds = 40, 5, 3
	ctx := t.Context()
	c := started(t)
	// waits of a session side by side
	check(t, c.Call(ctx, "server.set_ordering", map[string]string{"ordering": "concurrent"}, nil))
	about := must[*client.Capabilities](t)(c.Capabilities(ctx))
	var all [sessions]*client.Session
	for i := range all {
		all[i] = sh(t, c, "stty -echo; echo ready; exec cat")
		must[*client.Match](t)(all[i].Wait(ctx, client.Text("ready")))
	}
	var memory [rounds]int
	for round := range rounds {
		var done sync.WaitGroup
		stopped := errors.New("stopped")
		cancelled, cancel := context.WithCancelCause(ctx)
		for i, s := range all {
			for n := range waits {
				word := fmt.Sprintf("round %d session %d wait %d.", round, i, n)
				if (i+n)%2 == 0 {
					done.Go(func() {
						if _, err := s.Wait(cancelled, client.Text("no "+word), client.Within(hang)); !errors.Is(err, stopped) {
							t.Errorf("%s was to be cancelled: %v", word, err)
						}
					})
					continue
				}
				done.Go(func() {
					m, err := s.Wait(ctx, client.Text(word), client.Within(hang))
					if err != nil || m.Text != word || !strings.Contains(m.Screen.PlainText, word) {
						t.Errorf("%s: %+v, %v", word, m, err)
					}
				})
			}
		}
		check(t, c.Call(ctx, "server.capabilities", nil, nil))
		for i, s := range all {
			var b strings.Builder
			for n := range waits {
				fmt.Fprintf(&b, "round %d session %d wait %d.\n", round, i, n)
			}
			check(t, s.Send(ctx, b.String()))
		}
		cancel(stopped)
		done.Wait()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		memory[round] = int(m.HeapAlloc)
	}
	if grown := memory[rounds-1] - memory[0]; grown > 4<<20 {
		t.Errorf("the client's heap grew by %d bytes: %v", grown, memory)
	}
	for _, s := range all {
		check(t, s.Close(ctx))
	}
	left := must[[]client.Info](t)(c.Sessions(ctx))
	if len(left) != 0 || childrenOf(t, about.PID) != 0 {
		t.Errorf("left: %d sessions, %d processes", len(left), childrenOf(t, about.PID))
	}
}

// childrenOf counts the children of a process but for its watcher, where the system tells.
func childrenOf(t *testing.T, pid int) (n int) {
	t.Helper()
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, child := range strings.Fields(string(text)) {
			id, _ := strconv.Atoi(child)
			if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", id)); err == nil && strings.HasPrefix(string(line), "cat") {
				n++
			}
		}
	}
	return n
}

//go:build unix

package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/mockanthropic"
	"github.com/ptywright/ptywright/protocol/client"
)

// A submitter sends a prompt in some way, and does not fail the test when it is not submitted.
type submitter func(c *claude, prompt string)

// typed is what one does who knows nothing of the program: the text and Enter, in one write.
func typed(c *claude, prompt string) {
	k := c.driver.(*keyboard)
	k.do(client.Action{Type: "text", Value: prompt + "\r"})
}

// pasted is what one does who knows that it takes bracketed pastes: a paste and Enter, without looking.
func pasted(c *claude, prompt string) {
	k := c.driver.(*keyboard)
	k.do(client.Action{Type: "bracketed_paste", Value: prompt})
	k.do(client.Action{Type: "key", Value: "enter"})
}

// typedApart is typed with Enter in a write of its own: what a program that is slow makes one read of.
func typedApart(c *claude, prompt string) {
	k := c.driver.(*keyboard)
	k.do(client.Action{Type: "text", Value: prompt})
	k.do(client.Action{Type: "key", Value: "enter"})
}

// sizes are the prompts that are submitted: each begins with a mark of its own.
var sizes = []struct {
	name string
	text func(mark string) string
}{
	{"short", func(mark string) string { return mark + " quick: is 2+2 4?" }},
	{"200 characters", func(mark string) string { return mark + " quick" + strings.Repeat(" word", 38) }},
	{"1000 characters", func(mark string) string { return mark + " quick" + strings.Repeat(" word", 198) }},
	{"2 lines", func(mark string) string { return lines(mark, 2) }},
	{"20 lines", func(mark string) string { return lines(mark, 20) }},
	{"30 lines", func(mark string) string { return lines(mark, 30) }},
	{"a path first", func(mark string) string { return "/tmp/" + mark + " quick: is it there?" }},
	{"a backslash last", func(mark string) string { return mark + ` quick: what is C:\` }},
}

func lines(mark string, n int) string {
	all := []string{mark + " quick"}
	for i := 1; i < n; i++ {
		all = append(all, fmt.Sprintf("line %d of %d", i+1, n))
	}
	return strings.Join(all, "\n")
}

// A tally counts what became of prompts.
type tally struct{ sent, intact, altered, twice, missing int }

func (n tally) String() string {
	if n.sent == n.intact {
		return fmt.Sprintf("%d of %d", n.intact, n.sent)
	}
	return fmt.Sprintf("%d of %d (%d missing, %d altered or joined, %d twice)", n.intact, n.sent, n.missing, n.altered, n.twice)
}

// pastedContent is what Claude Code puts around a paste that it shows as a placeholder.
var pastedContent = regexp.MustCompile(`</?pasted_content[^>]*>`)

// submissions sends n prompts of one size, each when the turn of the one before is over, and counts what arrived. In the
// end nothing of them is left in the input.
func submissions(c *claude, n int, kind string, text func(mark string) string, send submitter) (count tally) {
	c.t.Helper()
	for i := range n {
		mark := fmt.Sprintf("mark%s%03dx", strings.ReplaceAll(kind, " ", ""), i)
		send(c, text(mark))
		count.sent++
		has := func(r mockanthropic.Request) bool { return !r.Side && strings.Contains(r.Prompt(), mark) }
		// Far more than it takes: what has not come by then will not come.
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(times(5, 10))*time.Second)
		_, err := c.model.Wait(ctx, has)
		cancel()
		if err == nil {
			c.wait("", "completed_turn")
		} else if k, ok := c.driver.(*keyboard); ok {
			k.clear()
		}
		var with []string
		for _, t := range c.model.Submitted() {
			if strings.Contains(t, mark) {
				with = append(with, strings.TrimSpace(pastedContent.ReplaceAllString(t, "")))
			}
		}
		switch {
		case len(with) == 0:
			count.missing++
		case len(with) > 1:
			count.twice++
		case with[0] != text(mark):
			count.altered++
		default:
			count.intact++
		}
	}
	return count
}

// stutter makes a process as slow as on a machine that is far too busy: of 200 ms it runs for 20. It does until it is
// told to stop.
func stutter(t *testing.T, pid int) (stop func()) {
	t.Helper()
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		defer syscall.Kill(pid, syscall.SIGCONT)
		for {
			for _, phase := range []struct {
				signal syscall.Signal
				lasts  time.Duration
			}{{syscall.SIGSTOP, 180 * time.Millisecond}, {syscall.SIGCONT, 20 * time.Millisecond}} {
				syscall.Kill(pid, phase.signal)
				timer := time.NewTimer(phase.lasts)
				select {
				case <-timer.C:
				case <-done:
					timer.Stop()
					return
				}
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// pid returns the process of the only session.
func (s *server) pid() int {
	s.t.Helper()
	all := s.list()
	if len(all) != 1 {
		s.t.Fatalf("%d sessions", len(all))
	}
	return all[0].PID
}

// TestClaudeSubmitsByKeys measures what becomes of prompts without receipts; docs/performance.md has the table.
func TestClaudeSubmitsByKeys(t *testing.T) {
	if !long {
		t.Skip("a measurement: PTYWRIGHT_LONG=1")
	}
	const n = 5
	for _, slow := range []bool{false, true} {
		for _, way := range []struct {
			name string
			send submitter
		}{{"text and Enter in one write", typed}, {"text, Enter", typedApart}, {"bracketed paste, Enter", pasted}} {
			c := drive(t, claudeNow, byKeys)
			c.begin()
			c.prompt("quick: is 2+2 4?")
			c.wait("4 is right.", "completed_turn")
			rows := []string{fmt.Sprintf("%s, slow %v", way.name, slow)}
			stop := func() {}
			if slow {
				stop = stutter(t, c.driver.(*keyboard).server.pid())
			}
			for _, size := range sizes {
				rows = append(rows, fmt.Sprintf("  %-17s %v", size.name, submissions(c, n, size.name, size.text, way.send)))
			}
			stop()
			t.Log(strings.Join(rows, "\n"))
			c.driver.(*keyboard).close()
		}
	}
}

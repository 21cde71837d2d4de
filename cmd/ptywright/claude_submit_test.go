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

	"github.com/ptywright/ptywright/cmd/ptywright/internal/mockmodel"
	"github.com/ptywright/ptywright/protocol/client"
)

// A submitter sends a prompt in some way, and says whether it believes that it was submitted. It
// does not fail the test when it was not.
type submitter func(c *claude, prompt string) bool

// received is the plugin's way, with a receipt.
func received(c *claude, prompt string) bool {
	a := c.driver.(*adapter)
	var r struct{ Receipt receipt }
	a.call("adapter.send", map[string]any{"intent": "send_prompt", "params": map[string]any{"prompt": prompt}}, &r)
	submitted := r.Receipt.Submitted != nil && *r.Receipt.Submitted
	if !submitted || r.Receipt.Retries > 0 {
		c.t.Logf("%.40q: submitted %v after %d retries: %s", prompt, submitted, r.Receipt.Retries, r.Receipt.Evidence)
	}
	return submitted
}

// typed is what one does who knows nothing of the program: the text and Enter, in one write.
func typed(c *claude, prompt string) bool {
	k := c.driver.(*keyboard)
	k.do(client.Action{Type: "text", Value: prompt + "\r"})
	return true
}

// pasted is what one does who knows that it takes bracketed pastes: a paste and Enter, without
// looking.
func pasted(c *claude, prompt string) bool {
	k := c.driver.(*keyboard)
	k.do(client.Action{Type: "bracketed_paste", Value: prompt})
	k.do(client.Action{Type: "key", Value: "enter"})
	return true
}

// typedApart is typed with Enter in a write of its own: what a program that is slow makes one read
// of.
func typedApart(c *claude, prompt string) bool {
	k := c.driver.(*keyboard)
	k.do(client.Action{Type: "text", Value: prompt})
	k.do(client.Action{Type: "key", Value: "enter"})
	return true
}

// A kind is one kind of prompt.
type kind struct {
	name  string
	burst int                      // how many are sent before anything is waited for
	text  func(mark string) string // with a mark of its own in it
}

var kinds = []kind{
	{"short", 1, func(mark string) string { return mark + " quick: is 2+2 4?" }},
	{"two at once", 2, func(mark string) string { return mark + " quick: is 2+2 4?" }},
	{"200 characters", 1, func(mark string) string { return mark + " quick" + strings.Repeat(" word", 38) }},
	{"1000 characters", 1, func(mark string) string { return mark + " quick" + strings.Repeat(" word", 198) }},
	{"2 lines", 1, func(mark string) string { return lines(mark, 2) }},
	{"20 lines", 1, func(mark string) string { return lines(mark, 20) }},
	{"30 lines", 1, func(mark string) string { return lines(mark, 30) }},
	{"a path first", 1, func(mark string) string { return "/tmp/" + mark + " quick: is it there?" }},
	{"a backslash last", 1, func(mark string) string { return mark + ` quick: what is C:\` }},
}

func lines(mark string, n int) string {
	all := []string{mark + " quick"}
	for i := 1; i < n; i++ {
		all = append(all, fmt.Sprintf("line %d of %d", i+1, n))
	}
	return strings.Join(all, "\n")
}

// A tally counts what became of prompts.
type tally struct{ sent, intact, altered, twice, missing, lies int }

func (n tally) String() string {
	if n == (tally{sent: n.sent, intact: n.sent}) {
		return fmt.Sprintf("%d of %d", n.intact, n.sent)
	}
	return fmt.Sprintf("%d of %d (%d missing, %d altered or joined, %d twice, %d not as was said)", n.intact, n.sent, n.missing, n.altered, n.twice, n.lies)
}

// pastedContent is what Claude Code puts around a paste that it shows as a placeholder.
var pastedContent = regexp.MustCompile(`</?pasted_content[^>]*>`)

// submissions sends n prompts or bursts of one kind, each when the turn of the one before is over,
// and counts what arrived within a time that is far more than it takes. In the end nothing of them
// is left in the input.
func submissions(c *claude, n int, busy bool, k kind, send submitter) (count tally) {
	c.t.Helper()
	keys, byKey := c.driver.(*keyboard)
	for i := range n {
		var marks []string
		goesOn := func() {}
		if busy {
			goesOn = pause(c.t, c.server.pid())
		}
		said := map[string]bool{}
		for j := range k.burst {
			mark := fmt.Sprintf("mark-%s-%t-%d-%d-", strings.ReplaceAll(k.name, " ", "-"), busy, i, j)
			marks = append(marks, mark)
			said[mark] = send(c, k.text(mark))
		}
		goesOn()
		patience := hang / 2
		if byKey {
			patience = 3 * time.Second // many do not arrive
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		for _, mark := range marks {
			_, err := c.model.Wait(ctx, func(r mockmodel.Request) bool {
				return !r.Side && strings.Contains(strings.Join(r.Typed, "\n"), mark)
			})
			if said[mark] != (err == nil) {
				count.lies++
				c.t.Logf("%s: submitted is %v, and it came: %v", mark, said[mark], err == nil)
			}
		}
		if byKey && ctx.Err() != nil {
			keys.clear()
		} else {
			c.wait("", "completed_turn")
		}
		cancel()
		for _, mark := range marks {
			count.add(c.model.Submitted(), mark, k.text(mark))
		}
	}
	return count
}

// add counts a prompt, with what was typed in all.
func (n *tally) add(typed []string, mark, prompt string) {
	n.sent++
	var with []string
	for _, t := range typed {
		if strings.Contains(t, mark) {
			with = append(with, strings.TrimSpace(pastedContent.ReplaceAllString(t, "")))
		}
	}
	switch {
	case len(with) == 0:
		n.missing++
	case len(with) > 1:
		n.twice++
	case with[0] != prompt:
		n.altered++
	default:
		n.intact++
	}
}

// pausing is how long the program does not read, in the half of the measurement where it is busy
// with something else when a prompt comes: long enough for all that is written without looking to
// be in its queue at once.
const pausing = 300 * time.Millisecond

// pause stops a process and lets it go on after that time; the function that it returns waits for
// that.
func pause(t *testing.T, pid int) (over func()) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	time.AfterFunc(pausing, func() {
		syscall.Kill(pid, syscall.SIGCONT)
		close(done)
	})
	return func() { <-done }
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

// submit sends prompts of all kinds to a Claude Code that is at its prompt, and returns the rows of
// a table.
func submit(c *claude, send submitter, n int, busy bool) (rows []string, lost int) {
	c.t.Helper()
	for _, k := range kinds {
		got := submissions(c, n, busy, k, send)
		lost += got.sent - got.intact + got.lies
		rows = append(rows, fmt.Sprintf("%-17s %v", k.name, got))
	}
	return rows, lost
}

// atPrompt starts a Claude Code and has it answer once.
func atPrompt(t *testing.T, with func(*server, *world, string, []string) driver) *claude {
	t.Helper()
	c := drive(t, claudeNow, with)
	c.begin()
	c.ask("quick: is 2+2 4?", "4 is right.", "completed_turn")
	return c
}

// Every prompt arrives, once and as it was, of every kind, and also when the program is busy with
// something else.
func TestClaudeSubmits(t *testing.T) {
	t.Parallel()
	c := atPrompt(t, byAdapter(40, 120))
	for _, busy := range []bool{false, true} {
		rows, lost := submit(c, received, times(1, 20), busy)
		t.Logf("with receipts, busy: %v\n%s", busy, strings.Join(rows, "\n"))
		if lost > 0 {
			t.Errorf("%d prompts did not arrive as they should", lost)
		}
	}
}

// TestClaudeSubmitsByKeys measures what becomes of prompts without receipts: the other half of the
// table.
func TestClaudeSubmitsByKeys(t *testing.T) {
	if !long {
		t.Skip("a measurement: PTYWRIGHT_LONG=1")
	}
	for _, busy := range []bool{false, true} {
		for _, way := range []struct {
			name string
			send submitter
		}{{"text and Enter in one write", typed}, {"text, Enter", typedApart}, {"bracketed paste, Enter", pasted}} {
			rows, _ := submit(atPrompt(t, byKeys), way.send, 3, busy)
			t.Logf("%s, busy: %v\n%s", way.name, busy, strings.Join(rows, "\n"))
		}
	}
}

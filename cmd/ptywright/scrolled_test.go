//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// TestWaitNeverMissesALine: a line with 60 lines behind it in one write, beside busy loops.
func TestWaitNeverMissesALine(t *testing.T) {
	t.Parallel()
	s := start(t)
	stop := make(chan bool)
	defer close(stop)
	for range times(2, 4) {
		go func() {
			for {
				select {
				case <-stop:
					return
				default:
					runtime.Gosched()
				}
			}
		}()
	}
	at := s.sh(`stty -echo; echo up; while read -r n; do printf "ready <$n>\n$(seq 1 60)\n"; done`)
	at.wait(client.Text("up"))
	for n := range times(60, 1000) {
		since := at.text(fmt.Sprintf("%d\n", n))
		r := at.waitSince(since, client.Regexp(fmt.Sprintf(`(?m)^ready <(%d)>$`, n)))
		if r.Outcome.Capture != fmt.Sprint(n) || r.Missed || len(r.Outcome.Groups) != 1 {
			t.Fatalf("line %d: %+v", n, r.Outcome)
		}
	}
}

// TestWaitChainOverTheWire: 10,000 lines (short form: 1,000) in batches of any size are each found
// once, each wait going on from the one before; and what scrolled off before since is never found.
func TestWaitChainOverTheWire(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := times(1000, 10_000)
	var script strings.Builder
	r := rand.New(rand.NewPCG(16, 2))
	for i := 0; i < n; {
		fmt.Fprint(&script, "printf '")
		for k := min(n, i+1+r.IntN(120)); i < k; i++ {
			fmt.Fprintf(&script, `line %d.\n`, i)
		}
		fmt.Fprint(&script, "'\n")
	}
	at := s.sh("echo 'line old.'; seq 1 60; read -r x\n" + script.String() + "exec cat")
	at.wait(client.Text("60"))
	next := client.After(at.text("\n"))
	for i := range n {
		pattern := `line (\w+)\.`
		if i == 0 { // from a sequence on the screen is asked first
			pattern = `line (0)\.`
		}
		r := at.matched(client.Regexp(pattern), next)
		if r.Outcome.Capture != fmt.Sprint(i) || r.Missed {
			t.Fatalf("found %+v, not line %d; missed %v", r.Outcome, i, r.Missed)
		}
		next = r.Next
	}
	_, err := at.Wait(s.ctx, client.Text("line"), next, client.Within(0))
	var e *client.Error
	if !errors.As(err, &e) || e.Code != client.CodeTimeout {
		t.Errorf("behind the last line: %v", err)
	}
}

// TestWaitChainAcrossTheTop: where the screen's first row goes on from what left, no text is missed
// that stands on both sides, be it written in one batch or in several.
func TestWaitChainAcrossTheTop(t *testing.T) {
	t.Parallel()
	s := start(t)
	r := rand.New(rand.NewPCG(16, 3))
	for _, size := range [][2]int{{1, 5}, {2, 8}, {3, 7}, {5, 20}} {
		none := 0
		at := s.with(client.Config{
			Program: "sh", Args: []string{"-c", "stty raw -echo; echo up; exec cat"}, Rows: size[0], Cols: size[1], ScrollbackMaxLines: &none,
		})
		next := at.matched(client.Output("up")).Next
		at.text("\r\n")
		n := times(200, 2000)
		for sent, got := 0, 0; got < n; {
			var text strings.Builder
			for k := min(n, sent+1+r.IntN(40)); sent < k; sent++ {
				fmt.Fprintf(&text, "<%d>%s", sent, []string{"", "", "ab", "\r\n", "漢 "}[r.IntN(5)])
			}
			at.text(text.String())
			for k := got + r.IntN(sent-got+1); got < k || sent == n && got < n; got++ {
				m := at.matched(client.Regexp(`<(\d+)>`), next)
				if m.Missed || m.Outcome.Capture != fmt.Sprint(got) {
					t.Fatalf("%d rows of %d: found %+v, not %d; missed %t", size[0], size[1], m.Outcome, got, m.Missed)
				}
				next = m.Next
			}
		}
	}
}

// TestWaitAfterClear: what is written to a cleared screen is not read as the end of the line that
// stood at its top.
func TestWaitAfterClear(t *testing.T) {
	t.Parallel()
	s := start(t)
	at := s.with(client.Config{Program: "sh", Args: []string{"-c", "stty raw -echo; echo up; exec cat"}, Rows: 2, Cols: 5})
	at.wait(client.Output("up"))
	since := at.text("\r\nabcdefghijkl")
	at.text("\x1b[H\x1b[2Jxyz")
	at.waitSince(since, client.Text("xyz"))
	at.waitSince(since, client.Text("abcde"))
	if m, err := at.Wait(s.ctx, client.Text("ex"), client.After(since), client.Within(0)); err == nil {
		t.Errorf("found %+v", m.Outcome)
	}
	if err := at.Resize(s.ctx, 2, 20); err != nil {
		t.Fatal(err)
	}
	if text := at.snapshot("none").PlainText; text != "xyz" {
		t.Errorf("the wider screen shows %q", text)
	}
}

// TestManyMatchesHoldUpNobody: a wait that goes on from a position looks at every match on the
// screen for the one that was written first. 400,000 of them hold up no other request, and end
// with the wait.
func TestManyMatchesHoldUpNobody(t *testing.T) {
	t.Parallel()
	s := start(t)
	at := s.with(client.Config{
		Program: "sh", Args: []string{"-c", `stty raw -echo; echo up; read -r _; head -c 399000 /dev/zero | tr '\0' a; printf '\033[400;1Hover'; exec cat`},
		Rows: 400, Cols: 1000,
	})
	next := at.matched(client.Output("up")).Next
	at.text("\n")
	at.wait(client.Text("over"))
	other := s.create("cat")
	ctx, cancel := context.WithCancel(s.ctx)
	ended := make(chan error, 1)
	go func() {
		_, err := at.Wait(ctx, client.Text(strings.Repeat("a", 64<<10)), next, client.Within(hang))
		ended <- err
	}()
	other.text("hello\n")
	other.wait(client.Text("hello"))
	cancel()
	if err := <-ended; err == nil {
		t.Error("the cancelled wait matched")
	}
}

// TestSlowRegexHoldsUpNobody: a search that would take minutes ends when its wait is cancelled or
// times out, and other requests of the connection are answered meanwhile.
func TestSlowRegexHoldsUpNobody(t *testing.T) {
	t.Parallel()
	s := start(t)
	chars := 16 << 20
	at := s.with(client.Config{Program: "sh", Args: []string{"-c", `head -c 3000000 /dev/zero | tr '\0' a; echo; echo over; exec cat`}, TranscriptMaxChars: &chars})
	at.wait(client.Text("over"))
	slow := client.Output(`(a?){300}[^a]{3}b`)
	other := s.create("cat")
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(s.ctx)
	go func() {
		_, err := at.Wait(ctx, slow, client.Within(hang))
		ended <- err
	}()
	other.text("hello\n")
	other.wait(client.Text("hello"))
	cancel()
	if err := <-ended; err == nil {
		t.Error("the cancelled wait matched")
	}
	_, err := at.Wait(s.ctx, slow, client.Within(100*time.Millisecond))
	var e *client.Error
	if !errors.As(err, &e) || e.Code != client.CodeTimeout || !strings.Contains(string(e.Evidence().Matcher), "still being searched") {
		t.Errorf("timed out: %v", err)
	}
}

// TestScrolledTextIsCovered: nothing that a wait tells of what scrolled off, of groups or of what
// came before shows a secret.
func TestScrolledTextIsCovered(t *testing.T) {
	t.Parallel()
	s := start(t)
	const secret = "Xk4mQ9vT2rL7wZ" // of no shape: the name in front tells
	key := "-----BEGIN OPENSSH PRIVATE KEY-----\n" + strings.Repeat("b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gt\n", 6) + "-----END OPENSSH PRIVATE KEY-----\n"
	at := s.sh("read -r x; printf 'db_password: " + secret + " tail\n" + key + "'; seq 1 60; echo over; exec cat")
	since := at.text("\n")
	at.waitSince(since, client.Text("over"))
	for _, m := range []client.Matcher{
		client.Regexp(`db_password: (?P<value>\S+) (tail)`), client.Text("db_password: " + secret), client.Text("60"), client.Text("over"),
		client.Regexp(`(?s)db_pass.*zc2gt`), client.Output(`password: (\S+)`), client.Regexp("b3BlbnNzaC1r(.*)\n"),
		client.Any(client.Text(secret), client.Exited()), client.All(client.Regexp(`: (\S+) tail`), client.Text("over")),
		client.Text(secret + " never"), {Type: "screen_regex", Value: secret, Scope: "screen"}, client.Regexp(secret + "$"),
	} {
		for _, from := range []any{since, 0, nil} {
			params := obj{"session": at.ID, "matcher": m, "timeout_ms": 0}
			if from != nil {
				params["since"] = from
			}
			var raw json.RawMessage
			err := s.Call(s.ctx, "session.wait", params, &raw)
			var e *client.Error
			if errors.As(err, &e) {
				raw = append(json.RawMessage(e.Message), e.Data...)
			}
			// The matcher's own text comes back in the evidence, as it was sent: it is the
			// client's.
			told := regexp.MustCompile(`"value":"[^"]*"|"pattern":"[^"]*"`).ReplaceAllString(string(raw), "")
			if strings.Contains(told, secret) || strings.Contains(told, "b3BlbnNzaC1rZXkt") {
				t.Errorf("%v since %v tells %s", m, from, told)
			}
		}
	}
}

// TestWaitSaysWhereATextWas: of a text that has left the screen and does not count, the evidence
// has the line, when it left, and what finds it.
func TestWaitSaysWhereATextWas(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.ok("spawn", "--", "sh", "-c", "echo first; echo server ready on 5173; seq 1 200; exec cat")
	s.ok("wait", "s1", "--text", "200")
	seq := s.ok("send", "s1", "more", "-e")
	const left = `line 1 had it, which left the screen upwards at sequence \d+`
	for _, c := range []struct {
		says string
		args []string
	}{
		{left + `, before the wait began: with "since" it is found`, []string{"--text", "server ready"}},
		{left + ", but nothing of it was written after sequence " + seq,
			[]string{"--text", "server ready", "--since", seq}},
		{left + `: the scope "seen" reads such lines too`, []string{"--since", "0",
			"--matcher", `{"type":"contains_text","value":"server ready","scope":"screen"}`}},
		{`line 1 matches, which left the screen upwards at sequence \d+, with \(\?m\)`,
			[]string{"--regex", `^server ready`}},
	} {
		args := append([]string{"wait", "s1", "--timeout", "0"}, c.args...)
		out := s.fails(3, "timed out", args...)
		if !regexp.MustCompile(c.says).MatchString(out) || strings.Contains(out, "nothing like it") {
			t.Errorf("%q: %s, want %s", args, out, c.says)
		}
		wants(t, out, "server ready on 5173")
	}
	if got := s.ok("wait", "s1", "--since", "0", "--text", "server ready"); got != "server ready" {
		t.Errorf("%q", got)
	}
}

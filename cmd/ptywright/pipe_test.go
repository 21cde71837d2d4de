//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// ids checks that the answers have the ids 1, 2, 3 ... n in this order, and none is an error.
func ids(t *testing.T, answers []reply, n int) {
	t.Helper()
	if len(answers) != n {
		t.Fatalf("%d answers, expected %d", len(answers), n)
	}
	for i, a := range answers {
		if string(a.ID) != fmt.Sprint(i+1) || a.Error != nil {
			t.Errorf("answer %d has id %s and error %v", i+1, a.ID, a.Error)
		}
	}
}

func TestHelloExample(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "hello.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	answers := script(t, lines...)
	ids(t, answers, len(lines))
	var hello client.Match
	if err := json.Unmarshal(answers[4].Result, &hello); err != nil || hello.Outcome.Capture != "1" {
		t.Errorf("the shell's line: %+v, %v", hello.Outcome, err)
	}
	var end client.Snapshot
	if err := json.Unmarshal(answers[7].Result, &end); err != nil || end.Exit == nil || end.Exit.Code == nil || *end.Exit.Code != 7 {
		t.Errorf("the shell's end: %+v, %v", end.Exit, err)
	}
}

// Lines piped in at once behave like a script: each starts when what is before it, in its session,
// is done. That the program prints nothing before it is told to is part of it.
func TestPipedLinesAreAScript(t *testing.T) {
	t.Parallel()
	answers := script(t,
		`{"jsonrpc":"2.0","id":1,"method":"session.create","params":{"program":"sh","args":["-c","stty -echo; echo ready; read a; echo a=$a; read b; echo b=$b"]}}`,
		`{"jsonrpc":"2.0","id":2,"method":"session.wait","params":{"session":"s1","matcher":{"type":"contains_text","value":"ready"}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"session.input","params":{"session":"s1","action":{"type":"text","value":"1\n"}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"session.wait","params":{"session":"s1","matcher":{"type":"contains_text","value":"a=1"}}}`,
		`{"jsonrpc":"2.0","id":5,"method":"session.snapshot","params":{"session":"s1","cells":"none"}}`,
		`{"jsonrpc":"2.0","id":6,"method":"session.input","params":{"session":"s1","action":{"type":"text","value":"2\n"}}}`,
		`{"jsonrpc":"2.0","id":7,"method":"session.wait","params":{"session":"s1","matcher":{"type":"process_exited"}}}`,
		`{"jsonrpc":"2.0","id":8,"method":"session.snapshot","params":{"session":"s1","cells":"none"}}`,
		`{"jsonrpc":"2.0","id":9,"method":"session.close","params":{"session":"s1"}}`)
	ids(t, answers, 9)
	for i, want := range map[int]string{4: "ready\na=1", 7: "ready\na=1\nb=2"} {
		var s client.Snapshot
		if err := json.Unmarshal(answers[i].Result, &s); err != nil || s.PlainText != want {
			t.Errorf("screen %q, expected %q: %v", s.PlainText, want, err)
		}
	}
}

// One pipe, one pending wait of 30 seconds: everything else goes on beside it.
func TestPendingWaitHoldsNothingUp(t *testing.T) {
	t.Parallel()
	s := start(t)
	path, say := fifo(t)
	events := make(chan client.Event, 100)
	if err := s.Subscribe(s.ctx, func(e client.Event) { events <- e }); err != nil {
		t.Fatal(err)
	}
	first := s.sh(`while read line; do echo "heard $line"; done < ` + path)
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	pending := make(chan error, 1)
	go func() {
		_, err := first.Wait(ctx, client.Text("never"))
		pending <- err
	}()

	second := s.sh("echo here; exec cat")
	second.wait(client.Text("here"))
	for _, word := range []string{"one", "two"} {
		say(word) // the program prints it while the wait is pending
		for heard := ""; !strings.Contains(heard, "heard "+word+"\r\n"); {
			select {
			case e := <-events:
				if e.Session == first.ID {
					heard += e.Output
				}
			case <-s.ctx.Done():
				t.Fatalf("%q was not told of", word)
			}
		}
	}
	second.waitSince(second.text("x\n"), client.Text("x"))
	select {
	case err := <-pending:
		t.Fatalf("the wait ended: %v", err)
	default:
	}

	cancel()
	e := wantError(t, <-pending, client.CodeCancelled, "cancelled")
	if v := e.Evidence(); v == nil || v.Screen.PlainText != "heard one\nheard two" || !strings.Contains(string(v.Matcher), `"held":false`) {
		t.Errorf("evidence %+v", v)
	}
	first.close() // the session's next request does not queue any more
}

func TestConcurrentOrderingLetsReadsOvertakeAWait(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.call("server.set_ordering", map[string]string{"ordering": "concurrent"}, nil)
	c := s.create("cat")
	pending := make(chan error, 1)
	go func() {
		_, err := c.Wait(s.ctx, client.Text("now"))
		pending <- err
	}()
	c.snapshot("none")
	c.text("now\n") // in the other ordering it would wait for what it causes
	if err := <-pending; err != nil {
		t.Error(err)
	}
}

// At the end of input what was read is answered, waits by their own deadline.
func TestEndOfInputLetsWaitsEnd(t *testing.T) {
	t.Parallel()
	answers := script(t,
		`{"jsonrpc":"2.0","id":1,"method":"session.create","params":{"program":"sleep","args":["1000"]}}`,
		`{"jsonrpc":"2.0","id":2,"method":"session.wait","params":{"session":"s1","matcher":{"type":"contains_text","value":"x"},"timeout_ms":300}}`,
		`{"jsonrpc":"2.0","id":3,"method":"session.wait","params":{"session":"s1","matcher":{"type":"screen_stable","value":{"min_ms":300}}}}`)
	if len(answers) != 3 || answers[1].Error == nil || answers[1].Error.Code != client.CodeTimeout || answers[2].Error != nil {
		t.Errorf("answers %+v", answers)
	}
}

// With nobody left to read the answers, a wait of a minute is not waited for.
func TestReaderOfOutputThatIsGoneEndsWaits(t *testing.T) {
	t.Parallel()
	p := ptywright(t, "serve", "--stdio")
	in, out := p.StartPiped()
	defer time.AfterFunc(hang, func() { p.Process.Kill() }).Stop()
	began := time.Now()
	io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"session.create","params":{"program":"sleep","args":["1000"]}}
{"jsonrpc":"2.0","id":2,"method":"session.wait","params":{"session":"s1","matcher":{"type":"process_exited"},"timeout_ms":170000}}
`)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, `"s1"`) {
		t.Fatalf("answer %q, %v", line, err)
	}
	out.Close()
	in.Close()
	if code := exitCodeOf(t, p.Wait()); code != 0 {
		t.Errorf("exit %d: %s", code, p.Stderr)
	}
	if d := time.Since(began); d > 2*time.Minute {
		t.Errorf("the server went on for %v", d)
	}
	noneLeft(t, p.Mark)
}

func TestContentLengthFraming(t *testing.T) {
	t.Parallel()
	p := ptywright(t, "serve", "--stdio", "--framing", "lsp")
	message := func(s string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(s), s) }
	out, code := p.Run(message(`{"jsonrpc":"2.0","id":"é","method":"session.list"}`) + message(`[{"jsonrpc":"2.0","id":2,"method":"session.list"}]`))
	want := message(`{"jsonrpc":"2.0","id":"é","result":{"sessions":[]}}`) + message(`[{"jsonrpc":"2.0","id":2,"result":{"sessions":[]}}]`)
	if out != want || code != 0 {
		t.Errorf("exit %d, answered %q", code, out)
	}
}

// Nothing but messages comes out of standard output: it is not even open under its number.
func TestOutputIsProtocolOnly(t *testing.T) {
	t.Parallel()
	p := ptywright(t, "serve", "--stdio", "--max-sessions", "1")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p.Stdout, p.Stdin = w, strings.NewReader(strings.Join([]string{
		"not JSON", `{"jsonrpc":"2.0","id":1,"method":"no.such"}`, `[]`, `{"id":2}`, "\xff\xfe", "",
		`{"jsonrpc":"2.0","id":3,"method":"session.create","params":{"program":"sh","args":["-c","echo out; echo err >&2; ls /proc/self/fd"]}}`,
		`{"jsonrpc":"2.0","id":4,"method":"session.wait","params":{"session":"s1","matcher":{"type":"process_exited"}}}`,
		`{"jsonrpc":"2.0","method":"session.close","params":{"session":"s1"}}`,
	}, "\n")+"\n")
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if code := exitCodeOf(t, p.Wait()); code != 0 || p.Stderr.String() != "" {
		t.Errorf("exit %d, standard error %q", code, p.Stderr)
	}
	if got := len(replies(t, bytes.NewReader(out))); got != 7 {
		t.Errorf("%d answers, expected 7:\n%s", got, out)
	}
	if bytes.Contains(out, []byte("\n\n")) || !bytes.HasSuffix(out, []byte("}\n")) {
		t.Errorf("lines are torn: %q", out)
	}
}

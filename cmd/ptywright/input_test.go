//go:build unix

package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// A program that does not read costs its own sender a typed error, and nobody else anything.
func TestInputThatIsNotRead(t *testing.T) {
	t.Parallel()
	s := start(t)
	path, say := fifo(t)
	const size = 300_000
	deaf := s.sh(fmt.Sprintf("stty raw -echo; echo ready; read go < %s; head -c %d | sha256sum; exec sleep 1000", path, size))
	deaf.wait(client.Text("ready"))

	// Timed out, with what was written; what was not is dropped.
	pending := make(chan error, 1)
	go func() {
		pending <- s.Call(s.ctx, "session.input", map[string]any{
			"session": deaf.ID, "timeout_ms": 1000, "action": client.Action{Type: "text", Value: strings.Repeat("x", size)},
		}, nil)
	}()
	beside := s.create("cat") // while it waits
	beside.waitSince(beside.text("beside\n"), client.Text("beside"))
	e := wantError(t, <-pending, client.CodeInternal, "input_blocked")
	var data struct{ Written, Length int }
	if err := json.Unmarshal(e.Data, &data); err != nil || data.Length != size || data.Written <= 0 || data.Written >= size {
		t.Errorf("data %s", e.Data)
	}

	// The rest, from two senders in order, waits until the program reads, which it then does to the
	// last byte.
	rest := size - data.Written
	first, second := strings.Repeat("y", rest/2), strings.Repeat("z", rest-rest/2)
	sum := sha256.Sum256([]byte(strings.Repeat("x", data.Written) + first + second))
	one, two := make(chan error, 1), make(chan error, 1)
	go func() {
		err := deaf.Send(s.ctx, first)
		one <- err
		err = deaf.Send(s.ctx, second)
		two <- err
	}()
	say("go")
	if err := <-one; err != nil {
		t.Error(err)
	}
	if err := <-two; err != nil {
		t.Error(err)
	}
	deaf.wait(client.Text(fmt.Sprintf("%x", sum)[:60]))
}

// A line that a canonical terminal would cut without a word is refused, the longest that it keeps
// arrives.
func TestCanonicalLine(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.sh("stty -echo; echo ready; head -n 1 | wc -c; exec cat")
	c.wait(client.Text("ready"))
	err := c.Send(s.ctx, strings.Repeat("x", 5000)+"\n")
	e := wantError(t, err, client.CodeInvalidParams, "line_too_long")
	var data struct{ Length, Limit int }
	if err := json.Unmarshal(e.Data, &data); err != nil || data.Length != 5000 || data.Limit <= 0 {
		t.Errorf("data %s", e.Data)
	}
	most := data.Limit
	// In parts it is as long.
	c.text(strings.Repeat("x", most-1))
	err = c.Send(s.ctx, "xx\n")
	wantError(t, err, client.CodeInvalidParams, "line_too_long")
	c.text("x\n")
	c.wait(client.Regexp(fmt.Sprintf(`(?m)^ *%d$`, most+1)))
	// Many short ones are no long one, and raw mode has no lines.
	if err := c.Send(s.ctx, strings.Repeat("short\n", 2000)); err != nil {
		t.Error(err)
	}
	raw := s.sh("stty raw -echo; echo ready; head -c 20000 | wc -c")
	raw.wait(client.Text("ready"))
	raw.text(strings.Repeat("x", 20000))
	raw.wait(client.Text("20000"))
}

func TestBracketedPasteCannotBeClosedFromInside(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := s.sh(`stty raw -echo; printf '\033[?2004h'; echo ready; head -c 24 | od -An -c`)
	p.wait(client.Text("ready"))
	sent, err := p.Do(s.ctx, client.Action{Type: "bracketed_paste", Value: "a\x1b[201~rm\x03\tb"})
	if err != nil || sent.Stripped != 2 {
		t.Errorf("sent %+v, %v", sent, err)
	}
	p.text("|||||||")
	m := p.wait(client.Exited())
	got := strings.Join(strings.Fields(m.Screen.PlainText), " ")
	if want := `ready 033 [ 2 0 0 ~ a [ 2 0 1 ~ r m \t b 033 [ 2 0 1 ~ |`; !strings.HasPrefix(got, want) {
		t.Errorf("the program read %s", got)
	}
}

// Sizes change faster than a program can follow, while it prints; at the end both know the last.
func TestResizeStorm(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.sh(`while read line; do case $line in size) stty size;; *) printf '\033[%dm%0200d日本\n' 31 0; esac; done`)
	sizes := rand.New(rand.NewPCG(1, 2))
	rows, cols := 0, 0
	for i := range times(300, 5000) {
		rows, cols = 1+sizes.IntN(1000), 1+sizes.IntN(1000)
		if i%50 == 0 {
			rows, cols = 1, 1
		}
		c.resize(rows, cols)
		if i%10 == 0 {
			c.text("print\n")
		}
	}
	c.resize(30, 100)
	for _, bad := range [][2]int{{0, 80}, {24, 0}, {1001, 80}, {24, 70000}, {-1, 80}, {24, -5}} {
		err := c.Resize(s.ctx, bad[0], bad[1])
		e := wantError(t, err, client.CodeInvalidParams, "size_out_of_range")
		if !strings.Contains(e.Message, "1 to 1000") {
			t.Errorf("message %q", e.Message)
		}
	}
	m := c.waitSince(c.text("size\n"), client.Regexp(`(?m)^30 100$`))
	if m.Screen.Size.Rows != 30 || m.Screen.Size.Cols != 100 || len(m.Screen.Lines) != 30 {
		t.Errorf("size %+v with %d lines", m.Screen.Size, len(m.Screen.Lines))
	}
	_, err := s.Spawn(s.ctx, client.Config{Program: "true", Rows: 1001})
	wantError(t, err, client.CodeInvalidParams, "size_out_of_range")
}

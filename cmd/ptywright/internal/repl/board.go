package repl

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/repl/edit"
	"github.com/ptywright/ptywright/internal/ansi"
	"github.com/ptywright/ptywright/protocol/client"
)

const (
	// maxNotices bounds the lines that wait to be shown. When more arrive, the oldest are dropped,
	// and the REPL says how many: a person reads no more than a screenful anyway.
	maxNotices = 40
	// maxNoticeRows is how many rows one notice may take.
	maxNoticeRows = 3
	// maxTail is how many lines of a session's output one notification shows.
	maxTail = 8
)

// A board holds the notices to show above the prompt. It is safe for concurrent use and never
// blocks.
type board struct {
	told chan struct{} // has one element while there is something to take

	mu      sync.Mutex
	lines   []string
	dropped int
	held    bool // another program has the terminal
	on      bool
	follow  map[string]bool // sessions whose output is shown
	style   cli.Style
}

func newBoard(on cli.Style) *board {
	return &board{told: make(chan struct{}, 1), on: true, follow: map[string]bool{}, style: on}
}

// add queues a line, which is clean except for our own SGR.
func (b *board) add(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.put(text)
}

func (b *board) put(text string) {
	if b.lines = append(b.lines, text); len(b.lines) > maxNotices {
		b.dropped += len(b.lines) - maxNotices
		b.lines = append([]string(nil), b.lines[len(b.lines)-maxNotices:]...)
	}
	b.tell()
}

func (b *board) tell() {
	select {
	case b.told <- struct{}{}:
	default:
	}
}

// hold stops take while another program has the terminal.
func (b *board) hold(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held = on; !on && len(b.lines) > 0 {
		b.tell()
	}
}

// take returns the notices for a terminal of cols columns, and clears them.
func (b *board) take(cols int) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held {
		return nil
	}
	lines := b.lines
	if b.dropped > 0 {
		lines = append([]string{b.style.As(cli.Dim,
			fmt.Sprintf("... %d earlier notices are not shown", b.dropped))}, lines...)
	}
	b.lines, b.dropped = nil, 0
	for i, l := range lines {
		if p := ansi.Strip(l); edit.Width(p) > maxNoticeRows*cols {
			lines[i] = edit.Cut(p, maxNoticeRows*cols)
		}
	}
	return lines
}

// set turns notifications on or off, for all or including the output of one session.
func (b *board) set(on bool, session string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case session == "":
		b.on = on
		if !on {
			b.follow = map[string]bool{}
		}
	case on:
		b.on, b.follow[session] = true, true
	default:
		delete(b.follow, session)
	}
}

// pace is how long a connection that carries only notifications is not read after output: the
// server merges what arrives meanwhile. Without it a flooding session costs an idle REPL a third of
// a core (measured), and less makes nothing easier to read.
const pace = 50 * time.Millisecond

// paced is event for such a connection, until ctx ends.
func (b *board) paced(ctx context.Context) func(client.Event) {
	return func(e client.Event) {
		b.event(e)
		if e.Method != "session.output" {
			return
		}
		t := time.NewTimer(pace)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
}

// event handles a notification. The goroutine that reads the connection calls it.
func (b *board) event(e client.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.on || e.Method == "session.changed" {
		return
	}
	var p map[string]any
	if e.Method != "session.output" { // output is large, and has everything in e
		p = object(e.Params)
	}
	text := func(name string) string { s, _ := p[name].(string); return cli.OneLine(s) }
	id := cli.OneLine(e.Session)
	switch e.Method {
	case "session.exited":
		b.put(b.style.As(cli.Yellow, id) + " " + cli.OneLine(e.Ended().String()))
	case "session.leased":
		if l, ok := p["lease"].(map[string]any); ok {
			holder, _ := l["holder"].(string)
			b.put(b.style.As(cli.Yellow, id) + " is held by " + cli.OneLine(holder))
		} else {
			b.put(b.style.As(cli.Yellow, id) + " is free again")
		}
	case "adapter.changed":
		state := text("state")
		if s, ok := p["state"].(map[string]any); ok {
			s, _ := s["state"].(string)
			state = cli.OneLine(s)
		}
		b.put(b.style.As(cli.Yellow, text("adapter")) + " " + text("plugin") + ": " + state)
	case "session.output":
		if !b.follow[e.Session] {
			return
		}
		lines := strings.Split(strings.TrimRight(stripped(e.Output), "\n"), "\n")
		if cut := len(lines) - maxTail; cut > 0 {
			lines = lines[cut:]
			b.put(b.style.As(cli.Dim, fmt.Sprintf("%s| ... %d lines", id, cut)))
		}
		for _, l := range lines {
			if l = strings.TrimRight(l, " \r"); l != "" {
				b.put(b.style.As(cli.Yellow, id+"|") + " " + cli.OneLine(l))
			}
		}
	}
}

// stripped removes control sequences from output, and the terminal's part of its line ends. What is
// left of a broken sequence is shown like any control character.
func stripped(s string) string { return strings.ReplaceAll(ansi.Strip(s), "\r\n", "\n") }

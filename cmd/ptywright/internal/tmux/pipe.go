package tmux

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/protocol/client"
)

// pipeWord is the first argument of the process that a pipe-pane leaves behind; no command of tmux
// has that name.
const pipeWord = "pipe-pane-of"

// pipePane gives the output of a pane to a command of the shell, as it comes, until the pane ends
// or another pipe-pane closes the pipe.
func pipePane(ctx context.Context, t *tmux, a *args) error {
	x, w, err := t.of(a, ofPane)
	if err != nil {
		return err
	}
	if a.has('I') {
		return failf("ptywright tmux: pipe-pane -I is not there: send-keys types")
	}
	open := w.Pipe != ""
	if open {
		ring(w.Pipe, bellEnd)
		w.Pipe = ""
	}
	if len(a.rest) == 0 || a.rest[0] == "" || open && a.has('o') {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	from := t.live[w.Of].Sequence
	if t.born[w.Of] { // by this command line: nothing of it is to be missed
		from = 0
	}
	address, err := bellPlace()
	if err != nil {
		return err
	}
	words := []string{pipeWord, t.socket,
		fmt.Sprintf("%s %d %v %s", w.Of, from, t.redact(x, w) == nil, address),
		t.expand(a.rest[0], x, w)}
	if filepath.Base(self) != "tmux" {
		words = append([]string{"tmux"}, words...)
	}
	c := exec.Command(self, words...)
	c.Env = t.environ
	log := t.socket + ".pipe-" + strconv.Itoa(w.Pane) + ".log"
	p, err := daemon.Start(c, filepath.Dir(t.socket))
	if err != nil {
		return err
	}
	if err := p.Ready(ctx); err != nil {
		p.Stop()
		p.End("")
		return failf("pipe-pane: %v", err)
	}
	p.Release(log)
	w.Pipe = address
	return nil
}

// pipe is the process behind a pipe-pane: it runs the command, says on standard output that it is
// ready, and writes what the pane prints to the command, until one of them ends or it is told to.
// about has the session, the sequence that comes before, whether secrets are hidden, and the bell.
func pipe(ctx context.Context, std cli.Stdio, socket, about, command string) error {
	var id, address string
	var from uint64
	var hide bool
	if _, err := fmt.Sscan(about, &id, &from, &hide, &address); err != nil {
		return err
	}
	b, err := listenAt(address)
	if err != nil {
		return err
	}
	defer b.close()
	c := exec.Command("/bin/sh", "-c", command)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	server, err := daemon.Dial(ctx, socket)
	if err != nil {
		return errors.Join(err, in.Close(), c.Wait())
	}
	defer server.Close()
	over := make(chan struct{}) // the pane has ended, or the command takes no more
	end := sync.OnceFunc(func() { close(over) })
	server.Listen(func(e client.Event) {
		if e.Session != id {
			return
		}
		if _, err := io.WriteString(in, e.Output); err != nil || e.Method == "session.exited" {
			end()
		}
	})
	err = server.Call(ctx, "server.set_notifications",
		map[string]any{"enabled": true, "sessions": []string{id}, "since": from,
			"redact": hide}, nil)
	if err == nil {
		_, err = fmt.Fprintln(std.Out.File, "ready") // for the process that started this one
	}
	if err == nil {
		select {
		case <-over:
		case <-b.rung:
		case <-server.Done():
		case <-ctx.Done():
		}
	}
	server.Listen(nil)
	return cmp.Or(err, in.Close(), c.Wait())
}

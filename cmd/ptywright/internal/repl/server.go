package repl

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/protocol/client"
)

// endBound is how long a server has to end once it was told to: it promises five seconds.
const endBound = 8 * time.Second

// A Server says where a REPL's server is. The zero value is none.
type Server struct {
	Path  string   // of its socket
	Own   []string // a command to start as a server of this REPL's own, over its standard input and output; Path is not used then
	Start bool     // start one to listen at Path when nothing does
}

// A started is a server that this REPL started to listen.
type started struct {
	socket string
	pid    int
}

// connect connects to the server, and starts one where that is wanted. The second result is that, or nil; local is that of
// [daemon.DialLocal]. stderr gets what an own server has to say.
func (s Server) connect(ctx context.Context, stderr io.Writer) (c *client.Client, p *started, local bool, err error) {
	if len(s.Own) > 0 {
		cmd := exec.Command(s.Own[0], s.Own[1:]...)
		cmd.Stderr = stderr
		apart(cmd) // a Ctrl-C that ends a wait is not meant for it
		c, err := client.StartCommand(cmd)
		return c, nil, false, err // what it begins with is its own command's to say, which may lead to another machine
	}
	var ours bool
	if s.Start {
		var err error
		if ours, err = daemon.Ensure(ctx, s.Path); err != nil {
			return nil, nil, false, err
		}
	}
	c, local, err = daemon.DialLocal(ctx, s.Path)
	if err != nil || !ours {
		return c, nil, local, err
	}
	pid, err := daemon.PID(ctx, s.Path)
	if err != nil {
		c.Close()
		return nil, nil, false, fmt.Errorf("find the server that was started: %w", err)
	}
	return c, &started{s.Path, pid}, local, nil
}

// end ends the server and all its sessions, and returns when it has ended.
func (p *started) end() error {
	if !p.runs() { // what listens there now is not ours
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), endBound)
	defer cancel()
	_, err := daemon.Stop(ctx, p.socket)
	return err
}

// runs says that the server has not ended.
func (p *started) runs() bool {
	ctx, cancel := context.WithTimeout(context.Background(), endBound)
	defer cancel()
	pid, err := daemon.PID(ctx, p.socket)
	return err == nil && pid == p.pid
}

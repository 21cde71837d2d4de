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

// endBound is how long a server has to end after a request to end: it promises five seconds.
const endBound = 8 * time.Second

// A Server says where to find a REPL's server. The zero value is none.
type Server struct {
	Path  string   // of its socket
	Own   []string // a command: the REPL's own server, on its standard streams, instead of Path
	Start bool     // start a server at Path if none listens
}

// A started is a listening server that this REPL started.
type started struct {
	socket string
	pid    int
}

// connect connects to the server, and starts one if requested. The second result is that one, or
// nil; local is [daemon.DialLocal]'s. stderr gets the messages of the REPL's own server.
func (s Server) connect(ctx context.Context,
	stderr io.Writer) (c *client.Client, p *started, local bool, err error) {
	if len(s.Own) > 0 {
		cmd := exec.Command(s.Own[0], s.Own[1:]...)
		cmd.Stderr = stderr
		apart(cmd) // a Ctrl-C that ends a wait is not meant for it
		c, err := client.StartCommand(cmd)
		return c, nil, false, err // the command sets its environment, maybe on another machine
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
	if !p.runs() { // another server may listen there now
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), endBound)
	defer cancel()
	_, err := daemon.Stop(ctx, p.socket)
	return err
}

// runs reports whether the server has not ended.
func (p *started) runs() bool {
	ctx, cancel := context.WithTimeout(context.Background(), endBound)
	defer cancel()
	pid, err := daemon.PID(ctx, p.socket)
	return err == nil && pid == p.pid
}

package repl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

const (
	// startBound is how long a server may take to say that it listens. It takes milliseconds; with more, one that hangs keeps
	// its user longer.
	startBound = 20 * time.Second
	// endBound is how long a server has to end once it was told to: it promises five seconds.
	endBound = 8 * time.Second
	// logTail bounds how much of a log's end is looked at for what a server said last, in bytes.
	logTail = 4 << 10
)

// A Server says where a REPL's server is. The zero value is none.
type Server struct {
	Path    string   // of its socket
	Own     []string // a command to start as a server of this REPL's own, over its standard input and output; Path is not used then
	Program string   // ptywright itself, which is started to listen at Path when nothing does; "": nothing is started
}

// A started is a server that this REPL started to listen.
type started struct {
	cmd   *exec.Cmd
	log   string
	ended chan struct{} // closed when it has ended and is reaped
}

// connect connects to the server, and starts one where that is wanted. The second result is that, or nil.
// stderr gets what an own server has to say.
func (s Server) connect(ctx context.Context, stderr io.Writer) (*client.Client, *started, error) {
	if len(s.Own) > 0 {
		cmd := exec.Command(s.Own[0], s.Own[1:]...)
		cmd.Stderr = stderr
		apart(cmd) // a Ctrl-C that ends a wait is not meant for it
		c, err := client.StartCommand(cmd)
		return c, nil, err
	}
	c, err := client.Dial(ctx, s.Path)
	switch {
	case err == nil:
		return c, nil, nil
	case s.Program == "" || !nobodyListens(err):
		return nil, nil, fmt.Errorf("connect to the server at %s: %w", s.Path, err)
	}
	p, err := s.start(ctx)
	if err != nil {
		return nil, nil, err
	}
	if c, err = client.Dial(ctx, s.Path); err != nil {
		return nil, nil, fmt.Errorf("connect to the server that was started at %s: %w", s.Path, err)
	}
	return c, p, nil
}

// nobodyListens says that there is no server, as against one that does not let us.
func nobodyListens(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

// start starts a server that outlives this program: in a session of its own, its log beside the socket. It returns when the
// server listens. nil without an error says that somebody else's listens by now.
func (s Server) start(ctx context.Context) (*started, error) {
	home := filepath.Dir(s.Path)
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for the server's socket: %w", err)
	}
	path := filepath.Join(home, "server.log")
	log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the server's log: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(s.Program, "serve", "--announce")
	cmd.Dir = home // no other folder is kept busy
	cmd.Stderr = log
	detach(cmd)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	p := &started{cmd: cmd, log: path, ended: make(chan struct{})}
	said := make(chan bool, 1)
	go func() {
		_, err := bufio.NewReaderSize(out, logTail).ReadSlice('\n')
		said <- err == nil
		cmd.Wait()
		close(p.ended)
	}()
	bound := time.NewTimer(startBound)
	defer bound.Stop()
	select {
	case listens := <-said:
		if listens {
			return p, nil
		}
		<-p.ended
		if c, err := client.Dial(ctx, s.Path); err == nil { // another one was faster
			c.Close()
			return nil, nil
		}
		return nil, fmt.Errorf("start a server: it ended at once (%s): %s; its log is %s", cmd.ProcessState, lastLine(path), path)
	case <-bound.C:
		p.end()
		return nil, fmt.Errorf("start a server: it does not listen after %v; its log is %s", startBound, path)
	case <-ctx.Done():
		p.end()
		return nil, fmt.Errorf("start a server: %w", context.Cause(ctx))
	}
}

// end ends the server and all its sessions, and returns when it has ended.
func (p *started) end() {
	terminate(p.cmd.Process)
	bound := time.NewTimer(endBound)
	defer bound.Stop()
	select {
	case <-p.ended:
	case <-bound.C:
		p.cmd.Process.Kill()
		<-p.ended
	}
}

// runs says that the server has not ended.
func (p *started) runs() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// lastLine is what a log says last.
func lastLine(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		f.Seek(max(info.Size()-logTail, 0), io.SeekStart)
	}
	b, _ := io.ReadAll(io.LimitReader(f, logTail))
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.TrimPrefix(lines[len(lines)-1], "ptywright: ")
}

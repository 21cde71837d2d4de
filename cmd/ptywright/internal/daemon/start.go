package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

const (
	// endBound is how long a server has to end itself and its sessions after a signal to end; it
	// promises five seconds. Then it is killed.
	endBound = 8 * time.Second

	// logTail bounds how much of a log's end is searched for its last line, in bytes.
	logTail = 4 << 10
)

// A Process is a server that is starting, and a child of this program until [Process.Release]. Not
// safe for concurrent use.
type Process struct {
	cmd   *exec.Cmd
	log   string
	ready chan error    // gets nil once when the server is ready, or why it will not be
	ended chan struct{} // closed when the server has ended and is reaped
}

// Start starts a server that can outlive this program: in a session of its own, without this
// program's terminal and descriptors. The command must print one line on standard output when it
// accepts clients; its standard error goes to a new file in the folder logs, which only its owner
// can read. Standard streams of cmd must not be set.
func Start(cmd *exec.Cmd, logs string) (*Process, error) {
	log, err := os.CreateTemp(logs, "start-*.log") // 0600; its final name is not known yet
	if err != nil {
		return nil, fmt.Errorf("make a log: %w", err)
	}
	defer log.Close()
	cmd.Stderr = log
	detach(cmd)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		os.Remove(log.Name())
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	p := &Process{cmd: cmd, log: log.Name(), ready: make(chan error, 1), ended: make(chan struct{})}
	go p.follow(out)
	return p, nil
}

// follow reads the line by which a server says that it is ready, and reaps it when it ends.
func (p *Process) follow(out io.Reader) {
	line, err := bufio.NewReaderSize(out, logTail).ReadSlice('\n')
	if err == nil && len(line) > 0 {
		p.ready <- nil
	}
	p.cmd.Wait()
	close(p.ended)
	if err != nil {
		p.ready <- fmt.Errorf("it ended at once (%s)", p.cmd.ProcessState)
	}
}

// PID is the server's process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Ready waits until the server is ready, or has ended, or ctx has ended: the error has its last
// words. Call it once.
func (p *Process) Ready(ctx context.Context) error {
	err := context.Cause(ctx)
	if err == nil {
		select {
		case err = <-p.ready:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("%w; %s", err, p.lastWords())
	}
	return nil
}

// Stop asks the server to end.
func (p *Process) Stop() { terminate(p.cmd.Process) }

// End waits until the server has ended, and kills it if it does not. Its log is kept at failed,
// unless that is "".
func (p *Process) End(failed string) {
	bound := time.NewTimer(endBound)
	defer bound.Stop()
	select {
	case <-p.ended:
	case <-bound.C:
		p.cmd.Process.Kill()
		<-p.ended
	}
	if s, err := os.Stat(p.log); err == nil && s.Size() > 0 && failed != "" {
		os.Rename(p.log, failed)
	} else {
		os.Remove(p.log)
	}
}

// Release lets the server run on by itself, with its log at the path log, replacing an earlier
// file.
func (p *Process) Release(log string) {
	os.Rename(p.log, log) // on Windows an open log cannot be renamed: it keeps its name
}

// lastWords returns the last line of the server's log.
func (p *Process) lastWords() string {
	line, err := lastLine(p.log)
	if err != nil || line == "" {
		return "it said nothing"
	}
	return "it said last: " + line
}

// lastLine returns the last line of a log that ptywright itself wrote, or else the last that is not
// blank.
func lastLine(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	b := make([]byte, min(info.Size(), logTail))
	n, err := file.ReadAt(b, info.Size()-int64(len(b)))
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	lines := strings.Split(strings.TrimSpace(string(b[:n])), "\n")
	for _, line := range slices.Backward(lines) {
		if line, ours := strings.CutPrefix(line, "ptywright: "); ours {
			return line, nil
		}
	}
	return lines[len(lines)-1], nil
}

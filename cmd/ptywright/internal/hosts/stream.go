// Package hosts reaches other machines: [Open] starts the command that hosts.toml has for one,
// whose standard streams are the stream to the server there. [Hub] makes the dialect that serves
// them.
//
// # Goroutines
//
//	started by   does                                 ends
//	Open         waits for the command, and reaps it  with the command
//	exec         keeps its last words                 with the command, or a second later
package hosts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/config"
	"github.com/ptywright/ptywright/redact"
)

const (
	// endBound is how long a command may take to end once its streams are closed; then it is
	// killed. A link is opened again only after that.
	endBound = 500 * time.Millisecond
	// mostSaid bounds what is kept of a command's standard error, in bytes: its last words.
	mostSaid = 2 << 10
)

// Open starts a machine's command and returns its standard streams. The command has no terminal, so
// that it cannot ask a person for anything: ssh fails instead of asking for a password. An error of
// the stream has the command's last words.
func Open(ctx context.Context, m config.Machine) (io.ReadWriteCloser, error) {
	return start(ctx, m.Command)
}

// start is Open for the words of a command.
func start(ctx context.Context, words []string) (*stream, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	cmd := exec.Command(words[0], words[1:]...)
	// Without a terminal ssh would ask in a window of its own where there is a display.
	cmd.Env = append(os.Environ(), "SSH_ASKPASS_REQUIRE=never")
	apart(cmd)
	s := &stream{cmd: cmd, ended: make(chan struct{})}
	cmd.Stderr = &s.said
	cmd.WaitDelay = time.Second // a process that it leaves behind may hold standard error open
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", words[0], err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		inR.Close()
		inW.Close()
		return nil, fmt.Errorf("start %s: %w", words[0], err)
	}
	cmd.Stdin, cmd.Stdout = inR, outW
	err = cmd.Start()
	inR.Close()
	outW.Close()
	if err != nil {
		inW.Close()
		outR.Close()
		return nil, fmt.Errorf("start its command: %w", err)
	}
	s.in, s.out = inW, outR
	go func() {
		_ = cmd.Wait() // ProcessState has it
		close(s.ended)
	}()
	return s, nil
}

// A stream is a command under way.
type stream struct {
	cmd   *exec.Cmd
	in    *os.File // its standard input
	out   *os.File // its standard output
	said  tail
	ended chan struct{} // closed once it is reaped
	once  sync.Once
}

// Read reads its standard output. At the end it says how the command ended.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.out.Read(p)
	if errors.Is(err, io.EOF) {
		err = s.why(err)
	}
	return n, err
}

func (s *stream) Write(p []byte) (int, error) {
	n, err := s.in.Write(p)
	if err != nil {
		err = s.why(err)
	}
	return n, err
}

// CloseWrite ends its standard input.
func (s *stream) CloseWrite() error { return s.in.Close() }

// why says how the command ended, if it does within a moment.
func (s *stream) why(err error) error {
	bound := time.NewTimer(endBound)
	defer bound.Stop()
	select {
	case <-s.ended:
	case <-bound.C:
		return err
	}
	return &EndedError{State: s.cmd.ProcessState, Said: s.said.String()}
}

// Close ends the command: its streams are closed, and if that is not enough it is killed.
func (s *stream) Close() error {
	s.once.Do(func() {
		s.in.Close()
		s.out.Close()
		bound := time.NewTimer(endBound)
		defer bound.Stop()
		select {
		case <-s.ended:
		case <-bound.C:
			_ = s.cmd.Process.Kill() // it may have ended meanwhile
			<-s.ended
		}
	})
	return nil
}

// An EndedError says how the command of a host has ended, and what it said last.
type EndedError struct {
	State *os.ProcessState
	Said  string // the last of its standard error, at most 2 KiB; it may be hostile
}

func (e *EndedError) Error() string {
	s := "its command has ended (" + e.State.String() + ")"
	said := lastLines(e.Said, 3)
	if said != "" {
		s += ": " + said
	}
	switch {
	case strings.Contains(e.Said, "Permission denied") || strings.Contains(e.Said, "password"):
		s += "; ssh has no terminal here to ask for a password: use a key and an agent, and see with ssh -o BatchMode=yes"
	case strings.Contains(e.Said, "Host key verification failed"):
		s += "; connect once by hand to accept its key"
	case e.State.ExitCode() == 127, strings.Contains(e.Said, "executable file not found"):
		s += "; ptywright is not where the command looks for it: ptywright hosts install copies it there"
	}
	return s
}

// lastLines returns the last lines that say something, in one line, without secrets.
func lastLines(text string, most int) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, cli.OneLine(redact.Default.String(line)))
		}
	}
	return strings.Join(lines[max(0, len(lines)-most):], " / ")
}

// A tail keeps the end of what is written.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if cut := len(t.text) - mostSaid; cut > 0 {
		t.text = append(t.text[:0], t.text[cut:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.ToValidUTF8(t.text, []byte("�")))
}

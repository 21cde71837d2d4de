package fleet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
	"github.com/ptywright/ptywright/protocol/unterm/instance"
)

const (
	// MostAtOnce bounds one start. Each instance is a process with a shell; 2,574 names is all there are.
	MostAtOnce = 256

	// StartBound is how long instances may take to be there when nobody says. One takes some milliseconds, and 256 at once on
	// two busy cores some seconds; with more, one that hangs keeps its caller longer.
	StartBound = time.Minute

	// EndBound is how long an instance has to end itself and its sessions once it has been told to, when nobody says; a server
	// promises five seconds. One that is being started is killed then.
	EndBound = 8 * time.Second

	// logTail bounds how much of a log's end is searched for its last line, in bytes.
	logTail = 4 << 10
)

// A Launch is one instance to start.
type Launch struct {
	CWD string // absolute
	Tag string // "": none
}

// Start starts instances that outlive this program: each in a session of its own, without this program's terminal and
// descriptors, with what it has to say in a log under the root that only its owner can read. It returns when all of
// them have their records and answer, and tells them in the order of launches. Program is ptywright's own path.
//
// When one fails, or is not there within bound, or ctx ends, those that were started are ended again: half a fleet is nothing
// that a caller can go on with. The error has the last line of the log.
func (f Fleet) Start(ctx context.Context, program string, launches []Launch, bound time.Duration) ([]Status, error) {
	for _, l := range launches {
		if s, err := os.Stat(l.CWD); err != nil {
			return nil, fmt.Errorf("start in %s: %w", l.CWD, errors.Unwrap(err))
		} else if !s.IsDir() {
			return nil, fmt.Errorf("start in %s: it is no folder", l.CWD)
		}
	}
	if _, err := instance.List(f.Root); err != nil {
		return nil, err // nothing is made in a folder that is not ours
	}
	logs := filepath.Join(f.Root, "logs")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for logs: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, bound, fmt.Errorf("it was not there after %v", bound))
	defer cancel()
	var starting []*process
	var err error
	for _, l := range launches {
		var p *process
		if p, err = f.launch(program, logs, l); err != nil {
			break
		}
		starting = append(starting, p)
	}
	started := make([]Status, len(starting))
	for i, p := range starting {
		if err != nil {
			break
		}
		var refused *client.Error
		if started[i], err = f.settle(ctx, p, launches[i]); err != nil && !errors.As(err, &refused) {
			err = fmt.Errorf("start an instance in %s: %w; %s", launches[i].CWD, err, p.lastWords())
		}
	}
	if err != nil {
		for _, p := range starting {
			p.stop()
		}
		for _, p := range starting {
			p.end(logs)
		}
		return nil, err
	}
	for i, p := range starting {
		p.release(filepath.Join(logs, started[i].ID+".log"))
	}
	return started, nil
}

// A process is an instance that is being started, and a child of this program until it is released.
type process struct {
	cmd   *exec.Cmd
	log   string
	ready chan error    // gets nil once when it is there, or why it will not be
	ended chan struct{} // closed when it has ended and is reaped
}

// launch starts the process.
func (f Fleet) launch(program, logs string, l Launch) (*process, error) {
	log, err := os.CreateTemp(logs, "start-*.log") // 0600; the name of the instance is not known yet
	if err != nil {
		return nil, fmt.Errorf("make a log: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(program, "unterm", "--root", f.Root, "--cwd", l.CWD)
	cmd.Dir = l.CWD // no other folder is kept busy
	cmd.Stderr = log
	detach(cmd)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		os.Remove(log.Name())
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	p := &process{cmd: cmd, log: log.Name(), ready: make(chan error, 1), ended: make(chan struct{})}
	go p.follow(out)
	return p, nil
}

// follow reads the one line by which an instance says that it is there, and reaps it when it ends.
func (p *process) follow(out io.Reader) {
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

// settle waits until the instance is there, finds its record, speaks to it and tags it.
func (f Fleet) settle(ctx context.Context, p *process, l Launch) (Status, error) {
	err := context.Cause(ctx)
	if err == nil {
		select {
		case err = <-p.ready:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		return Status{}, err
	}
	records, err := instance.List(f.Root)
	if err != nil {
		return Status{}, err
	}
	for _, r := range records {
		if r.PID != p.cmd.Process.Pid {
			continue
		}
		var there []Session
		err := with(ctx, r, func(m *member) error {
			if err := m.greet(ctx, l.Tag); err != nil {
				return err
			}
			there, err = m.sessions(ctx)
			return err
		})
		if l.Tag != "" {
			r.Title = instance.Optional(l.Tag)
		}
		return Status{Entry: r.Entry(), Sessions: there}, err
	}
	return Status{}, fmt.Errorf("process %d said that it was there and has no record under %s", p.cmd.Process.Pid, f.Root)
}

// greet makes sure that the instance is the one of the record, and tags it.
func (m *member) greet(ctx context.Context, tag string) error {
	var info struct {
		ID string `json:"id"`
	}
	if err := m.call(ctx, answerBound, "instance.info", nil, &info); err != nil {
		return err
	}
	if info.ID != m.record.ID {
		return fmt.Errorf("it says that it is %s", strconv.Quote(info.ID))
	}
	if tag == "" {
		return nil
	}
	return m.call(ctx, answerBound, "instance.set_title", map[string]string{"title": tag}, nil)
}

// stop tells the process to end.
func (p *process) stop() { terminate(p.cmd.Process) }

// end waits for the end of the process, and makes it end when it does not. What it said is kept as that of the last failure.
func (p *process) end(logs string) {
	bound := time.NewTimer(EndBound)
	defer bound.Stop()
	select {
	case <-p.ended:
	case <-bound.C:
		p.cmd.Process.Kill()
		<-p.ended
	}
	if s, err := os.Stat(p.log); err == nil && s.Size() > 0 {
		os.Rename(p.log, filepath.Join(logs, failedLog))
	} else {
		os.Remove(p.log)
	}
}

// failedLog is the log of the last instance that could not be started, in the folder of logs.
const failedLog = "failed.log"

// release lets the process go on by itself, and names its log after it. An earlier log of that name goes.
func (p *process) release(log string) {
	os.Rename(p.log, log) // on Windows an open log cannot be renamed: it keeps its name
}

// lastWords tells what the process has said last.
func (p *process) lastWords() string {
	line, err := lastLine(p.log)
	if err != nil || line == "" {
		return "it said nothing"
	}
	return "it said last: " + line
}

// lastLine returns the last line of a log that ptywright itself wrote, or else the last that is not blank.
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

// dropLog takes the log of an instance away that has ended as it was told to.
func (f Fleet) dropLog(name string) {
	os.Remove(filepath.Join(f.Root, "logs", name+".log"))
}

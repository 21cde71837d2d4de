package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/protocol/unterm/instance"
)

const (
	// MostAtOnce bounds one start. Each instance is a process with a shell; there are only 2,574
	// names.
	MostAtOnce = 256

	// startingAtOnce bounds how many are starting at the same time. Each claims its name under one
	// lock, for which it waits at most ten seconds: on a busy machine the last of a hundred would
	// time out.
	startingAtOnce = 8

	// StartBound is the default for how long a start may take. One instance needs some
	// milliseconds, and 256 at once on two busy cores some seconds; with more, an instance that
	// hangs keeps its caller longer.
	StartBound = time.Minute

	// EndBound is the default for how long an instance has to end itself and its sessions after a
	// signal to end; a server promises five seconds.
	EndBound = 8 * time.Second
)

// A Launch is one instance to start.
type Launch struct {
	CWD string // absolute
	Tag string // "": none
}

// Start starts instances that outlive this program: each in a session of its own, without this
// program's terminal and descriptors, and with a log under the root that only its owner can read.
// It returns when all of them have their records and answer, in the order of launches; ready is
// called for each. program is ptywright's own path.
//
// When one fails, or is not ready within bound, or ctx ends, those that were started are ended
// again: half a fleet is of no use to a caller. The error contains the last line of the log.
func (f Fleet) Start(ctx context.Context, program string, launches []Launch,
	bound time.Duration, ready func()) ([]Status, error) {
	for _, l := range launches {
		if s, err := os.Stat(l.CWD); err != nil {
			return nil, fmt.Errorf("start in %s: %w", l.CWD, errors.Unwrap(err))
		} else if !s.IsDir() {
			return nil, fmt.Errorf("start in %s: it is not a folder", l.CWD)
		}
	}
	if _, err := instance.List(f.Root); err != nil {
		return nil, err // nothing is created in a folder that is not ours
	}
	logs := filepath.Join(f.Root, "logs")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for logs: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, bound,
		fmt.Errorf("it was not there after %v", bound))
	defer cancel()
	var starting []*daemon.Process
	var err error
	started := make([]Status, len(launches))
	for i := 0; i < len(launches) && err == nil; i++ {
		for n := len(starting); n < min(i+startingAtOnce, len(launches)) && err == nil; n++ {
			var p *daemon.Process
			if p, err = f.launch(program, logs, launches[n]); err == nil {
				starting = append(starting, p)
			}
		}
		if err != nil {
			break
		}
		if started[i], err = f.settle(ctx, starting[i], launches[i]); err != nil {
			err = fmt.Errorf("start an instance in %s: %w", launches[i].CWD, err)
		} else {
			ready()
		}
	}
	if err != nil {
		for _, p := range starting {
			p.Stop()
		}
		for _, p := range starting {
			p.End(filepath.Join(logs, failedLog))
		}
		return nil, err
	}
	for i, p := range starting {
		p.Release(filepath.Join(logs, started[i].ID+".log"))
	}
	return started, nil
}

// launch starts the process of an instance.
func (f Fleet) launch(program, logs string, l Launch) (*daemon.Process, error) {
	cmd := exec.Command(program, "unterm", "--root", f.Root, "--cwd", l.CWD)
	cmd.Dir = l.CWD // keeps no other folder busy
	return daemon.Start(cmd, logs)
}

// settle waits until the instance is ready, finds its record, connects to it and tags it.
func (f Fleet) settle(ctx context.Context, p *daemon.Process, l Launch) (Status, error) {
	if err := p.Ready(ctx); err != nil {
		return Status{}, err
	}
	records, err := instance.List(f.Root)
	if err != nil {
		return Status{}, err
	}
	for _, r := range records {
		if r.PID != p.PID() {
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
	return Status{},
		fmt.Errorf("process %d said that it was there and has no record under %s", p.PID(), f.Root)
}

// greet checks that the instance is the one of the record, and tags it.
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

// failedLog is the log of the last instance that failed to start, in the logs folder.
const failedLog = "failed.log"

// dropLog removes the log of an instance that ended when asked to.
func (f Fleet) dropLog(name string) {
	os.Remove(filepath.Join(f.Root, "logs", name+".log"))
}

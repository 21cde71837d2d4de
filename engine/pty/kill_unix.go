//go:build linux || darwin

package pty

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// The stages of a kill, counted from its beginning. A program that saves its work when it is hung
// up has termAfter before the next signal and killAfter in all; longer stages would make every kill
// of a stubborn program slower.
const (
	termAfter = 100 * time.Millisecond
	killAfter = time.Second
	// killBound is how long a kill waits after SIGKILL. It takes milliseconds, unless a process
	// hangs in the kernel or the machine is overloaded.
	killBound = 2 * time.Second
)

// maxHandles bounds the processes that one round waits for, out of all that it signals. Each costs
// a descriptor for that time.
const maxHandles = 256

// Kill ends the program and everything it has started, and returns when nothing is left: hang-up
// (with SIGCONT, for stopped processes) at once, SIGTERM after 100 ms, SIGKILL after a second. When
// ctx ends, SIGKILL follows at once; Kill still waits. Kill returns nil at once when there is
// nothing to end. Output that has been written can still be read; the terminal is not closed.
//
// On Linux the tree is: the program; its session; the processes whose controlling terminal this is
// or that have it open; those that carry Command.Mark; and descendants of any of these. Out of
// reach is a process that was started through a second fork whose parent has ended, and that has
// left the session, closed the terminal and dropped the mark: [KillAdopted] finds it when the
// server ends. On macOS marks and open descriptors cannot be seen. On Windows the tree is the job
// object, which nothing can leave: Kill closes the console, waits a second, and terminates the job.
//
// The error is a [*SurvivorsError] when processes are left 2 s after that. Any other error means
// that the process table could not be read; then only the program's process group and the
// foreground group were ended.
func (p *PTY) Kill(ctx context.Context) error { return KillAll(ctx, []*PTY{p}) }

// KillAll kills several programs like [PTY.Kill], all at the same time, with one scan of the
// process table per round for all of them.
func KillAll(ctx context.Context, ps []*PTY) error {
	if len(ps) == 0 {
		return nil
	}
	targets := make([]target, len(ps))
	for i, p := range ps {
		targets[i].pty = p
	}
	err := newSweep(targets).run(ctx)
	for _, p := range ps {
		p.memory.kill() // what has dropped every sign of its origin
	}
	return err
}

// target is one tree to be ended.
type target struct {
	pty  *PTY // nil in the watcher, whose trees are another process's children
	tree tree // when pty is nil
	held bool // of this round: pty's terminal stays open, so that its name means it
}

// sweep is one run of the stages over some targets. It is used by one goroutine.
type sweep struct {
	targets []target
	// adopted, if not nil, picks further processes to end, as the last target.
	adopted func([]process) ([]int, error)

	began   time.Time
	killing time.Time          // when SIGKILL was first sent; zero: not yet
	known   map[id]int         // members that were alive when last looked at -> target
	sent    map[id]unix.Signal // the strongest signal that a member was sent
	spread  bool               // a target had more than its leader
	trees   []tree             // of this round
	handles []handle           // of this round
	blocked bool               // of this round: there was no way to wait for a process
}

func newSweep(targets []target) *sweep {
	return &sweep{targets: targets, began: time.Now(), known: make(map[id]int),
		sent: make(map[id]unix.Signal)}
}

// run loops: look, signal what is there, wait until it is gone or the next stage begins.
func (s *sweep) run(ctx context.Context) error {
	for empty := 0; ; {
		stage, until := s.stage(ctx)
		left, err := s.round(stage)
		switch {
		case err != nil:
			return s.blind(err)
		case len(left) == 0:
			// A process may fork unseen during one look, so a tree of more than its leader is gone
			// when two looks in a row find nothing.
			if empty++; empty == 2 || !s.spread {
				return s.awaitReaped()
			}
			continue
		case s.overdue():
			s.letGo()
			return &SurvivorsError{PIDs: left}
		}
		empty = 0
		s.await(ctx, stage, until)
		s.letGo()
	}
}

// overdue reports whether killBound has passed since SIGKILL was sent. It is counted from there: a
// server that did not run for seconds, on a machine that slept or in a stopped process, has sent
// nothing yet.
func (s *sweep) overdue() bool { return !s.killing.IsZero() && time.Since(s.killing) >= killBound }

// stage returns the signal of this stage, and when the next one begins.
func (s *sweep) stage(ctx context.Context) (unix.Signal, time.Time) {
	switch age := time.Since(s.began); {
	case ctx.Err() != nil || age >= killAfter:
		if s.killing.IsZero() {
			s.killing = time.Now()
		}
		return unix.SIGKILL, s.killing.Add(killBound)
	case age >= termAfter:
		return unix.SIGTERM, s.began.Add(killAfter)
	}
	return unix.SIGHUP, s.began.Add(termAfter)
}

// round looks and signals, and returns the pids of everything it found. It keeps handles on
// processes that it can wait for.
func (s *sweep) round(stage unix.Signal) ([]int, error) {
	defer s.holdTerminals()()
	members, err := s.look()
	if err != nil {
		return nil, err
	}
	if stage == unix.SIGKILL {
		if members, err = s.freeze(members); err != nil {
			return nil, err
		}
	}
	var left []int
	for _, p := range members {
		left = append(left, p.pid)
		h, err := hold(p.id())
		if err != nil {
			s.blocked = s.blocked || err != unix.ESRCH
			continue
		}
		if s.sent[p.id()] != stage {
			s.sent[p.id()] = stage
			h.signal(stage) // EPERM shows as a survivor
			h.signal(unix.SIGCONT)
		} else if p.stopped {
			h.signal(unix.SIGCONT)
		}
		switch {
		case !h.canWait():
			s.blocked = true
		case len(s.handles) < maxHandles:
			s.handles = append(s.handles, h)
			continue
		}
		h.release()
	}
	slices.Sort(left)
	return left, nil
}

// freeze stops everything, until a look finds nothing that is not stopped: a process killed while
// it forks leaves children without a parent, which can only be recognized by what they have kept.
func (s *sweep) freeze(members []process) ([]process, error) {
	for !s.overdue() {
		fresh := false
		for _, p := range members {
			if s.sent[p.id()] == unix.SIGSTOP || s.sent[p.id()] == unix.SIGKILL {
				continue
			}
			h, err := hold(p.id())
			if err != nil {
				continue
			}
			s.sent[p.id()] = unix.SIGSTOP
			fresh = h.signal(unix.SIGSTOP) == nil || fresh
			h.release()
		}
		if !fresh {
			break
		}
		var err error
		if members, err = s.look(); err != nil {
			return nil, err
		}
	}
	return members, nil
}

// look returns the live members of all targets.
func (s *sweep) look() ([]process, error) {
	s.trees = s.trees[:0]
	for _, t := range s.targets {
		tr := t.tree
		if t.pty != nil {
			tr = t.pty.identity()
			tr.noTTY = !t.held
		}
		s.trees = append(s.trees, tr)
	}
	t, err := look()
	if err != nil {
		return nil, err
	}
	var adopted []int
	if s.adopted != nil {
		if adopted, err = s.adopted(t.procs); err != nil {
			return nil, err
		}
		s.trees = append(s.trees, tree{noTTY: true})
	}
	a := attribute(t, s.trees, s.known, adopted)
	byTree := a.members()

	var held []int
	for k, t := range s.targets {
		if len(byTree[k]) == 0 && t.stillOpen() {
			held = append(held, k)
		}
	}
	if len(held) > 0 {
		a.claimHolders(held)
		byTree = a.members()
	}

	clear(s.known)
	var all []process
	for k, ps := range byTree {
		for _, p := range ps {
			s.known[p.id()] = k
			s.spread = s.spread || p.pid != s.trees[k].pid
		}
		all = append(all, ps...)
	}
	return all, nil
}

// stillOpen reports whether a process may have the target's terminal open.
func (t target) stillOpen() bool {
	if t.pty == nil {
		return t.tree.terminal != terminal{}
	}
	return t.held && !t.pty.hungUp()
}

// holdTerminals keeps the targets' terminals from being closed, so that their names stay theirs,
// until the returned function is called. A terminal that is closed already has lost its name; one
// that is being closed is skipped, since its closer may wait for another round that waits for this
// one.
func (s *sweep) holdTerminals() func() {
	for i := range s.targets {
		if p := s.targets[i].pty; p != nil {
			s.targets[i].held = p.holdTerminal()
		}
	}
	return func() {
		for i := range s.targets {
			if t := &s.targets[i]; t.held {
				t.pty.terminal.RUnlock()
				t.held = false
			}
		}
	}
}

// holdTerminal reports whether the terminal is open and stays so until p.terminal.RUnlock.
func (p *PTY) holdTerminal() bool {
	if !p.terminal.TryRLock() {
		return false
	}
	if p.closed.Load() { // set before Close asks for the lock, so it also covers terminals closed long ago
		p.terminal.RUnlock()
		return false
	}
	return true
}

// await waits for the round's processes to end.
func (s *sweep) await(ctx context.Context, stage unix.Signal, until time.Time) {
	if stage == unix.SIGKILL {
		ctx = context.Background() // SIGKILL was sent: nothing can be sped up any more
	}
	if len(s.handles) > 0 || !s.blocked {
		if awaitEnds(ctx, s.handles, until) == nil {
			return
		}
	}
	// No descriptor left, or a kernel without pidfds: there is no event to wait for, only time. 5
	// ms is enough for processes to end and for others to close descriptors; more would only make
	// such a kill slower.
	pause, stop := context.WithTimeout(ctx, 5*time.Millisecond)
	defer stop()
	<-pause.Done()
}

func (s *sweep) letGo() {
	for _, h := range s.handles {
		h.release()
	}
	s.handles, s.blocked = s.handles[:0], false
}

// awaitReaped waits for our own children to be reaped, which follows their end at once, unless a
// debugger holds them.
func (s *sweep) awaitReaped() error {
	bound := time.NewTimer(killBound)
	defer bound.Stop()
	var left []int
	for _, t := range s.targets {
		if t.pty == nil {
			continue
		}
		select {
		case <-t.pty.done:
			continue
		default:
		}
		select {
		case <-t.pty.done:
		case <-bound.C:
			bound.Reset(0) // the others are only checked
			left = append(left, t.pty.PID())
		}
	}
	if len(left) > 0 {
		slices.Sort(left)
		return &SurvivorsError{PIDs: left}
	}
	return nil
}

// blind does what is possible without the process table: it kills the groups that the kernel itself
// knows.
func (s *sweep) blind(cause error) error {
	s.letGo()
	var errs []error
	for _, t := range s.targets {
		if t.pty == nil {
			continue
		}
		for _, group := range []func() error{
			func() error { return t.pty.Signal(SignalKill) },
			func() error { return t.pty.signalOwnGroup(unix.SIGKILL) },
		} {
			if err := group(); err != nil && !errors.Is(err, ErrExited) {
				errs = append(errs, err)
			}
		}
	}
	errs = append(errs, s.awaitReaped())
	return fmt.Errorf("only process groups were killed, descendants may be left: %w",
		errors.Join(append([]error{cause}, errs...)...))
}

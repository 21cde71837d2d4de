package pty

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// look returns the current process table. Environments and open descriptors of other processes
// cannot be read without cgo.
func look() (table, error) {
	rows, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return table{},
			fmt.Errorf("look at the process table: %w", os.NewSyscallError("sysctl", err))
	}
	t := table{
		procs: make([]process, 0, len(rows)), self: os.Getpid(),
		environ: func(int) []byte { return nil },
		// While the master is open the number is this terminal's: the whole system uses one
		// numbering.
		onTerminal: func(int, terminal) bool { return true },
		opened:     func(int) []opened { return nil },
		ourProgram: func(int) bool { return false },
	}
	for i := range rows {
		p := row(&rows[i])
		if p.sid, err = unix.Getsid(p.pid); err != nil {
			p.sid = 0
		}
		t.procs = append(t.procs, p)
	}
	return t, nil
}

func row(k *unix.KinfoProc) process {
	const stopped, zombie, noDevice = 4, 5, -1 // SSTOP, SZOMB, NODEV of sys/proc.h and sys/param.h
	p := process{
		pid: int(k.Proc.P_pid), ppid: int(k.Eproc.Ppid), group: int(k.Eproc.Pgid),
		start:   uint64(k.Proc.P_starttime.Sec)*1e6 + uint64(k.Proc.P_starttime.Usec),
		dead:    k.Proc.P_stat == zombie,
		stopped: k.Proc.P_stat == stopped,
		kernel:  k.Proc.P_pid == 0,
	}
	if k.Eproc.Tdev != noDevice {
		p.tty = uint64(uint32(k.Eproc.Tdev))
	}
	return p
}

func startTime(pid int) uint64 {
	p, _ := lookAt(pid)
	return p.start
}

// lookAt returns one row of the table.
func lookAt(pid int) (process, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return process{}, err
	}
	return row(k), nil
}

// describe returns what else is known of a process. Its working directory cannot be read without
// cgo.
func describe(pid int) Process {
	p := Process{PID: pid}
	if k, err := unix.SysctlKinfoProc("kern.proc.pid", pid); err == nil {
		p.Name = unix.ByteSliceToString(k.Proc.P_comm[:])
	}
	// The number of arguments (an int), then the path that was executed, as it was given.
	if args, err := unix.SysctlRaw("kern.procargs2", pid); err == nil && len(args) > 4 {
		if path := unix.ByteSliceToString(args[4:]); strings.HasPrefix(path, "/") {
			p.Path = path
		}
	}
	return p
}

// terminalTree returns the tree of the program that will be started on the slave.
func terminalTree(slave *os.File) (tree, error) {
	var st unix.Stat_t
	conn, err := slave.SyscallConn()
	if err != nil {
		return tree{}, err
	}
	var statErr error
	if err := conn.Control(func(fd uintptr) { statErr = unix.Fstat(int(fd), &st) }); err != nil {
		return tree{}, err
	}
	return tree{terminal: terminal{
		tty: uint64(uint32(st.Rdev)), dev: uint64(uint32(st.Dev)), ino: st.Ino,
	}}, statErr
}

// handle names one process. The start time guards against a reused pid, except in the instant
// between checking and signalling.
type handle struct{ process id }

func hold(p id) (handle, error) {
	if startTime(p.pid) != p.start {
		return handle{}, unix.ESRCH
	}
	return handle{p}, nil
}

func (h handle) signal(s unix.Signal) error {
	if startTime(h.process.pid) != h.process.start {
		return unix.ESRCH
	}
	return unix.Kill(h.process.pid, s)
}

func (h handle) canWait() bool { return true }

func (h handle) release() {}

// awaitEnds blocks until all processes of hs have ended, until the given time, or until ctx ends.
// It holds a thread.
func awaitEnds(ctx context.Context, hs []handle, until time.Time) error {
	kq, err := unix.Kqueue()
	if err != nil {
		return os.NewSyscallError("kqueue", err)
	}
	unix.CloseOnExec(kq)
	defer unix.Close(kq)

	left := 0
	for _, h := range hs {
		var event [1]unix.Kevent_t
		unix.SetKevent(&event[0], h.process.pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
		event[0].Fflags = unix.NOTE_EXIT
		if _, err := unix.Kevent(kq, event[:], nil, nil); err == nil {
			left++
		}
	}
	var wake [1]unix.Kevent_t
	unix.SetKevent(&wake[0], 1, unix.EVFILT_USER, unix.EV_ADD|unix.EV_ONESHOT)
	if _, err := unix.Kevent(kq, wake[:], nil, nil); err != nil {
		return os.NewSyscallError("kevent", err)
	}
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(woken)
		var now [1]unix.Kevent_t
		unix.SetKevent(&now[0], 1, unix.EVFILT_USER, 0)
		now[0].Fflags = unix.NOTE_TRIGGER
		unix.Kevent(kq, now[:], nil, nil)
	})
	defer func() {
		if !stop() {
			<-woken // it uses kq, which is about to be closed
		}
	}()

	var events [64]unix.Kevent_t
	for left > 0 {
		wait := time.Until(until)
		if wait <= 0 {
			return nil
		}
		timeout := unix.NsecToTimespec(wait.Nanoseconds())
		n, err := unix.Kevent(kq, nil, events[:], &timeout)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return os.NewSyscallError("kevent", err)
		}
		for _, e := range events[:n] {
			if e.Filter == unix.EVFILT_USER {
				return nil
			}
			left--
		}
	}
	return nil
}

package pty

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// AdoptOrphans makes this process, in place of init, the parent of orphaned descendants, and reaps
// them when they end. Call it once, before the first child is started, in a program that owns all
// its children; a library should not. With it, [KillAdopted] finds processes that have left their
// session and dropped every sign of it. Calls after the first have no effect.
//
// It never takes the status of a child that something else waits for: programs of this package and
// children of os/exec and os.StartProcess are left alone, recognized by the pidfds that this
// process has open. A child that was forked past the os package is not, and its status may be lost.
//
// The error says what is missing: on systems other than Linux it wraps errors.ErrUnsupported.
func AdoptOrphans() error { return adoptOrphans() }

var adoptOrphans = sync.OnceValue(func() error {
	if err := probePidfd(); err != nil {
		return fmt.Errorf("adopt orphaned processes: pidfds are needed to tell them from other children, and need Linux 5.10: %w", err)
	}
	ended := make(chan os.Signal, 1) // one pending signal is enough: each pass looks at all
	signal.Notify(ended, unix.SIGCHLD)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		signal.Stop(ended)
		return fmt.Errorf("adopt orphaned processes: %w", os.NewSyscallError("prctl", err))
	}
	go func() {
		// Until the process ends.
		for range ended {
			for reapAdopted() {
			}
		}
	}()
	return nil
})

func probePidfd() error {
	fd, err := unix.PidfdOpen(os.Getpid(), pidfdNonblock)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// KillAdopted ends the orphans that [AdoptOrphans] has brought here and all their descendants, by
// the stages of [PTY.Kill]. It is for the end of a server, after [KillAll]: descendants of a
// running session are orphans too when their parents have ended. The errors are those of Kill.
func KillAdopted(ctx context.Context) error {
	s := newSweep(nil)
	s.adopted = func(procs []process) ([]int, error) {
		held, err := heldChildren()
		if err != nil {
			return nil, fmt.Errorf("tell adopted processes from other children: %w", err)
		}
		var pids []int
		for _, p := range procs {
			if _, ours := leaders.Load(p.pid); p.ppid == os.Getpid() && !ours && !held[p.pid] {
				pids = append(pids, p.pid)
			}
		}
		return pids, nil
	}
	err := s.run(ctx)
	for reapAdopted() {
	}
	return err
}

// reapAdopted reaps ended children that nobody in this process waits for. It reports whether there
// was one, in which case more may have come.
func reapAdopted() bool {
	var ended []int
	for _, pid := range childPIDs() {
		if _, ours := leaders.Load(pid); ours {
			continue
		}
		if p, err := lookAt(pid); err == nil && p.dead && p.ppid == os.Getpid() {
			ended = append(ended, pid)
		}
	}
	if len(ended) == 0 {
		return false
	}
	// Asked after the children: a child's pidfd exists before the child does, and goes only after
	// the child has been reaped.
	held, err := heldChildren()
	if err != nil {
		return false
	}
	reaped := false
	for _, pid := range ended {
		if _, ours := leaders.Load(pid); ours || held[pid] {
			continue
		}
		if got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil); err == nil && got == pid {
			reaped = true
		}
	}
	return reaped
}

// childPIDs returns this process's children. The kernel lists them by the thread that
// forked or adopted them.
func childPIDs() []int {
	const threads = "/proc/self/task"
	entries, err := os.ReadDir(threads)
	var pids []int
	for _, e := range entries {
		var b []byte
		if b, err = readFile(threads+"/"+e.Name()+"/children", nil); errors.Is(err, unix.ENOENT) &&
			e.Name() == strconv.Itoa(os.Getpid()) {
			break // the first thread is always there, so the kernel has no such list
		}
		for _, f := range bytes.Fields(b) {
			if pid, err := strconv.Atoi(string(f)); err == nil {
				pids = append(pids, pid)
			}
		}
		err = nil
	}
	if err == nil {
		return pids
	}
	procs, _ := processes()
	for _, p := range procs {
		if p.ppid == os.Getpid() {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// heldChildren returns the processes on which this process has a pidfd other than those of hold.
// Somebody waits for them, or will.
func heldChildren() (map[int]bool, error) {
	const fds, infos = "/proc/self/fd/", "/proc/self/fdinfo/"
	entries, err := os.ReadDir(fds)
	if err != nil {
		return nil, err
	}
	held := make(map[int]bool)
	var b []byte
	for _, e := range entries {
		if link, err := os.Readlink(fds + e.Name()); err != nil ||
			!strings.Contains(link, "pidfd") {
			continue
		}
		if b, err = readFile(infos+e.Name(), b[:0]); err != nil {
			continue // closed since
		}
		if pid, flags, ok := parsePidfdInfo(b); ok && flags&pidfdNonblock == 0 {
			held[pid] = true
		}
	}
	return held, nil
}

// parsePidfdInfo reads /proc/self/fdinfo/FD of a pidfd: "flags:" in octal and "Pid:".
func parsePidfdInfo(b []byte) (pid, flags int, ok bool) {
	for line := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch key {
		case "flags":
			if n, err := strconv.ParseUint(value, 8, 32); err == nil {
				flags = int(n)
			}
		case "Pid":
			if n, err := strconv.Atoi(value); err == nil && n > 0 {
				pid = n
			}
		}
	}
	return pid, flags, pid > 0
}

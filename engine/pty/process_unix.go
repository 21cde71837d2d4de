//go:build linux || darwin

package pty

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// leaders holds every program of this package that is not reaped yet, by pid. The reaper of adopted
// orphans leaves them alone.
var leaders sync.Map // int -> *PTY

// checkDir reports in advance what chdir would report after the fork, where it could not be
// distinguished from a missing program.
func checkDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return cause(err)
	case !info.IsDir():
		return syscall.ENOTDIR
	}
	return cause(os.NewSyscallError("",
		unix.Faccessat(unix.AT_FDCWD, dir, unix.X_OK, unix.AT_EACCESS)))
}

// lookup finds the program as execvp(3) would in the child: a path is resolved against dir, a name
// is looked up in the PATH of env, whose relative entries are resolved against dir too.
func lookup(name, dir string, env []string) (string, error) {
	if strings.Contains(name, separators) {
		return name, executable(inDir(dir, name))
	}
	// A missing PATH means the default of execvp(3).
	list, found := "/bin:/usr/bin", false
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			list, found = v, true
		}
	}
	var err error = &searchError{"not found in PATH " + searched(list), fs.ErrNotExist}
	if !found {
		err = &searchError{"not found in " + list + ", and the environment has no PATH",
			fs.ErrNotExist}
	}
	for entry := range strings.SplitSeq(list, ":") { // SplitList returns no entry for ""
		path := filepath.Join(entry, name)
		if !strings.Contains(path, separators) {
			path = "./" + path // an empty entry is the working directory
		}
		switch e := executable(inDir(dir, path)); {
		case e == nil:
			return path, nil
		case errors.Is(e, fs.ErrPermission):
			err = fmt.Errorf("%s: %w", clip(path, maxShown), e) // continue: a later entry may have one that runs
		}
	}
	return "", err
}

func inDir(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// executable reports why path cannot be executed by this user.
func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return cause(err)
	case info.IsDir():
		return fmt.Errorf("it is a directory: %w", fs.ErrPermission)
	}
	return cause(os.NewSyscallError("",
		unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS)))
}

// cause strips the call and the path from an error: StartError has both.
func cause(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	if call := (*os.SyscallError)(nil); errors.As(err, &call) {
		return call.Err
	}
	return err
}

// keepInherited hides inherited descriptors from children. Everything Go opens is close-on-exec
// already; a careless parent's descriptors are not.
var keepInherited = sync.OnceFunc(func() {
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, e := range open {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
})

// fork executes the program as a session leader whose controlling terminal and descriptors 0-2 are
// the slave (unless nullInput), in a group if that is not nil. pidfd is -1 where the system has
// none.
func fork(path string, argv []string, dir string, env []string, slave *os.File, nullInput bool,
	group *memoryGroup) (pid, pidfd int, err error) {
	pidfd = -1
	// Fd makes the slave blocking, as programs expect of their terminal.
	fd := slave.Fd()
	attr := &syscall.ProcAttr{
		Dir:   dir,
		Env:   env,
		Files: []uintptr{fd, fd, fd},
		Sys:   &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0},
	}
	if nullInput {
		null, err := os.Open(os.DevNull)
		if err != nil {
			return 0, -1, err
		}
		defer null.Close()
		attr.Files[0], attr.Sys.Setctty = null.Fd(), false
	}
	withPidfd(attr.Sys, &pidfd)
	group.join(attr.Sys)
	defer unblockSignals()()
	pid, err = syscall.ForkExec(path, argv, attr)
	return pid, pidfd, err
}

// Wait blocks until the program has ended and is reaped, and returns how it ended. Any number of
// goroutines may wait, any number of times. It says nothing about unread output or descendants.
func (p *PTY) Wait() Exit {
	<-p.done
	return p.exit
}

// tryReap reaps the program if it has ended, and reports whether it is reaped now.
func (p *PTY) tryReap(options int) bool {
	p.mu.Lock()
	// Before the reaping: a process that has started by then has pinned the session id.
	now := clockTicks()
	var status syscall.WaitStatus
	pid, err := 0, error(unix.EINTR)
	for err == unix.EINTR {
		pid, err = syscall.Wait4(p.tree.pid, &status, options, nil)
	}
	if err == nil && pid == 0 {
		p.mu.Unlock()
		return false
	}
	p.exit = Exit{Code: -1}
	switch {
	case err != nil:
		// ECHILD: somebody waited for any child, or SIGCHLD is ignored.
	case status.Signaled():
		p.exit.Signal = signalName(status.Signal())
	default:
		p.exit.Code = status.ExitStatus()
	}
	p.tree.reaped = now
	p.mu.Unlock()
	return true
}

// announce notifies everybody that the program is reaped.
func (p *PTY) announce() {
	leaders.Delete(p.tree.pid)
	close(p.done)
	p.mu.Lock()
	hooks := p.onReap
	p.onReap = nil
	p.mu.Unlock()
	for _, f := range hooks {
		f()
	}
}

// whenReaped calls f, in another goroutine, once the program is reaped, or immediately if it has
// been.
func (p *PTY) whenReaped(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
		go f()
	default:
		p.onReap = append(p.onReap, f)
	}
}

// identity returns what currently identifies the tree.
func (p *PTY) identity() tree {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tree
}

// signalName names a signal as kill(1) does, with "SIG".
func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	switch {
	case s == rtMin:
		return "SIGRTMIN"
	case s > rtMin:
		return fmt.Sprintf("SIGRTMIN+%d", int(s)-rtMin)
	}
	return fmt.Sprintf("SIG%d", int(s))
}

var signalNumbers = map[Signal]syscall.Signal{
	SignalTerm: unix.SIGTERM, SignalHup: unix.SIGHUP, SignalQuit: unix.SIGQUIT,
	SignalInt: unix.SIGINT, SignalKill: unix.SIGKILL, SignalUser1: unix.SIGUSR1,
	SignalUser2: unix.SIGUSR2,
}

// Signal sends s to the terminal's foreground process group, as a key would, or to the program's
// own group when there is none. It does not wait for an effect. The error is [ErrExited] once the
// program has ended; it wraps fs.ErrPermission when the group belongs to another user.
func (p *PTY) Signal(s Signal) error {
	number, ok := signalNumbers[s]
	if !ok {
		_, err := ParseSignal(string(s))
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tree.reaped != 0 {
		return ErrExited
	}
	group, err := p.group()
	if err == nil {
		err = unix.Kill(-group, number)
	}
	if err != nil && !errors.Is(err, unix.EPERM) {
		// No foreground group, or it has just ended. A session leader cannot leave its group and is
		// not reaped, so this one exists.
		group = p.tree.pid
		err = unix.Kill(-group, number)
	}
	if err != nil {
		return fmt.Errorf("send %s to process group %d: %w", signalName(number), group, err)
	}
	return nil
}

// signalOwnGroup sends a signal to the program's own process group.
func (p *PTY) signalOwnGroup(number syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tree.reaped != 0 {
		return ErrExited
	}
	return unix.Kill(-p.tree.pid, number)
}

// rtMin is SIGRTMIN: glibc reserves 32 and 33, so it is 34 to every program on Linux.
const rtMin = 34

// Status returns what a shell calls the exit status: the code, or 128 plus the number of the
// signal; 255 when the status was lost.
func (e Exit) Status() int {
	switch {
	case e.Signal == "" && e.Code < 0:
		return 255
	case e.Signal == "":
		return e.Code
	}
	if n := unix.SignalNum(e.Signal); n != 0 {
		return 128 + int(n)
	}
	n, _ := strconv.Atoi(strings.TrimPrefix(e.Signal, "SIGRTMIN")) // "" or "+3"
	return 128 + rtMin + n
}

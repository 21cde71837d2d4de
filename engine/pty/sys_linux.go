package pty

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	onWindows     = false
	getTermios    = unix.TCGETS
	setTermios    = unix.TCSETS
	posixVDisable = 0
	// USER_HZ, fixed in the kernel's interface whatever its internal tick.
	ticksPerSecond = 100
)

func withPidfd(attr *syscall.SysProcAttr, pidfd *int) { attr.PidFD = pidfd }

// reap reaps the program and announces it. When Wait returns, the pidfd is closed.
func (p *PTY) reap(pidfd int) {
	if !p.reapByPidfd(pidfd) {
		// Kernels before 5.3 have no pidfd to poll, so this costs a thread. It waits
		// without reaping, so that the reaping is under the lock.
		for unix.Waitid(unix.P_PID, p.tree.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
		}
		p.tryReap(0)
	}
	p.announce()
}

// reapByPidfd holds no thread: the poller reports when the pidfd becomes readable, which is when
// the program has ended.
func (p *PTY) reapByPidfd(pidfd int) bool {
	if pidfd < 0 {
		return false
	}
	f := os.NewFile(uintptr(pidfd), "pidfd")
	defer f.Close()
	conn, err := f.SyscallConn()
	return err == nil && conn.Read(func(uintptr) bool { return p.tryReap(unix.WNOHANG) }) == nil
}

// clockTicks returns the time since boot in the unit of startTime.
func clockTicks() uint64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 1
	}
	return uint64(now.Sec)*ticksPerSecond + uint64(now.Nsec)/(1e9/ticksPerSecond)
}

// ignoredSignals asks the kernel, since the os/signal package only knows SIGHUP and SIGINT.
func ignoredSignals() (ignored []syscall.Signal) {
	status, err := readFile("/proc/self/status", nil)
	if err != nil {
		return nil
	}
	mask := parseSigIgn(status)
	for _, s := range handleable {
		if mask&(1<<(uint(s)-1)) != 0 {
			ignored = append(ignored, s)
		}
	}
	return ignored
}

// unblockSignals makes whatever this goroutine starts, until it calls restore, begin with no signal
// blocked. A blocked signal is inherited like an ignored one: under a server started by perf
// record, which blocks SIGWINCH, no program ever followed a resize. A child gets the mask of the
// thread that forks it.
func unblockSignals() (restore func()) {
	runtime.LockOSThread()
	var blocked unix.Sigset_t
	if unix.PthreadSigmask(unix.SIG_SETMASK, new(unix.Sigset_t), &blocked) != nil {
		return runtime.UnlockOSThread
	}
	return func() {
		unix.PthreadSigmask(unix.SIG_SETMASK, &blocked, nil)
		runtime.UnlockOSThread()
	}
}

// parseSigIgn returns the mask of ignored signals in /proc/PID/status, bit 0 for signal 1.
func parseSigIgn(status []byte) (mask uint64) {
	for line := range strings.Lines(string(status)) {
		if hex, ok := strings.CutPrefix(line, "SigIgn:"); ok {
			mask, _ = strconv.ParseUint(strings.TrimSpace(hex), 16, 64)
		}
	}
	return mask
}

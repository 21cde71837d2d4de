package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// offlineMark is set in a test process that is in a network namespace of its own.
const offlineMark = "PTYWRIGHT_TEST_OFFLINE"

// offline runs a test in a network namespace that has nothing but the loopback interface, so that
// no program that it drives reaches anything else. It returns true in there, and false outside,
// where the test has then been run; where the system makes no namespace, it returns true, and the
// test goes on without one.
func offline(t *testing.T) bool {
	t.Helper()
	if os.Getenv(offlineMark) != "" {
		loopbackUp(t)
		return true
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := "^" + t.Name() + "$"
	if asked := flag.Lookup("test.run").Value.String(); strings.Contains(asked, t.Name()+"/") || strings.Contains(asked, t.Name()+"$/") {
		run = asked
	}
	args := []string{"-test.run=" + run, "-test.v", "-test.timeout=" + (3 * hang).String()}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), offlineMark+"=1", "PTYWRIGHT_AGENTS="+agents)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if id := os.Getuid(); id != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: id, HostID: id, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN}
	}
	err = cmd.Start()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EACCES) {
		t.Logf("no network namespace: %v", err)
		return true
	}
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		t.Errorf("in a network namespace: %v", err)
	}
	return false
}

// loopbackUp brings up the loopback interface of this process's network namespace.
func loopbackUp(t *testing.T) {
	t.Helper()
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(socket)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, lo); err != nil {
		t.Fatal(err)
	}
}

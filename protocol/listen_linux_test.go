package protocol_test

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// TestForeignPeer connects as another user, to a socket whose mode was opened by mistake.
func TestForeignPeer(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to become another user: run it in a container")
	}
	dir, err := os.MkdirTemp("", "foreign")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s")
	l := listen(t, path)
	os.Chmod(dir, 0o755)
	os.Chmod(path, 0o666)
	accepted := make(chan net.Conn, 2)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	foreign := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread, which is another user's by now, ends with the goroutine
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, ^uintptr(0), 65534, ^uintptr(0)); errno != 0 {
			foreign <- errno
			return
		}
		c, err := net.Dial("unix", path)
		if err == nil {
			c.SetReadDeadline(time.Now().Add(time.Minute))
			_, err = c.Read(make([]byte, 1))
			c.Close()
		}
		foreign <- err
	}()
	if err := <-foreign; err != io.EOF {
		t.Errorf("the foreigner got %v, want to be hung up on", err)
	}
	// Ours comes behind and is served.
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	own := <-accepted
	defer own.Close()
	if len(accepted) > 0 {
		t.Error("the foreigner was accepted")
	}
}

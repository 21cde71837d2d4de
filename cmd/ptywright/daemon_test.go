//go:build unix

package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/protocol/client"
)

// inBackground has servers that this test's process starts be this program, under a home of their
// own, and returns their socket. All of them must have been stopped at the test's end.
func inBackground(t *testing.T) (ctx context.Context, socket string) {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	p := ptywright(t)
	t.Setenv(asProgram, p.Mark)
	t.Setenv("GORACE", "atexit_sleep_ms=10")
	t.Setenv("PTYWRIGHT_HOME", home)
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	t.Cleanup(func() {
		cancel()
		noneLeft(t, p.Mark)
	})
	socket, err := daemon.DefaultSocket()
	if err != nil || socket != filepath.Join(home, "socket") {
		t.Fatalf("%q, %v", socket, err)
	}
	return ctx, socket
}

// TestEnsureStartsOneServer, however many ask for it at once.
func TestEnsureStartsOneServer(t *testing.T) {
	ctx, socket := inBackground(t)
	if _, err := daemon.Stop(ctx, socket); !errors.Is(err, daemon.ErrNone) {
		t.Errorf("stop what is not there: %v", err)
	}
	var started atomic.Int32
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			did, err := daemon.Ensure(ctx, socket)
			if err != nil {
				t.Error(err)
			}
			if did {
				started.Add(1)
			}
		})
	}
	all.Wait()
	if n := started.Load(); n != 1 {
		t.Errorf("%d callers have started a server", n)
	}
	log, err := daemon.LogOf(socket)
	if err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(log)
	if info, err := os.Stat(log); err != nil || info.Mode() != 0o600 {
		t.Errorf("the log: %v, %v", info, err)
	}
	if want := "ptywright: serving on " + socket + "\n"; err != nil || string(said) != want {
		t.Errorf("the log holds %q, %v", said, err)
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(socket), "start-*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}

	c, err := daemon.Dial(ctx, socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := c.Spawn(ctx, client.Config{Program: "sh", Args: []string{"-c", "pwd; sleep 1000"}})
	if err != nil {
		t.Fatal(err)
	}
	if home, err := os.UserHomeDir(); err == nil {
		(&session{s, &server{Client: c, t: t, ctx: ctx}, t}).wait(client.Text(home))
	}
	if _, err := daemon.Stop(ctx, socket); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after its end the socket is there: %v", err)
	}

	// The next server keeps what the one before has said.
	if did, err := daemon.Ensure(ctx, socket); err != nil || !did {
		t.Errorf("%v, %v", did, err)
	}
	if old, err := os.ReadFile(log + ".old"); err != nil || string(old) != string(said) {
		t.Errorf("%q, %v", old, err)
	}
	if _, err := daemon.Stop(ctx, socket); err != nil {
		t.Error(err)
	}
}

// TestEnsureSaysWhyNot where no server can be.
func TestEnsureSaysWhyNot(t *testing.T) {
	ctx, socket := inBackground(t)
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(filepath.Dir(socket), "file")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "socket"):         "not safe for a socket",
		file:                                 "not a socket",
		filepath.Join(file, "x"):             "not a directory",
		"/" + strings.Repeat("long/", 60):    "no socket can have this path",
		filepath.Join(dir, "\x1b[31m\nlong"): "not safe for a socket",
	} {
		did, err := daemon.Ensure(ctx, path)
		if did || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, expected %q", path, did, err, want)
		}
	}
	for _, d := range []string{dir, filepath.Dir(file)} {
		if left, _ := filepath.Glob(filepath.Join(d, "*.log")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "mine" {
		t.Errorf("%q, %v", b, err)
	}
	gone, cancel := context.WithCancelCause(ctx)
	cancel(errors.New("enough"))
	if _, err := daemon.Ensure(gone, socket); err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("%v", err)
	}
}

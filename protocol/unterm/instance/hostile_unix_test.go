//go:build unix

package instance

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestModes(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	root := newRoot(t)
	claim(t, root)
	for path, want := range map[string]os.FileMode{
		"": 0o700, "instances": 0o700, "instances/alpha.json": 0o600,
		activeFile: 0o600, serverFile: 0o600, tokenFile: 0o600, "instances.lock": 0o600,
	} {
		if info, err := os.Stat(filepath.Join(root, path)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v: %v", path, info.Mode(), want, err)
		}
	}
}

func TestUnsafeFolders(t *testing.T) {
	for what, c := range map[string]struct {
		make func(root string) error
		say  string
	}{
		"group may write": {func(root string) error { return errors.Join(os.Mkdir(root, 0o700), os.Chmod(root, 0o770)) }, "chmod go-w "},
		"others may write instances": {func(root string) error {
			dir := filepath.Join(root, "instances")
			return errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o702))
		}, "chmod go-w "},
		"a link":                    {func(root string) error { return os.Symlink(filepath.Dir(root), root) }, "symbolic link"},
		"a link that leads nowhere": {func(root string) error { return os.Symlink("nowhere", root) }, "symbolic link"},
		"instances is a link": {func(root string) error {
			return errors.Join(os.Mkdir(root, 0o700), os.Symlink("..", filepath.Join(root, "instances")))
		}, "symbolic link"},
		"a file": {func(root string) error { return os.WriteFile(root, nil, 0o600) }, "move it away"},
	} {
		t.Run(what, func(t *testing.T) {
			root := newRoot(t)
			if err := c.make(root); err != nil {
				t.Fatal(err)
			}
			root += "/" // which is not to follow a link
			_, claimed := Claim(root, Record{MCPPort: 1, AuthToken: "SECRET"})
			_, listed := List(root)
			_, active := Active(root)
			for _, err := range []error{claimed, listed, active} {
				if !errors.Is(err, ErrFolder) || !strings.Contains(err.Error(), c.say) || strings.Contains(err.Error(), "SECRET") {
					t.Errorf("the error is %v", err)
				}
			}
			if _, err := os.Stat(filepath.Join(root, "..", "instances")); err == nil {
				t.Error("something was made behind the link")
			}
		})
	}
}

func TestForeignFolder(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give a folder away: run it in a container")
	}
	root := newRoot(t)
	if err := errors.Join(os.Mkdir(root, 0o700), os.Chown(root, 65534, 65534)); err != nil {
		t.Fatal(err)
	}
	if _, err := Claim(root, wanted(1)); !errors.Is(err, ErrFolder) || !strings.Contains(err.Error(), "user 65534") {
		t.Errorf("the error is %v", err)
	}
}

func TestForeignFile(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give a file away: run it in a container")
	}
	root := newRoot(t)
	i := claim(t, root)
	if err := os.Chown(filepath.Join(root, "instances", "alpha.json"), 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if got := ids(t, root); got != "" {
		t.Errorf("List has %s", got)
	}
	if got := record(t, i).ID; got != "alpha" || ids(t, root) != "alpha" {
		t.Errorf("it was not written again: %s", got)
	}
}

// TestWhatOpeningWouldBlockOrLeadAway: links and pipes are neither opened nor followed, in any
// place.
func TestWhatOpeningWouldBlockOrLeadAway(t *testing.T) {
	_, living := start(t, newRoot(t))
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.WriteFile(elsewhere, []byte(text(t, living)), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, place := range map[string]func(path string) error{
		"link":   func(path string) error { return os.Symlink(elsewhere, path) },
		"pipe":   func(path string) error { return unix.Mkfifo(path, 0o600) },
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
	} {
		t.Run(what, func(t *testing.T) {
			root := newRoot(t)
			if err := folder(root).make(); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{"instances/alpha.json", activeFile, serverFile, tokenFile} {
				if err := place(filepath.Join(root, path)); err != nil {
					t.Fatal(err)
				}
			}
			if got := ids(t, root); got != "" {
				t.Errorf("List has %s", got)
			}
			if r, err := Active(root); !errors.Is(err, ErrNone) {
				t.Errorf("the active one is %s, %v", r.ID, err)
			}
			if got := record(t, claim(t, root)).ID; got != "bravo" {
				t.Errorf("we are %s", got)
			}
			checkPointers(t, root, "bravo")
			if got, err := os.ReadFile(elsewhere); err != nil || string(got) != text(t, living) {
				t.Errorf("what the link leads to was touched: %v", err)
			}
		})
	}
	t.Run("the lock", func(t *testing.T) {
		root := newRoot(t)
		if err := errors.Join(os.Mkdir(root, 0o700), os.Symlink(elsewhere, filepath.Join(root, "instances.lock"))); err != nil {
			t.Fatal(err)
		}
		if _, err := Claim(root, wanted(1)); err == nil || !strings.Contains(err.Error(), "instances.lock") {
			t.Errorf("the error is %v", err)
		}
	})
}

// TestForgedFileOfAProcessThatWasJustStarted is as plausible as a forgery gets: the pid of a live
// program, which was started right before the file says.
func TestForgedFileOfAProcessThatWasJustStarted(t *testing.T) {
	_, living := start(t, newRoot(t))
	sleep := exec.Command("sleep", "600")
	for { // until it is another tick of the clock
		if err := sleep.Start(); err != nil {
			t.Skip("needs sleep: coreutils")
		}
		if p, _ := look(sleep.Process.Pid); p.started != living.PIDStarted {
			break
		}
		sleep.Process.Kill()
		sleep.Wait()
		sleep = exec.Command("sleep", "600")
	}
	defer sleep.Wait()
	defer sleep.Process.Kill()
	r := living
	r.PID = sleep.Process.Pid
	if r.Alive() {
		t.Error("with the fields of another: it is taken for alive")
	}
	r.PIDStarted, r.BootID, r.StartedAt = "", "", time.Now().Format(startedAtLayout)
	if mayListen(r.PID, r.MCPPort) {
		t.Skip("only Linux tells who listens on a port")
	}
	if r.Alive() {
		t.Error("as Unterm writes it: it is taken for alive")
	}
}

func TestStop(t *testing.T) {
	root := newRoot(t)
	s, r := start(t, root)
	forged := r
	forged.PIDStarted = "1"
	if err := Stop(t.Context(), forged); !errors.Is(err, ErrGone) {
		t.Errorf("another process's pid: %v", err)
	}
	forged.PIDStarted, forged.BootID = "", ""
	if err := Kill(t.Context(), forged); !errors.Is(err, ErrUncertain) || !strings.Contains(err.Error(), "alpha") {
		t.Errorf("a record without proof: %v", err)
	}
	s.say("still here?")
	if err := Stop(t.Context(), r); err != nil {
		t.Error(err)
	}
	if state, _ := s.cmd.Process.Wait(); state.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("it ended by %s", state)
	}
	if err := Stop(t.Context(), r); !errors.Is(err, ErrGone) {
		t.Errorf("a second time: %v", err)
	}
	if got := ids(t, root); got != "" {
		t.Errorf("List has %s", got)
	}
}

func TestStopOfOneThatDoesNotEnd(t *testing.T) {
	s, r := start(t, newRoot(t))
	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil { // then TERM waits
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	err := Stop(ctx, r)
	if !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), r.AuthToken) {
		t.Errorf("the error is %v", err)
	}
	if err := Kill(t.Context(), r); err != nil {
		t.Error(err)
	}
}

package instance

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func init() {
	cases["full"], cases["read-only"], cases["no proc"] = onAFullDisk, onAReadOnlyDisk, withoutProc
}

// apart runs one of cases in a process with mounts of its own.
func apart(t *testing.T, name, root string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", childCase+"="+name, childRoot+"="+root)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		t.Error(string(out))
	} else if err != nil {
		t.Skipf("needs a user namespace of its own, which this system does not allow: %v", err)
	}
}

// refused wants an error that says this, and no token.
func refused(err, cause error, say string) error {
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), say) || strings.Contains(err.Error(), "SECRET") {
		return fmt.Errorf("the error is %v", err)
	}
	return nil
}

func TestFullDisk(t *testing.T) { apart(t, "full", t.TempDir()) }

func onAFullDisk(root string) error {
	if err := unix.Mount("tmpfs", root, "tmpfs", 0, "size=64k,mode=0700"); err != nil {
		return err
	}
	i, err := Claim(root, Record{MCPPort: 1, AuthToken: "SECRET"})
	if err != nil {
		return err
	}
	fill, err := os.Create(filepath.Join(root, "fill"))
	if err != nil {
		return err
	}
	for err == nil {
		_, err = fill.Write(make([]byte, 512))
	}
	fill.Close()
	if !errors.Is(err, unix.ENOSPC) {
		return err
	}
	_, claimed := Claim(root, Record{MCPPort: 1, AuthToken: "SECRET"})
	titled := i.SetTitle("more")
	r, recorded := i.Record()
	list, listed := List(root)
	if recorded != nil || listed != nil || len(list) != 1 || list[0] != r || r.ID != "alpha" || r.Title != "" {
		return fmt.Errorf("a full disk: Record %+v, %v; List has %d, %v", r.Entry(), recorded, len(list), listed)
	}
	left, _ := os.ReadDir(filepath.Join(root, "instances"))
	if len(left) != 1 {
		return fmt.Errorf("left behind: %v", left)
	}
	return errors.Join(
		refused(claimed, unix.ENOSPC, "free some space"), refused(titled, unix.ENOSPC, "free some space"),
		i.Close(), // it takes no space
	)
}

func TestReadOnlyDisk(t *testing.T) { apart(t, "read-only", t.TempDir()) }

func onAReadOnlyDisk(root string) error {
	if err := unix.Mount("tmpfs", root, "tmpfs", 0, "mode=0700"); err != nil {
		return err
	}
	_, err := Claim(root, Record{MCPPort: 1, AuthToken: "SECRET"}) // never given back
	if err != nil {
		return err
	}
	dead, _ := Record{ID: "bravo", PID: maxPID}.encode()
	if err := os.WriteFile(filepath.Join(root, "instances", "bravo.json"), dead, 0o600); err != nil {
		return err
	}
	if err := unix.Mount("", root, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		return err
	}
	_, claimed := Claim(root, Record{MCPPort: 1, AuthToken: "SECRET"})
	list, err := List(root)
	if err != nil || len(list) != 1 || list[0].ID != "alpha" {
		return fmt.Errorf("a read-only disk: List has %d, %v", len(list), err)
	}
	return refused(claimed, unix.EROFS, "give a root that this user can write to")
}

// TestHiddenProcesses: what cannot be looked at is not taken for dead, what is certainly dead is,
// and nobody is stopped.
func TestHiddenProcesses(t *testing.T) {
	root := newRoot(t)
	s, r := start(t, root)
	apart(t, "no proc", root)
	if got := ids(t, root); got != "alpha" {
		t.Errorf("List has %q", got)
	}
	if again := s.say("still here?"); again != r {
		t.Errorf("it is %+v now", again.Entry())
	}
}

func withoutProc(root string) error {
	if err := unix.Mount("tmpfs", "/proc", "tmpfs", 0, ""); err != nil {
		return err
	}
	dead, _ := Record{ID: "bravo", PID: maxPID}.encode()
	if err := os.WriteFile(filepath.Join(root, "instances", "bravo.json"), dead, 0o600); err != nil {
		return err
	}
	i, err := Claim(root, wanted(1))
	if err != nil {
		return err
	}
	list, err := List(root)
	if err != nil || len(list) != 2 || list[0].ID != "alpha" || list[1].ID != "bravo" || list[1].PIDStarted != "" {
		return fmt.Errorf("without /proc: List has %+v, %v", list, err)
	}
	a, err := Active(root)
	if err != nil || a.ID != "alpha" {
		return fmt.Errorf("without /proc: the active one is %s, %v", a.ID, err)
	}
	return errors.Join(refused(Stop(nil, a), ErrUncertain, "kill"), i.Close())
}

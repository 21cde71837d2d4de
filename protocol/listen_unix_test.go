//go:build unix

package protocol_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ptywright/ptywright/protocol"
)

func listen(t *testing.T, path string) net.Listener {
	t.Helper()
	l, err := protocol.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// refused expects Listen to fail with want, to name the path, and to leave what is there alone.
func refused(t *testing.T, path string, want error) {
	t.Helper()
	before, _ := os.Lstat(path)
	l, err := protocol.Listen(path)
	if err == nil {
		l.Close()
	}
	var e *protocol.ListenError
	if !errors.Is(err, want) || !errors.As(err, &e) || !strings.Contains(err.Error(), path) || e.Advice == "" {
		t.Errorf("got %v, want %v with the path and some advice", err, want)
	}
	// Without an attempt the same is said, but for who listens.
	if err := protocol.Check(path); want == protocol.ErrInUse && err != nil || want != protocol.ErrInUse && !errors.Is(err, want) {
		t.Errorf("Check: %v, want %v", err, want)
	}
	after, _ := os.Lstat(path)
	if (before == nil) != (after == nil) || before != nil && !os.SameFile(before, after) {
		t.Errorf("%s was changed", path)
	}
	if err := os.Remove(path + ".lock"); want != protocol.ErrInUse && err == nil {
		t.Errorf("%s.lock was left behind", path)
	}
}

// folder returns a folder with a mode whatever the umask.
func folder(t *testing.T, mode fs.FileMode) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "d")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, mode)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestListenPermissions(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o777} {
		old := syscall.Umask(0)
		dir := filepath.Join(t.TempDir(), "made")
		syscall.Umask(umask &^ 0o700) // a umask that takes our own rights keeps us from making folders at all
		l, err := protocol.Listen(filepath.Join(dir, "s"))
		syscall.Umask(old)
		if err != nil {
			t.Fatalf("umask %#o: %v", umask, err)
		}
		for path, want := range map[string]fs.FileMode{dir: fs.ModeDir | 0o700, filepath.Join(dir, "s"): fs.ModeSocket | 0o600, filepath.Join(dir, "s.lock"): 0o600} {
			if info, err := os.Lstat(path); err != nil || info.Mode() != want {
				t.Errorf("umask %#o: %s: %v, %v; want %v", umask, path, info.Mode(), err, want)
			}
		}
		l.Close()
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

func TestListenFolder(t *testing.T) {
	for _, mode := range []fs.FileMode{0o777, 0o777 | fs.ModeSticky, 0o770, 0o722, 0o720, 0o702} {
		refused(t, filepath.Join(folder(t, mode), "s"), protocol.ErrFolder)
	}
	for _, mode := range []fs.FileMode{0o700, 0o755, 0o750} {
		listen(t, filepath.Join(folder(t, mode), "s"))
	}
	dir := folder(t, 0o700)
	link := filepath.Join(filepath.Dir(dir), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	refused(t, filepath.Join(link, "s"), protocol.ErrFolder)

	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, filepath.Join(file, "s"), protocol.ErrFolder)

	others := "/"
	if os.Geteuid() == 0 {
		others = folder(t, 0o700)
		if err := os.Chown(others, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	refused(t, filepath.Join(others, "s"), protocol.ErrFolder)
}

func TestListenPath(t *testing.T) {
	refused(t, filepath.Join(folder(t, 0o700), strings.Repeat("x", 120)), protocol.ErrPath)
	dir := folder(t, 0o700)
	for name, make := range map[string]func(path string) error{
		"file":   func(path string) error { return os.WriteFile(path, []byte("precious"), 0o600) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"link":   func(path string) error { return os.Symlink("nowhere", path) },
		"fifo":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		path := filepath.Join(dir, name)
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		refused(t, path, protocol.ErrNotSocket)
	}
}

// stale makes a socket that nobody listens on.
func stale(t *testing.T, path string) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
}

func TestListenTakesOverWhatIsStale(t *testing.T) {
	path := filepath.Join(folder(t, 0o700), "s")
	stale(t, path)
	if protocol.Locked(path) {
		t.Error("what is stale is locked")
	}
	l := listen(t, path)
	if !protocol.Locked(path) {
		t.Error("what is listened on is not locked")
	}
	go func() {
		if c, err := l.Accept(); err == nil {
			c.Close()
		}
	}()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	refused(t, path, protocol.ErrInUse)
	l.Close()
	l.Close() // twice is harmless
	listen(t, path)
}

// TestListenLeavesTheLiveAlone meets a server that takes no lock.
func TestListenLeavesTheLiveAlone(t *testing.T) {
	path := filepath.Join(folder(t, 0o700), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	refused(t, path, protocol.ErrInUse)
}

func TestCloseLeavesTheReplacedAlone(t *testing.T) {
	path := filepath.Join(folder(t, 0o700), "s")
	l := listen(t, path)
	if err := errors.Join(os.Remove(path), os.WriteFile(path, []byte("precious"), 0o600)); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if b, err := os.ReadFile(path); err != nil || string(b) != "precious" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestListenRace starts fifty servers at once, on a fresh and on a stale path, many times.
func TestListenRace(t *testing.T) {
	dir := folder(t, 0o700)
	for round := range 20 {
		path := filepath.Join(dir, fmt.Sprint(round))
		if round%2 == 1 {
			stale(t, path)
		}
		var mu sync.Mutex
		var won []net.Listener
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				l, err := protocol.Listen(path)
				if err == nil {
					mu.Lock()
					won = append(won, l)
					mu.Unlock()
				} else if !errors.Is(err, protocol.ErrInUse) {
					t.Errorf("a loser got %v", err)
				}
			})
		}
		wg.Wait()
		if len(won) != 1 {
			t.Errorf("%d of 50 won", len(won))
		}
		for _, l := range won {
			l.Close()
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

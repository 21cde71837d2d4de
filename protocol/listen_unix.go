//go:build unix

package protocol

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"
)

// backlog is how many connections the kernel queues for us; it cuts the number to its own maximum,
// 4,096 on Linux. When it is full, clients fail or wait although the server is well.
const backlog = 1024

// Listen listens on a Unix socket that only this user can connect to.
//
// The socket has mode 0600 before anyone can connect, and the kernel is asked who each peer is
// before a byte is read; connections of other users are closed. The folder must be ours, and
// neither its group nor others may write in it; a missing one is made, with mode 0700. So /tmp
// itself is refused: its sticky bit keeps others from removing our socket, but not from creating
// theirs first, which our clients would then talk to. A folder of our own below /tmp is fine.
//
// A lock on the sibling file path.lock, held while the listener is open, makes checking for another
// server and replacing a stale socket one atomic step. A live server is never replaced, and what is
// not a socket is never removed. Closing the listener removes the socket if it is still its own.
//
// Errors are [*ListenError]: [ErrInUse], [ErrNotSocket], [ErrPath], [ErrFolder], or of the system.
func Listen(path string) (net.Listener, error) {
	path, err := usable(path, true)
	if err != nil {
		return nil, err
	}
	lock, err := lockFor(path)
	if err != nil {
		return nil, err
	}
	l, err := listenLocked(path, lock)
	if err != nil {
		unlock(lock)
		return nil, err
	}
	return l, nil
}

// Check says why [Listen] would refuse a path, whether or not a server listens there; nil if it
// would not. It changes nothing. Errors are [*ListenError].
func Check(path string) error {
	path, err := usable(path, false)
	if err != nil {
		return err
	}
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&fs.ModeSocket == 0 {
		return notSocket(path, info)
	}
	return nil
}

// Locked reports whether a listener of [Listen] holds the lock of path: a server listens there, or
// is about to.
func Locked(path string) bool {
	f, err := os.OpenFile(path+".lock", os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close() // releases the lock taken here
	return errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// usable returns the absolute path of a socket, if that path is valid and its folder is private.
// With make it makes a missing folder.
func usable(path string, make bool) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", &ListenError{Path: path, Err: err}
	}
	var raw unix.RawSockaddrUnix
	if most := len(raw.Path) - 1; len(path) > most {
		return "", &ListenError{
			Path: path, Err: ErrPath, Detail: fmt.Sprintf("it has %d bytes", len(path)),
			Advice: fmt.Sprintf("use one of at most %d", most),
		}
	}
	dir := filepath.Dir(path)
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		if !make {
			return path, nil
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", &ListenError{Path: path, Err: err}
		}
	}
	if err := privateFolder(dir); err != nil {
		err.Path = path
		return "", err
	}
	return path, nil
}

// privateFolder checks that no other user can put a file into dir.
func privateFolder(dir string) *ListenError {
	const advice = "use a folder of your own that group and others cannot write, or a path in a folder that does not exist yet"
	info, err := os.Lstat(dir)
	if err != nil {
		return &ListenError{Err: err}
	}
	unsafe := func(format string, args ...any) *ListenError {
		return &ListenError{Err: ErrFolder, Detail: dir + " " + fmt.Sprintf(format, args...),
			Advice: advice}
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return unsafe("is a symbolic link")
	}
	if !info.IsDir() {
		return unsafe("is not a folder")
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; int(owner) != os.Geteuid() {
		return unsafe("belongs to user %d and not to user %d", owner, os.Geteuid())
	}
	if info.Mode().Perm()&0o022 != 0 {
		return unsafe("has mode %#o", info.Mode().Perm())
	}
	return nil
}

// lockFor takes the lock beside path. The holder of the lock removes the file, so a lock on a file
// that is no longer at its path is worthless.
func lockFor(path string) (*flock.Flock, error) {
	for {
		lock := flock.New(path+".lock", flock.SetFlag(os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW),
			flock.SetPermissions(0o600))
		ok, err := lock.TryLock()
		if err != nil {
			return nil, &ListenError{Path: path, Err: fmt.Errorf("lock %s.lock: %w", path, err)}
		}
		if !ok {
			lock.Close()
			return nil, inUse(path)
		}
		held, err := lock.Stat()
		if err == nil {
			if there, err := os.Lstat(path + ".lock"); err == nil && os.SameFile(held, there) {
				return lock, nil
			}
		}
		lock.Close()
	}
}

func unlock(lock *flock.Flock) {
	os.Remove(lock.Path())
	lock.Close()
}

func inUse(path string) *ListenError {
	return &ListenError{Path: path, Err: ErrInUse,
		Advice: "connect to it, stop it, or use another path"}
}

// listenLocked makes the socket; the caller holds the lock.
func listenLocked(path string, lock *flock.Flock) (*listener, error) {
	fail := func(what string, err error) (*listener, error) {
		return nil, &ListenError{Path: path, Err: fmt.Errorf("%s: %w", what, err)}
	}
	if err := clearStale(path); err != nil {
		return nil, err
	}
	syscall.ForkLock.RLock() // no child of ours starts between the two
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return fail("socket", err)
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close() // the net.Listener has a duplicate
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		return fail("bind", err)
	}
	made, err := os.Lstat(path)
	if err != nil {
		return fail("look at the new socket", err)
	}
	// Nobody can connect before listen(2), so the process-wide umask need not be changed.
	if err = os.Chmod(path, 0o600); err == nil {
		err = unix.Listen(fd, backlog)
	}
	var inner net.Listener
	if err == nil {
		inner, err = net.FileListener(f)
	}
	if err != nil {
		os.Remove(path)
		return fail("prepare the socket", err)
	}
	return &listener{UnixListener: inner.(*net.UnixListener), path: path, made: made,
		lock: lock}, nil
}

func notSocket(path string, info fs.FileInfo) *ListenError {
	return &ListenError{
		Path: path, Err: ErrNotSocket, Detail: "its mode is " + info.Mode().String(),
		Advice: "use another path, or move it away",
	}
}

// clearStale removes a socket that nobody listens on.
func clearStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &ListenError{Path: path, Err: err}
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return notSocket(path, info)
	}
	conn, err := net.Dial("unix", path)
	if err == nil {
		conn.Close()
		return inUse(path)
	}
	// ECONNREFUSED is the only sure sign of a dead server: a busy server's full queue is EAGAIN.
	if !errors.Is(err, unix.ECONNREFUSED) {
		e := inUse(path)
		e.Detail = "or cannot be told to be dead: " + err.Error()
		return e
	}
	if err := os.Remove(path); err != nil {
		return &ListenError{Path: path, Err: err}
	}
	return nil
}

type listener struct {
	*net.UnixListener
	path   string
	made   fs.FileInfo
	lock   *flock.Flock
	closed sync.Once
}

// Accept returns the next connection of our own user.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.UnixListener.AcceptUnix()
		if err != nil {
			return nil, err
		}
		uid, err := peerUID(c)
		if err == nil && uid == os.Geteuid() {
			return c, nil
		}
		slog.Warn("refused a connection of another user", "socket", l.path, "uid", uid,
			"error", err)
		c.Close()
	}
}

func (l *listener) Close() error {
	err := net.ErrClosed
	l.closed.Do(func() {
		err = l.UnixListener.Close()
		if there, statErr := os.Lstat(l.path); statErr == nil && os.SameFile(there, l.made) {
			os.Remove(l.path)
		}
		unlock(l.lock)
	})
	return err
}

// peerUID asks the kernel which user has connected.
func peerUID(c *net.UnixConn) (int, error) {
	uid, _, err := credentials(c)
	return uid, err
}

// credentials asks the kernel which user and process have connected; -1 is what it does not tell.
func credentials(c *net.UnixConn) (uid, pid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, -1, err
	}
	var asked error
	if err := raw.Control(func(fd uintptr) { uid, pid, asked = credentialsOf(int(fd)) }); err != nil {
		return -1, -1, err
	}
	return uid, pid, asked
}

// processOf returns the user and the process at the other end of a connection; -1 is what the
// system does not tell.
func processOf(c net.Conn) (uid, pid int) {
	local, ok := c.(*net.UnixConn)
	if !ok {
		return -1, -1
	}
	uid, pid, _ = credentials(local) // -1 with an error
	return uid, pid
}

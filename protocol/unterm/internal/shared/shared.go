// Package shared handles files that several servers of one user change: [Lock] lets one at a time,
// by a lock file beside them, and [SetAside] renames unusable files instead of overwriting them.
package shared

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// Patience is the default time to wait for a lock. Work under one takes milliseconds; a process
// that holds it longer is stopped, or its disk is.
const Patience = 10 * time.Second

// ErrLocked reports that another process holds the lock for longer than callers wait.
var ErrLocked = errors.New("another process holds the lock")

// A Lock is a lock on a file, which is made when it is missing, mode 0600, and never removed.
// Goroutines of this process take it one after the other, so that at most one thread is parked in
// flock(2), however many time out. Make one with [NewLock].
type Lock struct{ turn chan struct{} }

// NewLock returns a lock. It may be used for any number of files; its users wait for each other.
func NewLock() *Lock { return &Lock{make(chan struct{}, 1)} }

// Take locks the file at path, or times out with [ErrLocked] after patience. It does not follow a
// symbolic link. Other errors are the system's.
func (k *Lock) Take(path string, patience time.Duration) (release func(), err error) {
	giveUp := time.NewTimer(patience)
	defer giveUp.Stop()
	late := fmt.Errorf("%w %s for more than %s; is a server stopped or its disk stuck? The processes that have it open: fuser %[2]s", ErrLocked, path, patience)
	select {
	case k.turn <- struct{}{}:
	case <-giveUp.C:
		return nil, late
	}
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR|noFollow), flock.SetPermissions(0o600))
	done := make(chan error, 1)
	free := func() {
		_ = l.Close() // nothing can be done about an error; closing unlocks
		<-k.turn
	}
	go func() { done <- l.Lock() }()
	select {
	case err := <-done:
		if err != nil {
			free()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		return free, nil
	case <-giveUp.C:
		go func() {
			<-done
			free()
		}()
		return nil, late
	}
}

// ErrNotFile reports a path that is not a regular file: a folder, a pipe, a link.
var ErrNotFile = errors.New("not a regular file")

// Read reads a file of at most that many bytes. It opens only regular files, so that it never
// blocks on a pipe, and does not follow symbolic links. Errors: [ErrNotFile], one that says that it
// is too long, the system's.
func Read(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow|noBlock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, ErrNotFile)
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it has more than %d bytes", most)
	}
	return data, err
}

// AsideMost is how many unusable files of one name are kept; the last place is reused.
const AsideMost = 10

// SetAside renames an unusable file, and returns its new name: path.bad, then path.bad2 and so on.
func SetAside(path string) (aside string, err error) {
	aside = path + ".bad"
	for n := 2; n <= AsideMost; n++ {
		if _, err := os.Lstat(aside); err != nil {
			break
		}
		aside = fmt.Sprint(path, ".bad", n)
	}
	return aside, os.Rename(path, aside)
}

// Package shared is about files that several servers of one user change: one at a time, by a lock beside them, and what cannot be
// used is set aside instead of being written over.
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

// Patience is how long a lock is waited for when nobody says otherwise. What is done under one takes milliseconds; a process that
// holds it longer has been stopped, or its disk has.
const Patience = 10 * time.Second

// ErrLocked is about a lock that another process holds for longer than anybody waits.
var ErrLocked = errors.New("another process holds the lock")

// A Lock is a lock on a file, which is made when it is missing, mode 0600, and left where it is. Goroutines of this process take it
// one after the other, so that one thread at most is parked in flock(2), whoever gives up waiting. Make one with [NewLock].
type Lock struct{ turn chan struct{} }

// NewLock returns a lock. It is no matter how many files it is used for, but for who waits for whom.
func NewLock() *Lock { return &Lock{make(chan struct{}, 1)} }

// Take locks the file at path, or gives up with [ErrLocked] when patience is over. A symbolic link is not followed. Other errors are
// the system's.
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
		_ = l.Close() // nobody can do anything about it; closing unlocks
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

// ErrNotFile is about what stands where a file has to be: a folder, a pipe, a link.
var ErrNotFile = errors.New("not a regular file")

// Read reads a file of at most so many bytes. Nothing but a regular file is opened for good, so that nobody waits at a pipe, and no
// symbolic link is followed. Errors: [ErrNotFile], one that says that it is too long, the system's.
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

// AsideMost is how many files that could not be used are kept of one name; the last place is taken again and again.
const AsideMost = 10

// SetAside gives a file that cannot be used another name, and returns it: path.bad, then path.bad2 and so on.
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

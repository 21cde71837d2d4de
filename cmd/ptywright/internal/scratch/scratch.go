// Package scratch (no stability promise) keeps the folders that commands have for what nobody is to
// find afterwards. One is removed when its command ends, and by the next such command when its own was
// killed.
package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/gofrs/flock"
)

const (
	// lockName is the file in a folder that its command has locked as long as it lives: the system
	// unlocks it however the command ends.
	lockName = "lock"
	// gone ends the name of a folder while it is removed.
	gone = ".gone"
	// tries bounds how often another command may take a new folder for a stale one: that needs it to
	// look within the microseconds between the folder and its lock.
	tries = 100
)

// A Folder is a folder of this process alone, mode 0700.
type Folder struct {
	Path string
	lock *flock.Flock
}

// New makes a folder below the system's for temporary files, with a name that begins with prefix, and
// removes those of this user that have such names and whose processes have ended. Errors are the
// system's.
func New(prefix string) (*Folder, error) {
	sweep(os.TempDir(), prefix)
	for range tries {
		path, err := os.MkdirTemp("", prefix)
		if err != nil {
			return nil, err
		}
		lock, err := take(path)
		switch {
		case lock != nil:
			return &Folder{path, lock}, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			_ = os.RemoveAll(path) // the error that counts is the first
			return nil, fmt.Errorf("lock the temporary folder %s: %w", path, err)
		}
	}
	return nil, fmt.Errorf("make a temporary folder %s*: others remove it at once", prefix)
}

// Remove removes the folder and all in it. It may be called more than once.
func (f *Folder) Remove() error {
	if runtime.GOOS == "windows" { // a file that is open cannot be removed there
		_ = f.lock.Close()
	}
	err := os.RemoveAll(f.Path)
	_ = f.lock.Close() // the lock is gone with the file
	return err
}

// take locks a folder; nil: another process holds its lock, or has removed it.
func take(dir string) (*flock.Flock, error) {
	lock := flock.New(filepath.Join(dir, lockName), flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if ok {
		// A process that removes the folder holds the lock, so that of a file that is gone is worthless.
		var held, there fs.FileInfo
		if held, err = lock.Stat(); err == nil {
			there, err = os.Lstat(lock.Path())
		}
		if err == nil && os.SameFile(held, there) {
			return lock, nil
		}
	}
	_ = lock.Close() // nothing is locked
	return nil, err
}

// sweep removes the folders that killed processes of this user have left. What cannot be removed stays.
func sweep(temp, prefix string) {
	all, err := os.ReadDir(temp)
	if err != nil {
		return
	}
	for _, e := range all {
		info, err := e.Info()
		if err != nil || !strings.HasPrefix(e.Name(), prefix) || !info.IsDir() || !Mine(info) {
			continue
		}
		dir := filepath.Join(temp, e.Name())
		lock, err := take(dir)
		if lock == nil || err != nil {
			continue
		}
		// One that is new and not locked yet is not removed under its process: that finds it renamed.
		if runtime.GOOS == "windows" {
			_ = lock.Close() // a folder with an open file cannot be renamed there
		}
		if away := dir + gone; os.Rename(dir, away) == nil {
			_ = os.RemoveAll(away)
		}
		_ = lock.Close()
	}
}

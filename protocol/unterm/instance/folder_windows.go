package instance

import (
	"errors"
	"io/fs"
	"time"

	"golang.org/x/sys/windows"
)

const noFollow, noBlock = 0, 0

// private returns nil: a user's profile keeps others out by its access control list.
func private(dir string, info fs.FileInfo) error { return nil }

func ours(info fs.FileInfo) bool { return true }

// patience is how long a reader, or a virus scanner, may keep a file open that is to be replaced or
// removed. They need a millisecond or two; the lock is held meanwhile.
const patience = time.Second

// persist repeats op while another process has the file open: Windows does not notify us when that
// is over.
func persist(op func() error) error {
	giveUp := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause *= 2 {
		err := op()
		inUse := errors.Is(err, windows.ERROR_SHARING_VIOLATION) ||
			errors.Is(err, windows.ERROR_ACCESS_DENIED)
		if !inUse || time.Now().After(giveUp) {
			return err
		}
		<-time.After(pause)
	}
}

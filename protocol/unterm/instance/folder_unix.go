//go:build unix

package instance

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

const (
	noFollow = syscall.O_NOFOLLOW
	noBlock  = syscall.O_NONBLOCK
)

// private reports why others could put files into dir. Its mode says who may read it; each file has
// its own.
func private(dir string, info fs.FileInfo) error {
	if owner := info.Sys().(*syscall.Stat_t).Uid; int(owner) != os.Geteuid() {
		return fmt.Errorf("%w: %s belongs to user %d, and this is user %d; give a root of your own",
			ErrFolder, dir, owner, os.Geteuid())
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("%w: others can write to %s, which has mode %#o; chmod go-w %[2]s",
			ErrFolder, dir, mode)
	}
	return nil
}

// ours reports whether a file belongs to this user.
func ours(info fs.FileInfo) bool { return int(info.Sys().(*syscall.Stat_t).Uid) == os.Geteuid() }

// persist is op: an open file can be replaced and removed.
func persist(op func() error) error { return op() }

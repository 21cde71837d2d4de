//go:build unix

package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// logOpen keeps opening a file that is not regular, such as a pipe, from waiting for the other end,
// and follows no link.
const logOpen = syscall.O_NONBLOCK | syscall.O_NOFOLLOW

// isLink reports whether a file was not opened because it is a link.
func isLink(err error) bool { return errors.Is(err, syscall.ELOOP) }

// onlyOurs refuses a file that somebody else may write to.
func onlyOurs(path string, info fs.FileInfo) error {
	if owner := info.Sys().(*syscall.Stat_t).Uid; int(owner) != os.Geteuid() {
		return fmt.Errorf("%s belongs to user %d and not to user %d: name another file", path, owner,
			os.Geteuid())
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s has mode %#o, so others may write to it: chmod 600 it, or name another file",
			path, info.Mode().Perm())
	}
	return nil
}

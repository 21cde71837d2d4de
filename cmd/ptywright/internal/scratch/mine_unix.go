//go:build unix

package scratch

import (
	"io/fs"
	"os"
	"syscall"
)

// Mine reports whether a file belongs to this user.
func Mine(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

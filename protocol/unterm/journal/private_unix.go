//go:build unix

package journal

import (
	"io/fs"
	"os"
	"syscall"
)

// private reports whether a folder is ours and only we may change its content.
func private(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}

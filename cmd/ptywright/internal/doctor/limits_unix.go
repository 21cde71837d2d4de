//go:build unix

package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// perSession is the most descriptors that a session needs.
const perSession = 3

func ownerOf(info fs.FileInfo) (int, bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(s.Uid), true
}

// limits checks how many sessions the system allows.
func limits(context.Context, Facts) []Finding {
	var all []Finding
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err == nil {
		f := Finding{"limit of files", OK,
			fmt.Sprintf("%d open files: enough for %d sessions", files.Cur,
				files.Cur/perSession), ""}
		if files.Cur < 256 {
			f.State, f.Advice = Warning, "ulimit -n 4096"
		}
		all = append(all, f)
	}
	most, err := numberIn("/proc/sys/kernel/pty/max")
	if err != nil {
		return all // another system
	}
	used, err := numberIn("/proc/sys/kernel/pty/nr")
	if err != nil {
		return all
	}
	f := Finding{"limit of terminals", OK, fmt.Sprintf("%d of %d are in use", used, most), ""}
	if most-used < 16 {
		f.State, f.Advice = Broken,
			"end programs that hold terminals, or raise /proc/sys/kernel/pty/max"
	}
	return append(all, f)
}

func numberIn(path string) (int, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(b)))
}

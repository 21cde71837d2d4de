package instance

import (
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// bootID returns a value that changes with every boot, "" where the kernel has none. kern.boottime
// would not do: it moves when the clock is set.
var bootID = sync.OnceValue(func() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
})

func look(pid int) (process, sight) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		if unix.Kill(pid, 0) == unix.ESRCH {
			return process{}, gone
		}
		return process{}, hidden
	}
	const zombie = 5 // SZOMB of sys/proc.h
	if k.Proc.P_stat == zombie {
		return process{}, gone
	}
	at := time.Unix(k.Proc.P_starttime.Sec, int64(k.Proc.P_starttime.Usec)*1000)
	return process{started: strconv.FormatInt(at.UnixMicro(), 10), at: at}, seen
}

// mayListen returns true: which process has a socket cannot be found out without cgo.
func mayListen(pid, port int) bool { return true }

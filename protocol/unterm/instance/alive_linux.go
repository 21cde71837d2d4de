package instance

import (
	"bytes"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ptywright/ptywright/internal/sockdiag"
)

// bootID returns a value that changes with every boot, "" where the kernel has none.
var bootID = sync.OnceValue(func() string {
	b, _ := readCapped("/proc/sys/kernel/random/boot_id", 128)
	return strings.TrimSpace(string(b))
})

// ticks is USER_HZ, which is 100 on every architecture that Go has.
const ticks = 100

func look(pid int) (process, sight) {
	b, err := readCapped("/proc/"+strconv.Itoa(pid)+"/stat", 4096)
	if err != nil {
		// With hidepid, and without /proc, the file is missing although the process exists.
		if unix.Kill(pid, 0) == unix.ESRCH {
			return process{}, gone
		}
		return process{}, hidden
	}
	start, dead, ok := parseStat(b)
	switch {
	case !ok:
		return process{}, hidden
	case dead:
		return process{}, gone
	}
	p := process{started: strconv.FormatUint(start, 10)}
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) == nil {
		age := time.Duration(now.Nano()) - time.Duration(start)*(time.Second/ticks)
		p.at = time.Now().Add(-age)
	}
	return p, seen
}

// parseStat reads a line of /proc/PID/stat; see proc_pid_stat(5). The program chooses the name in
// its second field, which may contain anything, even parentheses and line feeds.
func parseStat(b []byte) (start uint64, dead, ok bool) {
	end := bytes.LastIndexByte(b, ')')
	if end < 0 {
		return 0, false, false
	}
	// Field numbers are those of the manual page, where the state is 3.
	fields := strings.Fields(string(b[end+1:]))
	if len(fields) < 20 {
		return 0, false, false
	}
	start, err := strconv.ParseUint(fields[22-3], 10, 64)
	if err != nil {
		return 0, false, false
	}
	switch fields[0] {
	case "Z", "X", "x":
		// The first thread may have ended while others run.
		threads, err := strconv.Atoi(fields[20-3])
		dead = err == nil && threads <= 1
	}
	return start, dead, true
}

// maxSockets bounds how much of a table of sockets is read, in bytes: 40,000 of them. The socket is
// searched for among those.
const maxSockets = 6 << 20

// mayListen reports whether the process has a socket that listens on the port, or true when we
// cannot find out.
func mayListen(pid, port int) bool {
	proc := "/proc/" + strconv.Itoa(pid)
	dir, err := os.Open(proc + "/fd")
	if err != nil {
		return true
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	// Servers listen on this address, and the system can look up the one socket there. Tables,
	// which take it milliseconds to write, are for servers that listen elsewhere or in another
	// network namespace: with twenty instances a process that checks all of them, under the lock,
	// would read forty tables.
	at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(port))
	if s, ok := sockdiag.TCP(at, netip.AddrPort{}); ok &&
		hasSocket(proc, names, map[string]bool{strconv.FormatUint(uint64(s.Inode), 10): true}) {
		return true
	}
	inodes := make(map[string]bool)
	for _, table := range []string{"/net/tcp", "/net/tcp6"} {
		b, err := readCapped(proc+table, maxSockets)
		if err != nil && table == "/net/tcp" {
			return true
		}
		listening(b, port, inodes)
	}
	return hasSocket(proc, names, inodes) || err != nil
}

// hasSocket reports whether one of a process's descriptors is a socket of these inodes.
func hasSocket(proc string, descriptors []string, inodes map[string]bool) bool {
	for _, name := range descriptors {
		link, err := os.Readlink(proc + "/fd/" + name)
		if err != nil {
			continue
		}
		if inode, ok := strings.CutPrefix(link, "socket:["); ok &&
			inodes[strings.TrimSuffix(inode, "]")] {
			return true
		}
	}
	return false
}

// listening adds the inodes of the sockets of a table in the form of /proc/net/tcp that listen on
// the port; see proc_pid_net(5).
func listening(table []byte, port int, inodes map[string]bool) {
	const listen = "0A" // TCP_LISTEN
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line)
		if len(f) < 10 || f[3] != listen {
			continue
		}
		_, hex, _ := strings.Cut(f[1], ":")
		if n, err := strconv.ParseUint(hex, 16, 16); err == nil && int(n) == port {
			inodes[f[9]] = true
		}
	}
}

// readCapped reads at most that many bytes of a file of /proc.
func readCapped(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

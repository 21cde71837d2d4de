package pty

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Where groups are made. The kernel applies a controller below a group only when all processes of
// that group have moved to groups of their own; the root is exempt. So there are three places, in
// this order: below our group, when nothing prevents it; below it after we have moved ourselves and
// our children to a group of our own, when nobody else is in it, as in a service or a scope with
// Delegate=yes; and beside it, as a user's programs are siblings under systemd.

// homing is held while a place is being found, so that two callers do not move us at the same time.
var homing sync.Mutex

// serverGroup is the group that we move to.
const serverGroup = groupPrefix + "server"

// groupHome returns the folder where a group with limited memory can be made. The error is a
// [*MemoryLimitError].
func groupHome() (string, error) {
	homing.Lock()
	defer homing.Unlock()
	own, top, err := ownGroup()
	if err != nil {
		return "", err
	}
	return homeFrom(own, top)
}

// homeFrom is groupHome for a process in group own, below the mounted folder top.
func homeFrom(own, top string) (string, error) {
	if filepath.Base(own) == serverGroup { // we have moved before
		own = filepath.Dir(own)
	}
	has, err := readFile(filepath.Join(own, "cgroup.controllers"), nil)
	if err != nil {
		return "", &MemoryLimitError{Why: "the server's group cannot be read", Err: err}
	}
	if !lists(has, "memory") {
		return "", &MemoryLimitError{Why: "cgroup v2 has no memory controller for the server's group: it is not delegated, or cgroup v1 has it"}
	}
	err = enable(own)
	if errors.Is(err, unix.EBUSY) && moveAll(own) {
		err = enable(own)
	}
	if err == nil {
		return own, nil
	}
	if beside := filepath.Dir(own); own != top {
		below, rerr := readFile(filepath.Join(beside, "cgroup.subtree_control"), nil)
		if rerr == nil && lists(below, "memory") && unix.Access(beside, unix.W_OK) == nil {
			return beside, nil
		}
	}
	why := "the server may not make groups below its own, nor beside it"
	if errors.Is(err, unix.EBUSY) {
		why = "other programs are in the server's group, so that it can have none below it, and the server may make none beside it"
	}
	return "", &MemoryLimitError{Why: why, Err: err}
}

// enable applies the memory controller to groups below dir.
func enable(dir string) error {
	control := filepath.Join(dir, "cgroup.subtree_control")
	if now, err := readFile(control, nil); err == nil && lists(now, "memory") {
		if err := unix.Access(dir, unix.W_OK); err != nil {
			return err
		}
		return nil
	}
	g := &memoryGroup{dir: dir}
	return cause(g.set("cgroup.subtree_control", "+memory"))
}

// moveAll moves us, and everything we started, from our group to one below it, unless another
// process is in it.
func moveAll(own string) bool {
	for range 10 { // processes forked meanwhile are moved in the next round
		members, err := membersOf(own)
		if err != nil || len(members) == 0 {
			return err == nil
		}
		if !allOurs(members) {
			return false
		}
		inner := &memoryGroup{dir: filepath.Join(own, serverGroup)}
		if err := os.Mkdir(inner.dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return false
		}
		for _, pid := range members {
			if err := inner.set("cgroup.procs", strconv.Itoa(pid)); err != nil &&
				!errors.Is(err, unix.ESRCH) {
				return false
			}
		}
	}
	return false
}

func membersOf(dir string) (pids []int, err error) {
	text, err := readFile(filepath.Join(dir, "cgroup.procs"), nil)
	for word := range bytes.FieldsSeq(text) {
		pid, err := strconv.Atoi(string(word))
		if err != nil || pid == 0 { // 0: of another namespace
			return nil, unix.EPERM
		}
		pids = append(pids, pid)
	}
	return pids, err
}

// allOurs reports whether processes are this one and descendants of it.
func allOurs(pids []int) bool {
	procs, err := processes()
	if err != nil {
		return false
	}
	parent := make(map[int]int, len(procs))
	for _, p := range procs {
		parent[p.pid] = p.ppid
	}
	return !slices.ContainsFunc(pids, func(pid int) bool {
		if _, there := parent[pid]; !there {
			return false // it has ended
		}
		for range len(procs) {
			if pid == os.Getpid() {
				return false
			}
			pid = parent[pid] // 0 at last
		}
		return true
	})
}

// ownGroup returns the folder of this process's group, and where cgroup v2 is mounted.
func ownGroup() (own, top string, err error) {
	mounts, err := readFile("/proc/self/mountinfo", nil)
	if err == nil {
		var groups []byte
		if groups, err = readFile("/proc/self/cgroup", nil); err == nil {
			if own, top = findGroup(mounts, groups); own != "" {
				return own, top, nil
			}
		}
	}
	return "", "", &MemoryLimitError{Why: "cgroup v2 is not mounted", Err: err}
}

// findGroup is ownGroup from the kernel's lists of mounts and groups; see proc_pid_mountinfo(5) and
// cgroups(7).
func findGroup(mounts, groups []byte) (own, top string) {
	path, ok := "", false
	for line := range strings.Lines(string(groups)) {
		if p, is := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); is {
			path, ok = p, true
		}
	}
	if !ok {
		return "", ""
	}
	for line := range strings.Lines(string(mounts)) {
		front, back, _ := strings.Cut(line, " - ")
		fields, kind := strings.Fields(front), strings.Fields(back)
		if len(fields) < 5 || len(kind) == 0 || kind[0] != "cgroup2" {
			continue
		}
		rel, err := filepath.Rel(unescape(fields[3]), path)
		if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
			continue // our group is not below this mount
		}
		top = unescape(fields[4])
		return filepath.Join(top, rel), top
	}
	return "", ""
}

// unescape undoes the octal escapes of mountinfo.
func unescape(s string) string {
	var out []byte
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				out = append(out, byte(n))
				i += 3
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

func lists(text []byte, word string) bool {
	for w := range bytes.FieldsSeq(text) {
		if string(w) == word {
			return true
		}
	}
	return false
}

// sweepGroups removes empty groups left by servers that were killed outright, and those of ours
// that were not empty when their programs ended. It ends no process.
func sweepGroups(home string) {
	entries, err := os.ReadDir(home)
	if err != nil {
		return
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), groupPrefix)
		number, _, numbered := strings.Cut(rest, "-")
		pid, err := strconv.Atoi(number)
		if !ok || !numbered || err != nil || pid <= 0 {
			continue
		}
		dir := filepath.Join(home, e.Name())
		groups.mu.Lock()
		live := groups.live[dir]
		groups.mu.Unlock()
		if !live && (pid == os.Getpid() || unix.Kill(pid, 0) == unix.ESRCH) {
			unix.Rmdir(dir)
		}
	}
}

//go:build linux || darwin

package pty

import (
	"bytes"
	"slices"
	"strings"
)

// process is a row of the system's process table. All times are in the unit of
// clockTicks.
type process struct {
	pid, ppid, sid int
	group          int    // process group
	tty            uint64 // device number of the controlling terminal, 0 for none
	start          uint64 // when it was started; with pid, names a process for ever
	dead           bool   // a zombie, so nothing can be done to it
	stopped        bool
	kernel         bool // a kernel thread
	forked         bool // it has executed no program since it was forked
}

// id names a process even after its pid is reused.
type id struct {
	pid   int
	start uint64
}

func (p process) id() id { return id{p.pid, p.start} }

// tree is what identifies the leader of a session and its descendants.
type tree struct {
	pid    int    // of the leader; also the session id
	start  uint64 // of the leader
	reaped uint64 // when the leader was reaped, 0 while its pid is still taken
	mark   string // "K=V" in the environment, "" for none

	terminal terminal
	made     uint64 // when the terminal was made: in ns, by the kernel's clock for files
	noTTY    bool   // the terminal's name may mean another terminal by now
	until    uint64 // with noTTY: a process started later has no terminal that was ours
}

// terminal identifies the slave of a pseudo-terminal. The inode is needed as well as the device
// number: containers on one machine number their terminals alike.
type terminal struct{ tty, dev, ino uint64 }

// opened is a terminal that a process has open.
type opened struct {
	terminal
	made uint64 // as in tree
	gone bool   // its master is closed: the kernel has taken its name away
}

// isOf reports whether o, which a process started at start has open, is the terminal of tr. Once
// the number may have been reused, it is not enough: the time at which the terminal was made
// decides, unless a program has changed its mode since. A terminal that has lost its name is not
// another one in use, and its number is not reused while it is open.
func (o opened) isOf(tr tree, start uint64) bool {
	switch {
	case o.terminal != tr.terminal || start < tr.start:
		return false
	case !tr.noTTY || o.made == tr.made:
		return true
	}
	return o.gone && start <= tr.until
}

// table is one scan of the system's processes. The functions look closer at one of them, and are
// only called for those that no cheaper test has decided.
type table struct {
	procs []process
	self  int

	environ    func(pid int) []byte           // NUL-separated; nil when unreadable
	onTerminal func(pid int, t terminal) bool // whether its controlling terminal with number t.tty is t
	opened     func(pid int) []opened         // terminals that it has open
	ourProgram func(pid int) bool             // whether it runs the program that this process runs
}

// attribution says which processes belong to which tree.
type attribution struct {
	table
	trees    []tree
	owner    []int // by index into procs: index into trees, or one of the below
	children map[int][]int
	marks    map[string]int
	oldest   uint64 // start of the oldest tree
}

const (
	nobody  = -1 // not known to belong to a tree
	barred  = -2 // never touched: ourselves, our ancestors, init, the kernel's
	pidInit = 1
)

// attribute finds the live processes of trees: the leader; processes in its session, with its
// terminal as controlling terminal, or with its mark; those in known, which were members when last
// looked at; and the descendants of all of them. adopted lists pids that count as members of the
// last tree.
func attribute(t table, trees []tree, known map[id]int, adopted []int) *attribution {
	a := &attribution{
		table: t, trees: trees,
		owner:    make([]int, len(t.procs)),
		children: make(map[int][]int, len(t.procs)),
		marks:    make(map[string]int),
		oldest:   ^uint64(0),
	}
	index := make(map[int]int, len(t.procs))
	for i, p := range t.procs {
		a.owner[i] = nobody
		index[p.pid] = i
		a.children[p.ppid] = append(a.children[p.ppid], i)
		if p.pid == pidInit || p.kernel {
			a.owner[i] = barred
		}
	}
	for pid := t.self; ; {
		i, ok := index[pid]
		if !ok || a.owner[i] == barred && pid != t.self {
			break
		}
		a.owner[i] = barred
		pid = t.procs[i].ppid
	}

	sessions, ttys := make(map[int]int, len(trees)), make(map[uint64]int, len(trees))
	oldest := a.oldestInSessions()
	for k, tr := range trees {
		a.oldest = min(a.oldest, tr.start)
		if tr.mark != "" {
			a.marks[tr.mark] = k
		}
		if tr.pid != 0 && (tr.reaped == 0 || a.sessionIsStill(tr, index, oldest)) {
			sessions[tr.pid] = k
		}
		if tr.terminal.tty != 0 && !tr.noTTY {
			ttys[tr.terminal.tty] = k
		}
	}
	for i, p := range t.procs {
		if k, ok := known[p.id()]; ok {
			a.claim(i, k)
		} else if k, ok := sessions[p.sid]; ok && p.start >= trees[k].start {
			a.claim(i, k)
		} else if k, ok := ttys[p.tty]; ok && p.start >= trees[k].start &&
			t.onTerminal(p.pid, trees[k].terminal) {
			a.claim(i, k)
		}
	}
	for _, pid := range adopted {
		if i, ok := index[pid]; ok {
			a.claim(i, len(trees)-1)
		}
	}
	if len(a.marks) > 0 {
		for i, p := range t.procs {
			if a.owner[i] == nobody && !p.dead && p.start >= a.oldest {
				if k := a.marked(p); k >= 0 {
					a.claim(i, k)
				}
			}
		}
	}
	return a
}

// sessionIsStill reports whether a session with the number of tr's leader is tr's, and not that of
// a later process with the same pid. The number stays taken while a process has it as pid or
// session, and a process has had its session since it was started, unless it leads one. So it is
// enough that the leader still exists, or one other process of the session that is older than the
// leader's reaping.
func (a *attribution) sessionIsStill(tr tree, index map[int]int, oldest map[int]uint64) bool {
	if i, ok := index[tr.pid]; ok {
		return a.procs[i].start == tr.start
	}
	o, ok := oldest[tr.pid]
	return ok && o <= tr.reaped
}

// oldestInSessions returns, by session id, when the session's oldest process other than its leader
// was started.
func (a *attribution) oldestInSessions() map[int]uint64 {
	oldest := make(map[int]uint64)
	for _, p := range a.procs {
		if o, ok := oldest[p.sid]; p.sid != p.pid && (!ok || p.start < o) {
			oldest[p.sid] = p.start
		}
	}
	return oldest
}

// claim gives process i and its descendants to tree k. A dead process belongs to nobody, but its
// children are followed: they are not reparented before it is reaped.
func (a *attribution) claim(i, k int) {
	if a.owner[i] != nobody {
		return
	}
	a.owner[i] = k
	for _, child := range a.children[a.procs[i].pid] {
		a.claim(child, k)
	}
}

// marked returns the tree whose mark p carries, or nobody.
func (a *attribution) marked(p process) int {
	for kv := range bytes.SplitSeq(a.environ(p.pid), []byte{0}) {
		if k, ok := a.marks[string(kv)]; ok && p.start >= a.trees[k].start {
			return k
		}
	}
	return nobody
}

// claimHolders gives the processes that have the terminal of one of the trees in ks open to that
// tree. It examines every descriptor of every young process without an owner, so it is only called
// when a terminal is still open although its tree looks empty. A process with another mark under
// the same key belongs to another session, and only writes to this terminal.
func (a *attribution) claimHolders(ks []int) {
	for i, p := range a.procs {
		if a.owner[i] != nobody || p.dead || p.start < a.oldest || a.unborn(p) {
			continue
		}
		for _, o := range a.opened(p.pid) {
			n := slices.IndexFunc(ks, func(k int) bool { return o.isOf(a.trees[k], p.start) })
			if n >= 0 && !a.otherMark(p.pid, a.trees[ks[n]].mark) {
				a.claim(i, ks[n])
				break
			}
		}
	}
}

// unborn reports whether p is a child of this process that has yet to execute its program. Until
// then it has all descriptors of this process, those of other terminals included that are just
// being opened here.
func (a *attribution) unborn(p process) bool {
	return p.forked && p.ppid == a.self && a.ourProgram(p.pid)
}

func (a *attribution) otherMark(pid int, mark string) bool {
	key, _, ok := strings.Cut(mark, "=")
	if !ok {
		return false
	}
	for kv := range bytes.SplitSeq(a.environ(pid), []byte{0}) {
		if k, _, _ := strings.Cut(string(kv), "="); k == key && string(kv) != mark {
			return true
		}
	}
	return false
}

// members returns the live processes of every tree, by index into trees.
func (a *attribution) members() [][]process {
	m := make([][]process, len(a.trees))
	for i, p := range a.procs {
		if k := a.owner[i]; k >= 0 && !p.dead {
			m[k] = append(m[k], p)
		}
	}
	return m
}

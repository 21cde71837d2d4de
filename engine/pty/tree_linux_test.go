package pty

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// world is a made-up process table that is grown as real ones are: by forks, exits,
// setsid, lost environments and closed descriptors. It knows the truth about who descends
// from the leader.
type world struct {
	now   uint64
	procs map[int]*person
	next  int
}

type person struct {
	process
	env     string
	holding bool
	ours    bool // descends from the leader
	unborn  bool // is a child of ourself that has yet to execute its program
}

const (
	ourself = 10
	leader  = 20
	ourMark = "MARK=1"
	ourTTY  = 34816
)

func newWorld() *world {
	w := &world{now: 100, procs: make(map[int]*person), next: 21}
	for _, p := range []process{
		{pid: 1, sid: 1, start: 1}, {pid: 2, start: 1, kernel: true}, {pid: 5, ppid: 1, sid: 5, start: 5},
		{pid: ourself, ppid: 5, sid: 5, start: 50},
		{pid: leader, ppid: ourself, sid: leader, start: 100, tty: ourTTY},
	} {
		w.procs[p.pid] = &person{process: p, env: "PATH=/bin"}
	}
	l := w.procs[leader]
	l.env, l.holding, l.ours = "PATH=/bin\x00"+ourMark, true, true
	return w
}

func (w *world) fork(parent int) int {
	w.now++
	child := *w.procs[parent]
	child.pid, child.ppid, child.start, child.forked = w.next, parent, w.now, true
	w.next++
	w.procs[child.pid] = &child
	return child.pid
}

// begin is another session's program as it begins: until it executes its program it has what we have
// open, and that is the terminal, if just then we make the session of it.
func (w *world) begin() {
	p := w.procs[w.fork(ourself)]
	p.holding, p.unborn = true, true
}

// exec is the end of that, and what most programs do after a fork.
func (w *world) exec(pid int) {
	p := w.procs[pid]
	p.holding = p.holding && !p.unborn
	p.forked, p.unborn = false, false
}

func (w *world) exit(pid int) {
	w.now++
	delete(w.procs, pid)
	for _, p := range w.procs {
		if p.ppid == pid {
			p.ppid = 1
		}
		if p.sid == pid {
			p.tty = 0 // a session whose leader has ended has no terminal
		}
	}
}

// unmarked reports whether nothing that a process keeps by itself tells whose p is.
func (w *world) unmarked(p *person) bool {
	return !strings.Contains(p.env, ourMark) && !p.holding && p.sid != leader && p.tty != ourTTY
}

func (w *world) table() table {
	t := table{
		self:       ourself,
		environ:    func(pid int) []byte { return []byte(w.procs[pid].env) },
		onTerminal: func(int, terminal) bool { return true },
		opened: func(pid int) []opened {
			if w.procs[pid].holding {
				return []opened{{terminal: terminal{tty: ourTTY}}}
			}
			return nil
		},
		ourProgram: func(pid int) bool { return w.procs[pid].unborn },
	}
	for _, p := range w.procs {
		t.procs = append(t.procs, p.process)
	}
	return t
}

// TestAttribution checks both directions on any history: whoever bears a sign is found,
// and nobody else is ever claimed.
func TestAttribution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		tr := tree{pid: leader, start: 100, mark: ourMark, terminal: terminal{tty: ourTTY}}
		pick := func(ours bool) int {
			var pids []int
			for pid, p := range w.procs {
				if p.ours == ours && !p.kernel && pid != ourself && pid != 1 {
					pids = append(pids, pid)
				}
			}
			if len(pids) == 0 {
				return 0
			}
			slices.Sort(pids)
			return rapid.SampledFrom(pids).Draw(t, "pid")
		}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			pid := pick(rapid.Bool().Draw(t, "ours"))
			if pid == 0 {
				continue
			}
			steps := []string{"fork", "fork", "begin", "exec", "exit", "setsid", "clear", "close"}
			if w.procs[pid].unborn {
				steps = []string{"exec", "exit"}
			}
			switch rapid.SampledFrom(steps).Draw(t, "step") {
			case "fork":
				w.fork(pid)
			case "begin":
				w.begin()
			case "exec":
				w.exec(pid)
			case "exit":
				if pid != 5 {
					w.exit(pid)
				}
				if pid == leader {
					tr.reaped = w.now
				}
			case "setsid":
				if p := w.procs[pid]; p.pid != p.sid {
					p.sid, p.tty = p.pid, 0
				}
			case "clear":
				w.procs[pid].env = "PATH=/bin"
			case "close":
				w.procs[pid].holding = false
			}
		}
		a := attribute(w.table(), []tree{tr}, nil, nil)
		a.claimHolders([]int{0})
		found := make(map[int]bool)
		for _, p := range a.members()[0] {
			found[p.pid] = true
			if !w.procs[p.pid].ours {
				t.Fatalf("process %d is claimed: %+v", p.pid, w.procs[p.pid])
			}
		}
		for pid, p := range w.procs {
			// A session whose every process is younger than the leader's reaping is not
			// told from a later one with the same number.
			pinned := tr.reaped == 0
			for _, q := range w.procs {
				pinned = pinned || q.sid == leader && q.start <= tr.reaped
			}
			sign := !w.unmarked(p) && (p.sid != leader || pinned || strings.Contains(p.env, ourMark) || p.holding)
			if p.ours && sign && !found[pid] {
				t.Fatalf("process %d is missed: %+v", pid, p)
			}
			if p.ours && found[p.ppid] && !found[pid] {
				t.Fatalf("process %d, child of a member, is missed: %+v", pid, p)
			}
		}
	})
}

func TestAReusedSessionNumberIsNotOurs(t *testing.T) {
	tr := tree{pid: leader, start: 100, reaped: 200}
	for name, c := range map[string]struct {
		procs []process
		want  []int
	}{
		"a member older than the reaping": {[]process{{pid: 30, ppid: 1, sid: leader, start: 150}, {pid: 31, ppid: 1, sid: leader, start: 250}}, []int{30, 31}},
		"all younger":                     {[]process{{pid: 31, ppid: 1, sid: leader, start: 250}}, nil},
		"another leader":                  {[]process{{pid: leader, ppid: 1, sid: leader, start: 240}, {pid: 31, ppid: leader, sid: leader, start: 250}}, nil},
	} {
		a := attribute(table{procs: c.procs, self: ourself, environ: func(int) []byte { return nil }}, []tree{tr}, nil, nil)
		var got []int
		for _, p := range a.members()[0] {
			got = append(got, p.pid)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestWeAndOurParentsAreBarred(t *testing.T) {
	// The server runs inside a session with the same mark, and somebody has put our
	// parent into the tree.
	procs := []process{
		{pid: 1, sid: 1, start: 1}, {pid: 5, ppid: 1, sid: leader, start: 500}, {pid: ourself, ppid: 5, sid: leader, start: 600},
		{pid: leader, ppid: ourself, sid: leader, start: 100}, {pid: 40, ppid: 5, sid: leader, start: 700},
	}
	a := attribute(table{procs: procs, self: ourself, environ: func(int) []byte { return []byte(ourMark) }},
		[]tree{{pid: leader, start: 100, mark: ourMark}}, map[id]int{{5, 500}: 0, {ourself, 600}: 0}, []int{5, ourself, 1})
	for _, p := range a.members()[0] {
		if p.pid == 1 || p.pid == 5 || p.pid == ourself {
			t.Errorf("process %d is claimed", p.pid)
		}
	}
}

func TestATerminalOfAnotherContainerIsNotOurs(t *testing.T) {
	p := start(t, self("cat"))
	expect(t, p, "ready")
	if !onTerminal(p.PID(), p.tree.terminal) {
		t.Error("the program is not on its own terminal")
	}
	other := p.tree.terminal
	other.dev++ // the same number in another devpts
	has := func(tr tree) bool {
		return slices.ContainsFunc(openTerminals(p.PID()), func(o opened) bool { return o.isOf(tr, p.tree.start) })
	}
	if onTerminal(p.PID(), other) || has(tree{terminal: other}) {
		t.Error("the number alone is enough")
	}
	if !has(tree{terminal: p.tree.terminal}) {
		t.Error("the open terminal is not seen")
	}
}

// TestATerminalWithTheNumberOfOursIsNotOurs: a server is gone, and the numbers of its terminals are
// given to others, such as servers that start programs. Who has one of those open is not ended in
// the place of what the dead server has left.
func TestATerminalWithTheNumberOfOursIsNotOurs(t *testing.T) {
	l := newLobby(t)
	p, guests := startTree(t, l, []string{"ignore", "hello"}, []string{"leader"}, false)
	leader := guests["leader"]
	// As the watcher knows a terminal that had the same number, of a program that has ended.
	was := tree{
		start: 1, reaped: 1, mark: "PTY_TEST_MARK=other", terminal: p.tree.terminal, made: p.tree.made - 1, noTTY: true, until: clockTicks(),
	}
	sweep := func(tr tree) error { return newSweep([]target{{tree: tr}}).run(context.Background()) }
	if err := sweep(was); err != nil {
		t.Fatal(err)
	}
	l.alive(leader)
	was.made = p.tree.made // now it is this one
	if err := sweep(was); err != nil {
		t.Fatal(err)
	}
	l.ends(leader)
}

func TestParseStat(t *testing.T) {
	tail := " 7 8 9 34817 9 4194304 1 2 3 4 5 6 7 8 20 0 1 0 98765 0 0\n"
	for line, want := range map[string]process{
		"42 (sh) S" + tail:                                             {pid: 42, ppid: 7, group: 8, sid: 9, tty: 34817, start: 98765},
		"42 (a) b) (c\nd) T" + tail:                                    {pid: 42, ppid: 7, group: 8, sid: 9, tty: 34817, start: 98765, stopped: true},
		"42 () 1 (Z 3 4 5) Z" + tail:                                   {pid: 42, ppid: 7, group: 8, sid: 9, tty: 34817, start: 98765, dead: true},
		"42 (sh) Z 7 8 9 0 -1 0 1 2 3 4 5 6 7 8 20 0 3 0 5":            {pid: 42, ppid: 7, group: 8, sid: 9, start: 5},
		"2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 5": {pid: 2, start: 5, kernel: true, forked: true},
	} {
		if got, ok := parseStat([]byte(line)); !ok || got != want {
			t.Errorf("%q: %+v, %v", line, got, ok)
		}
	}
	for _, bad := range []string{"", "42", "42 (", "42 )(", "(sh) S" + tail, "x (sh) S" + tail, "42 (sh) S 1 2 3", "42 (sh) S a b c d e f 1 2 3 4 5 6 7 8 20 0 1 0 98765"} {
		if got, ok := parseStat([]byte(bad)); ok {
			t.Errorf("%q: %+v", bad, got)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	own, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(own)
	f.Add([]byte("42 (a) b) T 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, ok := parseStat(b)
		if ok && (p.pid <= 0 || !bytes.HasPrefix(b, []byte(strconv.Itoa(p.pid)))) {
			t.Errorf("%q: %+v", b, p)
		}
	})
}

func TestOwnEntryIsRight(t *testing.T) {
	p, err := lookAt(os.Getpid())
	if err != nil || p.pid != os.Getpid() || p.ppid != os.Getppid() || p.dead || p.start == 0 || p.start > clockTicks() {
		t.Errorf("%+v, %v, now %d", p, err, clockTicks())
	}
}

func TestParsePidfdInfo(t *testing.T) {
	pid, flags, ok := parsePidfdInfo([]byte("pos:\t0\nflags:\t02004002\nmnt_id:\t15\nino:\t1\nPid:\t4711\nNSpid:\t4711\n"))
	if !ok || pid != 4711 || flags&pidfdNonblock == 0 {
		t.Errorf("%d %o %v", pid, flags, ok)
	}
	for _, s := range []string{"", "Pid:\t-1\n", "flags:\t2\n", "Pid: x"} {
		if pid, _, ok := parsePidfdInfo([]byte(s)); ok {
			t.Errorf("%q: %d", s, pid)
		}
	}
}

// TestHandlesOfASweepAreNotThoseOfAWaiter on a process that nobody waits for. A program's own
// descriptor would look the same only once its reaper runs.
func TestHandlesOfASweepAreNotThoseOfAWaiter(t *testing.T) {
	own, err := lookAt(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	h, err := hold(own.id())
	if err != nil {
		t.Fatal(err)
	}
	defer h.release()
	held, err := heldChildren()
	if err != nil || held[own.pid] {
		t.Errorf("%v, %v", held, err)
	}
}

package pty

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/ptywright/ptywright/internal/lanes"
)

// roleArg as first argument makes this test binary a child that plays a role: the second
// argument names it, the others are the role's own. Not the environment: some roles have
// none.
const roleArg = "pty-test-role"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == roleArg {
		role, ok := roles[os.Args[2]]
		if !ok {
			fmt.Fprintf(os.Stderr, "no role %q\n", os.Args[2])
			os.Exit(99)
		}
		role(os.Args[3:])
		os.Exit(0)
	}
	// The race detector keeps an exiting process for a second, to hear of more.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	lanes.Beside(8) // they wait for processes to end, mostly
	goleak.VerifyTestMain(m)
}

var roles map[string]func(args []string)

func init() {
	roles = map[string]func([]string){
		"exit":     func(a []string) { os.Exit(number(a[0])) },
		"raise":    func(a []string) { raise(number(a[0])) },
		"flood":    func(a []string) { flood(number(a[0]), number(a[1])) },
		"spew":     func(a []string) { spew(number(a[0])) },
		"cat":      func([]string) { say("ready"); io.Copy(os.Stdout, os.Stdin) },
		"raw":      playRaw,
		"lines":    playLines,
		"default":  playDefault,
		"look":     playLook,
		"env":      func([]string) { fmt.Printf("%q\n", os.Environ()); say("end") },
		"member":   playMember,
		"bomb":     playBomb,
		"server":   playServer,
		"watcher":  func([]string) { must(RunWatcher(os.Stdin)) },
		"tracer":   playTracer,
		"deaf":     func(a []string) { stay(hello(a[0], "deaf")) },
		"forkexec": playForkExec,
	}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	must(err)
	return n
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(98)
	}
}

// say prints a line that expect finds.
func say(word string) { fmt.Println("<" + word + ">") }

// raise ends this process by the signal, whatever Go does with it.
func raise(n int) {
	must(unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}))
	if n != int(unix.SIGKILL) {
		var deflt [4]uint64 // struct sigaction of zeros: SIG_DFL
		setSigaction(n, &deflt)
	}
	unix.Kill(os.Getpid(), unix.Signal(n))
	unix.Pause()
	os.Exit(97)
}

// flood prints size bytes that depend on seed, exactly, and exits.
func flood(seed, size int) {
	setRaw(0)
	os.Stdout.Write(pattern(seed, size))
}

func pattern(seed, size int) []byte {
	b := make([]byte, size)
	x := uint64(seed)*0x9e3779b97f4a7c15 + 1
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x)
	}
	return b
}

func setRaw(fd int) {
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	must(err)
	t.Lflag &^= unix.ICANON | unix.ECHO | unix.ISIG
	t.Iflag &^= unix.ICRNL | unix.IXON
	t.Oflag &^= unix.OPOST
	must(unix.IoctlSetTermios(fd, unix.TCSETS, t))
}

// playRaw reads nothing before it is told to, then n bytes, and prints a hash of them.
func playRaw(a []string) {
	setRaw(0)
	conn := hello(a[0], "raw")
	awaitWord(conn)
	b := make([]byte, number(a[1]))
	_, err := io.ReadFull(os.Stdin, b)
	must(err)
	say(sum(b))
}

// playLines reads a line of a canonical terminal each time the test asks it to.
func playLines(a []string) {
	conn := hello(a[0], "lines")
	b := make([]byte, 100)
	for {
		awaitWord(conn)
		n, err := os.Stdin.Read(b)
		must(err)
		say(fmt.Sprint(n))
	}
}

// playDefault stays with the default action for every signal, unlike a Go program.
func playDefault(a []string) {
	must(unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}))
	var deflt [4]uint64
	for n := 1; n <= 31; n++ {
		if s := unix.Signal(n); s != unix.SIGKILL && s != unix.SIGSTOP {
			setSigaction(n, &deflt)
		}
	}
	stay(hello(a[0], "default"))
}

// playTracer attaches to a process as a debugger does, and never asks how it ended.
func playTracer(a []string) {
	runtime.LockOSThread()
	must(unix.PtraceSeize(number(a[1])))
	stay(hello(a[0], "tracer"))
}

// playLook reports what a child sees of the world that it was started in.
func playLook([]string) {
	dir, err := os.Open("/proc/self/fd")
	must(err)
	names, err := dir.Readdirnames(-1)
	must(err)
	for _, name := range names {
		fd := number(name)
		link, _ := os.Readlink("/proc/self/fd/" + name)
		if fd == int(dir.Fd()) || ofRuntime(link) {
			continue
		}
		fmt.Printf("fd %d\n", fd)
	}
	for fd := range 3 {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		must(err)
		fmt.Printf("nonblock %d %v\n", fd, flags&unix.O_NONBLOCK != 0)
	}
	sid, err := unix.Getsid(0)
	must(err)
	group, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
	must(err)
	fmt.Printf("leader %v foreground %v\n", sid == os.Getpid(), group == os.Getpid())
	size, err := unix.IoctlGetWinsize(0, unix.TIOCGWINSZ)
	must(err)
	fmt.Printf("size %d %d %d %d\n", size.Row, size.Col, size.Xpixel, size.Ypixel)
	wd, err := os.Getwd()
	must(err)
	fmt.Printf("dir %s\n", wd)
	status, err := os.ReadFile("/proc/self/status")
	must(err)
	fmt.Printf("ignored %x\n", parseSigIgn(status))
	say("end")
}

// ofRuntime reports whether a descriptor is one that the Go runtime opens for itself: the
// poller's, and the processor quota's.
func ofRuntime(link string) bool {
	return strings.HasPrefix(link, "anon_inode:") || strings.HasPrefix(link, "/sys/fs/cgroup/")
}

// Members of a tree. Each says hello in the lobby when it is what its name says, and
// stays until it is ended, or the lobby closes, so that a failing test leaves nothing.

// playMember takes a lobby and a list of words that it obeys from left to right.
func playMember(a []string) {
	lobby, name := a[0], a[1]
	var conn net.Conn
	for _, word := range a[2:] {
		verb, rest, _ := strings.Cut(word, ":")
		switch verb {
		case "hello":
			conn = hello(lobby, name)
		case "ignore":
			ignore(unix.SIGHUP, unix.SIGTERM, unix.SIGINT)
		case "root": // of a set-uid copy: out of reach of the user who started it
			must(syscall.Setresuid(0, 0, 0))
		case "stop":
			must(unix.Kill(os.Getpid(), unix.SIGSTOP))
		case "silent": // no descriptor on the terminal
			null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
			must(err)
			for fd := range 3 {
				must(unix.Dup3(int(null.Fd()), fd, 0))
			}
		case "start": // start:how,how:name:word/word
			parts := strings.SplitN(rest, ":", 3)
			words := strings.Split(parts[2], "/")
			for i, w := range words {
				words[i] = strings.ReplaceAll(w, "|", "/") // one level deeper
			}
			startMember(lobby, parts[0], parts[1], words)
		case "go": // waits for the word of the test
			awaitWord(conn)
		case "hog": // so many MiB
			hog(number(rest))
		case "reap": // one child
			_, err := unix.Wait4(-1, nil, 0, nil)
			must(err)
		case "exit":
			return
		}
	}
	stay(conn)
}

func startMember(lobby, how, name string, words []string) {
	cmd := exec.Command(os.Args[0], append([]string{roleArg, "member", lobby, name}, words...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	for h := range strings.SplitSeq(how, ",") {
		switch h {
		case "setsid":
			cmd.SysProcAttr.Setsid = true
		case "group":
			cmd.SysProcAttr.Setpgid = true
		case "foreground":
			cmd.SysProcAttr.Foreground = true
		case "noenv":
			cmd.Env = []string{"NOTHING=1"}
		}
	}
	must(cmd.Start())
}

// playBomb forks copies of itself that fork copies, in sessions of their own, until
// depth is used up.
func playBomb(a []string) {
	lobby, depth := a[0], number(a[1])
	conn := hello(lobby, "bomb")
	for range 2 {
		if depth > 0 {
			cmd := exec.Command(os.Args[0], roleArg, "bomb", lobby, strconv.Itoa(depth-1))
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: depth%2 == 0}
			must(cmd.Start())
		}
	}
	ignore(unix.SIGHUP, unix.SIGTERM)
	stay(conn)
}

func ignore(signals ...unix.Signal) {
	for _, s := range signals {
		handler := [4]uint64{1} // SIG_IGN
		setSigaction(int(s), &handler)
	}
}

// setSigaction goes past the runtime, which keeps handlers of its own.
func setSigaction(n int, action *[4]uint64) {
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(n), ptr(action), 0, 8, 0, 0)
	if errno != 0 {
		must(errno)
	}
}

// hello tells the lobby who is there, and returns a connection that lasts as long as this
// process.
func hello(lobby, name string) net.Conn {
	conn, err := net.Dial("unix", lobby)
	must(err)
	fmt.Fprintf(conn, "%s %d\n", name, os.Getpid())
	return conn
}

func awaitWord(conn net.Conn) {
	_, err := conn.Read(make([]byte, 1))
	must(err)
}

func stay(conn net.Conn) { io.Copy(io.Discard, conn) }

// lobby is where the processes of a test report. The kernel closes a process's connection
// when the process ends, so "it has ended" is an event and not a guess.
type lobby struct {
	t     *testing.T
	path  string
	guest chan guest
}

type guest struct {
	name string
	pid  int
	conn net.Conn
}

func newLobby(t *testing.T) *lobby {
	t.Helper()
	// Not TempDir, whose path may be too long for a socket.
	dir, err := os.MkdirTemp("", "pty")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	b := &lobby{t: t, path: l.Addr().String(), guest: make(chan guest, 1024)}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			line, err := bufio.NewReader(conn).ReadString('\n')
			name, pid, _ := strings.Cut(strings.TrimSpace(line), " ")
			n, numErr := strconv.Atoi(pid)
			if err != nil || numErr != nil {
				conn.Close() // it was killed between the two
				continue
			}
			b.guest <- guest{name, n, conn}
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-stopped
		close(b.guest)
		for g := range b.guest {
			g.conn.Close()
		}
		os.RemoveAll(dir)
	})
	return b
}

// hang is the bound of everything that a test waits for. It only says that something
// hangs, so it is far from what it takes.
const hang = 60 * time.Second

// await returns the named guests when all have come.
func (b *lobby) await(names ...string) map[string]guest {
	b.t.Helper()
	return b.awaitUnless(nil, names...)
}

// awaitUnless is await until gone is closed, which ends it with nil.
func (b *lobby) awaitUnless(gone <-chan struct{}, names ...string) map[string]guest {
	b.t.Helper()
	late := time.After(hang)
	came := make(map[string]guest)
	for len(came) < len(names) {
		select {
		case g := <-b.guest:
			came[g.name] = g
			b.t.Cleanup(func() { g.conn.Close() })
		case <-gone:
			return nil
		case <-late:
			b.t.Fatalf("of %q only %v came", names, came)
		}
	}
	for _, name := range names {
		if _, ok := came[name]; !ok {
			b.t.Fatalf("%q did not come, but %v", name, came)
		}
	}
	return came
}

// ended fails the test unless all guests have ended by now: Kill has promised it.
func (b *lobby) ended(guests map[string]guest) {
	b.t.Helper()
	for _, g := range guests {
		if p, err := lookAt(g.pid); err == nil && !p.dead {
			b.t.Errorf("%s, process %d, is still there: %+v", g.name, g.pid, p)
		}
	}
	if left := b.present(); len(left) > 0 {
		b.t.Errorf("processes %v of this lobby are left", left)
	}
}

// present returns the live processes that play a role for this lobby.
func (b *lobby) present() (pids []int) {
	b.t.Helper()
	procs, err := processes()
	if err != nil {
		b.t.Fatal(err)
	}
	for _, p := range procs {
		line, _ := readFile(fmt.Sprintf("/proc/%d/cmdline", p.pid), nil)
		if !p.dead && p.pid != os.Getpid() && bytes.Contains(line, []byte(b.path)) {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// ends waits until the guest has ended.
func (b *lobby) ends(g guest) {
	b.t.Helper()
	p, err := lookAt(g.pid)
	if err != nil || p.dead {
		return
	}
	h, err := hold(p.id())
	if err != nil {
		return
	}
	defer h.release()
	if err := awaitEnds(b.t.Context(), []handle{h}, time.Now().Add(hang)); err != nil {
		b.t.Fatal(err)
	}
	if p, err := lookAt(g.pid); err == nil && !p.dead {
		b.t.Errorf("%s, process %d, does not end: %+v", g.name, g.pid, p)
	}
}

// alive fails the test if the guest has ended.
func (b *lobby) alive(g guest) {
	b.t.Helper()
	if p, err := lookAt(g.pid); err != nil || p.dead {
		b.t.Errorf("%s, process %d, has ended", g.name, g.pid)
	}
}

// self returns a command that plays a role.
func self(role string, args ...string) Command {
	return Command{Path: os.Args[0], Args: append([]string{roleArg, role}, args...), Env: os.Environ()}
}

func start(t *testing.T, c Command) *PTY {
	t.Helper()
	p, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Kill(t.Context()); err != nil {
			t.Error(err)
		}
		if err := p.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
	p.SetReadDeadline(time.Now().Add(hang))
	return p
}

// expect reads until the word was said, and returns everything.
func expect(t *testing.T, p *PTY, word string) string {
	t.Helper()
	var all []byte
	for !bytes.Contains(all, []byte("<"+word+">")) {
		b, err := p.Next()
		if err != nil {
			t.Fatalf("waiting for <%s>: %v after %q", word, err, all)
		}
		all = append(all, b...)
	}
	return string(all)
}

// drain reads to the end.
func drain(t *testing.T, p *PTY) []byte {
	t.Helper()
	var all []byte
	for {
		b, err := p.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatalf("%v after %d bytes", err, len(all))
		}
		all = append(all, b...)
	}
}

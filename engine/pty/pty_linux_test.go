package pty

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func ptr(a *[4]uint64) uintptr { return uintptr(unsafe.Pointer(a)) }

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:8])
}

func long() bool { return os.Getenv("PTYWRIGHT_LONG") == "1" }

func TestExitCodesAreExact(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for code := range 256 {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			p, err := Start(self("exit", fmt.Sprint(code)))
			if err != nil {
				t.Error(err)
				return
			}
			defer p.Close()
			if got := p.Wait(); got != (Exit{Code: code}) {
				t.Errorf("exit %d: got %+v", code, got)
			}
		})
	}
	wg.Wait()
}

func TestSignalsAreExact(t *testing.T) {
	t.Parallel()
	harmless := map[unix.Signal]bool{
		unix.SIGCHLD: true, unix.SIGCONT: true, unix.SIGURG: true, unix.SIGWINCH: true,
		unix.SIGSTOP: true, unix.SIGTSTP: true, unix.SIGTTIN: true, unix.SIGTTOU: true,
		32: true, 33: true, // glibc's own
	}
	for n := unix.Signal(1); n <= 64; n++ {
		if harmless[n] {
			continue
		}
		p := start(t, self("raise", fmt.Sprint(int(n))))
		want := map[unix.Signal]string{34: "SIGRTMIN", 37: "SIGRTMIN+3", 64: "SIGRTMIN+30"}[n]
		if want == "" && n < 32 {
			want = unix.SignalName(n)
		}
		got := p.Wait()
		if got.Code != -1 || got.Signal == "" || want != "" && got.Signal != want {
			t.Errorf("signal %d: got %+v, want %q", n, got, want)
		}
	}
}

func TestReapingWithoutPidfd(t *testing.T) {
	p := &PTY{done: make(chan struct{})}
	pid, err := syscall.ForkExec(os.Args[0], []string{os.Args[0], roleArg, "exit", "41"}, &syscall.ProcAttr{Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	p.tree.pid = pid
	go p.reap(-1)
	if got := p.Wait(); got != (Exit{Code: 41}) {
		t.Errorf("got %+v", got)
	}
}

func TestLostStatusIsNotGuessed(t *testing.T) {
	p := start(t, self("cat"))
	expect(t, p, "ready")
	// Another part of the process waits for any child, which it should not.
	p.mu.Lock()
	unix.Kill(p.PID(), unix.SIGKILL)
	if _, err := unix.Wait4(p.PID(), nil, 0, nil); err != nil {
		t.Fatal(err)
	}
	p.mu.Unlock()
	if got := p.Wait(); got != (Exit{Code: -1}) {
		t.Errorf("got %+v", got)
	}
}

func TestAllOutputArrivesThoughTheProgramHasEnded(t *testing.T) {
	runs := 10
	if long() {
		runs = 500
	}
	for i := range runs {
		p := start(t, self("flood", fmt.Sprint(i), fmt.Sprint(1<<20)))
		got := drain(t, p)
		if sum(got) != sum(pattern(i, 1<<20)) {
			t.Fatalf("run %d: %d bytes that differ", i, len(got))
		}
		if e := p.Wait(); e != (Exit{}) {
			t.Fatalf("run %d: %+v", i, e)
		}
		p.Close()
	}
}

func TestOutputIsReadAfterTheProgramWasReaped(t *testing.T) {
	p := start(t, self("flood", "7", "3000"))
	p.Wait()
	if got := drain(t, p); sum(got) != sum(pattern(7, 3000)) {
		t.Errorf("%d bytes that differ", len(got))
	}
	if _, err := p.Next(); err != io.EOF {
		t.Errorf("Next after the end: %v", err)
	}
}

func TestNextHoldsNoBufferWhileItWaits(t *testing.T) {
	p := start(t, self("cat"))
	expect(t, p, "ready")
	// Next with a deadline that passes leaves what a parked one holds.
	p.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	for {
		if _, err := p.Next(); err != nil {
			break
		}
	}
	if p.buf != nil {
		t.Error("a buffer is held")
	}
}

func TestReadDeadlineFires(t *testing.T) {
	p := start(t, self("cat"))
	expect(t, p, "ready")
	p.SetReadDeadline(time.Now().Add(time.Millisecond))
	for {
		_, err := p.Next()
		if err == nil {
			continue
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		break
	}
	p.SetReadDeadline(time.Now().Add(hang))
	if _, err := p.Write([]byte("again\n")); err != nil {
		t.Fatal(err)
	}
	if b, err := p.Next(); err != nil || !bytes.Contains(b, []byte("again")) {
		t.Errorf("after the deadline: %q, %v", b, err)
	}
}

func TestCloseWakesNextAndWrite(t *testing.T) {
	l := newLobby(t)
	p := start(t, self("raw", l.path, "1"))
	l.await("raw")
	p.SetReadDeadline(time.Time{})
	p.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
	if _, err := p.Write(make([]byte, 1<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	p.SetWriteDeadline(time.Time{}) // now it is full, and the next Write will park
	blocked := make(chan error, 2)
	go func() {
		for {
			if _, err := p.Next(); err != nil {
				blocked <- err
				return
			}
		}
	}()
	go func() {
		_, err := p.Write(make([]byte, 1<<20))
		blocked <- err
	}()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		select {
		case err := <-blocked:
			if !errors.Is(err, os.ErrClosed) {
				t.Errorf("got %v, want os.ErrClosed", err)
			}
		case <-time.After(hang):
			t.Fatal("a call sleeps on after Close")
		}
	}
	for what, err := range map[string]error{
		"Close": p.Close(), "Resize": p.Resize(Size{Rows: 1, Cols: 1}), "SetReadDeadline": p.SetReadDeadline(time.Time{}),
	} {
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s after Close: %v", what, err)
		}
	}
}

func TestBlockedWriteTellsWhatWasTaken(t *testing.T) {
	l := newLobby(t)
	const size = 200_000
	p := start(t, self("raw", l.path, fmt.Sprint(size)))
	child := l.await("raw")["raw"]
	data := pattern(3, size)

	p.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
	n, err := p.Write(data)
	if !errors.Is(err, os.ErrDeadlineExceeded) || n == 0 || n == size {
		t.Fatalf("wrote %d: %v", n, err)
	}
	// The terminal stays usable beside it.
	if err := p.Resize(Size{Rows: 10, Cols: 20}); err != nil {
		t.Error(err)
	}
	p.SetWriteDeadline(time.Now().Add(hang))
	child.conn.Write([]byte{1})
	if m, err := p.Write(data[n:]); err != nil || n+m != size {
		t.Fatalf("wrote %d more: %v", m, err)
	}
	if got := expect(t, p, sum(data)); got == "" {
		t.Error("the child read something else")
	}
}

func TestWriteWhenNobodyHasTheTerminal(t *testing.T) {
	p := start(t, self("exit", "0"))
	p.Wait()
	drain(t, p)
	for name, write := range map[string]func([]byte) (int, error){"Write": p.Write, "TryWrite": p.TryWrite} {
		if n, err := write([]byte("x")); n != 0 || !errors.Is(err, ErrHungUp) {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
}

func TestTryWriteNeverBlocks(t *testing.T) {
	l := newLobby(t)
	p := start(t, self("raw", l.path, "1"))
	l.await("raw")
	n, err := p.TryWrite(make([]byte, 1<<20))
	if err != nil || n == 0 || n == 1<<20 {
		t.Errorf("into an empty terminal: %d, %v", n, err)
	}
	p.SetWriteDeadline(time.Unix(1, 0))
	if n, err := p.TryWrite([]byte("x")); n != 0 || err != nil {
		t.Errorf("after the deadline: %d, %v", n, err)
	}
	p.Close()
	if n, err := p.TryWrite([]byte("x")); n != 0 || !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Close: %d, %v", n, err)
	}
}

func TestAGrandchildHoldsTheTerminal(t *testing.T) {
	l := newLobby(t)
	p := start(t, self("member", l.path, "leader", "start:group:holder:ignore/hello/go/exit", "hello", "go", "exit"))
	g := l.await("leader", "holder")
	g["leader"].conn.Write([]byte{1})
	if e := p.Wait(); e != (Exit{}) {
		t.Fatal(e)
	}
	l.alive(g["holder"])
	p.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if b, err := p.Next(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("output ended with the leader: %q, %v", b, err)
	}
	g["holder"].conn.Write([]byte{1})
	p.SetReadDeadline(time.Now().Add(hang))
	drain(t, p)
}

func TestWhatAChildSees(t *testing.T) {
	// A descriptor of ours that is not to be inherited, like any that Go opens.
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	other := start(t, self("cat"))
	expect(t, other, "ready")

	dir := t.TempDir()
	c := self("look")
	c.Dir, c.Size = dir, Size{Rows: 33, Cols: 77, PixelWidth: 770, PixelHeight: 660}
	got := expect(t, start(t, c), "end")
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"fd 0\r\n", "fd 1\r\n", "fd 2\r\n",
		"nonblock 0 false\r\n", "nonblock 1 false\r\n", "nonblock 2 false\r\n",
		"leader true foreground true\r\n", "size 33 77 770 660\r\n", "dir " + real + "\r\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing %q", want)
		}
	}
	if n := strings.Count(got, "fd "); n != 3 {
		t.Errorf("%d descriptors", n)
	}
	if t.Failed() {
		t.Log(got)
	}
}

func TestDefaultSizeAndResize(t *testing.T) {
	got := expect(t, start(t, self("look")), "end")
	if !strings.Contains(got, "size 24 80 0 0\r\n") {
		t.Error(got)
	}
	p := start(t, self("cat"))
	expect(t, p, "ready")
	if err := p.Resize(Size{Rows: 5, Cols: 6, PixelWidth: 7, PixelHeight: 8}); err != nil {
		t.Fatal(err)
	}
	var ws *unix.Winsize
	if err := p.ioctl("ask", func(fd int) (err error) {
		ws, err = unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
		return err
	}); err != nil || *ws != (unix.Winsize{Row: 5, Col: 6, Xpixel: 7, Ypixel: 8}) {
		t.Errorf("%+v, %v", ws, err)
	}
	if err := p.Resize(Size{Rows: 5}); err == nil || !strings.Contains(err.Error(), "5 rows and 0 columns") {
		t.Error(err)
	}
}

func TestEnvironment(t *testing.T) {
	c := self("env")
	c.Env, c.Mark = []string{"A=1", "M=other", "B=2", "A=3"}, "M=mine"
	if got := expect(t, start(t, c), "end"); !strings.Contains(got, `["A=3" "M=mine" "B=2"]`) {
		t.Error(got)
	}
}

func TestLineMode(t *testing.T) {
	p := start(t, self("cat"))
	expect(t, p, "ready")
	want := LineMode{Canonical: true, Echo: true, Signals: true, CRToNL: true, EOF: 4, Interrupt: 3, Quit: 28, Suspend: 26, Erase: 127, WordErase: 23, Kill: 21}
	if got, err := p.LineMode(); err != nil || got != want {
		t.Errorf("cooked: %+v, %v", got, err)
	}
	l := newLobby(t)
	p = start(t, self("raw", l.path, "1"))
	l.await("raw")
	want.Canonical, want.Echo, want.Signals, want.CRToNL = false, false, false, false
	if got, err := p.LineMode(); err != nil || got != want {
		t.Errorf("raw: %+v, %v", got, err)
	}
}

func TestACanonicalLineIsCut(t *testing.T) {
	// Why LineMode is there: the kernel takes a line of any length and keeps 4,095 bytes.
	p := start(t, self("cat"))
	expect(t, p, "ready")
	p.SetWriteDeadline(time.Now().Add(hang))
	line := append(bytes.Repeat([]byte{'x'}, 5000), '\n')
	if n, err := p.Write(line); n != len(line) || err != nil {
		t.Fatal(n, err)
	}
	p.Write([]byte{4})
	out := drain(t, p)
	// The echo comes first, then what cat has read.
	lines := strings.Split(strings.TrimSpace(string(out)), "\r\n")
	if got := len(lines[len(lines)-1]); got != 4095 {
		t.Errorf("cat read a line of %d bytes", got)
	}
}

func TestSignal(t *testing.T) {
	l := newLobby(t)
	for s, name := range map[Signal]string{
		SignalQuit: "SIGQUIT", SignalHup: "SIGHUP", SignalInt: "SIGINT", SignalTerm: "SIGTERM", SignalKill: "SIGKILL",
		SignalUser1: "SIGUSR1", SignalUser2: "SIGUSR2",
	} {
		p := start(t, self("default", l.path))
		l.await("default")
		if f, err := p.Foreground(); err != nil || f.PID != p.PID() || !f.Leader {
			t.Errorf("foreground %+v, %v", f, err)
		}
		if err := p.Signal(s); err != nil {
			t.Error(err)
		}
		if e := p.Wait(); e != (Exit{Code: -1, Signal: name}) {
			t.Errorf("%s: %+v", s, e)
		}
		if err := p.Signal(s); !errors.Is(err, ErrExited) {
			t.Errorf("%s after the end: %v", s, err)
		}
		if f, err := p.Foreground(); !errors.Is(err, ErrExited) {
			t.Errorf("in the foreground after the end: %+v, %v", f, err)
		}
	}
	p := start(t, self("cat"))
	expect(t, p, "ready")
	if err := p.Signal("winch"); err == nil || !strings.Contains(err.Error(), "user2") {
		t.Error(err)
	}
	if _, err := ParseSignal(strings.Repeat("x", 1000)); err == nil || len(err.Error()) > 200 {
		t.Error(err)
	}
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	script := filepath.Join(dir, "script")
	os.WriteFile(plain, []byte("x"), 0o600)
	os.WriteFile(script, []byte("#!/no/such/interpreter\n"), 0o700)
	path := []string{"PATH=" + dir}
	fds := openFDs(t)
	for name, c := range map[string]struct {
		Command
		op   string
		is   error
		says string
	}{
		"no name":            {Command{}, "command", nil, "empty"},
		"NUL in name":        {Command{Path: "a\x00b"}, "command", nil, "NUL"},
		"NUL in argument":    {Command{Path: "sh", Args: []string{"a", "\x00"}}, "command", nil, "argument 2"},
		"NUL in environment": {Command{Path: "sh", Env: []string{"K=se\x00cret"}}, "command", nil, `"K"`},
		"NUL in directory":   {Command{Path: "sh", Dir: "\x00"}, "command", nil, "directory"},
		"bad environment":    {Command{Path: "sh", Env: []string{"A=1", "secret"}}, "command", nil, "entry 2"},
		"bad mark":           {Command{Path: "sh", Mark: "x"}, "command", nil, "KEY=VALUE"},
		"half a size":        {Command{Path: "sh", Size: Size{Rows: 3}}, "command", nil, "3 rows and 0 columns"},
		"no such name":       {Command{Path: "nope", Env: path}, "lookup", fs.ErrNotExist, "PATH"},
		"no PATH":            {Command{Path: "nope"}, "lookup", fs.ErrNotExist, "no PATH"},
		"no such path":       {Command{Path: "./nope", Env: path}, "lookup", fs.ErrNotExist, "path of a program"},
		"not executable":     {Command{Path: "plain", Env: path}, "lookup", fs.ErrPermission, "may be executed"},
		"directory as path":  {Command{Path: dir}, "lookup", fs.ErrPermission, "it is a directory"},
		"no such directory":  {Command{Path: "sh", Dir: dir + "/nope"}, "dir", fs.ErrNotExist, "existing directory"},
		"file as directory":  {Command{Path: "sh", Dir: plain}, "dir", syscall.ENOTDIR, "not a directory"},
		"no interpreter":     {Command{Path: script}, "start", fs.ErrNotExist, "interpreter"},
		"too big":            {Command{Path: os.Args[0], Args: []string{strings.Repeat("x", 10<<20)}}, "start", syscall.E2BIG, "shorten"},
	} {
		p, err := Start(c.Command)
		if p != nil {
			t.Errorf("%s: started", name)
			p.Close()
		}
		var se *StartError
		switch {
		case !errors.As(err, &se) || se.Op != c.op:
			t.Errorf("%s: %v", name, err)
		case c.is != nil && !errors.Is(err, c.is):
			t.Errorf("%s: %v is not %v", name, err, c.is)
		case !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "cret"):
			t.Errorf("%s: %q", name, err)
		}
	}
	if now := openFDs(t); now != fds {
		t.Errorf("%d descriptors, were %d", now, fds)
	}
}

func TestLookupIsTheChilds(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	os.Mkdir(bin, 0o700)
	if err := os.Symlink(os.Args[0], filepath.Join(bin, "prog")); err != nil {
		t.Fatal(err)
	}
	binary, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(bin, "prog"))
	if err := os.Symlink(binary, filepath.Join(bin, "prog")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []Command{
		{Path: "prog", Env: []string{"PATH=/nope:" + bin}},
		{Path: "prog", Env: []string{"PATH=bin"}, Dir: dir},
		{Path: "prog", Env: []string{"PATH="}, Dir: bin},
		{Path: "bin/prog", Dir: dir},
		{Path: "./prog", Dir: bin},
		{Path: filepath.Join(bin, "prog")},
	} {
		c.Args = []string{roleArg, "exit", "5"}
		p := start(t, c)
		if e := p.Wait(); e.Code != 5 {
			t.Errorf("%+v: %+v", c, e)
		}
	}
}

func openFDs(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// TestNothingIsLeft does not run beside others: it counts descriptors. Goroutines are
// counted by goleak in TestMain.
func TestNothingIsLeft(t *testing.T) {
	rounds := 40
	if long() {
		rounds = 1000
	}
	before := 0
	for i := range rounds {
		p, err := Start(self("exit", "0"))
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			p.Wait()
		}
		if err := p.Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.Close()
		p.Wait()
		if i == 0 {
			before = openFDs(t) // the poller's own are there now
		}
	}
	if now := openFDs(t); now != before {
		t.Errorf("%d descriptors, were %d", now, before)
	}
}

func TestIgnoredSignalsAreNotPassedOn(t *testing.T) {
	l := newLobby(t)
	ignored := []unix.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGPIPE, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGUSR1}
	// The kernel keeps what is ignored across the execution of the server, as nohup and
	// a script's "&" use it.
	out, err := exec.Command(os.Args[0], append([]string{roleArg, "forkexec", l.path}, fmt.Sprint(ignored))...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var mask uint64
	at := bytes.LastIndex(out, []byte("ignored "))
	if _, err := fmt.Sscanf(string(out[max(at, 0):]), "ignored %x", &mask); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, s := range ignored {
		if mask&(1<<(uint(s)-1)) != 0 {
			t.Errorf("%s is ignored in the child", signalName(s))
		}
	}
}

// playForkExec ignores signals and executes itself as a server that starts one child.
func playForkExec(a []string) {
	if len(a) == 2 {
		ignore(unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGPIPE, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGUSR1)
		must(unix.Exec("/proc/self/exe", []string{os.Args[0], roleArg, "forkexec", a[0]}, os.Environ()))
	}
	if n := len(ignoredSignals()); n == 0 {
		must(errors.New("nothing is ignored, so the test shows nothing"))
	}
	DefaultSignals()
	p, err := Start(self("look"))
	must(err)
	for {
		b, err := p.Next()
		if err == io.EOF {
			break
		}
		must(err)
		os.Stdout.Write(b)
	}
	// Still dropped here, though there is a handler now.
	must(unix.Kill(os.Getpid(), unix.SIGHUP))
}

func TestNullInputTellsThatNobodyIsThere(t *testing.T) {
	t.Parallel()
	script := `read x && echo took $x; (: </dev/tty) 2>/dev/null && echo has a terminal; test -t 1 && echo on a terminal; sleep 300 & echo end; wait`
	p, err := Start(Command{Path: "/bin/sh", Args: []string{"-c", script}, Env: os.Environ(), NullInput: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var got []byte
	for !bytes.Contains(got, []byte("end")) {
		b, err := p.Next()
		if err != nil {
			t.Fatalf("%v after %q", err, got)
		}
		got = append(got, b...)
	}
	if want := "on a terminal\r\nend\r\n"; string(got) != want {
		t.Errorf("output %q, expected %q", got, want)
	}
	if err := p.Signal(SignalTerm); err != nil {
		t.Errorf("signal its group: %v", err)
	}
	if exit := p.Wait(); exit.Signal != "SIGTERM" {
		t.Errorf("ended by %+v, expected SIGTERM", exit)
	}
	if _, err := p.Next(); err != io.EOF { // the sleep has ended with it: it held the terminal
		t.Errorf("read after the end: %v", err)
	}
}

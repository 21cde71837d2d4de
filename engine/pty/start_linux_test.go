package pty

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

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
		"no such name":       {Command{Path: "nope", Env: path}, "lookup", fs.ErrNotExist, "not found in PATH \"" + dir + "\": install it"},
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

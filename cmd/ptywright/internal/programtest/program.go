//go:build unix

package programtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ptywright/ptywright/internal/lanes"
)

// AsProgram is the variable that makes a test binary the program that it tests, with the race
// detector when the tests have it. Its value marks the processes of one test: a server's children
// inherit it. It does not begin with PTYWRIGHT_, since a server keeps those from its children.
const AsProgram = "BE_PTYWRIGHT"

// Main is what TestMain calls with its testing.M, or with what runs it, and with the program's main.
func Main(m interface{ Run() int }, main func()) {
	if os.Getenv(AsProgram) != "" {
		main()
		os.Exit(0)
	}
	lanes.Beside(8) // they wait for programs, mostly
	goleak.VerifyTestMain(m)
}

// Hang bounds everything that a test waits for: far more than a loaded machine needs, so that what
// hangs fails.
var Hang = time.Duration(Times(3, 20)) * time.Minute

// Long says that the long forms of tests are wanted.
var Long = os.Getenv("PTYWRIGHT_LONG") == "1"

// Times returns how often a test does what it does.
func Times(short, full int) int {
	if Long {
		return full
	}
	return short
}

// Need skips a test whose program is not installed.
func Need(t testing.TB, program, debian string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed: apt-get install %s", program, debian)
	}
}

var marks atomic.Int64

// A Program is the program of a test, about to be started. All processes that come of it carry the
// mark, in their environment or, where that is dropped, in their arguments: it consists of digits, so
// that sleep can be given it as a fraction.
type Program struct {
	*exec.Cmd
	T      testing.TB
	Mark   string
	Stderr *Buffer // what it says there
}

// New is ptywright with arguments: this very test binary, of a package whose TestMain calls [Main].
func New(t testing.TB, args ...string) *Program {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Of(t, exec.Command(self, args...))
}

// Limited is ptywright started by a shell that first runs setup, for instance "ulimit -n 64".
func Limited(t testing.TB, setup string, args ...string) *Program {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Of(t, exec.Command("sh", append([]string{"-c", setup + `; exec "$0" "$@"`, self}, args...)...))
}

// Of is a command in whose processes ptywright is this test binary, and carries the mark.
func Of(t testing.TB, cmd *exec.Cmd) *Program {
	p := &Program{Cmd: cmd, T: t, Mark: fmt.Sprintf("%d%06d", os.Getpid(), marks.Add(1)), Stderr: &Buffer{}}
	// A program with the race detector would sleep for a second before it exits, and then exit with
	// 66 on a race. The configuration of the user who runs the tests has no effect.
	p.Env = append(os.Environ(), AsProgram+"="+p.Mark, "GORACE=atexit_sleep_ms=10", "PTYWRIGHT_CONFIG=off")
	p.Cmd.Stderr = p.Stderr
	return p
}

// Run runs the program to its end, with input, and returns its output and exit code.
func (p *Program) Run(input string) (stdout string, code int) {
	p.T.Helper()
	var out bytes.Buffer
	p.Stdin, p.Stdout = strings.NewReader(input), &out
	if err := p.Start(); err != nil {
		p.T.Fatal(err)
	}
	defer time.AfterFunc(Hang, func() { p.Process.Kill() }).Stop()
	code = ExitCode(p.T, p.Wait())
	return out.String(), code
}

// StartPiped starts it and returns the other ends of its standard input and output.
func (p *Program) StartPiped() (in io.WriteCloser, out io.ReadCloser) {
	p.T.Helper()
	in, err := p.StdinPipe()
	if err != nil {
		p.T.Fatal(err)
	}
	if out, err = p.StdoutPipe(); err != nil {
		p.T.Fatal(err)
	}
	if err := p.Start(); err != nil {
		p.T.Fatal(err)
	}
	return in, out
}

// ExitCode returns the code in an error of exec.Cmd.Wait, 128 and the signal if there was one.
func ExitCode(t testing.TB, err error) int {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		t.Fatal(err)
	case exit.ExitCode() < 0:
		return 128 + int(exit.Sys().(syscall.WaitStatus).Signal())
	}
	return exit.ExitCode()
}

// Poll calls f until it returns "", and fails the test with what f returns if that takes too long.
// It is for what can only be asked again: a dialect without a wait, a file. Asking without a pause
// would take the processor from what is waited for.
func Poll(t testing.TB, f func() (missing string)) {
	t.Helper()
	late := time.Now().Add(Hang / 3)
	for tick := time.Tick(5 * time.Millisecond); ; <-tick {
		missing := f()
		if missing == "" {
			return
		}
		if time.Now().After(late) {
			t.Fatal(missing)
		}
	}
}

// Unless is what a call of [Poll] returns: what is missing, or "" when nothing is.
func Unless(done bool, missing string) string {
	if done {
		return ""
	}
	return missing
}

// A Buffer is written by a process and read by a test.
type Buffer struct {
	mu   sync.Mutex
	said []byte
	more chan struct{} // closed when more is said; nil: nobody waits
}

// Write takes what the process says.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.said = append(b.said, p...)
	if b.more != nil {
		close(b.more)
		b.more = nil
	}
	return len(p), nil
}

// String is all that has been said so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.said)
}

// Told waits until the process has said what matches, and returns that, or the last group in it.
func (b *Buffer) Told(t testing.TB, pattern string) string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	late := time.NewTimer(Hang)
	defer late.Stop()
	for {
		b.mu.Lock()
		found := re.FindSubmatch(b.said)
		if found == nil && b.more == nil {
			b.more = make(chan struct{})
		}
		more := b.more
		b.mu.Unlock()
		if found != nil {
			return string(found[len(found)-1])
		}
		select {
		case <-more:
		case <-late.C:
			t.Fatalf("nothing said matches %s: %q", pattern, b)
		}
	}
}

// Mkfifo makes a FIFO.
func Mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }

// PlainShell is an environment in which sh shows "$ " and nothing else, and recordings go below
// home.
func PlainShell(home string) []string {
	return []string{
		"SHELL=/bin/sh", "PS1=$ ", "ENV=", "HOME=" + home, "XDG_STATE_HOME=", "TERMINAL_MCP_RECORD_DIR=",
		"TERMINAL_MCP=", "LC_ALL=C.UTF-8",
	}
}

// UntilMatches reads a text until it matches, and returns it.
func UntilMatches(t testing.TB, pattern string, read func() string) (text string) {
	t.Helper()
	re := regexp.MustCompile(pattern)
	Poll(t, func() string {
		text = read()
		return Unless(re.MatchString(text), fmt.Sprintf("no %q in %q", pattern, text))
	})
	return text
}

// Example runs a script with ptywright in its path and a home of its own; nothing of it may be
// left.
func Example(t *testing.T, script string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "ptywright")); err != nil {
		t.Fatal(err)
	}
	p := Of(t, exec.Command("sh", "-euc", script))
	p.Env = append(p.Env, "PATH="+bin+":"+os.Getenv("PATH"), "PTYWRIGHT_HOME="+filepath.Join(bin, "home"), "LC_ALL=C.UTF-8")
	out, code := p.Run("")
	if code != 0 || p.Stderr.String() != "" {
		t.Errorf("exit %d, %q, %s", code, out, p.Stderr)
	}
	NoneLeft(t, p.Mark)
	return out
}

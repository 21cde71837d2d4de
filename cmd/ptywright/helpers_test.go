//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// hang bounds everything that a test waits for: far more than a loaded machine needs, so that what
// hangs fails.
var hang = time.Duration(times(3, 20)) * time.Minute

// long says that the long forms of tests are wanted.
var long = os.Getenv("PTYWRIGHT_LONG") == "1"

// times returns how often a test does what it does.
func times(short, full int) int {
	if long {
		return full
	}
	return short
}

// need skips a test whose program is not installed.
func need(t testing.TB, program, debian string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed: apt-get install %s", program, debian)
	}
}

// obj is a JSON object.
type obj = map[string]any

var marks atomic.Int64

// A program is this program, about to be started. All processes that come of it carry the mark, in
// their environment or, where that is dropped, in their arguments: it consists of digits, so that
// sleep can be given it as a fraction.
type program struct {
	*exec.Cmd
	t      testing.TB
	mark   string
	stderr *buffer
}

func ptywright(t testing.TB, args ...string) *program {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return programOf(t, exec.Command(self, args...))
}

// limited is ptywright started by a shell that first runs setup, for instance "ulimit -n 64".
func limited(t testing.TB, setup string, args ...string) *program {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return programOf(t, exec.Command("sh", append([]string{"-c", setup + `; exec "$0" "$@"`, self}, args...)...))
}

func programOf(t testing.TB, cmd *exec.Cmd) *program {
	p := &program{Cmd: cmd, t: t, mark: fmt.Sprintf("%d%06d", os.Getpid(), marks.Add(1)), stderr: &buffer{}}
	// A program with the race detector would sleep for a second before it exits, and then exit with
	// 66 on a race. The configuration of the user who runs the tests has no effect.
	p.Env = append(os.Environ(), asProgram+"="+p.mark, "GORACE=atexit_sleep_ms=10", "PTYWRIGHT_CONFIG=off")
	p.Stderr = p.stderr
	return p
}

// run runs the program to its end, with input, and returns its output and exit code.
func (p *program) run(input string) (stdout string, code int) {
	p.t.Helper()
	var out bytes.Buffer
	p.Stdin, p.Stdout = strings.NewReader(input), &out
	if err := p.Start(); err != nil {
		p.t.Fatal(err)
	}
	defer time.AfterFunc(hang, func() { p.Process.Kill() }).Stop()
	code = exitCodeOf(p.t, p.Wait())
	return out.String(), code
}

// startPiped starts it and returns the other ends of its standard input and output.
func (p *program) startPiped() (in io.WriteCloser, out io.ReadCloser) {
	p.t.Helper()
	in, err := p.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if out, err = p.StdoutPipe(); err != nil {
		p.t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		p.t.Fatal(err)
	}
	return in, out
}

// exitCodeOf returns the code in an error of exec.Cmd.Wait, 128 and the signal if there was one.
func exitCodeOf(t testing.TB, err error) int {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		t.Fatal(err)
	case exit.ExitCode() < 0:
		return 128 + signalOf(exit)
	}
	return exit.ExitCode()
}

// poll calls f until it returns "", and fails the test with what f returns if that takes too long.
// It is for what can only be asked again: a dialect without a wait, a file. Asking without a pause
// would take the processor from what is waited for.
func poll(t testing.TB, f func() (missing string)) {
	t.Helper()
	late := time.Now().Add(hang / 3)
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

// unless is what a call of poll returns: what is missing, or "" when nothing is.
func unless(done bool, missing string) string {
	if done {
		return ""
	}
	return missing
}

// A buffer is written by a process and read by a test.
type buffer struct {
	mu   sync.Mutex
	said []byte
	more chan struct{} // closed when more is said; nil: nobody waits
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.said = append(b.said, p...)
	if b.more != nil {
		close(b.more)
		b.more = nil
	}
	return len(p), nil
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.said)
}

// told waits until the process has said what matches, and returns that, or the last group in it.
func (b *buffer) told(t testing.TB, pattern string) string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	late := time.NewTimer(hang)
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

// A server is a server and a client of it.
type server struct {
	*client.Client
	program *program
	t       testing.TB
	ctx     context.Context
}

// start starts a server of one client. At the test's end it must end by itself with exit code 0,
// having said nothing on standard error, and leave no process.
func start(t testing.TB, flags ...string) *server {
	t.Helper()
	return startProgram(t, ptywright(t, append([]string{"serve", "--stdio"}, flags...)...))
}

func startProgram(t testing.TB, p *program) *server {
	t.Helper()
	s := launch(t, p)
	t.Cleanup(func() { s.end(0, "") })
	return s
}

// launch leaves it to the test to say how the server ends. Agents on a busy machine take several
// times what one wait may.
func launch(t testing.TB, p *program) *server {
	t.Helper()
	c, err := client.StartCommand(p.Cmd)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*hang)
	t.Cleanup(func() {
		c.Close()
		cancel()
	})
	return &server{Client: c, program: p, t: t, ctx: ctx}
}

// end closes the connection and checks how the server ended.
func (s *server) end(code int, stderr string) {
	s.t.Helper()
	if got := exitCodeOf(s.t, s.Close()); got != code {
		s.t.Errorf("the server's exit code is %d, not %d", got, code)
	}
	if got := s.program.stderr.String(); stderr == "" && got != "" || !strings.Contains(got, stderr) {
		s.t.Errorf("the server's standard error is %q, expected %q", got, stderr)
	}
	noneLeft(s.t, s.program.mark)
}

// call calls a method that must succeed.
func (s *server) call(method string, params, result any) {
	s.t.Helper()
	if err := s.Call(s.ctx, method, params, result); err != nil {
		s.t.Fatal(err)
	}
}

// refused calls a method that must fail with this code and reason, and returns the error.
func (s *server) refused(code int, reason, method string, params any) *client.Error {
	s.t.Helper()
	err := s.Call(s.ctx, method, params, nil)
	return wantError(s.t, err, code, reason)
}

func wantError(t testing.TB, err error, code int, reason string) *client.Error {
	t.Helper()
	var e *client.Error
	if !errors.As(err, &e) || e.Code != code || string(e.Reason) != reason {
		t.Fatalf("error %v, expected %d, %s", err, code, reason)
	}
	return e
}

// create starts a session.
func (s *server) create(program string, args ...string) *session {
	s.t.Helper()
	return s.with(client.Config{Program: program, Args: args})
}

// sh starts a shell script.
func (s *server) sh(script string) *session {
	s.t.Helper()
	return s.create("sh", "-c", script)
}

func (s *server) with(c client.Config) *session {
	s.t.Helper()
	created, err := s.Spawn(s.ctx, c)
	if err != nil {
		s.t.Fatal(err)
	}
	return &session{created, s, s.t}
}

// list returns what is listed of all sessions.
func (s *server) list() []client.Info {
	s.t.Helper()
	infos, err := s.Sessions(s.ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	return infos
}

// A session is a session whose methods fail the test instead of returning errors.
type session struct {
	*client.Session
	server *server
	t      testing.TB
}

// text types, and returns the sequence before.
func (s *session) text(text string) uint64 {
	s.t.Helper()
	sent, err := s.Do(s.server.ctx, client.Action{Type: "text", Value: text})
	if err != nil {
		s.t.Fatal(err)
	}
	return sent.Sequence
}

// keys presses keys, and returns the sequence before the last.
func (s *session) keys(names ...string) uint64 {
	s.t.Helper()
	var last uint64
	for _, name := range names {
		sent, err := s.Do(s.server.ctx, client.Action{Type: "key", Value: name})
		if err != nil {
			s.t.Fatal(err)
		}
		last = sent.Sequence
	}
	return last
}

// wait waits for what must come. The error of a wait shows the screen.
func (s *session) wait(m client.Matcher) *client.Match {
	s.t.Helper()
	return s.matched(m)
}

// waitSince waits for what must come after a sequence.
func (s *session) waitSince(since uint64, m client.Matcher) *client.Match {
	s.t.Helper()
	return s.matched(m, client.After(since))
}

func (s *session) matched(m client.Matcher, options ...client.WaitOption) *client.Match {
	s.t.Helper()
	r, err := s.Wait(s.server.ctx, m, append([]client.WaitOption{client.Everything, client.Within(hang / 2)}, options...)...)
	var e *client.Error
	if errors.As(err, &e) {
		if v := e.Evidence(); v != nil {
			s.t.Fatalf("%v: %v", err, v)
		}
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// exited waits for the end and returns how it was: "exit 3" or the signal's name.
func (s *session) exited() string {
	s.t.Helper()
	e := s.wait(client.Exited()).Screen.Exit
	switch {
	case e == nil:
		return "running"
	case e.Signal != nil:
		return *e.Signal
	case e.Code != nil:
		return fmt.Sprintf("exit %d", *e.Code)
	}
	return "unknown"
}

func (s *session) snapshot(cells string) *client.Snapshot {
	s.t.Helper()
	r, err := s.Screen(s.server.ctx, client.Cells(cells))
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *session) resize(rows, cols int) {
	s.t.Helper()
	if err := s.Resize(s.server.ctx, rows, cols); err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) close() {
	s.t.Helper()
	if err := s.Close(s.server.ctx); err != nil {
		s.t.Fatal(err)
	}
}

// fifo makes a FIFO and returns its path and what writes a line to it. A program that reads it does
// what the test says when the test says it, without input on its terminal.
func fifo(t testing.TB) (path string, say func(line string)) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "fifo")
	if err := mkfifo(path); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0) // both: neither side waits for the other
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return path, func(line string) {
		if _, err := io.WriteString(f, line+"\n"); err != nil {
			t.Error(err)
		}
	}
}

// A reply is one line of a server's output.
type reply struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Reason string `json:"reason"`
		} `json:"data"`
	} `json:"error"`
	Params client.Event `json:"params"`
}

// replies decodes lines; every one must be a message or a batch of them.
func replies(t testing.TB, r io.Reader) []reply {
	t.Helper()
	var all []reply
	in := bufio.NewScanner(r)
	in.Buffer(nil, client.MaxMessage)
	for in.Scan() {
		line := in.Bytes()
		if !bytes.HasPrefix(line, []byte("[")) {
			line = slices.Concat([]byte("["), line, []byte("]"))
		}
		var batch []reply
		if err := json.Unmarshal(line, &batch); err != nil {
			t.Fatalf("%v: %.200q", err, in.Text())
		}
		all = append(all, batch...)
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// script pipes lines into a server and returns its answers once it has ended, well and leaving
// nothing.
func script(t testing.TB, lines ...string) []reply {
	t.Helper()
	p := ptywright(t, "serve", "--stdio")
	out, code := p.run(strings.Join(lines, "\n") + "\n")
	if code != 0 || p.stderr.String() != "" {
		t.Errorf("exit %d, standard error %q", code, p.stderr)
	}
	noneLeft(t, p.mark)
	return replies(t, strings.NewReader(out))
}

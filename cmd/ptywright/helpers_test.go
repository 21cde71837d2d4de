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
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/programtest"
	"github.com/ptywright/ptywright/protocol/client"
)

// What tests of commands share in all packages, by shorter names.
var (
	hang, long = programtest.Hang, programtest.Long
	times      = programtest.Times
	need       = programtest.Need
	ptywright  = programtest.New
	limited    = programtest.Limited
	programOf  = programtest.Of
	exitCodeOf = programtest.ExitCode
	poll       = programtest.Poll
	unless     = programtest.Unless
	noneLeft   = programtest.NoneLeft
	mkfifo     = programtest.Mkfifo
	plainShell = programtest.PlainShell
	runExample = programtest.Example
)

const asProgram = programtest.AsProgram

type (
	program = programtest.Program
	buffer  = programtest.Buffer
)

// obj is a JSON object.
type obj = map[string]any

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
	if got := s.program.Stderr.String(); stderr == "" && got != "" || !strings.Contains(got, stderr) {
		s.t.Errorf("the server's standard error is %q, expected %q", got, stderr)
	}
	noneLeft(s.t, s.program.Mark)
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
	out, code := p.Run(strings.Join(lines, "\n") + "\n")
	if code != 0 || p.Stderr.String() != "" {
		t.Errorf("exit %d, standard error %q", code, p.Stderr)
	}
	noneLeft(t, p.Mark)
	return replies(t, strings.NewReader(out))
}

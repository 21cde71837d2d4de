//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/ptywright/ptywright/protocol/client"
)

// A terminals is one ACP session with a server of terminals.
type terminals struct {
	*server
	session string
}

func acpPeer(t testing.TB, flags ...string) *terminals {
	t.Helper()
	return &terminals{startProgram(t, ptywright(t, append([]string{"acp"}, flags...)...)), "S1"}
}

type acpExit struct {
	ExitCode *int    `json:"exitCode"`
	Signal   *string `json:"signal"`
}

func (e *acpExit) String() string {
	switch {
	case e == nil:
		return "running"
	case e.ExitCode != nil && e.Signal == nil:
		return fmt.Sprintf("exit %d", *e.ExitCode)
	case e.ExitCode == nil && e.Signal != nil:
		return *e.Signal
	}
	return "both or neither"
}

type acpOutput struct {
	Output     string   `json:"output"`
	Truncated  bool     `json:"truncated"`
	ExitStatus *acpExit `json:"exitStatus"`
}

// on are the params of a request about a terminal.
func (s *terminals) on(id string) map[string]any {
	return map[string]any{"sessionId": s.session, "terminalId": id}
}

func (s *terminals) run(params map[string]any) (id string) {
	s.t.Helper()
	params["sessionId"] = s.session
	var r struct{ TerminalID string }
	s.call("terminal/create", params, &r)
	return r.TerminalID
}

// shell runs a script, with more members of the params as name and value.
func (s *terminals) shell(script string, more ...any) (id string) {
	s.t.Helper()
	params := map[string]any{"command": "sh", "args": []string{"-c", script}}
	for i := 0; i < len(more); i += 2 {
		params[more[i].(string)] = more[i+1]
	}
	return s.run(params)
}

func (s *terminals) output(id string) (r acpOutput) {
	s.t.Helper()
	s.call("terminal/output", s.on(id), &r)
	return r
}

func (s *terminals) ended(id string) *acpExit {
	s.t.Helper()
	var r acpExit
	s.call("terminal/wait_for_exit", s.on(id), &r)
	return &r
}

// final is the output once the program has ended.
func (s *terminals) final(id string) acpOutput {
	s.t.Helper()
	s.ended(id)
	return s.output(id)
}

// until reads the output until it holds something.
func (s *terminals) until(id, text string) (r acpOutput) {
	s.t.Helper()
	poll(s.t, func() string {
		r = s.output(id)
		there, missing := strings.Contains(r.Output, text), fmt.Sprintf("output %q (%s) without %q", r.Output, r.ExitStatus, text)
		if !there && r.ExitStatus != nil {
			s.t.Fatal(missing)
		}
		return unless(there, missing)
	})
	return r
}

// fails calls what must be refused with a code.
func (s *terminals) fails(code int, method string, params any) {
	s.t.Helper()
	err := s.Call(s.ctx, method, params, nil)
	var e *client.Error
	if !errors.As(err, &e) || e.Code != code {
		s.t.Errorf("%s: %v, expected an error %d", method, err, code)
	}
}

func (s *terminals) want(got, expected any) {
	s.t.Helper()
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", expected) {
		s.t.Errorf("%+v, expected %+v", got, expected)
	}
}

// gone waits until a process has ended. It is not our child, so there is nothing to wait for but
// its absence.
func (s *terminals) gone(pid int) {
	s.t.Helper()
	poll(s.t, func() string {
		return unless(syscall.Kill(pid, 0) == syscall.ESRCH, fmt.Sprintf("process %d is still there", pid))
	})
}

// TestACP holds the server against the conformance cases of the dialect, each on a connection of
// its own.
func TestACP(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		run  func(t *testing.T, s *terminals)
	}{
		{"A01 create, wait, output, release", func(t *testing.T, s *terminals) {
			id := s.run(map[string]any{"command": "echo", "args": []string{"hello"}})
			s.want(s.ended(id), "exit 0")
			r := s.output(id)
			s.want(r.Output, "hello\n")
			s.want(r.Truncated, false)
			s.want(r.ExitStatus, "exit 0")
			s.call("terminal/release", s.on(id), nil)
			s.fails(-32002, "terminal/output", s.on(id))
		}},
		{"A02 a running one has no exitStatus", func(t *testing.T, s *terminals) {
			id := s.run(map[string]any{"command": "sleep", "args": []string{"300." + s.program.Mark}})
			var r map[string]json.RawMessage
			s.call("terminal/output", s.on(id), &r)
			if _, ok := r["exitStatus"]; ok || len(r) != 2 {
				t.Errorf("members %v, expected output and truncated alone", r)
			}
		}},
		{"A03 the newest bytes are kept", func(t *testing.T, s *terminals) {
			text := strings.Repeat("0123456789abcdefghij", 5)
			r := s.final(s.run(map[string]any{"command": "printf", "args": []string{"%s", text}, "outputByteLimit": 10}))
			s.want(r.Output, text[90:])
			s.want(r.Truncated, true)
		}},
		{"A04 cut at characters", func(t *testing.T, s *terminals) {
			text := strings.Repeat("aé", 20)
			for limit := 1; limit <= 12; limit++ {
				r := s.final(s.run(map[string]any{"command": "printf", "args": []string{"%s", text}, "outputByteLimit": limit}))
				if !utf8.ValidString(r.Output) || len(r.Output) > limit || len(r.Output) < limit-1 || !strings.HasSuffix(text, r.Output) || !r.Truncated {
					t.Errorf("limit %d: %+q, truncated %v", limit, r.Output, r.Truncated)
				}
			}
		}},
		{"A05 cut at wide characters", func(t *testing.T, s *terminals) {
			r := s.final(s.run(map[string]any{"command": "printf", "args": []string{"日本"}, "outputByteLimit": 4}))
			s.want(r.Output, "本")
			s.want(r.Truncated, true)
		}},
		{"A06 limit 0 keeps nothing", func(t *testing.T, s *terminals) {
			r := s.final(s.run(map[string]any{"command": "printf", "args": []string{"x"}, "outputByteLimit": 0}))
			s.want(r.Output, "")
			s.want(r.Truncated, true)
			s.want(s.final(s.run(map[string]any{"command": "true", "outputByteLimit": 0})).Truncated, false)
			s.want(s.final(s.run(map[string]any{"command": "printf", "args": []string{"12345678"}, "outputByteLimit": json.RawMessage("5.0")})).Output, "45678")
		}},
		{"A07 a character in two writes", func(t *testing.T, s *terminals) {
			path, say := fifo(t)
			id := s.shell(`printf 'a\346\227'; read x <"$0"; printf '\245'`, "args", []string{"-c", `printf 'a\346\227'; read x <"$0"; printf '\245'`, path})
			s.want(s.until(id, "a").Output, "a")
			say("go")
			s.want(s.final(id).Output, "a日")
		}},
		{"A08 bytes that are no character", func(t *testing.T, s *terminals) {
			s.want(s.final(s.shell(`printf '\377'`)).Output, "\uFFFD")
			s.want(s.final(s.shell(`printf 'a\346\227'`)).Output, "a\uFFFD")
		}},
		{"A09 three wait at the same time", func(t *testing.T, s *terminals) {
			path, say := fifo(t)
			id := s.shell("", "args", []string{"-c", `read x <"$0"; exit 3`, path})
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() {
					var r acpExit
					if err := s.Call(s.ctx, "terminal/wait_for_exit", s.on(id), &r); err != nil || r.String() != "exit 3" {
						t.Errorf("wait: %v, %v", &r, err)
					}
				})
			}
			s.want(s.output(id).ExitStatus, "running")
			s.want(s.final(s.run(map[string]any{"command": "echo", "args": []string{"meanwhile"}})).Output, "meanwhile\n")
			say("go")
			all.Wait()
		}},
		{"A10 a wait behind the end", func(t *testing.T, s *terminals) {
			id := s.shell("exit 4")
			s.want(s.ended(id), "exit 4")
			s.want(s.ended(id), "exit 4")
		}},
		{"A11 a wait when the program is killed", func(t *testing.T, s *terminals) {
			id := s.run(map[string]any{"command": "sleep", "args": []string{"300." + s.program.Mark}})
			waited := make(chan *acpExit, 1)
			go func() {
				var r acpExit
				if err := s.Call(s.ctx, "terminal/wait_for_exit", s.on(id), &r); err != nil {
					t.Error(err)
				}
				waited <- &r
			}()
			s.call("terminal/kill", s.on(id), nil)
			s.want(<-waited, "SIGTERM")
			s.want(s.output(id).ExitStatus, "SIGTERM")
			s.call("terminal/kill", s.on(id), nil) // nothing is left to be killed, and that is no error
		}},
		{"A12 a wait when the terminal is released", func(t *testing.T, s *terminals) {
			id := s.shell("echo ready; exec sleep 300." + s.program.Mark)
			s.until(id, "ready")
			waited := make(chan *acpExit, 1)
			started := make(chan struct{})
			go func() {
				close(started)
				var r acpExit
				err := s.Call(s.ctx, "terminal/wait_for_exit", s.on(id), &r)
				var e *client.Error
				if err != nil && !(errors.As(err, &e) && e.Code == -32002) { // the release came first
					t.Error(err)
				} else if err != nil {
					waited <- nil
					return
				}
				waited <- &r
			}()
			<-started
			s.call("terminal/release", s.on(id), nil)
			if e := <-waited; e != nil {
				s.want(e, "SIGTERM")
			}
		}},
		{"A13 a released one is gone, and may be released again", func(t *testing.T, s *terminals) {
			id := s.shell("exit 0")
			s.call("terminal/release", s.on(id), nil)
			for _, m := range []string{"terminal/output", "terminal/wait_for_exit", "terminal/kill"} {
				s.fails(-32002, m, s.on(id))
			}
			s.call("terminal/release", s.on(id), nil)
		}},
		{"A14 kill reaches grandchildren", func(t *testing.T, s *terminals) {
			id := s.shell("sleep 300." + s.program.Mark + " & echo pid $!; wait")
			var pid int
			if _, err := fmt.Sscanf(s.until(id, "\n").Output, "pid %d", &pid); err != nil {
				t.Fatal(err)
			}
			s.call("terminal/kill", s.on(id), nil)
			s.gone(pid)
		}},
		{"A15 exit code", func(t *testing.T, s *terminals) { s.want(s.ended(s.shell("exit 7")), "exit 7") }},
		{"A15 signal", func(t *testing.T, s *terminals) { s.want(s.ended(s.shell("kill -KILL $$")), "SIGKILL") }},
		{"A16 relative cwd", func(t *testing.T, s *terminals) {
			s.fails(-32602, "terminal/create", map[string]any{"sessionId": "S1", "command": "true", "cwd": "relative"})
		}},
		{"A17 bad elements are left out", func(t *testing.T, s *terminals) {
			r := s.final(s.run(map[string]any{"command": "sh", "args": []any{"-c", 5, `printf '%s%s' "$X" "$0"`, map[string]any{}, "arg"},
				"env": []any{map[string]any{"name": "X", "value": "1"}, map[string]any{"bad": 1}, "no", nil, map[string]any{"name": "Y", "value": 2}}}))
			s.want(r.Output, "1arg")
		}},
		{"A18 wrong types", func(t *testing.T, s *terminals) {
			r := s.final(s.run(map[string]any{"command": "echo", "args": "no", "env": 5, "cwd": 7, "outputByteLimit": "many", "_meta": "no"}))
			s.want(r.Output, "\n")
			s.want(s.final(s.run(map[string]any{"command": "echo", "outputByteLimit": -1, "cwd": nil, "args": nil, "env": nil, "_meta": nil})).Truncated, false)
			for _, p := range []map[string]any{
				{"sessionId": "S1"}, {"sessionId": "S1", "command": 5}, {"command": "true"}, {"sessionId": nil, "command": "true"}, {"sessionId": "S1", "command": ""},
			} {
				s.fails(-32602, "terminal/create", p)
			}
			s.fails(-32602, "terminal/output", map[string]any{"sessionId": "S1"})
			s.fails(-32602, "terminal/output", map[string]any{"sessionId": "S1", "terminalId": 1})
		}},
		{"A19 a line where a program should be", func(t *testing.T, s *terminals) {
			s.want(s.final(s.run(map[string]any{"command": "echo a && echo b | tr b c"})).Output, "a\nc\n")
			s.want(s.final(s.run(map[string]any{"command": "echo 'one two'", "args": []string{}})).Output, "one two\n")
			s.fails(-32603, "terminal/create", map[string]any{"sessionId": "S1", "command": "no such program", "args": []string{"x"}})
			dir := t.TempDir()
			program := filepath.Join(dir, "a program")
			if err := os.WriteFile(program, []byte("#!/bin/sh\necho itself\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			s.want(s.final(s.run(map[string]any{"command": program})).Output, "itself\n")
		}},
		{"A20 no such program, no such folder", func(t *testing.T, s *terminals) {
			s.fails(-32603, "terminal/create", map[string]any{"sessionId": "S1", "command": "/no/such/prog", "args": []string{}})
			s.fails(-32603, "terminal/create", map[string]any{"sessionId": "S1", "command": "true", "cwd": "/no/such/folder"})
			err := s.Call(s.ctx, "terminal/create", map[string]any{"sessionId": "S1", "command": "/no/such/prog"}, nil)
			var e *client.Error
			var data struct{ Details string }
			if !errors.As(err, &e) || json.Unmarshal(e.Data, &data) != nil || data.Details == "" {
				t.Errorf("%v with data %s, expected details", err, e.Data)
			}
		}},
		{"A21 unknown terminal", func(t *testing.T, s *terminals) {
			for _, m := range []string{"output", "wait_for_exit", "kill", "release"} {
				s.fails(-32002, "terminal/"+m, s.on("nothing"))
			}
		}},
		{"A22 a terminal of another session", func(t *testing.T, s *terminals) {
			id := s.run(map[string]any{"command": "sleep", "args": []string{"300." + s.program.Mark}})
			other := &terminals{s.server, "S2"}
			for _, m := range []string{"output", "wait_for_exit", "kill", "release"} {
				s.fails(-32002, "terminal/"+m, other.on(id))
			}
			s.want(s.output(id).ExitStatus, "running")
		}},
		{"A25 nobody is there to be asked", func(t *testing.T, s *terminals) {
			s.want(s.ended(s.shell("read x")), "exit 1")
			s.want(s.final(s.shell("cat; read x </dev/tty; echo end")).ExitStatus, "exit 0")
			s.want(s.final(s.shell(`echo "$GIT_PAGER$PAGER"`)).Output, "cat\n")
			s.want(s.final(s.shell(`echo "$GIT_PAGER"`, "env", []any{map[string]any{"name": "GIT_PAGER", "value": "mine"}})).Output, "mine\n")
		}},
		{"A26 plain text", func(t *testing.T, s *terminals) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
				t.Fatal(err)
			}
			s.want(s.final(s.shell(`printf '\033[1;34mfolder\033[0m\r\n\033]0;title\033\\end\n'`)).Output, "folder\nend\n")
			need(t, "dircolors", "coreutils")
			s.want(s.final(s.run(map[string]any{"command": "ls", "args": []string{"--color=always", dir}})).Output, "folder\n")
		}},
		{"X01 unknown method", func(t *testing.T, s *terminals) { s.fails(-32601, "terminal/none", map[string]any{}) }},
		{"secrets are hidden", func(t *testing.T, s *terminals) {
			r := s.final(s.shell(`echo "GITHUB_TOKEN=ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"; echo $DB_PASSWORD; echo $MY_PASSWORD`, "env",
				[]any{map[string]any{"name": "DB_PASSWORD", "value": "correct horse"}, map[string]any{"name": "MY_PASSWORD", "value": "trustno1"}}))
			if strings.Contains(r.Output, "ghp_") || strings.Contains(r.Output, "horse") || strings.Contains(r.Output, "trustno1") || !strings.Contains(r.Output, "[REDACTED]") {
				t.Errorf("output %q", r.Output)
			}
			s.fails(-32602, "terminal/create", map[string]any{"sessionId": "S1", "command": "true", "_meta": map[string]any{"ptywright": map[string]any{"raw": true}}})
		}},
		{"initialize is tolerant", func(t *testing.T, s *terminals) {
			for _, p := range []any{map[string]any{}, map[string]any{"protocolVersion": 9}, map[string]any{"protocolVersion": "x", "clientCapabilities": 1}} {
				var r struct {
					ProtocolVersion    int
					ClientCapabilities struct{ Terminal bool }
				}
				s.call("initialize", p, &r)
				s.want(r, "{ProtocolVersion:1 ClientCapabilities:{Terminal:true}}")
			}
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, acpPeer(t))
		})
	}
}

// TestACPTrustRaw shows what an operator gets who trusts the agent with secrets.
func TestACPTrustRaw(t *testing.T) {
	t.Parallel()
	s := acpPeer(t, "--trust-raw")
	const secret = "ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"
	s.want(s.final(s.run(map[string]any{"command": "echo", "args": []string{secret}})).Output, secret+"\n")
	id := s.shell(`printf '\033[1mbold\033[m\n'`, "_meta", map[string]any{"ptywright": map[string]any{"raw": true}})
	s.want(s.final(id).Output, "\x1b[1mbold\x1b[m\r\n")
}

// TestACPCancel cancels a wait as the protocol has it (A23), and by JSON-RPC's usual name.
func TestACPCancel(t *testing.T) {
	t.Parallel()
	for _, how := range []string{`"method":"$/cancel_request","params":{"requestId":"w"}`, `"method":"$/cancelRequest","params":{"id":"w"}`} {
		p := ptywright(t, "acp")
		in, out := p.StartPiped()
		lines := bufio.NewScanner(out)
		ask := func(line string) (r reply) {
			t.Helper()
			if _, err := io.WriteString(in, `{"jsonrpc":"2.0",`+line+"}\n"); err != nil {
				t.Fatal(err)
			}
			if !lines.Scan() {
				t.Fatalf("no answer: %v", lines.Err())
			}
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				t.Fatal(err)
			}
			return r
		}
		var created struct{ TerminalID string }
		r := ask(`"id":1,"method":"terminal/create","params":{"sessionId":"S","command":"sleep","args":["300.` + p.Mark + `"]}`)
		if err := json.Unmarshal(r.Result, &created); err != nil {
			t.Fatal(err)
		}
		params := `"params":{"sessionId":"S","terminalId":"` + created.TerminalID + `"}`
		r = ask(`"id":"w","method":"terminal/wait_for_exit",` + params + "}\n" + `{"jsonrpc":"2.0",` + how)
		if string(r.ID) != `"w"` || r.Error == nil || r.Error.Code != -32800 {
			t.Errorf("the cancelled wait was answered with %s %+v", r.ID, r.Error)
		}
		if r = ask(`"id":2,"method":"terminal/output",` + params); strings.Contains(string(r.Result), "exitStatus") {
			t.Errorf("the terminal has ended with the wait: %s", r.Result)
		}
		in.Close()
		if code := exitCodeOf(t, p.Wait()); code != 0 {
			t.Errorf("exit code %d", code)
		}
		noneLeft(t, p.Mark) // A24: terminals end with the connection
	}
}

// TestACPManyTerminals drops a connection with 200 terminals, some of which are waited for.
func TestACPManyTerminals(t *testing.T) {
	t.Parallel()
	p := ptywright(t, "acp")
	in, out := p.StartPiped()
	script := "trap : HUP; sleep 300." + p.Mark + " & wait"
	for i := range 200 {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"terminal/create","params":{"sessionId":"S","command":"sh","args":["-c",%q]}}`+"\n", i, script)
	}
	lines := bufio.NewScanner(out)
	for range 200 {
		if !lines.Scan() || !strings.Contains(lines.Text(), `"terminalId"`) {
			t.Fatalf("answer %q, %v", lines.Text(), lines.Err())
		}
		var r struct{ Result struct{ TerminalID string } }
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":"w","method":"terminal/wait_for_exit","params":{"sessionId":"S","terminalId":%q}}`+"\n", r.Result.TerminalID)
	}
	out.Close()
	in.Close()
	if code := exitCodeOf(t, p.Wait()); code != 0 {
		t.Errorf("exit code %d, standard error %q", code, p.Stderr)
	}
	noneLeft(t, p.Mark)
}

// TestACPOnTheSocket relays as a client would that is connected to a server of sessions: the same
// methods beside the native ones, on the same engine, and a namespace for each connection.
func TestACPOnTheSocket(t *testing.T) {
	t.Parallel()
	s := &terminals{start(t), "S1"}
	var created struct {
		TerminalID string `json:"terminalId"`
		Meta       struct {
			Ptywright struct{ Session string }
		} `json:"_meta"`
	}
	s.call("terminal/create", map[string]any{"sessionId": "S1", "command": "sh", "args": []string{"-c", "echo name?; read x; echo hello $x"},
		"_meta": map[string]any{"ptywright": map[string]any{"stdin": "terminal"}}}, &created)
	s.until(created.TerminalID, "name?")
	s.call("session.input", map[string]any{"session": created.Meta.Ptywright.Session, "action": map[string]any{"type": "text", "value": "you\n"}}, nil)
	if r := s.final(created.TerminalID); !strings.HasSuffix(r.Output, "hello you\n") {
		t.Errorf("output %q", r.Output)
	}
	s.fails(-32002, "terminal/output", s.on("nothing"))
	s.refused(-32602, "unknown_session", "session.snapshot", map[string]any{"session": "nothing"})
	s.refused(-32601, "unknown_method", "terminal/none", map[string]any{})
	s.call("terminal/release", s.on(created.TerminalID), nil)
	if left := s.list(); len(left) != 0 {
		t.Errorf("sessions are left: %+v", left)
	}
}

// TestACPOverASharedSocket has two clients relay over one server: each has terminals of its own,
// and one that goes takes its own along and no others.
func TestACPOverASharedSocket(t *testing.T) {
	t.Parallel()
	l := listen(t)
	a, b := &terminals{l.dial(), "S1"}, &terminals{l.dial(), "S1"}
	script := "echo pid $$; exec sleep 300." + l.program.Mark
	mine, other := a.shell(script), b.shell(script)
	var pids [2]int
	for i, s := range []*terminals{a, b} {
		if _, err := fmt.Sscanf(s.until([]string{mine, other}[i], "\n").Output, "pid %d", &pids[i]); err != nil {
			t.Fatal(err)
		}
	}
	b.fails(-32002, "terminal/output", b.on(mine))
	b.fails(-32002, "terminal/release", b.on(mine))
	if n := len(b.list()); n != 2 {
		t.Errorf("%d sessions, expected both terminals", n)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	b.gone(pids[0])
	if err := syscall.Kill(pids[1], 0); err != nil {
		t.Errorf("the other's terminal: %v", err)
	}
	b.want(b.output(other).ExitStatus, "running")
}

// TestACPInputEnds has a peer that waits for a program, and closes its side: the wait is answered
// with how the program ended, by itself when that is soon.
func TestACPInputEnds(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{"read x <'%s'; exit 3": `"exitCode":3`, "exec sleep 300.%s": `"exitCode":null,"signal":"SIG`} {
		path, say := fifo(t)
		p := ptywright(t, "acp")
		if strings.Contains(script, "sleep") {
			path = p.Mark
		}
		in, out := p.StartPiped()
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"terminal/create","params":{"sessionId":"S","command":"sh","args":["-c",%q]}}`+"\n", fmt.Sprintf(script, path))
		lines := bufio.NewScanner(out)
		lines.Scan()
		fmt.Fprintln(in, `{"jsonrpc":"2.0","id":2,"method":"terminal/wait_for_exit","params":{"sessionId":"S","terminalId":"ptywright-s1"}}`)
		in.Close()
		say("go")
		if !lines.Scan() || !strings.Contains(lines.Text(), want) {
			t.Errorf("answered with %q, expected %s", lines.Text(), want)
		}
		if code := exitCodeOf(t, p.Wait()); code != 0 {
			t.Errorf("exit code %d, standard error %q", code, p.Stderr)
		}
		noneLeft(t, p.Mark)
	}
}

// TestACPCanary plants one secret wherever a client can put one, calls every method, and looks for
// it in every byte that leaves, the log included.
func TestACPCanary(t *testing.T) {
	t.Parallel()
	const secret = "ghp_k9Wz3TqLr7XvB2nM5pYd8HsJ4cFa6GeUo1Rt"
	p := ptywright(t, "acp")
	q := strconv.Quote
	lines := []string{
		`"id":1,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":` + q(secret) + `}}`,
		`"id":2,"method":"terminal/create","params":{"sessionId":` + q(secret) + `,"command":"sh","args":["-c","echo $MINE ` + secret + `; echo ` + secret + ` >&2"],"env":[{"name":"MINE","value":` + q(secret) + `}]}`,
		`"id":3,"method":"terminal/create","params":{"sessionId":"S","command":` + q("/no/"+secret) + `}`,
		`"id":4,"method":"terminal/create","params":{"sessionId":"S","command":"true","cwd":` + q("/no/"+secret) + `}`,
		`"id":5,"method":` + q(secret) + `,"params":{}`,
	}
	for i, method := range []string{"output", "wait_for_exit", "kill", "release"} {
		lines = append(lines, fmt.Sprintf(`"id":%d,"method":"terminal/%s","params":{"sessionId":"S","terminalId":%q}`, 6+i, method, secret))
	}
	in, out := p.StartPiped()
	replies := bufio.NewScanner(out)
	var said strings.Builder
	ask := func(line string) (r reply) {
		t.Helper()
		if _, err := io.WriteString(in, `{"jsonrpc":"2.0",`+line+"}\n"); err != nil {
			t.Fatal(err)
		}
		if !replies.Scan() {
			t.Fatalf("no answer: %v", replies.Err())
		}
		said.WriteString(replies.Text() + "\n")
		if err := json.Unmarshal(replies.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	id := ""
	for _, line := range lines {
		r := ask(line)
		var created struct{ TerminalID string }
		if json.Unmarshal(r.Result, &created) == nil && id == "" {
			id = created.TerminalID
		}
	}
	for i, method := range []string{"wait_for_exit", "output", "kill", "release"} {
		ask(fmt.Sprintf(`"id":%d,"method":"terminal/%s","params":{"sessionId":%q,"terminalId":%q}`, 20+i, method, secret, id))
	}
	in.Close()
	_ = p.Wait()
	if !strings.Contains(said.String(), "[REDACTED]") {
		t.Errorf("nothing was hidden in\n%s", said.String())
	}
	for where, text := range map[string]string{"answers": said.String(), "the log": p.Stderr.String()} {
		for i := 0; i+12 <= len(secret); i++ {
			if strings.Contains(text, secret[i:i+12]) {
				t.Fatalf("%s show %q:\n%s", where, secret[i:i+12], text)
			}
		}
	}
}

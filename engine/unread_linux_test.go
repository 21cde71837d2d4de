package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/matchers"
)

// answers is a script that answers each line of its canonical terminal, which echoes it.
const answers = `IFS= read -r l || exit; echo "<$l>"`

func fifo(t *testing.T) *os.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// spawnScript starts a shell script; with $GATE, each line written to gate lets it go on.
func spawnScript(t *testing.T, script string, taps ...engine.Tap) (s *engine.Session, gate *os.File) {
	t.Helper()
	gate = fifo(t)
	e := engine.New(engine.Options{})
	t.Cleanup(func() { e.Close(t.Context()) })
	s, err := e.Spawn(t.Context(), engine.Config{Program: "/bin/sh", Args: []string{"-c", script},
		Env: map[string]string{"GATE": gate.Name()}, Size: pty.Size{Rows: 10, Cols: 40}, Taps: taps})
	if err != nil {
		t.Fatal(err)
	}
	return s, gate
}

// A heldTap holds up the pump when it is shown a dot: it takes one value then, and one to go on.
type heldTap struct {
	tap
	holds chan bool
}

func (t *heldTap) Output(_ time.Time, p []byte) error {
	if bytes.IndexByte(p, '.') >= 0 {
		<-t.holds
		<-t.holds
	}
	return nil
}

const unreadHang = 30 * time.Second

// ask types a line until it is read and waits for it to be on the screen after that.
func ask(t *testing.T, s *engine.Session, line string) (engine.Receipt, string) {
	t.Helper()
	r, err := s.Do(t.Context(), engine.Text(line+"\r"), engine.UntilRead{},
		engine.Within(unreadHang))
	if err != nil || r.Read == nil || !*r.Read || r.ReadSequence < r.Sequence {
		t.Fatalf("%s: receipt %+v, %v", line, r, err)
	}
	out, err := s.Wait(t.Context(), matchers.Regexp(regexp.MustCompile("(?m)^(.*"+line+".*)$")),
		engine.After(r.ReadSequence), engine.Within(unreadHang))
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out.View.Screen.Text())
	}
	return r, out.Match.Capture
}

// TestEchoIsNoAnswer: a wait from where a line was read never matches its echo and never misses the
// answer, whether the program reads late, at once or whenever it likes, and however late the output
// is read.
func TestEchoIsNoAnswer(t *testing.T) {
	t.Run("seen before", func(t *testing.T) {
		s, gate := spawnScript(t,
			`exec 3<$GATE; while read -r _ <&3; do `+answers+`; done`)
		for i := range 100 {
			line := fmt.Sprintf("n%dx", i)
			echoed := make(chan error, 1)
			go func() {
				_, err := s.Wait(t.Context(), matchers.Text(line), engine.Within(unreadHang))
				gate.WriteString("go\n")
				echoed <- err
			}()
			if _, got := ask(t, s, line); got != "<"+line+">" {
				t.Errorf("%s: the wait matched %q", line, got)
			}
			if err := <-echoed; err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("at once", func(t *testing.T) {
		s, _ := spawnScript(t, `while :; do `+answers+`; done`)
		for i := range turns(300, 10_000) {
			line := fmt.Sprintf("n%dx", i)
			if _, got := ask(t, s, line); got != "<"+line+">" {
				t.Errorf("%s: the wait matched %q", line, got)
			}
		}
	})
	t.Run("with the answer", func(t *testing.T) { // the pump reads both at once
		tap := &heldTap{holds: make(chan bool)}
		done := fifo(t)
		s, gate := spawnScript(t, `exec 3<$GATE; while read -r _ <&3; do printf .; `+answers+
			`; echo done >`+done.Name()+`; done`, tap)
		for i := range 5 {
			gate.WriteString("go\n")
			tap.holds <- true
			go func() {
				defer func() { tap.holds <- false }()
				if _, err := done.Read(make([]byte, len("done\n"))); err != nil {
					t.Error(err)
				}
			}()
			line := fmt.Sprintf("n%dx", i)
			if _, got := ask(t, s, line); got != "<"+line+">" {
				t.Errorf("%s: the wait matched %q", line, got)
			}
		}
	})
	t.Run("at random", func(t *testing.T) {
		if os.Getenv("PTYWRIGHT_LONG") != "1" {
			t.Skip("it sleeps for minutes; PTYWRIGHT_LONG=1 runs it")
		}
		s, _ := spawnScript(t, `n=1; while n=$(((n * 137 + 11) % 31)); sleep 0.0$((n + 10)); do `+
			answers+`; done`)
		for i := range turns(300, 10_000) {
			line := fmt.Sprintf("n%dx", i)
			if _, got := ask(t, s, line); got != "<"+line+">" {
				t.Errorf("%s: the wait matched %q", line, got)
			}
		}
	})
}

func turns(short, long int) int {
	if os.Getenv("PTYWRIGHT_LONG") == "1" {
		return long
	}
	return short
}

// TestUntilReadSaysWhatIsKnown and no more.
func TestUntilReadSaysWhatIsKnown(t *testing.T) {
	say := func(read *bool) string {
		if read == nil {
			return "unknown"
		}
		return fmt.Sprint(*read)
	}
	for _, tt := range []struct {
		name, script string
		action       engine.Action
		want         string
	}{
		{"an unfinished line", "echo ready; cat", engine.Text("abc"), "unknown"},
		{"a line", "echo ready; cat", engine.Text("abc\r"), "true"},
		{"a line in two pieces", "echo ready; cat", engine.Typing{Delay: time.Millisecond,
			Actions: []engine.Action{engine.Text("abc"), engine.Text("d\r")}}, "true"},
		{"an end of file", "echo ready; cat; echo end; exec sleep 1000", engine.EOF{}, "true"},
		{"an interrupt", "trap : INT; echo ready; while :; do sleep 1000; done",
			engine.Interrupt{}, "true"},
		{"raw", "stty raw -echo; echo ready; exec cat", engine.Text("abc"), "true"},
		{"nobody reads", "stty raw; echo ready; exec sleep 1000", engine.Text("abc"), "false"},
		{"nobody reads the line", "echo ready; exec sleep 1000", engine.Text("abc\r"), "false"},
		{"it closes", "echo ready; exec <&- >&- 2>&- sleep 1000", engine.Text("abc\r"), "false"},
		{"nothing is typed", "echo ready; cat", engine.Text(""), "unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, _ := spawnScript(t, tt.script)
			if _, err := s.Wait(t.Context(), matchers.Text("ready"),
				engine.Within(unreadHang)); err != nil {
				t.Fatal(err)
			}
			within := unreadHang
			if tt.want == "false" {
				within = 50 * time.Millisecond
			}
			r, err := s.Do(t.Context(), tt.action, engine.UntilRead{}, engine.Within(within))
			if tt.name == "it closes" { // before or after it is typed
				if say(r.Read) == "true" {
					t.Error("it is said to be read")
				}
				return
			}
			if err != nil || say(r.Read) != tt.want {
				t.Errorf("read: %s, %v; want %s", say(r.Read), err, tt.want)
			}
		})
	}
}

// TestUntilReadIsTypedWhole: a program that flushes what was typed throws a line away or reads it; it
// never gets the line's end alone, which would be an empty answer.
func TestUntilReadIsTypedWhole(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: apt-get install python3")
	}
	e := engine.New(engine.Options{})
	t.Cleanup(func() { e.Close(t.Context()) })
	s, err := e.Spawn(t.Context(), engine.Config{Program: python, Args: []string{"-c", `
import select, sys, termios
print("ready", flush=True)
while True:
    for _ in range(200):
        print("." * 60, flush=True)
    termios.tcflush(0, termios.TCIFLUSH)
    if select.select([0], [], [], 0)[0]:
        line = sys.stdin.readline()
        print(("empty" if line == "\n" else "whole"), "line", flush=True)
`}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Wait(t.Context(), matchers.Text("ready")); err != nil {
		t.Fatal(err)
	}
	for range turns(100, 2_000) {
		if _, err := s.Do(t.Context(), engine.Text("no\r"), engine.UntilRead{}, engine.Within(unreadHang)); err != nil {
			t.Fatal(err)
		}
	}
	if text, _ := s.View().Output(); bytes.Contains(text, []byte("empty line")) {
		t.Error("a line's end was read without the line")
	}
}

// TestUntilReadCancelledSaysWhatWasTyped: all of it, though nobody has read it.
func TestUntilReadCancelledSaysWhatWasTyped(t *testing.T) {
	s, _ := spawnScript(t, "echo ready; exec sleep 1000")
	if _, err := s.Wait(t.Context(), matchers.Text("ready")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	parked := engine.Parked(cancel)
	r, err := s.Do(ctx, engine.Text("abc\r"), engine.UntilRead{}, parked, engine.Within(unreadHang))
	var part *engine.PartError
	if !errors.Is(err, context.Canceled) || !errors.As(err, &part) || part.Written != 4 || part.Done != 1 || r.Written != 4 {
		t.Errorf("receipt %+v, %v", r, err)
	}
}

// TestUntilReadEndsWithTheProgram: of one that dies without reading nothing is known.
func TestUntilReadEndsWithTheProgram(t *testing.T) {
	s, gate := spawnScript(t, `echo ready; read -r _ <$GATE; kill -9 $$`)
	if _, err := s.Wait(t.Context(), matchers.Text("ready"),
		engine.Within(unreadHang)); err != nil {
		t.Fatal(err)
	}
	parked := engine.Parked(func() { gate.WriteString("go\n") })
	r, err := s.Do(t.Context(), engine.Text("abc\r"), engine.UntilRead{}, parked,
		engine.Within(unreadHang))
	if err != nil || r.Read != nil || !strings.HasPrefix(s.View().Screen.Text(), "ready") {
		t.Errorf("receipt %+v, %v", r, err)
	}
}

// TestEscapeIsReadAlone: the pause behind an Escape counts from its reading, so a program that is
// busy while both keys are typed still gets them apart.
func TestEscapeIsReadAlone(t *testing.T) {
	t.Parallel()
	s, _ := spawnScript(t, `stty raw -echo; echo ready; sleep 0.3; dd bs=2 count=1 2>/dev/null | od -An -to1; dd bs=2 count=1 2>/dev/null`)
	if _, err := s.Wait(t.Context(), matchers.Text("ready")); err != nil {
		t.Fatal(err)
	}
	keys := engine.Typing{Actions: []engine.Action{engine.Text("\x1b"), engine.Text("x")}}
	if _, err := s.Do(t.Context(), keys, engine.Within(unreadHang)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Wait(t.Context(), matchers.Regexp(regexp.MustCompile(`033\s+x`))); err != nil {
		t.Error(err)
	}
}

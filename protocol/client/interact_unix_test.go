//go:build unix

package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// interacting is set for a test's program that gives its terminal to a shell running this script.
const interacting = "CLIENT_TEST_INTERACT"

// page begins the script of a program that does what docs/go.md shows.
const page = "# page\n"

func init() {
	asProgram = func() bool {
		script := os.Getenv(interacting)
		if script != "" {
			interact(script)
		}
		return script != ""
	}
}

// interact is that program.
func interact(script string) {
	ctx := context.Background()
	fail := func(err error) {
		if err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
	}
	s, err := client.Spawn(ctx, client.Config{Program: "sh", Args: []string{"-c", script}, Env: map[string]string{"PS1": "$ ", "ENV": ""}})
	fail(err)
	defer s.Close(ctx)
	fmt.Println("before")
	if strings.HasPrefix(script, page) {
		fail(handOver(ctx, s))
		return
	}
	exit, err := s.Interact(ctx, client.InteractOptions{})
	var signal *client.SignalError
	if errors.As(err, &signal) {
		fmt.Println("after", signal.Signal)
		return
	}
	fail(err)
	left := "detached"
	if exit != nil {
		left = "exit " + strconv.Itoa(*exit.Code)
	}
	screen, err := s.Screen(ctx)
	fail(err)
	fmt.Println("after", left, screen.Size.Cols)
	var line string
	fmt.Scanln(&line) // the terminal is a person's again: it makes lines, and nobody else reads
	fmt.Println("read", line)
}

// handOver is what docs/go.md shows.
func handOver(ctx context.Context, s *client.Session) error {
	exit, err := s.Interact(ctx, client.InteractOptions{})
	if err != nil {
		return err
	}
	if exit == nil {
		fmt.Println("left alone; it goes on")
	}
	return nil
}

// person is a terminal at which the program above runs.
func person(t *testing.T, script string) *client.Session {
	t.Helper()
	exe, err := os.Executable()
	check(t, err)
	s, err := client.Spawn(t.Context(), client.Config{Program: exe, Rows: 10, Cols: 50, Env: map[string]string{
		interacting: script, "PTYWRIGHT_BIN": os.Getenv("PTYWRIGHT_BIN"), "PTYWRIGHT_HOME": t.TempDir(),
	}})
	check(t, err)
	t.Cleanup(func() { check(t, s.Close(context.Background())) })
	return s
}

func waits(t *testing.T, s *client.Session, m client.Matcher) {
	t.Helper()
	if _, err := s.Wait(t.Context(), m); err != nil {
		t.Fatalf("%v\n%v", err, client.EvidenceOf(err))
	}
}

func TestInteract(t *testing.T) {
	t.Parallel()
	p := person(t, "exec sh -i")
	_, err := p.Expect(t.Context(), client.Regexp(`^\$$`))
	check(t, err)
	check(t, p.Send(t.Context(), "stty size\n"))
	waits(t, p, client.Regexp(`(?m)^10 50\n\$$`)) // it has the terminal's size
	check(t, p.Send(t.Context(), "echo $((6*7)) ü\n"))
	waits(t, p, client.Regexp(`(?m)^42 ü\n\$$`))
	check(t, p.Resize(t.Context(), 12, 60))
	// The new size comes by a signal, so what is typed may overtake it.
	check(t, p.Send(t.Context(), "until [ \"$(stty size)\" = '12 60' ]; do :; done; echo fits\n"))
	waits(t, p, client.Regexp(`(?m)^fits$`))
	check(t, p.Press(t.Context(), "ctrl+]"))
	waits(t, p, client.Text("after detached 80")) // and gives it back
	check(t, p.Send(t.Context(), "mine\n"))
	waits(t, p, client.Text("read mine"))
	now, err := p.Screen(t.Context())
	check(t, err)
	if now.AlternateScreen || now.Lines[0] != "before" {
		t.Errorf("what was there is gone: %q", now.PlainText)
	}
}

func TestInteractOfThePage(t *testing.T) {
	t.Parallel()
	p := person(t, page+"exec sh -i")
	_, err := p.Expect(t.Context(), client.Regexp(`^\$$`))
	check(t, err)
	check(t, p.Press(t.Context(), "ctrl+]"))
	waits(t, p, client.Text("left alone; it goes on"))
}

// TestInteractEndsWithTheProgram, whose last words were shown.
func TestInteractEndsWithTheProgram(t *testing.T) {
	t.Parallel()
	p := person(t, "read x; echo bye; exit 4")
	_, err := p.Expect(t.Context(), client.Output("before"))
	check(t, err)
	check(t, p.Send(t.Context(), "\n"))
	waits(t, p, client.All(client.Text("after exit 4"), client.Output("bye")))
}

// TestInteractSharesModes: keys, pastes and the mouse are as the program asked for them.
func TestInteractSharesModes(t *testing.T) {
	t.Parallel()
	p := person(t, `stty raw -echo; printf '\033[?1h\033[?1000h\033[?2004hon'; head -c 9 | cat -v; sleep 0.2`)
	_, err := p.Expect(t.Context(), client.Text("on"))
	check(t, err)
	now, err := p.Screen(t.Context())
	check(t, err)
	if !now.ApplicationCursor || !now.BracketedPaste {
		t.Errorf("modes are not shared: %+v", now)
	}
	check(t, p.Press(t.Context(), "up"))
	check(t, p.Click(t.Context(), 2, 3, client.Left)) // the terminal says so in the form of 1006
	waits(t, p, client.Text(`^[OA^[[M $#`))           // the program is told in its own
}

// TestInteractGivesTheTerminalBack after a signal, too.
func TestInteractGivesTheTerminalBack(t *testing.T) {
	t.Parallel()
	p := person(t, "printf '\\033[?1h'; echo pid $PPID; sleep 1000")
	m, err := p.Expect(t.Context(), client.Regexp(`pid \d+`))
	check(t, err)
	if !strings.HasPrefix(m.Text, "pid ") {
		t.Fatal(m.Text)
	}
	check(t, p.Signal(t.Context(), "term"))
	waits(t, p, client.Text("after terminated"))
	now, err := p.Screen(t.Context())
	check(t, err)
	if now.AlternateScreen || now.ApplicationCursor {
		t.Errorf("the terminal is not as it was: %+v", now)
	}
}

// TestInteractNeedsATerminal, and a session that nobody else types into.
func TestInteractNeedsATerminal(t *testing.T) {
	t.Parallel()
	s, err := client.Spawn(t.Context(), client.Config{Program: "cat"})
	check(t, err)
	defer s.Close(context.Background())
	file, err := os.Open(os.DevNull)
	check(t, err)
	defer file.Close()
	if _, err := s.Interact(t.Context(), client.InteractOptions{In: file, Out: file}); !errors.Is(err, client.ErrNoTerminal) {
		t.Error(err)
	}
}

package instance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// childRoot makes the test binary a server that has an instance of that root and does what its
// standard input says.
const childRoot = "INSTANCE_TEST_ROOT"

// childCase makes it run one of cases instead, with that root.
const childCase = "INSTANCE_TEST_CASE"

// cases are what a test needs a process of its own for.
var cases = map[string]func(root string) error{}

func TestMain(m *testing.M) {
	ownListens = func(int, int) bool { return true } // most records here are of no server
	if run := cases[os.Getenv(childCase)]; run != nil {
		if err := run(os.Getenv(childRoot)); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if root := os.Getenv(childRoot); root != "" {
		os.Exit(child(root))
	}
	goleak.VerifyTestMain(m)
}

func child(root string) int {
	in := bufio.NewScanner(os.Stdin)
	in.Scan() // all of a race start at once
	l, err := Listen(MCPPort)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer l.Close()
	i, err := Claim(root, wanted(portOf(l)))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	answer := json.NewEncoder(os.Stdout)
	for r, err := i.Record(); ; r, err = i.Record() {
		if err != nil {
			fmt.Println(err)
			return 1
		}
		answer.Encode(r)
		if !in.Scan() {
			return 0 // without a word, as from a crash
		}
		switch word, rest, _ := strings.Cut(in.Text(), " "); word {
		case "title":
			if err := i.SetTitle(rest); err != nil {
				fmt.Println(err)
				return 1
			}
		case "leave": // and go on living, as a server that still answers others
			if err := i.Close(); err != nil {
				fmt.Println(err)
				return 1
			}
			fmt.Println(`{"id":"left"}`)
			in.Scan()
			return 0
		}
	}
}

func wanted(port int) Record {
	return Record{MCPPort: port, Cwd: "/src", Version: "1.2.3"}
}

// server is a child that has an instance.
type server struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Scanner
	ended chan struct{}
}

// prepare starts a server that claims its instance at the first word.
func prepare(t *testing.T, root string) *server {
	t.Helper()
	s := &server{t: t, cmd: exec.Command(os.Args[0]), ended: make(chan struct{})}
	s.cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", childRoot+"="+root)
	s.cmd.Stderr = os.Stderr
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.out = bufio.NewScanner(out)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.kill)
	return s
}

// start starts a server and returns it with its record.
func start(t *testing.T, root string) (*server, Record) {
	t.Helper()
	s := prepare(t, root)
	return s, s.say("go")
}

// say tells the server something and returns its answer.
func (s *server) say(words string) (r Record) {
	s.t.Helper()
	s.tell(words)
	return s.answer()
}

func (s *server) tell(words string) {
	s.t.Helper()
	if _, err := fmt.Fprintln(s.in, words); err != nil {
		s.t.Fatal(err)
	}
}

func (s *server) answer() (r Record) {
	s.t.Helper()
	if !s.out.Scan() {
		s.t.Fatalf("the server has ended: %v", s.out.Err())
	}
	if err := json.Unmarshal(s.out.Bytes(), &r); err != nil {
		s.t.Fatalf("the server says %s", s.out.Bytes())
	}
	return r
}

// kill ends the server by SIGKILL and reaps it.
func (s *server) kill() {
	select {
	case <-s.ended:
		return
	default:
	}
	s.cmd.Process.Kill()
	s.cmd.Wait()
	close(s.ended)
}

// claim is Claim in this process, given back at the end.
func claim(t *testing.T, root string) *Instance {
	t.Helper()
	i, err := Claim(root, wanted(MCPPort))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { i.Close() })
	return i
}

func record(t *testing.T, i *Instance) Record {
	t.Helper()
	r, err := i.Record()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func contents(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// put makes a file in a root's folder of instances.
func put(t *testing.T, root, file, content string) string {
	t.Helper()
	path := filepath.Join(root, "instances", file)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// ids are those that List knows.
func ids(t *testing.T, root string) string {
	t.Helper()
	records, err := List(root)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, r := range records {
		all = append(all, r.ID)
	}
	return strings.Join(all, " ")
}

func newRoot(t *testing.T) string { return filepath.Join(t.TempDir(), "root") }

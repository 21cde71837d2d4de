//go:build unix

package fleet_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/programtest"
	"github.com/ptywright/ptywright/engine/enginetest"
)

// A fleetOf is a root of a test's own and the programs that use it. At the test's end all instances
// are stopped, and neither a process nor a file may be left.
type fleetOf struct {
	t          testing.TB
	home, root string
	mark       string // of all processes
	env        []string
}

func newFleet(t testing.TB) *fleetOf {
	t.Helper()
	home := enginetest.Home(t)
	f := &fleetOf{t: t, home: home, root: filepath.Join(home, "root")}
	p := programtest.New(t)
	f.mark, f.env = p.Mark, append(p.Env, append(programtest.PlainShell(home), "PYTHONDONTWRITEBYTECODE=1", "PTYWRIGHT_HOME="+f.root)...)
	t.Cleanup(func() {
		if out, err, code := f.run("stop", "--all"); code != 0 {
			t.Errorf("stop: exit code %d\n%s%s", code, out, err)
		}
		programtest.NoneLeft(t, f.mark)
		if left := f.files(); len(left) > 0 {
			t.Errorf("left under the root: %q", left)
		}
	})
	return f
}

// program is ptywright with arguments, in this fleet.
func (f *fleetOf) program(args ...string) *programtest.Program {
	f.t.Helper()
	p := programtest.New(f.t, args...)
	p.Env, p.Mark, p.Dir = f.env, f.mark, f.home
	return p
}

// run runs ptywright fleet to its end.
func (f *fleetOf) run(args ...string) (stdout, stderr string, code int) {
	f.t.Helper()
	p := f.program(append([]string{"fleet"}, args...)...)
	stdout, code = p.Run("")
	return stdout, p.Stderr.String(), code
}

// ok runs ptywright fleet, which must exit with 0 and complain of nothing, and returns what it
// prints.
func (f *fleetOf) ok(args ...string) string {
	f.t.Helper()
	out, err, code := f.run(args...)
	if code != 0 || err != "" {
		f.t.Fatalf("fleet %q: exit code %d\n%s%s", args, code, out, err)
	}
	return out
}

// fails runs ptywright fleet, which must exit with a code and complain so, and returns what it
// prints.
func (f *fleetOf) fails(code int, complaint string, args ...string) string {
	f.t.Helper()
	out, err, got := f.run(args...)
	if got != code || !strings.Contains(err, complaint) {
		f.t.Errorf("fleet %q: exit code %d, %q, expected %d, %q\n%s", args, got, err, code, complaint, out)
	}
	return out
}

// told is one line of --json.
type told struct {
	ID         string
	PID        int
	Title, Cwd *string
	Sent       bool
	Output     string
	ExitCode   *int `json:"exit_code"`
	TimedOut   bool `json:"timed_out"`
	Matched    bool
	Running    string `json:"foreground_process"`
	Screen     []string
	Lines      []string
	Ended      bool
	Killed     bool
	Session    int
	Dead       bool `json:"is_dead"`
	Sessions   []told
	Error      string
}

// each decodes what --json prints.
func (f *fleetOf) each(out string) []told {
	f.t.Helper()
	var all []told
	for line := range strings.Lines(out) {
		var one told
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			f.t.Fatalf("%v: %s", err, line)
		}
		all = append(all, one)
	}
	return all
}

// start starts instances and returns them in the order of the arguments.
func (f *fleetOf) start(args ...string) []told {
	f.t.Helper()
	return f.each(f.ok(append([]string{"start", "--json"}, args...)...))
}

// names returns the names of the instances that are listed, in alphabetical order.
func (f *fleetOf) names() []string {
	f.t.Helper()
	names := []string{}
	for _, i := range f.each(f.fails(0, "", "list", "--json")) { // of an empty one it is said that there is none
		names = append(names, i.ID)
	}
	slices.Sort(names)
	return names
}

// files lists what is under the root, but for the lock that stays.
func (f *fleetOf) files() []string {
	f.t.Helper()
	var all []string
	err := filepath.WalkDir(f.root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != "instances.lock" {
			all = append(all, strings.TrimPrefix(path, f.root+"/"))
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		f.t.Fatal(err)
	}
	return all
}

// record returns a file of the root as JSON.
func (f *fleetOf) record(path ...string) map[string]any {
	f.t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{f.root}, path...)...))
	if err != nil {
		f.t.Fatal(err)
	}
	record := map[string]any{}
	if err := json.Unmarshal(b, &record); err != nil {
		f.t.Fatalf("%v: %q", err, b)
	}
	return record
}

// folder makes a folder under the home.
func (f *fleetOf) folder(name string) string {
	f.t.Helper()
	path := filepath.Join(f.home, name)
	if err := os.MkdirAll(path, 0o700); err != nil {
		f.t.Fatal(err)
	}
	return path
}

// write writes a file under the home.
func (f *fleetOf) write(text string, path ...string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(append([]string{f.home}, path...)...), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// gate makes a FIFO under the home. A program that reads it goes on when open says something into
// it, and at its end.
func (f *fleetOf) gate(name string) string {
	f.t.Helper()
	path := filepath.Join(f.home, name)
	if err := programtest.Mkfifo(path); err != nil {
		f.t.Fatal(err)
	}
	return path
}

func (f *fleetOf) open(name, line string) {
	f.t.Helper()
	gate, err := os.OpenFile(filepath.Join(f.home, name), os.O_WRONLY, 0) // returns when there is a reader
	if err != nil {
		f.t.Fatal(err)
	}
	defer gate.Close()
	if _, err := gate.WriteString(line + "\n"); err != nil {
		f.t.Error(err)
	}
}

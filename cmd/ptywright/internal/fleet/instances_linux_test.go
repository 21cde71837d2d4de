package fleet_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/programtest"
)

// nato are the first twenty names.
var nato = strings.Fields("alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec romeo sierra tango")

// watchFiles reads all records and pointers of a root whenever one of them is made, written or
// replaced, until it is told to stop; each must be whole whenever it is there. The function
// returned tells it to, and returns how many were read.
func (f *fleetOf) watchFiles() (stop func() (read int)) {
	f.t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		f.t.Fatal(err)
	}
	events := os.NewFile(uintptr(fd), "inotify")
	instances := filepath.Join(f.root, "instances")
	if err := os.MkdirAll(instances, 0o700); err != nil {
		f.t.Fatal(err)
	}
	for _, dir := range []string{f.root, instances} {
		if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_MODIFY|unix.IN_CLOSE_WRITE|unix.IN_MOVED_TO); err != nil {
			f.t.Fatal(err)
		}
	}
	read, done := 0, make(chan struct{})
	go func() {
		defer close(done)
		for buf := make([]byte, 64<<10); ; {
			if _, err := events.Read(buf); err != nil {
				return
			}
			read += f.readFiles()
		}
	}()
	return func() int {
		events.Close()
		<-done
		return read
	}
}

// readFiles is one look of watchFiles.
func (f *fleetOf) readFiles() (read int) {
	files, _ := filepath.Glob(filepath.Join(f.root, "instances", "*.json"))
	for _, path := range append(files, filepath.Join(f.root, "active.json"), filepath.Join(f.root, "server.json")) {
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var r struct {
			ID        string
			AuthToken string `json:"auth_token"`
			StartedAt string `json:"started_at"`
			MCPPort   int    `json:"mcp_port"`
			PID       int
			Version   string
		}
		if err == nil {
			err = json.Unmarshal(b, &r)
		}
		if err != nil || r.ID == "" || len(r.AuthToken) != 36 || r.StartedAt == "" || r.MCPPort == 0 || r.PID == 0 || r.Version == "" {
			f.t.Errorf("%s: %v: %q", filepath.Base(path), err, b)
			return read
		}
		read++
	}
	return read
}

// TestFleetOfTwenty: twenty servers that are started at once have twenty names and ports, every
// file is whole whenever it is looked at, and the pointers move when the active one is killed or
// stopped.
func TestFleetOfTwenty(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	stop := f.watchFiles()
	all := f.start("20")
	names, ports := []string{}, map[int]bool{}
	for _, i := range f.each(f.ok("list", "--json")) {
		names = append(names, i.ID)
		ports[int(f.record("instances", i.ID+".json")["mcp_port"].(float64))] = true
	}
	if !slices.Equal(names, nato) {
		t.Errorf("%q", names)
	}
	if len(all) != 20 || len(ports) != 20 {
		t.Errorf("%d instances, %d ports", len(all), len(ports))
	}
	if id := f.record("active.json")["id"]; id != "alpha" {
		t.Errorf("%s is active", id)
	}

	active := int(f.record("active.json")["pid"].(float64))
	if err := syscall.Kill(active, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	programtest.Gone(t, map[int]string{active: "alpha"})
	if names := f.names(); !slices.Equal(names, nato[1:]) {
		t.Errorf("%q", names)
	}
	for _, pointer := range []string{"active.json", "server.json"} {
		if id := f.record(pointer)["id"]; id != "tango" {
			t.Errorf("%s says %s, and tango was started last", pointer, id)
		}
	}
	f.ok("stop", "tango")
	token, err := os.ReadFile(filepath.Join(f.root, "auth_token"))
	if active := f.record("active.json"); err != nil || active["id"] != "sierra" || active["auth_token"] != string(token) {
		t.Errorf("%s is active, %v", active["id"], err)
	}
	if out := f.ok("stop", "--all"); strings.Count(out, " has ended\n") != 18 {
		t.Errorf("%s", out)
	}
	read := stop()
	if err := os.Remove(filepath.Join(f.root, "logs", "alpha.log")); err != nil { // that of the killed one stays
		t.Error(err)
	}
	if read == 0 {
		t.Error("nothing was read meanwhile")
	}
}

// TestFleetSeesThroughForgedRecords: a record whose pid is another process is not an instance, and
// stopping it by name ends nobody.
func TestFleetSeesThroughForgedRecords(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.start("1")
	listener, err := net.Listen("tcp4", "127.0.0.1:0") // somebody answers on the port
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	real := f.record("instances", "alpha.json")
	stranger := f.program("serve", "--stdio") // a live process, and even one of ours
	in, _ := stranger.StartPiped()
	for name, change := range map[string]map[string]any{
		"kilo": {"pid": os.Getpid(), "mcp_port": listener.Addr().(*net.TCPAddr).Port},
		"lima": {"pid": stranger.Process.Pid},
		"mike": {"pid": 1},
		"papa": {"pid": stranger.Process.Pid, "pid_started": nil, "boot_id": nil},
	} {
		forged := map[string]any{}
		for k, v := range real {
			forged[k] = v
		}
		forged["id"] = name
		for k, v := range change {
			if forged[k] = v; v == nil {
				delete(forged, k)
			}
		}
		b, err := json.Marshal(forged)
		if err != nil {
			t.Fatal(err)
		}
		f.write(string(b), "root", "instances", name+".json")
	}
	if names := f.names(); !slices.Equal(names, []string{"alpha"}) {
		t.Errorf("listed: %q", names)
	}
	for _, name := range []string{"kilo", "lima", "mike", "papa"} {
		f.fails(4, "no instance is called "+name, "stop", name)
	}
	if f.start("1")[0].ID != "bravo" {
		t.Error("the second one is not bravo")
	}
	in.Close()
	if code := programtest.ExitCode(t, stranger.Wait()); code != 0 {
		t.Errorf("the stranger's exit code is %d: %s", code, stranger.Stderr)
	}
}

// TestFleetTellsNoToken: a refused token is reported as not permitted, and no token is in
// any output, argument or log.
func TestFleetTellsNoToken(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	var said strings.Builder
	say := func(args ...string) int {
		out, err, code := f.run(args...)
		said.WriteString(out + err)
		return code
	}
	say("start", "2", "--json")
	tokens := []string{"0b9f6f0e-3c52-4f4e-9a35-0d5a4b1f6a11"}
	for _, name := range []string{"alpha", "bravo"} {
		tokens = append(tokens, f.record("instances", name+".json")["auth_token"].(string))
	}
	for pid, what := range programtest.Marked(t, f.mark) {
		fmt.Fprintln(&said, pid, what)
	}
	for _, args := range [][]string{{"list", "--json"}, {"list"}, {"tag", "alpha", "x"}, {"read", "alpha", "--json"},
		{"broadcast", "--wait", "--", "cat", filepath.Join(f.root, "instances", "alpha.json")}, {"wait", "--pattern", "nothing", "--timeout", "10ms"}} {
		say(args...)
	}
	good := f.record("instances", "bravo.json")
	forged := f.record("instances", "bravo.json")
	forged["auth_token"] = tokens[0]
	for _, record := range []map[string]any{forged, good} {
		b, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		f.write(string(b), "root", "instances", "bravo.json")
		want := 0
		if record["auth_token"] == tokens[0] {
			want = cli.ExitPermission
		}
		if code := say("tag", "bravo", "y"); code != want {
			t.Errorf("exit code %d, expected %d:\n%s", code, want, said.String())
		}
	}
	logs, _ := filepath.Glob(filepath.Join(f.root, "logs", "*"))
	if len(logs) != 2 {
		t.Errorf("%q", logs)
	}
	for _, path := range logs {
		b, err := os.ReadFile(path)
		info, serr := os.Stat(path)
		if err != nil || serr != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v %v", err, serr, info.Mode())
		}
		said.Write(b)
	}
	for _, token := range tokens {
		if strings.Contains(said.String(), token) {
			t.Errorf("%s is told:\n%s", token, said.String())
		}
	}
}

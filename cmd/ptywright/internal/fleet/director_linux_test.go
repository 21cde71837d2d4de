package fleet_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/programtest"
)

// TestFleetDirector: four instances, one of which directs. Three build a module each; the first
// that is done is waited for, results are read, a worker is killed outright and started again, and
// the director has all of them build once more from its own terminal.
func TestFleetDirector(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	// The compiler as it is on a machine without a network, and nothing of this one's user but what
	// is compiled already: the runtime takes a minute on a busy machine.
	cache, err := exec.Command(goTool, "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	f.env = append(f.env, "GOCACHE="+strings.TrimSpace(string(cache)), "GOPATH="+f.folder("gopath"), "GOPROXY=off", "GOTOOLCHAIN=local", "GOFLAGS=", "GOENV=off", "GO111MODULE=on", "GO="+goTool)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f.env = append(f.env, "PW="+self)

	folders := []string{f.folder("director")}
	for _, name := range []string{"north", "east", "south"} {
		folders = append(folders, f.folder(name))
		f.write("module "+name+"\n\ngo 1.21\n", name, "go.mod")
		f.write("package main\n\nfunc main() { println(\"built in the\", place) }\n", name, "main.go")
		f.write("package main\n\nconst place = \""+name+"\"\n", name, "place.go")
	}
	f.write("package main\n\nconst place = 7 + \"south\"\n", "south", "place.go") // which does not compile

	args := []string{"4", "--tag", "[director]", "--tag", "[worker]", "--tag", "[worker]", "--tag", "[worker]"}
	for _, folder := range folders {
		args = append(args, "--cwd", folder)
	}
	started := f.start(args...)
	director, north, east, south := started[0].ID, started[1].ID, started[2].ID, started[3].ID
	if names := f.names(); !slices.Equal(names, []string{"alpha", "bravo", "charlie", "delta"}) {
		t.Fatalf("%q", names)
	}

	const build = `"$GO" build -o app . && ./app || echo "it did not bui""ld"`
	if sent := f.each(f.ok("broadcast", "--json", "--tag", "worker", "--", build)); len(sent) != 3 || !sent[0].Sent {
		t.Fatalf("%+v", sent)
	}
	first := f.each(f.ok("wait", "--any", "--to", north+","+east, "--pattern", "built in the", "--timeout", programtest.Hang.String(), "--json"))
	if len(first) != 1 || !first[0].Matched {
		t.Fatalf("%+v", first)
	}
	f.ok("wait", "--all", "--to", north+","+east, "--pattern", "built in the", "--timeout", programtest.Hang.String())
	f.ok("wait", "--to", south, "--pattern", "it did not build", "--timeout", programtest.Hang.String())
	f.ok("wait", "--all", "--idle", "--timeout", programtest.Hang.String())
	for name, want := range map[string]string{north: "built in the north", east: "built in the east", south: "it did not build"} {
		if out := f.ok("read", name, "--lines", "20"); !strings.Contains(out, "\n"+want+"\n") {
			t.Errorf("%s shows\n%s", name, out)
		}
	}

	// One worker is killed with something running in it. It is gone from the list, and so is what
	// ran.
	killed := started[1]
	f.ok("broadcast", "--to", killed.ID, "--", "sleep 1000000.$(true)"+f.mark)
	f.ok("wait", "--to", killed.ID, "--pattern", "sleep")
	was := programtest.Marked(t, f.mark)
	if err := syscall.Kill(killed.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	programtest.Gone(t, map[int]string{killed.PID: was[killed.PID]})
	if names := f.names(); len(names) != 3 || slices.Contains(names, north) {
		t.Errorf("after the kill there are %q", names)
	}
	f.fails(4, "no instance is called "+north+": there are ", "read", north)
	again := f.start("1", "--cwd", folders[1], "--tag", "[worker]")
	if len(again) != 1 || again[0].ID != north || *again[0].Cwd != folders[1] {
		t.Fatalf("%+v", again)
	}

	// The director sees and commands them from its terminal, as an agent in there would.
	f.write("package main\n\nconst place = \"south, at last\"\n", "south", "place.go")
	f.write(`exec "$PW" fleet --root "`+f.root+`" broadcast --tag worker --json --wait --timeout `+programtest.Hang.String()+` -- '"$GO" build -o app . && ./app 2>&1'`+"\n", "director", "all.sh")
	runs := f.each(f.ok("broadcast", "--to", director, "--json", "--wait", "--timeout", programtest.Hang.String(), "--", "sh all.sh > results; cat results | wc -l; PWD= \"$PW\" fleet --root '"+f.root+"' list --json | wc -l"))
	if len(runs) != 1 || runs[0].ExitCode == nil || *runs[0].ExitCode != 0 || !slices.Equal(strings.Fields(runs[0].Output), []string{"3", "4"}) {
		t.Fatalf("%+v", runs)
	}
	results, err := os.ReadFile(filepath.Join(folders[0], "results"))
	if err != nil {
		t.Fatal(err)
	}
	outputs := map[string]string{}
	for _, r := range f.each(string(results)) {
		if r.ExitCode == nil || *r.ExitCode != 0 {
			t.Errorf("%+v", r)
		}
		outputs[r.ID] = strings.TrimSpace(r.Output)
	}
	if outputs[north] != "built in the north" || outputs[east] != "built in the east" || outputs[south] != "built in the south, at last" {
		t.Errorf("%q", outputs)
	}
}

//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFleetFromTheShell goes through the commands as a person would.
func TestFleetFromTheShell(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	if out := f.ok("list"); out != "" {
		t.Errorf("an empty fleet is listed as %q", out)
	}
	app, site := f.folder("app"), f.folder("site")
	table := f.ok("start", "2", "--cwd", app, "--cwd", site, "--tag", "[worker]")
	for _, want := range []string{"NAME", "alpha", "bravo", app, site, "[worker]"} {
		if !strings.Contains(table, want) {
			t.Errorf("start does not tell %s:\n%s", want, table)
		}
	}
	if list := f.ok("list"); list != table {
		t.Errorf("list tells\n%s, start\n%s", list, table)
	}
	f.ok("tag", "bravo", "site's")
	if got := f.record("instances", "bravo.json")["title"]; got != "site's" {
		t.Errorf("title %q", got)
	}

	runs := f.each(f.ok("broadcast", "--json", "--wait", "--", "pwd", "-P"))
	slices.SortFunc(runs, func(a, b told) int { return strings.Compare(a.ID, b.ID) })
	if len(runs) != 2 || runs[0].Output != app || runs[1].Output != site || *runs[0].ExitCode != 0 {
		t.Errorf("%+v", runs)
	}
	out, _, code := f.run("broadcast", "--wait", "--tag", "worker", "--", "echo lost; (exit 7)")
	if want := "== alpha [worker]: exit code 7\nlost\n"; out != want || code != 1 {
		t.Errorf("exit code %d, %q, expected 1, %q", code, out, want)
	}
	if out := f.ok("broadcast", "--to", "bravo", "--", `printf 'pro%s\n' mised`); out != "== bravo site's: sent\n" {
		t.Errorf("%q", out)
	}
	if out := f.ok("wait", "--to", "bravo", "--pattern", "promised"); !strings.HasPrefix(out, "== bravo site's: matched after ") {
		t.Errorf("%q", out)
	}
	if out := f.ok("read", "bravo"); !strings.Contains(out, "\npromised\n") {
		t.Errorf("%q", out)
	}
	f.ok("tag", "bravo")
	if got := f.record("instances", "bravo.json")["title"]; got != nil {
		t.Errorf("title %q", got)
	}
	if out := f.ok("stop", "alpha"); out != "alpha has ended\n" {
		t.Errorf("%q", out)
	}
	if names := f.names(); !slices.Equal(names, []string{"bravo"}) {
		t.Errorf("%q", names)
	}
}

// TestFleetWaits: for a text and for idleness, in any and in all, and with evidence when the time is up.
func TestFleetWaits(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.start("3")
	gates := map[string]func(string){}
	for _, name := range []string{"alpha", "bravo"} {
		var gate string
		gate, gates[name] = fifo(t)
		f.ok("broadcast", "--to", name, "--", "sh -c 'echo wait''ing; read -r l < "+gate+"; echo opened $l'")
	}
	f.ok("wait", "--to", "alpha,bravo", "--pattern", "waiting")

	idle := f.each(f.ok("wait", "--any", "--idle", "--json"))
	if len(idle) != 1 || idle[0].ID != "charlie" || !idle[0].Matched {
		t.Errorf("%+v", idle)
	}
	late := f.each(f.fails(3, "the time is up: idle after 1s in 1 of 3 instances", "wait", "--all", "--idle", "--timeout", "1s", "--json"))
	for _, w := range late {
		screen := strings.Join(w.Screen, "\n")
		if w.Matched != (w.ID == "charlie") || !w.Matched && (!strings.Contains(screen, "\nwaiting") || !strings.Contains(w.Running, "sh")) {
			t.Errorf("%+v", w)
		}
	}
	if len(late) != 3 {
		t.Errorf("%+v", late)
	}
	out := f.fails(3, `the time is up: "opened 1" on the screen after 200ms in 0 of 1 instances`, "wait", "--to", "bravo", "--pattern", "opened 1", "--timeout", "200ms")
	if !strings.Contains(out, "== bravo: not matched after ") || !strings.Contains(out, "\nwaiting\n") {
		t.Errorf("%q", out)
	}

	gates["alpha"]("1")
	gates["bravo"]("1")
	if all := f.each(f.ok("wait", "--all", "--to", "alpha,bravo", "--pattern", "opened 1", "--json")); len(all) != 2 {
		t.Errorf("%+v", all)
	}
	if all := f.each(f.ok("wait", "--idle", "--json")); len(all) != 3 {
		t.Errorf("%+v", all)
	}

	gate, open := fifo(t)
	stuck := f.each(f.fails(3, "the command goes on in 1 of 1 instances", "broadcast", "--to", "alpha", "--wait", "--timeout", "300ms", "--json", "--", "sh -c 'read -r l < "+gate+"; echo after $l'"))
	if len(stuck) != 1 || !stuck[0].TimedOut || stuck[0].ExitCode != nil {
		t.Errorf("%+v", stuck)
	}
	open("all")
	f.ok("wait", "--to", "alpha", "--pattern", "after all")

	// One that fails: all cannot be reached any more, any can.
	f.fails(1, "bravo: ", "wait", "--all", "--to", "bravo", "--session", "9", "--idle")
	f.ok("broadcast", "--to", "bravo", "--", "exit")
	f.fails(1, "bravo: the session has ended", "wait", "--all", "--pattern", "nothing says this", "--timeout", hang.String())
	f.ok("wait", "--any", "--pattern", "opened 1")
}

// TestFleetComplains: what cannot be done, with which exit code, and what to do.
func TestFleetComplains(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.fails(4, "no instance is running: ptywright fleet start", "broadcast", "--", "true")
	f.fails(4, "no instance is called alpha: none is running", "read", "alpha")
	f.fails(1, "no such file or directory", "start", "1", "--cwd", filepath.Join(f.home, "nowhere"))
	f.write("", "file")
	f.fails(1, "it is no folder", "start", "1", "--cwd", filepath.Join(f.home, "file"))
	if left := f.files(); len(left) > 0 {
		t.Errorf("nothing was started, and there is %q", left)
	}
	f.start("2", "--tag", "worker", "--tag", "[boss]")
	for _, c := range []struct {
		code      int
		complaint string
		args      []string
	}{
		{4, "no instance is called delta: there are alpha, bravo", []string{"stop", "alpha", "delta"}},
		{4, "no instance is called charlie, delta: there are", []string{"broadcast", "--to", "charlie,alpha,delta", "--", "true"}},
		{4, `no instance is tagged "nobody": there are alpha, bravo`, []string{"wait", "--tag", "nobody", "--idle"}},
		{4, `no instance is tagged "boss"`, []string{"wait", "--tag", "boss", "--to", "alpha", "--idle"}},
		{1, "alpha: exec.run: Session 5 not found", []string{"broadcast", "--session", "5", "--", "true"}},
		{2, "give 1 to 256", []string{"start", "0"}},
		{2, "give 1 to 256", []string{"start", "many"}},
		{2, "--tag is given 2 times for 3 instances", []string{"start", "3", "--tag", "a", "--tag", "b"}},
		{2, "--pattern TEXT or --idle", []string{"wait"}},
		{2, "--pattern TEXT or --idle", []string{"wait", "--idle", "--pattern", "x"}},
		{2, "--any and --all exclude each other", []string{"wait", "--idle", "--any", "--all"}},
		{2, "--timeout is 0s", []string{"wait", "--idle", "--timeout", "0"}},
		{2, "--timeout is for --wait", []string{"broadcast", "--timeout", "1s", "--", "true"}},
		{2, "requires at least 1 arg", []string{"broadcast"}},
		{2, "their names, or --all", []string{"stop"}},
		{2, "their names, or --all", []string{"stop", "--all", "alpha"}},
		{2, "--lines is 0", []string{"read", "alpha", "--lines", "0"}},
		{2, "unknown flag", []string{"list", "--nope"}},
		{2, "exclude each other", []string{"list", "--root", f.root, "--compat-root"}},
	} {
		f.fails(c.code, c.complaint, c.args...)
	}
	if names := f.names(); !slices.Equal(names, []string{"alpha", "bravo"}) {
		t.Errorf("a command that was refused has ended some: %q", names)
	}
}

// TestFleetRoots: the flag, the variable, and ~/.unterm when it is asked for.
func TestFleetRoots(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.start("1", "--compat-root")
	if _, err := os.Stat(filepath.Join(f.home, ".unterm", "instances", "alpha.json")); err != nil {
		t.Error(err)
	}
	if names := f.names(); len(names) > 0 {
		t.Errorf("$PTYWRIGHT_HOME has %q", names)
	}
	if out := f.ok("list", "--root", ".unterm"); !strings.Contains(out, "alpha") {
		t.Errorf("%q", out)
	}
	f.ok("stop", "--all", "--compat-root")
}

// TestFleetStartIsAllOrNothing: when one instance cannot be started, the error has its last words, and the others end.
func TestFleetStartIsAllOrNothing(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.write("in the way", "root") // where the folder is to be
	f.fails(1, "root", "start", "2")
	if err := os.Remove(f.root); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(f.root, 0o700); err != nil {
		t.Fatal(err)
	}
	f.write("in the way", "root", "instances")
	f.fails(1, fmt.Sprintf("start an instance in %s: it ended at once (exit status 1): ", f.home), "start", "2")
	if log, err := os.ReadFile(filepath.Join(f.root, "logs", "failed.log")); err != nil || !strings.Contains(string(log), "instances") {
		t.Errorf("%q, %v", log, err)
	}
	noneLeft(t, f.mark)
	if err := os.RemoveAll(f.root); err != nil {
		t.Fatal(err)
	}
}

//go:build unix

package fleet_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/programtest"
)

// ages are what a table has in its column STARTED, and its heading.
var ages = regexp.MustCompile(` +(STARTED|now|\d+[smh] ago) +`)

// TestFleetFromTheShell goes through the commands as a person would.
func TestFleetFromTheShell(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	if out := f.fails(0, "no instance is running under "+f.root, "list"); out != "" {
		t.Errorf("an empty fleet is listed as %q", out)
	}
	app, site := f.folder("app"), f.folder("site")
	table := f.ok("start", "2", "--cwd", app, "--cwd", site, "--tag", "[worker]")
	for _, want := range []string{"NAME", "alpha", "bravo", app, site, "[worker]"} {
		if !strings.Contains(table, want) {
			t.Errorf("start does not tell %s:\n%s", want, table)
		}
	}
	list := f.ok("list")
	sorted := func(table string) []string { // without ages: time passes between the two
		return slices.Sorted(strings.Lines(ages.ReplaceAllString(table, " ")))
	}
	if !slices.Equal(sorted(list), sorted(table)) {
		t.Errorf("list tells\n%s, start\n%s", list, table)
	}
	folders := map[string]string{} // by name: who comes first has the first name
	for _, i := range f.each(f.ok("list", "--json")) {
		folders[i.ID] = *i.Cwd
	}
	f.ok("tag", "bravo", "site's")
	if got := f.record("instances", "bravo.json")["title"]; got != "site's" {
		t.Errorf("title %q", got)
	}

	runs := f.each(f.ok("broadcast", "--json", "--wait", "--", "pwd", "-P"))
	slices.SortFunc(runs, func(a, b told) int { return strings.Compare(a.ID, b.ID) })
	if len(runs) != 2 || runs[0].Output != folders["alpha"]+"\n" || runs[1].Output != folders["bravo"]+"\n" || folders["alpha"] == folders["bravo"] || *runs[0].ExitCode != 0 {
		t.Errorf("%+v", runs)
	}
	out, _, code := f.run("broadcast", "--wait", "--tag", "worker", "--", "echo lost; (exit 7)")
	if want := "== alpha [worker]: exit code 7\nlost\n"; out != want || code != 1 {
		t.Errorf("exit code %d, %q, expected 1, %q", code, out, want)
	}
	f.ok("wait", "--to", "bravo", "--idle") // what is typed before the prompt is echoed before it, too
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

// TestFleetWaits: for a text and for idleness, in any and in all, and with evidence on a timeout.
func TestFleetWaits(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.start("3")
	for _, name := range []string{"alpha", "bravo"} {
		f.ok("broadcast", "--to", name, "--", "echo wait''ing; cat "+f.gate(name))
	}
	f.ok("wait", "--to", "alpha,bravo", "--pattern", "waiting")

	idle := f.each(f.ok("wait", "--any", "--idle", "--json"))
	if len(idle) != 1 || idle[0].ID != "charlie" || !idle[0].Matched {
		t.Errorf("%+v", idle)
	}
	late := f.each(f.fails(3, "timed out: idle after 1s in 1 of 3 instances", "wait", "--all", "--idle", "--timeout", "1s", "--json"))
	for _, w := range late {
		screen := strings.Join(w.Screen, "\n")
		if w.Matched != (w.ID == "charlie") || !w.Matched && (!strings.Contains(screen, "\nwaiting") || filepath.Base(w.Running) != "cat") {
			t.Errorf("%+v", w)
		}
	}
	if len(late) != 3 {
		t.Errorf("%+v", late)
	}
	out := f.fails(3, `timed out: "opened 1" on the screen after 200ms in 0 of 1 instances`, "wait", "--to", "bravo", "--pattern", "opened 1", "--timeout", "200ms")
	if !strings.Contains(out, "== bravo: not matched after ") || !strings.Contains(out, "\nwaiting\n") {
		t.Errorf("%q", out)
	}

	f.open("alpha", "opened 1")
	f.open("bravo", "opened 1")
	if all := f.each(f.ok("wait", "--all", "--to", "alpha,bravo", "--pattern", "opened 1", "--json")); len(all) != 2 {
		t.Errorf("%+v", all)
	}
	if all := f.each(f.ok("wait", "--idle", "--json")); len(all) != 3 {
		t.Errorf("%+v", all)
	}

	stuck := f.each(f.fails(3, "the command has not ended in 1 of 1 instances", "broadcast", "--to", "alpha", "--wait", "--timeout", "300ms", "--json", "--", "cat "+f.gate("stuck")))
	if len(stuck) != 1 || !stuck[0].TimedOut || stuck[0].ExitCode != nil {
		t.Errorf("%+v", stuck)
	}
	f.open("stuck", "after all")
	f.ok("wait", "--to", "alpha", "--pattern", "after all")

	// One that fails: all cannot be reached any more, any can.
	f.fails(1, "bravo: there is no session 9", "wait", "--all", "--to", "bravo", "--session", "9", "--idle")
	f.ok("broadcast", "--to", "bravo", "--", "exit")
	f.fails(1, "bravo: session 0 has ended", "wait", "--all", "--pattern", "nothing says this", "--timeout", programtest.Hang.String())
	f.ok("wait", "--any", "--pattern", "opened 1")
}

// TestFleetIdleIsAShellAtItsPrompt: typed before the shell has come up, as a script of a shell, and
// with a shell in the shell.
func TestFleetIdleIsAShellAtItsPrompt(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"sh", "bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			programtest.Need(t, shell, shell)
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Fatal(err)
			}
			f := newFleet(t)
			f.env = append(f.env, "SHELL="+path)
			f.write("#!/bin/sh\ncat "+f.gate("gate")+"\n", "script")
			if err := os.Chmod(filepath.Join(f.home, "script"), 0o700); err != nil {
				t.Fatal(err)
			}
			f.start("1")
			for _, command := range []string{"./script", "sh script"} {
				f.ok("broadcast", "--", command)
				f.fails(3, "idle after 500ms in 0 of 1 instances", "wait", "--idle", "--timeout", "500ms")
				f.open("gate", "through "+command)
				f.ok("wait", "--pattern", "through "+command)
				f.ok("wait", "--idle", "--timeout", programtest.Hang.String())
			}
			if shell == "bash" {
				f.ok("broadcast", "--", "bash --norc")
				f.ok("wait", "--idle", "--timeout", programtest.Hang.String())
			}
			if out := f.ok("broadcast", "--wait", "--timeout", programtest.Hang.String(), "--", "echo done"); out != "== alpha: exit code 0\ndone\n" {
				t.Errorf("%q", out)
			}
		})
	}
}

// TestFleetComplains: what cannot be done, with which exit code, and what to do.
func TestFleetComplains(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.fails(4, "no instance is running under "+f.root+": ptywright fleet start", "broadcast", "--", "true")
	f.fails(4, "no instance is called alpha: none is running", "read", "alpha")
	f.fails(1, "no such file or directory", "start", "1", "--cwd", filepath.Join(f.home, "nowhere"))
	f.write("", "file")
	f.fails(1, "it is not a folder", "start", "1", "--cwd", filepath.Join(f.home, "file"))
	if left := f.files(); len(left) > 0 {
		t.Errorf("nothing was started, and there is %q", left)
	}
	all := f.start("2", "--tag", "worker", "--tag", "[boss]")
	for _, c := range []struct {
		code      int
		complaint string
		args      []string
	}{
		{4, "no instance is called delta: there are alpha, bravo", []string{"stop", "alpha", "delta"}},
		{4, "no instance is called charlie, delta: there are", []string{"broadcast", "--to", "charlie,alpha,delta", "--", "true"}},
		{4, `no instance is tagged "nobody": there are alpha `, []string{"wait", "--tag", "nobody", "--idle"}},
		{4, `no instance is tagged "boss": there are ` + all[0].ID + " worker\n", []string{"wait", "--tag", "boss", "--to", all[0].ID, "--idle"}},
		{1, "alpha: there is no session 5: 'ptywright fleet sessions alpha' lists those that run, 'ptywright fleet open alpha' begins one", []string{"broadcast", "--session", "5", "--", "true"}},
		{2, "give 1 to 256", []string{"start", "0"}},
		{2, "give 1 to 256", []string{"start", "many"}},
		{2, "--tag is given 2 times for 3 instances", []string{"start", "3", "--tag", "a", "--tag", "b"}},
		{2, "--pattern TEXT or --idle", []string{"wait"}},
		{2, "--pattern and --idle exclude each other", []string{"wait", "--idle", "--pattern", "x"}},
		{2, "--to names no instance", []string{"broadcast", "--to", "", "--", "true"}},
		{2, "--to names no instance", []string{"broadcast", "--to", " ,", "--", "true"}},
		{2, "--tag is empty", []string{"wait", "--tag", "", "--idle"}},
		{1, "look for instances under --root: stat typo: no such file", []string{"list", "--root", "typo"}},
		{1, "look for instances under --root: stat typo: no such file", []string{"stop", "--all", "--root", "typo"}},
		{0, "no instance is running under " + f.home, []string{"list", "--root", "."}},
		{2, "--timeout is 0s", []string{"start", "1", "--timeout", "0"}},
		{2, "--timeout is -1s", []string{"stop", "--all", "--timeout", "-1s"}},
		{2, "give NAME: ptywright fleet open [flags] NAME", []string{"open"}},
		{4, "no instance is called delta: there are alpha, bravo", []string{"open", "delta"}},
		{4, "no instance is called delta: there are alpha, bravo", []string{"sessions", "delta"}},
		{2, "--any and --all exclude each other", []string{"wait", "--idle", "--any", "--all"}},
		{2, "--timeout is 0s", []string{"wait", "--idle", "--timeout", "0"}},
		{2, "--timeout is for --wait", []string{"broadcast", "--timeout", "1s", "--", "true"}},
		{2, "give COMMAND: ", []string{"broadcast"}},
		{2, "their names, or --all", []string{"stop"}},
		{2, "their names, or --all", []string{"stop", "--all", "alpha"}},
		{2, "--lines is 0", []string{"read", "alpha", "--lines", "0"}},
		{2, "fleet list has no flag --nope", []string{"list", "--nope"}},
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

// TestFleetStartIsAllOrNothing: when one instance cannot be started, the error has its last words,
// and the others end.
func TestFleetStartIsAllOrNothing(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.write("in the way", "root")
	f.fails(5, "root is a file", "start", "2")
	if err := os.Remove(f.root); err != nil {
		t.Fatal(err)
	}
	f.start("1")
	f.fails(1, "the title is too long", "start", "2", "--tag", "short", "--tag", strings.Repeat("long", 1000))
	if names := f.names(); !slices.Equal(names, []string{"alpha"}) {
		t.Errorf("%q", names)
	}
	f.ok("stop", "alpha")
	programtest.NoneLeft(t, f.mark)

	f.env = append(f.env, "SHELL=/no/such/shell")
	f.fails(1, "start an instance in "+f.home+": it ended at once (exit status 1); it said last: ", "start", "2")
	failed := filepath.Join(f.root, "logs", "failed.log")
	if log, err := os.ReadFile(failed); err != nil || !strings.Contains(string(log), "/no/such/shell") {
		t.Errorf("%q, %v", log, err)
	}
	if err := os.Remove(failed); err != nil {
		t.Fatal(err)
	}
}

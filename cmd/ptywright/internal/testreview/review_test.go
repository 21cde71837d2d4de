package testreview

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/spf13/cobra"
)

// shown writes down what a program of 4 rows and 20 columns has shown.
func shown(t testing.TB, output string) *golden.File {
	t.Helper()
	term := vt.New(4, 20, vt.Options{})
	term.Feed([]byte(output))
	f, err := golden.Of(term.Snapshot(), golden.Options{Parts: golden.All})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// run runs a command line in the current folder, and returns what it printed, its complaints and its
// exit code.
func run(t testing.TB, args ...string) (out, complaints string, code int) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var told bytes.Buffer
	std := cli.Stdio{In: os.Stdin, Out: &cli.Output{File: f}, Err: &told}
	root := &cobra.Command{Use: "test", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(Commands(std)...)
	cli.Wire(root)
	code = cli.Run(context.Background(), root, args, std)
	return read(t, f.Name()), told.String(), code
}

const steps = "# a script\nsize 4x20\nspawn app\nscreen main\nscreen other\n"

// folder makes a folder with all that can await a review, and goes there.
func folder(t *testing.T) (old, now *golden.File) {
	old, now = shown(t, "\x1b[31mred\x1b[m text"), shown(t, "\x1b[32mred\x1b[m text")
	t.Chdir(t.TempDir())
	write(t, "testdata/TestA/changed.screen", old.String())
	write(t, "testdata/TestA/changed.screen.new", now.String())
	write(t, "testdata/TestA/fresh.screen.new", now.String())
	write(t, "testdata/TestB/conflict.screen", "screen 1\n<<<<<<< ours\nsize 4x20\n=======\nsize 5x20\n>>>>>>> theirs\n")
	write(t, "testdata/TestB/conflict.screen.new", now.String())
	write(t, "testdata/TestB/broken.screen", old.String())
	write(t, "testdata/TestB/broken.screen.new", "no screen")
	write(t, "testdata/TestB/same.screen", old.String())
	write(t, "testdata/TestB/same.screen.new", old.String())
	write(t, ".git/x.screen.new", now.String())
	script := steps + "-- a file --\nits text\n-- screen/main --\n" + old.String() + "-- screen/other --\n" + old.String()
	write(t, "app.ptw", script)
	write(t, "app.ptw.new", strings.Replace(script, "-- screen/main --\n"+old.String(), "-- screen/main --\n"+now.String(), 1)+
		"-- screen/third --\n"+now.String())
	return old, now
}

// TestFind finds what is to be decided about, and says what it is.
func TestFind(t *testing.T) {
	folder(t)
	items, err := Find([]string{"."})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, i := range items {
		got[i.Name] = string(i.State) + ": " + i.What()
	}
	for name, want := range map[string]string{
		"app.ptw:screen/main":            "changed: 3 cells differ",
		"app.ptw:screen/third":           "new: new",
		"testdata/TestA/changed.screen":  "changed: 3 cells differ",
		"testdata/TestA/fresh.screen":    "new: new",
		"testdata/TestB/conflict.screen": "conflict: testdata/TestB/conflict.screen: line 2: a merge conflict",
		"testdata/TestB/broken.screen":   "unreadable: testdata/TestB/broken.screen.new: line 1: not a golden screen",
	} {
		if !strings.HasPrefix(got[name], want) {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("also found: %v", got)
	}
}

// TestAConflictInAScript is told with the line of the script.
func TestAConflictInAScript(t *testing.T) {
	_, now := folder(t)
	write(t, "app.ptw", steps+"-- screen/main --\nscreen 1\n<<<<<<< ours\n")
	write(t, "app.ptw.new", steps+"-- screen/main --\n"+now.String())
	items, err := Find([]string{"app.ptw.new"})
	if err != nil || len(items) != 1 || items[0].State != Conflict ||
		!strings.Contains(items[0].What(), "app.ptw: line 8: a merge conflict") {
		t.Fatalf("%v: %+v", err, items)
	}
	if out, _, code := run(t, "accept", "main"); code != 0 || out != "accepted app.ptw:screen/main\n" {
		t.Errorf("exit %d: %s", code, out)
	}
	if got := read(t, "app.ptw"); got != steps+"-- screen/main --\n"+now.String() {
		t.Errorf("%s", got)
	}
}

// TestNames: what a person would type finds an item, or the error lists what it may mean.
func TestNames(t *testing.T) {
	folder(t)
	items, err := Find([]string{"."})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"testdata/TestA/changed.screen":       "testdata/TestA/changed.screen",
		"testdata/TestA/changed.screen.new":   "testdata/TestA/changed.screen",
		"./testdata/TestA/changed.screen.new": "testdata/TestA/changed.screen",
		"changed":                             "testdata/TestA/changed.screen",
		"TestA/changed":                       "testdata/TestA/changed.screen",
		"main":                                "app.ptw:screen/main",
		"screen/main":                         "app.ptw:screen/main",
		"app.ptw:screen/main":                 "app.ptw:screen/main",
		"app.ptw":                             "app.ptw:screen/main app.ptw:screen/third",
		"testdata/TestA":                      "testdata/TestA/changed.screen testdata/TestA/fresh.screen",
		"nothing":                             "",
		"ain":                                 "",
	} {
		some, err := Named(items, name)
		var names []string
		for _, i := range some {
			names = append(names, i.Name)
		}
		if got := strings.Join(names, " "); got != want || (err == nil) != (want != "") {
			t.Errorf("%q means %q, %v", name, got, err)
		}
	}
	write(t, "more/testdata/TestA/changed.screen.new", shown(t, "x").String())
	if items, err = Find([]string{"."}); err != nil {
		t.Fatal(err)
	}
	var many *NameError
	if _, err := Named(items, "changed"); !errors.As(err, &many) || !many.Many || len(many.Names) != 2 {
		t.Errorf("a name of two: %v", err)
	}
}

// TestAcceptAndReject change what they name, and nothing else.
func TestAcceptAndReject(t *testing.T) {
	old, now := folder(t)
	before := read(t, "app.ptw")
	if out, told, code := run(t, "accept", "changed", "no-such"); code != 2 || out != "" || !strings.Contains(told, `"no-such" names no golden screen`) {
		t.Errorf("exit %d: %q %q", code, out, told)
	}
	if got := read(t, "testdata/TestA/changed.screen"); got != old.String() {
		t.Error("it was accepted although another name was wrong")
	}
	for _, c := range []struct{ args, out string }{
		{"accept changed fresh", "accepted testdata/TestA/changed.screen\naccepted testdata/TestA/fresh.screen\n"},
		{"accept main", "accepted app.ptw:screen/main\n"},
		{"reject --json third", `{"name":"app.ptw:screen/third","did":"rejected"}` + "\n"},
		{"reject broken", "rejected testdata/TestB/broken.screen\n"},
		{"accept --all", "accepted testdata/TestB/conflict.screen\n"},
	} {
		if out, told, code := run(t, strings.Fields(c.args)...); code != 0 || out != c.out {
			t.Errorf("%s: exit %d: %q %q", c.args, code, out, told)
		}
	}
	for path, want := range map[string]string{
		"testdata/TestA/changed.screen": now.String(), "testdata/TestA/fresh.screen": now.String(),
		"testdata/TestB/conflict.screen": now.String(), "testdata/TestB/broken.screen": old.String(),
		"app.ptw": strings.Replace(before, "-- screen/main --\n"+old.String(), "-- screen/main --\n"+now.String(), 1),
	} {
		if got := read(t, path); got != want {
			t.Errorf("%s:\n%s", path, got)
		}
	}
	left, err := filepath.Glob("testdata/*/*.new")
	scripts, err2 := filepath.Glob("*.new")
	if left = append(left, scripts...); err != nil || err2 != nil || len(left) != 1 { // same.screen.new: nothing to decide
		t.Errorf("left: %v", left)
	}
	if out, _, code := run(t, "review"); code != 0 || out != "nothing to review\n" {
		t.Errorf("exit %d: %s", code, out)
	}
}

// TestReviewOfAFile: a script or a golden means what was left beside it, as it does for accept; another
// file is refused.
func TestReviewOfAFile(t *testing.T) {
	folder(t)
	write(t, "new.ptw.new", read(t, "app.ptw.new"))
	for path, want := range map[string][]string{
		"app.ptw":                              {"app.ptw:screen/main", "app.ptw:screen/third"},
		"app.ptw.new":                          {"app.ptw:screen/main", "app.ptw:screen/third"},
		"./app.ptw app.ptw.new .":              {"app.ptw:screen/main", "app.ptw:screen/third"},
		"new.ptw":                              {"new.ptw:screen/main"},
		"testdata/TestA/changed.screen":        {"testdata/TestA/changed.screen"},
		"testdata/TestA/fresh.screen":          {"testdata/TestA/fresh.screen"},
		"testdata/TestB/broken.screen.new":     {"testdata/TestB/broken.screen"},
		"testdata/TestB/same.screen":           nil,
		"app.ptw testdata/TestA/fresh.screen ": {"app.ptw:screen/main", "testdata/TestA/fresh.screen"},
	} {
		out, told, code := run(t, append([]string{"review", "--json"}, strings.Fields(path)...)...)
		if code != 0 {
			t.Errorf("%s: exit %d: %s", path, code, told)
		}
		for _, name := range want {
			if n := strings.Count(out, `"name":"`+name+`"`) + strings.Count(out, `"name":"./`+name+`"`); n != 1 {
				t.Errorf("%s: %s is there %d times: %s", path, name, n, out)
			}
		}
		if len(want) == 0 && out != "" {
			t.Errorf("%s: %s", path, out)
		}
	}
	write(t, "notes.txt", "no golden")
	for _, path := range []string{"notes.txt", "gone.ptw", "gone"} {
		out, told, code := run(t, "review", path)
		if code == 0 || out != "" || !strings.Contains(told, path) {
			t.Errorf("%s: exit %d: %q %q", path, code, out, told)
		}
	}
	if _, told, code := run(t, "review", "notes.txt"); code != 2 || !strings.Contains(told, "give a script (.ptw)") {
		t.Errorf("exit %d: %q", code, told)
	}
}

// TestAnUnreadableOneIsNotAccepted, and says why.
func TestAnUnreadableOneIsNotAccepted(t *testing.T) {
	folder(t)
	if _, told, code := run(t, "accept", "broken"); code != 1 || !strings.Contains(told, "cannot be accepted: testdata/TestB/broken.screen.new: line 1") {
		t.Errorf("exit %d: %s", code, told)
	}
	for _, args := range [][]string{{"accept"}, {"accept", "--all", "main"}, {"review", "--unreferenced", "burn"}} {
		if _, told, code := run(t, args...); code != 2 {
			t.Errorf("%v: exit %d: %s", args, code, told)
		}
	}
}

// TestList lists for people and programs what cannot be shown.
func TestList(t *testing.T) {
	folder(t)
	out, _, code := run(t, "review")
	for _, want := range []string{"testdata/TestA/changed.screen: 3 cells differ\n", "  row 0, columns 0 to 2: fg=green, not fg=red\n",
		"app.ptw:screen/third: new\n  screen 1\n", "6 screens to review: ptywright test accept NAME"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit %d: no %q in\n%s", code, want, out)
		}
	}
	out, _, code = run(t, "review", "--json", "testdata/TestA")
	var first entry
	lines := strings.SplitAfter(out, "\n")
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil || code != 0 || len(lines) != 3 {
		t.Fatalf("exit %d, %v: %s", code, err, out)
	}
	if first.State != Changed || first.Cells != 3 || !strings.Contains(first.Diff, "@@") || first.Seen == first.Expected {
		t.Errorf("%+v", first)
	}
}

// TestUnreferenced finds goldens without a test, rejects or deletes them, and judges nothing else.
func TestUnreferenced(t *testing.T) {
	old, _ := folder(t)
	write(t, "a_test.go", "package a\n\nfunc TestA(t *testing.T) {}\n")
	write(t, "testdata/TestGone/sub/x.screen", old.String())
	write(t, "testdata/cases/x.screen", old.String())
	write(t, "python/testdata/TestGone/x.screen", old.String())
	write(t, "two.ptw", "size 4x20\nspawn app\n[linux] screen 'main' text\n-- screen/main@4x20 --\n"+old.String()+"-- screen/gone --\n"+old.String())
	want := []string{"testdata/TestB/broken.screen", "testdata/TestB/conflict.screen", "testdata/TestB/same.screen", "testdata/TestGone/sub/x.screen", "two.ptw:screen/gone"}
	strays, err := Unreferenced([]string{"."})
	var names []string
	for _, s := range strays {
		names = append(names, s.Name)
	}
	if err != nil || !slices.Equal(names, want) {
		t.Errorf("%v, %v", names, err)
	}
	out, _, code := run(t, "review", "--unreferenced", "reject", "two.ptw")
	if code != 1 || out != "unreferenced two.ptw:screen/gone: no step at any size says screen gone\n" {
		t.Errorf("exit %d: %s", code, out)
	}
	if _, _, code := run(t, "review", "--unreferenced", "list"); code != 0 {
		t.Errorf("exit %d", code)
	}
	if out, told, code := run(t, "review", "--unreferenced", "delete"); code != 0 || strings.Count(out, "deleted ") != len(want) {
		t.Errorf("exit %d: %s%s", code, out, told)
	}
	if got := read(t, "two.ptw"); got != "size 4x20\nspawn app\n[linux] screen 'main' text\n-- screen/main@4x20 --\n"+old.String() {
		t.Errorf("%s", got)
	}
	if _, err := os.Stat("testdata/TestGone/sub/x.screen"); err == nil {
		t.Error("it is still there")
	}
	if out, _, code := run(t, "review", "--unreferenced", "reject"); code != 0 || out != "" {
		t.Errorf("exit %d: %s", code, out)
	}
}

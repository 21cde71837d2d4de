//go:build unix

package script_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/tuitest/script"
)

// spinning is a program that never stops drawing a spinner.
const spinning = `size 4x20
spawn sh -c 'echo head; while :; do for c in a b c d; do printf "\r%s busy" $c; sleep 0.02; done; done'
expect 'busy'
`

// TestFirstGoldenOfSpinner: a first golden screen is written once what no mask covers is still; without
// a mask the failure names the cells that keep changing.
func TestFirstGoldenOfSpinner(t *testing.T) {
	t.Parallel()
	s := parse(t, spinning+"mask spinner /^([a-d]) busy/\nscreen main within 20s\n")
	r, g := play(t, s, script.Options{Update: golden.UpdateMissing})
	if r.Outcome != script.Passed || len(g.Write) != 1 {
		t.Fatalf("%s, wrote %d: %v", r.Outcome, len(g.Write), failure(t, r))
	}
	if text := g.Write[0].File.String(); !strings.Contains(text, "|« busy") {
		t.Errorf("%s", text)
	}
	r, g = play(t, parse(t, spinning+"screen main within 1s\n"), script.Options{Update: golden.UpdateMissing})
	f := failure(t, r)
	if len(g.Write) != 0 || !strings.Contains(f.Why, "the screen has not been still for 250ms") ||
		!strings.Contains(f.Why, "what keeps changing: row 1 column 0") || !strings.HasPrefix(f.Next, "mask ") {
		t.Errorf("%+v", f)
	}
	if strings.Contains(f.Evidence, "min_ms") {
		t.Errorf("%s", f.Evidence)
	}
}

// TestRestless: what keeps a first golden screen from being written is named, be it the cursor or a mask
// that covers nothing.
func TestRestless(t *testing.T) {
	t.Parallel()
	const moving = `size 3x20
spawn sh -c 'echo head; while :; do for c in 1 2 3; do printf "\033[3;${c}H"; sleep 0.02; done; done'
expect 'head'
`
	for text, want := range map[string]string{
		moving + "screen main within 1s\n":                               "what keeps changing: the cursor",
		spinning + "mask clock /\\d\\d:\\d\\d/\nscreen main within 1s\n": "mask clock /\\d\\d:\\d\\d/ covers nothing",
	} {
		r, _ := play(t, parse(t, text), script.Options{Update: golden.UpdateMissing})
		if f := failure(t, r); f.Reason != "timeout" || !strings.Contains(f.Why, want) {
			t.Errorf("%+v, want %s", f, want)
		}
	}
	r, _ := play(t, parse(t, moving+"screen main no-cursor within 20s\n"), script.Options{Update: golden.UpdateMissing})
	if r.Outcome != script.Passed {
		t.Errorf("%v", failure(t, r))
	}
}

// TestNothingTested: a script that starts nothing does not pass.
func TestNothingTested(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "# nothing\n", "size 5x20\nenv A=b\n", "[!unix] spawn true\n"} {
		r, _ := play(t, parse(t, text), script.Options{})
		if r.Outcome != script.Failed || !strings.Contains(failure(t, r).Why, "nothing was tested") {
			t.Errorf("%q: %s %+v", text, r.Outcome, r.Failure)
		}
	}
}

// TestOneNameTwice: of two steps with one name the second compares with what the first wrote, whatever
// is to be updated, and says which step it is at odds with.
func TestOneNameTwice(t *testing.T) {
	t.Parallel()
	const text = `size 3x20
spawn sh -c 'stty -echo; echo one; read -r _; echo two; read -r _'
expect 'one'
screen main
press enter
wait 'two'
screen main within 1s
`
	for _, update := range []golden.Update{golden.UpdateMissing, golden.UpdateChanged, golden.UpdateAll} {
		r, g := play(t, parse(t, text), script.Options{Update: update})
		if f := failure(t, r); f.Reason != "differs" || !strings.Contains(f.Next, "the step in line 4 compared with screen/main, too") {
			t.Errorf("%s: %+v", update, f)
		}
		if len(g.Write) != 1 || len(g.Pending) != 0 {
			t.Errorf("%s: %d to write, %d pending", update, len(g.Write), len(g.Pending))
		}
	}
}

// TestAnotherSize: a golden screen is not written anew when the script gets a second size.
func TestAnotherSize(t *testing.T) {
	t.Parallel()
	const program = "spawn sh -c 'echo one; read -r _'\nscreen main within 1s\n"
	const section = "-- screen/main --\nscreen 1\nsize 3x20\n--\n|"
	r, g := play(t, parse(t, "size 3x20 3x30\n"+program+section+"one\n|\n|\n"), script.Options{Update: golden.UpdateMissing})
	if r.Outcome != script.Passed || len(g.Write) != 0 {
		t.Errorf("%s, %d to write", r.Outcome, len(g.Write))
	}
	r, g = play(t, parse(t, "size 3x20 3x30\n"+program+section+"two\n|\n|\n"), script.Options{Update: golden.UpdateMissing})
	if f := failure(t, r); f.Reason != "differs" || f.Golden.Section != "screen/main" || len(g.Write) != 0 {
		t.Errorf("%+v", f)
	}
}

// TestNoSuchProgram: a program that is not there is told with where it was looked for, and where it
// stands.
func TestNoSuchProgram(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, why, next string }{
		{"spawn ./app\n-- x --\n", "counts from ~/files", "write $SCRIPT_DIR/app"},
		{"exec ./app\n-- x --\n", "counts from ~/files", "write $SCRIPT_DIR/app"},
		{"spawn app\n", "app", "write ./app"},
		{"spawn ./app\n", "counts from the script's folder", "chmod +x"},
		{"spawn ./other\n", "counts from the script's folder", "correct the path"},
		{"spawn no-such-program\n", "no-such-program", "[!exec:no-such-program] skip"},
	} {
		s := parse(t, c.text)
		if err := os.WriteFile(filepath.Join(filepath.Dir(s.Path), "app"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		r, _ := play(t, s, script.Options{})
		if f := failure(t, r); !strings.Contains(f.Why, c.why) || !strings.Contains(f.Next, c.next) {
			t.Errorf("%q: %+v", c.text, f)
		}
	}
}

// TestWhatDiffers: a failure names what differs besides the cells.
func TestWhatDiffers(t *testing.T) {
	t.Parallel()
	s := parse(t, "size 2x10\nspawn sh -c 'stty -echo; printf one; read -r _'\nscreen main within 1s\n"+
		"-- screen/main --\nscreen 1\nsize 2x10\ntitle \"mine\"\ncursor 1,0\n--\n|one\n|\n")
	r, _ := play(t, s, script.Options{})
	if f := failure(t, r); !strings.Contains(f.Why, `differs: title none, not "mine"; cursor 0,3, not 1,0 in the nearest`) {
		t.Errorf("%+v", f)
	}
}

// TestNotes: what was probably not meant is told.
func TestNotes(t *testing.T) {
	t.Parallel()
	r := passes(t, "size 80x24\nspawn echo hi && sleep 2 '&&'\nexit 0\nexec echo 'a | b'\nexec echo a | b\n")
	for i, want := range []string{"did you mean 24x80?", "&& is an argument of the program", "", "", "| is an argument"} {
		if got := r.Steps[i].Note; !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("step %d: %q, want %q", i, got, want)
		}
	}
}

// TestTwoPlaces: a click that means several places says how to mean one.
func TestTwoPlaces(t *testing.T) {
	t.Parallel()
	r, _ := play(t, parse(t, "spawn sh -c 'echo ok ok; read -r _'\nclick 'ok' within 300ms\n"), script.Options{})
	if f := failure(t, r); !strings.Contains(f.Why, "timed out after 300ms: found 2 places") ||
		!strings.Contains(f.Next, "nth 1 'ok'") {
		t.Errorf("%+v", f)
	}
}

// TestSlowToDraw: what a program shows before it has drawn anything is not written down; what never
// draws fails and says so, and one that ends has drawn all it will.
func TestSlowToDraw(t *testing.T) {
	t.Parallel()
	for program, want := range map[string]string{"sleep 0.7; printf drawn; read -r _": "|drawn\n", "exit": "\n|\n"} {
		s := parse(t, "size 2x9\nspawn sh -c '"+program+"'\nscreen main\n")
		r, g := play(t, s, script.Options{Update: golden.UpdateMissing})
		if r.Outcome != script.Passed || len(g.Write) != 1 || !strings.Contains(g.Write[0].File.String(), want) {
			t.Errorf("%s: %s %v", program, r.Outcome, g.Write)
		}
	}
	s := parse(t, "spawn sh -c 'read -r _'\nscreen main within 400ms\n")
	r, _ := play(t, s, script.Options{Update: golden.UpdateMissing})
	if f := failure(t, r); !strings.Contains(f.Evidence, "the program has not shown anything yet") {
		t.Errorf("%+v", f)
	}
}

// TestTooMuch: a place that a screen offers too often to look at all of it fails at once, whatever
// is asked of it, and says what to do.
func TestTooMuch(t *testing.T) {
	t.Parallel()
	const full = "spawn sh -c 'head -c 1840 /dev/zero | tr \"\\0\" a; echo; echo ready; read -r _'\nwait 'ready'\n"
	for _, step := range []string{"expect 'a' right_of 'a'", "! expect 'a' right_of 'a'",
		"wait 'a' right_of 'a'", "click 'a' right_of 'a'", "scroll down at 'a' right_of 'a'"} {
		r, _ := play(t, parse(t, full+step+" within 10m\n"), script.Options{})
		f := failure(t, r)
		if !strings.Contains(f.Why, "too many candidates") || strings.Contains(f.Why, "timed out") ||
			!strings.Contains(f.Next, "in box") {
			t.Errorf("%s: %+v", step, f)
		}
	}
}

// TestCachesOfBuilds: builds find the caches of the user who runs the script, as far as these exist; what
// the script sets counts.
func TestCachesOfBuilds(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{".cache/go-build", ".cache/pip", "own/pkg/mod", ".config/go"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{"HOME": home, "XDG_CACHE_HOME": filepath.Join(home, ".cache"),
		"XDG_CONFIG_HOME": filepath.Join(home, ".config"), "GOENV": filepath.Join(home, ".config/go/env"),
		"GOCACHE": filepath.Join(home, ".cache/go-build"), "GOPATH": "", "GOMODCACHE": "", "npm_config_cache": "",
		"PIP_CACHE_DIR": filepath.Join(home, ".cache/pip")} {
		t.Setenv(name, value)
	}
	if err := os.WriteFile(filepath.Join(home, ".config/go/env"), []byte("GOPATH="+home+"/own\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	passes(t, `exec sh -c 'test "$GOCACHE" = `+home+`/.cache/go-build'
exec sh -c 'test "$GOMODCACHE" = `+home+`/own/pkg/mod'
exec sh -c 'test "$PIP_CACHE_DIR" = `+home+`/.cache/pip'
exec sh -c 'test -z "$npm_config_cache$CARGO_HOME" && test "$HOME" != `+home+`'
env GOCACHE=/elsewhere
exec sh -c 'test "$GOCACHE" = /elsewhere'
`)
}

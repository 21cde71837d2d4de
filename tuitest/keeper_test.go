//go:build unix

package tuitest_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/tuitest"
)

// update is the flag of a package's own that ExpectScreen looks for.
var update = flag.Bool("update", false, "as the packages of users have it; see TestKeeper")

// keeping is sdk/goldens.json: what each keeper of golden screens has to do.
type keeping struct {
	Paths []struct{ Dir, Test, Name, Path string }
	// Updates say what is written.
	Updates []struct {
		Variable, CI  string
		Flag          bool
		Update, Error string
	}
	Steps []struct {
		Update golden.Update
		Exists bool
		Step   golden.Step
	}
	Cases []keepingCase
}

type keepingCase struct {
	Case, CI, Variable string
	Flag               bool
	Env                map[string]string
	Before, After      map[string][]string
	Options            struct {
		TextOnly bool `json:"text_only"`
		Region   []int
		Mask     map[string]string
		Masks    []string
	}
	Output string
	// Patient: the comparison is given no time of its own.
	Patient bool
	Passes  bool
	Says    []string
}

func readKeeping(t *testing.T) keeping {
	t.Helper()
	text, err := os.ReadFile("../sdk/goldens.json")
	if err != nil {
		t.Fatal(err)
	}
	var k keeping
	if err := json.Unmarshal(text, &k); err != nil {
		t.Fatal(err)
	}
	if len(k.Paths) < 5 || len(k.Updates) < 5 || len(k.Steps) != 8 || len(k.Cases) < 15 {
		t.Fatalf("something is missing: %d paths, %d updates, %d steps, %d cases", len(k.Paths), len(k.Updates), len(k.Steps), len(k.Cases))
	}
	return k
}

// TestKeeperRules: paths, updates and steps are those of every SDK.
func TestKeeperRules(t *testing.T) {
	k := readKeeping(t)
	for _, p := range k.Paths {
		if got := filepath.ToSlash(golden.Path(p.Dir, p.Test, p.Name)); got != p.Path {
			t.Errorf("%+v: %s", p, got)
		}
	}
	for _, u := range k.Updates {
		if u.Flag { // see TestKeeper
			continue
		}
		got, err := golden.UpdateFrom(func(name string) string {
			return map[string]string{golden.UpdateVar: u.Variable, "CI": u.CI}[name]
		})
		if u.Error != "" && (err == nil || !strings.Contains(err.Error(), u.Error)) || u.Error == "" && (err != nil || string(got) != u.Update) {
			t.Errorf("%+v: %s, %v", u, got, err)
		}
	}
	for _, s := range k.Steps {
		if got := s.Update.Step(s.Exists); got != s.Step {
			t.Errorf("%+v: %s", s, got)
		}
	}
}

// TestKeeper: what ExpectScreen does with files is what every SDK does with them.
func TestKeeper(t *testing.T) {
	for _, c := range readKeeping(t).Cases {
		t.Run(c.Case, func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("CI", c.CI)
			t.Setenv(golden.UpdateVar, c.Variable)
			*update = c.Flag
			defer func() { *update = false }()
			folder := filepath.Dir(golden.Path("testdata", t.Name(), "main"))
			for name, lines := range c.Before {
				if err := os.MkdirAll(folder, 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(folder, name), []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			var options []tuitest.ScreenOption
			for name, pattern := range c.Options.Mask {
				options = append(options, tuitest.Mask(name, pattern))
			}
			for _, m := range c.Options.Masks {
				options = append(options, tuitest.MaskText(m))
			}
			if r := c.Options.Region; r != nil {
				options = append(options, tuitest.Region(r[0], r[1], r[2], r[3]))
			}
			if c.Options.TextOnly {
				options = append(options, tuitest.TextOnly())
			}
			if !c.Passes && c.Before != nil && !c.Patient { // nothing more comes
				options = append(options, tuitest.Within(100*time.Millisecond))
			}
			f := newFake(t)
			f.run(func(t testing.TB) {
				u := tuitest.Config{Rows: 3, Cols: 16, Env: c.Env, Timeout: time.Hour}.New(t, "sh", "-c", `printf %s "$1"; read -r x`, "sh", c.Output)
				u.Expect(matchers.Text("ready"), engine.Within(time.Minute))
				u.ExpectScreen("main", options...)
			})
			if f.failed == c.Passes {
				t.Errorf("failed: %v\n%s", f.failed, &f.said)
			}
			for _, want := range c.Says {
				if !strings.Contains(f.said.String(), want) {
					t.Errorf("%s\nlacks %q", &f.said, want)
				}
			}
			after := map[string]string{}
			entries, _ := os.ReadDir(folder)
			for _, e := range entries {
				text, err := os.ReadFile(filepath.Join(folder, e.Name()))
				if err != nil {
					t.Fatal(err)
				}
				after[e.Name()] = string(text)
			}
			for name, lines := range c.After {
				if want := strings.Join(lines, "\n") + "\n"; after[name] != want {
					t.Errorf("%s is\n%s\nnot\n%s", name, after[name], want)
				}
				delete(after, name)
			}
			for name, text := range after {
				t.Errorf("%s is left:\n%s", name, text)
			}
		})
	}
}

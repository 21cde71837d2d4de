package engine_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/matchers"
)

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{
		"build": true, "Build": true, "b": true, "my-server.2_x": true, "A1": true, "s1x": true, "s1.": true, "web2": true,
		strings.Repeat("n", 64): true, strings.Repeat("n", 65): false,
		"": false, "s1": false, "a12": false, "1a": false, "-a": false, ".a": false, "_a": false, "a b": false, "a/b": false, "é": false, "a\n": false,
	} {
		err := engine.CheckName(name)
		if (err == nil) != ok || err != nil && !errors.As(err, new(*engine.NameError)) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func FuzzCheckName(f *testing.F) {
	f.Add("build")
	f.Add("s1")
	want, id := regexp.MustCompile(`\A[A-Za-z][A-Za-z0-9._-]{0,63}\z`), regexp.MustCompile(`\A[a-z][0-9]+\z`)
	f.Fuzz(func(t *testing.T, name string) {
		if ok := want.MatchString(name) && !id.MatchString(name); ok != (engine.CheckName(name) == nil) {
			t.Errorf("%q: %v", name, engine.CheckName(name))
		}
	})
}

// TestNamesOfSessions: a name is unique among what runs, and finds that, or else the newest that
// has ended.
func TestNamesOfSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ptys := []*enginetest.PTY{enginetest.New(), enginetest.New(), enginetest.New()}
		e := enginetest.Engine(ptys...)
		defer e.Close(context.Background())
		spawn := func(name string) (*engine.Session, error) {
			return e.Spawn(t.Context(), engine.Config{Program: "fake", Name: name})
		}
		find := func(want engine.ID) {
			t.Helper()
			s, err := e.Session("build")
			if err != nil || s.ID() != want || e.Resolve("build") != want {
				t.Fatalf("build is %v, %v, %s; want %s", s, err, e.Resolve("build"), want)
			}
		}
		if _, err := e.Session("build"); !errors.Is(err, engine.ErrNoSession) || e.Resolve("build") != "build" {
			t.Fatalf("nothing is called so: %v", err)
		}
		one, err := spawn("build")
		if err != nil {
			t.Fatal(err)
		}
		find("s1")
		var taken *engine.NameTakenError
		if _, err := spawn("build"); !errors.As(err, &taken) || taken.Session != "s1" || taken.Name != "build" {
			t.Fatalf("a second of the same name: %v", err)
		}
		if _, err := spawn("s7"); !errors.As(err, new(*engine.NameError)) {
			t.Fatalf("a name like an id: %v", err)
		}
		ptys[0].End(3)
		synctest.Wait()
		find("s1") // it has ended, and is the newest of that name
		two, err := spawn("build")
		if err != nil {
			t.Fatalf("the name of what has ended: %v", err)
		}
		find(two.ID())
		ptys[1].End(4)
		synctest.Wait()
		if err := two.Close(t.Context()); err != nil { // it is as if it had never been
			t.Fatal(err)
		}
		find(one.ID())
		three, err := spawn("build")
		if err != nil {
			t.Fatal(err)
		}
		ptys[2].End(5)
		synctest.Wait()
		if gone, err := e.ForgetEnded(); err != nil || len(gone) != 2 {
			t.Fatalf("%v, %v", gone, err)
		}
		var forgotten *engine.ForgottenError
		if _, err := e.Session("build"); !errors.As(err, &forgotten) || forgotten.Session != three.ID() || forgotten.Exit.Code != 5 ||
			!strings.Contains(err.Error(), fmt.Sprintf("session %s (build) was forgotten", three.ID())) {
			t.Fatalf("the newest that was forgotten: %v", err)
		}
	})
}

// TestNameIsFreeWithTheExit: whoever has seen a program's end can use its name, while something it
// left behind holds the terminal.
func TestNameIsFreeWithTheExit(t *testing.T) {
	p := enginetest.New()
	e := enginetest.Engine(p, enginetest.New())
	defer e.Close(context.Background())
	s, err := e.Spawn(t.Context(), engine.Config{Program: "fake", Name: "job"})
	if err != nil {
		t.Fatal(err)
	}
	p.End(0)
	if _, err := s.Wait(t.Context(), matcher(t, map[string]any{"type": "process_exited"}), engine.Within(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Spawn(t.Context(), engine.Config{Program: "fake", Name: "job"}); err != nil {
		t.Error(err)
	}
}

// TestNamesAnyOrder holds the registry against a list.
func TestNamesAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 12
		var ptys []*enginetest.PTY
		for range most {
			ptys = append(ptys, enginetest.New())
		}
		e := enginetest.Engine(ptys...)
		defer e.Close(context.Background())
		type known struct {
			s    *engine.Session
			p    *enginetest.PTY
			runs bool
		}
		var all []*known
		started := 0
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			name := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")
			var newest *known
			for _, k := range all {
				if k.s.Config().Name == name {
					newest = k
				}
			}
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				if started == most {
					continue
				}
				s, err := e.Spawn(t.Context(), engine.Config{Program: "fake", Name: name})
				if want := newest != nil && newest.runs; want != errors.As(err, new(*engine.NameTakenError)) || err != nil && !want {
					t.Fatalf("spawn %s: %v", name, err)
				}
				if err == nil {
					all = append(all, &known{s, ptys[started], true})
					started++
				}
			case 1:
				if newest == nil || !newest.runs {
					continue
				}
				newest.p.End(0)
				newest.s.Wait(context.Background(), matchers.Exited(), engine.Within(time.Minute))
				newest.runs = false
			case 2:
				if len(all) == 0 {
					continue
				}
				i := rapid.IntRange(0, len(all)-1).Draw(t, "close")
				all[i].p.End(0)
				all[i].s.Close(context.Background())
				all = append(all[:i], all[i+1:]...)
			}
			for _, name := range []string{"a", "b"} {
				want := engine.ID(name)
				for _, k := range all {
					if k.s.Config().Name == name {
						want = k.s.ID()
					}
				}
				if got := e.Resolve(engine.ID(name)); got != want {
					t.Fatalf("%s is %s, want %s", name, got, want)
				}
			}
		}
	})
}

// ended is a matcher of the program's end.

package record

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
)

// v2 casts play in asciinema 2.2 (Debian package asciinema): its cat writes out what ours do.
func TestAsciinemaReadsOurs(t *testing.T) {
	program, err := exec.LookPath("asciinema")
	if err != nil {
		t.Skip("asciinema is not installed (Debian package asciinema)")
	}
	for _, name := range []string{"vim/vsplit-unicode-24x80", "htop/start-24x80", "mc/menu-40x120", "bash/unicode-24x80", "dialog/gauge-done-24x80"} {
		rec := recordings(t)[name]
		if rec == nil {
			t.Fatalf("no recording %s", name)
		}
		path := filepath.Join(t.TempDir(), "a.cast")
		c, err := NewCast(path, CastOptions{Rows: rec.Rows, Cols: rec.Cols, Start: t0, Input: true})
		must(t, err)
		want := ""
		for i, e := range slices.Collect(rec.Events()) {
			if e.Kind == EventOutput {
				must(t, c.Output(after(i), []byte(e.Text)))
				want += e.Text
			}
		}
		must(t, c.Resize(after(9000), 10, 10))
		must(t, c.Marker(after(9001), "m"))
		must(t, c.Input(after(9001), []byte("x")))
		must(t, c.Exit(after(9002), 1))
		must(t, c.Close())
		out := path + ".out"
		onTerminal(t, rec, `exec "$0" cat "$1" > "$2"`, program, path, out)
		data, err := os.ReadFile(out)
		must(t, err)
		if string(data) != want {
			t.Errorf("%s: asciinema shows %d bytes, want %d", name, len(data), len(want))
		}
		// What the recording asks its terminal may be answered when asciinema has gone: no echo
		// then.
		shown := onTerminal(t, rec, `stty -echo; exec "$0" play -s 10000 "$1"`, program, path)
		if got, want := shown.Lines(), at(t, rec, time.Hour).Lines(); !slices.Equal(got, want) {
			t.Errorf("%s: asciinema plays\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// onTerminal runs a shell script on a terminal of the recording's size and returns what is on it in
// the end.
func onTerminal(t *testing.T, rec *Recording, script string, args ...string) *vt.Screen {
	t.Helper()
	e := engine.New(engine.Options{})
	s, err := e.Spawn(t.Context(), engine.Config{Program: "/bin/sh", Args: append([]string{"-c", script}, args...),
		Env: map[string]string{"LC_ALL": "C.UTF-8", "HOME": t.TempDir()}, Size: pty.Size{Rows: uint16(rec.Rows), Cols: uint16(rec.Cols)}})
	must(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for changed := s.Changed(); !s.View().Ended; changed = s.Changed() {
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatal(ctx.Err())
		}
	}
	v := s.View()
	must(t, s.Close(ctx))
	if v.Exit.Code != 0 {
		t.Fatalf("%v: exit %d\n%s", args, v.Exit.Code, v.Screen.Text())
	}
	return v.Screen
}

// typeInto runs a program with a recording as its tap, types each line when the program is done
// with the one before (OSC 133 B says so), and records its end.
func typeInto(t *testing.T, rec *Recording, c *Cast, command []string, lines ...string) *vt.Screen {
	t.Helper()
	e := engine.New(engine.Options{})
	s, err := e.Spawn(t.Context(), engine.Config{Program: command[0], Args: command[1:], Size: pty.Size{Rows: uint16(rec.Rows), Cols: uint16(rec.Cols)},
		Taps: []engine.Tap{laterTap{c}}, Env: map[string]string{"LC_ALL": "C", "HISTFILE": ""}})
	must(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	await := func(done func(v *engine.View) bool) {
		for changed := s.Changed(); !done(s.View()); changed = s.Changed() {
			select {
			case <-changed:
			case <-ctx.Done():
				t.Fatalf("%v\n%s", ctx.Err(), s.View().Screen.Text())
			}
		}
	}
	for i, line := range lines {
		await(func(v *engine.View) bool { return strings.Count(v.Transcript.String(), "\x1b]133;B") > i })
		_, err := s.Do(ctx, engine.Text(line))
		must(t, err)
	}
	await(func(v *engine.View) bool { return v.Ended })
	last := s.View()
	exit := last.Exit
	must(t, s.Close(ctx))
	must(t, c.Exit(exit.At, exit.Code))
	must(t, c.Close())
	if st := c.Status(); st.State != StateDone {
		t.Fatalf("%+v", st)
	}
	return last.Screen
}

// A laterTap is closed by the test, which knows the exit status then.
type laterTap struct{ *Cast }

func (laterTap) Close() error { return nil }

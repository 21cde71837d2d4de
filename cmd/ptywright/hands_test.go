//go:build unix

package main

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/app"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/protocol/client"
)

// TestKeysAsHandsSpellThem presses keys by the names that other tools have for them, over the wire;
// keys.txtar does so from the shell.
func TestKeysAsHandsSpellThem(t *testing.T) {
	t.Parallel()
	w := start(t)
	over := w.sh(`stty raw -echo; printf ready; exec cat -vt`)
	over.wait(client.Text("ready"))
	over.keys("Esc", "ArrowUp", "BTab", "S-Up", "C-M-x", "KP5", "Space", "Del")
	over.wait(client.Text(`^[^[[A^[[Z^[[1;2A^[^X5 ^[[3~`))
	w.refused(-32602, "invalid_action", "session.input", map[string]any{"session": over.ID, "action": map[string]string{"type": "key", "value": "Entr"}})
}

// TestEnvironmentStaysOnThisMachine: through something that leads elsewhere, as ssh -L does,
// nothing of it goes but --env.
func TestEnvironmentStaysOnThisMachine(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	dir, err := os.MkdirTemp("", "way") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	way := filepath.Join(dir, "s")
	passOn(t, way, s.path)
	p := ptywright(t, "spawn", "--socket", way, "--rows", "100", "--env", "GIVEN=yes", "--", "sh", "-c", "env; echo over")
	p.Env = append(p.Env, "CALLERS=mine")
	if out, code := p.Run(""); code != 0 {
		t.Fatalf("%s%s", out, p.Stderr.String())
	}
	s.ok("wait", "s1", "--text", "over")
	if got := s.ok("read", "s1"); strings.Contains(got, "CALLERS") || !strings.Contains(got, "GIVEN=yes") {
		t.Errorf("%s", got)
	}
}

// passOn listens at a socket, and passes on what comes to another until the test ends: it is
// another process than the server, as ssh is.
func passOn(t *testing.T, from, to string) {
	t.Helper()
	l, err := net.Listen("unix", from)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				d, err := net.Dial("unix", to)
				if err != nil {
					return
				}
				defer d.Close()
				var both sync.WaitGroup
				both.Go(func() { io.Copy(d, c); d.Close() })
				both.Go(func() { io.Copy(c, d); c.Close() })
				both.Wait()
			})
		}
	})
}

// TestFlagsFirst: flagsFirst names the commands whose flags end at the first argument.
func TestFlagsFirst(t *testing.T) {
	t.Parallel()
	root := app.Command(cli.Stdio{})
	each(root, func(c *cobra.Command) {
		if c.HasSubCommands() || c.DisableFlagParsing || c == root {
			return
		}
		err := c.Flags().Parse([]string{"x", "--no-such-flag-there-is"})
		if first := err == nil; first != (c.Annotations["flags first"] != "") {
			t.Errorf("%s: its flags stand first: %v", pathOf(c), first)
		}
	})
}

// pathOf is a command as it is typed behind the program's name.
func pathOf(c *cobra.Command) string { return strings.TrimPrefix(c.CommandPath(), "ptywright ") }

// each visits a command and all below it.
func each(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		each(sub, visit)
	}
}

// TestAttachByName: attach takes a name, and the line of status has it first; where several are
// listed it is first, too.
func TestAttachByName(t *testing.T) {
	t.Parallel()
	l := listen(t)
	on, other := start(t), l.dial()
	other.with(client.Config{Program: "cat"})
	other.with(client.Config{Program: "cat", Args: []string{"-u"}, Name: "build"})
	a := l.attach(on, 24, 80, "build", "--write")
	a.wait(client.Regexp(`(?m)^ build \(s2\)  cat -u  you write  Ctrl-\\ for keys$`))
	a.text("typed\r")
	a.wait(client.Regexp(`(?s)typed.*typed`))
	a.keys(`ctrl+\`)
	a.text("d")
	a.wait(client.Regexp(`\[detached from build \(s2\)\]`))
	several := l.attached(on, 24, 80)
	several.wait(client.Regexp(`(?m)^s1  -  .*\ns2  build  `))
	none := l.attached(on, 24, 80, "other")
	none.wait(client.Text(`no session "other"`))
}

// TestNameOfARecording: a recording has the session's name as its title, unless it is given
// another.
func TestNameOfARecording(t *testing.T) {
	t.Parallel()
	s := start(t)
	build := s.with(client.Config{Program: "cat", Name: "build"})
	dir := t.TempDir()
	for name, c := range map[string]struct {
		params map[string]any
		want   string
	}{
		"a.cast": {nil, `"title":"build"`}, "b.cast": {map[string]any{"title": "mine"}, `"title":"mine"`}, "c.md": {map[string]any{"format": "markdown"}, `name: "build"`},
	} {
		p := map[string]any{"session": "build", "path": filepath.Join(dir, name)}
		for k, v := range c.params {
			p[k] = v
		}
		var r struct{ Recording string }
		s.call("session.record_start", p, &r)
		s.call("session.record_stop", map[string]any{"recording": r.Recording}, nil)
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(b), c.want) {
			t.Errorf("%s: %v, %s", name, err, b)
		}
	}
	var list struct{ Recordings []map[string]any }
	s.call("session.record_list", map[string]any{"session": "build"}, &list)
	if len(list.Recordings) != 3 || list.Recordings[0]["session"] != build.ID {
		t.Errorf("%v", list)
	}
}

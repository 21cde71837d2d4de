package tmux

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/attach"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/caller"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
	"github.com/ptywright/ptywright/protocol/client"
)

// The size of a window that nobody gave one, and what a size may be.
const (
	usualCols, usualRows = 80, 24
	mostSide             = 1000
)

// newSession starts a session with one window.
func newSession(ctx context.Context, t *tmux, a *args) error {
	name := ""
	if a.has('s') {
		if name = plainName(t.expand(a.get('s'), nil, nil)); name == "" {
			return failf("invalid session: %s", a.get('s'))
		}
		if t.state.find(name) != nil {
			if !a.has('A') {
				return failf("duplicate session: %s", name)
			}
			if !t.terminal() {
				return failf("open terminal failed: not a terminal")
			}
			t.after = func() error { return t.attach(ctx, t.state.find(name)) }
			return nil
		}
	}
	if !a.has('d') && !t.terminal() {
		return failf("open terminal failed: not a terminal")
	}
	usual := [2]int{usualCols, usualRows}
	if w, h, ok := strings.Cut(t.option(nil, nil, "default-size"), "x"); ok {
		usual = [2]int{atoi(w, usualCols), atoi(h, usualRows)}
	}
	cols, err := side(a, 'x', usual[0], "width")
	if err != nil {
		return err
	}
	rows, err := side(a, 'y', usual[1], "height")
	if err != nil {
		return err
	}
	x := &session{Number: t.state.Next.Session, Created: stamp(), Used: time.Now().UnixNano(),
		Env: map[string]string{}}
	x.Name = cmp.Or(name, strconv.Itoa(x.Number))
	for n := x.Number; name == "" && t.state.find(x.Name) != nil; n++ {
		x.Name = strconv.Itoa(n + 1)
	}
	for _, v := range a.flags['e'] {
		if key, value, ok := strings.Cut(v, "="); ok {
			x.Env[key] = value
		}
	}
	x.Dir = t.dir(a, "")
	w, err := t.open(ctx, x,
		opening{name: a.get('n'), command: a.rest, dir: x.Dir, rows: rows, cols: cols,
			index: atoi(t.option(nil, nil, "base-index"), 0)})
	if err != nil {
		return err
	}
	t.state.Next.Session++
	t.state.Sessions = append(t.state.Sessions, x)
	if a.has('P') {
		if err := t.print(t.expand(cmp.Or(a.get('F'), "#{session_name}:"), x, w)); err != nil {
			return err
		}
	}
	if !a.has('d') {
		t.after = func() error { return t.attach(ctx, x) }
	}
	return nil
}

// side reads -x or -y.
func side(a *args, flag byte, none int, what string) (int, error) {
	if a.get(flag) == "-" {
		return none, nil // the size of the terminal, which there is none of
	}
	return a.number(flag, 1, mostSide, none, what)
}

// atoi is a number, or what stands for it.
func atoi(text string, none int) int {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return none
}

// plainName is a name as tmux has them: the signs that part a target become underscores.
func plainName(name string) string { return strings.NewReplacer(":", "_", ".", "_").Replace(name) }

// dir is the folder that -c names, or another, or that of the command; one that is not there becomes
// the home folder.
func (t *tmux) dir(a *args, none string) string {
	dir := cmp.Or(t.expand(a.get('c'), nil, nil), none)
	if dir == "" {
		dir, _ = os.Getwd()
	}
	dir, err := filepath.Abs(dir)
	if err == nil {
		if info, serr := os.Stat(dir); serr == nil && info.IsDir() {
			return dir
		}
	}
	return cmp.Or(t.getenv("HOME"), "/")
}

// An opening says what to open in a window.
type opening struct {
	name, dir  string
	command    []string
	env        []string
	rows, cols int
	index      int
	again      *window // the window that is used once more
}

// open starts a program on a session of ptywright, and puts it into a window of x.
func (t *tmux) open(ctx context.Context, x *session, o opening) (*window, error) {
	w := o.again
	if w == nil {
		w = &window{Number: t.state.Next.Window, Pane: t.state.Next.Pane, Index: o.index}
	}
	base, untold, err := caller.Environment(t.environ)
	if err != nil {
		return nil, err
	}
	for _, name := range untold {
		cli.Complain(t.std.Err,
			fmt.Errorf("%s is not passed to the program: not valid UTF-8", name))
	}
	env := map[string]string{}
	maps.Copy(env, t.state.Env)
	maps.Copy(env, x.Env)
	for _, v := range o.env {
		if key, value, ok := strings.Cut(v, "="); ok {
			env[key] = value
		}
	}
	env["TMUX"] = fmt.Sprintf("%s,%d,%d", t.socket, t.state.Server, x.Number)
	env["TMUX_PANE"] = "%" + strconv.Itoa(w.Pane)
	program, words := t.program(x, o.command)
	history := min(max(atoi(t.option(x, nil, "history-limit"), 2000), 0), 1_000_000)
	config := client.Config{Program: program, Args: words, Cwd: o.dir, Env: env, Rows: o.rows,
		Cols: o.cols, ScrollbackMaxLines: &history}
	if t.server.Local {
		config.BaseEnv = base
	}
	s, err := t.server.Create(ctx, config)
	if err != nil {
		return nil, err
	}
	info, err := s.Info(ctx)
	if err != nil {
		return nil, err
	}
	if t.born == nil {
		t.born = map[string]bool{}
	}
	t.live[s.ID], t.born[s.ID] = remote.Info{Info: info}, true
	w.Of, w.Dir, w.Command, w.Cleared, w.Pipe = s.ID, o.dir, strings.Join(o.command, " "), 0, ""
	if o.name != "" {
		w.Name, w.Given = t.expand(o.name, x, w), true
	} else if w.Name == "" {
		w.Name = filepath.Base(program)
		if len(o.command) > 0 {
			if fields := strings.Fields(o.command[0]); len(fields) > 0 {
				w.Name = filepath.Base(fields[0])
			}
		}
	}
	if o.again == nil {
		t.state.Next.Window++
		t.state.Next.Pane++
		x.Windows = append(x.Windows, w)
		slices.SortFunc(x.Windows, func(a, b *window) int { return a.Index - b.Index })
		if len(x.Windows) == 1 {
			x.Active, x.Last = w.Number, w.Number
		}
	}
	return w, nil
}

// program is what runs a command, as in tmux: one word is a line for the shell, several are a
// program with its arguments, and none is a login shell.
func (t *tmux) program(x *session, command []string) (string, []string) {
	shell := t.option(x, nil, "default-shell")
	if shell == "" {
		if shell = t.getenv("SHELL"); !filepath.IsAbs(shell) {
			shell = "/bin/sh"
		}
	}
	if len(command) == 0 {
		if usual := t.option(x, nil, "default-command"); usual != "" {
			command = []string{usual}
		}
	}
	switch len(command) {
	case 0:
		return shell, []string{"-l"}
	case 1:
		return shell, []string{"-c", command[0]}
	}
	return command[0], command[1:]
}

// hasSession succeeds when there is a session.
func hasSession(_ context.Context, t *tmux, a *args) error {
	_, _, err := t.of(a, ofSession)
	return err
}

// renameSession gives a session another name.
func renameSession(_ context.Context, t *tmux, a *args) error {
	x, w, err := t.of(a, ofSession)
	if err != nil {
		return err
	}
	name := plainName(t.expand(a.rest[0], x, w))
	if name == "" {
		return failf("invalid session: %s", a.rest[0])
	}
	if other := t.state.find(name); other != nil && other != x {
		return failf("duplicate session: %s", name)
	}
	x.Name = name
	return nil
}

// killSession ends a session, or with -a all others.
func killSession(ctx context.Context, t *tmux, a *args) error {
	x, _, err := t.of(a, ofSession)
	if err != nil {
		return err
	}
	if a.has('C') { // clears alerts, which there are none of
		return nil
	}
	var ended []*window
	t.state.Sessions = slices.DeleteFunc(t.state.Sessions, func(y *session) bool {
		if (x == y) == a.has('a') {
			return false
		}
		ended = append(ended, y.Windows...)
		return true
	})
	return t.end(ctx, ended)
}

// killWindow ends a window, or with -a all others of its session.
func killWindow(ctx context.Context, t *tmux, a *args) error {
	x, w, err := t.of(a, ofWindow)
	if err != nil {
		return err
	}
	var ended []*window
	x.Windows = slices.DeleteFunc(x.Windows, func(v *window) bool {
		if (v == w) == a.has('a') {
			return false
		}
		ended = append(ended, v)
		return true
	})
	if len(x.Windows) == 0 {
		t.state.Sessions = slices.DeleteFunc(t.state.Sessions,
			func(y *session) bool { return x == y })
	} else if !slices.ContainsFunc(x.Windows,
		func(v *window) bool { return v.Number == x.Active }) {
		x.Active = x.Windows[len(x.Windows)-1].Number
	}
	return t.end(ctx, ended)
}

// end ends the programs of windows.
func (t *tmux) end(ctx context.Context, all []*window) error {
	var ids []string
	for _, w := range all {
		ids = append(ids, w.Of)
		if w.Pipe != "" {
			ring(w.Pipe, bellEnd)
		}
	}
	var failed error
	err := t.server.Kill(ctx, ids, true, func(k remote.Kill) {
		if k.Err != nil && k.Reason != "unknown_session" {
			failed = cmp.Or(failed, k.Err)
		}
	})
	return cmp.Or(err, failed)
}

// killServer ends the server with all sessions.
func killServer(ctx context.Context, t *tmux, _ *args) error {
	if !t.known() {
		return t.noServer()
	}
	return locked(t.socket, func() error {
		if _, err := t.look(ctx, false); err != nil {
			if broken, lerr := load(t.socket); lerr != nil { // kill-server is the way out of that
				t.state = &state{}
			} else {
				t.state = broken
				return err
			}
		}
		return t.stop(ctx)
	})
}

// attachSession shows a session in this terminal.
func attachSession(ctx context.Context, t *tmux, a *args) error {
	x, w, err := t.of(a, ofSession)
	if err != nil {
		return err
	}
	if !t.terminal() {
		return failf("open terminal failed: not a terminal")
	}
	x.show(w)
	return t.attach(ctx, x, a.flags['r']...)
}

// terminal reports whether a person could attach here.
func (t *tmux) terminal() bool {
	return term.IsTerminal(int(t.std.In.Fd())) && term.IsTerminal(int(t.std.Out.Fd()))
}

// attach runs ptywright's attach, with the key before d as in tmux.
func (t *tmux) attach(ctx context.Context, x *session, readOnly ...string) error {
	flags := []string{"--write", "--resize"}
	if readOnly != nil {
		flags = []string{"--read-only"}
	}
	c := attach.Command(t.std)
	c.SetArgs(append(flags, "--exit", "--detach-key", "ctrl+b", "--socket", t.socket,
		x.current().Of))
	c.SilenceErrors, c.SilenceUsage = true, true
	return c.ExecuteContext(ctx)
}

package tmux

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/config"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/client"
)

// tmux is one command line under way.
type tmux struct {
	std     cli.Stdio
	ctx     context.Context // of the whole command line, for what formats ask
	environ []string
	shown   string // the socket, as messages and $TMUX have it
	socket  string // where the server of ptywright listens
	server  *remote.Server
	state   *state
	live    map[string]remote.Info // sessions of ptywright, by id
	screens map[string]*client.Snapshot
	born    map[string]bool // those that this command line has started
	after   func() error    // what a command does once the lock is free
}

func (t *tmux) close() {
	if t.server != nil {
		t.server.Close()
	}
}

// run runs a command line: tmux's own flags, and commands with semicolons between them.
func (t *tmux) run(ctx context.Context, words []string) error {
	a, err := parse("tmux", "2CDdf:L:lNqS:T:uUvVc:", words)
	if err != nil {
		return failf("%s", strings.TrimPrefix(err.Error(), "command tmux: "))
	}
	if a.has('V') {
		_, err := fmt.Fprintln(t.std.Out, "tmux "+version)
		return err
	}
	if a.has('C') {
		return failf("ptywright tmux: control mode (-C) is not spoken; docs/wire.md has the wire that is")
	}
	rest := a.rest
	if len(rest) == 0 {
		rest = []string{"new-session"}
	}
	if err := t.place(a.get('L'), a.get('S')); err != nil {
		return err
	}
	steps, start, err := parsed(rest)
	if err != nil { // it is the server that says so, if there is one
		if empty, lerr := t.look(ctx, false); lerr != nil || empty {
			return cmp.Or(lerr, t.noServer())
		}
		return err
	}
	for _, s := range steps {
		if err := t.step(ctx, s.spec, s.args, start); err != nil {
			return err
		}
		if after := t.after; after != nil {
			t.after = nil
			if err := after(); err != nil {
				return err
			}
		}
	}
	return nil
}

// A step is one command of a command line.
type step struct {
	*spec
	args *args
}

// parsed reads the commands of a command line; start says that one of them starts the server.
func parsed(words []string) (steps []step, start bool, err error) {
	for _, command := range split(words) {
		s, err := lookup(command[0])
		if err != nil {
			return nil, false, err
		}
		if s.run == nil {
			return nil, false,
				failf("ptywright tmux: %s is not there: %s; docs/tmux.md lists what is",
					s.name, s.why)
		}
		a, err := parse(s.name, s.flags, command[1:])
		if err != nil {
			return nil, false, err
		}
		if err := a.count(s.name, s.least, s.most); err != nil {
			return nil, false, err
		}
		steps = append(steps, step{s, a})
		start = start || s.starts
	}
	return steps, start, nil
}

// step runs one command. One that changes the state holds the lock meanwhile.
func (t *tmux) step(ctx context.Context, s *spec, a *args, start bool) error {
	if s.bare {
		return s.run(ctx, t, a)
	}
	if !s.writes {
		empty, err := t.look(ctx, start)
		if err != nil {
			return err
		}
		if !empty || start {
			return s.run(ctx, t, a)
		}
	}
	if !start && !t.known() {
		return t.noServer()
	}
	return locked(t.socket, func() error {
		empty, err := t.look(ctx, start)
		if err != nil {
			return err
		}
		if empty && !start { // tmux's server has ended by now
			return cmp.Or(t.stop(ctx), t.noServer())
		}
		t.reap(ctx)
		err = s.run(ctx, t, a)
		if len(t.state.Sessions) == 0 {
			return cmp.Or(err, t.stop(ctx))
		}
		return cmp.Or(err, t.state.save(t.socket))
	})
}

// change changes the state alone, for a command that holds no lock.
func (t *tmux) change(do func()) error {
	return locked(t.socket, func() (err error) {
		if t.state, err = load(t.socket); err != nil {
			return err
		}
		do()
		return t.state.save(t.socket)
	})
}

// place finds the socket: that of -S, or by the name of -L, or of the server in whose session the
// command runs, or the default one.
func (t *tmux) place(name, path string) error {
	root, err := daemon.Root()
	if err != nil {
		return err
	}
	dir := filepath.Join(root, "tmux")
	if tmp := t.getenv("TMUX_TMPDIR"); tmp != "" {
		dir = filepath.Join(tmp, "ptywright-tmux-"+strconv.Itoa(os.Getuid()))
	}
	if path == "" && name == "" {
		if own, _, ok := strings.Cut(t.getenv("TMUX"), ","); ok {
			if err := t.at(own, root); err == nil && t.known() { // else it is the real tmux's
				return nil
			}
		}
	}
	if path == "" {
		if name == "" {
			name = "default"
		}
		if strings.ContainsRune(name, filepath.Separator) {
			return failf("couldn't create directory %s: -L takes a name",
				filepath.Join(dir, filepath.Dir(name)))
		}
		path = filepath.Join(dir, name)
	}
	return t.at(path, root)
}

// at sets the socket. Where others could put a socket of theirs, as in /tmp, ptywright listens
// nowhere: the socket then is in its own folder, named for the one that was asked for.
func (t *tmux) at(path, root string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	t.shown, t.socket = path, path
	if _, err := os.Stat(filepath.Dir(path)); err == nil && protocol.Check(path) != nil {
		t.socket = filepath.Join(root, "tmux",
			fmt.Sprintf("at-%x", sha256.Sum256([]byte(path)))[:15])
	}
	return nil
}

// getenv is a variable of the caller's environment.
func (t *tmux) getenv(name string) string {
	for _, v := range slices.Backward(t.environ) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// known reports whether there ever was a server on the socket.
func (t *tmux) known() bool {
	_, err := os.Stat(statePath(t.socket))
	return err == nil
}

// noServer is the error of a command that needs one.
func (t *tmux) noServer() error {
	if !t.known() {
		return failf("error connecting to %s (No such file or directory)", t.shown)
	}
	return failf("no server running on %s", t.shown)
}

// look connects to the server and reads what there is: the state, and the sessions that it is about.
// What has ended is dropped from it; empty says that nothing is left. With start a server is started
// where there is none.
func (t *tmux) look(ctx context.Context, start bool) (empty bool, err error) {
	if t.server == nil {
		s, err := remote.Connect(ctx, t.socket)
		if errors.Is(err, daemon.ErrNone) {
			if !start {
				return true, t.noServer()
			}
			unconfigured()
			if _, err = daemon.Ensure(ctx, t.socket); err == nil {
				s, err = remote.Connect(ctx, t.socket)
			}
		}
		if err != nil {
			return true, err
		}
		t.server = s
	}
	if t.state, err = load(t.socket); err != nil {
		return true, err
	}
	pid, _ := daemon.PID(ctx, t.socket) // 0 where the system does not say
	if t.state.Server != pid || t.state.Started == 0 {
		*t.state = state{Server: pid, Started: stamp()}
	}
	all, err := t.server.List(ctx, remote.Show{})
	if err != nil {
		return true, err
	}
	t.live = map[string]remote.Info{}
	for _, i := range all {
		t.live[i.Session] = i
	}
	t.drop()
	return len(t.state.Sessions) == 0, nil
}

// unconfigured leaves the user's configuration to the shared server: a port that it asks for, or a
// log, can be only one server's.
func unconfigured() {
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "PTYWRIGHT_") && name != "PTYWRIGHT_HOME" {
			os.Unsetenv(name)
		}
	}
	os.Setenv(config.PathVariable, "off")
}

// drop takes windows from the state whose program has ended, unless they are to remain, and sessions
// without windows.
func (t *tmux) drop() {
	s := t.state
	s.Sessions = slices.DeleteFunc(s.Sessions, func(x *session) bool {
		x.Windows = slices.DeleteFunc(x.Windows, func(w *window) bool {
			i, ok := t.live[w.Of]
			return !ok || i.Exit != nil && t.option(x, w, "remain-on-exit") == "off"
		})
		return len(x.Windows) == 0
	})
}

// reap closes sessions that have ended and that no window shows any more.
func (t *tmux) reap(ctx context.Context) {
	shown := map[string]bool{}
	for _, x := range t.state.Sessions {
		for _, w := range x.Windows {
			shown[w.Of] = true
		}
	}
	for id, i := range t.live {
		if i.Exit != nil && !shown[id] {
			_ = t.server.Session(id).Close(ctx) // another command may have been first
			delete(t.live, id)
		}
	}
}

// stop ends the server, as tmux ends with its last session. Its file stays and says that there was
// one.
func (t *tmux) stop(ctx context.Context) error {
	bells := t.state.bells()
	t.server.Close()
	t.server = nil
	_, err := remote.StopServer(ctx, t.socket)
	for _, b := range bells {
		ring(b, bellEnd)
	}
	if errors.Is(err, daemon.ErrNone) {
		err = nil
	}
	*t.state = state{}
	return errors.Join(err, t.state.save(t.socket))
}

// bells are those of all who wait for the server.
func (s *state) bells() (all []string) {
	for _, c := range s.Channels {
		all = append(append(all, c.Waiters...), c.Lockers...)
	}
	for _, x := range s.Sessions {
		for _, w := range x.Windows {
			if w.Pipe != "" {
				all = append(all, w.Pipe)
			}
		}
	}
	return all
}

// print prints one line.
func (t *tmux) print(line string) error {
	_, err := fmt.Fprintln(t.std.Out, line)
	return err
}

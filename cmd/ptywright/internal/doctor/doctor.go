// Package doctor checks that this machine can run ptywright, and says what to do where it cannot.
// [Look] is the entry point. It starts programs, including the shells and agents that it finds, and
// ends them again; it changes nothing.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/internal/lazy"
	"github.com/ptywright/ptywright/protocol/loopback"
)

// States of a finding.
const (
	OK      = "ok"
	Absent  = "absent"  // not installed, and nothing else needs it
	Warning = "warning" // something will not work, or not as well
	Broken  = "broken"  // ptywright cannot do its work
)

// A Finding is the result of one check.
type Finding struct {
	Check  string `json:"check"`
	State  string `json:"state"`
	Found  string `json:"found"`
	Advice string `json:"advice,omitempty"` // what to do
}

// Facts are what the caller knows.
type Facts struct {
	Version string
	// Homeless is why there is no Root; then there is no Socket either, unless one is set.
	Homeless error
	Root     string // the folder of ptywright's files
	Socket   string
	MCP      string                   // the address where servers serve MCP too; "": none
	Config   func() (string, []error) // reads the configuration: a summary, and its faults
	Strays   []string                 // about variables that only look like settings
	Plugins  func() (string, error)   // loads the configured plugins
	Watcher  []string                 // the command that watches over children
}

// checkBound is how long one check may take: a shell that reads a lot at start, or an agent that
// prints its version slowly. With less, a slow machine looks broken.
const checkBound = 10 * time.Second

// Look makes all checks and passes each finding to found as it comes.
func Look(ctx context.Context, f Facts, found func(Finding)) {
	for _, check := range []func(context.Context, Facts) []Finding{
		version, root, settings, socket, mcp, terminal, watcher, limits, terminfo, locale, shells,
		loads, agents,
	} {
		bound, cancel := context.WithTimeout(ctx, checkBound)
		for _, x := range check(bound, f) {
			found(x)
		}
		cancel()
	}
}

func one(check, state, found, advice string) []Finding {
	return []Finding{{check, state, found, advice}}
}

func version(_ context.Context, f Facts) []Finding {
	return one("version", OK,
		fmt.Sprintf("%s, %s, %s/%s", f.Version, runtime.Version(), runtime.GOOS,
			runtime.GOARCH), "")
}

// root checks the folder of sockets, configuration and logs.
func root(_ context.Context, f Facts) []Finding {
	if f.Homeless != nil {
		return one("home", Broken, f.Homeless.Error(),
			"set HOME, or PTYWRIGHT_HOME; serve --stdio and mcp need neither")
	}
	info, err := os.Stat(f.Root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return one("home", OK, f.Root+" does not exist; it is made when it is needed", "")
	case err != nil:
		return one("home", Broken, err.Error(), "make the folder readable, or set PTYWRIGHT_HOME")
	case !info.IsDir():
		return one("home", Broken, f.Root+" is not a folder", "move it away, or set PTYWRIGHT_HOME")
	}
	if owner, ok := ownerOf(info); ok && owner != os.Geteuid() {
		return one("home", Broken, fmt.Sprintf("%s belongs to user %d", f.Root, owner),
			"set PTYWRIGHT_HOME to a folder of your own")
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return one("home", Broken,
			fmt.Sprintf("%s has mode %#o: others can put a socket of theirs there", f.Root,
				info.Mode().Perm()), "chmod go-w "+f.Root)
	}
	return one("home", OK, f.Root, "")
}

func settings(_ context.Context, f Facts) []Finding {
	path, faults := f.Config()
	var all []Finding
	for _, err := range faults {
		all = append(all,
			Finding{"config", Broken, err.Error(),
				"mend it there; ptywright config shows what holds"})
	}
	if all == nil {
		all = one("config", OK, path, "")
	}
	for _, stray := range f.Strays {
		all = append(all,
			Finding{"environment", Warning, stray,
				"it changes nothing: unset it, or set the one that was meant"})
	}
	return all
}

func loads(_ context.Context, f Facts) []Finding {
	said, err := f.Plugins()
	if err != nil {
		return one("plugins", Broken, err.Error(),
			"take it out of the configuration, or mend it: no server starts with it")
	}
	return one("plugins", OK, said, "")
}

// socket checks who listens, and what prevents listening.
func socket(ctx context.Context, f Facts) []Finding {
	if f.Socket == "" {
		return nil // reported with the root
	}
	log := ""
	if path, err := daemon.LogOf(f.Socket); err == nil {
		if _, err := os.Stat(path); err == nil {
			log = "; its log is " + path
		}
	}
	info, err := os.Lstat(f.Socket)
	if runtime.GOOS != "windows" {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return one("socket", OK,
				"no server listens on "+f.Socket+"; ptywright spawn starts one"+log, "")
		case err != nil:
			return one("socket", Broken, err.Error(),
				"name another with --socket, or set PTYWRIGHT_SOCKET")
		case info.Mode()&fs.ModeSocket == 0:
			return one("socket", Broken, f.Socket+" is not a socket",
				"move it away, or name another with --socket")
		}
		if owner, ok := ownerOf(info); ok && owner != os.Geteuid() {
			return one("socket", Broken, fmt.Sprintf("%s belongs to user %d", f.Socket, owner),
				"set PTYWRIGHT_HOME to a folder of your own")
		}
	}
	c, err := daemon.Dial(ctx, f.Socket)
	switch {
	case errors.Is(err, daemon.ErrNone):
		return one("socket", Warning,
			f.Socket+" is stale: its server has ended without taking it away"+
				log, "nothing: the next server takes it over")
	case err != nil:
		return one("socket", Broken, err.Error(), "")
	}
	defer c.Close()
	var is struct {
		Name, Version string
		Audit         *auditing
	}
	if err := c.Call(ctx, "server.capabilities", nil, &is); err != nil {
		return one("socket", Broken, f.Socket+": the listener does not answer: "+err.Error(),
			"ptywright kill --server ends it")
	}
	who := fmt.Sprintf("%s %s listens on %s", is.Name, is.Version, f.Socket)
	if pid, err := daemon.PID(ctx, f.Socket); err == nil {
		who += fmt.Sprintf(", process %d", pid)
	}
	audit := is.Audit.findings()
	if info != nil && info.Mode().Perm()&0o077 != 0 {
		return append(one("socket", Warning, fmt.Sprintf("%s has mode %#o", f.Socket,
			info.Mode().Perm()), "chmod 600 "+f.Socket), audit...)
	}
	if is.Version != f.Version {
		return append(one("socket", Warning, who+log+"; this is "+f.Version,
			"ptywright kill --server, when its sessions are not needed any more"), audit...)
	}
	return append(one("socket", OK, who+log, ""), audit...)
}

// auditing is what a server says of its audit.
type auditing struct {
	Lost    int64
	Problem string
	Since   time.Time
}

// findings are none for a server without an audit.
func (a *auditing) findings() []Finding {
	switch {
	case a == nil:
		return nil
	case a.Problem != "":
		return one("audit", Broken, fmt.Sprintf("its file has taken nothing since %s, and %d lines are lost: %s",
			a.Since.Local().Format(time.DateTime), a.Lost, a.Problem),
			"make room; the server goes on meanwhile, and writes again by itself")
	case a.Lost > 0:
		return one("audit", Warning,
			fmt.Sprintf("the file takes lines, and has lost %d since the server began", a.Lost),
			"see the server's log")
	}
	return one("audit", OK, "the server writes down who does what", "")
}

// mcp checks whether the next server can use the address of MCP over HTTP: otherwise it does not
// start.
func mcp(ctx context.Context, f Facts) []Finding {
	const name = "mcp http"
	if f.MCP == "" || f.Socket == "" || loopback.Check(f.MCP) != nil {
		return nil // not set, or its fault is already reported
	}
	token := ""
	if path, err := daemon.TokenOf(f.Socket); err == nil {
		if _, err := os.Stat(path); err == nil {
			token = "; the token is in " + path
		}
	}
	_, none := daemon.PID(ctx, f.Socket)
	l, err := loopback.Listen(f.MCP)
	switch {
	case err == nil && strings.HasSuffix(f.MCP, ":0"):
		l.Close()
		return one(name, OK,
			f.MCP+" is a port that is free, which the server's log tells"+token, "")
	case err == nil:
		l.Close()
		found := f.MCP + " is free for the next server"
		if none == nil {
			found += "; the one that runs does not listen there"
		}
		return one(name, OK, found, "")
	case none != nil:
		return one(name, Broken, err.Error(),
			"set mcp.http to another address, or to 127.0.0.1:0 for a free one: no server starts with this")
	}
	return one(name, OK, f.MCP+" is in use, while a server runs"+token, "")
}

// terminal opens a pseudo-terminal and runs a program on it.
func terminal(ctx context.Context, f Facts) []Finding {
	const name = "terminal"
	config := engine.Config{Program: "true", Size: pty.Size{Rows: 24, Cols: 80}}
	if runtime.GOOS == "windows" {
		config.Program, config.Args = "cmd", []string{"/c", "exit 0"}
	}
	var exit *engine.Exit
	err := inSession(ctx, config, func(s *engine.Session) bool {
		v := s.View()
		exit = v.Exit
		return v.Ended
	})
	switch {
	case err != nil:
		return one(name, Broken, err.Error(),
			"see that /dev/ptmx and /dev/pts are there and yours to open, as in a container: mount devpts")
	case exit == nil || exit.Status() != 0:
		return one(name, Broken, fmt.Sprintf("true on a terminal ended with %v", exit), "")
	}
	return one(name, OK, "a program runs on a terminal of its own", "")
}

// inSession starts a session, waits until done reports true, and closes it.
func inSession(ctx context.Context, c engine.Config, done func(*engine.Session) bool) (err error) {
	e := engine.New(engine.Options{Sessions: 1})
	defer func() { err = errors.Join(err, e.Close(context.WithoutCancel(ctx))) }()
	s, err := e.Spawn(ctx, c)
	if err != nil {
		return err
	}
	for {
		changed := s.Changed()
		if done(s) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// watcher starts the process that ends children when a server is killed outright.
func watcher(_ context.Context, f Facts) []Finding {
	w, err := pty.StartWatcher(f.Watcher)
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = pty.AdoptOrphans()
	}
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return one("watcher", OK, "not needed, or not available on this system: "+err.Error(), "")
	case err != nil:
		return one("watcher", Warning, err.Error(),
			"programs may outlive a server that is killed outright")
	}
	return one("watcher", OK, "nothing outlives a server that is killed outright", "")
}

// terminfo looks for the description of the terminal type that programs get.
func terminfo(context.Context, Facts) []Finding {
	const name = "xterm-256color"
	if runtime.GOOS == "windows" {
		return nil
	}
	dirs := append([]string{os.Getenv("TERMINFO")},
		filepath.SplitList(os.Getenv("TERMINFO_DIRS"))...)
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, filepath.Join(home, ".terminfo"))
	}
	for _, dir := range append(dirs, "/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo",
		"/usr/local/share/terminfo", "/usr/share/lib/terminfo") {
		for _, sub := range []string{"x", "78"} { // macOS names the folder by the letter's code
			path := filepath.Join(dir, sub, name)
			if _, err := os.Stat(path); dir != "" && err == nil {
				return one("terminfo", OK, path, "")
			}
		}
	}
	return one("terminfo", Warning, "no description of "+name,
		"apt-get install ncurses-base, or similar; without it programs draw as on a teletype")
}

// locale checks whether programs will use UTF-8.
func locale(context.Context, Facts) []Finding {
	if runtime.GOOS == "windows" {
		return nil
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		value := os.Getenv(name)
		if value == "" {
			continue
		}
		if utf8Name().MatchString(value) {
			return one("locale", OK, name+"="+value, "")
		}
		return one("locale", Warning,
			name+"="+value+
				" is not UTF-8: many programs draw no lines and no letters beyond ASCII", "export "+
				name+"=C.UTF-8")
	}
	return one("locale", Warning,
		"none of LC_ALL, LC_CTYPE and LANG is set: many programs draw no lines and no letters beyond ASCII", "export LANG=C.UTF-8")
}

var utf8Name = lazy.Regexp(`(?i)utf-?8`)

// shells checks which shells mark their commands when asked to. They run without the user's
// start-up files: shells write to those, as fish does for its variables, and running them may take
// a while.
func shells(ctx context.Context, _ Facts) []Finding {
	home, err := os.MkdirTemp("", "ptywright-doctor-")
	if err != nil {
		return one("shells", Warning, err.Error(), "see that "+os.TempDir()+" can be written")
	}
	defer os.RemoveAll(home)
	env := map[string]string{"HISTFILE": os.DevNull, "ENV": "", "BASH_ENV": ""}
	for _, name := range []string{"HOME", "ZDOTDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
		"XDG_STATE_HOME", "XDG_CACHE_HOME"} {
		env[name] = home
	}
	var all []Finding
	for _, name := range []string{"bash", "zsh", "fish"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		marks := engine.IntegrationNone
		bound, cancel := context.WithTimeoutCause(ctx, checkBound/3,
			errors.New("it showed no mark in time"))
		err = inSession(bound, engine.Config{
			Program: path, ShellIntegration: true, Size: pty.Size{Rows: 24, Cols: 80},
			Dir: home, Env: env,
		}, func(s *engine.Session) bool {
			_, marks = s.Blocks(0)
			return marks != engine.IntegrationNone || s.View().Ended
		})
		cancel()
		if err == nil && marks == engine.IntegrationNone {
			err = errors.New("it ended at once")
		}
		if err != nil {
			all = append(all,
				Finding{"shell " + name, Warning,
					fmt.Sprintf("%s marks no commands: %v", path, err),
					"sessions work; read --blocks and wait --finished do not: see what its system-wide start-up files do"})
			continue
		}
		all = append(all, Finding{"shell " + name, OK, path + " marks its commands", ""})
	}
	if all == nil {
		all = one("shells", Warning, "none of bash, zsh and fish is installed",
			"sessions work; read --blocks and wait --finished need one of them")
	}
	return all
}

// An agent is a program that a bundled plugin drives.
type agent struct {
	program, plugin string
	made            []string // versions that the plugin was made for
}

// agentsKnown are the programs that bundled plugins drive, with the versions that those were made
// for, as in docs/agents.md.
var agentsKnown = []agent{
	{"claude", "claude-code", []string{"2.0.60", "2.1.197", "2.1.328"}},
	{"codex", "codex", []string{"0.169.0"}},
	{"gemini", "gemini-cli", []string{"0.61.0"}},
	{"opencode", "opencode", []string{"1.18.33"}},
}

var number = lazy.Regexp(`\d+\.\d+\.\d+`)

// agents looks for agents, and asks each for its version.
func agents(ctx context.Context, _ Facts) []Finding {
	var all []Finding
	for _, a := range agentsKnown {
		name := "agent " + a.program
		path, err := exec.LookPath(a.program)
		if err != nil {
			all = append(all, Finding{name, Absent, "not installed", ""})
			continue
		}
		bound, cancel := context.WithTimeout(ctx, checkBound/2)
		cmd := exec.CommandContext(bound, path, "--version")
		cmd.WaitDelay = time.Second
		out, err := cmd.Output()
		cancel()
		v := number().FindString(string(out[:min(len(out), 4096)]))
		switch known := strings.Join(a.made, ", "); {
		case err != nil || v == "":
			all = append(all,
				Finding{name, Warning, fmt.Sprintf("%s --version told no version (%v)", path, err),
					"start it by hand and see what it says"})
		case within(v, a.made):
			all = append(all,
				Finding{name, OK,
					fmt.Sprintf("%s %s; plugin %s was made against %s", path, v, a.plugin,
						known), ""})
		default:
			all = append(all,
				Finding{name, Warning,
					fmt.Sprintf("%s %s is newer or older than what plugin %s was made against: %s",
						path, v, a.plugin, known),
					"it mostly works: adapter.explain tells what the plugin takes a screen for"})
		}
	}
	return all
}

// within reports whether a version is in the list, or between its first and last.
func within(v string, made []string) bool {
	return compare(v, made[0]) >= 0 && compare(v, made[len(made)-1]) <= 0
}

// compare compares versions of three numbers.
func compare(a, b string) int {
	var x, y [3]int
	fmt.Sscanf(a, "%d.%d.%d", &x[0], &x[1], &x[2])
	fmt.Sscanf(b, "%d.%d.%d", &y[0], &y[1], &y[2])
	for i := range x {
		if x[i] != y[i] {
			return x[i] - y[i]
		}
	}
	return 0
}

// Versions are all versions that plugins were made for.
func Versions() []string {
	var all []string
	for _, a := range agentsKnown {
		all = append(all, a.made...)
	}
	return all
}

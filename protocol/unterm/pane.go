package unterm

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/internal/lazy"
)

// A pane is a session and its number.
type pane struct {
	number  int
	session *engine.Session
	typed   typed // the unfinished command line, for a strict policy
	set     environment
}

func newPane(number int, s *engine.Session) *pane {
	return &pane{number: number, session: s, typed: typed{turn: make(chan struct{}, 1)}}
}

// panes are the numbers of the engine's sessions.
type panes struct {
	engine  *engine.Engine
	tending sync.WaitGroup // one for each pane that this dialect started

	mu sync.Mutex
	// protects the fields below
	next  int
	known map[engine.ID]*pane
	own   map[*pane]bool // started here
}

// all returns every pane in the order of the numbers: new sessions get a number, closed ones are
// forgotten.
func (p *panes) all() []*pane {
	p.mu.Lock()
	defer p.mu.Unlock()
	sessions := p.engine.List() // under the lock: two goroutines that number at the same time would not agree
	now := make(map[engine.ID]*pane, len(sessions))
	all := make([]*pane, len(sessions))
	for i, s := range sessions {
		known, ok := p.known[s.ID()]
		if !ok {
			known = newPane(p.next, s)
			p.next++
			s.AfterClose(func() { p.drop(known) })
		}
		now[s.ID()], all[i] = known, known
	}
	p.known = now
	slices.SortFunc(all, func(a, b *pane) int { return a.number - b.number })
	return all
}

// drop removes a pane whose session is closed or forgotten.
func (p *panes) drop(gone *pane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if id := gone.session.ID(); p.known[id] == gone {
		delete(p.known, id)
	}
}

// find returns the pane of a number.
func (p *panes) find(number int) (*pane, error) {
	all := p.all()
	if i, ok := slices.BinarySearchFunc(all, number,
		func(a *pane, n int) int { return a.number - n }); ok {
		return all[i], nil
	}
	return nil, fmt.Errorf("Session %d not found", number)
}

// of returns the pane of a session that runs.
func (p *panes) of(s *engine.Session) *pane {
	all := p.all()
	if i := slices.IndexFunc(all, func(a *pane) bool { return a.session == s }); i >= 0 {
		return all[i]
	}
	return newPane(-1, s) // it is already closed
}

// pane is the one that a request names.
func (s *Server) pane(p params) (*pane, error) {
	number, err := p.pane()
	if err != nil {
		return nil, err
	}
	return s.panes.find(number)
}

// A creation says which pane to start. The zero value is a shell of the usual size.
type creation struct {
	program    string
	args       []string
	env        map[string]string
	dir        string
	rows, cols int
}

const (
	// paneRows and paneCols are a pane's default size: Unterm's own.
	paneRows, paneCols = 30, 120
	// deadBound is how long a pane stays after its program has ended: long enough for a polling
	// client, or a person, to see its last output.
	deadBound = time.Minute
	// endBound is how long a pane may take to end.
	endBound = 5 * time.Second
)

// create starts a pane.
func (s *Server) create(c creation) (*pane, error) {
	config := engine.Config{
		Program: c.program, Args: c.args, Dir: c.dir, Env: s.proxy.Environment(),
		Size: pty.Size{Rows: paneRows, Cols: paneCols}, ShellIntegration: len(c.args) == 0,
		MarksOptional: true, ProgramStatus: true,
	}
	if config.Program == "" {
		config.Program = defaultShell()
	}
	for name, value := range c.env {
		config.Env[name] = value
	}
	if c.rows != 0 || c.cols != 0 {
		config.Size = pty.Size{Rows: uint16(min(c.rows, engine.MaxSide+1)),
			Cols: uint16(min(c.cols, engine.MaxSide+1))}
	}
	session, err := s.Spawn(context.Background(), config)
	if err != nil {
		return nil, err
	}
	made := s.panes.of(session)
	s.panes.tend(made)
	return made, nil
}

// defaultShell is the user's.
func defaultShell() string {
	if own := os.Getenv("SHELL"); own != "" {
		return own
	}
	if runtime.GOOS == "windows" {
		if own := os.Getenv("COMSPEC"); own != "" {
			return own
		}
		return "cmd.exe"
	}
	return "/bin/sh"
}

// tend closes a pane some time after its program has ended.
func (p *panes) tend(made *pane) {
	p.mu.Lock()
	if p.own == nil {
		p.own = make(map[*pane]bool)
	}
	p.own[made] = true
	p.mu.Unlock()
	p.tending.Go(func() {
		defer func() {
			p.mu.Lock()
			delete(p.own, made)
			p.mu.Unlock()
		}()
		if _, err := made.session.Wait(context.Background(), hasEnded, engine.Within(-1)); err != nil {
			return // closed
		}
		grace := time.NewTimer(deadBound)
		defer grace.Stop()
		select {
		case <-grace.C:
			bound, cancel := context.WithTimeout(context.Background(), endBound)
			defer cancel()
			_ = made.session.Close(bound) // the server ends what is left of it
		case <-made.session.Closed():
		}
	})
}

// close ends the panes that were started here, and waits for their end.
func (p *panes) close() error {
	p.mu.Lock()
	var own []*engine.Session
	for made := range p.own {
		own = append(own, made.session)
	}
	p.mu.Unlock()
	bound, cancel := context.WithTimeout(context.Background(), endBound)
	defer cancel()
	err := engine.CloseAll(bound, own)
	p.tending.Wait()
	return err
}

// hasEnded matches once all the program's output is there.
var hasEnded engine.Func = func(v *engine.View) bool { return v.Exit != nil }

// paneInfo is a pane as session.list returns it.
type paneInfo struct {
	ID         int        `json:"id"`
	Title      string     `json:"title"`
	Cols       int        `json:"cols"`
	Rows       int        `json:"rows"`
	Scrollback *int       `json:"scrollback_rows,omitempty"` // not in a list
	Cursor     cursorInfo `json:"cursor"`
	Dead       bool       `json:"is_dead"`
	Domain     int        `json:"domain_id"`
	Shell      shellInfo  `json:"shell"`
}

type cursorInfo struct {
	X       int    `json:"x"`
	Y       uint64 `json:"y"` // rows that have left the screen count, too
	Visible *bool  `json:"visible,omitempty"`
}

type shellInfo struct {
	Type    string  `json:"shell_type"`
	Process string  `json:"process_name"` // path of the foreground process; "" when unknown
	Cwd     *string `json:"cwd"`          // a file: URL
}

// info describes a pane.
func (s *reader) info(p *pane) paneInfo {
	l := s.look(p.session)
	process, _ := p.session.Foreground()
	i := paneInfo{
		ID: p.number, Title: titleOf(l, p.session, process), Cols: l.Raw.Screen.Cols,
		Rows: l.Raw.Screen.Rows, Cursor: cursorOf(l.Raw), Dead: l.Raw.Exit != nil,
		Shell: shellInfo{Type: shellType(process), Process: l.Clean(process.Path)},
	}
	if dir := dirOf(l.Raw, process); dir != "" {
		cwd := l.Clean(fileURL(dir))
		i.Shell.Cwd = &cwd
	}
	return i
}

// titleOf is the title that the program has set, else the name of the process in the foreground.
func titleOf(l *reading.View, session *engine.Session, process engine.Process) string {
	switch {
	case l.Raw.Screen.TitleSet && l.Raw.Screen.Title != "":
		return l.Clean(l.Raw.Screen.Title)
	case process.Name != "":
		return l.Clean(process.Name)
	}
	return l.Clean(filepath.Base(session.Config().Program))
}

// cursorOf is the cursor's position, counted from the first row ever.
func cursorOf(v *engine.View) cursorInfo {
	c := v.Screen.Cursor
	return cursorInfo{X: c.Col, Y: topOf(v) + uint64(c.Row), Visible: &c.Visible}
}

// topOf is the number of the screen's first row.
func topOf(v *engine.View) uint64 {
	h := v.Screen.History()
	return h.Dropped() + uint64(h.Len())
}

// dirOf is the directory that the shell reports, else that of the foreground process.
func dirOf(v *engine.View, process engine.Process) string {
	if sh := v.Reports.Shell; sh != nil && sh.Dir != "" {
		return sh.Dir
	}
	return process.Dir
}

// fileURL is a path in Unterm's form.
func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // a drive
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// pathOf accepts a directory as a path or as a file: URL.
func pathOf(dir string) string {
	u, err := url.Parse(dir)
	if err != nil || u.Scheme != "file" {
		return dir
	}
	if runtime.GOOS == "windows" {
		return filepath.FromSlash(strings.TrimPrefix(u.Path, "/"))
	}
	return u.Path
}

// programName is a program's name without the hyphen of a login shell, a version or an extension.
var programName = lazy.Regexp(`^-?(.*?)[-.0-9]*(?:\.exe)?$`)

// nameOf is the bare name of a process, in lower case.
func nameOf(process engine.Process) string {
	name := process.Name
	if process.Path != "" {
		name = filepath.Base(process.Path)
	}
	return programName().FindStringSubmatch(strings.ToLower(name))[1]
}

// shellTypes are the shells that Unterm has names for.
var shellTypes = map[string]string{
	"pwsh": "powershell", "powershell": "powershell", "cmd": "cmd", "bash": "bash", "zsh": "zsh",
	"fish": "fish", "nu": "nushell",
}

func shellType(process engine.Process) string {
	if t, ok := shellTypes[nameOf(process)]; ok {
		return t
	}
	return "unknown"
}

// otherShells have no name of their own, and are shells all the same.
var otherShells = []string{"sh", "dash", "ash", "ksh", "mksh", "oksh", "yash", "csh", "tcsh",
	"rbash", "elvish", "xonsh", "busybox"}

// idle reports whether a shell waits for a command. One that marks its commands says so itself; any
// other is idle when it has the terminal. A shell started by another may be running a script: it
// waits for a command when it reads keys and not lines, which shells with a line editor do only at
// their prompt.
func idle(session *engine.Session, v *engine.View, process engine.Process) bool {
	if v.Exit != nil {
		return false
	}
	if sh := v.Reports.Shell; sh != nil && sh.Phase != "" && process.Leader {
		return sh.Phase != engine.ShellRunning
	}
	if process.Leader && startsFor(session, v) > 0 {
		return false
	}
	name := nameOf(process)
	if _, known := shellTypes[name]; !known && !slices.Contains(otherShells, name) {
		return false
	}
	if process.Leader {
		return true
	}
	mode, err := session.LineMode()
	return err == nil && !mode.Canonical
}

// startsFor is how much longer a shell that should mark its prompts, and has not yet, may be
// starting: it runs the user's start-up files, and input waits. 0: it has started, or will not mark
// any.
func startsFor(session *engine.Session, v *engine.View) time.Duration {
	if sh := v.Reports.Shell; !session.Config().ShellIntegration || sh != nil && sh.Phase != "" {
		return 0
	}
	return max(0, shellBound-v.At.Sub(session.Started()))
}

// rowText is a row in Unterm's form.
func rowText(row string) string { return strings.TrimRightFunc(row, unicode.IsSpace) }

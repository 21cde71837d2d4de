package acp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/internal/ansi"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/redact"
)

const (
	// DefaultOutputBytes is how much output a terminal keeps by default: the example of the ACP
	// pages.
	DefaultOutputBytes = 1 << 20
	// MaxOutputBytes is the default maximum of that: an answer of eight times the default is more
	// than a model reads, and is still one message.
	MaxOutputBytes = 8 << 20
	// DefaultWaits is how many terminal/wait_for_exit a connection may have pending, a quarter less
	// than the requests that [protocol.Limits] lets wait by default: beyond those, one that waits
	// would delay the rest.
	DefaultWaits = 192

	// columns is how wide terminals are. Nobody looks at them: text that programs cut to the width
	// of a screen would be lost, and padding costs an agent little.
	columns, rows = 200, 24

	// killGrace is how long a program has between SIGTERM and the end of all that it started.
	killGrace = 1500 * time.Millisecond
	// endBound is how long the terminals of an ended connection may take to end by themselves.
	endBound = 2 * time.Second
)

// Errors of terminals. All are typed or one of these.
var (
	// ErrNotFound: the terminal was never created here or by this ACP session, or was released.
	ErrNotFound = errors.New("resource not found")
	// ErrClosed: the connection is over and starts nothing more.
	ErrClosed = errors.New("the connection is over")
)

// A NotFoundError names an unknown terminal. It is [ErrNotFound].
type NotFoundError struct{ Terminal string }

func (e *NotFoundError) Error() string {
	return "unknown terminal " + protocol.Quote(e.Terminal, 32)
}

// Unwrap returns [ErrNotFound].
func (e *NotFoundError) Unwrap() error { return ErrNotFound }

// Options configure a [Dialect], [Terminals] and a [Proxy]. The zero value works.
type Options struct {
	// TrustRaw turns redaction off, and lets an agent ask for control sequences too.
	TrustRaw bool
	// OutputBytes is the most that a terminal keeps, whatever its agent asks for; 0:
	// MaxOutputBytes.
	OutputBytes int
	// Waits is how many terminal/wait_for_exit a connection may have pending; 0: DefaultWaits.
	Waits int
	// Dir returns where terminals of an ACP session start by default; "": where this process is.
	Dir func(session string) string
}

// Terminals are those of one connection: a namespace that no other connection sees. Their methods
// may be called from any number of goroutines.
type Terminals struct {
	host  *host.Host
	opts  Options
	hide  *redact.Redactor // nil: output is shown unchanged
	words *redact.Redactor // of errors
	waits chan struct{}    // a slot for each pending wait

	mu sync.Mutex
	// protects the fields below
	terminals map[string]*Terminal
	released  map[string]string // the ACP sessions of released terminals; a release may be repeated
	closed    bool
}

// maxReleased bounds the memory of released terminals: a release is repeated at once or never.
const maxReleased = 4096

// NewTerminals returns an empty set; its terminals will be sessions of h.
func NewTerminals(h *host.Host, o Options) *Terminals {
	if o.OutputBytes <= 0 {
		o.OutputBytes = MaxOutputBytes
	}
	if o.Waits <= 0 {
		o.Waits = DefaultWaits
	}
	t := &Terminals{
		host: h, opts: o, words: h.Redactor(), waits: make(chan struct{}, o.Waits),
		terminals: map[string]*Terminal{}, released: map[string]string{},
	}
	if !o.TrustRaw {
		t.hide = t.words
	}
	return t
}

// A Spec says what a terminal runs.
type Spec struct {
	Session string // the ACP session that owns it
	Command string
	Args    []string
	Env     map[string]string
	Dir     string // absolute; "": that of the session
	Limit   int    // bytes of output kept; negative: DefaultOutputBytes
	Input   bool   // standard input is the terminal, where another client types; false: the null device
	Raw     bool   // output keeps its control sequences
}

// A Terminal is one command, running or not, until it is released. Its methods may be called from
// any number of goroutines.
type Terminal struct {
	id      string
	session string // the ACP session
	command string
	dir     string
	run     *engine.Session
	tail    *tail
}

// ID returns the terminal's name on the wire. With a prefix, it is also the engine session's name.
func (t *Terminal) ID() string { return t.id }

// Create starts a command and returns its terminal at once. Errors: *[protocol.ParamError],
// *[engine.LimitError], *[engine.EnvError], *[redact.EnvLimitError], *[pty.StartError],
// [ErrClosed], [engine.ErrEngineClosed].
func (h *Terminals) Create(s Spec) (*Terminal, error) {
	if s.Dir != "" && !filepath.IsAbs(s.Dir) {
		return nil, &protocol.ParamError{Path: "cwd", Expected: "an absolute path",
			Got: protocol.Got(s.Dir)}
	}
	if s.Raw && !h.opts.TrustRaw {
		return nil, &protocol.ParamError{Path: "_meta.ptywright.raw",
			Expected: "nothing: the operator has not said --trust-raw", Got: "true"}
	}
	if s.Dir == "" && h.opts.Dir != nil {
		s.Dir = h.opts.Dir(s.Session)
	}
	if s.Limit < 0 {
		s.Limit = DefaultOutputBytes
	}
	var err error
	t := &Terminal{
		session: s.Session, command: s.Command, dir: s.Dir,
		tail: &tail{limit: min(s.Limit, h.opts.OutputBytes), plain: ansi.Plain{Raw: s.Raw}},
	}
	if t.run, err = h.start(s, t.tail); err != nil {
		return nil, err
	}
	if h.hide != nil { // set before any other goroutine knows the terminal
		t.tail.hide = h.hide.For(string(t.run.ID()))
	}
	t.id = prefix + string(t.run.ID())
	h.mu.Lock()
	closed := h.closed
	if !closed {
		h.terminals[t.id] = t
	}
	h.mu.Unlock()
	if closed {
		return nil, errors.Join(ErrClosed, end(t.run))
	}
	return t, nil
}

// prefix makes names that no agent uses for display-only terminals, which are named after tool
// calls.
const prefix = "ptywright-"

// quiet are variables that keep programs from starting a pager. The agent's own values win.
var quiet = map[string]string{"PAGER": "", "GIT_PAGER": "cat", "MANPAGER": "cat"}

// start runs the command: as a program, or, if there is none of that name and there are no
// arguments, as a shell command line. The protocol asks for a program; many agents send a line.
func (h *Terminals) start(s Spec, t *tail) (*engine.Session, error) {
	env := maps.Clone(quiet)
	maps.Copy(env, s.Env)
	config := engine.Config{
		Program: s.Command, Args: s.Args, Dir: s.Dir, Env: env,
		Size:      pty.Size{Rows: rows, Cols: columns},
		NullInput: !s.Input, Taps: []engine.Tap{t}, Kept: true, // until its release
	}
	run, err := h.host.Spawn(context.Background(), config)
	var start *pty.StartError
	if err == nil || len(s.Args) > 0 || !isLine(s.Command) ||
		!errors.As(err, &start) || start.Op != "lookup" || !missing(err) {
		return run, err
	}
	config.Program, config.Args = shell(s.Command)
	return h.host.Spawn(context.Background(), config)
}

// missing reports whether the program does not exist. A path that continues after a file, or one
// that is too long, does not exist.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || notAName(err)
}

// isLine reports whether a command can only be meant for a shell: it has blanks, or characters that
// are special to a shell.
func isLine(command string) bool {
	return strings.ContainsAny(command, " \t\n;&|<>()$`\"'*?[]{}~#=!")
}

// shell returns the command that runs a line in a shell: bash where it exists, since that is what
// models write.
func shell(line string) (program string, args []string) {
	if runtime.GOOS == "windows" {
		return "cmd.exe", []string{"/d", "/s", "/c", line}
	}
	if _, err := exec.LookPath("bash"); err == nil {
		return "bash", []string{"-c", line}
	}
	return "/bin/sh", []string{"-c", line}
}

// Find returns a terminal of an ACP session. The error is a *[NotFoundError].
func (h *Terminals) Find(session, id string) (*Terminal, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.terminals[id]; t != nil && t.session == session {
		return t, nil
	}
	return nil, &NotFoundError{id}
}

// Release forgets a terminal and returns it, for [Terminal.Close]; nil when it was released before,
// which may be repeated. It does not block. The error is a *[NotFoundError].
func (h *Terminals) Release(session, id string) (*Terminal, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.terminals[id]
	if t == nil || t.session != session {
		if of, again := h.released[id]; again && of == session {
			return nil, nil
		}
		return nil, &NotFoundError{id}
	}
	delete(h.terminals, id)
	for old := range h.released {
		if len(h.released) < maxReleased {
			break
		}
		delete(h.released, old)
	}
	h.released[id] = session
	return t, nil
}

// Close releases every terminal, and starts no more. It returns when everything that they started
// is gone, or could not be ended.
func (h *Terminals) Close() error {
	h.mu.Lock()
	h.closed = true
	var all []*engine.Session
	for _, t := range h.terminals {
		all = append(all, t.run)
	}
	h.terminals = map[string]*Terminal{}
	h.mu.Unlock()
	return end(all...)
}

// end closes sessions that nobody will ask for again.
func end(all ...*engine.Session) error {
	ctx, cancel := context.WithTimeout(context.Background(), endBound)
	defer cancel()
	if err := engine.CloseAll(ctx, all); err != nil {
		return fmt.Errorf("end what terminals have started: %w", err)
	}
	return nil
}

// Output returns what the program has written, as plain text with secrets hidden, at most as many bytes of it as the
// terminal keeps; whether its beginning is missing; and how the program ended, nil while it runs. It
// does not block.
func (t *Terminal) Output() (text string, truncated bool, exit *engine.Exit) {
	exit = t.run.View().Exit // taken first: then all earlier output is there
	text, truncated = t.tail.shown(exit != nil)
	return text, truncated, exit
}

// Wait returns how the program ended, once all its output can be read. The error is the cause of
// ctx's end.
func (t *Terminal) Wait(ctx context.Context) (*engine.Exit, error) {
	for {
		changed := t.run.Changed() // taken before looking, so that no change is missed
		if exit := t.run.View().Exit; exit != nil {
			return exit, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Kill ends the program and all that it started, and returns when nothing of it is left: SIGTERM to
// its process group, then what [pty.PTY.Kill] sends to the rest and to processes that ignore it.
// The terminal can still be read. Errors: *[pty.SurvivorsError], the cause of ctx's end, which
// speeds it up but spares no process.
func (t *Terminal) Kill(ctx context.Context) error {
	if t.run.View().Exit != nil {
		return t.run.Kill(ctx)
	}
	if _, err := t.run.Do(ctx, engine.Signal(pty.SignalTerm)); err != nil {
		return t.run.Kill(ctx)
	}
	grace, stop := context.WithTimeout(ctx, killGrace)
	defer stop()
	if _, err := t.Wait(grace); err == nil {
		return t.run.Kill(ctx)
	}
	err := t.run.Kill(grace) // the grace period is over: SIGKILL at once
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		_, err = t.Wait(ctx)
	}
	return err
}

// Close is Kill, and releases what the terminal owns. Pending waits for the program's end return.
func (t *Terminal) Close(ctx context.Context) error {
	return errors.Join(t.Kill(ctx), t.run.Close(ctx))
}

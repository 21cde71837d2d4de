package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/pulse"
)

// ID names a session: "s1", "s2" and so on, never reused in an engine's life. Clients must take it as opaque.
type ID string

// DefaultSessions is how many sessions may run when an engine is not told otherwise: the 1,024 of the design. Each
// needs up to three descriptors and, idle, some tens of KiB.
const DefaultSessions = 1024

// Options configure an engine. The zero value works.
type Options struct {
	Sessions int                              // at most so many run at a time; 0: DefaultSessions
	Side     int                              // rows or columns of a screen at most; 0: MaxSide, which is the most
	Start    func(c pty.Command) (PTY, error) // starts children; nil: pty.Start
	Watch    Watcher                          // is told of every child that pty.Start started; may be nil
	// Ended and EndedBytes bound the sessions that have ended and are kept to be read, by number and by the memory of all together;
	// 0: DefaultEnded and DefaultEndedBytes. Past either, the oldest are forgotten: see [ForgottenError].
	Ended, EndedBytes int
	// Typed is told what is known of each line that is typed into a session while its terminal does not echo: before the line's end
	// is typed, and again when more is known, each time for itself where the same is typed twice; see [SecretInput]. It must neither block nor use s, but for what never changes. nil:
	// nobody wants to know, and all that is typed so is kept out of recordings.
	Typed func(s *Session, line string, is Standing)
	// Asks is that of [SecretInput]. It must not block. nil: no screen asks for a secret.
	Asks func(line, above, typed string) bool
	Log  *slog.Logger // diagnostics; nil: slog.Default
	// Version is what a program that asks for the terminal's version (XTVERSION) is told beside the
	// name: see [vt.Options]. "": nothing.
	Version string
}

// A Watcher ends recorded children when this process is killed outright; *[pty.Watcher] is one.
type Watcher interface {
	Add(p *pty.PTY)
	Remove(p *pty.PTY)
}

// An Engine is the registry of sessions. Its methods may be called by any number of goroutines.
type Engine struct {
	opts   Options
	nonce  string // tells this engine's children from another's
	pulse  pulse.Pulse
	counts counts

	mu sync.Mutex
	// protects the fields below
	sessions  map[ID]*Session
	followers map[*Follower]bool
	order     []*Session // by creation
	starting  int        // sessions being started, which count against the limit
	last      int
	closed    bool
	over      overs
	names     names

	starts  sync.WaitGroup // the same sessions, for Close to wait for
	tidiers sync.WaitGroup // goroutines in tidy, for Close to wait for
	looking chan struct{}  // held by whoever looks which sessions have processes left
}

// New returns an engine without sessions.
func New(o Options) *Engine {
	if o.Sessions <= 0 {
		o.Sessions = DefaultSessions
	}
	if o.Ended <= 0 {
		o.Ended = DefaultEnded
	}
	if o.EndedBytes <= 0 {
		o.EndedBytes = DefaultEndedBytes
	}
	if o.Side <= 0 || o.Side > MaxSide {
		o.Side = MaxSide
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Start == nil {
		o.Start = func(c pty.Command) (PTY, error) {
			p, err := pty.Start(c)
			if err != nil {
				return nil, err
			}
			if o.Watch != nil {
				o.Watch.Add(p)
			}
			return p, nil
		}
	}
	return &Engine{
		opts: o, nonce: rand.Text(), sessions: map[ID]*Session{}, followers: map[*Follower]bool{},
		over: overs{forgotten: map[ID]*ForgottenError{}}, looking: make(chan struct{}, 1),
	}
}

// maxFollowed bounds the sessions that a follower has not asked for yet: those that end before it does keep their
// memory so long. One that asks so rarely does not learn of some that came and went.
const maxFollowed = 64

// A Follower learns of every session, also of those that were created and closed between two looks. Of one that has ended and was
// forgotten meanwhile it learns nothing: what is forgotten is kept by nobody.
type Follower struct {
	engine *Engine
	fresh  []*Session // guarded by Engine.mu
}

// Follow returns a follower of sessions that are created from now on. Stop it when it is of no use any more.
func (e *Engine) Follow() *Follower {
	f := &Follower{engine: e}
	e.mu.Lock()
	e.followers[f] = true
	e.mu.Unlock()
	return f
}

// New returns the sessions that were created since it was last asked, in order.
func (f *Follower) New() []*Session {
	f.engine.mu.Lock()
	defer f.engine.mu.Unlock()
	fresh := f.fresh
	f.fresh = nil
	return fresh
}

// Stop ends the following.
func (f *Follower) Stop() {
	f.engine.mu.Lock()
	delete(f.engine.followers, f)
	f.engine.mu.Unlock()
}

// Limit returns how many sessions may run at a time.
func (e *Engine) Limit() int { return e.opts.Sessions }

// EndedLimit returns how many sessions that have ended are kept.
func (e *Engine) EndedLimit() int { return e.opts.Ended }

// ErrNoSession: there is no session of that id or name.
var ErrNoSession = errors.New("unknown session")

// ErrEngineClosed: the engine is being closed and starts nothing more.
var ErrEngineClosed = errors.New("the server is shutting down")

// A LimitError says which bound of the engine is reached.
type LimitError struct {
	What  string // "sessions"
	Limit int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the limit of %d %s is reached: end or close some first", e.Limit, e.What)
}

// Spawn starts a session, unless ctx has ended; once it runs, ctx means nothing to it. Errors: the cause of ctx's end, *[LimitError], *[NameError], *[NameTakenError], *[SizeError], *[EnvError], *[ShellError], *[FileError],
// *[pty.StartError], [pty.MemoryLimitError], [ErrEngineClosed].
// Taps of a session that could not be started are closed.
func (e *Engine) Spawn(ctx context.Context, c Config) (*Session, error) {
	s, err := e.spawn(ctx, c)
	if err != nil {
		for _, t := range c.Taps {
			_ = t.Close() // nothing was written
		}
	}
	return s, err
}

func (e *Engine) spawn(ctx context.Context, c Config) (*Session, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if c.Size.Rows == 0 && c.Size.Cols == 0 {
		c.Size.Rows, c.Size.Cols = 24, 80
	}
	rows, cols := int(c.Size.Rows), int(c.Size.Cols)
	if err := e.checkSize(rows, cols); err != nil {
		return nil, err
	}
	switch {
	case c.TranscriptChars == 0:
		c.TranscriptChars = DefaultTranscriptChars
	case c.TranscriptChars < 0:
		c.TranscriptChars = 0
	}
	c.MaxTime, c.MaxIdle, c.MaxMemory = max(c.MaxTime, 0), max(c.MaxIdle, 0), max(c.MaxMemory, 0)
	if c.Name != "" {
		if err := CheckName(c.Name); err != nil {
			return nil, err
		}
	}
	id, err := e.reserve(c.Name)
	if err != nil {
		return nil, err
	}
	var s *Session
	defer func() { e.settle(c.Name, s) }()

	env, err := c.environ()
	if err != nil {
		return nil, err
	}
	mark := ""
	if !c.ClearEnv {
		mark = markName + "=" + e.nonce + "-" + string(id)
	}
	start := &shellStart{args: c.Args, env: env}
	if c.ShellIntegration {
		marked, err := integrate(c.Program, c.Args, env)
		switch {
		case err == nil:
			start = marked
		case c.MarksOptional && errors.As(err, new(*ShellError)):
			c.ShellIntegration = false
		default:
			return nil, err
		}
	}
	p, err := e.opts.Start(pty.Command{Path: c.Program, Args: start.args, Dir: c.Dir, Env: start.env, Size: c.Size, Mark: mark, NullInput: c.NullInput, MaxMemory: c.MaxMemory})
	if err != nil {
		start.end()
		return nil, err
	}
	now := time.Now()
	s = &Session{
		id: id, config: c, started: now, pty: p, engine: e, log: e.opts.Log,
		input:   &inputQueue{pty: p},
		turn:    make(chan struct{}, 1),
		tapping: make(chan struct{}, 1),
		sizing:  make(chan struct{}, 1),
		reaped:  make(chan struct{}),
		pumped:  make(chan struct{}),
		shell:   start,
		environ: env,
		image:   pty.Image(p.PID()),
		term: vt.New(rows, cols, vt.Options{
			Scrollback: c.Scrollback, ProgramStatus: c.ProgramStatus, Theme: c.Theme,
			Version: e.opts.Version,
		}),
		rec:     recorder{limit: c.TranscriptChars},
		changed: now,
		taps:    c.Taps,
		blocks:  blocks{trusted: start.word != ""},
	}
	s.life, s.end = context.WithCancel(context.Background())
	s.later = time.AfterFunc(time.Hour, func() {
		s.telling.Store(false)
		s.beat()
	})
	s.later.Stop()
	s.secrets.EchoOff, s.secrets.Asks = c.EchoOff, e.opts.Asks
	if told := e.opts.Typed; told != nil {
		s.secrets.Tell = func(line string, is Standing) { told(s, line, is) }
	}
	s.settled = time.AfterFunc(time.Hour, func() { s.lookAfter(false) })
	s.settled.Stop()
	drain := pty.NewDrain(s.pty)
	go s.pump(drain)
	go s.reaper(drain)
	s.tether()
	e.counts.started.Add(1)
	s.log.Debug("a session has begun", "session", string(id), "program", c.Program, "pid", p.PID())
	return s, nil
}

// reserve takes a place, an id and a name for a session that is about to be started.
func (e *Engine) reserve(name string) (ID, error) {
	for looked := false; ; looked = true {
		e.mu.Lock()
		// What has ended counts only until it is known that nothing of it is left, and past the bound of what is kept: what
		// cannot be forgotten, as an adapter's session, would otherwise be bounded by nothing.
		running := len(e.sessions) - e.over.counted()
		fits := running+e.starting < e.opts.Sessions && len(e.sessions)+e.starting < e.opts.Sessions+e.opts.Ended
		switch {
		case e.closed:
			e.mu.Unlock()
			return "", ErrEngineClosed
		case fits:
			if err := e.names.take(name); err != nil {
				e.mu.Unlock()
				return "", err
			}
			e.starting++
			e.starts.Add(1)
			e.last++
			id := ID("s" + strconv.Itoa(e.last))
			e.mu.Unlock()
			return id, nil
		case looked:
			e.mu.Unlock()
			return "", &LimitError{What: "sessions", Limit: e.opts.Sessions}
		}
		e.mu.Unlock()
		e.settleEnded()
	}
}

// settle ends a reservation; s is nil when nothing was started.
func (e *Engine) settle(name string, s *Session) {
	e.mu.Lock()
	e.starting--
	e.names.settle(name, s)
	if s != nil {
		e.sessions[s.id] = s
		e.order = append(e.order, s)
		if s.over.ended { // while it was being started
			e.addEnded(s)
		}
		for f := range e.followers {
			if len(f.fresh) < maxFollowed {
				f.fresh = append(f.fresh, s)
			}
		}
	}
	e.mu.Unlock()
	e.starts.Done()
	e.pulse.Beat()
}

// Session returns the session of that id or name: of a name the one whose program runs, or else the newest that has ended. Errors: a *[ForgottenError] of one that has ended and was forgotten, else
// [ErrNoSession], which a ForgottenError is too.
func (e *Engine) Session(id ID) (*Session, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	id = e.names.resolve(id)
	if s, ok := e.sessions[id]; ok {
		return s, nil
	}
	if gone, ok := e.over.forgotten[id]; ok {
		return nil, gone
	}
	return nil, ErrNoSession
}

// List returns all sessions in the order of their creation, those that have ended too.
func (e *Engine) List() []*Session {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.order)
}

// Changed returns a channel that is closed when any session next changes, appears or goes. Take it before looking.
func (e *Engine) Changed() <-chan struct{} { return e.pulse.Next() }

// forget takes a session out of the registry.
func (e *Engine) forget(s *Session) {
	e.mu.Lock()
	e.remove(s)
	e.mu.Unlock()
	e.pulse.Beat()
}

// remove is forget with mu held.
func (e *Engine) remove(s *Session) {
	if e.sessions[s.id] != s {
		return
	}
	delete(e.sessions, s.id)
	is := func(x *Session) bool { return x == s }
	e.order = slices.DeleteFunc(e.order, is)
	e.over.remove(s)
	e.names.remove(s)
}

// Close ends every session and everything their programs have started, and refuses new ones. It returns when all of it
// is gone or could not be ended. Errors are those of [Session.Close], joined.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.starts.Wait()
	e.tidiers.Wait()
	return CloseAll(ctx, e.List())
}

// CloseAll closes several sessions at the same time, with one look at the process table a round for all of them. It
// returns when each is gone. Errors are those of [Session.Close], joined.
func CloseAll(ctx context.Context, all []*Session) error {
	var real []*pty.PTY // ended together: one look at the process table serves all
	for _, s := range all {
		s.refuse()
		if p, ok := s.pty.(*pty.PTY); ok {
			real = append(real, p)
		}
	}
	errs := make([]error, len(all)+1)
	errs[len(all)] = pty.KillAll(ctx, real)
	var wg sync.WaitGroup
	for i, s := range all {
		wg.Go(func() { errs[i] = s.Close(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

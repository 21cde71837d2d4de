package engine

import (
	"cmp"
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
	"github.com/ptywright/ptywright/internal/pulse"
)

// ID names a session: "s1", "s2" and so on, never reused in an engine's life. It is opaque to
// clients.
type ID string

// DefaultSessions is how many sessions may run by default: the 1,024 of the design. Each needs up
// to three descriptors and, idle, some tens of KiB.
const DefaultSessions = 1024

// Options configure an engine. The zero value works.
type Options struct {
	Sessions int                              // limit on running sessions; 0: DefaultSessions
	Side     int                              // limit on rows and columns; 0: MaxSide, the maximum
	Start    func(c pty.Command) (PTY, error) // starts children; nil: pty.Start
	Watch    Watcher                          // gets every child that pty.Start started; may be nil
	// Ended and EndedBytes bound the sessions that have ended and can still be read, by number and
	// by their total memory; 0: DefaultEnded and DefaultEndedBytes. Past either, the oldest are
	// forgotten: see [ForgottenError].
	Ended, EndedBytes int
	// Typed is called with what is known of each line that is typed into a session while its
	// terminal does not echo: before the line's end is typed, and again when more is known, once
	// for each occurrence of the same line; see [SecretInput]. It must not block, and may use only
	// those methods of s whose result never changes. nil: every such line is kept out of
	// recordings.
	Typed func(s *Session, line string, is Standing)
	// Asks is [SecretInput].Asks. It must not block. nil: no screen asks for a secret.
	Asks func(line, above, typed string) bool
	Log  *slog.Logger // diagnostics; nil: slog.Default
	// HistoryBytes is that of sessions whose [Config] has 0; 0 and negative values mean the same as
	// there.
	HistoryBytes int
	// Version is what a program that asks for the terminal's version (XTVERSION) gets beside the
	// name: see [vt.Options]. "": only the name.
	Version string
}

// A Watcher ends recorded children when this process is killed outright; *[pty.Watcher] implements
// it.
type Watcher interface {
	Add(p *pty.PTY)
	Remove(p *pty.PTY)
}

// An Engine is the registry of sessions. Its methods are safe for concurrent use.
type Engine struct {
	opts   Options
	nonce  string // tells this engine's children from another's
	epoch  string
	pulse  pulse.Pulse
	noted  pulse.Pulse // beats when an event of any session is noted
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
	looking chan struct{}  // held while finding out which sessions have processes left
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
		opts: o, nonce: rand.Text(), epoch: rand.Text(),
		sessions: map[ID]*Session{}, followers: map[*Follower]bool{},
		over: overs{forgotten: map[ID]*ForgottenError{}}, looking: make(chan struct{}, 1),
	}
}

// maxFollowed bounds the sessions that a follower has not fetched yet: those that end before it
// does keep their memory until then. A follower that falls further behind misses some that came and
// went.
const maxFollowed = 64

// A Follower learns of every session, including those created and closed between two calls of
// [Follower.New]. It misses those that ended and were forgotten in between: nothing keeps them.
type Follower struct {
	engine *Engine
	pulse  pulse.Pulse
	fresh  []*Session // guarded by Engine.mu
}

// Follow returns a follower of sessions that are created from now on. Stop it when it is no longer
// needed.
func (e *Engine) Follow() *Follower {
	f := &Follower{engine: e}
	e.mu.Lock()
	e.followers[f] = true
	e.mu.Unlock()
	return f
}

// New returns the sessions that were created since the last call, in order.
func (f *Follower) New() []*Session {
	f.engine.mu.Lock()
	defer f.engine.mu.Unlock()
	fresh := f.fresh
	f.fresh = nil
	return fresh
}

// Appeared returns a channel that is closed when a session is next created. Take it before
// [Follower.New] and [Engine.List].
func (f *Follower) Appeared() <-chan struct{} { return f.pulse.Next() }

// Stop ends the follower.
func (f *Follower) Stop() {
	f.engine.mu.Lock()
	delete(f.engine.followers, f)
	f.engine.mu.Unlock()
}

// Epoch returns a random word that no other engine has: ids, sequences and positions mean nothing
// in another epoch.
func (e *Engine) Epoch() string { return e.epoch }

// Limit returns how many sessions may run at a time.
func (e *Engine) Limit() int { return e.opts.Sessions }

// EndedLimit returns how many ended sessions are kept.
func (e *Engine) EndedLimit() int { return e.opts.Ended }

// HistoryLimit returns how many bytes a session keeps to show its past, unless its configuration
// says otherwise; 0: none.
func (e *Engine) HistoryLimit() int {
	if e.opts.HistoryBytes == 0 {
		return DefaultTranscriptChars
	}
	return max(e.opts.HistoryBytes, 0)
}

// ErrNoSession: no session has that id or name.
var ErrNoSession = errors.New("unknown session")

// ErrEngineClosed: the engine is being closed and starts no more sessions.
var ErrEngineClosed = errors.New("the server is shutting down")

// A LimitError says which limit of the engine is reached.
type LimitError struct {
	What  string // "sessions"
	Limit int
	Do    string // what helps; "": end or close some first
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the limit of %d %s is reached: %s", e.Limit, e.What,
		cmp.Or(e.Do, "end or close some first"))
}

// Spawn starts a session, unless ctx has ended; once the session runs, ctx no longer matters. Taps
// of a session that could not be started are closed. Errors: the cause of ctx's end, *[LimitError],
// *[NameError], *[NameTakenError], *[TagError], *[SizeError], *[EnvError], *[ShellError], *[FileError],
// *[pty.StartError], [pty.MemoryLimitError], [ErrEngineClosed].
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
	if c.HistoryBytes == 0 {
		c.HistoryBytes = e.opts.HistoryBytes
	}
	if c.HistoryBytes == 0 {
		c.HistoryBytes = max(c.TranscriptChars, DefaultTranscriptChars)
	}
	c.MaxTime, c.MaxIdle, c.MaxMemory = max(c.MaxTime, 0), max(c.MaxIdle, 0), max(c.MaxMemory, 0)
	if c.Name != "" {
		if err := CheckName(c.Name); err != nil {
			return nil, err
		}
	}
	if err := CheckTags(c.Tags); err != nil {
		return nil, err
	}
	c.Tags = slices.Clone(c.Tags)
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
	p, err := e.opts.Start(pty.Command{Path: c.Program, Args: start.args, Dir: c.Dir,
		Env: start.env, Size: c.Size, Mark: mark, NullInput: c.NullInput, MaxMemory: c.MaxMemory})
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
		final:   make(chan struct{}),
		pumped:  make(chan struct{}),
		environ: env,
		image:   pty.Image(p.PID()),
		taps:    c.Taps,
		fold: fold{
			rec:     &recorder{limit: c.TranscriptChars},
			blocks:  blocks{trusted: start.word != ""},
			shell:   start,
			changed: now,
		},
	}
	for _, t := range c.Taps {
		if _, ok := t.(EventTap); ok {
			s.eventTaps.Store(true)
		}
	}
	s.term = s.newTerminal()
	s.past = newPast(&s.fold, c.HistoryBytes, now)
	s.life, s.end = context.WithCancel(context.Background())
	s.later = time.AfterFunc(time.Hour, func() {
		s.waking.Store(false)
		s.beat()
	})
	s.later.Stop()
	s.secrets.EchoOff, s.secrets.Asks = c.EchoOff, e.opts.Asks
	if told := e.opts.Typed; told != nil {
		s.secrets.Tell = func(line string, is Standing) { told(s, line, is) }
	}
	s.settled = time.AfterFunc(time.Hour, func() { s.lookAfter(false) })
	s.settled.Stop()
	s.frame = time.AfterFunc(time.Hour, s.showFrame)
	s.frame.Stop()
	drain := pty.NewDrain(s.pty)
	go s.pump(drain)
	go s.reaper(drain)
	s.tether()
	e.counts.started.Add(1)
	s.log.Debug("a session has begun", "session", string(id), "program", c.Program, "pid", p.PID())
	return s, nil
}

// reserve takes a slot, an id and a name for a session that is about to be started.
func (e *Engine) reserve(name string) (ID, error) {
	for looked := false; ; looked = true {
		e.mu.Lock()
		// An ended session stops counting once it is known that none of its processes is left, up
		// to the bound on kept sessions: those that cannot be forgotten, such as an adapter's,
		// would otherwise be unbounded.
		running := len(e.sessions) - e.over.counted()
		fits := running+e.starting < e.opts.Sessions &&
			len(e.sessions)+e.starting < e.opts.Sessions+e.opts.Ended
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
			f.pulse.Beat()
		}
	}
	e.mu.Unlock()
	e.starts.Done()
	e.pulse.Beat()
}

// Session returns the session of that id or name: for a name, the running one, or else the newest
// that has ended. Errors: a *[ForgottenError] for a session that ended and was forgotten, otherwise
// [ErrNoSession], which a ForgottenError also is.
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

// List returns all sessions in the order of their creation, including ended ones.
func (e *Engine) List() []*Session {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.order)
}

// Changed returns a channel that is closed when any session next changes, appears or goes. Take it
// before a view.
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

// Close ends every session and everything that their programs started, and refuses new ones. It
// returns when all of it is gone or could not be ended. Errors are those of [Session.Close],
// joined.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.starts.Wait()
	e.tidiers.Wait()
	return CloseAll(ctx, e.List())
}

// CloseAll closes several sessions at the same time, reading the process table once a round for all
// of them. It returns when each is gone. Errors are those of [Session.Close], joined.
func CloseAll(ctx context.Context, all []*Session) error {
	var real []*pty.PTY // ended together: one read of the process table serves all
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

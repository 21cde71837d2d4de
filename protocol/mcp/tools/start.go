package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/internal/lazy"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/protocol/mcp"
	"github.com/ptywright/ptywright/redact"
)

const startAbout = `Start a program on a terminal of its own, and show its first screen. The result's session names it in every other tool.

{"program":"python3","args":["-q"]}   {"program":"vim","args":["notes.txt"],"cwd":"/tmp","rows":40,"cols":120}

program is one executable, not a command line: arguments go into args. For one shell command use run instead. Next: send, wait, read; stop when done.`

type startParams struct {
	Program       string            `json:"program" jsonschema:"executable name or path"`
	Name          string            `json:"name,omitempty" jsonschema:"to call the session by instead of its id, such as build"`
	Args          []string          `json:"args,omitempty" jsonschema:"its arguments"`
	Cwd           string            `json:"cwd,omitempty" jsonschema:"working directory; default the server's"`
	Env           map[string]string `json:"env,omitempty" jsonschema:"variables to set; secrets among them are covered wherever they show"`
	Rows          int               `json:"rows,omitempty" jsonschema:"rows of the terminal, 1 to 1000; default 24"`
	Cols          int               `json:"cols,omitempty" jsonschema:"columns of the terminal, 1 to 1000; default 80"`
	NoIntegration bool              `json:"no_shell_integration,omitempty" jsonschema:"start an interactive bash, zsh or fish without the marks by which run and command_finished know its commands"`
	WaitFor       question          `json:"wait_for,omitzero" jsonschema:"what to wait for; default: until the first screen stands still, two seconds at most"`
	TimeoutMS     *int              `json:"timeout_ms,omitempty" jsonschema:"for wait_for; default 30000, at most 45000"`
	budget
	rawAsked
}

// actResult is the result of an action: the screen that follows, and how the requested wait ended.
type actResult struct {
	status
	Outcome *waited `json:"outcome,omitempty" jsonschema:"how wait_for ended"`
	shown
}

func (r *actResult) text() string {
	var b strings.Builder
	b.WriteString(r.status.head() + "\n")
	if r.Outcome != nil {
		b.WriteString(r.Outcome.text() + "\n")
	}
	b.WriteString(r.shown.text())
	return b.String()
}

// firstScreen is how long a program has to draw its first screen, and how long that has to be
// still.
const (
	firstScreen = 2 * time.Second
	firstStill  = 200 * time.Millisecond
)

func (p *profile) start(ctx context.Context, req *sdk.CallToolRequest,
	in startParams) (*reply[actResult], error) {
	most, hide := in.or(screenBudget), in.redactor()
	timeout, err := timeoutOf(ctx, in.TimeoutMS, engine.DefaultWait)
	if err != nil {
		return nil, err
	}
	if err := p.check(ctx, &in.WaitFor); err != nil { // before anything is started
		return nil, err
	}
	config, err := p.config(&in)
	if err != nil {
		return nil, err
	}
	s, err := p.spawn(ctx, config, !in.NoIntegration)
	if err != nil {
		return nil, fmt.Errorf("%w%s", err, hintOf(in.Program, err))
	}
	r, err := p.follow(ctx, req, s, &in.WaitFor, nil, timeout, drawn(firstStill), firstScreen,
		hide, most)
	if err != nil {
		return nil, fmt.Errorf("session %s is started, but: %w", s.ID(), err)
	}
	return &reply[actResult]{text: r.text(), out: *r}, nil
}

func (p *profile) config(in *startParams) (engine.Config, error) {
	if in.Program == "" {
		return engine.Config{}, bad("program", "expected an executable name or path")
	}
	for _, side := range []struct {
		name  string
		value int
	}{{"rows", in.Rows}, {"cols", in.Cols}} {
		if side.value < 0 || side.value > engine.MaxSide {
			return engine.Config{},
				bad(side.name, "expected an integer from 1 to %d", engine.MaxSide)
		}
	}
	size := pty.Size{Rows: uint16(in.Rows), Cols: uint16(in.Cols)}
	if size.Rows == 0 {
		size.Rows = 24
	}
	if size.Cols == 0 {
		size.Cols = 80
	}
	if in.Name != "" && engine.CheckName(in.Name) != nil {
		return engine.Config{}, bad("name", "expected %s", engine.NameRule)
	}
	return engine.Config{Name: in.Name, Program: in.Program, Args: in.Args, Dir: in.Cwd,
		Env: in.Env, Size: size}, nil
}

// shells are those that can be made to mark their commands.
var shells = []string{"bash", "zsh", "fish"}

// spawn starts a program; a shell gets marks if it can have them.
func (p *profile) spawn(ctx context.Context, c engine.Config, marks bool) (*engine.Session, error) {
	c.ShellIntegration, c.MarksOptional = marks, true
	s, err := p.Spawn(ctx, c)
	var start *pty.StartError
	if errors.As(err, &start) { // which quotes the start of the path, where a secret can no longer be recognised
		return nil, &pty.StartError{Op: start.Op, Path: p.hide.String(start.Path), Err: start.Err}
	}
	return s, err
}

// hintOf suggests what may be meant by a program that cannot be started.
func hintOf(program string, err error) string {
	var start *pty.StartError
	if errors.As(err, &start) && strings.ContainsAny(program, " \t") {
		return "; program is one executable: put its arguments into args, or use run for a command line"
	}
	return ""
}

var notBlank = lazy.Regexp(`\S`)

// drawn matches a screen that is not blank and has been still for d, or the end of the program.
func drawn(d time.Duration) matchers.Matcher {
	return matchers.Any(matchers.Exited(),
		matchers.All(matchers.Regexp(notBlank()), matchers.Stable(d)))
}

// follow waits for q, or if that is empty until the screen settles, at most for bound, and shows
// the screen.
func (p *profile) follow(ctx context.Context, req *sdk.CallToolRequest, s *engine.Session,
	q *question, since *engine.Position, timeout time.Duration,
	settle matchers.Matcher, bound time.Duration, hide *redact.Redactor, most int,
) (*actResult, error) {
	a := &asked{session: s.ID(), matcher: fresh(func() matchers.Matcher { return settle }),
		since: since}
	if !q.empty() {
		a.matcher, bound = q.matcher, timeout
	}
	out, err := p.ask(ctx, req, s, a, bound)
	if err != nil {
		return nil, err
	}
	l := out.look(p, s, hide)
	r := &actResult{status: statusOf(l), shown: shownOf(l, most)}
	if !q.empty() {
		w := p.told(l, out, a)
		r.Outcome = &w
	}
	return r, nil
}

const sessionsAbout = `List all sessions, those whose program has ended too: what runs, since when, how it ended, and the adapter that drives it.`

type sessionsParams struct {
	rawAsked
}

type sessionsResult struct {
	Sessions []sessionInfo `json:"sessions"`
}

type sessionInfo struct {
	Session  string    `json:"session"`
	Name     string    `json:"name,omitempty"`
	Program  string    `json:"program"`
	Args     []string  `json:"args"`
	Cwd      string    `json:"cwd"`
	PID      int       `json:"pid"`
	Started  time.Time `json:"started"`
	Rows     int       `json:"rows"`
	Cols     int       `json:"cols"`
	Title    string    `json:"title,omitempty"`
	Sequence uint64    `json:"sequence"`
	QuietMS  int64     `json:"quiet_ms"`
	Adapter  string    `json:"adapter,omitempty" jsonschema:"the plugin that drives it"`
	Exit     *exitInfo `json:"exit,omitempty"`
}

func (p *profile) sessions(_ context.Context, _ *sdk.CallToolRequest,
	in sessionsParams) (*reply[sessionsResult], error) {
	r := sessionsResult{Sessions: []sessionInfo{}}
	var b strings.Builder
	for _, s := range p.Engine.List() {
		info := p.describe(s, in.redactor())
		r.Sessions = append(r.Sessions, info)
		if info.Name != "" {
			b.WriteString(info.Name + "  ")
		}
		fmt.Fprintf(&b, "%s  %s", info.Session,
			strings.Join(append([]string{info.Program}, info.Args...), " "))
		switch {
		case info.Exit != nil:
			b.WriteString("  " + info.Exit.String())
		case info.Adapter != "":
			b.WriteString("  driven by adapter " + info.Adapter)
		}
		b.WriteString("\n")
	}
	if b.Len() == 0 {
		b.WriteString("No sessions. Next: start, or run.")
	}
	return &reply[sessionsResult]{text: strings.TrimSuffix(b.String(), "\n"), out: r}, nil
}

func (p *profile) describe(s *engine.Session, hide *redact.Redactor) sessionInfo {
	c, l := s.Config(), reading.New(s.View(), hide)
	if c.Dir == "" {
		c.Dir, _ = os.Getwd() // the server never changes its own
	}
	v := l.Raw
	info := sessionInfo{
		Session: string(s.ID()), Name: c.Name, Program: l.Clean(c.Program),
		Args: l.Args(c.Program, c.Args), Cwd: l.Clean(c.Dir), PID: s.PID(),
		Started: s.Started().UTC(), Rows: v.Screen.Rows, Cols: v.Screen.Cols, Sequence: v.Sequence,
		QuietMS: v.At.Sub(v.Changed).Milliseconds(), Exit: exitOf(v.Exit),
	}
	if v.Screen.TitleSet {
		info.Title = l.Clean(v.Screen.Title)
	}
	if a := p.Catalog.Owner(s.ID()); a != nil {
		info.Adapter = a.Plugin().Manifest.Name
	}
	return info
}

const stopAbout = `End a session's program with everything it started, and forget the session. With keep the session stays readable.

{"session":"s1"}   {"session":"s1","keep":true}

To interrupt a command and keep the program, send {"keys":["ctrl+c"]} instead.`

type stopParams struct {
	Session string `json:"session"`
	Keep    bool   `json:"keep,omitempty" jsonschema:"the session stays readable; stop it again to forget it"`
}

type stopResult struct {
	Session string    `json:"session"`
	Stopped bool      `json:"stopped"`
	Kept    bool      `json:"kept"`
	Exit    *exitInfo `json:"exit,omitempty" jsonschema:"how the program ended"`
}

// stopBound is how long ending a program's tree may take: the escalation of signals takes under
// four seconds.
const stopBound = 10 * time.Second

func (p *profile) stop(ctx context.Context, _ *sdk.CallToolRequest,
	in stopParams) (*reply[stopResult], error) {
	s, err := p.session(in.Session)
	if err != nil {
		return nil, err
	}
	mcp.Yield(ctx)                                                              // a program that ignores its hang-up must not delay other requests
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopBound) // half an end would leak
	defer cancel()
	switch {
	case in.Keep:
		if s, err = p.free(in.Session); err == nil {
			err = s.Kill(whole)
		}
	case p.Catalog.Owner(s.ID()) != nil:
		err = p.Catalog.Owner(s.ID()).Close(whole)
	default:
		err = s.Close(whole)
	}
	if err != nil {
		return nil, err
	}
	r := stopResult{Session: string(s.ID()), Stopped: true, Kept: in.Keep,
		Exit: exitOf(s.View().Exit)}
	text := "Stopped " + in.Session
	if r.Exit != nil {
		text += ": the program " + r.Exit.String()
	}
	return &reply[stopResult]{text: text + ".", out: r}, nil
}

package unterm

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/ptywright/ptywright/engine"
)

const (
	// shellBound is how long a new shell that marks its prompts may take to the first: its start-up
	// files are the user's.
	shellBound = 5 * time.Second
	// outputBound is how long any other shell may take to its first output before input is typed:
	// Unterm's own pause.
	outputBound = 500 * time.Millisecond
	// waitBound is how long orchestrate.wait waits by default.
	waitBound = 10 * time.Second
)

// started matches a shell that has started: one that marks its prompts is at one, another has
// written something.
func started(marked bool) engine.Func {
	return func(v *engine.View) bool {
		sh := v.Reports.Shell
		return v.Exit != nil || marked && sh != nil && sh.Phase == engine.ShellInput ||
			!marked && len(v.Transcript.Bytes()) > 0
	}
}

// launch creates a pane and types a command into it once its shell has started. It asks the policy
// first.
func launch(ctx context.Context, s *reader, p params) (any, error) {
	line, given := p.text("command")
	rules := s.policy.get()
	if why := rules.judgeCommand(line); given && why != "" {
		s.audit.add("orchestrate.launch", nil, line, false)
		return nil, blocked(why)
	}
	made, err := s.createFrom(ctx, p)
	if err != nil {
		return nil, err
	}
	if !given {
		return s.created(made), nil
	}
	marked := made.session.Config().ShellIntegration
	bound := outputBound
	if marked {
		bound = shellBound
	}
	if _, err := made.session.Wait(ctx, started(marked), engine.Within(bound)); err != nil &&
		!errors.Is(err, engine.ErrTimeout) {
		return nil, err
	}
	if err := s.submit(ctx, "orchestrate.launch", made, line); err != nil {
		return nil, err
	}
	return s.created(made), nil
}

type broadcastEntry struct {
	SessionID string `json:"session_id"`
	Sent      bool   `json:"sent,omitzero"`
	Error     string `json:"error,omitempty"`
}

// maxBroadcast bounds the panes of one call: as many as an engine has.
const maxBroadcast = engine.DefaultSessions

// broadcast types one command line into several panes, one after the other. Each pane's error is in
// its own result.
func broadcast(ctx context.Context, s *reader, p params) (any, error) {
	line, err := p.needText("command", "Missing 'command'")
	if err != nil {
		return nil, err
	}
	var ids []jsontext.Value
	if p["sessions"].Kind() != '[' || decode(p["sessions"], &ids) != nil {
		return nil, errors.New("Missing 'sessions'")
	}
	if len(ids) > maxBroadcast {
		return nil, errors.New("'sessions' has " + strconv.Itoa(len(ids)) + " entries, and " +
			strconv.Itoa(maxBroadcast) + " are the most")
	}
	r := struct {
		Results []broadcastEntry `json:"results"`
	}{[]broadcastEntry{}}
	for _, id := range ids {
		r.Results = append(r.Results, s.broadcastTo(ctx, id, line))
	}
	return r, nil
}

func (s *reader) broadcastTo(ctx context.Context, id jsontext.Value, line string) broadcastEntry {
	var name string
	if id.Kind() == '0' {
		name = string(id)
	} else if decode(id, &name) != nil {
		return broadcastEntry{SessionID: clip(string(id)), Error: "not a session id"}
	}
	e := broadcastEntry{SessionID: clip(name)}
	number, err := strconv.ParseUint(name, 10, 31)
	if err != nil {
		e.Error = "not a session id"
		return e
	}
	at, err := s.panes.find(int(number))
	if err != nil {
		e.Error = "not found"
		return e
	}
	if err := s.submit(ctx, "orchestrate.broadcast", at, line); err != nil {
		e.Error = s.errorText(err)
		return e
	}
	e.Sent = true
	return e
}

// shows matches a text on the screen, row by row as in screen.text, one a line, or in what has
// scrolled off during the wait. It matches the program's original text: see package unterm.
func shows(pattern string) engine.Func {
	return func(v *engine.View) bool {
		return strings.Contains(strings.Join(rowTexts(v.Screen.Lines()), "\n"), pattern) ||
			bytes.Contains(v.Left(false).Text, []byte(pattern))
	}
}

type waited struct {
	Matched  bool   `json:"matched"`
	TimedOut bool   `json:"timed_out,omitzero"`
	Pattern  string `json:"pattern"`
	Ended    bool   `json:"session_ended,omitzero"` // it can never match; Unterm does not say so
}

// restFor is how long a shell must have had the terminal without drawing, counted from the start of
// the wait at the earliest: a command typed just before has the terminal by then. More makes every
// wait longer, less takes a busy machine's pane for idle.
const restFor = 200 * time.Millisecond

// rests is a matcher of a pane whose shell waits for a command.
type rests struct{ session *engine.Session }

// Check looks at which process has the terminal. A shell takes it back before it writes its prompt,
// so there is something to look at then.
func (m rests) Check(v *engine.View) engine.Result {
	process, err := m.session.Foreground()
	if err != nil || !idle(m.session, v, process) {
		return engine.Result{Recheck: startsFor(m.session, v)}
	}
	if quiet := v.StableFor(); quiet < restFor {
		return engine.Result{Recheck: restFor - quiet}
	}
	return engine.Matched("rests")
}

// waitedIdle is the answer to a wait for an idle pane, which Unterm does not have.
type waitedIdle struct {
	Matched  bool `json:"matched"`
	TimedOut bool `json:"timed_out,omitzero"`
	Idle     bool `json:"idle"`
	Ended    bool `json:"session_ended,omitzero"`
}

func waitPane(ctx context.Context, s *reader, at *pane, p params) (any, error) {
	pattern, given := p.text("pattern")
	if !given && p.is("idle") {
		return waitIdle(ctx, at, p.timeout(waitBound))
	}
	if !given {
		return nil, errors.New("Missing 'pattern'")
	}
	_, err := at.session.Wait(ctx, shows(pattern), engine.Within(p.timeout(waitBound)))
	switch {
	case err == nil:
		return waited{Matched: true, Pattern: pattern}, nil
	case errors.Is(err, engine.ErrTimeout):
		return waited{TimedOut: true, Pattern: pattern}, nil
	case errors.Is(err, engine.ErrEnded), errors.Is(err, engine.ErrClosed):
		return waited{Pattern: pattern, TimedOut: true, Ended: true}, nil
	}
	return nil, err
}

// waitIdle waits until the pane's shell waits for a command.
func waitIdle(ctx context.Context, at *pane, bound time.Duration) (any, error) {
	since := engine.After(at.session.View().Sequence)
	_, err := at.session.Wait(ctx, rests{at.session}, since, engine.Within(bound))
	switch {
	case err == nil:
		return waitedIdle{Matched: true, Idle: true}, nil
	case errors.Is(err, engine.ErrTimeout):
		return waitedIdle{TimedOut: true}, nil
	case errors.Is(err, engine.ErrEnded), errors.Is(err, engine.ErrClosed):
		return waitedIdle{TimedOut: true, Ended: true}, nil
	}
	return nil, err
}

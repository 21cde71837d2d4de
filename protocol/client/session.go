package client

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// A Session is one session of a client's server. Make it with [Client.Spawn] or [Client.Session].
// Errors of all methods are those of [Client.Call].
type Session struct {
	ID     string
	client *Client
	own    bool                 // the server is this session's alone
	input  atomic.Pointer[Sent] // the last; nil: none yet
}

// Spawn starts a program under a private server of its own, which [Session.Close] ends. For several
// programs [Start] one server, and use [Client.Spawn]. Errors: those of [Start] and of
// session.create.
func Spawn(ctx context.Context, config Config) (*Session, error) {
	c, err := start(ctx)
	if err != nil {
		return nil, err
	}
	s, err := c.Spawn(ctx, config)
	if err != nil {
		c.Close()
		return nil, err
	}
	s.own = true
	return s, nil
}

// Spawn starts a program on a terminal of its own.
func (c *Client) Spawn(ctx context.Context, config Config) (*Session, error) {
	r, err := result[named](ctx, c, "session.create", config)
	if err != nil {
		return nil, err
	}
	return c.Session(r.Session), nil
}

// Session returns the session with that id or name, without looking it up.
func (c *Client) Session(id string) *Session { return &Session{ID: id, client: c} }

// Client returns the connection that the session was made with.
func (s *Session) Client() *Client { return s.client }

type listParams struct {
	Details bool   `json:"details"`
	Session string `json:"session,omitempty"`
}

type listResult struct {
	Details []Info `json:"details"`
}

// Sessions returns all sessions, ended ones included, in the order in which they were created.
func (c *Client) Sessions(ctx context.Context) ([]Info, error) {
	r, err := result[listResult](ctx, c, "session.list", listParams{Details: true})
	if err != nil {
		return nil, err
	}
	return r.Details, nil
}

// Forget forgets all ended sessions, except those that an adapter or a lease needs, and returns
// their ids.
func (c *Client) Forget(ctx context.Context) ([]string, error) {
	var r struct {
		Forgotten []string `json:"forgotten"`
	}
	err := c.Call(ctx, "session.forget", nil, &r)
	return r.Forgotten, err
}

// named are the params of a method that takes only a session.
type named struct {
	Session string `json:"session"`
}

func (s *Session) named() named { return named{s.ID} }

// Info describes the session.
func (s *Session) Info(ctx context.Context) (Info, error) {
	r, err := result[listResult](ctx, s.client, "session.list", listParams{true, s.ID})
	if err != nil {
		return Info{}, err
	}
	if len(r.Details) != 1 {
		return Info{}, fmt.Errorf("session.list: the server describes %d sessions", len(r.Details))
	}
	return r.Details[0], nil
}

// Exit returns how the program ended, nil while it runs.
func (s *Session) Exit(ctx context.Context) (*Exit, error) {
	i, err := s.Info(ctx)
	return i.Exit, err
}

// Send types text. "\n" is the Enter key, which sends a carriage return; all else is typed as it is.
// Ctrl-J is a key of its own: see [Session.Press].
func (s *Session) Send(ctx context.Context, text string) error {
	_, err := s.Do(ctx, Action{"text", enter.Replace(text)})
	return err
}

var enter = strings.NewReplacer("\r\n", "\r", "\n", "\r")

// Press presses keys by their names, one after the other: "enter", "up", "ctrl+c", "alt+x", "G".
func (s *Session) Press(ctx context.Context, keys ...string) error {
	actions := make([]Action, len(keys))
	for i, k := range keys {
		actions[i] = Action{"key", k}
	}
	_, err := s.Do(ctx, actions...)
	return err
}

// Paste pastes text as a terminal does: in brackets when the program asks for them, and then
// without the control characters that could end the paste.
func (s *Session) Paste(ctx context.Context, text string) error {
	now, err := s.Screen(ctx)
	if err != nil {
		return err
	}
	kind := "paste"
	if now.BracketedPaste {
		kind = "bracketed_paste"
	}
	_, err = s.Do(ctx, Action{kind, text})
	return err
}

// A Button is one of the mouse.
type Button string

// Buttons, of which the wheel has four.
const (
	Left       Button = "left"
	Middle     Button = "middle"
	Right      Button = "right"
	WheelUp    Button = "wheel_up"
	WheelDown  Button = "wheel_down"
	WheelLeft  Button = "wheel_left"
	WheelRight Button = "wheel_right"
)

// Click presses and releases a button of the mouse on a cell, counted from 0. The error's reason is
// [ErrMouseNotRequested] when the program does not ask for the mouse.
func (s *Session) Click(ctx context.Context, row, col int, button Button) error {
	event := func(action string) Action {
		return Action{"mouse", map[string]any{
			"row": row, "col": col, "button": button, "action": action,
		}}
	}
	actions := []Action{event("press")}
	if button == Left || button == Middle || button == Right { // a wheel is not let go
		actions = append(actions, event("release"))
	}
	_, err := s.Do(ctx, actions...)
	return err
}

// Signal sends a signal to the terminal's foreground process group: "int", "term", "hup", "quit",
// "kill", "user1" or "user2".
func (s *Session) Signal(ctx context.Context, name string) error {
	_, err := s.Do(ctx, Action{"signal", name})
	return err
}

// Do performs actions in their order, with no other client's between, and returns when the terminal
// has taken them. Several are those that type: text, pastes, keys, mouse events, interrupt and eof.
func (s *Session) Do(ctx context.Context, actions ...Action) (Sent, error) {
	if len(actions) != 1 {
		return s.Type(ctx, 0, actions...)
	}
	return s.typed(ctx, actions, struct {
		named
		Action Action `json:"action"`
	}{s.named(), actions[0]})
}

// DoUntilRead performs actions as Do does, but waits until the program has read them, at most for
// the five seconds that it has for that. [Sent].Read says whether it has; where that cannot be
// known, as off Linux or for a line without its end, it returns at once. The next wait of s counts
// from [Sent].ReadSequence.
func (s *Session) DoUntilRead(ctx context.Context, actions ...Action) (Sent, error) {
	return s.typed(ctx, actions, struct {
		named
		Actions []Action `json:"actions"`
		Until   string   `json:"until"`
	}{s.named(), actions, "read"})
}

// Type performs actions as Do does, and pauses for delay between keystrokes, up to ten seconds, to
// the millisecond; a text is then typed character by character. When it ends early, [Error.Data]
// has how many bytes were written and how many actions done, if any.
func (s *Session) Type(ctx context.Context, delay time.Duration, actions ...Action) (Sent, error) {
	return s.typed(ctx, actions, struct {
		named
		Actions []Action `json:"actions"`
		DelayMS int64    `json:"delay_ms,omitempty"`
	}{s.named(), actions, delay.Milliseconds()})
}

// typed sends params of session.input, and remembers the position for the next wait.
func (s *Session) typed(ctx context.Context, actions []Action, params any) (Sent, error) {
	for _, a := range actions {
		if text, ok := a.Value.(string); ok && !utf8.ValidString(text) {
			return Sent{}, fmt.Errorf("session.input: the %s is not UTF-8, which the wire needs: "+
				"nothing was typed", a.Type)
		}
	}
	r, err := result[Sent](ctx, s.client, "session.input", params)
	if err != nil {
		return Sent{}, err
	}
	s.input.Store(r)
	return *r, nil
}

// Run runs a command line in the session's shell, and returns when it has ended: a timeout is 30
// seconds, or [Within]. Errors: [ErrTimeout], after which the command goes on, [ErrNotAtPrompt],
// [ErrNoShell] and [ErrCommandNotRun].
func (s *Session) Run(ctx context.Context, command string, options ...RunOption) (*Ran, error) {
	p := runParams{named: s.named(), Command: command}
	for _, o := range options {
		o.runs(&p)
	}
	return result[Ran](ctx, s.client, "session.run", p)
}

// Screen reads the screen.
func (s *Session) Screen(ctx context.Context, options ...ReadOption) (*Snapshot, error) {
	p := readParams{named: s.named(), Cells: NoCells}
	for _, o := range options {
		o.reads(&p)
	}
	return result[Snapshot](ctx, s.client, "session.snapshot", p)
}

// Transcript reads the retained output as it came, with its escape sequences, redacted.
func (s *Session) Transcript(ctx context.Context) (string, error) {
	var r struct {
		Text string `json:"text"`
	}
	err := s.client.Call(ctx, "session.transcript", s.named(), &r)
	return r.Text, err
}

// A Recording is one that is being written.
type Recording struct {
	Path   string
	id     string
	client *Client
}

// Record begins a recording in a new file: an asciicast, which players read. path is relative to
// the server's folder, and is path.part until [Recording.Stop], or the end of the session.
func (s *Session) Record(ctx context.Context, path string) (*Recording, error) {
	var r struct {
		Recording string `json:"recording"`
		Path      string `json:"path"`
	}
	err := s.client.Call(ctx, "session.record_start", struct {
		named
		Path string `json:"path"`
	}{s.named(), path}, &r)
	if err != nil {
		return nil, err
	}
	return &Recording{r.Path, r.Recording, s.client}, nil
}

// Stop ends the recording.
func (r *Recording) Stop(ctx context.Context) (*Recorded, error) {
	p := map[string]string{"recording": r.id}
	return result[Recorded](ctx, r.client, "session.record_stop", p)
}

// Resize changes the terminal's size and notifies the program.
func (s *Session) Resize(ctx context.Context, rows, cols int) error {
	return s.resize(ctx, rows, cols, false)
}

func (s *Session) resize(ctx context.Context, rows, cols int, hold bool) error {
	return s.client.Call(ctx, "session.resize", struct {
		named
		Rows int  `json:"rows"`
		Cols int  `json:"cols"`
		Hold bool `json:"hold,omitempty"`
	}{s.named(), rows, cols, hold}, nil)
}

// Kill ends the program and all it started; the session stays readable. unkillable lists processes
// that the kernel did not end in time.
func (s *Session) Kill(ctx context.Context) (unkillable []int, err error) {
	var r struct {
		PIDs []int `json:"pids"`
	}
	err = s.client.Call(ctx, "session.kill", s.named(), &r)
	return r.PIDs, err
}

// Close ends the program and all it started, and forgets the session. A server that [Spawn] started
// ends with it.
func (s *Session) Close(ctx context.Context) error {
	err := s.client.Call(ctx, "session.close", s.named(), nil)
	if s.own {
		if cerr := s.client.Close(); err == nil {
			err = cerr
		}
	}
	return err
}

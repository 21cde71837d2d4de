package client

import (
	"context"
	"time"
)

// A Session names one session of a client's server. Its zero value is not usable; see
// [Client.Create] and [Client.Session]. Errors of all methods are those of [Client.Call].
type Session struct {
	ID     string
	client *Client
}

// Session returns the session with that id or name, without looking it up.
func (c *Client) Session(id string) *Session { return &Session{ID: id, client: c} }

// Create starts a program on a terminal of its own.
func (c *Client) Create(ctx context.Context, config Config) (*Session, error) {
	var r struct {
		Session string `json:"session"`
	}
	if err := c.Call(ctx, "session.create", config, &r); err != nil {
		return nil, err
	}
	return c.Session(r.Session), nil
}

// List returns all sessions, ended ones included, in the order in which they were created.
func (c *Client) List(ctx context.Context) ([]Info, error) {
	var r struct {
		Details []Info `json:"details"`
	}
	err := c.Call(ctx, "session.list", map[string]bool{"details": true}, &r)
	return r.Details, err
}

// Info returns one session, by its id or name.
func (c *Client) Info(ctx context.Context, session string) (Info, error) {
	var r struct {
		Details []Info `json:"details"`
	}
	err := c.Call(ctx, "session.list", map[string]any{"details": true, "session": session}, &r)
	if err != nil || len(r.Details) == 0 {
		return Info{}, err
	}
	return r.Details[0], nil
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

// Do performs an action and returns when the terminal has taken it.
func (s *Session) Do(ctx context.Context, a Action) (Sent, error) {
	var r Sent
	err := s.client.Call(ctx, "session.input", struct {
		named
		Action Action `json:"action"`
	}{named{s.ID}, a}, &r)
	return r, err
}

// Type performs actions in order, with no other client's between. It pauses for delay between
// keystrokes, up to ten seconds, to the millisecond; a text is then typed character by character.
// When it ends early, [Error.Data] has how many bytes were written and how many actions done, if
// any.
func (s *Session) Type(ctx context.Context, delay time.Duration, actions ...Action) (Sent, error) {
	var r Sent
	err := s.client.Call(ctx, "session.input", struct {
		named
		Actions []Action `json:"actions"`
		DelayMS int64    `json:"delay_ms,omitempty"`
	}{named{s.ID}, actions, delay.Milliseconds()}, &r)
	return r, err
}

// Text types text as it is. A line ends with "\n" or "\r"; see also [Session.Key].
func (s *Session) Text(ctx context.Context, text string) (Sent, error) {
	return s.Do(ctx, Action{"text", text})
}

// Key presses one key by its name: "enter", "up", "ctrl+c", "alt+x".
func (s *Session) Key(ctx context.Context, name string) (Sent, error) {
	return s.Do(ctx, Action{"key", name})
}

// Wait waits until m holds. A server's error has [Error.Evidence].
func (s *Session) Wait(ctx context.Context, m Matcher, o WaitOptions) (*Matched, error) {
	var r Matched
	err := s.client.Call(ctx, "session.wait", struct {
		named
		Matcher Matcher `json:"matcher"`
		WaitOptions
	}{named{s.ID}, m, o}, &r)
	if err != nil {
		return nil, err
	}
	return &r, nil
}

// Snapshot reads the screen.
func (s *Session) Snapshot(ctx context.Context, o ReadOptions) (*Snapshot, error) {
	var r Snapshot
	err := s.client.Call(ctx, "session.snapshot", struct {
		named
		ReadOptions
	}{named{s.ID}, o}, &r)
	if err != nil {
		return nil, err
	}
	return &r, nil
}

// Transcript reads the retained output, redacted.
func (s *Session) Transcript(ctx context.Context) (string, error) {
	var r struct {
		Text string `json:"text"`
	}
	err := s.client.Call(ctx, "session.transcript", named{s.ID}, &r)
	return r.Text, err
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
	}{named{s.ID}, rows, cols, hold}, nil)
}

// Kill ends the program and all it started; the session stays readable. unkillable lists processes
// that the kernel did not end in time.
func (s *Session) Kill(ctx context.Context) (unkillable []int, err error) {
	var r struct {
		PIDs []int `json:"pids"`
	}
	err = s.client.Call(ctx, "session.kill", named{s.ID}, &r)
	return r.PIDs, err
}

// Close ends the program and all it started, and forgets the session.
func (s *Session) Close(ctx context.Context) error {
	return s.client.Call(ctx, "session.close", named{s.ID}, nil)
}

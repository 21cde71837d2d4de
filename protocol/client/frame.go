package client

import "context"

// A Frame is what has changed on a screen since a [Frame] that the connection has: the answer of session.frame with form ansi, made
// for whoever shows a session. Frames are not queued; who takes long gets the screen as it is by then.
type Frame struct {
	Sequence uint64     `json:"sequence"` // what the next [Session.Frame] takes
	Full     bool       `json:"full"`     // every row is in Rows, and what was shown before is to be erased
	Size     Size       `json:"size"`
	Rows     []FrameRow `json:"rows"` // those that have changed, from the top
	Cursor   struct {
		Row     int  `json:"row"` // from 0
		Col     int  `json:"col"` // from 0
		Visible bool `json:"visible"`
		Style   int  `json:"style"` // DECSCUSR: 0 to 6, 0 the terminal's own
	} `json:"cursor"`
	Modes       FrameModes `json:"modes"`
	Title       *string    `json:"title"`        // nil: none was set
	SecretInput bool       `json:"secret_input"` // the program reads a secret, as a password prompt does
	Bell        uint64     `json:"bell"`         // the sequence at which it rang last
	Lease       *Lease     `json:"lease"`        // nil: anybody may type
	Exit        *Exit      `json:"exit"`         // nil: the program runs
}

// A Size is that of a terminal, in cells: 1 to 1000 a side.
type Size struct {
	Rows int `json:"rows"`
	Cols int `json:"cols"`
}

// A FrameRow is one row of a screen as text with SGR and OSC 8, to be written at the beginning of a blank line.
type FrameRow struct {
	Row  int    `json:"row"` // from 0
	ANSI string `json:"ansi"`
}

// FrameModes are the terminal's modes that matter to who shows a session, and types into it.
type FrameModes struct {
	AlternateScreen   bool   `json:"alternate_screen"`
	ApplicationCursor bool   `json:"application_cursor"` // DECCKM
	ApplicationKeypad bool   `json:"application_keypad"` // DECKPAM
	BracketedPaste    bool   `json:"bracketed_paste"`
	FocusEvents       bool   `json:"focus_events"`
	ReverseVideo      bool   `json:"reverse_video"`     // DECSCNM
	Mouse             string `json:"mouse"`             // none, x10, vt200, drag or any
	KittyKeyboard     int    `json:"kitty_keyboard"`    // the flags that are set; 0: off
	ModifyOtherKeys   int    `json:"modify_other_keys"` // xterm's 0 to 2
}

// Over reports that the program has ended and nothing more can come: no further frame is another.
func (f *Frame) Over() bool { return f.Exit != nil && !f.Exit.Draining }

// FrameOptions say what a frame is to tell.
type FrameOptions struct {
	// Since is the sequence of the frame that this connection was given last: the call waits until there is something new, and tells
	// what differs. nil, or the sequence of another frame: the whole screen, at once.
	Since     *uint64 `json:"since,omitempty"`
	TimeoutMS *int64  `json:"timeout_ms,omitempty"` // how long it waits, then nothing has changed; nil: 30,000
	Redact    *bool   `json:"redact,omitempty"`     // nil: true
}

// Frame returns what is new on the screen, and waits for it; see [FrameOptions]. A connection has one frame of each session, so one
// goroutine at a time should ask. The wait holds up the connection's other requests of the session, unless it has set its ordering to
// concurrent with server.set_ordering.
func (s *Session) Frame(ctx context.Context, o FrameOptions) (*Frame, error) {
	var f Frame
	err := s.client.Call(ctx, "session.frame", struct {
		named
		Form string `json:"form"`
		FrameOptions
	}{named{s.ID}, "ansi", o}, &f)
	if err != nil {
		return nil, err
	}
	return &f, nil
}

// Lease takes the right to type into the session and to resize it, which this connection has until [Session.Release] or its end.
// holder is told to others, "" is client; take takes it from whoever has it. The error's reason is session_leased when somebody has it.
func (s *Session) Lease(ctx context.Context, holder string, take bool) error {
	return s.client.Call(ctx, "session.lease", struct {
		named
		Holder string `json:"holder,omitempty"`
		Take   bool   `json:"take,omitempty"`
	}{named{s.ID}, holder, take}, nil)
}

// Release gives the right to type back, and with it a size that was held (see [Session.Hold]). What this connection has not is left
// as it is.
func (s *Session) Release(ctx context.Context) error {
	return s.client.Call(ctx, "session.release", named{s.ID}, nil)
}

// Hold is [Session.Resize] for as long as this connection has the session: when it gives it back or ends, however it ends, the size
// that was before the first of them comes back. When somebody takes the session the size stays. It needs [Session.Lease].
func (s *Session) Hold(ctx context.Context, rows, cols int) error {
	return s.resize(ctx, rows, cols, true)
}

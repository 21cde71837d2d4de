package client

import "context"

// A Frame is what has changed on a screen since an earlier [Frame] of the connection: the answer of
// session.frame with form ansi, for clients that show a session. Frames are not queued; a slow
// client gets the current screen.
type Frame struct {
	Sequence uint64 `json:"sequence"` // what the next [Session.Frame] takes
	// Rows has every row, and the client must erase what it showed
	Full bool       `json:"full"`
	Size Size       `json:"size"`
	Rows []FrameRow `json:"rows"` // changed rows, from the top
	// FirstLine is the number of the first row's line: how many lines have left the screen, those
	// that scrollback has dropped included.
	FirstLine uint64 `json:"first_line"`
	// Moved, with [FrameOptions].Moves, is by how many rows up to move what was shown, before Rows
	// are drawn.
	Moved  int `json:"moved"`
	Cursor struct {
		Row     int  `json:"row"` // from 0
		Col     int  `json:"col"` // from 0
		Visible bool `json:"visible"`
		Style   int  `json:"style"` // DECSCUSR: 0 to 6, 0 the terminal's own
	} `json:"cursor"`
	Modes FrameModes `json:"modes"`
	Title *string    `json:"title"` // nil: none was set
	// the program reads a secret, as a password prompt does
	SecretInput bool   `json:"secret_input"`
	Bell        uint64 `json:"bell"`  // the sequence of the last bell
	Lease       *Lease `json:"lease"` // nil: any client may type
	Exit        *Exit  `json:"exit"`  // nil: the program runs
	Then               // of a frame with [FrameOptions].At
}

// A Size is that of a terminal, in cells: 1 to 1000 a side.
type Size struct {
	Rows int `json:"rows"`
	Cols int `json:"cols"`
}

// A FrameRow is one row of a screen as text with SGR and OSC 8, to be written at the beginning of a
// blank line.
type FrameRow struct {
	Row     int    `json:"row"` // from 0
	ANSI    string `json:"ansi"`
	Wrapped bool   `json:"wrapped"` // the line continues in the next row
}

// FrameModes are the terminal modes that a client which shows a session, or types into it, needs.
type FrameModes struct {
	AlternateScreen   bool   `json:"alternate_screen"`
	ApplicationCursor bool   `json:"application_cursor"` // DECCKM
	ApplicationKeypad bool   `json:"application_keypad"` // DECKPAM
	BracketedPaste    bool   `json:"bracketed_paste"`
	FocusEvents       bool   `json:"focus_events"`
	ReverseVideo      bool   `json:"reverse_video"`     // DECSCNM
	AlternateScroll   bool   `json:"alternate_scroll"`  // mode 1007
	Mouse             string `json:"mouse"`             // none, x10, vt200, drag or any
	KittyKeyboard     int    `json:"kitty_keyboard"`    // the flags that are set; 0: off
	ModifyOtherKeys   int    `json:"modify_other_keys"` // xterm's 0 to 2
}

// Over reports that the program has ended and nothing more can come: there are no further frames.
func (f *Frame) Over() bool { return f.Exit != nil && !f.Exit.Draining }

// FrameOptions say what a frame contains.
type FrameOptions struct {
	// Since is the sequence of the connection's last frame: the call waits for a change, and
	// returns the difference. nil, or the sequence of another frame: the whole screen, at once.
	Since *uint64 `json:"since,omitempty"`
	// how long to wait, after which nothing has changed; nil: 30,000
	TimeoutMS *int64 `json:"timeout_ms,omitempty"`
	Redact    *bool  `json:"redact,omitempty"` // nil: true
	// Moves: rows that have scrolled are not told again; [Frame].Moved says how far they did.
	Moves bool `json:"moves,omitempty"`
	// At is the moment that is shown as a whole, at once, instead; without Since.
	At Moment `json:"at,omitzero"`
}

// Frame waits for a change of the screen and returns it; see [FrameOptions]. A connection has one
// frame of each session, so one goroutine at a time should call it. The wait delays the
// connection's other requests for the session, unless server.set_ordering has set its ordering to
// concurrent.
func (s *Session) Frame(ctx context.Context, o FrameOptions) (*Frame, error) {
	var f Frame
	err := s.client.Call(ctx, "session.frame", struct {
		named
		Form string `json:"form"`
		FrameOptions
	}{s.named(), "ansi", o}, &f)
	if err != nil {
		return nil, err
	}
	return &f, nil
}

// Lease takes the right to type into the session and to resize it, until [Session.Release] or the
// end of the connection. holder is shown to other clients, "" is client; take takes the lease from
// its holder. The error's reason is session_leased when another client has it.
func (s *Session) Lease(ctx context.Context, holder string, take bool) error {
	return s.client.Call(ctx, "session.lease", struct {
		named
		Holder string `json:"holder,omitempty"`
		Take   bool   `json:"take,omitempty"`
	}{s.named(), holder, take}, nil)
}

// Release gives back the right to type, and restores a size that was held (see [Session.Hold]).
// Without a lease it does nothing.
func (s *Session) Release(ctx context.Context) error {
	return s.client.Call(ctx, "session.release", s.named(), nil)
}

// Hold is [Session.Resize] for the duration of the lease: when this connection releases it or ends,
// the size before the first Hold is restored. When another client takes the lease the size stays.
// It needs [Session.Lease].
func (s *Session) Hold(ctx context.Context, rows, cols int) error {
	return s.resize(ctx, rows, cols, true)
}

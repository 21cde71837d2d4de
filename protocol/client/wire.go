package client

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Config says how to start a session; see session.create.
type Config struct {
	// finds it as its id does; "": none
	Name    string            `json:"name,omitempty"`
	Program string            `json:"program"`
	Args    []string          `json:"args,omitempty"`
	Cwd     string            `json:"cwd,omitempty"` // "": the server's
	Env     map[string]string `json:"env,omitempty"`
	// start from this instead of the server's environment
	BaseEnv map[string]string `json:"base_env,omitempty"`
	// start from nothing instead of either
	ClearEnv           bool `json:"clear_env,omitempty"`
	Rows               int  `json:"rows,omitempty"` // 0: 24
	Cols               int  `json:"cols,omitempty"` // 0: 80
	PixelWidth         int  `json:"pixel_width,omitempty"`
	PixelHeight        int  `json:"pixel_height,omitempty"`
	TranscriptMaxChars *int `json:"transcript_max_chars,omitempty"`
	ScrollbackMaxLines *int `json:"scrollback_max_lines,omitempty"`
	// bytes with which the past is shown, see [Session.History]; 0: none, nil: the server's
	HistoryMaxBytes     *int   `json:"history_max_bytes,omitempty"`
	RawTranscriptPath   string `json:"raw_transcript_path,omitempty"`
	RawTranscriptAppend bool   `json:"raw_transcript_append,omitempty"`
	// "ask" (when ""), "secret" or "plain": how to treat input while echo is off
	EchoOff string `json:"echo_off,omitempty"`
	// make bash, zsh or fish mark its commands
	ShellIntegration bool `json:"shell_integration,omitempty"`
	// dark or light, for programs that ask; "": dark
	Theme string `json:"theme,omitempty"`
	// connection: the session ends with this one; "": it does not
	Owner string `json:"owner,omitempty"`
	// Limits, each for the program and all it starts; [Exit.Limit] says which one ended it. Times
	// are whole milliseconds. 0: none.
	Max time.Duration `json:"-"` // it may take so long
	// it may write nothing, while there is no input, for so long
	Idle time.Duration `json:"-"`
	// bytes; refused where the server cannot make a cgroup
	MaxMemory int64 `json:"max_memory,omitempty"`
}

// MarshalJSON writes the params of session.create.
func (c Config) MarshalJSON() ([]byte, error) {
	type config Config // without this method
	return json.Marshal(struct {
		config
		MaxMS  int64 `json:"max_ms,omitempty"`
		IdleMS int64 `json:"idle_ms,omitempty"`
	}{config(c), c.Max.Milliseconds(), c.Idle.Milliseconds()})
}

// Info describes a session, as session.list does.
type Info struct {
	Session         string        `json:"session"`
	Name            string        `json:"name"` // "": it has none
	Program         string        `json:"program"`
	Args            []string      `json:"args"`
	Cwd             string        `json:"cwd"`
	PID             int           `json:"pid"`
	Started         time.Time     `json:"started"`
	Rows            int           `json:"rows"`
	Cols            int           `json:"cols"`
	Title           *string       `json:"title"`
	Sequence        uint64        `json:"sequence"`
	Quiet           time.Duration `json:"-"` // since the screen has changed
	AlternateScreen bool          `json:"alternate_screen"`
	Theme           string        `json:"theme"` // dark or light
	Exit            *Exit         `json:"exit"`  // nil: it runs
	TranscriptError string        `json:"transcript_error"`
	Adapter         string        `json:"adapter"` // the adapter that drives it; "": none
	Lease           *Lease        `json:"lease"`   // nil: any client may type
	Ended           time.Time     `json:"ended"`   // when the program ended; zero: it runs
	// connection: it ends with the one that created it
	Owner     string        `json:"owner"`
	Max       time.Duration `json:"-"` // its limits, as in Config
	Idle      time.Duration `json:"-"`
	MaxMemory int64         `json:"max_memory"`
	// Waits are the oldest of the waits that are pending, at most 8; Command is the one that runs or
	// ran last in a shell that marks them. Bell and Typed are when the bell rang and somebody typed
	// last; zero: never, or it is not kept.
	Waits   []SessionEvent `json:"waits"`
	Command *SessionEvent  `json:"command"`
	Bell    time.Time      `json:"bell"`
	Typed   time.Time      `json:"typed"`
}

// UnmarshalJSON reads one of session.list's details.
func (i *Info) UnmarshalJSON(b []byte) error {
	type info Info // without this method
	w := struct {
		*info
		QuietMS int64 `json:"quiet_ms"`
		MaxMS   int64 `json:"max_ms"`
		IdleMS  int64 `json:"idle_ms"`
	}{info: (*info)(i)}
	err := json.Unmarshal(b, &w)
	i.Quiet, i.Max, i.Idle = millis(w.QuietMS), millis(w.MaxMS), millis(w.IdleMS)
	return err
}

// A Lease is the right to type into a session; one connection has it.
type Lease struct {
	Holder string    `json:"holder"`
	Since  time.Time `json:"since"`
	Yours  bool      `json:"yours"` // this connection has it
}

// Exit is how a program ended: one of Code and Signal is set.
type Exit struct {
	Code   *int    `json:"exit_code"`
	Signal *string `json:"signal"` // "SIGKILL"
	// a process it started holds the terminal, and may still write
	Draining bool `json:"draining"`
	// the limit that ended it: max_ms, idle_ms, max_memory or owner; "": none
	Limit string `json:"limit"`
	// somebody ended it: how it ended says nothing about the program
	Killed bool `json:"killed"`
}

// String says how a program ended: "exit 3", a signal's name, or "killed" if somebody ended it,
// followed by what else is known: the limit it exceeded, and that some of its processes still run; "running" if e is nil.
func (e *Exit) String() string {
	if e == nil {
		return "running"
	}
	how := "ended"
	switch {
	case e.Killed:
		how = "killed"
	case e.Signal != nil:
		how = *e.Signal
	case e.Code != nil:
		how = fmt.Sprintf("exit %d", *e.Code)
	}
	return how + e.also()
}

// Words says what String says, as words behind "the program": "ended with exit code 3", "ended by
// SIGTERM", "was killed"; "is running" if e is nil.
func (e *Exit) Words() string {
	if e == nil {
		return "is running"
	}
	how := "ended"
	switch {
	case e.Killed:
		how = "was killed"
	case e.Signal != nil:
		how += " by " + *e.Signal
	case e.Code != nil:
		how += fmt.Sprintf(" with exit code %d", *e.Code)
	}
	return how + e.also()
}

// also is what else is known of an end, in parentheses behind a blank.
func (e *Exit) also() string {
	var more []string
	if e.Limit != "" {
		more = append(more, cmp.Or(limits[e.Limit], e.Limit))
	}
	if e.Draining {
		more = append(more, "draining")
	}
	if len(more) == 0 {
		return ""
	}
	return " (" + strings.Join(more, ", ") + ")"
}

// limits are the limits of a session as the flags of ptywright spawn have them.
var limits = map[string]string{
	"max_ms": "max-time", "idle_ms": "idle", "max_memory": "max-memory",
	"owner": "its client is gone",
}

// An Action is something a person could do to a session: text, paste, bracketed_paste, stream_text,
// key, mouse, resize, theme, interrupt, eof, signal, kill, mark_transcript.
type Action struct {
	Type  string `json:"type"`
	Value any    `json:"value,omitempty"`
}

// A Sent is the result of an action that the PTY has taken.
type Sent struct {
	// Sequence is the session's just before the first byte was written: a wait [After] it sees what
	// the action caused, and nothing older.
	Sequence uint64 `json:"sequence"`
	Stripped int    `json:"stripped"` // control bytes removed from a bracketed paste
	// Read and ReadSequence are set by [Session.DoUntilRead]. Read is whether the program has read
	// all of it; nil: that cannot be known. A wait [After] ReadSequence misses no effect of all of
	// it, and does not match an echo that was seen to come before it was read.
	Read         *bool  `json:"read"`
	ReadSequence uint64 `json:"read_sequence"`
	// Receipts are those of clicks, drags and scrolls, in their order.
	Receipts []Pressed `json:"receipts"`
}

// A Position is a point in a session's output: [After] a sequence, or the Next of a [Match]. It is
// meaningful for its own session only, and an option of [Session.Wait].
type Position string

// Everything is the position of a wait for which all that is on the screen counts, whenever it
// came.
const Everything Position = ""

// After returns the position after all output up to a sequence.
func After(sequence uint64) Position { return Position(strconv.FormatUint(sequence, 10)) }

// MarshalJSON writes a sequence as a number.
func (p Position) MarshalJSON() ([]byte, error) {
	if _, err := strconv.ParseUint(string(p), 10, 64); err == nil {
		return []byte(p), nil
	}
	return json.Marshal(string(p))
}

// A Match is what ended a wait.
type Match struct {
	// Text is what matched: the text that was looked for, or what an expression captured, its group
	// 1 or else the whole match; of Any that of the part that matched, of All the first that has
	// one. "": the matcher has no text, as Exited.
	Text string
	// Groups are those of the expression, in order, nil where one took no part; Named are the named
	// ones that took part.
	Groups  []*string
	Named   map[string]string
	Index   int           // of Any: which of its matchers matched, from 0; -1 without an Any
	Next    Position      // just after the match, for the next wait
	Before  string        // what came between the wait's position and the text: its last 16 KiB
	Screen  Snapshot      // when it matched
	Elapsed time.Duration // that the wait lasted
	Outcome Outcome       // what matched, in full

	Sequence  uint64
	BeforeCut bool      // Before lacks its beginning
	HeldAt    time.Time // with Latched: when it held
	// Missed: lines that scrolled off the screen were lost before they were checked, or with
	// Latched the matcher could not be asked about all that was shown.
	Missed         bool
	TranscriptTail string // the last 2,048 characters of the output
	Forgotten      bool   // the session was forgotten: of Screen only Exit is meaningful
}

// waited is the result of session.wait as it is written.
type waited struct {
	Sequence       uint64    `json:"sequence"`
	Next           Position  `json:"next"`
	Before         string    `json:"before"`
	BeforeCut      bool      `json:"before_truncated"`
	HeldAt         time.Time `json:"held_at"`
	Missed         bool      `json:"missed"`
	ElapsedMS      int64     `json:"elapsed_ms"`
	Outcome        Outcome   `json:"outcome"`
	Snapshot       Snapshot  `json:"snapshot"`
	TranscriptTail string    `json:"transcript_tail"`
	Forgotten      bool      `json:"forgotten"`
}

// UnmarshalJSON reads the result of session.wait.
func (m *Match) UnmarshalJSON(b []byte) error {
	var w waited
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*m = *w.match()
	return nil
}

func (w *waited) match() *Match {
	m := &Match{
		Next: w.Next, Before: w.Before, Screen: w.Snapshot, Elapsed: millis(w.ElapsedMS),
		Outcome: w.Outcome, Index: w.Outcome.Index, Sequence: w.Sequence, BeforeCut: w.BeforeCut,
		HeldAt: w.HeldAt, Missed: w.Missed, TranscriptTail: w.TranscriptTail, Forgotten: w.Forgotten,
	}
	if w.Outcome.Kind != "any" {
		m.Index = -1
	}
	if o := w.Outcome.text(); o != nil {
		m.Text, m.Groups, m.Named = o.Text+o.Capture, o.Groups, o.Named
	}
	return m
}

// An Outcome says what matched. Kind is the matcher's type; the other members are set where they
// apply.
type Outcome struct {
	Kind    string `json:"kind"`
	Text    string `json:"text"` // that was looked for
	Pattern string `json:"pattern"`
	Capture string `json:"capture"` // group 1 of the expression, or else the whole match
	// Groups and Named are those of [Match].
	Groups []*string         `json:"groups"`
	Named  map[string]string `json:"named"`
	// Scrolled is the line of a text that had scrolled off the screen; nil: it was on the screen.
	Scrolled  *Scrolled       `json:"scrolled"`
	Row       int             `json:"row"`       // cursor_at, from 0
	Col       int             `json:"col"`       // cursor_at, from 0
	MinMS     int64           `json:"min_ms"`    // screen_stable
	Command   string          `json:"command"`   // command_finished
	ExitCode  *int            `json:"exit_code"` // command_finished; nil: the shell did not tell
	Plugin    string          `json:"plugin"`    // lua
	Predicate string          `json:"predicate"` // lua
	Evidence  json.RawMessage `json:"evidence"`  // lua: what the predicate told; nil: nothing
	Index     int             `json:"index"`     // any: of the matcher that matched
	Count     int             `json:"count"`     // located: how many places there are
	Places    []Place         `json:"places"`    // located: the first 100 of them
	// any: the one that matched; all: every one, in order
	Parts []Outcome `json:"-"`
}

// UnmarshalJSON reads the outcome of a wait's result.
func (o *Outcome) UnmarshalJSON(b []byte) error {
	type outcome Outcome // without this method
	w := struct {
		*outcome
		Capture json.RawMessage `json:"capture"` // a text but for lua
		Matched json.RawMessage `json:"matched"`
	}{outcome: (*outcome)(o)}
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	_ = json.Unmarshal(w.Capture, &o.Capture)
	switch o.Kind {
	case "any":
		o.Parts = make([]Outcome, 1)
		return json.Unmarshal(w.Matched, &o.Parts[0])
	case "all":
		return json.Unmarshal(w.Matched, &o.Parts)
	}
	return nil
}

// text returns the first outcome with a text, nil when there is none.
func (o *Outcome) text() *Outcome {
	if o.Text != "" || o.Pattern != "" {
		return o
	}
	for i := range o.Parts {
		if t := o.Parts[i].text(); t != nil {
			return t
		}
	}
	return nil
}

// Scrolled is a logical line that scrolled off the screen.
type Scrolled struct {
	Line uint64 `json:"line"` // counted from the session's first line
	Text string `json:"text"`
}

// A Snapshot is a screen.
type Snapshot struct {
	Size struct {
		Rows        int `json:"rows"`
		Cols        int `json:"cols"`
		PixelWidth  int `json:"pixel_width"`
		PixelHeight int `json:"pixel_height"`
	} `json:"size"`
	Cursor struct {
		Row     int  `json:"row"` // from 0
		Col     int  `json:"col"` // from 0
		Visible bool `json:"visible"`
	} `json:"cursor"`
	Sequence          uint64   `json:"sequence"`
	PlainText         string   `json:"plain_text"` // soft-wrapped rows joined
	Lines             []string `json:"lines"`      // one a row
	Cells             []Cell   `json:"cells"`      // see [Cells]
	AlternateScreen   bool     `json:"alternate_screen"`
	ApplicationCursor bool     `json:"application_cursor"`
	ApplicationKeypad bool     `json:"application_keypad"`
	BracketedPaste    bool     `json:"bracketed_paste"` // the program takes a paste in brackets
	// what the program asks for: none, x10, vt200, drag or any
	Mouse string  `json:"mouse"`
	Title *string `json:"title"` // nil: none was set
	// the program reads a secret, as a password prompt does
	SecretInput bool  `json:"secret_input"`
	Exit        *Exit `json:"exit"` // nil: the program runs
	Then              // of a screen that was asked for [At] a moment
}

// String returns the screen's text: PlainText.
func (s *Snapshot) String() string { return s.PlainText }

// A Cell is one cell, or with cells "runs" a stretch of one style.
type Cell struct {
	Row              int    `json:"row"`
	Col              int    `json:"col"`
	Cols             int    `json:"cols"` // of a stretch
	Text             string `json:"text"`
	Wide             bool   `json:"wide"`
	WideContinuation bool   `json:"wide_continuation"`
	Style            Style  `json:"style"`
}

// A Style is how a cell is shown. Colours are default, idx:N or rgb:R:G:B.
type Style struct {
	Foreground     string `json:"foreground"`
	Background     string `json:"background"`
	Bold           bool   `json:"bold"`
	Dim            bool   `json:"dim"`
	Italic         bool   `json:"italic"`
	Underline      bool   `json:"underline"`
	Inverse        bool   `json:"inverse"`
	Strike         bool   `json:"strike"`
	Hidden         bool   `json:"hidden"`
	Blink          bool   `json:"blink"`
	Overline       bool   `json:"overline"`
	UnderlineStyle string `json:"underline_style"`
	UnderlineColor string `json:"underline_color"`
	Link           string `json:"link"`
}

// A Ran is a command line that was run.
type Ran struct {
	Output    string // exactly what the command wrote, without escape sequences
	Truncated bool   // Output lacks its beginning: it is the last 256 KiB
	Code      *int   // nil: the shell did not tell
	Sequence  uint64 // the session's just before the command was typed
	Elapsed   time.Duration
	By        string // how its end was told: marks, or sentinel
	Number    uint64 // of its block in session.blocks; 0: the shell marks no commands
	Exit      *Exit  // the command has ended the shell itself: how; nil: the shell runs
}

// UnmarshalJSON reads the result of session.run.
func (r *Ran) UnmarshalJSON(b []byte) error {
	var w struct {
		Output     string `json:"output"`
		Truncated  bool   `json:"truncated"`
		ExitCode   *int   `json:"exit_code"`
		Sequence   uint64 `json:"sequence"`
		DurationMS int64  `json:"duration_ms"`
		By         string `json:"by"`
		Number     uint64 `json:"number"`
		Exit       *Exit  `json:"exit"`
	}
	err := json.Unmarshal(b, &w)
	*r = Ran{
		w.Output, w.Truncated, w.ExitCode, w.Sequence, millis(w.DurationMS), w.By, w.Number, w.Exit,
	}
	return err
}

// A Recorded is a recording that has ended.
type Recorded struct {
	Session string
	Path    string
	Format  string
	Bytes   int64
	Length  time.Duration
	State   string // done, limit (it has reached its size) or failed
	Error   string // why it failed
}

// UnmarshalJSON reads the result of session.record_stop.
func (r *Recorded) UnmarshalJSON(b []byte) error {
	var w struct {
		Session    string `json:"session"`
		Path       string `json:"path"`
		Format     string `json:"format"`
		Bytes      int64  `json:"bytes"`
		DurationMS int64  `json:"duration_ms"`
		State      string `json:"state"`
		Error      string `json:"error"`
	}
	err := json.Unmarshal(b, &w)
	*r = Recorded{w.Session, w.Path, w.Format, w.Bytes, millis(w.DurationMS), w.State, w.Error}
	return err
}

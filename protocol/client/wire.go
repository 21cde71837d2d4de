package client

import (
	"encoding/json"
	"strconv"
	"time"
)

// Config says how to start a session; see session.create.
type Config struct {
	Name                string            `json:"name,omitempty"` // finds it as its id does; "": none
	Program             string            `json:"program"`
	Args                []string          `json:"args,omitempty"`
	Cwd                 string            `json:"cwd,omitempty"` // "": the server's
	Env                 map[string]string `json:"env,omitempty"`
	BaseEnv             map[string]string `json:"base_env,omitempty"`  // start from this instead of the server's environment
	ClearEnv            bool              `json:"clear_env,omitempty"` // start from nothing instead of either
	Rows                int               `json:"rows,omitempty"`      // 0: 24
	Cols                int               `json:"cols,omitempty"`      // 0: 80
	TranscriptMaxChars  *int              `json:"transcript_max_chars,omitempty"`
	ScrollbackMaxLines  *int              `json:"scrollback_max_lines,omitempty"`
	RawTranscriptPath   string            `json:"raw_transcript_path,omitempty"`
	RawTranscriptAppend bool              `json:"raw_transcript_append,omitempty"`
	EchoOff             string            `json:"echo_off,omitempty"`          // "ask" (when ""), "secret" or "plain": how to treat input while echo is off
	ShellIntegration    bool              `json:"shell_integration,omitempty"` // make bash, zsh or fish mark its commands
	Theme               string            `json:"theme,omitempty"`             // dark or light, for programs that ask; "": dark
	Owner               string            `json:"owner,omitempty"`             // connection: the session ends with this one; "": it does not
	// Limits, each for the program and all it starts; [Exit.Limit] says which one ended it. 0:
	// none.
	MaxMS     int64 `json:"max_ms,omitempty"`     // it may take so long
	IdleMS    int64 `json:"idle_ms,omitempty"`    // it may write nothing, while there is no input, for so long
	MaxMemory int64 `json:"max_memory,omitempty"` // bytes; refused where the server cannot make a cgroup
}

// Info describes a session, as session.list does.
type Info struct {
	Session         string    `json:"session"`
	Name            string    `json:"name"` // "": it has none
	Program         string    `json:"program"`
	Args            []string  `json:"args"`
	Cwd             string    `json:"cwd"`
	PID             int       `json:"pid"`
	Started         time.Time `json:"started"`
	Rows            int       `json:"rows"`
	Cols            int       `json:"cols"`
	Title           *string   `json:"title"`
	Sequence        uint64    `json:"sequence"`
	QuietMS         int64     `json:"quiet_ms"`
	AlternateScreen bool      `json:"alternate_screen"`
	Theme           string    `json:"theme"` // dark or light
	Exit            *Exit     `json:"exit"`  // nil: it runs
	TranscriptError string    `json:"transcript_error"`
	Adapter         string    `json:"adapter"` // the adapter that drives it; "": none
	Lease           *Lease    `json:"lease"`   // nil: any client may type
	Ended           time.Time `json:"ended"`   // when the program ended; zero: it runs
	Owner           string    `json:"owner"`   // connection: it ends with the one that created it
	MaxMS           int64     `json:"max_ms"`  // its limits, as in Config
	IdleMS          int64     `json:"idle_ms"`
	MaxMemory       int64     `json:"max_memory"`
}

// A Lease is the right to type into a session; one connection has it.
type Lease struct {
	Holder string    `json:"holder"`
	Since  time.Time `json:"since"`
	Yours  bool      `json:"yours"` // this connection has it
}

// Exit is how a program ended: one of Code and Signal is set.
type Exit struct {
	Code     *int    `json:"exit_code"`
	Signal   *string `json:"signal"`   // "SIGKILL"
	Draining bool    `json:"draining"` // a process it started holds the terminal, and may still write
	Limit    string  `json:"limit"`    // the limit that ended it: max_ms, idle_ms, max_memory or owner; "": none
}

// An Action is something a person could do to a session: text, paste, bracketed_paste, stream_text,
// key, mouse, resize, theme, interrupt, eof, signal, kill, mark_transcript.
type Action struct {
	Type  string `json:"type"`
	Value any    `json:"value,omitempty"`
}

// A Sent is the result of an action that the PTY has taken.
type Sent struct {
	// Sequence is the session's just before the first byte was written: a wait Since it sees what
	// the action caused, and nothing older.
	Sequence uint64 `json:"sequence"`
	Stripped int    `json:"stripped"` // control bytes removed from a bracketed paste
}

// A Matcher is a condition to wait for. The functions below make the common ones.
type Matcher struct {
	Type  string `json:"type"`
	Value any    `json:"value,omitempty"`
	// Scope is for contains_text and screen_regex: "screen" reads only the screen; "seen", also "",
	// includes lines that scrolled off it.
	Scope string `json:"scope,omitempty"`
}

// Contains matches a text on the screen, or in lines that scrolled off it since.
func Contains(text string) Matcher { return Matcher{Type: "contains_text", Value: text} }

// Screen matches an RE2 expression on the screen's text, rows joined by line feeds, or in lines
// that scrolled off it since.
func Screen(pattern string) Matcher { return Matcher{Type: "screen_regex", Value: pattern} }

// Transcript matches an RE2 expression in the output.
func Transcript(pattern string) Matcher { return Matcher{Type: "transcript_regex", Value: pattern} }

// Stable matches a screen that has not changed for d, to the millisecond.
func Stable(d time.Duration) Matcher {
	return Matcher{Type: "screen_stable", Value: map[string]int64{"min_ms": d.Milliseconds()}}
}

// Exited matches the end of the program, after its last byte was read.
func Exited() Matcher { return Matcher{Type: "process_exited"} }

// Any matches when one of ms does.
func Any(ms ...Matcher) Matcher { return Matcher{Type: "any", Value: ms} }

// All matches when all of ms do.
func All(ms ...Matcher) Matcher { return Matcher{Type: "all", Value: ms} }

// WaitOptions say how long a wait lasts and what it reads.
type WaitOptions struct {
	TimeoutMS *int64   `json:"timeout_ms,omitempty"` // nil: 30,000; 0: check once
	Since     Position `json:"since,omitempty"`      // only later output counts; "": everything counts
	Cells     string   `json:"cells,omitempty"`      // "": none
	Redact    *bool    `json:"redact,omitempty"`     // nil: true
}

// ReadOptions say how to read a screen.
type ReadOptions struct {
	Cells  string `json:"cells,omitempty"`  // full, runs or none; "": full
	Redact *bool  `json:"redact,omitempty"` // nil: true
}

// A Position is a point in a session's output: [After] a sequence, or the Next of a match. It is
// meaningful for its own session only.
type Position string

// After returns the position after all output up to a sequence.
func After(sequence uint64) Position { return Position(strconv.FormatUint(sequence, 10)) }

// MarshalJSON writes a sequence as a number.
func (p Position) MarshalJSON() ([]byte, error) {
	if _, err := strconv.ParseUint(string(p), 10, 64); err == nil {
		return []byte(p), nil
	}
	return json.Marshal(string(p))
}

// A Matched is the result of a wait.
type Matched struct {
	Sequence       uint64   `json:"sequence"`
	Next           Position `json:"next"`   // just after the match, for the next wait's Since
	Before         string   `json:"before"` // what came between Since and the matched text: its last 16 KiB
	BeforeCut      bool     `json:"before_truncated"`
	Missed         bool     `json:"missed"` // lines that scrolled off the screen were lost before they were checked
	ElapsedMS      int64    `json:"elapsed_ms"`
	Outcome        Outcome  `json:"outcome"`
	Snapshot       Snapshot `json:"snapshot"`
	TranscriptTail string   `json:"transcript_tail"`
	Forgotten      bool     `json:"forgotten"` // the session was forgotten: of Snapshot only Exit is meaningful
}

// An Outcome says what matched.
type Outcome struct {
	Kind    string `json:"kind"`
	Text    string `json:"text"`
	Pattern string `json:"pattern"`
	Capture string `json:"capture"` // group 1 of the expression, or else the whole match
	// Groups are those of the expression, in order, nil where one took no part; Named are the named
	// ones that took part.
	Groups []*string         `json:"groups"`
	Named  map[string]string `json:"named"`
	// Scrolled is the line of a text that had scrolled off the screen; nil: it was on the screen.
	Scrolled *Scrolled `json:"scrolled"`
	// Matched is another Outcome for any, and an array of Outcomes for all.
	Matched json.RawMessage `json:"matched"`
}

// Scrolled is a logical line that scrolled off the screen.
type Scrolled struct {
	Line uint64 `json:"line"` // counted from the session's first line
	Text string `json:"text"`
}

// Evidence shows why a wait did not match.
type Evidence struct {
	ElapsedMS      int64    `json:"elapsed_ms"`
	QuietMS        int64    `json:"quiet_ms"`
	Sequence       uint64   `json:"sequence"`
	Missed         bool     `json:"missed"` // lines that scrolled off the screen were lost before they were checked
	Snapshot       Snapshot `json:"snapshot"`
	TranscriptTail string   `json:"transcript_tail"`
	// Matcher is the tree that was sent, with held, why and nearest at each node.
	Matcher json.RawMessage `json:"matcher"`
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
	Cells             []Cell   `json:"cells"`
	AlternateScreen   bool     `json:"alternate_screen"`
	ApplicationCursor bool     `json:"application_cursor"`
	ApplicationKeypad bool     `json:"application_keypad"`
	Title             *string  `json:"title"` // nil: none was set
	Exit              *Exit    `json:"exit"`  // nil: the program runs
}

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

// An Event is a notification: session.changed, session.output or session.exited. Params is what was
// received.
type Event struct {
	Method   string          `json:"-"`
	Session  string          `json:"session"`
	Sequence uint64          `json:"sequence"`
	Output   string          `json:"output"`
	Dropped  bool            `json:"dropped"` // output before Output was lost: this client was too slow
	Code     *int            `json:"exit_code"`
	Signal   *string         `json:"signal"`
	Limit    string          `json:"limit"` // the limit that ended it; "": none
	Params   json.RawMessage `json:"-"`
}

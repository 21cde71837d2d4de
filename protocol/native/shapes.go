package native

import (
	"encoding/json"
	"time"
)

// The shapes of what encodes itself: the model of the wire is made of them. The tests hold every
// message that they send or get against the model.

type snapshotShape struct {
	Size              sizeShape   `json:"size"`
	Cursor            cursorShape `json:"cursor"`
	Sequence          uint64      `json:"sequence"`
	PlainText         string      `json:"plain_text" jsonschema:"rows cut at their last non-blank, soft-wrapped rows joined, blank rows at the end dropped"`
	Lines             []string    `json:"lines" jsonschema:"one string a row"`
	Cells             []cellShape `json:"cells" jsonschema:"every cell by rows; with runs: stretches of one style; else empty"`
	AlternateScreen   bool        `json:"alternate_screen"`
	ApplicationCursor bool        `json:"application_cursor"`
	ApplicationKeypad bool        `json:"application_keypad"`
	BracketedPaste    bool        `json:"bracketed_paste" jsonschema:"the program takes a paste in brackets"`
	Mouse             string      `json:"mouse" jsonschema:"what the program asks for: none, x10, vt200, drag or any"`
	Title             *string     `json:"title"`
	SecretInput       bool        `json:"secret_input" jsonschema:"the program reads a secret: the terminal does not echo what is typed"`
	Exit              *exitInfo   `json:"exit"`
	thenShape
}

type sizeShape struct {
	Rows        uint16 `json:"rows"`
	Cols        uint16 `json:"cols"`
	PixelWidth  uint16 `json:"pixel_width"`
	PixelHeight uint16 `json:"pixel_height"`
}

type cursorShape struct {
	Row     uint16 `json:"row" jsonschema:"from 0"`
	Col     uint16 `json:"col" jsonschema:"from 0"`
	Visible bool   `json:"visible"`
}

type cellShape struct {
	Row              int        `json:"row"`
	Col              int        `json:"col"`
	Cols             int        `json:"cols,omitempty" jsonschema:"of a run"`
	Text             string     `json:"text"`
	Wide             bool       `json:"wide,omitempty"`
	WideContinuation bool       `json:"wide_continuation,omitempty"`
	Style            styleShape `json:"style"`
}

type styleShape struct {
	Foreground     string `json:"foreground" jsonschema:"default, idx:N or rgb:R:G:B"`
	Background     string `json:"background" jsonschema:"default, idx:N or rgb:R:G:B"`
	Bold           bool   `json:"bold"`
	Dim            bool   `json:"dim"`
	Italic         bool   `json:"italic"`
	Underline      bool   `json:"underline"`
	Inverse        bool   `json:"inverse"`
	Strike         bool   `json:"strike,omitempty"`
	Hidden         bool   `json:"hidden,omitempty"`
	Blink          bool   `json:"blink,omitempty"`
	Overline       bool   `json:"overline,omitempty"`
	UnderlineStyle string `json:"underline_style,omitempty"`
	UnderlineColor string `json:"underline_color,omitempty"`
	Link           string `json:"link,omitempty"`
}

type frameShape struct {
	Sequence    uint64           `json:"sequence" jsonschema:"for the next since"`
	Full        bool             `json:"full" jsonschema:"every row is there: the client had none, or another size"`
	FirstLine   uint64           `json:"first_line" jsonschema:"number of the first row's line: what session.scrollback has dropped and what it has before the screen"`
	Moved       int              `json:"moved,omitempty" jsonschema:"with moves: by how many rows up what was shown has moved, before rows are drawn"`
	Size        cellsShape       `json:"size"`
	Rows        []rowShape       `json:"rows" jsonschema:"those that have changed"`
	Cursor      frameCursorShape `json:"cursor"`
	Modes       modesShape       `json:"modes"`
	Title       *string          `json:"title"`
	SecretInput bool             `json:"secret_input"`
	Bell        uint64           `json:"bell" jsonschema:"the sequence at which the bell rang last; 0: not yet"`
	Lease       *leaseInfo       `json:"lease" jsonschema:"who alone may type; null: everybody"`
	Exit        *exitInfo        `json:"exit"`
	thenShape
}

type cellsShape struct {
	Rows uint16 `json:"rows"`
	Cols uint16 `json:"cols"`
}

type frameCursorShape struct {
	cursorShape
	Style uint8 `json:"style" jsonschema:"what DECSCUSR set, 0 to 6"`
}

type modesShape struct {
	AlternateScreen   bool   `json:"alternate_screen"`
	ApplicationCursor bool   `json:"application_cursor"`
	ApplicationKeypad bool   `json:"application_keypad"`
	BracketedPaste    bool   `json:"bracketed_paste"`
	FocusEvents       bool   `json:"focus_events"`
	ReverseVideo      bool   `json:"reverse_video"`
	Mouse             string `json:"mouse"`
	AlternateScroll   bool   `json:"alternate_scroll" jsonschema:"the wheel sends cursor keys on the alternate screen while the program does not take the mouse"`
	KittyKeyboard     uint8  `json:"kitty_keyboard" jsonschema:"flags of the kitty keyboard protocol"`
	ModifyOtherKeys   uint8  `json:"modify_other_keys"`
}

type rowShape struct {
	Row  int    `json:"row"`
	ANSI string `json:"ansi,omitempty" jsonschema:"with form ansi: to be written at the beginning of a blank line, with no style set"`
	lineShape
}

type lineShape struct {
	Wrapped bool           `json:"wrapped,omitempty" jsonschema:"the line continues in the next row"`
	Runs    []stretchShape `json:"runs,omitempty"`
}

type stretchShape struct {
	Cluster bool       `json:"cluster,omitempty" jsonschema:"the text is one character of several code points"`
	Col     int        `json:"col"`
	Cols    int        `json:"cols" jsonschema:"of all its characters, which are equally wide"`
	Text    string     `json:"text"`
	Style   styleShape `json:"style"`
}

type waitShape struct {
	Matched        bool          `json:"matched"`
	Sequence       uint64        `json:"sequence"`
	Next           string        `json:"next" jsonschema:"just behind what matched, for the since of the next wait"`
	Forgotten      bool          `json:"forgotten,omitempty" jsonschema:"the session was: of the snapshot only exit means anything"`
	ElapsedMS      int64         `json:"elapsed_ms"`
	Outcome        outcome       `json:"outcome"`
	Before         string        `json:"before,omitempty" jsonschema:"with since: what came between it and the text that matched, at most the last 16 KiB"`
	BeforeCut      bool          `json:"before_truncated,omitempty" jsonschema:"before had more"`
	HeldAt         *time.Time    `json:"held_at,omitempty" jsonschema:"of a latched wait: when the matcher held, of which sequence and snapshot are"`
	Missed         bool          `json:"missed,omitempty" jsonschema:"lines that scrolled off the screen were lost before they could be looked at; with latched also: the matcher could not be asked about all that was shown"`
	Snapshot       snapshotShape `json:"snapshot"`
	TranscriptTail string        `json:"transcript_tail"`
}

// matchedShape is a matchedEntry.
type matchedShape struct{ matchedMembers }

type matchedMembers struct {
	Session        string     `json:"session"`
	Name           string     `json:"name,omitempty"`
	Sequence       uint64     `json:"sequence"`
	Next           string     `json:"next" jsonschema:"just behind what matched, for the since of the next wait"`
	Forgotten      bool       `json:"forgotten,omitempty" jsonschema:"the session was: of the snapshot only exit means anything"`
	ElapsedMS      int64      `json:"elapsed_ms" jsonschema:"since the whole wait began"`
	Outcome        outcome    `json:"outcome"`
	Before         string     `json:"before,omitempty" jsonschema:"as of session.wait"`
	BeforeCut      bool       `json:"before_truncated,omitempty" jsonschema:"before had more"`
	HeldAt         *time.Time `json:"held_at,omitempty" jsonschema:"of a latched wait: when the matcher held, of which sequence and snapshot are"`
	Missed         bool       `json:"missed,omitempty" jsonschema:"as of session.wait"`
	Snapshot       *look      `json:"snapshot,omitempty" jsonschema:"unless evidence is none, without cells"`
	TranscriptTail string     `json:"transcript_tail,omitempty" jsonschema:"likewise"`
}

// lackingShape is a lackingEntry.
type lackingShape struct {
	Session        string       `json:"session"`
	Name           string       `json:"name,omitempty"`
	Exit           *exitInfo    `json:"exit"`
	Forgotten      bool         `json:"forgotten,omitempty" jsonschema:"the session was"`
	ElapsedMS      *uint64      `json:"elapsed_ms,omitempty" jsonschema:"this and what follows with evidence all, as of a session.wait that timed out"`
	QuietMS        *uint64      `json:"quiet_ms,omitempty"`
	Sequence       *uint64      `json:"sequence,omitempty"`
	Missed         bool         `json:"missed,omitempty"`
	Snapshot       *look        `json:"snapshot,omitempty"`
	TranscriptTail *string      `json:"transcript_tail,omitempty"`
	Matcher        *explanation `json:"matcher,omitempty"`
}

// A lostShape is what a wait could not be asked about until its end.
type lostShape struct {
	Host     string            `json:"host"`
	Sessions []string          `json:"sessions" jsonschema:"its sessions that were waited for"`
	Since    map[string]uint64 `json:"since" jsonschema:"the last sequence that is known of each"`
	Reason   string            `json:"reason" jsonschema:"down or silent"`
	ForMS    int64             `json:"for_ms" jsonschema:"for how long it had been away"`
}

// manyShape is a manyResult.
type manyShape struct {
	Matched   []matchedShape `json:"matched" jsonschema:"in the order in which they did"`
	Waiting   int            `json:"waiting" jsonschema:"how many sessions have neither matched nor ended"`
	Ended     []lackingShape `json:"ended" jsonschema:"sessions that have ended and can no longer match"`
	Lost      []lostShape    `json:"lost" jsonschema:"what could not be asked, since its host was away; none without other machines"`
	Complete  bool           `json:"complete" jsonschema:"nothing is left to wait for: no session waits, and none is lost"`
	Truncated bool           `json:"truncated,omitempty" jsonschema:"some screens are left out: there were more than 16 MiB"`
}

// manyParts are those of the data of an error.
type manyParts struct {
	Matched   []matchedShape `json:"matched,omitempty" jsonschema:"this and what follows of session.wait_many, as in its answer"`
	Waiting   *int           `json:"waiting,omitempty"`
	Ended     []lackingShape `json:"ended,omitempty"`
	Lost      []lostShape    `json:"lost,omitempty" jsonschema:"what could not be asked, since its host was away: whether it would have matched is not known"`
	Complete  *bool          `json:"complete,omitempty"`
	Lacking   []lackingShape `json:"lacking,omitempty" jsonschema:"with evidence all: the sessions that waited"`
	Truncated *bool          `json:"truncated,omitempty"`
}

// matchedNoteShape is a matchedNote.
type matchedNoteShape struct {
	Wait string `json:"wait,omitempty" jsonschema:"as of the request"`
	matchedMembers
}

// spanShape is a span.
type spanShape struct {
	From     uint64    `json:"from" jsonschema:"the first sequence in which the matcher held"`
	To       *uint64   `json:"to" jsonschema:"the first sequence after it in which it no longer did, from itself when it held within one batch of output only; null: it held in the last moment that was looked at"`
	FromAt   time.Time `json:"from_at"`
	ToAt     time.Time `json:"to_at"`
	MS       int64     `json:"ms" jsonschema:"how long it held, in milliseconds"`
	Outcome  outcome   `json:"outcome" jsonschema:"what matched first"`
	Snapshot *look     `json:"snapshot" jsonschema:"the screen on which it did, without cells"`
}

type (
	bareOutcome struct {
		Kind string `json:"kind"`
	}
	textOutcome struct {
		Kind     string        `json:"kind"`
		Text     string        `json:"text" jsonschema:"the text that was looked for"`
		Scrolled *scrolledLine `json:"scrolled,omitempty" jsonschema:"the line, when it had left the screen"`
	}
	regexOutcome struct {
		Kind     string            `json:"kind"`
		Pattern  string            `json:"pattern"`
		Capture  string            `json:"capture" jsonschema:"group 1, else the whole match"`
		Groups   []*string         `json:"groups,omitempty" jsonschema:"each group in order, null for one that took no part"`
		Named    map[string]string `json:"named,omitempty" jsonschema:"the named groups that took part"`
		Scrolled *scrolledLine     `json:"scrolled,omitempty" jsonschema:"the line, when it had left the screen"`
	}
	cursorOutcome struct {
		Kind string `json:"kind"`
		Row  uint16 `json:"row" jsonschema:"from 0"`
		Col  uint16 `json:"col" jsonschema:"from 0"`
	}
	locatedOutcome struct {
		Kind   string       `json:"kind"`
		Count  int          `json:"count" jsonschema:"how many places there are"`
		Places []placeShape `json:"places" jsonschema:"at most the first 100"`
	}
	stableOutcome struct {
		Kind  string `json:"kind"`
		MinMS uint64 `json:"min_ms"`
	}
	finishedOutcome struct {
		Kind     string `json:"kind"`
		Command  string `json:"command"`
		ExitCode *int   `json:"exit_code" jsonschema:"null when the shell did not tell"`
	}
	luaOutcome struct {
		Kind      string          `json:"kind"`
		Plugin    string          `json:"plugin"`
		Predicate string          `json:"predicate"`
		Evidence  json.RawMessage `json:"evidence,omitempty" jsonschema:"what the predicate told"`
		Capture   json.RawMessage `json:"capture,omitempty" jsonschema:"what the predicate captured"`
	}
	stateOutcome struct {
		Kind     string `json:"kind"`
		State    string `json:"state" jsonschema:"the one of those that were named"`
		Plugin   string `json:"plugin"`
		Evidence string `json:"evidence,omitempty" jsonschema:"what the plugin says for people"`
	}
	anyOutcome struct {
		Kind    string  `json:"kind"`
		Index   uint16  `json:"index" jsonschema:"of the matcher that held, from 0"`
		Matched outcome `json:"matched"`
	}
	allOutcome struct {
		Kind    string    `json:"kind"`
		Matched []outcome `json:"matched" jsonschema:"one for each matcher"`
	}
)

type cancelRequestParams struct {
	ID requestID `json:"id" jsonschema:"of the request"`
}

type requestID struct{}

type cancelRequestResult struct {
	Cancelled bool `json:"cancelled" jsonschema:"false: no such request was under way"`
}

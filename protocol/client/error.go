package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// Codes of the native dialect's errors. [Error.Reason] is more specific.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeUnknownMethod  = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeTimeout        = -32001 // a wait timed out; Evidence has why
	// the session's program has ended, or the session was killed or closed
	CodeSessionClosed = -32002
	CodeDenied        = -32004 // the connection, or the plugin, has no right to it
	CodeCancelled     = -32005 // the request was cancelled
)

// A Reason says why a server refuses a request. Each is an error too, which [errors.Is] finds in
// what calls return: errors.Is(err, client.ErrTimeout). A newer server may have others.
type Reason string

// Error returns the reason as the wire has it.
func (r Reason) Error() string { return string(r) }

// An Error is the server's answer to a request that failed.
type Error struct {
	Method  string // that was called
	Code    int
	Reason  Reason // "": the server gave none
	Message string // for people
	Data    json.RawMessage
}

func newError(code int, message string, data json.RawMessage) *Error {
	var reason struct {
		Reason Reason `json:"reason"`
	}
	_ = json.Unmarshal(data, &reason) // data without a reason comes from another kind of server
	return &Error{Code: code, Reason: reason.Reason, Message: message, Data: data}
}

func (e *Error) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("%s (%d)", e.Message, e.Code)
	}
	return fmt.Sprintf("%s (%d, %s)", e.Message, e.Code, e.Reason)
}

// Is reports whether target is the error's reason.
func (e *Error) Is(target error) bool {
	r, ok := target.(Reason)
	return ok && r == e.Reason
}

// Evidence returns the evidence of a wait that did not match, nil when the error is not a wait's.
func (e *Error) Evidence() *Evidence { return evidenceIn(e.Data) }

// evidenceIn returns the evidence in an object, nil when it has none.
func evidenceIn(object []byte) *Evidence {
	var v Evidence
	if json.Unmarshal(object, &v) != nil || v.Matcher == nil {
		return nil
	}
	return &v
}

// EvidenceOf returns the evidence in an error of [Session.Wait] or [Session.Expect], nil when it
// has none.
func EvidenceOf(err error) *Evidence {
	var e *Error
	if !errors.As(err, &e) {
		return nil
	}
	return e.Evidence()
}

// Evidence shows why a wait did not match. String prints it for people.
type Evidence struct {
	Elapsed  time.Duration // that the wait lasted
	Quiet    time.Duration // since the screen has changed
	Sequence uint64
	// Missed: lines that scrolled off the screen were lost before they were checked, or with
	// [Latched] the matcher could not be asked about all that was shown.
	Missed         bool
	Screen         Snapshot
	TranscriptTail string
	// Matcher is the tree that was sent, with held, why and nearest at each node.
	Matcher json.RawMessage
}

// UnmarshalJSON reads the data of an error.
func (e *Evidence) UnmarshalJSON(b []byte) error {
	var w struct {
		ElapsedMS      int64           `json:"elapsed_ms"`
		QuietMS        int64           `json:"quiet_ms"`
		Sequence       uint64          `json:"sequence"`
		Missed         bool            `json:"missed"`
		Snapshot       Snapshot        `json:"snapshot"`
		TranscriptTail string          `json:"transcript_tail"`
		Matcher        json.RawMessage `json:"matcher"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*e = Evidence{
		millis(w.ElapsedMS), millis(w.QuietMS), w.Sequence, w.Missed, w.Snapshot,
		w.TranscriptTail, w.Matcher,
	}
	return nil
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// String says what each part of the matcher lacked, and shows the last screen.
func (e *Evidence) String() string { return e.Report(nil) }

// Report is [Evidence.String] with the parts of the matcher named by name, as for people who have
// not written it: it gets a part's type and its value as JSON, nil for parts that have none. A nil
// name shows them as they are.
func (e *Evidence) Report(name func(kind string, value json.RawMessage) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "no match after %v; the screen has been quiet for %v\n", e.Elapsed, e.Quiet)
	for _, l := range e.lacks(name) {
		fmt.Fprintf(&b, "- %s\n", oneLine(l))
	}
	how := e.Screen.Exit.String()
	if e.Screen.Title != nil {
		how += ", titled " + *e.Screen.Title
	}
	fmt.Fprintf(&b, "the last screen, at sequence %d (%s):\n", e.Sequence, oneLine(how))
	rows := e.Screen.Lines
	for len(rows) > 0 && strings.TrimSpace(rows[len(rows)-1]) == "" {
		rows = rows[:len(rows)-1]
	}
	for _, row := range rows {
		b.WriteString(strings.Map(quiet, row) + "\n")
	}
	return b.String()
}

// oneLine escapes what would end a line, or change how a terminal shows it.
func oneLine(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case unicode.IsControl(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		default: // such as characters that change the text direction
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// quiet replaces control characters, which the rows of a screen do not have.
func quiet(r rune) rune {
	if unicode.IsControl(r) && r != '\t' {
		return unicode.ReplacementChar
	}
	return r
}

// Lacks says what each part of the matcher lacked, one line each, nested parts indented by two
// blanks.
func (e *Evidence) Lacks() []string { return e.lacks(nil) }

func (e *Evidence) lacks(name func(kind string, value json.RawMessage) string) []string {
	if name == nil {
		name = asWritten
	}
	var b bytes.Buffer
	if json.Compact(&b, e.Matcher) != nil {
		return nil
	}
	return lacks(b.Bytes(), 0, name)
}

// asWritten names a part of a matcher as the wire does.
func asWritten(kind string, value json.RawMessage) string {
	return strings.TrimSuffix(kind+" "+string(value), " ")
}

// mostDepth bounds how much nested evidence is shown: the server's matchers are at most as deep.
const mostDepth = 32

func lacks(raw json.RawMessage, level int,
	name func(kind string, value json.RawMessage) string) []string {
	var l struct {
		Type    string          `json:"type"`
		Value   json.RawMessage `json:"value"`
		Held    bool            `json:"held"`
		Why     string          `json:"why"`
		Nearest string          `json:"nearest"`
	}
	if level > mostDepth || json.Unmarshal(raw, &l) != nil || l.Type == "" {
		return nil
	}
	var parts []json.RawMessage
	switch {
	case json.Unmarshal(l.Value, &parts) == nil:
		l.Value = nil
	case strings.HasPrefix(string(l.Value), `{"type"`):
		parts, l.Value = []json.RawMessage{l.Value}, nil
	}
	line := strings.Repeat("  ", level) + name(l.Type, l.Value)
	if l.Held {
		line += ": held"
	} else if l.Why != "" {
		line += ": " + l.Why
	}
	if l.Nearest != "" {
		line += fmt.Sprintf(" (nearest: %q)", l.Nearest)
	}
	all := []string{line}
	for _, p := range parts {
		all = append(all, lacks(p, level+1, name)...)
	}
	return all
}

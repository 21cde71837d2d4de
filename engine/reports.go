package engine

import (
	"encoding/base64"
	"net/url"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine/vt"
)

// Reports are what a program has reported beside its screen, by escape sequences: the last of each
// kind. They are the program's word and text: do not trust them, and redact them like the screen. A
// kind is nil until it was reported; what a pointer points to never changes.
type Reports struct {
	Progress *Progress      // OSC 9 ; 4
	Shell    *Shell         // OSC 133, OSC 633 and OSC 7
	Status   *ProgramStatus // OSC 7501; nil again when the program has withdrawn it
	// Clipboard is the last OSC 52. It is kept here only: no other program gets it, least of all
	// the one that queries it.
	Clipboard *Clipboard
}

// Clipboard is a text that a program has written to its clipboard, or why there is none.
type Clipboard struct {
	// Text is plain text with tabs and line feeds, at most 75,000 bytes; "" when cleared or
	// dropped.
	Text    string
	Dropped ClipboardFault // why what it wrote is not in Text
	// Sequence is the session's when it came; inside a synchronized update, when its frame was
	// shown.
	Sequence uint64
	At       time.Time // likewise
}

// A ClipboardFault is a reason to drop what a program put on the clipboard.
type ClipboardFault string

const (
	// ClipboardTooLong: over 100,000 bytes of base64; half a text is a different text.
	ClipboardTooLong   ClipboardFault = "too_long"
	ClipboardNotBase64 ClipboardFault = "not_base64" // malformed
)

// A ProgressState is what a progress bar shows (ConEmu's OSC 9 ; 4).
type ProgressState string

const (
	ProgressNone   ProgressState = "none" // the program removed the bar
	ProgressNormal ProgressState = "normal"
	ProgressError  ProgressState = "error"
	ProgressBusy   ProgressState = "busy" // at work for an unknown time; there is no value
	ProgressPaused ProgressState = "paused"
)

// progressStates are the states by their number in the sequence.
var progressStates = [...]ProgressState{ProgressNone, ProgressNormal, ProgressError, ProgressBusy,
	ProgressPaused}

// Progress is how far a program is.
type Progress struct {
	State ProgressState
	Value int // percent, 0 to 100
}

// A ShellPhase is what a shell with marks (FinalTerm's OSC 133, VS Code's OSC 633) is doing.
type ShellPhase string

const (
	ShellPrompt  ShellPhase = "prompt"  // A: it writes its prompt
	ShellInput   ShellPhase = "input"   // B: it reads a command line
	ShellRunning ShellPhase = "running" // C: it runs a command
	ShellDone    ShellPhase = "done"    // D: the command has ended; the next prompt usually follows
)

// Shell is what a shell has reported.
type Shell struct {
	Phase    ShellPhase // "" until the first mark
	ExitCode int        // of the last command that has ended; valid when Exited is set
	Exited   bool       // the mark D came with an exit code, which an abandoned command line lacks
	Commands uint64     // that have ended: D after C
	// Finished is the sequence at which the last of them ended; inside a synchronized update, when
	// its frame was shown.
	Finished uint64
	Command  string // the last command line that OSC 633 ; E gave, in one line
	// Dir is the working directory, a path, of OSC 7 or of OSC 633 ; P ; Cwd. Over ssh the host is
	// unknown.
	Dir string
}

// ProgramStatus is what a program reports by the Program Status Protocol: OSC 7501 and key=value
// pairs with colons between them. State, App and Kind are at most 64 letters, digits, dots, hyphens
// and underscores.
type ProgramStatus struct {
	// State is the program's own word: "idle", "working", "blocked", "done", "error" have been
	// seen.
	State   string
	App     string // "" when not given, as for Kind and Message
	Kind    string // for "blocked", of what: "permission", "question"
	Message string // for people: plain text in one line, at most 4 KiB
	// Sequence is the session's when it came; inside a synchronized update, when its frame was
	// shown.
	Sequence uint64
}

// After returns the reports as they are after e, an event of the terminal, as a session makes them:
// for replaying a recording. Sequence and At are left to the caller.
func (r Reports) After(e *vt.Event) Reports {
	switch e.Kind {
	case vt.EventProgress:
		if p := (Progress{progressStates[e.State], e.Value}); r.Progress == nil ||
			*r.Progress != p {
			r.Progress = &p
		}
	case vt.EventStatus:
		if status, ok := parseStatus(e.Text); ok {
			r.Status = status
		}
	case vt.EventClipboard:
		r.Clipboard = &Clipboard{Text: e.Text}
		switch {
		case e.Cut:
			r.Clipboard.Dropped = ClipboardTooLong
		case e.Bad:
			r.Clipboard.Dropped = ClipboardNotBase64
		}
	case vt.EventDirectory, vt.EventMark, vt.EventMark633:
		var before, sh Shell
		if r.Shell != nil {
			before = *r.Shell
		}
		if sh = before.after(e); sh != before {
			r.Shell = &sh
		}
	}
	return r
}

func (s Shell) after(e *vt.Event) Shell {
	if e.Kind == vt.EventDirectory {
		if dir, ok := directory(e.Text); ok {
			s.Dir = dir
		}
		return s
	}
	switch e.Mark {
	case 'A':
		s.Phase = ShellPrompt
	case 'B':
		s.Phase = ShellInput
	case 'C':
		s.Phase = ShellRunning
	case 'D':
		if s.Phase == ShellRunning {
			s.Commands++
		}
		s.Phase, s.ExitCode, s.Exited = ShellDone, e.Exit, e.HasExit
	case 'E':
		if e.Kind == vt.EventMark633 {
			s.Command = strings.Join(strings.FieldsFunc(e.Text,
				func(r rune) bool { return r == '\n' }), " ")
		}
	case 'P':
		if dir, ok := strings.CutPrefix(e.Text, "Cwd="); ok {
			s.Dir = dir
		}
	}
	return s
}

// directory returns the path of an OSC 7: a file URI with any host, or by mistake the path itself.
// An empty one removes the directory.
func directory(uri string) (path string, ok bool) {
	rest, isURI := strings.CutPrefix(uri, "file://")
	if !isURI {
		return uri, uri == "" || uri[0] == '/'
	}
	_, path, ok = strings.Cut(rest, "/")
	path = "/" + path
	if plain, err := url.PathUnescape(path); err == nil { // otherwise it was never escaped
		path = vt.Clean([]byte(plain), len(path)) // an escape leaves room for U+FFFD
	}
	if len(path) > 2 && path[2] == ':' && path[1]|0x20 >= 'a' && path[1]|0x20 <= 'z' { // /C:/Users
		path = path[1:]
	}
	return path, ok
}

const (
	// maxToken bounds a state, an app or a kind, in bytes. The longest seen is "claude-code".
	maxToken = 64
	// maxMessage bounds a message, in bytes: more than a command for which permission is asked. It
	// takes two thirds of what the terminal keeps of a sequence.
	maxMessage = 4 << 10
	// maxEncoded is the base64 of maxMessage bytes, in whole groups.
	maxEncoded = (maxMessage + 2) / 3 * 4
)

// parseStatus reads the payload of an OSC 7501, plain text. A nil status withdraws the one before;
// not ok is a payload without a state. Unknown keys are ignored, and the last of a repeated key
// counts.
func parseStatus(payload string) (status *ProgramStatus, ok bool) {
	status = &ProgramStatus{}
	for pair := range strings.SplitSeq(payload, ":") {
		key, value, _ := strings.Cut(pair, "=")
		switch key {
		case "state":
			status.State = token(value)
		case "app":
			status.App = token(value)
		case "kind":
			status.Kind = token(value)
		case "msg":
			status.Message = message(value)
		}
	}
	switch status.State {
	case "":
		return nil, false
	case "clear":
		return nil, true
	}
	return status, true
}

// token returns s when it is one, otherwise "": half of a name is another name.
func token(s string) string {
	const inToken = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"
	if len(s) > maxToken || strings.Trim(s, inToken) != "" {
		return ""
	}
	return strings.Clone(s) // not the whole sequence
}

// message decodes base64, with or without padding, to plain text in one line; "" when it is
// invalid.
func message(encoded string) string {
	encoded = strings.TrimRight(encoded, "=")
	text, err := base64.RawStdEncoding.DecodeString(encoded[:min(len(encoded), maxEncoded)])
	if err != nil {
		return ""
	}
	for i, c := range text {
		if c == '\n' || c == '\r' || c == '\t' {
			text[i] = ' '
		}
	}
	return vt.Clean(text, maxMessage)
}

// shown is r as shown at a sequence, after before was shown until then: a report says when it was
// first seen.
func (r Reports) shown(before Reports, seq uint64, now time.Time) Reports {
	if status := r.Status; status != nil && status != before.Status {
		first := *status
		first.Sequence = seq
		r.Status = &first
	}
	if sh := r.Shell; sh != nil && sh.Commands > 0 &&
		(before.Shell == nil || sh.Commands != before.Shell.Commands) {
		first := *sh
		first.Finished = seq
		r.Shell = &first
	}
	if c := r.Clipboard; c != nil && c != before.Clipboard {
		first := *c
		first.Sequence, first.At = seq, now
		r.Clipboard = &first
	}
	return r
}

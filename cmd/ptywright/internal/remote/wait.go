package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/protocol/client"
)

// A Condition is what to wait for in a session.
type Condition struct {
	Matcher any             // the wire's
	Since   client.Position // "": everything counts
	Timeout time.Duration
	Show    Show
}

// A Waited is the result of a wait: a match, or the evidence of why there was none.
type Waited struct {
	Raw      json.RawMessage  // the wire's object, with session and matched
	Matched  *client.Matched  // nil: no match
	Evidence *client.Evidence // nil: a match, or the wait could not start
}

// waitGrace is how much longer than its timeout a wait may take: to connect, and to get the
// evidence from a loaded machine.
const waitGrace = 5 * time.Second

// Patience bounds everything that belongs to a wait with that timeout, [Connect] too.
func Patience(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, timeout+waitGrace, daemon.ErrLate)
}

// Wait waits until a condition holds. Errors: those of session.wait, with [Waited.Evidence] if it
// waited.
func (s *Server) Wait(ctx context.Context, id string, c Condition) (Waited, error) {
	more := map[string]any{"matcher": c.Matcher, "timeout_ms": c.Timeout.Milliseconds()}
	if c.Since != "" {
		more["since"] = c.Since
	}
	var w Waited
	ctx, cancel := Patience(ctx, c.Timeout)
	defer cancel()
	err := s.call(ctx, c.Timeout, "session.wait", params(id, more, c.Show), &w.Raw)
	if err == nil {
		w.Matched = new(client.Matched)
		if err := json.Unmarshal(w.Raw, w.Matched); err != nil {
			return w, err
		}
		w.Raw = about(id, true, w.Raw)
		return w, nil
	}
	var e *client.Error
	if errors.As(err, &e) {
		if w.Evidence = e.Evidence(); w.Evidence != nil {
			w.Raw = about(id, false, e.Data)
		}
	}
	return w, err
}

// about adds the session, and whether it matched, to an object.
func about(id string, matched bool, object json.RawMessage) json.RawMessage {
	return with(object, map[string]any{"session": id, "matched": matched})
}

// What says in one line what matched: the text that an expression captured, the text that was
// looked for, or how the program or its command ended.
func (w Waited) What() string {
	if w.Matched == nil {
		return ""
	}
	var o told
	if json.Unmarshal(w.Raw, &struct{ Outcome *told }{&o}) != nil {
		return ""
	}
	return o.say(w.Matched.Snapshot.Exit)
}

// told is the part of an outcome that fits into a line.
type told struct {
	Kind     string          `json:"kind"`
	Text     string          `json:"text"`
	Capture  string          `json:"capture"`
	Command  string          `json:"command"`
	ExitCode *int            `json:"exit_code"`
	Matched  json.RawMessage `json:"matched"`
}

func (o told) say(exit *client.Exit) string {
	switch {
	case o.Kind == "any":
		var one told
		if json.Unmarshal(o.Matched, &one) == nil {
			return one.say(exit)
		}
	case o.Kind == "all":
		var parts []string
		var all []told
		if json.Unmarshal(o.Matched, &all) == nil {
			for _, m := range all {
				parts = append(parts, m.say(exit))
			}
		}
		return strings.Join(parts, "; ")
	case o.Kind == "process_exited":
		return Ended(exit)
	case o.Kind == "command_finished" && o.ExitCode != nil:
		return fmt.Sprintf("exit %d", *o.ExitCode)
	case o.Kind == "command_finished":
		return "exit code unknown"
	case o.Capture != "":
		return o.Capture
	case o.Text != "":
		return o.Text
	}
	return o.Kind
}

// Ended says how a program ended: "exit 3", or a signal's name, followed by what else is known: the
// limit it exceeded, and that some of its processes still run; "running" if it has not ended.
func Ended(e *client.Exit) string {
	if e == nil {
		return "running"
	}
	how := "ended"
	switch {
	case e.Signal != nil:
		how = *e.Signal
	case e.Code != nil:
		how = fmt.Sprintf("exit %d", *e.Code)
	}
	var more []string
	if e.Limit != "" {
		more = append(more, limitNames[e.Limit])
	}
	if e.Draining {
		more = append(more, "draining")
	}
	if len(more) > 0 {
		how += " (" + strings.Join(more, ", ") + ")"
	}
	return how
}

// limitNames are the limits of a session as spawn's flags have them.
var limitNames = map[string]string{"max_ms": "max-time", "idle_ms": "idle", "max_memory": "max-memory", "owner": "its client is gone"}

// A lack is a node of the evidence: a condition, and what it lacked.
type lack struct {
	Type    string          `json:"type"`
	Value   json.RawMessage `json:"value"`
	Held    bool            `json:"held"`
	Why     string          `json:"why"`
	Nearest string          `json:"nearest"`
}

// depth bounds how much nested evidence is shown: the server's matchers are at most as deep.
const depth = 32

// Lacks says what each part of a matcher lacked, one line each, nested parts indented by two
// blanks.
func Lacks(e *client.Evidence) []string { return lacks(e.Matcher, 0) }

func lacks(raw json.RawMessage, level int) []string {
	var l lack
	if level > depth || json.Unmarshal(raw, &l) != nil || l.Type == "" {
		return nil
	}
	line := strings.Repeat("  ", level) + l.Type
	var parts []json.RawMessage
	switch {
	case json.Unmarshal(l.Value, &parts) == nil:
	case strings.HasPrefix(string(l.Value), `{"type"`):
		parts = []json.RawMessage{l.Value}
	case len(l.Value) > 0:
		line += " " + string(l.Value)
	}
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
		all = append(all, lacks(p, level+1)...)
	}
	return all
}

// Exited is how the program ended, if its end is what matched; else nil.
func (w Waited) Exited() *client.Exit {
	var o told
	if w.Matched == nil || json.Unmarshal(w.Raw, &struct{ Outcome *told }{&o}) != nil || !o.exited() {
		return nil
	}
	return w.Matched.Snapshot.Exit
}

// exited reports whether the program's end is what matched, or part of it.
func (o *told) exited() bool {
	switch o.Kind {
	case "process_exited":
		return true
	case "any":
		var one told
		return json.Unmarshal(o.Matched, &one) == nil && one.exited()
	case "all":
		var all []told
		return json.Unmarshal(o.Matched, &all) == nil && slices.ContainsFunc(all, func(m told) bool { return m.exited() })
	}
	return false
}

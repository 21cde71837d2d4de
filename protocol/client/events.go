package client

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// A SessionEvent is one thing that happened to a session: input, a wait, a command, a lease, a
// resize, what was hidden, an adapter's state, a bell, a title, the end. docs/wire.md has the kinds
// and their members. It never holds what was typed.
type SessionEvent struct {
	// ID stays the same while the event goes on; one that has ended or grown comes again with a
	// higher Seq.
	ID        uint64    `json:"event"`
	Seq       uint64    `json:"seq"`
	Kind      string    `json:"kind"`
	State     string    `json:"state"` // pending, running and held go on; "": it is a moment
	At        time.Time `json:"at"`
	Sequence  uint64    `json:"sequence"`
	Until     time.Time `json:"until"` // when it ended, or grew last; zero: it goes on
	Last      uint64    `json:"until_sequence"`
	By        string    `json:"by"` // who; "": not known
	What      string    `json:"what"`
	Text      string    `json:"text"`
	Evidence  string    `json:"evidence"` // of a wait: what matched or was lacking
	Previous  string    `json:"previous"`
	TimeoutMS int64     `json:"timeout_ms"` // of a wait; 0: no limit
	Bytes     int       `json:"bytes"`
	Keys      []string  `json:"keys"`
	Secret    bool      `json:"secret"`
	Count     int       `json:"count"`
	Number    uint64    `json:"number"`
	Rows      int       `json:"rows"`
	Cols      int       `json:"cols"`
	ExitCode  *int      `json:"exit_code"`
	Signal    string    `json:"signal"`
	Limit     string    `json:"limit"`
}

// GoesOn reports whether the event has not ended yet.
func (e *SessionEvent) GoesOn() bool {
	return e.State == "pending" || e.State == "running" || e.State == "held"
}

// Events returns what has happened to the session since an event was noted (0: all that is kept),
// secrets hidden, and what to pass next time. dropped says that some of it is not kept. Errors are
// *[Error], or of the connection.
func (s *Session) Events(ctx context.Context, since uint64) (events []SessionEvent, next uint64,
	dropped bool, err error) {
	var r struct {
		Events  []SessionEvent `json:"events"`
		Next    uint64         `json:"next"`
		Dropped bool           `json:"dropped"`
	}
	err = s.client.Call(ctx, "session.events", map[string]any{"session": s.ID, "since": since}, &r)
	return r.Events, r.Next, r.Dropped, err
}

// Noted is when the event came to what it is now: when it began, or ended or grew last.
func (e *SessionEvent) Noted() time.Time {
	if e.Until.IsZero() {
		return e.At
	}
	return e.Until
}

// String says in one line what happened, as ptywright events prints it: without the time, and with
// the program's own words in it.
func (e *SessionEvent) String() string {
	words := e.words()
	if e.By != "" && e.Kind != "lease" {
		words = e.By + ": " + words
	}
	return words
}

func (e *SessionEvent) words() string {
	lasted := ""
	if !e.Until.IsZero() {
		lasted = " after " + short(e.Until.Sub(e.At))
	}
	switch e.Kind {
	case "input":
		return e.typed()
	case "wait":
		return e.waited(lasted)
	case "command":
		switch {
		case e.State == "running":
			return "runs " + e.Text
		case e.State != "ended":
			return fmt.Sprintf("ran %s: nobody watches it any more%s", e.Text, lasted)
		case e.ExitCode == nil:
			return fmt.Sprintf("ran %s: ended%s, exit code unknown", e.Text, lasted)
		}
		return fmt.Sprintf("ran %s: exit code %d%s", e.Text, *e.ExitCode, lasted)
	case "lease":
		switch e.State {
		case "held":
			return e.By + " alone may type"
		case "taken_over":
			return e.By + " lost the right to type to somebody else" + lasted
		}
		return e.By + " gave back the right to type" + lasted
	case "resize":
		return fmt.Sprintf("resized to %d rows, %d columns", e.Rows, e.Cols)
	case "redacted":
		return counted(e.Count, "secret") + " hidden from a reader"
	case "adapter":
		if e.Previous != "" {
			return fmt.Sprintf("%s: %s, was %s", e.What, e.Text, e.Previous)
		}
		return e.What + ": " + e.Text
	case "bell":
		return "the bell rang " + counted(e.Count, "time")
	case "title":
		return "titled " + e.Text
	case "exit":
		return e.exited()
	}
	return strings.TrimSpace(e.Kind + " " + e.Text)
}

func (e *SessionEvent) typed() string {
	if e.Secret {
		return "typed what may be a secret"
	}
	words := "typed"
	switch e.What {
	case "paste":
		words = "pasted"
	case "mouse":
		return "used the mouse"
	case "signal":
		return "sent the signal " + strings.Join(e.Keys, " ")
	}
	if len(e.Keys) > 0 {
		words += " " + strings.Join(e.Keys, " ") + ","
	}
	words += " " + counted(e.Bytes, "byte")
	if e.State == "blocked" {
		words += ": the program did not read the rest"
	}
	return words
}

func (e *SessionEvent) waited(lasted string) string {
	words := "waits until " + e.Text
	if e.State == "pending" {
		if e.TimeoutMS > 0 {
			words += ", at most " + short(time.Duration(e.TimeoutMS)*time.Millisecond)
		}
		return words
	}
	words = fmt.Sprintf("waited until %s: %s%s", e.Text, strings.ReplaceAll(e.State, "_", " "), lasted)
	if e.Evidence != "" {
		words += ": " + e.Evidence
	}
	return words
}

func (e *SessionEvent) exited() string {
	x := Exit{Code: e.ExitCode, Limit: e.Limit, Killed: e.State == "killed"}
	if e.Signal != "" {
		x.Signal = &e.Signal
	}
	return x.Words()
}

// counted is a number of things.
func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// short is a duration in tenths of a second, or from a minute on in seconds.
func short(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return (d - d%time.Second).String()
}

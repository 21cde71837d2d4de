package tools

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/internal/ansi"
)

// A status is a session's state, in every result about one.
type status struct {
	Session   string    `json:"session"`
	Sequence  uint64    `json:"sequence" jsonschema:"number of the last change; give it as since to see or wait for what came after"`
	Rows      int       `json:"rows"`
	Cols      int       `json:"cols"`
	Cursor    cursor    `json:"cursor"`
	Title     string    `json:"title,omitempty"`
	Alternate bool      `json:"alternate_screen,omitempty" jsonschema:"a full-screen program"`
	Secret    bool      `json:"secret_input,omitempty" jsonschema:"the program asks for a secret: use send with secret"`
	QuietMS   int64     `json:"quiet_ms" jsonschema:"how long the screen has not changed"`
	Exit      *exitInfo `json:"exit,omitempty" jsonschema:"how the program ended"`
}

type cursor struct {
	Row     int  `json:"row"`
	Col     int  `json:"col"`
	Visible bool `json:"visible"`
}

type exitInfo struct {
	Code   *int   `json:"exit_code,omitempty"`
	Signal string `json:"signal,omitempty"`
	Limit  string `json:"limit,omitempty" jsonschema:"that the session went over, which ended it"`
	killed bool   // by somebody: how it ended says nothing of the program
}

func statusOf(l *reading.View) status {
	v, s := l.Raw, l.Screen()
	st := status{
		Session: string(v.Session), Sequence: v.Sequence, Rows: s.Rows, Cols: s.Cols,
		Alternate: s.Modes.AltScreen, Secret: v.Secret,
		Cursor:  cursor{s.Cursor.Row, s.Cursor.Col, s.Cursor.Visible},
		QuietMS: v.At.Sub(v.Changed).Milliseconds(), Exit: exitOf(v.Exit),
	}
	if s.TitleSet {
		st.Title = l.Clean(s.Title)
	}
	return st
}

func exitOf(e *engine.Exit) *exitInfo {
	if e == nil {
		return nil
	}
	x := &exitInfo{Signal: e.Signal, Limit: string(e.Limit), killed: e.Killed}
	if e.Signal == "" && e.Code >= 0 {
		code := e.Code
		x.Code = &code
	}
	return x
}

func (x *exitInfo) String() string {
	over := ""
	if x.Limit != "" {
		over = ", over its limit " + x.Limit
	}
	switch {
	case x.killed:
		return "killed"
	case x.Signal != "":
		return "ended by signal " + x.Signal + over
	case x.Code != nil:
		return fmt.Sprintf("exited with code %d", *x.Code) + over
	}
	return "ended, nobody knows how" + over
}

// head is a status in one line of words.
func (s *status) head() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s", s.Session)
	if s.Title != "" {
		fmt.Fprintf(&b, " %q", s.Title)
	}
	fmt.Fprintf(&b, " · %dx%d · cursor row %d col %d · sequence %d", s.Rows, s.Cols, s.Cursor.Row,
		s.Cursor.Col, s.Sequence)
	if s.Alternate {
		b.WriteString(" · full screen")
	}
	if s.Exit != nil {
		b.WriteString(" · " + s.Exit.String())
	} else {
		fmt.Fprintf(&b, " · quiet for %v",
			(time.Duration(s.QuietMS) * time.Millisecond).Round(100*time.Millisecond))
	}
	b.WriteString("]")
	if s.Secret && s.Exit == nil {
		b.WriteString("\nThe program asks for a secret. Do not ask for it in the chat: send with secret has the person type it.")
	}
	return b.String()
}

// Budgets of text in one result, in bytes. A model's context is precious: a screen of 24 by 80 has
// 2 KiB, one of 50 by 200 at most 10.
const (
	screenBudget = 10_000
	textBudget   = 16_000
	maxBudget    = 200_000
)

// budget is in the params of tools that show text.
type budget struct {
	MaxChars int `json:"max_chars,omitempty" jsonschema:"most characters of text to return; default 16000, a screen 10000, at most 200000"`
}

// within refuses a budget that no result has.
func (b budget) within() error {
	if b.MaxChars != 0 && (b.MaxChars < 200 || b.MaxChars > maxBudget) {
		return bad("max_chars", "expected an integer from 200 to %d", maxBudget)
	}
	return nil
}

// or is the budget; n when none was given.
func (b budget) or(n int) int { return cmp.Or(b.MaxChars, n) }

// screenText is a screen within a budget: the excess is left out at the top, and counted.
func screenText(l *reading.View, most int) (text string, omitted int) {
	lines := l.Screen().Lines()
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	size := 0
	for i := len(lines) - 1; i >= 0; i-- {
		if size += len(lines[i]) + 1; size > most && i < len(lines)-1 {
			return strings.Join(lines[i+1:], "\n"), i + 1
		}
	}
	return strings.Join(lines, "\n"), 0
}

// A shown is a screen in a result.
type shown struct {
	Screen  string `json:"screen" jsonschema:"the screen's rows, without blanks at their ends"`
	Omitted int    `json:"omitted_rows,omitempty" jsonschema:"rows at the top that are left out; a greater max_chars shows them"`
}

func shownOf(l *reading.View, most int) shown {
	text, omitted := screenText(l, most)
	return shown{text, omitted}
}

// text is a screen in words.
func (s *shown) text() string {
	switch {
	case s.Omitted > 0:
		return fmt.Sprintf("(%d rows above are left out; max_chars shows more)\n%s", s.Omitted,
			s.Screen)
	case s.Screen == "":
		return "(the screen is empty)"
	}
	return s.Screen
}

// tailOf returns the end of text within a budget, from the start of a line where that costs little,
// and how many bytes were left out.
func tailOf(text string, most int) (tail string, omitted int) {
	if len(text) <= most {
		return text, 0
	}
	cut := len(text) - most
	if i := strings.IndexByte(text[cut:], '\n'); i >= 0 && i < most/4 {
		cut += i + 1
	}
	for cut < len(text) && text[cut]&0xC0 == 0x80 {
		cut++
	}
	return text[cut:], cut
}

// endsOf returns the beginning and the end of text within a budget, cut at lines where that costs
// little, with a line between them that says how many characters are missing. The end of a
// command's output says most, and the beginning what it set out to do.
func endsOf(text string, most int) (short string, omitted int) {
	if len(text) <= most {
		return text, 0
	}
	head := strings.ToValidUTF8(text[:most/4], "")
	if i := strings.LastIndexByte(head, '\n'); i >= len(head)/2 {
		head = head[:i+1]
	}
	tail, _ := tailOf(text[len(head):], most-most/4)
	omitted = utf8.RuneCountInString(text) - utf8.RuneCountInString(head) - utf8.RuneCountInString(tail)
	return fmt.Sprintf("%s\n[… %d characters are left out here …]\n%s",
		strings.TrimSuffix(head, "\n"), omitted, tail), omitted
}

// readable is output as lines, without escape sequences and without control characters that do not
// affect a line. It is redacted once more: a sequence may have split a secret.
func readable(l *reading.View, text string) string {
	return l.Clean(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' || r == 0x7f {
			return -1
		}
		return r
	}, ansi.Strip(text)))
}

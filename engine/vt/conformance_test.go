package vt

import (
	"fmt"
	"strings"
	"testing"
)

// The conformance tables hold the terminal against what standards and manuals say of each control
// function. Every expectation was written from the text named as the source, none by running the
// terminal.

// A group is what one control function has to do.
type group struct {
	name   string
	source string
	size   string // rows x columns; "" is 6x10
	before string // output in front of each check
	checks []check
}

// A check is output of a program and the state that it must lead to. What is left empty must be so,
// but for at, modes, title and history, which are then not looked at. ␛ stands for ESC in before
// and in.
type check struct {
	name string
	in   string
	// at is the cursor as "row,column", counted from one as in the standards; "+" behind: a wrap is
	// pending.
	at string
	// screen is the rows joined by "|", without the blanks at their ends and the blank rows at the
	// end.
	screen  string
	reply   string
	style   string // of all cells that are not in the default style: "row,column+columns description", joined by "; "
	modes   string // as modeNames writes them
	title   string // quoted
	history string // the scrollback, joined by "|"; "-" for none
	events  string // as eventNames writes them
	bell    int
}

var (
	escapes = strings.NewReplacer("␛", "\x1b")
	letters = "AAAAA\r\nBBBBB\r\nCCCCC\r\nDDDDD\r\nEEEEE\r\nFFFFF" // a screen of 6 rows with text
	abcdef  = "AAAAA|BBBBB|CCCCC|DDDDD|EEEEE|FFFFF"
)

func conformance(t *testing.T, groups ...group) {
	t.Helper()
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			if g.source == "" {
				t.Fatal("the group names no source")
			}
			rows, cols := 6, 10
			if g.size != "" {
				if _, err := fmt.Sscanf(g.size, "%dx%d", &rows, &cols); err != nil {
					t.Fatal(err)
				}
			}
			seen := map[string]bool{}
			for _, c := range g.checks {
				if seen[c.name] {
					t.Errorf("two checks are called %q", c.name)
				}
				seen[c.name] = true
				term := New(rows, cols, Options{})
				before, in := escapes.Replace(g.before), escapes.Replace(c.in)
				term.Feed([]byte(before))
				var all outcome
				all.feed(term, []byte(in))
				if why := c.differs(term, &all); why != "" {
					t.Errorf("%s: %q\n%s(%s)", c.name, before+in, why, g.source)
				}
				if why := checkChunks([]byte(before+in), 1, rows, cols); why != "" {
					t.Errorf("%s: %s", c.name, why)
				}
			}
		})
	}
}

// differs says in what the terminal is not as the check wants it.
func (c check) differs(term *Terminal, all *outcome) string {
	s := term.Snapshot()
	at := fmt.Sprintf("%d,%d", s.Cursor.Row+1, s.Cursor.Col+1)
	if s.Cursor.PendingWrap {
		at += "+"
	}
	title := ""
	if s.TitleSet {
		title = fmt.Sprintf("%q", s.Title)
	}
	var history []string
	for i := range s.History().Len() {
		history = append(history, s.History().Line(i))
	}
	if history == nil {
		history = []string{"-"}
	}
	var why strings.Builder
	for _, f := range []struct {
		what, got, want string
		optional        bool
	}{
		{"cursor", at, c.at, true},
		{"screen", strings.TrimRight(strings.Join(s.Lines(), "|"), "|"), c.screen, false},
		{"reply", string(all.reply), escapes.Replace(c.reply), false},
		{"style", styles(s), c.style, false},
		{"modes", strings.TrimSpace(modeNames(s.Modes)), c.modes, true},
		{"title", title, c.title, true},
		{"history", strings.Join(history, "|"), c.history, true},
		{"events", eventNames(all.events), c.events, false},
		{"bell", fmt.Sprint(all.bell), fmt.Sprint(c.bell), false},
	} {
		if f.got != f.want && (!f.optional || f.want != "") {
			fmt.Fprintf(&why, "%s %q, want %q\n", f.what, f.got, f.want)
		}
	}
	return why.String()
}

func styles(s *Screen) string {
	var out []string
	for y := range s.Rows {
		s.EachRun(y, func(r Run) {
			if r.Style != (Style{}) {
				out = append(out, fmt.Sprintf("%d,%d+%d %s", y+1, r.Col+1, r.Cols, describe(r.Style)))
			}
		})
	}
	return strings.Join(out, "; ")
}

// eventNames writes events as words: the kind, then what else there is.
func eventNames(events []Event) string {
	kinds := map[EventKind]string{EventDirectory: "directory", EventNotification: "notification", EventProgress: "progress",
		EventClipboard: "clipboard", EventMark: "mark", EventMark633: "mark633", EventStatus: "status"}
	var out []string
	for _, e := range events {
		if e.Kind == EventErase { // the screen shows it; TestEraseIsTold has the place
			continue
		}
		w := kinds[e.Kind]
		if e.Mark != 0 {
			w += " " + string(rune(e.Mark))
		}
		if e.HasExit {
			w += fmt.Sprintf(" exit %d", e.Exit)
		}
		if e.Kind == EventProgress {
			w += fmt.Sprintf(" %d %d", e.State, e.Value)
		}
		if e.Kind == EventClipboard && (e.Cut || e.Bad) {
			w += fmt.Sprintf(" cut %v, bad %v", e.Cut, e.Bad)
		}
		if e.Text != "" {
			w += fmt.Sprintf(" %q", e.Text)
		}
		out = append(out, w)
	}
	return strings.Join(out, "; ")
}

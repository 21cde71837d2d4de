package attach

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/ptywright/ptywright/protocol/client"
)

// modes are the terminal settings that mirror a session: those of input, and those of drawing
// besides the rows.
type modes struct {
	appCursor, appKeypad, focus, reverse bool
	mouse                                string // as in a frame
	noScroll                             bool   // the wheel sends no cursor keys on the alternate screen
	kitty, otherKeys                     int
}

// mouseModes are xterm's modes for the words of a frame. Reports are translated, so they always use
// the form of 1006.
var mouseModes = map[string]string{"x10": "1000", "vt200": "1000", "drag": "1002", "any": "1003"}

// within returns the settings that a terminal supports.
func (m modes) within(f features) modes {
	if !f.kitty {
		m.kitty = 0
	}
	if !f.other {
		m.otherKeys = 0
	}
	m.noScroll = m.noScroll && f.wheel
	return m
}

// change returns the sequences that turn one setting into another.
func (m modes) change(to modes) string {
	var b strings.Builder
	for _, p := range [...]struct {
		from, to bool
		mode     string
	}{{m.appCursor, to.appCursor, "1"}, {m.reverse, to.reverse, "5"}, {m.focus, to.focus, "1004"},
		{!m.noScroll, !to.noScroll, "1007"}} {
		if p.from != p.to {
			b.WriteString("\x1b[?" + p.mode + onOff(p.to))
		}
	}
	if m.appKeypad != to.appKeypad {
		if to.appKeypad {
			b.WriteString("\x1b=")
		} else {
			b.WriteString("\x1b>")
		}
	}
	if from, to := mouseModes[m.mouse], mouseModes[to.mouse]; from != to {
		if from != "" {
			b.WriteString("\x1b[?" + from + ";1006l")
		}
		if to != "" {
			b.WriteString("\x1b[?" + to + ";1006h")
		}
	}
	if m.kitty != to.kitty {
		switch {
		case m.kitty == 0:
			fmt.Fprintf(&b, "\x1b[>%du", to.kitty)
		case to.kitty == 0:
			b.WriteString("\x1b[<u")
		default:
			fmt.Fprintf(&b, "\x1b[=%du", to.kitty)
		}
	}
	if m.otherKeys != to.otherKeys {
		if to.otherKeys == 0 {
			b.WriteString("\x1b[>4m") // the default
		} else {
			fmt.Fprintf(&b, "\x1b[>4;%dm", to.otherKeys)
		}
	}
	return b.String()
}

func onOff(on bool) string {
	if on {
		return "h"
	}
	return "l"
}

// features are what a terminal says it supports.
type features struct {
	kitty, other bool // keyboard protocols
	wheel        bool // it sends cursor keys on the alternate screen (mode 1007 is set)
}

const (
	// enter saves the title, shows the alternate screen, and resets everything that moves or
	// changes what is drawn. Lines do not wrap, so a row that a terminal shows wider than it is
	// does not touch another. Pastes are bracketed, so that their content is not taken for keys.
	enter = "\x1b[22;0t\x1b[?1049h\x1b[?69l\x1b[r\x1b[?6;7l\x1b[4l\x1b[0m\x1b(B\x0f\x1b[?2004h\x1b[2J\x1b[H"
	// Leave restores all of it, including modes that are set only now and then, whatever the state.
	// It also repairs a terminal whose attach was killed outright; the line mode is the caller's to
	// restore.
	Leave = "\x1b[>4m\x1b[?2026l\x1b[0m\x1b]8;;\x1b\\\x1b[?1000;1002;1003;1004;1006;2004l\x1b[?1l\x1b>\x1b[?5l\x1b[?7h\x1b[0 q\x1b[?25h\x1b[?1049l\x1b[23;0t"
	// questions ask which keyboard protocols there are, kitty's and modifyOtherKeys (XTQMODKEYS),
	// and what the wheel does (DECRQM). Every terminal answers the last (DA1).
	questions = "\x1b[?u\x1b[?4m\x1b[?1007$p\x1b[c"
)

// A terminal is the person's terminal. Only one goroutine calls show and the rest; any may call
// leave, more than once.
type terminal struct {
	in, out *os.File
	state   *term.State
	size    client.Size
	known   features
	asked   bool // answers are still missing
	askedAt time.Time

	lines  []string // the lines on the screen
	now    modes
	cursor string
	title  string

	mu   sync.Mutex
	open bool
}

// enter makes the terminal raw and clears it.
func (t *terminal) enter() error {
	state, err := term.MakeRaw(int(t.in.Fd()))
	if err != nil {
		return fmt.Errorf("make the terminal raw: %w", err)
	}
	t.mu.Lock()
	t.state, t.open = state, true
	t.mu.Unlock()
	t.lines, t.now, t.cursor, t.title = nil, modes{}, "", ""
	t.measure()
	ask := ""
	if !t.asked && t.known == (features{}) {
		ask, t.asked, t.askedAt = questions, true, time.Now()
	}
	return t.write(enter + ask)
}

// measure reads the terminal's size.
func (t *terminal) measure() {
	cols, rows, err := term.GetSize(int(t.out.Fd()))
	if err != nil || cols < 1 || rows < 1 {
		cols, rows = 80, 24
	}
	t.size = client.Size{Rows: min(rows, 1000), Cols: min(cols, 1000)} // a session cannot be larger
	t.lines = nil
}

// leave restores the terminal. With brute it writes nothing, because the terminal does not read.
func (t *terminal) leave(brute bool) error {
	t.mu.Lock()
	open := t.open
	t.open = false
	t.mu.Unlock()
	if !open {
		return nil
	}
	var err error
	if !brute {
		err = t.write(t.now.change(modes{}) + Leave)
	}
	if rerr := term.Restore(int(t.in.Fd()), t.state); err == nil {
		err = rerr
	}
	return err
}

func (t *terminal) write(s string) error {
	if _, err := t.out.WriteString(s); err != nil {
		return fmt.Errorf("write to the terminal: %w", err)
	}
	return nil
}

// reply takes the terminal's answer to a question.
func (t *terminal) reply(seq string) {
	switch final := seq[len(seq)-1]; final {
	case 'u':
		t.known.kitty = true
	case 'm':
		t.known.other = true
	case 'y':
		t.known.wheel = strings.HasPrefix(seq, "\x1b[?1007;1$")
	case 'c':
		t.asked = false
	}
}

// contents are what the terminal should show.
type contents struct {
	lines    []string
	row, col int
	visible  bool // the cursor
	style    int  // DECSCUSR
	title    string
	modes    modes
	bell     bool // ring it
}

// show draws the contents: only lines that changed.
func (t *terminal) show(p contents) error {
	var b strings.Builder
	if t.lines == nil {
		b.WriteString("\x1b[0m\x1b[2J")
		t.lines = make([]string, len(p.lines))
	}
	for y, line := range p.lines {
		if line != t.lines[y] {
			b.WriteString("\x1b[" + strconv.Itoa(y+1) + "H\x1b[2K" + line)
			t.lines[y] = line
		}
	}
	cursor := "\x1b[?25l"
	if p.visible {
		cursor = fmt.Sprintf("\x1b[%d;%dH\x1b[%d q\x1b[?25h", p.row+1, p.col+1, p.style)
	}
	drawn := b.Len() > 0
	if drawn || cursor != t.cursor {
		b.WriteString(cursor)
		t.cursor = cursor
	}
	if p.bell {
		b.WriteByte(0x07)
	}
	if p.title != t.title {
		b.WriteString("\x1b]2;" + clean(p.title) + "\x1b\\")
		t.title = p.title
	}
	to := p.modes.within(t.known)
	b.WriteString(t.now.change(to))
	t.now = to
	switch {
	case b.Len() == 0:
		return nil
	case drawn: // hide the cursor, and half-drawn frames where supported
		return t.write("\x1b[?2026h\x1b[?25l" + b.String() + "\x1b[?2026l")
	}
	return t.write(b.String())
}

// clean removes from a text what a terminal would act on.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e ||
			r >= 0x2066 && r <= 0x2069 {
			return -1
		}
		return r
	}, s)
}

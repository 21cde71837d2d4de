package vt

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	titleMax      = 1 << 10 // bytes of a title
	linkMax       = 2 << 10 // bytes of a URI; browsers and xterm's specification agree on about 2,000
	titleStackMax = 10      // titles saved by CSI 22 t
	// eventsMax bounds the events of one Feed: a program that marks a thousand prompts in 64 KiB is
	// not a shell. Beyond it only the last of each kind is kept, for clients that follow a
	// program's state.
	eventsMax = 1024
	// lastMarks are the marks that count as separate kinds there: those that report a shell's
	// state.
	lastMarks = "ABCDEP"
)

// An EventKind says what an Event is.
type EventKind uint8

const (
	EventDirectory    EventKind = iota + 1 // OSC 7: Text is the URI of the working directory
	EventNotification                      // OSC 9, 777, 99: Text is what to show
	EventProgress                          // OSC 9;4: State and Value (percent)
	EventClipboard                         // OSC 52: Text is what was put on the clipboard, empty when it was cleared, or Cut or Bad
	EventMark                              // OSC 133 (FinalTerm): Mark is A, B, C, D ...; for D, Exit when HasExit
	EventMark633                           // OSC 633 (VS Code): the same; for E, Text is the command line; for P, a property k=v
	EventStatus                            // OSC 7501: Text is the payload, key=value pairs joined by colons
	EventErase                             // the whole screen was erased (ED 2, ED 0 in its corner, RIS): Line is its first, Col 0
)

// An Event is something that a program said outside its screen. Text is what the program wrote,
// without control and bidi characters, cut at 8 KiB: plain data, to be redacted like the screen. A
// command line and a clipboard keep their tabs and line feeds; a clipboard is never cut, and has at
// most 75,000 bytes.
type Event struct {
	Kind EventKind
	// Line and Col are where the cursor was. Line counts from the first line ever: it is the row
	// plus History.Dropped and History.Len.
	Line uint64
	Col  int
	// Alt reports whether the alternate screen was shown: Line then counts its rows.
	Alt bool
	// Held reports whether the program was inside a synchronized update (mode 2026): the event
	// belongs to a frame that was not shown yet.
	Held    bool
	Mark    byte
	Cut     bool // of a mark: Text is only its beginning; of a clipboard: it was too long, and nothing is kept
	Bad     bool // of a clipboard: it was not base64, and nothing is kept
	Exit    int
	HasExit bool
	State   int // of progress: 0 none, 1 normal, 2 error, 3 busy, 4 paused
	Value   int
	Text    string
}

// osc executes an operating system command; bel reports whether BEL ended it. Queries of fonts and
// the clipboard are never answered; queries of colours are answered from the theme. Programs that
// set or reset colours (OSC 4, 10 to 19, 104, 110 to 119) change nothing.
func (t *Terminal) osc(bel bool) {
	t.last = 0
	s := &t.parser
	body := s.str
	code := body
	rest := []byte(nil)
	if i := bytes.IndexByte(body, ';'); i >= 0 {
		code, rest = body[:i], body[i+1:]
	}
	n, err := strconv.ParseUint(string(code), 10, 16) // no sign
	if err != nil || len(code) > 5 {
		return
	}
	switch n {
	case 0, 2:
		t.setTitle(Clean(rest, titleMax), true)
	case 4:
		t.askPalette(rest, bel)
	case 8:
		t.setLink(rest)
	case 7:
		t.event(Event{Kind: EventDirectory, Text: Clean(rest, stringMax)})
	case 9:
		t.osc9(rest)
	case 10, 11, 12:
		t.askColours(int(n), rest, bel)
	case 52:
		t.clipboard(rest)
	case 66:
		t.sizedText(rest)
	case 99, 777:
		t.event(Event{Kind: EventNotification, Text: Clean(rest, stringMax)})
	case 133:
		t.mark(EventMark, rest)
	case 633:
		t.mark(EventMark633, rest)
	case 7501:
		// A constant answer turns the reports on (Program Status Protocol).
		if string(rest) == "?" {
			if t.programStatus {
				t.answer("\x1b]7501;?\x1b\\")
			}
			return
		}
		t.event(Event{Kind: EventStatus, Text: Clean(rest, stringMax)})
	}
}

// sizedText is kitty's text sizing protocol: a size, then the text. The text is printed in the only
// size there is; programs detect that from where the cursor ends up.
func (t *Terminal) sizedText(rest []byte) {
	_, text, _ := bytes.Cut(rest, []byte{';'})
	for p := []byte(Clean(text, stringMax)); len(p) > 0; {
		n := asciiLen(p)
		if n == 0 {
			r, size := utf8.DecodeRune(p)
			t.print(r)
			p = p[size:]
			continue
		}
		if t.sides.set {
			t.work += n * workEarned
		}
		t.printASCII(p[:n])
		p = p[n:]
	}
}

func (t *Terminal) event(e Event) {
	e.Line, e.Col, e.Alt, e.Held = t.history.next+uint64(t.cursor.row), t.cursor.col, t.grid == &t.alt, t.held
	if e.Kind == EventErase {
		e.Line, e.Col = t.history.next, 0
	}
	events := t.effect.Events
	if len(events) >= eventsMax {
		if e.Mark != 0 && strings.IndexByte(lastMarks, e.Mark) < 0 {
			return
		}
		i := slices.IndexFunc(events[eventsMax:], func(x Event) bool { return x.Kind == e.Kind && x.Mark == e.Mark })
		if i >= 0 {
			events = slices.Delete(events, eventsMax+i, eventsMax+i+1)
		}
	}
	t.effect.Events = append(events, e)
}

// osc9 is a notification (iTerm2) or, when it begins with 4, progress (ConEmu).
func (t *Terminal) osc9(rest []byte) {
	fields := strings.Split(Clean(rest, stringMax), ";")
	if fields[0] != "4" || len(fields) < 2 {
		t.event(Event{Kind: EventNotification, Text: strings.Join(fields, ";")})
		return
	}
	e := Event{Kind: EventProgress, State: decimal(fields[1])}
	if len(fields) > 2 {
		e.Value = min(decimal(fields[2]), 100)
	}
	if e.State <= 4 {
		t.event(e)
	}
}

// decimal reads a small number; 0 when s is not one.
func decimal(s string) int {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return 0
	}
	return int(n)
}

// mark is a shell integration mark: a letter, then parameters.
func (t *Terminal) mark(kind EventKind, rest []byte) {
	text := Clean(rest, stringMax)
	if text == "" || len(text) > 1 && text[1] != ';' {
		return
	}
	e := Event{Kind: kind, Mark: text[0], Cut: t.parser.strLong}
	if len(text) > 2 {
		e.Text = text[2:]
	}
	if e.Mark == 'D' {
		first, _, _ := strings.Cut(e.Text, ";")
		if n, err := strconv.ParseInt(first, 10, 32); err == nil {
			e.Exit, e.HasExit = int(n), true
		}
	}
	if kind == EventMark633 && (e.Mark == 'E' || e.Mark == 'P') {
		e.Text = unescape633(e.Text, e.Mark == 'E')
	}
	t.event(e)
	t.marked = t.toMark
}

// unescape633 undoes the escapes of OSC 633;E and 633;P (\\ and \xHH) and removes everything from
// the first semicolon: of a command line the nonce. With lines it keeps tabs and line feeds; other
// control characters are removed.
func unescape633(s string, lines bool) string {
	s, _, _ = strings.Cut(s, ";")
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' && i+1 < len(s) {
			if s[i+1] == '\\' {
				i++
			} else if i+3 < len(s) && s[i+1] == 'x' {
				if v, err := strconv.ParseUint(s[i+2:i+4], 16, 8); err == nil {
					c = byte(v)
					i += 3
				}
			}
		}
		if c == '\r' {
			c = '\n'
		}
		out = append(out, c)
	}
	if !lines {
		return Clean(out, stringMax)
	}
	return cleanLines(out)
}

// cleanLines is [Clean] of each line, with the tabs and line feeds between.
func cleanLines(b []byte) string {
	var text strings.Builder
	for len(b) > 0 {
		n := bytes.IndexAny(b, "\t\n")
		if n < 0 {
			n = len(b)
		}
		text.WriteString(Clean(b[:n], n*len(replacement)))
		if b = b[n:]; len(b) > 0 {
			text.WriteByte(b[0])
			b = b[1:]
		}
	}
	return text.String()
}

// setLink is OSC 8: parameters, then the URI; an empty one ends the link. A URI that is too long is
// dropped, as half of one would lead elsewhere.
func (t *Terminal) setLink(rest []byte) {
	t.link = ""
	if i := bytes.IndexByte(rest, ';'); i >= 0 && len(rest)-i-1 <= linkMax && !t.parser.strLong {
		t.link = Clean(rest[i+1:], linkMax)
	}
}

// savedTitle is an entry of the title stack (CSI 22 t); a title that was never set is restored as
// such.
type savedTitle struct {
	text string
	set  bool
}

func (t *Terminal) pushTitle() {
	if len(t.titleStack) == titleStackMax {
		t.titleStack = append(t.titleStack[:0], t.titleStack[1:]...)
	}
	t.titleStack = append(t.titleStack, savedTitle{t.title, t.titleSet})
}

func (t *Terminal) popTitle() {
	if n := len(t.titleStack); n > 0 {
		t.setTitle(t.titleStack[n-1].text, t.titleStack[n-1].set)
		t.titleStack = t.titleStack[:n-1]
	}
}

// Clean returns program output as plain text: valid UTF-8 without control characters and without
// bidi controls, at most limit bytes. Invalid UTF-8 becomes U+FFFD, as in text: one for each
// maximal part.
func Clean(b []byte, limit int) string {
	if plain := asciiLen(b); plain == len(b) && len(b) <= limit {
		return string(b)
	}
	out := make([]byte, 0, min(len(b), limit))
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			n = invalidLen(b)
		}
		b = b[n:]
		if r < 0x20 || r >= 0x7f && r < 0xa0 || isBidiControl(r) {
			continue
		}
		if len(out)+utf8.RuneLen(r) > limit {
			break
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

// invalidLen returns the length of the maximal part at the start of p, which does not begin with a
// whole character, that one U+FFFD stands for.
func invalidLen(p []byte) int {
	var u utf8State
	n := 1
	if u.start(p[0]) {
		for n < len(p) && u.next(p[n]) {
			n++
		}
	}
	return n
}

// isBidiControl reports whether r has Unicode's Bidi_Control property, or is the line or paragraph
// separator, which end a line for some readers.
func isBidiControl(r rune) bool {
	return r == 0x061c || r == 0x200e || r == 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

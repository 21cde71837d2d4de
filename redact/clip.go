package redact

import (
	"strings"

	"github.com/ptywright/ptywright/internal/ansi"
	"github.com/ptywright/ptywright/redact/internal/rules"
)

// What a program puts on the clipboard (OSC 52, xterm's control sequences) leaves as base64, in
// which no rule would find a secret, and it is often nothing but a secret: that is what a password
// manager copies. So all of it is hidden, whatever it is.

const bel = 0x07

// ofClipboard ends an open candidate where the control string ends.
var ofClipboard = rules.Ending{Quote: bel, Escaped: true}

// isClipboard reports whether the control sequence whose ESC precedes text is an OSC 52.
func isClipboard(text string) bool { return strings.HasPrefix(text, "]52;") }

// clipboardIn returns the part of the payload line[from:to] of a control string that goes to the
// clipboard: after the command and the selections. It is empty for a query or a request to clear
// it, and for other control strings.
func clipboardIn(line string, from, to int) (start int, is bool) {
	if !isClipboard(line[from-1 : to]) {
		return to, false
	}
	k := strings.IndexByte(line[from+len("52;"):to], ';')
	if k < 0 {
		return to, false // even the selections are missing
	}
	start = from + len("52;") + k + 1
	if v := line[start:to]; v == "?" || v == "!" {
		return to, true
	}
	return start, true
}

// hideClipboard hides a part of the line. At the line's end the control string may continue in the
// next.
func (s *scan) hideClipboard(start, end int) {
	if s.clip = end == len(s.line); start < end {
		s.found = append(s.found,
			candidate{From: start, Start: start, End: end, Hit: true, Open: s.clip,
				Until: ofClipboard, Class: "clipboard"})
	}
}

// hideClipboardRest hides the part of a line's beginning that belongs to the control string that
// the line above ended inside of: base64(1) breaks its lines. Anything else there shows that there
// was no such string.
func (s *scan) hideClipboardRest() {
	line, end := s.line, 0
	for ; end < len(line) && !ansi.EndsString(line, end); end++ {
		if c := line[end]; !rules.KeySet.Members[c] && strings.IndexByte("-_\r", c) < 0 {
			return
		}
	}
	s.hideClipboard(0, end)
}

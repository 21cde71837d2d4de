package vt

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// replyMax bounds the answers of one Feed, in bytes, for programs that ask and do not read. An
// ordinary start-up asks for 200 bytes; all 256 colours of the palette are 7 KiB.
const replyMax = 8 << 10

// answer adds an answer made of a constant form and numbers. It is the only way to write one, and
// takes no strings, so nothing that a program sent can come back as its input. An answer that does
// not fit is dropped whole.
func (t *Terminal) answer(form string, numbers ...int) {
	args := make([]any, len(numbers))
	for i, n := range numbers {
		args[i] = n
	}
	start := len(t.reply)
	t.reply = fmt.Appendf(t.reply, form, args...)
	if len(t.reply) > replyMax {
		t.reply = t.reply[:start]
	}
}

// replyDA1: a VT220 with ANSI colour; no sixel, no printer, nothing that programs would probe
// further.
func (t *Terminal) replyDA1() { t.answer("\x1b[?62;22c") }

// statusReport is DSR.
func (t *Terminal) statusReport() {
	switch t.parser.param(0, 0) {
	case 5:
		t.answer("\x1b[0n")
	case 6:
		t.answer("\x1b[%d;%dR", t.reportedRow(), t.reportedCol())
	}
}

// statusReportDEC is DSR with a question mark.
func (t *Terminal) statusReportDEC() {
	switch t.parser.param(0, 0) {
	case 6: // DECXCPR
		t.answer("\x1b[?%d;%dR", t.reportedRow(), t.reportedCol())
	case 15: // no printer
		t.answer("\x1b[?13n")
	case 25: // user-defined keys are locked
		t.answer("\x1b[?21n")
	case 26: // North American keyboard
		t.answer("\x1b[?27;1;0;0n")
	case 996:
		t.reportTheme()
	}
}

// reportedRow counts from one, and from the top margin in origin mode.
func (t *Terminal) reportedRow() int {
	if t.modes.origin {
		return t.cursor.row - t.top + 1
	}
	return t.cursor.row + 1
}

// reportedCol counts from one, and from the left margin in origin mode.
func (t *Terminal) reportedCol() int {
	if t.modes.origin {
		return t.cursor.col - t.sides.left + 1
	}
	return t.cursor.col + 1
}

// windowOp is XTWINOPS. Only sizes are answered; titles never, and nothing resizes the terminal.
func (t *Terminal) windowOp() {
	s := &t.parser
	switch s.param(0, 0) {
	case 14:
		if t.pixelWidth > 0 && s.param(1, 0) == 0 {
			t.answer("\x1b[4;%d;%dt", t.pixelHeight, t.pixelWidth)
		}
	case 16:
		if t.pixelWidth > 0 {
			t.answer("\x1b[6;%d;%dt", t.pixelHeight/t.rows, t.pixelWidth/t.cols)
		}
	case 18:
		t.answer("\x1b[8;%d;%dt", t.rows, t.cols)
	case 22:
		if k := s.param(1, 0); k == 0 || k == 2 {
			t.pushTitle()
		}
	case 23:
		if k := s.param(1, 0); k == 0 || k == 2 {
			t.popTitle()
		}
	}
}

// reportSize is the in-band size report of mode 2048.
func (t *Terminal) reportSize() {
	t.answer("\x1b[48;%d;%d;%d;%dt", t.rows, t.cols, t.pixelHeight, t.pixelWidth)
}

// stringEnd executes a string that was kept and is not an OSC.
func (t *Terminal) stringEnd() {
	t.last, t.joint = 0, joint{}
	s := &t.parser
	switch {
	case s.kind == kindTitle:
		t.setTitle(Clean(s.str, titleMax), true)
	case s.strLong:
	case s.kind == kindTermcap:
		t.termcap(s.str)
	default:
		t.setting(string(s.str))
	}
}

// termcapAnswers maps capability names to their answers to XTGETTCAP. The value's hex digits are as
// in xterm, the name's as in the query: the first answer has lower case, the second upper case.
var termcapAnswers = sync.OnceValue(func() map[string][2]string {
	answers := map[string][2]string{}
	for name, value := range map[string]string{
		"TN": emulates, "name": emulates, "Co": "256", "colors": "256",
		"RGB": "8/8/8", // bits of red, green and blue
		"Tc":  "",      // tmux's name for the same, a flag
	} {
		end := "\x1b\\"
		if value != "" {
			end = fmt.Sprintf("=%X", value) + end
		}
		answers[name] = [2]string{
			fmt.Sprintf("\x1bP1+r%x", name) + end, fmt.Sprintf("\x1bP1+r%X", name) + end,
		}
	}
	return answers
})

// emulates is the terminal that programs should look up in terminfo: sessions set TERM to it.
const emulates = "xterm-256color"

// termcap answers XTGETTCAP: names in hex separated by semicolons, each answered by its own
// constant. An unknown name is not repeated, as in xterm.
func (t *Terminal) termcap(names []byte) {
	for _, asked := range bytes.Split(names, []byte{';'}) {
		name, err := hex.DecodeString(string(asked))
		answers, ok := termcapAnswers()[string(name)]
		switch {
		case err != nil || !ok:
			t.answer("\x1bP0+r\x1b\\")
		case bytes.ContainsAny(asked, "ABCDEF"):
			t.answer(answers[1])
		default:
			t.answer(answers[0])
		}
	}
}

// versionReply is the answer to XTVERSION.
func versionReply(version string) string {
	clean := strings.Map(func(r rune) rune {
		if strings.ContainsRune(".+-_", r) || r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return -1
	}, version)
	if clean = clean[:min(len(clean), 64)]; clean == "" {
		return "\x1bP>|ptywright\x1b\\"
	}
	return "\x1bP>|ptywright(" + clean + ")\x1b\\"
}

// setting answers DECRQSS. Known settings are answered from their state; anything else gets the
// fixed failure (CVE-2008-2383: the query must not be repeated).
func (t *Terminal) setting(name string) {
	switch name {
	case "m":
		var buf [96]byte
		t.answerBytes("\x1bP1$r", t.pen.appendSGR(buf[:0]), "m\x1b\\")
	case "r":
		t.answer("\x1bP1$r%d;%dr\x1b\\", t.top+1, t.bottom+1)
	case "s":
		t.answer("\x1bP1$r%d;%ds\x1b\\", t.sides.left+1, t.lastCol()+1)
	case " q":
		t.answer("\x1bP1$r%d q\x1b\\", int(t.modes.cursorStyle))
	case "\"q":
		k := 0
		if t.pen.attr&attrProtected != 0 {
			k = 1
		}
		t.answer("\x1bP1$r%d\"q\x1b\\", k)
	case "\"p":
		t.answer("\x1bP1$r62;1\"p\x1b\\")
	case "t":
		t.answer("\x1bP1$r%dt\x1b\\", t.rows)
	default:
		t.answer("\x1bP0$r\x1b\\")
	}
}

// answerBytes is answer for numbers that are already formatted: digits, semicolons and colons.
func (t *Terminal) answerBytes(head string, numbers []byte, tail string) {
	if len(t.reply)+len(head)+len(numbers)+len(tail) > replyMax {
		return
	}
	t.reply = append(append(append(t.reply, head...), numbers...), tail...)
}

// checksum is DECRQCRA, in the conformance profile only: it lets a program read the screen.
func (t *Terminal) checksum() {
	if t.profile != Conformance {
		return
	}
	s := &t.parser
	id := s.param(0, 0)
	first, last, from, to := 0, t.rows-1, 0, t.cols-1
	if t.modes.origin {
		first, last, from, to = t.top, t.bottom, t.sides.left, t.lastCol()
	}
	top, left := first+s.param(2, 1)-1, from+s.param(3, 1)-1
	bottom, right := min(first+s.param(4, t.rows)-1, last), min(from+s.param(5, t.cols)-1, to)
	var sum uint16
	for y := top; y <= bottom; y++ {
		for x := left; x <= right; x++ {
			c := t.grid.rows[y].cells[x]
			v := c.content()
			if v == 0 {
				v = ' '
			} else if v&clusterBit != 0 {
				v = uint32(t.grid.rows[y].cluster(v)[0])
			}
			sum += uint16(v)
		}
	}
	sum = -sum
	var hex [4]byte
	for i := range hex {
		hex[i] = "0123456789ABCDEF"[sum>>(12-4*i)&15]
	}
	t.answerBytes("\x1bP"+strconv.Itoa(id)+"!~", hex[:], "\x1b\\")
}

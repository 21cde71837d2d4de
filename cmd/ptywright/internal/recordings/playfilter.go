package recordings

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ptywright/ptywright/internal/ansi"
)

// A playFilter passes what a recording does to a screen, and drops whatever else it would do to the
// terminal: the clipboard (OSC 52), notifications (OSC 9, 777), files and programs of a terminal
// (OSC 1337, DCS, APC), printing, the window's size, input modes (mouse, paste, keyboards), and
// queries, whose answers nobody would read. It drops what it does not know (ECMA-48 and xterm's
// ctlseqs name what it knows). It outputs only whole sequences, so output may stop after any event,
// and the result does not depend on how the text is split. The zero value is ready; not safe for
// concurrent use.
type playFilter struct {
	out   []byte
	cut   ansi.Cutter
	title bool         // inside a title of screen(1): ESC k and text, until ST
	lead  bool         // 0xc2 came, the first byte of a C1 control in UTF-8
	on    map[int]bool // private modes that are set
	color bool         // the palette has changed
}

// playModes are the private modes that concern the screen. Others are not played: those of input
// and of the window.
var playModes = []int{4, 5, 6, 7, 12, 25, 45, 47, 69, 1045, 1047, 1048, 1049, 2026, 2027}

// playCSIs are the final bytes of the control sequences that are played, by what precedes and
// follows the parameters.
var playCSIs = map[string]string{
	"":   "@ABCDEFGHIJKLMPSTXZ`abdefghjklmrstu", // h, l and t only in part
	"?":  "JKWhl",                               // selective erase, tabs, modes
	" ":  "@Aq",                                 // horizontal scroll, cursor style
	"!":  "p",                                   // soft reset
	"\"": "q",                                   // protection
	"#":  "pq{}",                                // attribute stack
	"$":  "rtvxz{",                              // rectangles
	"'":  "}~",                                  // columns
	"*":  "x",
}

// inputOff resets the input modes, which are not played: an earlier program may have left them set.
const inputOff = "\x1b[?1;9;66;1000;1002;1003;1004;1005;1006;1015;1016;2004;2031;2048l\x1b>\x1b[<99u\x1b[>4;0m"

// play returns what to write for more of the recording.
func (f *playFilter) play(text string) string {
	f.out = f.out[:0]
	for rest := f.shortened(text); len(rest) > 0; {
		kind, data, left := f.cut.Next(rest)
		rest = left
		if kind == ansi.Characters {
			f.characters(data)
			continue
		}
		f.title = f.title && kind == ansi.None
		switch kind {
		case ansi.Escape:
			f.escape(string(data))
		case ansi.CSI:
			f.csi(string(data))
		case ansi.OSC:
			f.osc(string(data))
		}
	}
	return string(f.out)
}

// shortened is text with C1 controls replaced by ESC and a letter, which is equivalent.
func (f *playFilter) shortened(text string) []byte {
	out := make([]byte, 0, len(text)+1)
	for i := range len(text) {
		c := text[i]
		switch {
		case f.lead && c >= 0x80 && c < 0xa0:
			out = append(out, 0x1b, c-0x40)
			f.lead = false
			continue
		case f.lead:
			out = append(out, 0xc2)
		}
		if f.lead = c == 0xc2; !f.lead {
			out = append(out, c)
		}
	}
	return out
}

// characters plays text and controls. ENQ is dropped, as it asks for an answer.
func (f *playFilter) characters(text []byte) {
	for _, c := range text {
		switch {
		case f.title: // CAN and SUB abort it
			f.title = c != 0x18 && c != 0x1a
		case c != 0x05:
			f.out = append(f.out, c)
		}
	}
}

// escape plays an escape sequence.
func (f *playFilter) escape(seq string) {
	one := len(seq) == 1
	f.title = seq == "k"
	if one && strings.Contains("6789DEHMNOcno|}~", seq) ||
		!one && strings.IndexByte("()*+-./#", seq[0]) >= 0 {
		f.out = append(append(f.out, 0x1b), seq...)
	}
	if seq == "c" { // RIS
		f.on = nil
	}
}

// end returns what resets the terminal from the recording's last state.
func (f *playFilter) end() string {
	var b strings.Builder
	if f.on[47] || f.on[1047] || f.on[1049] {
		b.WriteString("\x1b[?1049l")
	}
	if f.on[6] { // resetting it moves the cursor to the top
		b.WriteString("\x1b[?6l\x1b[999H")
	}
	b.WriteString("\x1b7\x1b[?69l\x1b[r\x1b8") // margins, which also move the cursor
	for _, n := range []int{45, 1045, 2027} {  // on by default in some terminals
		if f.on[n] {
			b.WriteString("\x1b[?" + strconv.Itoa(n) + "l")
		}
	}
	b.WriteString("\x1b[0m\x1b[0\"q\x1b(B\x0f\x1b]8;;\x1b\\\x1b[4;20l\x1b[?4;5l\x1b[?7h\x1b[0 q\x1b[?25h\x1b[?2026l" + inputOff)
	if f.color {
		b.WriteString("\x1b]104\x1b\\\x1b]105\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\\x1b]117\x1b\\\x1b]119\x1b\\")
	}
	return b.String()
}

// csi plays a control sequence.
func (f *playFilter) csi(seq string) {
	final := seq[len(seq)-1]
	rest := seq[:len(seq)-1]
	mark := strings.TrimLeft(rest, "<=>?")
	prefix := rest[:len(rest)-len(mark)]
	params := strings.TrimRight(mark, " !\"#$%&'()*+,-./")
	suffix := mark[len(params):]
	kind := prefix + suffix
	if strings.Trim(params, "0123456789:;") != "" || strings.IndexByte(playCSIs[kind], final) < 0 {
		return
	}
	switch {
	case final == 'h' || final == 'l':
		if params = f.modes(kind, params, final == 'h'); params == "" {
			return
		}
	case kind == "" && final == 't': // only the title stack
		if n, _, _ := strings.Cut(params, ";"); n != "22" && n != "23" {
			return
		}
	case kind == "!":
		delete(f.on, 6)
		delete(f.on, 69)
	}
	f.out = append(append(append(f.out, "\x1b["...), prefix+params+suffix...), final)
}

// modes returns those of the modes being set or reset that concern the screen.
func (f *playFilter) modes(kind, params string, on bool) string {
	var kept []string
	for _, p := range strings.Split(params, ";") {
		n, err := strconv.Atoi(p)
		if err != nil || kind == "" && n != 4 && n != 20 ||
			kind == "?" && !slices.Contains(playModes, n) {
			continue
		}
		if kept = append(kept, p); kind == "?" {
			if f.on == nil {
				f.on = map[int]bool{}
			}
			f.on[n] = on
			if !on && (n == 47 || n == 1047 || n == 1049) { // one alternate screen, whichever mode selects it
				f.on[47], f.on[1047], f.on[1049] = false, false, false
			}
		}
	}
	return strings.Join(kept, ";")
}

// osc plays titles, links, sized text and colour changes.
func (f *playFilter) osc(text string) {
	number, rest, _ := strings.Cut(text, ";")
	n, err := strconv.Atoi(number)
	if err != nil || number != strconv.Itoa(n) {
		return
	}
	switch {
	case slices.Contains([]int{0, 1, 2, 8, 66}, n):
	case n == 4 || n == 5 || n >= 10 && n <= 19 || n == 104 || n == 105 || n >= 110 && n <= 119:
		if strings.Contains(rest, "?") { // a query
			return
		}
		f.color = true
	default:
		return
	}
	f.out = append(append(append(f.out, "\x1b]"...), text...), "\x1b\\"...)
}

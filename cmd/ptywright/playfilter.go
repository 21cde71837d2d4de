package main

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// A playFilter lets through what a recording does to a screen, and nothing that it would do to the terminal beyond that:
// the clipboard (OSC 52), notifications (OSC 9, 777), files and programs of a terminal (OSC 1337, DCS, APC), printing, the
// window's size, modes of what is typed (mouse, paste, keyboards), and questions, whose answers nobody would read. What it
// does not know is left out (ECMA-48 and xterm's ctlseqs name what it knows). Whole sequences leave it only, so that what is
// written may stop after any event. Any cut of the same text comes out the same. The zero value is ready; not safe for
// concurrent use.
type playFilter struct {
	out   []byte
	state playState
	seq   []byte       // the sequence under way without its ESC, or an OSC's text
	long  bool         // it is longer than its bound and is dropped
	lead  bool         // 0xc2 came, the first byte of a C1 control in UTF-8
	on    map[int]bool // private modes that are set
	color bool         // the palette was changed
}

type playState byte

const (
	playGround playState = iota
	playEscape
	playCSI
	playOSC
	playOSCEscape // an ESC within
	playSkip      // DCS, SOS, PM, APC and the title of screen(1)
	playSkipEscape
)

const (
	// playSeqMax bounds a control sequence, in bytes: xterm takes 30 parameters, 16 colours with RGB in one SGR are 272.
	playSeqMax = 512
	// playOSCMax bounds an OSC, in bytes: links of 2 KiB are the longest that browsers agree on.
	playOSCMax = 8 << 10
)

// playModes are the private modes of a screen. Others are not played: of input, of the window.
var playModes = []int{4, 5, 6, 7, 12, 25, 45, 47, 69, 1045, 1047, 1048, 1049, 2026, 2027}

// playCSIs are the final bytes of the control sequences that are played, by what comes before and behind the parameters.
var playCSIs = map[string]string{
	"":   "@ABCDEFGHIJKLMPSTXZ`abdefghjklmrstu", // h, l and t not all of them
	"?":  "JKWhl",                               // selective erase, tabs, modes
	" ":  "@Aq",                                 // scroll sideways, cursor style
	"!":  "p",                                   // soft reset
	"\"": "q",                                   // protection
	"#":  "pq{}",                                // stack of attributes
	"$":  "rtvxz{",                              // rectangles
	"'":  "}~",                                  // columns
	"*":  "x",
}

// inputOff takes back the modes of input, which are not played: whatever ran before may have left them.
const inputOff = "\x1b[?1;9;66;1000;1002;1003;1004;1005;1006;1015;1016;2004;2031;2048l\x1b>\x1b[<99u\x1b[>4;0m"

// play returns what is to be written for more of the recording.
func (f *playFilter) play(text string) string {
	f.out = f.out[:0]
	for i := range len(text) {
		c := text[i]
		if f.lead {
			f.lead = false
			if c >= 0x80 && c < 0xa0 { // C1: the same as ESC and a letter
				f.take(0x1b)
				f.take(c - 0x40)
				continue
			}
			f.take(0xc2)
		}
		if f.lead = c == 0xc2; !f.lead {
			f.take(c)
		}
	}
	return string(f.out)
}

// end returns what brings the terminal back from where the recording left it.
func (f *playFilter) end() string {
	var b strings.Builder
	if f.on[47] || f.on[1047] || f.on[1049] {
		b.WriteString("\x1b[?1049l")
	}
	if f.on[6] { // leaving it sets the cursor to the top
		b.WriteString("\x1b[?6l\x1b[999H")
	}
	b.WriteString("\x1b7\x1b[?69l\x1b[r\x1b8") // margins, which set the cursor too
	for _, n := range []int{45, 1045, 2027} {  // on in some terminals when nobody set them
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

// take takes a byte in which C1 controls have become escape sequences.
func (f *playFilter) take(c byte) {
	const bel, can, sub, esc = 0x07, 0x18, 0x1a, 0x1b
	switch {
	case f.state == playOSCEscape || f.state == playSkipEscape:
		if c != '\\' { // broken off by another sequence
			f.begin(playEscape)
			f.take(c)
			return
		}
		if f.state == playOSCEscape {
			f.osc()
		}
		f.state = playGround
	case c == esc && f.state == playOSC:
		f.state = playOSCEscape
	case c == esc && f.state == playSkip:
		f.state = playSkipEscape
	case c == esc:
		f.begin(playEscape)
	case f.state == playGround:
		f.char(c)
	case c == can || c == sub:
		f.state = playGround
	case f.state == playSkip:
	case f.state == playOSC:
		if c == bel {
			f.osc()
			f.state = playGround
		} else if c >= 0x20 && c != 0x7f {
			f.keep(c, playOSCMax)
		}
	case c < 0x20: // acts at once
		f.char(c)
	case c == 0x7f:
	case c > 0x7f: // in no sequence
		f.state = playGround
		f.char(c)
	default:
		f.escape(c)
	}
}

func (f *playFilter) begin(s playState) { f.state, f.seq, f.long = s, f.seq[:0], false }

func (f *playFilter) keep(c byte, most int) {
	if f.long = f.long || len(f.seq) == most; !f.long {
		f.seq = append(f.seq, c)
	}
}

// char plays a character or a control; ENQ asks for an answer.
func (f *playFilter) char(c byte) {
	if c != 0x05 {
		f.out = append(f.out, c)
	}
}

// escape takes a byte of an escape or control sequence.
func (f *playFilter) escape(c byte) {
	if f.state == playEscape && len(f.seq) == 0 {
		switch c {
		case '[':
			f.begin(playCSI)
			return
		case ']':
			f.begin(playOSC)
			return
		case 'P', 'X', '^', '_', 'k':
			f.begin(playSkip)
			return
		}
	}
	f.keep(c, playSeqMax)
	switch {
	case f.state == playEscape && c >= 0x30:
		f.state = playGround
		if f.long {
			return
		}
		one := len(f.seq) == 1
		if one && strings.IndexByte("6789DEHMNOcno|}~", c) >= 0 || !one && bytes.IndexByte([]byte("()*+-./#"), f.seq[0]) >= 0 {
			f.out = append(append(f.out, 0x1b), f.seq...)
		}
		if one && c == 'c' { // RIS
			f.on = nil
		}
	case f.state == playCSI && c >= 0x40:
		f.state = playGround
		if !f.long {
			f.csi(string(f.seq))
		}
	}
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
	case kind == "" && final == 't': // the stack of titles alone
		if n, _, _ := strings.Cut(params, ";"); n != "22" && n != "23" {
			return
		}
	case kind == "!":
		delete(f.on, 6)
		delete(f.on, 69)
	}
	f.out = append(append(append(f.out, "\x1b["...), prefix+params+suffix...), final)
}

// modes returns those of a screen among the modes that are set or reset.
func (f *playFilter) modes(kind, params string, on bool) string {
	var kept []string
	for _, p := range strings.Split(params, ";") {
		n, err := strconv.Atoi(p)
		if err != nil || kind == "" && n != 4 && n != 20 || kind == "?" && !slices.Contains(playModes, n) {
			continue
		}
		if kept = append(kept, p); kind == "?" {
			if f.on == nil {
				f.on = map[int]bool{}
			}
			f.on[n] = on
			if !on && (n == 47 || n == 1047 || n == 1049) { // one alternate screen, whichever mode leads to it
				f.on[47], f.on[1047], f.on[1049] = false, false, false
			}
		}
	}
	return strings.Join(kept, ";")
}

// osc plays titles, links, sized text and colours that are set.
func (f *playFilter) osc() {
	number, rest, _ := strings.Cut(string(f.seq), ";")
	n, err := strconv.Atoi(number)
	if f.long || err != nil || number != strconv.Itoa(n) {
		return
	}
	switch {
	case slices.Contains([]int{0, 1, 2, 8, 66}, n):
	case n == 4 || n == 5 || n >= 10 && n <= 19 || n == 104 || n == 105 || n >= 110 && n <= 119:
		if strings.Contains(rest, "?") { // a question
			return
		}
		f.color = true
	default:
		return
	}
	f.out = append(append(append(f.out, "\x1b]"...), f.seq...), "\x1b\\"...)
}

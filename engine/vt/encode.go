package vt

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

// EncodeKey returns the bytes that a terminal in the current modes sends for a press of k: xterm's
// encoding (application cursor and keypad, modifyOtherKeys), or the kitty protocol at the level that
// the program asked for.
func (t *Terminal) EncodeKey(k Key) []byte {
	if f := t.kittyFlags(); f != 0 {
		if b := encodeKitty(k, f, t.modes.appCursor); b != nil {
			return b
		}
	}
	return t.encodeLegacy(k)
}

// A keySequence is how a key that is not a character is written.
type keySequence struct {
	number int  // CSI number ~, or the number in front of final
	final  byte // '~', or the letter of CSI 1 ; mods letter
	ss3    bool // without modifiers SS3 letter
}

var keySequences = map[KeyCode]keySequence{
	KeyUp: {1, 'A', false}, KeyDown: {1, 'B', false}, KeyRight: {1, 'C', false}, KeyLeft: {1, 'D', false},
	KeyHome: {1, 'H', false}, KeyEnd: {1, 'F', false},
	KeyInsert: {2, '~', false}, KeyDelete: {3, '~', false}, KeyPageUp: {5, '~', false}, KeyPageDown: {6, '~', false},
	KeyF1: {1, 'P', true}, KeyF2: {1, 'Q', true}, KeyF3: {1, 'R', true}, KeyF4: {1, 'S', true},
	KeyF5: {15, '~', false}, KeyF6: {17, '~', false}, KeyF7: {18, '~', false}, KeyF8: {19, '~', false},
	KeyF9: {20, '~', false}, KeyF10: {21, '~', false}, KeyF11: {23, '~', false}, KeyF12: {24, '~', false},
	KeyF13: {25, '~', false}, KeyF14: {26, '~', false}, KeyF15: {28, '~', false}, KeyF16: {29, '~', false},
	KeyF17: {31, '~', false}, KeyF18: {32, '~', false}, KeyF19: {33, '~', false}, KeyF20: {34, '~', false},
}

// keypad is what the keys of the keypad send: the character, and the letter behind SS3 in
// application mode (DECKPAM, VT100 manual table 3-8).
var keypad = map[KeyCode]struct{ char, letter byte }{
	KeyKeypad0: {'0', 'p'}, KeyKeypad1: {'1', 'q'}, KeyKeypad2: {'2', 'r'}, KeyKeypad3: {'3', 's'}, KeyKeypad4: {'4', 't'},
	KeyKeypad5: {'5', 'u'}, KeyKeypad6: {'6', 'v'}, KeyKeypad7: {'7', 'w'}, KeyKeypad8: {'8', 'x'}, KeyKeypad9: {'9', 'y'},
	KeyKeypadDecimal: {'.', 'n'}, KeyKeypadDivide: {'/', 'o'}, KeyKeypadMultiply: {'*', 'j'}, KeyKeypadSubtract: {'-', 'm'},
	KeyKeypadAdd: {'+', 'k'}, KeyKeypadEnter: {'\r', 'M'}, KeyKeypadEqual: {'=', 'X'},
}

// modParam is the modifier parameter of xterm and kitty.
func modParam(m Mods) int { return int(m) + 1 }

// encode writes a function key with its modifiers.
func (q keySequence) encode(mods Mods, appCursor bool) []byte {
	b := []byte{0x1b, '['}
	if q.final != '~' {
		switch {
		case mods != 0:
			b = append(b, '1', ';')
			b = strconv.AppendInt(b, int64(modParam(mods)), 10)
		case q.ss3 || appCursor && (q.final <= 'D' || q.final == 'H' || q.final == 'F'):
			b[1] = 'O'
		}
		return append(b, q.final)
	}
	b = strconv.AppendInt(b, int64(q.number), 10)
	if mods != 0 {
		b = strconv.AppendInt(append(b, ';'), int64(modParam(mods)), 10)
	}
	return append(b, '~')
}

func (t *Terminal) encodeLegacy(k Key) []byte {
	mods := k.Mods
	if q, ok := keySequences[k.Code]; ok {
		return q.encode(mods, t.modes.appCursor)
	}
	if p, ok := keypad[k.Code]; ok {
		if t.modes.appKeypad {
			if mods != 0 {
				return append(strconv.AppendInt([]byte("\x1bO"), int64(modParam(mods)), 10), p.letter)
			}
			return []byte{0x1b, 'O', p.letter}
		}
		if k.Code == KeyKeypadEnter {
			k.Code = KeyEnter
		} else {
			k = Key{Rune: rune(p.char), Mods: mods}
		}
	}
	if other := t.modes.modifyOtherKeys; other != 0 {
		if b := encodeOther(k, int(other)); b != nil {
			return b
		}
	}
	var b []byte
	if mods&(Alt|Meta) != 0 {
		b = append(b, 0x1b)
	}
	switch k.Code {
	case KeyEnter:
		b = append(b, '\r')
		if t.modes.newLine {
			b = append(b, '\n')
		}
		return b
	case KeyEscape:
		return append(b, 0x1b)
	case KeyTab:
		if mods&Shift != 0 {
			return append(b, "\x1b[Z"...)
		}
		return append(b, '\t')
	case KeyBackspace:
		del := byte(0x7f)
		if (mods&Ctrl != 0) != t.modes.backarrowBS {
			del = 0x08
		}
		return append(b, del)
	}
	r := k.Rune
	if mods&Shift != 0 {
		r = unicode.ToUpper(r)
	}
	if mods&Ctrl != 0 {
		if c, ok := controlByte(r); ok {
			return append(b, c)
		}
	}
	return utf8.AppendRune(b, r)
}

// controlByte is what ctrl makes of a character, as keyboards have it since the VT220.
func controlByte(r rune) (byte, bool) {
	switch {
	case r >= 'a' && r <= 'z':
		return byte(r - 'a' + 1), true
	case r >= '@' && r <= '_':
		return byte(r - '@'), true
	case r == ' ' || r == '2':
		return 0, true
	case r >= '3' && r <= '7':
		return byte(r-'3') + 0x1b, true
	case r == '8' || r == '?':
		return 0x7f, true
	case r == '/':
		return 0x1f, true
	}
	return 0, false
}

// codePoint returns the number by which modifyOtherKeys and kitty name a key, 0 when it has none.
func codePoint(k Key) rune {
	switch k.Code {
	case KeyRune:
		return k.Rune
	case KeyEnter:
		return '\r'
	case KeyEscape:
		return 0x1b
	case KeyTab:
		return '\t'
	case KeyBackspace:
		return 0x7f
	}
	return 0
}

// encodeOther is modifyOtherKeys in its default format, CSI 27 ; mods ; code ~. Level 1 leaves alone
// what has a well-known meaning; level 2 reports every modified key but for plain shift and a
// character.
func encodeOther(k Key, level int) []byte {
	r, mods := codePoint(k), k.Mods
	if r == 0 || mods == 0 {
		return nil
	}
	if k.Code == KeyRune {
		if mods == Shift {
			return nil
		}
		if mods&Shift != 0 {
			r = unicode.ToUpper(r)
		}
	}
	if level == 1 {
		if k.Code == KeyRune {
			if _, ok := controlByte(r); mods&^(Ctrl|Shift|Alt|Meta) == 0 && (mods&Ctrl == 0 || ok) {
				return nil
			}
		} else if k.Code == KeyBackspace || k.Code == KeyEscape || k.Code == KeyTab && mods == Shift || mods == Alt {
			return nil
		}
	}
	b := strconv.AppendInt([]byte("\x1b[27;"), int64(modParam(mods)), 10)
	return append(strconv.AppendInt(append(b, ';'), int64(r), 10), '~')
}

// kittyKeypad are the numbers of keypad keys, from KeyKeypad0 on.
const kittyKeypad0, kittyF13 = 57399, 57376

// encodeKitty returns nil where the legacy encoding is to be used.
func encodeKitty(k Key, flags uint8, appCursor bool) []byte {
	all := flags&kittyAllKeys != 0
	if q, ok := keySequences[k.Code]; ok {
		if k.Code >= KeyF13 {
			return kittyNumber(kittyF13+int(k.Code-KeyF13), 0, k.Mods, "")
		}
		if k.Code == KeyF3 { // CSI R is the answer to DSR 6
			q = keySequence{13, '~', false}
		}
		return q.encode(k.Mods, appCursor && !all)
	}
	if p, ok := keypad[k.Code]; ok {
		if flags&(kittyAllKeys|kittyDisambiguate) == 0 {
			return nil
		}
		n := kittyKeypad0 + int(k.Code-KeyKeypad0)
		text := ""
		if k.Code != KeyKeypadEnter && k.Mods&^Shift == 0 {
			text = string(rune(p.char))
		}
		if !all && text != "" {
			return nil
		}
		return kittyNumber(n, 0, k.Mods, textIf(flags, text))
	}
	r := codePoint(k)
	if k.Code != KeyRune {
		switch {
		case all, k.Code == KeyEscape, k.Mods != 0 && flags&kittyDisambiguate != 0:
			if flags&(kittyAllKeys|kittyDisambiguate) == 0 {
				return nil
			}
			return kittyNumber(int(r), 0, k.Mods, "")
		}
		return nil // enter, tab and backspace stay usable after a crash
	}
	base := unicode.ToLower(r)
	mods := k.Mods
	if base != r {
		mods |= Shift
	}
	plain := mods&^Shift == 0
	if plain && !all || flags&(kittyAllKeys|kittyDisambiguate) == 0 {
		return nil
	}
	shifted, text := 0, ""
	if flags&kittyAlternateKeys != 0 && mods&Shift != 0 && unicode.ToUpper(base) != base {
		shifted = int(unicode.ToUpper(base))
	}
	if plain {
		text = string(base)
		if mods&Shift != 0 {
			text = string(unicode.ToUpper(base))
		}
	}
	return kittyNumber(int(base), shifted, mods, textIf(flags, text))
}

func textIf(flags uint8, text string) string {
	if flags&kittyText == 0 || flags&kittyAllKeys == 0 {
		return ""
	}
	return text
}

// kittyNumber writes CSI number[:shifted] ; mods ; text u.
func kittyNumber(n, shifted int, mods Mods, text string) []byte {
	b := strconv.AppendInt([]byte("\x1b["), int64(n), 10)
	if shifted != 0 {
		b = strconv.AppendInt(append(b, ':'), int64(shifted), 10)
	}
	if mods != 0 || text != "" {
		b = append(b, ';')
		if mods != 0 {
			b = strconv.AppendInt(b, int64(modParam(mods)), 10)
		}
	}
	for i, r := range []rune(text) {
		sep := byte(':')
		if i == 0 {
			sep = ';'
		}
		b = strconv.AppendInt(append(b, sep), int64(r), 10)
	}
	return append(b, 'u')
}

// MouseButtonCode is the button of a mouse event.
type MouseButtonCode uint8

const (
	MouseNone MouseButtonCode = iota // motion with no button
	MouseLeft
	MouseMiddle
	MouseRight
	MouseWheelUp
	MouseWheelDown
	MouseWheelLeft
	MouseWheelRight
)

// MouseAction is what happened.
type MouseAction uint8

const (
	MousePress MouseAction = iota
	MouseRelease
	MouseMotion
)

// A Mouse is one event of the mouse at a cell, from zero. PixelX and PixelY count from the upper left
// of the screen; they are used in mode 1016 only.
type Mouse struct {
	Row, Col       int
	PixelX, PixelY int
	Button         MouseButtonCode
	Action         MouseAction
	Mods           Mods
}

// EncodeMouse returns the bytes that a terminal in the current modes sends for m, nil when the program
// did not ask for such an event or its encoding cannot express it. Without mouse tracking the wheel
// sends cursor keys on the alternate screen (mode 1007).
func (t *Terminal) EncodeMouse(m Mouse) []byte {
	mode, wheel := t.modes.mouse, m.Button >= MouseWheelUp
	if m.Row < 0 || m.Row >= t.rows || m.Col < 0 || m.Col >= t.cols {
		return nil
	}
	if mode == MouseOff {
		if t.grid == &t.alt && t.modes.alternateScroll && m.Action == MousePress {
			switch m.Button {
			case MouseWheelUp:
				return t.EncodeKey(Key{Code: KeyUp})
			case MouseWheelDown:
				return t.EncodeKey(Key{Code: KeyDown})
			}
		}
		return nil
	}
	switch {
	case m.Action == MouseRelease && (mode == MouseX10 || wheel),
		m.Action == MouseMotion && (mode < MouseButton || mode == MouseButton && m.Button == MouseNone || wheel),
		m.Action == MousePress && m.Button == MouseNone,
		mode == MouseX10 && wheel:
		return nil
	}
	code := map[MouseButtonCode]int{MouseNone: 3, MouseLeft: 0, MouseMiddle: 1, MouseRight: 2,
		MouseWheelUp: 64, MouseWheelDown: 65, MouseWheelLeft: 66, MouseWheelRight: 67}[m.Button]
	if m.Action == MouseMotion {
		code += 32
	}
	if mode != MouseX10 {
		if m.Mods&Shift != 0 {
			code += 4
		}
		if m.Mods&(Alt|Meta) != 0 {
			code += 8
		}
		if m.Mods&Ctrl != 0 {
			code += 16
		}
	}
	x, y := m.Col+1, m.Row+1
	release := m.Action == MouseRelease
	switch t.modes.mouseEncoding {
	case MouseEncodingPixels, MouseEncodingSGR:
		if t.modes.mouseEncoding == MouseEncodingPixels {
			x, y = m.PixelX+1, m.PixelY+1
		}
		final := byte('M')
		if release {
			final = 'm'
		}
		return mouseNumbers("\x1b[<", final, code, x, y)
	}
	if release { // these encodings do not say which button
		code = code&^3 | 3
	}
	switch t.modes.mouseEncoding {
	case MouseEncodingURXVT:
		return mouseNumbers("\x1b[", 'M', code+32, x, y)
	case MouseEncodingUTF8:
		if x > 2015 || y > 2015 {
			return nil
		}
		b := utf8.AppendRune([]byte("\x1b[M"), rune(code+32))
		return utf8.AppendRune(utf8.AppendRune(b, rune(x+32)), rune(y+32))
	}
	if x > 223 || y > 223 {
		return nil
	}
	return []byte{0x1b, '[', 'M', byte(code + 32), byte(x + 32), byte(y + 32)}
}

func mouseNumbers(head string, final byte, code, x, y int) []byte {
	b := strconv.AppendInt([]byte(head), int64(code), 10)
	b = strconv.AppendInt(append(b, ';'), int64(x), 10)
	b = strconv.AppendInt(append(b, ';'), int64(y), 10)
	return append(b, final)
}

// EncodeFocus returns the report that the terminal got or lost the focus, nil when the program did not
// ask for it (mode 1004).
func (t *Terminal) EncodeFocus(in bool) []byte {
	switch {
	case !t.modes.focusEvents:
		return nil
	case in:
		return []byte("\x1b[I")
	}
	return []byte("\x1b[O")
}

// BracketedPaste wraps s in the marks of mode 2004. What could end the paste from inside, or act as a
// key, is taken out and counted: C0 controls but for TAB, LF and CR, DEL, and C1 controls, be they
// single bytes or UTF-8. Bytes that are not UTF-8 pass, but for 0x80-0x9f, which some readers take as
// C1. So no part of the result but its end can be read as an escape sequence.
func BracketedPaste(s string) (out []byte, stripped int) {
	out = make([]byte, 0, len(s)+12)
	out = append(out, "\x1b[200~"...)
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < 0x20 && c != '\t' && c != '\n' && c != '\r' || c == 0x7f {
				stripped++
			} else {
				out = append(out, c)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1 && c <= 0x9f, r >= 0x80 && r <= 0x9f:
			stripped++
		default:
			out = append(out, s[i:i+n]...)
		}
		i += n
	}
	return append(out, "\x1b[201~"...), stripped
}

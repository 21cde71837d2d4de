package vt

import (
	"strconv"
	"sync"
	"unicode"
	"unicode/utf8"
)

// EncodeKey returns the bytes that a terminal in the current modes sends for k: xterm's encoding
// (application cursor and keypad, modifyOtherKeys), or the kitty protocol at the level that the
// program asked for. It is nil where a terminal sends nothing: a release that the program did not
// ask for, or a key that has no bytes in the current mode, such as the media keys without the kitty
// protocol.
func (t *Terminal) EncodeKey(k Key) []byte {
	if k.Event != KeyTap {
		return t.encodeEvent(k)
	}
	k.Event = KeyPress
	b := t.encodeEvent(k)
	k.Event = KeyRelease
	return append(b, t.encodeEvent(k)...)
}

func (t *Terminal) encodeEvent(k Key) []byte {
	flags := t.kittyFlags()
	if k.Event == KeyRelease && flags&kittyEventTypes == 0 {
		return nil
	}
	if flags&(kittyDisambiguate|kittyEventTypes|kittyAllKeys) != 0 {
		if b, ok := encodeKitty(k, flags); ok {
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

// keySequences are xterm's. Those from KeyMenu on apply to its encoding only.
var keySequences = sync.OnceValue(func() map[KeyCode]keySequence {
	all := map[KeyCode]keySequence{
		KeyUp: {1, 'A', false}, KeyDown: {1, 'B', false}, KeyRight: {1, 'C', false},
		KeyLeft: {1, 'D', false},
		KeyHome: {1, 'H', false}, KeyEnd: {1, 'F', false}, KeyKeypadBegin: {1, 'E', false},
		KeyF1: {1, 'P', true}, KeyF2: {1, 'Q', true}, KeyF3: {1, 'R', true}, KeyF4: {1, 'S', true},
	}
	for code, number := range map[KeyCode]int{
		KeyInsert: 2, KeyDelete: 3, KeyPageUp: 5, KeyPageDown: 6,
		KeyF5: 15, KeyF6: 17, KeyF7: 18, KeyF8: 19, KeyF9: 20, KeyF10: 21, KeyF11: 23, KeyF12: 24,
		KeyMenu: 29,
		KeyF13:  25, KeyF14: 26, KeyF15: 28, KeyF16: 29, KeyF17: 31, KeyF18: 32, KeyF19: 33, KeyF20: 34,
	} {
		all[code] = keySequence{number, '~', false}
	}
	for code := KeyF21; code <= KeyF35; code++ {
		all[code] = keySequence{42 + int(code-KeyF21), '~', false}
	}
	return all
})

// keypad is what keypad keys that have a character send: the character, and the letter after SS3 in
// application mode (DECKPAM, VT100 manual table 3-8).
var keypad = map[KeyCode]struct{ char, letter byte }{
	KeyKeypad0: {'0', 'p'}, KeyKeypad1: {'1', 'q'}, KeyKeypad2: {'2', 'r'}, KeyKeypad3: {'3', 's'}, KeyKeypad4: {'4', 't'},
	KeyKeypad5: {'5', 'u'}, KeyKeypad6: {'6', 'v'}, KeyKeypad7: {'7', 'w'}, KeyKeypad8: {'8', 'x'}, KeyKeypad9: {'9', 'y'},
	KeyKeypadDecimal: {'.', 'n'}, KeyKeypadDivide: {'/', 'o'}, KeyKeypadMultiply: {'*', 'j'}, KeyKeypadSubtract: {'-', 'm'},
	KeyKeypadAdd: {'+', 'k'}, KeyKeypadEnter: {'\r', 'M'}, KeyKeypadEqual: {'=', 'X'},
	KeyKeypadSeparator: {',', 'l'},
}

// keypadAs maps the other keypad keys to the keys they are without num lock.
var keypadAs = map[KeyCode]KeyCode{
	KeyKeypadLeft: KeyLeft, KeyKeypadRight: KeyRight, KeyKeypadUp: KeyUp, KeyKeypadDown: KeyDown,
	KeyKeypadPageUp: KeyPageUp, KeyKeypadPageDown: KeyPageDown,
	KeyKeypadHome: KeyHome, KeyKeypadEnd: KeyEnd,
	KeyKeypadInsert: KeyInsert, KeyKeypadDelete: KeyDelete,
}

// offKeypad returns the key that a keypad key stands for, and other keys unchanged.
func (k Key) offKeypad() Key {
	if code, ok := keypadAs[k.Code]; ok {
		k.Code = code
	} else if k.Code == KeyKeypadEnter {
		k.Code = KeyEnter
	} else if p, ok := keypad[k.Code]; ok {
		k.Code, k.Rune = KeyRune, rune(p.char)
	}
	return k
}

// modParam is the modifier parameter of xterm and kitty.
func modParam(m Mods) int { return int(m) + 1 }

// encodeLegacy is xterm's encoding; nil for keys that have no bytes in it.
func (t *Terminal) encodeLegacy(k Key) []byte {
	if p, ok := keypad[k.Code]; ok && t.modes.appKeypad {
		b := []byte("\x1bO")
		if k.Mods != 0 {
			b = strconv.AppendInt(b, int64(modParam(k.Mods)), 10)
		}
		return append(b, p.letter)
	}
	k = k.offKeypad()
	mods := k.Mods
	if q, ok := keySequences()[k.Code]; ok {
		if mods == 0 && (q.ss3 || q.final != '~' && t.modes.appCursor) {
			return []byte{0x1b, 'O', q.final}
		}
		return csiKey{number: q.number, mods: mods, final: q.final}.encode()
	}
	if t.modes.modifyOtherKeys != 0 {
		if b := t.encodeOther(k); b != nil {
			return b
		}
	}
	var b []byte
	if mods&(Alt|Meta) != 0 {
		b = append(b, 0x1b)
	}
	switch k.Code {
	case KeyRune:
	case KeyEnter:
		return t.appendReturn(b)
	case KeyEscape:
		return append(b, 0x1b)
	case KeyTab:
		if mods&Shift != 0 {
			return append(b, "\x1b[Z"...)
		}
		return append(b, '\t')
	case KeyBackspace:
		return append(b, t.backspace(mods))
	default:
		return nil
	}
	r := k.Rune
	if mods&Shift != 0 {
		r = unicode.ToUpper(r)
	}
	if mods&Ctrl != 0 {
		if c, ok := controlByte(r); ok {
			if c == '\r' { // Ctrl+M is Enter too, so LNM applies
				return t.appendReturn(b)
			}
			return append(b, c)
		}
	}
	return utf8.AppendRune(b, r)
}

// appendReturn appends what Enter sends.
func (t *Terminal) appendReturn(b []byte) []byte {
	b = append(b, '\r')
	if t.modes.newLine {
		b = append(b, '\n')
	}
	return b
}

// backspace is the byte that the key sends: DECBKM and Ctrl each swap DEL and BS.
func (t *Terminal) backspace(mods Mods) byte {
	if (mods&Ctrl != 0) != t.modes.backarrowBS {
		return 0x08
	}
	return 0x7f
}

// controlByte is what Ctrl makes of a character, on keyboards since the VT220 and in X11 still.
func controlByte(r rune) (byte, bool) {
	switch {
	case r >= '@' && r <= '~':
		return byte(r & 0x1f), true
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

// codePoint returns the number that modifyOtherKeys and kitty use for a key, 0 when it has none.
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

// encodeOther is modifyOtherKeys in its default format, CSI 27 ; mods ; code ~. Level 1 leaves keys
// with a well-known meaning alone; level 2 reports every modified key except Backspace with Ctrl,
// and Tab and characters with Shift.
func (t *Terminal) encodeOther(k Key) []byte {
	r, mods, level := codePoint(k), k.Mods, t.modes.modifyOtherKeys
	if r == 0 || mods == 0 {
		return nil
	}
	switch k.Code {
	case KeyRune:
		if mods == Shift && (level == 1 || r != ' ') {
			return nil
		}
		if _, ok := controlByte(r); level == 1 && mods&^(Ctrl|Shift|Alt|Meta) == 0 && (mods&Ctrl == 0 || ok) {
			return nil
		}
		if mods&Shift != 0 {
			r = unicode.ToUpper(r)
		}
	case KeyBackspace:
		if level == 1 || mods == Ctrl {
			return nil
		}
		r = rune(t.backspace(mods))
	case KeyTab:
		if mods == Shift || level == 1 && mods == Alt {
			return nil
		}
	default:
		if level == 1 && (k.Code == KeyEscape || mods == Alt) {
			return nil
		}
	}
	b := strconv.AppendInt([]byte("\x1b[27;"), int64(modParam(mods)), 10)
	return append(strconv.AppendInt(append(b, ';'), int64(r), 10), '~')
}

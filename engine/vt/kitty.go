package vt

import (
	"strconv"
	"unicode"
)

// Flags of the kitty keyboard protocol (sw.kovidgoyal.net/kitty/keyboard-protocol).
const (
	kittyDisambiguate = 1 << iota
	kittyEventTypes
	kittyAlternateKeys
	kittyAllKeys
	kittyText
	kittyAllFlags = 1<<iota - 1
)

// kittyStackMax bounds the pushed flags of one screen; pushing more drops the oldest, as the
// protocol says.
const kittyStackMax = 8

type kittyStack struct {
	flags uint8
	stack [kittyStackMax]uint8
	n     uint8
}

// kittyScreen returns the stack of the screen shown: each has its own.
func (t *Terminal) kittyScreen() *kittyStack {
	if t.grid == &t.alt {
		return &t.kitty[1]
	}
	return &t.kitty[0]
}

func (t *Terminal) kittyFlags() uint8 { return t.kittyScreen().flags }

func (t *Terminal) kittyPush(flags int) {
	k := t.kittyScreen()
	if k.n == kittyStackMax {
		copy(k.stack[:], k.stack[1:])
		k.n--
	}
	k.stack[k.n] = k.flags
	k.n++
	k.flags = uint8(flags & kittyAllFlags)
}

func (t *Terminal) kittyPop(n int) {
	k := t.kittyScreen()
	for ; n > 0 && k.n > 0; n-- {
		k.n--
		k.flags = k.stack[k.n]
	}
	if n > 0 {
		k.flags = 0
	}
}

// kittySet is CSI = flags ; mode u: 1 replaces, 2 adds, 3 removes.
func (t *Terminal) kittySet(flags, mode int) {
	k, f := t.kittyScreen(), uint8(flags&kittyAllFlags)
	switch mode {
	case 1:
		k.flags = f
	case 2:
		k.flags |= f
	case 3:
		k.flags &^= f
	}
}

// encodeKitty is the protocol's encoding for programs that asked for a part of it that changes how
// keys are written. Where that leaves a key as it is without the protocol, ok is false; never for a
// release.
func encodeKitty(k Key, flags uint8) (b []byte, ok bool) {
	all, exact := flags&kittyAllKeys != 0, flags&kittyDisambiguate != 0
	if !all && !exact { // only events need to be distinguished
		k = k.offKeypad()
	}
	out := csiKey{mods: k.Mods, final: 'u'}
	if flags&kittyEventTypes != 0 && k.Event > KeyPress {
		out.event = int(k.Event)
	}
	pressed := k.Event != KeyRelease
	switch {
	case k.Code == KeyF3: // CSI R is the answer to DSR 6
		out.number, out.final = 13, '~'
		return out.encode(), true
	case k.Code == KeyKeypadBegin, k.Code < KeyCapsLock && keySequences()[k.Code].final != 0:
		q := keySequences()[k.Code]
		out.number, out.final = q.number, q.final
		return out.encode(), true
	case k.Code >= KeyCapsLock:
		out.number = kittyNumber(k.Code)
		if !all && (k.Code >= KeyLeftShift || k.Code <= KeyNumLock) {
			return nil, true // they only modify others
		}
		if p := keypad[k.Code]; p.char >= ' ' && k.Mods&^Shift == 0 && pressed { // it types
			if !all {
				return []byte{p.char}, true
			}
			out.text = textIf(flags, string(rune(p.char)))
		}
		return out.encode(), true
	}
	out.number = int(codePoint(k))
	if k.Code != KeyRune {
		switch {
		case all, k.Code == KeyEscape && (exact || !pressed):
		case k.Code != KeyEscape && !pressed: // not reported, so that a person can still type "reset"
			return nil, true
		case k.Mods == 0 || !exact:
			return nil, false
		}
		return out.encode(), true
	}
	base := unicode.ToLower(k.Rune)
	if base != k.Rune {
		out.mods |= Shift
	}
	upper := unicode.ToUpper(base)
	types := out.mods&^Shift == 0 && pressed
	if !all && (types || !exact && out.event == 0) {
		return nil, false
	}
	out.number = int(base)
	if flags&kittyAlternateKeys != 0 && out.mods&Shift != 0 && upper != base {
		out.shifted = int(upper)
	}
	if types {
		r := base
		if out.mods&Shift != 0 {
			r = upper
		}
		out.text = textIf(flags, string(r))
	}
	return out.encode(), true
}

// kittyNumber is the number of a key from KeyCapsLock on.
func kittyNumber(code KeyCode) int {
	if code >= KeyF13 {
		return 57376 + int(code-KeyF13)
	}
	return 57358 + int(code-KeyCapsLock)
}

func textIf(flags uint8, text string) string {
	if flags&kittyText == 0 || flags&kittyAllKeys == 0 {
		return ""
	}
	return text
}

// A csiKey is a key as CSI number:shifted ; mods:event ; text final. Zero and empty fields are left
// out, and so is a number of 1 when nothing follows.
type csiKey struct {
	number, shifted int
	mods            Mods
	event           int // 2 repeat, 3 release
	text            string
	final           byte
}

func (k csiKey) encode() []byte {
	b := []byte("\x1b[")
	num := func(n int) { b = strconv.AppendInt(b, int64(n), 10) }
	second := k.mods != 0 || k.event != 0
	if k.number != 1 || k.shifted != 0 || second || k.text != "" {
		num(k.number)
	}
	if k.shifted != 0 {
		b = append(b, ':')
		num(k.shifted)
	}
	if second || k.text != "" {
		b = append(b, ';')
	}
	if second {
		num(modParam(k.mods))
	}
	if k.event != 0 {
		b = append(b, ':')
		num(k.event)
	}
	for i, r := range []rune(k.text) {
		sep := byte(':')
		if i == 0 {
			sep = ';'
		}
		b = append(b, sep)
		num(int(r))
	}
	return append(b, k.final)
}

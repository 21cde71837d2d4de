package vt

import (
	"strconv"
	"unicode/utf8"
)

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

// A Mouse is one mouse event at a cell, counted from zero. PixelX and PixelY count from the upper
// left of the screen; only mode 1016 uses them.
type Mouse struct {
	Row, Col       int
	PixelX, PixelY int
	Button         MouseButtonCode
	Action         MouseAction
	Mods           Mods
}

// EncodeMouse returns the bytes that a terminal in the current modes sends for m, nil when the
// program did not ask for such an event or its encoding cannot express it. Without mouse tracking
// the wheel sends cursor keys on the alternate screen (mode 1007).
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

// EncodeFocus returns the report that the terminal gained or lost focus, nil when the program did
// not ask for it (mode 1004).
func (t *Terminal) EncodeFocus(in bool) []byte {
	switch {
	case !t.modes.focusEvents:
		return nil
	case in:
		return []byte("\x1b[I")
	}
	return []byte("\x1b[O")
}

// BracketedPaste wraps s in the marks of mode 2004. Whatever could end the paste from inside, or
// act as a key, is removed and counted: C0 controls except TAB, LF and CR, DEL, and C1 controls, as
// single bytes or UTF-8. Bytes that are not UTF-8 pass, except 0x80-0x9f, which some readers take
// as C1. So only the end of the result can be read as an escape sequence.
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

package native

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/vt"
)

// Screens are what clients poll most, and a screen with all its cells is hundreds of kilobytes of
// JSON. So cells, runs and strings are written by hand, here, for all methods that have them.

// usualCell is how many bytes a cell with a palette colour and no attributes takes.
const usualCell = 210

// appendCells writes every cell, by rows.
func (l *look) appendCells(b []byte) []byte {
	s := l.Screen()
	var style vt.Style
	last := l.appendStyle(nil, style) // of the previous cell: most neighbours share it
	var head []byte                   // the start of a row's cells
	comma := false
	for y := range s.Rows {
		if len(b) > maxReply {
			break // Fits reports it
		}
		head = appendInt(head[:0], `{"row":`, y)
		head = append(head, `,"col":`...)
		s.EachCell(y, func(col int, c vt.Cell) {
			if c.Style != style {
				style = c.Style
				last = l.appendStyle(last[:0], style)
			}
			if comma {
				b = append(b, ',')
			}
			comma = true
			b = append(b, head...)
			b = strconv.AppendInt(b, int64(col), 10)
			b = appendString(b, `,"text":`, c.Text)
			switch {
			case c.Wide:
				b = append(b, `,"wide":true,"wide_continuation":false,"style":`...)
			case c.Continuation:
				b = append(b, `,"wide":false,"wide_continuation":true,"style":`...)
			default:
				b = append(b, `,"wide":false,"wide_continuation":false,"style":`...)
			}
			b = append(b, last...)
			b = append(b, '}')
		})
	}
	return b
}

// appendRuns writes the runs of all rows, each with its row.
func (l *look) appendRuns(b []byte) []byte {
	comma := false
	for y := range l.Screen().Rows {
		if len(b) > maxReply {
			break
		}
		l.Screen().EachRun(y, func(r vt.Run) {
			if comma {
				b = append(b, ',')
			}
			comma = true
			b = appendInt(b, `{"row":`, y)
			b = append(b, ',')
			b = l.appendRun(b, r)
		})
	}
	return b
}

// appendRowRuns writes the members of a row of a frame: its runs, and whether its line continues in
// the next row.
func (l *look) appendRowRuns(b []byte, y int) []byte {
	return l.appendLine(b, l.Screen().Wrapped(y), func(f func(vt.Stretch)) {
		l.Screen().EachStretch(y, f)
	})
}

// appendLine writes the members of a line whose runs each calls back with.
func (l *look) appendLine(b []byte, wrapped bool, each func(func(vt.Stretch))) []byte {
	if wrapped {
		b = append(b, `"wrapped":true,`...)
	}
	b = append(b, `"runs":[`...)
	comma := false
	each(func(s vt.Stretch) {
		if comma {
			b = append(b, ',')
		}
		comma = true
		b = append(b, '{')
		if s.Cluster {
			b = append(b, `"cluster":true,`...)
		}
		b = l.appendRun(b, s.Run)
	})
	return append(b, ']')
}

// appendRun writes a run's members and the end of its object.
func (l *look) appendRun(b []byte, r vt.Run) []byte {
	b = appendInt(b, `"col":`, r.Col)
	b = appendInt(b, `,"cols":`, r.Cols)
	b = appendString(b, `,"text":`, r.Text)
	b = append(b, `,"style":`...)
	b = l.appendStyle(b, r.Style)
	return append(b, '}')
}

// appendStyle always writes the members of the specification, and the others where they are set.
func (l *look) appendStyle(b []byte, s vt.Style) []byte {
	b = appendColor(b, `{"foreground":"`, s.Foreground)
	b = appendColor(b, `,"background":"`, s.Background)
	if s.Bold || s.Dim || s.Italic || s.Inverse || s.Underline != vt.UnderlineNone {
		b = appendBool(b, `,"bold":`, s.Bold)
		b = appendBool(b, `,"dim":`, s.Dim)
		b = appendBool(b, `,"italic":`, s.Italic)
		b = appendBool(b, `,"underline":`, s.Underline != vt.UnderlineNone)
		b = appendBool(b, `,"inverse":`, s.Inverse)
	} else {
		b = append(b,
			`,"bold":false,"dim":false,"italic":false,"underline":false,"inverse":false`...)
	}
	if s.Strike {
		b = append(b, `,"strike":true`...)
	}
	if s.Hidden {
		b = append(b, `,"hidden":true`...)
	}
	if s.Blink {
		b = append(b, `,"blink":true`...)
	}
	if s.Overline {
		b = append(b, `,"overline":true`...)
	}
	if s.Underline != vt.UnderlineNone {
		b = appendString(b, `,"underline_style":`, s.Underline.String())
	}
	if !s.UnderlineColor.IsDefault() {
		b = appendColor(b, `,"underline_color":"`, s.UnderlineColor)
	}
	if s.Link != "" {
		b = appendString(b, `,"link":`, l.Clean(s.Link))
	}
	return append(b, '}')
}

// appendColor writes a colour and its closing quote. The opening one is in name.
func appendColor(b []byte, name string, c vt.Color) []byte {
	b, _ = c.AppendText(append(b, name...)) // it never fails
	return append(b, '"')
}

// appendString writes s as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func appendString[T string | []byte](b []byte, name string, s T) []byte {
	b = append(append(b, name...), '"')
	if len(s) == 1 && plainByte[s[0]] { // a cell
		return append(b, s[0], '"')
	}
	for { // line by line: most are ASCII without escapes, so copy first and check then
		line, rest, more := s, s[:0], false
		end := `\n`
		if i := newline(s); i >= 0 {
			line, rest, more = s[:i], s[i+1:], true
			if i > 0 && s[i-1] == '\r' { // as terminal output has it
				line, end = s[:i-1], `\r\n`
			}
		}
		start := len(b)
		b = append(b, line...)
		if n := plainLen(b[start:]); n < len(line) {
			b = appendHard(b[:start+n], line[n:])
		}
		if !more {
			return append(b, '"')
		}
		b = append(b, end...)
		s = rest
	}
}

func newline[T string | []byte](s T) int {
	switch s := any(s).(type) {
	case string:
		return strings.IndexByte(s, '\n')
	case []byte:
		return bytes.IndexByte(s, '\n')
	}
	return -1
}

// plainLen is the length of the prefix of s that is ASCII and needs no escape in a JSON string. It
// checks eight bytes at a time while it can.
func plainLen(s []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := binary.LittleEndian.Uint64(s[i:])
		quote, backslash := w^('"'*ones), w^('\\'*ones)
		// A byte below n, or equal to the subtrahend, borrows from its highest bit.
		if (w|(w-0x20*ones)|(quote-ones)|(backslash-ones))&highs != 0 {
			break
		}
	}
	for i < len(s) && plainByte[s[i]] {
		i++
	}
	return i
}

// appendHard writes text that may need escapes.
func appendHard[T string | []byte](b []byte, s T) []byte {
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case plainByte[c]:
			i++
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
			if r == utf8.RuneError && n == 1 {
				b = append(append(b, s[start:i]...), "\ufffd"...)
				start = i + 1
			}
			i += n
		default:
			b = append(b, s[start:i]...)
			b = appendEscape(b, c)
			i++
			start = i
		}
	}
	return append(b, s[start:]...)
}

// plainByte has the ASCII characters that need no escape in a JSON string.
var plainByte = func() (plain [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

// appendEscape writes an ASCII character that must be escaped in a JSON string (RFC 8259,
// section 7).
func appendEscape(b []byte, c byte) []byte {
	if i := strings.IndexByte("\"\\\b\f\n\r\t", c); i >= 0 {
		return append(b, '\\', `"\bfnrt`[i])
	}
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
}

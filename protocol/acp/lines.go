package acp

import (
	"bufio"
	"bytes"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// readSize is one read of a stream: the most that a pipe returns at once on Linux.
const readSize = 64 << 10

// A lineReader cuts a stream into lines, and keeps at most max bytes and a read of each.
type lineReader struct {
	r     *bufio.Reader
	max   int
	begun bool // the last part belongs to a longer line: the next parts are what one read returns
}

func newLineReader(r io.Reader, max int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, readSize), max: max}
}

// next returns a line with its LF, or, for a line longer than max, its next part; more says that
// the line continues. The parts in order are the stream, byte by byte. The error, io.EOF at the
// end, comes alone.
func (l *lineReader) next() (part []byte, more bool, err error) {
	for {
		b, err := l.r.ReadSlice('\n')
		part = append(part, b...)
		if err == bufio.ErrBufferFull {
			if len(part) <= l.max && !l.begun {
				continue
			}
			l.begun = true
			return part, true, nil
		}
		l.begun = false
		if len(part) > 0 {
			err = nil // the next read reports an end without LF
		}
		return part, false, err
	}
}

// A span is the place of a value in a message.
type span struct{ from, to int }

func (s span) of(b []byte) []byte { return b[s.from:s.to] }

// within converts a span of a part of a message to one of the message.
func (s span) within(outer span) span { return span{outer.from + s.from, outer.from + s.to} }

// members returns the places of the values of a JSON object's members; nil for anything else, and
// for an object that is ambiguous: with duplicate members, or bytes that are not UTF-8.
func members(b []byte) map[string]span {
	if !bytes.HasPrefix(bytes.TrimLeft(b, blanks), []byte("{")) {
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(b))
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	found := map[string]span{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil
		}
		key := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return nil
		}
		to := int(d.InputOffset())
		found[key] = span{to - len(value), to}
	}
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	if len(bytes.Trim(b[d.InputOffset():], blanks)) > 0 {
		return nil
	}
	return found
}

// blanks are JSON's white space.
const blanks = " \t\r\n"

// elements returns the places of a JSON array's elements; nil for anything else.
func elements(b []byte) []span {
	d := jsontext.NewDecoder(bytes.NewBuffer(b))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '[' {
		return nil
	}
	var found []span
	for d.PeekKind() != ']' {
		value, err := d.ReadValue()
		if err != nil {
			return nil
		}
		to := int(d.InputOffset())
		found = append(found, span{to - len(value), to})
	}
	return found
}

// text returns a member that is a string, "" otherwise.
func text(b []byte, m map[string]span, name string) string {
	s, ok := m[name]
	if !ok || b[s.from] != '"' {
		return ""
	}
	unquoted, _ := jsontext.AppendUnquote(nil, s.of(b))
	return string(unquoted)
}

// An edit replaces some bytes with others.
type edit struct {
	span
	with []byte
}

// insert adds a member at the front of an object of a message.
func insert(object span, m map[string]span, member string) edit {
	at := object.from + 1
	if len(m) > 0 {
		member += ","
	}
	return edit{span{at, at}, []byte(member)}
}

// apply returns b with the edits made, which are in order and do not overlap.
func apply(b []byte, edits ...edit) []byte {
	if len(edits) == 0 {
		return b
	}
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(append(out, b[at:e.from]...), e.with...)
		at = e.to
	}
	return append(out, b[at:]...)
}

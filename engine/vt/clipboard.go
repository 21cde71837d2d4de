package vt

import (
	"bytes"
	"encoding/base64"
)

// clipboardMax bounds the body of an OSC 52, in bytes: 74,994 bytes of text in base64, the
// selection and the command. It is hterm's limit for the whole sequence, so programs that copy
// (editors' OSC 52 plugins, tmux) send no more or let their users choose. Less would lose what
// people copy; more is memory that any program can claim in each session.
const clipboardMax = 100_000

// clipboardPrefix begins the strings that clipboardMax applies to.
var clipboardPrefix = []byte("52;")

// clipboard is OSC 52: selections, then base64. None of it reaches a real clipboard, and a query
// (?) is not answered. As in xterm the selection may be empty; otherwise only the clipboard, the
// primary selection and the configured one (c, p, s) are reported: nobody pastes from cut buffers
// (0-7) and the secondary selection (q). An empty text clears, and so does "!", which programs send
// to clear an xterm, where anything that is not base64 clears.
func (t *Terminal) clipboard(rest []byte) {
	s := &t.parser
	if cap(s.str) > 2*stringMax {
		s.str = nil // rest has it until it is read; the next string is a short one
	}
	selections, payload, ok := bytes.Cut(rest, []byte{';'})
	if !ok || len(selections) > 0 && !bytes.ContainsAny(selections, "cps") || string(payload) == "?" {
		return
	}
	e := Event{Kind: EventClipboard, Cut: s.strLong}
	if !e.Cut && string(payload) != "!" {
		text, err := decode(payload)
		e.Bad = err != nil
		e.Text = plainText(text)
	}
	t.event(e)
}

// decode reads base64 with or without padding; it ignores line ends.
func decode(payload []byte) ([]byte, error) {
	encoding := base64.StdEncoding
	if bytes.IndexByte(payload, '=') < 0 {
		encoding = base64.RawStdEncoding
	}
	text := make([]byte, encoding.DecodedLen(len(payload)))
	n, err := encoding.Decode(text, payload)
	if err != nil {
		return nil, err
	}
	return text[:n], nil
}

// plainText is text of several lines: clean, each line ended by a line feed as on Unix. What is no
// UTF-8 is left out: U+FFFD in its place could make it three times as long.
func plainText(b []byte) string {
	b = bytes.ToValidUTF8(b, nil)
	if bytes.IndexByte(b, '\r') >= 0 {
		b = bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\r\n"), []byte{'\n'}), []byte{'\r'}, []byte{'\n'})
	}
	return cleanLines(b)
}

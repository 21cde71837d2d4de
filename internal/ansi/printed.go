package ansi

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

const (
	// MaxPrinted is how much of one command's output is kept, in bytes, escape sequences included:
	// its end. It is several times what a person, or an agent, reads.
	MaxPrinted = 256 << 10
	// maxAbove is how much is kept of what came before that: context that may identify a secret at
	// the beginning. The lines of a private key take as much.
	maxAbove = 64 << 10
)

// Printed collects what a command writes to its terminal, and keeps the end of it. A terminal turns
// each line feed of a program into CR LF (ONLCR); that is undone. The zero value is empty. It is
// not safe for concurrent use.
type Printed struct {
	buf  []byte // at most twice what is kept
	lost bool   // there was something before buf
}

// Text is what a command printed.
type Text struct {
	// Raw is what it wrote, as UTF-8: invalid bytes are U+FFFD. When it was Cut it has at most
	// MaxPrinted bytes and begins at the start of a line, unless no line starts there.
	Raw string
	// Plain is Raw without escape sequences; control characters stay.
	Plain string
	// Above is, when it was Cut, up to 64 KiB that came right before Raw. It may itself begin
	// anywhere.
	Above string
	Cut   bool // Raw is incomplete
}

// Write adds output.
func (p *Printed) Write(b []byte) {
	const piece = 64 << 10
	for len(b) > piece {
		p.add(b[:piece])
		b = b[piece:]
	}
	p.add(b)
}

// add is Write for a piece that is smaller than what is kept.
func (p *Printed) add(b []byte) {
	const keep = MaxPrinted + maxAbove
	if len(p.buf)+len(b) > 2*keep {
		n := copy(p.buf, p.buf[len(p.buf)-keep:])
		p.buf, p.lost = p.buf[:n], true
	}
	for len(b) > 0 {
		n := bytes.IndexByte(b, '\n')
		if n < 0 {
			p.buf = append(p.buf, b...)
			return
		}
		p.buf = append(p.buf, b[:n]...)
		if end := len(p.buf) - 1; end >= 0 && p.buf[end] == '\r' {
			p.buf = p.buf[:end]
		}
		p.buf = append(p.buf, '\n')
		b = b[n+1:]
	}
}

// Reset empties it, releasing most of its memory.
func (p *Printed) Reset() {
	const small = 4 << 10
	if cap(p.buf) > small {
		p.buf = nil
	}
	p.buf, p.lost = p.buf[:0], false
}

// DropMark removes the control string (OSC) that has just ended: a shell's mark. Command allows one
// with a command line (OSC 633 ; E) right before it, which is removed too.
func (p *Printed) DropMark(command bool) {
	if i := bytes.LastIndex(p.buf, []byte("\x1b]")); i >= 0 {
		p.buf = p.buf[:i]
	}
	end := len(p.buf) - 1
	if i := bytes.LastIndex(p.buf, []byte("\x1b]633;E;")); command && i >= 0 &&
		bytes.IndexByte(p.buf[i:], bel) == end-i {
		p.buf = p.buf[:i]
	}
}

// DropEnd removes end from the end of the output, if it is there.
func (p *Printed) DropEnd(end string) {
	p.buf = bytes.TrimSuffix(p.buf, []byte(end))
}

// DropStart removes the first n bytes, unless they are gone. Nothing may have been lost.
func (p *Printed) DropStart(n int) {
	if !p.lost {
		p.buf = p.buf[:copy(p.buf, p.buf[n:])]
	}
}

// Clone returns what goes on alike; neither sees what is added to the other.
func (p *Printed) Clone() Printed { return Printed{buf: bytes.Clone(p.buf), lost: p.lost} }

// Bytes returns what is kept. It is valid until the next call.
func (p *Printed) Bytes() []byte { return p.buf }

// Text returns what was printed so far.
func (p *Printed) Text() Text { return textOf(p.buf, p.lost) }

// TextWith is the text followed by more output, which is not added.
func (p *Printed) TextWith(more []byte) Text {
	with := Printed{buf: bytes.Clone(p.buf), lost: p.lost}
	with.Write(more)
	return with.Text()
}

// textOf is output as text; lost: something came before it.
func textOf(b []byte, lost bool) Text {
	if !lost && len(b) <= MaxPrinted {
		raw := Valid(b)
		return Text{Raw: raw, Plain: Strip(raw)}
	}
	at := max(0, len(b)-MaxPrinted)
	if at == 0 || b[at-1] != '\n' {
		if i := bytes.IndexByte(b[at:], '\n'); i >= 0 && at+i+1 < len(b) {
			at += i + 1
		}
	}
	for n := 0; n < utf8.UTFMax && at < len(b) && !utf8.RuneStart(b[at]); n++ {
		at++
	}
	t := Text{Raw: Valid(b[at:]), Above: Valid(b[max(0, at-maxAbove):at]), Cut: true}
	t.Plain = t.Raw
	var s Stripper
	s.Append(nil, []byte(t.Above))
	if s.cut.state != ground || strings.IndexByte(t.Raw, esc) >= 0 {
		t.Plain = string(s.Append(nil, []byte(t.Raw)))
	}
	return t
}

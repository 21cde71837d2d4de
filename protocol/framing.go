package protocol

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Framing is how messages are separated on a stream.
type Framing int

const (
	// Lines is one message a line, ended by LF; CR before it and blank lines are ignored, and the
	// last line may lack its LF. Known as NDJSON.
	Lines Framing = iota
	// Headers is a block of headers with a Content-Length, a blank line, then that many bytes, as
	// in the Language Server Protocol 3.17, "Base Protocol".
	Headers
)

// ParseFraming returns the framing that a command line calls "ndjson" or "lsp".
func ParseFraming(name string) (Framing, error) {
	switch name {
	case "ndjson":
		return Lines, nil
	case "lsp":
		return Headers, nil
	}
	return 0, fmt.Errorf("framing %s: expected ndjson or lsp", Quote(name, maxQuoted))
}

// String returns the name that [ParseFraming] takes.
func (f Framing) String() string {
	if f == Headers {
		return "lsp"
	}
	return "ndjson"
}

// Append appends message, framed, to b. With Lines, message must not hold a line break.
func (f Framing) Append(b, message []byte) []byte {
	if f == Headers {
		b = append(b, "Content-Length: "...)
		b = strconv.AppendInt(b, int64(len(message)), 10)
		b = append(b, "\r\n\r\n"...)
		return append(b, message...)
	}
	b = append(b, message...)
	return append(b, '\n')
}

// NewReader returns a reader of the messages on r, none larger than max bytes.
func (f Framing) NewReader(r io.Reader, max int) *Reader {
	return &Reader{framing: f, max: max, r: bufio.NewReaderSize(r, readBuffer)}
}

const (
	// 64 KiB: what a pipe or a Unix socket hands over at most in one read on Linux.
	readBuffer = 64 << 10
	// Bounds of a header block; ours has one header of 30 bytes. A browser's is some 500 bytes.
	maxHeaderLine  = 1 << 10
	maxHeaderBlock = 8 << 10
	maxHeaders     = 32
)

// ErrFraming is the cause of every error after which the stream cannot be trusted.
var ErrFraming = errors.New("framing lost")

// A FramingError is a [*ParseError] after which no further message can be found. It is
// [ErrFraming].
type FramingError struct{ ParseError }

// Unwrap lets errors.Is find [ErrFraming] and errors.As a *ParseError.
func (e *FramingError) Unwrap() []error { return []error{&e.ParseError, ErrFraming} }

func lost(reason, format string, args ...any) error {
	return &FramingError{ParseError{Problem: fmt.Sprintf(format, args...), Reason: reason}}
}

// A Reader takes one message after another from a stream. It is for one goroutine at a time.
type Reader struct {
	framing Framing
	max     int
	r       *bufio.Reader
	// skip is set while the rest of a line that was too long is still to be read.
	skip bool
}

// Next returns the next message, which the caller owns. Memory is allocated as bytes arrive, never
// as a header announces.
//
// It returns io.EOF at the end, a [*ParseError] for a line over the limit (as soon as it exceeds
// it; the next call continues with the next line), a [*FramingError] when no further message can be
// found, and io.ErrUnexpectedEOF for an end inside a header block or a body.
func (r *Reader) Next() ([]byte, error) {
	if r.framing == Headers {
		n, err := r.headers()
		if err != nil {
			return nil, err
		}
		return r.body(n)
	}
	return r.line()
}

func (r *Reader) line() ([]byte, error) {
	for {
		var long []byte
		for {
			part, err := r.r.ReadSlice('\n')
			if r.skip {
				if err == bufio.ErrBufferFull {
					continue
				}
				if err != nil {
					return nil, err
				}
				r.skip = false
				continue
			}
			size := len(long) + len(part)
			if err == nil {
				size-- // the LF
			}
			if size > r.max {
				r.skip = err != nil
				return nil,
					&ParseError{Reason: reasonSize,
						Problem: "message over " + strconv.Itoa(r.max) + " bytes"}
			}
			if err == bufio.ErrBufferFull {
				long = append(long, part...)
				continue
			}
			if err != nil && err != io.EOF {
				return nil, err
			}
			if blank(long) && blank(part) {
				if err == io.EOF {
					return nil, io.EOF
				}
				break
			}
			part = bytes.TrimSuffix(part, []byte("\n"))
			if long == nil {
				return bytes.Clone(part), nil
			}
			return append(long, part...), nil
		}
	}
}

func blank(b []byte) bool { return len(bytes.Trim(b, " \t\r\n")) == 0 }

// headers reads one header block and returns the length of the body.
func (r *Reader) headers() (int, error) {
	length, count, total := -1, 0, 0
	wasLength := false // the header a folded line would continue
	for {
		line, err := r.r.ReadSlice('\n')
		if len(line) > maxHeaderLine || err == bufio.ErrBufferFull {
			return 0, lost(reasonFraming, "header line over %d bytes", maxHeaderLine)
		}
		if err != nil {
			if err == io.EOF && total+len(line) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		if total += len(line); total > maxHeaderBlock {
			return 0, lost(reasonFraming, "header block over %d bytes", maxHeaderBlock)
		}
		line = bytes.TrimSuffix(line[:len(line)-1], []byte("\r"))
		switch {
		case len(line) == 0 && count == 0:
			continue // blank lines between messages
		case len(line) == 0 && length < 0:
			return 0, lost(reasonFraming, "header block without Content-Length")
		case len(line) == 0:
			return length, nil
		case line[0] == ' ' || line[0] == '\t':
			if count == 0 || wasLength {
				return 0, lost(reasonFraming, "folded header line where a header was expected")
			}
			continue
		}
		if count++; count > maxHeaders {
			return 0, lost(reasonFraming, "over %d headers", maxHeaders)
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || !token(name) {
			return 0, lost(reasonFraming, "expected a header line, Name: value")
		}
		if wasLength = strings.EqualFold(string(name), "Content-Length"); !wasLength {
			continue
		}
		n, err := r.length(bytes.Trim(value, " \t"))
		if err != nil {
			return 0, err
		}
		if length >= 0 && n != length {
			return 0, lost(reasonFraming, "two Content-Length headers that differ")
		}
		length = n
	}
}

func (r *Reader) length(digits []byte) (int, error) {
	if len(digits) == 0 {
		return 0, lost(reasonFraming, "empty Content-Length")
	}
	n := 0
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, lost(reasonFraming, "Content-Length is not a number in decimal digits")
		}
		if n = n*10 + int(c-'0'); n > r.max {
			return 0, lost(reasonSize, "message over %d bytes", r.max)
		}
	}
	return n, nil
}

// token reports whether b is a header name: RFC 9110 section 5.6.2.
func token(b []byte) bool {
	for _, c := range b {
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"(),/:;<=>?@[\\]{}", c) >= 0 {
			return false
		}
	}
	return len(b) > 0
}

func (r *Reader) body(n int) ([]byte, error) {
	b := make([]byte, 0, min(n, readBuffer))
	for len(b) < n {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		end := min(n, cap(b))
		m, err := io.ReadFull(r.r, b[len(b):end])
		b = b[:len(b)+m]
		if err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return b, nil
}

package protocol

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxMessage bounds an error message, in bytes: a page of text, too short to echo input at length.
const maxMessage = 1 << 10

var encodeOptions = json.JoinOptions(
	json.Deterministic(true),
	// Program output can hold any bytes; a bad byte becomes U+FFFD, and the reply stays valid.
	jsontext.AllowInvalidUTF8(true),
	// We encoded the raw values in a result; checking for duplicates would cost a quarter of the
	// time.
	jsontext.AllowDuplicateNames(true),
)

// A refusedError is the error of a [Bounded] result.
type refusedError struct{ error }

func (e refusedError) Unwrap() error { return e.error }

var errNotWire = errors.New("AppendJSON gave a line break or invalid UTF-8")

// appendValue appends v as compact JSON. A panic of v's own encoder becomes an error.
func appendValue(b []byte, v any) (out []byte, err error) {
	whole := len(b)
	defer func() {
		if p := recover(); p != nil {
			out, err = b[:whole], fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	if a, ok := v.(Appender); ok {
		start := len(b)
		b = a.AppendJSON(b)
		if bytes.IndexByte(b[start:], '\n') >= 0 || !utf8.Valid(b[start:]) {
			return b[:start], errNotWire
		}
		if bounded, ok := v.(Bounded); ok {
			if err := bounded.Fits(len(b) - start); err != nil {
				return b[:start], refusedError{err}
			}
		}
		return b, nil
	}
	buf := bytes.NewBuffer(b)
	if err := json.MarshalWrite(buf, v, encodeOptions); err != nil {
		return b, err
	}
	return buf.Bytes(), nil
}

func appendHead(b []byte, id stdjson.RawMessage) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	return append(b, id...)
}

func appendResult(b []byte, id stdjson.RawMessage, result any) ([]byte, error) {
	b = appendHead(b, id)
	b = append(b, `,"result":`...)
	b, err := appendValue(b, result)
	return append(b, '}'), err
}

func appendNotification(b []byte, method string, params any) ([]byte, error) {
	b = append(b, `{"jsonrpc":"2.0","method":`...)
	b, err := jsontext.AppendQuote(b, method)
	if err != nil {
		return b, err
	}
	b = append(b, `,"params":`...)
	b, err = appendValue(b, params)
	return append(b, '}'), err
}

// appendError appends an error reply. Data that does not encode to an object is left out, and the
// returned error says so; the reply is complete either way.
func appendError(b []byte, id stdjson.RawMessage, e *Error) ([]byte, error) {
	b = appendHead(b, id)
	b = append(b, `,"error":{"code":`...)
	b = strconv.AppendInt(b, int64(e.Code), 10)
	b = append(b, `,"message":`...)
	b, _ = jsontext.AppendQuote(b, Message(e.Message))
	var data []byte
	var err error
	if e.Data != nil {
		data, err = appendValue(nil, e.Data)
		if err == nil && (len(data) < 2 || data[0] != '{') {
			err = errors.New("data of an error is not an object")
		}
		if err != nil {
			data = nil
		}
	}
	if e.Reason != "" {
		b = append(b, `,"data":{"reason":`...)
		b, _ = jsontext.AppendQuote(b, e.Reason)
		if len(data) > 2 {
			b = append(b, ',')
			b = append(b, data[1:]...)
		} else {
			b = append(b, '}')
		}
	} else if data != nil {
		b = append(b, `,"data":`...)
		b = append(b, data...)
	}
	return append(b, "}}"...), err
}

// Message makes a text fit for an error message: at most 1 KiB, with every character escaped that
// could move a cursor or break a line.
func Message(text string) string { return cutBytes(escape(text), maxMessage) }

// cutBytes returns s, or as many whole runes of it as fit into max bytes with an ellipsis.
func cutBytes(s string, max int) string {
	if len(s) <= max {
		return s
	}
	const ellipsis = "…"
	n := max - len(ellipsis)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + ellipsis
}

// Encode returns v, a result of a [Method.Call], as the JSON that its reply has.
func Encode(v any) ([]byte, error) { return appendValue(nil, v) }

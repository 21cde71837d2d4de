package protocol

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Codes that JSON-RPC 2.0 section 5.1 fixes for every dialect.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeUnknownMethod  = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
)

// CodeForbidden is the code of a [*ForbiddenError], of the range that JSON-RPC 2.0 leaves to
// servers. It is the same in every dialect.
const CodeForbidden = -32004

var (
	// ErrCancelled is the cause of a request that its client cancelled. [ErrShutdown],
	// [ErrPeerGone] and [ErrSlowReader] are ErrCancelled too, in the sense of errors.Is.
	ErrCancelled = errors.New("cancelled")
	// ErrShutdown is the cause of requests that end because the server is stopping.
	ErrShutdown = fmt.Errorf("%w: the server is stopping", ErrCancelled)
	// ErrPeerGone is the cause of requests that end because nobody is left to read their replies.
	ErrPeerGone = fmt.Errorf("%w: the peer is gone", ErrCancelled)
	// ErrSlowReader is the cause of a connection that ends because its peer left too many replies
	// unread.
	ErrSlowReader = fmt.Errorf("%w: the peer does not read its replies", ErrCancelled)
	// ErrClosed is what Notify returns when the connection has ended.
	ErrClosed = errors.New("the connection is closed")
)

// Reasons lists every data.reason that [Standard] gives.
var Reasons = []string{
	reasonParse, reasonUTF8, reasonDepth, reasonSize, reasonFraming,
	reasonRequest, reasonDuplicate, reasonEmptyBatch, reasonBatchSize,
	reasonMethod, reasonParams, reasonLimit, reasonInternal, reasonForbidden,
}

const (
	reasonParse      = "parse_error"
	reasonUTF8       = "invalid_utf8"
	reasonDepth      = "nesting_too_deep"
	reasonSize       = "message_too_large"
	reasonFraming    = "framing_lost"
	reasonRequest    = "invalid_request"
	reasonDuplicate  = "duplicate_member"
	reasonEmptyBatch = "empty_batch"
	reasonBatchSize  = "batch_too_large"
	reasonMethod     = "unknown_method"
	reasonParams     = "invalid_params"
	reasonLimit      = "limit_exceeded"
	reasonInternal   = "internal_error"
	reasonForbidden  = "forbidden"
)

// A ParseError reports a message that is not JSON in UTF-8, or not a message at all. It quotes
// nothing of the input, which may be a secret sent to the wrong place.
type ParseError struct {
	Problem string
	Reason  string
}

func (e *ParseError) Error() string { return "parse error: " + e.Problem }

// A RequestError reports JSON that is not a JSON-RPC 2.0 request.
type RequestError struct {
	Problem string
	Reason  string
}

func (e *RequestError) Error() string { return "invalid request: " + e.Problem }

// A MethodError reports a method that the dialect does not have.
type MethodError struct{ Name string }

func (e *MethodError) Error() string { return "unknown method " + Quote(e.Name, 64) }

// A ParamError reports one bad parameter. A custom decoder may leave Path empty: [Bind] fills it
// in.
type ParamError struct {
	// Path says which, relative to the params: "rows", "action.value[3]"; empty for the params as a
	// whole.
	Path string
	// Expected is what was expected, with an article and the range: "an integer from 1 to 1000".
	Expected string
	// Got is what was sent; empty means nothing. See [Got].
	Got string
	// Reason is data.reason; empty means "invalid_params".
	Reason string
}

func (e *ParamError) Error() string {
	path := "params"
	switch {
	case e.Path == "":
	case e.Path[0] == '[':
		path += e.Path
	default:
		path += "." + e.Path
	}
	got := e.Got
	if got == "" {
		got = "nothing"
	}
	return path + ": expected " + e.Expected + ", got " + got
}

// A LimitError reports a limit that was exceeded.
type LimitError struct {
	// What is limited, and its unit: "bytes in the replies of a batch".
	What  string
	Limit int
}

func (e *LimitError) Error() string {
	return "over the limit of " + strconv.Itoa(e.Limit) + " " + e.What
}

// A PanicError is a panic in a row of the dialect. Its text does not contain the cause, which is in
// the log.
type PanicError struct {
	Method string
	Value  any
	Stack  []byte
}

func (e *PanicError) Error() string { return "internal error in " + Quote(e.Method, 64) }

// Caught turns the value that recover returned in a deferred function into an error, and logs it
// with the stack. doing is the method that panicked, or what was being done.
//
//	defer func() {
//		if v := recover(); v != nil {
//			err = protocol.Caught(log, method, v)
//		}
//	}()
func Caught(log *slog.Logger, doing string, v any) *PanicError {
	e := &PanicError{Method: doing, Value: v, Stack: debug.Stack()}
	log.Error("panic", "in", doing, "panic", fmt.Sprint(v), "stack", string(e.Stack))
	return e
}

// Guard calls f, and turns a panic in it into an error, as [Caught] does. It is for goroutines: a
// panic there would end the process, and with it the sessions of every client.
func Guard(log *slog.Logger, doing string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Caught(log, doing, v)
		}
	}()
	return f()
}

// Standard returns the error for one of this package's errors, with JSON-RPC 2.0's code where it has
// one, or nil for any other. A cancelled request has no standard code, so [ErrCancelled] gives nil.
func Standard(err error) *Error {
	var (
		parse   *ParseError
		request *RequestError
		method  *MethodError
		param   *ParamError
		limit   *LimitError
		panicky *PanicError
		refused *ForbiddenError
	)
	switch {
	case errors.As(err, &parse):
		return &Error{Code: CodeParse, Reason: parse.Reason, Message: parse.Error()}
	case errors.As(err, &request):
		return &Error{Code: CodeInvalidRequest, Reason: request.Reason, Message: request.Error()}
	case errors.As(err, &method):
		return &Error{Code: CodeUnknownMethod, Reason: reasonMethod, Message: method.Error()}
	case errors.As(err, &param):
		reason := param.Reason
		if reason == "" {
			reason = reasonParams
		}
		return &Error{Code: CodeInvalidParams, Reason: reason, Message: err.Error()}
	case errors.As(err, &limit):
		return &Error{Code: CodeInternal, Reason: reasonLimit, Message: err.Error()}
	case errors.As(err, &panicky):
		return Internal(panicky)
	case errors.As(err, &refused):
		return &Error{Code: CodeForbidden, Reason: reasonForbidden, Message: refused.Error(),
			Data: refused.data()}
	}
	return nil
}

// Internal returns the error for a fault of the server.
func Internal(err error) *Error {
	return &Error{Code: CodeInternal, Reason: reasonInternal, Message: err.Error()}
}

// Got describes an input value for [ParamError]: a string quoted and cut to 32 characters, anything
// else as fmt prints it, cut alike. nil is "nothing".
func Got(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return Quote(v, maxQuoted)
	default:
		return cut(escape(fmt.Sprint(v)), maxQuoted)
	}
}

// 32 characters of input in a message: enough to find a typing error, too few to hold a key.
const maxQuoted = 32

// Quote puts s between double quotes, cut to max characters, with everything escaped that could
// move a cursor or break a line.
func Quote(s string, max int) string {
	short := cut(s, max)
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range escape(short) {
		if r == '"' {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	b.WriteByte('"')
	return b.String()
}

// shownWord is how many characters remain of a word that a cut goes through: the cut may remove
// what identifies a secret, so the rest must go too. Words that are cut are long, and long
// words are seldom names.
const shownWord = 8

// unword shortens the word at the end of s, which was cut off within it, to shownWord characters.
func unword(s string) string {
	i := strings.LastIndexFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-+=%~", r)
	})
	_, size := utf8.DecodeRuneInString(s[max(i, 0):])
	if i < 0 {
		size = 0
	}
	word := max(i, 0) + size
	for n := range s[word:] {
		if utf8.RuneCountInString(s[word:word+n]) == shownWord {
			return s[:word+n]
		}
	}
	return s
}

// cut returns s, or its first max runes with an ellipsis as the last of them; fewer where they end
// in a long word.
func cut(s string, max int) string {
	n := 0
	for i := range s {
		if n++; n > max {
			// The ellipsis takes the place of the last rune kept.
			_, size := utf8.DecodeLastRuneInString(s[:i])
			return unword(s[:i-size]) + "…"
		}
	}
	return s
}

// escape replaces what is not printable text: control and format characters (which include the bidi
// controls), line separators, and bytes that are not UTF-8.
func escape(s string) string {
	plain := func(r rune) bool {
		return r == ' ' || unicode.IsGraphic(r) &&
			!unicode.Is(unicode.Z, r)
	}
	clean := utf8.ValidString(s)
	for _, r := range s {
		clean = clean && plain(r)
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case plain(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += size
	}
	return b.String()
}

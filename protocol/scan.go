package protocol

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// 512 levels: recursive descent stays under 100 KiB of stack, and no real request has ten.
	maxDepth = 512
	// An envelope has four members. One with more than 1,024 is not a request, and comparing the
	// names for duplicates would take memory out of proportion to the message.
	maxMembers = 1024
)

// An envelope is one JSON-RPC 2.0 object, its parts as they were sent.
type envelope struct {
	id     json.RawMessage // nil: a notification
	method string
	params json.RawMessage // an object or array; "{}" when absent or null
	reply  bool            // it answers a request of ours, and we send none
	err    error           // a *RequestError; id is then what the reply carries
}

var (
	emptyParams = json.RawMessage("{}")
	nullID      = json.RawMessage("null")
)

// parse reads one message: a request, or the entries of a batch of at most maxBatch. The error is a
// *ParseError, or a *RequestError about the message as a whole.
func parse(msg []byte, maxBatch int) (one envelope, batch []json.RawMessage, err error) {
	if !utf8.Valid(msg) {
		return one, nil, &ParseError{Problem: "message is not valid UTF-8", Reason: reasonUTF8}
	}
	s := scanner{b: msg}
	s.space()
	if s.peek() != '[' {
		one = s.envelope(0)
		if s.fault == nil {
			s.end()
		}
		if s.fault != nil {
			return envelope{}, nil, s.fault
		}
		return one, nil, nil
	}
	total := 0
	s.array(0, func(start int) {
		if total++; total <= maxBatch {
			batch = append(batch, msg[start:s.i])
		}
	})
	if s.fault == nil {
		s.end()
	}
	switch {
	case s.fault != nil:
		return one, nil, s.fault
	case total == 0:
		return one, nil, &RequestError{Problem: "empty batch", Reason: reasonEmptyBatch}
	case total > maxBatch:
		return one, nil,
			&RequestError{Problem: "batch of over " + strconv.Itoa(maxBatch) + " entries",
				Reason: reasonBatchSize}
	}
	return one, batch, nil
}

// A scanner walks JSON (RFC 8259) that is known to be valid UTF-8. It stops at the first fault.
type scanner struct {
	b     []byte
	i     int
	fault *ParseError
}

func (s *scanner) fail(expected string) {
	if s.fault == nil {
		s.fault = &ParseError{Reason: reasonParse,
			Problem: "byte " + strconv.Itoa(s.i) + ": expected " + expected}
	}
}

// peek returns the next byte, or 0 at the end.
func (s *scanner) peek() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

func (s *scanner) end() {
	s.space()
	if s.i < len(s.b) {
		s.fail("the end of the message")
	}
}

// value moves past one value; depth is how many containers it is in.
func (s *scanner) value(depth int) {
	switch c := s.peek(); {
	case c == '"':
		s.str()
	case c == '{':
		s.object(depth, nil)
	case c == '[':
		s.array(depth, nil)
	case c == 't':
		s.literal("true")
	case c == 'f':
		s.literal("false")
	case c == 'n':
		s.literal("null")
	case c == '-' || c >= '0' && c <= '9':
		s.number()
	default:
		s.fail("a value")
	}
}

func (s *scanner) literal(word string) {
	if !bytes.HasPrefix(s.b[s.i:], []byte(word)) {
		s.fail("a value")
		return
	}
	s.i += len(word)
}

func (s *scanner) digits() {
	start := s.i
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.i++
	}
	if s.i == start {
		s.fail("a digit")
	}
}

func (s *scanner) number() {
	if s.peek() == '-' {
		s.i++
	}
	if s.peek() == '0' {
		s.i++
	} else {
		s.digits()
	}
	if s.fault == nil && s.peek() == '.' {
		s.i++
		s.digits()
	}
	if c := s.peek(); s.fault == nil && (c == 'e' || c == 'E') {
		s.i++
		if c := s.peek(); c == '+' || c == '-' {
			s.i++
		}
		s.digits()
	}
}

func (s *scanner) str() {
	if s.peek() != '"' {
		s.fail("a string")
		return
	}
	for i := s.i + 1; i < len(s.b); i++ {
		switch c := s.b[i]; {
		case c == '"':
			s.i = i + 1
			return
		case c < ' ':
			s.i = i
			s.fail("no control character in a string")
			return
		case c == '\\':
			i++
			if n := escapeLen(s.b[i:]); n > 0 {
				i += n - 1
				continue
			}
			s.i = i
			s.fail("an escape sequence")
			return
		}
	}
	s.i = len(s.b)
	s.fail("the end of a string")
}

// escapeLen returns the length of the escape sequence that follows a backslash, or 0.
func escapeLen(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 1
	case 'u':
		if len(b) < 5 {
			return 0
		}
		for _, c := range b[1:5] {
			if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
				return 0
			}
		}
		return 5
	}
	return 0
}

// open moves past a bracket and white space, one level down.
func (s *scanner) open(depth int) bool {
	if depth >= maxDepth {
		if s.fault == nil {
			s.fault = &ParseError{Reason: reasonDepth,
				Problem: "nesting over " + strconv.Itoa(maxDepth) + " levels"}
		}
		return false
	}
	s.i++
	s.space()
	return true
}

// next moves past a comma, or past the closing bracket, and reports whether another element
// follows.
func (s *scanner) next(closing byte) bool {
	s.space()
	switch s.peek() {
	case ',':
		s.i++
		s.space()
		return true
	case closing:
		s.i++
	default:
		s.fail("a comma or the closing bracket")
	}
	return false
}

// object moves past an object; member, if not nil, is called after each value with its name (quotes
// included) and the start of the value.
func (s *scanner) object(depth int, member func(name []byte, start int)) {
	if !s.open(depth) {
		return
	}
	if s.peek() == '}' {
		s.i++
		return
	}
	for {
		from := s.i
		s.str()
		if s.fault != nil {
			return
		}
		name := s.b[from:s.i]
		s.space()
		if s.peek() != ':' {
			s.fail("a colon")
			return
		}
		s.i++
		s.space()
		start := s.i
		s.value(depth + 1)
		if s.fault != nil {
			return
		}
		if member != nil {
			member(name, start)
		}
		if !s.next('}') {
			return
		}
	}
}

// array moves past an array; element, if not nil, is called after each value with its start.
func (s *scanner) array(depth int, element func(start int)) {
	if !s.open(depth) {
		return
	}
	if s.peek() == ']' {
		s.i++
		return
	}
	for {
		start := s.i
		s.value(depth + 1)
		if s.fault != nil {
			return
		}
		if element != nil {
			element(start)
		}
		if !s.next(']') {
			return
		}
	}
}

// envelope reads one value as a JSON-RPC 2.0 object. Wrong syntax is left in s.fault.
func (s *scanner) envelope(depth int) (e envelope) {
	refuse := func(reason, problem string) {
		if e.err == nil {
			e.err = &RequestError{Problem: problem, Reason: reason}
		}
	}
	if s.peek() != '{' {
		s.value(depth)
		e.id = nullID
		refuse(reasonRequest, "expected an object or an array of objects")
		return e
	}
	var version, method, params json.RawMessage
	var id json.RawMessage
	var others map[string]struct{}
	var result, failure bool
	double, members := false, 0
	known := func(part *json.RawMessage, start int) {
		if *part != nil {
			double = true
			if part == &id { // it is unclear which of two ids to answer
				*part = nullID
				return
			}
		}
		*part = s.b[start:s.i:s.i]
	}
	s.object(depth, func(quoted []byte, start int) {
		if members++; members > maxMembers {
			return
		}
		name := quoted[1 : len(quoted)-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			name = unquote(quoted)
		}
		switch string(name) {
		case "jsonrpc":
			known(&version, start)
			return
		case "id":
			known(&id, start)
			return
		case "method":
			known(&method, start)
			return
		case "params":
			known(&params, start)
			return
		case "result":
			result = true
		case "error":
			failure = true
		}
		if others == nil {
			others = make(map[string]struct{}, 4)
		}
		if _, seen := others[string(name)]; seen {
			double = true
		}
		others[string(name)] = struct{}{}
	})
	if s.fault != nil {
		return e
	}
	if method == nil && (result || failure) {
		e.reply = true
		return e
	}
	e.id = id
	if id != nil && (id[0] == '{' || id[0] == '[' || id[0] == 't' || id[0] == 'f') {
		e.id = nullID
		refuse(reasonRequest, "id is neither a string nor a number nor null")
	}
	switch {
	case members > maxMembers:
		refuse(reasonRequest, "over "+strconv.Itoa(maxMembers)+" members")
	case double:
		refuse(reasonDuplicate, "a member is given twice")
	case version == nil:
		refuse(reasonRequest, `member "jsonrpc" is missing`)
	case !(string(version) == `"2.0"` || version[0] == '"' && text(version) == "2.0"):
		refuse(reasonRequest, `member "jsonrpc" is not the string "2.0"`)
	case method == nil:
		refuse(reasonRequest, `member "method" is missing`)
	case method[0] != '"':
		refuse(reasonRequest, `member "method" is not a string`)
	case params != nil && params[0] != '{' && params[0] != '[' && params[0] != 'n':
		refuse(reasonRequest, `member "params" is neither an object nor an array`)
	}
	if e.err != nil {
		if e.id == nil {
			e.id = nullID // it may have been a notification: JSON-RPC 2.0 section 5
		}
		return e
	}
	e.method = text(method)
	e.params = params
	if params == nil || params[0] == 'n' {
		e.params = emptyParams
	}
	return e
}

// text decodes a JSON string.
func text(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	return string(unquote(quoted))
}

// unquote decodes a JSON string; a lone surrogate becomes U+FFFD.
func unquote(quoted []byte) []byte {
	b, _ := jsontext.AppendUnquote(nil, quoted)
	return b
}

// KeyMember returns a [Method.Key] that is the value of one top-level member when that is a string.
// Params that are not an object, or lack the member, have no key; such a request is refused soon
// after.
func KeyMember(member string) func(params json.RawMessage) string {
	return func(params json.RawMessage) (key string) {
		s := scanner{b: params}
		if s.peek() != '{' {
			return ""
		}
		s.object(0, func(quoted []byte, start int) {
			if s.b[start] == '"' && text(quoted) == member {
				key = text(s.b[start:s.i])
			}
		})
		return key
	}
}

// canonicalID returns equal strings for ids that are the same JSON string, and for numbers written
// with the same digits.
func canonicalID(id json.RawMessage) string {
	if len(id) > 0 && id[0] == '"' {
		return `"` + text(id)
	}
	return string(id)
}

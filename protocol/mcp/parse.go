package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxErrorText bounds an error's message, in bytes: some of the SDK's quote whole params.
const maxErrorText = 1 << 10

// maxID bounds numeric ids: beyond 2^53 a JavaScript client cannot distinguish them, and the SDK
// decodes them as float64.
const maxID = 1 << 53

// An envelope is one message as it was sent. Member names are case-sensitive and must be unique.
type envelope struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Method  *string        `json:"method"`
	Params  jsontext.Value `json:"params"`
	Result  jsontext.Value `json:"result"`
	Error   *jsonrpc.Error `json:"error"`
}

// badLine returns what is wrong with a line as a whole, nil when it is JSON. It quotes nothing of
// it: a line that is not a message may be a secret sent to the wrong place.
func badLine(line []byte) *jsonrpc.Error {
	switch {
	case !utf8.Valid(line):
		return &jsonrpc.Error{Code: jsonrpc.CodeParseError,
			Message: "the message is not valid UTF-8"}
	case !json.Valid(line):
		return &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the message is not JSON"}
	}
	return nil
}

// decode parses a message from JSON.
func decode(text []byte) (jsonrpc.Message, *jsonrpc.Error) {
	refuse := func(problem string) (jsonrpc.Message, *jsonrpc.Error) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: problem}
	}
	var e envelope
	if err := jsonv2.Unmarshal(text, &e); err != nil {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return refuse("a member is given twice")
		}
		return refuse("not a JSON-RPC 2.0 message")
	}
	if e.Version != "2.0" {
		return refuse(`"jsonrpc" is not "2.0"`)
	}
	id, ok := decodeID(e.ID)
	if !ok {
		return refuse("the id is neither a string nor an integer below 2^53")
	}
	if e.Method != nil {
		return &jsonrpc.Request{ID: id, Method: *e.Method, Params: json.RawMessage(e.Params)}, nil
	}
	if !id.IsValid() || e.Result == nil && e.Error == nil {
		return refuse("neither a request nor an answer")
	}
	r := &jsonrpc.Response{ID: id, Result: json.RawMessage(e.Result)}
	if e.Error != nil {
		r.Error = e.Error // a nil *Error in an error would not be nil
	}
	return r, nil
}

// askedBy returns the id of a request that is refused for its text, such as half of a surrogate
// pair or a member that is given twice; else none.
func askedBy(text []byte) jsonrpc.ID {
	var e envelope
	err := jsonv2.Unmarshal(text, &e, jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	if err != nil || e.Method == nil {
		return jsonrpc.ID{}
	}
	id, _ := decodeID(e.ID)
	return id
}

// decodeID decodes an id that MCP allows; notifications have none.
func decodeID(raw jsontext.Value) (jsonrpc.ID, bool) {
	switch {
	case raw == nil:
		return jsonrpc.ID{}, true
	case raw.Kind() == '"':
		var s string
		if jsonv2.Unmarshal(raw, &s) != nil {
			return jsonrpc.ID{}, false
		}
		id, err := jsonrpc.MakeID(s)
		return id, err == nil
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || n > maxID || n < -maxID {
		return jsonrpc.ID{}, false
	}
	id, err := jsonrpc.MakeID(float64(n))
	return id, err == nil
}

// unknownVersion returns the answer to a request of the stateless era whose version is not
// supported: the SDK treats a version older than that era as none. nil: the version is supported.
func unknownVersion(params json.RawMessage) *jsonrpc.Error {
	asked := metaVersion(params)
	known := sdk.SupportedProtocolVersions()
	if asked == "" || slices.Contains(known, asked) {
		return nil
	}
	data, err := json.Marshal(sdk.UnsupportedProtocolVersionData{Supported: known,
		Requested: cut(asked, 32)})
	if err != nil { // strings
		panic("mcp: " + err.Error())
	}
	return &jsonrpc.Error{Code: sdk.CodeUnsupportedProtocolVersion,
		Message: "this version of MCP is not spoken here", Data: data}
}

// metaVersion is the version that a request's own _meta names; "" when it names none.
func metaVersion(params json.RawMessage) string {
	if !bytes.Contains(params, []byte(sdk.MetaKeyProtocolVersion)) {
		return ""
	}
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	var version string
	if json.Unmarshal(params, &p) != nil ||
		json.Unmarshal(p.Meta[sdk.MetaKeyProtocolVersion], &version) != nil {
		return ""
	}
	return version
}

// batchOf returns the messages of a JSON array, and false when text is not an array.
func batchOf(text []byte) (entries []json.RawMessage, ok bool) {
	if t := bytes.TrimLeft(text, " \t\r\n"); len(t) == 0 || t[0] != '[' {
		return nil, false
	}
	return entries, json.Unmarshal(text, &entries) == nil
}

// asWire returns the wire error in err, or makes one of any other error.
func asWire(err error) *jsonrpc.Error {
	e := &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		e.Code, e.Data = wire.Code, wire.Data
	}
	// The SDK's errors about the order of a connection's first requests have no code.
	if strings.Contains(e.Message, "during session initialization") ||
		strings.HasPrefix(e.Message, "duplicate ") {
		e.Code = jsonrpc.CodeInvalidRequest
	}
	if e.Code == 0 {
		e.Code = jsonrpc.CodeInternalError
	}
	return e
}

// cut returns at most n bytes of s, on a character boundary.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

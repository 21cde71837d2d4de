package client

import (
	"encoding/json"
	"fmt"

	"github.com/sourcegraph/jsonrpc2"
)

// Codes of the native dialect's errors. [Error.Reason], from data.reason, is more specific.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeUnknownMethod  = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeTimeout        = -32001 // a wait timed out; Evidence has why
	CodeSessionClosed  = -32002 // the session's program has ended, or the session was killed or closed
	CodeCancelled      = -32005 // the request was cancelled
)

// An Error is the server's answer to a request that failed.
type Error struct {
	Code    int
	Reason  string // snake_case, from the closed list that server.capabilities prints with schema
	Message string // for people
	Data    json.RawMessage
}

func (e *Error) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("%s (%d)", e.Message, e.Code)
	}
	return fmt.Sprintf("%s (%d, %s)", e.Message, e.Code, e.Reason)
}

// Evidence returns the evidence of a wait that did not match, nil when the error is not a wait's.
func (e *Error) Evidence() *Evidence {
	var v Evidence
	if json.Unmarshal(e.Data, &v) != nil || v.Matcher == nil {
		return nil
	}
	return &v
}

func wireError(e *jsonrpc2.Error) *Error {
	w := &Error{Code: int(e.Code), Message: e.Message}
	if e.Data != nil {
		w.Data = *e.Data
		var data struct {
			Reason string `json:"reason"`
		}
		_ = json.Unmarshal(w.Data, &data) // data without a reason comes from another kind of server
		w.Reason = data.Reason
	}
	return w
}

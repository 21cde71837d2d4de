package far

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/protocol"
)

// Codes and reasons of the errors that a hub adds to the wire; see docs/hosts.md.
const (
	codeHost       = -32006 // the host cannot be reached, or was lost on the way
	codeServerLost = -32002 // as of any session that has ended
	codeTimeout    = -32001
	codeCancelled  = -32005

	reasonUnreachable = "host_unreachable"
	reasonLost        = "host_lost"
	reasonServerLost  = "server_lost"
	reasonUnknown     = "unknown_host"
)

// ErrSilent says that a host has not answered for [Silence], although its link is there.
var ErrSilent = fmt.Errorf("it has not answered for %v", Silence)

// ErrProtocol is what errors wrap that come of a host which does not keep to the wire.
var ErrProtocol = errors.New("it does not speak the protocol")

// broke is an [ErrProtocol].
func broke(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrProtocol, fmt.Sprintf(format, args...))
}

// An UnreachableError says that a host could not be reached: nothing was done there.
type UnreachableError struct {
	Host  string
	Since time.Time     // when it was last reachable, or first tried
	Retry time.Duration // when it is tried again; 0: with the next request
	Err   error
}

func (e *UnreachableError) Error() string {
	s := fmt.Sprintf("host %s cannot be reached: %v; ptywright hosts check %s tries it",
		e.Host, e.Err, e.Host)
	if e.Retry > 0 {
		s += fmt.Sprintf(" (the next try is in %.1f s)", e.Retry.Seconds())
	}
	return s
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// A LostError says that the link to a host ended, or the host fell silent, before it answered.
// Whether the request was done is not known.
type LostError struct {
	Host  string
	Since time.Time // of the loss
	Err   error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("host %s was lost before it answered, and whether it did what was asked "+
		"is not known: %v; read the session again to see", e.Host, e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }

// A ServerLostError says that the server of a host is another one than the one that had the
// session.
type ServerLostError struct{ Host, ID string }

func (e *ServerLostError) Error() string {
	return fmt.Sprintf("%s/%s has ended: the server of host %s was started anew, and what has "+
		"this id now is something else; session.list tells what there is", e.Host, e.ID, e.Host)
}

// An UnknownHostError says that no host has a name.
type UnknownHostError struct {
	Name  string
	Known []string
}

func (e *UnknownHostError) Error() string {
	s := "unknown host " + protocol.Quote(e.Name, 32)
	if len(e.Known) == 0 {
		return s + ": this server knows none; they stand in hosts.toml"
	}
	const most = 20 // a longer list does not help
	known, more := e.Known, ""
	if len(known) > most {
		known, more = known[:most], fmt.Sprintf(" and %d more", len(known)-most)
	}
	return s + ": there are " + strings.Join(known, ", ") + more
}

// A timeoutError is a wait whose host was away when its time was over.
type timeoutError struct {
	elapsed time.Duration
	lost    lostPart
}

// A lostPart is what a wait could not be asked about.
type lostPart struct {
	Host     string            `json:"host"`
	Sessions []string          `json:"sessions"`
	Since    map[string]uint64 `json:"since"`
	Reason   string            `json:"reason"` // down or silent
	ForMS    int64             `json:"for_ms"`
}

func (e *timeoutError) Error() string {
	return fmt.Sprintf("the wait timed out after %d ms, while host %s was away: whether it would "+
		"have matched is not known", e.elapsed.Milliseconds(), e.lost.Host)
}

// A refusal is an error that a far server answered with.
type refusal struct {
	host    string
	code    int
	message string
	reason  string
	data    []member // without the reason
}

func (e *refusal) Error() string { return e.message }

// wireError maps the errors of this package; nil: it is not one.
func wireError(err error) *protocol.Error {
	var (
		away    *UnreachableError
		lost    *LostError
		another *ServerLostError
		unknown *UnknownHostError
		late    *timeoutError
		refused *refusal
	)
	ms := func(d time.Duration) int64 { return d.Milliseconds() }
	switch {
	case errors.As(err, &refused):
		return &protocol.Error{Code: refused.code, Message: refused.message,
			Reason: refused.reason, Data: raw(objectOf(refused.data))}
	case errors.As(err, &away):
		data := map[string]any{"host": away.Host, "since": away.Since.UTC(),
			"error": protocol.Message(away.Err.Error())}
		if away.Retry > 0 {
			data["retry_ms"] = ms(away.Retry)
		}
		return &protocol.Error{Code: codeHost, Reason: reasonUnreachable, Message: err.Error(),
			Data: data}
	case errors.As(err, &lost):
		return &protocol.Error{Code: codeHost, Reason: reasonLost, Message: err.Error(),
			Data: map[string]any{"host": lost.Host, "since": lost.Since.UTC(),
				"error": protocol.Message(lost.Err.Error()), "unknown": true}}
	case errors.As(err, &another):
		return &protocol.Error{Code: codeServerLost, Reason: reasonServerLost,
			Message: err.Error(), Data: map[string]any{"host": another.Host}}
	case errors.As(err, &unknown):
		return &protocol.Error{Code: protocol.CodeInvalidParams, Reason: reasonUnknown,
			Message: err.Error()}
	case errors.As(err, &late):
		return &protocol.Error{Code: codeTimeout, Reason: "timeout", Message: err.Error(),
			Data: map[string]any{"elapsed_ms": ms(late.elapsed), "lost": []lostPart{late.lost}}}
	}
	return nil
}

// raw is a value that is JSON already, without line breaks.
type raw []byte

// AppendJSON appends it.
func (r raw) AppendJSON(b []byte) []byte { return append(b, r...) }

// refusalOf reads the error of an answer.
func refusalOf(m *Model, host string, value json.RawMessage) (*refusal, error) {
	var e struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(value, &e); err != nil || e.Message == "" {
		return nil, broke("an error of its is not one of JSON-RPC")
	}
	r := &refusal{host: host, code: e.Code, message: e.Message, reason: "internal_error"}
	if len(e.Data) == 0 || string(e.Data) == "null" {
		return r, nil
	}
	all, err := membersOf(e.Data)
	if err != nil {
		return nil, broke("the data of an error of its are not an object")
	}
	if reason := textOf(all, "reason"); isReason(reason) {
		r.reason = reason
	}
	data, err := m.faults[r.reason].rewrite(objectOf(with(all, "reason", nil)), prefixed(host))
	if err != nil {
		return nil, err
	}
	r.data, err = membersOf(data)
	return r, err
}

// isReason reports whether a word may be a data.reason, known to us or not: a host may be newer.
func isReason(word string) bool {
	return word != "" && len(word) <= 64 &&
		!strings.ContainsFunc(word, func(c rune) bool { return c != '_' && (c < 'a' || c > 'z') })
}

// localize puts the host before ids in the message: in quotes as they were sent, and bare where
// they have the form of an id that was not chosen by somebody.
func (e *refusal) localize(ids []string) {
	for _, id := range ids {
		full := e.host + "/" + id
		e.message = strings.ReplaceAll(e.message, `"`+id+`"`, `"`+full+`"`)
		if !isNumbered(id) {
			continue
		}
		words := strings.Split(e.message, " ")
		for i, w := range words {
			if strings.TrimRight(w, ":,.;") == id {
				words[i] = full + w[len(id):]
			}
		}
		e.message = strings.Join(words, " ")
	}
}

// isNumbered reports whether an id has the form s12, which no name may have.
func isNumbered(id string) bool {
	return len(id) > 1 && id[0] >= 'a' && id[0] <= 'z' &&
		!strings.ContainsFunc(id[1:], func(c rune) bool { return c < '0' || c > '9' })
}

// mostID bounds an id, in bytes: a name has at most 64.
const mostID = 128

// prefixed returns what makes a host's id one of ours. An id that no server gives is an
// [ErrProtocol]; with a slash it could name another host's session.
func prefixed(host string) func(string) (string, error) {
	return func(id string) (string, error) {
		if id == "" || len(id) > mostID || strings.ContainsFunc(id, func(c rune) bool {
			return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9') &&
				!slices.Contains([]rune("._-"), c)
		}) {
			return "", broke("it has an id that cannot be its own: %s", protocol.Quote(id, 32))
		}
		return host + "/" + id, nil
	}
}

package client

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"
)

// Until says when [Client.WaitMany] is over.
type Until string

// The values of Until. A session has ended for a wait when its program has, and the matcher can no
// longer hold there.
const (
	UntilAny  Until = "any"  // when one session has matched; or all have ended
	UntilAll  Until = "all"  // when each session has matched; or one has ended
	UntilEach Until = "each" // when each session has matched or ended
)

// A Selection says which sessions are meant: those of which all members that are set are true.
type Selection struct {
	Adapter string `json:"adapter,omitempty"` // id of the adapter that drives it
	Plugin  string `json:"plugin,omitempty"`  // name of the plugin that does
	Program string `json:"program,omitempty"` // as created, or the last part of that path
	Tag     string `json:"tag,omitempty"`     // one of its tags
	Name    string `json:"name,omitempty"`
	Host    string `json:"host,omitempty"` // the machine it is on; "": any
}

// Shown says whose screens the answer of [Client.WaitMany] has.
type Shown string

const (
	ShowMatched Shown = "matched" // of those that matched; the default
	ShowAll     Shown = "all"     // of the others, too, with what they lacked
	ShowNone    Shown = "none"
)

// Many says which sessions [Client.WaitMany] waits for: those named in Sessions or, when there are
// none, those that Select chooses, including those that appear during the wait.
type Many struct {
	Sessions []string   // ids or names
	Select   *Selection // an empty one chooses all
	Until    Until      // "": UntilAny
	// Since says for sessions by what they are called in Sessions, or else by their ids, what counts
	// in each: only what came after.
	Since   map[string]Position
	Latched bool          // as of [Latched]
	Timeout time.Duration // 0: 30 seconds; negative: look once
	Show    Shown         // "": ShowMatched
	Redact  *bool         // nil: true
	// Matched is called with each match at once, with UntilEach only, by the goroutine that reads the
	// connection: it must not call the client. nil: nobody is told.
	Matched func(m SessionMatch)
}

// A SessionMatch is the match of one of several sessions. Screen and TranscriptTail are empty with
// ShowNone.
type SessionMatch struct {
	Session string // its id
	Name    string // "": it has none
	Match
	Raw json.RawMessage // as the server sent it
}

// UnmarshalJSON reads one of those that matched.
func (m *SessionMatch) UnmarshalJSON(b []byte) error {
	var w struct {
		Session string `json:"session"`
		Name    string `json:"name"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	m.Session, m.Name, m.Raw = w.Session, w.Name, append(json.RawMessage(nil), b...)
	return json.Unmarshal(b, &m.Match)
}

// An Unmatched is one of several sessions that has not matched.
type Unmatched struct {
	Session   string
	Name      string
	Exit      *Exit     // nil: it runs
	Forgotten bool      // the server has forgotten it
	Evidence  *Evidence // with ShowAll; nil: none, or there were more than 16 MiB of screens
	Raw       json.RawMessage
}

// UnmarshalJSON reads one of those that ended or wait.
func (u *Unmatched) UnmarshalJSON(b []byte) error {
	var w struct {
		Session   string `json:"session"`
		Name      string `json:"name"`
		Exit      *Exit  `json:"exit"`
		Forgotten bool   `json:"forgotten"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*u = Unmatched{w.Session, w.Name, w.Exit, w.Forgotten, evidenceIn(b),
		append(json.RawMessage(nil), b...)}
	return nil
}

// A Lost is a host that a hub cannot reach.
type Lost struct {
	Host     string            `json:"host"`
	Sessions []string          `json:"sessions"`
	Since    map[string]uint64 `json:"since"`  // the last sequence that is known of each
	Reason   string            `json:"reason"` // silent or down
	ForMS    int64             `json:"for_ms"`
}

// ManyMatches is what [Client.WaitMany] has found out, also when it failed.
type ManyMatches struct {
	Matched []SessionMatch `json:"matched"` // in the order in which they did
	Waiting int            `json:"waiting"` // how many have neither matched nor ended
	Ended   []Unmatched    `json:"ended"`   // those that can no longer match
	Lost    []Lost         `json:"lost"`
	// Complete: nothing is left to wait for.
	Complete bool        `json:"complete"`
	Lacking  []Unmatched `json:"lacking"` // with ShowAll: those that wait
	// Truncated: some screens are left out, as there were more than 16 MiB.
	Truncated bool `json:"truncated"`
}

type manyParams struct {
	Sessions  []string            `json:"sessions,omitempty"`
	Select    *Selection          `json:"select,omitempty"`
	Matcher   any                 `json:"matcher"`
	Until     Until               `json:"until,omitempty"`
	Since     map[string]Position `json:"since,omitempty"`
	Latched   bool                `json:"latched,omitempty"`
	TimeoutMS *int64              `json:"timeout_ms,omitempty"`
	Evidence  Shown               `json:"evidence,omitempty"`
	Redact    *bool               `json:"redact,omitempty"`
	Wait      string              `json:"wait,omitempty"`
}

// WaitMany waits for several sessions at once, with one request: until m holds in one of them, in
// all, or until each has matched or ended. m is a [Matcher], or JSON of one. Everything on the
// screens counts, whatever was typed before, unless [Many].Since says otherwise.
//
// Errors: [ErrTimeout]; [ErrSessionEnded] as soon as that cannot be any more; [ErrUnknownSession];
// [ErrInvalidMatcher]. What was found until then is returned even so, nil when nothing was waited
// for.
func (c *Client) WaitMany(ctx context.Context, m any, which Many) (*ManyMatches, error) {
	p := manyParams{Sessions: which.Sessions, Select: which.Select, Matcher: m, Until: which.Until,
		Since: which.Since, Latched: which.Latched, Evidence: which.Show, Redact: which.Redact}
	switch {
	case which.Timeout < 0:
		p.TimeoutMS = new(int64)
	case which.Timeout > 0:
		p.TimeoutMS = Within(which.Timeout).milliseconds()
	}
	if which.Matched != nil && which.Until == UntilEach {
		var forget func()
		p.Wait, forget = c.told.add(which.Matched)
		defer forget()
	}
	r, err := result[ManyMatches](ctx, c, "session.wait_many", p)
	var e *Error
	if errors.As(err, &e) {
		var so ManyMatches
		if json.Unmarshal(e.Data, &so) == nil && so.Matched != nil {
			return &so, err
		}
	}
	return r, err
}

// noteMatched is the notification of a match.
const noteMatched = "wait.matched"

// told are the functions that are told of matches, by the word of their wait.
type told struct {
	mu   sync.Mutex
	last int
	to   map[string]func(SessionMatch)
}

// add adds one, until forget is called.
func (t *told) add(f func(SessionMatch)) (wait string, forget func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.to == nil {
		t.to = map[string]func(SessionMatch){}
	}
	t.last++
	wait = "wait " + strconv.Itoa(t.last)
	t.to[wait] = f
	return wait, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.to, wait)
	}
}

// take tells who asked for it, and reports whether anybody did.
func (t *told) take(params []byte) bool {
	var w struct {
		Wait string `json:"wait"`
	}
	if json.Unmarshal(params, &w) != nil {
		return false
	}
	t.mu.Lock()
	f := t.to[w.Wait]
	t.mu.Unlock()
	var m SessionMatch
	if f == nil || json.Unmarshal(params, &m) != nil {
		return false
	}
	f(m)
	return true
}

// DoOnce performs actions as [Session.Do] does, but only once for an id: sent again with it, as
// after a connection was lost, they are not typed again, and the first answer comes again with
// [Sent].Again set. id is 1 to 64 characters that no other input of the session has. Other actions
// with the same id are refused with [ErrInputIdInUse].
func (s *Session) DoOnce(ctx context.Context, id string, actions ...Action) (Sent, error) {
	return s.typed(ctx, actions, struct {
		named
		ID      string   `json:"id"`
		Actions []Action `json:"actions"`
	}{s.named(), id, actions})
}

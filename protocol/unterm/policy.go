package unterm

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// A policy says what command lines may be typed. The zero value lets everything pass.
//
// It is a guard against mistakes, and no sandbox: a shell has more ways to say the same thing than patterns can tell.
type policy struct {
	mu sync.Mutex
	// protects the field below
	rules policyRules
}

type policyRules struct {
	Enabled bool
	Blocked []string
	Allowed []string // when there are any, a command has to have one of them; Unterm keeps them and never looks
	Strict  bool     // what is typed as input is held to the same; Unterm does not know it
}

// errNotAllowed is what is said of a command that none of the allowed patterns is in.
const notAllowed = "matches no allowed pattern"

// judge returns which pattern blocks a line, or notAllowed, or "".
func (r *policyRules) judge(line string) string {
	if !r.Enabled {
		return ""
	}
	for _, pattern := range r.Blocked {
		if strings.Contains(line, pattern) {
			return pattern
		}
	}
	if len(r.Allowed) == 0 {
		return ""
	}
	for _, pattern := range r.Allowed {
		if strings.Contains(line, pattern) {
			return ""
		}
	}
	return notAllowed
}

func (p *policy) get() policyRules {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rules
}

const (
	// maxPatterns and maxPattern bound a policy: each line is compared with every pattern.
	maxPatterns = 1000
	maxPattern  = 4 << 10 // bytes
)

func policySet(_ context.Context, s *reader, p params) (any, error) {
	var r policyRules
	fields := []struct {
		name string
		into any
	}{{"enabled", &r.Enabled}, {"blocked_patterns", &r.Blocked}, {"allowed_patterns", &r.Allowed}, {"strict", &r.Strict}}
	for _, f := range fields {
		v, ok := p[f.name]
		switch {
		case !ok && f.name == "strict":
		case !ok:
			return nil, fmt.Errorf("Invalid policy: missing field `%s`", f.name)
		case v.Kind() == 'n' || decode(v, f.into) != nil:
			return nil, fmt.Errorf("Invalid policy: field `%s` is of another type", f.name)
		}
	}
	for _, patterns := range [][]string{r.Blocked, r.Allowed} {
		if len(patterns) > maxPatterns {
			return nil, fmt.Errorf("Invalid policy: %d patterns, and %d are the most", len(patterns), maxPatterns)
		}
		for _, pattern := range patterns {
			if len(pattern) > maxPattern {
				return nil, fmt.Errorf("Invalid policy: a pattern of %d bytes, and %d are the most", len(pattern), maxPattern)
			}
		}
	}
	s.policy.mu.Lock()
	s.policy.rules = r
	s.policy.mu.Unlock()
	s.audit.add("policy.set", nil, "enabled="+strconv.FormatBool(r.Enabled), true)
	return struct {
		Set bool `json:"set"`
	}{true}, nil
}

type policyVerdict struct {
	Allowed bool   `json:"allowed"`
	Reason  string `json:"reason,omitempty"`
}

func policyCheck(_ context.Context, s *reader, p params) (any, error) {
	line, err := p.needText("command", "Missing 'command'")
	if err != nil {
		return nil, err
	}
	rules := s.policy.get()
	switch why := rules.judge(line); {
	case !rules.Enabled:
		return policyVerdict{true, "Policy disabled"}, nil
	case why == "":
		return policyVerdict{Allowed: true}, nil
	case why == notAllowed:
		return policyVerdict{Reason: "Matches no allowed pattern"}, nil
	default:
		return policyVerdict{Reason: "Blocked by pattern: " + why}, nil
	}
}

// allowCommand asks the policy about a command line that is about to be typed, and writes down what came of it.
func (s *Server) allowCommand(method string, at *pane, line string) error {
	rules := s.policy.get()
	why := rules.judge(line)
	if why == "" && rules.Enabled && rules.Strict { // what stands on the command line already becomes part of it
		why = at.typed.add(&rules, line+"\r")
	}
	s.audit.add(method, at, line, why == "")
	return blocked(why)
}

// allowInput asks the policy about text that is about to be typed.
func (s *Server) allowInput(method string, at *pane, text string) error {
	rules := s.policy.get()
	if !rules.Enabled || !rules.Strict {
		return nil
	}
	why := at.typed.add(&rules, text)
	if why != "" {
		s.audit.add(method, at, text, false)
	}
	return blocked(why)
}

func blocked(why string) error {
	if why == "" {
		return nil
	}
	return fmt.Errorf("Command blocked by policy: %s", why)
}

// typed is the command line under way in a pane, as far as what was typed tells it.
type typed struct {
	mu sync.Mutex
	// protects the field below
	line []byte
}

// maxTyped bounds the line that is remembered, in bytes: longer than a terminal takes in canonical mode.
const maxTyped = 64 << 10

// unseen is what is said of a key whose effect on the command line cannot be seen: history, completion, an editor's keys.
const unseen = "a key that changes the command line unseen; under a strict policy only text, Enter, Backspace, Ctrl+U, Ctrl+W, Ctrl+C, Ctrl+D, Ctrl+Z and Ctrl+\\ can be typed"

// add judges text that is about to be typed, together with what stands on the line, and remembers it if it may be. It returns what
// blocks it, or "". Nothing of a text that is blocked is typed.
func (t *typed) add(rules *policyRules, text string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	line := append([]byte(nil), t.line...)
	whole := policyRules{Enabled: true, Blocked: rules.Blocked} // while it is typed: what is to be in it may come yet
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\r' || c == '\n':
			if len(strings.TrimSpace(string(line))) > 0 {
				if why := rules.judge(string(line)); why != "" {
					return why
				}
			}
			line = line[:0]
		case c == 0x7f || c == '\b':
			_, n := utf8.DecodeLastRune(line)
			line = line[:len(line)-n]
		case c == 0x15, c == 0x03, c == 0x04, c == 0x1a, c == 0x1c: // Ctrl+D ends a line that has something on it
			if why := rules.judge(string(line)); c == 0x04 && len(line) > 0 && why != "" {
				return why
			}
			line = line[:0]
		case c == 0x17:
			kept := strings.TrimRight(string(line), " ")
			line = line[:strings.LastIndexByte(kept, ' ')+1]
		case c < ' ':
			return unseen
		default:
			if line = append(line, c); len(line) > maxTyped {
				return "a line that is too long to be judged"
			}
		}
	}
	if why := whole.judge(string(line)); why != "" {
		return why
	}
	t.line = line
	return ""
}

// clear forgets the line: it was given up.
func (t *typed) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.line = nil
}

// An auditEntry is one call that changed something, or was to.
type auditEntry struct {
	Timestamp string  `json:"timestamp"` // RFC 3339
	Method    string  `json:"method"`
	SessionID *string `json:"session_id"`
	Detail    string  `json:"detail"`
	Allowed   bool    `json:"allowed"`
}

// audit is the log of such calls, in memory.
type audit struct {
	mu sync.Mutex
	// protects the field below
	entries []auditEntry // oldest first
}

const (
	// maxAudit bounds the log: the newest entries stay.
	maxAudit = 10_000
	// maxDetail bounds an entry's detail, in characters.
	maxDetail = 4000
)

func (a *audit) add(method string, at *pane, detail string, allowed bool) {
	e := auditEntry{Timestamp: time.Now().Format(time.RFC3339Nano), Method: method, Allowed: allowed, Detail: detail}
	if short := []rune(detail[:min(len(detail), 4*maxDetail)]); len(short) > maxDetail {
		e.Detail = string(short[:maxDetail]) + "..."
	}
	if at != nil {
		id := strconv.Itoa(at.number)
		e.SessionID = &id
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.entries) >= maxAudit {
		a.entries = append(a.entries[:0], a.entries[maxAudit/10:]...)
	}
	a.entries = append(a.entries, e)
}

// auditLog tells the newest entries, newest first.
func auditLog(_ context.Context, s *reader, p params) (any, error) {
	most := p.count("limit", 50, maxAudit)
	only, filtered := p.text("session_id")
	s.audit.mu.Lock()
	defer s.audit.mu.Unlock()
	r := []auditEntry{}
	for i := len(s.audit.entries) - 1; i >= 0 && len(r) < most; i-- {
		e := s.audit.entries[i]
		if filtered && (e.SessionID == nil || *e.SessionID != only) {
			continue
		}
		e.Detail = s.clean(e.Detail)
		r = append(r, e)
	}
	return r, nil
}

package unterm

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/redact"
)

// A policy says which command lines may be typed. The zero value allows everything.
//
// It guards against mistakes, and is not a sandbox: a shell has more ways to say the same thing
// than patterns can match.
type policy struct {
	mu sync.Mutex
	// protects the field below
	rules policyRules
}

type policyRules struct {
	Enabled bool
	Blocked []string
	Allowed []string // if not empty, a command must match one; Unterm stores them and never checks
	Strict  bool     // typed input is checked too; Unterm has no such option
}

// notAllowed is the reason for a command that matches none of the allowed patterns.
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
	}{{"enabled", &r.Enabled}, {"blocked_patterns", &r.Blocked}, {"allowed_patterns", &r.Allowed},
		{"strict", &r.Strict}}
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
			return nil,
				fmt.Errorf("Invalid policy: %d patterns, and %d are the most", len(patterns),
					maxPatterns)
		}
		for _, pattern := range patterns {
			if len(pattern) > maxPattern {
				return nil,
					fmt.Errorf("Invalid policy: a pattern of %d bytes, and %d are the most",
						len(pattern), maxPattern)
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
	switch why := rules.judgeCommand(line); {
	case !rules.Enabled:
		return policyVerdict{true, "Policy disabled"}, nil
	case why == "":
		return policyVerdict{Allowed: true}, nil
	case why == notAllowed:
		return policyVerdict{Reason: "Matches no allowed pattern"}, nil
	case why == unjudged:
		return policyVerdict{Reason: "Has a control character"}, nil
	default:
		return policyVerdict{Reason: "Blocked by pattern: " + why}, nil
	}
}

// unjudged is the reason for a command with a character that a shell's editor takes for a key: the
// resulting line is unknown.
const unjudged = "a control character in a command"

// judgeCommand returns what blocks a command of one or more lines, judging each line, or "".
func (r *policyRules) judgeCommand(command string) string {
	if !r.Enabled {
		return ""
	}
	if strings.ContainsFunc(command,
		func(c rune) bool { return c < ' ' && !strings.ContainsRune("\t\r\n", c) || c == 0x7f }) {
		return unjudged
	}
	for _, line := range append(strings.FieldsFunc(command,
		func(c rune) bool { return c == '\r' || c == '\n' }), command) {
		if why := r.judge(line); why != "" && (strings.TrimSpace(line) != "" || why != notAllowed) {
			return why
		}
	}
	return ""
}

// typeText types a text into a pane, if the policy allows it. command is the part that is judged,
// and logged, as a command: "" when it is input.
func (s *Server) typeText(ctx context.Context, method string, at *pane, text,
	command string) error {
	release, err := at.typed.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	rules := s.policy.get()
	why := ""
	if command != "" {
		why = rules.judgeCommand(command)
	}
	next, unseen := at.typed.after(rules.strict(), text)
	if why = cmp.Or(why, unseen); why != "" || command != "" {
		s.audit.add(method, at, cmp.Or(command, text), why == "")
	}
	if err := blocked(why); err != nil {
		return err
	}
	if _, err := at.session.Do(ctx, engine.Text(text), engine.By("unterm")); err != nil {
		return err
	}
	at.typed.line = next
	return nil
}

// mayRun asks the policy about a command that runs on a command line of its own, and logs the
// outcome.
func (s *Server) mayRun(method string, at *pane, command string) error {
	rules := s.policy.get()
	why := rules.judgeCommand(command)
	s.audit.add(method, at, command, why == "")
	return blocked(why)
}

// mayStart asks the policy about a program that is started in place of the shell, with its
// arguments, and about its variables: a shell runs some of them.
func (s *Server) mayStart(c creation) error {
	rules := s.policy.get()
	why := ""
	if c.program != "" {
		command := strings.Join(append([]string{c.program}, c.args...), " ")
		why = rules.judge(command)
		s.audit.add("session.create", nil, command, why == "")
	}
	begun := policyRules{Enabled: rules.Enabled, Blocked: rules.Blocked}
	for _, value := range c.env {
		why = cmp.Or(why, begun.judge(value))
	}
	return blocked(why)
}

func blocked(why string) error {
	if why == "" {
		return nil
	}
	return fmt.Errorf("Command blocked by policy: %s", why)
}

// strict returns the rules when typed input is checked too, else nil.
func (r *policyRules) strict() *policyRules {
	if r.Enabled && r.Strict {
		return r
	}
	return nil
}

// An auditEntry is one call that changed something, or tried to.
type auditEntry struct {
	Timestamp string  `json:"timestamp"` // RFC 3339
	Method    string  `json:"method"`
	SessionID *string `json:"session_id"`
	Detail    string  `json:"detail"`
	Allowed   bool    `json:"allowed"`

	covered string // Detail redacted with the secrets known then: sessions take theirs with them
}

// audit is the log of such calls, in memory.
type audit struct {
	hide *redact.Redactor

	mu sync.Mutex
	// protects the field below
	entries []auditEntry // oldest first
}

const (
	// maxAudit bounds the log, which keeps the newest entries.
	maxAudit = 10_000
	// maxDetail bounds an entry's detail, in characters.
	maxDetail = 4000
)

func (a *audit) add(method string, at *pane, detail string, allowed bool) {
	e := auditEntry{Timestamp: time.Now().Format(time.RFC3339Nano), Method: method,
		Allowed: allowed, Detail: detail}
	if short := []rune(detail[:min(len(detail), 4*maxDetail)]); len(short) > maxDetail {
		e.Detail = string(short[:maxDetail]) + "..."
	}
	if at != nil {
		id := strconv.Itoa(at.number)
		e.SessionID = &id
	}
	e.covered = a.hide.String(e.Detail)
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.entries) >= maxAudit {
		a.entries = append(a.entries[:0], a.entries[maxAudit/10:]...)
	}
	a.entries = append(a.entries, e)
}

// auditLog returns the newest entries, newest first.
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
		if s.hide != nil {
			e.Detail = s.audit.hide.String(e.covered)
		}
		r = append(r, e)
	}
	return r, nil
}

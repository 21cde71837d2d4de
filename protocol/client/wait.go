package client

import (
	"context"
	"time"
)

type (
	// A WaitOption changes one [Session.Wait]: [Within] says how long it may last, a [Position] and
	// [Latched] what counts, [Cells] and [Unredacted] what its answer shows.
	WaitOption interface{ waits(p *waitParams) }
	// An ExpectOption changes one [Session.Expect]: [Within], [Cells] and [Unredacted].
	ExpectOption interface {
		WaitOption
		expects()
	}
	// A ReadOption changes one [Session.Screen]: [Cells], [Unredacted], and a [Moment] for the
	// screen as it was then.
	ReadOption interface{ reads(p *readParams) }
	// A TurnOption changes one [Adapter.Turn] or [Adapter.Wait]: [Within] and [Latched].
	TurnOption interface{ turns(p map[string]any) }
	// A RunOption changes one [Session.Run]: [Within].
	RunOption interface{ runs(p *runParams) }
)

type (
	// Within is how long a wait or a command may last, to the millisecond, instead of 30 seconds. A
	// wait Within 0 looks once.
	Within time.Duration
	// Latched makes a wait hold when its matcher held at any moment since its position, or since it
	// began, however briefly: [Match].HeldAt and Screen are of that moment. Without it a wait sees
	// the screen as it is when it looks.
	Latched bool
	// Cells says which cells a screen has: none unless told.
	Cells    string
	redacted bool
)

const (
	NoCells  Cells = "none"
	AllCells Cells = "full" // one for each cell: 430 KB for 24x80
	Runs     Cells = "runs" // one for each stretch of a style

	// Unredacted shows secrets.
	Unredacted redacted = false
)

type waitParams struct {
	named
	Matcher   Matcher  `json:"matcher"`
	TimeoutMS *int64   `json:"timeout_ms,omitempty"`
	Since     Position `json:"since,omitempty"`
	Latched   Latched  `json:"latched,omitempty"`
	Cells     Cells    `json:"cells,omitempty"`
	Redact    *bool    `json:"redact,omitempty"`
}

type readParams struct {
	named
	Cells  Cells  `json:"cells,omitempty"`
	Redact *bool  `json:"redact,omitempty"`
	At     Moment `json:"at,omitzero"`
}

type runParams struct {
	named
	Command   string `json:"command"`
	TimeoutMS *int64 `json:"timeout_ms,omitempty"`
}

func (d Within) milliseconds() *int64 {
	ms := max(time.Duration(d), 0).Milliseconds()
	if ms == 0 && d > 0 {
		ms = 1 // not 0, which looks once
	}
	return &ms
}

func (d Within) waits(p *waitParams) { p.TimeoutMS = d.milliseconds() }
func (d Within) runs(p *runParams)   { p.TimeoutMS = d.milliseconds() }
func (d Within) turns(p map[string]any) {
	p["timeout_ms"] = time.Duration(d).Milliseconds()
}
func (l Latched) turns(p map[string]any) { p["latched"] = l }
func (s Position) waits(p *waitParams)   { p.Since = s }
func (l Latched) waits(p *waitParams)    { p.Latched = l }
func (c Cells) waits(p *waitParams)      { p.Cells = c }
func (c Cells) reads(p *readParams)      { p.Cells = c }
func (r redacted) waits(p *waitParams)   { p.Redact = (*bool)(&r) }
func (r redacted) reads(p *readParams)   { p.Redact = (*bool)(&r) }

func (Within) expects()   {}
func (Cells) expects()    {}
func (redacted) expects() {}

// Wait waits for an event: m counts only in what came after the last input that was typed through
// s, and without one in everything. A [Position] says what counts instead, as the Next of an
// earlier match does. Several waits after one input all count from it.
//
// Errors: [ErrTimeout], after 30 seconds or as [Within] says; [ErrSessionEnded] as soon as m can no
// longer match; [ErrSessionClosed]; [ErrInvalidMatcher]. They have the evidence: see [EvidenceOf].
func (s *Session) Wait(ctx context.Context, m Matcher, options ...WaitOption) (*Match, error) {
	p := waitParams{named: s.named(), Matcher: m}
	if sent := s.input.Load(); sent != nil {
		p.Since = After(max(sent.Sequence, sent.ReadSequence))
	}
	for _, o := range options {
		o.waits(&p)
	}
	if p.Latched && p.Since == "" {
		p.Since = After(0)
	}
	return s.wait(ctx, p)
}

// Expect waits for a state: until m matches the screen as it is, however long it has been so. Texts
// are looked for on the screen alone, and not in what has scrolled off it. Errors are those of
// [Session.Wait].
func (s *Session) Expect(ctx context.Context, m Matcher, options ...ExpectOption) (*Match, error) {
	p := waitParams{named: s.named(), Matcher: m.In(OnScreen)}
	for _, o := range options {
		o.waits(&p)
	}
	return s.wait(ctx, p)
}

func (s *Session) wait(ctx context.Context, p waitParams) (*Match, error) {
	w, err := result[waited](ctx, s.client, "session.wait", p)
	if err != nil {
		return nil, err
	}
	return w.match(), nil
}

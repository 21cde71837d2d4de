package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/plugins"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/mcp"
	"github.com/ptywright/ptywright/redact"
)

const waitAbout = `Wait until a session shows what should come next. Say what with one or more of text, regex, stable_ms, exited, command_finished (whichever comes first), or with matcher. With nothing said: until the screen has been still for half a second, with since after something has come.

{"session":"s1","text":"Done"}   {"session":"s1","regex":"(?m)^\\$ $","since":42}   {"session":"s1","text":"BUILD","exited":true,"timeout_ms":40000}
{"session":"s1","matcher":{"type":"all","value":[{"type":"contains_text","value":"ready"},{"type":"screen_stable","value":{"min_ms":300}}]}}

The result says why it ended: matched, timeout (with what is missing, and "wait", a handle: call wait {"wait":"w1"} to go on), ended.`

const (
	// waitCap is the longest that a call waits. Clients time out after 60 s, some sooner without
	// progress.
	waitCap = 45 * time.Second
	// taskCap is the longest a wait that is a task lasts.
	taskCap = 24 * time.Hour
	// settled is how long a screen has to be still to count as done, by default.
	settled = 500 * time.Millisecond
	// progressEvery is how often a wait reports progress. Clients that reset their timeout on
	// progress allow 30 s and more.
	progressEvery = 5 * time.Second
	// maxQuestions bounds the waits that can be continued: the newest.
	maxQuestions = 256
)

// A question is what to wait for.
type question struct {
	Text            string         `json:"text,omitempty" jsonschema:"the screen shows this text; blanks at its end may be a row's end"`
	Regex           string         `json:"regex,omitempty" jsonschema:"the screen matches this RE2 expression; (?m) lets ^ and $ match at rows"`
	StableMS        int            `json:"stable_ms,omitempty" jsonschema:"the screen has not changed for so long"`
	Exited          bool           `json:"exited,omitempty" jsonschema:"the program has ended"`
	CommandFinished bool           `json:"command_finished,omitempty" jsonschema:"the shell tells that a command has finished"`
	Matcher         map[string]any `json:"matcher,omitempty" jsonschema:"any matcher: {type, value}; types are contains_text, screen_regex, transcript_contains, transcript_regex, cursor_at, screen_stable, process_exited, command_finished, title_contains, title_regex, bell, lua, any, all, not"`
}

func (q *question) empty() bool {
	return q.Text == "" && q.Regex == "" && q.StableMS == 0 && !q.Exited && !q.CommandFinished &&
		q.Matcher == nil
}

// matcher makes the matcher of a question.
func (q *question) matcher(o matchers.Options) (matchers.Matcher, error) {
	if q.StableMS < 0 || q.StableMS > int(waitCap.Milliseconds()) {
		return nil, bad("stable_ms", "expected an integer from 1 to %d", waitCap.Milliseconds())
	}
	if len(q.Text) > matchers.MaxText {
		return nil, bad("text", "has %d bytes, at most %d are taken", len(q.Text), matchers.MaxText)
	}
	var all []matchers.Matcher
	blank, isBlank := blankEnds(q.Text)
	if q.Text != "" && !isBlank {
		all = append(all, matchers.Text(q.Text))
	}
	for _, x := range []struct{ name, pattern string }{{"text", blank}, {"regex", q.Regex}} {
		if x.pattern == "" {
			continue
		}
		re, err := matchers.Compile(x.pattern)
		if err != nil {
			return nil, bad(x.name, "%v", err)
		}
		all = append(all, matchers.Regexp(re))
	}
	if q.StableMS > 0 {
		all = append(all, matchers.Stable(time.Duration(q.StableMS)*time.Millisecond))
	}
	if q.CommandFinished {
		all = append(all, matchers.Command())
	}
	if q.Exited {
		all = append(all, matchers.Exited())
	}
	if q.Matcher != nil {
		m, err := matchers.Parse(q.Matcher, o)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	switch len(all) {
	case 0:
		return matchers.Stable(settled), nil
	case 1:
		return all[0], nil
	}
	return matchers.Any(all...), nil
}

type waitParams struct {
	Session string `json:"session,omitempty" jsonschema:"the session; may be left out with wait"`
	question
	Entered   bool      `json:"secret_entered,omitempty" jsonschema:"alone: the program asks for no secret any more, and its screen is still"`
	Wait      string    `json:"wait,omitempty" jsonschema:"handle of a wait that ran out of time: go on with it"`
	Since     *position `json:"since,omitempty" jsonschema:"a sequence, or the next of a wait: only what came after counts"`
	Latched   bool      `json:"latched,omitempty" jsonschema:"count what held for a moment, too"`
	TimeoutMS *int      `json:"timeout_ms,omitempty" jsonschema:"default 30000, at most 45000 a call; as a task up to a day; 0 looks once"`
	budget
	rawAsked
}

// A waited is how a wait ended.
type waited struct {
	Matched   bool     `json:"matched"`
	Reason    string   `json:"reason" jsonschema:"matched, timeout, ended, closed, cancelled or failed"`
	Why       string   `json:"why" jsonschema:"the same in words"`
	Matches   []match  `json:"matches,omitempty" jsonschema:"what matched"`
	Missing   []string `json:"missing,omitempty" jsonschema:"what each part of the matcher lacked"`
	Wait      string   `json:"wait,omitempty" jsonschema:"handle to go on with this wait"`
	Next      string   `json:"next,omitempty" jsonschema:"position behind the match, for since"`
	Missed    bool     `json:"missed,omitempty" jsonschema:"some was lost unread"`
	ElapsedMS int64    `json:"elapsed_ms"`
}

type match struct {
	Kind     string `json:"kind"`
	Text     string `json:"text,omitempty"`
	Pattern  string `json:"pattern,omitempty"`
	Capture  string `json:"capture,omitempty"`
	Scrolled string `json:"scrolled,omitempty" jsonschema:"its line, when that had left the screen"`
	Command  string `json:"command,omitempty"`
	ExitCode *int   `json:"exit_code,omitempty"`
	Row      *int   `json:"row,omitempty"`
	Col      *int   `json:"col,omitempty"`
}

type waitResult struct {
	status
	waited
	shown
}

func (p *profile) wait(ctx context.Context, req *sdk.CallToolRequest,
	in waitParams) (*reply[waitResult], error) {
	most, hide := in.or(screenBudget), in.redactor()
	var a *asked
	var err error
	if in.Wait != "" {
		if !in.question.empty() || in.Since != nil || in.Latched || in.Entered {
			return nil, bad("wait", "a handle goes on with its own question: leave the others out")
		}
		if a = p.questions.take(in.Wait); a == nil {
			return nil,
				bad("wait",
					"no such handle: it was used already, or has been forgotten; start a new wait")
		}
		if in.Session != "" && p.Engine.Resolve(engine.ID(in.Session)) != a.session {
			return nil, bad("session", "this wait is on session %s", a.session)
		}
		in.Session = string(a.session)
	} else if a, err = in.asked(); err != nil {
		return nil, err
	}
	s, err := p.session(in.Session)
	if gone := (*engine.ForgottenError)(nil); errors.As(err, &gone) {
		return p.forgotten(ctx, gone, a, hide, most)
	}
	if err != nil {
		return nil, err
	}
	a.session = s.ID() // by the time the wait continues, the name may be another session's
	timeout, err := timeoutOf(ctx, in.TimeoutMS, engine.DefaultWait)
	if err != nil {
		return nil, err
	}
	out, err := p.ask(ctx, req, s, a, timeout)
	if err != nil {
		return nil, err
	}
	return p.ended(out.look(p, s, hide), out, a, most), nil
}

// ended is the result of a wait that is over.
func (p *profile) ended(l *reading.View, out *answer, a *asked, most int) *reply[waitResult] {
	w := p.told(l, out, a)
	r := waitResult{status: statusOf(l), waited: w, shown: shownOf(l, most)}
	return &reply[waitResult]{text: r.status.head() + "\n" + w.text() + "\n" + r.shown.text(),
		out: r}
}

// forgotten answers a wait on a forgotten session: its exit is still known. It returns the error
// gone when more was asked.
func (p *profile) forgotten(ctx context.Context, gone *engine.ForgottenError, a *asked,
	hide *redact.Redactor, most int) (*reply[waitResult], error) {
	found := &predicates{catalog: p.Catalog, ctx: ctx}
	m, err := a.matcher(matchers.Options{Predicates: found})
	if err != nil {
		return nil, err
	}
	out := gone.Answer(m)
	if out == nil {
		return nil, gone
	}
	return p.ended(reading.New(out.View, hide), &answer{outcome: out, matcher: m, found: found}, a,
		most), nil
}

// asked is the question of a call that does not continue another.
func (in *waitParams) asked() (*asked, error) {
	a := &asked{session: engine.ID(in.Session), since: in.Since.engine(),
		latched: engine.Latched(in.Latched)}
	switch {
	case in.Session == "":
		return nil, bad("session",
			"expected a session, or wait: the handle of a wait that ran out of time")
	case in.Entered && !in.question.empty():
		return nil, bad("secret_entered", "is asked alone: leave the others out")
	case in.Entered:
		a.matcher = fresh(secretEntered)
	case in.question.empty() && in.Since != nil:
		a.matcher = fresh(func() matchers.Matcher { return settledSince(in.Since.Seq) })
	default:
		a.matcher = in.matcher
	}
	return a, nil
}

// timeoutOf reads a call's timeout.
func timeoutOf(ctx context.Context, ms *int, absent time.Duration) (time.Duration, error) {
	most := waitCap
	if isTask(ctx) {
		most = taskCap
	}
	if ms == nil {
		return absent, nil
	}
	if *ms < 0 || time.Duration(*ms)*time.Millisecond > taskCap {
		return 0, bad("timeout_ms", "expected an integer from 0 to %d", taskCap.Milliseconds())
	}
	return min(time.Duration(*ms)*time.Millisecond, most), nil
}

// A position is a value of since: a sequence, or the next of a wait.
type position struct{ engine.Position }

// UnmarshalJSON reads a number or a string.
func (p *position) UnmarshalJSON(b []byte) error {
	at, err := engine.ParsePosition(strings.Trim(string(b), `"`))
	if err == nil {
		p.Position = *at
	}
	return err
}

// engine returns the position; nil when none was given.
func (p *position) engine() *engine.Position {
	if p == nil {
		return nil
	}
	return &p.Position
}

// An asked is a question to a session that can be continued.
type asked struct {
	session engine.ID
	matcher func(matchers.Options) (matchers.Matcher, error) // makes one for each call
	since   *engine.Position
	latched engine.Latched
	left    *engine.Left  // up to which earlier calls read what scrolled off; nil: none did
	elapsed time.Duration // in earlier calls
}

// fresh makes a matcher for each call that needs no options.
func fresh(make func() matchers.Matcher) func(matchers.Options) (matchers.Matcher, error) {
	return func(matchers.Options) (matchers.Matcher, error) { return make(), nil }
}

// questions are the waits that timed out.
type questions struct {
	mu sync.Mutex
	// protects the fields below
	last  int
	kept  map[string]*asked
	order []string
}

// keep gives a question a handle.
func (q *questions) keep(a *asked) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.kept == nil {
		q.kept = map[string]*asked{}
	}
	if len(q.order) == maxQuestions {
		delete(q.kept, q.order[0])
		q.order = slices.Delete(q.order, 0, 1)
	}
	q.last++
	id := "w" + strconv.Itoa(q.last)
	q.kept[id] = a
	q.order = append(q.order, id)
	return id
}

// take returns the question of a handle, which is then no longer valid, or nil.
func (q *questions) take(id string) *asked {
	q.mu.Lock()
	defer q.mu.Unlock()
	a := q.kept[id]
	if a != nil {
		delete(q.kept, id)
		q.order = slices.DeleteFunc(q.order, func(x string) bool { return x == id })
	}
	return a
}

// An answer is how an ask ended.
type answer struct {
	outcome *engine.Outcome
	err     error // why it did not match
	matcher matchers.Matcher
	found   *predicates
}

// look is the view on which the wait ended, as the client may see it.
func (a *answer) look(p *profile, s *engine.Session, hide *redact.Redactor) *reading.View {
	l := p.look(s, hide)
	l = l.At(a.outcome.View)
	owner := l.Secrets
	if a.found.asked != nil {
		l.Secrets = func() []string {
			all := a.found.secrets()
			if owner != nil {
				all = append(all, owner()...)
			}
			return all
		}
	}
	return l
}

// check refuses an invalid question, before anything is done.
func (p *profile) check(ctx context.Context, q *question) error {
	_, err := q.matcher(matchers.Options{Predicates: &predicates{catalog: p.Catalog, ctx: ctx}})
	return err
}

// ask waits. The error is about the question; the answer says how the wait ended.
func (p *profile) ask(ctx context.Context, req *sdk.CallToolRequest, s *engine.Session, a *asked,
	timeout time.Duration) (*answer, error) {
	found := &predicates{catalog: p.Catalog, ctx: ctx}
	m, err := a.matcher(matchers.Options{Predicates: found})
	if err != nil {
		return nil, err
	}
	defer p.progress(ctx, req, s, timeout)()
	out, err := s.Wait(ctx, m, a.since, a.latched, engine.Within(timeout), a.left, by(ctx),
		parked(ctx))
	return &answer{outcome: out, err: err, matcher: m, found: found}, nil
}

// progress reports a wait's progress to a client that asked for it, until the returned function is
// called.
func (p *profile) progress(ctx context.Context, req *sdk.CallToolRequest, s *engine.Session,
	timeout time.Duration) (stop func()) {
	if req == nil || req.Params == nil {
		return func() {}
	}
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	begin := time.Now()
	done.Go(func() {
		ticker := time.NewTicker(progressEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			v := s.View()
			elapsed := time.Since(begin)
			_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ // a client that is gone ends the wait itself
				ProgressToken: token, Progress: elapsed.Seconds(), Total: timeout.Seconds(),
				Message: fmt.Sprintf("waiting on %s for %v; its screen has been still for %v",
					s.ID(), elapsed.Round(time.Second),
					v.At.Sub(v.Changed).Round(100*time.Millisecond)),
			})
		}
	})
	return func() {
		cancel()
		done.Wait()
	}
}

// told says how a wait ended. One that timed out, or was cancelled, gets a handle.
func (p *profile) told(l *reading.View, out *answer, a *asked) waited {
	elapsed := a.elapsed + out.outcome.Elapsed
	w := waited{Matched: out.err == nil, ElapsedMS: elapsed.Milliseconds()}
	if w.Matched {
		w.Reason = "matched"
		w.Matches = matchesOf(l.Match(asAsked(out.outcome.Match)), nil)
		var said []string
		for _, m := range w.Matches {
			said = append(said, m.String())
		}
		w.Why = strings.Join(said, " and ")
		w.Next, w.Missed = out.outcome.Next.String(), out.outcome.Missed
		return w
	}
	again := func() {
		a.elapsed, a.left = elapsed, &out.outcome.Left
		w.Wait = p.questions.keep(a)
	}
	took := out.outcome.Elapsed.Round(time.Millisecond)
	switch {
	case errors.Is(out.err, engine.ErrTimeout):
		w.Reason, w.Why = "timeout", fmt.Sprintf("not within %v", took)
		again()
	case errors.Is(out.err, engine.ErrEnded):
		w.Reason, w.Why = "ended", "the program has ended and nothing more can come"
		if x := exitOf(l.Raw.Exit); x != nil {
			w.Why = "the program " + x.String() + ", and nothing more can come"
		}
	case errors.Is(out.err, engine.ErrClosed):
		w.Reason, w.Why = "closed", "the session was stopped"
	case errors.Is(out.err, context.Canceled), errors.Is(out.err, protocol.ErrCancelled):
		w.Reason, w.Why = "cancelled", "the wait was cancelled; the program goes on"
		again()
	default:
		w.Reason, w.Why = "failed", l.Piece(out.err.Error())
	}
	shown := matchers.Shown{Screen: l.Screen(),
		Output: func() string { return l.Output(reading.NearChars) }, Line: l.Line,
		Title: l.Clean(l.Raw.Screen.Title)}
	w.Missing = missing(l, out.matcher.Explain(l.Raw, shown), nil)
	return w
}

// maxMissing bounds the parts of a matcher that are explained.
const maxMissing = 20

// missing says for each part what it lacks.
func missing(l *reading.View, e matchers.Explanation, told []string) []string {
	if len(e.Parts) > 0 && e.Type != "not" {
		for _, part := range e.Parts {
			told = missing(l, part, told)
		}
		return told
	}
	if len(told) >= maxMissing || e.Held && e.Type != "not" {
		return told
	}
	why := e.Why
	if e.Type == "lua" { // a plugin's words
		why = l.Piece(why)
	}
	line := e.Type
	if value, ok := e.Value.(string); ok {
		if text, ok := blankEnded(value); ok && e.Type == "screen_regex" {
			line, value = "contains_text", text
		}
		line += " " + protocol.Quote(l.Pattern(value), 80)
	}
	line += ": " + why
	if e.Nearest != "" {
		line += "; nearest: " + protocol.Quote(e.Nearest, 120)
	}
	return append(told, line)
}

// matchesOf are the leaves of what matched.
func matchesOf(m *engine.Match, all []match) []match {
	if len(m.Parts) > 0 {
		for _, part := range m.Parts {
			all = matchesOf(part, all)
		}
		return all
	}
	w := match{Kind: m.Kind, Text: m.Text, Pattern: m.Pattern, Capture: m.Capture, ExitCode: m.Exit}
	if m.Place != nil && m.Place.Scrolled {
		w.Scrolled = m.Place.Lines
	}
	switch m.Kind {
	case "command_finished":
		w.Command, w.Text = m.Text, ""
	case "cursor_at":
		w.Row, w.Col = &m.Row, &m.Col
	}
	return append(all, w)
}

// String says what matched in words.
func (m match) String() string {
	switch {
	case m.Kind == "command_finished" && m.ExitCode != nil:
		return fmt.Sprintf("%s finished with exit code %d", protocol.Quote(m.Command, 80),
			*m.ExitCode)
	case m.Kind == "process_exited":
		return "the program has ended"
	case m.Kind == "secret_entered":
		return "the program asks for no secret any more"
	case m.Kind == "screen_stable":
		return "the screen is still"
	case m.Text != "":
		return m.Kind + " " + protocol.Quote(m.Text, 80)
	case m.Capture != "":
		return m.Kind + " found " + protocol.Quote(m.Capture, 120)
	}
	return m.Kind
}

// text says how a wait ended, in words, and what to do next.
func (w *waited) text() string {
	if w.Matched {
		return fmt.Sprintf("Matched after %d ms: %s.", w.ElapsedMS, w.Why)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Not matched (%s): %s.", w.Reason, w.Why)
	for _, m := range w.Missing {
		b.WriteString("\n- " + m)
	}
	if w.Wait != "" {
		fmt.Fprintf(&b, "\nTo go on waiting: wait {\"wait\":%q}.", w.Wait)
	}
	return b.String()
}

// predicates finds the Lua predicates of one wait.
type predicates struct {
	catalog *plugins.Catalog
	ctx     context.Context
	asked   []*plugins.Plugin
}

// Predicate finds one.
func (f *predicates) Predicate(plugin, function string, params any) (matchers.Matcher, error) {
	if f.catalog == nil {
		return nil, plugins.ErrNoPlugin
	}
	mcp.Yield(f.ctx) // it runs a plugin's code
	m, err := f.catalog.Predicate(f.ctx, plugin, function, params)
	if err != nil {
		return nil, err
	}
	if p, err := f.catalog.Plugin(plugin); err == nil && !slices.Contains(f.asked, p) {
		f.asked = append(f.asked, p)
	}
	return m, nil
}

// secrets returns the secrets that the plugins have seen.
func (f *predicates) secrets() []string {
	var all []string
	for _, p := range f.asked {
		all = append(all, p.Secrets()...)
	}
	return all
}

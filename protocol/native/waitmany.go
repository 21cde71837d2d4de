package native

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/redact"
)

type waitManyParams struct {
	readParams
	Sessions  []string                  `json:"sessions,omitempty" jsonschema:"ids or names; this or select"`
	Select    *selection                `json:"select,omitempty" jsonschema:"which sessions, those that appear meanwhile too; this or sessions"`
	Matcher   matcherTree               `json:"matcher" jsonschema:"an object with type and, where the type needs one, value; each session is asked for itself"`
	Until     string                    `json:"until,omitempty" jsonschema:"any (default): it has held in one session; all: in each; each: each has matched or ended, and every match is told at once with wait.matched"`
	Since     map[string]*sincePosition `json:"since,omitempty" jsonschema:"by session, as it is named in sessions, else by its id: only what came after it counts there"`
	Latched   bool                      `json:"latched,omitempty" jsonschema:"as of session.wait"`
	TimeoutMS *int64                    `json:"timeout_ms,omitempty" jsonschema:"default 30000; 0 looks once"`
	Evidence  string                    `json:"evidence,omitempty" jsonschema:"whose screens the answer has: those that matched (default), all, or none"`
	Wait      string                    `json:"wait,omitempty" jsonschema:"a word of the client's, at most 64 characters, that wait.matched repeats"`
}

// A selection says which sessions are meant. All of its members have to be true of a session.
type selection struct {
	Adapter string `json:"adapter,omitempty" jsonschema:"id of the adapter that drives it"`
	Plugin  string `json:"plugin,omitempty" jsonschema:"name of the plugin that drives it"`
	Program string `json:"program,omitempty" jsonschema:"its program as it was created with, or the last part of that path"`
	Tag     string `json:"tag,omitempty" jsonschema:"one of its tags"`
	Name    string `json:"name,omitempty" jsonschema:"its name"`
	Host    string `json:"host,omitempty" jsonschema:"the machine it is on, as hosts.toml names it; default all of them, and this one"`
}

// selectionMembers are the members of a selection.
var selectionMembers = []string{"adapter", "plugin", "program", "tag", "name", "host"}

// UnmarshalJSON refuses unknown members: a selection with a typing error would choose sessions that
// nobody meant.
func (p *selection) UnmarshalJSON(b []byte) error {
	type plain selection
	if err := protocol.Decode(b, (*plain)(p)); err != nil {
		return err
	}
	return onlyMembers(b, selectionMembers, "")
}

// chooses reports whether a session is meant.
func (p *selection) chooses(c *client, s *engine.Session) bool {
	config := s.Config()
	if p.Name != "" && p.Name != config.Name ||
		p.Tag != "" && !slices.Contains(config.Tags, p.Tag) ||
		p.Program != "" && p.Program != config.Program &&
			p.Program != filepath.Base(config.Program) {
		return false
	}
	if p.Adapter == "" && p.Plugin == "" {
		return true
	}
	a := c.Catalog.Owner(s.ID())
	return a != nil && (p.Adapter == "" || p.Adapter == a.ID()) &&
		(p.Plugin == "" || p.Plugin == a.Plugin().Manifest.Name)
}

// The values of evidence.
const (
	evidenceMatched = "matched"
	evidenceAll     = "all"
	evidenceNone    = "none"
)

const (
	// mostManyText bounds the screens and texts of one answer about many sessions, in bytes: two
	// thousand screens of 24x80. What comes after it is told without its screen.
	mostManyText = 16 << 20
	// mostWaitWord bounds the word of a wait, in characters: a UUID has 36.
	mostWaitWord = 64
)

// A manyWait is one session.wait_many.
type manyWait struct {
	c        *client
	p        *waitManyParams
	value    any
	evidence string
	asked    map[engine.ID]*askedSession
	asking   []*asking // all of them
	size     int       // of the screens so far
	cut      bool
	matched  []*matchedEntry // in the order of the matches
}

// An askedSession is what belongs to the wait for one of the sessions.
type askedSession struct {
	given  string // as the client named it; "": it was selected
	name   string // "": it has none
	asking *asking
	ended  *ended
}

func (c *client) sessionWaitMany(ctx context.Context, p waitManyParams) (*manyResult, error) {
	until, err := word("session.wait_many until", p.Until, string(engine.UntilAny))
	if err != nil {
		return nil, err
	}
	timeout, err := milliseconds("timeout_ms", p.TimeoutMS, engine.DefaultWait)
	if err != nil {
		return nil, err
	}
	w := &manyWait{c: c, p: &p, asked: map[engine.ID]*askedSession{}}
	if w.evidence, err = word("evidence", p.Evidence, evidenceMatched); err != nil {
		return nil, err
	}
	if n := utf8.RuneCountInString(p.Wait); n > mostWaitWord {
		return nil, &protocol.ParamError{Path: "wait",
			Expected: fmt.Sprintf("at most %d characters", mostWaitWord), Got: fmt.Sprint(n)}
	}
	if w.value, err = tree("matcher", p.Matcher.RawMessage); err != nil {
		return nil, err
	}
	defer w.stop()
	if _, _, err := w.ask(ctx, nil); err != nil { // a bad matcher is told before anybody is waited for
		return nil, err
	}
	m := engine.Many{Until: engine.Until(until), Ask: w.forSession}
	if err := w.find(ctx, &m); err != nil {
		return nil, err
	}
	if m.Until == engine.UntilEach {
		protocol.Yield(ctx) // notifications come before the answer
		telling, cancel := context.WithTimeout(ctx, timeout+lastBound)
		defer cancel()
		m.Matched = w.notifier(telling)
	}
	out, err := c.Engine.WaitMany(ctx, m, engine.Latched(p.Latched), engine.Within(timeout), c.by(),
		engine.Parked(func() { protocol.Yield(ctx) }))
	if err != nil {
		return nil, w.failure(out, err)
	}
	return w.result(out), nil
}

// stop ends what the questions of the wait have begun.
func (w *manyWait) stop() {
	for _, a := range w.asking {
		a.stop()
	}
}

// ask makes a question to a session; nil: to one that was forgotten, or to nobody.
func (w *manyWait) ask(ctx context.Context, session *engine.Session) (*asking, *ended, error) {
	a := &asking{catalog: w.c.Catalog, ctx: ctx, session: session}
	w.asking = append(w.asking, a)
	m, err := w.c.matcherOf(w.value, w.p.redactor(), a)
	if err != nil {
		return nil, nil, err
	}
	return a, &ended{matcher: m, hide: w.p.redactor(), always: w.c.hide,
		look: func(v *engine.View, hide *redact.Redactor) *look {
			l := newLook(v, hide, "none")
			l.Secrets = a.secrets()
			return l
		}}, nil
}

// find finds the sessions that are waited for.
func (w *manyWait) find(ctx context.Context, m *engine.Many) error {
	p := w.p
	if (p.Sessions == nil) == (p.Select == nil) {
		return &protocol.ParamError{Expected: "sessions or select",
			Got: map[bool]string{true: "both"}[p.Select != nil]}
	}
	for given, since := range p.Since {
		if since == nil {
			return &protocol.ParamError{Path: "since",
				Expected: "a sequence, or the next of a wait's answer, for each session",
				Got:      "null"}
		}
		if p.Sessions != nil && !slices.Contains(p.Sessions, given) {
			return &protocol.ParamError{Path: "since", Expected: "only what is in sessions",
				Got: protocol.Got(given)}
		}
	}
	if p.Select != nil {
		if err := (hostParams{p.Select.Host}).here(); err != nil {
			return err
		}
		m.Select = func(s *engine.Session) bool { return p.Select.chooses(w.c, s) }
		if p.Select.Adapter != "" || p.Select.Plugin != "" {
			m.Reselect = w.c.Catalog.Driven
		}
		return nil
	}
	most := w.c.Engine.Limit() + w.c.Engine.EndedLimit()
	if n := len(p.Sessions); n == 0 || n > most {
		return &protocol.ParamError{Path: "sessions",
			Expected: fmt.Sprintf("1 to %d sessions", most), Got: fmt.Sprint(n)}
	}
	for i, given := range p.Sessions {
		if err := w.findOne(ctx, m, fmt.Sprintf("sessions[%d]", i), given); err != nil {
			return err
		}
	}
	return nil
}

// findOne finds one session by what the client calls it.
func (w *manyWait) findOne(ctx context.Context, m *engine.Many, path, given string) error {
	s, err := w.c.Engine.Session(engine.ID(given))
	var gone *engine.ForgottenError
	id := engine.ID("")
	switch {
	case errors.As(err, &gone):
		id = gone.Session
	case err != nil:
		return &placedError{path, &sessionError{id: given, err: err}}
	default:
		id = s.ID()
	}
	if w.asked[id] != nil {
		return &paramError{path: path, reason: "invalid_params",
			problem: protocol.Quote(given, 32) + " is named twice"}
	}
	w.asked[id] = &askedSession{given: given}
	if s != nil {
		if _, err := w.since(s); err != nil {
			return err
		}
		m.Sessions = append(m.Sessions, s)
		return nil
	}
	_, end, err := w.ask(ctx, nil)
	if err != nil {
		return err
	}
	w.asked[id].name, w.asked[id].ended = gone.Name, end
	known := &engine.Asked{ID: id, Err: gone}
	if out := gone.Answer(end.matcher); out != nil {
		known.Outcome, known.Err = out, nil
	}
	m.Forgotten = append(m.Forgotten, known)
	return nil
}

// since is the position from which on a session counts; nil: from the beginning of the wait.
func (w *manyWait) since(s *engine.Session) (*engine.Position, error) {
	given := string(s.ID())
	if a := w.asked[s.ID()]; a != nil && a.given != "" {
		given = a.given
	}
	since, err := w.p.Since[given].of(s)
	var wrong *paramError
	if errors.As(err, &wrong) {
		wrong.path = "since." + given
	}
	return since, err
}

// forSession is what the engine asks about each session.
func (w *manyWait) forSession(ctx context.Context,
	s *engine.Session) (engine.Matcher, []engine.WaitOption, error) {
	driven := w.c.Catalog.Driven() // taken before the owner is looked for
	since, err := w.since(s)
	if err != nil {
		return nil, nil, err
	}
	asking, end, err := w.ask(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	a := w.asked[s.ID()]
	if a == nil {
		a = &askedSession{}
		w.asked[s.ID()] = a
	}
	a.name, a.asking, a.ended = s.Config().Name, asking, end
	options := []engine.WaitOption{engine.Explained(func(out *engine.Outcome, err error) string {
		if errors.Is(err, engine.ErrDecided) { // to say more costs each of many sessions a look
			return "another session has decided the wait"
		}
		return end.line(out, err)
	})}
	if since != nil {
		options = append(options, since)
	}
	if asking.states && asking.adapter() == nil {
		options = append(options, engine.Also(driven))
	}
	return end.matcher, options, nil
}

// notifier returns what tells the client of each match, until ctx ends. A client that does not read
// loses nothing: the answer has them all.
func (w *manyWait) notifier(ctx context.Context) func(*engine.Asked) {
	return func(a *engine.Asked) {
		e := w.entry(a)
		if ctx.Err() == nil {
			_ = w.c.conn.Notify(ctx, noteMatched, &matchedNote{w.p.Wait, e}) // then it does not read
		}
	}
}

// entry is a session that matched, as the client may see it. It is made once.
func (w *manyWait) entry(a *engine.Asked) *matchedEntry {
	if i := slices.IndexFunc(w.matched, func(e *matchedEntry) bool { return e.asked == a }); i >= 0 {
		return w.matched[i]
	}
	e := &matchedEntry{asked: a, name: w.asked[a.ID].name}
	e.waitResult = &waitResult{look: w.asked[a.ID].ended.shown(a.View), outcome: a.Outcome,
		latched: w.p.Latched, forgotten: a.Session == nil}
	e.bare = w.evidence == evidenceNone || !w.room(e.look)
	w.matched = append(w.matched, e)
	return e
}

// room reports whether the answer has room for one more screen.
func (w *manyWait) room(l *look) bool {
	if w.size += l.guess(); w.size > mostManyText {
		w.cut = true
		return false
	}
	return true
}

// result makes what the client is told.
func (w *manyWait) result(out *engine.ManyOutcome) *manyResult {
	r := &manyResult{waiting: len(out.Waiting), complete: out.Complete()}
	for _, a := range out.Matched {
		r.matched = append(r.matched, w.entry(a))
	}
	for _, a := range out.Ended {
		r.ended = append(r.ended, w.lacking(a))
	}
	r.truncated = w.cut
	return r
}

// lacking is a session that has not matched.
func (w *manyWait) lacking(a *engine.Asked) *lackingEntry {
	e := &lackingEntry{id: a.ID, forgotten: a.Session == nil}
	asked := w.asked[a.ID]
	if asked != nil { // the wait may have been over before it was asked
		e.name = asked.name
	}
	var gone *engine.ForgottenError
	if errors.As(a.Err, &gone) {
		e.exit = exitOf(&gone.Exit)
	} else {
		e.exit = exitOf(a.View.Exit)
	}
	if w.evidence != evidenceAll || asked == nil || asked.ended == nil || a.Outcome == nil {
		return e
	}
	if l := asked.ended.shown(a.View); w.room(l) {
		e.evidence = asked.ended.evidence(a.Outcome)
	}
	return e
}

// failure is the error of a wait that was not satisfied, with what was found until then.
func (w *manyWait) failure(out *engine.ManyOutcome, err error) error {
	r := w.result(out)
	if w.evidence == evidenceAll {
		for _, a := range out.Waiting {
			r.lacking = append(r.lacking, w.lacking(a))
		}
		r.truncated = w.cut
	}
	e := &manyError{err: err, result: r, matched: len(out.Matched),
		all: len(out.Matched) + len(out.Ended) + len(out.Waiting)}
	if errors.As(err, new(*engine.ForgottenError)) {
		e.err = engine.ErrEnded
	}
	var one *engine.AskedError
	if errors.As(err, &one) && one.Asked.Outcome != nil {
		e.look = w.asked[one.Asked.ID].ended.shown(one.Asked.View)
	}
	if len(out.Ended) > 0 {
		e.ended = out.Ended[0].ID
	}
	return e
}

// A manyError is a wait for several sessions that was not satisfied.
type manyError struct {
	err          error
	result       *manyResult
	matched, all int
	ended        engine.ID // the first that has; "": none
	look         *look     // of the session that failed; nil: none did
}

func (e *manyError) Error() string {
	switch {
	case errors.Is(e.err, engine.ErrTimeout) && e.all == 0:
		return e.err.Error() + ": no session was there"
	case errors.Is(e.err, engine.ErrTimeout):
		return fmt.Sprintf("%v: it matched in %d of %d sessions", e.err, e.matched, e.all)
	case errors.Is(e.err, engine.ErrEnded), errors.Is(e.err, engine.ErrClosed):
		return fmt.Sprintf("session %s has ended, and can no longer match: it matched in %d of %d",
			e.ended, e.matched, e.all)
	}
	return e.err.Error()
}

func (e *manyError) Unwrap() error { return e.err }

// A placedError is an error about one member of a list in params.
type placedError struct {
	path string
	err  error
}

func (e *placedError) Error() string { return "params." + e.path + ": " + e.err.Error() }
func (e *placedError) Unwrap() error { return e.err }

// A matchedEntry is one session that matched.
type matchedEntry struct {
	*waitResult
	asked *engine.Asked
	name  string
}

// appendMembers writes the entry's members, without braces.
func (e *matchedEntry) appendMembers(b []byte) []byte {
	b = appendString(b, `"session":`, string(e.asked.ID))
	if e.name != "" {
		b = appendString(b, `,"name":`, e.name)
	}
	return e.waitResult.appendMembers(append(b, ','))
}

// A matchedNote is the params of wait.matched.
type matchedNote struct {
	wait  string
	entry *matchedEntry
}

// AppendJSON writes them.
func (n *matchedNote) AppendJSON(b []byte) []byte {
	b = append(b, '{')
	if n.wait != "" {
		b = append(appendString(b, `"wait":`, n.wait), ',')
	}
	return append(n.entry.appendMembers(b), '}')
}

// A lackingEntry is one session that has not matched, or cannot any more.
type lackingEntry struct {
	id        engine.ID
	name      string
	exit      *exitInfo
	forgotten bool
	evidence  *evidence // nil: it was not asked for, or there was no room
}

func (e *lackingEntry) appendJSON(b []byte) []byte {
	b = appendString(b, `{"session":`, string(e.id))
	if e.name != "" {
		b = appendString(b, `,"name":`, e.name)
	}
	b = appendAny(append(b, `,"exit":`...), e.exit)
	if e.forgotten {
		b = appendBool(b, `,"forgotten":`, true)
	}
	if e.evidence != nil {
		b = e.evidence.appendMembers(append(b, ','))
	}
	return append(b, '}')
}

// A manyResult is the answer of session.wait_many, and the data of its errors.
type manyResult struct {
	matched             []*matchedEntry
	waiting             int
	ended, lacking      []*lackingEntry
	complete, truncated bool
}

// Fits is the bound of every answer.
func (r *manyResult) Fits(size int) error {
	if size > maxReply {
		return tooLargeError{}
	}
	return nil
}

// AppendJSON writes it.
func (r *manyResult) AppendJSON(b []byte) []byte {
	b = append(b, `{"matched":[`...)
	for i, e := range r.matched {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(e.appendMembers(append(b, '{')), '}')
	}
	b = strconv.AppendInt(append(b, `],"waiting":`...), int64(r.waiting), 10)
	b = appendLacking(append(b, `,"ended":`...), r.ended)
	b = append(b, `,"lost":[]`...) // a hub loses hosts
	b = appendBool(b, `,"complete":`, r.complete)
	if r.lacking != nil {
		b = appendLacking(append(b, `,"lacking":`...), r.lacking)
	}
	if r.truncated {
		b = appendBool(b, `,"truncated":`, true)
	}
	return append(b, '}')
}

func appendLacking(b []byte, all []*lackingEntry) []byte {
	b = append(b, '[')
	for i, e := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = e.appendJSON(b)
	}
	return append(b, ']')
}

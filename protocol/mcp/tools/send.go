package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/locate"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/protocol/mcp"
	"github.com/ptywright/ptywright/redact"
)

const sendAbout = `Type into a session: click, then text, paste and keys, then with submit the Enter key as a step of its own. Shows what follows, and says whether what was typed appeared and whether Enter had an effect.

{"session":"s1","text":"print(6*7)","submit":true}
{"session":"s1","text":"make","submit":true,"wait_for":{"text":"Done","regex":"(?i)error"}}
{"session":"s1","keys":["escape",":","w","q","enter"]}   {"session":"s1","keys":["ctrl+c"]}
{"session":"s1","click":"'Commit' in box 'Menu'"}
{"session":"s1","paste":"def f():\n  return 1\n"}   {"session":"s1","secret":"the sudo password of this machine"}

text is typed as it is: "\n" in it is a line feed, which most programs take for Enter; use submit. paste is for text of several lines. click waits for the one place that its words name: 'text', /regex/, in, box, lines, cross, first, nth 1, left_of, right_of, above, below, style.`

type sendParams struct {
	Session   string   `json:"session"`
	Click     string   `json:"click,omitempty" jsonschema:"where to click, in words"`
	Text      string   `json:"text,omitempty"`
	Paste     string   `json:"paste,omitempty" jsonschema:"pasted in one piece"`
	Keys      []string `json:"keys,omitempty" jsonschema:"keys to press in turn: enter, tab, escape, backspace, delete, up, down, left, right, home, end, page_up, page_down, f1 to f12, a character, ctrl+c, alt+x, shift+tab"`
	DelayMS   int      `json:"delay_ms,omitempty" jsonschema:"pause between keystrokes, for a program that takes fast input for a paste"`
	Submit    bool     `json:"submit,omitempty" jsonschema:"press Enter once what was typed has appeared"`
	Secret    string   `json:"secret,omitempty" jsonschema:"have the person type a secret into the program, unseen by you: what it is"`
	WaitFor   question `json:"wait_for,omitzero" jsonschema:"what to wait for afterwards; with submit only what comes after Enter counts, else after the typing. Default: until the screen stands still, one second at most"`
	TimeoutMS *int     `json:"timeout_ms,omitempty" jsonschema:"for wait_for; default 30000, at most 45000"`
	budget
	rawAsked
}

// A sent is a receipt.
type sent struct {
	Written   int    `json:"written" jsonschema:"bytes that the terminal has taken"`
	Stripped  int    `json:"stripped,omitempty" jsonschema:"control bytes taken out of the paste"`
	Since     uint64 `json:"since" jsonschema:"the sequence right before the typing"`
	Clicked   []int  `json:"clicked,omitempty" jsonschema:"row and column, from 0"`
	Reacted   *bool  `json:"reacted,omitempty" jsonschema:"within 200 ms of the click"`
	Echoed    *bool  `json:"echoed,omitempty" jsonschema:"what was typed appeared before Enter"`
	Submitted *bool  `json:"submitted,omitempty" jsonschema:"the program did something within a second after Enter; if not, look before you press it again"`
	Evidence  string `json:"evidence,omitempty" jsonschema:"the same in words"`

	moved bool   // what was clicked on had gone when it was pressed
	after uint64 // wait_for ignores output up to here: with submit, just before Enter
}

type sendResult struct {
	status
	sent
	Outcome *waited `json:"outcome,omitempty" jsonschema:"how wait_for ended"`
	shown
	Person string `json:"person,omitempty" jsonschema:"with secret: what became of it: typed, declined, unsupported or waiting"`
	URL    string `json:"url,omitempty" jsonschema:"with secret: the page to tell the person of; good once"`
}

const (
	// echoBound is how long typed text may take to appear before Enter is pressed anyway: programs
	// echo within milliseconds, a slow TUI takes a few hundred.
	echoBound = time.Second
	// echoStill is how long a changed screen is still without showing the text before we assume
	// that it never will.
	echoStill = 150 * time.Millisecond
	// effectBound is how long the program has to react to Enter.
	effectBound = time.Second
	// sendStill is how long the screen has to be still after typing, and sendSettle how long to
	// wait for that.
	sendStill  = 200 * time.Millisecond
	sendSettle = time.Second
	// maxSend bounds the text of one call, in bytes; the engine's input queue takes 16 MiB.
	maxSend = 4 << 20
	// maxKeys bounds the keys of one call: with a text and a paste they are one [engine.Typing].
	maxKeys = 1000
)

func (p *profile) send(ctx context.Context, req *sdk.CallToolRequest,
	in sendParams) (*reply[sendResult], error) {
	most, hide := in.or(screenBudget), in.redactor()
	timeout, err := timeoutOf(ctx, in.TimeoutMS, engine.DefaultWait)
	if err != nil {
		return nil, err
	}
	if err := p.check(ctx, &in.WaitFor); err != nil { // before anything is typed
		return nil, err
	}
	steps, err := in.steps()
	if err != nil {
		return nil, err
	}
	place, err := locator(in.Click)
	if err != nil {
		return nil, err
	}
	s, err := p.free(in.Session)
	if err != nil {
		return nil, err
	}
	if in.Secret != "" {
		return p.secret(ctx, req, s, &in, hide, most)
	}
	receipt, err := p.perform(ctx, s, place, steps, &in, hide)
	if err != nil {
		if receipt.Written > 0 && !errors.As(err, new(*engine.PartError)) { // which reports it itself
			err = fmt.Errorf("%w (%d bytes were taken before that)", err, receipt.Written)
		}
		return nil, err
	}
	a, err := p.follow(ctx, req, s, &in.WaitFor, engine.After(receipt.after), timeout, still(),
		sendSettle, hide, most)
	if err != nil {
		return nil, fmt.Errorf("it was typed, but: %w", err)
	}
	r := sendResult{status: a.status, sent: receipt, Outcome: a.Outcome, shown: a.shown}
	text := a.text()
	if receipt.Evidence != "" {
		text = receipt.Evidence + "\n" + text
	}
	return &reply[sendResult]{text: text, out: r}, nil
}

// typed is what should appear on the screen.
func (in *sendParams) typed() string { return in.Text + in.Paste }

// steps are the actions of a call, without Enter's.
func (in *sendParams) steps() ([]engine.Action, error) {
	if strings.Contains(in.Text, redact.DefaultReplacement) ||
		strings.Contains(in.Paste, redact.DefaultReplacement) {
		return nil, errMarker
	}
	switch {
	case len(in.Text)+len(in.Paste) > maxSend:
		return nil, bad("text", "has %d bytes, at most %d are taken at once: write a file instead",
			len(in.Text)+len(in.Paste), maxSend)
	case in.DelayMS < 0 || in.DelayMS > int(engine.MaxPace.Milliseconds()):
		return nil, bad("delay_ms", "expected an integer from 0 to %d",
			engine.MaxPace.Milliseconds())
	case len(in.Keys) > maxKeys:
		return nil, bad("keys", "has %d keys, at most %d are taken at once", len(in.Keys), maxKeys)
	case in.Secret != "" && (in.Click != "" || in.typed() != "" || len(in.Keys) > 0 || in.Submit):
		return nil, bad("secret",
			"the person types and submits it: leave click, text, paste, keys and submit out")
	case in.Secret == "" && in.Click == "" && in.typed() == "" && len(in.Keys) == 0 && !in.Submit:
		return nil, errors.New("nothing to send: give click, text, paste, keys, submit or secret")
	}
	var steps []engine.Action
	if in.Text != "" {
		steps = append(steps, engine.Text(in.Text))
	}
	if in.Paste != "" {
		steps = append(steps, engine.Paste(in.Paste)) // bracketed when the program asks for it: see perform
	}
	for i, k := range in.Keys {
		a, err := keyAction(k)
		if err != nil {
			return nil, bad(fmt.Sprintf("keys[%d]", i), "%v", err)
		}
		steps = append(steps, a)
	}
	return steps, nil
}

// keyAction makes a key press of a name, or of one character.
func keyAction(name string) (engine.Action, error) {
	if utf8.RuneCountInString(name) == 1 {
		return engine.Text(name), nil
	}
	k, err := vt.ParseKey(name)
	return engine.Key(k), err
}

// perform does the steps, and then submits.
func (p *profile) perform(ctx context.Context, s *engine.Session, place locate.Locator,
	steps []engine.Action, in *sendParams, hide *redact.Redactor) (sent, error) {
	var r sent
	r.Since = s.Sequence()
	r.after = r.Since
	do := func(a engine.Action) error {
		receipt, err := s.Do(ctx, a, by(ctx), parked(ctx))
		r.Written += receipt.Written
		r.Stripped += receipt.Stripped
		return err
	}
	if !place.IsZero() {
		receipt, err := s.Do(ctx, engine.Click{Target: engine.Target{Locator: place}, Button: vt.MouseLeft},
			engine.Within(clickBound), by(ctx), parked(ctx))
		r.Written += receipt.Written
		if err != nil {
			return r, unplaced(err, hide)
		}
		r.clicked(receipt.Presses[0])
	}
	for i, a := range steps {
		if text, paste := a.(engine.Paste); paste && s.View().Screen.Modes.BracketedPaste {
			steps[i] = engine.BracketedPaste(text)
		}
	}
	delay := time.Duration(in.DelayMS) * time.Millisecond
	if len(steps) > 0 {
		if err := do(engine.Typing{Actions: steps, Delay: delay}); err != nil {
			return r, err
		}
	}
	if !in.Submit {
		r.Evidence = strings.Join(r.click(), " ")
		return r, nil
	}
	if n := len(steps); n > 0 && steps[n-1] == (engine.Key{Code: vt.KeyEscape}) {
		delay = max(delay, engine.EscapePause)
	}
	if err := rest(ctx, delay); err != nil {
		return r, err
	}
	said := r.click()
	if tail := lastLine(in.typed()); tail != "" && !s.View().Secret {
		echoed, err := p.echo(ctx, s, tail, r.Since)
		if err != nil {
			return r, err
		}
		r.Echoed = &echoed
		if echoed {
			said = append(said, "What was typed appeared.")
		} else {
			said = append(said,
				"What was typed did not appear as it is: the program shows it in another way, or not at all.")
		}
	}
	before := s.Sequence()
	r.after = before
	if err := do(engine.Key{Code: vt.KeyEnter}); err != nil {
		return r, err
	}
	changed := engine.Func(func(v *engine.View) bool { return v.Sequence > before || v.Ended })
	out, err := s.Wait(ctx, changed, engine.Within(effectBound), by(ctx), parked(ctx))
	if err != nil && !errors.Is(err, engine.ErrTimeout) && !errors.Is(err, engine.ErrEnded) {
		return r, err
	}
	submitted := err == nil || out.View.Ended
	r.Submitted = &submitted
	if submitted {
		said = append(said, "Enter was pressed and the program did something.")
	} else {
		said = append(said,
			"Enter was pressed; nothing changed within a second. It may be at work: wait, or read, before you press it again.")
	}
	r.Evidence = strings.Join(said, " ")
	return r, nil
}

// rest waits, and lets the connection's next request start meanwhile.
func rest(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	mcp.Yield(ctx)
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// echo waits until the typed text has appeared, or the screen is still without it.
func (p *profile) echo(ctx context.Context, s *engine.Session, tail string,
	since uint64) (bool, error) {
	m := matchers.Any(matchers.Text(tail),
		matchers.All(matchers.Regexp(notBlank()), matchers.Stable(echoStill)))
	out, err := s.Wait(ctx, m, engine.After(since), engine.Within(echoBound),
		engine.Unnoted{}, parked(ctx))
	switch {
	case err == nil:
		return out.Match.Index == 0, nil
	case errors.Is(err, engine.ErrTimeout), errors.Is(err, engine.ErrEnded):
		return false, nil
	}
	return false, err
}

// maxTail is how much of the typed text is searched for, in characters: less than the narrowest
// line that programs wrap at.
const maxTail = 30

// lastLine is the end of a text's last line that is not empty: what a person would look for on the
// screen.
func lastLine(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) == 0 {
		return ""
	}
	tail := []rune(strings.TrimSpace(lines[len(lines)-1]))
	for _, r := range tail {
		if r < ' ' || r == 0x7f { // not shown literally
			return ""
		}
	}
	return strings.TrimSpace(string(tail[max(0, len(tail)-maxTail):]))
}

// still matches a screen that is still after typing, or the end of the program.
func still() matchers.Matcher {
	return matchers.Any(matchers.Exited(), matchers.Stable(sendStill))
}

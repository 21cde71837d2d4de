package tools

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/matchers"
)

const readAbout = `Read a session, without waiting. what says which part:
- screen (default): what a person would see now
- changes: the output after the sequence since, as plain text
- scrollback: lines that left the screen, then the screen's; start and count, default the last 100
- search: lines of scrollback and screen with text or regex, as LINE:COLUMN: line, from 0; LINE is a start for scrollback
- commands: the commands of a shell with marks, with output and exit codes; the newest count

{"session":"s1"}   {"session":"s1","what":"changes","since":42}   {"session":"s1","what":"search","regex":"(?i)error"}

What is over max_chars is left out and said to be.`

type readParams struct {
	Session string  `json:"session"`
	What    string  `json:"what,omitempty" jsonschema:"screen, changes, scrollback, search or commands"`
	Since   *uint64 `json:"since,omitempty" jsonschema:"changes: a sequence of an earlier result"`
	Start   *int    `json:"start,omitempty" jsonschema:"scrollback: the first line; 0 is the oldest kept"`
	Count   int     `json:"count,omitempty" jsonschema:"how many lines, matches or commands"`
	Text    string  `json:"text,omitempty" jsonschema:"search: text to find"`
	Regex   string  `json:"regex,omitempty" jsonschema:"search: RE2 expression"`
	At      *int64  `json:"at,omitempty" jsonschema:"screen, search: as of this sequence; negative: ms ago"`
	budget
	rawAsked
}

type readResult struct {
	status
	What      string    `json:"what"`
	Text      string    `json:"text" jsonschema:"what was asked for"`
	Truncated bool      `json:"truncated" jsonschema:"something was left out: omitted says what, and how to get it"`
	Omitted   string    `json:"omitted,omitempty"`
	Start     *int      `json:"start,omitempty" jsonschema:"scrollback: the first line returned"`
	Count     *int      `json:"count,omitempty" jsonschema:"how many lines, matches or commands are returned"`
	Total     *int      `json:"total,omitempty" jsonschema:"how many there are"`
	Matches   []found   `json:"matches,omitempty"`
	Commands  []command `json:"commands,omitempty"`
}

type found struct {
	Line int    `json:"line" jsonschema:"as scrollback counts"`
	Col  int    `json:"col"`
	Text string `json:"text"`
}

type command struct {
	Number     uint64    `json:"number"`
	Command    string    `json:"command"`
	Output     string    `json:"output"`
	Whole      bool      `json:"whole" jsonschema:"output is all of it"`
	Cwd        string    `json:"cwd,omitempty"`
	Started    time.Time `json:"started"`
	DurationMS int64     `json:"duration_ms"`
	Running    bool      `json:"running"`
	ExitCode   *int      `json:"exit_code,omitempty" jsonschema:"absent while it runs, and when the shell did not tell"`
}

func (p *profile) read(_ context.Context, _ *sdk.CallToolRequest,
	in readParams) (*reply[readResult], error) {
	kind := in.What
	if kind == "" {
		kind = "screen"
	}
	absent := textBudget
	if kind == "screen" {
		absent = screenBudget
	}
	part, ok := parts[kind]
	if !ok {
		return nil, bad("what", "expected screen, changes, scrollback, search or commands")
	}
	s, err := p.session(in.Session)
	if err != nil {
		return nil, err
	}
	l := p.look(s, in.redactor())
	r := readResult{What: kind}
	if in.At != nil {
		if l, err = in.then(s, l, kind); err != nil {
			return nil, err
		}
	}
	r.status = statusOf(l)
	if err := part(&r, s, l, &in, in.or(absent)); err != nil {
		return nil, err
	}
	text := r.status.head() + "\n"
	if r.Omitted != "" {
		text += "(" + r.Omitted + ")\n"
	}
	return &reply[readResult]{text: text + r.Text, out: r}, nil
}

// then returns a look at a session as it was when at says.
func (in *readParams) then(s *engine.Session, now *reading.View, kind string) (*reading.View, error) {
	if kind != "screen" && kind != "search" {
		return nil, bad("at", "only a screen can be read, or searched, as it was")
	}
	seq := uint64(max(*in.At, 0))
	if *in.At < 0 {
		ago := time.Duration(-max(*in.At, -mostAgo)) * time.Millisecond
		var err error
		if seq, err = s.SequenceAt(time.Now().Add(-ago)); err != nil {
			return nil, bad("at", "%v", err)
		}
	}
	v, err := s.At(seq)
	if err != nil {
		return nil, bad("at", "%v", err)
	}
	then := reading.New(v, in.redactor())
	then.Secrets = now.Secrets
	return then, nil
}

// mostAgo bounds what at may go back, in milliseconds: a year.
const mostAgo = 365 * 24 * 3600 * 1000

// parts are what can be read.
var parts = map[string]func(r *readResult, s *engine.Session, l *reading.View, in *readParams,
	most int) error{
	"screen": readScreen, "changes": readChanges, "scrollback": readScrollback,
	"search": readSearch, "commands": readCommands,
}

func (r *readResult) omit(format string, args ...any) {
	r.Truncated, r.Omitted = true, fmt.Sprintf(format, args...)
}

func readScreen(r *readResult, _ *engine.Session, l *reading.View, _ *readParams, most int) error {
	text, omitted := screenText(l, most)
	r.Text = text
	if omitted > 0 {
		r.omit("the %d rows at the top are left out: give a greater max_chars", omitted)
	}
	return nil
}

func readChanges(r *readResult, s *engine.Session, l *reading.View, in *readParams,
	most int) error {
	if in.Since == nil {
		return bad("since", "expected a sequence of an earlier result")
	}
	text, dropped := l.OutputSince(s.OffsetAt(*in.Since))
	tail, left := tailOf(readable(l, text), most)
	r.Text = tail
	switch {
	case dropped:
		r.omit("only the end of it: what came before has left the bound of what is kept; scrollback may still show its lines")
	case left > 0:
		r.omit("only the end of it: %d characters before are left out; give a greater max_chars, or read scrollback", left)
	}
	return nil
}

// defaultLines, defaultFound and defaultCommands are how many are returned by default.
const (
	defaultLines    = 100
	defaultFound    = 50
	defaultCommands = 10
	maxCount        = 10_000
)

func (in *readParams) count(absent int) (int, error) {
	if in.Count == 0 {
		return absent, nil
	}
	if in.Count < 0 || in.Count > maxCount {
		return 0, bad("count", "expected an integer from 1 to %d", maxCount)
	}
	return in.Count, nil
}

func readScrollback(r *readResult, _ *engine.Session, l *reading.View, in *readParams,
	most int) error {
	n, err := in.count(defaultLines)
	if err != nil {
		return err
	}
	lines := l.Lines()
	total := lines.Len()
	start := max(0, total-n)
	if in.Start != nil {
		if *in.Start < 0 {
			return bad("start", "expected an integer from 0 on")
		}
		start = min(*in.Start, total)
	}
	rows := lines.Read(start, min(total, start+n))
	size, fit := 0, 0
	for fit < len(rows) && (fit == 0 || size+len(rows[fit]) < most) {
		size += len(rows[fit]) + 1
		fit++
	}
	count := fit
	r.Start, r.Count, r.Total = &start, &count, &total
	r.Text = strings.Join(rows[:fit], "\n")
	switch {
	case fit < len(rows):
		r.omit("%d of %d lines: go on with start %d", fit, len(rows), start+fit)
	case len(r.Text) > most:
		r.Text, _ = tailOf(r.Text, most)
		r.omit("only the end of a line that is longer than max_chars")
	}
	if d := lines.Dropped(); d > 0 && start == 0 && r.Omitted == "" {
		r.Omitted = fmt.Sprintf("%d older lines are no longer kept", d)
	}
	return nil
}

func readSearch(r *readResult, _ *engine.Session, l *reading.View, in *readParams, most int) error {
	n, err := in.count(defaultFound)
	if err != nil {
		return err
	}
	var re *regexp.Regexp
	switch {
	case (in.Text == "") == (in.Regex == ""):
		return bad("text", "expected either text or regex to search for")
	case in.Text != "":
		re, err = regexp.Compile(regexp.QuoteMeta(in.Text))
	default:
		re, err = matchers.Compile(in.Regex)
	}
	if err != nil {
		return bad("regex", "%v", err)
	}
	all, total := l.Lines().Search(re, n)
	var b strings.Builder
	for _, f := range all {
		line := fmt.Sprintf("%d:%d: %s\n", f.Line, f.Col, f.Text)
		if b.Len()+len(line) > most {
			break
		}
		b.WriteString(line)
		r.Matches = append(r.Matches, found{f.Line, f.Col, f.Text})
	}
	count := len(r.Matches)
	r.Count, r.Total, r.Text = &count, &total, strings.TrimSuffix(b.String(), "\n")
	switch {
	case total == 0:
		r.Text = "Nothing found."
	case count < total:
		r.omit("the first %d of %d matches: give a greater count or max_chars, or a narrower question", count, total)
	}
	return nil
}

func readCommands(r *readResult, s *engine.Session, l *reading.View, in *readParams,
	most int) error {
	n, err := in.count(defaultCommands)
	if err != nil {
		return err
	}
	all, how := s.Blocks(0)
	if how == engine.IntegrationNone {
		return fmt.Errorf("session %s has no marked commands: not a shell, or started without integration; read screen or scrollback instead", s.ID())
	}
	total := len(all)
	all = all[max(0, total-n):]
	r.Commands = []command{}
	size := 0
	for i := len(all) - 1; i >= 0; i-- { // the newest matter most
		c := commandOf(l, &all[i])
		if left := most - size; len(c.Output) > left {
			c.Output, _ = tailOf(c.Output, max(left, 0))
			c.Whole = false
		}
		if size += len(c.Output) + len(c.Command) + 64; size > most && len(r.Commands) > 0 {
			break
		}
		r.Commands = append([]command{c}, r.Commands...)
	}
	count := len(r.Commands)
	r.Count, r.Total = &count, &total
	var b strings.Builder
	for i := range r.Commands {
		b.WriteString(r.Commands[i].text())
	}
	r.Text = strings.TrimSuffix(b.String(), "\n")
	if count < total {
		r.omit("the newest %d of %d commands: give a greater count or max_chars", count, total)
	}
	return nil
}

func commandOf(l *reading.View, b *engine.Block) command {
	c := command{
		Number: b.Number, Command: l.Piece(b.Command), Output: l.Printed(b, false), Whole: b.Whole,
		Cwd: l.Piece(b.Dir), Started: b.Started.UTC(),
		Running: b.Ended.IsZero(),
	}
	if c.Running {
		c.DurationMS = l.Raw.At.Sub(b.Started).Milliseconds()
	} else {
		c.DurationMS = b.Ended.Sub(b.Started).Milliseconds()
	}
	if b.Exited {
		code := b.ExitCode
		c.ExitCode = &code
	}
	return c
}

// text describes a command in words.
func (c *command) text() string {
	end := "running"
	switch {
	case c.ExitCode != nil:
		end = fmt.Sprintf("exit code %d", *c.ExitCode)
	case !c.Running:
		end = "ended, no exit code told"
	}
	cut := ""
	if !c.Whole {
		cut = "(only the end of the output)\n"
	}
	output := c.Output
	if output != "" && !strings.HasSuffix(output, "\n") {
		output += "\n"
	}
	return fmt.Sprintf("$ %s\n%s%s[%s, %d ms]\n", c.Command, cut, output, end, c.DurationMS)
}

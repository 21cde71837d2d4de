package native

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/protocol"
)

type createParams struct {
	Program *string           `json:"program" jsonschema:"executable name or path"`
	Name    string            `json:"name,omitempty" jsonschema:"by which it is found beside its id, unique among those that run: a letter and up to 63 letters, digits, dots, underscores and hyphens, not a lower-case letter and digits alone"`
	Tags    []string          `json:"tags,omitempty" jsonschema:"words by which sessions are selected: at most 16, each of 1 to 64 lower-case letters, digits, dots, underscores and hyphens"`
	Args    []string          `json:"args,omitempty" jsonschema:"arguments"`
	Cwd     string            `json:"cwd,omitempty" jsonschema:"working directory; default the server's"`
	Env     map[string]string `json:"env,omitempty" jsonschema:"variables to set"`
	Base    map[string]string `json:"base_env,omitempty" jsonschema:"start from this environment instead of the server's, less what describes another terminal"`
	Clear   bool              `json:"clear_env,omitempty" jsonschema:"start from an empty environment instead of the server's"`
	sizeParams
	TranscriptMaxChars  *int64 `json:"transcript_max_chars,omitempty" jsonschema:"characters of output to retain; default 131072"`
	ScrollbackMaxLines  *int64 `json:"scrollback_max_lines,omitempty" jsonschema:"lines to retain that have left the screen; default 10000"`
	HistoryMaxBytes     *int64 `json:"history_max_bytes,omitempty" jsonschema:"memory with which the session shows its past beside the retained output, for at and session.history; 0: none; default the server's"`
	RawTranscriptPath   string `json:"raw_transcript_path,omitempty" jsonschema:"file that gets the unredacted output; it must not exist"`
	RawTranscriptAppend bool   `json:"raw_transcript_append,omitempty" jsonschema:"append to an existing file instead"`
	EchoOff             string `json:"echo_off,omitempty" jsonschema:"what is typed while the terminal does not echo: ask (default), secret or plain"`
	Theme               string `json:"theme,omitempty" jsonschema:"dark (default) or light: what a program that asks for the terminal's colours is told, and what pictures are drawn with"`
	ShellIntegration    bool   `json:"shell_integration,omitempty" jsonschema:"have program, an interactive bash, zsh or fish, mark its commands for session.blocks and command_finished"`
	leashParams
	hostParams
}

// leashParams are limits that end a session.
type leashParams struct {
	Owner     string `json:"owner,omitempty" jsonschema:"server (default): it lives until it ends or is closed; connection: it is ended with this connection"`
	MaxMS     *int64 `json:"max_ms,omitempty" jsonschema:"it is ended after so long"`
	IdleMS    *int64 `json:"idle_ms,omitempty" jsonschema:"it is ended when it has written nothing, and nobody has typed, for so long"`
	MaxMemory *int64 `json:"max_memory,omitempty" jsonschema:"bytes of memory that it may take with all that it starts; refused with memory_limit_unsupported where the server may make no cgroup"`
}

// The values of owner.
const (
	ownerServer     = "server"
	ownerConnection = "connection"
)

const (
	// maxLeash bounds a session's time: a year is forever, and far from overflow.
	maxLeash = 365 * 24 * time.Hour
	// leastMemory and mostMemory bound its memory: no program runs in less than 1 MiB, which is a
	// mistake in the unit.
	leastMemory, mostMemory int64 = 1 << 20, 1 << 50
)

// limit puts the limits into a session's configuration.
func (p *leashParams) limit(c *engine.Config) error {
	owner, err := word("owner", p.Owner, ownerServer)
	if err != nil {
		return err
	}
	c.Owned = owner == ownerConnection
	for _, x := range []struct {
		name  string
		value *int64
		to    *time.Duration
	}{{"max_ms", p.MaxMS, &c.MaxTime}, {"idle_ms", p.IdleMS, &c.MaxIdle}} {
		if *x.to, err = milliseconds(x.name, x.value, 0); err != nil {
			return err
		}
	}
	memory, bad := integer("max_memory", p.MaxMemory, 0)
	if bad != nil {
		return bad
	}
	c.MaxMemory = memory
	return nil
}

type createResult struct {
	Session string `json:"session"`
}

// maxTranscript bounds what one session may retain: 64 Mi characters hold all the output of a long
// day.
const maxTranscript = 64 << 20

// maxHistory bounds what one session may keep beside its transcript.
const maxHistory = 1 << 30

// maxScrollback bounds the lines one session may retain: about 200 MB of full lines.
const maxScrollback = 1_000_000

func (c *client) sessionCreate(ctx context.Context, p createParams) (createResult, error) {
	config, err := p.config()
	if err != nil {
		return createResult{}, err
	}
	if p.RawTranscriptPath != "" {
		tap, err := engine.OpenRawTranscript(p.RawTranscriptPath, p.RawTranscriptAppend)
		if err != nil {
			return createResult{}, err
		}
		config.Taps = []engine.Tap{tap}
	}
	s, err := c.Spawn(ctx, config)
	if err != nil {
		if p.RawTranscriptPath != "" && !p.RawTranscriptAppend {
			os.Remove(p.RawTranscriptPath) // made for nothing, and would block the next try
		}
		return createResult{}, err
	}
	if config.Owned {
		c.own(s)
	}
	return createResult{Session: string(s.ID())}, nil
}

// nameOf checks an optional session name.
func nameOf(name string) error {
	if name != "" && engine.CheckName(name) != nil {
		return &protocol.ParamError{Path: "name", Expected: engine.NameRule,
			Got: protocol.Got(name)}
	}
	return nil
}

// tagsOf checks the tags of a session.
func tagsOf(tags []string) error {
	var wrong *engine.TagError
	switch err := engine.CheckTags(tags); {
	case !errors.As(err, &wrong):
		return err
	case wrong.Index < 0:
		return &protocol.ParamError{Path: "tags",
			Expected: fmt.Sprintf("at most %d tags", engine.MaxTags), Got: fmt.Sprint(wrong.Count)}
	default:
		return &protocol.ParamError{Path: fmt.Sprintf("tags[%d]", wrong.Index),
			Expected: engine.TagRule, Got: protocol.Got(wrong.Tag)}
	}
}

func (p *createParams) config() (engine.Config, error) {
	var none engine.Config
	if err := required("program", p.Program); err != nil {
		return none, err
	}
	if err := cmp.Or(nameOf(p.Name), tagsOf(p.Tags)); err != nil {
		return none, err
	}
	if p.Clear && p.Base != nil {
		return none,
			&paramError{path: "base_env", reason: "invalid_params",
				problem: "clear_env starts from nothing: give one of the two"}
	}
	if p.RawTranscriptAppend && p.RawTranscriptPath == "" {
		return none,
			&paramError{path: "raw_transcript_append", reason: "invalid_params",
				problem: "requires raw_transcript_path"}
	}
	size, err := p.size()
	if err != nil {
		return none, err
	}
	chars, err := count("transcript_max_chars", p.TranscriptMaxChars, engine.DefaultTranscriptChars)
	if err != nil {
		return none, err
	}
	echoOff, err := word("echo_off", p.EchoOff, string(engine.EchoAsk))
	if err != nil {
		return none, err
	}
	lines, err := count("scrollback_max_lines", p.ScrollbackMaxLines, 0)
	if err != nil {
		return none, err
	}
	history, err := count("history_max_bytes", p.HistoryMaxBytes, 0)
	if err != nil {
		return none, err
	}
	theme, err := word("theme", p.Theme, "dark")
	if err != nil {
		return none, err
	}
	config := engine.Config{
		Theme: themeOf(theme), Name: p.Name, Tags: p.Tags,
		Program: *p.Program, Args: p.Args, Dir: p.Cwd, Env: p.Env, BaseEnv: p.Base,
		ClearEnv: p.Clear, Size: size,
		TranscriptChars:  noneIfZero(p.TranscriptMaxChars, chars),
		Scrollback:       noneIfZero(p.ScrollbackMaxLines, lines),
		HistoryBytes:     noneIfZero(p.HistoryMaxBytes, history),
		ShellIntegration: p.ShellIntegration, EchoOff: engine.EchoOff(echoOff),
	}
	return config, p.limit(&config)
}

// noneIfZero maps a number that was given as 0 to -1, the engine's "none".
func noneIfZero(given *int64, n int) int {
	if given != nil && n == 0 {
		return -1
	}
	return n
}

// An actionTree is an undecoded action, a matcherTree an undecoded matcher: their shape depends on
// their type.
type (
	actionTree  struct{ json.RawMessage }
	matcherTree struct{ json.RawMessage }
)

type inputParams struct {
	sessionParams
	Action    actionTree   `json:"action,omitzero" jsonschema:"an object with type and, where the type needs one, value"`
	Actions   []actionTree `json:"actions,omitempty" jsonschema:"in place of action: what is typed as one, in this order, with nothing of others between"`
	DelayMS   *int64       `json:"delay_ms,omitempty" jsonschema:"pause between two keystrokes; a text is typed character by character then; default 0"`
	TimeoutMS *int64       `json:"timeout_ms,omitempty" jsonschema:"how long a program that does not read may take; default 5000. Pauses do not count"`
	ID        *string      `json:"id,omitempty" jsonschema:"of this input, 1 to 64 characters that no other input has: sent again with it, nothing is typed, and the first one's answer comes again"`
	Until     string       `json:"until,omitempty" jsonschema:"sent (default): answer when the terminal has taken it; read: when the program has read it, at most for another timeout_ms"`
}

// The values of until.
const (
	untilSent = "sent"
	untilRead = "read"
)

type inputResult struct {
	Sent         bool         `json:"sent"`
	Again        bool         `json:"again,omitzero" jsonschema:"the input of this id was typed before, and not now: sequence is that one's"`
	Sequence     uint64       `json:"sequence"`
	Stripped     int          `json:"stripped,omitzero"`
	Read         wasRead      `json:"read,omitzero" jsonschema:"with until read: whether the program has read all of it; null: that cannot be known"`
	ReadSequence uint64       `json:"read_sequence,omitzero" jsonschema:"with until read: for a wait since it, which misses no effect of all of it, and does not match an echo that was seen to come before it was read"`
	Receipts     []pressShape `json:"receipts,omitempty" jsonschema:"of clicks, drags and scrolls, in their order: one each, of a drag one for each end"`
}

// A wasRead is true, false or null, where it was asked for.
type wasRead struct {
	asked bool
	read  *bool
}

func (r wasRead) MarshalJSON() ([]byte, error) { return json.Marshal(r.read) }

// digest tells what is to be typed from anything else: the actions and the pause between keystrokes,
// however they were written as JSON. Nothing else of them is kept.
func (p *inputParams) digest() [sha256.Size]byte {
	trees := p.Actions
	if len(p.Action.RawMessage) > 0 {
		trees = []actionTree{p.Action}
	}
	var all []byte
	for _, t := range trees {
		v := jsontext.Value(bytes.Clone(t.RawMessage))
		_ = v.Canonicalize() // it was parsed; as it is otherwise
		all = append(append(all, v...), '\n')
	}
	if p.DelayMS != nil {
		all = strconv.AppendInt(all, *p.DelayMS, 10)
	}
	return sha256.Sum256(all)
}

func (c *client) sessionInput(ctx context.Context, p inputParams) (inputResult, error) {
	asking := &asking{catalog: c.Catalog, ctx: ctx}
	defer asking.stop()
	action, err := p.parse(asking)
	if err != nil {
		return inputResult{}, err
	}
	timeout, err := milliseconds("timeout_ms", p.TimeoutMS, engine.DefaultInputTimeout)
	if err != nil {
		return inputResult{}, err
	}
	s, err := c.free(p.sessionParams)
	if err != nil {
		return inputResult{}, err
	}
	until, err := word("session.input until", p.Until, untilSent)
	if err != nil {
		return inputResult{}, err
	}
	var options []engine.DoOption
	if until == untilRead {
		options = append(options, engine.UntilRead{})
	}
	if p.ID != nil {
		if n := utf8.RuneCountInString(*p.ID); n == 0 || n > engine.MaxOnceID {
			return inputResult{}, &protocol.ParamError{Path: "id",
				Expected: fmt.Sprintf("1 to %d characters", engine.MaxOnceID), Got: fmt.Sprint(n)}
		}
		options = append(options, engine.Once{ID: *p.ID, Of: p.digest()})
	}
	r, err := c.do(ctx, s, action, max(timeout, time.Millisecond), options...)
	typedBytes(ctx, r.Written, r.Secret)
	if err != nil {
		return inputResult{}, over(s, c.aimed(err, asking))
	}
	sent := inputResult{Sent: true, Again: r.Again, Sequence: r.Sequence, Stripped: r.Stripped,
		Receipts: receipts(r.Presses)}
	if until == untilRead {
		sent.Read, sent.ReadSequence = wasRead{true, r.Read}, max(r.ReadSequence, r.Sequence)
	}
	return sent, nil
}

type resizeParams struct {
	sessionParams
	Rows        *int64 `json:"rows" jsonschema:"rows of the terminal, 1 to 1000"`
	Cols        *int64 `json:"cols" jsonschema:"columns of the terminal, 1 to 1000"`
	PixelWidth  *int64 `json:"pixel_width,omitempty" jsonschema:"width in pixels, 0 to 65535; default 0, not known"`
	PixelHeight *int64 `json:"pixel_height,omitempty" jsonschema:"height in pixels, 0 to 65535; default 0, not known"`
	Hold        bool   `json:"hold,omitempty" jsonschema:"for as long as this connection has the session by session.lease; then the size before comes back"`
}

type resizeResult struct {
	Resized bool `json:"resized"`
}

func (c *client) sessionResize(ctx context.Context, p resizeParams) (resizeResult, error) {
	if p.Rows == nil {
		return resizeResult{}, outOfRange("rows", "")
	}
	if p.Cols == nil {
		return resizeResult{}, outOfRange("cols", "")
	}
	size, err := sizeParams{p.Rows, p.Cols, p.PixelWidth, p.PixelHeight}.size()
	if err != nil {
		return resizeResult{}, err
	}
	s, err := c.session(p.sessionParams)
	if err != nil {
		return resizeResult{}, err
	}
	if p.Hold {
		if err := c.holdSize(s); err != nil {
			return resizeResult{}, err
		}
	}
	_, err = c.do(ctx, s, engine.Resize(size), 0)
	return resizeResult{Resized: true}, over(s, err)
}

type killResult struct {
	Killed bool   `json:"killed"`
	State  string `json:"state,omitempty" jsonschema:"unkillable: the kernel has not ended it in time"`
	PIDs   []int  `json:"pids,omitzero" jsonschema:"what could not be ended"`
}

func (c *client) sessionKill(ctx context.Context, p sessionParams) (killResult, error) {
	s, err := c.free(p)
	if err != nil {
		return killResult{}, err
	}
	err = c.patiently(ctx, func() error { return s.Kill(ctx) })
	if alive := survivors(err); alive != nil {
		return killResult{State: "unkillable", PIDs: alive.PIDs}, nil
	}
	return killResult{Killed: err == nil}, err
}

type forgetResult struct {
	Forgotten []string `json:"forgotten" jsonschema:"the ids of the sessions"`
	awayParts
}

func (c *client) sessionForget(ctx context.Context, _ hostParams) (forgetResult, error) {
	var gone []engine.ID
	err := c.patiently(ctx, func() (err error) {
		gone, err = c.Engine.ForgetEnded()
		return err
	})
	r := forgetResult{Forgotten: make([]string, len(gone))}
	for i, id := range gone {
		r.Forgotten[i] = string(id)
	}
	return r, err
}

type closeResult struct {
	Closed bool `json:"closed"`
}

func (c *client) sessionClose(ctx context.Context, p sessionParams) (closeResult, error) {
	s, err := c.free(p)
	if err != nil {
		return closeResult{}, err
	}
	whole := context.WithoutCancel(ctx) // half a close would leak
	return closeResult{Closed: true}, c.patiently(ctx, func() error { return s.Close(whole) })
}

// patience is how long an end may take before it lets other requests start. Most programs end
// within a millisecond of their hang-up, so a script that closes and lists sees the session gone;
// one that ignores it must not delay forty others through the escalation of signals. A client with
// concurrent ordering sends a thousand at once, and they then share scans of the process table.
const patience = 250 * time.Millisecond

// patiently runs f and yields when it takes long, or at once with concurrent ordering.
func (c *client) patiently(ctx context.Context, f func() error) error {
	if c.conn.Ordering() == protocol.Concurrent {
		protocol.Yield(ctx)
		return f()
	}
	done := make(chan error, 1)
	go func() { done <- protocol.Guard(c.Log, "the end of a session", f) }()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
	}
	protocol.Yield(ctx)
	return <-done
}

type snapshotParams struct {
	sessionParams
	screenParts
	atParams
}

// screenParts say how to read a screen.
type screenParts struct {
	readParams
	Cells string `json:"cells,omitempty" jsonschema:"full (default), runs or none"`
}

func (c *client) sessionSnapshot(_ context.Context, p snapshotParams) (*look, error) {
	s, err := c.session(p.sessionParams)
	if err != nil {
		return nil, err
	}
	return p.screenParts.read(s, &p.atParams)
}

// read reads a screen, as at says.
func (p *screenParts) read(s *engine.Session, at *atParams) (*look, error) {
	cells, err := word("cells", p.Cells, "full")
	if err != nil {
		return nil, err
	}
	v, then, err := at.view(s)
	if err != nil {
		return nil, err
	}
	l := newLook(v, p.redactor(), cells)
	l.then = then
	return l, nil
}

type transcriptParams struct {
	sessionParams
	outputParts
}

// outputParts say which part of the retained output to read, and how.
type outputParts struct {
	readParams
	Since *sincePosition `json:"since,omitempty" jsonschema:"only what came after it: a sequence, or the next of a wait's answer"`
	Mark  *string        `json:"mark,omitempty" jsonschema:"only what came after this mark was set"`
}

type transcriptResult struct {
	Text     string `json:"text"`
	Sequence uint64 `json:"sequence" jsonschema:"for the next since"`
	Dropped  bool   `json:"dropped,omitzero" jsonschema:"part of it had left the bound"`
}

func (c *client) sessionTranscript(_ context.Context,
	p transcriptParams) (transcriptResult, error) {
	s, err := c.session(p.sessionParams)
	if err != nil {
		return transcriptResult{}, err
	}
	return p.read(s)
}

func (p *outputParts) read(s *engine.Session) (transcriptResult, error) {
	l := reading.New(s.View(), p.redactor())
	from := engine.Offset(0)
	switch {
	case p.Since != nil && p.Mark != nil:
		return transcriptResult{}, &protocol.ParamError{Expected: "since or mark", Got: "both"}
	case p.Since != nil:
		since, err := p.Since.of(s)
		if err != nil {
			return transcriptResult{}, err
		}
		from = s.OffsetOf(*since)
	case p.Mark != nil:
		var ok bool
		if from, ok = l.Raw.Transcript.Mark(*p.Mark); !ok {
			return transcriptResult{},
				&protocol.ParamError{Path: "mark", Expected: "a mark that was set",
					Got: protocol.Got(*p.Mark)}
		}
	}
	text, dropped := l.OutputSince(from)
	return transcriptResult{Text: text, Sequence: l.Raw.Sequence, Dropped: dropped}, nil
}

// survivors returns the error that names the processes that could not be ended, or nil.
func survivors(err error) *pty.SurvivorsError {
	var alive *pty.SurvivorsError
	if errors.As(err, &alive) {
		return alive
	}
	return nil
}

// appendAny encodes a small value of ours.
func appendAny(b []byte, v any) []byte {
	text, err := jsonv2.Marshal(v, jsonv2.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil { // maps of numbers do encode
		panic("native: " + err.Error())
	}
	return append(b, text...)
}

package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/internal/lazy"
	"github.com/ptywright/ptywright/plugins"
)

// errNoRaw reports a request for raw output that the server does not allow.
var errNoRaw = errors.New("raw output is not allowed: this server was started without --trust-raw; leave raw out, secrets are then covered")

// errMarker reports text to type that was copied from redacted output.
var errMarker = errors.New("the text holds [REDACTED]: it was copied from output in which a secret is covered; " +
	"to have the secret itself typed, use send with secret, and a person types it")

// A sessionError reports an unknown session.
type sessionError struct {
	id   string
	live []string
}

func (e *sessionError) Error() string {
	there := "there is none: start one"
	switch n := len(e.live); {
	case n > 20:
		there = fmt.Sprintf("there are %d: see the tool sessions", n)
	case n > 0:
		there = "there are " + strings.Join(e.live, ", ")
	}
	return "no session " + strconv.Quote(e.id) + "; " + there
}

// An ownedError reports a session that an adapter drives.
type ownedError struct{ session string }

func (e *ownedError) Error() string {
	return "session " + e.session +
		` is driven by an adapter: use the tool adapter, {"action":"send","session":"` + e.session +
		`",...}`
}

// An argumentError reports one bad argument of a tool.
type argumentError struct{ name, problem string }

func (e *argumentError) Error() string { return e.name + ": " + e.problem }

func bad(name, format string, args ...any) error {
	return &argumentError{name, fmt.Sprintf(format, args...)}
}

// advice says what to do about errors that a model can fix. The first match counts.
var advice = []struct {
	err  error
	next string
}{
	{engine.ErrEnded, "its program has ended: read what it left, or start it again"},
	{engine.ErrClosed, "it was stopped: start a new session"},
	{pty.ErrExited, "its program has ended: read what it left, or start it again"},
	{pty.ErrHungUp, "its program has ended: read what it left, or start it again"},
	{plugins.ErrNoPlugin, "adapter {\"action\":\"list\"} names those there are"},
	{engine.ErrNoMouse, "use keys instead"},
	{engine.ErrNoKey, "use another key: this program is told of no media, lock or pause keys"},
	{engine.ErrInputFull, "the program does not read its input: wait for it, or press ctrl+c"},
}

const (
	// maxProblem bounds an error's text, in bytes: it may quote the arguments, or a screen.
	maxProblem = 12_000
	// maxJudged bounds how much of it is searched for secrets.
	maxJudged = 64 << 10
)

func cut(s string, n int) string {
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}

// failed turns an error into a tool's result, so that a model sees it and can correct the call.
func (p *profile) failed(err error) *sdk.CallToolResult {
	text := inWords(err).Error()
	for _, a := range advice {
		if errors.Is(err, a.err) {
			text += "; " + a.next
			break
		}
	}
	var blocked *engine.InputBlockedError
	if errors.As(err, &blocked) {
		text += "; the program does not read its input: wait for it, or press ctrl+c"
	}
	// A secret cannot be recognised once it is cut: it is redacted before that.
	text = cut(p.hide.String(cut(text, maxJudged)), maxProblem)
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// pathWords match a place in the arguments in a schema's error.
var pathWords = lazy.Regexp(`validating (root|/\S+): `)

// schemaWords is a schema's error with places as a client knows them: "wait_for.text", and nothing
// for the whole.
func schemaWords(err error) string {
	var place string
	text := pathWords().ReplaceAllStringFunc(err.Error(), func(m string) string {
		if path := pathWords().FindStringSubmatch(m)[1]; path != "root" { // the last path contains the others
			place = strings.ReplaceAll(strings.TrimPrefix(strings.ReplaceAll(path, "/items", "[]"),
				"/properties/"), "/properties/", ".")
		}
		return ""
	})
	if place != "" {
		text = place + ": " + text
	}
	return text
}

// decode parses a tool's arguments. Names are case-sensitive, and an unknown name is an error that
// lists the known ones: a model must not believe that a mistyped name took effect.
func decode(raw json.RawMessage, schema *jsonschema.Resolved, known []string, into any) error {
	if len(bytes.TrimSpace(raw)) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return errors.New("arguments: expected an object")
	}
	for name := range members {
		if !slices.Contains(known, name) && name != "raw" { // which not every server lists
			return bad("arguments", "no argument %q; there are %s", name, strings.Join(known, ", "))
		}
	}
	var value map[string]any
	if err := json.Unmarshal(raw, &value); err != nil {
		return errors.New("arguments: cannot be decoded")
	}
	for name, v := range value { // null means absent, as everywhere
		if v == nil {
			delete(value, name)
			delete(members, name)
		}
	}
	if err := schema.Validate(value); err != nil {
		return errors.New("arguments: " + schemaWords(err))
	}
	clean, err := json.Marshal(members)
	if err != nil {
		return errors.New("arguments: cannot be decoded")
	}
	if err := json.Unmarshal(clean, into); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	return nil
}

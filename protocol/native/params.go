package native

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/redact"
)

// none is the params of a method that takes none.
type none struct{}

// sessionParams are those of a method that takes only a session.
type sessionParams struct {
	Session *string `json:"session" jsonschema:"the session's id or name"`
}

// readParams say how a read is redacted. Every method that shows text of a program has them.
type readParams struct {
	Redact    *bool            `json:"redact,omitempty" jsonschema:"false shows the text as it is, whatever redaction says; default true"`
	Redaction *redactionParams `json:"redaction,omitempty" jsonschema:"more rules for this read"`

	bound bool
	hide  *redact.Redactor
}

type redactionParams struct {
	Enabled       *bool    `json:"enabled,omitempty" jsonschema:"taken and ignored: only redact says whether anything is hidden"`
	Replacement   string   `json:"replacement,omitempty" jsonschema:"what stands in place of a secret; default [REDACTED]"`
	ExtraLiterals []string `json:"extra_literals,omitempty" jsonschema:"texts to hide"`
	ExtraRegexes  []string `json:"extra_regexes,omitempty" jsonschema:"RE2 expressions of what to hide"`
}

// UnmarshalJSON refuses unknown members, which are ignored elsewhere: a rule with a typing error
// must not show what it should hide.
func (p *redactionParams) UnmarshalJSON(b []byte) error {
	type plain redactionParams
	if err := protocol.Decode(b, (*plain)(p)); err != nil {
		return err
	}
	return onlyMembers(b, []string{"replacement", "extra_literals", "extra_regexes"},
		"invalid_redaction", "enabled")
}

// onlyMembers refuses members of an object other than those named: known ones, and others that are
// taken without a word.
func onlyMembers(b []byte, known []string, reason string, others ...string) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(b, &members); err != nil {
		return &protocol.ParamError{Expected: "an object"}
	}
	for name := range members {
		if !slices.Contains(known, name) && !slices.Contains(others, name) {
			last := len(known) - 1
			return &protocol.ParamError{
				Expected: strings.Join(known[:last], ", ") + " and " + known[last] + " only",
				Got:      protocol.Got(name), Reason: reason,
			}
		}
	}
	return nil
}

// redactor returns the redactor that the read asked for; nil shows text unchanged. It panics when
// the params were not bound.
func (p *readParams) redactor() *redact.Redactor {
	if !p.bound {
		panic("native: nobody has looked what to hide")
	}
	return p.hide
}

// bind makes the redactor.
func (p *readParams) bind(c *client) error {
	p.bound = true
	switch {
	case p.Redact != nil && !*p.Redact:
		return nil
	case p.Redaction == nil:
		p.hide = c.hide
		return nil
	}
	r, err := redact.New(redact.Policy{
		Replacement:   p.Redaction.Replacement,
		ExtraLiterals: p.Redaction.ExtraLiterals,
		ExtraRegexes:  p.Redaction.ExtraRegexes,
	})
	if err != nil {
		var pe *redact.PolicyError
		path := "redaction"
		if errors.As(err, &pe) {
			if path += "." + pe.Field; pe.Index >= 0 {
				path += fmt.Sprintf("[%d]", pe.Index)
			}
			return &paramError{path: path, reason: "invalid_redaction", problem: pe.Reason}
		}
		return &paramError{path: path, reason: "invalid_redaction", problem: err.Error()}
	}
	p.hide = r.With(c.Known)
	return nil
}

// A paramError reports a parameter with the right type and a wrong value.
type paramError struct {
	path, reason, problem string
}

func (e *paramError) Error() string { return "params." + e.path + ": " + e.problem }

// required refuses an absent or empty string.
func required(path string, value *string) error {
	switch {
	case value == nil:
		return &protocol.ParamError{Path: path, Expected: "a string"}
	case *value == "":
		return &protocol.ParamError{Path: path, Expected: "a string that is not empty",
			Got: "an empty one"}
	}
	return nil
}

// sizeParams are a terminal's size. Absent rows and columns are 24 and 80, absent pixels 0.
type sizeParams struct {
	Rows        *int64 `json:"rows,omitempty" jsonschema:"rows of the terminal, 1 to 1000; default 24"`
	Cols        *int64 `json:"cols,omitempty" jsonschema:"columns of the terminal, 1 to 1000; default 80"`
	PixelWidth  *int64 `json:"pixel_width,omitempty" jsonschema:"width in pixels, 0 to 65535; default 0, not known"`
	PixelHeight *int64 `json:"pixel_height,omitempty" jsonschema:"height in pixels, 0 to 65535; default 0, not known"`
}

func (p sizeParams) size() (pty.Size, error) {
	var s pty.Size
	for _, f := range []struct {
		name   string
		value  *int64
		absent int64
		to     *uint16
	}{
		{"rows", p.Rows, 24, &s.Rows},
		{"cols", p.Cols, 80, &s.Cols},
		{"pixel_width", p.PixelWidth, 0, &s.PixelWidth},
		{"pixel_height", p.PixelHeight, 0, &s.PixelHeight},
	} {
		v, err := integer(f.name, f.value, f.absent)
		if err != nil {
			err.Reason = "size_out_of_range"
			return s, err
		}
		*f.to = uint16(v)
	}
	return s, nil
}

// maxTimeout bounds every duration that a client gives. A day is longer than any wait, and far from
// overflow.
const maxTimeout = 24 * time.Hour

// integer reads an optional integer. Its name is the key of its bounds: see ranges.
func integer(name string, given *int64, absent int64) (int64, *protocol.ParamError) {
	if given == nil {
		return absent, nil
	}
	if r := ranges()[name]; *given < r[0] || *given > r[1] {
		return 0, outOfRange(name, fmt.Sprint(*given))
	}
	return *given, nil
}

// outOfRange refuses an integer; got "" was not sent.
func outOfRange(name, got string) *protocol.ParamError {
	r := ranges()[name]
	return &protocol.ParamError{Path: memberOf(name),
		Expected: fmt.Sprintf("an integer from %d to %d", r[0], r[1]), Got: got}
}

// milliseconds reads an optional duration, as integer does.
func milliseconds(name string, given *int64, absent time.Duration) (time.Duration, error) {
	ms, err := integer(name, given, absent.Milliseconds())
	if err != nil {
		return 0, err
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// count reads an optional number of things, as integer does.
func count(name string, given *int64, absent int64) (int, error) {
	n, err := integer(name, given, absent)
	if err != nil {
		return 0, err
	}
	return int(n), nil
}

// themeOf returns the theme of a name that word has read.
func themeOf(name string) vt.Theme {
	theme, _ := vt.ParseTheme(name)
	return theme
}

// word reads an optional string that is one of a few: see words, where it has this key.
func word(key, given, absent string) (string, error) {
	if given == "" {
		return absent, nil
	}
	few := words()[key]
	if !slices.Contains(few, any(given)) {
		return "", notOneOf(key, given)
	}
	return given, nil
}

// memberOf returns the member in a key of words or ranges, which may have its method in front.
func memberOf(key string) string { return key[strings.IndexByte(key, ' ')+1:] }

// notOneOf refuses a string that is none of a few; given "" was not sent.
func notOneOf(key, given string) error {
	var b strings.Builder
	few := words()[key]
	for i, w := range few {
		switch {
		case i == 0:
		case i == len(few)-1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", w)
	}
	e := &protocol.ParamError{Path: memberOf(key), Expected: b.String()}
	if given != "" {
		e.Got = protocol.Got(given)
	}
	return e
}

// maxTree bounds the text of a matcher: 256 matchers of a pattern each.
const maxTree = 1 << 20

// tree decodes a value whose shape depends on its type: a matcher, or an action's value.
func tree(path string, raw json.RawMessage) (any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	if reason := map[string]string{"matcher": "invalid_matcher",
		"locator": "invalid_locator"}[path]; reason != "" && len(raw) > maxTree {
		return nil, &paramError{path: path, reason: reason,
			problem: fmt.Sprintf("has %d bytes, at most %d are allowed", len(raw), maxTree)}
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil { // its syntax and members were already checked
		return nil, &paramError{path: path, reason: "invalid_params", problem: "cannot be decoded"}
	}
	return v, nil
}

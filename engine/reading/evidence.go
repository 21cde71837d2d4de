package reading

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/redact"
)

// Evidence says why a wait for m did not match, as the command line does: what each part of m lacked
// and the last screen, with secrets hidden. hide is [redact.Default] for what rules can recognize.
func Evidence(out *engine.Outcome, m matchers.Matcher, hide *redact.Redactor) string {
	v := New(out.View, hide)
	why := m.Explain(out.View, matchers.Shown{
		Screen: v.Screen(), Output: func() string { return v.Output(NearChars) },
		Line: v.Line, Title: v.Clean(out.View.Screen.Title),
	})
	took, quiet := out.Elapsed, out.View.At.Sub(out.View.Changed)
	var b strings.Builder
	fmt.Fprintf(&b, "no match after %v; the screen has been quiet for %v\n",
		took.Round(time.Millisecond), quiet.Round(time.Millisecond))
	lacks(&b, why, "- ")
	state := "running"
	if out.View.Exit != nil {
		state = out.View.Exit.String()
	}
	if title := v.Clean(out.View.Screen.Title); title != "" {
		state += ", titled " + title
	}
	fmt.Fprintf(&b, "the last screen, at sequence %d (%s):\n%s\n",
		out.View.Sequence, state, v.Screen().Text())
	return b.String()
}

// Why is an explanation's reason in words. A plugin's words may quote the screen, and a difference
// does: these are redacted.
func (v *View) Why(e matchers.Explanation) string {
	switch e.Type {
	case "lua", "state", "screen", "located": // its locator may be a plugin's
		return v.Piece(e.Why)
	}
	return e.Why
}

// lineMax bounds [View.Lacked] and [View.Matched], in characters: what fits in a line or two.
const lineMax = 240

// Lacked says in one line what a matcher lacked, as [engine.Event].Evidence has it. e was made of
// what v shows.
func (v *View) Lacked(e matchers.Explanation) string {
	var parts []string
	var walk func(e matchers.Explanation)
	walk = func(e matchers.Explanation) {
		switch {
		case e.Held && e.Type != "not":
		case e.Type == "any" || e.Type == "all":
			for _, p := range e.Parts {
				walk(p)
			}
		case e.Nearest != "":
			parts = append(parts, fmt.Sprintf("%s; nearest: %s", v.Why(e), e.Nearest))
		default:
			parts = append(parts, v.Why(e))
		}
	}
	walk(e)
	return clip(strings.Join(slices.Compact(parts), " · "))
}

// SaidAll reports whether a match says no more than what was waited for.
func SaidAll(m *engine.Match) bool {
	switch m.Kind {
	case "screen_regex", "transcript_regex", "title_regex", "command_finished", "lua", "state", "any",
		"all":
		return false
	}
	return true
}

// Matched says in one line what matched, beyond what was asked for: what an expression captured, the
// exit code of a command, a plugin's words.
func (v *View) Matched(m *engine.Match) string {
	if m == nil {
		return ""
	}
	m = v.Match(m)
	switch m.Kind {
	case "any", "all":
		var parts []string
		for _, p := range m.Parts {
			if s := said(p); s != "" {
				parts = append(parts, s)
			}
		}
		return clip(strings.Join(parts, " · "))
	}
	return clip(v.Piece(said(m)))
}

// said is a part of Matched.
func said(m *engine.Match) string {
	switch m.Kind {
	case "contains_text", "transcript_contains", "title_contains":
		return m.Text
	case "screen_regex", "transcript_regex", "title_regex":
		return m.Capture
	case "command_finished":
		if m.Exit != nil {
			return fmt.Sprintf("%s: exit code %d", m.Text, *m.Exit)
		}
		return m.Text
	case "lua":
		if text, ok := m.Evidence.(string); ok {
			return text
		}
	case "state":
		if text, ok := m.Evidence.(string); ok {
			return m.Text + ": " + text
		}
		return m.Text
	}
	return strings.ReplaceAll(m.Kind, "_", " ")
}

// clip cuts a line that has been redacted.
func clip(s string) string {
	if r := []rune(s); len(r) > lineMax {
		return string(r[:lineMax-1]) + "…"
	}
	return s
}

// lacks writes a line for each part of a matcher.
func lacks(b *strings.Builder, e matchers.Explanation, indent string) {
	b.WriteString(indent + e.Type)
	if e.Value != nil {
		value, _ := json.Marshal(e.Value) // of texts and numbers
		b.WriteString(" " + string(value))
	}
	if e.Held {
		b.WriteString(": held")
	} else if e.Why != "" {
		b.WriteString(": " + e.Why)
	}
	if e.Nearest != "" {
		fmt.Fprintf(b, " (nearest: %q)", e.Nearest)
	}
	b.WriteString("\n")
	for _, p := range e.Parts {
		lacks(b, p, indent+"  ")
	}
}

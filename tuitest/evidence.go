package tuitest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/redact"
)

// evidence says what each part of a matcher lacked, and shows the last screen, as the evidence of
// the command line does. Secrets are hidden.
func evidence(out *engine.Outcome, m matchers.Matcher, hide *redact.Redactor) string {
	v := reading.New(out.View, hide)
	why := m.Explain(out.View, matchers.Shown{
		Screen: v.Screen(), Output: func() string { return v.Output(reading.NearChars) },
		Line: v.Line, Title: v.Clean(out.View.Screen.Title),
	})
	took, quiet := out.Elapsed, out.View.At.Sub(out.View.Changed)
	var b strings.Builder
	fmt.Fprintf(&b, "no match after %v; the screen has been quiet for %v\n",
		took.Round(time.Millisecond), quiet.Round(time.Millisecond))
	lacks(&b, why, "- ")
	state := "running"
	if out.View.Exit != nil {
		state = ended(out.View.Exit)
	}
	if title := v.Clean(out.View.Screen.Title); title != "" {
		state += ", titled " + title
	}
	fmt.Fprintf(&b, "the last screen, at sequence %d (%s):\n%s\n",
		out.View.Sequence, state, v.Screen().Text())
	return b.String()
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

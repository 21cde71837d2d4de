package reading

import (
	"encoding/json"
	"fmt"
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

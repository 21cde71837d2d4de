package native

import (
	"unicode/utf8"

	"github.com/ptywright/ptywright/plugins"
	"github.com/ptywright/ptywright/protocol"
)

// A stateShape is a plugin's state on the wire.
type stateShape struct {
	State      string              `json:"state"`
	Confidence float64             `json:"confidence"`
	Evidence   string              `json:"evidence"`
	Sequence   uint64              `json:"sequence"`
	Source     string              `json:"source,omitempty" jsonschema:"what told it"`
	LastIntent string              `json:"last_intent,omitempty"`
	Candidates []plugins.Candidate `json:"candidates"`
	Metadata   map[string]any      `json:"metadata,omitempty"`
	Marks      []markShape         `json:"host_marks,omitempty"`
	Exit       *exitInfo           `json:"exit,omitempty" jsonschema:"how the program ended, once it has"`
}

type markShape struct {
	Label string `json:"label"`
}

// state makes what a client may see of a plugin's state.
func (l *look) state(s *plugins.State) *stateShape {
	if l.Redacted() {
		s = s.Clean(l.Piece)
	}
	w := &stateShape{
		State: s.State, Confidence: s.Confidence, Evidence: s.Evidence, Sequence: s.Sequence,
		Source: s.Source, LastIntent: s.LastIntent, Candidates: s.Candidates, Metadata: s.Metadata,
	}
	if w.Candidates == nil {
		w.Candidates = []plugins.Candidate{}
	}
	w.Exit = exitOf(l.Raw.Exit)
	for _, label := range s.Marks {
		w.Marks = append(w.Marks, markShape{label})
	}
	return w
}

// pieces redacts every text in a value that a plugin made.
func (l *look) pieces(v any) any {
	if !l.Redacted() {
		return v
	}
	return plugins.Clean(v, l.Piece)
}

// lastBytes returns the end of s, at most n bytes, starting at a character boundary.
func lastBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	i := len(s) - n
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}

// intentData adds how far a failed intent got, and the screen on which its expectation was not met.
func intentData(e *protocol.Error, i *intentError, x *plugins.ExpectError) {
	pluginsWords(e, i.look)
	data, _ := e.Data.(map[string]any)
	if i.receipt == nil {
		return
	}
	if data == nil {
		data = map[string]any{}
	}
	data["receipt"] = i.look.receipt(*i.receipt)
	if x != nil {
		l := &look{View: i.look.At(x.View), cells: "none"}
		data["step"], data["elapsed_ms"], data["snapshot"] = x.Step, x.Elapsed.Milliseconds(), l
		data["matcher"] = l.explanation(x.Matcher.Explain(x.View, l.shown()))
	}
	e.Data = data
}

// pluginsWords redacts what an error quotes from a plugin, which may quote the screen.
func pluginsWords(e *protocol.Error, l *look) {
	e.Message = l.Piece(e.Message)
	if data, ok := e.Data.(map[string]any); ok {
		e.Data = l.pieces(data)
	}
}

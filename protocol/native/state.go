package native

import (
	"unicode/utf8"

	"github.com/ptywright/ptywright/matchers"
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

// state makes a state what a client may see of it.
func (l *look) state(s *plugins.State) *stateShape {
	if l.hide != nil {
		s = s.Clean(l.piece)
	}
	w := &stateShape{
		State: s.State, Confidence: s.Confidence, Evidence: s.Evidence, Sequence: s.Sequence, Source: s.Source, LastIntent: s.LastIntent,
		Candidates: s.Candidates, Metadata: s.Metadata,
	}
	if w.Candidates == nil {
		w.Candidates = []plugins.Candidate{}
	}
	w.Exit = exitOf(l.view)
	for _, label := range s.Marks {
		w.Marks = append(w.Marks, markShape{label})
	}
	return w
}

// piece redacts a text of a plugin, which may be a piece of the screen. Taken out of its line a secret cannot be told from other
// text, so what is hidden on the screen, or has been in what the plugin was shown, is hidden in it too.
func (l *look) piece(s string) string {
	if l.hide == nil || s == "" {
		return s
	}
	if l.finder == nil {
		secrets := l.hidden
		if l.secrets != nil {
			secrets = append(l.secrets(), secrets...)
		}
		l.finder = plugins.NewFinder(secrets)
	}
	return l.hide.String(l.finder.Hide(s))
}

// pieces redacts every text in a value that a plugin made.
func (l *look) pieces(v any) any {
	if l.hide == nil {
		return v
	}
	return plugins.Clean(v, l.piece)
}

// lastBytes returns the end of s, at most n bytes, from a character's beginning on.
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

// intentData adds how far an intent got that ended with an error, and the screen it waited on in vain.
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
		l := newLook(x.View, i.look.hide, "none")
		l.secrets = i.look.secrets
		data["step"], data["elapsed_ms"], data["snapshot"] = x.Step, x.Elapsed.Milliseconds(), l
		data["matcher"] = &explained{l, x.Matcher.Explain(x.View, l.shown())}
	}
	e.Data = data
}

// An explained is an explanation that encodes itself.
type explained struct {
	look *look
	tree matchers.Explanation
}

// MarshalJSON writes the explanation.
func (e *explained) MarshalJSON() ([]byte, error) { return e.look.appendExplanation(nil, e.tree), nil }

// pluginsWords redacts what an error quotes of a plugin, which may quote the screen.
func pluginsWords(e *protocol.Error, l *look) {
	e.Message = l.piece(e.Message)
	if data, ok := e.Data.(map[string]any); ok {
		e.Data = l.pieces(data)
	}
}

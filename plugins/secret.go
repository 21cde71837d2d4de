package plugins

import (
	"slices"
	"strings"
	"sync"

	"github.com/ptywright/ptywright/redact"
)

const (
	// minSecret is the shortest text that is recorded as a secret, in bytes: shorter ones occur in
	// every text.
	minSecret = 4
	// maxSecret is the longest, in bytes: anything longer is a document and not a key.
	maxSecret = 4 << 10
	// maxSecrets bounds how many an instance keeps: the newest. A typical screen shows a few.
	maxSecrets = 256
)

// secrets are what redaction by default rules hides in the texts that a plugin has been shown. A
// plugin may repeat one when the line that identified it is long gone, or without that line: code
// that shows its output searches for them.
type secrets struct {
	mu   sync.Mutex
	list []string // by when they were last seen
}

// learn records the secrets of a text.
func (s *secrets) learn(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		for _, span := range redact.Default.Spans(strings.TrimSuffix(line, "\r")) {
			if n := span.End - span.Start; n >= minSecret && n <= maxSecret {
				s.add(strings.Clone(line[span.Start:span.End])) // not the whole screen
			}
		}
	}
}

func (s *secrets) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.list, text)
	switch {
	case i >= 0 && i == len(s.list)-1:
		return
	case i >= 0:
		s.list = slices.Delete(s.list, i, i+1)
	case len(s.list) == maxSecrets:
		s.list = slices.Delete(s.list, 0, 1)
	}
	s.list = append(s.list, text)
}

// known returns all of them.
func (s *secrets) known() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

// Secrets returns the secrets shown to the plugin's predicates without an adapter: see
// [Adapter.Secrets].
func (p *Plugin) Secrets() []string { return p.predicates.secrets.known() }

// Secrets returns the secrets that the adapter's plugin has been shown recently: see
// [redact.Default]. They are for hiding them in its output.
func (a *Adapter) Secrets() []string { return a.lua.secrets.known() }

package plugins

import (
	"slices"
	"strings"
	"sync"

	"github.com/ptywright/ptywright/redact"
)

const (
	// minSecret is the shortest text that is noted as a secret, in bytes: shorter ones are parts of every text.
	minSecret = 4
	// maxSecret is the longest, in bytes: what is longer is a document and not a key.
	maxSecret = 4 << 10
	// maxSecrets bounds how many an instance knows: the newest. A screen of a person's work shows a few.
	maxSecrets = 256
)

// secrets are what redaction by default rules hides in the texts that a plugin has been shown. A plugin may say one when the
// line that made it one has long gone, or without that line: whoever shows what it says looks for them.
type secrets struct {
	mu   sync.Mutex
	list []string // by when they were last seen
}

// learn notes the secrets of a text.
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

// Secrets returns the secrets that the plugin's predicates have been shown that are bound to no adapter: see [Adapter.Secrets].
func (p *Plugin) Secrets() []string { return p.predicates.secrets.known() }

// Secrets returns the secrets that the adapter's plugin has been shown, so far as it still matters: see [redact.Default]. They
// are for hiding them in what it says.
func (a *Adapter) Secrets() []string { return a.lua.secrets.known() }

package redact

import (
	"strings"
	"unicode/utf8"
)

const (
	// minFound is the shortest secret that a [Finder] looks for, in bytes: shorter ones occur in
	// every text.
	minFound = 4
	// run is how many consecutive bytes of a longer secret give it away: a plugin cuts off ends,
	// and sees a secret that wraps as two rows. A shorter run would hide ordinary words.
	run = 8
)

// A Finder finds secrets, and pieces of them, in a text that was taken out of the context in which
// they could be recognized, as a plugin does.
type Finder struct {
	short []string            // secrets shorter than a run
	runs  map[string]struct{} // runs of the others
}

// NewFinder returns a finder of secrets. Secrets too short to distinguish from other text are left
// out.
func NewFinder(secrets []string) *Finder {
	f := &Finder{}
	for _, s := range secrets {
		switch {
		case len(s) < minFound:
			continue
		case len(s) < run:
			f.short = append(f.short, s)
			continue
		}
		if f.runs == nil {
			f.runs = map[string]struct{}{}
		}
		for i := range len(s) - run + 1 {
			f.runs[s[i:i+run]] = struct{}{}
		}
	}
	return f
}

// Hide replaces everything that is found in s.
func (f *Finder) Hide(s string) string {
	if len(f.runs) > 0 {
		s = f.hideRuns(s)
	}
	for _, secret := range f.short {
		s = strings.ReplaceAll(s, secret, DefaultReplacement)
	}
	return s
}

func (f *Finder) hideRuns(s string) string {
	var b strings.Builder
	told := 0 // s is written up to here
	for i := 0; i+run <= len(s); i++ {
		if _, found := f.runs[s[i:i+run]]; !found {
			continue
		}
		begin, end := i, i+run
		for i++; i < end && i+run <= len(s); i++ { // overlapping finds are one piece
			if _, found := f.runs[s[i:i+run]]; found {
				end = i + run
			}
		}
		for begin > told && !utf8.RuneStart(s[begin]) {
			begin--
		}
		for end < len(s) && !utf8.RuneStart(s[end]) {
			end++
		}
		b.WriteString(s[told:begin])
		b.WriteString(DefaultReplacement)
		told = end
		i = end - 1
	}
	b.WriteString(s[told:])
	return b.String()
}

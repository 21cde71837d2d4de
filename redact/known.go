package redact

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	// MaxKnown is how many values a [Known] holds; the oldest leave first. With the forms that
	// each is looked for in, it bounds the automaton to about 10,000 states.
	MaxKnown = 256
	// MinKnown is how many bytes a known value must have: a shorter one stands in every text, and
	// hiding it there would tell where it was typed.
	MinKnown = 4
)

// Known is a set of values that are secret whatever they look like: what a session was given in
// its environment, tokens of the server, what was typed while the program had echo off. It may
// grow at any time; a [Redactor] made by [Redactor.With] hides what it holds from then on. The
// zero Known is empty and ready. All methods are safe for concurrent use, and the values are
// never shown, nor part of any error.
type Known struct {
	version atomic.Uint64 // changes with values

	mu sync.Mutex
	// protects the fields below
	values []string // oldest first
}

// Add adds values. One shorter than [MinKnown] bytes, or over [MaxLiteralLen], is not taken; of
// one with several lines each line is (a key in a variable). It costs microseconds; the first text
// after it some hundred more, once.
func (k *Known) Add(values ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, v := range values {
		for line := range strings.FieldsFuncSeq(v, func(c rune) bool { return c == '\n' || c == '\r' }) {
			if line = stripped(line); len(line) < MinKnown || len(line) > MaxLiteralLen {
				continue
			}
			if i := slices.Index(k.values, line); i >= 0 {
				k.values = slices.Delete(k.values, i, i+1)
			}
			k.values = append(k.values, line)
			k.version.Add(1)
		}
	}
	if over := len(k.values) - MaxKnown; over > 0 {
		k.values = slices.Delete(k.values, 0, over)
	}
}

// AddEnv adds the values of those variables ("NAME=value", as os.Environ has them) whose names
// [SecretName] takes for secrets' and whose values do not only stand for one.
func (k *Known) AddEnv(environ []string) {
	for _, e := range environ {
		name, value, ok := strings.Cut(e, "=")
		if ok && SecretName(name) && len(value) >= 6 && !status(value) && !placeholder(value, 0, len(value)) && !named(value) {
			k.Add(value)
		}
	}
}

// Len returns how many values the set holds; at most [MaxKnown].
func (k *Known) Len() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.values)
}

// all returns the values in every form they are looked for, and the version they are of.
func (k *Known) all() (forms []string, version uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, v := range k.values {
		forms = append(forms, v)
		for _, f := range []string{url.QueryEscape(v), url.PathEscape(v), jsonEscaped(v)} {
			if f != v && len(f) <= MaxLiteralLen && !slices.Contains(forms[len(forms)-1:], f) {
				forms = append(forms, f)
			}
		}
	}
	return forms, k.version.Load()
}

func jsonEscaped(v string) string {
	b, err := json.Marshal(v)
	if err != nil {
		return v
	}
	return string(b[1 : len(b)-1])
}

// SecretName reports whether a variable, field or flag of this name holds a secret: DB_PASSWORD,
// githubToken, --api-key; not TOKEN_URL, PUBLIC_KEY or KEYBOARD.
func SecretName(name string) bool {
	t := name + "=Zz9_x8Yy7-w6Vv5_u4Tt3=" // drawn at random, as far as any rule can tell
	s := scanPool.Get().(*scan)
	defer s.release()
	s.text, s.raw, s.budget = t, nil, 1<<20
	s.forget()
	for _, r := range context {
		if r.tier != hint || r.class == "bearer" || r.class == "signature" {
			continue
		}
		for _, w := range r.keywords {
			for i := 0; i+len(w) <= len(name); i++ {
				if !matches(name[i:], w) {
					continue
				}
				if c, ok := r.find(s, i, i+len(w)); ok && c.hit && c.start == len(name)+1 {
					return true
				}
			}
		}
	}
	return false
}

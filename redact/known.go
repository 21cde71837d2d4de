package redact

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	// MaxKnown is how many values a [Known] holds, as far as the automaton has room for their beginnings: about what a server's
	// sessions have at once. More cost more with each value that comes: the automaton is built anew.
	MaxKnown = 1024
	// maxKnownStates bounds the states that the values take of an automaton: each needs up to maxKeyword for every form that
	// begins in another way. Beside a [Policy]'s literals and the built-in keywords, the automaton has room for half as many again.
	maxKnownStates = 16 << 10
	// MinKnown is how many bytes a known value must have: a shorter one stands in every text, and
	// hiding it there would tell where it was typed.
	MinKnown = 4
)

// Known is a set of values that are secret whatever they look like: what a session was given in
// its environment, tokens of the server, what was typed while the program had echo off. Each is
// looked for as it is and as programs write it: escaped in a URL, JSON, HTML or a shell's quotes,
// in base64 and hexadecimal digits; of the oldest, when some hundred are held, as it is and in
// URLs and JSON only. The set may grow at any time; a [Redactor] made by [Redactor.With] hides what it holds from then on. When it is full, values leave that
// nothing alive needs any more, and then the oldest. The zero Known is empty and ready. All methods are safe for concurrent use,
// and the values are never shown, nor part of any error.
type Known struct {
	// Forgot is told how many values are known when one had to leave although it was needed: it is hidden no more, but where a
	// rule knows its shape. It may be nil, is set before the first value is added, and must not block.
	Forgot func(known int)

	version atomic.Uint64 // changes with values

	mu sync.Mutex
	// protects the fields below
	values []known // oldest first
	states int     // of all values
	forgot int
	// changed is closed when more becomes known; nil: nobody waits for it.
	changed chan struct{}
}

// known is one value.
type known struct {
	value  string
	forms  []string // in which it is looked for
	states int      // that these take at most
	few    bool     // the rarer forms were given up
	// users are open as long as somebody needs it; nil: it is needed for good.
	users []<-chan struct{}
}

// needed reports whether somebody still needs the value.
func (v *known) needed() bool {
	return v.users == nil || slices.ContainsFunc(v.users, func(u <-chan struct{}) bool { return !isClosed(u) })
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Add adds values. One shorter than [MinKnown] bytes, or over [MaxLiteralLen], is not taken; of
// one with several lines each line is (a key in a variable). It costs microseconds; the first text
// after it some hundred more, once, or about ten milliseconds when the set is full.
func (k *Known) Add(values ...string) { k.add(nil, values) }

// AddUntil is Add of values that something alive needs, as a session does: once ended is closed they leave before any other
// when there is no room. They are hidden until then. The same value may be added for several, and for good.
func (k *Known) AddUntil(ended <-chan struct{}, values ...string) { k.add(ended, values) }

func (k *Known) add(until <-chan struct{}, values []string) {
	k.mu.Lock()
	before, version := k.forgot, k.version.Load()
	k.put(until, values)
	if k.changed != nil && k.version.Load() != version {
		close(k.changed)
		k.changed = nil
	}
	forgot, n := k.forgot > before, len(k.values)
	k.mu.Unlock()
	if forgot && k.Forgot != nil {
		k.Forgot(n)
	}
}

// Changed returns a channel that is closed when more becomes known. Whoever has shown a text that may hold what is secret by then takes
// the channel first and looks afterwards, so that nothing between the two is missed.
func (k *Known) Changed() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.changed == nil {
		k.changed = make(chan struct{})
	}
	return k.changed
}

// put is add with mu held.
func (k *Known) put(until <-chan struct{}, values []string) {
	for _, v := range values {
		for line := range strings.FieldsFuncSeq(v, func(c rune) bool { return c == '\n' || c == '\r' }) {
			if line = stripped(line); len(line) < MinKnown || len(line) > MaxLiteralLen {
				continue
			}
			now := known{value: line, forms: slices.Concat(formsOf(line), rareForms(line))}
			now.states = statesOf(now.forms)
			if until != nil {
				now.users = []<-chan struct{}{until}
			}
			if i := slices.IndexFunc(k.values, func(v known) bool { return v.value == line }); i >= 0 {
				was := k.values[i]
				switch was.users = slices.DeleteFunc(was.users, isClosed); {
				case was.users == nil: // for good
					now.users = nil
				case now.users != nil:
					now.users = append(was.users, now.users...)
				}
				k.values = slices.Delete(k.values, i, i+1)
				k.states -= was.states
			}
			k.values = append(k.values, now)
			k.states += now.states
			k.version.Add(1)
		}
	}
	k.trim()
}

// trim makes room: what nothing needs goes first, then the rarer forms of the oldest, then these. It is called with mu held.
func (k *Known) trim() {
	for pass := range 2 {
		if pass > 0 {
			k.thin()
		}
		for i := 0; i < len(k.values) && (len(k.values) > MaxKnown || k.states > maxKnownStates); {
			v := &k.values[i]
			needed := v.needed()
			if pass == 0 && needed {
				i++
				continue
			}
			if needed {
				k.forgot++
			}
			k.states -= v.states
			k.values = slices.Delete(k.values, i, i+1)
		}
	}
}

// thin makes room by looking for the oldest values in fewer forms.
func (k *Known) thin() {
	for i := range k.values {
		if k.states <= maxKnownStates {
			return
		}
		v := &k.values[i]
		if v.few {
			continue
		}
		k.states -= v.states
		v.few, v.forms = true, formsOf(v.value)
		v.states = statesOf(v.forms)
		k.states += v.states
		k.version.Add(1)
	}
}

// AddEnv adds the values of those variables ("NAME=value", as os.Environ has them) whose names
// [SecretName] takes for secrets' and whose values do not only stand for one.
func (k *Known) AddEnv(environ []string) { k.Add(secretValues(environ)...) }

// Lend is AddEnv of the variables of a program that is about to be started: the error, if it cannot be, may quote them. The
// caller calls settle once: with the channel whose end is that of their need, or with nil when there is no program.
func (k *Known) Lend(env map[string]string) (settle func(ended <-chan struct{})) {
	environ := make([]string, 0, len(env))
	for name, value := range env {
		environ = append(environ, name+"="+value)
	}
	values := secretValues(environ)
	starting := make(chan struct{})
	k.add(starting, values)
	return func(ended <-chan struct{}) {
		if ended != nil {
			k.add(ended, values)
		}
		close(starting)
	}
}

func secretValues(environ []string) (values []string) {
	for _, e := range environ {
		name, value, ok := strings.Cut(e, "=")
		if ok && SecretName(name) && len(value) >= 6 && !status(value) && !placeholder(value, 0, len(value)) && !named(value) {
			values = append(values, value)
		}
	}
	return values
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
	for i := range k.values {
		forms = append(forms, k.values[i].forms...)
	}
	return forms, k.version.Load()
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
				if fold(name[i]) != fold(w[0]) || !matches(name[i:], w) { // the first byte settles most
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

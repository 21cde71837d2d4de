package redact

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/ptywright/ptywright/redact/internal/rules"
)

const (
	// MinKnown is how many bytes a known value must have: a shorter one occurs in every text, and
	// hiding it would reveal where it was typed.
	MinKnown = 4
	// MaxEnv is how many secrets one program may get in its environment: see [Known.Lend]. A
	// program that needs more reads them from a file.
	MaxEnv = 1024
	// MaxTyped is how many lines typed into one session a [Known] keeps; the oldest is dropped.
	MaxTyped = 64
	// maxEnvs is how many secrets the programs of all sessions may get together, each counted once
	// however many have it: sessions started from one shell share theirs. A value costs about 2 KiB
	// in all its forms.
	maxEnvs = 16 * MaxEnv
	// maxOver is how many ended sessions keep their values, and maxOverValues how many values they
	// keep together, about 8 MiB.
	maxOver, maxOverValues = 256, 4 * MaxEnv
	// minShared is how many characters a value must have to be hidden in sessions other than its
	// own.
	minShared = 6
)

// Known is a set of values that are secret whatever they look like: what a session got in its
// environment, tokens of the server, what was typed where a program asked for it. Each is searched
// for literally and as programs write it: escaped in a URL, JSON, HTML or a shell's quotes, in
// base64 and hexadecimal digits. Their number affects neither the cost of a text nor, by more than
// microseconds, the cost of adding one.
//
// A value belongs to everybody, or to sessions: see [Redactor.For]. A session's value is hidden in
// all others too while the session lives, unless it has fewer than six characters or is a common
// word, such as "admin": that would hide text that is not secret there. Texts of an ended session
// may still be on their way to clients, and are searched for its values until more recently ended
// sessions have taken its place.
//
// The set may grow and shrink at any time; a [Redactor] made by [Redactor.With] hides what it
// holds. The zero Known is empty and ready to use. All methods are safe for concurrent use, and the
// values are never shown, nor part of any error.
type Known struct {
	index atomic.Pointer[index] // nil: empty

	mu sync.Mutex
	// protects the fields below
	values map[string]*value
	owners map[string]*owner
	over   []*owner // ended ones, in the order in which that was found; also in owners
	swept  int      // number of values when unneeded ones were last dropped
	called int      // number of owners then
	forms  int      // of all values
	// changed is closed when the set changes; nil: nobody is waiting.
	changed chan struct{}
}

// A Standing says what is known of a line that was typed without echo.
type Standing uint8

const (
	// Suspected: it may be a secret. It is hidden from readers of its session.
	Suspected Standing = iota
	// Certain: it is a secret.
	Certain
	// Cleared: it was suspected and is not one.
	Cleared
)

// value is one value. Only held changes.
type value struct {
	text   string
	forms  []string // that are searched for
	narrow bool     // it is hidden in its own sessions only
	held   atomic.Pointer[[]hold]
}

// hold is a reason why a value is known.
type hold struct {
	own   *owner          // nil: everybody's
	until <-chan struct{} // without own: until this is closed; nil: for good
	why   reason          // with own
}

// reason is a set of the reasons why a value belongs to a session.
type reason uint8

const (
	inEnv      reason = 1 << iota
	wasTyped          // and it is a secret
	maybeTyped        // and it is suspected
)

// owner is one session.
type owner struct {
	name string
	ends atomic.Pointer[[]<-chan struct{}] // it lives while one of them is open

	// guarded by Known.mu
	typed []*value // oldest first
	envs  int      // number of values from its environment
	over  bool     // it is in Known.over
}

func (o *owner) alive() bool { return slices.ContainsFunc(*o.ends.Load(), isOpen) }

func isOpen(c <-chan struct{}) bool {
	select {
	case <-c:
		return false
	default:
		return true
	}
}

// counts reports whether h still applies, for readers of another session.
func (h *hold) counts() bool {
	if h.own != nil {
		return h.own.alive()
	}
	return h.until == nil || isOpen(h.until)
}

// hides reports whether the value is hidden from readers of the session; with all, of any session.
func (v *value) hides(session string, all bool) bool {
	return slices.ContainsFunc(*v.held.Load(), func(h hold) bool {
		if h.own != nil && (all || h.own.name == session) {
			return true
		}
		return (h.own == nil || h.why&^maybeTyped != 0 && !v.narrow) && h.counts()
	})
}

// Add adds values for good, for everybody. A value shorter than [MinKnown] bytes, or longer than
// [MaxLiteralLen], is ignored; of one with several lines each line is added (a key in a variable).
// Blanks around a line are trimmed.
func (k *Known) Add(values ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, v := range linesOf(values) {
		k.hold(v, hold{})
	}
	k.tell()
}

// AddEnv adds for good, for everybody, the values of the variables ("NAME=value", as from
// os.Environ) whose names [SecretName] recognizes and whose values are not placeholders.
func (k *Known) AddEnv(environ []string) { k.Add(secretValues(environ)...) }

// linesOf returns the usable lines of values.
func linesOf(values []string) (taken []string) {
	seen := map[string]bool{}
	for _, v := range values {
		for line := range strings.FieldsFuncSeq(v,
			func(c rune) bool { return c == '\n' || c == '\r' }) {
			line = strings.Trim(stripped(line), " \t")
			if len(line) >= MinKnown && len(line) <= MaxLiteralLen && !seen[line] {
				seen[line] = true
				taken = append(taken, line)
			}
		}
	}
	return taken
}

// An EnvLimitError says that an environment has more secrets than can be hidden.
type EnvLimitError struct {
	Count int  // secrets, including those that the session, or all sessions, already have
	Limit int  // of Count
	All   bool // the limit is for all sessions together
}

func (e *EnvLimitError) Error() string {
	if e.All {
		return fmt.Sprintf("the environments of all sessions would have %d secrets, by their variables' names, and at most %d are hidden: "+
			"close sessions, or hand secrets over in files", e.Count, e.Limit)
	}
	return fmt.Sprintf("the environment has %d secrets, by their variables' names, and at most %d are hidden for one program: "+
		"hand them over in a file", e.Count, e.Limit)
}

// Lend adds the secrets in the environment of a program that is about to start: the error, if that
// fails, may quote them. Everybody's texts are searched for them until the caller calls settle,
// once: with the session that now owns them and the channel that is closed when it ends, or with
// nil when nothing was started. A session's values are never evicted while it lives. The error is
// an [*EnvLimitError], and then nothing was added and settle is nil.
func (k *Known) Lend(env map[string]string) (settle func(session string, ended <-chan struct{}), err error) {
	return k.lend(env, "")
}

// LendTo is Lend for additions to the environment of a running session.
func (k *Known) LendTo(session string, ended <-chan struct{}, env map[string]string) error {
	settle, err := k.lend(env, session)
	if err == nil {
		settle(session, ended)
	}
	return err
}

func (k *Known) lend(env map[string]string,
	to string) (settle func(string, <-chan struct{}), err error) {
	environ := make([]string, 0, len(env))
	for name, value := range env {
		environ = append(environ, name+"="+value)
	}
	values := linesOf(secretValues(environ))
	if len(values) == 0 {
		return func(string, <-chan struct{}) {}, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if values = slices.DeleteFunc(values, k.everybodys); len(values) == 0 {
		return func(string, <-chan struct{}) {}, nil
	}
	if err := k.room(values, to); err != nil {
		return nil, err
	}
	starting := make(chan struct{})
	for _, v := range values {
		k.hold(v, hold{until: starting})
	}
	k.tell()
	return func(session string, ended <-chan struct{}) {
		k.mu.Lock()
		defer k.mu.Unlock()
		defer close(starting)
		if ended == nil {
			return
		}
		o := k.owner(session, ended)
		for _, v := range values {
			if k.hold(v, hold{own: o, why: inEnv}) {
				o.envs++
			}
		}
		k.tell()
	}, nil
}

// everybodys reports whether a value is everybody's for good: owning it as well changes nothing for
// a session. mu is held.
func (k *Known) everybodys(text string) bool {
	v := k.values[text]
	return v != nil && slices.Contains(*v.held.Load(), hold{})
}

// room returns an error when adding these values of an environment would exceed a limit. mu is
// held.
func (k *Known) room(values []string, to string) error {
	more, all := len(values), len(values)
	for name, o := range k.owners {
		if !o.alive() {
			continue
		}
		all += o.envs
		if name == to {
			more += o.envs
		}
	}
	if all > maxEnvs {
		all = k.inEnvs(values)
	}
	switch {
	case more > MaxEnv:
		return &EnvLimitError{Count: more, Limit: MaxEnv}
	case all > maxEnvs:
		return &EnvLimitError{Count: all, Limit: maxEnvs, All: true}
	}
	return nil
}

// inEnvs returns how many values the environments of all sessions would have with more. mu is held.
func (k *Known) inEnvs(more []string) int {
	n := len(more)
	for _, v := range k.values {
		if !slices.Contains(more, v.text) && slices.ContainsFunc(*v.held.Load(), func(h hold) bool {
			return h.own != nil && h.why&inEnv != 0 && h.own.alive()
		}) {
			n++
		}
	}
	return n
}

// Typed records what is known of a line that was typed into a session, which ends when ended is
// closed. Beyond [MaxTyped] lines the oldest is dropped.
func (k *Known) Typed(session string, ended <-chan struct{}, line string, is Standing) {
	k.mu.Lock()
	defer k.mu.Unlock()
	o := k.owner(session, ended)
	for _, text := range linesOf([]string{line}) {
		if is == Cleared {
			if v := k.values[text]; v != nil {
				k.release(v, o, maybeTyped)
			}
			continue
		}
		why := wasTyped
		if is == Suspected {
			why = maybeTyped
		}
		k.hold(text, hold{own: o, why: why})
		v := k.values[text]
		o.typed = append(slices.DeleteFunc(o.typed, func(x *value) bool { return x == v }), v)
		if len(o.typed) > MaxTyped {
			k.release(o.typed[0], o, wasTyped|maybeTyped)
		}
	}
	k.tell()
}

// keep keeps what belongs to a session until a channel is closed, even if the session ends earlier.
func (k *Known) keep(session string, until <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.owner(session, until)
}

// owner returns the session of that name, which lives at least until ended is closed. mu is held.
func (k *Known) owner(name string, ended <-chan struct{}) *owner {
	o := k.owners[name]
	if o == nil {
		if len(k.owners) >= 2*k.called+maxOver { // their values may be duplicates
			k.sweep()
		}
		o = &owner{name: name}
		o.ends.Store(new([]<-chan struct{}))
		if k.owners == nil {
			k.owners = map[string]*owner{}
		}
		k.owners[name] = o
	}
	if ends := *o.ends.Load(); !slices.Contains(ends, ended) {
		ends = append(slices.DeleteFunc(slices.Clone(ends),
			func(c <-chan struct{}) bool { return !isOpen(c) }), ended)
		o.ends.Store(&ends)
	}
	return o
}

// hold records why a value is known, and reports whether that is new. mu is held.
func (k *Known) hold(text string, h hold) (fresh bool) {
	v := k.values[text]
	if v == nil {
		if len(k.values) >= 2*k.swept+MaxTyped {
			k.sweep()
		}
		v = &value{text: text, forms: formsOf(text),
			narrow: utf8.RuneCountInString(text) < minShared || rules.Common(text)}
		v.held.Store(&[]hold{h})
		if k.values == nil {
			k.values = map[string]*value{}
		}
		k.values[text] = v
		k.insert(v)
		return true
	}
	held := slices.DeleteFunc(slices.Clone(*v.held.Load()),
		func(h hold) bool { return h.own == nil && !h.counts() })
	i := slices.IndexFunc(held, func(x hold) bool { return x.own == h.own && x.until == h.until })
	if i < 0 {
		held, fresh = append(held, h), true
	} else {
		fresh = held[i].why|h.why != held[i].why
		held[i].why |= h.why
	}
	v.held.Store(&held)
	return fresh
}

// release removes reasons. mu is held.
func (k *Known) release(v *value, o *owner, why reason) {
	held := slices.Clone(*v.held.Load())
	i := slices.IndexFunc(held, func(h hold) bool { return h.own == o })
	if i < 0 {
		return
	}
	held[i].why &^= why
	if held[i].why&(wasTyped|maybeTyped) == 0 {
		o.typed = slices.DeleteFunc(o.typed, func(x *value) bool { return x == v })
	}
	if held[i].why == 0 {
		held = slices.Delete(held, i, i+1)
	}
	v.held.Store(&held)
	if len(held) == 0 {
		k.drop(v)
	}
}

// sweep drops what is no longer needed. mu is held.
func (k *Known) sweep() {
	for _, o := range k.owners {
		if !o.over && !o.alive() {
			o.over = true
			k.over = append(k.over, o)
		}
	}
	k.over = slices.DeleteFunc(k.over, func(o *owner) bool { // it is recorded, and was not then
		o.over = !o.alive()
		return !o.over
	})
	gone := k.outlived()
	for _, v := range k.values {
		held := slices.DeleteFunc(slices.Clone(*v.held.Load()), func(h hold) bool {
			return h.own == nil && !h.counts() || gone[h.own]
		})
		if v.held.Store(&held); len(held) == 0 {
			k.drop(v)
		}
	}
	for o := range gone {
		delete(k.owners, o.name)
	}
	k.swept, k.called = len(k.values), len(k.owners)
}

// outlived removes from over the sessions whose values have to go: the oldest, beyond maxOver. mu
// is held.
func (k *Known) outlived() (gone map[*owner]bool) {
	gone = map[*owner]bool{}
	values := 0
	for i, o := range slices.Backward(k.over) {
		values += o.envs + len(o.typed)
		if len(k.over)-i > maxOver || values > maxOverValues {
			for _, o := range k.over[:i+1] {
				gone[o] = true
			}
			k.over = slices.Clone(k.over[i+1:])
			break
		}
	}
	return gone
}

// tell wakes callers that wait for a change. mu is held.
func (k *Known) tell() {
	if k.changed != nil {
		close(k.changed)
		k.changed = nil
	}
}

// Changed returns a channel that is closed when the set changes. A caller that has shown a text
// which may contain a later secret takes the channel first and checks the text afterwards, so that
// it misses nothing in between.
func (k *Known) Changed() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.changed == nil {
		k.changed = make(chan struct{})
	}
	return k.changed
}

// Len returns how many values the set holds: values without an owner are dropped now and then.
func (k *Known) Len() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.values)
}

// insert makes a value searchable. mu is held.
func (k *Known) insert(v *value) {
	ix := index{root: new(node)}
	if was := k.index.Load(); was != nil {
		ix = *was
	}
	k.forms += len(v.forms)
	if ix.gate == nil || ix.gate.forms+len(v.forms) > ix.gate.room {
		ix.gate = newGate(2 * k.forms)
		for _, x := range k.values { // v is among them
			for _, f := range x.forms {
				ix.gate.add(f)
			}
		}
	} else {
		for _, f := range v.forms {
			ix.gate.add(f)
		}
	}
	for _, f := range v.forms {
		ix.root = ix.root.with(f, v)
		known := f[:min(len(f), gateLen)]
		ix.lens |= 1 << len(known)
		ix.wide = ix.wide || !rules.ASCII(known)
	}
	k.index.Store(&ix)
}

// drop makes a value unsearchable. mu is held.
func (k *Known) drop(v *value) {
	delete(k.values, v.text)
	k.forms -= len(v.forms)
	ix := *k.index.Load()
	for _, f := range v.forms {
		ix.root = ix.root.without(f, v)
	}
	if ix.root == nil {
		k.index.Store(nil)
		return
	}
	k.index.Store(&ix)
}

func secretValues(environ []string) (values []string) {
	for _, e := range environ {
		if name, value, ok := strings.Cut(e, "="); ok && rules.SecretVariable(name, value) {
			values = append(values, value)
		}
	}
	return values
}

// SecretName reports whether a variable, field or flag of this name holds a secret: DB_PASSWORD,
// githubToken, --api-key; not TOKEN_URL, PUBLIC_KEY or KEYBOARD.
func SecretName(name string) bool { return rules.SecretName(name) }

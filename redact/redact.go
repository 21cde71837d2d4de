// Package redact hides secrets in text that leaves the process. Begin with [Default]:
//
//	fmt.Println(redact.Default.String(text))
//
// [New] compiles a [Policy] of your own into a [Redactor]. A Redactor reads text by logical lines:
// [Redactor.Spans] says which bytes of one line to replace, [Redactor.Page] the same for adjacent
// lines (for callers that map them back to cells), [Redactor.String] rewrites a whole text, and a
// [Stream] does the same for text that arrives in pieces. Control sequences inside a line neither
// hide a secret nor get lost. Nor does a line end hide one: a token that a program broke at the
// edge of the screen, or in a frame, is read on in the next line, and a private key to its last.
//
// There are two tiers of rules. The first knows tokens by their form (providers); the second knows
// names, headers and commands before a value (context), and asks more of the value the less the
// name says. One pass of an automaton finds where any of them may apply. In addition there are
// values that the caller knows to be secret: a policy's literals, and a [Known] set, which may
// grow.
//
// A token that stands alone is hidden when it looks random. What manuals print as samples, such as
// ghp_abcdefghijklmnopqrstuvwxyz0123456789 and AKIAIOSFODNN7EXAMPLE, is shown: try a random value.
//
// The package retains nothing it has read, writes nothing, and never shows a text that it could not
// judge: a rule that panics or takes too long costs the line, not the secret.
package redact

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ptywright/ptywright/redact/internal/rules"
)

// Redactor is a compiled [Policy], with the [Known] values it was given. It changes only with
// these: any number of goroutines may use one.
type Redactor struct {
	policy func() *compiled // without known values; the same each time
	known  *Known           // nil: none
	reader reader           // whose texts it redacts
	// current is policy with known's most recent values.
	current atomic.Pointer[compiled]
}

// A reader identifies whose texts are judged, which decides the known values hidden in them.
type reader struct {
	session string
	all     bool // those of all sessions
	begun   bool // a value's beginning at a line's end is hidden, too
}

// compiled are the rules that texts are judged by. They do not change.
type compiled struct {
	head, tail string                            // of the replacement: a class goes between
	mark       func(class, secret string) string // nil: the replacement
	classes    bool
	table      []rules.Rule // the built-in table, then one for each literal
	words      *automaton
	literals   []string // of the policy
	regexes    []*regexp.Regexp
	index      *index // of the known values; nil: there are none
	reader     reader
	thorough   bool // never trust a first look: tests compare it against this
}

// Default is the [Redactor] of the zero [Policy].
var Default = &Redactor{policy: sync.OnceValue(func() *compiled {
	r, err := compile(Policy{}, nil)
	if err != nil {
		panic(err) // the built-in table is ours
	}
	return r.policy()
})}

// New compiles p. Every error is a [*PolicyError]. Compile once and keep the result: it costs
// microseconds without literals and up to a few milliseconds at the limits.
//
// The built-in rules are compiled only once, by the first New or the first text that a [Redactor]
// reads, which takes about a millisecond longer.
func New(p Policy) (*Redactor, error) { return compile(p, nil) }

// redactor returns r as a Redactor.
func (r *compiled) redactor() *Redactor { return &Redactor{policy: func() *compiled { return r }} }

// Marking returns a Redactor that hides what r does, now and later, but replaces it differently: by
// what mark returns for a secret and its class, or by replacement where that is empty or mark is
// nil. It is for formats that have their own way to say that something was hidden. What mark
// returns is shown. The secret is without control sequences, and may be only its beginning; mark is
// called from every goroutine that uses the Redactor, concurrently. The error is a [*PolicyError].
func (r *Redactor) Marking(replacement string,
	mark func(class, secret string) string) (*Redactor, error) {
	if err := checkReplacement(replacement); err != nil {
		return nil, err
	}
	c := *r.policy()
	c.replaceBy(replacement)
	c.mark = mark
	marking := c.redactor()
	marking.known, marking.reader = r.known, r.reader
	return marking, nil
}

// replaceBy sets the replacement.
func (r *compiled) replaceBy(replacement string) {
	r.head, r.tail = replacement, ""
	if k := len(replacement) - 1; strings.IndexByte("])}>", replacement[k]) >= 0 {
		r.head, r.tail = replacement[:k], replacement[k:]
	}
}

// builtinWords is the automaton of the built-in rules, which most policies share.
var builtinWords = sync.OnceValue(func() *automaton { return newAutomaton(rules.Builtin()) })

// compile is New over a table; nil is the built-in one.
func compile(p Policy, table []rules.Rule) (*Redactor, error) {
	replacement := p.Replacement
	if replacement == "" {
		replacement = DefaultReplacement
	}
	if err := checkReplacement(replacement); err != nil {
		return nil, err
	}
	r := &compiled{classes: p.Classes}
	r.replaceBy(replacement)
	if err := r.addLiterals(p.ExtraLiterals); err != nil {
		return nil, err
	}
	if err := r.addRegexes(p.ExtraRegexes); err != nil {
		return nil, err
	}
	if table == nil {
		r.table, r.words = rules.Builtin(), builtinWords()
	} else {
		r.table, r.words = table, newAutomaton(table)
	}
	r.compileLiterals()
	return r.redactor(), nil
}

// compileLiterals adds the literals to the rules.
func (r *compiled) compileLiterals() {
	if len(r.literals) == 0 {
		return
	}
	slices.SortStableFunc(r.literals, func(a, b string) int { return len(b) - len(a) }) // the longest wins
	r.table = slices.Clone(r.table)
	for _, l := range slices.Compact(r.literals) {
		r.table = append(r.table, rules.Literal("literal", l))
	}
	r.words = newAutomaton(r.table)
}

// covered counts what was hidden, by all redactors.
var covered atomic.Int64

// Covered returns how many values this process has hidden, counting a value each time it would have
// been shown. It is a statistic for operators, and safe to call at any time.
func Covered() int64 { return covered.Load() }

// With returns a Redactor of the same policy that also hides what k holds for everybody, now and
// later; nil means none. Values of sessions are hidden as in texts that belong to no session: see
// [Redactor.For].
func (r *Redactor) With(k *Known) *Redactor { return &Redactor{policy: r.policy, known: k} }

// For returns a Redactor for the texts of a session: it also hides all known values of that
// session. It costs one allocation, and nothing is compiled.
func (r *Redactor) For(session string) *Redactor {
	return &Redactor{policy: r.policy, known: r.known, reader: reader{session: session}}
}

// Begun returns a Redactor for the same texts that also hides, at the end of a line, the beginning of
// a known value, of 4 bytes or more: for texts as they were while it was being written.
func (r *Redactor) Begun() *Redactor {
	c := &Redactor{policy: r.policy, known: r.known, reader: r.reader}
	c.reader.begun = true
	return c
}

// ForAll returns a Redactor for texts whose session is unknown, such as a log: it hides the known
// values of all sessions.
func (r *Redactor) ForAll() *Redactor {
	return &Redactor{policy: r.policy, known: r.known, reader: reader{all: true}}
}

// Hold keeps the known values of the Redactor's session until a channel is closed, even if the
// session ends earlier: a recording of it is still being written.
func (r *Redactor) Hold(until <-chan struct{}) {
	if r.known != nil && r.reader.session != "" {
		r.known.keep(r.reader.session, until)
	}
}

// now returns the current rules.
func (r *Redactor) now() *compiled {
	if r.known == nil {
		return r.policy()
	}
	ix := r.known.index.Load()
	if ix == nil {
		return r.policy()
	}
	c := r.current.Load()
	if c == nil || c.index != ix {
		n := *r.policy()
		n.index, n.reader = ix, r.reader
		c = &n
		r.current.Store(c)
	}
	return c
}

// hides reports whether a known value is hidden here.
func (r *compiled) hides(v *value) bool { return v.hides(r.reader.session, r.reader.all) }

// marker is what replaces a secret of the class.
func (r *compiled) marker(class string) string {
	if !r.classes || class == "" {
		return r.head + r.tail
	}
	return r.head + ":" + class + r.tail
}

// markerOf is what replaces the secret of the class, which may contain control sequences.
func (r *compiled) markerOf(class, secret string) string {
	if r.mark != nil {
		if m := r.mark(class, stripped(secret)); m != "" {
			return m
		}
	}
	return r.marker(class)
}

// Span is a byte range of a line and its replacement.
type Span struct {
	Start, End int
	Text       string
}

// Spans returns the ranges of line to replace, sorted and not overlapping; nil, without allocation,
// when there are none. A line is a logical one: soft-wrapped rows joined, no line end in it. A
// secret that is broken by control sequences yields one span for each piece, the first with the
// replacement and the others with an empty Text, so that the sequences stay. When a rule fails, the
// whole line is one span.
//
// A single line does not show that it continues the one above: see [Redactor.Page].
func (r *Redactor) Spans(line string) []Span { return r.now().spans(line, new(memory), false) }

// spans judges a line as the one below what m remembers. With last, the line is complete, and m
// remembers it.
func (r *compiled) spans(line string, m *memory, last bool) (spans []Span) {
	defer func() {
		if recover() != nil {
			spans = []Span{{0, len(line), r.marker("")}}
			*m = memory{}
		}
	}()
	s := r.scan(line)
	if found := s.judge(needLook, m, last); len(found) > 0 {
		spans = r.pieces(line, found)
	}
	s.release()
	return spans
}

// String returns s with its secrets replaced. Lines end at LF; CR LF stays as it is. Bytes that are
// not part of a secret are unchanged. Redacting twice is the same as redacting once, unless what
// was hidden had kept another rule from matching next to it.
func (r *Redactor) String(s string) string { return r.From(s, 0) }

// From returns what [Redactor.String] leaves of s[at:]: the text from a position on, redacted with
// what precedes it in view. Of a secret that spans at, the rest is replaced.
func (r *Redactor) From(s string, at int) string {
	o := newOutput(s, at)
	o.apply(0, r.now().edits(s))
	return o.upTo(len(s))
}

// Asks reports whether the cursor's line, or the one above it, asks for a secret: whether it
// contains a word for one, in any of about thirty languages. It is meant for a program that reads
// without echo: elsewhere such words are everywhere. typed is the program's earlier input; what the
// line above repeats of it does not count. The lines are logical ones: join rows that wrapped.
func Asks(line, above, typed string) bool { return rules.Asks(line, above, typed) }

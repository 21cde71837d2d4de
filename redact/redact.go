// Package redact hides secrets in text that leaves the process.
//
// [New] compiles a [Policy] into a [Redactor]; [Default] is the policy of a caller that said
// nothing. A Redactor reads text by logical lines: [Redactor.Spans] says which bytes of one line
// go (for callers that map them back to cells), [Redactor.String] rewrites a whole text, and a
// [Stream] does the same for text that arrives in pieces. Control sequences inside a line are
// seen through: they neither hide a secret nor get lost.
//
// The package keeps nothing it has read, writes nothing, and never shows a text that it could
// not judge: a rule that panics or works too long costs the line, not the secret.
package redact

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// DefaultReplacement stands where a secret was, unless a [Policy] says otherwise.
const DefaultReplacement = "[REDACTED]"

// Limits of a [Policy]. They bound what one request can make the server compile and keep: about
// 1 MiB for the automaton at most, and at most 64 passes over a text for the regexes.
const (
	MaxLiterals    = 256  // entries of ExtraLiterals
	MaxLiteralLen  = 1024 // bytes of one literal; a Stream looks this far back at a cut
	MaxRegexes     = 64   // entries of ExtraRegexes
	MaxRegexLen    = 1024 // bytes of one regex, before it is compiled
	MaxReplacement = 256  // bytes of Replacement
	MaxRegexSteps  = 4096 // instructions of all regexes, compiled: the time for a text is this by its length
)

// Policy is what a caller adds to the built-in rules. The zero Policy is the default.
type Policy struct {
	// Replacement is put in place of each secret, literally: `$1` is not expanded, because a
	// group of a match is a part of the secret. Empty means [DefaultReplacement]. It may not be
	// blank or hold control characters.
	Replacement string
	// ExtraLiterals are hidden wherever they occur, case-sensitively. Empty entries are ignored;
	// an entry of several lines hides each of its lines.
	ExtraLiterals []string
	// ExtraRegexes are RE2 expressions (package regexp); a match is hidden whole. They see one
	// logical line at a time. One that could match the empty string is refused.
	ExtraRegexes []string
}

// PolicyError says which entry of a [Policy] cannot be used, and why. Its message quotes at most
// 32 characters of a regex, escaped, and nothing of a literal, since a literal is a secret.
type PolicyError struct {
	Field  string // "replacement", "extra_literals" or "extra_regexes", as on the wire
	Index  int    // of the entry; -1 when the field as a whole is meant
	Quoted string // the beginning of the entry, escaped; empty when nothing is quoted
	Reason string // what is wrong, and what to do
}

func (e *PolicyError) Error() string {
	var b strings.Builder
	b.WriteString("redaction policy: " + e.Field)
	if e.Index >= 0 {
		fmt.Fprintf(&b, "[%d]", e.Index)
	}
	if e.Quoted != "" {
		b.WriteString(" " + e.Quoted)
	}
	b.WriteString(": " + e.Reason)
	return b.String()
}

// Redactor is a compiled [Policy]. It is immutable: any number of goroutines may use one.
type Redactor struct {
	replacement string
	rules       []rule // the built-in table, then one for each literal
	words       *automaton
	literals    []string // longest first
	regexes     []*regexp.Regexp
}

// Default is the [Redactor] of the zero [Policy].
var Default = func() *Redactor {
	r, err := New(Policy{})
	if err != nil {
		panic(err) // the built-in table is ours
	}
	return r
}()

// New compiles p. Every error is a [*PolicyError]. Compile once and keep the result: it costs
// microseconds for the default and up to some milliseconds at the limits.
func New(p Policy) (*Redactor, error) { return compile(p, builtin) }

func compile(p Policy, table []rule) (*Redactor, error) {
	r := &Redactor{replacement: p.Replacement, rules: slices.Clone(table)}
	if r.replacement == "" {
		r.replacement = DefaultReplacement
	}
	if err := checkReplacement(r.replacement); err != nil {
		return nil, err
	}
	if err := r.addLiterals(p.ExtraLiterals); err != nil {
		return nil, err
	}
	if err := r.addRegexes(p.ExtraRegexes); err != nil {
		return nil, err
	}
	r.words = newAutomaton(r.rules)
	return r, nil
}

func checkReplacement(s string) error {
	bad := func(reason string) error {
		return &PolicyError{Field: "replacement", Index: -1, Reason: reason}
	}
	switch {
	case len(s) > MaxReplacement:
		return bad(fmt.Sprintf("has %d bytes, the limit is %d", len(s), MaxReplacement))
	case !utf8.ValidString(s):
		return bad("is not valid UTF-8")
	case strings.TrimSpace(s) == "":
		return bad("is blank; leave it empty for " + DefaultReplacement)
	case strings.ContainsFunc(s, unicode.IsControl):
		return bad("holds a control character, which would reach the reader's terminal")
	}
	return nil
}

func (r *Redactor) addLiterals(entries []string) error {
	field := "extra_literals"
	if len(entries) > MaxLiterals {
		return &PolicyError{Field: field, Index: -1,
			Reason: fmt.Sprintf("has %d entries, the limit is %d", len(entries), MaxLiterals)}
	}
	for i, e := range entries {
		if len(e) > MaxLiteralLen {
			return &PolicyError{Field: field, Index: i,
				Reason: fmt.Sprintf("has %d bytes, the limit is %d; give its lines or its beginning", len(e), MaxLiteralLen)}
		}
		for line := range strings.FieldsFuncSeq(e, func(c rune) bool { return c == '\n' || c == '\r' }) {
			// A text is read with its control characters taken out, so the literal is too.
			if line = stripped(line); line != "" && !slices.Contains(r.literals, line) {
				r.literals = append(r.literals, line)
			}
		}
	}
	slices.SortStableFunc(r.literals, func(a, b string) int { return len(b) - len(a) })
	for _, l := range r.literals {
		r.rules = append(r.rules, literalRule(l))
	}
	return nil
}

func (r *Redactor) addRegexes(entries []string) error {
	field := "extra_regexes"
	if len(entries) > MaxRegexes {
		return &PolicyError{Field: field, Index: -1,
			Reason: fmt.Sprintf("has %d entries, the limit is %d", len(entries), MaxRegexes)}
	}
	steps := 0
	for i, e := range entries {
		bad := func(reason string) error {
			return &PolicyError{Field: field, Index: i, Quoted: quote(e), Reason: reason}
		}
		if len(e) > MaxRegexLen {
			return bad(fmt.Sprintf("has %d bytes, the limit is %d", len(e), MaxRegexLen))
		}
		tree, err := syntax.Parse(e, syntax.Perl)
		if err != nil {
			return bad(syntaxReason(err))
		}
		if canBeEmpty(tree) {
			return bad("could match the empty string, which hides nothing; demand at least one character")
		}
		program, err := syntax.Compile(tree.Simplify())
		if err != nil {
			return bad(syntaxReason(err))
		}
		if steps += len(program.Inst); steps > MaxRegexSteps {
			return bad(fmt.Sprintf("makes the regexes too large for every line to be held against: %d steps, the limit is %d; repeat less", steps, MaxRegexSteps))
		}
		re, err := regexp.Compile(e)
		if err != nil {
			return bad(syntaxReason(err))
		}
		r.regexes = append(r.regexes, re)
	}
	return nil
}

// syntaxReason keeps the kind of a syntax error and drops the quoted expression, whose length
// nobody bounds.
func syntaxReason(err error) string {
	if e, ok := err.(*syntax.Error); ok {
		return "is not a valid RE2 expression: " + e.Code.String()
	}
	return "is not a valid RE2 expression"
}

// canBeEmpty reports whether re has an empty match in any text, `\b` and `^` included.
func canBeEmpty(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary, syntax.OpStar, syntax.OpQuest:
		return true
	case syntax.OpRepeat:
		return re.Min == 0 || canBeEmpty(re.Sub[0])
	case syntax.OpPlus, syntax.OpCapture:
		return canBeEmpty(re.Sub[0])
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(s *syntax.Regexp) bool { return !canBeEmpty(s) })
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, canBeEmpty)
	default: // characters, classes; OpNoMatch matches nothing at all
		return false
	}
}

// quote escapes s and keeps at most 32 characters of it.
func quote(s string) string {
	const most = 32
	q := fmt.Sprintf("%+q", s)
	q = q[1 : len(q)-1]
	if len(q) > most {
		q = q[:most-3] + "..."
	}
	return `"` + q + `"`
}

// Span is a byte range of a line and what stands in its place.
type Span struct {
	Start, End int
	Text       string
}

// Spans returns the ranges of line that are to be replaced, sorted and not overlapping; nil,
// without allocation, when there are none. A line is a logical one: soft-wrapped rows joined, no
// line end in it. A secret that is broken by control sequences gives one span for each piece, the
// first with the replacement and the others with an empty Text, so that the sequences stay. When
// a rule fails, the whole line is one span.
func (r *Redactor) Spans(line string) (spans []Span) {
	defer func() {
		if recover() != nil {
			spans = []Span{{0, len(line), r.replacement}}
		}
	}()
	s := scanPool.Get().(*scan)
	found := r.judge(s, line)
	if len(found) > 0 {
		spans = r.pieces(line, found)
	}
	s.release()
	return spans
}

// String returns s with the secrets of each line replaced. Lines end at LF; CR LF stays as it
// is. What is not part of a secret stays byte for byte. Redacting twice is redacting once, unless
// an extra rule hid what kept a built-in one from matching beside it.
func (r *Redactor) String(s string) string {
	var b strings.Builder
	done := 0
	for start := 0; start < len(s); {
		if start += r.quiet(s[start:]); start == len(s) {
			break
		}
		end := len(s)
		if i := strings.IndexByte(s[start:], '\n'); i >= 0 {
			end = start + i + 1
		}
		body := bodyEnd(s[start:end])
		for _, sp := range r.Spans(s[start : start+body]) {
			b.WriteString(s[done : start+sp.Start])
			b.WriteString(sp.Text)
			done = start + sp.End
		}
		start = end
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// quiet returns the length of the lines at the head of s in which no rule has anything to judge: no keyword, and
// nothing that must be seen through to find one. Most text is such, and this one pass is all that it costs. A line
// that s does not end is not among them.
func (r *Redactor) quiet(s string) int {
	if len(r.regexes) > 0 {
		return 0
	}
	lines, state := 0, uint16(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if state == 0 && r.words.idle[c] {
			continue
		}
		switch {
		case c == '\n':
			lines, state = i+1, 0
		case c == '\r' && i+1 < len(s) && s[i+1] == '\n':
		case c < 0x20 && c != '\t', c == 0x7f, c >= 0xc2 && invisible(s, i) > 0:
			return lines
		default:
			if state = r.words.step(state, c); state&marked != 0 {
				return lines
			}
		}
	}
	return lines
}

// bodyEnd is the length of line without its LF or CR LF.
func bodyEnd(line string) int {
	n := len(line)
	if n > 0 && line[n-1] == '\n' {
		n--
		if n > 0 && line[n-1] == '\r' {
			n--
		}
	}
	return n
}

// scanPool keeps scratch space between calls, so that a line without a secret costs no
// allocation.
var scanPool = sync.Pool{New: func() any { return new(scan) }}

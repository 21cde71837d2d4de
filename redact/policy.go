package redact

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// DefaultReplacement replaces a secret, unless a [Policy] says otherwise.
const DefaultReplacement = "[REDACTED]"

// Limits of a [Policy]. They bound what one request can make the server compile and keep: about 1
// MiB for the automaton at most, and at most 64 passes over a text for the regexes.
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
	// Replacement replaces each secret, literally: `$1` is not expanded, because a group of a match
	// is part of the secret. Empty means [DefaultReplacement]. It must not be blank or contain
	// control characters.
	Replacement string
	// ExtraLiterals are hidden wherever they occur, case-sensitively. Empty entries are ignored;
	// an entry of several lines hides each of its lines.
	ExtraLiterals []string
	// ExtraRegexes are RE2 expressions (package regexp); a whole match is hidden. They see one
	// logical line at a time. One that could match the empty string is refused.
	ExtraRegexes []string
	// Classes makes the replacement name the kind of secret: `[REDACTED:github-token]`. The class
	// goes before a closing bracket that ends Replacement, otherwise after it.
	Classes bool
}

// PolicyError says which entry of a [Policy] cannot be used, and why. Its message quotes at most 32
// characters of a regex, escaped, and nothing of a literal, since a literal is a secret.
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

func (r *compiled) addLiterals(entries []string) error {
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
		for line := range strings.FieldsFuncSeq(e,
			func(c rune) bool { return c == '\n' || c == '\r' }) {
			// A text is read with its control characters removed, so the literal is too.
			if line = stripped(line); line != "" {
				r.literals = append(r.literals, line)
			}
		}
	}
	return nil
}

func (r *compiled) addRegexes(entries []string) error {
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

// syntaxReason keeps the kind of a syntax error and drops the quoted expression, whose length is
// unbounded.
func syntaxReason(err error) string {
	if e, ok := err.(*syntax.Error); ok {
		return "is not a valid RE2 expression: " + e.Code.String()
	}
	return "is not a valid RE2 expression"
}

// canBeEmpty reports whether re has an empty match in any text, `\b` and `^` included.
func canBeEmpty(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText,
		syntax.OpEndText,
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

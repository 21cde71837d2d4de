package tools

import (
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/ptywright/ptywright/engine"
)

// blankEnds makes an expression of a text with lines that end in blanks: rows have no trailing
// blanks, so that a prompt's ">>> " is ">>>" until something is typed after it. Not ok: search for
// the text as it is.
func blankEnds(text string) (pattern string, ok bool) {
	lines := strings.Split(text, "\n")
	for i := range lines[:len(lines)-1] {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	whole := strings.Join(lines, "\n")
	trimmed := strings.TrimRight(whole, " ")
	if strings.TrimSpace(trimmed) == "" || trimmed == whole {
		return "", false
	}
	return blankBegin + regexp.QuoteMeta(trimmed) + blankOr + whole[len(trimmed):] + blankEnd, true
}

// The parts of what blankEnds makes: (?m)text(?:$|blanks).
const blankBegin, blankOr, blankEnd = "(?m)", "(?:$|", ")"

// blankEnded is the text that an expression of blankEnds was made of.
func blankEnded(pattern string) (text string, ok bool) {
	rest, begins := strings.CutPrefix(pattern, blankBegin)
	rest, ends := strings.CutSuffix(rest, blankEnd)
	i := strings.LastIndex(rest, blankOr)
	if !begins || !ends || i < 0 || strings.Trim(rest[i+len(blankOr):], " ") != "" {
		return "", false
	}
	re, err := syntax.Parse(rest[:i], syntax.Perl)
	if err != nil || re.Op != syntax.OpLiteral || regexp.QuoteMeta(string(re.Rune)) != rest[:i] {
		return "", false
	}
	return string(re.Rune) + rest[i+len(blankOr):], true
}

// asAsked is a match in which the expressions of blankEnds are replaced with the texts that were
// asked for.
func asAsked(m *engine.Match) *engine.Match {
	x := *m
	if text, ok := blankEnded(m.Pattern); ok && m.Kind == "screen_regex" {
		x.Kind, x.Text, x.Pattern, x.Capture = "contains_text", text, "", ""
	}
	x.Parts = nil
	for _, part := range m.Parts {
		x.Parts = append(x.Parts, asAsked(part))
	}
	return &x
}

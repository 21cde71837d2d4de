package rules

import (
	"strings"
	"unicode/utf8"
)

// A secret split by a line's end is in both lines. This file decides whether it continues; package
// redact decides where to look.

const (
	// LeastRest is how much of a token must be in the next line to be worth a look: less reveals
	// nothing once the rest is hidden, and words are as short.
	LeastRest = 6
	// leastNarrow is how much of a token must be at the end of a line that no edge cuts off, to be
	// hidden before the next line shows the rest. Less would hide the ends of ordinary lines.
	leastNarrow = 12
)

// CutsOff reports whether c, which the end of part cuts off, looks like the beginning of a secret.
// wide: the line is as wide as an edge that cuts lines off.
func CutsOff(part string, c Candidate, wide bool) bool {
	if c.Hit || !c.Open || c.Start >= c.End || c.End != len(part) {
		return false
	}
	v := part[c.Start:]
	if !wide && (len(part)-c.From < leastNarrow || c.Tier != Structure && !inUserinfo(part, c) ||
		!scattered(v) && !hexish(v)) {
		return false
	}
	return len(v) >= LeastRest && !named(v) && !isUUID(v) &&
		(scattered(v) || c.Tier == Structure && (Varied(v) || hexish(v)) || inUserinfo(part, c))
}

// ByHand is how people continue a value in the line below: after a backslash, or indented.
type ByHand struct {
	Backslash bool
	Indented  bool
	Block     bool // it is YAML's way to write a value below its name
	Lone      int  // length of the word that the line below consists of
}

// GoesOn reports whether c, which spans joined[cut], where the line below begins, is one secret.
// complete: the part in the line above is one without the rest.
func (h ByHand) GoesOn(joined string, cut int, c Candidate, complete bool) bool {
	begin, rest := joined[min(c.Start, cut):cut], joined[max(cut, c.Start):c.End]
	whole := c.End >= cut+h.Lone // all of the line, except what closes something
	switch {
	case c.Tier == Given, h.Backslash &&
		(!h.Indented || begin == "" || c.Until.Quote != 0), closed(joined, c, rest):
		return true
	case strings.ContainsAny(rest, " \t") || !h.Backslash && !whole:
		return false
	case h.Block:
		return true
	case begin == "" && !h.Backslash:
		quote := joined[cut] == '"' || joined[cut] == '\''
		return random(rest, 12) || quote && password(rest)
	case c.Tier == Structure && !complete:
		return len(rest) >= LeastRest && (Varied(rest) || hexish(rest))
	}
	return goesOn(begin, rest, true, c.Tier)
}

// GoesOn reports whether c, which spans joined[cut], where a line's end cut it off, is one secret.
// complete: the part in the line above is one without the rest. edge: that line is as wide as
// screens are.
func GoesOn(joined string, cut int, c Candidate, complete, edge bool) bool {
	rest := joined[max(cut, c.Start):c.End]
	return c.Hit && (closed(joined, c, rest) || edge && c.Start < cut &&
		wordsRest(rest, joined[cut:]) ||
		goesOn(joined[min(c.Start, cut):cut], rest, complete, c.Tier))
}

// inUserinfo reports whether c follows the colon of a URL's authority and cannot be a port.
func inUserinfo(part string, c Candidate) bool {
	v := part[c.Start:c.End]
	return c.Class == "url-password" && len(v) >= 8 && strings.Trim(v, "0123456789.-") != "" &&
		!placeholder(part, c.Start, c.End) &&
		!Matches(part[c.From:], "docker") && !Matches(part[c.From:], "oci")
}

// closed reports whether what ends c follows its rest, which proves that it is one.
func closed(joined string, c Candidate, rest string) bool {
	if c.End == len(joined) || strings.ContainsAny(rest, " \t") {
		return false
	}
	return c.Class == "url-password" && joined[c.End] == '@' ||
		c.Until.Quote != 0 && joined[c.End] == c.Until.Quote
}

// wordsRest reports whether rest, the whole content of a line, can be the rest of a word that the
// edge of a screen cut off.
func wordsRest(rest, line string) bool {
	n := LoneWord(line)
	return len(rest) >= LeastRest && n > 0 && n <= len(rest) && !isDate(rest) && !named(rest) &&
		!status(rest) &&
		strings.IndexByte(":.#$%>", rest[len(rest)-1]) < 0
}

// goesOn reports whether rest, at a line's beginning, is the rest of the secret whose beginning
// ended the line before. complete: that is a secret without it.
func goesOn(begin, rest string, complete bool, by Tier) bool {
	switch {
	case by == Given:
		return true
	case strings.ContainsAny(rest, " \t"):
		return false
	case by == Structure && !complete:
		return true // its form asks for more
	case len(rest) < LeastRest || isDate(rest) || named(rest):
		return false
	case hexish(rest): // a digest, unless the secret has such digits, too
		n := len(begin)
		for n > 0 && (isHex(begin[n-1]) || begin[n-1] == '-') {
			n--
		}
		return len(begin)-n >= 8
	}
	return scattered(rest) || base64Like(rest) ||
		Varied(rest) && len(begin) < 24 && strings.ContainsAny(rest, "!#$%^&*+~")
}

// HandBroken reports whether text ends in a backslash that joins it to the next line: one that is
// not escaped itself.
func HandBroken(text string) bool {
	return (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1
}

// CutToken reports whether c, which the end of text cuts off, looks like the beginning of a token.
func CutToken(text string, c Candidate) bool {
	v := text[c.Start:c.End]
	return c.Open && c.Tier == Structure && c.End == len(text) && len(v) >= LeastRest &&
		(scattered(v) || Varied(v) || hexish(v))
}

// LoneWord returns the length of the word that part consists of, without what may close something
// after it; 0: part is more than that.
func LoneWord(part string) int {
	n := len(strings.TrimRight(part, " \t\"'`,;)]}\\+|"))
	if strings.ContainsAny(part[:n], " \t") {
		return 0
	}
	return n
}

// BlockScalar removes the sign from the end of text that says that a YAML value follows below it:
// `|`, `>-`, `|2+`.
func BlockScalar(text string) (before string, is bool) {
	t := strings.TrimRight(text, " \t")
	t = strings.TrimRight(t, "+-0123456789")
	if n := len(t) - 1; n > 0 && len(text)-n <= 4 && (t[n] == '|' || t[n] == '>') &&
		(t[n-1] == ' ' || t[n-1] == '\t') {
		return t[:n], true
	}
	return text, false
}

// StartsName reports whether a line begins with a name of its own, `STRIPE_KEY=x`, `port: 80`, so
// that nothing above it continues there. A token's rest has `=` only at its end, and no `:` before
// a blank.
func StartsName(line string) bool {
	line = strings.TrimPrefix(strings.TrimPrefix(line, "export "), "set ")
	n := 0
	for n < len(line) && n < maxBlanks &&
		(IsAlnum(line[n]) || strings.IndexByte("_-.", line[n]) >= 0) {
		n++
	}
	if n < 2 || n+1 >= len(line) || IsDigit(line[0]) {
		return false
	}
	name, value := line[:n], line[n+1:]
	switch line[n] {
	case '=':
		if value[0] == '=' {
			return false
		}
	case ':':
		if value[0] != ' ' {
			return false
		}
	default:
		return false
	}
	return !scattered(name) || strings.Contains(name, "_") && name == strings.ToUpper(name)
}

// frames are the characters with which programs draw the sides of boxes and the borders of panes.
const frames = "│┃║▌▐▏▕┆┊╎"

func IsBorder(text string) bool {
	c, _ := utf8.DecodeRuneInString(text)
	return strings.ContainsRune(frames, c)
}

package redact

import "strings"

// A Discord bot's token is three runs of base64url with dots between: the bot's identifier in
// decimal digits, which makes the first character M, N or O, six characters of a time, and a
// signature. No literal stands in it that an automaton could look for, so long runs of its
// characters are.
const (
	dottedID   = 22 // characters of the first part, at least; identifiers have 17 digits and more
	dottedMost = 28
	dottedTime = 6
	dottedSign = 27 // of the third, at least
	dottedLen  = dottedID + dottedTime + dottedSign + 2
)

var (
	dottedSet = namedSet("A-Za-z0-9._-")
	inkSet    = func() (s set) { // all but blanks
		for c := range s.members {
			s.members[c] = c != ' '
		}
		return s
	}()
)

// hideDotted hides the tokens of that form in text.
func (s *scan) hideDotted(text string, at []int32) {
	for from, end := nextLong(text, 0, dottedSet); from < end; from, end = nextLong(text, end, dottedSet) {
		for i := from; i < end; i++ {
			if i > from && text[i-1] != '.' && text[i-1] != '-' {
				continue
			}
			if n := dotted(text[i:end]); n > 0 {
				s.hide("discord-token", text, i, i+n, at)
				i += n
			}
		}
	}
}

// nextLong returns the next run of a set's characters in text from i on that is long enough; an
// empty one behind the last. It looks at a few bytes of each word.
func nextLong(text string, i int, in *set) (from, end int) {
	for p := i + dottedLen - 1; p < len(text); p += dottedLen {
		if !in.members[text[p]] {
			continue
		}
		for from = p; from > i && in.members[text[from-1]]; from-- {
		}
		for end = p + 1; end < len(text) && in.members[text[end]]; end++ {
		}
		if end-from >= dottedLen {
			return from, end
		}
		i, p = end, end
	}
	return len(text), len(text)
}

// dotted returns the length of the token that text begins with; 0: there is none.
func dotted(text string) int {
	if text[0] < 'M' || text[0] > 'O' {
		return 0
	}
	id, _, ok := strings.Cut(text[:min(len(text), dottedMost+1)], ".")
	if !ok || len(id) < dottedID || !scattered(id) || strings.Contains(id, "-") {
		return 0
	}
	i := len(id) + 1
	if strings.IndexByte(text[i:min(len(text), i+dottedTime+1)], '.') != dottedTime {
		return 0
	}
	sign := text[i+dottedTime+1:]
	if n := strings.IndexByte(sign, '.'); n >= 0 {
		sign = sign[:n]
	}
	if len(sign) < dottedSign || !scattered(sign) {
		return 0
	}
	return i + dottedTime + 1 + len(sign)
}

// mayBeDotted is a quick look whether hideDotted may find something in a line, or in a reading of
// it.
func mayBeDotted(line string) bool {
	from, end := nextLong(line, 0, dottedSet)
	return from < end
}

// mayReadDotted is mayBeDotted for a line with control sequences, which no reading has. payloads:
// there are control strings among them, with blanks or without.
func mayReadDotted(line string, payloads bool) bool {
	if dot := strings.IndexByte(line, '.'); dot < 0 || strings.IndexByte(line[dot+1:], '.') < 0 {
		return false
	}
	if from, end := nextLong(line, 0, &inkSet); from == end && !payloads {
		return false
	}
	run := 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case dottedSet.members[c]:
			if run++; run == dottedLen {
				return true
			}
		case c == esc:
			n, _, _ := sequence(line, i)
			i += n - 1
		case c < 0x20 && c != '\t', c == 0x7f:
		case c >= 0xc2 && invisible(line, i) > 0:
			i += invisible(line, i) - 1
		default:
			if run = 0; len(line)-i <= dottedLen {
				return false
			}
		}
	}
	return false
}

package rules

import "strings"

// A Discord bot's token is three runs of base64url separated by dots: the bot's identifier in
// decimal digits, which makes the first character M, N or O, six characters of a time, and a
// signature. It contains no literal that an automaton could look for, so long runs of its
// characters are searched for.
const (
	dottedID   = 22 // characters of the first part, at least; identifiers have 17 digits and more
	dottedMost = 28
	dottedTime = 6
	dottedSign = 27 // of the third, at least
	DottedLen  = dottedID + dottedTime + dottedSign + 2
)

var (
	DottedSet = namedSet("A-Za-z0-9._-")
	Ink       = func() (s set) { // all but blanks
		for c := range s.Members {
			s.Members[c] = c != ' '
		}
		return s
	}()
)

// Dotted calls found with each token of that form in text.
func Dotted(text string, found func(start, end int)) {
	for from, end := NextLong(text, 0, DottedSet, DottedLen); from < end; from, end = NextLong(text,
		end, DottedSet, DottedLen) {
		for i := from; i < end; i++ {
			if i > from && text[i-1] != '.' && text[i-1] != '-' {
				continue
			}
			if n := dotted(text[i:end]); n > 0 {
				found(i, i+n)
				i += n
			}
		}
	}
}

// NextLong returns the next run of a set's characters in text from i on that has at least least of
// them; an empty one after the last. It examines a few bytes of each word.
func NextLong(text string, i int, in *set, least int) (from, end int) {
	for p := i + least - 1; p < len(text); p += least {
		if !in.Members[text[p]] {
			continue
		}
		for from = p; from > i && in.Members[text[from-1]]; from-- {
		}
		for end = p + 1; end < len(text) && in.Members[text[end]]; end++ {
		}
		if end-from >= least {
			return from, end
		}
		i, p = end, end
	}
	return len(text), len(text)
}

// dotted returns the length of the token that text begins with; 0: none.
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

// MayBeDotted is a quick check whether a line may contain such a token.
func MayBeDotted(line string) bool {
	from, end := NextLong(line, 0, DottedSet, DottedLen)
	return from < end
}

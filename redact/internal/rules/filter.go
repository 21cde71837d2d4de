package rules

import (
	"math"
	"strings"
)

// Plausible reports whether something found by its shape can be a secret: documentation is full of
// tokens made of x's, of words, and of the alphabet.
func Plausible(before, body string) bool {
	v := body
	if len(before) > len(body) {
		v = before
	}
	if len(v) > maxPlaceholder*4 {
		return true // nobody writes that by hand; and the work stays bounded
	}
	if strings.HasSuffix(v, "EXAMPLE") { // AWS's own examples end like this
		return false
	}
	rising, same, mixed := 0, 0, false
	first := -1
	for i := range len(v) {
		switch c := classOf(v[i]); {
		case c == other:
		case first < 0:
			first = c
		case c != first:
			mixed = true
		}
		if i > 0 {
			switch v[i] {
			case v[i-1]:
				same++
			case v[i-1] + 1:
				rising++
			}
		}
	}
	// A run of one character, an alphabet, or words of one case with dashes between.
	return same*2 < len(v) && rising*2 < len(v) && (mixed || first == digit) && entropy(v) > 1.5
}

const (
	other = iota
	lower
	upper
	digit
)

func classOf(c byte) int {
	switch {
	case IsLower(c):
		return lower
	case isUpper(c):
		return upper
	case IsDigit(c):
		return digit
	}
	return other
}

// entropy is Shannon's, in bits per character (C. E. Shannon, 1948). Random base64 of 20 characters
// has about 4, English words about 3, a repeated word less than the logarithm of its length.
func entropy(v string) float64 {
	var count [256]int
	for i := range len(v) {
		count[v[i]]++
	}
	e, n := 0.0, float64(len(v))
	for _, k := range count {
		if k > 0 {
			p := float64(k) / n
			e -= p * math.Log2(p)
		}
	}
	return e
}

// scattered reports whether v looks drawn at random: case and digits change within its words more
// often than in names, versions and paths. Random base62 changes at 6 of 10 places; CamelCase at 1
// of 6, not counting the capital's own change.
func scattered(v string) bool {
	changes, letters := 0, 0
	for i := range len(v) {
		c := classOf(v[i])
		if c == other {
			continue
		}
		letters++
		if i == 0 {
			continue
		}
		switch before := classOf(v[i-1]); {
		case before == other || before == c:
		case before == upper && c == lower && (i == 1 || classOf(v[i-2]) != upper):
		default:
			changes++
		}
	}
	return changes >= 2 && changes*6 >= letters && entropy(v) > 2
}

// hexish reports whether v is nothing but hexadecimal digits in groups: a digest, a UUID, a MAC
// address. Words before them do not make them secret.
func hexish(v string) bool {
	n := 0
	for i := range len(v) {
		switch {
		case isHex(v[i]):
			n++
		case v[i] != '-' && v[i] != ':':
			return false
		}
	}
	return n >= 7
}

// isUUID reports whether v is a UUID in its usual form (RFC 9562).
func isUUID(v string) bool {
	return len(v) == 36 && v[8] == '-' && v[13] == '-' && v[18] == '-' && v[23] == '-' && hexish(v)
}

// named reports whether v identifies itself as something public: a digest, a public key, a
// resource.
func named(v string) bool {
	for _, p := range []string{"sha256:", "sha384:", "sha512:", "sha1:", "md5:", "sha256-",
		"sha384-", "sha512-", "sha1-",
		"arn:", "urn:", "AAAAB3Nza", "AAAAC3Nza", "AAAAE2Vj", "age1", "ssh-", "https://", "http://",
		"file:", "/", "./", "../", "~/", "@"} {
		if Matches(v, p) {
			return true
		}
	}
	return false
}

// random reports whether v can be a secret where the words around it only hint at one: at least
// least characters, drawn at random, and not a digest or name.
func random(v string, least int) bool {
	if len(v) < least || hexish(v) || named(v) || Digested(v) || isDate(v) ||
		strings.Contains(v, "[REDACTED") {
		return false
	}
	// What is left without the digests inside it.
	rest := strings.FieldsFunc(v,
		func(c rune) bool {
			return c == '-' || c == '_' || c == '.' || c == '/' || c == ':' ||
				c == '@'
		})
	keep := rest[:0]
	for _, w := range rest {
		if !(len(w) >= 7 && hexish(w)) {
			keep = append(keep, w)
		}
	}
	return scattered(strings.Join(keep, "-")) || base64Like(v)
}

// base64Like reports whether v is padded base64 of some length.
func base64Like(v string) bool {
	return len(v) >= 12 && len(v)%4 == 0 && strings.HasSuffix(v, "=") &&
		only(strings.TrimRight(v, "="), "+/-_") &&
		strings.IndexByte(strings.TrimRight(v, "="), '=') < 0
}

// isDate reports whether v begins like a timestamp.
func isDate(v string) bool {
	return len(v) >= 10 && IsDigit(v[0]) && IsDigit(v[1]) && IsDigit(v[2]) && IsDigit(v[3]) &&
		(v[4] == '-' || v[4] == '/') && IsDigit(v[5]) && IsDigit(v[6]) && v[7] == v[4]
}

// Varied reports whether v has characters of at least two kinds, not counting a capital at its
// beginning: unlike a word of a sentence.
func Varied(v string) bool {
	kinds := 0
	for i := range len(v) {
		switch classOf(v[i]) {
		case lower:
			kinds |= 1
		case upper:
			if i > 0 {
				kinds |= 2
			}
		case digit:
			kinds |= 4
		default:
			if v[i] != '-' && v[i] != '\'' && v[i] != '.' && v[i] != ',' {
				kinds |= 8
			}
		}
	}
	return kinds&(kinds-1) != 0
}

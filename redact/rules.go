package redact

import "strings"

// rule is one kind of secret. Rules are judged only where one of their keywords stands, so a
// rule costs nothing on text without it; to add a kind, add a row to builtin.
type rule struct {
	kind string
	// keywords are found in any case.
	keywords []string
	// find judges the keyword at s.text[at:end]. It may look at all of s.text, calls s.spend for
	// what it walks through beyond a fixed distance, and returns false when this is no
	// candidate. An open candidate may be no hit yet and hide nothing yet (start == end).
	find func(s *scan, at, end int) (candidate, bool)
}

// builtin are the rules that are always on.
var builtin = []rule{
	{"bearer", []string{"bearer"}, findBearer},
	{"sk", []string{"sk-"}, findSK},
	{"assignment", []string{
		"api_key", "api-key", "apikey", "token", "secret", "password", "passwd", "authorization",
		// Beyond the usual list, since a value named so is never public.
		"passphrase", "secret_key", "secret-key", "secretkey", "access_key", "access-key", "accesskey",
		"private_key", "private-key", "privatekey", "secret_key_base", "mysql_pwd",
	}, findAssignment},
}

// maxBlanks bounds the white space between the parts of a candidate, so that one that is still
// open is never longer than what a Stream looks back over.
const maxBlanks = 64

// blanks returns where a run of at most maxBlanks spaces and tabs from i ends.
func blanks(s string, i int) int {
	for end := min(len(s), i+maxBlanks); i < end && (s[i] == ' ' || s[i] == '\t'); i++ {
	}
	return i
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isAlnum(c byte) bool { return isLower(c) || isUpper(c) || isDigit(c) }

// findBearer hides the value of `Bearer VALUE`: 8 or more characters of RFC 6750's b64token.
func findBearer(s *scan, at, end int) (candidate, bool) {
	t := s.text
	if at > 0 && isAlnum(t[at-1]) {
		return candidate{}, false
	}
	i := blanks(t, end)
	if i == len(t) {
		return candidate{from: at, start: i, end: i, open: true}, true
	}
	if i == end {
		return candidate{}, false
	}
	j := i
	for j < len(t) && (isAlnum(t[j]) || strings.IndexByte("._~+/=-", t[j]) >= 0) {
		j++
	}
	s.spend(j - i)
	c := candidate{from: at, start: i, end: j, hit: j-i >= 8 && !placeholder(t, i, j), open: j == len(t)}
	return c, c.hit || c.open
}

// findSK hides `sk-` and 16 or more characters whole, at the beginning of a word.
func findSK(s *scan, at, end int) (candidate, bool) {
	t := s.text
	if t[at:end] != "sk-" || at > 0 && (isAlnum(t[at-1]) || t[at-1] == '_') {
		return candidate{}, false
	}
	j := s.run.end
	if j < end {
		for j = end; j < len(t) && (isAlnum(t[j]) || t[j] == '_' || t[j] == '-'); j++ {
		}
		s.run.end = j
		s.spend(j - end)
	}
	c := candidate{from: at, start: at, end: j, hit: j-end >= 16, open: j == len(t)}
	if !c.hit {
		c.start = end // `sk-` alone is no secret: a prompt that ends in it is shown
	}
	return c, c.hit || c.open
}

// literalRule hides each occurrence of text.
func literalRule(text string) rule {
	return rule{"literal", []string{text[:min(len(text), maxKeyword)]},
		func(s *scan, at, _ int) (candidate, bool) {
			if !strings.HasPrefix(s.text[at:], text) {
				return candidate{}, false
			}
			return candidate{from: at, start: at, end: at + len(text), hit: true}, true
		}}
}

package redact

import "strings"

// findAssignment hides the value of `key: value`, `key = value`, `"key": "value"`,
// `KEY[x]='value'`, `?key=value&` and their kin, and keeps the key. The value ends at white
// space, a quote, or a comma or bracket that closes something; a quoted one at its quote.
func findAssignment(s *scan, at, end int) (candidate, bool) {
	t := s.text
	if !keyBegins(t, at, end) {
		return candidate{}, false
	}
	i, ok := separator(t, end)
	if !ok || isPath(t, at, end) {
		return candidate{}, false
	}
	if strings.TrimLeft(t[i:], `\`) == "" { // no value yet, or the beginning of an escaped quote
		return candidate{from: at, start: len(t), end: len(t), open: true}, true
	}
	if end-at == len("authorization") {
		if j, rest := scheme(t, i); rest {
			return candidate{from: at, start: j, end: len(t), hit: j < len(t), open: true, until: ending{quote: '\n'}}, true
		} else if i = j; i == len(t) {
			return candidate{from: at, start: i, end: i, open: true}, true
		}
	}
	if start, j, q := quoted(t, i); q != 0 {
		s.spend(j - start)
		hit := !placeholder(t, start, j)
		open := j == len(t)
		return candidate{from: at, start: start, end: j, hit: hit, open: open, until: ending{q, t[i] == '\\'}}, hit || open
	}
	query := 0
	if keyStart := wordStart(t, at); keyStart > 0 && (t[keyStart-1] == '?' || t[keyStart-1] == '&') {
		query = 1
	}
	j := s.valueEnd(i, query)
	hit := j > i && !placeholder(t, i, j)
	open := strings.TrimLeft(t[j:], closing) == "" // more text decides whether they close
	return candidate{from: at, start: i, end: j, hit: hit, open: open}, hit || open
}

// keyBegins reports whether the keyword at t[at:end] can end a key: it begins a word, or a part
// of one as in DB_PASSWORD, client-secret or accessToken.
func keyBegins(t string, at, end int) bool {
	if at == 0 {
		return true
	}
	switch prev := t[at-1]; {
	case !isAlnum(prev):
		// A parser's complaint, in any language that has one.
		return !(matches(t[max(0, at-len("unexpected ")):], "unexpected ") && at >= len("unexpected "))
	case isUpper(t[at]) && !isUpper(prev):
		return true
	default: // dbpassword, userpasswd: no word ends so but a key
		return matches(t[at:end], "passw")
	}
}

// isPath reports whether the keyword at t[at:end] ends a path that a message is about, as in
// `/etc/passwd: Permission denied`. What follows `=` is a value all the same.
func isPath(t string, at, end int) bool {
	return at > 0 && t[at-1] == '/' && !strings.Contains(t[end:min(len(t), end+4)], "=")
}

// wordStart returns where the word that holds t[at] begins, looking back a key's length.
func wordStart(t string, at int) int {
	for low := max(0, at-maxBlanks); at > low && (isAlnum(t[at-1]) || t[at-1] == '_' || t[at-1] == '-' || t[at-1] == '.'); at-- {
	}
	return at
}

// separator passes what stands between key and value, from the key's end: a closing quote and
// bracket, then `:`, `=`, `:=`, `=>` or `==`, with blanks around.
func separator(t string, i int) (int, bool) {
	for i < len(t) && t[i] == '\\' {
		i++
	}
	if i < len(t) && (t[i] == '"' || t[i] == '\'' || t[i] == '`') {
		i++
	}
	if i < len(t) && t[i] == ']' {
		i++
	}
	i = blanks(t, i)
	if i == len(t) {
		return i, true
	}
	if t[i] != ':' && t[i] != '=' {
		return 0, false
	}
	i++
	if i < len(t) {
		switch {
		case t[i-1] == ':' && t[i] == ':': // a path: token::Kind
			return 0, false
		case t[i] == '=', t[i-1] == '=' && t[i] == '>':
			i++
		}
	}
	return blanks(t, i), true
}

// scheme passes the scheme of an Authorization value, so that it stays readable; all of t when it
// ends within one. rest reports a scheme whose parameters are the secret together: RFC 7616, and AWS's signature.
func scheme(t string, i int) (j int, rest bool) {
	for _, w := range []string{"bearer", "basic", "token", "apikey", "negotiate", "digest", "aws4-hmac-sha256", "hmac"} {
		if matches(w, t[i:]) {
			return len(t), false // perhaps only its beginning
		}
		if k := i + len(w); matches(t[i:], w) && k < len(t) && (t[k] == ' ' || t[k] == '\t') {
			return blanks(t, k), w == "digest" || w == "aws4-hmac-sha256" || w == "hmac"
		}
	}
	return i, false
}

// quoted recognises a quoted value at i, also one whose quotes are escaped because the whole is
// inside a string. It returns the content and the quote, or a quote of 0. A value without its
// closing quote goes to the end of t.
func quoted(t string, i int) (start, end int, quote byte) {
	n := i
	for n < len(t) && t[n] == '\\' {
		n++
	}
	if n == len(t) || t[n] != '"' && t[n] != '\'' && t[n] != '`' {
		return 0, 0, 0
	}
	quote, start = t[n], n+1
	if n > i { // \"value\": the content cannot hold the quote less escaped
		if k := strings.Index(t[start:], t[i:start]); k >= 0 {
			return start, start + k, quote
		}
		if k := strings.IndexByte(t[start:], quote); k >= 0 {
			return start, start + k, quote
		}
		return start, len(t), quote
	}
	for j := start; j < len(t); j++ {
		switch t[j] {
		case '\\':
			j++
		case quote:
			return start, j, quote
		}
	}
	return start, len(t), quote
}

// valueEnd returns where the unquoted value at i ends. query is 1 inside a URL's query, where
// `&` ends a value too; elsewhere it is a character like any other.
//
// Whether a byte ends a value depends on what follows it only, never on where the value began:
// that is what makes the memo right, and redaction idempotent.
func (s *scan) valueEnd(i, query int) int {
	memo := &s.values[query]
	if memo.end > 0 && memo.from <= i && i <= memo.end {
		return memo.end
	}
	t := s.text
	j := i
	for j < len(t) {
		c := t[j]
		if c <= ' ' || c == '"' || c == '\'' || c == '`' || query == 1 && c == '&' {
			break
		}
		if strings.IndexByte(closing, c) >= 0 {
			k := j + 1
			for k < len(t) && strings.IndexByte(closing, t[k]) >= 0 {
				k++
			}
			if boundary(t, k) {
				break
			}
			j = k
			continue
		}
		j++
	}
	s.spend(j - i)
	memo.from, memo.end = i, j
	return j
}

// closing is the punctuation that may end a value.
const closing = ",;)]}"

// boundary reports whether a value's closing punctuation may stand before t[i:]: white space, a
// quote, the end, or the next `name=`.
func boundary(t string, i int) bool {
	if i == len(t) || t[i] <= ' ' || t[i] == '"' || t[i] == '\'' || t[i] == '`' || t[i] == '\\' {
		return true
	}
	j := i
	for j < len(t) && j < i+maxBlanks && (isAlnum(t[j]) || t[j] == '_' || t[j] == '-' || t[j] == '.') {
		j++
	}
	return j > i && j < len(t) && (t[j] == '=' || t[j] == ':')
}

// maxPlaceholder is how long something that only stands for a secret may be. A longer value is
// hidden whatever it looks like.
const maxPlaceholder = 64

// placeholder reports whether the value t[start:end] only stands for a secret: `****`, `<none>`,
// `$TOKEN`, `${{ secrets.X }}`, `null`, `process.env.X`, `your-key-here`. What follows the value on
// the line decides some of these.
func placeholder(t string, start, end int) bool {
	v := t[start:end]
	if strings.TrimLeft(v, "*.•●…") == "" || len(v) >= 4 && strings.TrimLeft(v, "x") == "" {
		return true
	}
	if len(v) > maxPlaceholder {
		return false
	}
	rest := t[start:min(len(t), start+maxPlaceholder)]
	switch v[0] {
	case '<':
		i := strings.IndexByte(rest, '>')
		return i > 0 && only(rest[1:i], "_- .") && start+i+1 >= end
	case '$':
		return len(v) > 1 && (only(v[1:], "_") && v == strings.ToUpper(v) ||
			strings.HasPrefix(v, "${{") && strings.Contains(rest, "}}") ||
			v[1] == '{' && only(strings.TrimSuffix(v[2:], "}"), "_."))
	case '{':
		return strings.HasPrefix(v, "{{") && strings.Contains(rest, "}}")
	case '%':
		return len(v) == 2 && isLower(v[1]) || len(v) > 2 && v[len(v)-1] == '%' && only(v[1:len(v)-1], "_")
	case '(':
		return strings.HasPrefix(rest, "(sensitive value)") || strings.HasPrefix(rest, "(none)") || strings.HasPrefix(rest, "(unset)")
	}
	if isDigit(v[0]) && strings.HasPrefix(t[end:], " bytes") {
		return strings.Trim(v, "0123456789") == ""
	}
	for _, w := range []string{"null", "nil", "none", "undefined", "true", "false", "string"} {
		if len(v) == len(w) && matches(v, w) {
			return true
		}
	}
	for _, p := range []string{"process.env.", "os.environ", "os.getenv(", "secrets.", "env."} {
		if strings.HasPrefix(v, p) {
			return only(v, "._[]()\"'")
		}
	}
	return (matches(v, "your-") || matches(v, "your_")) && strings.Trim(strings.ToLower(v), "abcdefghijklmnopqrstuvwxyz-_") == ""
}

// only reports whether s holds nothing but ASCII letters, digits and the given characters.
func only(s, also string) bool {
	for i := range len(s) {
		if !isAlnum(s[i]) && strings.IndexByte(also, s[i]) < 0 {
			return false
		}
	}
	return true
}

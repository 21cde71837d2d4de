package rules

import "strings"

// findAssignment hides the value of `key: value`, `key = value`, `"key": "value"`,
// `KEY[x]='value'`, `?key=value&` and the like, and keeps the key. It considers whether the keyword
// names a secret, what separates it from its value, how much the name says, and what the value is.
func findAssignment(s *Text, at, end int) Candidate {
	t := s.text
	if !keyBegins(t, at, end) {
		return Candidate{}
	}
	key := end // the rest of the name after the keyword, as in token_app_terraform_io
	for key < len(t) && key-end < maxBlanks &&
		(IsAlnum(t[key]) || t[key] == '_' || t[key] == '-' || t[key] == '.') {
		key++
	}
	suffix := t[end:key]
	if gitSigning(t, at, key) || isPath(t, at, end) ||
		suffix != "" && runsOn(t, end) && !strongSuffix(suffix) {
		return Candidate{}
	}
	i, sep := valueBegins(t, at, key)
	switch {
	case sep == noSeparator:
		return findApart(s, at, key, suffix)
	case strings.TrimLeft(t[i:], `\`) == "": // no value yet, or the beginning of an escaped quote
		return s.part(at, len(t), len(t))
	case suffix == "" && end-at == len("authorization"):
		rest := false
		if i, rest = scheme(t, i); rest {
			return Candidate{From: at, Start: i, End: len(t), Hit: i < len(t), Open: true,
				Until: Ending{Quote: '\n'}}
		} else if i == len(t) {
			return s.part(at, i, i)
		}
	}
	switch {
	case sep != compares && strongSuffix(suffix):
		if inCode(t, at, key, i) {
			return Candidate{}
		}
		return s.judgeAssigned(at, end, i)
	case notSecret(suffix):
		return Candidate{}
	}
	return s.judgeValue(at, i,
		func(v string) bool { return random(v, 12) || len(v) >= 32 && hexish(v) && !isUUID(v) })
}

// valueBegins returns where the value of the name at t[at:key] begins, and what separates them.
func valueBegins(t string, at, key int) (int, separation) {
	i, sep := separator(t, note(t, dimension(t, key)))
	if sep != noSeparator {
		return max(i, typed(t, i)), sep
	}
	if k := max(valueField(t, key), declared(t, key), argument(t, at, key)); k > 0 {
		return k, assigns
	}
	return i, sep
}

// judgeAssigned makes a candidate of the value at i of a name, t[at:end], that marks it as a
// secret: any value counts, except placeholders.
func (s *Text) judgeAssigned(at, end, i int) Candidate {
	t := s.text
	c, is := s.value(at, i)
	if is == missing {
		return c
	}
	c.Hit = !placeholder(t, c.Start, c.End) && !said(t, at, end, c.Start, c.End)
	switch is {
	case between:
		c.Hit = c.Hit && !(c.End-c.Start == 1 && Matches(t[at:], "accesskey=")) // HTML's shortcut
	case inside:
		c.Hit = c.Hit && password(t[c.Start:c.End])
		fallthrough
	case literal:
		c = c.shown(t)
	}
	return c
}

// findApart hides a value without a separator after its name at t[at:key]: an element's, a cell's,
// or one after white space.
func findApart(s *Text, at, key int, suffix string) Candidate {
	if key < len(s.text) && s.text[key] == '>' {
		return findElement(s, at, key)
	}
	if k := cell(s.text, at, key); k > 0 {
		return findCell(s, at, key, k)
	}
	return findNamed(s, at, key, suffix)
}

// A writing is how a value is written.
type writing uint8

const (
	missing writing = iota // something else is in its place
	bare                   // up to white space, a quote, or a comma or bracket that closes something
	between                // quotes
	inside                 // a string in an expression, which may as well say where the value is
	literal                // a string in an expression, which is the value
)

// value returns the value at i of a name that begins at from, and how it is written; not whether it
// is a secret.
func (s *Text) value(from, i int) (Candidate, writing) {
	t := s.text
	i, ok := tag(t, i)
	if !ok {
		return Candidate{}, missing
	}
	i = max(i, typed(t, i))
	at, is := i, between
	if q, ok := stringIn(t, i); ok {
		if at, is = q.at, inside; q.sure {
			is = literal
		}
	}
	if start, j, quote := quoted(t, at); quote != 0 {
		s.Spend(j - from)
		return Candidate{From: from, Start: start, End: j, Open: j == len(t),
			Until: Ending{quote, t[at] == '\\'}}, is
	}
	query := 0
	if inQuery(t, from) {
		query, from = 1, wordStart(t, from)-1
	}
	j := s.valueEnd(i, query)
	if k := strings.Index(t[i:j], "%26"); k >= 0 && i >= 3 && t[i-3] == '%' { // & in a URL within another
		return Candidate{From: from, Start: i, End: i + k}, bare
	}
	open := strings.TrimLeft(t[j:], closing) == "" // later text decides whether they close
	return Candidate{From: from, Start: i, End: j, Open: open}, bare
}

// findNamed hides a value separated from its name at t[at:key] by white space: of a flag, of a
// netrc(5) line, typed at a prompt that says what it is for, or random.
func findNamed(s *Text, at, key int, suffix string) Candidate {
	t := s.text
	i := Blanks(t, key)
	if i == len(t) {
		return Candidate{From: at, Start: i, End: i, Open: i > key || suffix == ""}
	}
	if i == key || suffix != "" && !strongSuffix(suffix) {
		return Candidate{}
	}
	password := Matches(t[at:], "pass") || Matches(t[at:], "identified by") || !ASCII(t[at:key]) ||
		isPasswordWord(t[at:key])
	if password && Matches(t[i:], "for ") {
		return findPrompted(s, at, i)
	}
	if password && Matches(t[i:], generated) {
		return findPrompted(s, at, i+len(generated)-len("for "))
	}
	word := wordStart(t, at)
	flag := t[word] == '-' &&
		(word == 0 || t[word-1] <= ' ' || t[word-1] == '"' || t[word-1] == '\'')
	if password && suffix == "" {
		if k := copula(t, i); k > i {
			if c := findTold(s, at, k); c.Hit {
				return c
			}
		}
	}
	start, j, q := s.word(stringPrefix(t, i))
	v := t[start:j]
	c := s.part(at, start, j)
	c.Until = Ending{Quote: q}
	switch before := t[max(0, at-200):at]; {
	case v == "" || placeholder(t, start, j) || said(t, at, key, start, j):
	case flag:
		c.Hit = v[0] != '-' && !named(v) && Varied(v)
	case password && q != 0:
		c.Hit = !strings.ContainsAny(v, " \t") && len(v) >= 4
	case password && (strings.Contains(before, "login ") || strings.Contains(before, "machine ")):
		c.Hit = true
	case password && strings.TrimSpace(t[:at]) == "" && strings.TrimSpace(t[j:]) == "":
		c.Hit = Varied(strings.TrimRight(v, ":.,;!?)")) && len(v) >= 6 && !packaged(v)
	}
	if c.Hit {
		return c
	}
	return findSpaced(s, at, key, true)
}

// inCode reports whether the text at t[i] after the name at t[at:key] is code rather than a value:
// a parameter's expansion (`${TOKEN:-}`), the quote that ends a prompt (`getpass("Password: ")`),
// or the right side of `user, password = ask`.
func inCode(t string, at, key, i int) bool {
	word := wordStart(t, at)
	if word >= 2 && t[word-2:word] == "${" && i+1 < len(t) &&
		(strings.IndexByte("?+", t[i]) >= 0 || strings.IndexByte("-=", t[i]) >= 0 &&
			t[i+1] == '}') {
		return true
	}
	if q := t[i]; (q == '"' || q == '\'' || q == '`') && t[key] != q &&
		(i+1 == len(t) || strings.IndexByte("),; ]+", t[i+1]) >= 0) {
		before := t[max(0, at-maxPlaceholder):at]
		k := strings.LastIndexByte(before, q)
		return k >= 0 && strings.Count(before, string(q))%2 == 1 &&
			(k == 0 || !IsAlnum(before[k-1]))
	}
	if i > 1 && t[i-2:i] == "= " && strings.HasSuffix(t[:word], ", ") {
		names := strings.TrimRight(t[max(0, word-maxPlaceholder):word], " ,")
		return names != "" && only(names, "_ ,") && IsLower(t[i])
	}
	return false
}

// gitSigning reports whether the name at t[at:key] is git's user.signingkey, whose value is a key's
// identifier or file.
func gitSigning(t string, at, key int) bool {
	const name = "user.signingkey"
	n := at - len("user.")
	return n >= 0 && key-n == len(name) && Matches(t[n:key], name)
}

// generated precedes the password that mysqld(8) has generated.
const generated = "is generated for "

// valueField returns where the value begins when the name at the end of t[:i] is itself a value, as
// in `"name": "DB_PASSWORD", "value": "x"` and `key="password" value="x"`; 0: it is not.
func valueField(t string, i int) int {
	j := i
	for j < len(t) && j-i < maxBlanks && strings.IndexByte("\\\"', \t", t[j]) >= 0 {
		j++
	}
	if j == i || !Matches(t[j:], "value") {
		return 0
	}
	if i, sep := separator(t, j+len("value")); sep == assigns {
		return i
	}
	return 0
}

// findElement hides the content of an XML element named t[at:key].
func findElement(s *Text, at, key int) Candidate {
	t := s.text
	word := wordStart(t, at)
	if word == 0 || t[word-1] != '<' && t[word-1] != ':' {
		return Candidate{}
	}
	start := key + 1
	j := start
	for j < len(t) && t[j] > ' ' && t[j] != '<' {
		j++
	}
	s.Spend(j - start)
	c := s.part(at, start, j)
	c.Until = Ending{Quote: '<'}
	c.Hit = j > start && strings.HasPrefix(t[j:], "</") && !placeholder(t, start, j) &&
		!said(t, at, key, start, j)
	return c
}

// cell returns where the next cell's content begins if t[at:key] fills a table's cell; 0: it does
// not.
func cell(t string, at, key int) int {
	bar := func(i int) int { // length of the cell separator at t[i]
		switch {
		case i < len(t) && t[i] == '|':
			return 1
		case i < len(t) && t[i] == 0xe2 && IsBorder(t[i:]):
			return len("│")
		}
		return 0
	}
	i := Blanks(t, key)
	n := bar(i)
	before := strings.TrimRight(t[max(0, at-2*maxBlanks):wordStart(t, at)], " \t")
	if n == 0 || before != "" && before[len(before)-1] != '|' &&
		(len(before) < 3 || !IsBorder(before[len(before)-3:])) {
		return 0
	}
	i = Blanks(t, i+n)
	j := i
	for j < len(t) && t[j] > ' ' && bar(j) == 0 && j-i < maxWeak {
		j++
	}
	if k := Blanks(t, j); k < len(t) && bar(k) == 0 {
		return 0 // more than a word
	}
	return i
}

// findCell hides a cell's content, at i, next to one with the name t[at:key]: a value, not a type
// or a description.
func findCell(s *Text, at, key, i int) Candidate {
	t := s.text
	j := s.valueEnd(i, 0)
	c := s.part(at, i, j)
	c.Hit = (chosen(t[i:j]) || password(t[i:j])) && !placeholder(t, i, j) && !said(t, at, key, i, j)
	return c.shown(t)
}

// chosen reports whether v can be a password where little suggests one: drawn at random, or with
// the characters that people are told to include.
func chosen(v string) bool {
	return random(v, 8) ||
		len(v) >= 8 && Varied(v) && strings.ContainsAny(v, "!#$%&*@^") && !named(v)
}

// findPrompted hides the text after `password for NAME: `, to the line's end: sudo(8), ssh(1),
// git-credential(1).
func findPrompted(s *Text, at, i int) Candidate {
	t := s.text
	k := strings.Index(t[i:min(len(t), i+4*maxBlanks)], ": ")
	if k < 0 {
		for _, w := range []string{" set to ", " changed to ", " reset to ", " is "} {
			if n := strings.Index(t[i:min(len(t), i+2*maxBlanks)], w); n >= 0 {
				return findTold(s, at, copula(t, i+n+1))
			}
		}
		return Candidate{From: at, Start: len(t), End: len(t), Open: len(t)-i < 4*maxBlanks}
	}
	i = Blanks(t, i+k+1)
	j := s.valueEnd(i, 0)
	c := s.part(at, i, j)
	c.Hit = j > i && strings.TrimSpace(t[j:]) == "" && !placeholder(t, i, j) && !prompts(t, i, j)
	return c
}

// keyBegins reports whether the keyword at t[at:end] can end a key: it begins a word, or a part
// of one as in DB_PASSWORD, client-secret or accessToken.
func keyBegins(t string, at, end int) bool {
	if at == 0 || !IsAlnum(t[at]) {
		return true
	}
	switch prev := t[at-1]; {
	case !IsAlnum(prev):
		// A parser's complaint, in any programming language.
		return !(Matches(t[max(0, at-len("unexpected ")):], "unexpected ") &&
			at >= len("unexpected "))
	case isUpper(t[at]) && !isUpper(prev):
		return true
	case Matches(t[at:end], "passw"): // dbpassword, userpasswd: only a key ends like that
		return true
	}
	if Matches(t[at:end], "token") || Matches(t[at:end], "secret") {
		for _, w := range []string{"auth", "access", "refresh", "session", "client", "app", "bot",
			"user", "api"} {
			if n := at - len(w); n >= 0 && Matches(t[n:], w) && (n == 0 || !IsAlnum(t[n-1])) {
				return true
			}
		}
	}
	// What precedes it may be an escape: \npassword, %26token.
	return wordBegins(t, at)
}

// runsOn reports whether the word continues at t[end]: tokenizer, secretary.
func runsOn(t string, end int) bool {
	return IsLower(t[end]) && IsAlnum(t[end-1]) && !IsDigit(t[end-1]) ||
		isUpper(t[end]) && isUpper(t[end-1])
}

// strongSuffix reports whether a name with this suffix still names the secret itself.
func strongSuffix(suffix string) bool {
	s := strings.Trim(strings.ToLower(suffix), "0123456789_-.")
	for _, w := range []string{"", "key", "key_base", "access_key", "access-key", "accesskey",
		"token", "value", "prod", "production", "dev", "staging",
		"live", "test", "old", "new", "data", "base", "secret", "password", "ro", "rw", "admin",
		"root", "master", "primary", "secondary", "b64", "base64"} {
		if s == w {
			return true
		}
	}
	return false
}

// notSecret reports whether a name with this suffix is about the secret: its kind, place or age.
func notSecret(suffix string) bool {
	s := strings.ToLower(suffix)
	for _, w := range []string{"id", "ids", "type", "file", "path", "dir", "url", "uri", "endpoint",
		"name", "arn", "ref", "count", "limit",
		"expiry", "expires", "ttl", "version", "length", "size", "index", "field", "header",
		"stdin", "hint", "policy", "service", "status"} {
		if n := len(s) - len(w); n >= 0 && s[n:] == w &&
			(n == 0 || !IsAlnum(s[n-1]) || n < len(suffix) && isUpper(suffix[n])) {
			return true
		}
	}
	return false
}

// isPath reports whether the keyword at t[at:end] ends a path that a message is about, as in
// `/etc/passwd: Permission denied`, or a resource's kind in its name. What follows `=` is a value
// nevertheless.
func isPath(t string, at, end int) bool {
	if at > 0 && t[at-1] == ':' && strings.Contains(t[max(0, at-2*maxBlanks):at], "arn:") {
		return true
	}
	return at > 0 && t[at-1] == '/' && !strings.Contains(t[end:min(len(t), end+4)], "=")
}

// wordStart returns where the word containing t[at] begins, looking back at most a key's length.
func wordStart(t string, at int) int {
	for low := max(0, at-maxBlanks); at > low &&
		(IsAlnum(t[at-1]) || t[at-1] == '_' || t[at-1] == '-' || t[at-1] == '.'); at-- {
	}
	return at
}

// note skips a remark between a name and its colon: `Secret Access Key [None]:`, `Password
// (again):`.
func note(t string, i int) int {
	j := Blanks(t, i)
	if j == i || j == len(t) || t[j] != '[' && t[j] != '(' ||
		strings.HasPrefix(t[j:], "[REDACTED") {
		return i
	}
	closes := byte(']')
	if t[j] == '(' {
		closes = ')'
	}
	if k := strings.IndexByte(t[j:min(len(t), j+maxBlanks)], closes); k > 0 && j+k+1 < len(t) &&
		t[j+k+1] == ':' {
		return j + k + 1
	}
	return i
}

// A separation is what separates a key and its value.
type separation uint8

const (
	noSeparator separation = iota
	assigns                // : = := =>
	compares               // == !=
)

// wideColon is the colon of Chinese and Japanese text, U+FF1A.
const wideColon = "："

// separator skips what separates key and value, from the key's end: a closing quote and bracket,
// then `:`, `=`, `:=`, `=>` or `==`, with blanks around. At the end of t it assigns.
func separator(t string, i int) (int, separation) {
	for i < len(t) && t[i] == '\\' {
		i++
	}
	if i < len(t) && (t[i] == '"' || t[i] == '\'' || t[i] == '`') {
		i++
	}
	if i < len(t) && t[i] == ']' {
		i++
	}
	i = Blanks(t, i)
	if i == len(t) {
		return i, assigns
	}
	if Matches(t[i:], "%3d") { // = in a URL within another
		return i + 3, assigns
	}
	sep := assigns
	if Matches(t[i:], "is: ") {
		i += len("is")
	}
	if t[i] == '!' && i+1 < len(t) && t[i+1] == '=' {
		i++
		sep = compares
	}
	if strings.HasPrefix(t[i:], wideColon) {
		return Blanks(t, i+len(wideColon)), assigns
	}
	if t[i] != ':' && t[i] != '=' {
		return 0, noSeparator
	}
	i++
	if i < len(t) {
		switch {
		case t[i-1] == ':' && t[i] == ':': // a path: token::Kind
			return 0, noSeparator
		case t[i] == '=':
			if t[i-1] == '=' {
				sep = compares
			}
			i++
		case t[i-1] == '=' && t[i] == '>':
			i++
		}
	}
	return Blanks(t, i), sep
}

// scheme skips the scheme of an Authorization value, so that it stays readable; all of t when it
// ends within one. rest reports a scheme whose parameters together are the secret: RFC 7616, and
// AWS's signature.
func scheme(t string, i int) (j int, rest bool) {
	for _, w := range []string{"bearer", "basic", "token", "apikey", "negotiate", "digest",
		"aws4-hmac-sha256", "hmac", "bot", "ssws", "key", "splunk", "genieKey", "sso-key"} {
		if len(t)-i <= len(w) && Matches(w, t[i:]) {
			return len(t), false // possibly only its beginning
		}
		if k := i + len(w); Matches(t[i:], w) && k < len(t) && (t[k] == ' ' || t[k] == '\t') {
			return Blanks(t, k), w == "digest" || w == "aws4-hmac-sha256" || w == "hmac"
		}
	}
	return i, false
}

// quoted recognises a quoted value at i, also one whose quotes are escaped because it is inside a
// string. It returns the content and the quote, or a quote of 0. A value without a closing quote
// extends to the end of t.
func quoted(t string, i int) (start, end int, quote byte) {
	n := i
	for n < len(t) && t[n] == '\\' {
		n++
	}
	if n == len(t) || t[n] != '"' && t[n] != '\'' && t[n] != '`' {
		return 0, 0, 0
	}
	quote, start = t[n], n+1
	if three := strings.Repeat(t[n:start], 3); n == i && strings.HasPrefix(t[n:], three) { // TOML, Python
		start += 2
		if k := strings.Index(t[start:], three); k >= 0 {
			return start, start + k, quote
		}
	}
	if n > i { // \"value\": the content cannot contain the quote with fewer escapes
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

// word returns the value at i, quoted or not, without its quotes, and the quote; 0: there is none.
func (s *Text) word(i int) (start, end int, quote byte) {
	if start, end, quote = quoted(s.text, i); quote == 0 {
		start, end = i, s.valueEnd(i, 0)
	}
	return start, end, quote
}

// valueEnd returns where the unquoted value at i ends. query is 1 inside a URL's query, where `&`
// also ends a value; elsewhere it is an ordinary character.
//
// Whether a byte ends a value depends only on what follows it, never on where the value began: that
// makes the memo correct, and redaction idempotent.
func (s *Text) valueEnd(i, query int) int {
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
			j = k - 1
		}
		j++
	}
	s.Spend(j - i)
	memo.from, memo.end = i, j
	return j
}

// closing is the punctuation that may end a value.
const closing = ",;)]}"

// boundary reports whether t[i:] may follow a value's closing punctuation: white space, a quote,
// the end, or the next `name=`.
func boundary(t string, i int) bool {
	if i == len(t) || t[i] <= ' ' || t[i] == '"' || t[i] == '\'' || t[i] == '`' || t[i] == '\\' {
		return true
	}
	j := i
	for j < len(t) && j < i+maxBlanks &&
		(IsAlnum(t[j]) || t[j] == '_' || t[j] == '-' || t[j] == '.') {
		j++
	}
	return j > i && j < len(t) && (t[j] == '=' || t[j] == ':')
}

package redact

import (
	"slices"
	"strings"
	"sync"
)

// The second tier: what a name before it makes a secret. builtin joins it with the first.
var context = sync.OnceValue(func() []rule {
	return []rule{
		{class: "password", tier: hint, keywords: slices.Concat(capitals(passwordWords), []string{
			"mysql_pwd", "sshpass", "_pass", "-pass", "_pwd", "dbpass", "identified by",
		}), find: findAssignment},
		{class: "token", tier: hint, keywords: []string{"token", "private_key_id"}, find: findAssignment},
		{class: "secret", tier: hint, keywords: []string{"secret"}, find: findAssignment},
		{class: "api-key", tier: hint, keywords: []string{
			"api_key", "api-key", "apikey", "api key", "app_key", "app-key", "appkey", "application_key", "application-key",
			"secret_key", "secret-key", "secretkey", "secret key", "access_key", "access-key", "accesskey", "access key",
			"private_key", "private-key", "privatekey", "private key", "presharedkey", "preshared-key",
			"account_key", "account-key", "accountkey", "storage_key", "auth_key", "auth-key", "authkey",
			"signing_key", "signing-key", "signingkey", "encryption_key", "encryption-key", "encryptionkey",
			"master_key", "master-key", "masterkey", "subscription_key", "subscription-key", "license_key",
			"client-key-data", "secret_key_base",
		}, find: findAssignment},
		{class: "authorization", tier: hint, keywords: []string{"authorization"}, find: findAssignment},
		{class: "bearer", tier: hint, keywords: []string{"bearer"}, find: findBearer},
		{class: "key", tier: hint, keywords: []string{"key"}, find: findWeak(16, false)},
		{class: "auth", tier: hint, keywords: []string{"auth", "_auth", "credential", "credentials", "creds"}, find: findWeak(12, false)},
		{class: "session", tier: hint, keywords: []string{
			"session", "sessionid", "session_id", "session-id", "sessid", "phpsessid", "jsessionid", "sid", "csrf",
		}, find: findWeak(16, true)},
		{class: "signature", tier: hint, keywords: []string{"sig", "signature", "code", "hmac", "hapikey"}, find: findQuery},
		{class: "cookie", tier: hint, keywords: []string{"cookie:"}, find: findCookie},
		{class: "url-password", tier: hint, keywords: []string{"://"}, find: findUserinfo},
		{class: "dsn-password", tier: hint, keywords: []string{"@tcp(", "@unix("}, find: findGoDSN},
		{class: "pgpass", tier: hint, keywords: []string{":5432:", ":*:"}, find: findPgpass},
		{class: "password", tier: hint, keywords: []string{" -u", " -p", " -a", " -w", "--user", "--pass", "pass:"}, find: findFlag},
		{class: "password", tier: hint, keywords: []string{
			"pass:", "pass=", "pass =", `pass"`, "pass'", "pw:", "pw=", "pw =", `pw"`, "pw'", "pwd:", "pwd =", `pwd"`, "pwd'",
		}, find: findShort},
		{class: "password", tier: hint, keywords: []string{"psk="}, find: func(s *scan, at, end int) (candidate, bool) { return findAssignment(s, at, end-1) }},
		{class: "token", tier: hint, keywords: []string{"_pat", "pat=", "pat:"}, find: findPAT},
		{class: "password", tier: hint, keywords: []string{"htpasswd"}, find: findHtpasswd},
		{class: "password", tier: hint, keywords: []string{"chpasswd", "--password-stdin", "passwd --stdin", "sudo -s", "--with-token"}, find: findPiped},
		{class: "password", tier: hint, keywords: []string{"pwd="}, find: findConnection},
		{class: "token", tier: hint, keywords: []string{"login("}, find: findLogin},
		{class: "private-key", tier: structure, keywords: []string{"-----begin ", "---- begin "}, find: findKeyBlock},
		{class: "private-key", tier: structure, keywords: []string{"-----end ", "---- end "}, find: findKeyBlockEnd},
		{class: "private-key", tier: structure, keywords: []string{"private-lines:"}, find: findPuTTY},
		{class: "private-key", tier: structure, keywords: []string{"LS0tLS1CRUdJTi"}, find: findEncodedKey},
		{class: "private-key", tier: structure, keywords: []string{`"d":`}, find: findJWK},
		{class: "mnemonic", tier: hint, keywords: []string{"mnemonic", "seed phrase", "seed_phrase", "recovery phrase"}, find: findMnemonic},
		{class: "openai-key", tier: structure, keywords: []string{"sk-"}, find: findSK},
		{class: "token", tier: structure, keywords: []string{"_"}, find: findPrefixed},
	}
})

// keep reports whether what findWeak and its kin found is a secret. hex: digests of 24 and more
// count too.
func keep(v string, least int, hex bool) bool {
	if hex && len(v) >= 24 && hexish(v) && !isUUID(v) {
		return true
	}
	return random(v, least)
}

// findWeak makes the finder for names that are part of many harmless ones: the name must be a word
// or the end of one, and the value drawn at random.
func findWeak(least int, hex bool) func(*scan, int, int) (candidate, bool) {
	return func(s *scan, at, end int) (candidate, bool) {
		t := s.text
		if !keyBegins(t, at, end) || isPublic(t, at) {
			return candidate{}, false
		}
		i, sep := separator(t, note(t, end))
		if sep == noSeparator {
			if !matches(t[at:end], "key") {
				return candidate{}, false
			}
			return findSpaced(s, at, end, false)
		}
		if i == len(t) {
			return candidate{from: at, start: i, end: i, open: true}, true
		}
		return s.judgeValue(at, i, func(v string) bool { return keep(v, least, hex) })
	}
}

// isPublic reports whether the name that holds t[at:] is one of a public key.
func isPublic(t string, at int) bool {
	before := strings.TrimRight(t[max(0, at-16):at], " _-")
	for _, w := range []string{"public", "pub", "publishable", "foreign", "primary", "host", "recipient", "cache", "partition", "sort",
		"node", "object", "row", "routing", "lookup", "dedup", "idempotency"} {
		if n := len(before) - len(w); n >= 0 && matches(before[n:], w) {
			return true
		}
	}
	return false
}

// judgeValue makes a candidate of the value at i, whose name begins at from, if ok says so of it.
// While the value may still grow it is open and hides nothing unless ok.
func (s *scan) judgeValue(from, i int, ok func(string) bool) (candidate, bool) {
	c, is := s.value(from, i)
	v := s.text[c.start:c.end]
	c.hit = (is == bare && len(v) >= maxWeak || len(v) < maxWeak && ok(v)) && !placeholder(s.text, c.start, c.end)
	return c.shown(s.text), is != missing && (c.hit || c.open)
}

// maxWeak bounds the values that are looked at closely; what is longer and unbroken is no word.
const maxWeak = 1 << 10

// shown makes an open candidate that is no hit hide nothing, unless what stands of it in t is as
// random as the rest would have to be.
func (c candidate) shown(t string) candidate {
	if v := t[c.start:c.end]; !c.hit && !(c.open && len(v) >= 8 && len(v) < maxWeak && random(v, 8)) {
		c.start = c.end
	}
	return c
}

// inQuery reports whether the name that holds t[at:] is a parameter of a URL's query.
func inQuery(t string, at int) bool {
	k := wordStart(t, at)
	return k > 0 && (t[k-1] == '?' || t[k-1] == '&')
}

// findQuery hides what signs or authorises a URL: `sig=` and `code=` in its query.
func findQuery(s *scan, at, end int) (candidate, bool) {
	if !inQuery(s.text, at) || end < len(s.text) && s.text[end] != '=' {
		return candidate{}, false
	}
	if end+1 >= len(s.text) {
		return candidate{from: wordStart(s.text, at) - 1, start: len(s.text), end: len(s.text), open: true}, true
	}
	return s.judgeValue(at, end+1, func(v string) bool { return len(v) >= 16 && (scattered(v) || hexish(v)) })
}

// findSpaced hides a value that only white space, or "is", parts from its name.
func findSpaced(s *scan, at, end int, strong bool) (candidate, bool) {
	t := s.text
	i := blanks(t, end)
	if i == end {
		return candidate{}, false
	}
	for _, w := range []string{"is ", "was ", "set to ", "= ", "provided: ", "provided "} {
		if matches(t[i:], w) {
			i = blanks(t, i+len(w))
			break
		}
	}
	if i < len(t) && (t[i] == '"' || t[i] == '\'' || t[i] == '`') {
		i++
	}
	j := s.valueEnd(i, 0)
	v := strings.TrimRight(t[i:j], ".:")
	c := candidate{from: at, start: i, end: i + len(v), open: j == len(t)}
	c.hit = len(v) < maxWeak && !packaged(v) && (random(v, 16) || strong && (len(v) == 32 || len(v) >= 48) && hexish(v)) && !placeholder(t, i, j)
	return c.shown(s.text), c.hit || c.open
}

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
	v := t[i:j]
	said := j-i < maxPlaceholder && (status(v) || matches(v, "authent") || matches(v, "authoriz") || matches(v, "realm="))
	c := candidate{from: at, start: i, end: j, hit: j-i >= 8 && !said && !placeholder(t, i, j), open: j == len(t)}
	return c, c.hit || c.open
}

// findSK hides `sk-` and 16 or more characters whole, at the beginning of a word: OpenAI's keys and
// those of the many that took the form over.
func findSK(s *scan, at, end int) (candidate, bool) {
	t := s.text
	if t[at:end] != "sk-" || !s.wordBegins(at) {
		return candidate{}, false
	}
	j := s.runEnd(wordSet, end)
	c := candidate{from: at, start: at, end: j, hit: j-end >= 16 && plausible("", t[end:j]), open: j == len(t)}
	if !c.hit {
		c.start = end // `sk-` alone is no secret: a prompt that ends in it is shown
		if j-end < enough("sk-") {
			c.start = j
		}
	}
	return c, c.hit || c.open
}

// prefixed is how long the random part of a token must be whose prefix no row knows: KSUIDs and
// the identifiers of most services are shorter.
const prefixed = 30

// findPrefixed hides tokens of a form that newer providers share: a short lower-case prefix, `_`,
// and a long random run of letters of both cases and digits.
func findPrefixed(s *scan, at, end int) (candidate, bool) {
	t := s.text
	j := end
	for ; j < len(t) && j-end < prefixed && isAlnum(t[j]); j++ {
	}
	if j-end < prefixed {
		return candidate{}, false // not open either: too common a beginning to hold back
	}
	from := at
	for from > 0 && at-from < 32 && (isLower(t[from-1]) || isDigit(t[from-1]) || t[from-1] == '_') {
		from--
	}
	if at-from < 2 || !isLower(t[from]) || !s.wordBegins(from) || strings.HasPrefix(t[from:], "pk_") {
		return candidate{}, false
	}
	j = s.runEnd(alnumSet, end)
	v := t[end:min(j, end+maxWeak)]
	kinds := [4]int{}
	for i := range len(v) {
		kinds[classOf(v[i])]++
	}
	ok := kinds[lower] >= 3 && kinds[upper] >= 3 && kinds[digit] >= 2 && scattered(v) && entropy(v) > 3.5
	return candidate{from: from, start: from, end: j, hit: ok, open: ok && j == len(t)}, ok
}

var (
	wordSet  = namedSet("A-Za-z0-9_-")
	alnumSet = namedSet("A-Za-z0-9")
	keySet   = namedSet("A-Za-z0-9+/=") // base64
)

// namedSets are those of the rules that are code. Only package initialisation adds to them.
var namedSets []*set

func namedSet(spec string) *set {
	s := &set{number: len(namedSets)}
	addRanges(&s.members, spec)
	namedSets = append(namedSets, s)
	return s
}

// findCookie hides the cookies of a `Cookie:` or `Set-Cookie:` header, but for their attributes.
func findCookie(s *scan, at, end int) (candidate, bool) {
	t := s.text
	i := blanks(t, end)
	j := i
	for j < len(t) && t[j] > ' ' && t[j] != '=' && t[j] != ';' && j-i < 2*maxBlanks {
		j++
	}
	if j == len(t) {
		return candidate{from: at, start: j, end: j, open: true}, true
	}
	if t[j] != '=' || j == i || t[i] == '-' {
		return candidate{}, false
	}
	start := j + 1
	set := at >= 4 && matches(t[at-4:], "set-")
	for j = start; j < len(t) && t[j] != '"' && t[j] != '\'' && t[j] != '\n' && !(set && t[j] == ';'); j++ {
	}
	s.spend(j - i)
	stop := start + len(strings.TrimRight(t[start:j], " \t"))
	c := candidate{from: at, start: start, end: stop, open: j == len(t), until: ending{quote: '\n'}}
	c.hit = stop-start >= 4 && !placeholder(t, start, stop) && !preference(t[i:start-1], t[start:stop])
	return c, c.hit || c.open
}

// preference reports whether a cookie only says what somebody likes: theme=dark, lang=en-US.
func preference(name, value string) bool {
	if len(value) >= 12 || strings.Trim(value, "abcdefghijklmnopqrstuvwxyz-") != "" && !(len(value) == 5 && value[2] == '-') {
		return false
	}
	name = strings.ToLower(name)
	for _, w := range []string{"sess", "sid", "auth", "token", "jwt", "csrf", "xsrf", "secret", "pass", "key", "id"} {
		if strings.Contains(name, w) {
			return false
		}
	}
	return true
}

// findMnemonic hides twelve or more words behind their name (BIP 39).
func findMnemonic(s *scan, at, end int) (candidate, bool) {
	t := s.text
	i, sep := separator(t, end)
	if sep == noSeparator {
		return candidate{}, false
	}
	if i < len(t) && (t[i] == '"' || t[i] == '\'') {
		i++
	}
	words, j := 0, i
	for k := i; k < len(t); {
		n := k
		for n < len(t) && isLower(t[n]) {
			n++
		}
		if n-k < 3 || n-k > 8 {
			break
		}
		words, j = words+1, n
		k = blanks(t, n)
	}
	s.spend(j - i)
	c := candidate{from: at, start: i, end: j, hit: words >= 12, open: j == len(t), until: ending{quote: '\n'}}
	return c.shown(s.text), c.hit || c.open
}

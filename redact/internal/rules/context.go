package rules

import (
	"slices"
	"strings"
	"sync"
)

// The second tier: values that a name before them makes secret. builtin joins it with the first.
var context = sync.OnceValue(func() []Rule {
	return []Rule{
		{Class: "password", Tier: Hint, Keywords: slices.Concat(Capitals(PasswordWords), []string{
			"mysql_pwd", "sshpass", "_pass", "-pass", "_pwd", "dbpass", "identified by",
		}), Find: findAssignment},
		{Class: "token", Tier: Hint, Keywords: []string{"token", "private_key_id"},
			Find: findAssignment},
		{Class: "secret", Tier: Hint, Keywords: []string{"secret"}, Find: findAssignment},
		{Class: "api-key", Tier: Hint, Keywords: []string{
			"api_key", "api-key", "apikey", "api key", "app_key", "app-key", "appkey",
			"application_key", "application-key", "secret_key", "secret-key", "secretkey",
			"secret key", "access_key", "access-key", "accesskey", "access key", "private_key",
			"private-key", "privatekey", "private key", "presharedkey", "preshared-key",
			"account_key", "account-key", "accountkey", "storage_key", "auth_key", "auth-key",
			"authkey", "signing_key", "signing-key", "signingkey", "encryption_key",
			"encryption-key", "encryptionkey", "master_key", "master-key", "masterkey",
			"subscription_key", "subscription-key", "license_key", "client-key-data",
			"secret_key_base",
		}, Find: findAssignment},
		{Class: "authorization", Tier: Hint, Keywords: []string{"authorization"},
			Find: findAssignment},
		{Class: "bearer", Tier: Hint, Keywords: []string{"bearer"}, Find: findBearer},
		{Class: "key", Tier: Hint, Keywords: []string{"key"}, Find: findWeak(16, false)},
		{Class: "auth", Tier: Hint,
			Keywords: []string{"auth", "_auth", "credential", "credentials", "creds"},
			Find:     findWeak(12, false)},
		{Class: "session", Tier: Hint, Keywords: []string{
			"session", "sessionid", "session_id", "session-id", "sessid", "phpsessid", "jsessionid",
			"sid", "csrf",
		}, Find: findWeak(16, true)},
		{Class: "signature", Tier: Hint,
			Keywords: []string{"sig", "signature", "code", "hmac", "hapikey"}, Find: findQuery},
		{Class: "cookie", Tier: Hint, Keywords: []string{"cookie:"}, Find: findCookie},
		{Class: "url-password", Tier: Hint, Keywords: []string{"://"}, Find: findUserinfo},
		{Class: "dsn-password", Tier: Hint, Keywords: []string{"@tcp(", "@unix("}, Find: findGoDSN},
		{Class: "pgpass", Tier: Hint, Keywords: []string{":5432:", ":*:"}, Find: findPgpass},
		{Class: "password", Tier: Hint,
			Keywords: []string{" -u", " -p", " -a", " -w", "--user", "--pass", "pass:"},
			Find:     findFlag},
		{Class: "password", Tier: Hint, Keywords: []string{
			"pass:", "pass=", "pass =", `pass"`, "pass'", "pw:", "pw=", "pw =", `pw"`, "pw'",
			"pwd:", "pwd =", `pwd"`, "pwd'",
		}, Find: findShort},
		{Class: "password", Tier: Hint, Keywords: []string{"psk="},
			Find: func(s *Text, at, end int) Candidate { return findAssignment(s, at, end-1) }},
		{Class: "token", Tier: Hint, Keywords: []string{"_pat", "pat=", "pat:"}, Find: findPAT},
		{Class: "password", Tier: Hint, Keywords: []string{"htpasswd"}, Find: findHtpasswd},
		{Class: "password", Tier: Hint,
			Keywords: []string{"chpasswd", "--password-stdin", "passwd --stdin", "sudo -s",
				"--with-token"}, Find: findPiped},
		{Class: "password", Tier: Hint, Keywords: []string{"pwd="}, Find: findConnection},
		{Class: "token", Tier: Hint, Keywords: []string{"login("}, Find: findLogin},
		{Class: "private-key", Tier: Structure, Keywords: []string{"-----begin ", "---- begin "},
			Find: findKeyBlock},
		{Class: "private-key", Tier: Structure, Keywords: []string{"-----end ", "---- end "},
			Find: findKeyBlockEnd},
		{Class: "private-key", Tier: Structure, Keywords: []string{"private-lines:"},
			Find: findPuTTY},
		{Class: "private-key", Tier: Structure, Keywords: []string{"LS0tLS1CRUdJTi"},
			Find: findEncodedKey},
		{Class: "private-key", Tier: Structure, Keywords: []string{`"d":`}, Find: findJWK},
		{Class: "mnemonic", Tier: Hint,
			Keywords: []string{"mnemonic", "seed phrase", "seed_phrase", "recovery phrase"},
			Find:     findMnemonic},
		{Class: "openai-key", Tier: Structure, Keywords: []string{"sk-"}, Find: findSK},
		{Class: "token", Tier: Structure, Keywords: []string{"_"}, Find: findPrefixed},
	}
})

// keep reports whether what findWeak and the like found is a secret. hex: digests of 24 and more
// count too.
func keep(v string, least int, hex bool) bool {
	if hex && len(v) >= 24 && hexish(v) && !isUUID(v) {
		return true
	}
	return random(v, least)
}

// findWeak makes the finder for names that are part of many harmless ones: the name must be a word
// or the end of one, and the value drawn at random.
func findWeak(least int, hex bool) func(*Text, int, int) Candidate {
	return func(s *Text, at, end int) Candidate {
		t := s.text
		if !keyBegins(t, at, end) || isPublic(t, at) {
			return Candidate{}
		}
		i, sep := separator(t, note(t, end))
		if sep == noSeparator {
			if !Matches(t[at:end], "key") {
				return Candidate{}
			}
			return findSpaced(s, at, end, false)
		}
		if i == len(t) {
			return s.part(at, i, i)
		}
		return s.judgeValue(at, i, func(v string) bool { return keep(v, least, hex) })
	}
}

// isPublic reports whether the name that holds t[at:] is one of a public key.
func isPublic(t string, at int) bool {
	before := strings.TrimRight(t[max(0, at-16):at], " _-")
	for _, w := range []string{"public", "pub", "publishable", "foreign", "primary", "host",
		"recipient", "cache", "partition", "sort",
		"node", "object", "row", "routing", "lookup", "dedup", "idempotency"} {
		if n := len(before) - len(w); n >= 0 && Matches(before[n:], w) {
			return true
		}
	}
	return false
}

// judgeValue makes a candidate of the value at i, whose name begins at from, if ok accepts it.
// While the value may still grow it is open and hides nothing unless ok.
func (s *Text) judgeValue(from, i int, ok func(string) bool) Candidate {
	c, is := s.value(from, i)
	v := s.text[c.Start:c.End]
	c.Hit = (is == bare && len(v) >= maxWeak || len(v) < maxWeak && ok(v)) &&
		!placeholder(s.text, c.Start, c.End)
	return c.shown(s.text)
}

// maxWeak bounds the values that are examined closely; a longer unbroken one is not a word.
const maxWeak = 1 << 10

// shown makes an open candidate that is not a hit hide nothing, unless the part in t is as random
// as the rest would have to be.
func (c Candidate) shown(t string) Candidate {
	if v := t[c.Start:c.End]; !c.Hit &&
		!(c.Open && len(v) >= 8 && len(v) < maxWeak && random(v, 8)) {
		c.Start = c.End
	}
	return c
}

// inQuery reports whether the name that holds t[at:] is a parameter of a URL's query.
func inQuery(t string, at int) bool {
	k := wordStart(t, at)
	return k > 0 && (t[k-1] == '?' || t[k-1] == '&')
}

// findQuery hides what signs or authorises a URL: `sig=` and `code=` in its query.
func findQuery(s *Text, at, end int) Candidate {
	if !inQuery(s.text, at) || end < len(s.text) && s.text[end] != '=' {
		return Candidate{}
	}
	if end+1 >= len(s.text) {
		return s.part(wordStart(s.text, at)-1, len(s.text), len(s.text))
	}
	return s.judgeValue(at, end+1,
		func(v string) bool { return len(v) >= 16 && (scattered(v) || hexish(v)) })
}

// findSpaced hides a value separated from its name by only white space, or "is".
func findSpaced(s *Text, at, end int, strong bool) Candidate {
	t := s.text
	i := Blanks(t, end)
	if i == end {
		return Candidate{}
	}
	for _, w := range []string{"is ", "was ", "set to ", "= ", "provided: ", "provided "} {
		if Matches(t[i:], w) {
			i = Blanks(t, i+len(w))
			break
		}
	}
	if i < len(t) && (t[i] == '"' || t[i] == '\'' || t[i] == '`') {
		i++
	}
	j := s.valueEnd(i, 0)
	v := strings.TrimRight(t[i:j], ".:")
	c := Candidate{From: at, Start: i, End: i + len(v), Open: j == len(t)}
	c.Hit = len(v) < maxWeak && !packaged(v) &&
		(random(v, 16) || strong && (len(v) == 32 || len(v) >= 48) && hexish(v)) &&
		!placeholder(t, i, j)
	return c.shown(s.text)
}

// findBearer hides the value of `Bearer VALUE`: 8 or more characters of RFC 6750's b64token.
func findBearer(s *Text, at, end int) Candidate {
	t := s.text
	if at > 0 && IsAlnum(t[at-1]) {
		return Candidate{}
	}
	i := Blanks(t, end)
	if i == len(t) {
		return s.part(at, i, i)
	}
	if i == end {
		return Candidate{}
	}
	j := i
	for j < len(t) && (IsAlnum(t[j]) || strings.IndexByte("._~+/=-", t[j]) >= 0) {
		j++
	}
	s.Spend(j - i)
	v := t[i:j]
	said := j-i < maxPlaceholder &&
		(status(v) || Matches(v, "authent") || Matches(v, "authoriz") || Matches(v, "realm="))
	c := s.part(at, i, j)
	c.Hit = j-i >= 8 && !said && !placeholder(t, i, j)
	return c
}

// findSK hides `sk-` and 16 or more characters whole, at the beginning of a word: OpenAI's keys and
// those of the many that copied the form.
func findSK(s *Text, at, end int) Candidate {
	t := s.text
	if t[at:end] != "sk-" || !s.wordBegins(at) {
		return Candidate{}
	}
	j := s.runEnd(wordSet, end)
	c := s.part(at, at, j)
	c.Hit = j-end >= 16 && Plausible("", t[end:j])
	if !c.Hit {
		c.Start = end // `sk-` alone is not a secret: a prompt that ends in it is shown
		if j-end < enough("sk-") {
			c.Start = j
		}
	}
	return c
}

// prefixed is how long the random part of a token with an unknown prefix must be: KSUIDs and the
// identifiers of most services are shorter.
const prefixed = 30

// findPrefixed hides tokens of a form that newer providers share: a short lower-case prefix, `_`,
// and a long random run of letters of both cases and digits.
func findPrefixed(s *Text, at, end int) Candidate {
	t := s.text
	j := end
	for ; j < len(t) && j-end < prefixed && IsAlnum(t[j]); j++ {
	}
	if j-end < prefixed {
		return Candidate{} // not open either: the beginning is too common to hold back
	}
	from := at
	for from > 0 && at-from < 32 && (IsLower(t[from-1]) || IsDigit(t[from-1]) || t[from-1] == '_') {
		from--
	}
	if at-from < 2 || !IsLower(t[from]) || !s.wordBegins(from) ||
		strings.HasPrefix(t[from:], "pk_") {
		return Candidate{}
	}
	j = s.runEnd(alnumSet, end)
	v := t[end:min(j, end+maxWeak)]
	kinds := [4]int{}
	for i := range len(v) {
		kinds[classOf(v[i])]++
	}
	ok := kinds[lower] >= 3 && kinds[upper] >= 3 && kinds[digit] >= 2 && scattered(v) &&
		entropy(v) > 3.5
	return Candidate{From: from, Start: from, End: j, Hit: ok, Open: ok && j == len(t)}
}

var (
	wordSet  = namedSet("A-Za-z0-9_-")
	alnumSet = namedSet("A-Za-z0-9")
	KeySet   = namedSet("A-Za-z0-9+/=") // base64
)

// namedSets are the sets of the rules that are code. Only package initialisation adds to them.
var namedSets []*set

func namedSet(spec string) *set {
	s := &set{number: len(namedSets)}
	addRanges(&s.Members, spec)
	namedSets = append(namedSets, s)
	return s
}

// findCookie hides the cookies of a `Cookie:` or `Set-Cookie:` header, except their attributes.
func findCookie(s *Text, at, end int) Candidate {
	t := s.text
	i := Blanks(t, end)
	j := i
	for j < len(t) && t[j] > ' ' && t[j] != '=' && t[j] != ';' && j-i < 2*maxBlanks {
		j++
	}
	if j == len(t) {
		return s.part(at, j, j)
	}
	if t[j] != '=' || j == i || t[i] == '-' {
		return Candidate{}
	}
	start := j + 1
	set := at >= 4 && Matches(t[at-4:], "set-")
	for j = start; j < len(t) && t[j] != '"' && t[j] != '\'' && t[j] != '\n' &&
		!(set && t[j] == ';'); j++ {
	}
	s.Spend(j - i)
	stop := start + len(strings.TrimRight(t[start:j], " \t"))
	c := Candidate{From: at, Start: start, End: stop, Open: j == len(t), Until: Ending{Quote: '\n'}}
	c.Hit = stop-start >= 4 && !placeholder(t, start, stop) &&
		!preference(t[i:start-1], t[start:stop])
	return c
}

// preference reports whether a cookie only holds a user's preference: theme=dark, lang=en-US.
func preference(name, value string) bool {
	if len(value) >= 12 ||
		strings.Trim(value, "abcdefghijklmnopqrstuvwxyz-") != "" &&
			!(len(value) == 5 && value[2] == '-') {
		return false
	}
	name = strings.ToLower(name)
	for _, w := range []string{"sess", "sid", "auth", "token", "jwt", "csrf", "xsrf", "secret",
		"pass", "key", "id"} {
		if strings.Contains(name, w) {
			return false
		}
	}
	return true
}

// findMnemonic hides twelve or more words after their name (BIP 39).
func findMnemonic(s *Text, at, end int) Candidate {
	t := s.text
	i, sep := separator(t, end)
	if sep == noSeparator {
		return Candidate{}
	}
	if i < len(t) && (t[i] == '"' || t[i] == '\'') {
		i++
	}
	words, j := 0, i
	for k := i; k < len(t); {
		n := k
		for n < len(t) && IsLower(t[n]) {
			n++
		}
		if n-k < 3 || n-k > 8 {
			break
		}
		words, j = words+1, n
		k = Blanks(t, n)
	}
	s.Spend(j - i)
	c := s.part(at, i, j)
	c.Hit, c.Until = words >= 12, Ending{Quote: '\n'}
	return c.shown(s.text)
}

package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxPlaceholder is how long a placeholder for a secret may be. A longer value is hidden whatever
// it looks like.
const maxPlaceholder = 64

// placeholder reports whether the value t[start:end] is only a placeholder for a secret: `****`,
// `<none>`, `$TOKEN`, `${{ secrets.X }}`, `null`, `process.env.X`, `your-key-here`. What follows
// the value on the line decides some of these.
func placeholder(t string, start, end int) bool {
	v := t[start:end]
	if strings.TrimLeft(v, "*.•●…-_") == "" || len(v) >= 4 && strings.TrimLeft(v, "x") == "" {
		return true
	}
	if len(v) < maxWeak && fingerprint(v) {
		return true
	}
	if len(v) > maxPlaceholder {
		return false
	}
	if len(v) <= maxMarks && strings.Trim(v, marks) == "" {
		return true
	}
	if templated(v) {
		return true
	}
	rest := t[start:min(len(t), start+maxPlaceholder)]
	switch v[0] {
	case '<':
		i := strings.IndexByte(rest, '>')
		return i > 0 &&
			(only(rest[1:i], "_- .") || strings.Contains(rest[1:i], " ") &&
				only(rest[1:i], "_- .,:()/'\"")) && start+i+1 >= end
	case '$':
		return len(v) > 1 && (v[1] == '(' || only(v[1:], "_") && v == strings.ToUpper(v) ||
			strings.HasPrefix(v, "${") && strings.HasSuffix(v, ":-") && end < len(t) &&
				t[end] == '}' ||
			strings.HasPrefix(v, "${{") && strings.Contains(rest, "}}") ||
			v[1] == '{' && only(strings.TrimSuffix(v[2:], "}"), "_."))
	case '{':
		i := strings.IndexByte(rest, '}')
		return i > 1 &&
			(strings.HasPrefix(v, "{{") && strings.Contains(rest, "}}") ||
				only(rest[1:i], "_.[]()") && start+i >= end && !scattered(rest[1:i]))
	case '%':
		return isVerb(v) || len(v) > 2 && v[len(v)-1] == '%' && only(v[1:len(v)-1], "_")
	case '(':
		i := strings.IndexByte(rest, ')')
		return i > 0 &&
			(status(rest[1:i]) || strings.Contains(rest[1:i], " ") &&
				strings.Trim(rest[1:i], "abcdefghijklmnopqrstuvwxyz -") == "")
	}
	if IsDigit(v[0]) && strings.HasPrefix(t[end:], " bytes") {
		return strings.Trim(v, "0123456789") == ""
	}
	for _, w := range []string{"null", "nil", "none", "undefined", "true", "false", "string"} {
		if len(v) == len(w) && Matches(v, w) {
			return true
		}
	}
	for _, p := range []string{"process.env.", "os.environ", "os.getenv(", "secrets.", "env.",
		"self.", "this.", "request.", "config.", "settings.", "options.", "args.", "params."} {
		if strings.HasPrefix(v, p) {
			return only(v, "._[]()\"'")
		}
	}
	return (Matches(v, "your-") || Matches(v, "your_")) &&
		strings.Trim(strings.ToLower(v), "abcdefghijklmnopqrstuvwxyz-_") == ""
}

// templated reports whether v is a template in which nothing but the parts to fill in could be a
// secret.
func templated(v string) bool {
	if strings.IndexByte(v, '%') < 0 && strings.IndexByte(v, '{') < 0 {
		return false
	}
	filled := false
	for _, form := range []struct{ opens, closes string }{{"${", "}"}, {"#{", "}"}, {"%(", ")s"}} {
		for {
			i := strings.Index(v, form.opens)
			if i < 0 {
				break
			}
			k := strings.Index(v[i:], form.closes)
			if k < 0 {
				break
			}
			v, filled = v[:i]+v[i+k+len(form.closes):], true
		}
	}
	if strings.Contains(v, "%s") {
		v, filled = strings.ReplaceAll(v, "%s", ""), true
	}
	return filled && !strings.ContainsAny(v, "0123456789!#$^&*")
}

// isVerb reports whether v is a verb of printf(3), alone or followed by what ends the line.
func isVerb(v string) bool {
	i := len(v) - len(strings.TrimLeft(v[1:], "-+#0123456789.*lhz"))
	return i < len(v) && IsLower(Fold(v[i])) &&
		strings.Trim(strings.NewReplacer(`\n`, "", `\r`, "", `\t`, "").Replace(v[i+1:]), ".!") == ""
}

// marks are what code, JSON and shells put in the place of a value: an opening bracket, an
// operator, a prompt's last character. maxMarks is how many at most: a password of nothing else is
// longer.
const (
	marks    = "{}[]()<>=|&+-/\\^~.,:;!?$#%❯➜›»"
	maxMarks = 3
)

// only reports whether s consists of ASCII letters, digits and the given characters.
func only(s, also string) bool {
	for i := range len(s) {
		if !IsAlnum(s[i]) && strings.IndexByte(also, s[i]) < 0 {
			return false
		}
	}
	return true
}

// said reports whether the value t[start:end] of the name at t[at:key] is a word about the secret
// rather than the secret: its state, its type, the code that makes it, or the name repeated.
func said(t string, at, key, start, end int) bool {
	v := strings.TrimRight(t[start:end], ",;.:)]}!?")
	if v == "" || len(v) > maxPlaceholder {
		return false
	}
	if !ASCII(t[at:key]) &&
		strings.IndexFunc(v,
			func(c rune) bool { return c < utf8.RuneSelf || !unicode.IsLetter(c) }) < 0 {
		return true // a word of the same language as the name
	}
	if Matches(v, "https://") || Matches(v, "http://") ||
		(v == "A" || v == "An" || v == "The") && end < len(t) && t[end] == ' ' {
		return true
	}
	if status(v) || Matches(v, t[at:key]) && len(v) == key-at || v == t[wordStart(t, at):key] ||
		versions(v) || Matches(t[at:key], "token") && fewer(t, at, v) {
		return true
	}
	// `token = next()`, `password: config.password,`: code has blanks around its operators.
	if start == 0 || t[start-1] != ' ' {
		return false
	}
	if prompts(t, start, end) || variable(v, t[at:key]) ||
		codeWords[v] && end+1 < len(t) && t[end] == ' ' ||
		!Matches(t[at:key], "passphrase") && sentence(t, start, end) {
		return true
	}
	if isType(t, start) || isExpression(t, start) {
		return true
	}
	rest := t[start:min(len(t), start+maxPlaceholder)]
	if i := strings.IndexByte(rest, '('); i > 0 {
		callee := rest[:i]
		if wordy(callee) ||
			strings.Contains(callee, ".") && only(callee, "._") &&
				strings.IndexByte(rest, ')') > i {
			return true
		}
	}
	return strings.Contains(v, ".") && wordy(v) && !strings.ContainsAny(v, "0123456789")
}

// wordy reports whether v looks like a name in a program: words joined by dots and underscores.
func wordy(v string) bool {
	return only(v, "._") && !IsDigit(v[0]) && !scattered(v)
}

// statuses are what prompts, logs, type declarations and help texts say about a secret. As
// passwords they would be guessed first.
var statuses = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`required optional expired invalid valid missing incorrect unset set empty none hidden redacted masked
		changed updated rotated revoked created deleted accepted rejected verified ok yes no on off enabled disabled unknown unchanged
		string str text bytes bool boolean int integer number object any prompt stdin file env null nil undefined true false
		identifier eof got want expected unexpected failed failure success not
		protected encrypted saved stored loaded available unavailable supported present absent provided generated used needed mismatch
		bearer basic digest read write read-only read-write readonly inherit
		falsch ungültig erforderlich abgelaufen incorrecta incorrecto inválida requerida incorrecte invalide requis errata obbligatoria
		incorreta onjuist verplicht fel felaktigt nieprawidłowe gerekli`) {
		m[w] = true
	}
	return m
}()

// status reports whether v is one of statuses, in any case.
func status(v string) bool {
	if len(v) > 16 {
		return false
	}
	return statuses[strings.ToLower(v)]
}

// variable reports whether v is a variable's name that contains the secret's: password_ptr,
// accessToken.
func variable(v, name string) bool {
	return only(v, "_") && !strings.ContainsAny(v, "0123456789") &&
		strings.Contains(strings.ToLower(v), strings.ToLower(name)) &&
		(strings.Contains(v, "_") || strings.ContainsAny(v[1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZ")) &&
		!scattered(v)
}

// fewer reports whether v is too short for a token: a count, or the page number in a URL's query.
func fewer(t string, at int, v string) bool {
	switch {
	case strings.Trim(v, "0123456789") == "":
		return len(v) < 6 // a one-time code has six
	case inQuery(t, at):
		return v == "next" || v == "prev" || v == "previous" || v == "first" || v == "last" ||
			v == "start"
	}
	return false
}

// codeWords precede an expression in the languages that have them.
var codeWords = map[string]bool{"await": true, "new": true, "async": true, "function": true,
	"func": true, "lambda": true, "yield": true, "not": true,
	"typeof": true, "if": true, "return": true, "let": true, "const": true, "raise": true,
	"throw": true}

// sentence reports whether t[start:end] is a word, without a digit, and the first of several: one
// space, and another in lower case or in parentheses. If `name:` or `name=` follows, it is a value.
func sentence(t string, start, end int) bool {
	for i := start; i < end; i++ {
		if !IsLower(t[i]) && !(i == start && isUpper(t[i])) {
			return false
		}
	}
	k := end + 1
	if end-start < 2 || k >= len(t) || t[end] != ' ' || t[k] != '(' && !IsLower(t[k]) {
		return false
	}
	n := k
	for n < len(t) && n-k < maxBlanks && IsLower(t[n]) {
		n++
	}
	return t[k] == '(' || n == len(t) || strings.IndexByte(" .,;!?)", t[n]) >= 0
}

// prompts reports whether a shell prompt begins at t[start]: `me@host:/tmp#`, `[me@host tmp]$`. It
// follows an answered password question when the echo of the line's end was off, too.
func prompts(t string, start, end int) bool {
	v := t[start:end]
	at := strings.IndexByte(v, '@')
	if at < 1 {
		return false
	}
	user, place := v[:at], v[at+1:]
	if user[0] == '[' {
		rest := t[end:min(len(t), end+maxBlanks)]
		k := strings.IndexByte(rest, ']')
		return only(user[1:], "._-") && only(place, ".-") && k > 1 && rest[0] == ' ' &&
			k+1 < len(rest) && strings.IndexByte("#$%", rest[k+1]) >= 0
	}
	host, path, ok := strings.Cut(place, ":")
	return ok && only(user, "._-") && host != "" && only(host, ".-") && len(path) > 1 &&
		(path[0] == '/' || path[0] == '~') &&
		strings.IndexByte("#$%>", path[len(path)-1]) >= 0 && !strings.ContainsAny(path, "@:")
}

// versions reports whether v is a version, or a range of them as in package managers: 1.2.3,
// ^6.0.0, >=1.2, ~1.4.x.
func versions(v string) bool {
	n := strings.TrimLeft(v, "^~<>=v")
	dots := strings.Count(n, ".")
	return n != "" && IsDigit(n[0]) && strings.Trim(n, "0123456789.x*") == "" &&
		(dots == 2 || dots > 0 && n != v) && !strings.Contains(n, "..")
}

// packaged reports whether v is a version of a Debian package (deb-version(7)): an epoch or a
// revision, and numbers with dots.
func packaged(v string) bool {
	v = strings.Trim(v, "()")
	epoch, rest, ok := strings.Cut(v, ":")
	if !ok {
		epoch, rest = "", v
	}
	i := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	return strings.Trim(epoch, "0123456789") == "" && i > 0 && i+1 < len(rest) && rest[i] == '.' &&
		IsDigit(rest[i+1]) && only(rest, ".+~-") &&
		(ok || strings.Contains(rest, "-")) && strings.Count(rest, ".") < 5
}

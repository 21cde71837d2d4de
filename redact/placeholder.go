package redact

import "strings"

// maxPlaceholder is how long something that only stands for a secret may be. A longer value is
// hidden whatever it looks like.
const maxPlaceholder = 64

// placeholder reports whether the value t[start:end] only stands for a secret: `****`, `<none>`,
// `$TOKEN`, `${{ secrets.X }}`, `null`, `process.env.X`, `your-key-here`. What follows the value on
// the line decides some of these.
func placeholder(t string, start, end int) bool {
	v := t[start:end]
	if strings.TrimLeft(v, "*.•●…-_") == "" || len(v) >= 4 && strings.TrimLeft(v, "x") == "" {
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
		return len(v) > 1 && (v[1] == '(' || only(v[1:], "_") && v == strings.ToUpper(v) ||
			strings.HasPrefix(v, "${") && strings.HasSuffix(v, ":-") && end < len(t) && t[end] == '}' ||
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

// said reports whether the value t[start:end] of the name at t[at:key] is a word about the secret
// rather than the secret: its state, its type, the code that makes it, or the name once more.
func said(t string, at, key, start, end int) bool {
	v := strings.TrimRight(t[start:end], ",;.)]}!?")
	if v == "" || len(v) > maxPlaceholder {
		return false
	}
	if status(v) || matches(v, t[at:key]) && len(v) == key-at {
		return true
	}
	// `token = next()`, `password: config.password,`: code has blanks around its operators.
	if start == 0 || t[start-1] != ' ' {
		return false
	}
	if i := strings.IndexByte(t[start:min(len(t), start+maxPlaceholder)], '('); i > 0 && wordy(t[start:start+i]) {
		return true
	}
	return strings.Contains(v, ".") && wordy(v) && !strings.ContainsAny(v, "0123456789")
}

// wordy reports whether v is a name as programs have them: words joined by dots and underscores.
func wordy(v string) bool {
	return only(v, "._") && !isDigit(v[0]) && !scattered(v)
}

// statuses are what prompts, logs, type declarations and help texts say of a secret. As passwords
// they would be guessed first.
var statuses = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`required optional expired invalid valid missing incorrect unset set empty none hidden redacted masked
		changed updated rotated revoked created deleted accepted rejected verified ok yes no on off enabled disabled unknown unchanged
		string str text bytes bool boolean int integer number object any prompt stdin file env null nil undefined true false
		identifier eof expected unexpected failed failure success not
		protected encrypted saved stored loaded available unavailable supported present absent provided generated used needed`) {
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

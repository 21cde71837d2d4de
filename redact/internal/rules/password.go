package rules

import "strings"

// password reports whether v, where little suggests a secret, can be one that people choose or are
// given: it is drawn at random, or has letters and digits or signs, and does not name something
// else.
func password(v string) bool {
	v = strings.TrimRight(v, ".,;:!?")
	if len(v) < 6 || len(v) >= maxWeak || strings.ContainsAny(v, " \t") || named(v) ||
		versions(v) || packaged(v) || isDate(v) || status(v) || Digested(v) {
		return false
	}
	if random(v, 8) {
		return true
	}
	letters, digits, signs, others := 0, 0, 0, 0
	for i := range len(v) {
		switch c := v[i]; {
		case IsDigit(c):
			digits++
		case IsAlnum(c), c >= 0x80:
			letters++
		case strings.IndexByte("!#$%&*@^", c) >= 0:
			signs++
		case c != '-' && c != '_' && c != '.':
			others++
		}
	}
	switch {
	case letters == 0 || others > 0 || strings.IndexByte("#.$@%&*", v[0]) >= 0 || mail(v) ||
		aboutSecrets(v):
		return false
	case signs > 0:
		return true
	}
	return digits > 0 && !algorithm(v)
}

// mail reports whether v is an email address.
func mail(v string) bool {
	user, host, ok := strings.Cut(v, "@")
	return ok && user != "" && strings.Contains(host, ".") && only(user, "._-+") && only(host, ".-")
}

// aboutSecrets reports whether v contains a word for a secret, as names of fields and variables do.
func aboutSecrets(v string) bool {
	v = strings.ToLower(v)
	for _, w := range []string{"pass", "pwd", "token", "secret", "key", "auth", "cred"} {
		if strings.Contains(v, w) {
			return true
		}
	}
	return false
}

// algorithm reports whether v is the name of a method, a type or a unit, which have digits too:
// sha256, utf-8, int64, x509.
func algorithm(v string) bool {
	v = strings.ToLower(v)
	for _, w := range []string{"sha", "md5", "utf", "base", "aes", "hmac", "hs2", "hs3", "hs5",
		"rs2", "rs3", "rs5", "es2", "es3", "es5", "ps2", "oauth", "http", "x509",
		"x-", "ed25519", "ed448", "p-", "secp", "curve", "x25519", "pbkdf", "argon", "latin", "iso",
		"int", "uint", "float", "varchar", "char", "rsa", "dsa",
		"ecdsa", "ssh", "tls", "ssl", "ipv", "v1", "v2", "v3", "v4", "api", "version", "default",
		"example", "number", "sec-", "pkcs", "chacha", "blake", "crc"} {
		if strings.HasPrefix(v, w) {
			return true
		}
	}
	return false
}

// Digested reports whether v is a digest that names its algorithm: an ssh(1) fingerprint, a web
// integrity attribute (SRI), an image's digest.
func Digested(v string) bool {
	v = strings.TrimLeft(v, `("'[<`)
	if k := strings.LastIndexByte(v[:min(len(v), 24)], '='); k > 0 { // fingerprint=SHA256:…
		v = v[k+1:]
	}
	for _, p := range []string{"sha256:", "sha384:", "sha512:", "sha1:", "md5:", "sha256-",
		"sha384-", "sha512-", "sha1-", "sha256=", "sha512=", "h1:"} {
		if Matches(v, p) {
			return true
		}
	}
	return false
}

// fingerprint reports whether v is nothing but such a digest, of the right length: no name makes
// that a secret.
func fingerprint(v string) bool {
	if len(v) < 26 || strings.IndexByte("sSmM(\"'[", v[0]) < 0 {
		return false
	}
	v = strings.TrimRight(v, `)"'],;.`)
	v = strings.TrimLeft(v, `("'[`)
	for _, f := range []struct {
		name     string
		hex, b64 int // digits, and characters of base64 without padding
	}{{"sha256", 64, 43}, {"sha384", 96, 64}, {"sha512", 128, 86}, {"sha1", 40, 27},
		{"md5", 32, 22}} {
		if len(v) <= len(f.name) || !Matches(v, f.name) ||
			v[len(f.name)] != ':' && v[len(f.name)] != '-' {
			continue
		}
		rest := v[len(f.name)+1:]
		if body := strings.TrimRight(rest, "="); len(body) == f.b64 && only(body, "+/") ||
			len(rest) == f.hex && hexish(rest) && only(rest, "") {
			return true
		}
		return len(rest) == f.hex/2*3-1 && hexish(rest) // MD5:16:27:ac
	}
	return false
}

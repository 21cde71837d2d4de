package rules

import "strings"

// findUserinfo hides the password in `scheme://user:password@host` (RFC 3986, section 3.2.1), and a
// user that is a random token.
func findUserinfo(s *Text, at, end int) Candidate {
	t := s.text
	if at == 0 || !IsAlnum(t[at-1]) {
		return Candidate{}
	}
	for at > 0 && end-at < maxBlanks && IsAlnum(t[at-1]) {
		at--
	}
	colon, host := -1, -1
	i := end
	for ; i < len(t) && i-end < maxAuthority; i++ {
		c := t[i]
		if c <= ' ' || c == '/' || c == '?' || c == '#' || c == '"' || c == '\'' || c == '`' ||
			c == '<' && i == end || c == ',' && host >= 0 {
			break
		}
		if c == ':' && colon < 0 {
			colon = i
		}
		if c == '@' {
			host = i
		}
	}
	// The text so far can still become a password, though it rarely does: a host and port.
	switch {
	case host < 0 && colon < 0:
		return s.part(at, i, i)
	case host < 0:
		port := strings.Trim(t[colon+1:i], "0123456789") == ""
		c := s.part(at, colon+1, i)
		if port {
			c.Start = i
		}
		return c
	case colon < 0 || colon > host:
		v := t[end:host]
		return Candidate{From: at, Start: end, End: host, Hit: random(v, 20)}
	}
	v := t[colon+1 : host]
	if user := t[end:colon]; nominal(v) && len(user) >= 8 && !only(user, "-_.") ||
		(v == "" || nominal(v)) && (random(user, 16) || len(user) >= 20 && hexish(user)) {
		return Candidate{From: at, Start: end, End: colon, Hit: true}
	}
	hit := v != "" && !placeholder(t, colon+1, host) &&
		!(strings.HasPrefix(v, "$") && only(v[1:], "_{}"))
	return Candidate{From: at, Start: colon + 1, End: host, Hit: hit}
}

// nominal reports whether a URL's password is only a dummy because the token is the user: GitHub's
// x-oauth-basic, Toggl's api_token.
func nominal(v string) bool {
	switch strings.ToLower(v) {
	case "x-oauth-basic", "x-oauth-token", "api_token", "x", "oauth", "oauth2", "unused", "blank",
		"none", "nopassword", "token":
		return true
	}
	return false
}

// maxAuthority bounds user, password and host of a URL.
const maxAuthority = 512

// findGoDSN hides the password of `user:password@tcp(host)/db`, the form of Go's MySQL driver.
func findGoDSN(s *Text, at, _ int) Candidate {
	t := s.text
	i := at
	for i > 0 && at-i < 2*maxBlanks && t[i-1] > ' ' && t[i-1] != '"' && t[i-1] != '\'' &&
		t[i-1] != ':' {
		i--
	}
	hit := i > 0 && t[i-1] == ':' && i < at && !placeholder(t, i, at)
	return Candidate{From: i, Start: i, End: at, Hit: hit}
}

// findPgpass hides the last field of a .pgpass line, host:port:database:user:password.
func findPgpass(s *Text, at, end int) Candidate {
	t := s.text
	if strings.ContainsAny(t[max(0, at-maxBlanks):at], " \t") &&
		strings.TrimSpace(t[:at]) != t[:at] {
		return Candidate{}
	}
	i := end
	for fields := 0; fields < 2; i++ {
		if i == len(t) || i-end > 2*maxBlanks || t[i] <= ' ' {
			return Candidate{}
		}
		if t[i] == ':' {
			fields++
		}
	}
	j := s.valueEnd(i, 0)
	hit := j > i && !placeholder(t, i, j) && strings.TrimSpace(t[j:]) == "" &&
		!strings.Contains(strings.ReplaceAll(t[i:j], `\:`, ""), ":")
	s.Spend(j - i)
	return Candidate{From: at, Start: i, End: j, Hit: hit, Open: hit && j == len(t)}
}

// commands are programs whose one-letter flag takes a password, while for others it means a port, a
// path or a user. A flag in upper case only stands for itself.
var commands = []struct{ flag, programs string }{
	{"-p", "docker login,podman login,nerdctl login,az login,acr login,sshpass,mongo,twine,helm registry,oras login,crane auth,oc login,argocd login,7z,ldap,influx"},
	{"-u", "curl,wget,http ,https ,xh ,lftp"},
	{"-a", "redis-cli,valkey-cli"},
	{"-w", "ldap"},
	{"-P", " zip ,unzip ,sqlcmd,bcp ,osql "},
}

// attached are programs whose -p has the password attached: a separate word is a database, and the
// password is asked for.
const attached = "mysql,mariadb"

// findFlag hides the password of `-u user:password`, `-p password`, `--user user:password`, `--pass
// password` and openssl's `pass:password`, if the program before it takes one.
func findFlag(s *Text, at, end int) Candidate {
	t := s.text
	word := strings.TrimSpace(t[at:end])
	before := strings.ToLower(t[max(0, at-200):at])
	s.Spend(len(before) / 16) // a search by machine word
	i := end
	switch {
	case word == "pass:":
		if !strings.Contains(before, "openssl") && !strings.Contains(before, "-pass") {
			return Candidate{}
		}
	case word == "--pass", word == "--user":
		if i < len(t) && t[i] != ' ' && t[i] != '=' {
			return Candidate{}
		}
		if word == "--user" && !takes("-u", before) {
			return Candidate{}
		}
		i = min(len(t), i+1)
	case word == "-p" && holdsAny(before, attached):
		if i == len(t) || t[i] == ' ' || t[i] == '\t' {
			return s.part(at, i, i)
		}
	case !takes(word, before):
		return Candidate{}
	}
	i = Blanks(t, i)
	if i == len(t) {
		return s.part(at, i, i)
	}
	start, j, q := s.word(i)
	c := s.part(at, start, j)
	c.Until = Ending{Quote: q}
	if word == "-u" || word == "--user" {
		k := strings.IndexByte(t[c.Start:c.End], ':')
		if k < 0 {
			c.Start = c.End
			return c
		}
		c.Start += k + 1
	}
	v := t[c.Start:c.End]
	number := strings.Trim(v, "0123456789:") == ""
	c.Hit = v != "" && v[0] != '-' && !number && !named(v) && !placeholder(t, c.Start, c.End)
	return c.shown(s.text)
}

// takes reports whether line contains a program that takes a password with flag.
func takes(flag, line string) bool {
	line = " " + line + " "
	for _, c := range commands {
		if c.flag == flag && holdsAny(line, c.programs) {
			return true
		}
	}
	return false
}

// holdsAny reports whether line contains one of the words in a comma-separated list.
func holdsAny(line, words string) bool {
	for w := range strings.SplitSeq(words, ",") {
		if strings.Contains(line, w) {
			return true
		}
	}
	return false
}

// findLogin hides the token in `client.login('TOKEN')`.
func findLogin(s *Text, at, end int) Candidate {
	start, j, q := quoted(s.text, end)
	if q == 0 {
		return Candidate{}
	}
	s.Spend(j - start)
	hit := j-start < maxWeak && random(s.text[start:j], 20)
	c := s.part(at, start, j)
	c.Hit, c.Until = hit, Ending{Quote: q}
	return c.shown(s.text)
}

package redact

import "strings"

// Names of a few letters are parts of many words and stand for other things too, so more is asked
// of what is around them.

// findShort hides the value of a name that is no more than `pass`, `pw` or `pwd`, where most say
// that a test passed, or are the working folder.
func findShort(s *scan, at, end int) (candidate, bool) {
	t := s.text
	n := at
	for n < end && isLower(fold(t[n])) {
		n++
	}
	name := t[at:n]
	loud := name == strings.ToUpper(name)
	switch {
	case at > 0 && isAlnum(t[at-1]) && !(isUpper(t[at]) && isLower(t[at-1]) && !loud): // dbPw
		return candidate{}, false
	case at > 0 && t[at-1] == '_' && matches(name, "pass"): // _pass is a keyword itself
		return candidate{}, false
	case name == "PWD" && (at == 0 || t[at-1] != '_'):
		return candidate{}, false
	}
	i, sep := separator(t, n)
	set := n < len(t) && t[n] == '=' // as in a shell, a file of variables
	if sep != assigns || loud && name == "PASS" && !set {
		return candidate{}, false
	}
	before := strings.TrimRight(t[max(0, at-maxBlanks):wordStart(t, at)], " \t")
	bare := wordStart(t, at) == at && (i == len(t) || !isQuote(t[i]))
	if !set && bare && before != "" && strings.IndexByte(`"'{,;-&?(`, before[len(before)-1]) < 0 {
		return candidate{}, false
	}
	if i == len(t) {
		return candidate{from: at, start: i, end: i, open: true}, true
	}
	quote := isQuote(t[i])
	return s.judgeValue(at, i, func(v string) bool {
		switch {
		case isPlace(v) || status(v) || said(t, at, n, i, i+len(v)):
			return false
		case set && loud || quote && !matches(name, "pass"):
			return len(v) >= 4 && !strings.ContainsAny(v, " \t") && strings.Trim(v, "0123456789.,:/%") != "" && !versions(v)
		}
		return chosen(v) || password(v)
	})
}

// isPlace reports whether v is a folder, a file or an address.
func isPlace(v string) bool {
	drive := len(v) > 2 && v[1] == ':' && (v[2] == '\\' || v[2] == '/')
	return v == "" || named(v) || strings.IndexByte("~.%$`", v[0]) >= 0 || drive ||
		strings.Count(v, "/") > 1 || mail(v)
}

// findConnection hides `Pwd=` of a connection string, of which PWD=, the working folder, is none,
// and that of a file of variables.
func findConnection(s *scan, at, end int) (candidate, bool) {
	t := s.text
	j := end
	for j < len(t) && t[j] > ' ' && t[j] != ';' && t[j] != '"' && t[j] != '\'' {
		j++
	}
	s.spend(j - end)
	if at > 0 && isAlnum(t[at-1]) {
		return candidate{}, false
	}
	parted := strings.HasSuffix(strings.TrimRight(t[max(0, at-maxBlanks):at], " "), ";")
	if !parted && (j == len(t) || t[j] != ';') {
		return findShort(s, at, end)
	}
	c := candidate{from: at, start: end, end: j, open: j == len(t), until: ending{quote: ';'}}
	c.hit = j > end && !placeholder(t, end, j) && t[end] != '/' && t[end] != '~'
	return c, c.hit || c.open
}

// findPAT hides the value of a name that ends in PAT, a personal access token, which in code is
// more often a pattern.
func findPAT(s *scan, at, end int) (candidate, bool) {
	t := s.text
	n := at + len("pat")
	if t[at] == '_' {
		n++
	}
	if at > 0 && isAlnum(t[at]) && (isAlnum(t[at-1]) || t[at-1] == '_') || n < len(t) && (isAlnum(t[n]) || t[n] == '_') {
		return candidate{}, false
	}
	i, sep := separator(t, n)
	if sep != assigns {
		return candidate{}, false
	}
	if i == len(t) {
		return candidate{from: at, start: i, end: i, open: true}, true
	}
	loud := t[n-1] == 'T'
	return s.judgeValue(at, i, func(v string) bool {
		return random(v, 16) || loud && len(v) >= 8 && (password(v) || len(v) >= 32 && hexish(v) && !isUUID(v))
	})
}

// findHtpasswd hides the password among the arguments of htpasswd -b: behind the file and the user,
// or with -n the user only.
func findHtpasswd(s *scan, at, end int) (candidate, bool) {
	t := s.text
	if end < len(t) && t[end] > ' ' || at > 0 && (isAlnum(t[at-1]) || t[at-1] == '.') {
		return candidate{}, false
	}
	batch, before := false, 2
	for i := blanks(t, end); i < len(t); {
		start, j, q := quoted(t, i)
		next := j + 1
		if q == 0 {
			start, j = i, s.valueEnd(i, 0)
			next = j
		}
		word := t[start:j]
		switch {
		case j == start && q == 0 || word == "|" || word == "&&":
			return candidate{}, false
		case len(word) > 1 && word[0] == '-':
			batch = batch || strings.Contains(word, "b")
			if strings.Contains(word, "n") {
				before = 1
			}
			if word[len(word)-1] == 'C' || word[len(word)-1] == 'r' { // the cost has an argument
				next = blanks(t, next)
				next = s.valueEnd(next, 0)
			}
		case before > 0:
			before--
		default:
			c := candidate{from: at, start: start, end: j, open: j == len(t), until: ending{quote: q}}
			c.hit = batch && !placeholder(t, start, j)
			return c, c.hit
		}
		i = blanks(t, min(next, len(t)))
		if i == min(next, len(t)) {
			break
		}
	}
	return candidate{from: at, start: len(t), end: len(t), open: batch}, batch
}

// findPiped hides what echo or printf write to a program at t[at:] that reads a secret there: `echo
// me:x | chpasswd`; also a here-string behind it, `chpasswd <<< me:x`.
func findPiped(s *scan, at, end int) (candidate, bool) {
	t := s.text
	if behind := blanks(t, end); strings.HasPrefix(t[behind:], "<<<") {
		return s.judgePiped(at, end, blanks(t, behind+3))
	}
	low := max(0, at-maxExpression)
	bar := strings.LastIndexByte(t[low:at], '|')
	if bar < 0 {
		return candidate{}, false
	}
	line := t[low : low+bar]
	for _, w := range []string{"echo ", "printf ", "print "} {
		k := strings.LastIndex(line, w)
		if k < 0 || k > 0 && isAlnum(line[k-1]) {
			continue
		}
		i := low + blanks(line, k+len(w))
		for i < low+bar && t[i] == '-' { // echo -n
			i = blanks(t, s.valueEnd(i, 0))
		}
		if _, j, q := quoted(t, i); w == "printf " && q != 0 && j < low+bar && strings.Contains(t[i:j], "%") { // its format
			if k := blanks(t, j+1); k < low+bar {
				i = k
			}
		}
		if i < low+bar {
			return s.judgePiped(i, end, i)
		}
	}
	return candidate{}, false
}

// judgePiped makes a candidate of the word at t[i:], of `user:password` of what is behind the
// colon.
func (s *scan) judgePiped(from, end, i int) (candidate, bool) {
	t := s.text
	start, j, q := quoted(t, i)
	if q == 0 {
		start, j = i, s.valueEnd(i, 0)
	}
	s.spend(j - start)
	if strings.HasSuffix(t[:end], "chpasswd") {
		if k := strings.IndexByte(t[start:j], ':'); k >= 0 {
			start += k + 1
		}
	}
	v := strings.TrimSuffix(t[start:j], `\n`)
	c := candidate{from: from, start: start, end: start + len(v), until: ending{quote: q}}
	c.hit = len(v) >= 4 && !placeholder(t, start, start+len(v)) && v[0] != '$' && !strings.Contains(v, "$(")
	return c, c.hit
}

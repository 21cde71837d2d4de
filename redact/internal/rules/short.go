package rules

import "strings"

// Names of a few letters are parts of many words and have other meanings too, so the rules ask more
// of their surroundings.

// findShort hides the value of a name that is only `pass`, `pw` or `pwd`, most of which say that a
// test passed, or are the working folder.
func findShort(s *Text, at, end int) Candidate {
	t := s.text
	n := at
	for n < end && IsLower(Fold(t[n])) {
		n++
	}
	name := t[at:n]
	loud := name == strings.ToUpper(name)
	switch {
	case at > 0 && IsAlnum(t[at-1]) && !(isUpper(t[at]) && IsLower(t[at-1]) && !loud): // dbPw
		return Candidate{}
	case at > 0 && t[at-1] == '_' && Matches(name, "pass"): // _pass is a keyword itself
		return Candidate{}
	case name == "PWD" && (at == 0 || t[at-1] != '_'):
		return Candidate{}
	}
	i, sep := separator(t, n)
	set := n < len(t) && t[n] == '=' // as in a shell, a file of variables
	if sep != assigns || loud && name == "PASS" && !set {
		return Candidate{}
	}
	before := strings.TrimRight(t[max(0, at-maxBlanks):wordStart(t, at)], " \t")
	bare := wordStart(t, at) == at && (i == len(t) || !isQuote(t[i]))
	if !set && bare && before != "" && strings.IndexByte(`"'{,;-&?(`, before[len(before)-1]) < 0 {
		return Candidate{}
	}
	if i == len(t) {
		return s.part(at, i, i)
	}
	quote := isQuote(t[i])
	return s.judgeValue(at, i, func(v string) bool {
		switch {
		case isPlace(v) || status(v) || said(t, at, n, i, i+len(v)):
			return false
		case loud && (set || at > 0 && t[at-1] == '_') || quote && !Matches(name, "pass"):
			return len(v) >= 4 && !strings.ContainsAny(v, " \t") &&
				strings.Trim(v, "0123456789.,:/%") != "" && !versions(v)
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

// findConnection hides `Pwd=` of a connection string, as opposed to PWD=, the working folder, and
// that of a file of variables.
func findConnection(s *Text, at, end int) Candidate {
	t := s.text
	j := end
	for j < len(t) && t[j] > ' ' && t[j] != ';' && t[j] != '"' && t[j] != '\'' {
		j++
	}
	s.Spend(j - end)
	if at > 0 && IsAlnum(t[at-1]) {
		return Candidate{}
	}
	parted := strings.HasSuffix(strings.TrimRight(t[max(0, at-maxBlanks):at], " "), ";")
	if !parted && (j == len(t) || t[j] != ';') {
		return findShort(s, at, end)
	}
	c := s.part(at, end, j)
	c.Until = Ending{Quote: ';'}
	c.Hit = j > end && !placeholder(t, end, j) && t[end] != '/' && t[end] != '~'
	return c
}

// findPAT hides the value of a name that ends in PAT, a personal access token, which in code is
// more often a pattern.
func findPAT(s *Text, at, end int) Candidate {
	t := s.text
	n := at + len("pat")
	if t[at] == '_' {
		n++
	}
	if at > 0 && IsAlnum(t[at]) && (IsAlnum(t[at-1]) || t[at-1] == '_') ||
		n < len(t) && (IsAlnum(t[n]) || t[n] == '_') {
		return Candidate{}
	}
	i, sep := separator(t, n)
	if sep != assigns {
		return Candidate{}
	}
	if i == len(t) {
		return s.part(at, i, i)
	}
	loud := t[n-1] == 'T'
	return s.judgeValue(at, i, func(v string) bool {
		return random(v, 16) ||
			loud && len(v) >= 8 && (password(v) || len(v) >= 32 && hexish(v) && !isUUID(v))
	})
}

// findHtpasswd hides the password among the arguments of htpasswd -b: after the file and the user,
// or with -n after the user.
func findHtpasswd(s *Text, at, end int) Candidate {
	t := s.text
	if end < len(t) && t[end] > ' ' || at > 0 && (IsAlnum(t[at-1]) || t[at-1] == '.') {
		return Candidate{}
	}
	batch, before := false, 2
	for i := Blanks(t, end); i < len(t); {
		start, j, q := s.word(i)
		next := j
		if q != 0 {
			next++
		}
		word := t[start:j]
		switch {
		case j == start && q == 0 || word == "|" || word == "&&":
			return Candidate{}
		case len(word) > 1 && word[0] == '-':
			batch = batch || strings.Contains(word, "b")
			if strings.Contains(word, "n") {
				before = 1
			}
			if word[len(word)-1] == 'C' || word[len(word)-1] == 'r' { // the cost takes an argument
				next = Blanks(t, next)
				next = s.valueEnd(next, 0)
			}
		case before > 0:
			before--
		default:
			hit := batch && !placeholder(t, start, j)
			return Candidate{From: at, Start: start, End: j, Hit: hit, Open: hit && j == len(t),
				Until: Ending{Quote: q}}
		}
		i = Blanks(t, min(next, len(t)))
		if i == min(next, len(t)) {
			break
		}
	}
	return Candidate{From: at, Start: len(t), End: len(t), Open: batch}
}

// findPiped hides what echo or printf writes to a program at t[at:] that reads a secret: `echo me:x
// | chpasswd`; also a here-string after it, `chpasswd <<< me:x`.
func findPiped(s *Text, at, end int) Candidate {
	t := s.text
	if behind := Blanks(t, end); strings.HasPrefix(t[behind:], "<<<") {
		return s.judgePiped(at, end, Blanks(t, behind+3))
	}
	low := max(0, at-MaxExpression)
	bar := strings.LastIndexByte(t[low:at], '|')
	if bar < 0 {
		return Candidate{}
	}
	line := t[low : low+bar]
	for _, w := range []string{"echo ", "printf ", "print "} {
		k := strings.LastIndex(line, w)
		if k < 0 || k > 0 && IsAlnum(line[k-1]) {
			continue
		}
		i := low + Blanks(line, k+len(w))
		for i < low+bar && t[i] == '-' { // echo -n
			i = Blanks(t, s.valueEnd(i, 0))
		}
		if _, j, q := quoted(t, i); w == "printf " && q != 0 && j < low+bar && strings.Contains(t[i:j], "%") { // its format
			if k := Blanks(t, j+1); k < low+bar {
				i = k
			}
		}
		if i < low+bar {
			return s.judgePiped(i, end, i)
		}
	}
	return Candidate{}
}

// judgePiped makes a candidate of the word at t[i:], or of what follows the colon of
// `user:password`.
func (s *Text) judgePiped(from, end, i int) Candidate {
	t := s.text
	start, j, q := s.word(i)
	s.Spend(j - start)
	if strings.HasSuffix(t[:end], "chpasswd") {
		if k := strings.IndexByte(t[start:j], ':'); k >= 0 {
			start += k + 1
		}
	}
	v := strings.TrimSuffix(t[start:j], `\n`)
	c := Candidate{From: from, Start: start, End: start + len(v), Until: Ending{Quote: q}}
	c.Hit = len(v) >= 4 && !placeholder(t, start, start+len(v)) && v[0] != '$' &&
		!strings.Contains(v, "$(")
	return c
}

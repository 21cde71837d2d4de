package rules

import "strings"

// Private keys are blocks of lines (RFC 7468, RFC 9580, OpenSSH's, PuTTY's). What is between their
// first and last line is hidden: base64 at the end of each line, whatever the line begins with (an
// indent, a border, `web-1 |`). Headers and the marks stay.

const (
	// FirstKeyLine is how many characters of base64 the first line of a block must have: a mark on
	// its own, in prose or in grep's output, hides nothing of what follows it. Keys have 64, and
	// fewer only in a narrow frame.
	FirstKeyLine = 24
)

// findKeyBlock reads `-----BEGIN x PRIVATE KEY-----`. What follows on the same line, as in a JSON
// string, is hidden to the block's end or the line's; KeyLine handles the lines after it.
func findKeyBlock(s *Text, at, end int) Candidate {
	t := s.text
	i, ok := keyMark(t, end)
	if !ok {
		s.Public = strings.Contains(t[end:], "-----")
		return Candidate{}
	}
	s.opened = true
	if i < 0 { // cut off inside the mark: the next row has the rest
		return s.part(at, len(t), len(t))
	}
	j := i
	for j < len(t) && (KeySet.Members[t[j]] || t[j] == '\\' || t[j] == ' ') {
		j++
	}
	s.Spend(j - i)
	if strings.Trim(t[i:], " \t\"'`│|\\,;+nr") == "" {
		s.Began = true
		return Candidate{}
	}
	c := s.part(at, i, j)
	c.Hit, c.Until = j-i >= FirstKeyLine, Ending{Quote: '"'}
	if c.Hit && c.Open {
		s.Began = true
	}
	return c.shown(s.text)
}

// findKeyBlockEnd reads `-----END x PRIVATE KEY-----` and hides what precedes it on its line.
func findKeyBlockEnd(s *Text, at, end int) Candidate {
	t := s.text
	if _, ok := keyMark(t, end); !ok {
		return Candidate{}
	}
	s.Ended = !s.opened
	s.opened = false
	i := at
	if i >= 2 && t[i-2] == '\\' && (t[i-1] == 'n' || t[i-1] == 'r') {
		i -= 2
	}
	j := i
	for i > 0 && (KeySet.Members[t[i-1]] || t[i-1] == '\\') {
		i--
	}
	s.Spend(j - i)
	return Candidate{From: i, Start: i, End: j, Hit: j-i >= FirstKeyLine}
}

// keyMark skips the label of a private key from i on and returns where the mark ends; -1 when the
// text ends first.
func keyMark(t string, i int) (end int, ok bool) {
	k := strings.IndexByte(t[i:min(len(t), i+maxBlanks)], '-')
	label := t[i:min(len(t), i+maxBlanks)]
	if k < 0 {
		return -1, i+len(label) == len(t) && len(label) < maxBlanks &&
			strings.Trim(label, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ") == ""
	}
	label = label[:k]
	if !strings.Contains(label, "PRIVATE KEY") && !strings.HasPrefix(label, "OpenVPN Static key") {
		return 0, false
	}
	for i += k; i < len(t) && t[i] == '-'; i++ {
	}
	return i, true
}

// findPuTTY reads the line before the private part of a PuTTY key file.
func findPuTTY(s *Text, at, end int) Candidate {
	s.Began = s.Began || strings.Trim(s.text[end:], " 0123456789") == "" && len(s.text) > end
	return Candidate{}
}

// findEncodedKey hides a private key encoded in base64 once more, as `kubectl get secret -o yaml`
// shows it.
func findEncodedKey(s *Text, at, end int) Candidate {
	t := s.text
	// After "-----BEGIN " the label: base64 of " RSA", " PRIVATE", " EC", " OPENSSH", " ENCRYPTED".
	for _, label := range []string{"BSU0EgUFJ", "BQUklWQVR", "BFQyBQUkl", "BPUEVOU1N", "BFTkNSWVB",
		"BEU0EgUFJ"} {
		if strings.HasPrefix(t[end:], label) {
			j := s.runEnd(KeySet, end)
			return Candidate{From: at, Start: at, End: j, Hit: true, Open: j == len(t)}
		}
	}
	return Candidate{}
}

// findJWK hides the private member of a JSON Web Key (RFC 7517), `"d":"..."`.
func findJWK(s *Text, at, end int) Candidate {
	start, j, q := quoted(s.text, Blanks(s.text, end))
	if q != '"' {
		return Candidate{}
	}
	s.Spend(j - start)
	c := s.part(at, start, j)
	c.Until = Ending{Quote: q}
	c.Hit = j-start >= 40 && only(s.text[start:j], "_-")
	return c.shown(s.text)
}

// Lone returns the base64 of a line that can only belong to a private key, or to a certificate,
// whose mark is out of sight: a pager's second page, `sed -n 10,20p id_rsa`. Such lines have 64
// characters (RFC 7468; PGP, RFC 9580) or 70 (OpenSSH), of both cases and with digits; nothing in
// them identifies a certificate, so it is hidden, too.
func Lone(text string) (start, end int, ok bool) {
	const widths, wide = 64, 70
	from := strings.LastIndexByte(text, '\n') + 1 // a reading has a CR as that
	line := text[from:]
	if len(line) < widths {
		return 0, 0, false
	}
	start, end = KeyRun(line)
	if end-start == widths+1 || end-start == wide+1 { // a diff's sign
		if line[start] != '+' {
			return 0, 0, false
		}
		start++
	}
	if n := end - start; n != widths && n != wide || start > 1 && line[start-1] == '-' { // sha384-…: a digest
		return 0, 0, false
	}
	if strings.Contains(strings.TrimRight(line[start:end], "="), "=") { // a name and its value
		return 0, 0, false
	}
	upper, lower, digits := 0, 0, 0
	for _, c := range []byte(line[start:end]) {
		switch {
		case 'A' <= c && c <= 'Z':
			upper++
		case 'a' <= c && c <= 'z':
			lower++
		case IsDigit(c):
			digits++
		}
	}
	const least = 6 // random base64 of 64 has 26 of either case on average, and 10 digits
	ok = upper >= least && lower >= least && digits > 0 && Plausible("", line[start:end]) &&
		endsNoWord(strings.TrimRight(line[:start], " \t")) &&
		strings.IndexFunc(line[end:], func(c rune) bool { return c < 0x80 && IsAlnum(byte(c)) }) < 0
	return from + start, from + end, ok
}

// KeyLine returns the part of text that is a line of a private key's body. more reports whether the
// block continues after it. inside: a line of it was seen; alone: its first mark was not.
func KeyLine(text string, inside, alone bool) (start, end int, body, more bool) {
	if strings.Contains(text, "-----END ") || strings.Contains(text, "---- END ") {
		return 0, 0, false, false
	}
	start, end = KeyRun(text)
	before := strings.TrimRight(text[:start], " \t")
	switch n := end - start; {
	case n >= FirstKeyLine:
		return start, end, true, true
	case alone && strings.IndexFunc(before,
		func(c rune) bool { return IsLower(Fold(byte(min(c, 0x7f)))) }) >= 0:
		return 0, 0, false, false
	case inside && n > 0 && endsNoWord(before):
		return start, end, true, true
	case strings.TrimSpace(text) == "" || strings.Contains(text, ": "):
		return 0, 0, false, true // a header, or the blank line after them
	case n == 0 && strings.IndexFunc(text,
		func(c rune) bool { return c < 0x80 && IsAlnum(byte(c)) }) < 0:
		return 0, 0, false, true // a frame's padding
	}
	return 0, 0, false, false
}

// KeyRun returns the run of base64 that makes up a line of a key: the longest, or the one at the
// end, before what may close a string or a frame.
func KeyRun(text string) (start, end int) {
	for i := 0; i < len(text); {
		if !KeySet.Members[text[i]] {
			i++
			continue
		}
		j := i
		for j < len(text) && KeySet.Members[text[j]] {
			j++
		}
		if j-i > end-start && free(text, i, j) {
			start, end = i, j
		}
		i = j
	}
	if end-start >= FirstKeyLine {
		return start, end
	}
	const close = " \t\"'`,;│┃║|\\\r"
	t := strings.TrimRight(strings.TrimSuffix(strings.TrimRight(text, close), " +"), close)
	t = strings.TrimSuffix(t, `\n`)
	end = len(t)
	start = end
	for start > 0 && KeySet.Members[t[start-1]] {
		start--
	}
	return start, end
}

// free reports whether text[i:j] stands alone: not part of a longer name, nor next to a secret
// already hidden. A diff's sign may precede it.
func free(text string, i, j int) bool {
	const apart = " \t\"'`|>\\,;:"
	before := i == 0 || i == 1 && text[0] == '-' || text[i-1] >= 0x80 ||
		strings.IndexByte(apart, text[i-1]) >= 0
	return before &&
		(j == len(text) || text[j] >= 0x80 || strings.IndexByte(apart+"\r\n", text[j]) >= 0)
}

// Above reports whether text can be a line of a private key whose mark is near lines below it: the
// last ones may be short.
func Above(text string, near int) (start, end int, ok bool) {
	start, end = KeyRun(text)
	before := strings.TrimRight(text[:start], " \t")
	n := end - start
	ok = n >= FirstKeyLine || near < 2 && n > 0 && endsNoWord(before)
	return start, end, ok
}

// endsNoWord reports whether before, which precedes the short last line of a key, is an indent, a
// border, a line number or a log prefix, and not a sentence.
func endsNoWord(before string) bool {
	return before == "" || !IsLower(Fold(before[len(before)-1]))
}

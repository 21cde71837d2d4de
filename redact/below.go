package redact

import "strings"

// A value goes on in the next line not only where a program broke it at the edge of a screen:
// people break lines behind a backslash, and indent the rest of what is too long for one. See
// [rules.goOn] for the edge.

// below is what a line leaves for one that goes on with it so.
type below struct {
	text string // the end of the line, in which a candidate begins that it left open, without the backslash; "": nothing
	hand bool   // a backslash ended it
}

// leaves returns what text leaves for the line below it: read is what it was read as, and grows
// where in that a candidate begins that its end leaves open.
func leaves(read string, grows int, hand bool) below {
	if grows >= len(read) || len(read)-grows > maxTail {
		return below{}
	}
	return below{strings.Clone(read[max(0, grows-maxExpression):]), hand}
}

// handBroken reports whether a backslash takes the line's end away: one that another does not
// protect.
func handBroken(text string) bool {
	return (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1
}

// byHand judges text below the line that left b, and records what goes on in it. It returns what
// the line below it is read behind, without a backslash at its end; "" where nothing goes on.
func (r *rules) byHand(s *scan, b below, text string, at []int32) (joined string) {
	indent := blanks(text, 0)
	part := text[indent:]
	if handBroken(part) {
		part = part[:len(part)-1]
	}
	lone := loneWord(part)
	if part == "" || !b.hand && (indent == 0 || lone == 0) || len(b.text)+len(part) > maxTail {
		return ""
	}
	before, block := b.text, false
	if !b.hand {
		before, block = blockScalar(before)
	}
	if !b.hand && startsName(part) {
		return ""
	}
	joined = before + part
	cut := len(before)
	alone := r.complete(s, before)
	goes := b.hand
	for _, c := range r.judgeText(s, joined) {
		if c.from >= cut || c.end <= cut || !c.hit && !cutToken(joined, c) {
			continue
		}
		begin, rest := joined[min(c.start, cut):cut], joined[max(cut, c.start):c.end]
		whole := c.end >= cut+lone // all of the line, but for what closes something
		switch {
		case c.tier == given:
		case b.hand && indent == 0:
		case b.hand && begin == "", b.hand && c.until.quote != 0:
		case closed(joined, c, rest):
		case strings.ContainsAny(rest, " \t") || !b.hand && !whole:
			continue
		case block: // YAML's way to write a value below its name
		case begin == "" && !b.hand:
			if quote := joined[cut] == '"' || joined[cut] == '\''; !random(rest, 12) && !(quote && password(rest)) {
				continue
			}
		case c.tier == structure && !alone(c.from):
			if len(rest) < leastRest || !varied(rest) && !hexish(rest) {
				continue
			}
		case !goesOn(begin, rest, true, c.tier):
			continue
		}
		goes, c.hit = true, true
		c.from, c.start, c.end = indent, indent+max(0, c.start-cut), indent+c.end-cut
		c.open = c.open && c.end == len(text)
		s.keep(c, at)
	}
	if !goes {
		return ""
	}
	return joined
}

// cutToken reports whether c, which the end of text cuts off, looks like the beginning of a token.
func cutToken(text string, c candidate) bool {
	v := text[c.start:c.end]
	return c.open && c.tier == structure && c.end == len(text) && len(v) >= leastRest && (scattered(v) || varied(v) || hexish(v))
}

// complete returns whether a token that asks for nothing more begins in text at a place.
func (r *rules) complete(s *scan, text string) func(from int) bool {
	var from []int
	for _, c := range r.judgeText(s, text) {
		if c.hit && c.tier == structure {
			from = append(from, c.from)
		}
	}
	return func(i int) bool {
		for _, f := range from {
			if f == i {
				return true
			}
		}
		return false
	}
}

// loneWord returns the length of the word that part is, without what may close something behind it;
// 0: part is more than that.
func loneWord(part string) int {
	n := len(strings.TrimRight(part, " \t\"'`,;)]}\\+|"))
	if strings.ContainsAny(part[:n], " \t") {
		return 0
	}
	return n
}

// blockScalar takes the sign from the end of text that says that a YAML value stands below it: `|`,
// `>-`, `|2+`.
func blockScalar(text string) (before string, is bool) {
	t := strings.TrimRight(text, " \t")
	t = strings.TrimRight(t, "+-0123456789")
	if n := len(t) - 1; n > 0 && len(text)-n <= 4 && (t[n] == '|' || t[n] == '>') && (t[n-1] == ' ' || t[n-1] == '\t') {
		return t[:n], true
	}
	return text, false
}

// startsName reports whether a line begins with a name of its own, `STRIPE_KEY=x`, `port: 80`,
// which nothing above it goes on in. A token's rest has no `=` but at its end, and no `:` before a
// blank.
func startsName(line string) bool {
	line = strings.TrimPrefix(strings.TrimPrefix(line, "export "), "set ")
	n := 0
	for n < len(line) && n < maxBlanks && (isAlnum(line[n]) || strings.IndexByte("_-.", line[n]) >= 0) {
		n++
	}
	if n < 2 || n+1 >= len(line) || isDigit(line[0]) {
		return false
	}
	name, value := line[:n], line[n+1:]
	switch line[n] {
	case '=':
		if value[0] == '=' {
			return false
		}
	case ':':
		if value[0] != ' ' {
			return false
		}
	default:
		return false
	}
	return !scattered(name) || strings.Contains(name, "_") && name == strings.ToUpper(name)
}

package redact

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ptywright/ptywright/internal/ansi"
	"github.com/ptywright/ptywright/redact/internal/rules"
)

const (
	// window is how many bytes of an unfinished line a Stream holds before it releases a part. More
	// delays output without line ends (a full-screen program's); less leaves less room for
	// lookback.
	window = 4 << 10
	// lookback is how many bytes of a window are kept for the next one, so that what begins near a
	// window's end is read whole. It must not be less than MaxLiteralLen, nor than the longest
	// candidate that is not yet a secret (a key, 2*maxBlanks, a few quotes).
	lookback = 1 << 10
)

// Stream redacts text that arrives in pieces, such as output deltas. Its output, joined, equals
// [Redactor.String] of the joined text if no line is longer than 4 KiB, wherever the pieces are
// cut; but it cannot take back lines, so if it never saw a private key's first line, the body
// stays. It is not safe for concurrent use. The zero Stream is not usable; see [NewStream].
type Stream struct {
	r    *Redactor
	now  *compiled // r's, during a call
	line string    // the unfinished line, or the end of it
	sent int       // bytes of line that were already returned and stay as context

	above  memory // what the previous lines leave
	inside bool   // line begins within a line: the part before was released

	// masked: what follows belongs to a secret whose replacement was already returned.
	masked bool
	until  rules.Ending
	half   bool // the last byte is a backslash, which protects the next
	resume int  // where in line reading continues: its end, or a control sequence's beginning
}

// NewStream returns an empty Stream under r's policy.
func NewStream(r *Redactor) *Stream { return &Stream{r: r} }

// Pending returns how many bytes were written but not returned; less than 4 KiB after a Write.
func (s *Stream) Pending() int { return len(s.Held()) }

// Held returns what was written but not returned, unredacted.
func (s *Stream) Held() string { return s.line[s.sent:] }

// Write adds text and returns what no rule can still change: whole lines, and of a line of 4 KiB
// all but its last KiB. A built-in or literal secret of any length is hidden completely; a match of
// an extra regex longer than a KiB within a line over 4 KiB may be partly visible.
func (s *Stream) Write(text string) string {
	out, _ := s.Settle(text)
	return out
}

// Settle is Write for callers that need to know what out was made of: raw is the text that is no
// longer held, unredacted.
func (s *Stream) Settle(text string) (out, raw string) {
	s.now = s.r.now()
	data := text
	if len(s.line) > 0 {
		data = s.line + text
	}
	o := newOutput(data, s.sent)
	start := 0
	whole := 0 // the end of the last line in data
	if strings.IndexByte(text, '\n') >= 0 {
		whole = strings.LastIndexByte(data, '\n') + 1
	}
	for {
		rest := data[start:]
		if n := strings.IndexByte(rest[:min(len(rest), window)], '\n'); n >= 0 {
			if s.calm() {
				if lines := s.now.quiet(data[start:whole], window); lines > 0 {
					start += lines
					s.begin()
					continue
				}
			}
			s.finish(&o, start, start+n+1)
			start += n + 1
		} else if len(rest) >= window {
			start = s.cut(&o, start)
		} else {
			break
		}
	}
	end := max(start, o.done)
	out, raw = o.upTo(end), data[s.sent:end]
	s.sent = max(0, o.done-start)
	s.line = strings.Clone(data[start:]) // text may be megabytes
	return out, raw
}

// Flush returns the rest, as when output has paused or ended. A secret that may be unfinished is
// replaced at once, and what follows of it later is dropped until its end. The Stream remembers the
// line, so a secret that begins after a Flush, or is split by it, is still found.
func (s *Stream) Flush() string {
	s.now = s.r.now()
	o := newOutput(s.line, s.sent)
	from := s.unmask(&o, 0, len(s.line))
	if !s.masked {
		sc := s.now.scan(s.line[from:])
		found := sc.mustJudge(needLook, s.context(from == 0))
		first := -1
		for i, c := range found {
			if c.Open && c.Start < c.End && (first < 0 || c.Start < found[first].Start) {
				first = i
			}
		}
		if first < 0 {
			o.apply(from, s.now.pieces(s.line[from:], found))
		} else {
			s.mask(&o, from, len(s.line), found, found[first])
		}
		sc.release()
	}
	s.sent = len(s.line)
	if s.masked {
		if s.resume = openSequence(s.line); s.until == ofClipboard {
			s.resume = len(s.line) // it is inside that sequence, and hidden
		}
	}
	return o.upTo(len(s.line))
}

// context is the memory for judging a text; begins: the text begins where the line does.
func (s *Stream) context(begins bool) *memory {
	if begins && !s.inside {
		return &s.above
	}
	return &memory{block: s.above.block}
}

// finish writes the line data[start:end], which ends in LF.
func (s *Stream) finish(o *output, start, end int) {
	body := start + bodyEnd(o.data[start:end])
	from := s.unmask(o, start, body)
	m := s.context(from == start)
	o.apply(from, s.now.spans(o.data[from:body], m, true))
	if m != &s.above { // the beginning of a very long line is gone
		if s.masked && s.above.left > 0 && !s.above.public { // it was a line of a private key
			m.block = block{left: s.above.left - 1, body: true}
		}
		m.clip = m.clip || s.masked && s.until == ofClipboard
		s.above = *m
	}
	s.masked, s.half, s.inside, s.resume = false, false, false, 0
}

// calm reports whether nothing before requires a look at what comes.
func (s *Stream) calm() bool { return !s.masked && !s.above.active() }

// begin begins a line below one without findings.
func (s *Stream) begin() {
	s.above = memory{}
	s.half, s.inside, s.resume = false, false, 0
}

// breakAt is breakNear after a first look at data[start:].
func (g *glance) breakAt(data string, start, at int) int {
	at = breakWord(data, start, at)
	if k, _ := slices.BinarySearch(g.starts, at-start); k > 0 && g.starts[k-1] > 0 &&
		endsOpen(data[:at], start+g.starts[k-1]) {
		return start + g.starts[k-1]
	}
	return at
}

// cut releases a part of the unfinished line at data[start:], which has at least a window, and
// returns where the rest begins. Where it cuts depends on the window alone, not on how the text
// arrived.
func (s *Stream) cut(o *output, start int) int {
	end := start + wholeRunes(o.data[start:start+window])
	sc := s.now.scan("")
	defer sc.release()
	g := &sc.sight
	n, seen := needLook, false
	if !s.masked {
		n, seen = g.look(s.now, o.data[start:end], true)
		seen = seen && (start+g.tail == end || g.tail >= window/2)
		sc.everyRow = false
	}
	if seen {
		end = start + g.tail
	} else {
		n = needLook
		if tail := start + openSequence(o.data[start:end]); tail >= start+window/2 {
			end = tail
		}
	}
	if n == 0 && !s.above.active() {
		s.inside, s.resume = true, 0
		return g.breakAt(o.data, start, end-lookback)
	}
	from := s.unmask(o, start, end)
	s.resume = 0
	if s.masked {
		s.inside = true
		return end
	}
	sc.line = o.data[from:end]
	found := sc.mustJudge(n, s.context(from == start))
	s.inside = true
	at := max(from, breakNear(o.data, start, end-lookback)) - from
	for moved := true; moved; {
		moved = false
		for _, c := range found {
			switch {
			case c.From >= at || c.End <= at && !c.Open:
			case c.Open:
				s.mask(o, from, end, found, c)
				return end
			case c.Hit && c.End > at:
				at, moved = c.End, true
			}
		}
	}
	kept := found[:0]
	for _, c := range found {
		if c.End <= at {
			kept = append(kept, c)
		}
	}
	o.apply(from, s.now.pieces(o.data[from:from+at], kept))
	return from + at
}

// mask writes data[from:end] with everything from the beginning of the open candidate c hidden, and
// continues hiding.
func (s *Stream) mask(o *output, from, end int, found []candidate, c candidate) {
	s.masked, s.until = true, c.Until
	hidden := o.data[from+c.Start : end]
	slashes := len(hidden) - len(strings.TrimRight(hidden, `\`))
	s.half = c.Until.Quote != 0 && !c.Until.Escaped && slashes%2 == 1
	all := append([]candidate{{From: c.Start, Start: c.Start, End: end - from, Hit: true,
		Class: c.Class, Tier: c.Tier}}, found...)
	o.apply(from, s.now.pieces(o.data[from:end], all))
}

// unmask hides what still belongs to a masked secret in the line at data[start:end], and returns
// where judging the line begins: where the secret is over, or start when the line is still complete
// from its beginning. What is masked may turn out to be a name whose value is yet to come.
func (s *Stream) unmask(o *output, start, end int) int {
	if !s.masked {
		return start
	}
	first := start + s.resume
	i := first
	if s.half && i < end {
		s.half = false
		i++
	}
	for i < end {
		c := o.data[i]
		if s.until == ofClipboard {
			if s.masked = !ansi.EndsString(o.data[:end], i); !s.masked {
				break
			}
			i++
			continue
		}
		if c == esc {
			n, _, _ := ansi.Sequence(o.data[:end], i)
			i += n
			continue
		}
		if next := s.goesOn(o.data[start:end], i-start); next > 0 {
			i += next
			continue
		}
		// After a CR at the very end, the line may end or continue: the next byte decides.
		s.masked = c == '\r' && i+1 == end
		break
	}
	o.apply(first, s.now.mask(nil, o.data[first:i], 0, i-first, ""))
	o.done = max(o.done, i)
	if s.resume > 0 {
		s.resume = i - start
		return start
	}
	return i
}

// goesOn returns how many bytes from text[i] on belong to the masked secret; 0 when it is over.
func (s *Stream) goesOn(text string, i int) int {
	quote := s.until.Quote
	switch c := text[i]; {
	case c == '\r' && (i+1 == len(text) || quote == 0 && !wraps(text, i)):
		return 0
	case c == '\\' && quote != 0 && !s.until.Escaped:
		s.half = i+1 == len(text)
		return min(2, len(text)-i)
	case quote != 0 && c == quote:
		return 0
	case quote != 0:
		return 1
	case c == ' ' && i+2 < len(text) && text[i+1] == '\r':
		return 2
	case strings.IndexByte(" \t\"'`", c) >= 0:
		return 0
	}
	return 1
}

// openSequence returns where the control sequence begins that text may have ended inside, or the
// length of text.
func openSequence(text string) int {
	for i := 0; ; {
		k := strings.IndexByte(text[i:], esc)
		if k < 0 {
			return len(text)
		}
		if endsOpen(text, i+k) {
			return i + k
		}
		n, _, _ := ansi.Sequence(text, i+k)
		i += k + n
	}
}

// endsOpen reports whether text may end inside the control sequence that begins at text[i].
func endsOpen(text string, i int) bool {
	n, _, _ := ansi.Sequence(text, i)
	return i+n == len(text)
}

// breakNear returns a good place to cut data[start:], at or shortly before at: after a space, never
// inside a character, nor inside a control sequence unless that began at start.
func breakNear(data string, start, at int) int {
	at = breakWord(data, start, at)
	if tail := start + openSequence(data[start:at]); tail > start && tail < at {
		return tail
	}
	return at
}

// breakWord is breakNear for what has no control sequences.
func breakWord(data string, start, at int) int {
	const far = 256 // a word is rarely longer
	if k := strings.LastIndexByte(data[at-far:at], ' '); k >= 0 {
		at += k + 1 - far
	}
	// A character has at most UTFMax bytes; after more continuation bytes than that, none begins.
	for back := at; back > start && at-back < utf8.UTFMax; back-- {
		if utf8.RuneStart(data[back]) {
			return back
		}
	}
	return at
}

// output is a text being rewritten from left to right, without a copy while nothing is replaced.
type output struct {
	data   string
	done   int // data[:done] was returned earlier, or is settled
	copied int // data[:copied] was returned earlier, or is in b, or is replaced
	b      strings.Builder
}

func newOutput(data string, sent int) output { return output{data: data, done: sent, copied: sent} }

// apply replaces spans, which count from base. What was returned earlier cannot be taken back: of a
// span that begins there, only the rest is removed.
func (o *output) apply(base int, spans []Span) {
	owed := ""
	for _, sp := range spans {
		start, end, text := base+sp.Start, base+sp.End, sp.Text
		if end <= o.done {
			owed = text
			continue
		}
		if text == "" {
			text = owed
		}
		owed = ""
		start = max(start, o.done)
		o.b.WriteString(o.data[o.copied:start])
		o.b.WriteString(text)
		o.done, o.copied = end, end
	}
}

// upTo returns the text up to at that has not been returned yet.
func (o *output) upTo(at int) string {
	if o.b.Len() == 0 {
		return o.data[o.copied:at]
	}
	o.b.WriteString(o.data[o.copied:at])
	return o.b.String()
}

// wholeRunes is the length of text without an incomplete character at its end.
func wholeRunes(text string) int {
	for i := len(text) - 1; i >= 0 && i >= len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRuneInString(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}

package record

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/redact"
)

const (
	// queueItems and queueBytes bound what waits until a redactor knows what to do with the text before it. A stream
	// holds less than 4 KiB itself; this is for what waits behind that, such as output behind a line that is being
	// typed. Beyond, what is held is judged as it stands, and an unfinished secret hidden at once.
	queueItems = 4096
	queueBytes = 256 << 10
	// lineContext is how much of a line a new redactor is shown: what one looks back at.
	lineContext = 4 << 10
)

// A Queue keeps the events of a recording in order while their text is held back by a redactor. Events leave it with the times
// that they had. It is not safe for concurrent use; see [NewQueue].
type Queue struct {
	emit  func(at time.Duration, code byte, text ...string)
	items []*item
	lanes map[byte]*lane // by code; none: nothing is redacted
	ready int            // bytes of text that is settled and waits behind what is not
}

// An item is one event.
type item struct {
	at   time.Duration
	code byte
	left int      // bytes of its text that are held back
	text []string // what is settled
	size int      // of text, in bytes
}

func (it *item) add(text string) {
	if text != "" {
		it.text, it.size = append(it.text, text), it.size+len(text)
	}
}

// A lane is one stream of text.
type lane struct {
	stream *redact.Stream
	items  []*item // whose text the stream holds back, in order
	line   string  // the end of the last line, as it was: at most lineContext
}

// NewQueue returns an empty one. Events are told to emit, in order, the text of one in pieces; r judges it, nil lets all pass.
// Screen is what the session shows already, in which a secret may have begun; nil is nothing.
func NewQueue(r *redact.Redactor, screen *vt.Screen, emit func(at time.Duration, code byte, text ...string)) *Queue {
	q := &Queue{emit: emit}
	if r != nil {
		q.SetRedactor(r)
		if screen != nil {
			q.seed(before(screen))
		}
	}
	return q
}

// SetRedactor sets what judges text from here on.
func (q *Queue) SetRedactor(r *redact.Redactor) {
	if q.lanes == nil {
		q.lanes = map[byte]*lane{'o': {stream: redact.NewStream(r)}, 'i': {stream: redact.NewStream(r)}}
		return
	}
	q.Flush()
	for _, l := range q.lanes {
		l.stream = redact.NewStream(r)
		if l.line != "" { // so that it knows a secret that goes on
			l.stream.Write(l.line)
			l.stream.Flush()
		}
	}
}

// seed tells the stream of output what came before, and was not recorded.
func (q *Queue) seed(before string) {
	l := q.lanes['o']
	l.stream.Write(before)
	l.stream.Flush()
	l.line = before[max(strings.LastIndexByte(before, '\n')+1, len(before)-lineContext):]
}

// Plain adds an event whose text is nobody's.
func (q *Queue) Plain(at time.Duration, code byte, text string) {
	it := &item{at: at, code: code}
	it.add(text)
	q.items = append(q.items, it)
	q.ready += len(text)
	q.pop()
}

// Text adds output, 'o', or input, 'i'.
func (q *Queue) Text(at time.Duration, code byte, text string) {
	l := q.lanes[code]
	if l == nil {
		q.emit(at, code, text)
		return
	}
	it := &item{at: at, code: code}
	q.items = append(q.items, it)
	if l.stream.Pending() > 0 {
		// The end of the line that is held back apart: where something is hidden, times are told to the line.
		if n := strings.IndexByte(text, '\n') + 1; n > 0 && n < len(text) {
			q.settled(l.write(it, text[:n]))
			text = text[n:]
		}
	}
	for code == 'i' { // Enter ends a line of input, which the redactor is to know
		n := strings.IndexByte(text, '\r') + 1
		if n == 0 {
			break
		}
		q.settled(l.write(it, text[:n]))
		q.settled(l.endLine())
		text = text[n:]
	}
	q.settled(l.write(it, text))
	q.pop()
}

func (q *Queue) settled(n int) { q.ready += n }

// pop lets go of what is settled.
func (q *Queue) pop() {
	if len(q.items) > queueItems || q.ready > queueBytes {
		for _, l := range q.lanes {
			l.flush()
		}
	}
	n := 0
	for n < len(q.items) && q.items[n].left == 0 {
		it := q.items[n]
		if it.size > 0 || it.code != 'o' && it.code != 'i' {
			q.emit(it.at, it.code, it.text...)
		}
		q.ready = max(0, q.ready-it.size)
		n++
	}
	if q.items = q.items[n:]; len(q.items) == 0 {
		q.items, q.ready = nil, 0
	}
}

// EndLine takes what is held back of a text for a whole line: what comes next stands elsewhere.
func (q *Queue) EndLine(code byte) {
	if l := q.lanes[code]; l != nil && l.line != "" {
		q.settled(l.endLine())
		q.pop()
	}
}

// Flush emits everything. A secret that may be unfinished is replaced, and what follows of it dropped.
func (q *Queue) Flush() {
	for _, l := range q.lanes {
		l.flush()
	}
	q.pop()
}

// write gives text of an item to the redactor and settles what comes back; it returns how many bytes that are.
func (l *lane) write(it *item, text string) int {
	it.left += len(text)
	if n := len(l.items); n == 0 || l.items[n-1] != it {
		l.items = append(l.items, it)
	}
	if k := strings.LastIndexByte(text, '\n'); k >= 0 {
		l.line = strings.Clone(text[max(k+1, len(text)-lineContext):])
	} else if len(text) >= lineContext {
		l.line = strings.Clone(text[len(text)-lineContext:])
	} else {
		l.line += text
		l.line = strings.Clone(l.line[max(0, len(l.line)-lineContext):])
	}
	return l.settle(l.stream.Settle(text))
}

// flush takes everything back from the redactor.
func (l *lane) flush() int {
	raw := l.stream.Held()
	return l.settle(l.stream.Flush(), raw)
}

// endLine has the redactor take what it holds for a whole line.
func (l *lane) endLine() int {
	const lf = "\n"
	out, raw := l.stream.Settle(lf)
	l.line = ""
	return l.settle(strings.TrimSuffix(out, lf), strings.TrimSuffix(raw, lf))
}

// settle shares out what the redactor made of raw, the text that it holds no longer. Before the first and behind the last
// difference each byte is its own; what differs in between has the time of its last byte, since only then it was there.
func (l *lane) settle(out, raw string) int {
	head, tail := common(raw, out)
	from, to := head, len(raw)-tail // what differs
	pos := 0
	for pos < len(raw) {
		it := l.items[0]
		n := min(it.left, len(raw)-pos)
		if pos < from {
			it.add(raw[pos:min(pos+n, from)])
		}
		if pos+n >= to && pos < max(to, 1) { // the last byte of what differs is here
			it.add(out[head : len(out)-tail])
		}
		if pos+n > to {
			it.add(raw[max(pos, to) : pos+n])
		}
		pos += n
		if it.left -= n; it.left == 0 {
			l.items = l.items[1:]
		}
	}
	if len(l.items) == 0 {
		l.items = nil
	}
	return len(out)
}

// common returns the lengths of the longest beginning and end that a and b share, whole characters, not overlapping.
func common(a, b string) (head, tail int) {
	most := min(len(a), len(b))
	if a == b {
		return most, 0
	}
	for head < most && a[head] == b[head] {
		head++
	}
	for head > 0 && (head < len(a) && !utf8.RuneStart(a[head]) || head < len(b) && !utf8.RuneStart(b[head])) {
		head--
	}
	for tail < most-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	for tail > 0 && !(utf8.RuneStart(a[len(a)-tail]) && utf8.RuneStart(b[len(b)-tail])) {
		tail--
	}
	return head, tail
}

package record

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/redact"
)

const (
	// queueItems and queueBytes bound what waits until a redactor has decided about the text before
	// it. A stream holds less than 4 KiB itself; this is for what waits after that, such as output
	// after a line that is being typed. Beyond, held text is judged as it is, and an unfinished
	// secret hidden at once.
	queueItems = 4096
	queueBytes = 256 << 10
	// lineContext is how much of a line a new redactor gets: as much as it looks back.
	lineContext = 4 << 10
)

// A Queue keeps the events of a recording in order while a redactor holds back their text. Events
// leave it with their original times. It is not safe for concurrent use; see [NewQueue].
type Queue struct {
	emit  func(at time.Duration, code byte, text ...string)
	items []*item
	lanes map[byte]*lane // by code; empty: nothing is redacted
	ready int            // bytes of decided text that wait for undecided text
}

// An item is one event.
type item struct {
	at   time.Duration
	code byte
	left int      // bytes of its text that are held back
	text []string // decided so far
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
	items  []*item // with text held back by the stream, in order
	line   string  // the end of the last line, unredacted: at most lineContext
}

// NewQueue returns an empty queue. It passes events to emit, in order, the text of one in pieces; r
// redacts it, with a nil r nothing is redacted. screen is what the session already shows, where a
// secret may have begun; nil is nothing.
func NewQueue(r *redact.Redactor, screen *vt.Screen,
	emit func(at time.Duration, code byte, text ...string)) *Queue {
	q := &Queue{emit: emit}
	if r != nil {
		q.SetRedactor(r)
		if screen != nil {
			q.seed(before(screen))
		}
	}
	return q
}

// SetRedactor sets the redactor from here on.
func (q *Queue) SetRedactor(r *redact.Redactor) {
	if q.lanes == nil {
		q.lanes = map[byte]*lane{'o': {stream: redact.NewStream(r)},
			'i': {stream: redact.NewStream(r)}}
		return
	}
	q.Flush()
	for _, l := range q.lanes {
		l.stream = redact.NewStream(r)
		if l.line != "" { // so that it knows a secret that continues
			l.stream.Write(l.line)
			l.stream.Flush()
		}
	}
}

// seed gives the stream of output the text before it, which was not recorded.
func (q *Queue) seed(before string) {
	l := q.lanes['o']
	l.stream.Write(before)
	l.stream.Flush()
	l.line = before[max(strings.LastIndexByte(before, '\n')+1, len(before)-lineContext):]
}

// Plain adds an event whose text needs no redaction.
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
		// The end of the line that is held back is written separately: where something is hidden,
		// times are exact to the line.
		if n := strings.IndexByte(text, '\n') + 1; n > 0 && n < len(text) {
			q.settled(l.write(it, text[:n]))
			text = text[n:]
		}
	}
	for code == 'i' { // Enter ends a line of input, which the redactor must know
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

// pop emits what is decided.
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

// EndLine takes held text as a whole line: what comes next is elsewhere.
func (q *Queue) EndLine(code byte) {
	if l := q.lanes[code]; l != nil && l.line != "" {
		q.settled(l.endLine())
		q.pop()
	}
}

// Flush emits everything. A secret that may be unfinished is replaced, and the rest of it dropped.
func (q *Queue) Flush() {
	for _, l := range q.lanes {
		l.flush()
	}
	q.pop()
}

// write passes text of an item to the redactor and settles its result, of which it returns the
// length in bytes.
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

// endLine makes the redactor take what it holds as a whole line.
func (l *lane) endLine() int {
	const lf = "\n"
	out, raw := l.stream.Settle(lf)
	l.line = ""
	return l.settle(strings.TrimSuffix(out, lf), strings.TrimSuffix(raw, lf))
}

// settle distributes the redactor's output for raw, the text that it no longer holds. Before the
// first and after the last difference each byte keeps its event; what differs in between gets the
// time of its last byte, when it was complete.
func (l *lane) settle(out, raw string) int {
	head, tail := common(raw, out)
	from, to := head, len(raw)-tail // the part that differs
	pos := 0
	for pos < len(raw) {
		it := l.items[0]
		n := min(it.left, len(raw)-pos)
		if pos < from {
			it.add(raw[pos:min(pos+n, from)])
		}
		if pos+n >= to && pos < max(to, 1) { // the last byte that differs is here
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

// common returns the lengths of the longest beginning and end that a and b share, whole characters,
// not overlapping.
func common(a, b string) (head, tail int) {
	most := min(len(a), len(b))
	if a == b {
		return most, 0
	}
	for head < most && a[head] == b[head] {
		head++
	}
	for head > 0 && (head < len(a) && !utf8.RuneStart(a[head]) || head < len(b) &&
		!utf8.RuneStart(b[head])) {
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

package acp

import (
	"sync"
	"time"
	"unicode/utf8"

	"github.com/ptywright/ptywright/internal/ansi"
	"github.com/ptywright/ptywright/redact"
)

const (
	// sight is how much text before what is shown is kept for the redactor: text that is cut off
	// may make a secret of what is left.
	sight = redact.ReachBytes
	// slack is how far the text may at least grow past what is kept before it is moved.
	slack = 64 << 10
)

// A tail keeps the newest output of one program as text, at most limit bytes of it after redaction.
// It is the [engine.Tap] of its session; any number of goroutines may read it.
type tail struct {
	limit int
	hide  *redact.Redactor // nil: unchanged

	mu sync.Mutex
	// protects the fields below
	plain     ansi.Plain
	dropped   bool // the text does not begin with the program's first byte
	truncated bool // something was left out of what was shown
}

// Output takes what the program wrote.
func (t *tail) Output(_ time.Time, b []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.plain.Write(b)
	if keep := t.limit + sight; len(t.plain.Text()) > 2*keep+slack {
		t.plain.Drop(boundary(t.plain.Text(), len(t.plain.Text())-keep))
		t.dropped = true
	}
	return nil
}

// Resize changes nothing: lines are the program's, not the screen's.
func (t *tail) Resize(time.Time, int, int) error { return nil }

// Close changes nothing: the output can still be read.
func (t *tail) Close() error { return nil }

// shown returns the newest output, redacted, cut at its beginning to at most limit bytes, and
// whether anything was ever left out. With ended, an incomplete character stays incomplete.
func (t *tail) shown(ended bool) (text string, truncated bool) {
	text, cut := t.newest(t.limit, ended)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.truncated = t.truncated || cut
	return text, t.truncated
}

// newest returns at most n bytes of it, and whether that leaves anything out.
func (t *tail) newest(n int, ended bool) (text string, cut bool) {
	n = min(n, t.limit)
	t.mu.Lock()
	from := boundary(t.plain.Text(), len(t.plain.Text())-n-sight)
	text = string(t.plain.Text()[from:])
	if ended {
		text += t.plain.Held()
	}
	cut = t.dropped || from > 0
	t.mu.Unlock()
	switch {
	case t.hide == nil:
	case cut:
		text = t.hide.From(text, boundary(text, len(text)-n))
	default:
		text = t.hide.String(text)
	}
	over := boundary(text, len(text)-n)
	return text[over:], cut || over > 0
}

// boundary returns where the first character at or after text[at] begins; 0 when at is negative.
func boundary[T string | []byte](text T, at int) int {
	at = max(at, 0)
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}

package rules

import "errors"

// Candidate is a secret, or text that may still become one, in the text that a rule read.
type Candidate struct {
	From       int  // beginning of what makes it a secret: its key, or start
	Start, End int  // what to hide
	Hit        bool // it is a secret
	Open       bool // the text ended inside: more text could make it one, or a longer one
	Until      Ending
	Class      string
	Tier       Tier
}

// Ending is what ends an open candidate, besides the line's end.
type Ending struct {
	Quote   byte // 0: white space or any quote; '\n': nothing else
	Escaped bool // the quote is written \", so a backslash before it does not protect it
}

// part is the candidate text[start:end], which is open if the text ends there.
func (s *Text) part(from, start, end int) Candidate {
	return Candidate{From: from, Start: start, End: end, Open: end == len(s.text)}
}

type span struct{ from, end int }

// A Text is what the rules are reading: a line, or a reading of it. It caches what they walked
// through and their verdicts.
type Text struct {
	Marks
	text string
	raw  []int32 // offset of each byte in the line; nil when nothing between them was left out

	// The last value and run of each set that a rule has walked through: a second walk from inside
	// ends where the first did, so a line of nested candidates costs linear time.
	values [2]span // outside and inside a query
	runs   []span

	budget int
}

// Marks are the private key marks on a line.
type Marks struct {
	Began  bool // the first mark ends the line
	Ended  bool // the last mark is on it, without the first
	Public bool // it has the first mark of something that is not a private key
	opened bool // the first mark was read and the last not yet
}

// Read begins a text. raw has the offset of each byte in the line; nil: nothing was left out.
func (s *Text) Read(text string, raw []int32) {
	s.text, s.raw = text, raw
	s.values = [2]span{}
	clear(s.runs)
	s.budget = workFactor*len(text) + 1<<12
}

// errOverrun ends work on a line that costs more than workFactor allows. Rules that use their memos
// never hit it; it guards against the next rule.
var errOverrun = errors.New("redact: a rule reads the line too often")

// workFactor is how many bytes rules may walk through for each byte of a line, in addition to the
// one pass for keywords. The worst line known needs 12.
const workFactor = 64

// Spend counts n bytes of work and panics with errOverrun when there were too many.
func (s *Text) Spend(n int) {
	if s.budget -= n; s.budget < 0 {
		panic(errOverrun)
	}
}

package engine

import "sort"

// A sequenceLog records at which transcript position a sequence began, so that "only what came
// after sequence n" is exact for text too. It has one entry a batch of output; entries whose text
// has left the transcript are dropped, because the answer for them is "all there is".
type sequenceLog struct {
	first uint64   // sequence of ends[0]
	ends  []Offset // ends[i]: end of the transcript when sequence first+i was complete
}

// maxSequenceLog bounds the log when a session's sequence moves without text (a storm of resizes).
// A sequence older than that gets the start: a wait may then see text that is too old, but never
// miss any. 64 Ki entries are 512 KiB, and more than one a byte of most transcripts.
const maxSequenceLog = 64 << 10

// add records that the transcript ended at end when sequence seq was complete. Sequences come
// without gaps. Entries before oldest are dropped, half of the log at a time at least, so that the
// average cost is constant. What a copy of the log has is never overwritten.
func (l *sequenceLog) add(seq uint64, end, oldest Offset) {
	if len(l.ends) == 0 {
		l.first = seq
	}
	if n := len(l.ends); n == cap(l.ends) {
		drop := 0
		for drop < n && l.ends[drop] < oldest {
			drop++
		}
		if n >= maxSequenceLog {
			drop = max(drop, n/2)
		}
		if drop >= n/2 {
			l.first += uint64(drop)
			l.ends = append(make([]Offset, 0, n), l.ends[drop:]...)
		}
	}
	l.ends = append(l.ends, end)
}

// at returns the transcript position from which everything came after seq; 0 when that is no longer
// known.
func (l *sequenceLog) at(seq uint64) Offset {
	if len(l.ends) == 0 || seq < l.first {
		return 0
	}
	return l.ends[min(seq-l.first, uint64(len(l.ends)-1))]
}

// of returns the sequence whose batch extended the transcript to end: the first at which it was
// that long.
func (l *sequenceLog) of(end Offset) uint64 {
	return l.first + uint64(sort.Search(len(l.ends), func(i int) bool { return l.ends[i] >= end }))
}

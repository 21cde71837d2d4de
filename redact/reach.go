package redact

import (
	"bytes"
	"strings"
)

// What makes a text a secret may be above it. Only this file knows how far up it may begin: callers
// that read from the middle of an output or of a history ask [Reach], and keep as much.
const (
	// ReachLines is how many lines a private key block may have. An RSA 4096 key has 51; a PGP key
	// with subkeys some hundreds.
	ReachLines = 512
	// ReachBytes is the most that so many lines take, with an indent or a border.
	ReachBytes = 64 << 10
	// nearLines is how many lines up a token broken at the edge may begin.
	nearLines = 4
)

// Reach returns where in what precedes a place the text begins that is needed to judge what
// follows: a few lines above the current one, or the line that a private key may have begun in, at
// most [ReachLines] or [ReachBytes] above.
func Reach(before []byte) int {
	line := bytes.LastIndexByte(before, '\n') + 1
	oldest := max(0, line-ReachBytes)
	start := line
	for n := 0; n < nearLines && start > oldest; n++ {
		start = max(oldest, bytes.LastIndexByte(before[:start-1], '\n')+1)
	}
	for _, mark := range []string{"BEGIN", "Private-Lines:"} { // of PEM and its kin, of PuTTY
		i := bytes.Index(before[oldest:start], []byte(mark))
		if i < 0 {
			continue
		}
		i += oldest
		for over := bytes.Count(before[i:line], []byte("\n")) - ReachLines; over > 0; over-- {
			i += bytes.IndexByte(before[i:line], '\n') + 1
		}
		start = min(start, max(oldest, bytes.LastIndexByte(before[:i], '\n')+1))
	}
	return start
}

// MayGoOn reports whether a line may belong to a private key whose end, which would prove it, is
// further down, at most [ReachLines].
func MayGoOn(line string) bool {
	const least = 40 // characters; such lines have 64
	line = strings.TrimRight(line, " ")
	return len(line)-1-strings.LastIndexByte(line, ' ') >= least
}

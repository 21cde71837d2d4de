package redact

import (
	"bytes"
	"strings"
)

// What makes a text a secret may stand above it. How far up it may begin is known here alone: whoever
// reads from the middle of an output or of a history asks [Reach], and keeps as much.
const (
	// ReachLines is how many lines a block of a private key may have. A key of RSA 4096 has 51 of
	// them; a PGP key with subkeys some hundreds.
	ReachLines = 512
	// ReachBytes is what so many lines have at most, with an indent or a border.
	ReachBytes = 64 << 10
	// nearLines is how many lines up a token may have begun that a program broke at the edge.
	nearLines = 4
)

// Reach returns where in what came before a place the text begins that has to be seen to judge what
// follows it: a few lines above the one under way, or the line that a private key may have begun in,
// at most [ReachLines] or [ReachBytes] above.
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

// MayGoOn reports whether a line may be one of a private key, whose end, which tells, is further
// down, at most [ReachLines].
func MayGoOn(line string) bool {
	const least = 40 // characters; such lines have 64
	line = strings.TrimRight(line, " ")
	return len(line)-1-strings.LastIndexByte(line, ' ') >= least
}

package instance

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// ErrExhausted reports a root in which all 2,574 names are taken.
var ErrExhausted = errors.New("no free instance name available (capped at NATO×99)")

// letters are the words of the NATO alphabet, as Unterm spells them.
var letters = strings.Fields("alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike " +
	"november oscar papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu")

// maxRound is how many times the alphabet is used: alpha, alpha2, to alpha99.
const maxRound = 99

// names is how many names there are.
var names = len(letters) * maxRound

// name returns the i-th name in the order in which they are taken: all 26 words, then all of them
// with a 2, and so on.
func name(i int) string {
	word, round := letters[i%len(letters)], i/len(letters)+1
	if round == 1 {
		return word
	}
	return word + strconv.Itoa(round)
}

// place is the inverse of name; it returns names for any other text.
func place(s string) int {
	word := strings.TrimRight(s, "0123456789")
	letter, round := slices.Index(letters, word), 1
	if digits := s[len(word):]; digits != "" {
		round, _ = strconv.Atoi(digits)
		if round < 2 || round > maxRound || strconv.Itoa(round) != digits {
			return names
		}
	}
	if letter < 0 {
		return names
	}
	return (round-1)*len(letters) + letter
}

// compare orders names as they are taken, and then other texts as text.
func compare(a, b string) int {
	if d := place(a) - place(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

package picture

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// advice is what to install for a script, as Debian and Ubuntu call the packages; other systems have the
// same fonts under the name Noto.
var advice = map[string]string{"cjk": "fonts-noto-cjk", "": "fonts-noto-core"}

// fontAdvice says what to do about a character that no font has.
func fontAdvice(r rune) string {
	if private(r) {
		return "give a font for private use with --font"
	}
	if !unicode.IsPrint(r) { // also what Unicode has not assigned
		return "Unicode has no such character"
	}
	return "install " + cmp.Or(advice[script(r)], advice[""]) + " (Debian) or give a font with --font"
}

// Lacking collects the characters that no font has. The zero value is ready; it is not safe for
// concurrent use.
type Lacking struct{ all map[rune]bool }

// Add adds a character: it is what [Options].Missing calls.
func (l *Lacking) Add(r rune) {
	if l.all == nil {
		l.all = map[rune]bool{}
	}
	l.all[r] = true
}

// lackingShown is how many characters an advice names: they are examples of what one font has.
const lackingShown = 3

// Advice says what to do: a line for each package to install, with some of the characters.
func (l *Lacking) Advice() (lines []string) {
	some := map[string][]rune{}
	var order []string
	for _, r := range slices.Sorted(maps.Keys(l.all)) {
		what := fontAdvice(r)
		if some[what] == nil {
			order = append(order, what)
		}
		some[what] = append(some[what], r)
	}
	for _, what := range order {
		var names []string
		for _, r := range some[what][:min(lackingShown, len(some[what]))] {
			name := fmt.Sprintf("U+%04X", r)
			if unicode.IsPrint(r) {
				name = string(r) + " (" + name + ")"
			}
			names = append(names, name)
		}
		text := "no font has " + names[0]
		if n := len(some[what]); n > 1 {
			text = fmt.Sprintf("%d characters are in no font, such as %s", n, strings.Join(names, " "))
		}
		lines = append(lines, text+": "+what)
	}
	return lines
}

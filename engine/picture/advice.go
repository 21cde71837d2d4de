package picture

import (
	"cmp"
	"unicode"
)

// advice is what to install for a script, as Debian and Ubuntu call the packages; other systems have the
// same fonts under the name Noto.
var advice = map[string]string{"cjk": "fonts-noto-cjk", "": "fonts-noto-core"}

// FontAdvice says what to do about a character that no font has.
func FontAdvice(r rune) string {
	if private(r) {
		return "give the font that it is from with --font"
	}
	if unicode.In(r, unicode.Cn) || !unicode.IsPrint(r) {
		return "Unicode has no such character"
	}
	return "install a font that has it (Debian: " +
		cmp.Or(advice[script(r)], advice[""]) + ") or give one with --font"
}

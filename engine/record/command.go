package record

import (
	"strings"

	"github.com/ptywright/ptywright/redact"
)

// CommandLine is the Command of a recording: a program and its arguments as a line for a shell, in
// which each word that a shell would change stands in single quotes. r hides secrets in the words
// before that, since a quote within a secret would be written as four characters; with a nil r
// nothing is hidden.
func CommandLine(words []string, r *redact.Redactor) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if plain(w) {
			b.WriteString(w)
			continue
		}
		if r != nil {
			w = r.String(w)
		}
		b.WriteString("'" + strings.ReplaceAll(w, "'", `'\''`) + "'")
	}
	return b.String()
}

// plain reports whether a shell does not change a word.
func plain(w string) bool {
	return w != "" && !strings.ContainsFunc(w, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.ContainsRune("_@%+=:,./-", c))
	})
}

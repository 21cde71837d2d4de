package rules

import (
	_ "embed"
	"strings"
	"sync"
)

// commonText are words of terminals, source code and forms, names, and what people type first at a
// password prompt: each is more often something other than a secret.
//
//go:embed common.txt
var commonText string

var commonWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq(commonText) {
		words[w] = true
	}
	return words
})

// Common reports whether v is a word that occurs in many texts, in any case.
func Common(v string) bool { return commonWords()[strings.ToLower(v)] }

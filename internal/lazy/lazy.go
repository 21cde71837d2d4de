// Package lazy makes values when they are first used, so that a start costs only what it needs.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that returns the compiled expr, and compiles it the first time. An expr
// that does not compile panics then; a test of the program's layout compiles them all. Any number
// of goroutines may call it.
func Regexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

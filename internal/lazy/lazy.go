// Package lazy makes values on first use, so that a start costs only what it needs.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that returns the compiled expr, compiling it on the first call, which
// panics if expr does not compile; a test of the program's layout compiles them all. Any number of
// goroutines may call it.
func Regexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

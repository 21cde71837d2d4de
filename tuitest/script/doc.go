// Package script (no stability promise) reads and runs *.ptw scripts, the golden tests of
// `ptywright test`: [Parse] makes a [Script] of a file, [Run] runs it on a terminal of its own in this
// process, and a [Result] says what came of it.
package script

// Package vt is a terminal emulator as a value: bytes go in, a screen comes out.
//
//	t := vt.New(24, 80, vt.Options{})
//	t.Feed([]byte("hello"))
//	fmt.Println(t.Snapshot().Text())
//
// [New] makes a terminal. [Terminal.Feed] takes the program's output and returns what follows from
// it (answers to queries, whether the visible screen changed, events); [Terminal.Snapshot] returns
// an immutable [Screen] that any number of goroutines may read. Keys, mouse events and focus
// reports are encoded for the terminal's current modes.
//
// [Terminal.Fork] makes a second terminal of one, [Terminal.AppendState] writes one down, and [Load]
// makes a terminal of what was written: each goes on as the first does.
//
// The package is pure: no goroutine, clock, lock or I/O, and the result never depends on how the
// input was split into Feed calls. A Terminal has one owner; only Screen and History are shared.
//
// Program output is hostile. Parameters are clamped as they are parsed, every string is capped, no
// repeat count costs more than one screenful, and an answer to a query is built from constants and
// numbers only: it never contains text that the program supplied.
//
// The screen follows xterm where programs depend on it: ECMA-48 (5th edition), the VT420/VT520
// manuals (DEC EK-VT520-RM), xterm's "XTerm Control Sequences", and for newer sequences the
// specifications named at their code. Where terminals differ, the recordings in testdata decide,
// and the differences are listed in testdata/README.md.
package vt

package vt_test

import (
	"fmt"

	"github.com/ptywright/ptywright/engine/vt"
)

// Bytes go in, a screen comes out. What the program asks is answered.
func Example() {
	t := vt.New(3, 20, vt.Options{})
	effect := t.Feed([]byte("one\r\n\x1b[1mtwo\x1b[m\x1b[6n"))
	screen := t.Snapshot()
	fmt.Printf("%q\n", screen.Text())
	fmt.Println("the cursor:", screen.Cursor.Row, screen.Cursor.Col)
	fmt.Printf("the answer: %q\n", effect.Reply)
	// Output:
	// "one\ntwo"
	// the cursor: 1 3
	// the answer: "\x1b[2;4R"
}

// Keys are encoded as the program has asked for them.
func ExampleTerminal_EncodeKey() {
	t := vt.New(24, 80, vt.Options{})
	up, err := vt.ParseKey("up")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q\n", t.EncodeKey(up))
	t.Feed([]byte("\x1b[?1h")) // application cursor keys, as editors ask for
	fmt.Printf("%q\n", t.EncodeKey(up))
	// Output:
	// "\x1b[A"
	// "\x1bOA"
}

// A terminal is written down in the middle of a sequence, and goes on from there.
func ExampleLoad() {
	t := vt.New(2, 20, vt.Options{})
	t.Feed([]byte("one \x1b]2;ti"))
	state := t.AppendState(nil)
	again, err := vt.Load(state)
	if err != nil {
		fmt.Println(err)
		return
	}
	again.Feed([]byte("tle\atwo"))
	screen := again.Snapshot()
	fmt.Printf("%q, %q\n", screen.Title, screen.Text())
	// Output:
	// "title", "one two"
}

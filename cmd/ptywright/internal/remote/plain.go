package remote

import "github.com/ptywright/ptywright/internal/ansi"

// lineBound is how long a line may become before it is broken, in bytes: it bounds the cost of a
// program that never ends one.
const lineBound = 64 << 10

// A Plain converts output to lines of plain text: see [ansi.Plain]. The zero value is ready. Not
// safe for concurrent use.
type Plain struct{ text ansi.Plain }

// Write takes more output and returns the lines that it completes, each with its line feed.
func (p *Plain) Write(output string) string {
	p.text.Most = lineBound
	p.text.Write([]byte(output))
	return p.text.Lines()
}

// Rest returns the unfinished line, and clears it.
func (p *Plain) Rest() string {
	rest := string(p.text.Text()) + p.text.Held()
	p.text = ansi.Plain{}
	return rest
}

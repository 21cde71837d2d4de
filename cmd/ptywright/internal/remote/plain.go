package remote

import "github.com/ptywright/ptywright/internal/ansi"

// lineBound is how long a line may grow before it is ended, in bytes: a program that never ends one
// costs no more.
const lineBound = 64 << 10

// A Plain makes text of output, as lines: see [ansi.Plain]. The zero value is ready. It is not for
// several goroutines.
type Plain struct{ text ansi.Plain }

// Write takes more output and returns the lines that it completes, each with its line feed.
func (p *Plain) Write(output string) string {
	p.text.Most = lineBound
	p.text.Write([]byte(output))
	return p.text.Lines()
}

// Rest returns the unfinished line, and forgets it.
func (p *Plain) Rest() string {
	rest := string(p.text.Text()) + p.text.Held()
	p.text = ansi.Plain{}
	return rest
}

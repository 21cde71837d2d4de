package engine

import (
	"bytes"
	"slices"
	"strings"

	"github.com/ptywright/ptywright/internal/ansi"
	"github.com/ptywright/ptywright/internal/lazy"
)

// printed is what a command writes between its marks. Between a prompt and the next mark it is what
// is written there: the line as it is typed, and the shell's message when it is not a command.
//
// The marks of our own scripts have options that identify their shell: sh=bash in a C says what the
// shell itself writes between the marks, and refused says that the line was not a command.
type printed struct {
	ansi.Printed
	shell   string // of our own scripts; "" for any other
	behind  bool   // the line end of Enter is still to come
	said    []byte // the message for a refused line, when its end was marked
	message bool   // what is printed is such a message
}

// prompt starts over after a prompt.
func (p *printed) prompt() {
	p.Reset()
	p.said = nil
}

// begin starts over with a command, whose mark has these options; behind says that the mark came
// before the line end of Enter.
func (p *printed) begin(options string, behind bool) {
	p.shell, p.message, p.behind = "", false, behind
	for option := range strings.SplitSeq(options, ";") {
		if name, ok := strings.CutPrefix(option, "sh="); ok {
			p.shell = name
		}
		p.message = p.message || option == "refused"
	}
	said := p.said
	if p.message && said == nil {
		said = refusal(p.Bytes())
	}
	p.prompt()
	if p.message {
		p.Write(slices.Clone(said))
	}
}

// refused notes that the shell has written its whole message about a line at the prompt: zsh marks
// that before it continues to its next prompt.
func (p *printed) refused() {
	p.said = append([]byte{}, refusal(p.Bytes())...)
}

var (
	// pasteOff is what a line editor writes once it has taken a line: it switches bracketed paste
	// off.
	pasteOff = []byte("\x1b[?2004l")
	// fishSays begins fish's message about a bad line. It keeps bracketed paste on.
	fishSays = []byte("\nfish: ")
)

// refusal is a shell's message about the line typed last: the text after its echo.
func refusal(p []byte) []byte {
	if i := bytes.LastIndex(p, pasteOff); i >= 0 {
		p = bytes.TrimLeft(p[i+len(pasteOff):], "\r") // one of which precedes zsh's line feed
		return bytes.TrimPrefix(p, []byte("\n"))
	}
	if i := bytes.LastIndex(p, fishSays); i >= 0 {
		return p[i+1:]
	}
	_, said, _ := bytes.Cut(p, []byte("\n"))
	return said
}

var (
	// fishBegins is what fish writes after the mark of a command's beginning: the terminal's title,
	// colours, and a carriage return that is there only with a title.
	fishBegins = lazy.Regexp(`^(?:\x1b\[[0-?]*[@-~])*\x1b\]0;[^\x07\x1b]*(?:\x07|\x1b\\)(?:\x1b\[[0-?]*[@-~]|\x1b\([0-~])*\r`)
	// enterEnds is the line end of Enter after a mark that came before it.
	enterEnds = lazy.Regexp(`^(?:\x1b\[[0-?]*[@-~])*\r*\n`)
	// execs matches a command line in which the shell may be replaced by another program.
	execs = lazy.Regexp(`(?:^|[^\w.-])exec(?:[^\w.-]|$)`)
)

// trim removes what the shell itself has written at the beginning.
func (p *printed) trim() {
	if p.behind {
		if m := enterEnds().Find(p.Bytes()); m != nil {
			p.DropStart(len(m))
			p.behind = false
		}
	}
	if p.shell == "fish" && !p.message {
		if m := fishBegins().Find(p.Bytes()); m != nil {
			p.DropStart(len(m))
			p.shell = "" // once
		}
	}
}

// farewell removes what an interactive bash says on exit. It says it right before it ends, so it is
// the last line of a shell that ended while a command ran. A command that replaces bash ends the
// session too, but prints only its own output.
func (p *printed) farewell(command string) {
	if p.shell != "bash" || execs().MatchString(command) {
		return
	}
	for _, word := range []string{"exit\n", "logout\n"} {
		if bytes.HasSuffix(p.Bytes(), []byte(word)) {
			p.DropEnd(word)
			return
		}
	}
}

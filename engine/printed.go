package engine

import (
	"bytes"
	"slices"
	"strings"

	"github.com/ptywright/ptywright/internal/ansi"
	"github.com/ptywright/ptywright/internal/lazy"
)

// printed is what a command writes between its marks. Between a prompt and the next mark it is what is
// written there: the line that is typed, and what the shell has to say of it when it is no command.
//
// The marks of our own scripts have options by which their shell is known: sh=bash in a C says what the
// shell itself writes between the marks, and refused that the line was no command.
type printed struct {
	ansi.Printed
	shell   string // of our own scripts; "" for any other
	behind  bool   // the line end of Enter is still to come
	said    []byte // the message for a line that was refused, when its end was marked
	message bool   // what is printed is such a message
}

// prompt begins anew behind a prompt.
func (p *printed) prompt() {
	p.Reset()
	p.said = nil
}

// begin begins anew with a command, whose mark has these options; behind says that the mark came before
// the line end of Enter.
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

// refused notes that whatever the shell had to say of a line at the prompt has been said: zsh marks that
// before it goes on to its next prompt.
func (p *printed) refused() {
	p.said = append([]byte{}, refusal(p.Bytes())...)
}

var (
	// pasteOff is what a line editor writes behind the line that it has taken: no more pastes.
	pasteOff = []byte("\x1b[?2004l")
	// fishSays is how fish begins to say what is wrong with a line. It goes on to take pastes.
	fishSays = []byte("\nfish: ")
)

// refusal is what a shell has said of the line that was typed last: what is behind its echo.
func refusal(p []byte) []byte {
	if i := bytes.LastIndex(p, pasteOff); i >= 0 {
		p = bytes.TrimLeft(p[i+len(pasteOff):], "\r") // of which one is in front of zsh's line feed
		return bytes.TrimPrefix(p, []byte("\n"))
	}
	if i := bytes.LastIndex(p, fishSays); i >= 0 {
		return p[i+1:]
	}
	_, said, _ := bytes.Cut(p, []byte("\n"))
	return said
}

var (
	// fishBegins is what fish writes behind the mark of a command's beginning: the terminal's title,
	// colours, and a carriage return that is there only with a title.
	fishBegins = lazy.Regexp(`^(?:\x1b\[[0-?]*[@-~])*\x1b\]0;[^\x07\x1b]*(?:\x07|\x1b\\)(?:\x1b\[[0-?]*[@-~]|\x1b\([0-~])*\r`)
	// enterEnds is the line end of Enter behind a mark that came before it.
	enterEnds = lazy.Regexp(`^(?:\x1b\[[0-?]*[@-~])*\r*\n`)
	// execs is a command line in which the shell may make way for another program.
	execs = lazy.Regexp(`(?:^|[^\w.-])exec(?:[^\w.-]|$)`)
)

// trim takes away what the shell itself has written at the beginning.
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

// farewell takes away what an interactive bash says when it is told to exit. It says so right before it
// ends, so of a shell that ended while a command ran it is the last line. A command that bash makes way
// for ends the session too, and says only what is its own.
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

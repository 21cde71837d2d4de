package unterm

import (
	"context"
	"strings"
)

// typed is the unfinished command line in a pane, as far as the input of this dialect's clients
// shows it. It is always tracked, so that a policy that becomes strict knows what is there.
type typed struct {
	// turn is held from the judgement of an input until it is typed: the simultaneous input of two
	// clients must not form a line that was never judged. It is a channel, so that waiting for it
	// can be cancelled.
	turn chan struct{}
	line lineState // belongs to the holder of turn
}

// A lineState is the text of a command line.
type lineState struct {
	text   []byte
	unseen bool // a key with an unknown effect was pressed
}

// take waits for the turn.
func (t *typed) take(ctx context.Context) (release func(), err error) {
	select {
	case t.turn <- struct{}{}:
		return func() { <-t.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// maxTyped bounds the tracked line, in bytes: longer than a terminal takes in canonical mode.
const maxTyped = 64 << 10

// unseenKey is the reason for a key with an unknown effect on the command line: history,
// completion, an editor's keys.
const unseenKey = "a key that changes the command line unseen; under a strict policy only text, Enter, Backspace, Ctrl+U, Ctrl+W, Ctrl+C, Ctrl+D, Ctrl+Z and Ctrl+\\ can be typed"

// unseenLine is the reason for a line in which such a key was pressed before the policy was strict.
const unseenLine = "a command line of which not everything was seen: clear it with Ctrl+C"

// after returns the line after a text is typed, and with rules what blocks the text, or "". Nothing
// of a blocked text is typed.
func (t *typed) after(rules *policyRules, text string) (next lineState, why string) {
	next = lineState{append([]byte(nil), t.line.text...), t.line.unseen}
	var begun policyRules // for an unfinished line, which may still get what Allowed needs
	if rules != nil {
		begun = policyRules{Enabled: true, Blocked: rules.Blocked}
	}
	for i := range len(text) {
		key := text[i]
		enter := key == '\r' || key == '\n'
		if rules != nil && (enter || key == 0x04) && len(strings.TrimSpace(string(next.text))) > 0 {
			if why := rules.judge(string(next.text)); why != "" {
				return next, why
			}
		}
		if rules != nil && enter && next.unseen {
			return next, unseenLine
		}
		if !next.press(key) && rules != nil {
			return next, unseenKey
		}
	}
	return next, begun.judge(string(next.text))
}

// press applies one typed byte. It reports whether its effect is known.
func (l *lineState) press(key byte) bool {
	switch n := len(l.text); {
	case key == '\r' || key == '\n':
		if n > 0 && l.text[n-1] == '\\' { // the line continues
			l.text = l.text[:n-1]
			return true
		}
		*l = lineState{text: l.text[:0]}
	case key == 0x15 || key == 0x03: // Ctrl+U, Ctrl+C
		*l = lineState{text: l.text[:0]}
	case key == 0x04 || key == 0x1a || key == 0x1c:
		// Ctrl+D, Ctrl+Z and Ctrl+\ may or may not clear a shell's line: assume that they do not.
	case key == 0x7f || key == '\b':
		if n > 0 && l.text[n-1] >= 0x80 { // it is unknown how many bytes the shell deletes as one character
			return l.lost()
		}
		l.text = l.text[:max(0, n-1)]
	case key == 0x17: // Ctrl+W: a word, which each shell defines differently
		if strings.ContainsFunc(string(l.text),
			func(c rune) bool { return c != ' ' && !plainWord(c) }) {
			return l.lost()
		}
		kept := strings.TrimRight(string(l.text), " ")
		l.text = l.text[:strings.LastIndexByte(kept, ' ')+1]
	case key < ' ':
		return l.lost()
	default:
		if l.text = append(l.text, key); len(l.text) > maxTyped {
			l.text = l.text[:0]
			return l.lost()
		}
	}
	return true
}

func (l *lineState) lost() bool {
	l.unseen = true
	return false
}

// plainWord is a character that belongs to a word in every shell.
func plainWord(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

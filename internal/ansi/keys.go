package ansi

// PasteBegin and PasteEnd are what a terminal puts around what is pasted: xterm's mode 2004.
const (
	PasteBegin = "\x1b[200~"
	PasteEnd   = "\x1b[201~"
)

// Key measures the control sequence at the head of p, which begins with ESC [, as keyboards send
// them: nothing but parameters before its final byte. One that is not whole may go on when it is all
// of p; else p[n] breaks it off.
func Key(p []byte) (n int, whole bool) {
	for n = min(2, len(p)); n < len(p); n++ {
		switch c := p[n]; {
		case c >= '@' && c < del:
			return n + 1, true
		case c < ' ' || c >= del:
			return n, false
		}
	}
	return n, false
}

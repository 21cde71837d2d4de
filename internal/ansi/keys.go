package ansi

// PasteBegin and PasteEnd are what a terminal puts around pasted text: xterm's mode 2004.
const (
	PasteBegin = "\x1b[200~"
	PasteEnd   = "\x1b[201~"
)

// Key measures the control sequence at the head of p, which begins with ESC [, as keyboards send
// it: nothing but parameters before its final byte. An incomplete one may continue if it is all of
// p; otherwise p[n] aborts it.
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

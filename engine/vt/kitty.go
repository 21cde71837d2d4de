package vt

// Flags of the kitty keyboard protocol (sw.kovidgoyal.net/kitty/keyboard-protocol).
const (
	kittyDisambiguate = 1 << iota
	kittyEventTypes
	kittyAlternateKeys
	kittyAllKeys
	kittyText
	kittyAllFlags = 1<<iota - 1
)

// kittyStackMax bounds the pushed flags of one screen; the oldest is lost, as the protocol says.
const kittyStackMax = 8

type kittyStack struct {
	flags uint8
	stack [kittyStackMax]uint8
	n     uint8
}

// kittyScreen returns the stack of the screen shown: each has its own.
func (t *Terminal) kittyScreen() *kittyStack {
	if t.grid == &t.alt {
		return &t.kitty[1]
	}
	return &t.kitty[0]
}

func (t *Terminal) kittyFlags() uint8 { return t.kittyScreen().flags }

func (t *Terminal) kittyPush(flags int) {
	k := t.kittyScreen()
	if k.n == kittyStackMax {
		copy(k.stack[:], k.stack[1:])
		k.n--
	}
	k.stack[k.n] = k.flags
	k.n++
	k.flags = uint8(flags & kittyAllFlags)
}

func (t *Terminal) kittyPop(n int) {
	k := t.kittyScreen()
	for ; n > 0 && k.n > 0; n-- {
		k.n--
		k.flags = k.stack[k.n]
	}
	if n > 0 {
		k.flags = 0
	}
}

// kittySet is CSI = flags ; mode u: 1 replaces, 2 adds, 3 takes away.
func (t *Terminal) kittySet(flags, mode int) {
	k, f := t.kittyScreen(), uint8(flags&kittyAllFlags)
	switch mode {
	case 1:
		k.flags = f
	case 2:
		k.flags |= f
	case 3:
		k.flags &^= f
	}
}

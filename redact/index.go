package redact

import (
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"
)

// An index finds known values in a text. The cost for a text does not depend on how many values
// there are: a gate decides at each byte, in constant time, whether a value may begin there, and
// only then is the tree walked. The tree is persistent: readers keep the one they have, and adding
// or removing a value copies the path to it.
type index struct {
	gate *gate
	root *node
	lens uint16 // bit n: some form is in the gate with n bytes
	wide bool   // a form has non-ASCII bytes where the gate looks
}

// node is a place in the tree of all forms of all values.
type node struct {
	label  string   // the bytes that lead here from the node above
	values []*value // values with a form that ends here
	next   []*node  // by the first byte of their labels
}

func (n *node) child(c byte) (i int, found bool) {
	to := len(n.next)
	for i < to {
		switch middle := int(uint(i+to) / 2); {
		case n.next[middle].label[0] < c:
			i = middle + 1
		default:
			to = middle
		}
	}
	return i, i < len(n.next) && n.next[i].label[0] == c
}

// with returns the tree below n with v at the end of form.
func (n *node) with(form string, v *value) *node {
	c := *n
	if form == "" {
		c.values = append(slices.Clone(n.values), v)
		return &c
	}
	i, found := n.child(form[0])
	if !found {
		c.next = slices.Insert(slices.Clone(n.next), i, &node{label: form, values: []*value{v}})
		return &c
	}
	below := n.next[i]
	k := sharedPrefix(below.label, form)
	if k < len(below.label) {
		rest := *below
		rest.label = below.label[k:]
		below = &node{label: form[:k], next: []*node{&rest}}
	}
	c.next = slices.Clone(n.next)
	c.next[i] = below.with(form[k:], v)
	return &c
}

// without returns the tree below n without v at the end of form; nil when nothing is left.
func (n *node) without(form string, v *value) *node {
	c := *n
	if form == "" {
		c.values = slices.DeleteFunc(slices.Clone(n.values), func(x *value) bool { return x == v })
	} else if i, found := n.child(form[0]); found && strings.HasPrefix(form, n.next[i].label) {
		c.next = slices.Clone(n.next)
		if below := n.next[i].without(form[len(n.next[i].label):], v); below != nil {
			c.next[i] = below
		} else {
			c.next = slices.Delete(c.next, i, i+1)
		}
	}
	if len(c.values) == 0 && len(c.next) == 0 {
		return nil
	}
	return &c
}

func sharedPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// leads reports whether from n, with the last skip bytes of its label still to come, a form of a
// value that ok accepts continues and ends within most bytes.
func (n *node) leads(most, skip int, ok func(*value) bool) bool {
	return skip > 0 && skip <= most && slices.ContainsFunc(n.values, ok) || n.any(most-skip, ok)
}

// any is leads for the nodes below n.
func (n *node) any(most int, ok func(*value) bool) bool {
	for _, x := range n.next {
		if left := most - len(x.label); left >= 0 &&
			(slices.ContainsFunc(x.values, ok) || x.any(left, ok)) {
			return true
		}
	}
	return false
}

// walk follows text from its beginning and calls found for each value that begins there, with the
// length of its form. It returns where text ended inside a form: below rest, with the last skip
// bytes of its label still to come; nil when it did not.
func (n *node) walk(text string, found func(v *value, length int)) (rest *node, skip int) {
	for at := 0; ; {
		i, ok := n.child(text[at])
		if !ok {
			return nil, 0
		}
		n = n.next[i]
		k := sharedPrefix(n.label, text[at:])
		if k < len(n.label) {
			if at+k < len(text) {
				return nil, 0
			}
			return n, len(n.label) - k
		}
		at += k
		for _, v := range n.values {
			found(v, at)
		}
		if at == len(text) {
			return n, 0
		}
	}
}

// begins returns where the last k bytes of w lead to from n, and how many bytes of that node's
// label are then left; nil: nowhere.
func (n *node) begins(w uint64, k int) (at *node, left int) {
	for k > 0 {
		i, found := n.child(byte(w >> (8 * (k - 1))))
		if !found {
			return nil, 0
		}
		n = n.next[i]
		k--
		j := 1
		for ; j < len(n.label) && k > 0; j++ {
			if n.label[j] != byte(w>>(8*(k-1))) {
				return nil, 0
			}
			k--
		}
		left = len(n.label) - j
	}
	return n, left
}

const (
	// gateLen is how many bytes of a form the gate knows. A shorter form is known whole. More would
	// let fewer false beginnings through, and cost more at each end of a line.
	gateLen = 8
	// perForm is how many bits the gate has per form: it lets less than 1 of 100 places of a text
	// through.
	perForm = 128
	// leastGate is how many forms a gate has room for initially: 2 KiB.
	leastGate = 128
)

// A gate decides which places of a text are worth a walk through the tree. Bits are set before the
// tree that needs them is published, and never cleared: a stale one costs a walk. Any number of
// goroutines may call the methods, except add.
type gate struct {
	bits  []atomic.Uint64 // by the last four of the bytes known of a form
	heads []atomic.Uint64 // by its first three
	shift uint8           // from a hash of 32 bits to a bit's number
	forms int             // number added; guarded by Known.mu
	room  int             // number it is made for
}

func newGate(forms int) *gate {
	room := leastGate
	for room < forms {
		room *= 2
	}
	n := room * perForm
	return &gate{
		bits: make([]atomic.Uint64, n/64), heads: make([]atomic.Uint64, n/64),
		shift: uint8(32 - bits.Len(uint(n-1))), room: room,
	}
}

// add registers a form.
func (g *gate) add(form string) {
	g.forms++
	i := gateHash(pack(form[:min(len(form), gateLen)])) >> g.shift
	g.bits[i>>6].Or(1 << (i & 63))
	i = gateHash(pack(form[:leastCut])) >> g.shift
	g.heads[i>>6].Or(1 << (i & 63))
}

// begins reports whether a form may begin with the three bytes that w ends in, when there are no
// more.
func (g *gate) begins(w uint64) bool {
	i := gateHash(w&(1<<(8*leastCut)-1)) >> g.shift
	return g.heads[i>>6].Load()>>(i&63)&1 != 0
}

// lets reports whether the end of w may be the known bytes of a form. It is small enough to be
// inlined in the loop over bytes.
func (g *gate) lets(w uint64) bool {
	i := gateHash(w) >> g.shift
	return g.bits[i>>6].Load()>>(i&63)&1 != 0
}

func gateHash(w uint64) uint32 { return uint32(w) * 0x9e3779b1 } // D. E. Knuth's multiplicative hash

// pack is the last bytes of s in the form that an index takes: the newest in the low byte.
func pack[T string | []byte](s T) (w uint64) {
	for i := max(0, len(s)-gateLen); i < len(s); i++ {
		w = w<<8 | uint64(s[i])
	}
	return w
}

// has reports whether the text ending in w has just shown all bytes that the gate knows of some
// form.
func (x *index) has(w uint64) bool { return x.gate.lets(w) && x.sure(w) }

// sure is has after the gate has let w through.
func (x *index) sure(w uint64) bool {
	for n := MinKnown; n <= gateLen; n++ {
		if x.known(w, n) {
			return true
		}
	}
	return false
}

// known reports whether the last n bytes of w are all that the gate knows of some form.
func (x *index) known(w uint64, n int) bool {
	if x.lens&(1<<n) == 0 {
		return false
	}
	at, left := x.root.begins(w, n)
	return at != nil && (n == gateLen || left == 0 && len(at.values) > 0)
}

// cut reports whether a text that w ends may end in the beginning of a form that continues
// elsewhere. nil has no forms.
func (x *index) cut(w uint64) bool {
	_, _, n := x.beginning(w, leastCut)
	return n > 0 || x != nil && x.cutShort(w)
}

// cutsLine is cut for a line above below, whose first bytes narrow it down. Bytes in stop do not.
func (x *index) cutsLine(w uint64, below string, stop *[256]bool) bool {
	if x == nil {
		return false
	}
	at, left, n := x.beginning(w, leastCut)
	switch {
	case n == 0:
		return x.cutShort(w)
	case n > leastCut: // enough to be hidden by itself
		return true
	}
	for i := 0; n+i < gateLen; i++ {
		if i == len(below) || stop[below[i]] {
			return true
		}
		if left > 0 {
			if at.label[len(at.label)-left] != below[i] {
				return x.cutShort(w)
			}
			left--
			continue
		}
		k, found := at.child(below[i])
		if !found {
			return x.cutShort(w)
		}
		at = at.next[k]
		left = len(at.label) - 1
	}
	return true
}

// beginning returns the longest beginning of a form that w ends in, of at least least bytes: the
// node it leads to, how many bytes of that node's label are then left, and its length; 0: there is
// none.
func (x *index) beginning(w uint64, least int) (at *node, left, n int) {
	if x == nil {
		return nil, 0, 0
	}
	for n = gateLen - 1; n >= least; n-- {
		if !x.gate.begins(w >> (8 * (n - leastCut))) {
			continue
		}
		if at, left = x.root.begins(w, n); at != nil && (left > 0 || len(at.next) > 0) {
			return at, left, n
		}
	}
	return nil, 0, 0
}

// cutShort is cut for beginnings that are too short for a line's end but not for a text's, if there
// are forms that short: see leastPart.
func (x *index) cutShort(w uint64) bool {
	if x.lens&(1<<MinKnown) == 0 {
		return false
	}
	at, left := x.root.begins(w, leastCut-1)
	return at != nil && at.leads(leastCut-1, left, func(*value) bool { return true })
}

// seams reports whether a form may span an end of run, which is written between left and right.
// After right there are pad blanks. nil has no forms.
func (x *index) seams(left []byte, run string, right []byte, pad int) bool {
	if x == nil {
		return false
	}
	w := pack(left)
	for i := range min(len(run), gateLen-1) {
		if w = w<<8 | uint64(run[i]); x.has(w) {
			return true
		}
	}
	if len(run) >= gateLen {
		w = pack(run)
	}
	for i := range min(len(right)+pad, gateLen-1) {
		c := byte(' ')
		if i < len(right) {
			c = right[i]
		}
		if w = w<<8 | uint64(c); x.has(w) {
			return true
		}
	}
	return false
}

// in reports whether a form may begin in text.
func (x *index) in(text []byte) bool {
	if x == nil {
		return false
	}
	w := uint64(0)
	for _, c := range text {
		if w = w<<8 | uint64(c); x.has(w) {
			return true
		}
	}
	return false
}

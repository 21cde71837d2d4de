package redact

import (
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"
)

// An index finds known values in a text. What a text costs does not depend on how many values there
// are: a gate tells at each byte, in constant time, whether a value may begin there, and only where it
// says so the tree is walked. The tree is persistent: whoever reads keeps the one it has, and a value
// is added or removed by copying the path to it.
type index struct {
	gate *gate
	root *node
	wide bool // a form has bytes that are no ASCII where the gate looks
}

// node is a place in the tree of all forms of all values.
type node struct {
	label  string   // the bytes that lead here from the node above
	values []*value // of which a form ends here
	next   []*node  // by the first byte of their labels
}

func (n *node) child(c byte) (i int, found bool) {
	return slices.BinarySearchFunc(n.next, c, func(x *node, c byte) int { return int(x.label[0]) - int(c) })
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

// leads reports whether from n, of whose label the last skip bytes are still to come, a form goes on, in
// at most so many bytes, of a value that ok takes.
func (n *node) leads(most, skip int, ok func(*value) bool) bool {
	return skip > 0 && skip <= most && slices.ContainsFunc(n.values, ok) || n.any(most-skip, ok)
}

// any is leads for the nodes below n.
func (n *node) any(most int, ok func(*value) bool) bool {
	for _, x := range n.next {
		if left := most - len(x.label); left >= 0 && (slices.ContainsFunc(x.values, ok) || x.any(left, ok)) {
			return true
		}
	}
	return false
}

// walk follows text from its beginning and tells found of each value that begins there, by the length
// of its form. It returns where text ended inside of a form: below rest, which skip bytes of its label
// lead to; nil when it did not.
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

const (
	// gateLen is how many bytes of a form the gate knows. A shorter form is known whole. More would
	// catch fewer texts that only begin as a value does, and cost more at each end of a line.
	gateLen = 8
	// perKey is how many bits of each of its tables the gate has for one form: near then lets less
	// than 1 of 100 places of a text through, and far less than 1 of 500 of these.
	perKey = 128
	// leastGate is how many forms a gate has room for at first: 2 KiB a table.
	leastGate = 128
)

// A gate tells which places of a text are worth a walk through the tree. It is asked with the last
// eight bytes read, the newest in the low byte, and errs on the safe side only: it may let through what
// is no value. Bits are set before the tree is published that needs them, and never cleared: a gate
// with too many that are stale is replaced. Methods but add may be called by any number of goroutines.
type gate struct {
	near  []atomic.Uint64 // by the last four of the bytes that the gate knows of a form
	far   []atomic.Uint64 // by all of them and their number: a Bloom filter (B. H. Bloom, 1970)
	shift uint8           // from a hash of 32 bits to a bit's number
	lens  atomic.Uint32   // bit n: some form is known by n bytes
	cuts  atomic.Uint32   // bit n: some form has a beginning of n bytes that is not to be overlooked
	keys  int             // forms that were added; guarded by Known.mu
	room  int             // how many it is made for
}

func newGate(forms int) *gate {
	room := leastGate
	for room < forms {
		room *= 2
	}
	table := room * perKey
	return &gate{
		near: make([]atomic.Uint64, table/64), far: make([]atomic.Uint64, table/64),
		shift: uint8(32 - bits.Len(uint(table-1))), room: room,
	}
}

// beginning marks the keys of far that stand for a form's beginning and not for all that is known of it.
const beginning = 16

// add lets a form through.
func (g *gate) add(form string) {
	g.keys++
	known := form[:min(len(form), gateLen)]
	i := nearHash(pack(known)) >> g.shift
	g.near[i>>6].Or(1 << (i & 63))
	g.set(pack(known), len(known))
	g.lens.Or(1 << len(known))
	for n := min(leastPart(form), leastCut); n < len(known); n++ {
		g.set(pack(known[:n]), n+beginning)
		g.cuts.Or(1 << n)
	}
}

// pack is the last bytes of s as the gate is asked with them.
func pack(s string) (w uint64) {
	for i := max(0, len(s)-gateLen); i < len(s); i++ {
		w = w<<8 | uint64(s[i])
	}
	return w
}

func nearHash(w uint64) uint32 { return uint32(w) * 0x9e3779b1 } // D. E. Knuth's multiplicative hash

// probes is how many bits of far stand for a key.
const probes = 3

func farHash(key uint64, kind int) (first, step uint32) {
	h := (key + uint64(kind)<<59 + uint64(kind)) * 0x9e3779b97f4a7c15
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return uint32(h), uint32(h>>32) | 1
}

func (g *gate) set(key uint64, kind int) {
	h, step := farHash(key, kind)
	for range probes {
		i := h >> g.shift
		g.far[i>>6].Or(1 << (i & 63))
		h += step
	}
}

func (g *gate) among(key uint64, kind int) bool {
	h, step := farHash(key, kind)
	for range probes {
		i := h >> g.shift
		if g.far[i>>6].Load()&(1<<(i&63)) == 0 {
			return false
		}
		h += step
	}
	return true
}

// has reports whether the text that w ends has just shown all that the gate knows of some form.
func (g *gate) has(w uint64) bool { return g.lets(w) && g.sure(w) }

// lets is a first look: small enough to be inlined where it is asked for each byte.
func (g *gate) lets(w uint64) bool {
	i := nearHash(w) >> g.shift
	return g.near[i>>6].Load()>>(i&63)&1 != 0
}

func (g *gate) sure(w uint64) bool {
	for lens := g.lens.Load(); lens != 0; lens &= lens - 1 {
		if n := bits.TrailingZeros32(lens); g.among(lastOf(w, n), n) {
			return true
		}
	}
	return false
}

// lastOf is the last n bytes of w.
func lastOf(w uint64, n int) uint64 { return w & (1<<(8*n) - 1) }

// cut reports whether a text that w ends may end in the beginning of a form that goes on elsewhere.
// nil has no forms.
func (g *gate) cut(w uint64) bool {
	if g == nil {
		return false
	}
	for cuts := g.cuts.Load(); cuts != 0; cuts &= cuts - 1 {
		if n := bits.TrailingZeros32(cuts); g.among(lastOf(w, n), n+beginning) {
			return true
		}
	}
	return false
}

// seams reports whether a form may stand across an end of run, which is written between left and right.
// Behind right stand pad blanks. nil has no forms.
func (g *gate) seams(left []byte, run string, right []byte, pad int) bool {
	if g == nil {
		return false
	}
	w := uint64(0)
	for _, c := range left[max(0, len(left)-gateLen):] {
		w = w<<8 | uint64(c)
	}
	for i := range min(len(run), gateLen-1) {
		if w = w<<8 | uint64(run[i]); g.has(w) {
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
		if w = w<<8 | uint64(c); g.has(w) {
			return true
		}
	}
	return false
}

// in reports whether a form may begin in text.
func (g *gate) in(text []byte) bool {
	if g == nil {
		return false
	}
	w := uint64(0)
	for _, c := range text {
		if w = w<<8 | uint64(c); g.has(w) {
			return true
		}
	}
	return false
}

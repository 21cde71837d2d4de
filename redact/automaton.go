package redact

import (
	"unicode/utf8"

	"github.com/ptywright/ptywright/redact/internal/rules"
)

// automaton finds every keyword of every rule in one pass over a text (Aho and Corasick, 1975).
// ASCII case is folded. It is a dense table over classes of bytes: two dependent loads per byte
// however many keywords there are, which is what lets the rule table grow.
type automaton struct {
	class [256]uint8 // byte -> column; 0 is every byte that is in no keyword
	cols  int
	// fast has the transitions: state + class -> state, with fastMark set where a keyword ends. A
	// state is its number multiplied by cols, which saves that step for each byte.
	fast []uint32
	out  [][]hit   // by number
	deep []uint8   // by state: the length of the longest keyword beginning that ends there
	part []uint8   // by number: the length of a literal's beginning that ends there; 0: too short to hide
	stop [256]bool // where a first look stops: controls, and possible beginnings of an invisible character or a border
	wide bool      // a keyword has non-ASCII bytes
	// behind has the bytes that follow one of those in a keyword.
	behind [256]bool
	parts  bool   // there is a literal whose beginning must be hidden
	pairs  []bool // column*cols + column: the two follow each other in a keyword

	// While it is built:
	next  []uint16 // number*cols + class -> number
	depth []uint8  // by number
}

// hit is one keyword of one rule.
type hit struct {
	rule int
	word string
}

// fastMark is set in a transition whose target ends a keyword, so that the common step only reads
// the transition itself.
const fastMark = 1 << 31

func newAutomaton(table []rules.Rule) *automaton {
	a := &automaton{cols: 1}
	most := 1 // states
	for _, r := range table {
		for _, w := range r.Keywords {
			most += min(len(w), rules.MaxKeyword)
			for i := range min(len(w), rules.MaxKeyword) {
				c := rules.Fold(w[i])
				a.wide = a.wide || c >= utf8.RuneSelf
				if a.class[c] == 0 {
					a.class[c] = uint8(a.cols) // at most 230 folded bytes exist
					a.cols++
				}
			}
		}
	}
	for c := byte('a'); c <= 'z'; c++ {
		a.class[c-'a'+'A'] = a.class[c]
	}
	a.pairs = make([]bool, a.cols*a.cols)
	a.next = make([]uint16, 0, most*a.cols)
	a.out, a.depth, a.part = make([][]hit, 0, most), make([]uint8, 0, most), make([]uint8, 0, most)
	a.add()
	for i, r := range table {
		for _, w := range r.Keywords {
			a.insert(w, i, r.Tier == rules.Given)
		}
	}
	a.link()
	return a
}

func (a *automaton) add() uint16 {
	a.next = a.next[:len(a.next)+a.cols] // there is room: see newAutomaton
	a.out, a.depth, a.part = append(a.out, nil), append(a.depth, 0), append(a.part, 0)
	return uint16(len(a.out) - 1)
}

func (a *automaton) insert(word string, rule int, literal bool) {
	state := uint16(0)
	for i := range min(len(word), rules.MaxKeyword) {
		at := int(state)*a.cols + int(a.class[word[i]])
		if i > 0 {
			a.behind[rules.Fold(word[i])] = a.behind[rules.Fold(word[i])] ||
				word[i-1] >= utf8.RuneSelf
			a.pairs[int(a.class[word[i-1]])*a.cols+int(a.class[word[i]])] = true
		}
		if a.next[at] == 0 {
			a.next[at] = a.add()
		}
		state = a.next[at]
		a.depth[state] = uint8(i + 1)
		if literal && i+1 >= rules.LeastPart(word) {
			a.part[state], a.parts = uint8(i+1), true
		}
	}
	a.out[state] = append(a.out[state], hit{rule, word})
}

// link turns the tree of keywords into the automaton: breadth first, each missing transition
// becomes that of the longest proper suffix that is also in the tree.
func (a *automaton) link() {
	fail := make([]uint16, len(a.out))
	queue := make([]uint16, 0, len(a.out))
	for c := range a.cols {
		if s := a.next[c]; s != 0 {
			queue = append(queue, s)
		}
	}
	for i := 0; i < len(queue); i++ {
		s := int(queue[i])
		f := int(fail[s])
		if len(a.out[f]) > 0 {
			a.out[s] = append(a.out[s], a.out[f]...)
		}
		a.part[s] = max(a.part[s], a.part[f])
		from := a.next[f*a.cols : (f+1)*a.cols]
		for c, t := range a.next[s*a.cols : (s+1)*a.cols] {
			if t != 0 {
				fail[t] = from[c]
				queue = append(queue, t)
			} else {
				a.next[s*a.cols+c] = from[c]
			}
		}
	}
	a.fast = make([]uint32, len(a.next))
	for i, s := range a.next {
		if a.fast[i] = uint32(int(s) * a.cols); a.out[s] != nil {
			a.fast[i] |= fastMark
		}
	}
	a.deep = make([]uint8, len(a.next))
	for s, d := range a.depth {
		a.deep[s*a.cols] = d
	}
	a.next, a.depth = nil, nil
	for c := range 256 {
		a.stop[c] = c < 0x20 && c != '\t' || c == 0x7f || mayHide[c]
	}
}

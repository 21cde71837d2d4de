package vt

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// stateVersion is the first byte of a state. A release that writes anything else, or the same with
// another meaning, counts it up and goes on reading what the older ones wrote: testdata/states has
// states of each. That includes the numbers of constants (parser states, attributes, modes): new
// ones come after those there are.
const stateVersion = 1

// AppendState appends the terminal's state to dst: everything that decides what it shows and how it
// goes on, as [Load] reads it, with sequences, scrollback, a synchronized update and a sequence
// that is cut off. The Effect of the last call is not part of it: nothing that comes later depends
// on it. The screens of real programs take 1 to 8 KB, scrollback what it takes in memory. The state
// holds the program's text, unredacted.
func (t *Terminal) AppendState(dst []byte) []byte { return t.appendState(dst, t.history, false) }

// AppendScreenState is AppendState without the scrollback but for its newest lines, at most 16 KiB
// of them: the others are lost to the terminal that is loaded, as if they had been too many.
func (t *Terminal) AppendScreenState(dst []byte) []byte {
	return t.appendState(dst, t.history.newest(), true)
}

func (t *Terminal) appendState(dst []byte, h history, newest bool) []byte {
	c := codec{b: append(dst, stateVersion), t: t, newest: newest}
	c.terminal(t, &h)
	return c.b
}

// Load returns the terminal whose state was appended by this release or an older one: fed the same,
// it goes on as that one does. Anything else is refused with a [*StateError]. A state may come from
// anywhere: loading it takes memory for the screens that it names, at most 16 bytes a cell of each
// with what a resize has cropped, and otherwise in proportion to its length. The state is not
// retained.
func Load(state []byte) (*Terminal, error) {
	if len(state) == 0 || state[0] != stateVersion {
		e := &StateError{}
		if len(state) > 0 {
			e.Version = state[0]
		}
		return nil, e
	}
	t := &Terminal{}
	t.frame = 1
	c := codec{b: state[1:], all: len(state), loading: true, t: t}
	c.terminal(t, &t.history)
	c.must(len(c.b) == 0, "its end")
	if c.failed() {
		return nil, c.err
	}
	return t, nil
}

// terminal writes or reads t with scrollback h.
func (c *codec) terminal(t *Terminal, h *history) {
	number(c, &t.rows, MaxSide, "rows")
	number(c, &t.cols, MaxSide, "columns")
	c.must(t.rows > 0 && t.cols > 0, "size")
	if c.failed() {
		return
	}
	c.settings(t)
	number(c, &t.seq, lineMost, "sequence")
	number(c, &t.updates, lineMost, "updates")

	alt, there, shown := t.grid == &t.alt, t.alt.rows != nil, t.shownOn == &t.alt
	c.bools("screens", &alt, &there, &shown, &t.held, &t.saved, &t.moved, &t.syncSet)
	c.must(there || !alt, "screens")
	between := !t.saved && !t.moved && shown == alt // no frame is under way
	c.must(between || t.held && !(t.saved && t.moved), "synchronized update")
	if c.loading {
		t.grid, t.shownOn = &t.main, &t.main
		if alt {
			t.grid = &t.alt
		}
		if shown {
			t.shownOn = &t.alt
		}
	}

	c.parser(&t.parser)
	c.pen(&t.pen)
	c.margins(t)
	c.cursor(&t.cursor)
	atEdge := t.cursor.col == t.cols-1 || t.sides.set && t.cursor.col == t.sides.right
	c.must(atEdge || !t.cursor.pending, "cursor")
	c.modes(&t.modes)
	c.tabs(t)
	c.charsets(&t.charsets)
	work := min(t.work, workSaved) // more counts as that: see pay
	if number(c, &work, workSaved, "work"); c.loading {
		t.work = work
	}
	number(c, &t.last, utf8.MaxRune, "last character")
	c.must(t.last == 0 || printable(t.last), "last character")
	c.joint(&t.joint)
	c.savedCursor(&t.main.saved)
	c.savedCursor(&t.alt.saved)
	c.titles(t)
	for i := range t.kitty {
		c.kitty(&t.kitty[i])
	}
	c.history(h)
	if c.failed() {
		return
	}

	if c.loading {
		t.zero = make([]cell, t.cols)
		t.main.rows = make([]*row, t.rows)
		if there {
			t.alt.rows = make([]*row, t.rows)
		}
	}
	c.rows(t.main.rows)
	if there {
		c.rows(t.alt.rows)
	}
	switch {
	case c.failed():
	case t.held:
		c.held(t, h)
	case c.loading:
		t.shown = t.visible()
	}
}

// settings are what the terminal was made with, and its size in pixels.
func (c *codec) settings(t *Terminal) {
	number(c, &t.pixelWidth, math.MaxInt, "pixels")
	number(c, &t.pixelHeight, math.MaxInt, "pixels")
	number(c, &t.profile, Conformance, "profile")
	c.bools("settings", &t.programStatus)
	number(c, &t.theme, Theme(len(themes)-1), "theme")
	name := versionName(t.version)
	if c.text(&name, 64, "version"); c.loading {
		t.version = versionReply(name)
		c.must(versionName(t.version) == name, "version")
	}
}

// versionName returns the version that a reply to XTVERSION was made of.
func versionName(reply string) string {
	_, name, _ := strings.Cut(reply, "(")
	name, _, _ = strings.Cut(name, ")")
	return name
}

// parser writes or reads what matters in the parser's state: what was read of a sequence, a string
// or a character.
func (c *codec) parser(s *parser) {
	number(c, &s.state, stateSkipEscape, "parser")
	switch s.state {
	case stateEscape, stateEscapeIntermediate:
		c.intermediates(s)
	case stateCSIEntry, stateCSIParam, stateCSIIntermediate, stateCSIIgnore,
		stateDCSEntry, stateDCSParam, stateDCSIntermediate:
		number(c, &s.prefix, '?', "prefix")
		c.must(s.prefix == 0 || s.prefix >= '<', "prefix")
		c.intermediates(s)
		number(c, &s.nParams, maxParams, "parameters")
		c.must(s.nParams > 0 || s.state != stateCSIParam, "parameters")
		for i := range s.nParams {
			number(c, &s.params[i], maxParam, "parameter")
		}
		number(c, &s.colon, math.MaxUint32, "parameters")
		c.bools("parameters", &s.overflow)
	case stateOSC, stateOSCEscape, stateString, stateStringEscape:
		osc, kind := s.state == stateOSC || s.state == stateOSCEscape, s.kind
		if osc {
			kind = 0 // that of an earlier string
		}
		if number(c, &kind, kindTitle, "string"); c.loading {
			s.kind = kind
		}
		c.bools("string", &s.strLong)
		str := c.bytes(s.str, clipboardMax, "string")
		if c.loading {
			long := osc && bytes.HasPrefix(str, clipboardPrefix)
			c.must(len(str) <= stringMax || long, "string")
			c.must(utf8.Valid(str), "string")
			s.str = slices.Clone(str)
		}
	}
	begun := c.bytes(s.utf8.begun(), utf8.UTFMax-1, "character")
	if !c.loading || len(begun) == 0 {
		return
	}
	c.must(s.state == stateGround || s.state == stateOSC || s.state == stateString, "character")
	good := s.utf8.start(begun[0])
	for _, b := range begun[1:] {
		good = good && s.utf8.need > 0 && s.utf8.next(b)
	}
	c.must(good && s.utf8.need > 0, "character")
}

// begun returns the bytes of the character that was begun.
func (u *utf8State) begun() []byte {
	r, tail := u.r, func(shift int) byte { return 0x80 | byte(u.r>>shift&0x3f) }
	switch {
	case u.need == 1 && r < 0x20:
		return []byte{0xc0 | byte(r)}
	case u.need == 1 && r < 0x400:
		return []byte{0xe0 | byte(r>>6), tail(0)}
	case u.need == 1:
		return []byte{0xf0 | byte(r>>12), tail(6), tail(0)}
	case u.need == 2 && r < 0x10:
		return []byte{0xe0 | byte(r)}
	case u.need == 2:
		return []byte{0xf0 | byte(r>>6), tail(0)}
	case u.need == 3:
		return []byte{0xf0 | byte(r)}
	}
	return nil
}

func (c *codec) intermediates(s *parser) {
	n := min(s.nInter, len(s.intermediates)+1) // how many too many makes no difference
	if number(c, &n, len(s.intermediates)+1, "intermediates"); c.loading {
		s.nInter = n
	}
	for i := range min(n, len(s.intermediates)) {
		number(c, &s.intermediates[i], '/', "intermediates")
		c.must(s.intermediates[i] >= ' ', "intermediates")
	}
}

// printable reports whether a cell can hold r.
func printable(r rune) bool {
	return r >= 0x20 && (r < 0x7f || r >= 0xa0) && utf8.ValidRune(r)
}

func (c *codec) pen(p *pen) {
	c.colour((*Color)(&p.fg), "colour")
	c.colour((*Color)(&p.bg), "colour")
	c.colour(&p.underline, "colour")
	number(c, &p.attr, math.MaxUint32, "attributes")
	c.must(p.attr&^attrProtected == validStyle(p.attr), "attributes")
}

// validStyle returns the attributes of a that a Style shows; an underline that does not exist is
// none of them.
func validStyle(a uint32) uint32 {
	if UnderlineStyle(a&attrUnderlineMask>>attrUnderlineShift) > UnderlineDashed {
		a &^= attrUnderlineMask
	}
	return a & attrStyle
}

// margins writes or reads all four.
func (c *codec) margins(t *Terminal) {
	number(c, &t.top, t.rows-1, "margins")
	number(c, &t.bottom, t.rows-1, "margins")
	c.must(t.top < t.bottom || t.rows == 1, "margins")
	c.bools("margins", &t.sides.set)
	number(c, &t.sides.left, t.cols-1, "margins")
	number(c, &t.sides.right, t.cols-1, "margins")
	c.must(t.sides.left < t.sides.right || !t.sides.set && t.sides == sides{}, "margins")
}

func (c *codec) cursor(p *cursor) {
	number(c, &p.row, c.t.rows-1, "cursor")
	number(c, &p.col, c.t.cols-1, "cursor")
	c.bools("cursor", &p.pending)
}

func (c *codec) savedCursor(s *savedCursor) {
	c.bools("saved cursor", &s.set, &s.origin)
	if !s.set {
		c.must(!s.origin, "saved cursor")
		return
	}
	c.cursor(&s.cursor)
	c.pen(&s.pen)
	c.charsets(&s.charsets)
}

func (c *codec) charsets(s *charsets) {
	for i := range s.g {
		number(c, &s.g[i], charsetUK, "character sets")
	}
	number(c, &s.gl, 3, "character sets")
	number(c, &s.single, 3, "character sets")
}

func (c *codec) joint(j *joint) {
	number(c, &j.class, propClassMask, "cluster")
	c.bools("cluster", &j.open, &j.pict, &j.regionals)
	number(c, &j.conjunct, 2, "cluster")
}

// modes writes or reads the modes; those that XTSAVE has saved by their numbers, as their order in
// the table may change.
func (c *codec) modes(m *modes) {
	c.bools("modes",
		&m.autoWrap, &m.reverseWrap, &m.origin, &m.insert, &m.newLine,
		&m.appCursor, &m.appKeypad, &m.backarrowBS,
		&m.bracketedPaste, &m.focusEvents, &m.alternateScroll,
		&m.reverseVideo, &m.cursorVisible, &m.cursorBlink,
		&m.inBandResize, &m.graphemes, &m.allow132, &m.columns132,
		&m.sideMargins, &m.reverseWrapAny, &m.themeReports)
	number(c, &m.mouse, MouseAny, "mouse mode")
	number(c, &m.mouseEncoding, MouseEncodingPixels, "mouse mode")
	number(c, &m.cursorShape, CursorBar, "cursor's style")
	number(c, &m.cursorStyle, 6, "cursor's style")
	number(c, &m.modifyOtherKeys, 2, "modified keys")
	if !c.loading {
		for i, mode := range decModes {
			if m.savedModes>>i&1 != 0 {
				c.uint(uint64(mode.number), maxParam, "")
			}
		}
	}
	for {
		n := c.uint(0, maxParam, "saved modes")
		if n == 0 {
			return
		}
		i := findMode(int(n))
		if i < 0 {
			c.fail("saved modes")
			return
		}
		m.savedModes |= 1 << i
	}
}

func (c *codec) tabs(t *Terminal) {
	n := len(t.tabs)
	number(c, &n, MaxSide, "tabs")
	bits := make([]byte, (n+7)/8)
	for x, set := range t.tabs {
		if set {
			bits[x/8] |= 1 << (x % 8)
		}
	}
	bits = c.bytes(bits, len(bits), "tabs")
	if c.loading && n > 0 {
		c.must(len(bits) == (n+7)/8, "tabs")
		if c.failed() {
			return
		}
		t.tabs = make([]bool, n)
		for x := range t.tabs {
			t.tabs[x] = bits[x/8]>>(x%8)&1 != 0
		}
	}
}

// titles writes or reads the title, those saved, and the link.
func (c *codec) titles(t *Terminal) {
	c.bools("title", &t.titleSet)
	c.text(&t.title, titleMax, "title")
	n := c.count(len(t.titleStack), 2, "titles")
	c.must(n <= titleStackMax, "titles")
	if c.loading && n > 0 {
		t.titleStack = make([]savedTitle, min(n, titleStackMax))
	}
	for i := range t.titleStack {
		c.bools("titles", &t.titleStack[i].set)
		c.text(&t.titleStack[i].text, titleMax, "titles")
	}
	c.text(&t.link, linkMax, "link")
}

func (c *codec) kitty(k *kittyStack) {
	number(c, &k.flags, kittyAllFlags, "keyboard flags")
	number(c, &k.n, kittyStackMax, "keyboard flags")
	for i := range k.n {
		number(c, &k.stack[i], kittyAllFlags, "keyboard flags")
	}
}

package vt

// control executes a C0 control.
func (t *Terminal) control(c byte) {
	t.last = 0
	t.work += workEarned
	t.joint = joint{}
	switch c {
	case 0x07:
		t.effect.Bell++
	case 0x08:
		t.left(1)
	case 0x09:
		t.tab(1)
	case 0x0a, 0x0b, 0x0c:
		t.lineFeed()
		if t.modes.newLine {
			t.carriageReturn()
		}
	case 0x0d:
		t.carriageReturn()
	case 0x0e:
		t.charsets.gl = 1
	case 0x0f:
		t.charsets.gl = 0
	}
}

// escape executes ESC c.
func (t *Terminal) escape(c byte) {
	t.last = 0
	t.work += workEarned
	t.joint = joint{}
	cur := &t.cursor
	switch c {
	case '6': // DECBI
		t.columnIndex(-1)
	case '7':
		t.saveCursor()
	case '8':
		t.restoreCursor()
	case '9': // DECFI
		t.columnIndex(1)
	case 'D':
		t.lineFeed()
	case 'E':
		t.lineFeed()
		t.carriageReturn()
	case 'H':
		t.tabStops()[cur.col] = true
	case 'M':
		t.reverseIndex()
		cur.pending = false
	case 'N':
		t.charsets.single = 2
	case 'O':
		t.charsets.single = 3
	case 'Z': // DECID
		t.replyDA1()
	case 'c':
		t.hardReset()
	case '=':
		t.modes.appKeypad = true
	case '>':
		t.modes.appKeypad = false
	case 'n':
		t.charsets.gl = 2
	case 'o':
		t.charsets.gl = 3
	}
}

// escapeIntermediate executes ESC with intermediate bytes.
func (t *Terminal) escapeIntermediate(c byte) {
	t.last = 0
	t.joint = joint{}
	s := &t.parser
	if s.nInter > 2 {
		return
	}
	switch i := s.intermediates[0]; i {
	case '(', ')', '*', '+':
		if s.nInter == 1 {
			t.charsets.designate(int(i-'('), c)
		} else {
			t.charsets.designate(int(i-'('), 0)
		}
	case '#':
		if c == '8' && s.nInter == 1 {
			t.alignmentPattern()
		}
	}
}

// alignmentPattern is DECALN: the screen full of E, margins and cursor reset. All rows share one
// row, so it costs no more than the number of rows plus columns.
func (t *Terminal) alignmentPattern() {
	t.taking(0, t.rows-1, 0, t.cols)
	t.resetMargins()
	t.modes.origin = false
	t.cursor = cursor{}
	t.touch()
	t.replaceAll(0, t.rows, t.patternRow(cell{lo: 'E'}))
	for y := 0; y < t.rows && t.tracked(); y++ {
		t.moments.mark(y, 0, t.cols)
	}
}

// hardReset is RIS.
func (t *Terminal) hardReset() {
	t.release()
	t.leaving()
	t.syncSet = false
	t.toMain(false)
	t.alt.rows = nil
	t.reset()
	t.title, t.titleSet = "", false
	t.eraseRows(0, t.rows)
	t.history.clear()
	t.event(Event{Kind: EventErase})
}

// softReset is DECSTR: what the VT520 manual's table lists, and what xterm resets as well: reverse
// wraparound and the cursor's shape.
func (t *Terminal) softReset() {
	m := &t.modes
	m.cursorVisible, m.insert, m.origin, m.autoWrap = true, false, false, true
	m.appKeypad, m.appCursor, m.sideMargins = false, false, false
	m.reverseWrap, m.reverseWrapAny = false, false
	m.cursorShape, m.cursorBlink, m.cursorStyle = CursorBlock, false, 0
	t.resetMargins()
	t.charsets = charsets{}
	t.pen = pen{}
	t.link = ""
	t.grid.saved = savedCursor{}
}

func (t *Terminal) saveCursor() {
	t.grid.saved = savedCursor{t.cursor, t.pen, t.charsets, t.modes.origin, true}
}

// restoreCursor is DECRC; if none was saved, the cursor goes home (VT520 manual). A pending wrap is
// restored too (DEC STD 070, xterm, alacritty; xterm.js and tmux forget it).
func (t *Terminal) restoreCursor() {
	s := t.grid.saved
	t.pen, t.charsets, t.modes.origin = s.pen, s.charsets, s.origin
	t.cursor = clampCursor(s.cursor, t.rows, t.cols)
	t.cursor.pending = s.cursor.pending && t.cursor.col == t.edge()
}

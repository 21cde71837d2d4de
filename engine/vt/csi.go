package vt

// dispatchCSI executes a control sequence: prefix, parameters and intermediates are in the parser.
func (t *Terminal) dispatchCSI(final byte) {
	s := &t.parser
	last := t.last
	t.last = 0
	if final != 'm' { // as in ground, which handles most of them itself
		t.joint = joint{}
		t.work += workEarned
	}
	// Only SGR has sub-parameters. Elsewhere they mean nothing (ECMA-48 5.4.2), and read as
	// parameters they would mean something else.
	if s.colon != 0 && (final != 'm' || s.prefix != 0 || s.nInter > 0) {
		return
	}
	if s.nInter > 0 {
		t.csiIntermediate(final)
		return
	}
	if s.prefix != 0 {
		t.csiPrivate(final)
		return
	}
	n := s.param(0, 1)
	switch final {
	case 'm':
		t.sgr()
	case 'H', 'f':
		t.moveTo(n-1, s.param(1, 1)-1)
	case 'A':
		t.up(n)
	case 'B':
		t.down(n)
	case 'e': // a position, so the margins count in origin mode only
		t.moveTo(t.reportedRow()-1+n, t.reportedCol()-1)
	case 'C':
		t.right(n)
	case 'a': // a position too
		t.moveToCol(t.reportedCol() - 1 + n)
	case 'D':
		t.left(n)
	case 'E':
		t.down(n)
		t.carriageReturn()
	case 'F':
		t.up(n)
		t.carriageReturn()
	case 'G', '`':
		t.moveToCol(n - 1)
	case 'd':
		t.moveTo(n-1, t.reportedCol()-1)
	case 'I':
		t.tab(n)
	case 'Z':
		t.backTab(n)
	case 'J':
		t.eraseInDisplay(s.param(0, 0))
	case 'K':
		t.eraseInLine(s.param(0, 0))
	case 'X':
		t.eraseCells(n)
	case '@':
		t.insertCells(n)
	case 'P':
		t.deleteCells(n)
	case 'L':
		t.insertLines(n)
	case 'M':
		t.deleteLines(n)
	case 'S':
		t.scrollUpBy(n)
	case 'T':
		// A zero, or more than one parameter, is xterm's highlight mouse tracking.
		if s.nParams == 0 || s.nParams == 1 && s.params[0] != 0 {
			t.scrollDown(t.top, t.bottom, n)
		}
	case '^':
		t.scrollDown(t.top, t.bottom, n)
	case 'b':
		t.last = last
		t.repeat(n)
	case 'r':
		t.setMargins(n, s.param(1, t.rows))
	case 's':
		if t.modes.sideMargins {
			t.setSides(n, s.param(1, t.cols))
		} else if s.nParams == 0 { // with parameters: DECSLRM
			t.saveCursor()
		}
	case 'u':
		if s.nParams == 0 {
			t.restoreCursor()
		}
	case 'g':
		t.clearTabs(s.param(0, 0))
	case 'h', 'l':
		for i := range max(s.nParams, 1) {
			t.setANSIMode(s.param(i, 0), final == 'h')
		}
	case 'n':
		t.statusReport()
	case 'c':
		if s.param(0, 0) == 0 {
			t.replyDA1()
		}
	case 't':
		t.windowOp()
	case 'x':
		if k := s.param(0, 0); k <= 1 { // DECREQTPARM
			t.answer("\x1b[%d;1;1;128;128;1;0x", k+2)
		}
	}
}

// csiPrivate executes a sequence with < = > or ? before its parameters.
func (t *Terminal) csiPrivate(final byte) {
	s := &t.parser
	switch s.prefix {
	case '?':
		switch final {
		case 'h', 'l':
			for i := range s.nParams {
				t.setMode(s.param(i, 0), final == 'h')
			}
		case 'J':
			t.selectiveErase(s.param(0, 0), true)
		case 'K':
			t.selectiveErase(s.param(0, 0), false)
		case 'n':
			t.statusReportDEC()
		case 's':
			t.saveModes()
		case 'r':
			t.restoreModes()
		case 'u':
			t.answer("\x1b[?%du", int(t.kittyFlags()))
		case 'm': // XTQMODKEYS
			if s.param(0, 0) == 4 {
				t.answer("\x1b[>4;%dm", int(t.modes.modifyOtherKeys))
			}
		case 'W': // DECST8C
			if s.param(0, 0) == 5 {
				t.tabs = nil
			}
		}
	case '>':
		switch final {
		case 'c':
			if s.param(0, 0) == 0 {
				t.answer("\x1b[>0;276;0c")
			}
		case 'q':
			if s.param(0, 0) == 0 {
				t.answer(t.version)
			}
		case 'm': // XTMODKEYS
			if k := s.param(0, 0); k == 4 || k == 0 {
				t.modes.modifyOtherKeys = 0
				if v := s.param(1, 0); k == 4 && v <= 2 {
					t.modes.modifyOtherKeys = uint8(v)
				}
			}
		case 'n': // XTMODKEYS off
			if s.param(0, 0) == 4 {
				t.modes.modifyOtherKeys = 0
			}
		case 'u':
			t.kittyPush(s.param(0, 0))
		}
	case '<':
		if final == 'u' {
			t.kittyPop(s.param(0, 1))
		}
	case '=':
		switch final {
		case 'c':
			if s.param(0, 0) == 0 {
				t.answer("\x1bP!|00000000\x1b\\")
			}
		case 'u':
			t.kittySet(s.param(0, 0), s.param(1, 1))
		}
	}
}

// csiIntermediate executes a sequence with intermediate bytes.
func (t *Terminal) csiIntermediate(final byte) {
	s := &t.parser
	if s.nInter > 1 {
		return
	}
	switch i := s.intermediates[0]; {
	case i == '$' && final == 'p' && s.prefix == '?':
		t.answer("\x1b[?%d;%d$y", s.param(0, 0), t.modeState(s.param(0, 0)))
	case i == '$' && final == 'p' && s.prefix == 0:
		t.answer("\x1b[%d;%d$y", s.param(0, 0), t.ansiModeState(s.param(0, 0)))
	case i == '!' && final == 'p' && s.prefix == 0:
		t.softReset()
	case i == ' ' && final == '@' && s.prefix == 0 && t.inSides(): // SL
		t.shiftCols(t.sides.left, -s.param(0, 1))
	case i == ' ' && final == 'A' && s.prefix == 0 && t.inSides(): // SR
		t.shiftCols(t.sides.left, s.param(0, 1))
	case i == '\'' && final == '}' && s.prefix == 0 && t.inSides(): // DECIC
		t.shiftCols(t.cursor.col, s.param(0, 1))
	case i == '\'' && final == '~' && s.prefix == 0 && t.inSides(): // DECDC
		t.shiftCols(t.cursor.col, -s.param(0, 1))
	case i == ' ' && final == 'q' && s.prefix == 0:
		t.setCursorStyle(s.param(0, 0))
	case i == '"' && final == 'q' && s.prefix == 0: // DECSCA
		if k := s.param(0, 0); k == 1 {
			t.pen.attr |= attrProtected
		} else if k <= 2 {
			t.pen.attr &^= attrProtected
		}
	case i == '*' && final == 'y' && s.prefix == 0:
		t.checksum()
	}
}

// scrollUpBy is SU. Rows that were never written one by one, blank or a pattern, do not go to the
// scrollback: a sequence of a few bytes must not cost a screenful of it.
func (t *Terminal) scrollUpBy(n int) {
	n = min(n, t.bottom-t.top+1)
	if !t.sides.set {
		t.taking(t.top, t.top+n-1, 0, t.cols)
	}
	if t.top == 0 && t.grid == &t.main && !t.sides.set {
		k := n
		for k > 0 && (t.grid.rows[k-1].pattern || t.grid.rows[k-1].trimmed() == 0) {
			k--
		}
		for _, r := range t.grid.rows[:k] {
			t.history.push(r, t.seq)
		}
	}
	t.scrollUp(t.top, t.bottom, n, false)
	t.breakWrap(t.bottom - n)
}

// setCursorStyle is DECSCUSR.
func (t *Terminal) setCursorStyle(n int) {
	m := &t.modes
	switch {
	case n <= 2:
		m.cursorShape = CursorBlock
	case n <= 4:
		m.cursorShape = CursorUnderline
	case n <= 6:
		m.cursorShape = CursorBar
	default:
		return
	}
	m.cursorStyle = uint8(n)
	m.cursorBlink = n == 0 || n%2 == 1
}

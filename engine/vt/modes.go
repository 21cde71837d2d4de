package vt

// modes are the settings that escape sequences switch.
type modes struct {
	autoWrap, reverseWrap, origin, insert, newLine bool
	appCursor, appKeypad, backarrowBS              bool
	bracketedPaste, focusEvents, alternateScroll   bool
	reverseVideo, cursorVisible, cursorBlink       bool
	inBandResize, graphemes, allow132, columns132  bool
	sideMargins                                    bool // DECLRMM
	reverseWrapAny                                 bool // XTREVWRAP2
	themeReports                                   bool // 2031
	mouse                                          MouseTracking
	mouseEncoding                                  MouseEncoding
	cursorShape                                    CursorShape
	cursorStyle                                    uint8 // parameter of DECSCUSR
	modifyOtherKeys                                uint8
	savedModes                                     uint64 // XTSAVE: bit i is the state of decModes[i]
}

var defaultModes = modes{autoWrap: true, cursorVisible: true, alternateScroll: true}

func (t *Terminal) visibleModes() Modes {
	m := &t.modes
	return Modes{
		AltScreen: t.grid == &t.alt, AppCursor: m.appCursor, AppKeypad: m.appKeypad, BracketedPaste: m.bracketedPaste,
		FocusEvents: m.focusEvents, Mouse: m.mouse, MouseEncoding: m.mouseEncoding, AlternateScroll: m.alternateScroll,
		AutoWrap: m.autoWrap, Origin: m.origin, Insert: m.insert, NewLine: m.newLine, ReverseVideo: m.reverseVideo,
		ReverseWrap: m.reverseWrap, InBandResize: m.inBandResize, GraphemeClusters: m.graphemes,
		BackarrowIsBS: m.backarrowBS, ModifyOtherKeys: m.modifyOtherKeys, KittyKeyboard: t.kittyFlags(),
	}
}

// A decMode is a private mode (DECSET): where its state is kept and what else happens when it is
// set.
type decMode struct {
	number int
	flag   func(t *Terminal) *bool // nil when the state is derived
	get    func(t *Terminal) bool
	set    func(t *Terminal, on bool) // after the flag was set
}

func mouseMode(number int, m MouseTracking) decMode {
	return decMode{number: number,
		get: func(t *Terminal) bool { return t.modes.mouse == m },
		set: func(t *Terminal, on bool) {
			t.modes.mouse = MouseOff
			if on {
				t.modes.mouse = m
			}
		}}
}

func mouseEncodingMode(number int, e MouseEncoding) decMode {
	return decMode{number: number,
		get: func(t *Terminal) bool { return t.modes.mouseEncoding == e },
		set: func(t *Terminal, on bool) {
			if on {
				t.modes.mouseEncoding = e
			} else if t.modes.mouseEncoding == e { // another encoding stays (xterm)
				t.modes.mouseEncoding = MouseEncodingDefault
			}
		}}
}

func altMode(number int) decMode {
	return decMode{number: number,
		get: func(t *Terminal) bool { return t.grid == &t.alt },
		set: func(t *Terminal, on bool) {
			if on != (t.grid == &t.alt) {
				t.leaving()
			}
			if on {
				if number == 1049 {
					t.saveCursor()
					t.cursor.pending = false // xterm clears the screen here, and with it the wrap
				}
				t.toAlt(number == 1049)
				return
			}
			t.toMain(number == 47)
			if number == 1049 && t.main.saved.set {
				t.restoreCursor()
			}
		}}
}

// decModes are the known private modes, sorted by number.
var decModes = [...]decMode{
	{number: 1, flag: func(t *Terminal) *bool { return &t.modes.appCursor }},
	{number: 3, flag: func(t *Terminal) *bool { return &t.modes.columns132 }, set: func(t *Terminal, _ bool) {
		// DECCOLM. The width belongs to the terminal's owner and stays; the rest happens, as in
		// tmux and alacritty.
		t.modes.sideMargins = false
		t.resetMargins()
		t.eraseRows(0, t.rows)
		t.moveTo(0, 0)
	}},
	{number: 5, flag: func(t *Terminal) *bool { return &t.modes.reverseVideo }},
	{number: 6, flag: func(t *Terminal) *bool { return &t.modes.origin }, set: func(t *Terminal, _ bool) { t.moveTo(0, 0) }},
	{number: 7, flag: func(t *Terminal) *bool { return &t.modes.autoWrap }},
	mouseMode(9, MouseX10),
	{number: 12, flag: func(t *Terminal) *bool { return &t.modes.cursorBlink }, set: func(t *Terminal, on bool) {
		// DECRQSS reports the current style.
		t.modes.cursorStyle = 2*uint8(t.modes.cursorShape) + 2
		if on {
			t.modes.cursorStyle--
		}
	}},
	{number: 25, flag: func(t *Terminal) *bool { return &t.modes.cursorVisible }},
	{number: 40, flag: func(t *Terminal) *bool { return &t.modes.allow132 }},
	{number: 45, flag: func(t *Terminal) *bool { return &t.modes.reverseWrap }},
	altMode(47),
	{number: 66, flag: func(t *Terminal) *bool { return &t.modes.appKeypad }},
	{number: 67, flag: func(t *Terminal) *bool { return &t.modes.backarrowBS }},
	{number: 69, flag: func(t *Terminal) *bool { return &t.modes.sideMargins },
		set: func(t *Terminal, on bool) {
			if !on { // setting it again leaves the margins (xterm)
				t.resetSides()
			}
		}},
	mouseMode(1000, MouseNormal),
	mouseMode(1002, MouseButton),
	mouseMode(1003, MouseAny),
	{number: 1004, flag: func(t *Terminal) *bool { return &t.modes.focusEvents }},
	mouseEncodingMode(1005, MouseEncodingUTF8),
	mouseEncodingMode(1006, MouseEncodingSGR),
	{number: 1007, flag: func(t *Terminal) *bool { return &t.modes.alternateScroll }},
	mouseEncodingMode(1015, MouseEncodingURXVT),
	mouseEncodingMode(1016, MouseEncodingPixels),
	{number: 1045, flag: func(t *Terminal) *bool { return &t.modes.reverseWrapAny }},
	altMode(1047),
	{number: 1048, get: func(t *Terminal) bool { return t.grid.saved.set }, set: func(t *Terminal, on bool) {
		if on {
			t.saveCursor()
		} else {
			t.restoreCursor()
		}
	}},
	altMode(1049),
	{number: 2004, flag: func(t *Terminal) *bool { return &t.modes.bracketedPaste }},
	{number: 2026, get: func(t *Terminal) bool { return t.syncSet }, set: func(t *Terminal, on bool) {
		t.syncSet = on
		if on {
			t.hold()
		} else {
			t.release()
		}
	}},
	{number: 2027, flag: func(t *Terminal) *bool { return &t.modes.graphemes }},
	{number: 2031, flag: func(t *Terminal) *bool { return &t.modes.themeReports }},
	{number: 2048, flag: func(t *Terminal) *bool { return &t.modes.inBandResize }, set: func(t *Terminal, on bool) {
		if on {
			t.reportSize()
		}
	}},
}

// fixedModes are private modes that cannot be switched here; true: always set.
var fixedModes = map[int]bool{
	2:    true,  // DECANM: there is no VT52
	4:    false, // DECSCLM: scrolling is not smooth
	8:    false, // DECARM: the keyboard repeats keys
	18:   false, // DECPFF and
	19:   false, // DECPEX: there is no printer
	42:   false, // DECNRCM: characters are Unicode
	95:   false, // DECNCSM: DECCOLM clears
	1001: false, // highlight mouse tracking: it would wait for the program
	1034: false, // Alt sets no eighth bit,
	1036: true,  // Meta
	1039: true,  // and Alt send ESC
	1037: false, // Delete is CSI 3 ~
	1046: true,  // there is an alternate screen
	1050: false, // function keys as terminfo has them,
	1051: false, // Sun's,
	1052: false, // HP's,
	1053: false, // SCO's,
	1060: false, // of X11R6
	1061: false, // and of a VT220: keys are in xterm's PC style
}

// fixedANSIModes are the modes of ECMA-48 that cannot be switched here.
var fixedANSIModes = map[int]bool{
	1: false, 2: false, 3: false, 5: false, 7: false, 10: false, 11: false,
	12: true, // SRM: input is shown only if the program echoes it
	13: false, 14: false, 15: false, 16: false, 17: false, 18: false, 19: false,
}

// fixedState is the answer to DECRQM for a mode that cannot be switched: 3 always set, 4 always
// reset, 0 not known.
func fixedState(modes map[int]bool, number int) int {
	switch set, known := modes[number]; {
	case !known:
		return 0
	case set:
		return 3
	}
	return 4
}

// findMode returns the index of a private mode, -1 for an unknown one.
func findMode(number int) int {
	lo, hi := 0, len(decModes)
	for lo < hi {
		mid := (lo + hi) / 2
		if decModes[mid].number < number {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(decModes) && decModes[lo].number == number {
		return lo
	}
	return -1
}

func (m *decMode) state(t *Terminal) bool {
	if m.flag != nil {
		return *m.flag(t)
	}
	return m.get(t)
}

// setMode is DECSET and DECRST of one mode.
func (t *Terminal) setMode(number int, on bool) {
	i := findMode(number)
	if i < 0 {
		return
	}
	m := &decModes[i]
	if m.flag != nil {
		*m.flag(t) = on
	}
	if m.set != nil {
		m.set(t, on)
	}
}

// modeState is the answer to DECRQM: 0 not known, 1 set, 2 reset, 3 always set, 4 always reset.
func (t *Terminal) modeState(number int) int {
	i := findMode(number)
	if i < 0 {
		return fixedState(fixedModes, number)
	}
	if decModes[i].state(t) {
		return 1
	}
	return 2
}

// saveModes and restoreModes are XTSAVE and XTRESTORE.
func (t *Terminal) saveModes() {
	for i := range t.parser.nParams {
		if k := findMode(t.parser.param(i, 0)); k >= 0 {
			t.modes.savedModes &^= 1 << k
			if decModes[k].state(t) {
				t.modes.savedModes |= 1 << k
			}
		}
	}
}

func (t *Terminal) restoreModes() {
	for i := range t.parser.nParams {
		if k := findMode(t.parser.param(i, 0)); k >= 0 {
			if on := t.modes.savedModes>>k&1 != 0; on != decModes[k].state(t) {
				t.setMode(decModes[k].number, on)
			}
		}
	}
}

func (t *Terminal) ansiMode(number int) *bool {
	switch number {
	case 4:
		return &t.modes.insert
	case 20:
		return &t.modes.newLine
	}
	return nil
}

func (t *Terminal) setANSIMode(number int, on bool) {
	if f := t.ansiMode(number); f != nil {
		*f = on
	}
}

func (t *Terminal) ansiModeState(number int) int {
	switch f := t.ansiMode(number); {
	case f == nil:
		return fixedState(fixedANSIModes, number)
	case *f:
		return 1
	}
	return 2
}

// toAlt shows the alternate screen, cursor in place: with the content that 47 left, or blank.
func (t *Terminal) toAlt(blank bool) {
	if t.grid == &t.alt {
		return
	}
	t.touch()
	t.stampRows()
	t.grid = &t.alt
	if blank || t.alt.rows == nil {
		t.alt.rows = make([]*row, t.rows)
		t.replaceAll(0, t.rows, t.fillRow())
	}
}

// toMain shows the main screen again. Only 47 keeps the alternate one: 1047 clears it on leaving,
// 1049 on entering.
func (t *Terminal) toMain(keep bool) {
	if t.grid == &t.main {
		return
	}
	t.touch()
	t.stampRows()
	t.grid = &t.main
	if !keep {
		t.alt.rows = nil
	}
}

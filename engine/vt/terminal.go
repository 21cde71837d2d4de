package vt

// DefaultScrollback is the number of scrollback lines kept when Options does not say.
const DefaultScrollback = 10_000

// MaxSide bounds rows and columns; New and Resize clamp to 1..MaxSide.
const MaxSide = 1000

// Profile chooses how much a program may ask of the terminal.
type Profile uint8

const (
	// Strict is for servers: queries that could return program text, or let a program inspect the
	// screen, get no answer.
	Strict Profile = iota
	// Conformance also answers DECRQCRA (checksum of a rectangle), which conformance suites use to
	// read the screen. For tests only.
	Conformance
)

// Options of a Terminal. The zero value is what a session wants.
type Options struct {
	// Scrollback is the number of lines kept above the screen: 0 means DefaultScrollback, less than
	// 0 none. They are also bounded to 1 KiB per line on average.
	Scrollback int
	Profile    Profile
	// ProgramStatus answers the query of the Program Status Protocol (OSC 7501 ; ?), which makes
	// programs that know it report their states. Unsolicited reports are always events.
	ProgramStatus bool
	// Theme answers queries of colours.
	Theme Theme
	// Version is what XTVERSION reports besides the name: letters, digits and ".+-_", at most 64
	// bytes; other characters are dropped. "": only the name is reported.
	Version string
}

// An Effect is the result of one Feed or Resize.
type Effect struct {
	// Reply are the terminal's answers, to be written to the program's input in order. At most 8
	// KiB per call; answers beyond that are dropped. Valid until the next Feed or Resize.
	Reply []byte
	// Dirty reports whether a cell, the cursor, a mode, the title or the scrollback differs from
	// what Snapshot last returned. Repainting the same content is not a change.
	Dirty bool
	// Held reports whether the program is inside a synchronized update (mode 2026): Snapshot
	// returns the last complete frame until it ends or Release is called.
	Held bool
	// Bell counts BELs.
	Bell int
	// Events are marks, notifications and the like, in order; nil when there were none. At most
	// 1,024; beyond that the last of each kind. Valid until the next Feed or Resize.
	Events []Event
}

// A Terminal is one emulated screen with its scrollback. It is not safe for concurrent use; the
// Screens it returns are.
type Terminal struct {
	rows, cols              int
	pixelWidth, pixelHeight int
	profile                 Profile
	programStatus           bool
	theme                   Theme
	version                 string // what XTVERSION answers
	seq                     uint64

	parser parser
	toMark bool // FeedToMark is running
	marked bool // and has reached a mark
	pen    pen
	cursor cursor
	modes  modes
	// Margins of the scrolling region, inclusive, from zero.
	top, bottom int
	sides       sides
	tabs        []bool
	charsets    charsets
	work        int  // saved up, in cells; see afford
	last        rune // last printed character, for REP; 0 after any control
	joint       joint

	grid      *grid // the one shown: &main or &alt
	main, alt grid
	history   history

	title      string
	titleSet   bool
	titleStack []savedTitle
	kitty      [2]kittyStack // main, alternate
	link       string

	effect  Effect
	reply   []byte
	moments *moments // nil: nobody has called FeedMoments

	frames
}

// A grid is one of the two screens.
type grid struct {
	rows  []*row
	saved savedCursor // DECSC
}

type cursor struct {
	row, col int
	pending  bool // the last column is written, the next character wraps
}

// pen is what printed cells get, in the layout of a cell.
type pen struct {
	fg, bg, attr uint32
	underline    Color
}

type savedCursor struct {
	cursor   cursor
	pen      pen
	charsets charsets
	origin   bool
	set      bool
}

// frames separates what has been shown from what is being drawn. A frame is the work of one Feed
// or, in a synchronized update, of several; only its end (commit) is visible to others.
type frames struct {
	frame    uint64 // number of the current frame; rows it made carry it
	shared   uint64 // rows of this frame and older may be in a Screen
	before   []*row // rows as they were shown, when saved
	saved    bool   // before holds the rows of this frame's start
	moved    bool   // rows were moved: before no longer says which row was which
	shownOn  *grid  // grid at the last commit
	shown    visible
	blank    *row   // blank row made in this frame, used wherever a whole row is erased
	fill     *row   // the last row full of one cell that was made in this frame, used likewise
	zero     []cell // cells of blank rows
	free     []*row
	screen   *Screen // last one made; its rows are current while fresh
	fresh    bool
	held     bool
	heldMade *Screen
	updates  uint64 // that have begun
	syncSet  bool   // mode 2026 as the program set it
}

// visible is what a Screen shows besides its rows.
type visible struct {
	cursor   Cursor
	modes    Modes
	title    string
	titleSet bool
	lines    uint64 // of scrollback, counting those dropped
	dropped  uint64 // by the program: ED 3, RIS
	goesOn   bool   // the newest line of the scrollback, in the screen's first row
}

// New returns a terminal with a blank screen and the cursor in the first column of the first row.
// Rows and cols are clamped to 1..MaxSide.
func New(rows, cols int, o Options) *Terminal {
	t := &Terminal{
		rows: clampSide(rows), cols: clampSide(cols), profile: o.Profile,
		programStatus: o.ProgramStatus, theme: o.Theme.valid(), version: versionReply(o.Version),
	}
	switch {
	case o.Scrollback == 0:
		t.history.limit = DefaultScrollback
	case o.Scrollback > 0:
		t.history.limit = o.Scrollback
	}
	t.frame = 1
	t.work = workSaved
	t.grid = &t.main
	t.shownOn = &t.main
	t.blankGrid(&t.main)
	t.blank = nil
	t.reset()
	t.shown = t.visible()
	return t
}

func clampSide(n int) int { return min(max(n, 1), MaxSide) }

// blankGrid gives g rows that cost nothing until they are written.
func (t *Terminal) blankGrid(g *grid) {
	t.zero = make([]cell, t.cols)
	t.blank = &row{cells: t.zero}
	g.rows = make([]*row, t.rows)
	for y := range g.rows {
		g.rows[y] = t.blank
	}
}

// reset is the state after power-on, except for the screen's content.
func (t *Terminal) reset() {
	t.pen = pen{}
	t.link = ""
	t.cursor = cursor{}
	t.modes = defaultModes
	t.resetMargins()
	t.tabs = nil
	t.charsets = charsets{}
	t.last, t.joint = 0, joint{}
	t.main.saved, t.alt.saved = savedCursor{}, savedCursor{}
	t.kitty = [2]kittyStack{}
	t.titleStack = nil
}

// Size returns the rows and columns.
func (t *Terminal) Size() (rows, cols int) { return t.rows, t.cols }

// Sequence returns the number of Feed, Resize, SetTheme and Release calls so far.
func (t *Terminal) Sequence() uint64 { return t.seq }

// Feed processes output of the program. p may end inside a sequence or a character: the screen, the
// answers and the events are the same however the output was split. p is not retained.
func (t *Terminal) Feed(p []byte) Effect {
	t.begin()
	t.parse(p)
	return t.end()
}

// FeedToMark is Feed that stops after the first mark of a shell ([EventMark], [EventMark633]):
// until rest is fed, the screen is as it was when the mark came. Without a mark, rest is empty.
func (t *Terminal) FeedToMark(p []byte) (e Effect, rest []byte) {
	t.begin()
	t.toMark = true
	rest = t.parse(p)
	t.toMark, t.marked = false, false
	return t.end(), rest
}

func (t *Terminal) begin() {
	t.seq++
	t.reply = t.reply[:0]
	t.effect = Effect{}
}

func (t *Terminal) end() Effect {
	if !t.held && t.commit() {
		t.effect.Dirty = true
	}
	t.effect.Held = t.held
	if len(t.reply) > 0 {
		t.effect.Reply = t.reply
	}
	return t.effect
}

// own returns row y for writing. Text will be written from column col on; nowhere: none will.
func (t *Terminal) own(y, col int) *row {
	r := t.grid.rows[y]
	if r.frame != t.frame {
		r = t.ownSlow(y, r)
	}
	if col != nowhere && (r.wrote == 0 || col < r.wrote-1) {
		r.wrote = col + 1
	}
	return r
}

func (t *Terminal) ownSlow(y int, r *row) *row {
	if t.moved && r.frame > t.shared {
		r.frame, r.wrote, r.pattern = t.frame, 0, false
		return r
	}
	t.touch()
	c := t.newRow()
	c.copyFrom(r)
	c.changed = r.changed
	if r.born == t.frame { // this frame has written it already
		c.wrote = r.wrote
	}
	t.grid.rows[y] = c
	return c
}

// ownAsIs is own for a row of which only the age will change.
func (t *Terminal) ownAsIs(y int) *row {
	pattern := t.grid.rows[y].pattern
	r := t.own(y, nowhere)
	r.pattern = pattern
	return r
}

// touch saves the rows as they are shown, before the first of them is replaced.
func (t *Terminal) touch() {
	if t.saved || t.moved {
		return
	}
	t.saved = true
	t.before = append(t.before[:0], t.grid.rows...)
}

// newRow returns a blank row that belongs to this frame.
func (t *Terminal) newRow() *row {
	if n := len(t.free); n > 0 {
		r := t.free[n-1]
		t.free = t.free[:n-1]
		r.clear()
		r.frame, r.changed = t.frame, 0
		return r
	}
	return &row{cells: make([]cell, t.cols), frame: t.frame}
}

// recycle keeps a row that is no longer referenced.
func (t *Terminal) recycle(r *row) {
	if r.frame > t.shared && len(r.cells) == t.cols && len(t.free) < t.rows {
		t.free = append(t.free, r)
	}
}

// blankRow returns a row that is blank in the default style. It may be used in several places.
func (t *Terminal) blankRow() *row {
	if t.blank == nil {
		t.blank = &row{cells: t.zero, born: t.frame}
	}
	return t.blank
}

// moving must be called before rows change places.
func (t *Terminal) moving() {
	if t.moved {
		return
	}
	t.moved = true
	if t.saved {
		for y, b := range t.before {
			if y < len(t.grid.rows) && t.grid.rows[y] != b && t.shownOn == t.grid {
				t.recycle(b)
			}
		}
		t.saved = false
	}
}

// commit ends a frame: it decides which rows have changed, and reports whether anything visible
// has.
func (t *Terminal) commit() bool {
	dirty := t.moved
	switched := t.shownOn != t.grid
	if t.moved {
		for y, r := range t.grid.rows {
			if switched && !t.made(r) {
				r = t.ownAsIs(y)
			}
			if t.made(r) {
				r.changed = t.seq
				r.stamp(t.seq)
			}
		}
	} else if t.saved {
		for y, r := range t.grid.rows {
			if b := t.before[y]; r != b && t.settle(y, r, b, switched) {
				dirty = true
			}
		}
	}
	if v := t.visible(); v != t.shown {
		t.shown, dirty = v, true
	}
	if dirty {
		t.fresh = false
	}
	t.saved, t.moved, t.shownOn = false, false, t.grid
	t.blank, t.fill = nil, nil
	clear(t.before)
	t.before = t.before[:0]
	t.frame++
	return dirty
}

// stampRows stamps what the current frame has written to the screen that is about to be left:
// commit only looks at the other. The two do not share a row that fills them: showing one does not
// age the other.
func (t *Terminal) stampRows() {
	for _, r := range t.grid.rows {
		if t.made(r) {
			r.stamp(t.seq)
		}
	}
	t.blank, t.fill = nil, nil
}

// made reports whether the frame under way made r.
func (t *Terminal) made(r *row) bool { return r.frame == t.frame || r.born == t.frame }

// settle compares row y with what was shown there, b, and reports whether it has changed. A row
// that shows the same keeps its age, and where possible the old row is reused.
func (t *Terminal) settle(y int, r, b *row, switched bool) bool {
	same := r.equal(b)
	if same && !switched && r.wrote > 0 {
		// The same content was written again: the row shows nothing new, but it was written later.
		r.changed = b.changed
		r.stamp(t.seq)
		t.recycle(b)
		t.fresh = false
		return false
	}
	if same && !switched && r.cut == b.cut {
		t.grid.rows[y] = b
		if r.frame == t.frame {
			t.recycle(r)
		}
		return false
	}
	// The rows of the other screen are its own; only the age of b can be taken over.
	if !t.made(r) || same && r.born == t.frame {
		r = t.ownAsIs(y)
	}
	r.stamp(t.seq)
	if same {
		r.changed, t.fresh = b.changed, false
		return false
	}
	r.changed = t.seq
	if !switched {
		t.recycle(b)
	}
	return true
}

func (t *Terminal) visible() visible {
	v := visible{cursor: t.visibleCursor(), modes: t.visibleModes(), title: t.title, titleSet: t.titleSet}
	v.lines, v.dropped = t.history.next, t.history.cleared
	v.goesOn = v.lines != v.dropped && goesOn(t.history.sealed, &t.history.tail)
	return v
}

func (t *Terminal) visibleCursor() Cursor {
	m := &t.modes
	return Cursor{Row: t.cursor.row, Col: t.cursor.col, PendingWrap: t.cursor.pending,
		Visible: m.cursorVisible, Shape: m.cursorShape, Blink: m.cursorBlink, Style: m.cursorStyle}
}

// hold begins a synchronized update: what is shown stays until release.
func (t *Terminal) hold() {
	if t.held {
		return
	}
	t.leaving()
	if t.commit() {
		t.effect.Dirty = true
	}
	frame := *t.capture()
	frame.Modes.Synchronized = true
	t.heldMade = &frame
	t.held = true
	t.updates++
}

// Updates returns how many synchronized updates have begun, so that a caller can tell a new one
// from one whose time it has already used up.
func (t *Terminal) Updates() uint64 { return t.updates }

// release ends a synchronized update.
func (t *Terminal) release() {
	if !t.held {
		return
	}
	t.held, t.heldMade = false, nil
	dirty := t.commit()
	if dirty {
		t.effect.Dirty = true
	}
	if dirty && t.moments != nil {
		t.moment()
	}
}

// Release makes Snapshot show the screen as it is, although the program has not ended its
// synchronized update: for the caller's limit on how long a frame may be held back. The next update
// is held again. It counts in Sequence: what is shown now changed after what was shown before.
func (t *Terminal) Release() {
	t.seq++
	t.release()
}

// Snapshot returns the screen; during a synchronized update, the last complete frame. It costs a
// copy of the row headers; rows themselves are copied when next written. Without a change in
// between it returns the same rows again.
func (t *Terminal) Snapshot() *Screen {
	if t.held {
		return t.heldMade
	}
	return t.capture()
}

// capture makes a Screen of what was last committed.
func (t *Terminal) capture() *Screen {
	if t.fresh {
		if t.screen.Sequence != t.seq {
			s := *t.screen
			s.Sequence = t.seq
			t.screen = &s
		}
		return t.screen
	}
	t.screen, t.fresh = t.screenOf(t.shown, append(make([]*row, 0, t.rows), t.grid.rows...)), true
	return t.screen
}

// screenOf makes a Screen of rows, which are older than the frame under way or its own.
func (t *Terminal) screenOf(v visible, rows []*row) *Screen {
	t.shared = t.frame - 1
	return &Screen{
		Rows: t.rows, Cols: t.cols, PixelWidth: t.pixelWidth, PixelHeight: t.pixelHeight,
		Cursor: v.cursor, Modes: v.modes, Title: t.title, TitleSet: t.titleSet, Theme: t.theme,
		Sequence: t.seq, rows: rows, history: t.history.view(), text: new(lazyText),
	}
}

package attach

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/protocol/client"
)

// A window is the part of a session's screen that a terminal shows. A smaller session is at the
// upper left, with a border; of a larger one the part around the cursor is shown. Its zero value is
// ready. Not safe for concurrent use.
type window struct {
	session  client.Size
	rows     []string // of the session, as text with SGR and OSC 8
	terminal client.Size
	top      int // first row of the session that is shown
	left     int // first column
	cut      cutter
	text     cutter   // cuts the status and messages
	cuts     []string // rows as they are shown; "" if not known
	known    []bool
	panned   bool // the person moved the window: it stays until the cursor moves
	row, col int  // where the cursor was
}

// take takes in a frame.
func (w *window) take(f *client.Frame) {
	if f.Full || f.Size != w.session || w.rows == nil {
		w.session = f.Size
		w.rows = make([]string, f.Size.Rows)
		w.panned = false
		w.forget()
	}
	for _, r := range f.Rows {
		if r.Row >= 0 && r.Row < len(w.rows) {
			w.rows[r.Row] = r.ANSI
			w.known[r.Row] = false
		}
	}
	if f.Cursor.Row != w.row || f.Cursor.Col != w.col {
		w.row, w.col, w.panned = f.Cursor.Row, f.Cursor.Col, false
	}
	w.follow()
}

// resize takes in the terminal's size.
func (w *window) resize(s client.Size) {
	w.terminal, w.panned = s, false
	w.forget()
	w.follow()
}

func (w *window) forget() {
	w.cuts, w.known = make([]string, len(w.rows)), make([]bool, len(w.rows))
}

// view returns how many rows and columns of the session are shown. There is a status line below
// unless session and terminal have the same number of rows: it would cover one.
func (w *window) view() client.Size {
	rows := min(w.session.Rows, w.terminal.Rows)
	if w.session.Rows > w.terminal.Rows && w.terminal.Rows > 1 {
		rows = w.terminal.Rows - 1
	}
	return client.Size{Rows: rows, Cols: min(w.session.Cols, w.terminal.Cols)}
}

// follow moves the window to the cursor: as little as possible up and down, by half a window
// sideways, where each step repaints everything.
func (w *window) follow() {
	if w.terminal.Rows == 0 { // not known yet
		return
	}
	v := w.view()
	top, left := w.top, w.left
	if !w.panned {
		top = min(max(top, w.row-v.Rows+1), w.row)
		if w.col < left || w.col >= left+v.Cols {
			left = w.col - v.Cols/2
		}
	}
	w.at(top, left)
}

// at moves the window's corner to a position, as far as the session extends.
func (w *window) at(top, left int) {
	v := w.view()
	top = min(max(top, 0), max(w.session.Rows-v.Rows, 0))
	left = min(max(left, 0), max(w.session.Cols-v.Cols, 0))
	if left != w.left {
		w.forget()
	}
	w.top, w.left = top, left
}

// pan moves the window by half of it, as the person asks, and keeps it there until the cursor
// moves.
func (w *window) pan(down, right int) {
	v := w.view()
	w.panned = true
	w.at(w.top+down*max(v.Rows/2, 1), w.left+right*max(v.Cols/2, 1))
}

// whole reports whether the whole session is shown.
func (w *window) whole() bool { v := w.view(); return v == w.session }

// lines returns what each row of the terminal shows, with the status last if there is room for it;
// otherwise status is not shown. The rows of a message, if there are any, cover the last rows, or the
// first where the cursor would be under them.
func (w *window) lines(status string, message ...string) []string {
	v := w.view()
	out := make([]string, w.terminal.Rows)
	border := v.Cols < w.terminal.Cols
	for y := range v.Rows {
		out[y] = w.line(w.top + y)
		if border {
			out[y] += fmt.Sprintf("\x1b[%dG\x1b[0;2m│\x1b[0m", v.Cols+1)
		}
	}
	if v.Rows < w.terminal.Rows-1 { // a border and the status
		out[v.Rows] = "\x1b[0;2m" + strings.Repeat("─", v.Cols)
		if border {
			out[v.Rows] += "┘"
		}
		out[v.Rows] += "\x1b[0m"
	}
	if v.Rows < w.terminal.Rows {
		out[w.terminal.Rows-1] = w.text.row(status, vt.MaxSide, 0, w.terminal.Cols)
	}
	message = message[:min(len(message), w.terminal.Rows)]
	at := w.terminal.Rows - len(message)
	if row, _, _ := w.cursor(); row >= at && row < v.Rows {
		at = 0
	}
	for i, text := range message {
		out[at+i] = w.text.row("\x1b[0;7m "+text+" ", vt.MaxSide, 0, w.terminal.Cols)
	}
	return out
}

// line returns a row of the session as it is shown.
func (w *window) line(y int) string {
	if !w.known[y] {
		w.cuts[y], w.known[y] = w.cut.row(w.rows[y], w.session.Cols, w.left, w.view().Cols), true
	}
	return w.cuts[y]
}

// cursor returns where the cursor is on the terminal; not ok: outside the window.
func (w *window) cursor() (row, col int, ok bool) {
	v := w.view()
	row, col = w.row-w.top, w.col-w.left
	return row, col, row >= 0 && row < v.Rows && col >= 0 && col < v.Cols
}

// place returns the session's cell at a position of the terminal. A position beyond the session is
// moved to its edge, and is not inside.
func (w *window) place(row, col int) (r, c int, inside bool) {
	v := w.view()
	inside = row < v.Rows && col < v.Cols
	return w.top + min(row, v.Rows-1), w.left + min(col, v.Cols-1), inside
}

// A cutter cuts columns out of rows of text with SGR and OSC 8. It uses its own terminal, so that
// wide characters, clusters and styles come out right. Its zero value is ready.
type cutter struct {
	term  *vt.Terminal
	width int
}

// row returns columns [left, left+cols) of a row of width columns, as [picture.ANSIRow] has it.
func (c *cutter) row(text string, width, left, cols int) string {
	if left == 0 && cols >= width || text == "" {
		return text
	}
	// Deleting characters moves the following ones to the left.
	in := text + "\x1b[0m\x1b]8;;\x1b\\\r"
	if left > 0 {
		in += "\x1b[" + strconv.Itoa(left) + "P"
	}
	if cols < width {
		in += "\x1b[" + strconv.Itoa(cols+1) + "G\x1b[K"
	}
	return picture.ANSIRow(c.draw(in, width), 0, asIs)
}

// columns returns how many columns a text takes, at most [vt.MaxSide]-1.
func (c *cutter) columns(text string) int { return c.draw(text, vt.MaxSide).Cursor.Col }

// cut is a text without control characters in at most cols columns, at least 2, with an ellipsis
// where it is cut.
func (c *cutter) cut(text string, cols int) string {
	if c.columns(text) <= cols {
		return text
	}
	return c.draw(text, cols-1).Lines()[0] + "…"
}

// draw returns a blank row of width columns with text on it.
func (c *cutter) draw(text string, width int) *vt.Screen {
	if c.term == nil || c.width != width {
		c.term, c.width = vt.New(1, width, vt.Options{Scrollback: -1}), width
	}
	c.term.Feed([]byte("\x1bc\x1b[?7l" + text)) // ?7l: cut text that is too long
	return c.term.Snapshot()
}

// asIs leaves links unchanged: the server has cleaned them.
func asIs(link string) string { return link }

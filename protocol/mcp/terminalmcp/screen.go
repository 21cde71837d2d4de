package terminalmcp

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/engine/vt"
)

// emptyTerminal is what getContent returns instead of nothing.
const emptyTerminal = "(empty terminal)"

// look returns a redacted view of the session that a call names: every text of a program leaves
// through it.
func (s *Server) look(c *call) (*reading.View, error) {
	t, err := s.terminal(c.args.text("sessionId"))
	if err != nil {
		return nil, err
	}
	return reading.New(t.session.View(), s.redactor), nil
}

// buffer returns all rows of the terminal: on the alternate screen, which has no scrollback, those
// of the screen.
func buffer(v *reading.View) []string {
	if v.Raw.Screen.Modes.AltScreen {
		return screenRows(v)
	}
	h, n := v.Raw.Screen.History(), v.Lines()
	rows := n.Read(0, h.Len())
	for i := range rows {
		if !h.Wrapped(i) { // else they are there
			rows[i] += blanksAt(func(f func(int, vt.Cell)) { h.EachCell(i, f) })
		}
	}
	return append(rows, screenRows(v)...)
}

// screenRows returns the rows of the screen.
func screenRows(v *reading.View) []string {
	rows := v.Screen().Lines()
	for y := range rows {
		rows[y] += blanksAt(func(f func(int, vt.Cell)) { v.Raw.Screen.EachCell(y, f) })
	}
	return rows
}

// blanksAt returns the white space that a program has written at the end of a row: a prompt ends
// with it. Cells that were never written, or were erased, do not count.
func blanksAt(eachCell func(f func(col int, c vt.Cell))) string {
	var blanks, pending strings.Builder
	eachCell(func(_ int, c vt.Cell) {
		switch {
		case c.Continuation:
		case c.Text == "": // blank only when written text follows
			pending.WriteByte(' ')
		case strings.TrimSpace(c.Text) == "":
			blanks.WriteString(pending.String())
			pending.Reset()
			blanks.WriteString(c.Text)
		default:
			blanks.Reset()
			pending.Reset()
		}
	})
	return blanks.String()
}

func (s *Server) getContent(c *call) (*Result, error) {
	v, err := s.look(c)
	if err != nil {
		return nil, err
	}
	var text string
	if c.args.flag("visibleOnly") {
		text = strings.Join(screenRows(v), "\n")
	} else {
		text = strings.Join(trimBlank(buffer(v)), "\n")
	}
	if text == "" {
		text = emptyTerminal
	}
	return textResult(text), nil
}

// trimBlank drops blank rows at the end.
func trimBlank(rows []string) []string {
	for len(rows) > 0 && strings.TrimSpace(rows[len(rows)-1]) == "" {
		rows = rows[:len(rows)-1]
	}
	return rows
}

type screenshot struct {
	Content string `json:"content"`
	Cursor  struct {
		X int `json:"x"`
		Y int `json:"y"`
	} `json:"cursor"`
	Dimensions struct {
		Cols int `json:"cols"`
		Rows int `json:"rows"`
	} `json:"dimensions"`
}

func (s *Server) takeScreenshot(c *call) (*Result, error) {
	v, err := s.look(c)
	if err != nil {
		return nil, err
	}
	screen := v.Screen()
	var shot screenshot
	switch c.args.text("format") {
	case "png":
		png, err := picture.Window(screen, windowStyle())
		if err != nil {
			return nil, err
		}
		return &Result{Content: []Content{{Type: "image", Data: png, MimeType: "image/png"}}}, nil
	case "ansi":
		shot.Content = ansi(screen)
	default:
		shot.Content = strings.Join(screenRows(v), "\n")
	}
	shot.Cursor.X, shot.Cursor.Y = screen.Cursor.Col, screen.Cursor.Row
	shot.Dimensions.Cols, shot.Dimensions.Rows = screen.Cols, screen.Rows
	return textResult(pretty(shot)), nil
}

// windowStyle is the look of Terminal MCP's pictures: its measures and colours, at twice the size.
var windowStyle = sync.OnceValue(func() picture.WindowOptions {
	return picture.WindowOptions{
		Scale: 2, CellWidth: 8.4, CellHeight: 17, Left: 16, Right: 16, Top: 44, Bottom: 12, Radius: 10,
		Buttons: []picture.Button{{X: 20, Y: 18, Radius: 6, RGB: 0xff5f57},
			{X: 40, Y: 18, Radius: 6, RGB: 0xfebc2e}, {X: 60, Y: 18, Radius: 6, RGB: 0x28c840}},
		Theme: picture.NewTheme(0xabb2bf, 0x282c34, [16]uint32{
			0x282c34, 0xe06c75, 0x98c379, 0xe5c07b, 0x61afef, 0xc678dd, 0x56b6c2, 0xabb2bf,
			0x5c6370, 0xe06c75, 0x98c379, 0xe5c07b, 0x61afef, 0xc678dd, 0x56b6c2, 0xffffff,
		}, 51),
	}
})

// ansi is the screen as text with colours: every row padded with blanks to the full width, SGR only
// where the style changes, and a reset at the end of each. Inverse, blink, strike-through and
// hidden are left out. A wide character is followed by a blank for its second column. Blank rows at
// the end are dropped.
func ansi(s *vt.Screen) string {
	var rows []string
	last := 0 // rows that are not blank
	for y := range s.Rows {
		var b strings.Builder
		var style ansiStyle
		changed, blank := false, true
		s.EachCell(y, func(_ int, c vt.Cell) {
			if now := styleOf(c.Style); now != style {
				b.WriteString(now.sgr(changed))
				style, changed = now, true
			}
			text := c.Text
			if text == "" {
				text = " "
			}
			blank = blank && text == " "
			b.WriteString(text)
		})
		rows = append(rows, b.String()+"\x1b[0m")
		if !blank {
			last = len(rows)
		}
	}
	return strings.Join(rows[:last], "\n")
}

// An ansiStyle is the part of a style that ansi writes.
type ansiStyle struct {
	bold, dim, italic, underline bool
	fg, bg                       vt.Color
}

func styleOf(s vt.Style) ansiStyle {
	return ansiStyle{s.Bold, s.Dim, s.Italic, s.Underline != 0, s.Foreground, s.Background}
}

// sgr is the sequence that sets the style; all but a row's first begin with a reset.
func (a ansiStyle) sgr(reset bool) string {
	var p []string
	if reset {
		p = append(p, "0")
	}
	for i, on := range []bool{a.bold, a.dim, a.italic, a.underline} {
		if on {
			p = append(p, strconv.Itoa(i+1))
		}
	}
	p = append(p, colour(a.fg, 30)...)
	p = append(p, colour(a.bg, 40)...)
	return "\x1b[" + strings.Join(p, ";") + "m"
}

// colour returns the parameters of a colour; base is 30 for the foreground and 40 for the
// background.
func colour(c vt.Color, base int) []string {
	if r, g, b, ok := c.RGB(); ok {
		return []string{fmt.Sprintf("%d;2;%d;%d;%d", base+8, r, g, b)}
	}
	i, ok := c.Index()
	switch {
	case !ok:
		return nil
	case i < 8:
		return []string{strconv.Itoa(base + int(i))}
	case i < 16:
		return []string{strconv.Itoa(base + 60 + int(i) - 8)}
	}
	return []string{fmt.Sprintf("%d;5;%d", base+8, i)}
}

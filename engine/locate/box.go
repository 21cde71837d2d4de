package locate

import (
	"slices"
	"strings"
	"sync"

	"github.com/ptywright/ptywright/engine/vt"
)

// Box finds the insides of frames drawn with line characters (box drawing, or + - and |), the
// smallest first. A frame may share its edges with others, as panes do. title, if it is not the zero
// Locator, is looked for in the frame's upper edge.
func Box(title Locator) Locator { return Locator{box{title.node}} }

type box struct{ title node }

func (b box) parts() []node {
	if b.title == nil {
		return nil
	}
	return []node{b.title}
}

func (b box) words() string {
	if b.title == nil {
		return "box"
	}
	if t, ok := b.title.(text); ok && t.TextOptions == (TextOptions{}) {
		return "box " + quote(t.want)
	}
	return "box (" + b.title.words() + ")"
}

// What a line character joins to: lines go up, right, down, left from it.
const (
	up = 1 << iota
	right
	down
	left
)

// joins says where lines go from each character of a frame.
var joins = sync.OnceValue(func() map[string]int {
	m := map[string]int{"+": up | right | down | left, "-": left | right, "|": up | down}
	for dirs, chars := range map[int]string{
		left | right:             "─━┄┅┈┉╌╍═╼╾",
		up | down:                "│┃┆┇┊┋╎╏║╽╿",
		right | down:             "┌┍┎┏╒╓╔╭",
		left | down:              "┐┑┒┓╕╖╗╮",
		up | right:               "└┕┖┗╘╙╚╰",
		up | left:                "┘┙┚┛╛╜╝╯",
		up | right | down:        "├┝┞┟┠┡┢┣╞╟╠",
		up | down | left:         "┤┥┦┧┨┩┪┫╡╢╣",
		right | down | left:      "┬┭┮┯┰┱┲┳╤╥╦",
		up | right | left:        "┴┵┶┷┸┹┺┻╧╨╩",
		up | right | down | left: "┼┽┾┿╀╁╂╃╄╅╆╇╈╉╊╋╪╫╬",
	} {
		for _, c := range chars {
			m[string(c)] = dirs
		}
	}
	return m
})

// A frame is where the corners of a box are.
type frame struct{ top, left, bottom, right int }

func (b box) find(p *page) []Place {
	g := gridOf(p)
	var frames []frame
	for y := range g.rows {
		for x := range g.cols {
			if g.at(y, x)&(right|down) == right|down {
				frames = g.frames(frames, y, x)
			}
		}
		if !p.step(g.cols) {
			return nil
		}
	}
	slices.SortStableFunc(frames, func(a, b frame) int { return a.area() - b.area() })
	var out []Place
	for _, f := range frames {
		top, left := p.rect.Row+f.top, p.rect.Col+f.left
		if b.title != nil {
			edge := vt.Rect{Row: top, Col: left + 1, Rows: 1, Cols: f.right - f.left - 1}
			if len(b.title.find(p.in(edge))) == 0 {
				continue
			}
		}
		out = append(out, p.block(top+1, left+1, p.rect.Row+f.bottom, p.rect.Col+f.right)...)
	}
	return out
}

func (f frame) area() int { return (f.bottom - f.top) * (f.right - f.left) }

// A grid says of each cell of a page where lines go from it.
type grid struct {
	*page
	rows, cols int
	dirs       []uint8
}

func gridOf(p *page) *grid {
	g := &grid{page: p, rows: p.rect.Rows, cols: p.rect.Cols}
	g.dirs = make([]uint8, g.rows*g.cols)
	lines := joins()
	for y := range g.rows {
		p.screen.EachCell(p.rect.Row+y, func(x int, c vt.Cell) {
			if x -= p.rect.Col; x >= 0 && x < g.cols {
				g.dirs[y*g.cols+x] = uint8(lines[c.Text])
			}
		})
	}
	return g
}

func (g *grid) at(y, x int) int { return int(g.dirs[y*g.cols+x]) }

// frames adds the smallest frame whose upper left corner is at y, x.
func (g *grid) frames(out []frame, y, x int) []frame {
	// The upper edge may have a title in it: it needs a line at both of its ends.
	if x+1 >= g.cols || y+1 >= g.rows {
		return out
	}
	for r := x + 2; r < g.cols; r++ {
		if !g.step(1) {
			return out
		}
		d := g.at(y, r)
		if d&(left|down) != left|down || !g.edge(y, x, r) {
			continue
		}
		for b := y + 1; b < g.rows; b++ {
			if !g.step(1) {
				return out
			}
			l, e := g.at(b, x), g.at(b, r)
			if b > y+1 && l&(up|right) == up|right && e&(up|left) == up|left && g.line(b, x, r) {
				return append(out, frame{y, x, b, r})
			}
			if l&(up|down) != up|down || !g.side(b, r) {
				break
			}
		}
	}
	return out
}

// edge reports whether row y from x to r is an upper edge: part of it is a line, the rest may be a
// title.
func (g *grid) edge(y, x, r int) bool {
	if !g.step(r - x) {
		return false
	}
	for c := x + 1; c < r; c++ {
		if g.at(y, c)&(left|right) == left|right {
			return true
		}
	}
	return false
}

// line reports whether row y from x to r is a lower edge: at least half of it is a line, the rest
// may be a text, such as a help line.
func (g *grid) line(y, x, r int) bool {
	lines := 0
	for c := x + 1; c < r; c++ {
		if g.at(y, c)&(left|right) == left|right {
			lines++
		}
	}
	return g.step(r-x) && 2*lines >= r-x-1
}

// side reports whether a cell belongs to the right side of a frame: a line, or a scroll bar in its
// place.
func (g *grid) side(y, x int) bool {
	if g.at(y, x)&(up|down) == up|down {
		return true
	}
	c := g.screen.Cell(g.rect.Row+y, g.rect.Col+x)
	return strings.Contains("█▓▒░▐▌▲▼↑↓■▮", c.Text) && c.Text != ""
}

package picture

import (
	"image"
	"math"
)

// Characters that must join their neighbours are drawn to the cell's edges and on whole pixels: box
// drawing, block elements, braille, sextants (U+1FB00) and the arrows of themed prompts (U+E0B0). A
// font's outlines leave gaps where its line height is not ours.

// boxArms gives the lines of U+2500 to U+257F from the middle up, right, down and left: 0 none, 1
// light, 2 heavy, 3 double. Dashed lines are those of boxDashes. (Names: Unicode chart U2500.)
const boxArms = "" +
	"0101" + "0202" + "1010" + "2020" + "0101" + "0202" + "1010" + "2020" + "0101" + "0202" + "1010" + "2020" + // ─ to ┋
	"0110" + "0210" + "0120" + "0220" + "0011" + "0012" + "0021" + "0022" + // ┌ to ┓
	"1100" + "1200" + "2100" + "2200" + "1001" + "1002" + "2001" + "2002" + // └ to ┛
	"1110" + "1210" + "2110" + "1120" + "2120" + "2210" + "1220" + "2220" + // ├ to ┣
	"1011" + "1012" + "2011" + "1021" + "2021" + "2012" + "1022" + "2022" + // ┤ to ┫
	"0111" + "0112" + "0211" + "0212" + "0121" + "0122" + "0221" + "0222" + // ┬ to ┳
	"1101" + "1102" + "1201" + "1202" + "2101" + "2102" + "2201" + "2202" + // ┴ to ┻
	"1111" + "1112" + "1211" + "1212" + "2111" + "1121" + "2121" + "2112" + // ┼ to ╃
	"2211" + "1122" + "1221" + "2212" + "1222" + "2122" + "2221" + "2222" + // ╄ to ╋
	"0101" + "0202" + "1010" + "2020" + // ╌ to ╏
	"0303" + "3030" + "0310" + "0130" + "0330" + "0013" + "0031" + "0033" + // ═ to ╗
	"1300" + "3100" + "3300" + "1003" + "3001" + "3003" + // ╘ to ╝
	"1310" + "3130" + "3330" + "1013" + "3031" + "3033" + // ╞ to ╣
	"0313" + "0131" + "0333" + "1303" + "3101" + "3303" + // ╤ to ╩
	"1313" + "3131" + "3333" + // ╪ to ╬
	"0110" + "0011" + "1001" + "1100" + "0000" + "0000" + "0000" + // ╭ to ╳: arcs and diagonals
	"0001" + "1000" + "0100" + "0010" + "0002" + "2000" + "0200" + "0020" + // ╴ to ╻
	"0201" + "1020" + "0102" + "2010" // ╼ to ╿

// Arms, in the order of boxArms.
const (
	up = iota
	right
	down
	left
)

// isBox reports whether r is one of these characters.
func isBox(r rune) bool {
	return r >= 0x2500 && r <= 0x259f || r >= 0x2800 && r <= 0x28ff ||
		r >= 0x1fb00 && r <= 0x1fb3b || r >= 0xe0b0 && r <= 0xe0b3
}

// boxMask draws r as large as the cell; nil when it is not one of them.
func boxMask(r rune, w, h int) *image.Alpha {
	if !isBox(r) {
		return nil
	}
	p := newPlot(w, h)
	switch {
	case r <= 0x257f:
		p.box(r)
	case r <= 0x259f:
		p.block(r)
	case r <= 0x28ff:
		p.braille(byte(r))
	case r <= 0xe0b3:
		p.prompt(r)
	default:
		n := int(r - 0x1fb00 + 1) // those that are already block elements are left out
		if n >= 0b010101 {
			n++
		}
		if n >= 0b101010 {
			n++
		}
		p.mosaic(n, 3)
	}
	return p.Alpha
}

// A plot is a mask being drawn.
type plot struct {
	*image.Alpha
	w, h  int
	light int // width of a light line
}

func newPlot(w, h int) *plot {
	return &plot{Alpha: image.NewAlpha(image.Rect(0, 0, w, h)), w: w, h: h, light: max(1, (h+6)/16)}
}

// rect sets the pixels of a rectangle, clipped to the cell.
func (p *plot) rect(x0, y0, x1, y1 int, a byte) {
	x0, y0, x1, y1 = max(x0, 0), max(y0, 0), min(x1, p.w), min(y1, p.h)
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			p.Pix[y*p.Stride+x] = a
		}
	}
}

// shade covers each pixel by how far its centre is inside: 1 and more fully, 0 and less not at all.
func (p *plot) shade(inside func(x, y float64) float64) {
	for y := range p.h {
		for x := range p.w {
			a := byte(255 * min(1, max(0, inside(float64(x)+.5, float64(y)+.5))))
			p.Pix[y*p.Stride+x] = max(p.Pix[y*p.Stride+x], a)
		}
	}
}

// box draws U+2500 to U+257F.
func (p *plot) box(r rune) {
	switch {
	case r >= 0x256d && r <= 0x2570:
		p.arc(r)
		return
	case r >= 0x2571 && r <= 0x2573:
		p.diagonals(r)
		return
	}
	var arms [4]int
	for i := range arms {
		arms[i] = int(boxArms[int(r-0x2500)*4+i] - '0')
	}
	p.arms(arms)
	switch {
	case r >= 0x2504 && r <= 0x2507:
		p.dashes(arms, 3)
	case r >= 0x2508 && r <= 0x250b:
		p.dashes(arms, 4)
	case r >= 0x254c && r <= 0x254f:
		p.dashes(arms, 2)
	}
}

// span returns where a line of a weight is across: from, to. A heavy line is as odd or even as a
// light one, so that both have the same middle.
func (p *plot) span(size, weight int) (int, int) {
	from := (size - p.light) / 2
	to := from + p.light
	switch weight {
	case 0:
		return from, from
	case 2:
		grow := (p.light + 1) / 2
		return from - grow, to + grow
	case 3:
		return from - p.light, to + p.light
	}
	return from, to
}

// arms draws lines from the middle. A double line is drawn as a road: first at full width, then its
// middle is cleared, through all junctions except those with a single line that crosses or ends it.
func (p *plot) arms(a [4]int) {
	for i := range a {
		if a[i] != 0 {
			// It extends past the middle as far as the line that it meets is wide.
			p.arm(i, a[i], max(a[(i+1)%4], a[(i+3)%4]))
		}
	}
	for i := range a {
		if a[i] != 3 {
			continue
		}
		side, other := a[(i+1)%4], a[(i+3)%4]
		switch {
		case side == 3 || other == 3, a[(i+2)%4] == 3 && (side == 0 || other == 0):
			p.road(i, 1)
		default:
			p.road(i, -1)
		}
	}
}

// arm draws one line; across is the weight of the widest line that it meets: weights are ordered by
// width.
func (p *plot) arm(dir, weight, across int) {
	vx0, vx1 := p.span(p.w, across)
	hy0, hy1 := p.span(p.h, across)
	x0, x1 := p.span(p.w, weight)
	y0, y1 := p.span(p.h, weight)
	switch dir {
	case up:
		p.rect(x0, 0, x1, hy1, 0xff)
	case right:
		p.rect(vx0, y0, p.w, y1, 0xff)
	case down:
		p.rect(x0, hy0, x1, p.h, 0xff)
	case left:
		p.rect(0, y0, vx1, y1, 0xff)
	}
}

// road clears the middle of a double line: with 1 past the middle of the cell, with -1 up to a line
// across it.
func (p *plot) road(dir, over int) {
	x0, x1 := p.span(p.w, 1)
	y0, y1 := p.span(p.h, 1)
	a, b := x0, y0 // where a road to the right and down begins
	c, d := x1, y1 // where one to the left and up ends
	if over < 0 {
		a, b, c, d = x1, y1, x0, y0
	}
	switch dir {
	case up:
		p.rect(x0, 0, x1, d, 0)
	case right:
		p.rect(a, y0, p.w, y1, 0)
	case down:
		p.rect(x0, b, x1, p.h, 0)
	case left:
		p.rect(0, y0, c, y1, 0)
	}
}

// dashes cuts a line into n dashes, with half a gap at each end so that they continue evenly in the
// next cell.
func (p *plot) dashes(a [4]int, n int) {
	size := p.w
	if a[up] != 0 {
		size = p.h
	}
	gap := max(1, size/(3*n))
	for i := range n {
		at := i * size / n
		from, to := at, at+(gap+1)/2
		end := (i + 1) * size / n
		if a[up] != 0 {
			p.rect(0, from, p.w, to, 0)
			p.rect(0, end-gap/2, p.w, end, 0)
		} else {
			p.rect(from, 0, to, p.h, 0)
			p.rect(end-gap/2, 0, end, p.h, 0)
		}
	}
}

// arc draws a rounded corner: a quarter of a circle and straight lines to the two edges.
func (p *plot) arc(r rune) {
	x0, x1 := p.span(p.w, 1)
	y0, y1 := p.span(p.h, 1)
	cx, cy := float64(x0+x1)/2, float64(y0+y1)/2
	// With a straight piece at the edge.
	rad := max(1, math.Floor(min(cx, cy, float64(p.w)-cx, float64(p.h)-cy))-1)
	// Direction of the arms.
	dx, dy := 1.0, 1.0
	if r == 0x256e || r == 0x256f {
		dx = -1
	}
	if r == 0x256f || r == 0x2570 {
		dy = -1
	}
	ox, oy := cx+dx*rad, cy+dy*rad // the circle's centre
	half := float64(p.light) / 2
	p.shade(func(x, y float64) float64 {
		if (x-ox)*dx > 0 || (y-oy)*dy > 0 {
			return 0
		}
		return half + .5 - math.Abs(math.Hypot(x-ox, y-oy)-rad)
	})
	if dx > 0 {
		p.rect(int(ox), y0, p.w, y1, 0xff)
	} else {
		p.rect(0, y0, int(math.Ceil(ox)), y1, 0xff)
	}
	if dy > 0 {
		p.rect(x0, int(oy), x1, p.h, 0xff)
	} else {
		p.rect(x0, 0, x1, int(math.Ceil(oy)), 0xff)
	}
}

// diagonals draws ╱, ╲ and ╳, corner to corner.
func (p *plot) diagonals(r rune) {
	w, h := float64(p.w), float64(p.h)
	n := math.Hypot(w, h)
	line := func(dist float64) float64 { return float64(p.light)/2 + .5 - math.Abs(dist)/n }
	if r != 0x2572 {
		p.shade(func(x, y float64) float64 { return line(h*x + w*y - w*h) })
	}
	if r != 0x2571 {
		p.shade(func(x, y float64) float64 { return line(h*x - w*y) })
	}
}

// block draws U+2580 to U+259F.
func (p *plot) block(r rune) {
	eighthY := func(n int) int { return (p.h*n + 4) / 8 }
	eighthX := func(n int) int { return (p.w*n + 4) / 8 }
	switch {
	case r == 0x2580:
		p.rect(0, 0, p.w, p.h-eighthY(4), 0xff)
	case r <= 0x2588:
		p.rect(0, p.h-eighthY(int(r-0x2580)), p.w, p.h, 0xff)
	case r <= 0x258f:
		p.rect(0, 0, eighthX(int(0x2590-r)), p.h, 0xff)
	case r == 0x2590:
		p.rect(eighthX(4), 0, p.w, p.h, 0xff)
	case r <= 0x2593: // an even tone: a pattern would show where the cell's size does not divide by it
		p.rect(0, 0, p.w, p.h, byte(64*(r-0x2590)-1))
	case r == 0x2594:
		p.rect(0, 0, p.w, eighthY(1), 0xff)
	case r == 0x2595:
		p.rect(p.w-eighthX(1), 0, p.w, p.h, 0xff)
	default: // quadrants: upper left 1, upper right 2, lower left 4, lower right 8
		p.mosaic(int([...]byte{4, 8, 1, 1 | 4 | 8, 1 | 8, 1 | 2 | 4, 1 | 2 | 8, 2, 2 | 4,
			2 | 4 | 8}[r-0x2596]), 2)
	}
}

// mosaic fills parts of a grid of two columns; bit 0 is the upper left one, bit 1 the one to its
// right.
func (p *plot) mosaic(bits, rows int) {
	x := []int{0, (p.w*4 + 4) / 8, p.w}
	for i := range 2 * rows {
		if bits>>i&1 != 0 {
			// From below, like the lower blocks: a half is as high as two quarters beside it.
			y0, y1 := p.h-(p.h*(rows-i/2)+rows/2)/rows, p.h-(p.h*(rows-i/2-1)+rows/2)/rows
			p.rect(x[i%2], y0, x[i%2+1], y1, 0xff)
		}
	}
}

// braille draws U+2800 to U+28FF: dots on a grid that continues evenly in the next cell.
func (p *plot) braille(bits byte) {
	dot := max(1, min(p.w/4, p.h/8))
	place := [8][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}} // bits 1 to 8 (Unicode, 21.1)
	for i, at := range place {
		if bits>>i&1 != 0 {
			x, y := (p.w*(2*at[0]+1)/2-dot)/2, (p.h*(2*at[1]+1)/4-dot)/2
			p.rect(x, y, x+dot, y+dot, 0xff)
		}
	}
}

// prompt draws the arrows of themed prompts, solid and hollow, to the right and to the left.
func (p *plot) prompt(r rune) {
	w, h := float64(p.w), float64(p.h)
	p.shade(func(x, y float64) float64 {
		if r >= 0xe0b2 {
			x = w - x
		}
		edge := w * (1 - math.Abs(2*y/h-1)) // where the arrow ends in this row
		if r == 0xe0b1 || r == 0xe0b3 {
			return float64(p.light)*.75 + .5 - math.Abs(edge-float64(p.light)-x)
		}
		return edge - x + .5
	})
}

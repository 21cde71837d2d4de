package golden

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/vt"
)

// A SyntaxError says what is wrong with a file, and where.
type SyntaxError struct {
	Line int // from 1
	Err  error
}

// Error says so: "line 3: …".
func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns Err.
func (e *SyntaxError) Unwrap() error { return e.Err }

// Parse reads a file. Its lines may end in CR LF. Every error is a [*SyntaxError].
func Parse(b []byte) (*File, error) {
	p := parser{lines: strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")}
	f, err := p.file()
	if err != nil {
		return nil, &SyntaxError{max(p.next, 1), err}
	}
	return f, nil
}

type parser struct {
	lines []string
	next  int // the number of lines read
}

// line returns the next line; ok is false at the end.
func (p *parser) line() (line string, ok bool) {
	if p.next == len(p.lines) {
		return "", false
	}
	line = strings.TrimSuffix(p.lines[p.next], "\r")
	p.next++
	return line, true
}

func (p *parser) file() (*File, error) {
	f := new(File)
	for i, line := range p.lines {
		if strings.HasPrefix(line, "<<<<<<< ") {
			p.next = i + 1
			return nil, fmt.Errorf("a merge conflict: write the file anew, do not merge it by hand")
		}
	}
	switch first, _ := p.line(); {
	case strings.HasPrefix(first, "screen ") && first != version:
		return nil, fmt.Errorf("%s is of another version of ptywright, which this one cannot read",
			clip(first))
	case first != version:
		return nil, fmt.Errorf("not a golden screen: the first line is not %q", version)
	}
	if err := p.head(f); err != nil {
		return nil, err
	}
	if err := p.rows(f); err != nil {
		return nil, err
	}
	return f, nil
}

// head reads up to the first "--".
func (p *parser) head(f *File) error {
	seen := make(map[string]bool)
	for {
		line, ok := p.line()
		if !ok {
			return fmt.Errorf(`the head has no "--" at its end`)
		}
		if line == "--" {
			break
		}
		word, rest, _ := strings.Cut(line, " ")
		if seen[word] && word != "mask" {
			return fmt.Errorf("a second %q", word)
		}
		seen[word] = true
		var err error
		switch word {
		case "size":
			f.Height, f.Width, err = parseSize(rest)
		case "region":
			var r vt.Rect
			r, err = ParseRegion(rest)
			f.Region = &r
		case "title":
			f.Parts |= Title
			if rest != "none" {
				f.HasTitle = true
				if f.Title, err = strconv.Unquote(rest); err != nil {
					err = fmt.Errorf("title %s is not a quoted string", clip(rest))
				}
			}
		case "cursor":
			f.Parts |= Cursor
			f.Cursor, err = parseCursor(rest)
		case "modes":
			f.Parts |= Modes
			f.Modes = strings.Join(strings.Fields(rest), " ")
		case "mask":
			var m Mask
			m, err = ParseMask(rest)
			f.Masks = append(f.Masks, m)
		default:
			err = fmt.Errorf("unknown word %s: have size, region, title, cursor, modes, mask, --",
				clip(word))
		}
		if err != nil {
			return err
		}
	}
	if !seen["size"] {
		return fmt.Errorf("the head has no size")
	}
	if r := f.Region; r != nil && (r.Rows > f.Height-r.Row || r.Cols > f.Width-r.Col) {
		return &RegionError{*r, f.Height, f.Width}
	}
	return nil
}

// rows reads the rows and the legend.
func (p *parser) rows(f *File) error {
	g := f.region()
	for {
		line, ok := p.line()
		if !ok || line == "--" {
			if len(f.Rows) != g.Rows {
				return fmt.Errorf("%d rows, not %d", len(f.Rows), g.Rows)
			}
			if !ok {
				for y, r := range f.Rows {
					if r.Styles != "" {
						return fmt.Errorf("row %d has styles, and the file no legend", y)
					}
				}
				return nil
			}
			f.Parts |= Styles
			return p.legend(f)
		}
		last := len(f.Rows) - 1
		switch {
		case strings.HasPrefix(line, "|"), strings.HasPrefix(line, `"`):
			r, err := parseRow(line)
			if err != nil {
				return err
			}
			f.Rows = append(f.Rows, r)
		case last < 0:
			return fmt.Errorf(`%s is not a row: it begins with neither | nor "`, clip(line))
		case strings.HasPrefix(line, "~"):
			if f.Rows[last].Styles != "" {
				return fmt.Errorf("a second row of styles")
			}
			f.Rows[last].Styles = strings.TrimRight(line[1:], " ")
			if n := utf8.RuneCountInString(f.Rows[last].Styles); n > g.Cols+maxName+3 {
				return fmt.Errorf("%d styles in a row of %d columns", n, g.Cols)
			}
		case strings.HasPrefix(line, "*"):
			n, err := strconv.Atoi(line[1:])
			if err != nil || n < 1 || n > g.Rows-last {
				return fmt.Errorf("%s rows do not fit a screen of %d", clip(line), g.Rows)
			}
			for range n - 1 {
				f.Rows = append(f.Rows, f.Rows[last])
			}
		default:
			return fmt.Errorf(`%s is not a row: it begins with neither | nor ", ~ or *`, clip(line))
		}
		if len(f.Rows) > g.Rows {
			return fmt.Errorf("more than %d rows", g.Rows)
		}
	}
}

func parseRow(line string) (Row, error) {
	line, wrapped := strings.CutSuffix(line, wrapMark)
	text, plain := strings.CutPrefix(line, "|")
	if !plain {
		var err error
		if text, err = strconv.Unquote(line); err != nil || !strings.HasPrefix(line, `"`) {
			return Row{}, fmt.Errorf("%s is not a quoted string", clip(line))
		}
	}
	if !wrapped {
		text = strings.TrimRight(text, " ")
	}
	return Row{Text: text, Wrapped: wrapped}, nil
}

// legend reads what the letters mean.
func (p *parser) legend(f *File) error {
	f.Legend = make(map[rune]vt.Style)
	for {
		line, ok := p.line()
		if !ok {
			break
		}
		if line == "" {
			continue
		}
		name, words, _ := strings.Cut(line, " ")
		style, err := vt.ParseStyle(words)
		if err != nil {
			return err
		}
		letter, size := utf8.DecodeRuneInString(name)
		switch {
		case name == "base":
			f.Base = style
		case size != len(name) || letter == '.' || !unicode.IsPrint(letter):
			return fmt.Errorf("%s is not a letter of the legend", clip(name))
		case f.Legend[letter] != vt.Style{}:
			return fmt.Errorf("the letter %c has two styles", letter)
		default:
			f.Legend[letter] = style
		}
	}
	for y, r := range f.Rows {
		for _, letter := range r.Styles {
			if _, ok := f.Legend[letter]; !ok && letter != ' ' && letter != '.' {
				return fmt.Errorf("the legend does not have the letter %c of row %d", letter, y)
			}
		}
	}
	return nil
}

func parseSize(s string) (rows, cols int, err error) {
	r, c, ok := strings.Cut(s, "x")
	rows, err = strconv.Atoi(r)
	cols, err2 := strconv.Atoi(c)
	if !ok || err != nil || err2 != nil || rows < 1 || cols < 1 || rows > vt.MaxSide || cols > vt.MaxSide {
		return 0, 0, fmt.Errorf("%s is not a size: rows x columns, such as 24x80, up to %d each",
			clip(s), vt.MaxSide)
	}
	return rows, cols, nil
}

// ParseRegion reads a rectangle as a file has it: "ROW,COLUMN ROWSxCOLUMNS", from 0.
func ParseRegion(s string) (vt.Rect, error) {
	at, size, _ := strings.Cut(s, " ")
	row, col, err := parsePoint(at)
	if err != nil {
		return vt.Rect{}, err
	}
	rows, cols, err := parseSize(size)
	return vt.Rect{Row: row, Col: col, Rows: rows, Cols: cols}, err
}

func parsePoint(s string) (row, col int, err error) {
	r, c, ok := strings.Cut(s, ",")
	row, err = strconv.Atoi(r)
	col, err2 := strconv.Atoi(c)
	if !ok || err != nil || err2 != nil || row < 0 || col < 0 || row >= vt.MaxSide || col >= vt.MaxSide {
		return 0, 0, fmt.Errorf("%s is not a place: ROW,COLUMN, from 0", clip(s))
	}
	return row, col, nil
}

// parseCursor checks the words of a cursor and returns them in their order.
func parseCursor(s string) (string, error) {
	words := strings.Fields(s)
	if len(words) == 1 && words[0] == "hidden" {
		return "hidden", nil
	}
	if len(words) == 0 {
		return "", fmt.Errorf("cursor has no place: ROW,COLUMN or hidden")
	}
	c := vt.Cursor{Visible: true}
	var err error
	if c.Row, c.Col, err = parsePoint(words[0]); err != nil {
		return "", err
	}
	for _, word := range words[1:] {
		switch word {
		case "block":
			c.Shape = vt.CursorBlock
		case "underline":
			c.Shape = vt.CursorUnderline
		case "bar":
			c.Shape = vt.CursorBar
		case "blink":
			c.Blink = true
		default:
			return "", fmt.Errorf("unknown word %s: have block, underline, bar, blink", clip(word))
		}
	}
	return cursorWords(c), nil
}

// Is reports whether b is a golden screen, of this version of the format or another: it begins with
// a line such as "screen 1".
func Is(b []byte) bool {
	first, _, _ := bytes.Cut(b, []byte("\n"))
	n, ok := bytes.CutPrefix(bytes.TrimSuffix(first, []byte("\r")), []byte("screen "))
	return ok && len(n) > 0 && len(bytes.Trim(n, "0123456789")) == 0
}

package testfrom

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/lazy"
	"github.com/ptywright/ptywright/redact"
)

// A lesson is what two runs of the same steps teach about a golden screen.
type lesson struct {
	parts golden.Parts  // those that were the same
	masks []golden.Mask // what covers the rest
	none  string        // why the two cannot be one golden; "": they can
}

// hidden is a screen as it may be written down.
func hidden(s *vt.Screen) *vt.Screen { return record.Mask(s, redact.Default) }

// learn compares two screens that should be the same, and finds masks for what is not.
func learn(a, b *vt.Screen) lesson {
	a, b = hidden(a), hidden(b)
	l := lesson{parts: golden.All}
	if a.Rows != b.Rows || a.Cols != b.Cols {
		return lesson{none: fmt.Sprintf("the screens have %dx%d and %dx%d cells", a.Rows, a.Cols, b.Rows, b.Cols)}
	}
	d, err := compare(a, b, l)
	var many *golden.StylesError
	if errors.As(err, &many) {
		l.parts &^= golden.Styles
		d, err = compare(a, b, l)
	}
	if err != nil {
		return lesson{none: err.Error()}
	}
	for _, h := range d.Head { // "cursor 1,2, not 3,4"
		word, _, _ := strings.Cut(h, " ")
		l.parts &^= map[string]golden.Parts{"title": golden.Title, "cursor": golden.Cursor, "modes": golden.Modes}[word]
	}
	rows := rowsOf(d)
	if len(rows) > max(3, a.Rows/2) {
		return lesson{none: fmt.Sprintf("%d rows differ between the two runs", len(rows))}
	}
	for _, y := range rows {
		masks, ok := cover(a, b, y, l)
		if !ok {
			return lesson{none: fmt.Sprintf("row %d differs between the two runs, and no mask covers that", y)}
		}
		l.masks = masks
	}
	return l
}

func compare(a, b *vt.Screen, l lesson) (*golden.Diff, error) {
	o := golden.Options{Parts: l.parts, Masks: l.masks}
	fa, err := golden.Of(a, o)
	if err != nil {
		return nil, err
	}
	o.Like = fa
	fb, err := golden.Of(b, o)
	if err != nil {
		return nil, err
	}
	return fa.Diff(fb), nil
}

// rowsOf returns the rows that differ.
func rowsOf(d *golden.Diff) []int {
	var rows []int
	for _, c := range d.Changes {
		if !slices.Contains(rows, c.Row) {
			rows = append(rows, c.Row)
		}
	}
	return rows
}

// cover returns the masks of a lesson and more of them, after which a row does not differ.
func cover(a, b *vt.Screen, y int, l lesson) ([]golden.Mask, bool) {
	ta, tb := string(a.AppendLine(nil, y)), string(b.AppendLine(nil, y))
	places := differences(ta, tb)
	var tries [][]golden.Mask
	var some []golden.Mask
	for _, p := range places {
		some = append(some, p.mask(y))
	}
	tries = append(tries, some)
	if len(places) > 0 { // what varies in length moves what follows
		last := places[len(places)-1].mask(y)
		last.ToEnd = true
		tries = append(tries, append(slices.Clone(some[:len(some)-1]), last))
		first := places[0].mask(y)
		first.ToEnd = true
		tries = append(tries, []golden.Mask{first})
	}
	if d, err := compare(a, b, l); err == nil {
		r := vt.Rect{Row: y, Rows: 1, Col: a.Cols}
		right := 0
		for _, c := range d.Changes {
			if c.Row == y {
				r.Col, right = min(r.Col, c.Col), max(right, c.End)
			}
		}
		r.Cols = right - r.Col
		tries = append(tries, []golden.Mask{{Name: "cells", Rect: r}})
	}
	for _, masks := range tries {
		next := l
		next.masks = slices.Clone(l.masks)
		for _, m := range masks {
			m.Name = free(m.Name, next.masks)
			next.masks = append(next.masks, m)
		}
		if d, err := compare(a, b, next); err == nil && len(masks) > 0 && !slices.Contains(rowsOf(d), y) {
			return next.masks, true
		}
	}
	return nil, false
}

// free returns a name that no mask has.
func free(name string, masks []golden.Mask) string {
	base := name
	for n := 2; slices.ContainsFunc(masks, func(m golden.Mask) bool { return m.Name == name }); n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return name
}

// A difference is a place in a row that is another text in each of two runs, and what stands before
// it in both.
type difference struct{ before, a, b string }

var (
	pieces = lazy.Regexp(`\s+|[0-9]+|\pL+|.`)
	// shapes are what varies as a whole: dates, times, folders, hexadecimal and other numbers, words.
	shapes = lazy.Regexp(`\d{4}-\d\d-\d\d|\d\d?:\d\d(?::\d\d)?(?:[.,]\d+)?|~?/[\pL\pN_.+/~-]+|0x[0-9a-fA-F]+|` +
		`\b[0-9a-fA-F]{4,}\b|\d+(?:[.,]\d+)*|\pL+|\s+|.`)
)

// differences compares two texts word by word.
func differences(a, b string) []difference {
	wa, wb := split(a), split(b)
	n := 0
	if len(wa) == len(wb) { // the same words, some of them others
		var all []difference
		for i := range wa {
			if wa[i] != wb[i] && (blank(wa[i]) || blank(wb[i])) {
				all = nil
				break
			}
			if wa[i] != wb[i] {
				all = append(all, difference{strings.Join(wa[max(0, i-2):i], ""), wa[i], wb[i]}.narrow()...)
			}
		}
		if len(all) > 0 {
			return all
		}
	}
	for n < len(wa) && n < len(wb) && wa[n] == wb[n] {
		n++
	}
	m := 0
	for m < len(wa)-n && m < len(wb)-n && wa[len(wa)-1-m] == wb[len(wb)-1-m] {
		m++
	}
	d := difference{strings.Join(wa[max(0, n-2):n], ""), strings.Join(wa[n:len(wa)-m], ""), strings.Join(wb[n:len(wb)-m], "")}
	if strings.TrimSpace(d.a) == "" || strings.TrimSpace(d.b) == "" {
		return nil
	}
	return []difference{d}
}

// narrow cuts a difference of two words down to the shapes in it that differ: of "1|12:31:07" and
// "1|12:44:59" only the times do.
func (d difference) narrow() []difference {
	pa, pb := shapes().FindAllString(d.a, -1), shapes().FindAllString(d.b, -1)
	if len(pa) != len(pb) {
		return []difference{d}
	}
	var all []difference
	same := 0 // where the pieces that are the same begin
	for i := 0; i < len(pa); i++ {
		if pa[i] == pb[i] {
			continue
		}
		before := d.before
		if i > 0 {
			before = strings.Join(pa[max(same, i-2):i], "")
		}
		from := i
		for i+1 < len(pa) && pa[i+1] != pb[i+1] {
			i++
		}
		all = append(all, difference{before, strings.Join(pa[from:i+1], ""), strings.Join(pb[from:i+1], "")})
		same = i + 1
	}
	return all
}

// split cuts a text into words and the blanks between them.
func split(s string) (words []string) {
	begin := 0
	for i, c := range s {
		if i > begin && unicode.IsSpace(c) != blank(s[begin:i]) {
			words = append(words, s[begin:i])
			begin = i
		}
	}
	if begin < len(s) {
		words = append(words, s[begin:])
	}
	return words
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// mask covers a difference, in its row.
func (d difference) mask(y int) golden.Mask {
	pattern, name := d.pattern()
	word := strings.TrimSpace(d.before)
	switch known := name == "clock" || name == "date"; {
	case word != "" && (strings.ContainsFunc(word, unicode.IsLetter) || !known && !blank(d.before[len(d.before)-1:])):
		pattern = regexp.QuoteMeta(d.before) + "(" + pattern + ")"
		if len(name) > 0 && strings.Trim(strings.ToLower(word), "abcdefghijklmnopqrstuvwxyz") == "" && len(word) <= 16 {
			name = strings.ToLower(word) // what stands before it says what it is
		}
	case digits(d.a) && digits(d.b):
		pattern = `\b` + pattern + `\b`
	}
	m := golden.Mask{Name: name, From: y, To: y + 1}
	m.Pattern, _ = regexp.Compile(pattern) // its parts are quoted
	return m
}

// pattern says what both texts look like, and names that.
func (d difference) pattern() (pattern, name string) {
	if hexes(d.a) && hexes(d.b) && (!digits(d.a) || !digits(d.b)) {
		return "[0-9a-fA-F]+", "id"
	}
	if isPath(d.a) && isPath(d.b) {
		return `~?/[\pL\pN_.+/~-]+`, "path"
	}
	if numbers(d.a) && numbers(d.b) && (!digits(d.a) || !digits(d.b)) {
		return `\d[\d.,]*`, "number"
	}
	pa, pb := pieces().FindAllString(d.a, -1), pieces().FindAllString(d.b, -1)
	var b strings.Builder
	same := len(pa) == len(pb)
	for i := 0; same && i < len(pa); i++ {
		x, y := pa[i], pb[i]
		switch {
		case digits(x) && digits(y):
			b.WriteString(`\d`)
			if len(x) != len(y) || len(x) > 2 {
				b.WriteString("+")
			} else if len(x) == 2 {
				b.WriteString(`\d`)
			}
		case x == y:
			b.WriteString(regexp.QuoteMeta(x))
		case letters(x) && letters(y):
			b.WriteString(`\pL+`)
		default:
			same = false
		}
	}
	if !same {
		if strings.ContainsFunc(d.a+d.b, unicode.IsSpace) {
			return `\S.*\S|\S`, "text"
		}
		return `\S+`, "text"
	}
	pattern = b.String()
	switch {
	case strings.Contains(pattern, `\d:\d\d`):
		name = "clock"
	case strings.Count(pattern, "-") == 2 && strings.Contains(pattern, `\d\d-\d\d`):
		name = "date"
	case strings.Contains(pattern, `\d`):
		name = "number"
	default:
		name = "text"
	}
	return pattern, name
}

func every(s string, f func(rune) bool) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool { return !f(c) })
}

func isPath(s string) bool {
	return strings.HasPrefix(s, "/") && every(s, func(c rune) bool {
		return c == '/' || strings.ContainsRune("_.+~-", c) || unicode.IsLetter(c) || unicode.IsDigit(c)
	})
}

func numbers(s string) bool {
	return every(s, func(c rune) bool { return c == '.' || c == ',' || c >= '0' && c <= '9' })
}

func digits(s string) bool  { return every(s, func(c rune) bool { return c >= '0' && c <= '9' }) }
func letters(s string) bool { return every(s, unicode.IsLetter) }
func hexes(s string) bool {
	return every(s, func(c rune) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' })
}

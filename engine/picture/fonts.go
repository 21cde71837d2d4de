package picture

import (
	"compress/gzip"
	_ "embed" // the fonts
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"codeberg.org/go-fonts/dejavu/dejavusansmono"
	"codeberg.org/go-fonts/dejavu/dejavusansmonobold"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// Subsets of fonts for what DejaVu Sans Mono lacks. fonts/make.py makes them again; their licences are
// beside them.
var (
	//go:embed fonts/nerd.ttf.gz
	nerdFont string
	//go:embed fonts/symbols.ttf.gz
	symbolsFont string
	//go:embed fonts/symbols2.ttf.gz
	symbols2Font string
	//go:embed fonts/math.ttf.gz
	mathFont string
	//go:embed fonts/emoji.ttf.gz
	emojiFont string
)

// What a font draws decides how its glyphs are placed.
type fontKind uint8

const (
	textFont   fontKind = iota // on the baseline
	symbolFont                 // as high as they are, in the middle of the cell's columns
	iconFont                   // in the middle of the cell
)

// A typeface is one font. It is safe for concurrent use.
type typeface struct {
	font *sfnt.Font
	kind fontKind
	main bool // the one that gives cells their size

	mu     sync.Mutex // of the file, whose reads are counted, and of buf
	file   *fontFile  // nil: it is embedded
	buf    sfnt.Buffer
	broken bool
}

// guard calls f, which reads the font. A font is data of others: what panics or reads without end has
// no glyphs from then on.
func (t *typeface) guard(f func() error) (ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken {
		return false
	}
	if t.file != nil {
		t.file.allow(glyphReads)
	}
	defer func() {
		if recover() != nil {
			t.broken, ok = true, false
		}
	}()
	err := f()
	if errors.Is(err, errFontReads) {
		t.broken = true
	}
	return err == nil
}

// index returns the number of a character's glyph; 0: the font has none.
func (t *typeface) index(r rune) (i sfnt.GlyphIndex) {
	t.guard(func() (err error) { i, err = t.font.GlyphIndex(&t.buf, r); return err })
	return i
}

// load returns a character's outline at a size in pixels, and its advance.
func (t *typeface) load(r rune, size float64) (out sfnt.Segments, advance float64, ok bool) {
	ok = t.guard(func() error {
		i, err := t.font.GlyphIndex(&t.buf, r)
		if err != nil {
			return err
		}
		if i == 0 {
			return sfnt.ErrNotFound
		}
		ppem := fixed.Int26_6(size * 64)
		a, err := t.font.GlyphAdvance(&t.buf, i, ppem, font.HintingNone)
		if err != nil {
			return err
		}
		advance = float64(a) / 64
		s, err := t.font.LoadGlyph(&t.buf, i, ppem, nil)
		out = append(out, s...) // s is in the buffer
		return err
	})
	return out, advance, ok
}

// builtIn are the embedded fonts: DejaVu Sans Mono, regular and bold, and what it lacks. Italics are the
// same, slanted: the oblique cuts would add half a megabyte to the binary.
var builtIn = sync.OnceValue(func() (f struct {
	regular, bold, nerd, emoji *typeface
	symbols                    []*typeface
}) {
	parse := func(ttf []byte, kind fontKind) *typeface {
		font, err := sfnt.Parse(ttf)
		if err != nil {
			panic(err) // the font is ours
		}
		return &typeface{font: font, kind: kind}
	}
	f.regular, f.bold = parse(dejavusansmono.TTF, textFont), parse(dejavusansmonobold.TTF, textFont)
	f.regular.main, f.bold.main = true, true
	f.nerd, f.emoji = parse(unpack(nerdFont), iconFont), parse(unpack(emojiFont), iconFont)
	for _, packed := range []string{symbolsFont, symbols2Font, mathFont} {
		f.symbols = append(f.symbols, parse(unpack(packed), symbolFont))
	}
	return f
})

// unpack returns the content of an embedded file.
func unpack(packed string) []byte {
	z, err := gzip.NewReader(strings.NewReader(packed))
	if err != nil {
		panic(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	return data
}

// Fonts are the fonts of pictures: the built-in ones, files, and those of the system. They are safe for
// concurrent use. nil is the built-in fonts and the system's.
type Fonts struct {
	given     []*typeface
	installed func() *installed

	mu sync.Mutex
	// protects the maps
	faces  map[metrics]*face
	chosen map[choice]*typeface
}

// A choice is what decides which font draws a character.
type choice struct {
	r                    rune
	bold, emoji, several bool
}

// facesMax and chosenMax bound what is remembered.
const (
	facesMax  = 4
	chosenMax = 10_000
)

func newFonts(given []*typeface, system func() *installed) *Fonts {
	return &Fonts{given: given, installed: system, faces: map[metrics]*face{},
		chosen: map[choice]*typeface{}}
}

var systemFonts = sync.OnceValue(func() *Fonts {
	return newFonts(nil, sync.OnceValue(func() *installed { return findFonts(fontFolders()) }))
})

// OpenFonts returns the built-in fonts, those of files (.ttf, .otf, .ttc, .otc), and the system's: a
// character that the built-in text font lacks is looked for in that order. The files are read until the
// program ends. Errors name the file: [ErrFont], [ErrTooLarge], and the system's.
func OpenFonts(files ...string) (*Fonts, error) {
	if len(files) == 0 {
		return systemFonts(), nil
	}
	var given []*typeface
	for _, path := range files {
		t, err := openFont(path, 0)
		if err != nil {
			return nil, fmt.Errorf("the font %s: %w", filepath.Base(path), bare(err))
		}
		given = append(given, t)
	}
	return newFonts(given, func() *installed { return systemFonts().installed() }), nil
}

// face returns the face of a size in pixels.
func (fs *Fonts) face(size float64) *face { return fs.faceOf(metrics{size: size, line: 1}) }

// faceOf returns the face with cells of those measures.
func (fs *Fonts) faceOf(m metrics) *face {
	if fs == nil {
		fs = systemFonts()
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f := fs.faces[m]
	if f == nil {
		if len(fs.faces) >= facesMax {
			clear(fs.faces)
		}
		f = newFace(fs, m)
		fs.faces[m] = f
	}
	return f
}

// choose returns the font that draws a glyph; nil when none has it.
func (fs *Fonts) choose(g glyph) *typeface {
	if g.base != 0 { // a mark is best drawn by the font of its letter
		if t := fs.choose(glyph{r: g.base, bold: g.bold, emoji: g.emoji, cols: g.cols}); t != nil &&
			t.index(g.r) != 0 {
			return t
		}
	}
	c := choice{g.r, g.bold, g.emoji, g.several}
	fs.mu.Lock()
	t, known := fs.chosen[c]
	fs.mu.Unlock()
	if known {
		return t
	}
	t = fs.look(c)
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if len(fs.chosen) >= chosenMax {
		clear(fs.chosen)
	}
	fs.chosen[c] = t
	return t
}

func (fs *Fonts) look(c choice) *typeface {
	own := builtIn()
	if c.several {
		return own.emoji
	}
	order := []*typeface{own.regular}
	if c.bold { // the bold cut has fewer
		order = []*typeface{own.bold, own.regular}
	}
	if c.emoji {
		order = append([]*typeface{own.emoji}, order...)
	}
	order = append(append(append(order, fs.given...), own.nerd), append(own.symbols[:3:3], own.emoji)...)
	for _, t := range order {
		if t == own.emoji && private(c.r) { // what it has there are emoji of several characters
			continue
		}
		if t.index(c.r) != 0 {
			return t
		}
	}
	return fs.installed().find(c.r, c.bold)
}

// drawnAlike reports whether every picture of a format with text, too, draws a character as a shape: its
// readers' fonts seldom have it, or have a coloured picture for it.
func drawnAlike(r rune) bool {
	if r < 0x2300 || r >= 0x1f000 && r < 0xf0000 || r >= 0x2e80 && r < 0xe000 {
		return false
	}
	own := builtIn()
	has := func(t *typeface) bool { return t.index(r) != 0 }
	return !has(own.regular) && (has(own.nerd) || slices.ContainsFunc(own.symbols, has))
}

// Bounds of fonts that are read from files: a font with all of Han has 20 MB, one of its glyphs takes
// some 1,000 reads. They are generous: beyond them a font is broken, or made to break its reader.
const (
	fontBytesMax = 256 << 20
	parseReads   = 64 << 20 // bytes to open a font, and readCost for each read
	glyphReads   = 2 << 20  // and for a glyph: a tenth of a second
)

// readCost is what a read costs beside its bytes.
const readCost = 16

var errFontReads = errors.New("the font reads without end")

// A fontFile is a file whose reads are bounded.
type fontFile struct {
	*os.File
	left int
}

func (f *fontFile) allow(n int) { f.left = n }

// ReadAt reads while there is some allowance left.
func (f *fontFile) ReadAt(p []byte, at int64) (int, error) {
	if f.left -= len(p) + readCost; f.left < 0 {
		return 0, errFontReads
	}
	return f.File.ReadAt(p, at)
}

// bare takes the path from an error of the system, which is told with it once.
func bare(err error) error {
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		return at.Err
	}
	return err
}

// openFontFile opens a regular file of a size that a font may have.
func openFontFile(path string) (*fontFile, error) {
	info, err := os.Stat(path) // before it is opened: to open a pipe would block
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a regular file: give a .ttf, .otf, .ttc or .otc")
	}
	if info.Size() > fontBytesMax {
		return nil, fmt.Errorf("%w: it has %d bytes, the limit is %d", ErrTooLarge, info.Size(),
			fontBytesMax)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &fontFile{File: file, left: parseReads}, nil
}

// openFont reads font number n of a file.
func openFont(path string, n int) (t *typeface, err error) {
	f, err := openFontFile(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: its tables cannot be read", ErrFont)
		}
		if err != nil {
			f.Close()
		}
	}()
	all, err := sfnt.ParseCollectionReaderAt(f)
	if err == nil {
		var one *sfnt.Font
		if one, err = all.Font(n); err == nil {
			return &typeface{font: one, file: f}, nil
		}
	}
	return nil, notFont(f, err)
}

// ErrFont is about a file that is no font of a kind that pictures are drawn with.
var ErrFont = errors.New("is not a whole TrueType or OpenType font (.ttf, .otf, .ttc or .otc)")

// otherFonts are kinds of fonts that are not read, by how their files begin.
var otherFonts = []struct{ begins, what string }{
	{"wOFF", "is a web font (WOFF), which is compressed: give the .ttf or .otf that it was made from"},
	{"wOF2", "is a web font (WOFF2), which is compressed: give the .ttf or .otf that it was made from, " +
		"or what woff2_decompress makes of it"},
	{"%!", "is a Type 1 font: give a .ttf or .otf of the same design"},
	{"\x80\x01", "is a Type 1 font: give a .ttf or .otf of the same design"},
	{"STARTFONT", "is a bitmap font (BDF): give a .ttf or .otf of the same design"},
	{"\x01fcp", "is a bitmap font (PCF): give a .ttf or .otf of the same design"},
	{"\x1f\x8b", "is compressed: give what gunzip makes of it"},
	{"PK\x03\x04", "is an archive: give the .ttf or .otf in it"},
}

// notFont says what a file is that could not be read as a font, and what to give instead; err is what
// the reader said.
func notFont(f *fontFile, err error) error {
	if errors.Is(err, errFontReads) {
		return fmt.Errorf("%w: %w", ErrFont, err)
	}
	head := make([]byte, 16)
	f.allow(glyphReads)
	n, _ := f.ReadAt(head, 0)
	for _, o := range otherFonts {
		if strings.HasPrefix(string(head[:n]), o.begins) {
			return otherFontError(o.what)
		}
	}
	return ErrFont
}

// An otherFontError says which kind of font a file is. It is [ErrFont].
type otherFontError string

func (e otherFontError) Error() string { return string(e) }
func (e otherFontError) Unwrap() error { return ErrFont }

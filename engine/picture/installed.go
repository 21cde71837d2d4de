package picture

import (
	"cmp"
	"encoding/binary"
	"encoding/xml"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Bounds of the search for fonts: a system with all of Noto has some 700 files in 100 folders, 8 levels
// deep at most.
const (
	fontFilesMax = 8192
	foldersMax   = 4096
	rangesMax    = 20_000   // of one font
	cmapMax      = 1 << 20  // bytes of one font's table of characters
	openMax      = 64       // fonts that are drawn from
	confMax      = 64 << 10 // bytes of fonts.conf
)

// installed are the fonts of a system, without those that are embedded. It is safe for concurrent use.
type installed struct {
	files []fontInfo

	mu sync.Mutex
	// protects what is below
	open map[fontKey]*typeface
}

type fontKey struct {
	path  string
	index int
}

// A fontInfo is a font that was found: which characters it has, and how well it suits a terminal.
type fontInfo struct {
	fontKey
	ranges [][2]rune // ascending
	name   string    // of the file, in lower case
}

func (i *fontInfo) has(r rune) bool {
	n, found := slices.BinarySearchFunc(i.ranges, r,
		func(x [2]rune, r rune) int { return cmp.Compare(x[1], r) })
	return found || n < len(i.ranges) && i.ranges[n][0] <= r
}

// fontFolders are where a system has its fonts: those that fontconfig is told of, and the usual ones.
func fontFolders() []string {
	home, _ := os.UserHomeDir()
	in := func(parts ...string) []string {
		if parts[0] == "" {
			return nil
		}
		return []string{filepath.Join(parts...)}
	}
	switch runtime.GOOS {
	case "windows":
		return append(in(os.Getenv("WINDIR"), "Fonts"),
			in(os.Getenv("LOCALAPPDATA"), "Microsoft", "Windows", "Fonts")...)
	case "darwin":
		return append(in(home, "Library", "Fonts"), "/Library/Fonts", "/System/Library/Fonts",
			"/Network/Library/Fonts")
	}
	data := cmp.Or(os.Getenv("XDG_DATA_HOME"), filepath.Join(home, ".local", "share"))
	all := append(in(data, "fonts"), in(home, ".fonts")...)
	all = append(all, fontconfigFolders("/etc/fonts/fonts.conf", home, data)...)
	return append(all, "/usr/local/share/fonts", "/usr/share/fonts", "/usr/share/X11/fonts",
		"/run/current-system/sw/share/X11/fonts")
}

// fontconfigFolders are the <dir> elements of a fonts.conf.
func fontconfigFolders(path, home, data string) (dirs []string) {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	var conf struct {
		Dir []struct {
			Prefix string `xml:"prefix,attr"`
			Path   string `xml:",chardata"`
		} `xml:"dir"`
	}
	if xml.NewDecoder(io.LimitReader(f, confMax)).Decode(&conf) != nil {
		return nil
	}
	for _, d := range conf.Dir {
		switch p := strings.TrimSpace(d.Path); {
		case d.Prefix == "xdg":
			dirs = append(dirs, filepath.Join(data, p))
		case strings.HasPrefix(p, "~/"):
			dirs = append(dirs, filepath.Join(home, p[2:]))
		case filepath.IsAbs(p):
			dirs = append(dirs, p)
		}
	}
	return dirs
}

// findFonts looks through folders and what is below them. What cannot be read is left out.
func findFonts(folders []string) *installed {
	i := &installed{open: map[fontKey]*typeface{}}
	seen, walked := map[string]bool{}, 0
	for _, dir := range folders {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case len(seen) >= fontFilesMax || walked >= foldersMax:
				return fs.SkipAll
			case err != nil:
				return nil
			case d.IsDir():
				walked++
				if seen[path] {
					return fs.SkipDir
				}
				seen[path] = true
				return nil
			case !slices.Contains(fontEndings, strings.ToLower(filepath.Ext(path))) || seen[path]:
				return nil
			}
			seen[path] = true
			i.files = append(i.files, fontsOf(path)...)
			return nil
		})
	}
	return i
}

var fontEndings = []string{".ttf", ".otf", ".ttc", ".otc"}

// rank is how well a font suits a character: less is better. Plain upright cuts come before others,
// fonts with the name of the character's script before those that have it besides.
func (i *fontInfo) rank(script string, bold bool) (n int) {
	for word, cost := range map[string]int{"italic": 8, "oblique": 8, "thin": 4, "light": 4, "black": 4,
		"heavy": 4, "condensed": 6, "narrow": 6, "serif": 2, "nastaliq": 2, "kufi": 1, "looped": 1,
		"medium": 1, "demi": 3, "extra": 2, "ui": 1, "color": 16, "lastresort": 1000} {
		if strings.Contains(i.name, word) {
			n += cost
		}
	}
	if strings.Contains(i.name, "bold") != bold {
		n += 3
	}
	if strings.Contains(i.name, "sans") {
		n--
	}
	if strings.Contains(i.name, "mono") {
		n--
	}
	if script == "" || !strings.Contains(i.name, script) {
		n += 10
	}
	return n
}

// scriptWords are what the files of fonts call a script, where it is not its name.
var scriptWords = map[string]string{"han": "cjk", "hiragana": "cjk", "katakana": "cjk",
	"hangul": "cjk", "bopomofo": "cjk"}

// script returns the word that the file of a font of r's script has in its name; "": none.
func script(r rune) string {
	for name, table := range unicode.Scripts {
		if name != "Common" && name != "Inherited" && unicode.Is(table, r) {
			name = strings.ToLower(strings.ReplaceAll(name, "_", ""))
			return cmp.Or(scriptWords[name], name)
		}
	}
	if unicode.Is(unicode.Han, r) || r >= 0x3000 && r < 0x3040 || r >= 0xff00 && r < 0xfff0 {
		return "cjk"
	}
	return ""
}

// find returns the font for a character; nil when no font has it.
func (i *installed) find(r rune, bold bool) *typeface {
	var fit []*fontInfo
	for n := range i.files {
		if i.files[n].has(r) {
			fit = append(fit, &i.files[n])
		}
	}
	word := script(r)
	slices.SortStableFunc(fit,
		func(a, b *fontInfo) int { return cmp.Compare(a.rank(word, bold), b.rank(word, bold)) })
	for _, f := range fit {
		if t := i.typeface(f.fontKey); t != nil {
			// A font of coloured pictures has the character and no outline of it.
			if out, _, ok := t.load(r, DefaultFontSize); ok && (len(out) > 0 || unicode.IsSpace(r)) {
				return t
			}
		}
	}
	return nil
}

// typeface opens a font, once.
func (i *installed) typeface(k fontKey) *typeface {
	i.mu.Lock()
	defer i.mu.Unlock()
	t, ok := i.open[k]
	if !ok && len(i.open) < openMax {
		t, _ = openFont(k.path, k.index) // nil: it is none
		i.open[k] = t
	}
	return t
}

// fontsOf are the fonts of a file with the characters that they have; none when it is none.
func fontsOf(path string) (all []fontInfo) {
	f, err := openFontFile(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 12)
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil
	}
	starts := []int64{0}
	if string(head[:4]) == "ttcf" {
		n := min(binary.BigEndian.Uint32(head[8:]), 64)
		table := make([]byte, 4*n)
		if _, err := f.ReadAt(table, 12); err != nil {
			return nil
		}
		starts = nil
		for i := range n {
			starts = append(starts, int64(binary.BigEndian.Uint32(table[4*i:])))
		}
	}
	for n, at := range starts {
		if ranges := coverage(f, at); len(ranges) > 0 {
			all = append(all, fontInfo{fontKey{path, n}, ranges,
				strings.ToLower(filepath.Base(path))})
		}
		if len(all) > 0 { // those of a collection have the same characters, drawn in other ways
			break
		}
	}
	return all
}

// coverage reads which characters a font has from its table cmap (OpenType 1.9, formats 4 and 12).
func coverage(f *fontFile, at int64) [][2]rune {
	read := func(at int64, n int) []byte {
		b := make([]byte, n)
		if n > cmapMax {
			return nil
		}
		if _, err := f.ReadAt(b, at); err != nil {
			return nil
		}
		return b
	}
	head := read(at, 12)
	if head == nil {
		return nil
	}
	tables := read(at+12, 16*int(binary.BigEndian.Uint16(head[4:])))
	var cmap []byte
	for ; len(tables) >= 16; tables = tables[16:] {
		if string(tables[:4]) == "cmap" {
			cmap = read(int64(binary.BigEndian.Uint32(tables[8:])),
				int(min(binary.BigEndian.Uint32(tables[12:]), cmapMax)))
		}
	}
	if len(cmap) < 4 {
		return nil
	}
	var best [][2]rune
	for i := range min(int(binary.BigEndian.Uint16(cmap[2:])), 64) {
		if len(cmap) < 4+8*(i+1) {
			break
		}
		record := cmap[4+8*i:]
		platform, offset := binary.BigEndian.Uint16(record), binary.BigEndian.Uint32(record[4:])
		if platform != 0 && platform != 3 || int64(offset)+16 > int64(len(cmap)) {
			continue
		}
		if r := cmapRanges(cmap[offset:]); len(r) > len(best) {
			best = r
		}
	}
	slices.SortFunc(best, func(a, b [2]rune) int { return cmp.Compare(a[0], b[0]) })
	return best
}

// cmapRanges reads one subtable.
func cmapRanges(t []byte) (out [][2]rune) {
	switch binary.BigEndian.Uint16(t) {
	case 4:
		n := int(binary.BigEndian.Uint16(t[6:])) / 2
		if len(t) < 16+4*n {
			return nil
		}
		for i := range n {
			to, from := binary.BigEndian.Uint16(t[14+2*i:]), binary.BigEndian.Uint16(t[16+2*n+2*i:])
			if from <= to && from != 0xffff {
				out = append(out, [2]rune{rune(from), rune(to)})
			}
		}
	case 12:
		n := int(min(binary.BigEndian.Uint32(t[12:]), rangesMax))
		for i := range n {
			if len(t) < 16+12*(i+1) {
				break
			}
			from, to := binary.BigEndian.Uint32(t[16+12*i:]), binary.BigEndian.Uint32(t[20+12*i:])
			if from <= to && to <= unicode.MaxRune {
				out = append(out, [2]rune{rune(from), rune(to)})
			}
		}
	}
	return out
}

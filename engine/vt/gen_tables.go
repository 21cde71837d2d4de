//go:build ignore

// Writes tables.go: the width of every code point and its class in the grapheme rules, as reported
// by clipperhouse/displaywidth and clipperhouse/uax29. Run with: go generate ./engine/vt
package main

import (
	"bytes"
	"fmt"
	"go/format"
	"log"
	"os"

	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/graphemes"
)

// joined reports whether s is a single grapheme cluster.
func joined(s string) bool {
	g := graphemes.FromString(s)
	return g.Next() && g.Value() == s
}

const (
	ka, virama = "\u0915", "\u094d" // Devanagari consonant and linker
	zwj, emoji = "\u200d", "\U0001f600"
)

// class returns the name of the grapheme class of s, derived from what it joins to.
func class(s string) string {
	switch {
	case s == zwj:
		return "classZWJ"
	case joined("a" + s):
		switch {
		case !joined(emoji + s + zwj + emoji):
			return "classSpacingMark"
		case joined(ka + s + ka):
			return "classLinker"
		case joined(ka + virama + s + ka):
			return "classExtend"
		}
		return "classExtendPlain"
	case !joined(s + "\u0301"):
		return "classControl"
	case joined(s + "a"):
		return "classPrepend"
	case joined(s + "\U0001f1e6"):
		return "classRegional"
	case joined(s + "\u1100"):
		return "classL"
	case joined("\uac00" + s):
		if joined(s + "\u1161") {
			return "classV"
		}
		return "classT"
	case joined(s + "\u1161"):
		return "classLV"
	case joined(s + "\u11a8"):
		return "classLVT"
	case joined(s + zwj + emoji):
		return "classPictographic"
	case joined(s + virama + ka):
		return "classConsonant"
	}
	return "classOther"
}

var order = []string{"classOther", "classControl", "classExtend", "classExtendPlain", "classLinker", "classZWJ",
	"classSpacingMark", "classPrepend", "classRegional", "classL", "classV", "classT", "classLV", "classLVT",
	"classPictographic", "classConsonant"}

// width is the number of columns of a code point on its own, as wcwidth counts: displaywidth counts
// clusters, so a few single code points differ.
func width(r rune) int {
	switch {
	case r == 0xad: // soft hyphen: shown
		return 1
	case r >= 0x1f1e6 && r <= 0x1f1ff: // one half of a flag
		return 1
	case r >= 0x1160 && r <= 0x11ff, r >= 0xd7b0 && r <= 0xd7ff: // conjoining vowels and finals
		return 0
	}
	return displaywidth.Rune(r)
}

// textStyle are the characters that are emoji, and wide, unless U+FE0E asks for their text style:
// those in emoji-variation-sequences.txt that have Emoji_Presentation (UTS #51, data files of
// Unicode 15). displaywidth leaves their width alone.
var textStyle = [][2]rune{
	{0x231a, 0x231b}, {0x23e9, 0x23ea}, {0x23f3, 0x23f3}, {0x25fd, 0x25fe}, {0x2614, 0x2615}, {0x2648, 0x2653},
	{0x267f, 0x267f}, {0x2693, 0x2693}, {0x26a1, 0x26a1}, {0x26aa, 0x26ab}, {0x26bd, 0x26be}, {0x26c4, 0x26c5},
	{0x26d4, 0x26d4}, {0x26ea, 0x26ea}, {0x26f2, 0x26f3}, {0x26f5, 0x26f5}, {0x26fa, 0x26fa}, {0x26fd, 0x26fd},
	{0x2753, 0x2753}, {0x2757, 0x2757}, {0x2b1b, 0x2b1c}, {0x2b50, 0x2b50}, {0x2b55, 0x2b55}, {0x1f004, 0x1f004},
	{0x1f21a, 0x1f21a}, {0x1f22f, 0x1f22f}, {0x1f30d, 0x1f30f}, {0x1f315, 0x1f315}, {0x1f31c, 0x1f31c},
	{0x1f378, 0x1f378}, {0x1f393, 0x1f393}, {0x1f3a7, 0x1f3a7}, {0x1f3ac, 0x1f3ae}, {0x1f3c2, 0x1f3c2},
	{0x1f3c4, 0x1f3c4}, {0x1f3c6, 0x1f3c6}, {0x1f3ca, 0x1f3ca}, {0x1f3e0, 0x1f3e0}, {0x1f3ed, 0x1f3ed},
	{0x1f408, 0x1f408}, {0x1f415, 0x1f415}, {0x1f41f, 0x1f41f}, {0x1f426, 0x1f426}, {0x1f442, 0x1f442},
	{0x1f446, 0x1f449}, {0x1f44d, 0x1f44e}, {0x1f453, 0x1f453}, {0x1f46a, 0x1f46a}, {0x1f47d, 0x1f47d},
	{0x1f4a3, 0x1f4a3}, {0x1f4b0, 0x1f4b0}, {0x1f4b3, 0x1f4b3}, {0x1f4bb, 0x1f4bb}, {0x1f4bf, 0x1f4bf},
	{0x1f4cb, 0x1f4cb}, {0x1f4da, 0x1f4da}, {0x1f4df, 0x1f4df}, {0x1f4e4, 0x1f4e6}, {0x1f4ea, 0x1f4ed},
	{0x1f4f7, 0x1f4f7}, {0x1f4f9, 0x1f4fb}, {0x1f508, 0x1f508}, {0x1f50d, 0x1f50d}, {0x1f512, 0x1f513},
	{0x1f550, 0x1f567}, {0x1f610, 0x1f610}, {0x1f687, 0x1f687}, {0x1f68d, 0x1f68d}, {0x1f691, 0x1f691},
	{0x1f694, 0x1f694}, {0x1f698, 0x1f698}, {0x1f6ad, 0x1f6ad}, {0x1f6b2, 0x1f6b2}, {0x1f6b9, 0x1f6ba},
	{0x1f6bc, 0x1f6bc},
}

func main() {
	number := map[string]byte{}
	for i, name := range order {
		number[name] = byte(i)
	}
	const page = 128
	props := make([]byte, 0x110000)
	for r := range props {
		if r >= 0xd800 && r < 0xe000 {
			props[r] = 1
			continue
		}
		s := string(rune(r))
		w := width(rune(r))
		props[r] = byte(w) | number[class(s)]<<2
		if w == 1 && r > 0x7f && displaywidth.String(s+"\ufe0f") == 2 {
			props[r] |= 0x40
		}
		if w == 1 && (r == '#' || r == '*' || r >= '0' && r <= '9') {
			props[r] |= 0x40
		}
	}
	for _, span := range textStyle {
		for r := span[0]; r <= span[1]; r++ {
			props[r] |= 0x80
		}
	}
	var pages [][]byte
	var index []byte
	seen := map[string]byte{}
	for i := 0; i < len(props); i += page {
		p := props[i : i+page]
		k, ok := seen[string(p)]
		if !ok {
			if len(pages) > 255 {
				log.Fatal("more than 256 pages")
			}
			k = byte(len(pages))
			seen[string(p)] = k
			pages = append(pages, p)
		}
		index = append(index, k)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Code generated by gen_tables.go; DO NOT EDIT.\n\npackage vt\n\n")
	fmt.Fprintf(&b, "// Grapheme classes of UAX #29 as far as the rules need them.\nconst (\n")
	for i, name := range order {
		fmt.Fprintf(&b, "%s = %d\n", name, i)
	}
	fmt.Fprintf(&b, ")\n\n// pageOf gives the page of runeProps for each %d code points.\nconst pageOf = %s\n", page, str(index))
	fmt.Fprintf(&b, "\n// runeProps: bits 0-1 width, 2-5 class, 6 drawn wide with a following U+FE0F, 7 narrow with U+FE0E.\nconst runeProps = %s\n", str(bytes.Join(pages, nil)))
	src, err := format.Source(b.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("tables.go", src, 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(pages), "pages,", len(index)+len(pages)*page, "bytes")
}

// str writes b as a string constant, 64 bytes a line.
func str(b []byte) string {
	var out bytes.Buffer
	fmt.Fprintf(&out, "\"\"")
	for len(b) > 0 {
		n := min(64, len(b))
		fmt.Fprintf(&out, "+\n\"")
		for _, c := range b[:n] {
			fmt.Fprintf(&out, "\\x%02x", c)
		}
		fmt.Fprintf(&out, "\"")
		b = b[n:]
	}

	return out.String()
}

package picture

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"codeberg.org/go-fonts/dejavu/dejavusansmono"

	"github.com/ptywright/ptywright/engine/vt"
)

// lacking are the characters of a text that are drawn as their numbers.
func lacking(t testing.TB, fonts *Fonts, text string) string {
	t.Helper()
	term := vt.New(1, 200, vt.Options{})
	term.Feed([]byte("\x1b[?25l\x1b[?2027h" + text))
	var got []rune
	_, err := PNG(term.Snapshot(), Options{Fonts: fonts, Missing: func(r rune) {
		if !slices.Contains(got, r) {
			got = append(got, r)
		}
	}})
	must(t, err)
	return string(got)
}

// TestBuiltInFonts: what agents and themed prompts print is drawn on any machine, and what is not is
// named.
func TestBuiltInFonts(t *testing.T) {
	for name, text := range map[string]string{
		"Claude Code": "⏺ ⎿ ⏵⏵ ✻ ✽ ✢ · ❯ ╭─╮ ☐ ☒ ⎿  ⧉ ◯ ⏸ ↓ …",
		"Nerd Fonts":  "\ue0a0 \ue0b0\ue0b1\ue0b2\ue0b3\ue0b4\ue0b6 \uf015 \ue718 \uf1d3 \uea60 \uf408 \U000f0001 \U000f1af0",
		"emoji":       "😀 🚀 ✅ ❌ ⚠️ 🎉 👍🏽 👩‍👩‍👧 🇩🇪 1️⃣ ❤️ ☁️ 🧪 🫠",
		"symbols":     "★ ☕ ⌘ ⏎ ⌫ ⎇ ⟳ ⬢ ⠿ ⣿ ▁▂▃ 🬀🬻 ⌥ ⇧ ⏏",
	} {
		if got := lacking(t, ownFonts(), text); got != "" {
			t.Errorf("%s: no glyph for %q", name, got)
		}
	}
	if got := lacking(t, ownFonts(), "日本 ไทย עבר x"); got != "日本ไยทעבר" &&
		len([]rune(got)) != 8 {
		t.Errorf("named as missing: %q", got)
	}
}

// TestInstalledFonts: there is no number in a picture where a font is installed that has the character.
// It installs nothing, and looks at what there is.
func TestInstalledFonts(t *testing.T) {
	fonts := systemFonts()
	for script, text := range map[string]string{"Han": "日本語", "Hangul": "한국어", "Kana": "かなカナ",
		"Hebrew": "עברית", "Thai": "ภาษาไทย ไม่", "Arabic": "العربية", "Devanagari": "हिन्दी",
		"Georgian": "ქართული", "Armenian": "հայերեն", "Tamil": "தமிழ்"} {
		var none []rune
		for _, r := range text {
			if !slices.ContainsFunc(fonts.installed().files, func(f fontInfo) bool { return f.has(r) }) {
				none = append(none, r)
			}
		}
		missing := lacking(t, fonts, text)
		for _, r := range missing {
			if !slices.Contains(none, r) {
				t.Errorf("%s: U+%04X is installed and not drawn", script, r)
			}
		}
		t.Logf("%s: missing %q", script, missing)
	}
}

// TestGivenFont draws what only a file has, and is asked before what is installed.
func TestGivenFont(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ttf")
	// The usual font, with its character A moved to one that no other font has (format 4 of the table).
	must(t, os.WriteFile(path, dejavusansmono.TTF, 0o600))
	fonts, err := OpenFonts(path)
	must(t, err)
	if fonts.given[0].index('A') == 0 || fonts.given[0].file == nil {
		t.Fatal("the file is not read")
	}
	only := newFonts(fonts.given, func() *installed { return findFonts(nil) })
	if got := lacking(t, only, "ABC"); got != "" {
		t.Errorf("missing %q", got)
	}
	found := findFonts([]string{filepath.Dir(path), filepath.Join(filepath.Dir(path), "none")})
	if len(found.files) != 1 || !found.files[0].has('A') || found.files[0].has(0x65e5) {
		t.Errorf("found %v", len(found.files))
	}
	if tf := found.find('A', false); tf == nil || tf.index('A') == 0 {
		t.Error("the font that was found draws nothing")
	}
}

// TestBadFonts: what is no font, or a broken one, is an error that names it, and is left out of those
// that are installed.
func TestBadFonts(t *testing.T) {
	dir := t.TempDir()
	whole := dejavusansmono.TTF
	for name, data := range map[string][]byte{"empty.ttf": nil, "text.ttf": []byte("no font"),
		"cut.ttf": whole[:5000], "head.ttf": whole[:12],
		"ttc.ttc":   append([]byte("ttcf\x00\x01\x00\x00\xff\xff\xff\xff"), bytes.Repeat([]byte{0xff}, 4096)...),
		"zeros.otf": append([]byte("OTTO\xff\xff"), make([]byte, 8192)...)} {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, data, 0o600))
		if _, err := OpenFonts(path); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, want := range map[string]string{"none.ttf": "no such file", ".": "is not a regular file"} {
		if runtime.GOOS == "windows" && name == "none.ttf" {
			want = "cannot find"
		}
		if _, err := OpenFonts(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if runtime.GOOS != "windows" {
		must(t, os.Symlink(dir, filepath.Join(dir, "again")))
	}
	if f := findFonts([]string{dir}); len(f.files) != 0 {
		t.Errorf("%d fonts in a folder of broken ones", len(f.files))
	}
}

// TestOtherFonts: a font of a kind that is not read is told as such, with what to give instead.
func TestOtherFonts(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ begins, want string }{
		"web.woff":    {"wOFF\x00\x01\x00\x00", "is a web font (WOFF)"},
		"web2.woff2":  {"wOF2\x00\x01\x00\x00", "woff2_decompress"},
		"type1.pfb":   {"\x80\x01\x10\x00", "is a Type 1 font"},
		"bitmap.bdf":  {"STARTFONT 2.1\n", "(BDF)"},
		"packed.gz":   {"\x1f\x8b\x08\x00", "gunzip"},
		"package.zip": {"PK\x03\x04\x14\x00", "is an archive"},
		"text.ttf":    {"a text", "is not a whole TrueType or OpenType font"},
		"short":       {"w", "is not a whole TrueType or OpenType font"},
	} {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(c.begins+strings.Repeat("x", len(name)%2*1000)), 0o600))
		_, err := OpenFonts(path)
		if !errors.Is(err, ErrFont) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "sfnt") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFontReadsAreBounded: a font that reads without end has no glyph, from then on.
func TestFontReadsAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ttf")
	must(t, os.WriteFile(path, dejavusansmono.TTF, 0o600))
	f, err := openFont(path, 0)
	must(t, err)
	if _, _, ok := f.load('A', 15); !ok {
		t.Fatal("no glyph")
	}
	if ok := f.guard(func() error {
		b := make([]byte, 1)
		for {
			if _, err := f.file.ReadAt(b, 0); err != nil {
				return err
			}
		}
	}); ok || !f.broken {
		t.Error("it reads without end")
	}
	if _, _, ok := f.load('A', 15); ok {
		t.Error("a broken font draws")
	}
	g, err := openFont(path, 0)
	must(t, err)
	if ok := g.guard(func() error { panic("hostile") }); ok || !g.broken {
		t.Error("a panic is not caught")
	}
}

// FuzzFont: no file makes a picture fail or last.
func FuzzFont(f *testing.F) {
	f.Add(dejavusansmono.TTF[:20000], uint32(300), byte(7))
	f.Add([]byte("ttcf\x00\x01\x00\x00\x00\x00\x00\x01\x00\x00\x00\x10"), uint32(0), byte(0))
	f.Fuzz(func(t *testing.T, data []byte, at uint32, with byte) {
		whole := append(bytes.Clone(data), dejavusansmono.TTF[min(len(data), len(dejavusansmono.TTF)):]...)
		whole[int(at)%len(whole)] ^= with
		path := filepath.Join(t.TempDir(), "a.ttf")
		must(t, os.WriteFile(path, whole, 0o600))
		_ = fontsOf(path)
		one, err := openFont(path, 0)
		if err != nil {
			return
		}
		only := newFonts([]*typeface{one}, func() *installed { return findFonts(nil) })
		for _, r := range "Aé日" {
			for _, t := range only.given {
				_, _, _ = t.load(r, 15)
			}
		}
		_ = lacking(t, only, "A日é")
		one.file.Close()
	})
}

// TestFontFolders: fontconfig's folders are read, whatever is in the file.
func TestFontFolders(t *testing.T) {
	conf := filepath.Join(t.TempDir(), "fonts.conf")
	must(t, os.WriteFile(conf, []byte(`<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "urn:x">
<fontconfig><dir>/opt/fonts</dir><dir prefix="xdg">mine</dir><dir>~/.f</dir><dir>rel</dir></fontconfig>`), 0o600))
	got := fontconfigFolders(conf, "/home/a", "/data")
	if want := []string{"/opt/fonts", "/data/mine", "/home/a/.f"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	must(t, os.WriteFile(conf, bytes.Repeat([]byte("<"), 100_000), 0o600))
	if got := fontconfigFolders(conf, "", ""); got != nil {
		t.Errorf("%q", got)
	}
	if len(fontFolders()) == 0 {
		t.Error("no folders")
	}
}

// TestIconsHaveRoom: an icon before a blank may be wider than its cell, and no wider before text.
func TestIconsHaveRoom(t *testing.T) {
	f := ownFonts().face(DefaultFontSize)
	ink := func(text string) (last int) {
		term := vt.New(1, 5, vt.Options{})
		term.Feed([]byte("\x1b[?25l" + text))
		img, err := Image(term.Snapshot(), Options{Fonts: ownFonts(), Theme: ThemeOf(vt.ThemeDark)})
		must(t, err)
		for x := range 2 * f.w {
			for y := range f.h {
				if img.RGBAAt(x, y) != ThemeOf(vt.ThemeDark).Background {
					last = x
				}
			}
		}
		return last
	}
	if wide, narrow := ink("\uf015 "), ink("\uf015\x1b[8mx"); wide < f.w || narrow > f.w {
		t.Errorf("the icon ends at %d before a blank, and at %d before a letter: cells have %d", wide, narrow, f.w)
	}
}

// TestLacking: one line for each package to install, whatever is lacking of it.
func TestLacking(t *testing.T) {
	var l Lacking
	if lines := l.Advice(); len(lines) != 0 {
		t.Errorf("nothing lacks: %q", lines)
	}
	for _, r := range "漢字かなカナ한글漢" {
		l.Add(r)
	}
	l.Add('\U0010fffd')
	l.Add('\u0378') // not assigned
	want := []string{
		"no font has U+0378: Unicode has no such character",
		"8 characters are in no font, such as か (U+304B) な (U+306A) カ (U+30AB): install fonts-noto-cjk (Debian) or give a font with --font",
		"no font has U+10FFFD: give a font for private use with --font",
	}
	if got := l.Advice(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestEmojiOfSeveral: a family, a flag, a key and others that are made of several characters are one
// picture of their own; what the font has no picture of is its first character, and a character for
// private use is none of them.
func TestEmojiOfSeveral(t *testing.T) {
	f := ownFonts().face(30)
	draw := func(text string) (m drawing, several bool) {
		t.Helper()
		parts := f.parts(vt.Cell{Text: text, Wide: true}, false)
		if len(parts) == 0 {
			t.Fatalf("%q has no picture", text)
		}
		for _, p := range parts {
			if one := f.mask(p.glyph); one.missing {
				t.Errorf("%q: no glyph for %U", text, p.r)
			}
		}
		return f.mask(parts[0].glyph), len(parts) == 1 && parts[0].several
	}
	for _, text := range []string{"👩‍👩‍👧", "🇩🇪", "1️⃣", "#️⃣", "👩‍💻", "🏳️‍🌈", "❤️‍🔥", "👁️‍🗨️"} {
		m, several := draw(text)
		first, _ := draw(string([]rune(text)[:1]))
		if !several || bytes.Equal(m.Pix, first.Pix) {
			t.Errorf("%s is drawn as its first character: %v", text, several)
		}
	}
	// Pictures in one colour have no tones.
	toned, _ := draw("👩🏽‍💻")
	plain, _ := draw("👩‍💻")
	if !bytes.Equal(toned.Pix, plain.Pix) {
		t.Error("a tone of the skin changes the picture")
	}
	if _, several := draw("🚀‍🚀"); several {
		t.Error("two rockets are one emoji")
	}
	if got := lacking(t, ownFonts(), "\U00100000"); got != "\U00100000" {
		t.Errorf("a private character is drawn as an emoji: %q", got)
	}
	if n := len(sequences()); n < 500 {
		t.Errorf("%d emoji of several characters", n)
	}
}

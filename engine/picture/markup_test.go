package picture

import (
	"encoding/xml"
	"errors"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/vt"
)

// svgText returns the text of each <text> by its y, as a reader would select it, and fails when the
// SVG is not well formed or holds anything but drawing.
func svgText(t interface{ Fatalf(string, ...any) }, svg string) map[string]string {
	known := []string{"svg", "title", "rect", "g", "path", "text", "tspan"}
	out := map[string]string{}
	row := ""
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, svg)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			if !slices.Contains(known, tok.Name.Local) {
				t.Fatalf("an element %s", tok.Name.Local)
			}
			for _, a := range tok.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" {
					t.Fatalf("an attribute %s", a.Name.Local)
				}
				if tok.Name.Local == "text" && a.Name.Local == "y" {
					row = a.Value
				}
			}
		case xml.CharData:
			if row != "" {
				out[row] += string(tok)
			}
		case xml.EndElement:
			if tok.Name.Local == "text" {
				row = ""
			}
		}
	}
}

var tag = regexp.MustCompile(`<[^>]*>`)

// htmlText returns the lines of a page as a reader would select them.
func htmlText(t interface{ Fatalf(string, ...any) }, page string) []string {
	_, body, ok := strings.Cut(page, "<pre>\n")
	body, _, ok2 := strings.Cut(body, "\n</pre>")
	if !ok || !ok2 {
		t.Fatalf("no page: %s", page)
	}
	for _, m := range tag.FindAllString(body, -1) {
		if !regexp.MustCompile(`^</?(span|a|svg|path)[ >]`).MatchString(m) || strings.Contains(strings.ToLower(m), "script") {
			t.Fatalf("an element %s", m)
		}
	}
	lines := strings.Split(html.UnescapeString(tag.ReplaceAllString(body, "")), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

func TestMarkupHoldsTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 6).Draw(t, "rows"), rapid.IntRange(1, 12).Draw(t, "cols")
		term := vt.New(rows, cols, vt.Options{})
		hostile := rapid.SampledFrom([]string{"", "<script>", "&amp;\"'", "\x1b]2;</title><b>\a", "\x1b]8;;javascript:alert(1)\a<a\x1b]8;;\a", "]]>"}).Draw(t, "hostile")
		term.Feed([]byte(enginetest.Anything(rows, cols).Draw(t, "output") + hostile))
		s := term.Snapshot()
		svg, err := SVG(s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		texts := svgText(t, svg)
		f := faceOf(DefaultFontSize)
		for y, want := range s.Lines() {
			// Where nothing was written there is no text: what is left is to be selected with its
			// row.
			line := strings.TrimRight(texts[number(float64(y*f.h+f.baseline))], " ")
			if strings.TrimLeft(line, " ") != strings.TrimLeft(want, " ") {
				t.Fatalf("row %d: %q, want %q\n%s", y, line, want, svg)
			}
			got = append(got, want)
		}
		page, err := HTML(s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if lines := htmlText(t, page); !slices.Equal(lines, got) {
			t.Fatalf("%q, want %q\n%s", lines, got, page)
		}
	})
}

func TestHTMLLinks(t *testing.T) {
	term := vt.New(3, 30, vt.Options{})
	term.Feed([]byte("\x1b]8;;https://example.org/?a=\"&b\aok\x1b]8;;\a \x1b]8;;JavaScript:alert(1)\aevil\x1b]8;;\a \x1b]8;;data:text/html,x\adata\x1b]8;;\a"))
	page, err := HTML(term.Snapshot(), Options{NoCursor: true})
	must(t, err)
	if want := `<a rel="noopener noreferrer" href="https://example.org/?a=&#34;&amp;b">ok</a></span> evil data`; !strings.Contains(page, want) {
		t.Errorf("%s", page)
	}
}

func TestMarkupIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 250_000 {
		b.WriteString("\x1b[38;2;1;" + number(float64(i%2)) + ";3;4:3;58:2::1:2:3m╬")
	}
	term := vt.New(250, 1000, vt.Options{Scrollback: -1})
	term.Feed([]byte(b.String()))
	for name, draw := range map[string]func(*vt.Screen, Options) (string, error){"SVG": SVG, "HTML": HTML} {
		if out, err := draw(term.Snapshot(), Options{}); !errors.Is(err, ErrTooLarge) || out != "" {
			t.Errorf("%s: %d bytes, %v", name, len(out), err)
		}
	}
}

// What is drawn as shapes is no longer drawn as text, and a fresh look at one picture of each sort.
func TestGoldenMarkup(t *testing.T) {
	for name, s := range map[string]*vt.Screen{"styles": styles(), "mc": recorded(t, "mc/menu-24x80")} {
		svg, err := SVG(s, Options{})
		must(t, err)
		page, err := HTML(s, Options{})
		must(t, err)
		for ext, got := range map[string]string{".svg": svg, ".html": page} {
			path := filepath.Join("testdata", "markup", name+ext)
			if *update {
				must(t, os.WriteFile(path, []byte(got), 0o644))
				continue
			}
			want, err := os.ReadFile(path)
			must(t, err)
			if got != string(want) {
				t.Errorf("%s differs; look at it and write it with -update", path)
			}
		}
	}
}

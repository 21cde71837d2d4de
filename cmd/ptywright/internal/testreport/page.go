package testreport

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/tuitest/script"
)

var (
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

// pageData is what the page's script shows. Its texts become text, never markup.
type pageData struct {
	*sheaf
	Expected *frame   `json:"expected,omitempty"`
	Nearest  *frame   `json:"nearest,omitempty"`
	Actual   *frame   `json:"actual,omitempty"`
	Views    []view   `json:"views,omitempty"` // what Expected is compared with
	Frames   []*frame `json:"frames"`
	Steps    []step   `json:"steps"`
	Inputs   []input  `json:"inputs"`
	Length   float64  `json:"length"`            // milliseconds
	Near     float64  `json:"near,omitempty"`    // when Nearest was shown
	NearFor  float64  `json:"nearFor,omitempty"` // and for how long
}

// A view is a frame that is compared with the golden screen.
type view struct {
	Name    string   `json:"name"`  // "nearest" or "actual"
	Label   string   `json:"label"` // in words
	Changes [][3]int `json:"changes"`
	Words   []string `json:"words"`
}

// A step is a step of the script, as the timeline has it.
type step struct {
	Line    int     `json:"line"`
	Text    string  `json:"text"`
	Kind    string  `json:"kind"`
	Outcome string  `json:"outcome"`
	From    float64 `json:"from"`
	To      float64 `json:"to"`
	Note    string  `json:"note,omitempty"`
}

// An input is what the recording says the program was sent.
type input struct {
	At   float64 `json:"at"`
	Text string  `json:"text"`
}

const (
	// maxInputs and maxInput bound what a page has of the inputs: number, and characters of each.
	maxInputs = 1000
	maxInput  = 80
	// maxWords bounds the differences that are told in words.
	maxWords = 50
)

// page is report.html.
func (f *failure) page() ([]byte, error) {
	data := pageData{sheaf: newSheaf(), Frames: []*frame{}, Steps: []step{}, Inputs: []input{}}
	var problem error
	f.compare(&data)
	var pins []time.Duration
	for _, s := range f.result.Steps {
		to := time.Duration(s.Began + s.Took)
		pins = append(pins, to)
		data.Steps = append(data.Steps, step{s.Line, shownText(s.Text), string(s.Kind), string(s.Outcome),
			milliseconds(time.Duration(s.Began)), milliseconds(to), noteOf(&s)})
		data.Length = max(data.Length, milliseconds(to))
	}
	if f.rec != nil {
		frames, err := data.film(f.rec, pins)
		problem = err
		if frames != nil {
			data.Frames = frames
		}
		data.Length = max(data.Length, milliseconds(f.rec.Duration()))
		for e := range f.rec.Events() {
			if e.Kind == record.EventInput && len(data.Inputs) < maxInputs {
				data.Inputs = append(data.Inputs, input{milliseconds(e.At), visible(e.Text, maxInput)})
			}
		}
	}
	b, err := json.Marshal(data)
	if err != nil {
		return nil, errors.Join(problem, err)
	}
	return f.html(b), problem
}

// compare fills in the golden screen and what it is compared with.
func (f *failure) compare(data *pageData) {
	if f.last != nil {
		data.Actual = data.file(f.last)
	}
	g := f.why.Golden
	if g == nil || g.Expected == nil {
		return
	}
	data.Expected = data.file(&g.Expected.File)
	if g.Nearest != nil {
		data.Nearest = data.file(&g.Nearest.File)
		data.Near, data.NearFor = milliseconds(time.Duration(g.NearestAt)), milliseconds(time.Duration(g.NearestFor))
		data.Views = append(data.Views, viewOf("nearest", nearness(g), f.diff()))
	}
	if g.Actual != nil {
		d := g.Expected.Diff(&g.Actual.File)
		data.Views = append(data.Views, viewOf("actual", "the last frame: "+differs(d), d))
	}
}

// nearness says how near the nearest frame was, and when.
func nearness(g *script.Comparison) string {
	label := fmt.Sprintf("the nearest frame, shown after %v: %s", g.NearestAt, differs(g.Changes()))
	if g.NearestFor > 0 {
		label = fmt.Sprintf("the nearest frame, shown after %v for %v: %s", g.NearestAt, g.NearestFor,
			differs(g.Changes()))
	}
	return label
}

// differs counts what differs.
func differs(d *golden.Diff) string {
	if d == nil || d.Equal() {
		return "equal"
	}
	var parts []string
	switch n := d.Cells(); {
	case n == 1:
		parts = append(parts, "1 cell differs")
	case n > 1:
		parts = append(parts, fmt.Sprintf("%d cells differ", n))
	}
	return strings.Join(append(parts, d.Head...), "; ")
}

func viewOf(name, label string, d *golden.Diff) view {
	v := view{Name: name, Label: label, Changes: [][3]int{}, Words: []string{}}
	if d == nil {
		return v
	}
	for _, h := range d.Head {
		v.Words = append(v.Words, shownText(h))
	}
	for _, c := range d.Changes {
		v.Changes = append(v.Changes, [3]int{c.Row, c.Col, c.End})
		if len(v.Words) < maxWords {
			v.Words = append(v.Words, shownText(c.String()))
		}
	}
	if n := len(d.Head) + len(d.Changes) - len(v.Words); n > 0 {
		v.Words = append(v.Words, fmt.Sprintf("and %d more", n))
	}
	return v
}

func noteOf(s *script.StepResult) string {
	if s.Failure != nil {
		return shownText(s.Failure.Why)
	}
	return shownText(s.Note)
}

// html writes the page around its data.
func (f *failure) html(data []byte) []byte {
	css := pageCSS + palette()
	var b strings.Builder
	text := func(before, s, after string) {
		if s != "" {
			b.WriteString(before + html.EscapeString(shownText(s)) + after)
		}
	}
	r := &f.result
	b.WriteString("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n")
	// Nothing is loaded, and only the script below runs: what a program has printed is data.
	fmt.Fprintf(&b, `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; `+
		`script-src %s; style-src %s; base-uri 'none'; form-action 'none'">`+"\n", hash(pageJS), hash(css))
	b.WriteString(`<meta name="viewport" content="width=device-width">` + "\n")
	text("<title>", string(r.Outcome)+": "+titleOf(r), "</title>\n")
	b.WriteString("<style>" + css + "</style></head>\n<body>\n<header>\n<div class=\"top\">")
	text(`<span class="badge">`, string(r.Outcome), "</span>")
	text("<h1>", titleOf(r), "</h1>")
	b.WriteString(`<span class="fill"></span><button id="scheme" type="button" hidden>Light or dark</button></div>` + "\n")
	at := where(r)
	if f.step != nil {
		at += "  " + f.step.Text
	}
	text(`<p class="where"><code>`, at, "</code></p>\n")
	text(`<p class="why">`, f.why.Doing+": "+f.why.Why, "</p>\n")
	if f.why.Likely != "" {
		text(`<p class="next">Did you mean <code>`, f.why.Likely, "</code>?</p>\n")
	}
	text(`<p class="next">`, f.why.Next, "</p>\n")
	if r.Again != "" {
		text(`<p class="again">Run this again: <code id="command">`, r.Again, "</code>")
		b.WriteString(` <button id="copy" type="button" hidden>Copy</button></p>` + "\n")
	}
	b.WriteString("</header>\n<main>\n" +
		`<section id="compare" hidden><nav id="tabs" role="tablist"></nav><div class="bar" id="versus"></div>` +
		`<div id="stage"></div><ul id="words"></ul></section>` + "\n" +
		`<section id="time" hidden><h2>How it came to that</h2><div class="columns"><div class="film">` +
		`<div id="track"></div><input id="scrub" type="range" min="0" step="1" aria-label="time">` +
		`<div class="bar"><button id="before" type="button" title="the frame before (left)">&#9664;</button>` +
		`<button id="play" type="button" title="play (space)">Play</button>` +
		`<button id="after" type="button" title="the next frame (right)">&#9654;</button>` +
		`<span id="now"></span></div><div id="frame"></div></div><ol id="steps"></ol></div></section>` + "\n")
	if f.why.Evidence != "" {
		text(`<section><h2>Evidence</h2><pre class="text">`, f.why.Evidence, "</pre></section>\n")
	}
	if f.last != nil {
		text("<noscript><section><h2>The last screen</h2><pre class=\"text\">", f.last.String(), "</pre></section></noscript>\n")
	}
	fmt.Fprintf(&b, "</main>\n<footer>%s, ptywright test</footer>\n",
		html.EscapeString(r.Began.UTC().Format("2006-01-02 15:04:05 UTC")))
	// json.Marshal writes <, > and & as escapes, so that the data cannot end its element.
	b.WriteString(`<script type="application/json" id="data">` + string(data) + "</script>\n")
	b.WriteString("<script>" + pageJS + "</script>\n</body></html>\n")
	return []byte(b.String())
}

// hash is what a policy calls an element's text by.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// palette are the terminal's colours as variables of the page.
func palette() string {
	var b strings.Builder
	t := picture.ThemeOf(vt.ThemeDark)
	fmt.Fprintf(&b, ".screen{--ink:#%02x%02x%02x;--paper:#%02x%02x%02x", t.Foreground.R, t.Foreground.G,
		t.Foreground.B, t.Background.R, t.Background.G, t.Background.B)
	for i, c := range t.Palette[:16] {
		fmt.Fprintf(&b, ";--c%d:#%02x%02x%02x", i, c.R, c.G, c.B)
	}
	b.WriteString("}\n")
	return b.String()
}

package tape

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ptywright/ptywright/internal/nearest"
)

// A form is how the value of a setting is written.
type form int

const (
	aText form = iota
	aNumber
	aTime
	aPattern
	aTruth
	aColor // or a file
	aBar
	aTheme
)

// A setting is one row of the table.
type setting struct {
	form        form
	least, most float64 // of a number
}

// settings are those that VHS knows.
var settings = sync.OnceValue(func() map[string]setting {
	// No picture is larger than these pixels; the rest is what a picture can still show.
	const side, font = 10000, 400
	return map[string]setting{
		"Shell": {form: aText}, "FontFamily": {form: aText},
		"FontSize": {aNumber, 1, font}, "LetterSpacing": {aNumber, -font, font}, "LineHeight": {aNumber, 0.1, 10},
		"Width": {aNumber, 1, side}, "Height": {aNumber, 1, side}, "Padding": {aNumber, 0, side},
		"Margin": {aNumber, 0, side}, "MarginFill": {form: aColor}, "BorderRadius": {aNumber, 0, side},
		"WindowBar": {form: aBar}, "WindowBarSize": {aNumber, 0, side},
		"Framerate": {aNumber, 1, 1000}, "PlaybackSpeed": {aNumber, 0.01, 100}, "LoopOffset": {aNumber, 0, 100},
		"TypingSpeed": {form: aTime}, "Theme": {form: aTheme}, "CursorBlink": {form: aTruth},
		"WaitTimeout": {form: aTime}, "WaitPattern": {form: aPattern},
		"SubtitleFontSize": {aNumber, 1, font}, "SubtitleFontFamily": {form: aText},
		"SubtitleColor": {form: aText}, "SubtitleBackground": {form: aText}, "SubtitlePosition": {form: aText},
		"SubtitlePadding": {aNumber, 0, side}, "SubtitleBorderRadius": {aNumber, 0, side},
	}
})

// WindowBars are the kinds of window bars; "" is none.
var windowBars = []string{"Colorful", "ColorfulRight", "Rings", "RingsRight"}

// set reads a setting.
func (p *parser) set(c *Command, _ string) (e *Error) {
	c.Kind = Set
	from := p.begin + c.Col - 1
	if !p.more() || p.quotes() {
		return p.fail(from, "Set wants a name and a value: Set Width 1200")
	}
	at := p.at
	c.Name = p.word()
	how, ok := settings()[c.Name]
	if !ok {
		c.Kind, c.Likely = Unknown, ""
		if near := nearest.Of(c.Name, settingNames()); near != "" {
			c.Likely = "Set " + near
		}
		c.Col, c.At = at-p.begin+1, 0
		c.Text = "Set " + c.Name
		if more := p.rest(); strings.TrimSpace(more) != "" {
			c.Text += " " + strings.TrimSpace(more)
		}
		return nil
	}
	if !p.more() {
		return p.fail(from, "Set %s wants a value", c.Name)
	}
	c.At = p.at - p.begin + 1
	at = p.at
	switch {
	case how.form == aTheme && p.text[p.at] == '{':
		c.Text, e = p.json()
	case how.form == aPattern:
		if !p.slashed() {
			return p.fail(at, "%s wants a /pattern/", c.Name)
		}
		c.Pattern, e = p.pattern()
	case how.form == aTime:
		c.Duration, e = p.time(c.Name)
		if e == nil && c.Duration == 0 && c.Name == "WaitTimeout" {
			e = p.fail(at, "a Wait cannot take 0 s")
		}
	default:
		c.Text, c.At, e = p.textOrWord(c.Name, "a value")
	}
	if e != nil {
		return e
	}
	if how.form == aPattern || how.form == aTime {
		c.Text = strings.TrimSpace(p.text[at:p.at])
	}
	return how.check(p, c, at)
}

// settingNames are the names of the settings, sorted.
var settingNames = sync.OnceValue(func() []string {
	var all []string
	for name := range settings() {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
})

// check judges a value that was written at a byte.
func (how setting) check(p *parser, c *Command, at int) *Error {
	switch how.form {
	case aNumber:
		v, err := strconv.ParseFloat(strings.TrimSuffix(c.Text, "%"), 64)
		if err != nil || !(v >= how.least && v <= how.most) {
			return p.fail(at, "%s is %s: give a number from %v to %v", c.Name, quote(c.Text), how.least, how.most)
		}
		c.Number = v
	case aTruth:
		if c.Text != "true" && c.Text != "false" {
			return p.fail(at, "%s is %s: give true or false", c.Name, quote(c.Text))
		}
	case aBar:
		if c.Text != "" && !slices.Contains(windowBars, c.Text) {
			e := p.fail(at, "%s is no window bar: have %s", quote(c.Text), strings.Join(windowBars, ", "))
			e.Likely = nearest.Of(c.Text, windowBars)
			return e
		}
	case aColor:
		if _, ok := ParseColor(c.Text); !ok && strings.HasPrefix(c.Text, "#") {
			return p.fail(at, "%s is no colour: write six hexadecimal digits, such as \"#6b50ff\"", quote(c.Text))
		}
	case aTheme:
		if strings.HasPrefix(c.Text, "{") {
			if _, err := ParseTheme(c.Text, Theme{}); err != nil {
				return p.fail(at, "the theme cannot be read: %v", err)
			}
		}
	}
	return nil
}

// ParseColor reads "#rrggbb", as a tape writes colours: 0xRRGGBB.
func ParseColor(s string) (uint32, bool) {
	if len(s) != 7 || s[0] != '#' {
		return 0, false
	}
	v, err := strconv.ParseUint(s[1:], 16, 32)
	return uint32(v), err == nil
}

// A Theme is the colours of a theme, each as 0xRRGGBB.
type Theme struct {
	Name                   string
	Foreground, Background uint32
	Cursor                 uint32
	Colors                 [16]uint32
}

// ParseTheme reads a theme as a tape spells it out, in JSON. What it leaves out is that of base; a
// cursor that is left out is as the foreground.
func ParseTheme(text string, base Theme) (*Theme, error) {
	var members map[string]any
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		return nil, err
	}
	var bad error
	read := func(into *uint32, names ...string) {
		for _, name := range names {
			value, ok := members[name]
			if !ok {
				continue
			}
			text, _ := value.(string)
			v, ok := ParseColor(text)
			if !ok && bad == nil {
				bad = fmt.Errorf("%s is %s: write six hexadecimal digits, such as \"#6b50ff\"", name,
					quote(fmt.Sprint(value)))
			}
			*into = v
		}
	}
	t := base
	if name, ok := members["name"].(string); ok {
		t.Name = name
	}
	for i, names := range themeColors {
		read(&t.Colors[i], strings.Fields(names)...)
	}
	read(&t.Foreground, "foreground")
	read(&t.Background, "background")
	if _, ok := members["foreground"]; ok {
		t.Cursor = t.Foreground
	}
	read(&t.Cursor, "cursor", "cursorColor")
	return &t, bad
}

// themeColors are the names of the sixteen colours in a theme.
var themeColors = [16]string{"black", "red", "green", "yellow", "blue", "magenta purple", "cyan", "white",
	"brightBlack", "brightRed", "brightGreen", "brightYellow", "brightBlue", "brightMagenta brightPurple",
	"brightCyan", "brightWhite"}

// Settings are what a tape sets before its first other command, with VHS's own values for the rest.
// Measures are pixels.
type Settings struct {
	Shell         string
	FontFamily    string // "": its own
	FontSize      float64
	LineHeight    float64 // a factor
	LetterSpacing float64
	Width, Height float64 // of the picture, all included
	Padding       float64
	Margin        float64
	MarginFill    string // a colour, or a file; "": none
	BorderRadius  float64
	WindowBar     string // "": none
	WindowBarSize float64
	Theme         string // a name, or JSON; "": its own
	CursorBlink   bool
	Framerate     float64 // a second
	PlaybackSpeed float64 // a factor
	LoopOffset    float64 // per cent
	TypingSpeed   time.Duration
	WaitTimeout   time.Duration
	WaitPattern   string

	Given []Command // the Sets that say so, in order
}

// Header returns the settings of a tape, and the Sets that come too late: VHS ignores those behind
// the first command that is neither Set, Output nor Require, but for TypingSpeed.
func (t *Tape) Header() (s Settings, late []Command) {
	s = Settings{Shell: "bash", FontSize: 22, LineHeight: 1, Width: 1200, Height: 600, Padding: 60,
		WindowBarSize: 30, CursorBlink: true, Framerate: 50, PlaybackSpeed: 1, TypingSpeed: 50 * time.Millisecond,
		WaitTimeout: 15 * time.Second, WaitPattern: `>$`}
	begun := false
	for _, c := range t.Commands {
		switch {
		case c.Kind == Comment, c.Kind == Output, c.Kind == Require, c.Kind == Env:
		case c.Kind != Set:
			begun = true
		case !begun:
			s.take(&c)
			s.Given = append(s.Given, c)
		case c.Name != "TypingSpeed":
			late = append(late, c)
		}
	}
	return s, late
}

func (s *Settings) take(c *Command) {
	switch c.Name {
	case "Shell":
		s.Shell = c.Text
	case "FontFamily":
		s.FontFamily = c.Text
	case "FontSize":
		s.FontSize = c.Number
	case "LineHeight":
		s.LineHeight = c.Number
	case "LetterSpacing":
		s.LetterSpacing = c.Number
	case "Width":
		s.Width = c.Number
	case "Height":
		s.Height = c.Number
	case "Padding":
		s.Padding = c.Number
	case "Margin":
		s.Margin = c.Number
	case "MarginFill":
		s.MarginFill = c.Text
	case "BorderRadius":
		s.BorderRadius = c.Number
	case "WindowBar":
		s.WindowBar = c.Text
	case "WindowBarSize":
		s.WindowBarSize = c.Number
	case "Theme":
		s.Theme = c.Text
	case "CursorBlink":
		s.CursorBlink = c.Text == "true"
	case "Framerate":
		s.Framerate = c.Number
	case "PlaybackSpeed":
		s.PlaybackSpeed = c.Number
	case "LoopOffset":
		s.LoopOffset = c.Number
	case "TypingSpeed":
		s.TypingSpeed = c.Duration
	case "WaitTimeout":
		s.WaitTimeout = c.Duration
	case "WaitPattern":
		s.WaitPattern = c.Pattern
	}
}

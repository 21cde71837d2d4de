package vt

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// stateFields says of each field of each struct that a terminal is made of how a state keeps it:
// "written", or why it does not have to be. A field that is added has to be added here, and to the
// codec, and with another stateVersion.
var stateFields = map[string]string{
	"Terminal": `rows cols pixelWidth pixelHeight profile programStatus theme version seq parser pen cursor modes top bottom
		sides tabs charsets work last joint grid main alt history title titleSet titleStack kitty link frames: written
		toMark marked: only while FeedToMark runs
		moments: FeedMoments' own, no part of the state: a terminal that is loaded begins without
		effect reply: the result of the last call, cleared by the next; nothing else reads them`,
	"parser": `state utf8 prefix intermediates nInter params nParams colon overflow str strLong kind: written`,
	"utf8State": `r need: written, as the bytes that were read
		lo hi: follow from them`,
	"pen":         `fg bg attr underline: written`,
	"cursor":      `row col pending: written`,
	"savedCursor": `cursor pen charsets origin set: written`,
	"modes": `autoWrap reverseWrap origin insert newLine appCursor appKeypad backarrowBS bracketedPaste focusEvents
		alternateScroll reverseVideo cursorVisible cursorBlink inBandResize graphemes allow132 columns132 sideMargins
		reverseWrapAny themeReports mouse mouseEncoding cursorShape cursorStyle modifyOtherKeys savedModes: written`,
	"sides":      `set left right: written`,
	"charsets":   `g gl single: written`,
	"joint":      `class open pict regionals conjunct: written`,
	"savedTitle": `text set: written`,
	"kittyStack": `flags stack n: written`,
	"grid":       `rows saved: written`,
	"frames": `shownOn saved moved held heldMade updates syncSet: written
		frame shared: only their order counts, and rows begin as older than the first frame
		before: during an update the rows that are shown, otherwise empty
		shown: during an update what is shown, otherwise what is there
		blank fill free: rows to be used again
		zero: blank cells
		screen fresh: the last Screen, made anew`,
	"visible": `cursor modes title titleSet lines dropped goesOn: of the screen shown during an update; otherwise what is there`,
	"row": `cells n arena extras changed pattern wrapped rich wrote writes cut: written
		frame born: whether the frame under way made it is written`,
	"cell":   `lo hi: written`,
	"extra":  `underline link: written`,
	"writes": `log n: written`,
	"write":  `seq col: written`,
	"history": `limit sealed tail dropped cleared cut edge lost: written
		next: follows from the blocks
		bytes: the sum of the blocks`,
	"block": `data ends left more: written
		first: follows from the block before
		size: written, as room`,
	"departure": `seq wrote line col more: written`,
	"Edge":      `Seq Line: written`,
	"History": `sealed tail dropped cut cleared lost edge: written
		next: follows from the blocks`,
	"Screen": `Cursor Title TitleSet Theme Sequence rows history Modes: written
		Rows Cols PixelWidth PixelHeight: a resize ends the update, so they are the terminal's
		text: rendered on first use`,
	"lazyText": `once text: rendered on first use
		mu asked: what was read last`,
	"Cursor": `Row Col Visible PendingWrap Shape Blink Style: written`,
	"Modes": `AltScreen AppCursor AppKeypad BracketedPaste FocusEvents Mouse MouseEncoding AlternateScroll AutoWrap Origin
		Insert NewLine ReverseVideo ReverseWrap InBandResize GraphemeClusters BackarrowIsBS ModifyOtherKeys KittyKeyboard: written
		Synchronized: always set during an update`,
	"Effect": `Reply Dirty Held Bell Events: the result of the last call`,
	"Event":  `Kind Line Col Alt Held Mark Cut Bad Exit HasExit State Value Text: part of the result of the last call`,
}

// TestStateHasEveryField: no field of a terminal is forgotten by its state.
func TestStateHasEveryField(t *testing.T) {
	listed := map[string][]string{}
	for name, lines := range stateFields {
		for line := range strings.Lines(lines) {
			fields, why, ok := strings.Cut(strings.TrimSpace(line), ":")
			if !ok {
				if listed[name] = append(listed[name], strings.Fields(line)...); !strings.Contains(lines, ":") {
					t.Errorf("%s: no reason is given", name)
				}
				continue
			}
			if strings.TrimSpace(why) == "" {
				t.Errorf("%s: no reason is given for %s", name, fields)
			}
			listed[name] = append(listed[name], strings.Fields(fields)...)
		}
	}
	seen := map[reflect.Type]bool{}
	var visit func(reflect.Type)
	visit = func(typ reflect.Type) {
		if typ == reflect.TypeFor[*moments]() || typ == reflect.TypeFor[*askedPassage]() {
			return
		}
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			visit(typ.Elem())
		case reflect.Map, reflect.Chan, reflect.Func, reflect.Interface:
			t.Errorf("%v: how is it written down?", typ)
		case reflect.Struct:
			if seen[typ] || typ.PkgPath() != reflect.TypeFor[Terminal]().PkgPath() {
				return
			}
			seen[typ] = true
			var fields []string
			for i := range typ.NumField() {
				fields = append(fields, typ.Field(i).Name)
				visit(typ.Field(i).Type)
			}
			slices.Sort(fields)
			want := slices.Clone(listed[typ.Name()])
			slices.Sort(want)
			if !slices.Equal(fields, want) {
				t.Errorf("%s has the fields\n%q, known are\n%q", typ.Name(), fields, want)
			}
		}
	}
	visit(reflect.TypeFor[Terminal]())
	for name := range listed {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(seen)), func(typ reflect.Type) bool { return typ.Name() == name }) {
			t.Errorf("no terminal has a %s", name)
		}
	}
}

// TestStateHasEveryValue: a state changes with every value that is written, each on its own, and has
// it when it is loaded.
func TestStateHasEveryValue(t *testing.T) {
	fresh := func() *Terminal {
		term := New(6, 20, Options{})
		term.work = 1000
		term.Feed([]byte("\x1b[2;4r\x1b[?69h\x1b[3;9s\x1b7\x1b[22t\x1b[>1u\x1b[3gone\x1b[?2026h"))
		return term
	}
	for name, part := range map[string]func(*Terminal) any{
		"modes": func(t *Terminal) any { return &t.modes }, "pen": func(t *Terminal) any { return &t.pen },
		"cursor": func(t *Terminal) any { return &t.cursor }, "sides": func(t *Terminal) any { return &t.sides },
		"charsets": func(t *Terminal) any { return &t.charsets }, "joint": func(t *Terminal) any { return &t.joint },
		"saved": func(t *Terminal) any { return &t.main.saved }, "kitty": func(t *Terminal) any { return &t.kitty },
		"titles": func(t *Terminal) any { return &t.titleStack[0] }, "shown cursor": func(t *Terminal) any { return &t.heldMade.Cursor },
		"shown modes": func(t *Terminal) any { return &t.heldMade.Modes }, "row": func(t *Terminal) any { return &t.main.rows[2].writes },
		"tab": func(t *Terminal) any { return &t.tabs[5] }, "edge": func(t *Terminal) any { return &t.history.lost },
		"title": func(t *Terminal) any { return &t.title }, "link": func(t *Terminal) any { return &t.link },
		"top": func(t *Terminal) any { return &t.top }, "bottom": func(t *Terminal) any { return &t.bottom },
		"status": func(t *Terminal) any { return &t.programStatus }, "set": func(t *Terminal) any { return &t.titleSet },
		"updates": func(t *Terminal) any { return &t.updates }, "sync": func(t *Terminal) any { return &t.syncSet },
		"last": func(t *Terminal) any { return &t.last }, "work": func(t *Terminal) any { return &t.work },
	} {
		leaves := 0
		var each func(path string, v reflect.Value, at func(*Terminal) reflect.Value)
		each = func(path string, v reflect.Value, at func(*Terminal) reflect.Value) {
			switch v.Kind() {
			case reflect.Struct:
				for i := range v.NumField() {
					each(path+"."+v.Type().Field(i).Name, v.Field(i), func(t *Terminal) reflect.Value { return at(t).Field(i) })
				}
				return
			case reflect.Array:
				for i := range v.Len() {
					each(path, v.Index(i), func(t *Terminal) reflect.Value { return at(t).Index(i) })
				}
				return
			}
			leaves++
			if why := unwritten[path]; why != "" {
				return
			}
			term := fresh()
			before := term.AppendState(nil)
			leaf := at(term)
			change(reflect.NewAt(leaf.Type(), unsafe.Pointer(leaf.UnsafeAddr())).Elem())
			if bytes.Equal(term.AppendState(nil), before) {
				t.Errorf("%s is not written", path)
			}
		}
		root := func(t *Terminal) reflect.Value { return reflect.ValueOf(part(t)).Elem() }
		each(name, root(fresh()), root)
		if leaves == 0 {
			t.Errorf("%s has no values", name)
		}
	}
}

// unwritten are values that no state of this terminal has, and why.
var unwritten = map[string]string{
	"shown modes.Synchronized": "always set during an update",
	"kitty.stack":              "only what was pushed is written",
	"row.log.seq":              "only the stamps there are",
	"row.log.col":              "only the stamps there are",
}

// change makes a value another one of its kind.
func change(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int, reflect.Int32:
		v.SetInt(v.Int() ^ 1)
	default:
		v.SetUint(v.Uint() ^ 1)
	}
}

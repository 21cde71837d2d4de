// Package testreport (no stability promise) writes what came of a run of scripts for those who were not
// there: a folder for each failure that can be opened anywhere, without a network, and the formats
// that continuous integration reads. [Writer] does both.
//
// A failure's folder has
//
//	report.html    what was expected, what was seen, and how it came to that, for people
//	report.md      the same as text, for agents and issues
//	report.json    the same as data: a [script.Result]
//	session.cast   the recording, with a marker a step
//	actual.screen  the last screen
//	diff.png       the golden screen and the one that came nearest, in one picture
//
// Everything in a [script.Result] and in its recording has been redacted; nothing else is written
// but what can be computed from them. In particular nothing of the environment is.
package testreport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/redact"
	"github.com/ptywright/ptywright/tuitest/script"
)

// A failure is a result that failed, with what its files are made of.
type failure struct {
	result script.Result
	step   *script.StepResult // the step that failed; nil: it failed outside of its steps
	why    *script.Failure
	rec    *record.Recording // nil: none was kept
	last   *golden.File      // the last screen; nil: none is known
}

// failureOf looks at a result; nil when it did not fail. The error is about its recording: the
// failure is then without one.
func failureOf(r script.Result) (*failure, error) {
	if r.Outcome != script.Failed && r.Outcome != script.Interrupted {
		return nil, nil
	}
	f := &failure{result: r}
	if f.step, f.why = blame(&r); f.why == nil {
		f.why = &script.Failure{Doing: "run the script", Why: r.Why, Reason: string(r.Outcome)}
	}
	var err error
	if r.Recording != "" {
		f.rec, err = loadCast(r.Recording)
	}
	if g := f.why.Golden; g != nil && g.Actual != nil {
		f.last = &g.Actual.File
	} else if f.rec != nil {
		screen, serr := f.rec.At(f.over())
		if serr == nil {
			f.last, serr = golden.Of(record.Mask(screen, redact.Default), golden.Options{Parts: golden.All})
		}
		var many *golden.StylesError
		if errors.As(serr, &many) { // more styles than letters
			f.last, serr = golden.Of(record.Mask(screen, redact.Default), golden.Options{
				Parts: golden.All &^ golden.Styles})
		}
		err = errors.Join(err, serr)
	}
	return f, err
}

// over is when the step that failed had ended, in the recording's time.
func (f *failure) over() time.Duration {
	if f.step != nil {
		return time.Duration(f.step.Began + f.step.Took)
	}
	return f.rec.Duration()
}

func loadCast(path string) (*record.Recording, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rec, err := record.Load(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return rec, nil
}

// blame returns the step that failed, nil when that was outside of the steps, and what went wrong, nil
// when nothing did.
func blame(r *script.Result) (*script.StepResult, *script.Failure) {
	for n := range r.Steps {
		if s := &r.Steps[n]; s.Failure != nil {
			return s, s.Failure
		}
	}
	return nil, r.Failure
}

// place returns the line and column of the script that are to blame; 0: none are.
func place(r *script.Result) (line, col int) {
	step, why := blame(r)
	switch {
	case why != nil && why.Line > 0:
		return why.Line, why.Col
	case step != nil:
		return step.Line, step.Col
	}
	return 0, 0
}

// where names the script and the line that is to blame: "menu.ptw:3".
func where(r *script.Result) string {
	if line, _ := place(r); line > 0 {
		return fmt.Sprintf("%s:%d", r.Script, line)
	}
	return r.Script
}

// screenOf is the text of the last screen of a result; "" when none is known.
func screenOf(r *script.Result) string {
	for n := len(r.Steps) - 1; n >= 0; n-- {
		if s := r.Steps[n].Screen; s != "" {
			return s
		}
	}
	return ""
}

// titleOf names a result among those of a run: its name, and which run or attempt it is.
func titleOf(r *script.Result) string {
	title := r.Name
	if r.Run > 1 {
		title += fmt.Sprintf(" (run %d)", r.Run)
	}
	if r.Attempt > 1 {
		title += fmt.Sprintf(" (attempt %d)", r.Attempt)
	}
	return title
}

// WriteFailure writes the folder of a result that failed; dir is made. The error names the files
// that could not be written; the others are there.
func WriteFailure(dir string, r script.Result) error {
	f, problem := failureOf(r)
	if f == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	problems := []error{problem}
	var files []string
	write := func(name string, text []byte, err error) {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o644)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", name, err))
			return
		}
		files = append(files, name)
	}
	f.result.Recording = ""
	if f.rec != nil {
		if err := writeCast(filepath.Join(dir, castName), f); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", castName, err))
		} else {
			files = append(files, castName)
			f.result.Recording = castName
		}
	}
	if f.last != nil {
		write("actual.screen", f.last.AppendText(nil), nil)
	}
	if png, err := f.picture(); png != nil || err != nil {
		write("diff.png", png, err)
	}
	page, err := f.page()
	write("report.html", page, err)
	all := slices.Sorted(slices.Values(append(files, "report.md", "report.json")))
	write("report.md", f.markdown(all), nil)
	data, err := f.data(all)
	write("report.json", data, err)
	return errors.Join(problems...)
}

const castName = "session.cast"

// data is report.json: the result, and the files beside it.
func (f *failure) data(files []string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(struct {
		script.Result
		Files []string `json:"files"`
	}{f.result, files})
	return b.Bytes(), err
}

// writeCast writes the recording as asciicast v3, with a marker at the beginning of each step unless
// it has markers already.
func writeCast(path string, f *failure) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // an older report's
	}
	start := f.rec.Started
	if start.IsZero() {
		start = f.result.Began
	}
	cast, err := record.NewCast(path, record.CastOptions{
		Format: record.AsciicastV3, Rows: f.rec.Rows, Cols: f.rec.Cols, Start: start, Term: f.rec.Term,
		Title: f.result.Name, Command: f.rec.Command, Input: true, Redactor: redact.Default,
	})
	if err != nil {
		return err
	}
	steps := f.result.Steps
	for e := range f.rec.Events() {
		if e.Kind == record.EventMarker {
			steps = nil
		}
	}
	for e := range f.rec.Events() {
		for len(steps) > 0 && time.Duration(steps[0].Began) <= e.At {
			err = errors.Join(err, cast.Marker(start.Add(time.Duration(steps[0].Began)), stepLabel(&steps[0])))
			steps = steps[1:]
		}
		at := start.Add(e.At)
		switch e.Kind {
		case record.EventOutput:
			err = errors.Join(err, cast.Output(at, []byte(e.Text)))
		case record.EventInput:
			err = errors.Join(err, cast.Input(at, []byte(e.Text)))
		case record.EventResize:
			err = errors.Join(err, cast.Resize(at, e.Rows, e.Cols))
		case record.EventMarker:
			err = errors.Join(err, cast.Marker(at, e.Text))
		case record.EventExit:
			err = errors.Join(err, cast.Exit(at, e.Exit))
		}
		if err != nil {
			break
		}
	}
	for _, s := range steps {
		err = errors.Join(err, cast.Marker(start.Add(time.Duration(s.Began)), stepLabel(&s)))
	}
	return errors.Join(err, cast.Close())
}

func stepLabel(s *script.StepResult) string { return fmt.Sprintf("%d %s", s.Line, s.Text) }

// Grounds of cells that differ.
var (
	wantGround = vt.RGBColor(0x58, 0x10, 0x10)
	gotGround  = vt.RGBColor(0x0c, 0x40, 0x1c)
	ink        = vt.RGBColor(0xff, 0xff, 0xff)
)

// picture draws the golden screen beside the one that came nearest; of a failure without a golden
// the last screen. nil: there is nothing to draw.
func (f *failure) picture() ([]byte, error) {
	var tiles []picture.Tile
	if d := f.diff(); d != nil {
		tiles = append(tiles,
			picture.Tile{Label: "expected", Screen: marked(d.Want, d, wantGround)},
			picture.Tile{Label: "nearest", Screen: marked(d.Got, d, gotGround)})
	} else if f.last != nil {
		tiles = append(tiles, picture.Tile{Label: "last screen", Screen: f.last.Screen(nil)})
	} else {
		return nil, nil
	}
	png, _, _, err := picture.Tiles(tiles, picture.Options{Padding: 4})
	return png, err
}

// diff compares the golden with the frame that came nearest; nil without either.
func (f *failure) diff() *golden.Diff {
	if f.why.Golden == nil {
		return nil
	}
	return f.why.Golden.Changes()
}

// marked draws a file with the cells that differ on a ground.
func marked(f *golden.File, d *golden.Diff, ground vt.Color) *vt.Screen {
	differs := changed(d)
	return f.Screen(func(row, col int, s vt.Style) vt.Style {
		if differs(row, col) {
			s.Background, s.Inverse = ground, false
			if s.Foreground.IsDefault() {
				s.Foreground = ink
			}
		}
		return s
	})
}

// changed reports which cells differ.
func changed(d *golden.Diff) func(row, col int) bool {
	rows := map[int][]golden.Change{}
	for _, c := range d.Changes {
		rows[c.Row] = append(rows[c.Row], c)
	}
	return func(row, col int) bool {
		return slices.ContainsFunc(rows[row], func(c golden.Change) bool {
			return col >= c.Col && col < c.End
		})
	}
}

// folder makes a folder's name of a script's path and a result's name: no separators, no way out,
// nothing that a system refuses.
func folder(r *script.Result) string {
	path := strings.TrimSuffix(filepath.ToSlash(r.Script), script.Ext)
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		path = path[:i+1] + r.Name
	} else {
		path = r.Name
	}
	name := strings.Map(func(c rune) rune {
		if c <= ' ' || !unicode.IsPrint(c) || strings.ContainsRune(`/<>:"\|?*`, c) || c == 0xfffd {
			return '-'
		}
		return c
	}, strings.TrimLeft(path, "./"))
	if len(name) > maxFolder {
		name = strings.ToValidUTF8(name[len(name)-maxFolder:], "-")
	}
	if strings.Trim(name, ".-") == "" {
		name = "script"
	}
	for _, n := range []struct {
		what string
		n    int
	}{{"run", r.Run}, {"attempt", r.Attempt}} {
		if n.n > 1 {
			name += fmt.Sprintf("-%s%d", n.what, n.n)
		}
	}
	return name
}

// maxFolder bounds a folder's name, in bytes: systems allow 255, and paths have other parts.
const maxFolder = 120

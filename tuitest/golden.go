package tuitest

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/tuitest/internal/driver"
)

// A ScreenOption changes what [TUI.ExpectScreen] compares.
type ScreenOption func(*screenOptions)

type screenOptions struct {
	golden.Options
	within time.Duration // 0: the test's
	err    error
}

// Mask covers what differs from run to run, such as a clock: what pattern matches, or its first
// group. The mask fails when it matches nothing. name, of small letters, digits and hyphens, stands
// in the file in its place.
func Mask(name, pattern string) ScreenOption {
	return MaskText(name + " /" + strings.ReplaceAll(pattern, "/", `\/`) + "/")
}

// MaskText is a mask as a file has it: `clock /\d\d:\d\d/ in row 1`, `size /\d+ bytes/ to end`,
// `logo rect 0,0 3x20`.
func MaskText(mask string) ScreenOption {
	return func(o *screenOptions) {
		m, err := golden.ParseMask(mask)
		o.Masks, o.err = append(o.Masks, m), errors.Join(o.err, err)
	}
}

// TextOnly compares the text, and neither styles nor cursor, title and modes.
func TextOnly() ScreenOption { return func(o *screenOptions) { o.Parts = golden.Text } }

// Region compares a rectangle of the screen, of rows and cols cells from row, col, counted from 0.
func Region(row, col, rows, cols int) ScreenOption {
	return func(o *screenOptions) {
		o.Options.Region = &vt.Rect{Row: row, Col: col, Rows: rows, Cols: cols}
	}
}

// Within waits so long for the golden screen, also when the program's screen does not change.
func Within(d time.Duration) ScreenOption { return func(o *screenOptions) { o.within = d } }

// ExpectScreen waits for a state: until the screen equals the golden screen in
// testdata/TEST/NAME.screen, with its colours and attributes, its cursor, title and modes. Only
// whole frames count. What the file does not have is not compared: see the file, it is written to
// be read. Secrets are hidden in it. A screen that differs fails once it has not changed for 5
// seconds, unless [Within] says how long to wait.
//
// A file that does not exist is written, once the program has shown something and the screen has been
// unchanged for 250 ms, but not where CI is set: there the test fails. PTYWRIGHT_UPDATE=changed (or the flag -update, where the
// test's package has one) writes those that differ. A test that fails leaves what it saw in
// NAME.screen.new.
func (u *TUI) ExpectScreen(name string, options ...ScreenOption) {
	u.t.Helper()
	o := screenOptions{Options: golden.Options{Parts: golden.All}}
	for _, option := range options {
		option(&o)
	}
	update, err := golden.UpdateFrom(os.Getenv)
	if err = errors.Join(o.err, err); err != nil {
		u.t.Fatalf("expect screen %s: %v", name, err)
	}
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		update = golden.UpdateChanged
	}
	path := golden.Path("testdata", u.t.Name(), name)
	want, err := golden.Load(path)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		u.t.Fatalf("expect screen %s: %v", name, err)
	}
	if want != nil { // the masks and the region of the test decide
		want = want.With(o.Masks, o.Options.Region)
		o.Options = golden.Options{Parts: want.Parts, Masks: want.Masks, Region: want.Region, Like: want}
	}
	switch update.Step(!missing) {
	case golden.StepFail:
		u.t.Fatalf("expect screen %s: %s does not exist, and CI writes none: run the test "+
			"without CI set, and commit what it writes\n%s", name, path, u.Screen())
	case golden.StepWrite:
		u.write(name, path, o, update)
	case golden.StepCompare:
		u.compare(name, path, want, o.within)
	}
}

// write waits until the screen is still and writes it down.
func (u *TUI) write(name, path string, o screenOptions, update golden.Update) {
	u.t.Helper()
	out := u.wait("expect screen "+name+": write it down", matchers.All(u.drive.Shows(), matchers.Stable(driver.Settle)),
		within(o.within))
	f, err := golden.Of(u.shown(out.View), o.Options)
	switch {
	case err != nil:
	case update == golden.UpdateAll || o.Like == nil || !o.Like.Equal(f):
		err = f.Save(path)
		u.t.Logf("wrote %s", path)
	default:
		err = golden.DropPending(path)
	}
	if err != nil {
		u.t.Fatalf("expect screen %s: %v\n%s", name, err, u.Screen())
	}
}

// within bounds a wait; 0: the test does.
func within(d time.Duration) []engine.WaitOption {
	if d <= 0 {
		return nil
	}
	return []engine.WaitOption{engine.Within(d)}
}

// compare waits for the golden screen.
func (u *TUI) compare(name, path string, want *golden.File, bound time.Duration) {
	u.t.Helper()
	g := driver.NewGolden(want, path, u.shown)
	m, began := g.Matcher(), time.Now()
	if bound == 0 { // who says how long means it
		m = u.drive.Patient(m)
	}
	out, err := u.await(m, within(bound))
	if err == nil {
		if os.Getenv("CI") == "" { // what was to be reviewed is out of date
			err = golden.DropPending(path)
		}
		if err != nil {
			u.t.Fatalf("expect screen %s: %v", name, err)
		}
		return
	}
	last := u.shown(out.View)
	var left string
	if f, ferr := want.Like(last); ferr == nil && os.Getenv("CI") == "" {
		if serr := f.SavePending(path); serr == nil {
			left = "\nThe last screen is in " + golden.Pending(path) + ". If it is right, run the " +
				"test with PTYWRIGHT_UPDATE=changed."
		}
	}
	diff, at, lasted, why := g.Nearest()
	switch {
	case diff == nil:
		u.evidence = fmt.Sprintf("%v\n%s", why, last.Text())
	case diff.Equal(): // it came after the last look
		u.evidence = "it equals the file now"
	default:
		u.evidence = fmt.Sprintf("%s differs from the nearest frame, shown after %v "+
			"for %v:\n%s", path, at.Sub(began).Round(time.Millisecond),
			lasted.Round(time.Millisecond), diff)
	}
	u.t.Fatalf("expect screen %s: %v\n%s%s", name, err, u.evidence, left)
}

// shown returns the screen of a view, with secrets hidden.
func (u *TUI) shown(v *engine.View) *vt.Screen { return u.drive.Shown(v) }

// Package driver is what package tuitest and package script share: a program on a terminal in this
// process, with an environment of its own, its secrets known, and what is done to it and asked of it.
// [New] makes a [Driver], and [Driver.Spawn] starts its program.
package driver

import (
	"context"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/locate"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/redact"
)

// A Driver drives one program at a time. It belongs to one goroutine, but for Close.
type Driver struct {
	Session *engine.Session // nil: none was started yet
	Known   *redact.Known
	Hide    *redact.Redactor // hides what Known has, and what rules recognise

	engine *engine.Engine
	since  *engine.Position // before the last input; nil: there was none
	last   uint64           // the sequence that the last input left, before any reaction
	before *vt.Screen       // then
}

// New returns a driver without a program. Of o only Start, Watch and Log count.
func New(o engine.Options) *Driver {
	known := new(redact.Known)
	o.Typed, o.Asks = reading.Learn(known), redact.Asks
	return &Driver{Known: known, Hide: redact.Default.With(known), engine: engine.New(o)}
}

// Spawn starts a program in place of the one before, which has ended. The secrets in c.Env are
// hidden from then on. The errors are those of the engine, and *redact.EnvLimitError; taps are closed
// with an error.
func (d *Driver) Spawn(ctx context.Context, c engine.Config) error {
	settle, err := d.Known.Lend(c.Env)
	if err != nil {
		for _, t := range c.Taps {
			_ = t.Close() // nothing was written
		}
		return err
	}
	s, err := d.engine.Spawn(ctx, c)
	if err != nil {
		settle("", nil)
		return err
	}
	settle(string(s.ID()), s.Closed())
	d.Session, d.since, d.last, d.before = s, nil, 0, nil
	return nil
}

// Close ends the program and all it started.
func (d *Driver) Close(ctx context.Context) error { return d.engine.Close(ctx) }

// Shown returns the screen of a view, with secrets hidden.
func (d *Driver) Shown(v *engine.View) *vt.Screen { return reading.New(v, d.Hide).Screen() }

// Do does something to the program, as an input: waits for events count from here.
func (d *Driver) Do(ctx context.Context, a engine.Action, options ...engine.DoOption) error {
	before := d.Session.View().Screen
	receipt, err := d.Session.Do(ctx, a, options...)
	if err != nil {
		return err
	}
	d.since, d.last, d.before = engine.After(receipt.Sequence), receipt.Sequence, before
	if _, resized := a.(engine.Resize); resized { // which is a step of its own
		d.last++
		d.before = d.Session.View().Screen
	}
	return nil
}

// Resized takes note of resizes that were no input: they are not the program's reaction.
func (d *Driver) Resized(times uint64) {
	d.last += times
	d.before = d.Session.View().Screen
}

// Since is where events count from: the last input, or with nil the program's start.
func (d *Driver) Since() *engine.Position { return d.since }

// Reacted reports whether the program has written anything since the last input, or its start, and
// whether that shows: the screen is another.
func (d *Driver) Reacted(v *engine.View) (wrote, shows bool) {
	if v.Sequence <= d.last {
		return false, false
	}
	b, s := d.before, v.Screen
	if b == nil {
		b = &vt.Screen{}
	}
	if b.Rows != s.Rows || b.Cols != s.Cols || b.Cursor != s.Cursor || b.Title != s.Title ||
		b.Modes != s.Modes {
		return true, true
	}
	for y := range s.Rows {
		if !s.SameRow(y, b) {
			return true, true
		}
	}
	return true, false
}

// CursorMoved reports whether the cursor is elsewhere than at the last input.
func (d *Driver) CursorMoved(v *engine.View) bool {
	return d.before == nil || d.before.Cursor != v.Screen.Cursor
}

// Hermetic returns the environment of a program that is to behave the same on every machine: PATH,
// and what inherit names, from this process, fixed values for the terminal, the language and the
// time zone, folders below home, which it makes, for HOME, TMPDIR and XDG_*, and the caches of Go, npm
// and pip. What set has comes over all that.
func Hermetic(home string, inherit []string, set map[string]string) (map[string]string, error) {
	env := map[string]string{
		"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", "TZ": "UTC",
		"PS1": "$ ", "HOME": home, "TMPDIR": filepath.Join(home, "tmp"),
		"XDG_CONFIG_HOME": filepath.Join(home, "config"),
		"XDG_CACHE_HOME":  filepath.Join(home, "cache"),
		"XDG_DATA_HOME":   filepath.Join(home, "data"),
		"XDG_STATE_HOME":  filepath.Join(home, "state"),
		"XDG_RUNTIME_DIR": filepath.Join(home, "run"),
	}
	for name, folder := range env {
		if name == "TMPDIR" || strings.HasPrefix(name, "XDG_") {
			if err := os.Mkdir(folder, 0o700); err != nil {
				return nil, err
			}
		}
	}
	maps.Copy(env, caches())
	inherit = append([]string{"PATH"}, inherit...)
	if runtime.GOOS == "windows" { // programs do not start without them
		inherit = append(inherit, "SystemRoot", "PATHEXT", "ComSpec")
		env["USERPROFILE"], env["TEMP"], env["TMP"] = home, env["TMPDIR"], env["TMPDIR"]
	}
	for _, name := range inherit {
		if value, ok := os.LookupEnv(name); ok {
			env[name] = value
		}
	}
	maps.Copy(env, set)
	return env, nil
}

// SizeOf leaves it to the engine to refuse sizes that are none.
func SizeOf(rows, cols int) pty.Size {
	side := func(n int) uint16 { return uint16(min(max(n, 0), math.MaxUint16)) }
	return pty.Size{Rows: side(rows), Cols: side(cols)}
}

// Typed is a text as it is typed: "\n" is the Enter key, which sends a carriage return.
func Typed(text string) engine.Text { return engine.Text(enter.Replace(text)) }

var enter = strings.NewReplacer("\r\n", "\r", "\n", "\r")

// Keys presses keys, one after the other.
func Keys(keys ...vt.Key) engine.Typing {
	typing := engine.Typing{}
	for _, key := range keys {
		typing.Actions = append(typing.Actions, engine.Key(key))
	}
	return typing
}

// Paste is a text as a terminal pastes it: in brackets when the program asks for them.
func (d *Driver) Paste(text string) engine.Action {
	if d.Session.View().Screen.Modes.BracketedPaste {
		return engine.BracketedPaste(text)
	}
	return engine.Paste(text)
}

// Click presses and releases a button of the mouse on a cell, so many times.
func Click(row, col int, button vt.MouseButtonCode, times int) engine.Typing {
	press := vt.Mouse{Row: row, Col: col, Button: button, Action: vt.MousePress}
	release := press
	release.Action = vt.MouseRelease
	typing := engine.Typing{}
	for range times {
		typing.Actions = append(typing.Actions, engine.Mouse(press), engine.Mouse(release))
	}
	return typing
}

// Settle is for how long a screen has to be unchanged before it is written down, or taken for the
// answer to an input that changed nothing: longer than programs pause between two parts of a frame,
// and short enough to wait for.
const Settle = 250 * time.Millisecond

// Drag presses the left button on a cell, moves to the middle of a place, if the program asks for
// that, and releases it there.
func Drag(row, col int, to locate.Place, asks vt.MouseTracking) engine.Typing {
	press := vt.Mouse{Row: row, Col: col, Button: vt.MouseLeft, Action: vt.MousePress}
	move := press
	move.Row, move.Col = to.Center()
	move.Action = vt.MouseMotion
	release := move
	release.Action = vt.MouseRelease
	typing := engine.Typing{Actions: []engine.Action{engine.Mouse(press)}}
	if asks >= vt.MouseButton {
		typing.Actions = append(typing.Actions, engine.Mouse(move))
	}
	typing.Actions = append(typing.Actions, engine.Mouse(release))
	return typing
}

// Wheel turns the wheel over a cell by so many steps.
func Wheel(row, col int, wheel vt.MouseButtonCode, steps int) engine.Typing {
	typing := engine.Typing{}
	for range steps {
		typing.Actions = append(typing.Actions, engine.Mouse{
			Row: row, Col: col, Button: wheel, Action: vt.MousePress})
	}
	return typing
}

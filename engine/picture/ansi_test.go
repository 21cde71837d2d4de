package picture

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/vt"
)

func TestANSIReproducesTheCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 8).Draw(t, "rows"), rapid.IntRange(1, 14).Draw(t, "cols")
		live := vt.New(rows, cols, vt.Options{})
		live.Feed([]byte(enginetest.Anything(rows, cols).Draw(t, "output")))
		want := live.Snapshot()
		text := ANSI(want, nil)
		again := vt.New(rows, cols, vt.Options{})
		again.Feed([]byte(text))
		if d := enginetest.DiffCells(want, again.Snapshot()); d != "" {
			t.Fatalf("%s\n%q", d, text)
		}
		restored := vt.New(rows, cols, vt.Options{})
		restored.Feed([]byte(Restore(want, nil)))
		got := restored.Snapshot()
		if d := enginetest.DiffCells(want, got); d != "" {
			t.Fatalf("restored: %s\n%q", d, Restore(want, nil))
		}
		want.Cursor.PendingWrap = false
		if got.Cursor != want.Cursor || got.Modes != want.Modes {
			t.Fatalf("restored: %+v %+v\nwant %+v %+v", got.Cursor, got.Modes, want.Cursor, want.Modes)
		}
	})
}

func TestANSIHoldsOnlyStyles(t *testing.T) {
	live := vt.New(3, 10, vt.Options{})
	live.Feed([]byte("\x1b[1;31mred\x1b[0m and a wrapped line\x1b[4 q"))
	if got, want := ANSI(live.Snapshot(), nil), "\x1b[0;1;31mred\x1b[0m and a wrapped line"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

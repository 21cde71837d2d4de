package golden

import (
	"testing"

	"pgregory.net/rapid"
)

// drawn draws a file on a fresh terminal, and writes that down.
func drawn(t reporter, f *File) *File {
	t.Helper()
	d, err := f.Like(screen(f.Height, f.Width, f.Output()))
	if err != nil {
		t.Fatalf("%v", err)
	}
	return d
}

// TestOutputShowsTheFile: what a file prints shows the file, whatever it shows.
func TestOutputShowsTheFile(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rows, cols := rapid.IntRange(1, 6).Draw(r, "rows"), rapid.IntRange(1, 12).Draw(r, "cols")
		s := screen(rows, cols, rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 20).Draw(r, "screen")...)
		f, err := Of(s, Options{Parts: All})
		if err != nil {
			r.Fatal(err)
		}
		if d := f.Diff(drawn(r, f)); !d.Equal() {
			r.Fatalf("drawn it differs\n%s\nby %q", d, f.Output())
		}
	})
}

// TestOutput: parts that are left out are not drawn, regions and masks are, and nothing that a file
// says gets out of its screen.
func TestOutput(t *testing.T) {
	for _, text := range []string{
		"screen 1\nsize 3x9\n--\n|one\n|  two\n|\n",
		"screen 1\nsize 3x9\nregion 1,3 2x4\n--\n|ab\n~r\n| 日\n--\nr fg=red\n",
		"screen 1\nsize 2x9\nmodes alt app-keypad no-wrap origin insert kitty=5\n--\n|a\n|b\n",
	} {
		f, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if d := f.Diff(drawn(t, f)); !d.Equal() {
			t.Errorf("%s", d)
		}
	}
	masked, err := Parse([]byte("screen 1\nsize 1x9\nmask clock /x/\n--\n|«clock·»\n~........\n--\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := screen(1, 9, masked.Output()).Text(); got != "«clock·»" {
		t.Errorf("a mask is drawn as %q", got)
	}
	evil, err := Parse([]byte("screen 1\nsize 2x9\ntitle \"a\\x1b\\\\\\x1b[2J\"\n--\n\"a\\x1b[1;1HX\"\n|b\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := screen(2, 9, evil.Output())
	if got := s.Text(); got != "a [1;1HX\nb" {
		t.Errorf("%q", got)
	}
}

// TestSteps: what a test does with a file; sdk/goldens.json has the same for the SDKs.
func TestSteps(t *testing.T) {
	for update, want := range map[Update][2]Step{
		UpdateNone:    {StepFail, StepCompare},
		UpdateMissing: {StepWrite, StepCompare},
		UpdateChanged: {StepWrite, StepWrite},
		UpdateAll:     {StepWrite, StepWrite},
	} {
		if got := [2]Step{update.Step(false), update.Step(true)}; got != want {
			t.Errorf("%s: %v, not %v", update, got, want)
		}
	}
}

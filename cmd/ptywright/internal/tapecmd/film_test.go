package tapecmd

import (
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/redact"
	"github.com/ptywright/ptywright/tuitest/script"
)

// filmOf is the film of a recording, whose lines are events, and of pieces.
func filmOf(t *testing.T, speed float64, pieces []script.Piece, lines ...string) *film {
	t.Helper()
	text := `{"version": 2, "width": 20, "height": 3}` + "\n" + strings.Join(lines, "\n") + "\n"
	rec, err := record.Load(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return &film{rec: rec, pieces: pieces, speed: speed}
}

// castOf is the film's cast, as lines: time, kind, text.
func castOf(t *testing.T, f *film) string {
	t.Helper()
	data, err := f.cast()
	if err != nil {
		t.Fatal(err)
	}
	rec, err := record.Load(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for e := range rec.Events() {
		fmt.Fprintf(&b, "%v %c %q\n", e.At, e.Kind, e.Text)
	}
	return b.String()
}

// TestFilm: what is hidden takes no time and leaves only its screen; a piece lasts as long as it says,
// or until its last output; what comes behind the last piece is not shown.
func TestFilm(t *testing.T) {
	t.Parallel()
	pieces := []script.Piece{
		{Lasts: -1, Hidden: true},                      // the start
		{Lasts: 50 * time.Millisecond},                 // a key that was answered at once
		{Lasts: 50 * time.Millisecond, Still: true},    // one that was answered late
		{Lasts: -1, Still: true},                       // a wait
		{Lasts: -1, Hidden: true, Still: true},         // hidden in the middle
		{Lasts: 2 * time.Second, Still: true, Line: 9}, // a pause
	}
	events := []string{
		`[0.5, "o", "secret> "]`, `[0.9, "m", "film 0"]`,
		`[0.91, "o", "a"]`, `[0.92, "m", "film 1"]`,
		`[1.12, "o", "b"]`, `[1.13, "m", "film 2"]`,
		`[1.23, "m", "step 4 wait"]`, `[1.33, "o", "c"]`, `[1.63, "m", "film 3"]`,
		`[1.7, "o", "hidden\b\b\b\b\b\b\u001b[K"]`, `[2.0, "m", "film 4"]`,
		`[2.1, "o", "d"]`, `[2.2, "m", "film 5"]`,
		`[2.3, "o", "the shell's end"]`,
	}
	f := filmOf(t, 1, pieces, events...)
	cast := castOf(t, f)
	for _, want := range []string{
		"0s o \"secret>\\x1b", "10ms o \"a\"\n", "250ms o \"b\"\n", // 50 ms and then 200 ms late
		"450ms o \"c\"\n", "750ms o \"\\x1bc\\x1b[3Jsecret> abc\\x1b", "850ms o \"d\"\n", "2.75s r ",
	} {
		if !strings.Contains(cast, want) {
			t.Errorf("no %q:\n%s", want, cast)
		}
	}
	if strings.Contains(cast, "hidden") || strings.Contains(cast, "the shell's end") || strings.Contains(cast, "film") {
		t.Errorf("%s", cast)
	}
	data, err := f.cast()
	if err != nil {
		t.Fatal(err)
	}
	rec, err := record.Load(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	if s, err := rec.At(rec.Duration()); err != nil || s.Text() != "secret> abcd" {
		t.Errorf("%q, %v", s.Text(), err)
	}
	if text, err := f.texts(redact.Default); err != nil || text != strings.ReplaceAll("secret> ab\n=secret> abc\n=secret> abcd\n=", "=", rule+"\n") {
		t.Errorf("%s, %v", text, err)
	}
	if fast := castOf(t, filmOf(t, 2, pieces, events...)); !strings.Contains(fast, "125ms o \"b\"\n") ||
		!strings.Contains(fast, "1.375s r") {
		t.Errorf("at double speed:\n%s", fast)
	}
	if none, err := filmOf(t, 1, []script.Piece{{Hidden: true}}, `[1, "o", "x"]`, `[2, "m", "film 0"]`).cast(); err != nil || none != nil {
		t.Errorf("all hidden: %s, %v", none, err)
	}
}

// TestLooped: a film that begins elsewhere has all of its time.
func TestLooped(t *testing.T) {
	t.Parallel()
	frames := func(yield func(time.Duration, *vt.Screen) bool) {
		for i, d := range []time.Duration{10, 20, 30, 40} {
			if !yield(d, &vt.Screen{Rows: i}) {
				return
			}
		}
	}
	for part, want := range map[float64]string{
		0: "10:0 20:1 30:2 40:3", 0.1: "20:1 30:2 40:3 10:0", 0.2: "10:1 30:2 40:3 10:0 10:1", 0.99: "1:3 10:0 20:1 30:2 39:3",
	} {
		if got := shown(looped(frames, part)); got != want {
			t.Errorf("%v: %s, not %s", part, got, want)
		}
	}
	if got := shown(looped(func(func(time.Duration, *vt.Screen) bool) {}, 0.5)); got != "" {
		t.Errorf("of nothing: %s", got)
	}
}

// TestBlinking: a cursor is shown for 600 ms from every change on, and then is not for as long, in the
// same time in all; one that is hidden stays so.
func TestBlinking(t *testing.T) {
	t.Parallel()
	cursor := func(text string) *vt.Screen {
		term := vt.New(1, 10, vt.Options{})
		term.Feed([]byte(text))
		return term.Snapshot()
	}
	frames := func(yield func(time.Duration, *vt.Screen) bool) {
		for _, f := range []struct {
			lasts  time.Duration
			screen *vt.Screen
		}{{600 * time.Millisecond, cursor("a")}, {1300 * time.Millisecond, cursor("ab")}, {2 * time.Second, cursor("abc\x1b[?25l")}} {
			if !yield(f.lasts, f.screen) {
				return
			}
		}
	}
	var got []string
	for lasts, s := range blinking(frames) {
		got = append(got, fmt.Sprintf("%v %s %v", lasts, s.Text(), s.Cursor.Visible))
	}
	if text := strings.Join(got, ", "); text != "600ms a true, 600ms ab true, 600ms ab false, 100ms ab true, 2s abc false" {
		t.Error(text)
	}
	for range blinking(frames) {
		break // one that stops early gets no more
	}
}

func shown(frames iter.Seq2[time.Duration, *vt.Screen]) string {
	var all []string
	for d, s := range frames {
		all = append(all, fmt.Sprintf("%d:%d", d, s.Rows))
	}
	return strings.Join(all, " ")
}

// TestFormats: an output's name says what it is, or what to do instead.
func TestFormats(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a.gif": "gif", "a.SVG": "svg", "a.webp": "webp", "a/b.png": "png", "a.cast": "cast", "a.ascii": "txt",
		"a.mp4": "!ptywright draws no mp4: write a.gif, .webp or .svg, or a.cast and convert that", "frames/": "!frames/ is a folder",
		"a": "!\"a\" does not end in", "a.jpg": "!\"a.jpg\" does not end in",
	} {
		got, err := formatOf(name)
		if err != nil {
			got = "!" + err.Error()
		}
		if got != want && !(want[0] == '!' && strings.HasPrefix(strings.ReplaceAll(got, `"frames/"`, "frames/"), want)) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

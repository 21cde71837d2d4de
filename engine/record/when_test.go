package record

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/matchers"
)

// screens are the texts that a recording's terminal shows at each moment and after each event, as a
// terminal of its own tells for each event that is shown everything up to there from the beginning.
// It knows nothing of stages and replays.
func screens(t *testing.T, rec *Recording) (at []time.Duration, text []string) {
	t.Helper()
	at, text = []time.Duration{0}, []string{""}
	for n := range rec.Len() {
		term := vt.New(rec.Rows, rec.Cols, vt.Options{})
		for i := range n + 1 {
			switch e := rec.Event(i); e.Kind {
			case EventOutput:
				if i < n {
					term.Feed([]byte(e.Text))
					break
				}
				for rest := []byte(e.Text); len(rest) > 0; {
					term.Seen()
					_, rest = term.FeedMoments(rest, func(s *vt.Screen) {
						at, text = append(at, e.At), append(text, s.Text())
					})
					at, text = append(at, e.At), append(text, term.Snapshot().Text())
				}
			case EventResize:
				term.Resize(e.Rows, e.Cols, 0, 0)
			}
		}
		at, text = append(at, rec.Event(n).At), append(text, term.Snapshot().Text())
	}
	return at, text
}

// words are the words of texts, each once, at most some of them.
func words(texts []string) (out []string) {
	for _, text := range texts {
		for _, w := range strings.Fields(text) {
			if !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	most := 300
	if !long {
		most = 40
	}
	for len(out) > most { // spread over all
		for i := 0; i < len(out) && len(out) > most; i++ {
			out = slices.Delete(out, i, i+1)
		}
	}
	return out
}

// recorded returns recordings of real sessions by their names: of those that package vt is tested
// with some of each program, and those of the adapters. With PTYWRIGHT_LONG=1 they are all of them.
func recorded(t *testing.T) map[string]*Recording {
	t.Helper()
	f, err := os.Open("../vt/testdata/recordings.txtar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*Recording{}
	add := func(name string, text []byte) *Recording {
		rec, err := Load(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = rec
		return rec
	}
	const few, events = 3, 100
	of := map[string]int{} // a program
	for _, file := range txtar.Parse(text).Files {
		program, _, _ := strings.Cut(file.Name, "/")
		if !strings.HasSuffix(file.Name, ".cast") || of[program] == few && !long {
			continue
		}
		if rec := add(file.Name, file.Data); !long && (rec.Len() < 3 || rec.Len() > events) {
			delete(all, file.Name)
			continue
		}
		of[program]++
	}
	paths, err := filepath.Glob("../../plugins/*/testdata/cases/*.cast")
	if err != nil || len(paths) < 5 {
		t.Fatalf("%d recordings: %v", len(paths), err)
	}
	if dir := os.Getenv("PTYWRIGHT_CASTS"); dir != "" { // more of them
		more, err := filepath.Glob(dir)
		if err != nil || len(more) == 0 {
			t.Fatalf("PTYWRIGHT_CASTS: %d recordings: %v", len(more), err)
		}
		paths = append(paths, more...)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		add(path, text)
	}
	if len(all) < 50 {
		t.Fatalf("there are only %d recordings", len(all))
	}
	return all
}

var long = os.Getenv("PTYWRIGHT_LONG") != ""

// TestWhen: for each word that a recording ever showed, the times at which it was on the screen are
// those of a replay that shares nothing but the terminal.
func TestWhen(t *testing.T) {
	for name, rec := range recorded(t) {
		t.Run(strings.TrimPrefix(name, "../../"), func(t *testing.T) {
			t.Parallel()
			at, texts := screens(t, rec)
			asked := words(texts)
			if len(asked) == 0 {
				t.Fatal("it shows nothing")
			}
			for _, word := range asked {
				if d := cmp.Diff(slowly(at, texts, word), when(t, rec, word)); d != "" {
					t.Errorf("%q (-want +got):\n%s", word, d)
				}
			}
		})
	}
}

// slowly says when a word was shown, by looking at each text.
func slowly(at []time.Duration, texts []string, word string) (out []string) {
	from, held := time.Duration(0), false
	for i, text := range texts {
		switch has := strings.Contains(text, word); {
		case has && !held:
			from, held = at[i], true
		case !has && held:
			out, held = append(out, fmt.Sprintf("%v to %v", from, at[i])), false
		}
	}
	if held {
		out = append(out, fmt.Sprintf("%v to %v, open", from, at[len(at)-1]))
	}
	return out
}

// when says it as [Recording.When] does.
func when(t *testing.T, rec *Recording, word string) (out []string) {
	t.Helper()
	for s, err := range rec.When(matchers.Text(word).In(matchers.OnScreen)) {
		if err != nil {
			t.Fatal(err)
		}
		one := fmt.Sprintf("%v to %v", s.From, s.To)
		if s.Open {
			one += ", open"
		}
		out = append(out, one)
	}
	return out
}

// TestWhenOfAnUpdate: an update that does not end is shown after its bound, and a screen is still
// at the time at which it became so, not at the next event.
func TestWhenOfAnUpdate(t *testing.T) {
	rec, err := Load(strings.NewReader(`{"version":2,"width":20,"height":4}
[1, "o", "\u001b[?2026hx"]
[5, "o", "y"]
[9, "m", ""]
`))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"1.15s to 9s, open"}, when(t, rec, "x")); d != "" {
		t.Errorf("the update (-want +got):\n%s", d)
	}
	var still []string
	for s, err := range rec.When(matchers.Stable(2 * time.Second)) {
		if err != nil {
			t.Fatal(err)
		}
		still = append(still, fmt.Sprintf("%v to %v", s.From, s.To))
	}
	want := []string{"3.15s to 5s", "7s to 9s"}
	if d := cmp.Diff(want, still); d != "" {
		t.Errorf("stillness (-want +got):\n%s", d)
	}
}

// TestWhenOfAFlicker: what one output draws and wipes was there, for no time.
func TestWhenOfAFlicker(t *testing.T) {
	rec, err := Load(strings.NewReader(`{"version":2,"width":20,"height":4}
[1, "o", "flash\r\u001b[2Kdone"]
[3, "o", "\rflash"]
[5, "m", ""]
`))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"1s to 1s", "3s to 5s, open"}, when(t, rec, "flash")); d != "" {
		t.Errorf("the flicker (-want +got):\n%s", d)
	}
}

// TestWhenOfOtherEvents: a size that takes a text away ends its span, and the program's end counts
// at its own time.
func TestWhenOfOtherEvents(t *testing.T) {
	rec, err := Load(strings.NewReader(`{"version":2,"width":20,"height":4}
[1, "o", "\u001b[?1049h\u001b[4;1Hx\u001b[1;1H"]
[2, "r", "20x2"]
[3, "o", "y"]
[4, "x", "7"]
[6, "m", ""]
`))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"1s to 2s"}, when(t, rec, "x")); d != "" {
		t.Errorf("the text (-want +got):\n%s", d)
	}
	var ends []string
	for s, err := range rec.When(matchers.Exited()) {
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, fmt.Sprintf("%v to %v, open %v", s.From, s.To, s.Open))
	}
	if d := cmp.Diff([]string{"4s to 6s, open true"}, ends); d != "" {
		t.Errorf("the end (-want +got):\n%s", d)
	}
}

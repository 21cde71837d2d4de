package record_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/matchers"
)

// TestCastHasTheSessionsEvents: among the output, in order, in both versions, without secrets; a
// player that knows none of them shows the same screens.
func TestCastHasTheSessionsEvents(t *testing.T) {
	t.Parallel()
	for _, f := range []record.Format{record.AsciicastV2, record.AsciicastV3} {
		p := enginetest.New()
		e := enginetest.Engine(p)
		path := filepath.Join(t.TempDir(), "x.cast")
		cast, err := record.NewCast(path, record.CastOptions{Format: f, Rows: 24, Cols: 80})
		if err != nil {
			t.Fatal(err)
		}
		s, err := e.Spawn(t.Context(), engine.Config{Program: "fake", Taps: []engine.Tap{record.NewBehind(cast)}})
		if err != nil {
			t.Fatal(err)
		}
		do := func(a engine.Action) {
			if _, err := s.Do(t.Context(), a, engine.By("ann")); err != nil {
				t.Fatal(err)
			}
		}
		wait := func(text string) {
			if _, err := s.Wait(t.Context(), matchers.Text(text), engine.Within(time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
		do(engine.Text("make\r"))
		p.Print("\x1b]2;a title\a\x1b]133;A\a\x1b]133;B\amake token=canary0123456789abcdef\r\n\x1b]133;C\aone\r\n")
		wait("one")
		s.Wait(t.Context(), matchers.Text("token=canary0123456789abcdef?"), engine.Within(time.Millisecond))
		do(engine.Resize{Rows: 20, Cols: 70})
		p.Print("\x1b]133;D;2\atwo\r\n")
		wait("two")
		p.End(0)
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "canary0123") {
			t.Errorf("%s: a secret is in %s", f, text)
		}
		rec, err := record.Load(strings.NewReader(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		last := map[uint64]engine.Event{}
		for e := range rec.Events() {
			x, ok := e.Session()
			if !ok {
				if e.Kind == record.EventSession {
					t.Errorf("%s: %q is none", f, e.Text)
				}
				continue
			}
			last[x.ID] = x
			got = append(got, fmt.Sprint(x.Kind, " ", x.State))
		}
		if want := []string{"input ", "command running", "wait timed_out", "command ended"}; !inOrder(got, want) {
			t.Errorf("%s: got %q, want %q among it", f, got, want)
		}
		for _, x := range last {
			if x.Kind == engine.EventCommand && (x.ExitCode == nil || *x.ExitCode != 2) {
				t.Errorf("%s: the command: %+v", f, x)
			}
		}
		// As another player has it: what it does not know is not there.
		var known []string
		for line := range strings.Lines(string(text)) {
			var e []any
			if json.Unmarshal([]byte(line), &e) == nil && !slices.Contains([]any{"o", "i", "r", "m", "x"}, e[1]) {
				continue
			}
			known = append(known, line)
		}
		without, err := record.Load(strings.NewReader(strings.Join(known, "")))
		if err != nil {
			t.Fatal(err)
		}
		a, errA := rec.Text()
		b, errB := without.Text()
		if errA != nil || errB != nil || a != b || !strings.Contains(a, "two") {
			t.Errorf("%s: %q and %q, %v, %v", f, a, b, errA, errB)
		}
	}
}

// inOrder reports whether all of want are in got, in that order.
func inOrder(got, want []string) bool {
	for _, g := range got {
		if len(want) > 0 && g == want[0] {
			want = want[1:]
		}
	}
	return len(want) == 0
}

// TestEventsOfAHostileCast: what a cast says of events is text from anywhere.
func TestEventsOfAHostileCast(t *testing.T) {
	t.Parallel()
	rec, err := record.Load(strings.NewReader(`{"version": 2, "width": 80, "height": 24}
[0.1, "p", "not JSON"]
[0.2, "p", "{}"]
[0.3, "p", "{\"kind\": 7}"]
[0.4, "p", "{\"kind\": \"wait\", \"text\": \"a\\u001b[31m\\u202eb\\nc\", \"exit_code\": 1e99}"]
[0.5, "p", "{\"kind\": \"wait\", \"text\": \"a\\u001b[31m\\u202eb\\nc` + strings.Repeat("x", 5000) + `\"}"]
[0.6, "q", "{\"kind\": \"wait\"}"]
`))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for e := range rec.Events() {
		if x, ok := e.Session(); ok {
			n++
			if !strings.HasPrefix(x.Text, "a\u241b[31mb\u240acxxx") || len(x.Text) > 2048 {
				t.Errorf("got %.60q, %d bytes", x.Text, len(x.Text))
			}
		}
	}
	if n != 1 {
		t.Errorf("%d events", n)
	}
}

// TestMomentsOfACast: what any cast has is there beside the events, and of many the newest.
func TestMomentsOfACast(t *testing.T) {
	t.Parallel()
	rec, err := record.Load(strings.NewReader(`{"version": 2, "width": 80, "height": 24}
[0.1, "o", "text"]
[0.2, "m", "here"]
[0.3, "r", "90x30"]
[0.4, "p", "{\"kind\": \"wait\", \"state\": \"matched\"}"]
[0.5, "x", "3"]
`))
	if err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int]string{10: "200ms marker, 300ms resize, 400ms wait, 500ms exit", 2: "400ms wait, 500ms exit", 0: ""} {
		var got []string
		for at, e := range rec.Moments(most) {
			got = append(got, fmt.Sprint(at, " ", e.Kind))
		}
		if said := strings.Join(got, ", "); said != want {
			t.Errorf("of %d: %s, want %s", most, said, want)
		}
	}
}

//go:build unix

package script_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/tuitest/script"
	"github.com/ptywright/ptywright/tuitest/tape"
)

// runTape runs a tape and returns its result.
func runTape(t *testing.T, text string) *script.Result {
	t.Helper()
	read, err := tape.Parse("demo.tape", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := script.FromTape(read, script.Size{Rows: 10, Cols: 60})
	if err != nil {
		t.Fatal(err)
	}
	r, _ := script.Run(t.Context(), s, script.Options{Size: s.Sizes[0], Dir: t.TempDir(), WorkDir: t.TempDir()})
	return r
}

func failureOf(r *script.Result) *script.Failure {
	for _, s := range r.Steps {
		if s.Failure != nil {
			return s.Failure
		}
	}
	return r.Failure
}

// TestTape: the words of a tape do to a shell what they say.
func TestTape(t *testing.T) {
	t.Parallel()
	r := runTape(t, `Set Shell sh
Type "printf 'one\ntwo\n'" Enter
Wait
Wait+Screen /^two$/
Type "echo three" Left 5 Right 5 Enter
Wait+Screen@20s /^three$/
Copy "echo pasted"
Paste
Enter
Wait+Screen /^pasted$/
Wait+Stable 50ms
Type "exit 3" Enter
Sleep 10m
`)
	if r.Outcome != script.Passed {
		t.Fatalf("%s: %+v", r.Outcome, failureOf(r))
	}
	var shown time.Duration
	for _, p := range r.Film.Pieces {
		if !p.Hidden && p.Lasts > 0 {
			shown += p.Lasts
		}
	}
	if took := time.Duration(r.Took); shown < 10*time.Minute || took > shown {
		t.Errorf("a pause of ten minutes after the program's end: the film has %v, it took %v", shown, took)
	}
}

// TestWaitOfATape: a Wait counts what is new at once, what was there when the screen is still, and
// never the line that Enter ended.
func TestWaitOfATape(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tape string
		why  string // "": it passes
	}{
		"the echo of a line": {"Type 'sleep 9 # done' Enter Wait+Screen@300ms /done/", "its echo does not count"},
		"the echo of a line that wraps": {"Type 'sleep 9 # " + longWord + "done' Enter Wait+Screen@300ms /done/",
			"its echo does not count"},
		"the prompt that Enter leaves": {"Type 'sleep 9' Enter Wait@300ms", `the line of the cursor is ""`},
		"the prompt of an empty line":  {"Enter Wait", ""},
		"what is typed and not ended":  {"Type 'done' Wait+Screen@20s /done/", ""},
		"what was there before": {"Type 'echo one' Enter Wait+Screen@20s /^one$/ Type 'true' Enter Wait+Screen@20s /^one$/",
			""},
		"what is to come again": {"Type 'echo one' Enter Wait+Screen /^one$/ Type 'clear; sleep .5; echo one; echo two' Enter " +
			"Wait+Screen@20s /^one$/ Wait+Screen@20s /^two$/", ""},
		"nothing like it": {"Type 'echo none' Enter Wait+Screen@300ms /nonesuch/", `nearest: "none"`},
		"the end":         {"Type 'exit 3' Enter Wait+Screen /never/", "the program ended (exit 3) before that"},
		"several lines":   {"Type 'echo one; echo two' Enter Wait+Screen@20s /one\\ntwo$/", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := runTape(t, "Set Shell sh\n"+c.tape+"\n")
			f := failureOf(r)
			switch {
			case c.why == "" && f != nil:
				t.Errorf("%v\n%s", f, f.Evidence)
			case c.why != "" && (f == nil || !strings.Contains(f.Why+f.Evidence, c.why)):
				t.Errorf("%s, %+v", r.Outcome, f)
			}
		})
	}
}

// longWord is longer than a row of the tests.
const longWord = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"

// TestTapeRefused: what cannot be done is told with its place before anything runs.
func TestTapeRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Tpye 'x'":                         `demo.tape:1:1: unknown command "Tpye": did you mean Type?`,
		"Set Widh 3":                       `demo.tape:1:5: unknown setting "Widh": did you mean Set Width?`,
		"Hide\nPaste":                      "demo.tape:2:1: nothing was copied before it",
		"Set Shell ''":                     "demo.tape:1:1: the shell has no name",
		strings.Repeat("Enter 1000\n", 51): "demo.tape:51:1: more than 50000 keys in a tape",
	} {
		read, err := tape.Parse("demo.tape", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = script.FromTape(read, script.Size{Rows: 10, Cols: 60}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.30q: %v", text, err)
		}
	}
}

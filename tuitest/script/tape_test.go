//go:build unix

package script_test

import (
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

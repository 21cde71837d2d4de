package record

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/redact"
)

// TestFinishedRecordingHoldsNothing: a recording that has ended, however it did, keeps its numbers,
// and neither its session nor what wrote its file.
func TestFinishedRecordingHoldsNothing(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, s *engine.Session, p *enginetest.PTY, x *Kept){
		"stopped": func(t *testing.T, _ *engine.Session, _ *enginetest.PTY, x *Kept) { must(t, x.Stop()) },
		"the program ended": func(t *testing.T, s *engine.Session, p *enginetest.PTY, _ *Kept) {
			p.End(3)
			for changed := s.Changed(); !s.View().Ended; changed = s.Changed() {
				<-changed
			}
		},
		"the session was closed": func(t *testing.T, s *engine.Session, _ *enginetest.PTY, _ *Kept) { must(t, s.Close(t.Context())) },
	} {
		t.Run(name, func(t *testing.T) {
			var all Recordings
			path := filepath.Join(t.TempDir(), "a.cast")
			session, file := keepRecording(t, &all, path, end)
			for range 3 { // a cycle frees what the one before found unreachable
				runtime.GC()
			}
			if session.Value() != nil {
				t.Error("the recording holds its closed session")
			}
			if file.Value() != nil {
				t.Error("the recording holds what wrote its file")
			}
			x := all.Find("r1")
			info, err := os.Stat(path)
			must(t, err)
			if st := x.Status(); st.State != StateDone || st.Path != path || st.Bytes != info.Size() || st.Format != AsciicastV2 {
				t.Errorf("it tells %+v of a file of %d bytes", st, info.Size())
			}
			if x.Session != "s1" || len(all.List()) != 1 {
				t.Errorf("%q, %v", x.Session, all.List())
			}
			must(t, x.Stop()) // again: nothing to do
		})
	}
}

// keepRecording records a session until end has ended the recording, closes the session, and
// returns what may be gone then.
//
//go:noinline
func keepRecording(t *testing.T, all *Recordings, path string, end func(*testing.T, *engine.Session, *enginetest.PTY, *Kept)) (weak.Pointer[engine.Session], weak.Pointer[Cast]) {
	p := enginetest.New()
	e := enginetest.Engine(p)
	s, err := e.Spawn(t.Context(), engine.Config{Program: "fake"})
	must(t, err)
	x, err := all.Start(s, StartOptions{Path: path})
	must(t, err)
	file := weak.Make(x.running.file.(*Cast))
	p.Print(strings.Repeat("a line\r\n", 1000))
	end(t, s, p, x)
	must(t, s.Close(t.Context()))
	must(t, e.Close(t.Context()))
	return weak.Make(s), file
}

// TestCommandIsALineForAShell: a shell reads a recording's command as the words that were run, and a
// secret in one of them is hidden also where it needs quotes.
func TestCommandIsALineForAShell(t *testing.T) {
	t.Parallel()
	for want, words := range map[string][]string{
		"bash -l":                          {"bash", "-l"},
		`sh -c 'ls d | fzf --height=100%'`: {"sh", "-c", "ls d | fzf --height=100%"},
		`app '' 'it'\''s' '$x' a=/b`:       {"app", "", "it's", "$x", "a=/b"},
	} {
		if got := CommandLine(words, nil); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	var known redact.Known
	known.AddEnv([]string{"API_TOKEN=pass'word 4711"})
	if got := CommandLine([]string{"app", "pass'word 4711"}, redact.Default.With(&known)); strings.Contains(got, "4711") {
		t.Error(got)
	}
}

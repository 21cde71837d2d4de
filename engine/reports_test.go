package engine_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
)

// reports puts reports on one line.
func reports(r engine.Reports) string {
	var parts []string
	if p := r.Progress; p != nil {
		parts = append(parts, fmt.Sprintf("%s %d", p.State, p.Value))
	}
	if sh := r.Shell; sh != nil {
		parts = append(parts, fmt.Sprintf("%s exit %d %v %q in %q", sh.Phase, sh.ExitCode, sh.Exited, sh.Command, sh.Dir))
	}
	if st := r.Status; st != nil {
		parts = append(parts, fmt.Sprintf("%s %s %s %q", st.State, st.App, st.Kind, st.Message))
	}
	if c := r.Clipboard; c != nil {
		parts = append(parts, fmt.Sprintf("copied %q %s", c.Text, c.Dropped))
	}
	return strings.Join(parts, "; ")
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// TestReportsTellTheLast of each kind, each step on top of those before.
func TestReportsTellTheLast(t *testing.T) {
	for name, steps := range map[string][][2]string{
		"progress": {
			{"nothing yet", ""},
			{"\x1b]9;4;1;30\a", "normal 30"}, {"\x1b]9;4;3\a", "busy 0"}, {"\x1b]9;4;2;30\x1b\\", "error 30"}, {"\x1b]9;4;4;999\a", "paused 100"},
			{"\x1b]9;4;7;1\a\x1b]9;hello\a", "paused 100"}, {"\x1b]9;4;0\a", "none 0"},
		},
		"shell with marks of both kinds": {
			{"\x1b]133;A\a$ ", `prompt exit 0 false "" in ""`},
			{"\x1b]133;B\a", `input exit 0 false "" in ""`},
			{"\x1b]633;E;make -j4\\x3b echo \\\\;nonce\a\x1b]633;C\a", `running exit 0 false "make -j4; echo \\" in ""`},
			{"out\r\n\x1b]133;D;2\a", `done exit 2 true "make -j4; echo \\" in ""`},
			{"\x1b]133;A;k=s\a\x1b]133;B\a\x1b]133;C\a", `running exit 2 true "make -j4; echo \\" in ""`},
			{"\x1b]133;D\a", `done exit 0 false "make -j4; echo \\" in ""`},
			{"\x1b]133;E;not a command\a\x1b]133;Z\a\x1b]133;\a\x1b]133;AB\a", `done exit 0 false "make -j4; echo \\" in ""`},
		},
		"directory": {
			{"\x1b]7;file://host/home/a%20b/%C3%A4%0a%1b%e2%80%ae\a", ` exit 0 false "" in "/home/a b/ä"`},
			{"\x1b]7;file:///100%/x\a", ` exit 0 false "" in "/100%/x"`},
			{"\x1b]7;http://host/x\a\x1b]7;relative\a\x1b]7;file://host\a", ` exit 0 false "" in "/100%/x"`},
			{"\x1b]7;file://PC/C:/Users/me\a", ` exit 0 false "" in "C:/Users/me"`},
			{"\x1b]633;P;Cwd=/a\\x3bb\a\x1b]633;P;IsWindows=False\a", ` exit 0 false "" in "/a;b"`},
			{"\x1b]7;/plain\a", ` exit 0 false "" in "/plain"`},
			{"\x1b]7;\a", ` exit 0 false "" in ""`},
		},
		"status": {
			{"\x1b]7501;state=blocked:app=claude-code:kind=permission:msg=" + b64("trust this folder") + "\x1b\\", `blocked claude-code permission "trust this folder"`},
			{"\x1b]7501;app=x:kind=y\a\x1b]7501;state=\a\x1b]7501;state=no token\a\x1b]7501;?\a", `blocked claude-code permission "trust this folder"`},
			{"\x1b]7501;state=working:app=claude-code\a", `working claude-code  ""`},
			{"\x1b]7501;state=error:msg=" + b64("a\nb\t\x1b[31mc\x00\u202e\xff") + ":app=" + strings.Repeat("x", 65) + ":more=1\a", `error   "a b [31mc�"`},
			{"\x1b]7501;state=done:msg=!!!\a", `done   ""`},
			{"\x1b]7501;state=clear:app=claude-code\a", ""},
			{"\x1b]7501;state=idle:state=done:msg=" + strings.TrimRight(b64("a"), "=") + "\a", `done   "a"`},
			{"\x1bc\x1b[!p", `done   "a"`}, // a reset is about the screen
		},
		"clipboard": {
			{"\x1b]52;c;?\a\x1b]52;q;YQ==\a", ""},
			{"\x1b]52;c;" + b64("line\n\ttwo\x1b[31m") + "\x1b\\", `copied "line\n\ttwo[31m" `},
			{"\x1b]52;p;" + b64("picked") + "\a\x1b]52;c;?\a", `copied "picked" `},
			{"\x1b]52;c;not base64\a", `copied "" not_base64`},
			{"\x1b]52;c;" + b64(strings.Repeat("x", 75_000)) + "\a", `copied "" too_long`},
			{"\x1b]52;;" + b64("again") + "\a\x1bc", `copied "again" `},
			{"\x1b]52;c;!\a", `copied "" `},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
				for _, step := range steps {
					p.Print(step[0])
					synctest.Wait()
					if got := reports(s.View().Reports); got != step[1] {
						t.Errorf("after %q: %s\nwant %s", step[0], got, step[1])
					}
				}
			})
		})
	}
}

// reported matches a state of the program.
func reported(state string) engine.Func {
	return func(v *engine.View) bool { return v.Reports.Status != nil && v.Reports.Status.State == state }
}

// TestReportsWakeWaits, and come with the screen of their moment and its sequence.
func TestReportsWakeWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Print("prompt")
		later(50*time.Millisecond, func() { p.Print("\x1b]7501;state=working\a") })
		later(90*time.Millisecond, func() { p.Print("\r\nanswer\x1b]7501;state=done\x1b\\") })
		for state, want := range map[string]string{"working": "prompt", "done": "prompt\nanswer"} {
			go func() {
				out, err := s.Wait(t.Context(), reported(state), engine.Within(time.Minute))
				v := out.View
				if err != nil || v.Screen.Text() != want || v.Reports.Status.Sequence != v.Sequence || v.Sequence != v.Screen.Sequence {
					t.Errorf("%s: %v with %q, sequences %d, %d, %+v", state, err, v.Screen.Text(), v.Sequence, v.Screen.Sequence, v.Reports.Status)
				}
			}()
		}
		time.Sleep(time.Second)
		before := s.View()
		p.Print("\x1b]7501;state=done\x1b\\")
		synctest.Wait()
		v := s.View()
		if v.Reports.Status.Sequence != before.Sequence+1 || v.Changed != before.Changed {
			t.Errorf("the same said again: %+v, sequence %d; the screen changed at %v, %v", v.Reports.Status, v.Sequence, before.Changed, v.Changed)
		}
		if before.Reports.Status.Sequence != before.Sequence {
			t.Error("a view has changed")
		}
	})
}

// TestReportsInsideAnUpdateComeWithItsFrame: a state must not be seen beside the screen before it.
func TestReportsInsideAnUpdateComeWithItsFrame(t *testing.T) {
	look := func(s *engine.Session) string {
		synctest.Wait()
		v := s.View()
		return fmt.Sprintf("%s | %s", v.Screen.Text(), reports(v.Reports))
	}
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Print("old\x1b]7501;state=working\a\x1b]9;4;1;10\a\x1b[?2026h\x1b[H\x1b[2Jn\x1b]7501;state=idle\a\x1b]9;4;0\a\x1b]133;A\a")
		if got, want := look(s), `old | normal 10; working   ""`; got != want {
			t.Errorf("inside: %s, want %s", got, want)
		}
		p.Print("ew\x1b[?2026l")
		if got, want := look(s), `new | none 0; prompt exit 0 false "" in ""; idle   ""`; got != want {
			t.Errorf("behind: %s, want %s", got, want)
		}
		if v := s.View(); v.Reports.Status.Sequence != v.Sequence {
			t.Errorf("the state came with %d, its frame with %d", v.Reports.Status.Sequence, v.Sequence)
		}
		p.Print("\x1b[?2026h\x1b[H\x1b[2Jstuck\x1b]7501;state=error\a")
		if got := look(s); !strings.Contains(got, "idle") {
			t.Errorf("inside the second: %s", got)
		}
		out, err := s.Wait(t.Context(), reported("error"), engine.Within(time.Minute))
		if err != nil || out.Elapsed != 150*time.Millisecond || out.View.Screen.Text() != "stuck" {
			t.Errorf("an update that never ends: %v after %v with %q", err, out.Elapsed, out.View.Screen.Text())
		}
		p.Print("\x1b[?2026l\x1b[?2026h!\x1b]7501;state=clear\a")
		if got := look(s); !strings.Contains(got, "error") {
			t.Errorf("inside the third: %s", got)
		}
		p.Exit(pty.Exit{Code: 0})
		p.HangUp()
		if got := look(s); !strings.HasPrefix(got, "stuck!") || strings.Contains(got, "error") {
			t.Errorf("at the end: %s", got)
		}
	})
}

// TestReportsOfAFlood: the last one counts, also behind thousands in one batch.
func TestReportsOfAFlood(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Print(strings.Repeat("\x1b]9;4;1;50\a\x1b]133;A\a", 3000) + "\x1b]7501;state=done\a" +
			strings.Repeat("\x1b]9;4;1;51\a\x1b]9;note\a", 3000) + "\x1b]133;D;4\a\x1b]633;E;ls\a\x1b]7;file:///x\a")
		synctest.Wait()
		if got, want := reports(s.View().Reports), `normal 51; done exit 4 true "ls" in "/x"; done   ""`; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// TestClipboardStaysInTheSession: what a program copies comes with its sequence and its time,
// inside an update with the frame; it is never typed to anybody, and of a flood only the last is
// kept.
func TestClipboardStaysInTheSession(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		look := func() (*engine.View, *engine.Clipboard) {
			synctest.Wait()
			v := s.View()
			return v, v.Reports.Clipboard
		}
		time.Sleep(time.Second)
		p.Print("\x1b]52;c;" + b64("first") + "\a\x1b]52;c;?\a")
		v, first := look()
		if first == nil || first.Text != "first" || first.Sequence != v.Sequence || !first.At.Equal(time.Now()) {
			t.Errorf("%+v at %d", first, v.Sequence)
		}
		time.Sleep(time.Second)
		p.Print("\x1b]52;c;" + b64("first") + "\a")
		if v, again := look(); again.Sequence != v.Sequence || again.Sequence <= first.Sequence || !again.At.Equal(time.Now()) {
			t.Errorf("copied again: %+v, sequence %d", again, v.Sequence)
		}
		p.Print("\x1b[?2026h\x1b]52;c;" + b64("held") + "\a")
		if _, c := look(); c.Text != "first" {
			t.Errorf("inside an update: %+v", c)
		}
		p.Print("\x1b[?2026l")
		if v, c := look(); c.Text != "held" || c.Sequence != v.Sequence {
			t.Errorf("behind an update: %+v at %d", c, v.Sequence)
		}
		p.Print(strings.Repeat("\x1b]52;c;"+b64(strings.Repeat("x", 1000))+"\a", 3000) + "\x1b]52;c;" + b64("last") + "\a" + strings.Repeat("\x1b]52;c;?\a", 3000))
		if _, c := look(); c.Text != "last" {
			t.Errorf("behind a flood: %.40q", c.Text)
		}
		if got := p.Input(); got != "" {
			t.Errorf("typed to the program: %q", got)
		}
		p.End(0)
		if _, c := look(); c.Text != "last" {
			t.Errorf("after the end: %+v", c)
		}
	})
}

// TestProgramStatusIsAnsweredOnRequest: programs report to a terminal that answers, and a session
// is one when asked to.
func TestProgramStatusIsAnsweredOnRequest(t *testing.T) {
	for _, on := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := enginetest.New()
			e := enginetest.Engine(p)
			defer e.Close(context.Background())
			if _, err := e.Spawn(t.Context(), engine.Config{Program: "fake", ProgramStatus: on}); err != nil {
				t.Fatal(err)
			}
			p.Print("\x1b]7501;?\a\x1b[c")
			synctest.Wait()
			want := "\x1b[?62;22c"
			if on {
				want = "\x1b]7501;?\x1b\\" + want
			}
			if p.Input() != want {
				t.Errorf("with %v: %q", on, p.Input())
			}
		})
	}
}

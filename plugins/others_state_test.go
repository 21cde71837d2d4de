package plugins

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
)

// TestOtherScreens: every screen is classified as what it is, also without what the program
// reports. Prose that quotes a dialog is not a dialog, a panel of the program's own is not a
// prompt, and what is unknown is not called idle.
func TestOtherScreens(t *testing.T) {
	for _, agent := range others {
		t.Run(agent, func(t *testing.T) {
			m := classifier(t, agent)
			n := 0
			for full, s := range shots(t) {
				if s.agent != agent {
					continue
				}
				n++
				v := s.view()
				got, err := judge(m, agent, &look{view: v})
				if err != nil {
					t.Fatalf("%s: %v", full, err)
				}
				if got.State != s.state {
					t.Errorf("%s: %s by rule %q (%s), want %s\n%s", full, got.State, got.Rule, got.Evidence, s.state, v.Screen)
				}
				if len(got.Sources) == 0 || got.Evidence == "" {
					t.Errorf("%s: %s by rule %q names no source or no evidence", full, got.State, got.Rule)
				}
				// Without its reports and title it may be unknown, but not taken for something
				// else.
				v.Reports = engine.Reports{}
				v.Screen.Title, v.Screen.TitleSet = "", false
				if got, err = judge(m, agent, &look{view: v}); err != nil {
					t.Fatalf("%s: %v", full, err)
				}
				if mute := []string{s.state, "unknown"}; !slices.Contains(mute, got.State) && !alike(s.state, got.State) {
					t.Errorf("%s, mute: %s by rule %q (%s), want %s\n%s", full, got.State, got.Rule, got.Evidence, s.state, v.Screen)
				}
			}
			if n < 40 {
				t.Errorf("only %d screens of %s", n, agent)
			}
		})
	}
}

// alike reports whether two states take the same input: at both the prompt is free.
func alike(a, b string) bool {
	rest := []string{"ready", "completed_turn", "error"}
	return slices.Contains(rest, a) && slices.Contains(rest, b)
}

// TestOtherExplanations: every screen is explained by the rule that decided it, with rows on the
// screen.
func TestOtherExplanations(t *testing.T) {
	for _, agent := range others {
		m := classifier(t, agent)
		for full, s := range shots(t) {
			if s.agent != agent {
				continue
			}
			v := s.view()
			plain, err := judge(m, agent, &look{view: v})
			if err != nil {
				t.Fatal(err)
			}
			told, err := judge(m, agent, &look{view: v, explain: true})
			if err != nil {
				t.Fatalf("%s: %v", full, err)
			}
			if told.State != plain.State || told.Rule != plain.Rule {
				t.Errorf("%s: explained as %s/%s, classified as %s/%s", full, told.State, told.Rule, plain.State, plain.Rule)
			}
			if len(told.Rows) == 0 {
				t.Errorf("%s: rule %q names no row", full, told.Rule)
			}
			for _, r := range told.Rows {
				if r < 0 || r >= s.rows {
					t.Errorf("%s: rule %q names row %d of %d", full, told.Rule, r, s.rows)
				}
			}
		}
	}
}

// TestOtherRareScreens classifies what is not in the recordings: pages that wait for a browser,
// older wordings, stages that last a moment. They are written down as text, where the program puts
// it.
func TestOtherRareScreens(t *testing.T) {
	for _, c := range []struct{ agent, state, screen string }{
		{"codex", "starting", "\x1b]2;demo\a\n  >_ OpenAI Codex (v0.169.0)\n     /tmp/demo\n\n\n› explain the build\n\n  Waiting for startup  · esc cancel\x1b[?25h"},
		{"codex", "waiting_for_login", "\x1b[?25l  Welcome to Codex, OpenAI's command-line coding agent\n\n  Finish signing in via your browser\n\n  If the link doesn't open automatically, press c to copy it:\n\n  https://auth.example/authorize\n\n  Press esc to cancel"},
		{"codex", "waiting_for_trust", "\x1b[?25l> You are in /tmp/demo\n\n  Do you trust the contents of this directory? Working with untrusted contents\n  comes with higher risk of prompt injection.\n\n› 1. Yes, continue\n  2. No, quit\n\n  Press enter to continue"},
		{"codex", "waiting_for_permission", "\x1b[?25l• Working\n\n  Would you like to make the following edits?\n\n  hello.py (+1 -1)\n\n  1. Yes, proceed (y)\n› 2. Yes, and don't ask again for these files (a)\n  3. No, and tell Codex what to do differently (esc)\n\n  Press enter to confirm or esc to cancel"},
		{"codex", "waiting_for_permission", "\x1b[?25l  github needs your approval.\n\n  create an issue\n\n› 1. Yes, provide the requested info (y)\n  2. No, but continue without it (n)\n  3. Cancel this request (c)\n\n  Press enter to confirm or esc to cancel"},
		{"codex", "unknown", "› explain the build\n\n• The work is\n\n\n› Ask Codex to do anything\n\n  demo-model default · /tmp/demo\x1b[6;3H\x1b[?25h"},
		{"gemini-cli", "waiting_for_login", "\x1b[?1049hPlease visit the following URL to authorize the application:\n\nhttps://accounts.google.com/o/oauth2/v2/auth?x=y\n\nEnter the authorization code: "},
		{"gemini-cli", "waiting_for_plan_approval", "\x1b]2;✋  Action Required (demo)\a✦ Here is what I will do.\n\n╭──────────────────────────────────────────────────────────────────╮\n│ Ready to start implementation?                                   │\n│                                                                  │\n│ 1. one                                                           │\n│                                                                  │\n│   1.  Yes, automatically accept edits                            │\n│       Approves plan and allows tools to run automatically        │\n│ ● 2.  Yes, manually accept edits                                 │\n│       Approves plan but requires confirmation for each tool      │\n│   3.  Type your feedback...                                      │\n│                                                                  │\n│ Enter to select · ↑/↓ to navigate · Esc to cancel                │\n╰──────────────────────────────────────────────────────────────────╯"},
		{"gemini-cli", "thinking", "\x1b]2;✋  Action Required (demo)\a > danger\n\n╭──────────────────────────────────────────────────────────────────╮\n│ ? Shell  rm -rf build                                            │"},
		{"gemini-cli", "thinking", "\x1b]2;✦  Looking at the build (demo)\a > explain\n\n✦ The work"},
		{"opencode", "waiting_for_permission", "  ┃\n  ┃  △ Reject permission\n  ┃\n  ┃  Tell OpenCode what to do differently\n  ┃\n  ┃                                  enter confirm  esc cancel\n  ┃"},
		{"opencode", "unknown", "     $ rm -rf build\n\n     something that is not known"},
	} {
		term := vt.New(24, 80, vt.Options{})
		term.Feed([]byte(strings.ReplaceAll(c.screen, "\n", "\r\n")))
		v := &engine.View{Screen: term.Snapshot(), Sequence: 1, At: time.Unix(1, 0), Changed: time.Unix(1, 0)}
		got, err := judge(classifier(t, c.agent), c.agent, &look{view: v})
		if err != nil {
			t.Fatal(err)
		}
		if got.State != c.state {
			t.Errorf("%s: %s by rule %q (%s), want %s\n%s", c.agent, got.State, got.Rule, got.Evidence, c.state, v.Screen)
		}
	}
}

// BenchmarkOtherClassify classifies screens in turn, one per iteration; p50-ns and p99-ns are over
// all of them.
func BenchmarkOtherClassify(b *testing.B) {
	for _, agent := range others {
		for _, size := range []string{"24x80", "40x120"} {
			b.Run(agent+"/"+size, func(b *testing.B) {
				m := classifier(b, agent)
				var views []*engine.View
				for full, s := range shots(b) {
					if s.agent == agent && strings.HasSuffix(full, size) {
						views = append(views, s.view())
					}
				}
				var took []time.Duration
				i := 0
				b.ReportAllocs()
				for b.Loop() {
					v := views[i%len(views)]
					i++
					start := time.Now()
					if _, err := judge(m, agent, &look{view: v}); err != nil {
						b.Fatal(err)
					}
					took = append(took, time.Since(start))
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
				b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
			})
		}
	}
}

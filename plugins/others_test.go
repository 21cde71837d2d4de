package plugins

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/vt"
)

// others are the agents whose plugins are made with ptywright.agent.
var others = []string{"codex", "gemini-cli", "opencode"}

// A shot is one screen of an agent, and what it shows.
type shot struct {
	agent, name string
	rows, cols  int
	state       string
	bytes       string // that draw it, with its title and what the program had reported
}

// shotSize is the size in a shot's name.
var shotSize = regexp.MustCompile(`-(\d+)x(\d+)$`)

// resized are shots that were taken after a resize.
var resized = map[string][2]int{"codex/permission-tiny": {12, 50}, "gemini-cli/permission-tiny": {14, 60}, "opencode/permission-tiny": {14, 60}, "opencode/permission-big": {40, 120}, "opencode/permission-wide": {30, 200}}

// takesPastes turns bracketed paste on, as all of these programs do before they draw anything.
const takesPastes = "\x1b[?2004h"

// loadShots reads testdata/others.txtar.gz: screens of codex 0.169.0, gemini-cli 0.61.0 and opencode 1.18.33, each drawn anew by
// its cells' text, colours, bold, dim and inverse, with title and program status in front. They were taken from the programs as
// they talked to stand-ins of their APIs.
var loadShots = sync.OnceValues(func() (map[string]shot, error) {
	archive, err := readArchive("testdata/others.txtar.gz")
	if err != nil {
		return nil, err
	}
	shots := map[string]shot{}
	for head, data := range archive {
		full, state, _ := strings.Cut(head, " ")
		s := shot{state: state}
		s.agent, s.name, _ = strings.Cut(full, "/")
		size := shotSize.FindStringSubmatch(full)
		s.rows, _ = strconv.Atoi(size[1])
		s.cols, _ = strconv.Atoi(size[2])
		if r, ok := resized[strings.TrimSuffix(full, size[0])]; ok {
			s.rows, s.cols = r[0], r[1]
		}
		if s.bytes, err = strconv.Unquote(strings.TrimSuffix(data, "\n")); err != nil {
			return nil, fmt.Errorf("%s: %w", full, err)
		}
		s.bytes = takesPastes + s.bytes
		shots[full] = s
	}
	return shots, nil
})

func shots(t testing.TB) map[string]shot {
	t.Helper()
	all, err := loadShots()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// view draws a shot.
func (s shot) view() *engine.View {
	term := vt.New(s.rows, s.cols, vt.Options{})
	var said engine.Reports
	for _, e := range term.Feed([]byte(s.bytes)).Events {
		said = said.After(&e)
	}
	now := time.Unix(1, 0)
	return &engine.View{Screen: term.Snapshot(), Reports: said, Sequence: 1, At: now, Changed: now}
}

// patience is the limit of one call in these tests: they are about what the plugins say, and a machine that is busy may leave a
// process alone for longer than the host allows.
const patience = time.Minute

// judge is classify with patience.
func judge(m machine, plugin string, l *look) (*State, error) {
	value, err := m.call(context.Background(), "classify", patience, l, nil)
	if err != nil {
		return nil, err
	}
	return decodeState(plugin, value)
}

// TestOtherScreens wants every screen classified as what it is, also when the program is not asked what it reports: prose that
// quotes a dialog is no dialog, a panel of the program's own is no prompt, and what is not known is not called idle.
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
				// Without what it reports and its title the program may not be understood, but it is not misunderstood.
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

// TestOtherExplanations wants every screen explained by the rule that decided it, with rows that are on the screen.
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

// A doing is what an intent does, in short: keys and texts, and what is waited for in between.
func doing(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	type tree struct {
		Type  string
		Value json.RawMessage
	}
	var plan struct {
		Actions    []tree
		LastIntent *string `json:"last_intent"`
		Submission *struct {
			Echo, Done, RetryWhen *tree
			Submit                []tree
			Retries               int
		}
	}
	text = bytes.ReplaceAll(text, []byte(`"retry_when"`), []byte(`"retryWhen"`))
	text = bytes.ReplaceAll(text, []byte(`"actions":{}`), []byte(`"actions":[]`)) // an empty table is either
	if err := json.Unmarshal(text, &plan); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var show func(x *tree) string
	show = func(x *tree) string {
		switch {
		case x == nil:
			return "-"
		case x.Type == "lua":
			var p struct {
				Predicate string
				Params    map[string]any
			}
			if err := json.Unmarshal(x.Value, &p); err != nil {
				t.Fatal(err)
			}
			s := p.Predicate
			for _, k := range []string{"index", "label", "words", "state", "still_ms"} {
				if v, ok := p.Params[k]; ok {
					s += fmt.Sprintf(" %v", v)
				}
			}
			if p.Params["dialog_id"] != nil {
				s += " #"
			}
			if p.Params["above"] != nil {
				s += " above"
			}
			return s
		case x.Type == "any":
			var parts []tree
			if err := json.Unmarshal(x.Value, &parts); err != nil {
				t.Fatal(err)
			}
			var s []string
			for i := range parts {
				s = append(s, show(&parts[i]))
			}
			return strings.Join(s, " or ")
		}
		return strings.Trim(x.Type+" "+string(x.Value), " ")
	}
	var b strings.Builder
	for i := range plan.Actions {
		fmt.Fprintf(&b, "%s\n", show(&plan.Actions[i]))
	}
	if s := plan.Submission; s != nil {
		fmt.Fprintf(&b, "echo: %s\n", show(s.Echo))
		for i := range s.Submit {
			fmt.Fprintf(&b, "submit: %s\n", show(&s.Submit[i]))
		}
		fmt.Fprintf(&b, "done: %s\nretry %d when: %s\n", show(s.Done), s.Retries, show(s.RetryWhen))
	}
	return b.String()
}

// TestOtherIntents holds what the intents do on screens against testdata/others-intents.golden, or the code with which they
// refuse. Run it with UPDATE=1 to write the file anew, and read the difference.
func TestOtherIntents(t *testing.T) {
	intents := []struct {
		intent string
		params map[string]any
	}{
		{"approve", nil},
		{"deny", nil},
		{"approve_trust", nil},
		{"cancel", nil},
		{"send_prompt", map[string]any{"prompt": "explain\nthe build"}},
		{"choose_option", map[string]any{"index": int64(2)}},
	}
	screens := []string{
		"codex/permission-shell-24x80", "codex/permission-third-24x80", "codex/permission-escalate-24x80", "codex/trust-24x80", "codex/trust-second-40x120",
		"codex/login-second-24x80", "codex/question-second-24x80", "codex/model-24x80", "codex/working-24x80", "codex/retrying-24x80", "codex/ready-24x80",
		"codex/typed-24x80", "codex/completed-24x80", "codex/error-24x80", "codex/prose-24x80", "codex/shell-mode-24x80", "codex/permissions-24x80",
		"gemini-cli/trust-24x80", "gemini-cli/trust-third-24x80", "gemini-cli/permission-shell-24x80", "gemini-cli/permission-edit-second-24x80",
		"gemini-cli/permission-fetch-24x80", "gemini-cli/question-24x80", "gemini-cli/login-24x80", "gemini-cli/working-24x80", "gemini-cli/ready-24x80",
		"gemini-cli/typed-24x80", "gemini-cli/completed-24x80", "gemini-cli/error-24x80", "gemini-cli/prose-24x80", "gemini-cli/shell-mode-24x80", "gemini-cli/ui-model-24x80",
		"opencode/permission-bash-24x80", "opencode/permission-edit-second-24x80", "opencode/permission-reject-hl-24x80", "opencode/always-confirm-24x80",
		"opencode/permission-outside-40x120", "opencode/question-24x80", "opencode/working-typed-24x80", "opencode/ready-24x80", "opencode/typed-24x80",
		"opencode/completed-24x80", "opencode/error-24x80", "opencode/prose-24x80", "opencode/shell-24x80", "opencode/ui-models-24x80",
	}
	var b strings.Builder
	for _, full := range screens {
		s, ok := shots(t)[full]
		if !ok {
			t.Fatalf("no screen %s", full)
		}
		m := classifier(t, s.agent)
		for _, i := range intents {
			params := i.params
			if params == nil {
				params = map[string]any{}
			}
			fmt.Fprintf(&b, "== %s: %s\n", full, i.intent)
			value, err := m.call(context.Background(), i.intent, patience, &look{view: s.view()}, params)
			var refused *PluginError
			switch {
			case errors.As(err, &refused) && refused.Code != "":
				fmt.Fprintf(&b, "refused: %s\n", refused.Code)
			case err != nil:
				t.Errorf("%s, %s: %v", full, i.intent, err)
			default:
				b.WriteString(doing(t, value))
			}
		}
	}
	const golden = "testdata/others-intents.golden"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		got, want := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
		for i := range got {
			if i >= len(want) || got[i] != want[i] {
				t.Fatalf("line %d of %s differs: got\n%s\nwant\n%s", i+1, golden, strings.Join(got[i:min(i+6, len(got))], "\n"), strings.Join(want[min(i, len(want)):min(i+6, len(want))], "\n"))
			}
		}
		t.Fatalf("%s has %d lines, got %d", golden, len(want), len(got))
	}
}

// TestOtherStaleDialog: who answers with the id of another dialog answers none.
func TestOtherStaleDialog(t *testing.T) {
	for _, full := range []string{"codex/permission-shell-24x80", "gemini-cli/permission-shell-24x80", "opencode/permission-bash-24x80"} {
		s := shots(t)[full]
		m := classifier(t, s.agent)
		state, err := judge(m, s.agent, &look{view: s.view()})
		if err != nil {
			t.Fatal(err)
		}
		id := state.Metadata["dialog_id"]
		for _, intent := range []string{"approve", "deny", "choose_option"} {
			for given, refused := range map[any]bool{id: false, "00000000": true} {
				_, err := m.call(context.Background(), intent, patience, &look{view: s.view()}, map[string]any{"dialog_id": given, "index": int64(1)})
				var p *PluginError
				if errors.As(err, &p) != refused || refused && p.Code != "stale_dialog" {
					t.Errorf("%s, %s with id %v: %v", full, intent, given, err)
				}
			}
		}
	}
}

// TestOtherDialogID: the id of a dialog stays as its pointer moves, and is another for another question.
func TestOtherDialogID(t *testing.T) {
	id := func(full string) any {
		s, ok := shots(t)[full]
		if !ok {
			t.Fatalf("no screen %s", full)
		}
		state, err := judge(classifier(t, s.agent), s.agent, &look{view: s.view()})
		if err != nil {
			t.Fatal(err)
		}
		return state.Metadata["dialog_id"]
	}
	for _, same := range [][2]string{
		{"codex/permission-escalate-24x80", "codex/permission-second-24x80"}, {"codex/trust-24x80", "codex/trust-second-24x80"}, {"codex/question-plan-24x80", "codex/question-second-24x80"},
		{"gemini-cli/trust-24x80", "gemini-cli/trust-third-24x80"}, {"gemini-cli/permission-edit-24x80", "gemini-cli/permission-edit-second-24x80"},
		{"opencode/permission-edit-24x80", "opencode/permission-edit-second-24x80"}, {"opencode/permission-edit-24x80", "opencode/permission-reject-hl-24x80"},
	} {
		if a, b := id(same[0]), id(same[1]); a == nil || a != b {
			t.Errorf("%s has id %v, %s has %v", same[0], a, same[1], b)
		}
	}
	for _, other := range [][2]string{
		{"codex/permission-shell-24x80", "codex/permission-escalate-24x80"}, {"gemini-cli/permission-shell-24x80", "gemini-cli/permission-sleep-24x80"},
		{"opencode/permission-bash-24x80", "opencode/permission-sleep-24x80"}, {"opencode/permission-edit-24x80", "opencode/always-confirm-24x80"},
	} {
		if a, b := id(other[0]), id(other[1]); a == b {
			t.Errorf("%s and %s have the same id %v", other[0], other[1], a)
		}
	}
}

// onScreens starts an agent's adapter on a terminal that shows a screen, in virtual time.
func onScreens(t *testing.T, first string, f func(a *Adapter, p *enginetest.PTY)) {
	synctest.Test(t, func(t *testing.T) {
		s := shots(t)[first]
		p := enginetest.New()
		e := enginetest.Engine(p)
		c := NewCatalog(e, nil)
		o := StartOptions{Program: "x"}
		o.Size.Rows, o.Size.Cols = uint16(s.rows), uint16(s.cols)
		a, err := c.Start(t.Context(), s.agent, o)
		if err != nil {
			t.Fatal(err)
		}
		p.Print(s.bytes)
		synctest.Wait()
		f(a, p)
		p.End(0)
		if err := a.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

const wipe = "\x1b[2J\x1b[?25h"

// send performs an intent while reply answers what the program is sent.
func send(t *testing.T, a *Adapter, p *enginetest.PTY, o SendOptions, reply func(sent string)) Receipt {
	t.Helper()
	done, seen := make(chan Receipt), len(p.Input())
	go func() {
		_, r, err := a.Send(context.Background(), o)
		if err != nil {
			t.Errorf("%s: %v", o.Intent, err)
		}
		done <- r
	}()
	for {
		synctest.Wait()
		if sent := p.Input(); len(sent) > seen {
			fresh := sent[seen:]
			seen = len(sent)
			reply(fresh)
			continue
		}
		select {
		case r := <-done:
			return r
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// TestOtherSecondEnter: an Enter that was swallowed is pressed again, but not when the dialog that stands there may be another
// one that asks the very same.
func TestOtherSecondEnter(t *testing.T) {
	const dialog = "codex/permission-shell-24x80"
	onScreens(t, dialog, func(a *Adapter, p *enginetest.PTY) {
		enters := 0
		r := send(t, a, p, SendOptions{Intent: "approve"}, func(sent string) {
			if enters += strings.Count(sent, "\r"); enters == 2 {
				p.Print(wipe + shots(t)["codex/completed-24x80"].bytes)
			}
		})
		if enters != 2 || r.Retries != 1 || !*r.Submitted {
			t.Errorf("swallowed: %d times Enter, receipt %+v", enters, r)
		}
	})
	onScreens(t, dialog, func(a *Adapter, p *enginetest.PTY) {
		enters := 0
		r := send(t, a, p, SendOptions{Intent: "approve"}, func(sent string) {
			enters += strings.Count(sent, "\r")
			// The same question again, in one step: only a row above it tells the two apart.
			p.Print("\x1b[9;1H✔ You approved codex to run rm -rf build && mkdir build this time")
		})
		if enters != 1 || *r.Submitted {
			t.Errorf("asked again: %d times Enter, receipt %+v: %s", enters, r, r.Evidence)
		}
	})
}

// TestOtherPointer: Enter waits until the pointer stands on the option, and never comes when it does not get there.
func TestOtherPointer(t *testing.T) {
	onScreens(t, "gemini-cli/permission-edit-24x80", func(a *Adapter, p *enginetest.PTY) {
		r := send(t, a, p, SendOptions{Intent: "deny"}, func(string) {})
		if strings.Contains(p.Input(), "\r") || *r.Submitted || *r.Echoed {
			t.Errorf("the pointer did not move, and %q was sent: %+v", p.Input(), r)
		}
	})
	onScreens(t, "gemini-cli/trust-third-24x80", func(a *Adapter, p *enginetest.PTY) {
		keys := ""
		r := send(t, a, p, SendOptions{Intent: "approve_trust"}, func(sent string) {
			keys += sent
			if keys == "\x1b[A\x1b[A" {
				p.Print(wipe + shots(t)["gemini-cli/trust-24x80"].bytes)
			} else if strings.HasSuffix(keys, "\r") {
				p.Print(wipe + shots(t)["gemini-cli/ready-24x80"].bytes)
			}
		})
		if keys != "\x1b[A\x1b[A\r" || !*r.Submitted {
			t.Errorf("sent %q: %+v", keys, r)
		}
	})
}

// TestOtherRedraw: a dialog that is drawn anew in pieces has not gone, so it counts as answered only when something else is there.
func TestOtherRedraw(t *testing.T) {
	onScreens(t, "gemini-cli/trust-24x80", func(a *Adapter, p *enginetest.PTY) {
		dialog, enters := shots(t)["gemini-cli/trust-24x80"].bytes, 0
		r := send(t, a, p, SendOptions{Intent: "approve_trust"}, func(sent string) {
			enters += strings.Count(sent, "\r")
			go func() {
				p.Print("\x1b[12;1H\x1b[J") // the lower half is gone
				time.Sleep(100 * time.Millisecond)
				p.Print(wipe + dialog)
				time.Sleep(100 * time.Millisecond)
				if s := a.Look(context.Background(), a.session.View()); s.State != "waiting_for_trust" {
					t.Errorf("drawn anew: %s by rule %q", s.State, s.Rule)
				}
				p.Print(wipe + "\x1b[2;1H Gemini CLI is restarting to apply the trust changes...")
			}()
		})
		if enters != 1 || !*r.Submitted || r.Evidence != "the dialog has gone; the state is starting" {
			t.Errorf("%d times Enter, receipt %+v", enters, r)
		}
	})
}

// TestOtherRareScreens classifies what the recordings have not: pages that wait for a browser, older wordings, stages that are
// over in a moment. They are put down as text, with what the program puts there.
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

// TestOtherPrompt: a prompt is submitted once it stands in the input, and its turn is over when its end is on the screen, not when
// that of the turn before is.
func TestOtherPrompt(t *testing.T) {
	for _, agent := range others {
		t.Run(agent, func(t *testing.T) {
			onScreens(t, agent+"/completed-24x80", func(a *Adapter, p *enginetest.PTY) {
				screen := func(name string) string { return wipe + shots(t)[agent+"/"+name].bytes }
				r := send(t, a, p, SendOptions{Intent: "send_prompt", Params: map[string]any{"prompt": "explain the build"}}, func(sent string) {
					switch {
					case strings.Contains(sent, "explain the build"):
						p.Print(screen("typed-24x80"))
					case sent == "\r":
						p.Print(screen("completed-24x80")) // the end of the turn before is still there, and the input is empty
					}
				})
				if !*r.Submitted || !*r.Echoed || r.Retries != 0 {
					t.Fatalf("receipt %+v", r)
				}
				if s := a.Look(context.Background(), a.session.View()); s.State != "thinking" || s.Rule != "sent" {
					t.Errorf("right after it was submitted: %s by rule %q (%s)", s.State, s.Rule, s.Evidence)
				}
				m, err := a.Matcher(context.Background(), DefaultMatcher, nil)
				if err != nil {
					t.Fatal(err)
				}
				over := make(chan *engine.Outcome)
				go func() {
					out, err := a.session.Wait(context.Background(), m, engine.Within(time.Minute))
					if err != nil {
						t.Error(err)
					}
					over <- out
				}()
				for _, name := range []string{"streaming-24x80", "completed-24x80"} {
					synctest.Wait()
					select {
					case out := <-over:
						t.Errorf("over too early:\n%s", out.View.Screen)
					default:
					}
					p.Print(screen(name))
				}
				if out := <-over; !strings.Contains(out.View.Screen.Text(), "That is all there is to say about it.") {
					t.Errorf("over at\n%s", out.View.Screen)
				}
			})
		})
	}
}

// TestOtherDescriptions: what describe tells is what there is.
func TestOtherDescriptions(t *testing.T) {
	for _, agent := range others {
		m := classifier(t, agent)
		d, err := describe(t.Context(), agent, m)
		if err != nil {
			t.Fatal(err)
		}
		told := []string{"classify", "describe"}
		for _, list := range [][]map[string]any{d.Intents, d.WaitMatchers, d.Predicates} {
			for _, e := range list {
				told = append(told, e["name"].(string))
			}
		}
		slices.Sort(told)
		if !slices.Equal(told, m.names()) {
			t.Errorf("%s describes %v and exports %v", agent, told, m.names())
		}
		var states []string
		for _, s := range d.States {
			states = append(states, s["name"].(string))
		}
		for full, s := range shots(t) {
			if s.agent == agent && !slices.Contains(states, s.state) {
				t.Errorf("%s can be in state %s, as %s shows, and does not describe it", agent, s.state, full)
			}
		}
	}
}

// BenchmarkOtherClassify classifies screens in turn. One iteration is one screen; p50-ns and p99-ns are taken over all of them.
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

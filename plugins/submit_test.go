package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
)

// promptAgents are those whose plugins send prompts by ptywright.submit: all that come with it.
var promptAgents = append([]string{"claude-code"}, others...)

// A hostile is a prompt that a program could run, lose, double or change.
type hostile struct {
	Name, Text, More string
	Times            int               // of More, behind Text
	Refused          map[string]string // the codes with which it is refused, by plugin; "*": the others; takenBack
}

// takenBack stands for a prompt that is typed, does not read as it should, and is taken back.
const takenBack = "taken back"

func (h hostile) code(agent string) string {
	if code, ok := h.Refused[agent]; ok {
		return code
	}
	return h.Refused["*"]
}

func hostiles(t testing.TB) (all []hostile) {
	t.Helper()
	text, err := os.ReadFile("testdata/prompts.json")
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		all[i].Text += strings.Repeat(all[i].More, all[i].Times)
	}
	return all
}

// A standIn is an agent's input line, with what was seen in codex 0.128.0 and 0.169.0, gemini-cli
// 0.61.0, opencode 1.2.27 and 1.18.33, claude-code 2.1.197 and 2.1.328.
type standIn struct {
	agent string
	p     *enginetest.PTY
	base  string // draws all but the input
	row   int    // of the input, from 1
	col   int    // of its first character

	text   []rune // in the input
	at     int    // the cursor
	long   string // what the mark in the input stands for
	shell  bool
	menu   bool
	deaf   bool     // Enter is lost
	older  bool     // opencode's placeholder of 1.2.27
	sent   []string // what the model has got
	ran    []string // what was run as a command
	clears int      // times that the key that clears came to an empty input
	ended  bool
}

// newStandIn returns a program that shows its ready screen.
func newStandIn(t *testing.T, agent string, p *enginetest.PTY) *standIn {
	t.Helper()
	s := &standIn{agent: agent, p: p}
	if agent == "claude-code" {
		rule := strings.Repeat("─", 80)
		s.base = takesPastes + "\x1b]0;" + idleTitle + "\a" + wipe + "\x1b[H Claude Code v2.1.328\r\n\r\n" + rule + "\r\n❯\r\n" + rule + "\r\n  ? for shortcuts"
		s.row, s.col = 4, 3
		return s
	}
	shot := shots(t)[agent+"/ready-24x80"]
	s.base = wipe + shot.bytes
	find := regexp.MustCompile(map[string]string{"codex": "^› ", "gemini-cli": "^ > ", "opencode": "^ *┃  Ask anything"}[agent])
	for i, line := range strings.Split(shot.view().Screen.Text(), "\n") {
		if m := find.FindString(line); m != "" {
			s.row = i + 1
			s.col = len([]rune(m)) + 1 - len("Ask anything")*map[bool]int{true: 1}[agent == "opencode"]
		}
	}
	if s.row == 0 {
		t.Fatalf("no input on\n%s", shot.view().Screen)
	}
	return s
}

// draw draws the screen with what stands in the input, in one row.
func (s *standIn) draw() {
	shown, cursor := string(s.text), s.col+s.width(s.text[:s.at])
	to := func(row, col int) string { return fmt.Sprintf("\x1b[%d;%dH", row, col) }
	glyph, empty := map[string]string{"claude-code": "❯\u00a0", "codex": "› ", "gemini-cli": " > "}[s.agent], ""
	switch s.agent {
	case "codex":
		empty = "\x1b[2mAsk Codex to do anything\x1b[m"
	case "gemini-cli":
		empty = "  Type your message or @path/to/file"
		if s.shell {
			glyph = " ! "
		}
	case "opencode":
		empty = `Ask anything… "Fix broken tests"`
		if s.older {
			empty = `Ask anything... "Fix broken tests"`
		}
		shown = strings.ReplaceAll(shown, "\u200bwidth", "\u200bwidt")
	case "claude-code":
		if s.shell {
			glyph = "!\u00a0"
		}
		shown += "\x1b[7m \x1b[m"
	}
	if len(s.text) == 0 && s.agent != "claude-code" {
		shown = empty
	}
	out := s.base
	if s.agent == "opencode" {
		out += to(s.row, s.col) + "\x1b[K" + shown
		if s.shell {
			out += to(s.row+2, s.col) + "\x1b[KShell"
		}
		if s.menu {
			out += to(s.row-2, s.col-3) + "┃ README.md" + to(s.row-2, 78) + "┃"
		}
	} else {
		out += to(s.row, 1) + "\x1b[K" + glyph + shown
	}
	s.p.Print(out + to(s.row, cursor))
}

// width is the columns of a text in which nothing but CJK is wide.
func (s *standIn) width(text []rune) (n int) {
	for _, r := range text {
		n++
		if r >= 0x3000 && r < 0xa000 || r > 0xff00 {
			n++
		}
	}
	return n
}

// keys are what the plugins press, as a terminal sends it.
var keys = regexp.MustCompile("^(?:\x1b\\[200~(?s:(.*?))\x1b\\[201~|\x1b\\[[HF]|\x1b\\[3~|\x1b|[^\x1b])")

// read reads what was typed.
func (s *standIn) read(typed string) {
	for typed != "" {
		key := keys.FindStringSubmatch(typed)
		typed = typed[len(key[0]):]
		switch key[0] {
		case "\r":
			s.enter()
		case "\x03":
			if s.clears++; len(s.text) > 0 || s.agent == "codex" && s.shell {
				s.clears--
			} else if s.agent != "gemini-cli" {
				s.ended = true
			}
			s.text, s.at, s.long, s.menu = nil, 0, "", false
			s.shell = s.shell && s.agent != "codex"
		case "\x1b":
			switch {
			case s.menu:
				s.menu = false
			case len(s.text) == 0 && s.agent == "claude-code":
				s.clears++ // twice opens the list to rewind to
			case len(s.text) == 0:
				s.shell = false
			}
		case "\x0b":
			s.text = s.text[:s.at]
		case "\x15":
			s.text, s.at, s.long, s.menu = s.text[s.at:], 0, "", false
		case "\x7f":
			if len(s.text) == 0 {
				s.shell = false
			}
			s.text, s.at = s.text[:max(0, len(s.text)-1)], max(0, s.at-1)
		case "\x1b[H":
			s.at = 0
		case "\x1b[F":
			s.at = len(s.text)
		case "\x1b[3~":
			s.text = slices.Delete(s.text, s.at, min(s.at+1, len(s.text)))
		case " ":
			s.insert(" ")
		default:
			s.paste(key[1])
		}
	}
	if s.ended {
		s.p.End(0)
		return
	}
	s.draw()
}

func (s *standIn) insert(text string) {
	s.text = slices.Insert(s.text, s.at, []rune(text)...)
	s.at += len([]rune(text))
	s.menu = completes[s.agent].MatchString(string(s.text))
}

// completes are the ends of an input that open a menu of completions, which takes Enter.
var completes = map[string]*regexp.Regexp{
	"claude-code": regexp.MustCompile(`(^| )@\S*$`), "codex": regexp.MustCompile(`(^| )[@$]\S*$`),
	"gemini-cli": regexp.MustCompile(`@\S*$`), "opencode": regexp.MustCompile(`(^| )@\S*$`),
}

// paste puts a text into the input, or a mark for it where it is long.
func (s *standIn) paste(text string) {
	if s.agent == "claude-code" && len(s.text) == 0 && strings.HasPrefix(text, "!") {
		s.shell, text = true, text[1:]
	}
	if s.agent == "gemini-cli" && strings.TrimSpace(text) == "/etc/hosts" {
		text = "@" + strings.TrimSpace(text) + " " // a file that is there
	}
	lines := strings.Count(text, "\n") + 1
	if lines < 3 && len(text) < 60 {
		s.insert(strings.ReplaceAll(text, "\n", " "))
		if lines > 1 {
			s.long = "\x00" + text // shown in one row, though it has more
		}
		return
	}
	s.long = text
	switch s.agent {
	case "claude-code":
		s.insert(fmt.Sprintf("[Pasted text #1 +%d lines]", lines))
	case "codex":
		s.insert(fmt.Sprintf("[Pasted Content %d chars]", len(text)))
	case "gemini-cli":
		s.insert(fmt.Sprintf("[Pasted Text: %d lines]", lines))
	case "opencode":
		if lines < 3 && len(text) <= 150 {
			s.insert(text)
			s.long = ""
			return
		}
		s.long = strings.TrimSpace(text)
		s.insert(fmt.Sprintf("[Pasted ~%d lines] ", lines))
	}
}

// mark is what a program shows in the place of a long paste.
var mark = regexp.MustCompile(`\[Pasted [^\]]*\]`)

// enter submits what stands in the input: to the model, to a shell, or to the program itself.
func (s *standIn) enter() {
	text := string(s.text)
	if s.deaf || text == "" {
		return
	}
	if s.menu { // it takes Enter
		s.insert("README.md ")
		s.menu = false
		return
	}
	if (s.agent == "claude-code" || s.agent == "gemini-cli") && strings.HasSuffix(text, `\`) {
		s.insert("\n")
		return
	}
	if plain, ok := strings.CutPrefix(s.long, "\x00"); ok {
		text = plain
	} else if s.long != "" {
		text = mark.ReplaceAllLiteralString(text, s.long)
	}
	bare := strings.TrimSpace(text)
	switch s.agent {
	case "claude-code":
		text = strings.TrimRight(text, " \t\n")
	case "codex", "gemini-cli":
		text = bare
	}
	command := strings.HasPrefix(bare, "/") && !strings.HasPrefix(bare, "/tmp/") && !strings.HasPrefix(bare, "/etc/")
	exit := (bare == "exit" || bare == ":q") && (s.agent == "claude-code" || s.agent == "opencode")
	if s.shell || exit || command || s.agent == "codex" && strings.HasPrefix(bare, "!") {
		s.ran = append(s.ran, text)
	} else {
		s.sent = append(s.sent, text)
	}
	s.text, s.at, s.long = nil, 0, ""
}

// standingIn runs f with an agent's adapter and a stand-in for its program, in virtual time.
func standingIn(t *testing.T, agent string, f func(t *testing.T, a *Adapter, s *standIn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		e := enginetest.Engine(p)
		c := NewCatalog(e, nil)
		o := StartOptions{Program: "x"}
		o.Size.Rows, o.Size.Cols = 24, 80
		a, err := c.Start(t.Context(), agent, o)
		if err != nil {
			t.Fatal(err)
		}
		s := newStandIn(t, agent, p)
		s.draw()
		f(t, a, s)
		if !s.ended {
			p.End(0)
		}
		if err := errors.Join(a.Close(context.Background()), e.Close(context.Background())); err != nil {
			t.Error(err)
		}
	})
}

// rest lets time go on until the screen has come to rest.
func rest() {
	time.Sleep(10 * time.Second)
	synctest.Wait()
}

// prompt sends a prompt and returns its receipt, or the code with which it was refused.
func (s *standIn) prompt(t *testing.T, a *Adapter, params map[string]any) (string, Receipt) {
	t.Helper()
	rest()
	type done struct {
		r   Receipt
		err error
	}
	over, seen := make(chan done), len(s.p.Input())
	go func() {
		_, r, err := a.Send(context.Background(), SendOptions{Intent: "send_prompt", Params: params})
		over <- done{r, err}
	}()
	for {
		synctest.Wait()
		if typed := s.p.Input(); len(typed) > seen {
			s.read(typed[seen:])
			seen = len(typed)
			continue
		}
		select {
		case d := <-over:
			var refused *PluginError
			if errors.As(d.err, &refused) && refused.Code != "" {
				if len(s.p.Input()) != seen {
					t.Errorf("refused with %s, and typed", refused.Code)
				}
				return refused.Code, Receipt{}
			}
			if d.err != nil {
				t.Fatalf("%q: %v\n%s", fmt.Sprint(params["prompt"]), d.err, a.session.View().Screen)
			}
			return "", d.r
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// TestHostilePromptsToStandIns sends every plugin's stand-in the prompts that could be run, lost,
// doubled or changed: each arrives once and as it was, or is refused with the code that says why,
// and the next one goes through.
func TestHostilePromptsToStandIns(t *testing.T) {
	for _, agent := range promptAgents {
		t.Run(agent, func(t *testing.T) {
			standingIn(t, agent, func(t *testing.T, a *Adapter, s *standIn) {
				var want []string
				for _, h := range hostiles(t) {
					code, r := s.prompt(t, a, map[string]any{"prompt": h.Text})
					if code == "" && !*r.Submitted && strings.HasSuffix(r.Evidence, "; it was taken back") {
						code = takenBack
					}
					if code != h.code(agent) {
						t.Errorf("%s: refused with %q (%s), want %q\n%s", h.Name, code, r.Evidence, h.code(agent), a.session.View().Screen)
					}
					if code == "" && *r.Submitted {
						want = append(want, h.Text)
					}
					if !slices.Equal(s.sent, want) {
						t.Fatalf("%s: arrived are\n%.80q\nwant\n%.80q", h.Name, s.sent, want)
					}
					if len(s.ran) > 0 || s.ended || len(s.text) > 0 || s.clears > 0 {
						t.Fatalf("%s: run were %q, ended %v, in the input stands %q, cleared when empty %d times", h.Name, s.ran, s.ended, string(s.text), s.clears)
					}
				}
			})
		})
	}
}

// TestPromptThatIsLostIsTakenBack: a prompt that stands in the input and that no Enter submits does
// not stay there, and the next one goes through.
func TestPromptThatIsLostIsTakenBack(t *testing.T) {
	for _, agent := range promptAgents {
		t.Run(agent, func(t *testing.T) {
			standingIn(t, agent, func(t *testing.T, a *Adapter, s *standIn) {
				s.deaf = true
				code, r := s.prompt(t, a, map[string]any{"prompt": "nobody hears this"})
				if code != "" || *r.Submitted || r.Retries != 2 || !strings.HasSuffix(r.Evidence, "; it was taken back") || len(s.text) > 0 {
					t.Errorf("%q, %+v, in the input stands %q", code, r, string(s.text))
				}
				s.deaf = false
				code, r = s.prompt(t, a, map[string]any{"prompt": "but this"})
				if code != "" || !*r.Submitted || !slices.Equal(s.sent, []string{"but this"}) || s.clears > 0 {
					t.Errorf("the next: %q, %+v, arrived are %q", code, r, s.sent)
				}
			})
		})
	}
}

// TestClearInput empties an input whatever stands in it, blanks too, and leaves shell mode; nothing
// is pressed at an empty one.
func TestClearInput(t *testing.T) {
	for _, agent := range promptAgents {
		t.Run(agent, func(t *testing.T) {
			standingIn(t, agent, func(t *testing.T, a *Adapter, s *standIn) {
				clear := func() {
					send(t, a, s.p, SendOptions{Intent: "clear_input"}, s.read)
				}
				for _, c := range []struct {
					text    string
					shell   bool
					refused string
				}{
					{"somebody else's", false, "input_not_empty"}, {"   ", false, "input_not_empty"}, {"   three blanks", false, "input_not_empty"},
					{"ls", true, "wrong_state"}, {"", true, "wrong_state"}, {"", false, ""},
				} {
					if c.shell && agent == "codex" {
						continue // its glyph is drawn by what stands in the input
					}
					rest()
					s.text, s.at, s.shell = []rune(c.text), len(c.text), c.shell
					s.draw()
					if agent != "claude-code" || strings.TrimSpace(c.text) != "" || c.shell { // there it clears blanks by itself
						if code, r := s.prompt(t, a, map[string]any{"prompt": "joined"}); code != c.refused {
							t.Errorf("with %q in the input: refused with %q, %+v, want %q", c.text, code, r, c.refused)
						}
					}
					rest()
					clear()
					if len(s.text) > 0 || s.shell || s.clears > 0 || s.ended {
						t.Errorf("after clear_input stands %q, shell %v, cleared when empty %d times", string(s.text), s.shell, s.clears)
					}
					if code, r := s.prompt(t, a, map[string]any{"prompt": "after " + c.text + "."}); code != "" || !*r.Submitted {
						t.Errorf("after %q was cleared: %q, %+v", c.text, code, r)
					}
				}
				if len(s.ran) > 0 || slices.ContainsFunc(s.sent, func(text string) bool { return strings.Contains(text, "else's") && strings.Contains(text, "joined") }) {
					t.Errorf("run were %q, arrived are %q", s.ran, s.sent)
				}
			})
		})
	}
}

// TestPlaceholders: what an empty input shows is not text, and typed text that reads the same is.
func TestPlaceholders(t *testing.T) {
	standingIn(t, "opencode", func(t *testing.T, a *Adapter, s *standIn) {
		s.older = true // three dots
		s.draw()
		for _, text := range []string{"plain", `Ask anything... "Fix broken tests"`, `Ask anything… "Fix broken tests"`} {
			if code, r := s.prompt(t, a, map[string]any{"prompt": text}); code != "" || !*r.Submitted || s.sent[len(s.sent)-1] != text {
				t.Errorf("%q: %q, %+v, arrived are %q", text, code, r, s.sent)
			}
		}
	})
	standingIn(t, "gemini-cli", func(t *testing.T, a *Adapter, s *standIn) {
		const text = "Type your message or a path"
		if code, r := s.prompt(t, a, map[string]any{"prompt": text}); code != "" || !*r.Submitted || !slices.Equal(s.sent, []string{text}) {
			t.Errorf("%q, %+v, arrived are %q", code, r, s.sent)
		}
	})
}

// TestInexactPrompts: with exact = false a prompt is sent as the program has it, and is still no
// command.
func TestInexactPrompts(t *testing.T) {
	for _, agent := range promptAgents {
		t.Run(agent, func(t *testing.T) {
			standingIn(t, agent, func(t *testing.T, a *Adapter, s *standIn) {
				for _, c := range []struct{ given, want, code string }{
					{"one\r\ntwo\x00\x1b[201~", "one\ntwo[201~", ""},
					{"last  \r\n", "last", ""},
					{"\u3000!touch ran.txt", "", map[string]string{"codex": "runs_as_command"}[agent]},
					{" /compact", "", map[string]string{"claude-code": "use_slash_command"}[agent]},
					{"\x00\x1b", "", "empty_prompt"},
				} {
					if agent == "opencode" && strings.HasPrefix(c.given, "last") {
						c.want = "last  \n"
					}
					if c.code == "" && strings.Contains(c.given, "/") {
						c.code = "runs_as_command"
					}
					code, r := s.prompt(t, a, map[string]any{"prompt": c.given, "exact": false})
					if code != c.code {
						t.Errorf("%q: refused with %q, %+v, want %q", c.given, code, r, c.code)
					}
					if c.want != "" && (len(s.sent) == 0 || s.sent[len(s.sent)-1] != c.want) {
						t.Errorf("%q arrived as %q, want %q", c.given, s.sent, c.want)
					}
				}
				if len(s.ran) > 0 || s.ended {
					t.Errorf("run were %q", s.ran)
				}
				if code, _ := s.prompt(t, a, map[string]any{"prompt": "x", "exact": "no"}); code != "bad_params" {
					t.Errorf("exact = \"no\" is refused with %q", code)
				}
			})
		})
	}
}

// TestPromptWithoutPastes: where a paste would be typed key by key, a line feed in it would submit
// half of it.
func TestPromptWithoutPastes(t *testing.T) {
	standingIn(t, "codex", func(t *testing.T, a *Adapter, s *standIn) {
		s.p.Print("\x1b[?2004l")
		if code, _ := s.prompt(t, a, map[string]any{"prompt": "x"}); code != "wrong_state" {
			t.Errorf("refused with %q", code)
		}
	})
}

// FuzzPrompts: whatever a prompt is, the stand-in gets it once and as it is, or it is refused, or
// taken back; it is never run.
func FuzzPrompts(f *testing.F) {
	for _, h := range hostiles(f) {
		f.Add(h.Text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			t.Skip()
		}
		for _, agent := range promptAgents {
			m := classifier(t, agent)
			v := readyView(t, agent)
			value, err := m.call(context.Background(), "send_prompt", patience, &look{view: v}, map[string]any{"prompt": text})
			var refused *PluginError
			if errors.As(err, &refused) && refused.Code != "" {
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", agent, err)
			}
			got, first := pasted(t, value)
			bare := strings.TrimSpace(got)
			switch {
			case strings.TrimSuffix(got, " ") != text && got != text:
				t.Errorf("%s: typed is %q for %q", agent, got, text)
			case agent == "codex" && strings.HasPrefix(bare, "!"), agent == "claude-code" && strings.HasPrefix(first, "!"):
				t.Errorf("%s: %q would be run", agent, got)
			case regexp.MustCompile(`^/\w+(\s|$)`).MatchString(bare):
				t.Errorf("%s: %q would be a command", agent, got)
			case strings.ContainsAny(got, "\x00\x1b\x03\r\x7f"):
				t.Errorf("%s: %q has control characters", agent, got)
			}
		}
	})
}

// readyView is a screen on which a prompt can be sent.
func readyView(t *testing.T, agent string) *engine.View {
	t.Helper()
	if agent == "claude-code" {
		return claudeEnd(t, "ready-24x80")
	}
	return shots(t)[agent+"/ready-24x80"].view()
}

// pasted returns what the pastes of a plan put into the input, a character that is erased again
// left out, and the first paste.
func pasted(t *testing.T, plan any) (text, first string) {
	t.Helper()
	var home bool
	for _, action := range plan.(map[string]any)["actions"].([]any) {
		a := action.(map[string]any)
		switch a["type"] {
		case "bracketed_paste":
			if first == "" {
				first, _ = a["value"].(string)
			}
			text += a["value"].(string)
		case "key":
			if a["value"] == "delete" && home {
				text = text[1:]
			}
			home = a["value"] == "home"
		}
	}
	return text, first
}

//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// A keyboard drives Claude Code 2.1.328 by session.*, with what a person would know of its screens.
//
// What they show, in the order of the scenario. The two dialogs at the start are on the main
// screen: "Accessing workspace:" with the pointer on "No, exit", drawn anew after some 130 ms; then
// the API key's, with the pointer on "No (recommended)". The prompt comes on the alternate screen:
// a rule, ❯ with a space that does not break and the text, a rule, the mode. What was submitted
// stands above with an ordinary space behind its ❯, so the two can be told apart; the input is
// empty again within 170 ms of Enter, the mode's line says "esc to interrupt", and a spinner with a
// random verb runs. A long paste is shown as "[Pasted text #1 +19 lines]". At the end comes "✻
// Brewed for 0s · done 5:51 PM", also with a random verb.
//
// A permission takes the prompt's place: "Do you want to ...?", numbered options, "Esc to cancel";
// what an edit would change is "…" in its first frame. Escape leaves "Rejected". A question ends
// with "Enter to select", a plan begins with "Ready to code?" below a line of ▔. After a cancel
// there is "Interrupted · What should Claude do instead?", or, when nothing had come back yet, the
// prompt's text in the input again. Errors are "● API Error: ..." with the hint "Resend your
// message to try again" in the input. /model and /usage open panels below a line of ▔; Escape from
// the first leaves "Kept model as ...".
type keyboard struct {
	*session
	t testing.TB
}

func byKeys(s *server, w *world, program string, args []string) driver {
	return &keyboard{s.with(client.Config{Program: program, Args: args, Cwd: w.work}), s.t}
}

// settled is how long a screen must have been quiet before Enter is pressed in a dialog: for 150 ms
// after a dialog comes up Claude Code ignores keys that would confirm, and the one about trust
// comes up twice, about 130 ms apart.
const settled = 300 * time.Millisecond

func not(m client.Matcher) client.Matcher { return client.Matcher{Type: "not", Value: m} }

// input is the row of the prompt, with what stands there; the space behind the sign is one that
// does not break.
func input(text string) client.Matcher { return client.Regexp(`(?m)^❯[\x{a0}]?` + text) }

// screens says how each state looks.
var screens = map[string]client.Matcher{
	"waiting_for_trust":         client.Text("Yes, I trust this folder"),
	"waiting_for_login":         client.Text("Do you want to use this API key?"),
	"ready":                     client.All(input(`$`), not(client.Text("esc to interrupt")), client.Regexp(`(?m)^  ⏸ .* mode on`)),
	"completed_turn":            client.All(input(`$`), not(client.Text("esc to interrupt")), client.Regexp(`(?m)^✻ .* · done `)),
	"error":                     client.All(input(`(Resend|Once fixed|$)`), not(client.Text("esc to interrupt"))),
	"thinking":                  client.Text("esc to interrupt"),
	"waiting_for_permission":    client.Regexp(`Do you want to [^\n]*\?\n.*❯ 1\. Yes`),
	"waiting_for_plan_approval": client.Text("Ready to code?"),
	"waiting_for_user_input":    client.Text("Enter to select"),
	"waiting_for_model_select":  client.Text("Select model"),
	"usage_screen":              client.All(client.Text("Settings"), client.Text("Esc to close")),
}

func (k *keyboard) wait(text string, states ...string) {
	k.t.Helper()
	var any []client.Matcher
	for _, s := range states {
		any = append(any, screens[s])
	}
	k.session.wait(client.All(client.Any(any...), client.Text(text)))
}

func (k *keyboard) turn(intent string, params map[string]any, text string, states ...string) {
	k.t.Helper()
	k.send(intent, params)
	k.wait(text, states...)
}

func (k *keyboard) send(intent string, params map[string]any) {
	k.t.Helper()
	switch intent {
	case "approve_trust":
		k.choose("Yes, I trust this folder")
	case "choose_option":
		k.choose(fmt.Sprint(params["option"]))
	case "approve":
		k.session.wait(client.Stable(settled))
		k.keys("enter")
	case "deny":
		k.session.wait(client.Stable(settled))
		k.keys("escape")
	case "cancel":
		k.keys("escape")
	case "key":
		k.keys(fmt.Sprint(params["key"]))
	case "send_prompt":
		k.submit(fmt.Sprint(params["prompt"]))
	case "slash_command":
		k.submit("/" + fmt.Sprint(params["command"]))
	default:
		k.t.Fatalf("no keys for %s", intent)
	}
}

func (k *keyboard) do(a client.Action) {
	k.t.Helper()
	if _, err := k.Do(k.server.ctx, a); err != nil {
		k.t.Fatal(err)
	}
}

// clear empties the input.
func (k *keyboard) clear() {
	k.t.Helper()
	k.keys("ctrl+c")
	k.session.wait(client.All(input(`$`), not(client.Text("again to exit"))))
}

// submit types and presses Enter when what is typed stands there.
func (k *keyboard) submit(text string) {
	k.t.Helper()
	k.do(client.Action{Type: "bracketed_paste", Value: text})
	k.session.wait(input(`.*\S`))
	k.keys("enter")
}

// choose moves the pointer to an option and presses Enter when it is there to stay.
func (k *keyboard) choose(option string) {
	k.t.Helper()
	k.session.wait(client.All(client.Text(option), client.Stable(settled)))
	pointer, at := -1, -1
	for i, line := range k.snapshot("none").Lines {
		text := strings.TrimSpace(line)
		if strings.HasPrefix(text, "❯") {
			pointer = i
		}
		text = strings.TrimLeft(strings.TrimPrefix(text, "❯"), " 0123456789.")
		if at < 0 && strings.HasPrefix(text, option) {
			at = i
		}
	}
	key := "down"
	if at < pointer {
		key = "up"
	}
	pointed := client.Regexp(`(?m)^ *❯ (\d\. )?` + option)
	for range 5 {
		// One key at a time: an option may take more than one row.
		if _, err := k.Wait(k.server.ctx, pointed, client.Within(0)); err == nil {
			break
		}
		k.waitSince(k.keys(key), client.Regexp(`(?m)^ *❯ `))
	}
	k.session.wait(client.All(pointed, client.Stable(settled)))
	k.keys("enter")
}

// TestClaudeByKeys goes through the same without the plugin: where TestClaude fails and this does
// not, the plugin is at fault.
func TestClaudeByKeys(t *testing.T) {
	if !long {
		t.Skip("a second way through what TestClaude goes through: PTYWRIGHT_LONG=1")
	}
	drive(t, claudeNow, byKeys).everything()
}

//go:build unix

package tools_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// shellOf starts a shell and waits for its prompt.
func shellOf(t *testing.T, w *wire, shell string) {
	t.Helper()
	if _, err := exec.LookPath(shell); err != nil {
		t.Skipf("%s is not installed (Debian package %s)", shell, shell)
	}
	w.call("start", obj{"program": shell, "wait_for": obj{"matcher": obj{"type": "all", "value": []obj{{"type": "screen_regex", "value": `\S`}, {"type": "screen_stable", "value": obj{"min_ms": 300}}}}}})
}

// TestRunIsItsOwnCommand: of commands that were typed ahead none is taken for the one that is run.
func TestRunIsItsOwnCommand(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			w := serve(t, false, nil)
			shellOf(t, w, shell)
			since := w.call("send", obj{"session": "s1", "text": "sleep 1; true\rsleep 1; false\r"})["since"]
			w.call("wait", obj{"session": "s1", "command_finished": true, "since": since})
			r := w.try("run", obj{"session": "s1", "command": "echo mine"})
			if r.IsError && strings.Contains(text(r), "is running a command") { // it has begun with the other
				w.call("wait", obj{"session": "s1", "text": "never", "stable_ms": 1200})
				r = w.try("run", obj{"session": "s1", "command": "echo mine"})
			}
			if out := r.StructuredContent.(obj); out["exit_code"] != 0.0 || strings.TrimSpace(fmt.Sprint(out["output"])) != "mine" || out["reason"] != "finished" {
				t.Errorf("run: %s", text(r))
			}
			if out := w.call("run", obj{"session": "s1", "command": "  echo next  "}); strings.TrimSpace(fmt.Sprint(out["output"])) != "next" {
				t.Errorf("the next run: %v", out)
			}
			if out := w.call("run", obj{"session": "s1", "command": "echo next"}); strings.TrimSpace(fmt.Sprint(out["output"])) != "next" {
				t.Errorf("the same again: %v", out)
			}
		})
	}
}

// TestRunOnALineThatIsNotEmpty: what stands there is neither run nor lost.
func TestRunOnALineThatIsNotEmpty(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			w := serve(t, false, nil)
			shellOf(t, w, shell)
			w.call("send", obj{"session": "s1", "text": "echo PARTIAL "})
			r := w.try("run", obj{"session": "s1", "command": "echo mine"})
			if out := r.StructuredContent.(obj); out["reason"] != "not_run" || !strings.Contains(text(r), "PARTIAL") || !strings.Contains(text(r), "ctrl+c") {
				t.Fatalf("run: %s", text(r))
			}
			out := w.call("send", obj{"session": "s1", "keys": []string{"enter"}, "wait_for": obj{"command_finished": true}})
			if s := fmt.Sprint(out["screen"]); strings.Contains(s, "mine") || !strings.Contains(s, "\nPARTIAL") {
				t.Errorf("the line is not as it was: %s", s)
			}
			w.call("send", obj{"session": "s1", "text": "echo MORE"})
			w.call("send", obj{"session": "s1", "keys": []string{"ctrl+c"}})
			if out := w.call("run", obj{"session": "s1", "command": "echo mine; false", "timeout_ms": 5000}); strings.TrimSpace(fmt.Sprint(out["output"])) != "mine" || out["exit_code"] != 1.0 {
				t.Errorf("after the line was given up: %v", out)
			}
		})
	}
}

// TestRunInAShellThatEnds: the command that ends it, and the next, say so and with which exit code.
func TestRunInAShellThatEnds(t *testing.T) {
	t.Parallel()
	w := serve(t, false, nil)
	shellOf(t, w, "bash")
	r := w.try("run", obj{"session": "s1", "command": "exit 4"})
	if out := r.StructuredContent.(obj); out["reason"] != "ended" || out["exit_code"] != 4.0 || !strings.Contains(text(r), "exited with code 4") {
		t.Errorf("exit 4: %s", text(r))
	}
	if r = w.try("run", obj{"session": "s1", "command": "true"}); !r.IsError || !strings.Contains(text(r), "has ended, it exited with code 4") {
		t.Errorf("the next: %s", text(r))
	}
	if r = w.try("run", obj{"command": "exit 5", "shell": "bash"}); !strings.Contains(text(r), "exited with code 5") || !strings.Contains(text(r), "closed") {
		t.Errorf("in a fresh shell: %s", text(r))
	}
}

// TestRunTellsWhatItEnds: a fresh shell takes along what was left in the background, and it is
// said.
func TestRunTellsWhatItEnds(t *testing.T) {
	t.Parallel()
	w := serve(t, false, nil)
	shellOf(t, w, "bash")
	r := w.try("run", obj{"command": "sleep 1000 & echo started", "shell": "bash"})
	out := r.StructuredContent.(obj)
	if pids, _ := out["background"].([]any); len(pids) != 1 || !strings.Contains(text(r), fmt.Sprintf("ended with the shell: %v", pids[0])) {
		t.Errorf("run: %s", text(r))
	}
	if out := w.call("run", obj{"command": "echo '[1] 999999999'; sleep 0 & wait", "shell": "bash"}); out["background"] != nil {
		t.Errorf("nothing was left: %v", out)
	}
	if out := w.call("run", obj{"command": "sleep 1000 & echo started", "shell": "bash", "keep": true}); out["background"] != nil || out["closed"] != false {
		t.Errorf("with keep: %v", out)
	}
}

// TestRunShowsBothEndsOfLongOutput: how much is missing between them, and how to have it.
func TestRunShowsBothEndsOfLongOutput(t *testing.T) {
	t.Parallel()
	w := serve(t, false, nil)
	shellOf(t, w, "bash")
	for _, args := range []obj{{"command": "seq 5000", "shell": "bash"}, {"command": "seq 5000", "session": "s1"}} {
		args["max_chars"] = 400
		r := w.try("run", args)
		out := r.StructuredContent.(obj)
		s := fmt.Sprint(out["output"])
		missing, _ := out["omitted_chars"].(float64)
		if !strings.HasPrefix(s, "1\n2\n") || !strings.HasSuffix(s, "\n4999\n5000\n") || !strings.Contains(s, fmt.Sprintf("[… %v characters", missing)) || out["truncated"] != true {
			t.Errorf("%v: %q", args, s)
		}
		whole := len(s) - len(fmt.Sprintf("\n[… %v characters are left out here …]\n", missing)) + 1 + int(missing) // the line end of the head
		if all := 23893; whole != all {                                                                             // seq 5000 | wc -c
			t.Errorf("%v: %d characters are told of %d", args, whole, all)
		}
		if hint := map[bool]string{true: "keep", false: `"what":"commands"`}[args["session"] == nil]; !strings.Contains(text(r), hint) {
			t.Errorf("no %s in %.200s", hint, text(r))
		}
	}
}

// TestRunThatStandsSomewhere: one that runs out of time says whether it is in a full-screen program
// or at a question.
func TestRunThatStandsSomewhere(t *testing.T) {
	t.Parallel()
	w := serve(t, false, nil)
	shellOf(t, w, "bash")
	for command, want := range map[string]string{
		`printf '\033[?1049h'; sleep 1000`: "full screen: read",
		`read -s -p "Password: "`:          `"secret":`,
		`read -p "Go on? "`:                "If it asks something: read",
	} {
		r := w.try("run", obj{"command": command, "shell": "bash", "timeout_ms": 1500})
		if out := r.StructuredContent.(obj); out["reason"] != "timeout" || !strings.Contains(text(r), want) {
			t.Errorf("%s: %s", command, text(r))
		}
	}
	for args, want := range map[string]string{
		`{"session":5}`: `arguments: session: type: 5 has type "integer", want "string"`, `{}`: `arguments: required: missing properties: ["session"]`,
		`{"session":"s1","text":"x","wait_for":{"foo":1}}`: `arguments: wait_for: unexpected additional properties ["foo"]`,
	} {
		if r := w.try("send", json.RawMessage(args)); text(r) != want {
			t.Errorf("%s: %s", args, text(r))
		}
	}
}

// TestRunKnowsItsCommandAgain: also one that the shell keeps out of its history, or puts into one
// line.
func TestRunKnowsItsCommandAgain(t *testing.T) {
	t.Parallel()
	w := serve(t, false, nil)
	shellOf(t, w, "bash")
	for _, x := range []struct{ command, output string }{
		{"HISTCONTROL=ignoreboth", ""}, {"echo same", "same"}, {"echo same", "same"}, {" echo led", "led"}, {"\techo tab 'a  b'", "tab a  b"},
		{"for i in 1 2\ndo echo $i\ndone", "1\n2"}, {"echo \"semi;colon\"", "semi;colon"}, {"echo é 漢字", "é 漢字"},
		{"echo " + strings.Repeat("long ", 60), strings.TrimSpace(strings.Repeat("long ", 60))}, {"# nothing", ""}, {"echo after", "after"},
	} {
		out := w.call("run", obj{"session": "s1", "command": x.command, "timeout_ms": 5000})
		if s := strings.TrimSpace(fmt.Sprint(out["output"])); x.command != "# nothing" && (s != x.output || out["exit_code"] != 0.0) {
			t.Errorf("%q: %v", x.command, out)
		}
	}
}

//go:build unix

package tools_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// TestSubmitWaitsForWhatComesAfterEnter: the echo of what was typed, and what stood there before,
// count for nothing.
func TestSubmitWaitsForWhatComesAfterEnter(t *testing.T) {
	t.Parallel()
	w := serve(t, false, nil)
	shellOf(t, w, "bash")
	out := w.call("send", obj{"session": "s1", "text": "sleep 1; echo BUILD_OK", "submit": true, "wait_for": obj{"text": "BUILD_OK"}})
	if s := fmt.Sprint(out["screen"]); !strings.Contains(s, "\nBUILD_OK") {
		t.Errorf("it matched its own echo: %v %s", out["outcome"], s)
	}
	w.call("wait", obj{"session": "s1"}) // the prompt
	out = w.call("send", obj{"session": "s1", "text": `read -s -p "Password: " p; echo`, "submit": true, "wait_for": obj{"text": "Password: "}})
	if o := out["outcome"].(obj); o["why"] != `contains_text "Password: "` {
		t.Errorf("why: %v", o)
	}
	if out["secret_input"] != true {
		t.Errorf("the question: %v", out)
	}
	w.call("send", obj{"session": "s1", "text": "correct-horse-staple", "submit": true})
	if s := fmt.Sprint(w.call("read", obj{"session": "s1"})["text"]); strings.Contains(s, "correct-horse") {
		t.Errorf("the password shows: %s", s)
	}
	// Without submit what comes after the typing counts, also its echo.
	if out = w.call("send", obj{"session": "s1", "text": "echo TYPED", "wait_for": obj{"text": "TYPED"}, "timeout_ms": 5000}); out["outcome"].(obj)["matched"] != true {
		t.Errorf("without submit: %v", out)
	}
}

// TestTextThatEndsInABlank: a fresh prompt is found, which the screen has without the blank behind
// it.
func TestTextThatEndsInABlank(t *testing.T) {
	t.Parallel()
	w := serve(t, false, nil)
	shellOf(t, w, "bash")
	for _, prompt := range []string{"$ ", "# "} {
		out := w.call("send", obj{"session": "s1", "text": fmt.Sprintf("PS1=%q", "me"+prompt), "submit": true, "wait_for": obj{"text": "me" + prompt}, "timeout_ms": 10000})
		if o := out["outcome"].(obj); o["matched"] != true || o["why"] != fmt.Sprintf("contains_text %q", "me"+prompt) {
			t.Errorf("%q: %v", prompt, o)
		}
	}
	if o := w.call("wait", obj{"session": "s1", "text": "never ", "timeout_ms": 10}); !strings.Contains(fmt.Sprint(o["missing"]), `contains_text "never "`) {
		t.Errorf("what is missing: %v", o["missing"])
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed (Debian package python3)")
	}
	w.call("start", obj{"program": python, "args": []string{"-q"}, "wait_for": obj{"text": ">>> "}})
	out := w.call("send", obj{"session": "s2", "text": "6*7", "submit": true, "wait_for": obj{"text": ">>> "}})
	if o := out["outcome"].(obj); o["matched"] != true || !strings.Contains(fmt.Sprint(out["screen"]), "42\n>>>") {
		t.Errorf("python: %v", out)
	}
}

// TestEscapeIsAKeyOfItsOwn: it and the key after it are read apart, by a program that takes what
// comes within 50 ms for one key.
func TestEscapeIsAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed (Debian package bash)")
	}
	const keys = `echo ready; while IFS= read -rsn1 k; do more=; IFS= read -rsn1 -t 0.05 more; printf 'key <%q>\n' "$k$more"; done`
	w := serve(t, false, nil)
	id := w.call("start", obj{"program": bash, "args": []string{"-c", keys}, "wait_for": obj{"text": "ready"}})["session"]
	for n, x := range []struct {
		keys []string
		last string
		want string
	}{
		{[]string{"escape", "q"}, "<q>", "key <$'\\E'>\nkey <q>"},
		{[]string{"escape", "escape", "r"}, "<r>", "key <$'\\E'>\nkey <$'\\E'>\nkey <r>"},
		{[]string{"alt+x"}, "Ex", "key <$'\\Ex'>"},
	} {
		out := w.call("send", obj{"session": id, "keys": x.keys, "wait_for": obj{"text": x.last}, "timeout_ms": 5000})
		if s := fmt.Sprint(out["screen"]); !strings.Contains(s, x.want) {
			t.Errorf("%d: %v arrive as %q", n, x.keys, s)
		}
	}
}

// TestNamesAndPaceOverMCP: a session is called by its name in every tool, and what is sent with a
// pace comes key by key.
func TestNamesAndPaceOverMCP(t *testing.T) {
	t.Parallel()
	w := serve(t, false, nil)
	out := w.call("start", obj{"program": "sh", "args": []string{"-c", "stty raw -echo; printf ready; exec cat -v"}, "name": "keys", "wait_for": obj{"text": "ready"}})
	if out["session"] != "s1" {
		t.Fatalf("%v", out)
	}
	out = w.call("send", obj{"session": "keys", "text": "ab", "keys": []string{"Esc", "C-c", "ArrowUp"}, "delay_ms": 5, "wait_for": obj{"text": "readyab^[^C^[[A"}})
	if out["outcome"].(obj)["matched"] != true || out["written"] != 7. {
		t.Errorf("%v", out)
	}
	for _, tool := range []string{"read", "wait", "screenshot"} {
		if out := w.call(tool, obj{"session": "keys"}); tool != "screenshot" && out["session"] != "s1" {
			t.Errorf("%s: %v", tool, out)
		}
	}
	if all := w.call("sessions", obj{})["sessions"].([]any); all[0].(obj)["name"] != "keys" {
		t.Errorf("%v", all)
	}
	gone := w.call("wait", obj{"session": "keys", "text": "never", "timeout_ms": 1})
	if out := w.call("wait", obj{"session": "keys", "wait": gone["wait"], "timeout_ms": 1}); out["session"] != "s1" {
		t.Errorf("%v", out)
	}
	if out := w.call("stop", obj{"session": "keys"}); out["session"] != "s1" {
		t.Errorf("%v", out)
	}
}

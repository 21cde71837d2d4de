//go:build unix

package tools_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestSubmitWaitsForWhatComesAfterEnter: the echo of what was typed, and what stood there before, count for nothing.
func TestSubmitWaitsForWhatComesAfterEnter(t *testing.T) {
	w := serve(t, false, nil)
	shellOf(t, w, "bash")
	out := w.call("send", obj{"session": "s1", "text": "sleep 1; echo BUILD_OK", "submit": true, "wait_for": obj{"text": "BUILD_OK"}})
	if s := fmt.Sprint(out["screen"]); !strings.Contains(s, "\nBUILD_OK") {
		t.Errorf("it matched its own echo: %v %s", out["outcome"], s)
	}
	out = w.call("send", obj{"session": "s1", "text": `read -s -p "Password: " p; echo`, "submit": true, "wait_for": obj{"text": "Password: "}})
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

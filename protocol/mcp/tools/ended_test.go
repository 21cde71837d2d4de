package tools_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/redact"
)

// TestAForgottenSession: how it ended can be waited for still, and all else says that it is
// forgotten.
func TestAForgottenSession(t *testing.T) {
	t.Parallel()
	p := enginetest.New()
	w := serveOn(t, enginetest.Engine(p), new(redact.Known), false, nil)
	id := w.session()
	p.Print("hello")
	p.End(7)
	w.call("wait", obj{"session": id, "exited": true})
	if gone, err := w.engine.ForgetEnded(); err != nil || fmt.Sprint(gone) != fmt.Sprint([]engine.ID{engine.ID(id)}) {
		t.Fatalf("forgotten: %v, %v", gone, err)
	}
	r := w.call("wait", obj{"session": id, "exited": true, "text": "hello"})
	if r["matched"] != true || !strings.Contains(fmt.Sprint(r["exit"]), "7") {
		t.Errorf("its exit: %v", r)
	}
	for tool, args := range map[string]obj{"wait": {"text": "hello"}, "read": {}, "send": {"text": "x"}, "stop": {}} {
		args["session"] = id
		if r := w.try(tool, args); !r.IsError || !strings.Contains(text(r), "was forgotten") || !strings.Contains(text(r), "exit code 7") {
			t.Errorf("%s: %s", tool, text(r))
		}
	}
}

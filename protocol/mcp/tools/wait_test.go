package tools_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol/mcp"
	"github.com/ptywright/ptywright/protocol/mcp/tools"
	"github.com/ptywright/ptywright/redact"
)

// session starts a program that the test writes the output of.
func (w *wire) session() string {
	w.t.Helper()
	s, err := w.engine.Spawn(w.t.Context(), engine.Config{Program: "fake"})
	if err != nil {
		w.t.Fatal(err)
	}
	return string(s.ID())
}

// TestSessionsHideWhatANameBeforeItMakesASecret in the arguments, which come one by one.
func TestSessionsHideWhatANameBeforeItMakesASecret(t *testing.T) {
	t.Parallel()
	w := serveOn(t, enginetest.Engine(enginetest.New()), new(redact.Known), false, nil)
	if _, err := w.engine.Spawn(t.Context(), engine.Config{Program: "fake", Args: []string{"--password", "Kq7argvpass66", "file"}}); err != nil {
		t.Fatal(err)
	}
	r := w.try("sessions", obj{})
	if all := fmt.Sprint(r.StructuredContent) + text(r); strings.Contains(all, "Kq7") || strings.Count(all, "--password [REDACTED] file") != 2 {
		t.Errorf("%s", all)
	}
}

// TestScreenshotReplacesNoSource: its path tells the format, and is a picture's.
func TestScreenshotReplacesNoSource(t *testing.T) {
	t.Parallel()
	w := serveOn(t, enginetest.Engine(enginetest.New()), new(redact.Known), false, nil)
	id := w.session()
	dir := t.TempDir()
	source := filepath.Join(dir, "t1.py")
	if err := os.WriteFile(source, []byte("print()"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := w.try("screenshot", obj{"session": id, "path": source}); !r.IsError || !strings.Contains(text(r), "not a picture's extension") {
		t.Errorf("%s", text(r))
	}
	if b, err := os.ReadFile(source); err != nil || string(b) != "print()" {
		t.Errorf("the source file has %q, %v", b, err)
	}
	if r := w.call("screenshot", obj{"session": id, "path": filepath.Join(dir, "o.svg")}); r["format"] != "svg" {
		t.Errorf("%v", r)
	}
}

// TestFontSizeHasBounds: one that no picture is drawn in is refused, not replaced.
func TestFontSizeHasBounds(t *testing.T) {
	w := serveOn(t, enginetest.Engine(enginetest.New()), new(redact.Known), false, nil)
	id := w.session()
	for size, ok := range map[float64]bool{-1: false, 5: false, 6: true, 128: true, 128.5: false, 1000: false} {
		r := w.try("screenshot", obj{"session": id, "format": "png", "font_size": size})
		if r.IsError == ok || !ok && !strings.Contains(text(r), "font_size: expected a number from 6 to 128") {
			t.Errorf("%v: %.200s", size, text(r))
		}
	}
}

// TestWaitTellsProgress every few seconds to a client that asks for it, and ends within what
// clients wait.
func TestWaitTellsProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told []string
		w := serveOn(t, enginetest.Engine(enginetest.New()), new(redact.Known), false, &sdk.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
				told = append(told, r.Params.Message)
			},
		})
		id := w.session()
		begin := time.Now()
		params := &sdk.CallToolParams{Name: "wait", Arguments: obj{"session": id, "text": "never", "timeout_ms": 3_600_000}}
		params.SetProgressToken("p")
		r, err := w.client.CallTool(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != 45*time.Second {
			t.Errorf("a wait of an hour took %v", took)
		}
		synctest.Wait() // for the last that is told
		out := r.StructuredContent.(obj)
		if out["reason"] != "timeout" || out["wait"] != "w1" || out["elapsed_ms"] != 45000.0 {
			t.Errorf("%v", out)
		}
		synctest.Wait() // the last is handed over beside the answer
		if len(told) < 8 || len(told) > 9 || !strings.Contains(told[0], "waiting on "+id+" for 5s") {
			t.Errorf("told: %q", told)
		}
	})
}

// TestWaitSaysWhyItEnded: whatever it ends with is a result.
func TestWaitSaysWhyItEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pty := enginetest.New()
		w := serveOn(t, enginetest.Engine(pty), new(redact.Known), false, nil)
		id := w.session()
		pty.Print("$ make\r\nDone in 3 s\r\n")
		for _, x := range []struct {
			args   obj
			reason string
			took   time.Duration
		}{
			{obj{"text": "Done"}, "matched", 0},
			{obj{"regex": `in (\d) s`}, "matched", 0},
			{obj{}, "matched", 500 * time.Millisecond}, // still
			{obj{"stable_ms": 2000}, "matched", 1500 * time.Millisecond},
			{obj{"text": "Failed", "exited": true, "timeout_ms": 1000}, "timeout", time.Second},
			{obj{"text": "Failed", "timeout_ms": 0}, "timeout", 0},
			{obj{"text": "Failed"}, "timeout", 30 * time.Second},
			{obj{"matcher": obj{"type": "all", "value": []obj{{"type": "contains_text", "value": "Done"}, {"type": "cursor_at", "value": obj{"row": 2, "col": 0}}}}}, "matched", 0},
		} {
			x.args["session"] = id
			begin := time.Now()
			if out := w.call("wait", x.args); out["reason"] != x.reason || out["session"] != id || time.Since(begin) != x.took {
				t.Errorf("%v: %v after %v", x.args, out["reason"], time.Since(begin))
			}
		}
		pty.End(3)
		synctest.Wait()
		out := w.call("wait", obj{"session": id, "text": "Failed"})
		if out["reason"] != "ended" || !strings.Contains(fmt.Sprint(out["why"]), "exited with code 3") {
			t.Errorf("%v", out)
		}
		for _, args := range []obj{{"session": id, "regex": "("}, {"session": id, "matcher": obj{"type": "no such"}}, {"wait": "w99"}, {"session": id, "stable_ms": -1}, {}} {
			if r := w.try("wait", args); !r.IsError {
				t.Errorf("%v: %s", args, text(r))
			}
		}
	})
}

// TestWaitForNothingRespectsSince: a screen that is still counts when something has come after the
// sequence.
func TestWaitForNothingRespectsSince(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pty := enginetest.New()
		w := serveOn(t, enginetest.Engine(pty), new(redact.Known), false, nil)
		id := w.session()
		pty.Print("before")
		synctest.Wait()
		since := w.call("read", obj{"session": id})["sequence"]
		if out := w.call("wait", obj{"session": id, "since": since, "timeout_ms": 5000}); out["reason"] != "timeout" || !strings.Contains(fmt.Sprint(out["missing"]), "nothing has come") {
			t.Errorf("nothing came: %v", out)
		}
		time.AfterFunc(3*time.Second, func() { pty.Print("after") })
		begin := time.Now()
		if out := w.call("wait", obj{"session": id, "since": since}); out["matched"] != true || time.Since(begin) != 3500*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(begin), out)
		}
		if r := w.try("wait", obj{}); !r.IsError || !strings.Contains(text(r), "expected a session") {
			t.Errorf("no session: %s", text(r))
		}
	})
}

// TestHandlesAreBounded: of many waits that can be gone on with the newest are kept.
func TestHandlesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := serveOn(t, enginetest.Engine(enginetest.New()), new(redact.Known), false, nil)
		id := w.session()
		for range 257 {
			w.call("wait", obj{"session": id, "text": "never", "timeout_ms": 0})
		}
		if r := w.try("wait", obj{"wait": "w1", "timeout_ms": 0}); !r.IsError {
			t.Errorf("the oldest of 257: %s", text(r))
		}
		if out := w.call("wait", obj{"wait": "w2", "timeout_ms": 0}); out["reason"] != "timeout" {
			t.Errorf("the next: %v", out)
		}
		if r := w.try("wait", obj{"wait": "w2"}); !r.IsError {
			t.Errorf("a handle that was used: %s", text(r))
		}
	})
}

// A taskResult is what TestTasks looks at of an answer.
type taskResult struct {
	TaskID string          `json:"taskId"`
	Status string          `json:"status"`
	Result json.RawMessage `json:"result"`
}

// TestTasks: a long wait of a client that knows tasks is one, and is polled, ended by what comes,
// or cancelled.
func TestTasks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pty := enginetest.New()
		e := enginetest.Engine(pty)
		h := host.Over(e, nil, slog.New(slog.DiscardHandler))
		s := mcp.New(h, tools.New(h, tools.Options{}))
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- s.ServeLines(context.Background(), in, out) }()
		defer func() {
			toServer.Close()
			if err := <-served; err != nil {
				t.Error(err)
			}
			s.Close()
			if err := e.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		if _, err := e.Spawn(t.Context(), engine.Config{Program: "fake"}); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(fromServer)
		call := func(method, params string) taskResult {
			t.Helper()
			const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
			if _, err := fmt.Fprintf(toServer, `{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,%s}}`+"\n", method, meta, params); err != nil {
				t.Fatal(err)
			}
			line, err := lines.ReadBytes('\n')
			if err != nil {
				t.Fatal(err)
			}
			var m struct {
				Result *taskResult
				Error  json.RawMessage
			}
			if err := json.Unmarshal(line, &m); err != nil || m.Result == nil {
				t.Fatalf("%s: %s", method, line)
			}
			return *m.Result
		}
		wait := func(args string) taskResult { return call("tools/call", `"name":"wait","arguments":`+args) }
		task := func(method string, r taskResult) taskResult { return call(method, `"taskId":"`+r.TaskID+`"`) }
		if r := wait(`{"session":"s1","text":"never","timeout_ms":10}`); r.TaskID != "" {
			t.Error("a short wait is a task")
		}
		first, second := wait(`{"session":"s1","text":"ready","timeout_ms":3600000}`), wait(`{"session":"s1","text":"never","timeout_ms":3600000}`)
		<-time.After(10 * time.Minute) // virtual
		for _, r := range []taskResult{first, second} {
			if r := task("tasks/get", r); r.Status != "working" {
				t.Errorf("after ten minutes: %+v", r)
			}
		}
		pty.Print("ready")
		task("tasks/cancel", second)
		synctest.Wait()
		if r := task("tasks/get", first); r.Status != "completed" || !strings.Contains(string(r.Result), `"matched":true`) {
			t.Errorf("what came: %s %s", r.Status, r.Result)
		}
		if r := task("tasks/get", second); r.Status != "cancelled" {
			t.Errorf("what was cancelled: %+v", r)
		}
	})
}

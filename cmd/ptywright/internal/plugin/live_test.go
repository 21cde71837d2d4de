//go:build unix

package plugin

import (
	"bytes"
	"context"
	"errors"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/client"
	"github.com/ptywright/ptywright/protocol/native"
	"github.com/ptywright/ptywright/redact"
)

// hang bounds everything that a test waits for: only what hangs takes that long.
const hang = 2 * time.Minute

// loaded is a host that has loaded the plugin in a folder.
func loaded(t *testing.T, dir string) (context.Context, *host.Host) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	h := host.New(engine.Options{Log: discard}, new(redact.Known))
	t.Cleanup(func() {
		if err := h.Engine.Close(ctx); err != nil {
			t.Error(err)
		}
		cancel()
	})
	if _, err := h.Catalog.Load(filepath.Join(dir, manifestName)); err != nil {
		t.Fatal(err)
	}
	return ctx, h
}

// dialled is a client of a server over a host.
func dialled(t *testing.T, h *host.Host) *client.Client {
	t.Helper()
	here, there := net.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = protocol.NewConn(there, native.New(h, native.Options{}), protocol.Config{Log: discard}).Serve(ctx)
	}()
	c := client.New(here)
	t.Cleanup(func() {
		c.Close()
		cancel()
		<-served
	})
	return c
}

// TestExplain a live adapter, by its id and its session's, and follow it to its program's end.
func TestExplain(t *testing.T) {
	t.Parallel()
	ctx, h := loaded(t, demo(t))
	c := dialled(t, h)
	var explained *ExplainError
	err := Explain(ctx, c, "e1", false, func(*Explanation) error { return nil })
	if !errors.Is(err, ErrNoAdapter) || !errors.As(err, &explained) || explained.Name != "e1" {
		t.Errorf("%v", err)
	}
	var started struct{ Adapter, Session string }
	if err := c.Call(ctx, "adapter.start", map[string]any{"plugin": "demo"}, &started); err != nil {
		t.Fatal(err)
	}
	if err := c.Call(ctx, "adapter.wait", map[string]any{"adapter": started.Adapter}, nil); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{started.Adapter, started.Session} {
		n := 0
		if err := Explain(ctx, c, id, false, func(e *Explanation) error {
			n++
			var printed strings.Builder
			e.Print(&printed)
			if e.State.State != "ready" || e.Rule != "prompt" || e.Plugin != "demo" || e.Adapter != started.Adapter || e.Session != started.Session ||
				!strings.Contains(printed.String(), `is ready: rule "prompt" decided`) {
				t.Errorf("%+v\n%s", e, &printed)
			}
			return nil
		}); err != nil || n != 1 {
			t.Errorf("%s: %d explanations, %v", id, n, err)
		}
	}
	enough := errors.New("enough")
	if err := Explain(ctx, c, started.Adapter, true, func(*Explanation) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("%v", err)
	}

	other := dialled(t, h) // a follower uses its connection alone
	var states []string
	if err := Explain(ctx, c, started.Session, true, func(e *Explanation) error {
		if states = append(states, e.State.State); len(states) == 1 {
			return other.Call(ctx, "adapter.send", map[string]any{"adapter": started.Adapter, "intent": "quit"}, nil)
		}
		return nil
	}); err != nil || states[0] != "ready" || states[len(states)-1] != "ended" {
		t.Errorf("%q, %v", states, err)
	}
}

// TestRunOfAPipe types a line whenever the plugin is ready, and keeps the run as a case that
// passes.
func TestRunOfAPipe(t *testing.T) {
	t.Parallel()
	dir := demo(t)
	f := open(t, dir)
	ctx, h := loaded(t, dir)
	var out, states bytes.Buffer
	ran, err := f.Run(ctx, h.Catalog, RunOptions{In: strings.NewReader("echo $((6*7))\n"), Out: &out, States: &states, Record: "two", Patience: hang})
	if err != nil || ran.Exit == nil || ran.Exit.Status() != 0 || ran.Dropped > 0 || ran.Cast != filepath.Join(dir, casesDir, "two.cast") {
		t.Fatalf("%+v, %v", ran, err)
	}
	if !strings.Contains(out.String(), "42\r\n") {
		t.Errorf("%q", &out)
	}
	if last := ran.Changes[len(ran.Changes)-1]; last.To != "ended" || last.Rule != "exited" || !slices.ContainsFunc(ran.Changes, func(c Change) bool { return c.To == "ready" }) {
		t.Errorf("%v", ran.Changes)
	}
	if n := strings.Count(states.String(), "\n"); n != len(ran.Changes) {
		t.Errorf("%d changes are printed as\n%s", len(ran.Changes), &states)
	}
	for _, update := range []bool{true, false} {
		if report, err := f.Test(ctx, nil, update); err != nil || report.Failed > 0 || len(report.Cases) != 3 {
			t.Errorf("%+v, %v", report, err)
		}
	}
	if _, err := f.Run(ctx, h.Catalog, RunOptions{In: strings.NewReader(""), Out: &out, Record: "two"}); err == nil || !strings.Contains(err.Error(), "there is a case two already") {
		t.Errorf("%v", err)
	}
}

// TestRunThatIsNeverReady types nothing at a prompt that the plugin does not know, and says what it
// lacked.
func TestRunThatIsNeverReady(t *testing.T) {
	t.Parallel()
	dir := demo(t)
	ctx, h := loaded(t, dir)
	var out bytes.Buffer
	_, err := open(t, dir).Run(ctx, h.Catalog, RunOptions{
		Args: []string{"-c", "printf 'really? '; cat"}, In: strings.NewReader("yes-it-is\n"), Out: &out, Patience: time.Millisecond,
	})
	var unready *NotReadyError
	if !errors.As(err, &unready) || unready.Line != 1 || unready.Typed != 0 || unready.State == nil || strings.Contains(out.String(), "yes-it-is") {
		t.Errorf("%v, %q", err, &out)
	}
}

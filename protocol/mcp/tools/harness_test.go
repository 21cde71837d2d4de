package tools_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/internal/lanes"
	"github.com/ptywright/ptywright/protocol/mcp"
	"github.com/ptywright/ptywright/protocol/mcp/tools"
	"github.com/ptywright/ptywright/redact"
)

// TestMain gives all shells one home, in which there is no start-up file and none keeps a history.
func TestMain(m *testing.M) {
	home, err := enginetest.NewHome()
	if err != nil {
		panic(err)
	}
	for name, value := range map[string]string{
		"HOME": home, "ZDOTDIR": "", "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "", "HISTFILE": "/dev/null", "fish_history": "",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	lanes.Beside(8)
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(home)
		os.Exit(code)
	}))
}

type obj = map[string]any

// A wire is a server and a client of it in one process, with every byte that leaves and every line
// of the log.
type wire struct {
	t      testing.TB
	engine *engine.Engine
	client *sdk.ClientSession
	out    *tee
	log    *tee
}

// A tee keeps what passes it.
type tee struct {
	mu   sync.Mutex
	kept bytes.Buffer
	to   io.WriteCloser // nil: nowhere
}

func (w *tee) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.kept.Write(p)
	w.mu.Unlock()
	if w.to == nil {
		return len(p), nil
	}
	return w.to.Write(p)
}

func (w *tee) Close() error { return w.to.Close() }

func (w *tee) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.kept.String()
}

// serve starts a server; it has to leave nothing when the test ends.
func serve(t testing.TB, raw bool, o *sdk.ClientOptions) *wire {
	t.Helper()
	known := new(redact.Known)
	return serveOn(t, engine.New(engine.Options{Log: slog.New(slog.DiscardHandler), Typed: reading.Learn(known), Asks: redact.Asks}), known, raw, o)
}

// serveOn is serve over an engine of the test's.
func serveOn(t testing.TB, e *engine.Engine, known *redact.Known, raw bool, o *sdk.ClientOptions) *wire {
	t.Helper()
	w := &wire{t: t, engine: e, log: &tee{}}
	log := slog.New(slog.NewTextHandler(w.log, nil))
	h := host.Over(w.engine, known, log)
	s := mcp.New(h, tools.New(h, tools.Options{Raw: raw}))
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	w.out = &tee{to: out}
	served := make(chan error, 1)
	go func() { served <- s.ServeLines(context.Background(), in, w.out) }()
	var err error
	w.client, err = sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.client.Close()
		if err := <-served; err != nil {
			t.Errorf("ServeLines: %v", err)
		}
		s.Close()
		if err := w.engine.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return w
}

// try calls a tool.
func (w *wire) try(name string, args any) *sdk.CallToolResult {
	w.t.Helper()
	r, err := w.client.CallTool(w.t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		w.t.Fatalf("%s: %v", name, err)
	}
	return r
}

// call calls a tool that must succeed.
func (w *wire) call(name string, args any) obj {
	w.t.Helper()
	r := w.try(name, args)
	if r.IsError {
		w.t.Fatalf("%s %v: %s", name, args, text(r))
	}
	out, _ := r.StructuredContent.(obj)
	return out
}

func text(r *sdk.CallToolResult) string {
	for _, c := range r.Content {
		if x, ok := c.(*sdk.TextContent); ok {
			return x.Text
		}
	}
	return ""
}

package plugins

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
)

// TestExampleLess drives the real less with the plugin that docs/plugins.md is built around.
func TestExampleLess(t *testing.T) {
	less, err := exec.LookPath("less")
	if err != nil {
		t.Skip("there is no less here: Debian's package less has it")
	}
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "line %d\n", i+1)
	}
	file := filepath.Join(t.TempDir(), "lines.txt")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	e := engine.New(engine.Options{})
	defer e.Close(t.Context())
	c := NewCatalog(e, nil)
	if _, err := c.Load("../examples/plugins/less/manifest.toml"); err != nil {
		t.Fatal(err)
	}
	a, err := c.Start(t.Context(), "less", StartOptions{Program: less, Args: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := a.Matcher(t.Context(), DefaultMatcher, nil)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := a.session.Wait(t.Context(), m, engine.Within(20*time.Second)); err != nil {
		t.Fatalf("less does not wait for a key: %v\n%s", err, out.View.Screen)
	}
	for _, step := range []struct {
		intent, text string // the intent, and what it searches for
		state        string // then
		shows        string
		refused      string // the code with which the plugin refuses
	}{
		{"search", "line 20", "reading", "line 20", ""},
		{"next_page", "", "at_end", "line 60", ""},
		{"next_page", "", "", "", "wrong_state"},
		{"search", "two\nlines", "", "", "bad_params"},
		{"search", "nowhere", "message", "Pattern not found", ""},
		{"search", "line 1", "", "", "wrong_state"},
		{"dismiss", "", "at_end", "line 60", ""},
		{"quit", "", "unknown", "", ""},
	} {
		o := SendOptions{Intent: step.intent, Params: map[string]any{}}
		if step.text != "" {
			o.Params["text"] = step.text
		}
		s, r, err := a.Send(t.Context(), o)
		if step.refused != "" {
			var p *PluginError
			if !errors.As(err, &p) || p.Code != step.refused {
				t.Errorf("%s %q: %v, want it refused as %s", step.intent, step.text, err, step.refused)
			}
			continue
		}
		screen := a.session.View().Screen
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", step.intent, step.text, err, screen)
		}
		if s.State != step.state || !strings.Contains(screen.Text(), step.shows) || r.Submitted != nil && !*r.Submitted {
			t.Fatalf("%s %q: state %s, receipt %+v, want %s and %q\n%s", step.intent, step.text, s.State, r, step.state, step.shows, screen)
		}
	}
	if exit := a.session.View().Exit; exit == nil || exit.Code != 0 {
		t.Errorf("less has not ended by itself: %+v", exit)
	}
}

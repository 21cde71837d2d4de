//go:build unix

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// TestFlagsSayWhatTheyAreFor in the help.
func TestFlagsSayWhatTheyAreFor(t *testing.T) {
	for _, c := range []struct{ command, says string }{
		{"serve", "with --mcp-http and --profile terminal-mcp: columns"},
		{"serve", "with --mcp-http: let clients request output"},
		{"mcp", "with --profile terminal-mcp: rows"},
		{"run", "getpass"},
	} {
		out, code := ptywright(t, c.command, "--help").run("")
		if code != 0 || !strings.Contains(strings.Join(strings.Fields(out), " "), c.says) {
			t.Errorf("%s: exit %d, %q, want %q", c.command, code, out, c.says)
		}
	}
	each(command(stdio{}), func(c *cobra.Command) {
		if said := c.Flags().FlagUsages(); strings.Contains(said, "(default )") {
			t.Errorf("%s: a default that is empty is told:\n%s", below(c), said)
		}
	})
}

func TestMomentIsSecondsOrATime(t *testing.T) {
	for text, want := range map[string]time.Duration{"2.5": 2500 * time.Millisecond, "0": 0, "1m30s": 90 * time.Second, "250ms": 250 * time.Millisecond} {
		var m moment
		if err := m.Set(text); err != nil || time.Duration(m) != want {
			t.Errorf("%q: %v, %v", text, time.Duration(m), err)
		}
	}
	for _, text := range []string{"", "-1", "NaN", "Inf", "1e300", "soon"} {
		if err := new(moment).Set(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

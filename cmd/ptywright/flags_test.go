//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/app"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
)

// TestFlagsSayWhatTheyAreFor in the help.
func TestFlagsSayWhatTheyAreFor(t *testing.T) {
	for _, c := range []struct{ command, says string }{
		{"serve", "with --mcp-http and --profile terminal-mcp: columns"},
		{"serve", "with --mcp-http: let clients request output"},
		{"mcp", "with --profile terminal-mcp: rows"},
		{"run", "getpass"},
	} {
		out, code := ptywright(t, c.command, "--help").Run("")
		if code != 0 || !strings.Contains(strings.Join(strings.Fields(out), " "), c.says) {
			t.Errorf("%s: exit %d, %q, want %q", c.command, code, out, c.says)
		}
	}
	each(app.Command(cli.Stdio{}), func(c *cobra.Command) {
		if said := c.Flags().FlagUsages(); strings.Contains(said, "(default )") {
			t.Errorf("%s: a default that is empty is told:\n%s", pathOf(c), said)
		}
	})
}

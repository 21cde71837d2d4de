//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/app"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
)

// TestManualPages: every command that is listed has one, which tells each of its flags, and which
// man shows without a complaint.
func TestManualPages(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "man1")
	p := ptywright(t, "man", dir)
	p.Env = append(p.Env, "SOURCE_DATE_EPOCH=86400")
	if out, code := p.Run(""); code != 0 || out != "" || p.Stderr.String() != "" {
		t.Fatalf("exit code %d: %s%s", code, out, p.Stderr)
	}
	wanted := map[string]bool{}
	root := app.Command(cli.Stdio{})
	root.InitDefaultCompletionCmd()
	each(root, func(c *cobra.Command) {
		if c != root && !c.IsAvailableCommand() {
			return
		}
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		wanted[name] = true
		page, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			return
		}
		if !strings.Contains(string(page), `" 1 "1970-01-02"`) {
			t.Errorf("%s has not the date that was asked for: %.100s", name, page)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if flag := `\fB\-\-` + strings.ReplaceAll(f.Name, "-", `\-`) + `\fR`; !f.Hidden && !strings.Contains(string(page), flag) {
				t.Errorf("%s does not tell --%s", name, f.Name)
			}
		})
	})
	pages, err := os.ReadDir(dir)
	if err != nil || len(pages) != len(wanted) {
		t.Errorf("%d pages for %d commands, %v", len(pages), len(wanted), err)
	}
	need(t, "groff", "groff-base")
	for _, page := range pages {
		groff := exec.Command("groff", "-ww", "-man", "-Tascii", filepath.Join(dir, page.Name()))
		var said strings.Builder
		groff.Stderr = &said
		shown, err := groff.Output()
		if err != nil || len(shown) == 0 || said.Len() > 0 {
			t.Errorf("%s: %v %s", page.Name(), err, &said)
		}
	}
}

// TestManualPagesRefuse what is no date.
func TestManualPagesRefuse(t *testing.T) {
	t.Parallel()
	p := ptywright(t, "man", t.TempDir())
	p.Env = append(p.Env, "SOURCE_DATE_EPOCH=yesterday")
	if _, code := p.Run(""); code != cli.ExitUsage || !strings.Contains(p.Stderr.String(), "SOURCE_DATE_EPOCH") {
		t.Errorf("exit code %d: %s", code, p.Stderr)
	}
}

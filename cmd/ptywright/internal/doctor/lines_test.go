package doctor

import (
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"github.com/google/go-cmp/cmp"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/internal/ansi"
)

// TestFindingsWrapAtWords on terminals of any width, and nowhere else.
func TestFindingsWrapAtWords(t *testing.T) {
	t.Parallel()
	f := Finding{"locale", Warning, "none of LC_ALL, LC_CTYPE and LANG is set: many programs draw no lines", "export LANG=C.UTF-8"}
	for cols, want := range map[int]string{
		0: "warning  locale              none of LC_ALL, LC_CTYPE and LANG is set: many programs draw no lines\n         -> export LANG=C.UTF-8\n",
		80: "warning  locale              none of LC_ALL, LC_CTYPE and LANG is set: many\n" +
			"                             programs draw no lines\n" +
			"                             -> export LANG=C.UTF-8\n",
		40: "warning  locale\n  none of LC_ALL, LC_CTYPE and LANG is\n  set: many programs draw no lines\n  -> export LANG=C.UTF-8\n",
	} {
		if diff := cmp.Diff(want, lines(f, cli.Terminal{Cols: cols})); diff != "" {
			t.Errorf("%d columns (-want +got):\n%s", cols, diff)
		}
	}
	for cols := 20; cols < 140; cols++ {
		shown := lines(f, cli.Terminal{Cols: cols, Style: true})
		if !strings.HasPrefix(shown, "\x1b[33mwarning\x1b[m") {
			t.Errorf("no colour: %q", shown)
		}
		for line := range strings.Lines(ansi.Strip(shown)) {
			if w := displaywidth.String(strings.TrimSuffix(line, "\n")); w > cols {
				t.Errorf("%d columns: %d in %q", cols, w, line)
			}
		}
	}
}

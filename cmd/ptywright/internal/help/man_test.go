//go:build unix

package help

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestManualPageKeepsText: nothing in a help is taken for an instruction to the formatter, and
// examples stay as they are.
func TestManualPageKeepsText(t *testing.T) {
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("groff is not installed: apt-get install groff-base")
	}
	c := &cobra.Command{Use: "x", Short: `a\b 'c' .d ~^` + "`", Long: ".SH not a heading\n'br\n\n  .kept \\fBas\\fR it  is\n  'and this\n\nfilled\nlines"}
	show := exec.Command("groff", "-ww", "-man", "-Tascii", "-P-cbou")
	show.Stdin = strings.NewReader(manPage(c, "x", "1970-01-02"))
	out, err := show.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`a\b 'c' .d ~^` + "`", ".SH not a heading 'br", `  .kept \fBas\fR it  is`, "  'and this", "filled lines"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}

package help

import (
	"strings"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
)

// TestPicturesAsText: on a terminal a picture is what it says of itself, however it is written; other
// tags stay as they are.
func TestPicturesAsText(t *testing.T) {
	page := strings.Join([]string{"Before.", "", "![a shell](pictures/a.svg)", "", "<picture>",
		`  <source media="(prefers-color-scheme: dark)" srcset="pictures/b-dark.png">`,
		`  <img alt="six &quot;sessions&quot;, one stuck" src="pictures/b-light.png">`, "</picture>", "",
		"| dark | light |", "| --- | --- |", "| ![in the dark](c.svg) | ![in the light](d.svg) |", "",
		"A `<b>` in code, and a <b> in text."}, "\n")
	got := render(page, cli.Terminal{Cols: 80})
	want := strings.Join([]string{"Before.", "", "[a shell]", "", `[six "sessions", one stuck]`, "",
		"  [in the dark]", "      [in the light]", "", "A `<b>` in code, and a <b> in text.", ""}, "\n")
	if got != want {
		t.Errorf("it shows\n%s\nwant\n%s", got, want)
	}
}

// Command chart draws the picture of the README that compares ptywright with other tools, from the
// table in docs/performance.md, so that the two cannot say different things.
//
//	go run ./bench/chart    # writes docs/pictures/peers-light.svg and peers-dark.svg
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := draw("."); err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
}

// draw writes the charts of the checkout in root.
func draw(root string) error {
	text, err := os.ReadFile(filepath.Join(root, "docs", "performance.md"))
	if err != nil {
		return err
	}
	figures, err := read(string(text))
	if err != nil {
		return fmt.Errorf("docs/performance.md: %w", err)
	}
	for name, p := range papers {
		if err := os.WriteFile(filepath.Join(root, path(name)), []byte(figures.svg(p)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// path is where a chart lies in the checkout.
func path(paper string) string {
	return filepath.Join("docs", "pictures", "peers-"+paper+".svg")
}

package redact

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// maxOrdinary is how many markers 5 MB of ordinary text may have, on a screen or in a log: a person who reads that meets one in
// some two thousand lines.
const maxOrdinary = 60

// ordinary returns the text of n bytes of the files below a folder whose names end so, from some of each folder.
func ordinary(t testing.TB, root string, n int, suffixes ...string) string {
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || b.Len() >= n || d.IsDir() {
			return err
		}
		for _, s := range suffixes {
			if strings.HasSuffix(path, s) {
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				b.Write(data[:min(len(data), 64<<10)])
				b.WriteByte('\n')
				break
			}
		}
		if b.Len() >= n {
			return filepath.SkipAll
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Ordinary text is shown: source code, its tests and its documents, as a Go installation has them.
func TestOrdinaryText(t *testing.T) {
	root := runtime.GOROOT()
	total, markers := 0, 0
	for _, c := range []struct {
		folder   string
		n        int
		suffixes []string
	}{
		{"src/net", 1 << 20, []string{".go"}}, {"src/crypto", 1 << 20, []string{".go"}}, {"src/cmd/go", 1 << 20, []string{".go", ".txt"}},
		{"src/cmd/compile", 512 << 10, []string{".go"}}, {"src/runtime", 1 << 20, []string{".go", ".s"}},
		{"src/encoding", 256 << 10, []string{".go"}}, {"misc", 256 << 10, []string{".js", ".html", ".go"}}, {"lib", 256 << 10, []string{".js", ".mjs", ".md"}},
		{"src/cmd/vendor", 256 << 10, []string{".go", ".js", ".html", ".css"}},
	} {
		text := ordinary(t, filepath.Join(root, c.folder), c.n, c.suffixes...)
		shown := Default.String(text)
		n := strings.Count(shown, DefaultReplacement) - strings.Count(text, DefaultReplacement)
		total, markers = total+len(text), markers+n
		t.Logf("%s: %d bytes, %d markers", c.folder, len(text), n)
		if n > 0 {
			was := strings.Split(text, "\n")
			for i, line := range strings.Split(shown, "\n") {
				if line != was[i] {
					t.Logf("\t%s\n\t%s", was[i], line)
				}
			}
		}
	}
	t.Logf("%d bytes, %d markers", total, markers)
	if total < 5<<20 {
		t.Errorf("only %d bytes of text were found", total)
	}
	if markers >= maxOrdinary {
		t.Errorf("%d markers in %d bytes of ordinary text, %d and more are too many", markers, total, maxOrdinary)
	}
}

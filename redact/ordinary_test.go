package redact

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// maxOrdinary is how many markers 5 MB of ordinary text may have: who reads that meets one in some
// two thousand lines.
const maxOrdinary, ordinaryBytes = 60, 5 << 20

// filesBelow returns up to n bytes of the files below a folder whose names end so.
func filesBelow(t testing.TB, root string, n int, suffixes ...string) string {
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir() && !strings.Contains(d.Name(), "auth"): // which is about nothing but passwords and tokens
			return err
		case d.IsDir():
			return filepath.SkipDir
		case b.Len() >= n:
			return filepath.SkipAll
		case !slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(path, s) }):
			return nil
		}
		data, err := os.ReadFile(path)
		b.WriteString(strings.ToValidUTF8(string(data[:min(len(data), 64<<10)]), "?") + "\n")
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return b.String()
}

// made is what programs write that is not in a Go installation: lock files, histories, dumps, sums.
func made(d dice, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		name := []string{"js-tokens", "secure-keys", "auth-header", "lodash", "@babel/core", "passport", "keyv", "cookie-signature", "token-types"}[i%9]
		fmt.Fprintf(&b, "    \"node_modules/%s\": {\n      \"version\": \"%d.%d.%d\",\n      \"resolved\": \"https://registry.example.invalid/%s/-/%s-%d.tgz\",\n"+
			"      \"integrity\": \"sha512-%s==\",\n      \"license\": \"MIT\"\n    },\n", name, i%7, i%13, i%5, name, name, i, d.of(86, base62+"+/"))
		fmt.Fprintf(&b, "%s@^%d.0.0:\n  version \"%d.1.2\"\n  resolved \"https://registry.example.invalid/%s.tgz#%s\"\n  integrity sha512-%s==\n",
			name, i%9, i%9, name, d.of(40, hexes), d.of(86, base62+"+/"))
		fmt.Fprintf(&b, "commit %s\nAuthor: A. Person <a%d@example.invalid>\nDate:   Fri Nov 20 09:14:%02d 2026 +0100\n\n    auth: the token of %s is kept (#%d)\n\n",
			d.of(40, hexes), i, i%60, name, i)
		fmt.Fprintf(&b, "diff --git a/%s.go b/%s.go\nindex %s..%s 100644\n", name, name, d.of(9, hexes), d.of(9, hexes))
		fmt.Fprintf(&b, "%08x  %s |%s|\n", 16*i, strings.Repeat(d.of(2, hexes)+" ", 16), d.of(16, base62+"...."))
		fmt.Fprintf(&b, "%s  %s-%d.tar.gz\nsha256:%s\nh1:%s=\n", d.of(64, hexes), name, i, d.of(64, hexes), d.of(43, base62+"+/"))
		fmt.Fprintf(&b, "%s\n%s\n", d.of(76, base62+"+/"), d.of(76, base62+"+/")) // base64(1)
		fmt.Fprintf(&b, "%s-%s-%s  Running  %s\n", d.of(8, hexes), d.of(4, hexes), d.of(12, hexes), name)
		fmt.Fprintf(&b, "256 SHA256:%s me@host (ED25519)\nii  %s  %d:4.%d+dfsg1-1+deb12u%d amd64  keys and tokens\n", d.of(43, base62+"+/"), name, i%3, i%20, i%5)
	}
	return b.String()
}

// Ordinary text is shown: what a Go installation has of source code, tests and documents, and what
// is made here; with PTYWRIGHT_LONG=1 also the JavaScript, Python and documents of the machine, if
// it has any.
func TestOrdinaryText(t *testing.T) {
	root := runtime.GOROOT()
	total, markers := 0, 0
	look := func(what, text string) (n int) {
		was := strings.Split(text, "\n")
		for i, line := range strings.Split(Default.String(text), "\n") {
			if line != was[i] {
				n += strings.Count(line, DefaultReplacement)
				t.Logf("\t%s\n\t%s", was[i], line)
			}
		}
		t.Logf("%s: %d bytes, %d markers", what, len(text), n)
		return n
	}
	for _, c := range []struct {
		folder   string
		n        int
		suffixes []string
	}{
		{"src/net", 1 << 20, []string{".go"}}, {"src/crypto", 1 << 20, []string{".go"}}, {"src/cmd/go", 1 << 20, []string{".go", ".txt"}},
		{"src/cmd/compile", 512 << 10, []string{".go"}}, {"src/runtime", 512 << 10, []string{".go", ".s"}}, {"src/encoding", 256 << 10, []string{".go"}},
		{"lib", 256 << 10, []string{".js", ".md"}}, {"src/cmd/vendor", 256 << 10, []string{".go", ".js", ".html", ".css"}},
	} {
		text := filesBelow(t, filepath.Join(root, c.folder), c.n, c.suffixes...)
		total, markers = total+len(text), markers+look(c.folder, text)
	}
	text := made(newDice(29), 1<<20)
	total, markers = total+len(text), markers+look("made", text)
	t.Logf("%d bytes, %d markers", total, markers)
	if total < ordinaryBytes {
		t.Errorf("only %d bytes of text were found", total)
	}
	if markers >= maxOrdinary {
		t.Errorf("%d markers in %d bytes of ordinary text, %d and more are too many", markers, total, maxOrdinary)
	}
	if os.Getenv("PTYWRIGHT_LONG") == "" {
		return // what else the machine has
	}
	for _, folder := range []string{"/usr/lib/node_modules", "/usr/share/perl", "/usr/lib/python3", "/usr/share/doc"} {
		text := filesBelow(t, folder, ordinaryBytes, ".js", ".json", ".md", ".pod", ".py", ".1", ".5", ".8", ".html", ".txt")
		if n := look(folder, text); n*ordinaryBytes >= maxOrdinary*max(len(text), ordinaryBytes) {
			t.Errorf("%s: %d markers in %d bytes", folder, n, len(text))
		}
	}
}

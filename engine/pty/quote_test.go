package pty

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestQuotePath shows the end of a long path, by whole names, and says that there is more.
func TestQuotePath(t *testing.T) {
	long := strings.Repeat("n", 70)
	for path, want := range map[string]string{
		"":                      `""`,
		"/tmp/a b\x1b[2J.png":   `"/tmp/a b\x1b[2J.png"`,
		strings.Repeat("é", 64): `"` + strings.Repeat("é", 64) + `"`,
		"/tmp/this/is/a/very/long/path/that/goes/on/and/on/and/on/until/it/ends/here.cast": `".../long/path/that/goes/on/and/on/and/on/until/it/ends/here.cast"`,
		long:                  `"` + long[:64] + `..."`,
		"/tmp/" + long:        `".../` + long[:63] + `..."`,
		"/tmp/" + long + "/":  `".../` + long[:63] + `..."`,
		"/" + long + "/b/":    `".../b/"`,
		"/" + long + "/b.png": `".../b.png"`,
	} {
		if got := QuotePath(path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
	err := &StartError{Op: "dir", Path: "/home/somebody/projects/of/a/year/ago/with/a/long/name/that-is-not-there", Err: fs.ErrNotExist}
	if got := err.Error(); !strings.Contains(got, `/that-is-not-there"`) {
		t.Errorf("%s", got)
	}
}

func TestQuotePathIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.StringOf(rapid.SampledFrom([]rune("/ab.é\x00\\\uFFFD"))).Draw(t, "path")
		got := QuotePath(path)
		if n := utf8.RuneCountInString(got); n > 2+6+4*maxPath || utf8.RuneCountInString(path) > maxPath && !strings.Contains(got, "...") {
			t.Errorf("%q: %s", path, got)
		}
	})
}

// TestSearched: the folders that are searched first are named, and a long PATH is no long message.
func TestSearched(t *testing.T) {
	sep := string(os.PathListSeparator)
	long := strings.Repeat("/opt/some/tool/bin"+sep, 100) + "/bin"
	for list, want := range map[string]string{
		"/home/u/venv/bin" + sep + "/bin": `"/home/u/venv/bin` + sep + `/bin"`,
		"":                                `""`,
		"/a\x1b[2J":                       `"/a\x1b[2J"`,
		"/first" + sep + long:             `"/first` + sep + `/opt/some/tool/bin` + sep,
		strings.Repeat("x", 1000) + sep + "/bin" + sep: `"` + strings.Repeat("x", 100),
	} {
		got := searched(list)
		if !strings.HasPrefix(got, want) || len(got) > maxSearched+40 {
			t.Errorf("%.40q: %s", list, got)
		}
		if cut := len(list) > maxSearched; cut != strings.HasSuffix(got, " more folders") {
			t.Errorf("%.40q: %s", list, got)
		}
	}
}

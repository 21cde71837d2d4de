//go:build unix

package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// onPicture are the sessions of the README's picture of the page: agents at work, one of which is
// stuck, a build that failed, and a prompt for a password.
var onPicture = []struct{ name, script, waits string }{
	{"api-tests", `printf 'ok    parser  0.21s\nok    engine  0.38s\nok    wire    0.17s\n12 passed in 0.76s\n\033[1m$\033[0m '; exec cat`, ""},
	{"migration", `printf '\033[1mApply 3 migrations to production?\033[0m\n\n  \033[33m0041\033[0m add_index_on_events\n  \033[33m0042\033[0m drop_column_legacy\n  \033[33m0043\033[0m backfill_tenants\n\nProceed? [y/N] '; exec cat`, "applied"},
	{"build", `printf '\033[32mok\033[0m    parser\n\033[31mFAIL\033[0m  engine: want 3 rows, got 2\n\033[31m1 failed\033[0m, 11 passed\n'; exit 1`, ""},
	{"indexer", `i=0; while :; do i=$((i+1)); printf '\r\033[36mindexing\033[0m %d of 400 files' $i; sleep 1; done`, "400 of 400"},
	{"deploy", `stty -echo; printf 'Deploying to eu-west-1\nPassword: '; read -r x`, ""},
	{"review", `printf '\033[1mReview of #1482\033[0m\n\n\033[32m+ if err != nil {\n+ \treturn fmt.Errorf("load: %%w", err)\n+ }\033[0m\n\033[31m- _ = load()\033[0m\n'; exec cat`, ""},
}

// changing are the figures that no two runs share.
var changing = regexp.MustCompile(`\d+(\.\d+)?s\b|\d+ of 400`)

// TestWatchPicture: the picture of the page in the README shows what the page shows today, by its
// words. PTYWRIGHT_PICTURES=1 draws it again; look at it.
func TestWatchPicture(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	w := watchedServer(t)
	dir := t.TempDir()
	for _, p := range onPicture {
		if err := os.WriteFile(filepath.Join(dir, p.name), []byte(p.script), 0o600); err != nil {
			t.Fatal(err)
		}
		s := w.with(client.Config{Program: "sh", Args: []string{p.name}, Cwd: dir, Name: p.name, Rows: 12, Cols: 48})
		if p.waits != "" {
			go s.Wait(w.ctx, client.Text(p.waits), client.Within(hang))
		}
		if p.name == "review" {
			if err := s.Lease(w.ctx, "Ada", false); err != nil {
				t.Fatal(err)
			}
		}
	}
	p := b.open(w.address)
	p.size(1280, 830, false)
	p.until(`document.querySelector('.tile[data-level=still], .tile[data-level=stuck]') && [...document.querySelectorAll('.tile .screen')].filter((s) => s.textContent.trim()).length === 6`)
	p.eval(`new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))`) // what is in sight is laid out
	words := fmt.Sprint(p.eval(`[document.querySelector('#grid-summary').innerText, ...[...document.querySelectorAll('.tile')].map((t) => t.innerText)].join('\n\n')`))
	lines := strings.FieldsFunc(changing.ReplaceAllString(words, "N"), func(r rune) bool { return r == '\n' })
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \u00a0")
	}
	words = strings.Join(lines, "\n") + "\n"
	file := filepath.Join(root, "docs", "pictures", "watch")
	if os.Getenv("PTYWRIGHT_PICTURES") == "" {
		want, err := os.ReadFile(file + ".txt")
		if err != nil || string(want) != words {
			t.Errorf("docs/pictures/watch.txt is stale (%v): draw it again with: just pictures\nit says\n%s\nthe page says\n%s", err, want, words)
		}
		return
	}
	if err := os.WriteFile(file+".txt", []byte(words), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, theme := range []string{"dark", "light"} {
		p.until(fmt.Sprintf(`(() => { const b = document.querySelector('#theme'); if (document.documentElement.dataset.theme !== %q) b.click(); return document.documentElement.dataset.theme === %[1]q; })()`, theme))
		p.eval(`new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))`) // what has changed is drawn
		var shot struct {
			Data string `json:"data"`
		}
		p.do("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
		data, err := base64.StdEncoding.DecodeString(shot.Data)
		if err == nil {
			err = os.WriteFile(file+"-"+theme+".png", data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

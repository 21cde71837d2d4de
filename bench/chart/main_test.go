package main

import (
	"encoding/xml"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestChartsAreFresh: the charts show the figures of docs/performance.md.
func TestChartsAreFresh(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := read(string(page))
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range papers {
		have, err := os.ReadFile(filepath.Join(root, path(name)))
		if err != nil || string(have) != f.svg(p) {
			t.Errorf("%s is not what docs/performance.md says (%v): go run ./bench/chart", path(name), err)
		}
		for d := xml.NewDecoder(strings.NewReader(f.svg(p))); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}

// TestRead: a page whose table lacks what the chart shows is refused, with what is missing.
func TestRead(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, with, want string }{
		{"one full run of", "a run of", "of what date"},
		{"| wait, idle |", "| wait, lazy |", `no row "wait, idle"`},
		{"| tui-test |", "| other |", `no column "tui-test"`},
		{"| 1,000 sessions | KiB each |", "| 1,000 sessions | MiB each |", "in KiB each"},
	} {
		changed := strings.ReplaceAll(string(page), c.old, c.with)
		if changed == string(page) {
			t.Errorf("%q is not in the page", c.old)
		}
		if _, err := read(changed); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.with, err, c.want)
		}
	}
}

// TestContrast: texts can be read on their page, and dots be seen.
func TestContrast(t *testing.T) {
	for name, p := range papers {
		for colour, least := range map[string]float64{p.text: 4.5, p.quiet: 4.5, p.dot: 3, p.ours: 3} {
			if c := contrast(t, colour, p.page); c < least {
				t.Errorf("%s: %s has %.2f:1, want %v:1", name, colour, c, least)
			}
		}
	}
}

// contrast is the contrast ratio of two colours (WCAG 2.1).
func contrast(t *testing.T, a, b string) float64 {
	la, lb := luminance(t, a), luminance(t, b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(t *testing.T, colour string) (l float64) {
	t.Helper()
	v, err := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		c := float64(v>>(16-8*i)&0xff) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		l += weight * c
	}
	return l
}

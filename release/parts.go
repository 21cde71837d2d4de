package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// A part is something that a package contains and others wrote, or the package itself.
type part struct {
	name, version string
	licence       string // an SPDX expression
	text          string // of the licence
	purl          string // what package managers call it; "": none does
	home          string
	files         bool // it is data inside of the module before it
}

// home is where the project is.
const home = "https://github.com/ptywright/ptywright"

// partsOf are the parts of a binary: ptywright, Go, the modules that its build information names,
// and what those embed. A module whose licence cannot be told fails the release.
func (r *release) partsOf(info *debug.BuildInfo) ([]part, error) {
	root, err := output("go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	licence, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	if err != nil {
		return nil, err
	}
	all := []part{r.itself(), {
		name: "go", version: strings.TrimPrefix(info.GoVersion, "go"), licence: "BSD-3-Clause",
		text: string(licence), purl: "pkg:golang/std@" +
			strings.TrimPrefix(info.GoVersion, "go"), home: "https://go.dev",
	}}
	var paths []string
	for _, m := range info.Deps {
		paths = append(paths, m.Path)
	}
	dirs, err := folders(paths)
	if err != nil {
		return nil, err
	}
	for _, m := range info.Deps {
		p := part{name: m.Path, version: m.Version, purl: "pkg:golang/" + m.Path + "@" + m.Version,
			home: "https://pkg.go.dev/" + m.Path + "@" + m.Version}
		if p.text, err = licenceText(dirs[m.Path], ""); err != nil {
			return nil, fmt.Errorf("the licence of %s: %w", m.Path, err)
		}
		if p.licence, err = identify(p.text); err != nil {
			return nil, fmt.Errorf("the licence of %s %s: %w", m.Path, m.Version, err)
		}
		all = append(all, p)
		for _, e := range embedded {
			if e.inside == m.Path {
				e.part.files = true
				if e.part.text, err = licenceText(dirs[m.Path], e.licenceFile); err != nil {
					return nil, fmt.Errorf("the licence of %s: %w", e.part.name, err)
				}
				all = append(all, e.part)
			}
		}
	}
	for _, e := range ownFonts {
		text, err := os.ReadFile(filepath.Join(filepath.FromSlash(fontsDir), e.licenceFile))
		if err != nil {
			return nil, fmt.Errorf("the licence of %s: %w", e.part.name, err)
		}
		e.part.text = strings.ReplaceAll(string(text), "\r\n", "\n")
		all = append(all, e.part)
	}
	return all, nil
}

// fontsDir has the fonts that pictures are drawn with, and their licences.
const fontsDir = "engine/picture/fonts"

// ownFonts are the fonts that the project itself embeds: fonts/make.py makes them.
var ownFonts = []struct {
	licenceFile string
	part        part
}{
	{"LICENSE-Noto", part{name: "Noto Emoji, Noto Sans Symbols, Noto Sans Symbols 2, Noto Sans Math",
		version: "3.006", licence: "OFL-1.1", home: "https://notofonts.github.io"}},
	{"LICENSE-NerdFonts", part{name: "Nerd Fonts icons", version: "3.4.0",
		licence: "MIT AND OFL-1.1 AND Apache-2.0 AND CC-BY-4.0 AND Unlicense",
		home:    "https://www.nerdfonts.com"}},
}

// itself is the project as a part of its packages.
func (r *release) itself() part {
	return part{name: "ptywright", version: r.version, licence: "MIT",
		text: string(r.licence().body), purl: "pkg:golang/github.com/ptywright/ptywright@" +
			r.version, home: home}
}

// embedded is what modules embed and others than their authors made.
var embedded = []struct {
	inside, licenceFile string
	part                part
}{
	{"codeberg.org/go-fonts/dejavu", "LICENSE-DejaVu", part{
		name: "DejaVu Sans Mono", version: "2.37", licence: "Bitstream-Vera AND LicenseRef-Arev",
		home: "https://dejavu-fonts.github.io",
	}},
}

// folders are where the sources of modules are.
func folders(modules []string) (map[string]string, error) {
	list := exec.Command("go",
		append([]string{"list", "-m", "-f", "{{.Path}}\t{{.Dir}}"}, modules...)...)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("where the modules are: %w", err)
	}
	dirs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		dirs[path] = dir
	}
	return dirs, nil
}

// licenceNames are what modules call the file with their licence.
var licenceNames = []string{"LICENSE", "LICENSE.txt", "LICENSE.md", "COPYING", "LICENCE"}

// licenceText reads the licence of a module: a named file, or the usual one.
func licenceText(dir, name string) (string, error) {
	names := licenceNames
	if name != "" {
		names = []string{name}
	}
	for _, n := range names {
		if text, err := os.ReadFile(filepath.Join(dir, n)); err == nil {
			return strings.ReplaceAll(string(text), "\r\n", "\n"), nil
		}
	}
	return "", fmt.Errorf("%s has none of %s", dir, strings.Join(names, ", "))
}

// licences are those that may be in a package. Each is known by what it says and, where another says
// that too, by what it does not; in lower case, with single blanks.
var licences = []struct {
	id    string
	has   []string
	lacks string
}{
	{id: "Apache-2.0", has: []string{"apache license version 2.0"}},
	{id: "MPL-2.0", has: []string{"mozilla public license version 2.0"}},
	{id: "MIT", has: []string{"permission is hereby granted, free of charge, to any person obtaining a copy of this software"}},
	{id: "ISC", has: []string{"permission to use, copy, modify, and",
		"distribute this software for any purpose with or without fee"}},
	{id: "BSD-3-Clause", has: []string{bsd, bsdNames}},
	{id: "BSD-2-Clause", has: []string{bsd}, lacks: bsdNames},
}

const (
	bsd      = "redistribution and use in source and binary forms"
	bsdNames = "endorse or promote products"
)

var blanks = regexp.MustCompile(`\s+`)

// has reports whether all the sentences are in a text.
func has(text string, sentences []string) bool {
	return !slices.ContainsFunc(sentences,
		func(s string) bool { return !strings.Contains(text, s) })
}

// identify says what licence a text is: one, or several that hold together. The error says what to
// do about one that is not known.
func identify(text string) (string, error) {
	text = blanks.ReplaceAllString(strings.ToLower(text), " ")
	var ids []string
	for _, l := range licences {
		if has(text, l.has) && (l.lacks == "" || !strings.Contains(text, l.lacks)) {
			ids = append(ids, l.id)
		}
	}
	if len(ids) == 0 {
		return "", fmt.Errorf("it is none of those known: read it, and add it to licences in release/parts.go if packages may contain it: %.120s", text)
	}
	slices.Sort(ids)
	return strings.Join(ids, " AND "), nil
}

// notices are the licences of all parts, which most of them want to be in every copy. Parts with the
// same text share it.
func notices(all []part) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "ptywright contains the works of others. What each is, and its licence:\n")
	told := map[string]bool{}
	for _, p := range all[1:] {
		if told[p.text] {
			continue
		}
		told[p.text] = true
		fmt.Fprintf(&b, "\n%s\n", strings.Repeat("=", 78))
		for _, q := range all[1:] {
			if q.text == p.text {
				fmt.Fprintf(&b, "%s %s (%s)\n", q.name, q.version, q.licence)
			}
		}
		fmt.Fprintf(&b, "%s\n\n%s\n", strings.Repeat("=", 78), strings.TrimSpace(p.text))
	}
	return b.Bytes()
}

// Package docs (no stability promise) is the pages of this folder, for a program to show.
package docs

import "embed"

// Pages are all pages, by their file names, such as wire.md.
//
//go:embed *.md
var Pages embed.FS

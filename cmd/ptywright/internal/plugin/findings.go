package plugin

import (
	"fmt"
	"io"
	"strings"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
)

// A Finding is one fault of a plugin, where it is, and what to do.
type Finding struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"` // from 1; 0: the whole file
	Key     string `json:"key,omitempty"`  // of a manifest
	About   string `json:"about"`          // manifest, load, permission, export, describe, coverage, recheck, file, case
	Message string `json:"message"`
	Do      string `json:"do"`

	Times  int      `json:"times,omitempty"`  // how often it occurred while cases were played
	Places []string `json:"places,omitempty"` // the first of those: a case, and the time in it
}

// maxPlaces bounds the places shown for one finding: the others are similar.
const maxPlaces = 5

// same reports whether two findings say the same.
func (f *Finding) same(g *Finding) bool {
	return f.File == g.File && f.Line == g.Line && f.Key == g.Key && f.About == g.About &&
		f.Message == g.Message && f.Do == g.Do
}

// Findings are all findings, by file and line.
type Findings struct {
	Folder   string    `json:"folder"`
	Plugin   string    `json:"plugin,omitempty"`
	Findings []Finding `json:"findings"`
	// HeldBack counts further findings that may only be consequences of these: what no case reaches
	// when the plugin fails, or its states have other names than describe says.
	HeldBack int `json:"held_back,omitempty"`
}

// Print writes one line per finding, as compilers do.
func (f *Findings) Print(w io.Writer) {
	for _, x := range f.Findings {
		at := x.File
		if x.Line > 0 {
			at = fmt.Sprintf("%s:%d", x.File, x.Line)
		}
		key := ""
		if x.Key != "" {
			key = x.Key + ": "
		}
		met := ""
		switch {
		case x.Times == 1:
			met = fmt.Sprintf(" (%s)", x.Places[0])
		case x.Times > 1:
			met = fmt.Sprintf(" (%d times: %s", x.Times, strings.Join(x.Places, "; "))
			if x.Times > len(x.Places) {
				met += "; ..."
			}
			met += ")"
		}
		fmt.Fprintf(w, "%s: %s%s%s: %s\n", cli.OneLine(at), cli.OneLine(key),
			cli.OneLine(x.Message), cli.OneLine(met), cli.OneLine(x.Do))
	}
	if f.HeldBack > 0 {
		fmt.Fprintf(w, "%s: mend that first: %s\n", f.Plugin,
			count(f.HeldBack, "finding", "held back that may come of it"))
	}
	if len(f.Findings) == 0 {
		fmt.Fprintf(w, "%s: nothing is wrong with it\n", f.Plugin)
	}
}

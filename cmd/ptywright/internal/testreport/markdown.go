package testreport

import (
	"fmt"
	"strings"

	"github.com/ptywright/ptywright/tuitest/script"
)

const (
	// maxBlock bounds a block of a report.md, in bytes: a screen of 100x300 with its styles.
	maxBlock = 64 << 10
	// nearSteps is how many steps before the one that failed are listed with their screens' absence.
	nearSteps = 40
)

// A markdown is a document under construction. Texts from a script or a program go through its
// methods, so that they stay what they are.
type markdown struct{ strings.Builder }

// fence writes a block of text, between fences that are longer than any in it.
func (m *markdown) fence(kind, text string) {
	if text == "" {
		return
	}
	text = clip(shownText(text), maxBlock)
	longest, run := 2, 0
	for _, c := range text {
		if run++; c != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	fmt.Fprintf(m, "%s%s\n%s\n%s\n\n", fence, kind, strings.TrimSuffix(text, "\n"), fence)
}

// code writes a text as code within a line.
func code(text string) string {
	text = oneLine(text)
	if text == "" {
		return ""
	}
	if !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	longest, run := 0, 0
	for _, c := range text {
		if run++; c != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	ticks := strings.Repeat("`", longest+1)
	return ticks + " " + text + " " + ticks
}

// plain writes a text in a line, with what Markdown and HTML would read escaped.
func plain(text string) string {
	var b strings.Builder
	for _, c := range oneLine(text) {
		switch {
		case c == '<':
			b.WriteString("&lt;")
		case c == '&':
			b.WriteString("&amp;")
		case strings.ContainsRune("\\`*_[]#|~!", c) || c == '>' && b.Len() == 0 || c == '@':
			b.WriteByte('\\')
			b.WriteRune(c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// markdown is report.md.
func (f *failure) markdown(files []string) []byte {
	var m markdown
	r := &f.result
	fmt.Fprintf(&m, "# %s: %s\n\n", r.Outcome, plain(titleOf(r)))
	fmt.Fprintf(&m, "%s at %s", code(where(r)), code(r.Size))
	if f.step != nil {
		fmt.Fprintf(&m, ", step %s", code(f.step.Text))
	}
	fmt.Fprintf(&m, "\n\n**%s: %s**\n\n", plain(f.why.Doing), plain(f.why.Why))
	if f.why.Likely != "" {
		fmt.Fprintf(&m, "Did you mean %s?\n\n", code(f.why.Likely))
	}
	if f.why.Next != "" {
		fmt.Fprintf(&m, "%s\n\n", plain(f.why.Next))
	}
	if r.Again != "" {
		m.WriteString("Run this again:\n\n")
		m.fence("sh", r.Again)
	}
	if g := f.why.Golden; g != nil {
		f.golden(&m, g)
	}
	if g := f.why.Golden; f.why.Evidence != "" && (g == nil || g.Diff == "") { // the diff is there already
		m.WriteString("## Evidence\n\n")
		m.fence("", f.why.Evidence)
	}
	m.steps(r.Steps)
	if f.last != nil {
		m.WriteString("## The last screen\n\n")
		m.fence("", f.last.String())
	}
	m.WriteString("## Files\n\n")
	for _, name := range files {
		fmt.Fprintf(&m, "- %s\n", code(name))
	}
	return []byte(m.String())
}

// golden tells how a golden screen was not met.
func (f *failure) golden(m *markdown, g *script.Comparison) {
	fmt.Fprintf(m, "## The golden screen %s\n\nIt is in %s, section %s.", plain(g.Name), code(g.File),
		code(g.Section))
	if g.Pending != "" {
		fmt.Fprintf(m, " What was seen is in %s: %s makes it the golden, if it is right.",
			code(g.Pending), code("ptywright test accept "+f.item(g)))
	}
	m.WriteString("\n\n")
	if g.Nearest != nil {
		fmt.Fprintf(m, "Compared with %s.\n\n", plain(nearness(g)))
	}
	m.fence("diff", g.Diff)
	if g.Diff == "" && g.Expected == nil {
		m.WriteString("There was no golden screen to compare with.\n\n")
	}
}

// item is what "test accept" calls a golden of a script.
func (f *failure) item(g *script.Comparison) string { return g.File + ":" + g.Section }

// steps lists what was done.
func (m *markdown) steps(steps []script.StepResult) {
	if len(steps) == 0 {
		return
	}
	m.WriteString("## Steps\n\n| line | step | outcome | from | took | |\n| --: | --- | --- | --: | --: | --- |\n")
	if n := len(steps) - nearSteps; n > 0 {
		fmt.Fprintf(m, "| | %d more before these | | | | |\n", n)
		steps = steps[n:]
	}
	for n := range steps {
		s := &steps[n]
		note := s.Note
		if s.Failure != nil {
			note = s.Failure.Why
		}
		for _, flag := range []struct {
			on   bool
			word string
		}{{s.Vacuous, "vacuous"}, {s.Suspicious, "suspicious"}} {
			if flag.on && !strings.Contains(note, flag.word) {
				note = strings.TrimSuffix(flag.word+": "+note, ": ")
			}
		}
		fmt.Fprintf(m, "| %d | %s | %s | %v | %v | %s |\n", s.Line,
			strings.ReplaceAll(code(s.Text), "|", `\|`), s.Outcome, s.Began, s.Took, plain(note))
	}
	m.WriteString("\n")
}

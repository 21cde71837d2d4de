package script

// A Section is a file within a script's file: a golden screen where its name begins with
// [GoldenPrefix], else a file for the program.
type Section struct {
	Name string
	Line int // of its "-- NAME --", from 1
	Text []byte
}

// GoldenPrefix begins the names of the sections that are golden screens.
const GoldenPrefix = goldenPrefix

// Sections returns what stands behind the steps of a script's file.
func Sections(data []byte) []Section {
	a := split(data)
	out := make([]Section, len(a.sections))
	for i := range a.sections {
		s := &a.sections[i]
		out[i] = Section{s.name, s.line, a.text(s)}
	}
	return out
}

// WithSection returns a script's file with a section in place of the one of its name, or at the end.
// All else stays as it is, byte by byte.
func WithSection(data []byte, name string, text []byte) []byte {
	a := split(data)
	return a.with(name, text)
}

// WithoutSection returns a script's file without a section.
func WithoutSection(data []byte, name string) []byte {
	a := split(data)
	from := a.steps
	for _, s := range a.sections {
		if s.name == name {
			return append(data[:from:from], data[s.end:]...)
		}
		from = s.end
	}
	return data
}

// Replace writes a file that readers see whole, with the mode of the one it replaces; a link stays a
// link.
func Replace(path string, data []byte) error { return replace(path, data) }

package script

import (
	"bytes"
	"strings"

	"github.com/ptywright/ptywright/engine/golden"
)

// section is the section that a golden screen is written into. Where a script has several sizes, its
// golden screens say theirs.
func (s *Script) section(name string, size Size) string {
	if sized := sizedSection(name, size); len(s.Sizes) > 1 || s.goldens[sized] != nil {
		return sized
	}
	return goldenPrefix + name
}

func sizedSection(name string, size Size) string { return goldenPrefix + name + "@" + size.String() }

// golden returns the golden screen of a name at a size, nil when there is none, and its section's
// name. A section without a size in its name serves the size it was written for.
func (s *Script) golden(name string, size Size) (f *golden.File, section string) {
	section = s.section(name, size)
	if g := s.goldens[section]; g != nil {
		return g, section
	}
	plain := goldenPrefix + name
	if g := s.goldens[plain]; g != nil && s.serves(g) == size {
		return g, plain
	}
	return nil, section
}

// serves is which of the script's sizes a golden screen without a size in its name was written for.
// Where it is none of them, as after a resize or when the size was changed, it is the first: a
// golden screen is compared rather than forgotten.
func (s *Script) serves(g *golden.File) Size {
	for _, size := range s.Sizes {
		if size == (Size{g.Height, g.Width}) {
			return size
		}
	}
	return s.Sizes[0]
}

// sized gives the golden screens of steps that have no size in their names the one they serve, where
// the script has several sizes. It returns the new names of sections.
func (s *Script) sized() map[string]string {
	names := map[string]string{}
	if len(s.Sizes) < 2 {
		return names
	}
	for _, st := range s.Steps {
		g, ok := st.does.(*screen)
		if !ok {
			continue
		}
		plain := goldenPrefix + g.name
		if old := s.goldens[plain]; old != nil {
			if sized := sizedSection(g.name, s.serves(old)); s.archive.find(sized) == nil {
				names[plain] = sized
			}
		}
	}
	return names
}

// renamed returns the file with sections under other names. All else stays, byte by byte.
func (a *archive) renamed(names map[string]string) []byte {
	var out []byte
	at := 0
	for _, sec := range a.sections {
		name, ok := names[sec.name]
		if !ok {
			continue
		}
		line := bytes.LastIndexByte(a.data[:max(sec.start-1, 0)], '\n') + 1
		marker := string(a.data[line:sec.start])
		out = append(out, a.data[at:line]...)
		out = append(out, strings.Replace(marker, sec.name, name, 1)...)
		at = sec.start
	}
	return append(out, a.data[at:]...)
}

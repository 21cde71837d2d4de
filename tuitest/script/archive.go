package script

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/golden"
)

// An archive is a script's file: its steps, and after them sections, each a line "-- NAME --" and the
// lines up to the next one. It is the txtar format of the Go project.
type archive struct {
	data     []byte
	steps    int // data[:steps] are the steps
	sections []section
}

// A section is a file within a script.
type section struct {
	name       string
	line       int // of its "-- NAME --", from 1
	start, end int // data[start:end] is what it holds
}

// split cuts a file into its parts.
func split(data []byte) archive {
	a := archive{data: data, steps: len(data)}
	at, line := 0, 0
	for at < len(data) {
		next := len(data)
		if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		line++
		if name, ok := marker(string(data[at:next])); ok {
			if n := len(a.sections); n > 0 {
				a.sections[n-1].end = at
			} else {
				a.steps = at
			}
			a.sections = append(a.sections, section{name, line, next, len(data)})
		}
		at = next
	}
	return a
}

// marker reads the line that begins a section.
func marker(line string) (name string, ok bool) {
	line = strings.TrimRight(line, "\r\n")
	rest, ok := strings.CutPrefix(line, "-- ")
	if !ok || !strings.HasSuffix(rest, " --") || len(rest) < len(" --")+1 {
		return "", false
	}
	name = strings.TrimSpace(strings.TrimSuffix(rest, " --"))
	return name, name != ""
}

// find returns the section of a name; nil: there is none.
func (a *archive) find(name string) *section {
	for i := range a.sections {
		if a.sections[i].name == name {
			return &a.sections[i]
		}
	}
	return nil
}

// text is what a section holds.
func (a *archive) text(s *section) []byte { return a.data[s.start:s.end] }

// with returns the file with a section replaced, or added at its end. All else stays, byte by byte.
// Lines of the new text end as the file's first one does.
func (a *archive) with(name string, text []byte) []byte {
	end := "\n"
	if i := bytes.IndexByte(a.data, '\n'); i > 0 && a.data[i-1] == '\r' {
		end = "\r\n"
		text = bytes.ReplaceAll(text, []byte("\n"), []byte(end))
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(bytes.Clone(text), end...)
	}
	if s := a.find(name); s != nil {
		out := append([]byte(nil), a.data[:s.start]...)
		if s.start > 0 && out[s.start-1] != '\n' { // its marker ends the file
			out = append(out, end...)
		}
		return append(append(out, text...), a.data[s.end:]...)
	}
	out := bytes.Clone(a.data)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, end...)
	}
	return append(append(out, "-- "+name+" --"+end...), text...)
}

// goldenPrefix begins the names of the sections that are golden screens. Others are files for the
// program.
const goldenPrefix = "screen/"

// files returns the sections that are not golden screens.
func (a *archive) files() []section {
	var out []section
	for _, s := range a.sections {
		if !strings.HasPrefix(s.name, goldenPrefix) {
			out = append(out, s)
		}
	}
	return out
}

const (
	// maxPart bounds a part of a file's name, in bytes: what file systems allow.
	maxPart = 255
	// maxPath bounds a whole name, in bytes: with the folder before it, it has to be shorter than the
	// path that a program may be given, 4096 on most systems and less on some.
	maxPath = 1024
)

// misnamed says why a section, by its place, cannot be a file below the working folder; "": it can.
func (a *archive) misnamed(i int) string {
	name := a.sections[i].name
	unnamable := func(c rune) bool { return c == utf8.RuneError || unicode.IsControl(c) }
	clean := path.Clean(name)
	switch {
	case strings.ContainsFunc(name, unnamable):
		return "has a character that no file's name may have: take it out"
	case len(name) > maxPath:
		return fmt.Sprintf("has %d bytes, and at most %d are allowed: shorten it", len(name), maxPath)
	case !filepath.IsLocal(filepath.FromSlash(name)) || clean == ".":
		return "does not name a file below the working folder"
	case clean != name:
		return "is written " + strconv.Quote(clean)
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > maxPart {
			return fmt.Sprintf("has a part of %d bytes, and %d are what file systems allow: shorten it",
				len(part), maxPart)
		}
	}
	for _, other := range a.sections[:i] {
		switch {
		case strings.HasPrefix(other.name, goldenPrefix):
		case strings.HasPrefix(name, other.name+"/"):
			return fmt.Sprintf("needs a folder %s, and line %d has a file of that name: rename one",
				quote(other.name), other.line)
		case strings.HasPrefix(other.name, name+"/"):
			return fmt.Sprintf("is a file, and line %d needs a folder of that name: rename one", other.line)
		}
	}
	return ""
}

// unpack writes the files below a folder.
func (a *archive) unpack(dir string) error {
	for _, s := range a.files() {
		path := filepath.Join(dir, filepath.FromSlash(s.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		// Fixtures may be programs: a first line with #! says so.
		mode := fs.FileMode(0o666)
		if text := a.text(&s); bytes.HasPrefix(text, []byte("#!")) {
			mode = 0o777
		}
		if err := os.WriteFile(path, a.text(&s), mode); err != nil {
			return err
		}
	}
	return nil
}

// ErrChanged: a script's file is no longer what was read, and what differs is not only golden screens
// that another run has added.
var ErrChanged = errors.New("the script has been changed since it was read")

// A Golden is a golden screen to be kept in a script.
type Golden struct {
	Section string // its section's name: "screen/main@24x80"
	File    *golden.File
}

// Keep writes golden screens into the script's file, in place of the sections of the same names or at
// its end. Where the script has several sizes, golden screens without one in their names get theirs.
// All else of the file stays as it is, byte by byte; readers see the old file or the new
// one. The errors are [ErrChanged] and those of the system.
func (s *Script) Keep(all []Golden) error {
	if len(all) == 0 {
		return nil
	}
	now, err := os.ReadFile(s.Path)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, s.archive.data) {
		if all, err = s.rebase(split(now), all); err != nil {
			return fmt.Errorf("%s: %w", s.Path, err)
		}
	}
	names := s.sized()
	if len(all) == 0 && len(names) == 0 {
		return nil
	}
	data := formatted(split(s.archive.renamed(names)), all)
	if err := replace(s.Path, data); err != nil {
		return err
	}
	s.archive = split(data)
	return s.rename(names)
}

// rebase takes the file as it is now for the one that was read, where another run has written golden
// screens into it and nothing else has changed. It returns those of all that are still to be written.
func (s *Script) rebase(now archive, all []Golden) ([]Golden, error) {
	old := s.archive
	same := func(a, b section) bool {
		return a.name == b.name && bytes.Equal(old.text(&a), now.text(&b))
	}
	if !bytes.Equal(old.data[:old.steps], now.data[:now.steps]) ||
		!slices.EqualFunc(old.files(), now.files(), same) {
		return nil, fmt.Errorf("%w: run it again", ErrChanged)
	}
	var left []Golden
	for _, g := range all {
		was, is := old.find(g.Section), now.find(g.Section)
		if is == nil || was != nil && same(*was, *is) {
			left = append(left, g)
			continue
		}
		theirs, err := golden.Parse(bytes.TrimRight(now.text(is), "\r\n"))
		if err != nil || !theirs.Equal(g.File) {
			return nil, fmt.Errorf("%w: another run has written %s meanwhile, and has seen it differently: run it again",
				ErrChanged, g.Section)
		}
	}
	s.archive = now
	return left, nil
}

// rename takes golden screens for those of other sections, in what was read and in what was left for a
// review.
func (s *Script) rename(names map[string]string) error {
	if len(names) == 0 {
		return nil
	}
	for from, to := range names {
		if s.goldens[to] == nil {
			s.goldens[to] = s.goldens[from]
		}
		delete(s.goldens, from)
	}
	for i := range s.pending {
		if to := names[s.pending[i].Section]; to != "" {
			s.pending[i].Section = to
		}
	}
	if len(s.pending) == 0 {
		return nil
	}
	return replace(golden.Pending(s.Path), s.Format(s.pending))
}

// Format returns the script's file with golden screens in it; without any it is the file as it was
// read.
func (s *Script) Format(all []Golden) []byte { return formatted(s.archive, all) }

func formatted(a archive, all []Golden) []byte {
	for _, g := range all {
		a = split(a.with(g.Section, g.File.AppendText(nil)))
	}
	return a.data
}

// KeepPending writes the file that Keep would write beside the script, for a review: see
// [golden.Pending]. What was kept so before, for other golden screens of the script as it was read,
// stays in it. It returns the file's path.
func (s *Script) KeepPending(all []Golden) (string, error) {
	path := golden.Pending(s.Path)
	s.pending = append(s.pending, all...)
	return path, replace(path, s.Format(s.pending))
}

// DropPending removes what KeepPending of an earlier run has left.
func (s *Script) DropPending() error {
	if err := os.Remove(golden.Pending(s.Path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// replace writes a file that readers see whole, with the mode of the one it replaces.
func replace(path string, data []byte) error {
	mode := fs.FileMode(0o644)
	if target, err := filepath.EvalSymlinks(path); err == nil { // a link stays one
		path = target
	}
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".ptw-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(mode), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}

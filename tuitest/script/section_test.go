package script

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSections: a section is replaced and removed, and everything else stays as it is.
func TestSections(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"", "x", "-- a --", "-- b --", "--  c  --", "-- --", "--d--", "-- a --\r", "|-- a --", "-- a -- "})
		end := rapid.SampledFrom([]string{"\n", "\r\n", ""})
		b := []byte(strings.Join(rapid.SliceOf(line).Draw(t, "lines"), "\n") + end.Draw(t, "end"))
		text := rapid.SampledFrom([]string{"", "new", "new\n", "a\nb\n"}).Draw(t, "text")
		name := rapid.SampledFrom([]string{"a", "b", "c", "screen/x"}).Draw(t, "name")
		find := func(b []byte) (at int, all []Section) {
			all = Sections(b)
			for i := range all {
				if all[i].Name == name {
					return i, all
				}
			}
			return -1, all
		}
		before, all := find(b)
		after := WithSection(b, name, []byte(text))
		now, nowAll := find(after)
		want := text
		if want != "" {
			want = strings.TrimSuffix(want, "\n") + "\n"
		}
		if now < 0 || strings.ReplaceAll(string(nowAll[now].Text), "\r\n", "\n") != want {
			t.Fatalf("%q with %s as %q is %q", b, name, text, after)
		}
		others := func(all []Section, but int) (out []string) {
			for i, s := range all {
				if i != but {
					out = append(out, s.Name+"\n"+string(s.Text))
				}
			}
			return out
		}
		if a, b := others(all, before), others(nowAll, now); strings.Join(a, "\x00") != strings.Join(b, "\x00") &&
			before >= 0 { // a new one ends the last line
			t.Fatalf("%q became %q", a, b)
		}
		if before >= 0 {
			less := WithoutSection(b, name)
			_, lessAll := find(less)
			if strings.Join(others(all, before), "\x00") != strings.Join(others(lessAll, -1), "\x00") {
				t.Fatalf("%q became %q", b, less)
			}
		} else if !bytes.HasPrefix(after, b) || !bytes.Equal(WithoutSection(b, name), b) {
			t.Fatalf("%q became %q", b, after)
		}
	})
}

package engine

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// asText is what a transcript must hold of raw output: each maximal ill-formed subpart is one
// U+FFFD.
func asText(raw []byte) string { return strings.ToValidUTF8(replaceEach(raw), "") }

// replaceEach is a slow, obvious decoder.
func replaceEach(raw []byte) string {
	var b strings.Builder
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		if r != utf8.RuneError || n > 1 {
			b.WriteRune(r)
			i += n
			continue
		}
		b.WriteRune(utf8.RuneError)
		k := i + 1 // the longest beginning of a character
		for k < len(raw) && k-i < utf8.UTFMax && !utf8.FullRune(raw[i:k]) {
			if _, bad := utf8.DecodeRune(append(bytes.Clone(raw[i:k]), raw[k])); bad == 1 && utf8.FullRune(raw[i:k+1]) {
				break
			}
			k++
		}
		i = k
	}
	return b.String()
}

func lastRunes(s string, n int) string {
	r := []rune(s)
	return string(r[max(0, len(r)-n):])
}

// output generates bytes that are text, broken text and noise.
func output() *rapid.Generator[[]byte] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"a", "plain text\r\n", "é", "漢字", "😀", "\xff", "\xe6\x97", "\xf0\x9f", "\xc0\xaf", "\xed\xa0\x80", "\x1b[31m", "\x00"}),
		rapid.StringN(0, 20, 40),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 30), func(p []string) []byte { return []byte(strings.Join(p, "")) })
}

func TestTranscriptKeepsTheTailWhateverTheChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := output().Draw(t, "raw")
		limit := rapid.IntRange(0, 60).Draw(t, "limit")
		r := recorder{limit: limit}
		var handedOut []Transcript
		var seen []string
		for rest := raw; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			r.write(rest[:n])
			rest = rest[n:]
			v := r.value()
			handedOut, seen = append(handedOut, v), append(seen, v.String())
		}
		r.finish()
		want := asText(raw)
		got := r.value()
		if s := got.String(); s != lastRunes(want, limit) {
			t.Fatalf("kept %q of %q with a limit of %d, want %q", s, want, limit, lastRunes(want, limit))
		}
		if oldest, newest := got.Bounds(); int(newest) != len(want) || int(newest-oldest) != len(got.String()) {
			t.Fatalf("bounds are %d to %d of %d bytes", oldest, newest, len(want))
		}
		for i, v := range handedOut {
			if v.String() != seen[i] {
				t.Fatalf("a transcript that was handed out changed from %q to %q", seen[i], v.String())
			}
		}
	})
}

func TestTranscriptSince(t *testing.T) {
	r := recorder{limit: 5}
	r.write([]byte("abc"))
	_, mark := r.value().Bounds()
	r.write([]byte("de"))
	text, next, dropped := r.value().Since(mark)
	if string(text) != "de" || next != 5 || dropped {
		t.Errorf("since the mark: %q, %d, %v", text, next, dropped)
	}
	r.write([]byte("fghij"))
	text, next, dropped = r.value().Since(mark)
	if string(text) != "fghij" || next != 10 || !dropped {
		t.Errorf("after the mark has left the bound: %q, %d, %v", text, next, dropped)
	}
	if text, next, dropped = r.value().Since(99); text != nil || next != 10 || dropped {
		t.Errorf("from the future: %q, %d, %v", text, next, dropped)
	}
}

func TestTranscriptMarks(t *testing.T) {
	r := recorder{limit: 10}
	r.write([]byte("ab"))
	r.mark("turn")
	before := r.value()
	r.write([]byte("cd"))
	r.mark("turn")
	if off, _ := before.Mark("turn"); off != 2 {
		t.Errorf("the mark of an older transcript moved to %d", off)
	}
	if off, ok := r.value().Mark("turn"); off != 4 || !ok {
		t.Errorf("the mark is at %d, %v", off, ok)
	}
	for i := range maxMarks - 1 {
		if !r.mark(string(rune('A' + i))) {
			t.Fatalf("mark %d was refused", i)
		}
	}
	if r.mark("one too many") {
		t.Error("a mark over the bound was taken")
	}
	if !r.mark("turn") {
		t.Error("setting a known mark again was refused")
	}
}

func TestTranscriptTail(t *testing.T) {
	r := recorder{limit: 100}
	r.write([]byte("aé漢😀"))
	for chars, want := range []string{"", "😀", "漢😀", "é漢😀", "aé漢😀", "aé漢😀"} {
		if got := r.value().Tail(chars); got != want {
			t.Errorf("the last %d characters are %q, want %q", chars, got, want)
		}
	}
}

func TestSequenceLogIsExactWithinTheTranscript(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l sequenceLog
		var ends []Offset
		end := Offset(0)
		keep := Offset(rapid.IntRange(1, 50).Draw(t, "keep"))
		for i := range rapid.IntRange(1, 400).Draw(t, "steps") {
			end += Offset(rapid.IntRange(0, 9).Draw(t, "n"))
			oldest := end - min(end, keep)
			l.add(uint64(i+1), end, oldest)
			ends = append(ends, end)
			seq := rapid.IntRange(0, i+2).Draw(t, "seq")
			want := Offset(0)
			switch {
			case seq > i+1:
				want = end
			case seq > 0:
				want = ends[seq-1]
			}
			if got := l.at(uint64(seq)); got != want && max(got, oldest) != max(want, oldest) {
				t.Fatalf("sequence %d of %d is at %d, want %d (oldest %d)", seq, i+1, got, want, oldest)
			}
		}
	})
}

func TestSequenceLogIsBounded(t *testing.T) {
	var l sequenceLog
	for i := range 10 * maxSequenceLog {
		l.add(uint64(i+1), 0, 0)
	}
	if n := cap(l.ends); n > 2*maxSequenceLog {
		t.Errorf("the log of a storm of resizes grew to %d entries", n)
	}
	if got := l.at(1); got != 0 {
		t.Errorf("a forgotten sequence is at %d", got)
	}
}

func BenchmarkRecorder(b *testing.B) {
	chunk := bytes.Repeat([]byte("the quick brown fox jumps over the lazy dog\r\n"), 64<<10/45)
	r := recorder{limit: DefaultTranscriptChars}
	b.SetBytes(int64(len(chunk)))
	b.ReportAllocs()
	for b.Loop() {
		r.write(chunk)
	}
}

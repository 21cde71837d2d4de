package vt

import (
	"bytes"
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/internal/ansi"
)

// checkTranscript feeds a program's bytes in random pieces and, to another terminal, what a
// transcript keeps of them, and says what differs.
func checkTranscript(data []byte, seed int64, rows, cols int) string {
	data = append(data[:len(data):len(data)], 0x18) // a character under way ends
	o := Options{Scrollback: 50, ProgramStatus: true}
	raw, text := New(rows, cols, o), New(rows, cols, o)
	var got, want outcome
	rnd := rand.New(rand.NewSource(seed))
	for p := data; len(p) > 0; {
		n := 1 + rnd.Intn(len(p))
		want.feed(raw, p[:n])
		p = p[n:]
	}
	got.feed(text, []byte(ansi.Valid(data)))
	raw.Release()
	text.Release()
	if d := diffScreens(raw.Snapshot(), text.Snapshot()); d != "" {
		return d
	}
	if len(want.reply) < replyMax-256 && !bytes.Equal(want.reply, got.reply) {
		return fmt.Sprintf("replies %q, want %q", got.reply, want.reply)
	}
	if len(want.events) < eventsMax && !reflect.DeepEqual(want.events, got.events) || want.bell != got.bell {
		return fmt.Sprintf("events %+v, want %+v", got.events, want.events)
	}
	return ""
}

// FuzzTranscript: a terminal that is fed a transcript shows what one shows that was fed the bytes,
// invalid UTF-8 included.
func FuzzTranscript(f *testing.F) {
	addSeeds(f)
	for _, form := range []string{"\x1b]2;%s\a", "\x1b]8;;%s\ax", "\x1b]7;%s\x1b\\", "\x1bk%s\x1b\\", "\x1b]66;;%s\a",
		"\x1b]633;E;%s\a", "\x1b]133;A;%s\a", "\x1b]52;c;%s\a", "\x1bP$q%s\x1b\\", "\x1bP+q%s\x1b\\", "\x1b_%s\x1b\\"} {
		for _, text := range []string{"a\xffb", "\xe6\x97", "\xf0\x9f\x98x\xc3", "\xed\xa0\x80", strings.Repeat("\xff", 900)} {
			f.Add([]byte(strings.Replace(form, "%s", text, 1)), uint16(1), uint8(6), uint8(20))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint16, rows, cols uint8) {
		if len(data) > 4096 {
			return
		}
		if s := checkTranscript(data, int64(seed), int(rows%60), int(cols%200)); s != "" {
			t.Error(s)
		}
	})
}

// TestTranscriptOfAnything: the same for random sessions, and for strings at their bounds, where
// U+FFFD takes more room than the byte that it stands for.
func TestTranscriptOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 9).Draw(t, "rows"), rapid.IntRange(1, 20).Draw(t, "cols")
		out := session(t, "output", 60)
		if s := checkTranscript([]byte(out), rapid.Int64().Draw(t, "seed"), rows, cols); s != "" {
			t.Fatalf("%q: %s", out, s)
		}
	})
	for _, form := range []string{"\x1b]2;%s\a", "\x1b]8;;%s\ax", "\x1b]7;%s\a", "\x1b]52;c;%s\a", "\x1bP$q%s\x1b\\", "\x1b]66;;%s\a"} {
		for _, n := range []int{titleMax / 3, titleMax, linkMax / 3, linkMax, stringMax / 3, stringMax, clipboardMax / 3, clipboardMax} {
			for _, head := range []string{"", "x", "日", strings.Repeat("\u0080", 3500)} {
				out := strings.Replace(form, "%s", head+strings.Repeat("\xff", n-3)+"tail", 1)
				if s := checkTranscript([]byte(out), int64(n), 6, 20); s != "" {
					t.Errorf("%.40q of %d bytes: %.400s", out, len(out), s)
				}
			}
		}
	}
}

// TestInvalidBytesInStrings: invalid UTF-8 in a title, a link or a mark is shown as in text.
func TestInvalidBytesInStrings(t *testing.T) {
	for raw, want := range map[string]string{
		"a\xffb": "a\uFFFDb", "\xe6\x97x\xe6\x97\xe6\x97": "\uFFFDx\uFFFD\uFFFD", "\xed\xa0\x80": "\uFFFD\uFFFD\uFFFD",
		"é\xf0\x9f\x98": "é\uFFFD", "\xc0\u009b\x80": "\uFFFD\uFFFD", "日本": "日本",
	} {
		term := New(2, 20, Options{})
		var all outcome
		for _, b := range []byte("\x1b]2;" + raw + "\a\x1b]8;;" + raw + "\ax\x1b]133;A;" + raw + "\x1b\\") {
			all.feed(term, []byte{b})
		}
		s := term.Snapshot()
		if s.Title != want || s.Cell(0, 0).Style.Link != want || len(all.events) != 1 || all.events[0].Text != want {
			t.Errorf("%q: title %q, link %q, events %+v, want %q", raw, s.Title, s.Cell(0, 0).Style.Link, all.events, want)
		}
		if got := Clean([]byte(raw), titleMax); got != want {
			t.Errorf("%q is %q, want %q", raw, got, want)
		}
		if got := Clean([]byte(raw), len(want)-1); len(got) >= len(want) || !strings.HasPrefix(want, got) {
			t.Errorf("%q cut short is %q", raw, got)
		}
	}
}

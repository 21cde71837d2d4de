package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/redact"
)

// castOf is a recording of events, each a time in seconds and an output; a size as "24x80" resizes.
func castOf(t testing.TB, events ...any) *Recording {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(`{"version":2,"width":60,"height":4}` + "\n")
	for i := 0; i < len(events); i += 2 {
		kind := "o"
		if n, _ := fmt.Sscanf(events[i+1].(string), "%dx%d", new(int), new(int)); n == 2 {
			kind = "r"
		}
		line, err := json.Marshal([]any{events[i], kind, events[i+1]})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	rec, err := Load(&b)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// shownAs are the frames as "time text", the first row alone.
func shownAs(t testing.TB, rec *Recording, o FrameOptions) (all []string) {
	t.Helper()
	f, err := rec.Frames(o)
	if err != nil {
		t.Fatal(err)
	}
	var sum time.Duration
	for long, s := range f.All() {
		line, _, _ := strings.Cut(s.Text(), "\n")
		all = append(all, fmt.Sprintf("%v %s", long, line))
		sum += long
	}
	if sum != f.Duration() {
		t.Errorf("they last %v, told %v", sum, f.Duration())
	}
	return all
}

func TestFrames(t *testing.T) {
	rec := castOf(t, 0, "a", 1.0, "b", 1.01, "c", 1.02, "d", 3.0, "e")
	for _, c := range []struct {
		o    FrameOptions
		want string
	}{
		{FrameOptions{}, "1s a|40ms ab|1.96s abcd|0s abcde"},
		{FrameOptions{Hold: time.Second}, "1s a|40ms ab|1.96s abcd|1s abcde"},
		{FrameOptions{Speed: 2}, "500ms a|40ms ab|960ms abcd|0s abcde"},
		{FrameOptions{Rate: 1}, "1s a|1s ab|1s abcd|0s abcde"},
		{FrameOptions{From: 500 * time.Millisecond, To: 2 * time.Second}, "500ms a|40ms ab|960ms abcd"},
		{FrameOptions{From: time.Hour, To: time.Minute}, "0s abcde"},
	} {
		if got := strings.Join(shownAs(t, rec, c.o), "|"); got != c.want {
			t.Errorf("%+v: %s, want %s", c.o, got, c.want)
		}
	}
	if got := strings.Join(shownAs(t, rec.LimitIdle(500*time.Millisecond), FrameOptions{}), "|"); got != "500ms a|40ms ab|480ms abcd|0s abcde" {
		t.Errorf("%s", got)
	}
	f, err := castOf(t, 0, "a", 1, "100x10", 2, "30x20", 3, "b").Frames(FrameOptions{})
	if rows, cols := f.Size(); err != nil || rows != 20 || cols != 100 {
		t.Errorf("%d rows, %d columns: %v", rows, cols, err)
	}
	if got := shownAs(t, castOf(t), FrameOptions{Hold: time.Second}); len(got) != 1 {
		t.Errorf("nothing is shown as %q", got)
	}
	// An update that never ends is shown when a terminal gives up waiting for its end.
	if got := shownAs(t, castOf(t, 0, "a\x1b[?2026hb", 2, "c"), FrameOptions{}); len(got) < 3 || !strings.HasSuffix(got[1], " ab") {
		t.Errorf("%q", got)
	}
}

// TestFramesHideSecrets: not in any frame, and not while a program is still writing it, key by key.
func TestFramesHideSecrets(t *testing.T) {
	const token, word = "ghp_R9sK2mQx7vB4nL8wT1yZ6cF3hJ5dP0aXeUoG", "correct-horse-7"
	events := []any{0, "$ export T="}
	at := 0.1
	for _, c := range token {
		events = append(events, at, string(c))
		at += 0.05
	}
	events = append(events, at, "\r\npassword: "+word+"\r\n", at+1, "\x1b[2J\x1b[Hit was "+word[:9], at+2, "\x1b[2J\x1b[Hdone")
	rec := castOf(t, events...)
	f, err := rec.Frames(FrameOptions{Hide: redact.Default})
	if err != nil {
		t.Fatal(err)
	}
	frames := 0
	for _, s := range f.All() {
		frames++
		for _, secret := range []string{token[:8], token[20:], word[:8]} {
			if strings.Contains(s.Text(), secret) {
				t.Errorf("frame %d shows %q:\n%s", frames, secret, s.Text())
			}
		}
	}
	if frames < 40 {
		t.Errorf("%d frames", frames)
	}
	var b bytes.Buffer
	if err := f.Animate(&b, "svg", picture.AnimateOptions{}); err != nil {
		t.Fatal(err)
	}
	if out := b.String(); strings.Contains(out, token[:8]) || strings.Contains(out, word[:8]) || !strings.Contains(out, "REDACTED") {
		t.Errorf("the animation shows a secret: %s", out)
	}
	bare, err := rec.Frames(FrameOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := bare.Animate(&b, "svg", picture.AnimateOptions{}); err != nil || !strings.Contains(b.String(), token) {
		t.Errorf("it is not shown when it may be: %v", err)
	}
}

// BenchmarkAnimate draws ten minutes of a program that works: some 60 lines a minute, and a clock.
func BenchmarkAnimate(b *testing.B) {
	var text bytes.Buffer
	text.WriteString(`{"version":2,"width":80,"height":24}` + "\n")
	for i := range 600 {
		fmt.Fprintf(&text, `[%d.1,"o","\u001b[3%dmok\u001b[m  package/%d  0.%03ds\r\n"]`+"\n", i, i%7+1, i, i*37%1000)
		fmt.Fprintf(&text, `[%d.5,"o","\u001b7\u001b[1;70H%02d:%02d\u001b8"]`+"\n", i, i/60, i%60)
	}
	data := text.Bytes()
	for _, format := range []string{"svg", "gif", "webp"} {
		b.Run(format, func(b *testing.B) {
			for b.Loop() {
				rec, err := Load(bytes.NewReader(data))
				if err != nil {
					b.Fatal(err)
				}
				f, err := rec.Frames(FrameOptions{Hide: redact.Default})
				if err != nil {
					b.Fatal(err)
				}
				var out bytes.Buffer
				if err := f.Animate(&out, format, picture.AnimateOptions{MaxBytes: 1 << 30}); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(out.Len())/1e6, "MB")
			}
		})
	}
}

package progress

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/google/go-cmp/cmp"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/ansi"
)

// A screen is a terminal that keeps what was written.
type screen struct {
	mu   sync.Mutex
	all  bytes.Buffer
	term *vt.Terminal
}

func newScreen(cols int) *screen { return &screen{term: vt.New(4, cols, vt.Options{})} }

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.term.Feed(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n")))
	return s.all.Write(p)
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimRight(s.term.Snapshot().Text(), "\n")
}

func (s *screen) written() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Len()
}

func on(s *screen, look cli.Terminal, total int, label string) *Bar {
	return start(s, func() cli.Terminal { return look }, total, label)
}

func plain(cols int) cli.Terminal { return cli.Terminal{Cols: cols, Moves: true, UTF8: true} }

// TestBarAppearsAfterASecond and not before, follows what is counted, and leaves nothing behind.
// synctest fails when a goroutine or a timer of the bar is left at the end.
func TestBarAppearsAfterASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(60)
		b := on(s, plain(60), 8, "draw")
		b.Add(1)
		time.Sleep(Patience - time.Millisecond)
		synctest.Wait()
		if n := s.written(); n != 0 {
			t.Fatalf("%d bytes before a second has passed", n)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		want := "draw  ███" + strings.Repeat("░", 27) + "   12%  1/8  0:01"
		if diff := cmp.Diff(want, s.text()); diff != "" {
			t.Fatalf("after a second (-want +got):\n%s", diff)
		}
		time.Sleep(frame)
		b.Add(3)
		if got := s.text(); !strings.Contains(got, " 50%  4/8  0:01") {
			t.Errorf("after four: %q", got)
		}
		time.Sleep(2 * Patience) // nothing is counted, and the time goes on
		synctest.Wait()
		if got := s.text(); !strings.Contains(got, " 50%  4/8  0:03") {
			t.Errorf("two seconds later: %q", got)
		}
		b.Done()
		if got := s.text(); got != "" {
			t.Errorf("at the end %q is left", got)
		}
		before := s.written()
		b.Set(8)
		b.Done()
		time.Sleep(time.Minute)
		synctest.Wait()
		if s.written() != before {
			t.Error("the bar writes after its end")
		}
	})
}

// TestBarOfShortWorkIsNeverSeen: what takes less than a second writes no byte.
func TestBarOfShortWorkIsNeverSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(60)
		b := on(s, plain(60), 3, "draw")
		for range 3 {
			time.Sleep(300 * time.Millisecond)
			b.Add(1)
		}
		b.Done()
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := s.written(); n != 0 {
			t.Errorf("%d bytes were written", n)
		}
	})
}

// TestBarIsDrawnAtMostTenTimesASecond, however much is counted.
func TestBarIsDrawnAtMostTenTimesASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(60)
		b := on(s, plain(60), 2000, "draw")
		for range 2000 {
			time.Sleep(time.Millisecond)
			b.Add(1)
		}
		b.Done()
		if n := strings.Count(s.all.String(), "draw"); n < 5 || n > 11 {
			t.Errorf("%d drawings in the second that the bar was there", n)
		}
	})
}

// TestBarIsForTerminalsOnly: elsewhere New returns a bar that does nothing, and writes nothing.
func TestBarIsForTerminalsOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, look := range map[string]cli.Terminal{"a pipe": {}, "TERM=dumb": {Cols: 80}} {
			s := newScreen(80)
			b := on(s, look, 3, "draw")
			b.Add(1)
			io.WriteString(b.Over(s), "line\n")
			time.Sleep(time.Minute)
			synctest.Wait()
			b.Set(2)
			b.Done()
			if got := s.all.String(); got != "line\n" {
				t.Errorf("%s: %q was written", name, got)
			}
		}
		var b bytes.Buffer
		if New(&b, 3, "draw") != nil {
			t.Error("a buffer is taken for a terminal")
		}
	})
}

// TestBarMakesRoomForLines that are printed on the same terminal.
func TestBarMakesRoomForLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(40)
		b := on(s, plain(40), 2, "test")
		out := b.Over(s)
		io.WriteString(out, "ok one\n")
		time.Sleep(Patience)
		synctest.Wait()
		b.Add(1)
		io.WriteString(out, "ok two\n")
		got := strings.Split(s.text(), "\n")
		if len(got) != 3 || got[0] != "ok one" || got[1] != "ok two" || !strings.HasPrefix(got[2], "test ") {
			t.Errorf("the screen shows %q", got)
		}
		b.Done()
		if got := s.text(); got != "ok one\nok two" {
			t.Errorf("at the end the screen shows %q", got)
		}
	})
}

// TestBarStaysOutOfALine that is written in parts.
func TestBarStaysOutOfALine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(40)
		b := on(s, plain(40), 2, "test")
		out := b.Over(s)
		time.Sleep(Patience)
		synctest.Wait()
		io.WriteString(out, "half")
		time.Sleep(3 * Patience)
		synctest.Wait()
		if got := s.text(); got != "half" {
			t.Errorf("the screen shows %q", got)
		}
		io.WriteString(out, " and half\n")
		if got := s.text(); !strings.HasPrefix(got, "half and half\ntest ") {
			t.Errorf("the screen shows %q", got)
		}
		b.Done()
		if got := s.text(); got != "half and half" {
			t.Errorf("at the end the screen shows %q", got)
		}
	})
}

// TestBarFits every width, gives up the bar before the numbers, and uses colour and blocks only
// where the terminal has them.
func TestBarFits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for cols := 1; cols <= 130; cols++ {
			for _, label := range []string{"", "draw", "描く pictures of a long recording", "a\x1b[31mb\nc"} {
				for _, look := range []cli.Terminal{plain(cols), {Cols: cols, Moves: true, Style: true}} {
					b := &Bar{label: cli.OneLine(label), total: 1200, done: 340, began: time.Now()}
					line := b.line(look)
					if strings.Contains(line, "\x1b") != bool(look.Style) && strings.Contains(line, "#") {
						t.Errorf("%d columns: colour in %q", cols, line)
					}
					bare := ansi.Strip(line)
					if w := displaywidth.String(bare); w > max(cols-1, 0) {
						t.Errorf("%d columns: %d in %q", cols, w, bare)
					}
					if cols > 20 && !strings.Contains(bare, " 28%   340/1200") {
						t.Errorf("%d columns: no numbers in %q", cols, bare)
					}
					if !look.UTF8 && strings.ContainsAny(bare, "█░") {
						t.Errorf("%d columns: blocks in %q", cols, bare)
					}
				}
			}
		}
		b := &Bar{label: "read", done: 7, began: time.Now()}
		if got := b.line(plain(80)); got != "read  7  0:00" {
			t.Errorf("without a total: %q", got)
		}
	})
}

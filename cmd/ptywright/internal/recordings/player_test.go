package recordings

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/engine/vt"
)

// clockCast writes a number each second from 1 to 20, and has markers at 5 and 12 seconds.
func clockCast(t testing.TB) *record.Recording {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"version":2,"width":20,"height":3}` + "\n")
	for i := 1; i <= 20; i++ {
		if i == 5 || i == 12 {
			fmt.Fprintf(&b, "[%d.0,\"m\",\"chapter\"]\n", i)
		}
		fmt.Fprintf(&b, "[%d.0,\"o\",\"\\r%d \"]\n", i, i)
	}
	rec, err := record.Load(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// A watched is a player at work, with its keys and its screen.
type watched struct {
	t    *testing.T
	keys chan string
	mu   sync.Mutex // of term
	term *vt.Terminal
	over chan error
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.term.Feed([]byte(strings.ReplaceAll(string(p), "\n", "\r\n")))
	return len(p), nil
}

func watch(t *testing.T, rows int) *watched { return watchOn(t, rows, 80) }

func watchOn(t *testing.T, rows, cols int) *watched {
	w := &watched{t: t, keys: make(chan string), term: vt.New(rows, cols, vt.Options{}), over: make(chan error, 1)}
	p := &player{w: w, rec: clockCast(t), speed: 1, room: func() (int, int) { return rows, cols }}
	go func() { w.over <- p.play(nil, w.keys, 0) }()
	return w
}

func (w *watched) lines() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.term.Snapshot().Lines()
}

// after lets time pass, and checks the first row.
func (w *watched) after(d time.Duration, want string) {
	w.t.Helper()
	time.Sleep(d)
	synctest.Wait()
	if got := strings.TrimSpace(w.lines()[0]); got != want {
		w.t.Fatalf("after %v the screen shows %q, not %q", d, got, want)
	}
}

func (w *watched) press(key, want string) {
	w.t.Helper()
	w.keys <- key
	w.after(0, want)
}

// last is the last row.
func (w *watched) last() string {
	lines := w.lines()
	return strings.TrimSpace(lines[len(lines)-1])
}

func (w *watched) ends() {
	w.t.Helper()
	if err := <-w.over; err != nil {
		w.t.Error(err)
	}
}

// TestPlayKeys: pause, go on, seek, step, markers, speed and leaving, each at its time.
func TestPlayKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, 10)
		w.after(3500*time.Millisecond, "3")
		w.press(" ", "3")
		if got, want := w.last(), "paused at 3.5 of 20 (17%)  ? keys"; got != want {
			t.Errorf("the last row is %q, not %q", got, want)
		}
		w.after(time.Hour, "3")
		w.press(".", "4")
		w.press(".", "5")
		w.press(",", "4")
		w.press(",", "3")
		w.press(" ", "3")
		if got := w.last(); got != "" {
			t.Errorf("while it plays, the last row is %q", got)
		}
		w.after(time.Second, "4") // it went on from 3
		w.press(keyRight, "9")
		w.press(keyLeft, "4")
		w.press(keyShiftRight, "6")
		w.press("]", "12")
		w.press("]", "12") // there is no later one
		w.press("[", "5")
		w.press("5", "10")
		w.press("9", "18")
		w.press("0", "")
		w.press(">", "")
		w.after(2*time.Second, "4") // twice as fast
		w.press("<", "4")
		w.press("<", "4")
		w.after(2*time.Second, "5") // half as fast
		w.press("x", "5")           // no key of ours
		w.press("q", "5")
		w.ends()
	})
}

// TestPlayShowsItsKeys in the last row, also over a recording that is as high as the terminal, and
// takes them away again.
func TestPlayShowsItsKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, 3)
		w.after(1500*time.Millisecond, "1")
		w.press(" ", "1")
		if got := w.last(); got != "" {
			t.Errorf("%q is over the recording", got)
		}
		w.press("?", "1")
		if got := w.last(); got != strings.Join(playerKeys(), "  ") {
			t.Errorf("the last row is %q", got)
		}
		w.press("x", "1")
		if got := w.last(); got != "" {
			t.Errorf("%q is left over the recording", got)
		}
		w.press(" ", "1")
		w.after(time.Second, "2")
		close(w.keys) // the terminal is gone: it plays to its end
		w.after(time.Hour, "20")
		w.ends()
	})
}

// TestPlayShowsItsKeysWhenNarrow: all of them, on the rows that they take, also where those are more
// than the terminal has.
func TestPlayShowsItsKeysWhenNarrow(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{10, 40}, {10, 13}, {3, 13}, {1, 5}} {
		synctest.Test(t, func(t *testing.T) {
			w := watchOn(t, size[0], size[1])
			w.after(1500*time.Millisecond, "1")
			w.keys <- "?"
			synctest.Wait()
			lines := w.lines()
			shown := strings.Join(lines, "\n")
			for i, k := range playerKeys() {
				if fits := size[0] == 10 || i == 0 && size[1] == 13; fits && !strings.Contains(shown, k) {
					t.Errorf("%v: no %q in\n%s", size, k, shown)
				}
			}
			w.press("q", strings.TrimSpace(lines[0]))
			w.ends()
		})
	}
}

// TestPlayPausedAtTheEnd waits for the person.
func TestPlayPausedAtTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, 10)
		w.press(" ", "")
		w.press("9", "18")
		for _, want := range []string{"19", "20", "20"} {
			w.press(".", want)
		}
		w.after(time.Hour, "20")
		w.press(keyLeft, "15")
		w.press(" ", "15")
		w.after(5*time.Second, "20")
		w.ends()
	})
}

// TestKeysOf: what a terminal sends is split into keys, however much comes at once.
func TestKeysOf(t *testing.T) {
	t.Parallel()
	got := keysOf([]byte(" .\x1b[C\x1b[1;2D\x1bOD?\x1b5\x1b["))
	want := []string{" ", ".", keyRight, keyShiftLeft, keyAppLeft, "?", "\x1b", "5", "\x1b", "["}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("%q, not %q", got, want)
	}
}

// Package progress (no stability promise) shows a person how far a command is that takes longer
// than a second: one line at the bottom of the terminal, redrawn in place and taken away at the end.
//
//	bar := progress.New(std.Err, len(files), "draw")
//	defer bar.Done()
//	for _, f := range files {
//		draw(f)
//		bar.Add(1)
//	}
//
// Where the stream is not a terminal, or the terminal cannot move its cursor (TERM=dumb), nothing
// is ever written.
package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/clipperhouse/displaywidth"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
)

const (
	// Patience is how long a bar stays hidden: a person thinks on uninterrupted for a second
	// (Nielsen, Usability Engineering, 1993), and a bar that flashes by tells nothing.
	Patience = time.Second
	// frame is the least time between two drawings: ten a second look alive, and cost nothing.
	frame = 100 * time.Millisecond
	// barMost is the widest that a bar gets, in columns.
	barMost = 30
	// barLeast is the narrowest bar that is worth its columns; without room for it only the
	// numbers are shown.
	barLeast = 6
)

// A Bar is one line of progress. Its methods may be called from several goroutines, none of them
// blocks beyond the write to the terminal, and a nil Bar accepts all of them and does nothing.
type Bar struct {
	mu          sync.Mutex
	w           io.Writer
	look        func() cli.Terminal // asked at each drawing: windows change their width
	label       string
	total, done int
	began       time.Time
	drawn       time.Time // when last
	timer       *time.Timer
	shown       bool // on the terminal now
	late        bool // Patience is over
	open        bool // a line of the command's own is not complete
	beside      *cli.Output
	ended       bool
}

// New begins to count towards total, in any unit; 0 is a total that nobody knows. label says what
// is being done, as "draw" or "start instances". End it with [Bar.Done].
func New(w io.Writer, total int, label string) *Bar {
	return start(w, func() cli.Terminal { return cli.TerminalOf(w) }, total, label)
}

func start(w io.Writer, look func() cli.Terminal, total int, label string) *Bar {
	if !look().Moves {
		return nil
	}
	b := &Bar{w: w, look: look, label: cli.OneLine(label), total: max(total, 0), began: time.Now()}
	b.mu.Lock() // tick reads the timer
	defer b.mu.Unlock()
	b.timer = time.AfterFunc(Patience, b.tick)
	return b
}

// tick draws the bar, and again each second, so that the time goes on while nothing is counted.
func (b *Bar) tick() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return
	}
	b.late = true
	b.draw()
	b.timer.Reset(Patience)
}

// Add counts n more.
func (b *Bar) Add(n int) {
	if b != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.count(b.done + n)
	}
}

// Set counts n in all.
func (b *Bar) Set(n int) {
	if b != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.count(n)
	}
}

// count takes in how much is done, and draws it if the last drawing is old enough.
func (b *Bar) count(n int) {
	if b.done = max(n, 0); b.total > 0 {
		b.done = min(b.done, b.total)
	}
	if b.late && !b.ended && time.Since(b.drawn) >= frame {
		b.draw()
	}
}

// Over returns a writer for lines that are printed meanwhile: the bar makes room for each write, and
// stands below it afterwards. Writes to it return the errors of w.
func (b *Bar) Over(w io.Writer) io.Writer {
	if b == nil {
		return w
	}
	return cli.WriterFunc(func(p []byte) (n int, err error) {
		b.aside(p, func() { n, err = w.Write(p) })
		return n, err
	})
}

// Beside is [Bar.Over] for all that a command writes to its standard output until [Bar.Done].
func (b *Bar) Beside(out *cli.Output) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended && cli.TerminalOf(out).Cols > 0 { // elsewhere nothing meets the bar
		b.beside = out
		out.Around(b.aside)
	}
}

// aside calls write, which writes p, while the bar is not there. Between the parts of a line it
// stays away.
func (b *Bar) aside(p []byte, write func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear()
	write()
	if len(p) > 0 {
		b.open = p[len(p)-1] != '\n'
	}
	if b.late && !b.ended {
		b.draw()
	}
}

// Done takes the bar away. What is counted after it is not shown.
func (b *Bar) Done() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	b.timer.Stop()
	b.clear()
	if b.beside != nil {
		b.beside.Around(nil)
	}
}

func (b *Bar) clear() {
	if b.shown {
		_, _ = io.WriteString(b.w, "\r\x1b[K") // a bar that cannot be shown is no reason to fail
		b.shown = false
	}
}

func (b *Bar) draw() {
	t := b.look()
	if !t.Moves || b.open {
		return
	}
	b.drawn, b.shown = time.Now(), true
	_, _ = io.WriteString(b.w, "\r"+b.line(t)+"\x1b[K")
}

// line is the bar for a terminal, at most a column narrower than it: in the last one some terminals
// wrap. What does not fit goes in the order of its use: the time, the bar, the label's end.
func (b *Bar) line(t cli.Terminal) string {
	room := t.Cols - 1
	took := clock(time.Since(b.began))
	numbers := fmt.Sprint(b.done)
	if b.total > 0 {
		// The width of the numbers does not change, so the bar stands still.
		of := fmt.Sprint(b.total)
		numbers = fmt.Sprintf("%3d%%  %*d/%s", b.done*100/b.total, len(of), b.done, of)
	}
	label := displaywidth.TruncateString(b.label, max(room-len(numbers)-2, 0), "")
	parts := []string{label, numbers}
	left := room - displaywidth.String(label) - 2 - len(numbers)
	if left >= 2+len(took) {
		parts, left = append(parts, took), left-2-len(took)
	}
	if width := min(left-2, barMost); b.total > 0 && width >= barLeast {
		full, empty := "█", "░"
		if !t.UTF8 {
			full, empty = "#", "."
		}
		n := b.done * width / b.total
		bar := t.Style.As(cli.Green, strings.Repeat(full, n)) +
			t.Style.As(cli.Dim, strings.Repeat(empty, width-n))
		parts = append(parts[:1], append([]string{bar}, parts[1:]...)...)
	}
	if label == "" {
		parts = parts[1:]
	}
	if line := strings.Join(parts, "  "); len(parts) > 1 || displaywidth.String(line) <= room {
		return line
	}
	return ""
}

// clock is a time as 0:07, 12:34 or 1:02:03.
func clock(d time.Duration) string {
	s := int(d / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

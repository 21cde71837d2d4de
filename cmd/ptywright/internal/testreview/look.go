package testreview

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/ending"
	"github.com/ptywright/ptywright/engine/pty"
)

// A reviewer walks a person through items. It draws nothing by itself: [reviewer.frame] returns the
// lines of the window.
type reviewer struct {
	items      []*Item
	rows, cols int

	at      int // the item
	layout  layout
	chosen  bool // layout is the person's
	old     bool // the golden is what blinks
	top     int  // the first line of the body that is shown
	done    map[*Item]string
	message string // of what failed
}

func newReviewer(items []*Item, rows, cols int) *reviewer {
	r := &reviewer{items: items, done: map[*Item]string{}}
	r.resize(rows, cols)
	r.show(0)
	return r
}

// resize gives the window another size.
func (r *reviewer) resize(rows, cols int) {
	r.rows, r.cols = max(rows, frameRows+1), max(cols, 20)
	if !r.chosen && r.at < len(r.items) {
		r.layout = fit(r.items[r.at], r.rows, r.cols)
	}
}

// show goes to an item.
func (r *reviewer) show(at int) {
	r.at, r.top, r.old, r.message = at, 0, false, ""
	if at >= len(r.items) {
		return
	}
	if !r.chosen {
		r.layout = fit(r.items[at], r.rows, r.cols)
	}
	if d := r.items[at].Diff(); d != nil && len(d.Changes) > 0 && r.layout != delta {
		if first := d.Changes[0].Row + 1; first >= r.room() { // it would be below the window
			r.top = first - r.room()/2
		}
	}
}

// room is how many lines of the body are shown.
func (r *reviewer) room() int { return r.rows - frameRows }

// frame returns the lines of the window.
func (r *reviewer) frame() []string {
	i := r.items[r.at]
	head := fmt.Sprintf(" %d of %d  %s: %s", r.at+1, len(r.items), i.Name, i.What())
	lines := []string{"\x1b[7m" + cut(head, r.cols) + "\x1b[K\x1b[m"}
	shown := body(i, r.layout, r.cols, r.old)
	r.top = max(0, min(r.top, len(shown)-r.room()))
	for n := range r.room() {
		line := ""
		if r.top+n < len(shown) {
			line = shown[r.top+n]
		}
		lines = append(lines, line)
	}
	lines = append(lines, r.words()...)
	keys := " a accept  r reject  s skip  v " + r.layout.String() + "  b blink  arrows move  q quit"
	if r.layout == blink {
		keys = strings.Replace(keys, "b blink", "space old/new", 1)
	}
	return append(lines, "\x1b[7m"+cut(keys, r.cols)+"\x1b[K\x1b[m")
}

// words are the three lines about what differs.
func (r *reviewer) words() []string {
	i := r.items[r.at]
	var words []string
	switch {
	case r.message != "":
		words = append(words, r.message)
	case i.Err != nil:
		words = append(words, i.Err.Error())
	case i.State == New:
		words = append(words, "no golden is there yet")
	default:
		d := i.Diff()
		words = append(words, d.Head...)
		for _, c := range d.Changes {
			words = append(words, c.String())
		}
	}
	const most = frameRows - 2
	if len(words) > most {
		words = append(words[:most-1], fmt.Sprintf("and %d more", len(words)-most+1))
	}
	for n := range words {
		words[n] = " " + cut(words[n], r.cols-1)
	}
	for len(words) < most {
		words = append(words, "")
	}
	return words
}

// press does what a key says. over: there is nothing more to decide, or the person has enough.
func (r *reviewer) press(key string) (over bool) {
	i := r.items[r.at]
	switch key {
	case "a", "r":
		do, did := i.Accept, "accepted"
		if key == "r" {
			do, did = i.Reject, "rejected"
		}
		if err := do(); err != nil {
			r.message = err.Error()
			return false
		}
		r.done[i] = did
		r.show(r.at + 1)
	case "s", "\x1b[C", "\x1bOC", "\r":
		r.show(r.at + 1)
	case "\x1b[D", "\x1bOD":
		for at := r.at - 1; at >= 0; at-- { // what is decided is over
			if r.done[r.items[at]] == "" {
				r.show(at)
				break
			}
		}
	case "v":
		r.chosen, r.layout, r.top = true, (r.layout+1)%layouts, 0
	case "b":
		r.chosen, r.layout, r.top = true, blink, 0
	case " ":
		r.old = !r.old
	case "\x1b[A", "\x1bOA", "k":
		r.top--
	case "\x1b[B", "\x1bOB", "j":
		r.top++
	case "\x1b[5~":
		r.top -= r.room()
	case "\x1b[6~":
		r.top += r.room()
	case "q", "\x03", "\x04", "\x1b":
		return true
	}
	for r.at < len(r.items) && r.done[r.items[r.at]] != "" {
		r.at++
	}
	return r.at >= len(r.items)
}

// summary says what was decided.
func (r *reviewer) summary() string {
	n := map[string]int{}
	for _, did := range r.done {
		n[did]++
	}
	return fmt.Sprintf("%d accepted, %d rejected, %d left\n", n["accepted"], n["rejected"],
		len(r.items)-len(r.done))
}

const (
	// begin and end save and restore the person's screen; lines do not wrap meanwhile.
	begin = "\x1b[?1049h\x1b[?7l\x1b[?25l"
	end   = "\x1b[m\x1b[?7h\x1b[?25h\x1b[?1049l"
	// blinkEvery is how long each of two screens is shown: long enough to see, short enough to
	// compare.
	blinkEvery = 600 * time.Millisecond
)

// look reviews items in the person's terminal.
func look(std cli.Stdio, items []*Item) error {
	state, err := term.MakeRaw(int(std.In.Fd()))
	if err != nil {
		return fmt.Errorf("make the terminal raw: %w", err)
	}
	r := newReviewer(items, 0, 0)
	err = r.run(std)
	_, werr := io.WriteString(std.Out, end)
	if err = errors.Join(err, werr, term.Restore(int(std.In.Fd()), state)); err == nil {
		_, err = io.WriteString(std.Out, r.summary())
	}
	return err
}

// run shows frames and takes keys until all is decided.
func (r *reviewer) run(std cli.Stdio) error {
	told := make(chan os.Signal, 1)
	ending.Notify(told)
	defer signal.Stop(told)
	resized := make(chan os.Signal, 1)
	cli.NotifyResize(resized)
	defer signal.Stop(resized)
	keys := make(chan string) // ends with the process: reads cannot be cancelled
	over := make(chan struct{})
	defer close(over)
	go func() {
		defer close(keys)
		buf := make([]byte, 64)
		for {
			n, err := std.In.Read(buf)
			for _, key := range keysOf(buf[:n]) {
				select {
				case keys <- key:
				case <-over:
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	flip := time.NewTicker(blinkEvery)
	defer flip.Stop()
	size := func() {
		s := std.WindowSize(pty.Size{})
		r.resize(int(s.Rows), int(s.Cols))
	}
	size()
	r.show(0)
	if _, err := io.WriteString(std.Out, begin); err != nil {
		return err
	}
	for {
		if err := r.draw(std.Out); err != nil {
			return err
		}
		select {
		case key, ok := <-keys:
			if !ok || r.press(key) {
				return nil
			}
		case <-resized:
			size()
		case <-flip.C:
			if r.layout == blink {
				r.old = !r.old
			}
		case s := <-told:
			return cli.ExitCode(ending.Code(s))
		}
	}
}

// draw writes the window.
func (r *reviewer) draw(w io.Writer) error {
	var b strings.Builder
	b.WriteString("\x1b[?2026h")
	for n, line := range r.frame() {
		fmt.Fprintf(&b, "\x1b[%d;1H\x1b[m\x1b[2K%s", n+1, line)
	}
	b.WriteString("\x1b[?2026l")
	_, err := io.WriteString(w, b.String())
	return err
}

// keysOf cuts what one read gave into keys.
func keysOf(p []byte) (keys []string) {
	for len(p) > 0 {
		n := 1
		if p[0] == 0x1b && len(p) > 1 && (p[1] == '[' || p[1] == 'O') {
			for n = 2; n < len(p); n++ {
				if c := p[n]; c >= '@' && c <= '~' {
					n++
					break
				}
			}
		}
		keys = append(keys, string(p[:n]))
		p = p[n:]
	}
	return keys
}

package recordings

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/ending"
	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/internal/ansi"
)

const (
	// jump is how far the arrow keys seek, and bigJump, of the whole, with Shift: as in
	// asciinema-player.
	jump    = 5 * time.Second
	bigJump = 10 // percent
	// fastest and slowest bound the speed, also as the keys < and > change it.
	fastest, slowest = 1000, 1.0 / 16
)

// A player writes a recording in its own time. It is used by one goroutine.
type player struct {
	w      io.Writer
	rec    *record.Recording
	filter playFilter
	speed  float64
	// room is the terminal's size; nil: nothing is shown but the recording.
	room func() (rows, cols int)

	next   int           // of the events
	drawn  time.Duration // of the last output that was written
	at     time.Duration // where the recording is, as of since
	since  time.Time
	paused bool
	over   bool // lines are shown over the recording
}

// play writes a recording in its own time, until a signal arrives, and then resets its modes,
// however it ends. Each of keys is what a person has pressed; nil: nobody does.
func (p *player) play(told <-chan os.Signal, keys <-chan string, from time.Duration) (err error) {
	defer func() {
		if _, werr := io.WriteString(p.w, p.filter.end()); err == nil {
			err = werr
		}
	}()
	if from > 0 {
		if err := p.seek(from); err != nil {
			return err
		}
	}
	p.since = time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		wait, more := p.wait()
		if !more && !p.paused {
			return nil
		}
		if more && !p.paused && wait <= 0 {
			if err := p.step(); err != nil {
				return err
			}
			continue
		}
		var due <-chan time.Time
		if !p.paused {
			timer.Reset(wait)
			due = timer.C
		}
		select {
		case <-due:
		case s := <-told:
			return cli.ExitCode(ending.Code(s))
		case key, open := <-keys:
			if !open {
				keys = nil
				if p.paused { // nobody is left to go on
					p.toggle()
				}
				continue
			}
			if done, err := p.press(key); done || err != nil {
				return err
			}
		}
	}
}

// wait is how long until the next output; false when none is left.
func (p *player) wait() (time.Duration, bool) {
	for p.next < p.rec.Len() && p.rec.Event(p.next).Kind != record.EventOutput {
		p.next++
	}
	if p.next >= p.rec.Len() {
		return 0, false
	}
	due := time.Duration(float64(p.rec.Event(p.next).At-p.at) / p.speed)
	return due - time.Since(p.since), true
}

// step writes the next output, at once.
func (p *player) step() error {
	if err := p.uncover(); err != nil {
		return err
	}
	if _, more := p.wait(); !more {
		return nil
	}
	e := p.rec.Event(p.next)
	p.next, p.drawn = p.next+1, e.At
	if p.paused {
		p.at = e.At
	}
	_, err := io.WriteString(p.w, p.filter.play(e.Text))
	return err
}

// now is where the recording is.
func (p *player) now() time.Duration {
	if p.paused {
		return p.at
	}
	at := p.at + time.Duration(float64(time.Since(p.since))*p.speed)
	return min(at, p.rec.Duration())
}

// toggle pauses, or goes on.
func (p *player) toggle() {
	p.at, p.since = p.now(), time.Now()
	p.paused = !p.paused
}

// seek draws the recording as it is at a time.
func (p *player) seek(to time.Duration) error {
	to = min(max(to, 0), p.rec.Duration())
	var f playFilter // the modes that are on then
	next := 0
	for ; next < p.rec.Len() && p.rec.Event(next).At <= to; next++ {
		if e := p.rec.Event(next); e.Kind == record.EventOutput {
			f.play(e.Text)
		}
	}
	s, err := p.rec.At(to)
	if err != nil {
		return err
	}
	p.filter, p.next, p.drawn, p.at, p.since, p.over = f, next, to, to, time.Now(), false
	_, err = io.WriteString(p.w, "\x1bc"+new(playFilter).play(picture.Restore(s, nil)))
	return err
}

// Keys of terminals that the player knows.
const (
	keyRight, keyLeft           = "\x1b[C", "\x1b[D"
	keyAppRight, keyAppLeft     = "\x1bOC", "\x1bOD"
	keyShiftRight, keyShiftLeft = "\x1b[1;2C", "\x1b[1;2D"
)

// press does what a key says, and reports whether the person leaves.
func (p *player) press(key string) (done bool, err error) {
	length := p.rec.Duration()
	switch {
	case key == "q":
		return true, nil
	case key == "?":
		if !p.paused {
			p.toggle()
		}
		return false, p.cover(playerKeys()...)
	case key == " ":
		p.toggle()
	case key == "." && p.paused:
		err = p.step()
	case key == "," && p.paused:
		err = p.back()
	case key == "[", key == "]":
		if to, found := p.marker(key == "]"); found {
			err = p.seek(to)
		}
	case key == "<", key == ">":
		faster := map[string]float64{"<": 0.5, ">": 2}[key]
		at := p.now()
		p.at, p.since = at, time.Now()
		p.speed = min(max(p.speed*faster, slowest), fastest)
	case len(key) == 1 && key[0] >= '0' && key[0] <= '9':
		err = p.seek(length * time.Duration(key[0]-'0') / 10)
	case key == keyRight, key == keyAppRight:
		err = p.seek(p.now() + jump)
	case key == keyLeft, key == keyAppLeft:
		err = p.seek(p.now() - jump)
	case key == keyShiftRight:
		err = p.seek(p.now() + length*bigJump/100)
	case key == keyShiftLeft:
		err = p.seek(p.now() - length*bigJump/100)
	default:
		return false, p.uncover()
	}
	if err != nil {
		return false, err
	}
	return false, p.status()
}

// back goes to the output before the last one.
func (p *player) back() error {
	last, before := -1, -1 // events that are output
	for i := range p.next {
		if p.rec.Event(i).Kind == record.EventOutput {
			last, before = i, last
		}
	}
	if last < 0 {
		return nil
	}
	to := time.Duration(0)
	if before >= 0 {
		to = p.rec.Event(before).At
	}
	if to == p.rec.Event(last).At { // several at once are one picture
		to = max(to-1, 0)
	}
	return p.seek(to)
}

// markerSlack is how long after a marker the one before it is meant by going back: a person needs
// time to press the key twice.
const markerSlack = time.Second

// marker is the time of the marker before or after now.
func (p *player) marker(forward bool) (at time.Duration, found bool) {
	now := p.now()
	for e := range p.rec.Events() {
		switch {
		case e.Kind != record.EventMarker:
		case forward && e.At > now:
			return e.At, true
		case !forward && e.At < now-markerSlack || !forward && p.paused && e.At < now:
			at, found = e.At, true
		}
	}
	return at, found
}

// playerKeys are what ? shows.
func playerKeys() []string {
	return []string{"space pause", "←→ 5 s", ". , step", "0-9 seek", "[ ] marker", "< > speed",
		"q leave"}
}

// status says where a paused recording is, below it: where there is no row for that, nothing.
func (p *player) status() error {
	if !p.paused {
		return p.uncover()
	}
	if p.room == nil {
		return nil
	}
	if rows, _ := p.room(); rows <= p.rows() {
		return nil
	}
	percent := 100
	if d := p.rec.Duration(); d > 0 {
		percent = int(p.at * 100 / d)
	}
	return p.cover(fmt.Sprintf("paused at %s of %s (%d%%)", seconds(p.at),
		seconds(p.rec.Duration()), percent), "? keys")
}

// rows are those of the recording's screen now.
func (p *player) rows() int {
	rows := p.rec.Header.Rows
	for i := range p.next {
		if e := p.rec.Event(i); e.Kind == record.EventResize {
			rows = e.Rows
		}
	}
	return rows
}

// cover shows texts beside each other in the terminal's last rows, as many as they take, until
// [player.uncover]. The recording is paused.
func (p *player) cover(texts ...string) error {
	if p.room == nil {
		return nil
	}
	if err := p.uncover(); err != nil {
		return err
	}
	p.over = true
	rows, cols := p.room()
	lines := cli.Rows(texts, cols-len("  ")) // a blank at either side
	lines = lines[:min(len(lines), rows)]
	// The cursor and its attributes come back; the lines do not wrap, and scroll nothing.
	var b strings.Builder
	b.WriteString("\x1b7\x1b[?7l")
	for i, line := range lines {
		fmt.Fprintf(&b, "\x1b[%d;1H\x1b[0;7m %s \x1b[0m\x1b[K", rows-len(lines)+1+i, line)
	}
	b.WriteString("\x1b[?7h\x1b8")
	_, err := io.WriteString(p.w, b.String())
	return err
}

// uncover draws what the lines were shown over.
func (p *player) uncover() error {
	if !p.over {
		return nil
	}
	at, since := p.at, p.since
	err := p.seek(p.drawn)
	p.at, p.since = at, since
	return err
}

// keysOf splits what a terminal sent into keys.
func keysOf(p []byte) []string {
	var all []string
	for len(p) > 0 {
		n := 1
		if p[0] == 0x1b && len(p) > 2 && p[1] == '[' {
			n, _ = ansi.Key(p)
		} else if p[0] == 0x1b && len(p) > 2 && p[1] == 'O' {
			n = 3
		}
		n = min(max(n, 1), len(p))
		all, p = append(all, string(p[:n])), p[n:]
	}
	return all
}

// readKeys reads a terminal until it fails; the channel is closed then. The reader ends with the
// process: a read of a terminal cannot be cancelled.
func readKeys(f io.Reader, done <-chan struct{}) <-chan string {
	keys := make(chan string)
	go func() {
		defer close(keys)
		b := make([]byte, 256)
		for {
			n, err := f.Read(b)
			for _, k := range keysOf(b[:n]) {
				select {
				case keys <- k:
				case <-done:
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return keys
}

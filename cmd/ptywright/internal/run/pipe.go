package run

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/ptywright/ptywright/engine/pty"
)

// typePipe types the content of a pipe, and Ctrl-D at its end. It returns an error when the
// terminal would silently truncate a line; nil when the program has ended, which over reports.
func typePipe(p *pty.PTY, r io.Reader, over <-chan struct{}) error {
	buf := make([]byte, 32<<10)
	line := 0 // bytes of the unfinished line
	for {
		n, err := r.Read(buf)
		if line, err = typeLines(p, buf[:n], line, err); err == io.EOF {
			typeEnd(p, line > 0, over)
			return nil
		} else if err != nil {
			return err
		}
	}
}

// typeLines types b, which starts line bytes into a line, and returns how far into a line it ends.
// It returns readErr if it has no error of its own.
func typeLines(p *pty.PTY, b []byte, line int, readErr error) (int, error) {
	mode, err := p.LineMode()
	for rest := b; len(rest) > 0; {
		i := bytes.IndexAny(rest, "\n\r")
		if i < 0 {
			line += len(rest)
			rest = nil
		} else {
			line += i
			rest = rest[i+1:]
		}
		if err == nil && mode.Canonical && line > pty.MaxLine {
			return 0,
				fmt.Errorf("a line of more than %d bytes is longer than a terminal in canonical mode keeps; "+
					"give the program its input by another way than a terminal", pty.MaxLine)
		}
		if i >= 0 {
			line = 0
		}
	}
	if _, err := p.Write(b); err != nil {
		return 0, io.EOF // the program has ended, or is about to
	}
	return line, readErr
}

// endPauses are the pauses between Ctrl-Ds while the program runs: one that is read before the
// program has set its terminal modes is lost, and a person would press it again. In total a bit
// over a minute.
var endPauses = []time.Duration{
	100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond,
	2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second,
}

// typeEnd types the terminal's end-of-file character, twice at first after an unfinished line: the
// first only ends the line.
func typeEnd(p *pty.PTY, begun bool, over <-chan struct{}) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i := 0; ; i++ {
		select {
		case <-over:
			return
		case <-timer.C:
		}
		end := []byte{0x04}
		if mode, err := p.LineMode(); err == nil && mode.Canonical && mode.EOF != 0 {
			end[0] = mode.EOF
			if begun {
				end = append(end, end[0])
			}
		}
		begun = false
		if _, err := p.Write(end); err != nil || i == len(endPauses) {
			return
		}
		timer.Reset(endPauses[i])
	}
}

package journal

import (
	"bytes"
	"strings"
	"time"
)

// A block is a command, or what was printed before one.
type block struct {
	command string
	output  string
	began   time.Time // when it was entered, or else its prompt began; zero: not known
	ended   time.Time // zero: not known
	status  string    // digits; "": not known
}

// A region is where in a block the output goes.
type region byte

const (
	inOutput region = iota
	inPrompt
	inInput
)

// A reader makes blocks of a log's events.
type reader struct {
	done   func(block) // is told each, once it has ended
	marked bool        // there was a mark
	enters bool        // there was one of a command line that was entered: this shell makes them
	raw    int64       // bytes of output

	strip   stripper
	region  region
	between bool // a command has ended, and no prompt has begun
	entered,
	prompted time.Time // of the block under way
	told   string // its command, as told
	input  []byte // stripped
	output []byte
}

// take takes the next event.
func (r *reader) take(e event) {
	switch e.kind {
	case eventOut:
		r.raw += int64(len(e.data))
		switch r.region {
		case inOutput:
			r.output = r.strip.append(r.output, 0, e.data)
		case inInput:
			r.input = r.strip.append(r.input, 0, e.data)
		case inPrompt:
			r.strip.append(nil, 0, e.data)
		}
		return
	case eventPrompt:
		r.noPrompt()
		r.end(time.Time{}, "")
		r.between = false
		r.region, r.prompted = inPrompt, e.at
	case eventInput:
		r.region = inInput
	case eventOutput:
		switch {
		case r.region == inOutput && !r.entered.IsZero(): // the same mark in both forms
		default:
			if r.between { // a shell that marks no prompts: it is one, and a command line
				r.output = r.output[:0]
			}
			if r.region == inOutput {
				r.end(time.Time{}, "") // what was printed before the command
			}
			r.between = false
			r.entered = e.at
		}
		r.enters = true
		if r.region = inOutput; len(e.data) > 0 {
			r.told = string(e.data)
		}
	case eventExit:
		status := string(e.data)
		if strings.Trim(status, "0123456789") != "" || len(status) > len("2147483647") {
			status = ""
		}
		r.noPrompt()
		if r.region == inOutput && r.entered.IsZero() { // of no command: a shell that tells of the last one with each prompt
			r.end(time.Time{}, "")
		} else {
			r.end(e.at, status)
		}
		r.region, r.between = inOutput, true
	default:
		return
	}
	r.marked = true
}

// noPrompt takes away the line that a prompt is in, and what shells put there to see that it is a fresh one.
func (r *reader) noPrompt() {
	if r.between {
		r.output = r.output[:bytes.LastIndexByte(r.output, '\n')+1]
	}
}

// end ends the block under way, if there is something in it.
func (r *reader) end(at time.Time, status string) {
	b := block{command: r.told, began: r.entered, ended: at, status: status}
	if r.entered.IsZero() {
		b.began = r.prompted
	}
	if b.command == "" {
		b.command = strings.TrimSpace(plain(r.typed(status != "")))
	}
	b.output = strings.TrimRight(plain(r.output), " \t\n")
	if b.command != "" || strings.TrimSpace(b.output) != "" {
		r.done(b)
	}
	r.entered, r.prompted, r.told, r.input, r.output = time.Time{}, time.Time{}, "", r.input[:0], r.output[:0]
}

// typed is the command line as the terminal echoed it. Where it was not entered by a mark, what stands behind its first line is
// output: that of the command, in a shell that makes no such marks, else that of a program behind the shell, and the line was given up.
func (r *reader) typed(ended bool) []byte {
	input := bytes.Trim(r.input, "\n")
	if !r.entered.IsZero() {
		return input
	}
	line, rest, entered := bytes.Cut(bytes.TrimLeft(r.input, "\n"), []byte{'\n'})
	r.output = append(r.output, rest...)
	if r.enters && !ended || !entered && !ended {
		return nil
	}
	return line
}

// close ends what is under way when the log ends.
func (r *reader) close() {
	r.noPrompt()
	r.end(time.Time{}, "")
}
